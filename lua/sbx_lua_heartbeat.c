/*
 * sbx_lua_heartbeat.c: heartbeat(), what a judge's front is told at intervals,
 * and heard(), whether it took that.
 *
 * Runs in the worker, between events.  There is no request and no verdict: what
 * comes in is the answer to the last heartbeat, bytes of another server.
 */

#include <stdio.h>
#include <string.h>

#include "sbx_lua_private.h"

#define COMPLAINT_MAX   256     /* bytes of what heard() says */


typedef struct {
    int status;
    sbx_str_t body;
    char complaint[COMPLAINT_MAX];
} heard_call_t;


static int
read_heartbeat(lua_State *L)
{
    sbx_policy_response_t *out = lua_touserdata(L, 2);

    if (!lua_istable(L, 1)) {
        luaL_error(L, "heartbeat() must return a table, not a %s",
                   luaL_typename(L, 1));
    }

    sbx_lua_read_response(L, 1, out);

    if (out->status != 0) {
        luaL_error(L, "heartbeat(): a heartbeat has no status");
    }

    return 0;
}


static int
heartbeat_call(lua_State *L)
{
    void *out = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_push_function(L, SBX_LUA_HEARTBEAT);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    sbx_lua_read_result(L, read_heartbeat, out);

    return 0;
}


int
sbx_policy_has_heartbeat(const sbx_policy_t *policy)
{
    return (policy->has & 1u << SBX_LUA_HEARTBEAT) != 0;
}


int
sbx_policy_heartbeat(sbx_policy_t *policy, sbx_policy_response_t *out,
    char *err, size_t size)
{
    memset(out, 0, sizeof(*out));

    if (sbx_lua_call(policy, heartbeat_call, out, 0, err, size) != 0) {
        sbx_policy_response_clear(out);
        return -1;
    }

    return 0;
}


/* It becomes a line of the log, so a line end in it would forge another. */
static int
read_complaint(lua_State *L)
{
    size_t i, len;
    const char *text;
    heard_call_t *call = lua_touserdata(L, 2);

    if (lua_isnil(L, 1)) {
        return 0;
    }

    if (lua_type(L, 1) != LUA_TSTRING) {
        luaL_error(L, "heard() must return nil or a string, not a %s",
                   luaL_typename(L, 1));
    }

    text = lua_tolstring(L, 1, &len);

    for (i = 0; i < len && i < COMPLAINT_MAX - 1; i++) {
        call->complaint[i] = (unsigned char) text[i] < 0x20 ? ' ' : text[i];
    }

    call->complaint[i] = '\0';

    return 0;
}


static int
heard_call(lua_State *L)
{
    heard_call_t *call = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_push_function(L, SBX_LUA_HEARD);
    lua_pushvalue(L, 1);

    lua_createtable(L, 0, 2);
    lua_pushinteger(L, call->status);
    lua_setfield(L, -2, "status");
    lua_pushlstring(L, call->body.len ? call->body.data : "", call->body.len);
    lua_setfield(L, -2, "body");

    lua_call(L, 1, 1);
    sbx_lua_read_result(L, read_complaint, call);

    return 0;
}


int
sbx_policy_heard(sbx_policy_t *policy, int status, sbx_str_t body, char *err,
    size_t size)
{
    heard_call_t call = { status, body, "" };

    if ((policy->has & 1u << SBX_LUA_HEARD) == 0) {
        if (status >= 200 && status < 300) {
            return 0;
        }

        snprintf(err, size, "status %d", status);
        return -1;
    }

    if (sbx_lua_call(policy, heard_call, &call, body.len, err, size) != 0) {
        return -1;
    }

    if (call.complaint[0] != '\0') {
        snprintf(err, size, "%s", call.complaint);
        return -1;
    }

    return 0;
}
