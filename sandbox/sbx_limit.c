/*
 * sbx_limit.c: the table of limits, and its values as text.
 *
 * Runs in every process of ours.  Values come from operators (directives,
 * flags, policies) and from clients (JSON), so nothing is rounded, wrapped or
 * guessed: text is one whole value of the row's unit, or it is refused.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sbx_limit.h"


#define KIB     (1ULL << 10)
#define MIB     (1ULL << 20)
#define GIB     (1ULL << 30)
#define SECOND  1000ULL
#define HOUR    (3600 * SECOND)


typedef struct {
    const char *suffix;
    uint64_t scale;
} scale_t;

static size_t match_suffix(sbx_str_t text, const char *suffix);
static int parse_time(sbx_str_t text, int bare_seconds, uint64_t *value);
static int parse_scaled(sbx_str_t text, const scale_t *scales,
    uint64_t *value);


/*
 * Both streams at their largest output, in the largest JSON escape, stay below
 * what one frame and one answer may hold; that is where the 64m come from.
 * Linux gives each program it starts 128 KiB of stack, and CPython fails before
 * its first line with less.
 */
const sbx_limit_t sbx_limits[SBX_LIMIT_COUNT] = {
    [SBX_LIMIT_MEMORY] = {
        "memory", SBX_UNIT_BYTES, 128 * MIB, MIB, 64 * GIB,
        "memory the run adds to the warmed interpreter, whole tree and tmpfs",
        "memory", "load less data at a time, or ask for more \"memory\"", 0
    },
    [SBX_LIMIT_TIMEOUT] = {
        "timeout", SBX_UNIT_MS, 5 * SECOND, 1, 24 * HOUR,
        "wall-clock time from hand-over",
        "time", "do less work in one run, or ask for a longer \"timeout\"", 0
    },
    [SBX_LIMIT_CPU_TIME] = {
        "cpu_time", SBX_UNIT_MS, 0, 1, 24 * HOUR,
        "user and system time of the whole tree",
        "CPU time", "do less work in one run, or ask for more \"cpu_time\"", 0
    },
    [SBX_LIMIT_OUTPUT] = {
        "output", SBX_UNIT_BYTES, MIB, 0, 64 * MIB,
        "bytes of standard output, and as many of standard error",
        "output", "print less, or ask for more \"output\"", 0
    },
    [SBX_LIMIT_DISK] = {
        "disk", SBX_UNIT_BYTES, 16 * MIB, 64 * KIB, 16 * GIB,
        "size of the run's private /tmp",
        "disk", "keep fewer and smaller files in /tmp, or ask for more "
        "\"disk\"", 0
    },
    [SBX_LIMIT_PROCESSES] = {
        "processes", SBX_UNIT_COUNT, 1, 1, 4096,
        "processes at a time; more than 1 allows forking",
        "processes", "start fewer processes at a time, or ask for more "
        "\"processes\"", 0
    },
    [SBX_LIMIT_THREADS] = {
        "threads", SBX_UNIT_COUNT, 64, 0, 4096,
        "threads beyond the first of each process",
        "threads", "start fewer threads at a time, or ask for more "
        "\"threads\"", 0
    },
    [SBX_LIMIT_OPEN_FILES] = {
        "open_files", SBX_UNIT_COUNT, 256, 8, 65536,
        "open file descriptors of a process",
        "open files", "close files that are no longer needed, or ask for more "
        "\"open_files\"", 0
    },
    [SBX_LIMIT_STACK] = {
        "stack", SBX_UNIT_BYTES, 8 * MIB, 128 * KIB, GIB,
        "stack of the main thread",
        "stack", "recurse less deeply, or ask for more \"stack\"", 0
    },
    [SBX_LIMIT_ALLOCATION] = {
        "allocation", SBX_UNIT_BYTES, 64 * GIB, MIB, 64 * GIB,
        "the largest block asked for at once",
        "single allocation", "ask for smaller blocks, or for more "
        "\"allocation\"", 1
    },
    [SBX_LIMIT_CPU_PER_SECOND] = {
        "cpu_per_second", SBX_UNIT_MS, 24 * HOUR, 1, 24 * HOUR,
        "CPU time of the whole tree in any second, against endless loops",
        "CPU per second", "look for an endless loop, or ask for more "
        "\"cpu_per_second\"", 1
    }
};


/* Largest first: time text must name its units in this order. */
static const scale_t time_scales[] = {
    { "d", 24 * HOUR },
    { "h", HOUR },
    { "m", 60 * SECOND },
    { "s", SECOND },
    { "ms", 1 },
    { NULL, 0 }
};

static const scale_t byte_scales[] = {
    { "g", GIB },
    { "m", MIB },
    { "k", KIB },
    { "", 1 },
    { NULL, 0 }
};

static const scale_t count_scales[] = {
    { "", 1 },
    { NULL, 0 }
};


int
sbx_limit_find(sbx_str_t name)
{
    int i;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        if (strlen(sbx_limits[i].name) == name.len
            && memcmp(sbx_limits[i].name, name.data, name.len) == 0)
        {
            return i;
        }
    }

    return -1;
}


