/*
 * sbx_lua_json.c: Lua values as JSON.
 *
 * Runs in the worker, below sbx_lua_protect().  Keys of the native answer come
 * first and in its order, others follow by name, so that equal tables give
 * equal bytes.  The tables of a verdict give all their keys, null where they
 * are nil.  Bytes that are no UTF-8 become U+FFFD.  The text grows on the C
 * heap, owned by the policy: a Lua error in the midst of it leaks nothing.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_lua_private.h"

#define JSON_DEPTH  16

typedef struct {
    const char *name;
    size_t rank;            /* place in the native answer, or behind it */
} member_t;


static void encode(lua_State *L, int index, const char *key, int depth);


/* Refuses before a text of more bytes would be longer than Lua's own cap. */
static void
check_room(lua_State *L, size_t more)
{
    sbx_policy_t *policy = sbx_lua_policy(L);

    if (policy->json.failed) {
        luaL_error(L, "no memory for JSON text");
    }

    if (more > policy->bound.cap || policy->json.len > policy->bound.cap - more)
    {
        luaL_error(L, "JSON text is longer than %I bytes",
                   (LUAI_UACINT) policy->bound.cap);
    }
}


static void
encode_number(lua_State *L, int index, const char *key)
{
    lua_Number number;
    sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    if (lua_isinteger(L, index)) {
        sbx_json_number(out, key, lua_tointeger(L, index));
        return;
    }

    number = lua_tonumber(L, index);

    if (!isfinite(number)) {
        luaL_error(L, "JSON has no number that is not finite");
    }

    sbx_json_real(out, key, number);
}


static int
compare_keys(const void *a, const void *b)
{
    const member_t *x = a, *y = b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }

    return strcmp(x->name, y->name);
}


static size_t
rank_of(const char *const *order, const char *name)
{
    size_t i;

    for (i = 0; order[i] != NULL; i++) {
        if (strcmp(order[i], name) == 0) {
            break;
        }
    }

    return i;
}


/* How many keys the table has; all of them must be strings without a NUL. */
static size_t
count_keys(lua_State *L, int index)
{
    size_t n, len;
    const char *name;

    n = 0;

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            luaL_error(L, "a table for JSON has either string keys or the "
                       "numbers 1 to n");
        }

        name = lua_tolstring(L, -2, &len);

        if (strlen(name) != len) {
            luaL_error(L, "a key for JSON has a zero byte");
        }

        n++;
        sbx_lua_meter(L, 8);
    }

    return n;
}


/*
 * The keys of the table at index, sorted, as a userdata left on the stack.  A
 * view's own keys are there even when nil; its "http" is for policies only.
 */
static member_t *
collect_keys(lua_State *L, int index, int view, size_t *count)
{
    size_t n = 0, own = 0, rank;
    member_t *keys;
    const char *name;
    const char *const *order;

    order = sbx_lua_view_keys(view >= 0 ? (sbx_lua_view_t) view
                                        : SBX_LUA_VIEW_VERDICT);

    while (view >= 0 && order[own] != NULL) {
        own++;
    }

    keys = lua_newuserdatauv(L, (own + count_keys(L, index) + 1)
                                * sizeof(*keys), 0);

    for (n = 0; n < own; n++) {
        keys[n] = (member_t) { order[n], n };
    }

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        name = lua_tostring(L, -2);
        rank = rank_of(order, name);

        if (view >= 0 && (rank < own || strcmp(name, "http") == 0)) {
            continue;       /* is there already, or is not for clients */
        }

        keys[n++] = (member_t) { name, rank };
    }

    qsort(keys, n, sizeof(*keys), compare_keys);
    *count = n;

    return keys;
}


static void
encode_object(lua_State *L, int index, int view, const char *key, int depth)
{
    size_t i, count;
    member_t *keys;
    sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    keys = collect_keys(L, index, view, &count);
    sbx_json_open(out, key, '{');

    for (i = 0; i < count; i++) {
        lua_pushstring(L, keys[i].name);
        lua_rawget(L, index);
        encode(L, lua_gettop(L), keys[i].name, depth + 1);
        lua_pop(L, 1);
    }

    sbx_json_close(out, '}');
    lua_pop(L, 1);
}


static void
encode_array(lua_State *L, int index, size_t n, const char *key, int depth)
{
    size_t i, count = 0;
    sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        count++;
        sbx_lua_meter(L, 8);
    }

    if (count != n) {
        luaL_error(L, "a table for JSON has either string keys or the "
                   "numbers 1 to n");
    }

    sbx_json_open(out, key, '[');

    for (i = 1; i <= n; i++) {
        lua_rawgeti(L, index, (lua_Integer) i);
        encode(L, lua_gettop(L), NULL, depth + 1);
        lua_pop(L, 1);
    }

    sbx_json_close(out, ']');
}


static void
encode_table(lua_State *L, int index, const char *key, int depth)
{
    int view;
    size_t n;

    if (depth > JSON_DEPTH) {
        luaL_error(L, "tables for JSON are nested deeper than %d", JSON_DEPTH);
    }

    if (luaL_getmetafield(L, index, "__pairs") != LUA_TNIL) {
        luaL_error(L, "JSON cannot hold a read-only table");
    }

    view = sbx_lua_view_of(L, index);
    n = lua_rawlen(L, index);

    if (n > 0 || view == SBX_LUA_VIEW_LIST) {
        encode_array(L, index, n, key, depth);
    } else {
        encode_object(L, index, view, key, depth);
    }
}


/* index is absolute; key NULL: an element, or the whole text. */
static void
encode(lua_State *L, int index, const char *key, int depth)
{
    sbx_str_t text;
    sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    luaL_checkstack(L, 6, "tables for JSON");
    sbx_lua_meter(L, 4);

    switch (lua_type(L, index)) {

    case LUA_TNIL:
    case LUA_TLIGHTUSERDATA:    /* the global null; there is no other */
        sbx_json_null(out, key);
        break;

    case LUA_TBOOLEAN:
        sbx_json_bool(out, key, lua_toboolean(L, index));
        break;

    case LUA_TNUMBER:
        encode_number(L, index, key);
        break;

    case LUA_TSTRING:
        text.data = lua_tolstring(L, index, &text.len);
        sbx_lua_meter(L, text.len / 64);
        check_room(L, text.len);
        sbx_json_text(out, key, text);
        break;

    case LUA_TTABLE:
        encode_table(L, index, key, depth);
        break;

    default:
        luaL_error(L, "JSON cannot hold a %s", luaL_typename(L, index));
    }

    check_room(L, 0);
}


void
sbx_lua_json_value(lua_State *L, int index)
{
    sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    /* the buffer of the last text serves again */
    out->len = 0;
    out->comma = 0;
    out->failed = 0;

    encode(L, lua_absindex(L, index), NULL, 1);
}


int
sbx_lua_json(lua_State *L)
{
    const sbx_json_out_t *out = &sbx_lua_policy(L)->json;

    luaL_checkany(L, 1);
    sbx_lua_json_value(L, 1);
    lua_pushlstring(L, out->buf, out->len);

    return 1;
}
