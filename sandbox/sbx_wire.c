/*
 * sbx_wire.c: heads of frames, and jobs as fields.
 *
 * Runs in the worker and the command (packing) and in the supervisor
 * (unpacking).  The supervisor believes nothing that a worker sends: a worker
 * may be taken over, and then this file is what stands between it and a root
 * process.  A bad frame ends the connection, never the supervisor.
 */

#include <errno.h>
#include <string.h>

#include "sbx_wire_field.h"
#include "sbx_layer.h"
#include "sbx_wire.h"


#define JOB_FLAGS                                                             \
    (SBX_JOB_SOFT_MEMORY | SBX_JOB_PROC_EMPTY | SBX_JOB_NO_ZYGOTE             \
     | SBX_JOB_STOP)


/* A verdict without its two outputs, at most. */
#define VERDICT_BYTES   (64 << 10)

/* How far the fields before the first case have come. */
typedef struct {
    uint64_t rows_seen, program_seen, limits_seen;
    sbx_str_t path;     /* of a FILE_PATH whose FILE_DATA is to follow */
} shared_t;

static int get_job(sbx_job_t *job, sbx_fields_t *in, sbx_err_t *err);
static int check_limits(sbx_job_t *job, sbx_err_t *err);


static const char magic[4] = { 'S', 'B', 'X', 'F' };

static const sbx_row_t job_rows[] = {
    { SBX_TAG_LANGUAGE, SBX_KIND_STR, 1, offsetof(sbx_job_t, language), 0, 0,
      "language" },
    { SBX_TAG_FACTOR, SBX_KIND_U32, 1, offsetof(sbx_job_t, factor_permille),
      1000, 4000, "factor" },
    { SBX_TAG_FLAGS, SBX_KIND_U32, 1, offsetof(sbx_job_t, flags), 0,
      JOB_FLAGS, "flags" },
    { SBX_TAG_ALLOW_MISSING, SBX_KIND_U32, 1,
      offsetof(sbx_job_t, allow_missing), 0, SBX_LAYERS_ALL,
      "allow_missing" },
    { SBX_TAG_COMPARE, SBX_KIND_U32, 0, offsetof(sbx_job_t, compare), 0,
      SBX_COMPARE_COUNT - 1, "compare" },
    { SBX_TAG_SUITE, SBX_KIND_STR, 0, offsetof(sbx_job_t, suite), 0, 0,
      "suite" },
    { SBX_TAG_SUITE_ROOT, SBX_KIND_STR, 0, offsetof(sbx_job_t, suite_root), 0,
      0, "suite_root" },
    { 0, 0, 0, 0, 0, 0, NULL }
};


void
sbx_frame_pack(const sbx_frame_t *frame, char head[SBX_WIRE_HEAD])
{
    uint16_t version;

    version = SBX_WIRE_VERSION;

    memset(head, 0, SBX_WIRE_HEAD);
    memcpy(head, magic, 4);
    memcpy(head + 4, &version, 2);
    memcpy(head + 6, &frame->type, 2);
    memcpy(head + 8, &frame->flags, 4);
    memcpy(head + 16, &frame->length, 8);
}


int
sbx_frame_unpack(const char head[SBX_WIRE_HEAD], uint64_t max,
    sbx_frame_t *frame, sbx_err_t *err)
{
    uint16_t version;
    uint32_t reserved;

    if (memcmp(head, magic, 4) != 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "not a frame");
    }

    memcpy(&version, head + 4, 2);
    memcpy(&frame->type, head + 6, 2);
    memcpy(&frame->flags, head + 8, 4);
    memcpy(&reserved, head + 12, 4);
    memcpy(&frame->length, head + 16, 8);

    if (version != SBX_WIRE_VERSION) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "frame of version %u, this is version %d", version,
                        SBX_WIRE_VERSION);
    }

    if (frame->type != SBX_FRAME_RUN && frame->type != SBX_FRAME_VERDICTS) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "frame of unknown type %u",
                        frame->type);
    }

    /* A flag changes what a frame means; one that is not known cannot be
       passed over. */

    if (frame->flags != 0 || reserved != 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "frame with unknown flags %#x",
                        frame->flags | reserved);
    }

    if (frame->length > max) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "frame of %llu bytes, more than %llu",
                        (unsigned long long) frame->length,
                        (unsigned long long) max);
    }

    return 0;
}


static void
put_job(sbx_sink_t *out, const sbx_job_t *job)
{
    size_t i;

    sbx_rows_put(out, job_rows, job);
    sbx_limits_put(out, job->limits);
    sbx_program_put(out, job);

    for (i = 0; i < job->ncases; i++) {
        sbx_field_put_u32(out, SBX_TAG_CASE, job->cases[i].id);

        if (job->cases[i].input.len > 0) {
            sbx_field_put(out, SBX_TAG_INPUT, job->cases[i].input);
        }

        /* an empty expectation is one */
        if (job->cases[i].expected.data != NULL) {
            sbx_field_put(out, SBX_TAG_EXPECTED, job->cases[i].expected);
        }
    }
}


