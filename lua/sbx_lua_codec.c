/*
 * sbx_lua_codec.c: what policies need to speak other judges' protocols: base64,
 * hex, digests, a comparison for tokens, sizes, times, query strings.
 *
 * Runs in the worker, below sbx_lua_protect(), on what strangers send.  Each
 * function is charged by the length it reads before it reads it, and writes
 * into Lua's own memory, which has a cap.  Text that is not what it should be
 * is no error but nil and a reason: whether it is one, the policy decides.
 */

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "sbx_lua_private.h"

/* Hashing costs about ten times what copying does. */
#define DIGEST_BYTES_PER_STEP  4

/* More parameters than any request has a use for. */
#define QUERY_MAX  1024


static const char hex_digits[] = "0123456789abcdef";


static sbx_str_t
check_text(lua_State *L, int arg, size_t bytes_per_step)
{
    sbx_str_t text;

    text.data = luaL_checklstring(L, arg, &text.len);
    sbx_lua_meter(L, text.len / bytes_per_step);

    return text;
}


static int
fail(lua_State *L, const char *why)
{
    lua_pushnil(L);
    lua_pushstring(L, why);

    return 2;
}


/* A line end after each width characters, and at the end, as MIME has it. */
static void
break_lines(char *out, const char *text, size_t len, size_t width)
{
    size_t n;

    for ( ; len > 0; text += n, len -= n) {
        n = len < width ? len : width;
        memmove(out, text, n);
        out[n] = '\n';
        out += n + 1;
    }
}


/* base64.encode(data [, width]) */
static int
base64_encode(lua_State *L)
{
    char *out;
    size_t size, lines = 0;
    sbx_str_t data = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);
    lua_Integer width = luaL_optinteger(L, 2, 0);
    luaL_Buffer buffer;

    luaL_argcheck(L, width >= 0 && width <= 1024, 2, "must be 0 to 1024");
    size = sbx_base64_size(data.len);

    if (width > 0) {
        lines = (size + (size_t) width - 1) / (size_t) width;
        sbx_lua_meter(L, lines);
    }

    /* written where its last line will end, then moved line by line */
    out = luaL_buffinitsize(L, &buffer, size + lines);
    sbx_base64_encode(out + lines, data);

    if (width > 0) {
        break_lines(out, out + lines, size, (size_t) width);
    }

    luaL_pushresultsize(&buffer, size + lines);

    return 1;
}


static int
base64_decode(lua_State *L)
{
    char *out;
    size_t len;
    sbx_str_t text = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);
    luaL_Buffer buffer;

    out = luaL_buffinitsize(L, &buffer, text.len / 4 * 3);

    if (sbx_base64_decode(out, &len, text) != 0) {
        return fail(L, "not valid base64");
    }

    luaL_pushresultsize(&buffer, len);

    return 1;
}


static void
push_hex(lua_State *L, const unsigned char *data, size_t len)
{
    size_t i;
    char *out;
    luaL_Buffer buffer;

    out = luaL_buffinitsize(L, &buffer, 2 * len);

    for (i = 0; i < len; i++) {
        out[2 * i] = hex_digits[data[i] >> 4];
        out[2 * i + 1] = hex_digits[data[i] & 15];
    }

    luaL_pushresultsize(&buffer, 2 * len);
}


static int
hex_encode(lua_State *L)
{
    sbx_str_t data = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);

    push_hex(L, (const unsigned char *) data.data, data.len);

    return 1;
}


/* -1: no digit */
static int
hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


static int
hex_decode(lua_State *L)
{
    int high, low;
    char *out;
    size_t i;
    sbx_str_t text = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);
    luaL_Buffer buffer;

    if (text.len % 2 != 0) {
        return fail(L, "not valid hex");
    }

    out = luaL_buffinitsize(L, &buffer, text.len / 2);

    for (i = 0; i < text.len; i += 2) {
        high = hex_value(text.data[i]);
        low = hex_value(text.data[i + 1]);

        if (high < 0 || low < 0) {
            return fail(L, "not valid hex");
        }

        out[i / 2] = (char) (high << 4 | low);
    }

    luaL_pushresultsize(&buffer, text.len / 2);

    return 1;
}


