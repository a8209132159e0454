/*
 * sbx_lua_table.c: the table library, metered and raw.
 *
 * Runs in the worker.  The stock functions ask __len, __index and __newindex
 * and loop in C over whatever these answer: table.remove on a table whose
 * __len is 2^50 never ends, and no count hook sees it.  These look at no
 * metamethod, and every round of every loop is charged.
 */

#include <string.h>

#include "sbx_lua_private.h"

#define UNPACK_MAX  4000


/* Raw length of the table at arg. */
static lua_Integer
check_table(lua_State *L, int arg)
{
    luaL_checktype(L, arg, LUA_TTABLE);
    return (lua_Integer) lua_rawlen(L, arg);
}


/* Raw writes would reach the library's tables, which all calls share. */
static lua_Integer
check_writable(lua_State *L, int arg)
{
    lua_Integer n = check_table(L, arg);

    if (luaL_getmetafield(L, arg, "__newindex") != LUA_TNIL) {
        luaL_argerror(L, arg, "table without __newindex expected");
    }

    return n;
}


static int
table_insert(lua_State *L)
{
    lua_Integer n, pos, i;

    n = check_writable(L, 1);

    switch (lua_gettop(L)) {

    case 2:
        pos = n + 1;
        break;

    case 3:
        pos = luaL_checkinteger(L, 2);
        luaL_argcheck(L, pos >= 1 && pos <= n + 1, 2, "position out of bounds");

        for (i = n; i >= pos; i--) {
            sbx_lua_meter(L, 1);
            lua_rawgeti(L, 1, i);
            lua_rawseti(L, 1, i + 1);
        }

        break;

    default:
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }

    lua_rawseti(L, 1, pos);
    return 0;
}


static int
table_remove(lua_State *L)
{
    lua_Integer n, pos;

    n = check_writable(L, 1);
    pos = luaL_optinteger(L, 2, n);

    if (lua_gettop(L) > 1) {
        luaL_argcheck(L, pos == n || (pos >= 1 && pos <= n + 1), 2,
                      "position out of bounds");
    }

    lua_rawgeti(L, 1, pos);

    for ( ; pos < n; pos++) {
        sbx_lua_meter(L, 1);
        lua_rawgeti(L, 1, pos + 1);
        lua_rawseti(L, 1, pos);
    }

    lua_pushnil(L);
    lua_rawseti(L, 1, pos);

    return 1;
}


static int
table_move(lua_State *L)
{
    int to;
    lua_Integer first, last, dest, i, n;

    check_table(L, 1);
    first = luaL_checkinteger(L, 2);
    last = luaL_checkinteger(L, 3);
    dest = luaL_checkinteger(L, 4);
    to = lua_isnoneornil(L, 5) ? 1 : 5;
    check_writable(L, to);

    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3,
                      "too many elements to move");
        n = last - first + 1;
        luaL_argcheck(L, dest <= LUA_MAXINTEGER - n + 1, 4,
                      "destination wrap around");

        /* backwards where the ranges overlap the wrong way round */
        for (i = 0; i < n; i++) {
            lua_Integer at = dest > first && to == 1 ? n - 1 - i : i;

            sbx_lua_meter(L, 1);
            lua_rawgeti(L, 1, first + at);
            lua_rawseti(L, to, dest + at);
        }
    }

    lua_pushvalue(L, to);
    return 1;
}


static int
table_concat(lua_State *L)
{
    size_t sep_len, len;
    const char *sep;
    lua_Integer n, i, last;
    luaL_Buffer out;

    n = check_table(L, 1);
    sep = luaL_optlstring(L, 2, "", &sep_len);
    i = luaL_optinteger(L, 3, 1);
    last = luaL_optinteger(L, 4, n);

    luaL_buffinit(L, &out);

    for ( ; i <= last; i++) {
        lua_rawgeti(L, 1, i);

        if (!lua_isstring(L, -1)) {
            return luaL_error(L, "invalid value (at index %I) in table for "
                              "'concat'", (LUAI_UACINT) i);
        }

        lua_tolstring(L, -1, &len);
        sbx_lua_meter(L, 1 + (len + sep_len) / 16);
        luaL_addvalue(&out);

        if (i == last) {
            break;          /* i + 1 might overflow */
        }

        luaL_addlstring(&out, sep, sep_len);
    }

    luaL_pushresult(&out);
    return 1;
}


