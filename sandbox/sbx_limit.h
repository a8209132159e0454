/*
 * sbx_limit.h: the one table of limits.
 *
 * Directive (sandbox_NAME), JSON key, command-line flag, Lua field, wire field
 * and manual all read it; a new limit is a new row.
 */

#ifndef SBX_LIMIT_H
#define SBX_LIMIT_H

#include "sbx_types.h"

typedef enum {
    SBX_LIMIT_MEMORY = 0,
    SBX_LIMIT_TIMEOUT,
    SBX_LIMIT_CPU_TIME,
    SBX_LIMIT_OUTPUT,
    SBX_LIMIT_DISK,
    SBX_LIMIT_PROCESSES,
    SBX_LIMIT_THREADS,
    SBX_LIMIT_OPEN_FILES,
    SBX_LIMIT_STACK,
    SBX_LIMIT_ALLOCATION,
    SBX_LIMIT_CPU_PER_SECOND,
    SBX_LIMIT_COUNT
} sbx_limit_id_t;

typedef enum {
    SBX_UNIT_BYTES,     /* "64m", "1g", "4096"; k, m, g are powers of 1024 */
    SBX_UNIT_MS,        /* "500ms", "5s", "1m30s"; a bare number is ms in
                           JSON, and seconds in a directive, as in nginx */
    SBX_UNIT_COUNT
} sbx_unit_t;

typedef struct {
    const char *name;       /* "memory": JSON key, flag, Lua field */
    sbx_unit_t unit;
    uint64_t initial;       /* default; 0 for cpu_time: "= timeout" */
    uint64_t min;           /* smallest value that is not a mistake */
    uint64_t max;           /* largest value that any ceiling may have */
    const char *meaning;    /* one line for help and manual */
    const char *label;      /* "memory": "… limit of 128m exceeded" */
    const char *advice;     /* what whoever exceeded it can do */
    int none;               /* max stands for no limit, in text "none" */
} sbx_limit_t;

extern const sbx_limit_t sbx_limits[SBX_LIMIT_COUNT];

/* Index of the row called name, or -1. */
int sbx_limit_find(sbx_str_t name);

/*
 * Parses text such as "64m" or "1m30s" by the row's unit, or "none" where the
 * row knows it.  bare_seconds: a time
 * without a unit counts seconds (directives) instead of ms (JSON, flags).
 * Returns 0, or -1 for anything else than one whole value, for overflow, and
 * for values outside the row's min..max.
 */
int sbx_limit_parse(sbx_limit_id_t id, sbx_str_t text, int bare_seconds,
    uint64_t *value);

/* The same without a row: any value of the unit that fits, a bare time in ms. */
int sbx_unit_parse(sbx_unit_t unit, sbx_str_t text, uint64_t *value);

/* 1: the value of a limit that may be absent says that it is. */
int sbx_limit_is_none(sbx_limit_id_t id, uint64_t value);

/* Formats a value for people: "64m", "1500ms", "12", "none".  Returns buf. */
char *sbx_limit_format(sbx_limit_id_t id, uint64_t value, char *buf,
    size_t size);

#endif
