/*
 * sbx_floor.c: comparing limits with what a language starts with.
 *
 * Runs in the supervisor (which refuses), in the worker and in the command
 * (which warn).
 */

#include <stdio.h>
#include <string.h>

#include "sbx_floor.h"


/* A slow host is no reason to refuse: these are what an empty program took. */
static int
is_hard(int id)
{
    return id != SBX_LIMIT_TIMEOUT && id != SBX_LIMIT_CPU_TIME
           && id != SBX_LIMIT_CPU_PER_SECOND;
}


int
sbx_floor_find(const uint64_t *limits, const uint64_t *floors, int from,
    int hard)
{
    int i;

    for (i = from; i < SBX_LIMIT_COUNT; i++) {
        if (limits[i] < floors[i] && (is_hard(i) || !hard)) {
            return i;
        }
    }

    return -1;
}


char *
sbx_floor_format(sbx_limit_id_t id, uint64_t value, uint64_t floor,
    sbx_str_t language, char *buf, size_t size)
{
    char has[32], needs[32];

    sbx_limit_format(id, value, has, sizeof(has));
    sbx_limit_format(id, floor, needs, sizeof(needs));

    snprintf(buf, size, is_hard(id)
             ? "\"%s\" of %s is too little: %.*s needs at least %s to start"
             : "\"%s\" of %s is little: an empty program in %.*s took %s here",
             sbx_limits[id].name, has, (int) language.len, language.data,
             needs);

    return buf;
}


uint64_t
sbx_floor_known(sbx_str_t language, sbx_limit_id_t id)
{
    size_t i;

    /* Node.js hangs or aborts below: four threads for V8, one for signals */
    static const struct {
        const char *language;
        sbx_limit_id_t id;
        uint64_t floor;
    } known[] = {
        { "node", SBX_LIMIT_THREADS, 6 },
        { "node", SBX_LIMIT_OPEN_FILES, 16 }
    };

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (id == known[i].id && strlen(known[i].language) == language.len
            && memcmp(known[i].language, language.data, language.len) == 0)
        {
            return known[i].floor;
        }
    }

    return 0;
}