static int
table_pack(lua_State *L)
{
    int i, n = lua_gettop(L);

    lua_createtable(L, n, 1);
    lua_insert(L, 1);

    for (i = n; i >= 1; i--) {
        lua_rawseti(L, 1, i);
    }

    lua_pushinteger(L, n);
    lua_setfield(L, 1, "n");

    return 1;
}


static int
table_unpack(lua_State *L)
{
    lua_Integer n, i, last;

    n = check_table(L, 1);
    i = luaL_optinteger(L, 2, 1);
    last = luaL_optinteger(L, 3, n);

    if (i > last) {
        return 0;
    }

    if ((lua_Unsigned) last - (lua_Unsigned) i >= UNPACK_MAX
        || !lua_checkstack(L, (int) (last - i + 1)))
    {
        return luaL_error(L, "too many results to unpack");
    }

    n = last - i + 1;
    sbx_lua_meter(L, (uint64_t) n);

    for ( ; i < last; i++) {
        lua_rawgeti(L, 1, i);
    }

    lua_rawgeti(L, 1, last);
    return (int) n;
}


/* Is t[a] < t[b], by the function at index 2 or the language's own order? */
static int
is_less(lua_State *L, lua_Integer a, lua_Integer b)
{
    lua_settop(L, 2);
    lua_rawgeti(L, 1, a);
    lua_rawgeti(L, 1, b);

    /* comparing two long equal strings reads both */
    sbx_lua_meter(L, 4 + lua_rawlen(L, 3) / 16);

    if (lua_isnil(L, 2)) {
        return lua_compare(L, 3, 4, LUA_OPLT);
    }

    lua_pushvalue(L, 2);
    lua_insert(L, 3);
    lua_call(L, 2, 1);

    return lua_toboolean(L, -1);
}


static void
swap(lua_State *L, lua_Integer a, lua_Integer b)
{
    lua_rawgeti(L, 1, a);
    lua_rawgeti(L, 1, b);
    lua_rawseti(L, 1, a);
    lua_rawseti(L, 1, b);
}


static void
sift_down(lua_State *L, lua_Integer root, lua_Integer n)
{
    lua_Integer child;

    while ((child = root * 2) <= n) {
        if (child < n && is_less(L, child, child + 1)) {
            child++;
        }

        if (!is_less(L, root, child)) {
            return;
        }

        swap(L, root, child);
        root = child;
    }
}


/*
 * Heapsort: n log n for every input and every order function, also for one
 * that answers nonsense, and in place, so the cap holds.
 */
static int
table_sort(lua_State *L)
{
    lua_Integer n, i;

    n = check_writable(L, 1);

    if (!lua_isnoneornil(L, 2)) {
        luaL_checktype(L, 2, LUA_TFUNCTION);
    }

    lua_settop(L, 2);

    for (i = n / 2; i >= 1; i--) {
        sift_down(L, i, n);
    }

    for (i = n; i > 1; i--) {
        lua_settop(L, 2);
        swap(L, 1, i);
        sift_down(L, 1, i - 1);
    }

    return 0;
}


const luaL_Reg sbx_lua_table_functions[] = {
    { "concat", table_concat },
    { "insert", table_insert },
    { "move", table_move },
    { "pack", table_pack },
    { "remove", table_remove },
    { "sort", table_sort },
    { "unpack", table_unpack },
    { NULL, NULL }
};
