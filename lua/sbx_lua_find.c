/*
 * sbx_lua_find.c: find, match, gmatch and gsub on the metered matcher.
 *
 * Runs in the worker.  They take what Lua 5.4's take and answer what these
 * answer, errors included.
 */

#include <ctype.h>
#include <string.h>

#include "sbx_lua_match.h"

#define SPECIALS        "^$*+?.([%-"


/* Argument 3 of find and match as an offset, or len + 1 when it is beyond. */
static size_t
start_offset(lua_State *L, size_t len)
{
    lua_Integer init = luaL_optinteger(L, 3, 1);

    if (init > 0) {
        return (lua_Unsigned) init - 1 > len ? len + 1 : (size_t) init - 1;
    }

    if (init == 0 || init < -(lua_Integer) len) {
        return 0;
    }

    return len - (size_t) -init;
}


static int
find_plain(lua_State *L, const char *s, size_t len, size_t from, const char *p,
    size_t plen)
{
    const char *at;

    /* glibc's memmem is linear */
    sbx_lua_meter(L, 1 + (len - from + plen) / 16);
    at = memmem(s + from, len - from, p, plen);

    if (at == NULL) {
        lua_pushnil(L);
        return 1;
    }

    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, at - s + (lua_Integer) plen);
    return 2;
}


static int
has_specials(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (p[i] != '\0' && strchr(SPECIALS, p[i]) != NULL) {
            return 1;
        }
    }

    return 0;
}


static int
find_or_match(lua_State *L, int find)
{
    int anchor;
    size_t len, plen, from;
    const char *s, *p, *at, *end;
    sbx_matcher_t m;

    s = luaL_checklstring(L, 1, &len);
    p = luaL_checklstring(L, 2, &plen);
    from = start_offset(L, len);

    if (from > len) {
        lua_pushnil(L);
        return 1;
    }

    if (find && (lua_toboolean(L, 4) || !has_specials(p, plen))) {
        return find_plain(L, s, len, from, p, plen);
    }

    anchor = plen > 0 && *p == '^';
    sbx_matcher_init(&m, L, s, len, p, plen);

    for (at = s + from; at <= m.text_end; at++) {
        end = sbx_matcher_at(&m, at, p + anchor);

        if (end != NULL) {
            if (!find) {
                return sbx_matcher_push_all(&m, at, end, 1);
            }

            lua_pushinteger(L, at - s + 1);
            lua_pushinteger(L, end - s);
            return 2 + sbx_matcher_push_all(&m, at, end, 0);
        }

        if (anchor) {
            break;
        }
    }

    lua_pushnil(L);
    return 1;
}


static int
string_find(lua_State *L)
{
    return find_or_match(L, 1);
}


static int
string_match(lua_State *L)
{
    return find_or_match(L, 0);
}


/*
 * gmatch's iterator.  Upvalues: text, pattern, offset of the next try, and of
 * the end of the last match (an empty match there would be the same again).
 */
static int
gmatch_next(lua_State *L)
{
    size_t len, plen;
    lua_Integer last;
    const char *s, *p, *at, *end;
    sbx_matcher_t m;

    s = lua_tolstring(L, lua_upvalueindex(1), &len);
    p = lua_tolstring(L, lua_upvalueindex(2), &plen);
    at = s + lua_tointeger(L, lua_upvalueindex(3));
    last = lua_tointeger(L, lua_upvalueindex(4));
    sbx_matcher_init(&m, L, s, len, p, plen);

    for ( ; at <= m.text_end; at++) {
        end = sbx_matcher_at(&m, at, p);

        if (end != NULL && end - s != last) {
            lua_pushinteger(L, end - s);
            lua_pushvalue(L, -1);
            lua_replace(L, lua_upvalueindex(3));
            lua_replace(L, lua_upvalueindex(4));
            return sbx_matcher_push_all(&m, at, end, 1);
        }
    }

    return 0;
}


static int
string_gmatch(lua_State *L)
{
    size_t len;

    luaL_checklstring(L, 1, &len);
    luaL_checkstring(L, 2);
    lua_pushinteger(L, (lua_Integer) start_offset(L, len));
    lua_replace(L, 3);
    lua_settop(L, 3);
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, gmatch_next, 4);

    return 1;
}


/* The replacement string at index 3 with its %0 … %9 filled in. */
static void
add_string(sbx_matcher_t *m, luaL_Buffer *out, const char *s, const char *end)
{
    size_t i, len;
    const char *r;

    r = lua_tolstring(m->L, 3, &len);
    sbx_lua_meter(m->L, 1 + len / 16);

    for (i = 0; i < len; i++) {
        if (r[i] != SBX_MATCH_ESCAPE) {
            luaL_addchar(out, r[i]);
            continue;
        }

        i++;    /* r[len] is a NUL: a % at the end is refused below */

        if (r[i] == SBX_MATCH_ESCAPE) {
            luaL_addchar(out, SBX_MATCH_ESCAPE);

        } else if (r[i] == '0') {
            luaL_addlstring(out, s, (size_t) (end - s));

        } else if (isdigit((unsigned char) r[i])) {
            sbx_matcher_push(m, r[i] - '1', s, end);
            luaL_tolstring(m->L, -1, NULL);
            lua_remove(m->L, -2);
            luaL_addvalue(out);

        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}


/* Adds what replaces the match; false or nil keep it. */
static void
add_replacement(sbx_matcher_t *m, luaL_Buffer *out, const char *s,
    const char *end)
{
    int n;
    lua_State *L = m->L;

    switch (lua_type(L, 3)) {

    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        n = sbx_matcher_push_all(m, s, end, 1);
        lua_call(L, n, 1);
        break;

    case LUA_TTABLE:
        sbx_matcher_push(m, 0, s, end);
        lua_gettable(L, 3);
        break;

    default:
        add_string(m, out, s, end);
        return;
    }

    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, s, (size_t) (end - s));
        return;
    }

    if (!lua_isstring(L, -1)) {
        luaL_error(L, "invalid replacement value (a %s)",
                   luaL_typename(L, -1));
    }

    luaL_addvalue(out);
}


static int
string_gsub(lua_State *L)
{
    int anchor, type;
    size_t len, plen;
    lua_Integer max, n = 0;
    const char *s, *p, *end, *last = NULL;
    sbx_matcher_t m;
    luaL_Buffer out;

    s = luaL_checklstring(L, 1, &len);
    p = luaL_checklstring(L, 2, &plen);
    type = lua_type(L, 3);
    max = luaL_optinteger(L, 4, (lua_Integer) len + 1);

    luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING
                     || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                     "string/function/table");

    anchor = plen > 0 && *p == '^';
    sbx_matcher_init(&m, L, s, len, p, plen);
    luaL_buffinit(L, &out);

    while (n < max) {
        end = sbx_matcher_at(&m, s, p + anchor);

        if (end != NULL && end != last) {
            n++;
            add_replacement(&m, &out, s, end);
            s = last = end;

        } else if (s < m.text_end) {
            luaL_addchar(&out, *s++);

        } else {
            break;
        }

        if (anchor) {
            break;
        }
    }

    luaL_addlstring(&out, s, (size_t) (m.text_end - s));
    luaL_pushresult(&out);
    lua_pushinteger(L, n);

    return 2;
}


const luaL_Reg sbx_lua_find_functions[] = {
    { "find", string_find },
    { "gmatch", string_gmatch },
    { "gsub", string_gsub },
    { "match", string_match },
    { NULL, NULL }
};
