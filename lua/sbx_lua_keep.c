/*
 * sbx_lua_keep.c: what request() keeps for response(), as bytes.
 *
 * Runs in the worker, below sbx_lua_protect().  Between the two calls the
 * policy serves other requests, and one of these may spend its bounds, after
 * which the Lua state is made anew.  So a kept value does not live in the state
 * but with its request: packed into C's memory, and made again when it is read.
 * It does not count as the policy's memory then, however many requests wait.
 */

#include <string.h>

#include "sbx_lua_private.h"

#define KEEP_DEPTH  16

typedef enum {
    TAG_NULL = 'z',
    TAG_FALSE = 'f',
    TAG_TRUE = 't',
    TAG_INTEGER = 'i',
    TAG_NUMBER = 'd',
    TAG_STRING = 's',
    TAG_TABLE = 'T'
} tag_t;

/* Behind TAG_TABLE; keys and values follow in turn. */
typedef struct {
    int view;               /* its mark, or -1 */
    size_t narray, nfields; /* what is at 1 to n, and how many others */
} head_t;

typedef struct {
    const char *at;
} packed_t;


static void pack(lua_State *L, int index, int depth);
static void unpack(lua_State *L, packed_t *in);


static void
put(lua_State *L, const void *data, size_t len)
{
    sbx_policy_t *policy = sbx_lua_policy(L);
    sbx_json_out_t *out = &policy->keep;

    sbx_lua_meter(L, 1 + len / SBX_LUA_BYTES_PER_STEP);

    if (len > policy->bound.cap || out->len > policy->bound.cap - len) {
        luaL_error(L, "%s(): keep is longer than %I bytes",
                   sbx_lua_function(L), (LUAI_UACINT) policy->bound.cap);
    }

    sbx_json_reserve(out, len);

    if (out->failed) {
        luaL_error(L, "no memory for what is kept");
    }

    memcpy(out->buf + out->len, data, len);
    out->len += len;
}


static void
put_tag(lua_State *L, tag_t tag)
{
    char c = (char) tag;

    put(L, &c, 1);
}


static void
pack_number(lua_State *L, int index)
{
    lua_Integer integer;
    lua_Number number;

    if (lua_isinteger(L, index)) {
        integer = lua_tointeger(L, index);
        put_tag(L, TAG_INTEGER);
        put(L, &integer, sizeof(integer));
        return;
    }

    number = lua_tonumber(L, index);
    put_tag(L, TAG_NUMBER);
    put(L, &number, sizeof(number));
}


static void
pack_string(lua_State *L, int index)
{
    sbx_str_t text;

    text.data = lua_tolstring(L, index, &text.len);
    put_tag(L, TAG_STRING);
    put(L, &text.len, sizeof(text.len));
    put(L, text.data, text.len);
}


static void
pack_table(lua_State *L, int index, int depth)
{
    size_t count = 0;
    head_t head;

    sbx_lua_check_open(L, index, "a table in keep");

    /* what it would read from behind would not be kept */
    if (sbx_lua_view_of(L, index) < 0 && lua_getmetatable(L, index)) {
        luaL_error(L, "%s(): keep cannot hold the request, or a table with a "
                   "metatable; copy what is needed of it", sbx_lua_function(L));
    }

    if (depth > KEEP_DEPTH) {
        luaL_error(L, "%s(): tables in keep are nested deeper than %d",
                   sbx_lua_function(L), KEEP_DEPTH);
    }

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        sbx_lua_meter(L, 4);
        count++;
    }

    memset(&head, 0, sizeof(head));
    head.view = sbx_lua_view_of(L, index);
    head.narray = lua_rawlen(L, index);
    head.nfields = count > head.narray ? count - head.narray : 0;
    head.narray = count - head.nfields;
    put_tag(L, TAG_TABLE);
    put(L, &head, sizeof(head));

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        pack(L, lua_gettop(L) - 1, depth + 1);
        pack(L, lua_gettop(L), depth + 1);
    }
}


/* index is absolute */
static void
pack(lua_State *L, int index, int depth)
{
    luaL_checkstack(L, 6, "tables in keep");

    switch (lua_type(L, index)) {

    case LUA_TLIGHTUSERDATA:    /* the global null; there is no other */
        put_tag(L, TAG_NULL);
        break;

    case LUA_TBOOLEAN:
        put_tag(L, lua_toboolean(L, index) ? TAG_TRUE : TAG_FALSE);
        break;

    case LUA_TNUMBER:
        pack_number(L, index);
        break;

    case LUA_TSTRING:
        pack_string(L, index);
        break;

    case LUA_TTABLE:
        pack_table(L, index, depth);
        break;

    default:
        luaL_error(L, "%s(): keep cannot hold a %s", sbx_lua_function(L),
                   luaL_typename(L, index));
    }
}


void
sbx_lua_pack_value(lua_State *L, int index)
{
    sbx_json_out_t *out = &sbx_lua_policy(L)->keep;

    out->len = 0;
    out->failed = 0;

    pack(L, lua_absindex(L, index), 1);
}


/* The bytes are our own: they have not left the worker since. */
static void
take(packed_t *in, void *data, size_t len)
{
    memcpy(data, in->at, len);
    in->at += len;
}


static void
unpack_table(lua_State *L, packed_t *in)
{
    size_t i;
    head_t head;

    take(in, &head, sizeof(head));
    lua_createtable(L, (int) head.narray, (int) head.nfields);

    if (head.view >= 0) {
        sbx_lua_push_key(L, SBX_LUA_KEY_VIEW + head.view);
        lua_setmetatable(L, -2);
    }

    for (i = 0; i < head.narray + head.nfields; i++) {
        unpack(L, in);
        unpack(L, in);
        lua_rawset(L, -3);
    }
}


static void
unpack(lua_State *L, packed_t *in)
{
    size_t len;
    lua_Integer integer;
    lua_Number number;

    luaL_checkstack(L, 6, "tables in keep");
    sbx_lua_meter(L, 4);

    switch (*in->at++) {

    case TAG_NULL:
        lua_pushlightuserdata(L, NULL);
        break;

    case TAG_FALSE:
        lua_pushboolean(L, 0);
        break;

    case TAG_TRUE:
        lua_pushboolean(L, 1);
        break;

    case TAG_INTEGER:
        take(in, &integer, sizeof(integer));
        lua_pushinteger(L, integer);
        break;

    case TAG_NUMBER:
        take(in, &number, sizeof(number));
        lua_pushnumber(L, number);
        break;

    case TAG_STRING:
        take(in, &len, sizeof(len));
        sbx_lua_meter(L, len / SBX_LUA_BYTES_PER_STEP);
        lua_pushlstring(L, in->at, len);
        in->at += len;
        break;

    default:
        unpack_table(L, in);
    }
}


void
sbx_lua_push_packed(lua_State *L, sbx_str_t packed)
{
    packed_t in = { packed.data };

    unpack(L, &in);
}
