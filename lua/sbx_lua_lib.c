/*
 * sbx_lua_lib.c: the library a policy sees.
 *
 * Runs in the worker.  Built by name from a list of what is known to be
 * harmless, never by taking things away from the stock library.  Left out on
 * purpose: whatever reads files or prints (io, os, print, require, dofile,
 * loadfile), compiles (load: binary chunks crash the interpreter), reaches
 * behind the bounds (debug, collectgarbage, xpcall, whose handler runs with
 * hooks off, coroutine) or writes to what calls share (rawset, randomseed).
 */

#include <string.h>

#include <lualib.h>

#include "sbx_lua_private.h"


typedef struct {
    const char *library;        /* table the stock function lives in */
    const char *const *names;   /* NULL-terminated */
    int scans;                  /* 1: reads its whole first argument */
} stock_t;


static const char *const base_names[] = {
    "assert", "error", "getmetatable", "ipairs", "pcall", "rawequal",
    "rawget", "rawlen", "select", "tonumber", "tostring", "type", "_VERSION",
    NULL
};

static const char *const string_names[] = {
    "byte", "char", "format", "len", "sub", NULL
};

static const char *const string_scans[] = {
    "lower", "reverse", "upper", NULL
};

static const char *const math_names[] = {
    "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor",
    "fmod", "huge", "log", "max", "maxinteger", "min", "mininteger", "modf",
    "pi", "rad", "random", "sin", "sqrt", "tan", "tointeger", "type", "ult",
    NULL
};

static const char *const utf8_names[] = {
    "char", "charpattern", "codes", NULL
};

static const char *const utf8_scans[] = {
    "codepoint", "len", "offset", NULL
};

static const stock_t stock[] = {
    { "string", string_names, 0 },
    { "string", string_scans, 1 },
    { "math", math_names, 0 },
    { "utf8", utf8_names, 0 },
    { "utf8", utf8_scans, 1 },
};


/* upvalue 1: a stock function that reads all of its first argument */
static int
call_metered(lua_State *L)
{
    size_t len;

    luaL_checklstring(L, 1, &len);
    sbx_lua_meter(L, len / SBX_LUA_BYTES_PER_STEP);

    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}


/* next over a table that was emptied walks all its old places in one step */
static int
base_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    sbx_lua_meter(L, 4);

    if (lua_next(L, 1)) {
        return 2;
    }

    lua_pushnil(L);
    return 1;
}


static int
base_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);

    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);

        return 3;
    }

    lua_pushcfunction(L, base_next);
    lua_pushvalue(L, 1);
    lua_pushnil(L);

    return 3;
}


/* Finalizers run with hooks off: one that loops would hang the worker. */
static int
base_setmetatable(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2,
                     "nil or table");
    lua_settop(L, 2);

    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");

        if (lua_rawget(L, 2) != LUA_TNIL) {
            return luaL_error(L, "a metatable with __gc is not allowed here");
        }

        lua_pop(L, 1);
    }

    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }

    lua_setmetatable(L, 1);
    return 1;
}


/* Repeats the first len bytes of out until total are full. */
static void
fill(char *out, size_t len, size_t total)
{
    size_t n;

    for ( ; len < total; len += n) {
        n = len < total - len ? len : total - len;
        memcpy(out + len, out, n);
    }
}


/* The stock one loops n times even when there is nothing to repeat. */
static int
string_rep(lua_State *L)
{
    char *out;
    size_t len, sep_len, unit, total;
    const char *s, *sep;
    lua_Integer n;
    luaL_Buffer buffer;

    s = luaL_checklstring(L, 1, &len);
    n = luaL_checkinteger(L, 2);
    sep = luaL_optlstring(L, 3, "", &sep_len);
    unit = len + sep_len;

    if (n <= 0 || unit == 0) {
        lua_pushliteral(L, "");
        return 1;
    }

    if ((uint64_t) n > sbx_lua_policy(L)->bound.cap / unit) {
        return luaL_error(L, "resulting string too large");
    }

    total = (size_t) n * unit;
    sbx_lua_meter(L, total / SBX_LUA_BYTES_PER_STEP);

    out = luaL_buffinitsize(L, &buffer, total);
    memcpy(out, s, len);
    memcpy(out + len, sep, sep_len);
    fill(out, unit, total);
    luaL_pushresultsize(&buffer, total - sep_len);

    return 1;
}


static const luaL_Reg base_own[] = {
    { "next", base_next },
    { "pairs", base_pairs },
    { "setmetatable", base_setmetatable },
    { NULL, NULL }
};

static const luaL_Reg string_own[] = {
    { "rep", string_rep },
    { NULL, NULL }
};


static int
refuse_write(lua_State *L)
{
    return luaL_error(L, "this table is read-only");
}


