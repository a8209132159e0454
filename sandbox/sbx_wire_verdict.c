/*
 * sbx_wire_verdict.c: verdicts as fields.
 *
 * Runs in the supervisor (packing) and in the worker and the command
 * (unpacking).  A worker checks what it reads as strictly as the supervisor
 * does: with sandbox_pass the peer may be another version or another program.
 */

#include <string.h>

#include "sbx_wire_field.h"
#include "sbx_wire.h"


#define ROW(tag, kind, required, member, min, max)                            \
    { tag, kind, required, offsetof(sbx_verdict_t, member), min, max, #member }

#define TEXT(tag, member)                                                     \
    { tag, SBX_KIND_TEXT, 0, offsetof(sbx_verdict_t, member), 0,              \
      sizeof(((sbx_verdict_t *) 0)->member), #member }

#define NUMBER(tag, member)  ROW(tag, SBX_KIND_U64, 0, member, 0, 0)

#define ENUM(tag, required, member, count)                                    \
    ROW(tag, SBX_KIND_U32, required, member, 0, count - 1)


_Static_assert(sizeof(sbx_status_t) == 4, "enums travel as 4 bytes");


static const sbx_row_t verdict_rows[] = {
    ENUM(SBX_TAG_STATUS, 1, status, SBX_STATUS_COUNT),
    ENUM(SBX_TAG_REASON, 0, reason, SBX_REASON_COUNT),
    ROW(SBX_TAG_EXIT_CODE, SBX_KIND_I32, 0, exit_code, -1, 255),
    ROW(SBX_TAG_SIGNAL, SBX_KIND_I32, 0, signal, 0, 64),
    TEXT(SBX_TAG_ERROR, error),
    ENUM(SBX_TAG_STEP, 0, step, SBX_STEP_COUNT),
    ROW(SBX_TAG_OUTPUT, SBX_KIND_STR, 0, output, 0, 0),
    ROW(SBX_TAG_ERROUT, SBX_KIND_STR, 0, errout, 0, 0),
    NUMBER(SBX_TAG_WALL_US, wall_us),
    NUMBER(SBX_TAG_CPU_US, cpu_us),
    NUMBER(SBX_TAG_QUEUE_US, queue_us),
    NUMBER(SBX_TAG_MEMORY, memory_bytes),
    ENUM(SBX_TAG_MEMORY_SOURCE, 0, memory_source, SBX_SOURCE_COUNT),
    ROW(SBX_TAG_PROCESSES, SBX_KIND_U32, 0, processes, 0, UINT32_MAX),
    ROW(SBX_TAG_THREADS, SBX_KIND_U32, 0, threads, 0, UINT32_MAX),
    ROW(SBX_TAG_OPEN_FILES, SBX_KIND_U32, 0, open_files, 0, UINT32_MAX),
    NUMBER(SBX_TAG_LARGEST, largest_bytes),
    ENUM(SBX_TAG_ACCEPT, 0, accept, SBX_ACCEPT_COUNT),
    TEXT(SBX_TAG_CASE_NAME, name),
    TEXT(SBX_TAG_DIGEST, digest),
    NUMBER(SBX_TAG_BASE, base_bytes),
    NUMBER(SBX_TAG_CODE_BYTES, code_bytes),
    ROW(SBX_TAG_FACTOR, SBX_KIND_U32, 0, factor_permille, 0, 4000),
    ENUM(SBX_TAG_VIOLATION, 0, violation.type, SBX_VIOLATION_COUNT),
    NUMBER(SBX_TAG_V_ADDRESS, violation.address),
    NUMBER(SBX_TAG_V_REGION_LO, violation.region_lo),
    NUMBER(SBX_TAG_V_REGION_HI, violation.region_hi),
    NUMBER(SBX_TAG_V_TIMESTAMP, violation.timestamp_ms),
    NUMBER(SBX_TAG_V_REQUESTED, violation.requested_bytes),
    NUMBER(SBX_TAG_V_LIMIT, violation.limit_bytes),
    NUMBER(SBX_TAG_V_LIVE, violation.live_bytes),
    ENUM(SBX_TAG_V_SOURCE, 0, violation.source, SBX_SOURCE_COUNT),
    ROW(SBX_TAG_V_NUMBER, SBX_KIND_I32, 0, violation.number, -1, INT32_MAX),
    TEXT(SBX_TAG_V_SYSCALL, violation.syscall),
    { 0, 0, 0, 0, 0, 0, NULL }
};


static void
put_verdict(sbx_sink_t *out, const sbx_verdict_t *v)
{
    unsigned i;

    sbx_field_put_u32(out, SBX_TAG_CASE, v->id);
    sbx_rows_put(out, verdict_rows, v);
    sbx_field_put_u32(out, SBX_TAG_TRUNCATED,
                      v->output_truncated | v->errout_truncated << 1);
    sbx_limits_put(out, v->limits);

    for (i = 0; i < v->nrefused; i++) {
        sbx_field_put(out, SBX_TAG_REFUSED,
                      (sbx_str_t) { v->refused[i],
                                    strnlen(v->refused[i],
                                            sizeof(v->refused[i]) - 1) });
    }
}


size_t
sbx_verdict_size(const sbx_verdict_t *v)
{
    sbx_sink_t out = { NULL, 0 };

    put_verdict(&out, v);

    return out.size;
}


void
sbx_verdict_pack(const sbx_verdict_t *v, char *payload)
{
    sbx_sink_t out = { payload, 0 };

    put_verdict(&out, v);
}


static int
get_truncated(sbx_verdict_t *v, const sbx_field_t *field, sbx_err_t *err)
{
    uint32_t bits;

    if (sbx_field_u32(field, &bits, err) != 0) {
        return -1;
    }

    if (bits > 3) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "truncated is %u", bits);
    }

    v->output_truncated = bits & 1;
    v->errout_truncated = bits >> 1;

    return 1;
}


