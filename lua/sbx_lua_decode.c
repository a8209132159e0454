/*
 * sbx_lua_decode.c: JSON text as Lua values, and the table json.
 *
 * Runs in the worker, below sbx_lua_protect(), on what strangers send.  One
 * pass from text to Lua's own memory, which has a cap, charged as it goes: a
 * tree in between (json-c makes one) would grow outside of the cap and be built
 * in one step of the count hook.  As strict as the native contract: duplicate
 * keys, ill-formed UTF-8, lone surrogates, trailing bytes are mistakes.  A
 * mistake in the text is no error but nil and a reason with its place.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_lua_private.h"

#define DECODE_DEPTH    32
#define CHARGE_BYTES    4096    /* of a string, between two charges */


/* Raised as an error object: told from Lua's own errors by its address. */
static const char mistake;

typedef struct {
    lua_State *L;
    const char *start, *at, *end;
    char why[96];
} decode_t;


static void decode_value(decode_t *in, int depth);


static void __attribute__((noreturn))
fail_at(decode_t *in, const char *at, const char *what)
{
    snprintf(in->why, sizeof(in->why), "%s at byte %zu", what,
             (size_t) (at - in->start));
    lua_pushlightuserdata(in->L, (void *) &mistake);
    lua_error(in->L);
    abort();        /* lua_error does not return */
}


static int
peek(decode_t *in)
{
    const char *p = in->at;

    while (p < in->end && (*p == ' ' || *p == '\n' || *p == '\t'
                           || *p == '\r'))
    {
        p++;
    }

    sbx_lua_meter(in->L, 2 + (uint64_t) (p - in->at) / SBX_LUA_BYTES_PER_STEP);
    in->at = p;

    return p < in->end ? (unsigned char) *p : -1;
}


/* How many bytes from p on stand for themselves, one piece at a time. */
static int
plain_length(const char *p, const char *end)
{
    int n = 0, max;

    max = end - p > CHARGE_BYTES ? CHARGE_BYTES : (int) (end - p);

    while (n < max && (unsigned char) p[n] - 0x20u < 0x60u && p[n] != '"'
           && p[n] != '\\')
    {
        n++;
    }

    return n;
}


/* Behind the string's closing quote; *escapes: how many it has. */
static const char *
scan_string(decode_t *in, size_t *escapes)
{
    int n;
    const char *p, *before, *charged;

    *escapes = 0;
    charged = in->at;

    for (p = in->at + 1; p < in->end && *p != '"'; p += n) {
        before = p;

        if (p - charged >= CHARGE_BYTES) {
            sbx_lua_meter(in->L, CHARGE_BYTES / SBX_LUA_BYTES_PER_STEP);
            charged = p;
        }

        if ((unsigned char) *p < 0x20) {
            fail_at(in, p, "control character in a string");
        }

        if (*p == '\\') {
            if (sbx_json_escape(&p, in->end) < 0) {
                fail_at(in, before, "invalid escape");
            }

            (*escapes)++;
            n = 0;

        } else {
            n = plain_length(p, in->end);
            n = n > 0 ? n : sbx_utf8_length(p, (size_t) (in->end - p));

            if (n < 0) {
                fail_at(in, p, "invalid UTF-8");
            }
        }
    }

    if (p == in->end) {
        fail_at(in, in->at, "unterminated string");
    }

    return p + 1;
}


static void
unescape(decode_t *in, const char *p, const char *end)
{
    int n;
    char *out, *to;
    const char *next;
    luaL_Buffer buffer;

    out = luaL_buffinitsize(in->L, &buffer, (size_t) (end - p));

    for (to = out; p < end; to += n) {
        if (*p == '\\') {
            n = sbx_utf8_encode(sbx_json_escape(&p, end), to);
            continue;
        }

        next = memchr(p, '\\', (size_t) (end - p));
        n = (int) ((next == NULL ? end : next) - p);
        memcpy(to, p, (size_t) n);
        p += n;
    }

    luaL_pushresultsize(&buffer, (size_t) (to - out));
}


static void
decode_string(decode_t *in)
{
    size_t escapes, len;
    const char *text, *next;

    text = in->at + 1;
    next = scan_string(in, &escapes);
    len = (size_t) (next - 1 - text);
    sbx_lua_meter(in->L, escapes + len / SBX_LUA_BYTES_PER_STEP);

    if (escapes == 0) {
        lua_pushlstring(in->L, text, len);
    } else {
        unescape(in, text, next - 1);
    }

    in->at = next;
}


static const char *
skip_digits(decode_t *in, const char *p)
{
    const char *start = p;

    while (p < in->end && *p >= '0' && *p <= '9') {
        p++;
    }

    if (p == start) {
        fail_at(in, in->at, "invalid number");
    }

    return p;
}


