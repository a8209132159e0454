/*
 * sbx_lua_clock.c: now(), timestamp(ms) and uuid() for policies.
 *
 * Runs in the worker (and in the master while the file is read), below
 * sbx_lua_protect().  An id comes from the kernel: a generator of our own would
 * be inherited by fork, and all workers would give out the same ones.
 */

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "sbx_lua_private.h"

#define SYSTEM_CALL     20      /* instructions that one is worth */
#define YEAR_9999_MS    253402300799999LL


static int64_t
now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


int
sbx_lua_format_time(int64_t ms, char *text, size_t size)
{
    size_t len;
    time_t seconds = (time_t) (ms / 1000);
    struct tm tm;

    if (ms < 0 || ms > YEAR_9999_MS || gmtime_r(&seconds, &tm) == NULL) {
        return -1;
    }

    len = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + len, size - len, ".%03dZ", (int) (ms % 1000));

    return 0;
}


static int
base_now(lua_State *L)
{
    sbx_lua_meter(L, 1);
    lua_pushinteger(L, (lua_Integer) now_ms());

    return 1;
}


static int
base_timestamp(lua_State *L)
{
    char text[64];
    int64_t ms = lua_isnoneornil(L, 1) ? now_ms()
                                       : (int64_t) luaL_checkinteger(L, 1);

    sbx_lua_meter(L, SYSTEM_CALL);

    if (sbx_lua_format_time(ms, text, sizeof(text)) != 0) {
        lua_pushnil(L);
        lua_pushliteral(L, "not a time from 1970 to 9999");
        return 2;
    }

    lua_pushstring(L, text);

    return 1;
}


/* RFC 9562, version 4: 122 bits of chance. */
static int
base_uuid(lua_State *L)
{
    int i;
    char text[40], *p = text;
    unsigned char bytes[16];

    sbx_lua_meter(L, SYSTEM_CALL);

    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
        return luaL_error(L, "the kernel has no random bytes");
    }

    bytes[6] = (unsigned char) (0x40 | (bytes[6] & 0x0f));
    bytes[8] = (unsigned char) (0x80 | (bytes[8] & 0x3f));

    for (i = 0; i < 16; i++) {
        p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x"
                                                              : "%02x",
                     bytes[i]);
    }

    lua_pushlstring(L, text, (size_t) (p - text));

    return 1;
}


const luaL_Reg sbx_lua_clock_functions[] = {
    { "now", base_now },
    { "timestamp", base_timestamp },
    { "uuid", base_uuid },
    { NULL, NULL }
};