/*
 * Copies names from the table at index from into the one at index to.  A name
 * this Lua lacks is an error, so that a wrong list shows at once.
 */
static void
copy_stock(lua_State *L, int from, int to, const char *const *names, int scans)
{
    for ( ; *names != NULL; names++) {
        if (lua_getfield(L, from, *names) == LUA_TNIL) {
            luaL_error(L, "this Lua has no %s", *names);
        }

        if (scans) {
            lua_pushcclosure(L, call_metered, 1);
        }

        lua_setfield(L, to, *names);
    }
}


/* upvalue 1: the table behind a closed one, whose keys come with its values */
static int
next_behind(lua_State *L)
{
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_replace(L, 1);

    return base_next(L);
}


static int
pairs_behind(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushcclosure(L, next_behind, 1);
    lua_pushvalue(L, 1);
    lua_pushnil(L);

    return 3;
}


/*
 * The closed table is empty, with a metatable that reads from the one behind it
 * and refuses writes.  A policy cannot get at what is behind: getmetatable
 * answers false.
 */
void
sbx_lua_make_read_only(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 4);           /* …, real, proxy, meta */
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, pairs_behind, 1);
    lua_setfield(L, -2, "__pairs");
    lua_rotate(L, -3, -1);              /* proxy, meta, real */
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}


void
sbx_lua_check_open(lua_State *L, int index, const char *what)
{
    if (luaL_getmetafield(L, index, "__pairs") != LUA_TNIL) {
        luaL_error(L, "%s(): %s is a read-only table; copy what is needed of "
                   "it", sbx_lua_function(L), what);
    }
}


static void
add_library(lua_State *L, int library, const char *name, lua_CFunction open,
    const luaL_Reg *own, const luaL_Reg *more)
{
    int from, to;
    size_t i;

    lua_newtable(L);
    to = lua_gettop(L);

    if (open != NULL) {
        luaL_requiref(L, name, open, 0);
        from = lua_gettop(L);

        for (i = 0; i < sizeof(stock) / sizeof(stock[0]); i++) {
            if (strcmp(stock[i].library, name) == 0) {
                copy_stock(L, from, to, stock[i].names, stock[i].scans);
            }
        }

        lua_settop(L, to);
    }

    if (own != NULL) {
        luaL_setfuncs(L, own, 0);
    }

    if (more != NULL) {
        luaL_setfuncs(L, more, 0);
    }

    sbx_lua_make_read_only(L);
    lua_setfield(L, library, name);
}


/* ("x"):rep(3) goes through the metatable of strings: ours, and closed. */
static void
set_string_methods(lua_State *L, int library)
{
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 2);
    lua_getfield(L, library, "string");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}


/* The strings behind the file in the directive. */
static void
set_config(lua_State *L, int library)
{
    size_t i;
    const sbx_policy_config_t *config = &sbx_lua_policy(L)->config;

    lua_createtable(L, 0, (int) config->npairs);

    for (i = 0; i < config->npairs; i++) {
        lua_pushlstring(L, config->pairs[i].key.data,
                        config->pairs[i].key.len);
        lua_pushlstring(L, config->pairs[i].value.data,
                        config->pairs[i].value.len);
        lua_rawset(L, -3);
    }

    sbx_lua_make_read_only(L);
    lua_setfield(L, library, "config");
}


void
sbx_lua_open_library(lua_State *L)
{
    int library;

    lua_newtable(L);
    library = lua_gettop(L);

    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    copy_stock(L, lua_gettop(L), library, base_names, 0);
    lua_settop(L, library);

    luaL_setfuncs(L, base_own, 0);
    luaL_setfuncs(L, sbx_lua_codec_functions, 0);
    luaL_setfuncs(L, sbx_lua_clock_functions, 0);

    /* what nil cannot say in a table that becomes JSON */
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, library, "null");

    add_library(L, library, LUA_STRLIBNAME, luaopen_string, string_own,
                sbx_lua_find_functions);
    add_library(L, library, LUA_MATHLIBNAME, luaopen_math, NULL, NULL);
    add_library(L, library, LUA_UTF8LIBNAME, luaopen_utf8, NULL, NULL);
    add_library(L, library, LUA_TABLIBNAME, NULL, sbx_lua_table_functions,
                NULL);

    add_library(L, library, "base64", NULL, sbx_lua_base64_functions, NULL);
    add_library(L, library, "hex", NULL, sbx_lua_hex_functions, NULL);

    sbx_lua_push_json(L);
    lua_setfield(L, library, "json");

    set_string_methods(L, library);
    set_config(L, library);

    sbx_lua_set_key(L, SBX_LUA_KEY_LIBRARY);
}