/* Integers that fit are integers; Lua's strings end with a NUL for strtod. */
static void
decode_number(decode_t *in)
{
    int whole = 1;
    const char *p = in->at + (*in->at == '-'), *digits = p;

    p = skip_digits(in, p);

    if (*digits == '0' && p - digits > 1) {
        fail_at(in, in->at, "leading zero in a number");
    }

    if (p < in->end && *p == '.') {
        whole = 0;
        p = skip_digits(in, p + 1);
    }

    if (p < in->end && (*p | 0x20) == 'e') {
        whole = 0;
        p++;
        p += p < in->end && (*p == '+' || *p == '-');
        p = skip_digits(in, p);
    }

    sbx_lua_meter(in->L, (uint64_t) (p - in->at));

    if (whole && p - digits <= 18) {
        lua_pushinteger(in->L, strtoll(in->at, NULL, 10));
    } else {
        lua_pushnumber(in->L, strtod(in->at, NULL));
    }

    in->at = p;
}


static void
decode_literal(decode_t *in)
{
    size_t i, len, left = (size_t) (in->end - in->at);
    static const char *const literals[] = { "false", "true", "null" };

    for (i = 0; i < 3; i++) {
        len = strlen(literals[i]);

        if (left >= len && memcmp(in->at, literals[i], len) == 0) {
            in->at += len;

            if (i == 2) {
                lua_pushlightuserdata(in->L, NULL);
            } else {
                lua_pushboolean(in->L, (int) i);
            }

            return;
        }
    }

    fail_at(in, in->at, "a value was expected");
}


/* 1: another element or member follows; 0: the bracket was passed. */
static int
more(decode_t *in, char close, int first)
{
    int c = peek(in);

    if (c == close) {
        in->at++;
        return 0;
    }

    if (first) {
        return 1;
    }

    if (c != ',') {
        fail_at(in, in->at, "a comma or a closing bracket was expected");
    }

    in->at++;

    return 1;
}


static void
decode_array(decode_t *in, int depth)
{
    lua_Integer n;

    lua_newtable(in->L);
    sbx_lua_mark_list(in->L);
    in->at++;

    for (n = 1; more(in, ']', n == 1); n++) {
        decode_value(in, depth + 1);
        lua_rawseti(in->L, -2, n);
    }
}


static void
decode_object(decode_t *in, int depth)
{
    int n;
    const char *key;

    lua_newtable(in->L);
    in->at++;

    for (n = 0; more(in, '}', n == 0); n++) {
        if (peek(in) != '"') {
            fail_at(in, in->at, "a key was expected");
        }

        key = in->at;
        decode_string(in);
        lua_pushvalue(in->L, -1);

        if (lua_rawget(in->L, -3) != LUA_TNIL) {
            fail_at(in, key, "duplicate key");
        }

        lua_pop(in->L, 1);

        if (peek(in) != ':') {
            fail_at(in, in->at, "a colon was expected");
        }

        in->at++;
        decode_value(in, depth + 1);
        lua_rawset(in->L, -3);
    }
}


/* Leaves the value on the stack. */
static void
decode_value(decode_t *in, int depth)
{
    int c = peek(in);

    luaL_checkstack(in->L, 6, "nested JSON");

    if (c < 0) {
        fail_at(in, in->at, "the text ends too early");
    }

    if ((c == '{' || c == '[') && depth > DECODE_DEPTH) {
        fail_at(in, in->at, "nested too deeply");
    }

    switch (c) {

    case '{':
        decode_object(in, depth);
        break;

    case '[':
        decode_array(in, depth);
        break;

    case '"':
        decode_string(in);
        break;

    case '-':
    case '0' ... '9':
        decode_number(in);
        break;

    default:
        decode_literal(in);
    }
}


static int
decode_text(lua_State *L)
{
    decode_t *in = lua_touserdata(L, 2);

    decode_value(in, 1);

    if (peek(in) >= 0) {
        fail_at(in, in->at, "trailing bytes");
    }

    return 1;
}


static int
json_decode(lua_State *L)
{
    size_t len;
    decode_t in = { .L = L };

    in.start = luaL_checklstring(L, 1, &len);
    in.at = in.start;
    in.end = in.start + len;

    lua_settop(L, 1);
    lua_pushcfunction(L, decode_text);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &in);

    if (lua_pcall(L, 2, 1, 0) == LUA_OK) {
        return 1;
    }

    if (lua_touserdata(L, -1) != (void *) &mistake) {
        return lua_error(L);
    }

    lua_pushnil(L);
    lua_pushstring(L, in.why);

    return 2;
}


/* A list also when it is empty: [] and not {}. */
static int
json_list(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);

    if (sbx_lua_view_of(L, 1) == SBX_LUA_VIEW_LIST) {
        return 1;
    }

    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }

    sbx_lua_mark_list(L);

    return 1;
}


/* json(value) */
static int
json_call(lua_State *L)
{
    lua_remove(L, 1);

    return sbx_lua_json(L);
}


static const luaL_Reg functions[] = {
    { "decode", json_decode },
    { "encode", sbx_lua_json },
    { "list", json_list },
    { NULL, NULL }
};


void
sbx_lua_push_json(lua_State *L)
{
    luaL_newlib(L, functions);
    sbx_lua_make_read_only(L);

    lua_getmetatable(L, -1);
    lua_pushcfunction(L, json_call);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
}