size_t
sbx_job_size(const sbx_job_t *job)
{
    sbx_sink_t out = { NULL, 0 };

    put_job(&out, job);

    return out.size;
}


uint64_t
sbx_answer_max(size_t ncases, uint64_t output_limit)
{
    return ncases * (2 * output_limit + VERDICT_BYTES);
}


void
sbx_job_pack(const sbx_job_t *job, char *payload)
{
    sbx_sink_t out = { payload, 0 };

    put_job(&out, job);
}


int
sbx_job_unpack(sbx_job_t *job, const char *payload, size_t len,
    sbx_err_t *err)
{
    sbx_fields_t in = { payload, len };

    sbx_job_init(job);

    if (len > SBX_JOB_BYTES_MAX) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "job of %zu bytes", len);
    }

    if (get_job(job, &in, err) != 0) {
        sbx_job_clear(job);
        return -1;
    }

    return 0;
}


/* The cases: CASE, INPUT, EXPECTED, CASE …  field is the first CASE. */
static int
get_cases(sbx_job_t *job, sbx_field_t *field, sbx_fields_t *in,
    sbx_err_t *err)
{
    int rc;
    uint32_t id;
    sbx_case_t *last;

    last = NULL;

    do {
        if (field->tag == SBX_TAG_CASE) {

            if (sbx_field_u32(field, &id, err) != 0) {
                return -1;
            }

            if (sbx_job_add_case(job, id, (sbx_str_t) { NULL, 0 }) != 0) {
                return sbx_fail(err, SBX_STEP_WIRE, errno, "%s cases",
                                errno == E2BIG ? "too many" : "no memory for");
            }

            last = &job->cases[job->ncases - 1];

        } else if (field->tag == SBX_TAG_INPUT && last->input.data == NULL) {
            last->input = field->data;

        } else if (field->tag == SBX_TAG_EXPECTED
                   && last->expected.data == NULL)
        {
            last->expected = field->data;

        } else {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "field %u does not belong to cases[%zu]",
                            field->tag, job->ncases - 1);
        }

        rc = sbx_field_next(in, field, err);

    } while (rc == 1);

    return rc;
}


static int
get_shared(sbx_job_t *job, const sbx_field_t *field, shared_t *shared,
    sbx_err_t *err)
{
    int rc;

    if (field->tag == SBX_TAG_LIMIT) {
        return sbx_limits_get(field, job->limits, &shared->limits_seen, err);
    }

    rc = sbx_rows_get(job_rows, job, field, &shared->rows_seen, err);

    if (rc == 0) {
        rc = sbx_program_get(job, field, &shared->path,
                             &shared->program_seen, err);
    }

    if (rc == 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "unknown field %u",
                        field->tag);
    }

    return rc < 0 ? -1 : 0;
}


static int
check_shared(sbx_job_t *job, const shared_t *shared, sbx_err_t *err)
{
    const char *why;

    if (sbx_rows_complete(job_rows, shared->rows_seen, err) != 0
        || sbx_program_complete(job, shared->path, shared->program_seen, err)
           != 0
        || check_limits(job, err) != 0)
    {
        return -1;
    }

    why = sbx_name_check(job->language);

    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "language %s", why);
    }

    why = job->suite.len > 0 ? sbx_path_check(job->suite) : NULL;

    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "suite %s", why);
    }

    return 0;
}


static int
get_job(sbx_job_t *job, sbx_fields_t *in, sbx_err_t *err)
{
    int rc;
    shared_t shared;
    sbx_field_t field;

    memset(&shared, 0, sizeof(shared_t));

    while ((rc = sbx_field_next(in, &field, err)) == 1
           && field.tag != SBX_TAG_CASE)
    {
        if (get_shared(job, &field, &shared, err) != 0) {
            return -1;
        }
    }

    if (rc < 0) {
        return -1;
    }

    if (rc == 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "a job without a case");
    }

    if (check_shared(job, &shared, err) != 0) {
        return -1;
    }

    return get_cases(job, &field, in, err);
}


static int
check_limits(sbx_job_t *job, sbx_err_t *err)
{
    int i;
    uint64_t value;

    /* 0 stands for "as the timeout"; nobody behind this line sees it. */

    if (job->limits[SBX_LIMIT_CPU_TIME] == 0) {
        job->limits[SBX_LIMIT_CPU_TIME] = job->limits[SBX_LIMIT_TIMEOUT];
    }

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        value = job->limits[i];

        if (value < sbx_limits[i].min || value > sbx_limits[i].max) {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "limit %s is %llu, which is not in %llu..%llu",
                            sbx_limits[i].name, (unsigned long long) value,
                            (unsigned long long) sbx_limits[i].min,
                            (unsigned long long) sbx_limits[i].max);
        }
    }

    return 0;
}
