/*
 * sbx_lua_result.c: what a policy's functions returned, checked and narrowed.
 *
 * Runs in the worker, below sbx_lua_protect().  A policy chooses, C decides: a
 * limit above its ceiling becomes the ceiling, and whatever is not understood
 * is an error, never ignored, because a limit that was misspelt is no limit.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_lua_private.h"

#define HEADERS_MAX     64
#define HEADER_BYTES    8192
#define FACTOR_MIN      1.0
#define FACTOR_MAX      4.0


/* Those that say how the answer travels are nginx's to set. */
static const char *const refused_headers[] = {
    "connection", "content-encoding", "content-length", "date", "keep-alive",
    "server", "te", "trailer", "transfer-encoding", "upgrade", NULL
};


/* The number or text at the top as a value of the row; errors name the row. */
static uint64_t
read_limit(lua_State *L, int id, uint64_t ceiling)
{
    size_t len;
    uint64_t value;
    const char *text;
    lua_Number number;
    const sbx_limit_t *row = &sbx_limits[id];

    if (lua_type(L, -1) == LUA_TSTRING) {
        text = lua_tolstring(L, -1, &len);

        if (sbx_limit_parse((sbx_limit_id_t) id, (sbx_str_t) { text, len }, 0,
                            &value) != 0)
        {
            luaL_error(L, "limits(): %s cannot be \"%s\"", row->name, text);
        }

        return value < ceiling ? value : ceiling;
    }

    if (lua_type(L, -1) != LUA_TNUMBER) {
        luaL_error(L, "limits(): %s must be a number or a string, not a %s",
                   row->name, luaL_typename(L, -1));
    }

    number = floor(lua_tonumber(L, -1));

    if (!(number >= 0) || (number < 1 && row->min > 0)) {
        luaL_error(L, "limits(): %s cannot be %f", row->name, number);
    }

    /* compared as numbers: a huge one would not fit into 64 bits */
    if (number >= (lua_Number) ceiling) {
        return ceiling;
    }

    value = (uint64_t) number;
    return value < row->min ? row->min : value;
}


static uint32_t
read_factor(lua_State *L)
{
    lua_Number factor;

    if (lua_type(L, -1) != LUA_TNUMBER) {
        luaL_error(L, "limits(): factor must be a number, not a %s",
                   luaL_typename(L, -1));
    }

    factor = lua_tonumber(L, -1);

    if (!(factor >= FACTOR_MIN && factor <= FACTOR_MAX)) {
        luaL_error(L, "limits(): factor must be between 1 and 4, not %f",
                   factor);
    }

    return (uint32_t) lround(factor * 1000);
}


void
sbx_lua_read_limits(lua_State *L, int index,
    const uint64_t ceilings[SBX_LIMIT_COUNT], sbx_lua_limits_t *out)
{
    int id;
    size_t len;
    const char *key;

    if (lua_isnil(L, index)) {
        return;
    }

    if (!lua_istable(L, index)) {
        luaL_error(L, "limits() must return nil or a table, not a %s",
                   luaL_typename(L, index));
    }

    sbx_lua_check_open(L, index, "the result");

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            luaL_error(L, "limits() returned a key that is a %s, not a string",
                       luaL_typename(L, -2));
        }

        key = lua_tolstring(L, -2, &len);

        if (strcmp(key, "factor") == 0) {
            out->factor_permille = read_factor(L);
            continue;
        }

        id = sbx_limit_find((sbx_str_t) { key, len });
        if (id < 0) {
            luaL_error(L, "limits() returned an unknown limit \"%s\"", key);
        }

        out->limits[id] = read_limit(L, id, ceilings[id]);
    }
}


/* Both strings in one block, for the caller to free. */
static char *
copy_pair(lua_State *L, sbx_str_t first, sbx_str_t second)
{
    char *copy = malloc(first.len + second.len + 1);

    if (copy == NULL) {
        luaL_error(L, "no memory for the response");
    }

    memcpy(copy, first.data, first.len);
    memcpy(copy + first.len, second.data, second.len);
    copy[first.len + second.len] = '\0';

    return copy;
}


static int
is_token(const char *s, size_t len)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return len > 0 && strspn(s, token) == len;
}


/* A line end in a value would let a program's output write headers. */
static int
is_field_value(const char *s, size_t len)
{
    size_t i;
    unsigned char c;

    for (i = 0; i < len; i++) {
        c = (unsigned char) s[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return 0;
        }
    }

    return 1;
}


