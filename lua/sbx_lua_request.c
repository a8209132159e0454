/*
 * sbx_lua_request.c: the request as a table whose fields are made when they are
 * read.
 *
 * Runs in the worker, below sbx_lua_protect().  Most policies read a header or
 * two, and few a body of megabytes: what is not read is not copied.  A policy
 * may change the table and what it read from it without changing the request;
 * the ceilings, which all requests of a location share, are closed.
 */

#include <string.h>

#include "sbx_lua_private.h"

#define FIELDS  8


typedef void (*push_pt)(lua_State *L, const sbx_policy_request_t *req);

typedef struct {
    const char *name;
    push_pt push;
} field_t;


static void
push_str(lua_State *L, sbx_str_t value)
{
    sbx_lua_meter(L, value.len / SBX_LUA_BYTES_PER_STEP);
    lua_pushlstring(L, value.len ? value.data : "", value.len);
}


static void
push_method(lua_State *L, const sbx_policy_request_t *req)
{
    push_str(L, req->method);
}


static void
push_uri(lua_State *L, const sbx_policy_request_t *req)
{
    push_str(L, req->uri);
}


static void
push_args(lua_State *L, const sbx_policy_request_t *req)
{
    push_str(L, req->query);
}


static void
push_remote_addr(lua_State *L, const sbx_policy_request_t *req)
{
    push_str(L, req->remote_addr);
}


static void
push_body(lua_State *L, const sbx_policy_request_t *req)
{
    push_str(L, req->body);
}


static void
push_headers(lua_State *L, const sbx_policy_request_t *req)
{
    size_t i;

    lua_createtable(L, 0, (int) req->nheaders);

    for (i = 0; i < req->nheaders; i++) {
        push_str(L, req->headers[i].key);
        push_str(L, req->headers[i].value);
        lua_rawset(L, -3);
    }
}


/* A limit that is none is nil, as in a job. */
static void
make_ceilings(lua_State *L, const sbx_policy_request_t *req)
{
    int id;
    size_t i;
    uint64_t value;

    lua_createtable(L, 0, (int) req->nceilings);

    for (i = 0; i < req->nceilings; i++) {
        push_str(L, req->ceilings[i].language);
        lua_createtable(L, 0, SBX_LIMIT_COUNT);

        for (id = 0; id < SBX_LIMIT_COUNT; id++) {
            value = req->ceilings[i].limits[id];

            if (!sbx_limit_is_none((sbx_limit_id_t) id, value)) {
                lua_pushinteger(L, (lua_Integer) value);
                lua_setfield(L, -2, sbx_limits[id].name);
            }
        }

        sbx_lua_make_read_only(L);
        lua_rawset(L, -3);
    }

    sbx_lua_make_read_only(L);
}


/* Made once for each location: they are as constant as its configuration. */
static void
push_ceilings(lua_State *L, const sbx_policy_request_t *req)
{
    sbx_lua_push_key(L, SBX_LUA_KEY_CEILINGS);

    if (lua_rawgetp(L, -1, req->ceilings) == LUA_TNIL) {
        lua_pop(L, 1);
        make_ceilings(L, req);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, -3, req->ceilings);
    }

    lua_remove(L, -2);
}


static void
push_keep(lua_State *L, const sbx_policy_request_t *req)
{
    if (req->keep.len == 0) {
        lua_pushnil(L);
        return;
    }

    sbx_lua_push_packed(L, req->keep);
}


static const field_t fields[] = {
    { "method", push_method },
    { "uri", push_uri },
    { "args", push_args },
    { "remote_addr", push_remote_addr },
    { "headers", push_headers },
    { "body", push_body },
    { "ceilings", push_ceilings },
    { "keep", push_keep },
    { NULL, NULL }
};


/*
 * __index.  A table that a policy has kept from an earlier request has no view
 * any more: what was not read in time is nil.
 */
static int
request_index(lua_State *L)
{
    const char *name;
    const field_t *field;
    const sbx_policy_request_t *req = sbx_lua_policy(L)->request;

    lua_settop(L, 2);
    sbx_lua_push_key(L, SBX_LUA_KEY_REQUEST);

    if (req == NULL || !lua_rawequal(L, 1, 3) || lua_type(L, 2) != LUA_TSTRING)
    {
        return 0;
    }

    name = lua_tostring(L, 2);

    for (field = fields; field->name != NULL; field++) {
        if (strcmp(field->name, name) == 0) {
            break;
        }
    }

    if (field->name == NULL) {
        return 0;
    }

    lua_pushvalue(L, 2);
    field->push(L, req);
    lua_pushvalue(L, -1);
    lua_insert(L, -3);          /* …, value, name, value */
    lua_rawset(L, 1);

    return 1;
}


void
sbx_lua_open_request(lua_State *L)
{
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, request_index);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    sbx_lua_set_key(L, SBX_LUA_KEY_REQUEST_META);

    lua_newtable(L);
    sbx_lua_set_key(L, SBX_LUA_KEY_CEILINGS);
}


void
sbx_lua_push_request(lua_State *L, const sbx_policy_request_t *req)
{
    sbx_lua_policy(L)->request = req;

    lua_createtable(L, 0, FIELDS);
    sbx_lua_push_key(L, SBX_LUA_KEY_REQUEST_META);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    sbx_lua_set_key(L, SBX_LUA_KEY_REQUEST);
}