static int
get_refused(sbx_verdict_t *v, sbx_str_t name, sbx_err_t *err)
{
    if (v->nrefused == SBX_REFUSED_MAX
        || name.len >= sizeof(v->refused[0])
        || memchr(name.data, '\0', name.len) != NULL)
    {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "bad name refused[%u]",
                        v->nrefused);
    }

    memcpy(v->refused[v->nrefused], name.data, name.len);
    v->refused[v->nrefused][name.len] = '\0';
    v->nrefused++;

    return 1;
}


static int
get_field(sbx_verdict_t *v, const sbx_field_t *field, uint64_t *rows_seen,
    uint64_t *limits_seen, sbx_err_t *err)
{
    switch (field->tag) {

    case SBX_TAG_TRUNCATED:
        return get_truncated(v, field, err);

    case SBX_TAG_REFUSED:
        return get_refused(v, field->data, err);

    case SBX_TAG_LIMIT:
        return sbx_limits_get(field, v->limits, limits_seen, err) == 0
               ? 1 : -1;
    }

    return sbx_rows_get(verdict_rows, v, field, rows_seen, err);
}


/* The fields behind CASE; in stops before the next CASE. */
static int
get_fields(sbx_verdict_t *v, sbx_fields_t *in, sbx_err_t *err)
{
    int rc;
    uint64_t rows_seen, limits_seen;
    sbx_field_t field;
    sbx_fields_t before;

    rows_seen = 0;
    limits_seen = 0;

    for ( ;; ) {
        before = *in;
        rc = sbx_field_next(in, &field, err);

        if (rc < 0) {
            return -1;
        }

        if (rc == 1 && field.tag == SBX_TAG_CASE) {
            *in = before;
            rc = 0;
        }

        if (rc == 0) {
            return sbx_rows_complete(verdict_rows, rows_seen, err);
        }

        rc = get_field(v, &field, &rows_seen, &limits_seen, err);

        if (rc < 0) {
            return -1;
        }

        if (rc == 0) {
            return sbx_fail(err, SBX_STEP_WIRE, 0, "unknown field %u",
                            field.tag);
        }
    }
}


int
sbx_verdict_unpack(sbx_verdict_t *v, const char **payload, size_t *len,
    sbx_err_t *err)
{
    int rc;
    sbx_field_t field;
    sbx_fields_t in = { *payload, *len };

    sbx_verdict_init(v);

    rc = sbx_field_next(&in, &field, err);

    if (rc <= 0) {
        return rc;
    }

    if (field.tag != SBX_TAG_CASE) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "a verdict starts with field %u", field.tag);
    }

    if (sbx_field_u32(&field, &v->id, err) != 0
        || get_fields(v, &in, err) != 0)
    {
        return -1;
    }

    *payload = in.at;
    *len = in.left;

    return 1;
}
