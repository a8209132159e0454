/*
 * sbx_lua_wish.c: request(), and what it returned: a job, an answer, or where
 * to pass the request on.
 *
 * Runs in the worker.  What is read goes into C's memory and is the wish's at
 * once, so that an error in the midst of it leaks nothing.
 */

#include <stdlib.h>
#include <string.h>

#include "sbx_lua_job.h"

#define PASS_MAX    4096


typedef struct {
    const sbx_policy_request_t *req;
    sbx_policy_wish_t *wish;
} request_call_t;


/* "@name", or "/uri" with its arguments; nginx looks at the rest. */
static void
read_pass(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    size_t len, i;
    char *block;
    const char *text;

    wish->action = SBX_POLICY_PASS;

    lua_pushnil(L);
    lua_next(L, index);
    lua_pop(L, 1);

    if (lua_next(L, index)) {
        luaL_error(L, "request(): pass stands alone");
    }

    lua_pushliteral(L, "pass");
    lua_rawget(L, index);
    sbx_lua_check_type(L, LUA_TSTRING, "pass");
    text = lua_tolstring(L, -1, &len);

    for (i = 0; i < len && (unsigned char) text[i] > 0x20 && text[i] != 0x7f;
         i++)
    {
        /* void */
    }

    if (len < 1 || len > PASS_MAX || i < len
        || !(text[0] == '/' || (text[0] == '@' && len > 1)))
    {
        luaL_error(L, "request(): pass must be \"@name\" or \"/uri?args\"");
    }

    block = malloc(len + 1);
    if (block == NULL) {
        luaL_error(L, "no memory to pass a request on");
    }

    memcpy(block, text, len + 1);
    wish->pass = (sbx_str_t) { block, len };
}


static int
has_field(lua_State *L, int index, const char *name)
{
    int found;

    lua_pushstring(L, name);
    found = lua_rawget(L, index) != LUA_TNIL;
    lua_pop(L, 1);

    return found;
}


/* wish is zero, and owns what was read so far even after an error. */
static void
read_table(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    if (!lua_istable(L, index)) {
        luaL_error(L, "request() must return nil or a table, not a %s",
                   luaL_typename(L, index));
    }

    sbx_lua_check_open(L, index, "the result");

    if (has_field(L, index, "pass")) {
        read_pass(L, index, wish);

    } else if (has_field(L, index, "status")) {
        wish->action = SBX_POLICY_ANSWER;
        sbx_lua_read_response(L, index, &wish->answer);

    } else {
        sbx_lua_read_job(L, index, wish);
    }
}


static int
read_wish(lua_State *L)
{
    request_call_t *call = lua_touserdata(L, 2);

    read_table(L, 1, call->wish);
    return 0;
}


static int
request_call(lua_State *L)
{
    request_call_t *call = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_push_function(L, SBX_LUA_REQUEST);
    lua_pushvalue(L, 1);
    sbx_lua_push_request(L, call->req);
    lua_call(L, 1, 1);

    if (!lua_isnil(L, -1)) {
        sbx_lua_read_result(L, read_wish, call);
    }

    return 0;
}


int
sbx_policy_request(sbx_policy_t *policy, const sbx_policy_request_t *req,
    sbx_policy_wish_t *wish, char *err, size_t size)
{
    request_call_t call = { req, wish };

    memset(wish, 0, sizeof(*wish));

    if (!sbx_policy_has_request(policy)) {
        return 0;
    }

    return sbx_lua_call(policy, request_call, &call, req->body.len, err, size);
}


void
sbx_policy_wish_clear(sbx_policy_wish_t *wish)
{
    sbx_request_clear(&wish->native);
    sbx_policy_response_clear(&wish->answer);
    free((char *) wish->keep.data);
    free((char *) wish->pass.data);
    memset(wish, 0, sizeof(*wish));
}