static int
push_digest(lua_State *L, const EVP_MD *type)
{
    unsigned len;
    unsigned char digest[EVP_MAX_MD_SIZE];
    sbx_str_t data = check_text(L, 1, DIGEST_BYTES_PER_STEP);

    if (EVP_Digest(data.data, data.len, digest, &len, type, NULL) != 1) {
        return luaL_error(L, "libcrypto refuses this digest");
    }

    push_hex(L, digest, len);

    return 1;
}


static int
base_sha256(lua_State *L)
{
    return push_digest(L, EVP_sha256());
}


/* What is broken as a signature is still how a judge names its test data. */
static int
base_md5(lua_State *L)
{
    return push_digest(L, EVP_md5());
}


/* In a time that does not tell how much of a token was right. */
static int
base_equal(lua_State *L)
{
    sbx_str_t a = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);
    sbx_str_t b = check_text(L, 2, SBX_LUA_BYTES_PER_STEP);

    lua_pushboolean(L, a.len == b.len
                       && CRYPTO_memcmp(a.data, b.data, a.len) == 0);

    return 1;
}


static int
parse_unit(lua_State *L, sbx_unit_t unit, const char *why)
{
    uint64_t value;
    sbx_str_t text = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);

    if (sbx_unit_parse(unit, text, &value) != 0
        || value > (uint64_t) LUA_MAXINTEGER)
    {
        return fail(L, why);
    }

    lua_pushinteger(L, (lua_Integer) value);

    return 1;
}


static int
base_size(lua_State *L)
{
    return parse_unit(L, SBX_UNIT_BYTES, "not a size such as 64m");
}


static int
base_time(lua_State *L)
{
    return parse_unit(L, SBX_UNIT_MS, "not a time such as 1500ms");
}


/* "%41+b" → "A b"; a percent sign without two digits stands for itself. */
static void
push_unescaped(lua_State *L, const char *p, const char *end)
{
    char *out;
    size_t n = 0;
    luaL_Buffer buffer;

    out = luaL_buffinitsize(L, &buffer, (size_t) (end - p));

    for ( ; p < end; p++, n++) {
        out[n] = *p == '+' ? ' ' : *p;

        if (*p == '%' && end - p > 2 && hex_value(p[1]) >= 0
            && hex_value(p[2]) >= 0)
        {
            out[n] = (char) (hex_value(p[1]) << 4 | hex_value(p[2]));
            p += 2;
        }
    }

    luaL_pushresultsize(&buffer, n);
}


/* The last one counts where a name is repeated. */
static int
base_query(lua_State *L)
{
    int n = 0;
    const char *p, *end, *next, *equal;
    sbx_str_t text = check_text(L, 1, SBX_LUA_BYTES_PER_STEP);

    lua_newtable(L);
    end = text.data + text.len;

    for (p = text.data; p < end; p = next + 1) {
        sbx_lua_meter(L, 8);
        next = memchr(p, '&', (size_t) (end - p));
        next = next == NULL ? end : next;

        if (next == p) {
            continue;
        }

        if (n++ == QUERY_MAX) {
            return fail(L, "more than 1024 parameters");
        }

        equal = memchr(p, '=', (size_t) (next - p));
        push_unescaped(L, p, equal == NULL ? next : equal);
        push_unescaped(L, equal == NULL ? next : equal + 1, next);
        lua_rawset(L, -3);
    }

    return 1;
}


const luaL_Reg sbx_lua_base64_functions[] = {
    { "decode", base64_decode },
    { "encode", base64_encode },
    { NULL, NULL }
};

const luaL_Reg sbx_lua_hex_functions[] = {
    { "decode", hex_decode },
    { "encode", hex_encode },
    { NULL, NULL }
};

const luaL_Reg sbx_lua_codec_functions[] = {
    { "equal", base_equal },
    { "md5", base_md5 },
    { "query", base_query },
    { "sha256", base_sha256 },
    { "size", base_size },
    { "time", base_time },
    { NULL, NULL }
};