static int
parse_unit(sbx_unit_t unit, sbx_str_t text, int bare_seconds, uint64_t *value)
{
    switch (unit) {
    case SBX_UNIT_MS:
        return parse_time(text, bare_seconds, value);
    case SBX_UNIT_BYTES:
        return parse_scaled(text, byte_scales, value);
    default:
        return parse_scaled(text, count_scales, value);
    }
}


int
sbx_limit_parse(sbx_limit_id_t id, sbx_str_t text, int bare_seconds,
    uint64_t *value)
{
    uint64_t v;
    const sbx_limit_t *row;

    row = &sbx_limits[id];

    if (row->none && text.len == 4 && match_suffix(text, "none") == 4) {
        *value = row->max;
        return 0;
    }

    if (parse_unit(row->unit, text, bare_seconds, &v) != 0 || v < row->min
        || v > row->max)
    {
        return -1;
    }

    *value = v;

    return 0;
}


int
sbx_limit_is_none(sbx_limit_id_t id, uint64_t value)
{
    return sbx_limits[id].none && value == sbx_limits[id].max;
}


int
sbx_unit_parse(sbx_unit_t unit, sbx_str_t text, uint64_t *value)
{
    return parse_unit(unit, text, 0, value);
}


char *
sbx_limit_format(sbx_limit_id_t id, uint64_t value, char *buf, size_t size)
{
    const scale_t *s;

    if (sbx_limit_is_none(id, value)) {
        snprintf(buf, size, "none");
        return buf;
    }

    switch (sbx_limits[id].unit) {
    case SBX_UNIT_MS:
        s = &time_scales[1];
        break;
    case SBX_UNIT_BYTES:
        s = byte_scales;
        break;
    default:
        s = count_scales;
    }

    /* The largest unit that loses nothing; the last row always fits. */

    while (s->scale > 1 && (value == 0 || value % s->scale != 0)) {
        s++;
    }

    snprintf(buf, size, "%" PRIu64 "%s", value / s->scale, s->suffix);

    return buf;
}


/* Digits at *text; moves it past them.  -1: none, or too large. */
static int
parse_digits(sbx_str_t *text, uint64_t *value)
{
    uint64_t v;
    unsigned digit;
    const char *start;

    v = 0;
    start = text->data;

    while (text->len > 0 && *text->data >= '0' && *text->data <= '9') {
        digit = *text->data - '0';

        if (v > (UINT64_MAX - digit) / 10) {
            return -1;
        }

        v = v * 10 + digit;
        text->data++;
        text->len--;
    }

    *value = v;

    return text->data == start ? -1 : 0;
}


/*
 * Length of a unit's letters at text, in either case, as nginx takes them; 0
 * when others are there.
 */
static size_t
match_suffix(sbx_str_t text, const char *suffix)
{
    size_t i;

    for (i = 0; suffix[i] != '\0'; i++) {
        if (i == text.len || (text.data[i] | 0x20) != suffix[i]) {
            return 0;
        }
    }

    return i;
}


static int
parse_scaled(sbx_str_t text, const scale_t *s, uint64_t *value)
{
    size_t len;
    uint64_t v;

    if (parse_digits(&text, &v) != 0) {
        return -1;
    }

    for ( /* void */ ; s->suffix != NULL; s++) {
        len = strlen(s->suffix);

        if (len != text.len || match_suffix(text, s->suffix) != len) {
            continue;
        }

        if (v > UINT64_MAX / s->scale) {
            return -1;
        }

        *value = v * s->scale;

        return 0;
    }

    return -1;
}


/* "ms" must not be read as "m" with a stray "s" behind it. */
static const scale_t *
find_time_scale(const scale_t *s, sbx_str_t text)
{
    size_t len;

    for ( /* void */ ; s->suffix != NULL; s++) {
        len = match_suffix(text, s->suffix);

        if (len == 0) {
            continue;
        }

        if (len == 1 && match_suffix(text, "ms") == 2) {
            continue;
        }

        return s;
    }

    return NULL;
}


static int
parse_time(sbx_str_t text, int bare_seconds, uint64_t *value)
{
    size_t len;
    uint64_t v, total;
    const scale_t *s;
    static const scale_t bare_ms[] = { { "", 1 }, { NULL, 0 } };
    static const scale_t bare_s[] = { { "", SECOND }, { NULL, 0 } };

    if (parse_scaled(text, bare_seconds ? bare_s : bare_ms, value) == 0) {
        return 0;
    }

    total = 0;
    s = time_scales;

    do {
        if (parse_digits(&text, &v) != 0) {
            return -1;
        }

        /* Each unit once, in falling order: "1m30s", not "30s1m". */

        s = find_time_scale(s, text);

        if (s == NULL || v > (UINT64_MAX - total) / s->scale) {
            return -1;
        }

        total += v * s->scale;
        len = strlen(s->suffix);
        text.data += len;
        text.len -= len;
        s++;

    } while (text.len > 0);

    *value = total;

    return 0;
}
