/*
 * sbx_wire_field.h: fields of a payload, shared by everything that is packed:
 * jobs and verdicts in frames (sbx_wire), jobs on the job channel (sbx_run).
 *
 *     u16 tag  u16 reserved (0)  u32 length  bytes, no padding, host order
 *
 * A tag keeps its number and its meaning for ever.
 */

#ifndef SBX_WIRE_FIELD_H
#define SBX_WIRE_FIELD_H

#include "sbx_err.h"
#include "sbx_job.h"

#define SBX_FIELD_HEAD  8

typedef enum {
    /* a job, shared by all cases of a frame */
    SBX_TAG_LANGUAGE = 1,
    SBX_TAG_NAME = 2,
    SBX_TAG_CODE = 3,
    SBX_TAG_ARG = 4,            /* repeated */
    SBX_TAG_ENV = 5,            /* repeated */
    SBX_TAG_FILE_PATH = 6,      /* repeated, each followed by FILE_DATA */
    SBX_TAG_FILE_DATA = 7,
    SBX_TAG_LIMIT = 8,          /* repeated: u32 id, u32 0, u64 value */
    SBX_TAG_FACTOR = 9,
    SBX_TAG_FLAGS = 10,
    SBX_TAG_ALLOW_MISSING = 11,
    SBX_TAG_CMD = 12,           /* repeated, job channel only */
                                /* 13: CODE_ID, see DESIGN.md */
    SBX_TAG_COMPARE = 14,
    SBX_TAG_SUITE = 15,
    SBX_TAG_SUITE_ROOT = 16,

    /* one case; ends the shared part of a job, starts the next verdict */
    SBX_TAG_CASE = 32,          /* u32 id */
    SBX_TAG_INPUT = 33,         /* 34: INPUT_FILE */
    SBX_TAG_EXPECTED = 35,

    /* a verdict */
    SBX_TAG_STATUS = 64,
    SBX_TAG_REASON = 65,
    SBX_TAG_EXIT_CODE = 66,
    SBX_TAG_SIGNAL = 67,
    SBX_TAG_ERROR = 68,
    SBX_TAG_STEP = 69,
    SBX_TAG_OUTPUT = 70,
    SBX_TAG_ERROUT = 71,
    SBX_TAG_TRUNCATED = 72,     /* u32: bit 0 output, bit 1 errout */
    SBX_TAG_WALL_US = 73,
    SBX_TAG_CPU_US = 74,
    SBX_TAG_QUEUE_US = 75,
    SBX_TAG_MEMORY = 76,
    SBX_TAG_MEMORY_SOURCE = 77,
    SBX_TAG_PROCESSES = 78,
    SBX_TAG_REFUSED = 79,       /* repeated */
    SBX_TAG_BASE = 80,
    SBX_TAG_CODE_BYTES = 81,
    SBX_TAG_THREADS = 82,
    SBX_TAG_OPEN_FILES = 83,
    SBX_TAG_LARGEST = 84,
    SBX_TAG_ACCEPT = 85,
    SBX_TAG_CASE_NAME = 86,
    SBX_TAG_DIGEST = 87,
    SBX_TAG_VIOLATION = 96,
    SBX_TAG_V_ADDRESS = 97,
    SBX_TAG_V_REGION_LO = 98,
    SBX_TAG_V_REGION_HI = 99,
    SBX_TAG_V_TIMESTAMP = 100,
    SBX_TAG_V_REQUESTED = 101,
    SBX_TAG_V_LIMIT = 102,
    SBX_TAG_V_LIVE = 103,
    SBX_TAG_V_SOURCE = 104,
    SBX_TAG_V_NUMBER = 105,
    SBX_TAG_V_SYSCALL = 106,

    /* from here on: a receiver that does not know a tag skips its field */
    SBX_TAG_OPTIONAL = 0x8000
} sbx_tag_t;

/* Where fields go.  at NULL: they are only counted. */
typedef struct {
    char *at;
    size_t size;
} sbx_sink_t;

/* Where fields come from. */
typedef struct {
    const char *at;
    size_t left;
} sbx_fields_t;

typedef struct {
    uint16_t tag;
    sbx_str_t data;
} sbx_field_t;

/* One member of a struct that travels as one field. */
typedef enum {
    SBX_KIND_I32,       /* int, int32_t, enum: checked against min..max */
    SBX_KIND_U32,
    SBX_KIND_U64,       /* and int64_t */
    SBX_KIND_STR,       /* sbx_str_t; points into the payload */
    SBX_KIND_TEXT       /* char array of max bytes, NUL included */
} sbx_kind_t;

typedef struct {
    uint16_t tag;       /* 0: end of the table */
    sbx_kind_t kind;
    int required;
    size_t offset;
    int64_t min, max;
    const char *name;
} sbx_row_t;

void sbx_field_put(sbx_sink_t *out, sbx_tag_t tag, sbx_str_t data);
void sbx_field_put_u32(sbx_sink_t *out, sbx_tag_t tag, uint32_t value);

/*
 * Next field whose tag is below SBX_TAG_OPTIONAL.  Its length is compared with
 * what is left before anything else.  Returns 1, 0 at the end, -1 with err.
 */
int sbx_field_next(sbx_fields_t *in, sbx_field_t *field, sbx_err_t *err);

/* The field's number; -1 when its length is not a number's. */
int sbx_field_u32(const sbx_field_t *field, uint32_t *value, sbx_err_t *err);

/* Every row's member of base; empty strings are left out. */
void sbx_rows_put(sbx_sink_t *out, const sbx_row_t *rows, const void *base);

/*
 * Stores the field in the member of its row.  seen: bit per row, for
 * duplicates.  Returns 1, 0 when no row has the tag, -1 with err.
 */
int sbx_rows_get(const sbx_row_t *rows, void *base, const sbx_field_t *field,
    uint64_t *seen, sbx_err_t *err);

/* -1 with err when a required row was not seen. */
int sbx_rows_complete(const sbx_row_t *rows, uint64_t seen, sbx_err_t *err);

void sbx_limits_put(sbx_sink_t *out, const uint64_t limits[SBX_LIMIT_COUNT]);

/* seen: bit per limit.  The value is not compared with the row's bounds. */
int sbx_limits_get(const sbx_field_t *field, uint64_t limits[SBX_LIMIT_COUNT],
    uint64_t *seen, sbx_err_t *err);

/*
 * Program's fields of a job (NAME, CODE, ARG, ENV, FILE_*), used in both
 * directions by frames and by the job channel.
 */
void sbx_program_put(sbx_sink_t *out, const sbx_job_t *job);

/*
 * path: of a FILE_PATH still waiting for its FILE_DATA, zero at first.
 * Returns 1, 0 when the tag is none of a program, -1 with err.
 */
int sbx_program_get(sbx_job_t *job, const sbx_field_t *field, sbx_str_t *path,
    uint64_t *seen, sbx_err_t *err);

/* What only shows when all fields are there. */
int sbx_program_complete(const sbx_job_t *job, sbx_str_t path, uint64_t seen,
    sbx_err_t *err);

#endif