static void
check_header(lua_State *L, sbx_str_t key, sbx_str_t value)
{
    size_t i;

    if (!is_token(key.data, key.len)) {
        luaL_error(L, "%s(): \"%s\" is no header name",
                   sbx_lua_function(L), key.data);
    }

    for (i = 0; refused_headers[i] != NULL; i++) {
        if (strcasecmp(refused_headers[i], key.data) == 0) {
            luaL_error(L, "%s(): header %s is set by nginx alone",
                       sbx_lua_function(L), key.data);
        }
    }

    if (!is_field_value(value.data, value.len)) {
        luaL_error(L, "%s(): the value of header %s has a control "
                   "character", sbx_lua_function(L), key.data);
    }

    if (key.len + value.len > HEADER_BYTES) {
        luaL_error(L, "%s(): header %s is too long",
                   sbx_lua_function(L), key.data);
    }
}


static void
read_headers(lua_State *L, int index, sbx_policy_response_t *out)
{
    char *block;
    sbx_pair_t *pair;
    sbx_str_t key, value;

    if (!lua_istable(L, index)) {
        luaL_error(L, "%s(): headers must be a table, not a %s",
                   sbx_lua_function(L), luaL_typename(L, index));
    }

    sbx_lua_check_open(L, index, "headers");

    out->headers = calloc(HEADERS_MAX, sizeof(*out->headers));
    if (out->headers == NULL) {
        luaL_error(L, "no memory for the response");
    }

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING) {
            luaL_error(L, "%s(): headers must be strings by names",
                       sbx_lua_function(L));
        }

        if (out->nheaders == HEADERS_MAX) {
            luaL_error(L, "%s(): more than %d headers",
                       sbx_lua_function(L), HEADERS_MAX);
        }

        key.data = lua_tolstring(L, -2, &key.len);
        value.data = lua_tolstring(L, -1, &value.len);
        check_header(L, key, value);

        block = copy_pair(L, key, value);
        pair = &out->headers[out->nheaders++];
        pair->key = (sbx_str_t) { block, key.len };
        pair->value = (sbx_str_t) { block + key.len, value.len };
    }
}


static void
read_body(lua_State *L, int index, sbx_policy_response_t *out)
{
    sbx_str_t text;
    sbx_json_out_t *json;

    switch (lua_type(L, index)) {

    case LUA_TSTRING:
        text.data = lua_tolstring(L, index, &text.len);
        out->body.data = copy_pair(L, text, SBX_STR(""));
        out->body.len = text.len;
        break;

    case LUA_TTABLE:
        sbx_lua_json_value(L, index);

        /* taken over: the policy begins another text next time */
        json = &sbx_lua_policy(L)->json;
        out->body = (sbx_str_t) { json->buf, json->len };
        memset(json, 0, sizeof(*json));
        break;

    default:
        luaL_error(L, "%s(): body must be a string or a table, not a %s",
                   sbx_lua_function(L), luaL_typename(L, index));
    }
}


static int
read_status(lua_State *L, int index)
{
    int exact;
    lua_Integer status;

    status = lua_tointegerx(L, index, &exact);

    if (lua_type(L, index) != LUA_TNUMBER || !exact || status < 200
        || status > 599)
    {
        luaL_error(L, "%s(): status must be a number from 200 to 599",
                   sbx_lua_function(L));
    }

    return (int) status;
}


/* out is zero, and owns what was read so far even after an error. */
void
sbx_lua_read_response(lua_State *L, int index, sbx_policy_response_t *out)
{
    int value;
    const char *key;

    if (!lua_istable(L, index)) {
        luaL_error(L, "%s() must return nil or a table, not a %s",
                   sbx_lua_function(L), luaL_typename(L, index));
    }

    sbx_lua_check_open(L, index, "the result");

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        value = lua_gettop(L);

        if (strcmp(key, "status") == 0) {
            out->status = read_status(L, value);

        } else if (strcmp(key, "headers") == 0) {
            read_headers(L, value, out);

        } else if (strcmp(key, "body") == 0) {
            read_body(L, value, out);

        } else {
            luaL_error(L, "%s() returned an unknown field \"%s\"",
                       sbx_lua_function(L), key);
        }
    }
}
