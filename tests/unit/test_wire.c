/*
 * test_wire.c: frames, jobs and verdicts there and back, and everything that
 * a hostile or broken peer may send instead.
 */

#include <signal.h>

#include "unit.h"

#include "sbx_layer.h"
#include "sbx_wire.h"
#include "sbx_wire_field.h"
#include "sbx_zygote.h"


/* A payload being written field by field. */
typedef struct {
    char data[8192];
    size_t len;
} payload_t;


static void
put(payload_t *p, uint16_t tag, const void *data, uint32_t len)
{
    uint16_t reserved = 0;

    memcpy(p->data + p->len, &tag, 2);
    memcpy(p->data + p->len + 2, &reserved, 2);
    memcpy(p->data + p->len + 4, &len, 4);
    memcpy(p->data + p->len + 8, data, len);
    p->len += 8 + len;
}


static void
put_text(payload_t *p, uint16_t tag, const char *text)
{
    put(p, tag, text, strlen(text));
}


static void
put_u32(payload_t *p, uint16_t tag, uint32_t value)
{
    put(p, tag, &value, 4);
}


/* The smallest job that is accepted, without its cases. */
static void
put_head(payload_t *p)
{
    p->len = 0;
    put_text(p, SBX_TAG_LANGUAGE, "python");
    put_u32(p, SBX_TAG_FACTOR, 1250);
    put_u32(p, SBX_TAG_FLAGS, 0);
    put_u32(p, SBX_TAG_ALLOW_MISSING, 0);
    put_text(p, SBX_TAG_NAME, "main.py");
    put_text(p, SBX_TAG_CODE, "print(1)");
}


static int
unpack_job(const payload_t *p, sbx_err_t *err)
{
    int rc;
    char *copy;
    sbx_job_t job;

    /* In a block of its exact size, so that a sanitizer sees an overread. */

    copy = malloc(p->len);
    memcpy(copy, p->data, p->len);

    rc = sbx_job_unpack(&job, copy, p->len, err);

    if (rc == 0) {
        sbx_job_clear(&job);

    } else {
        assert_int_equal(rc, -1);
        assert_int_equal(err->step, SBX_STEP_WIRE);
        assert_true(err->text[0] != '\0');
        assert_int_equal(job.nargs + job.nenv + job.nfiles + job.ncases, 0);
    }

    free(copy);

    return rc;
}


static void
fill_job(sbx_job_t *job, size_t ncases)
{
    size_t i;
    static char bytes[] = { 'a', '\0', '\xff', '\n' };

    sbx_job_init(job);
    job->language = SBX_STR("python");
    job->name = SBX_STR("main.py");
    job->code = SBX_STR("print('a\0b')\n");
    job->limits[SBX_LIMIT_MEMORY] = 77 << 20;
    job->limits[SBX_LIMIT_OUTPUT] = 0;
    job->factor_permille = 1300;
    job->flags = SBX_JOB_SOFT_MEMORY | SBX_JOB_NO_ZYGOTE;
    job->allow_missing = SBX_LAYER_NET | SBX_LAYER_NOTIFY;

    sbx_job_add_arg(job, SBX_STR("one"));
    sbx_job_add_arg(job, SBX_STR(""));
    sbx_job_add_env(job, SBX_STR("A=b"));
    sbx_job_add_file(job, SBX_STR("d/data"),
                     (sbx_str_t) { bytes, sizeof(bytes) });
    sbx_job_add_file(job, SBX_STR("empty"), (sbx_str_t) { NULL, 0 });

    for (i = 0; i < ncases; i++) {
        sbx_job_add_case(job, 1000 + i,
                         i % 2 == 0 ? SBX_STR("in\0put")
                                    : (sbx_str_t) { NULL, 0 });
    }
}


static void
assert_same(sbx_str_t a, sbx_str_t b)
{
    assert_int_equal(a.len, b.len);

    if (a.len > 0) {
        assert_memory_equal(a.data, b.data, a.len);
    }
}


static void
assert_same_program(const sbx_job_t *a, const sbx_job_t *b)
{
    size_t i;

    assert_same(a->name, b->name);
    assert_same(a->code, b->code);
    assert_int_equal(a->nargs, b->nargs);
    assert_int_equal(a->nenv, b->nenv);
    assert_int_equal(a->nfiles, b->nfiles);

    for (i = 0; i < a->nargs; i++) {
        assert_same(a->args[i], b->args[i]);
    }

    for (i = 0; i < a->nenv; i++) {
        assert_same(a->env[i], b->env[i]);
    }

    for (i = 0; i < a->nfiles; i++) {
        assert_same(a->files[i].path, b->files[i].path);
        assert_same(a->files[i].data, b->files[i].data);
    }
}


static void
test_head(void **state)
{
    size_t i;
    sbx_err_t err;
    char head[SBX_WIRE_HEAD], bad[SBX_WIRE_HEAD];
    sbx_frame_t frame = { SBX_FRAME_RUN, 0, 12345 }, back;

    (void) state;

    sbx_frame_pack(&frame, head);
    assert_int_equal(sbx_frame_unpack(head, 12345, &back, &err), 0);
    assert_int_equal(back.type, SBX_FRAME_RUN);
    assert_int_equal(back.flags, 0);
    assert_int_equal(back.length, 12345);

    assert_int_equal(sbx_frame_unpack(head, 12344, &back, &err), -1);

    /* Every byte but those of the length has one right value; byte 6 has two:
       the types. */

    for (i = 0; i < 16; i++) {
        memcpy(bad, head, sizeof(head));
        bad[i] ^= 0x40;
        assert_int_equal(sbx_frame_unpack(bad, UINT64_MAX, &back, &err), -1);
    }
}


static void
test_job_round_trip(void **state)
{
    size_t size, i, n;
    char *payload;
    sbx_err_t err;
    sbx_job_t job, back;
    static const size_t counts[] = { 1, 2, 3, 100, SBX_CASES_MAX };

    (void) state;

    for (n = 0; n < COUNT(counts); n++) {
        fill_job(&job, counts[n]);
        size = sbx_job_size(&job);
        payload = malloc(size);
        sbx_job_pack(&job, payload);

        assert_int_equal(sbx_job_unpack(&back, payload, size, &err), 0);

        assert_same(job.language, back.language);
        assert_same_program(&job, &back);
        assert_int_equal(back.ncases, counts[n]);
        assert_int_equal(back.flags, job.flags);
        assert_int_equal(back.factor_permille, 1300);
        assert_int_equal(back.allow_missing, job.allow_missing);

        for (i = 0; i < back.ncases; i++) {
            assert_int_equal(back.cases[i].id, 1000 + i);
            assert_same(back.cases[i].input, job.cases[i].input);
        }

        for (i = 0; i < SBX_LIMIT_COUNT; i++) {
            if (i != SBX_LIMIT_CPU_TIME) {
                assert_int_equal(back.limits[i], job.limits[i]);
            }
        }

        assert_int_equal(back.limits[SBX_LIMIT_CPU_TIME],
                         job.limits[SBX_LIMIT_TIMEOUT]);

        sbx_job_clear(&back);
        sbx_job_clear(&job);
        free(payload);
    }
}


/* No prefix of a frame may be taken for a whole one, and none may crash. */
static void
test_job_truncated(void **state)
{
    int rc;
    size_t size, cut, accepted;
    char *payload, *copy;
    sbx_err_t err;
    sbx_job_t job, back;

    (void) state;

    fill_job(&job, 3);
    size = sbx_job_size(&job);
    payload = malloc(size);
    sbx_job_pack(&job, payload);
    accepted = 0;

    for (cut = 0; cut < size; cut++) {
        copy = malloc(cut);
        memcpy(copy, payload, cut);
        rc = sbx_job_unpack(&back, copy, cut, &err);

        if (rc == 0) {
            assert_true(back.ncases < 3 || back.cases[2].input.len == 0);
            accepted++;
            sbx_job_clear(&back);
        }

        free(copy);
    }

    /* Only behind a complete field of a case, which the head's length rules
       out on a connection. */

    assert_int_equal(accepted, 4);

    free(payload);
    sbx_job_clear(&job);
}


typedef struct {
    const char *what;
    uint16_t tag;
    const char *data;
    size_t len;
} bad_row_t;

#define U32(a, b, c, d)  ((char[]) { a, b, c, d }), 4

static void
test_job_refused(void **state)
{
    size_t i;
    payload_t p;
    sbx_err_t err;
    const bad_row_t rows[] = {
        { "unknown tag", 500, "", 0 },
        { "tag 0", 0, U32(0, 0, 0, 0) },
        { "a verdict's tag", SBX_TAG_STATUS, U32(0, 0, 0, 0) },
        { "CMD", SBX_TAG_CMD, "sh", 2 },
        { "INPUT before a case", SBX_TAG_INPUT, "x", 1 },
        { "LANGUAGE twice", SBX_TAG_LANGUAGE, "node", 4 },
        { "CODE twice", SBX_TAG_CODE, "x", 1 },
        { "NAME twice", SBX_TAG_NAME, "x", 1 },
        { "FLAGS twice", SBX_TAG_FLAGS, U32(0, 0, 0, 0) },
        { "data without path", SBX_TAG_FILE_DATA, "x", 1 },
        { "path without data", SBX_TAG_FILE_PATH, "x", 1 },
        { "path absolute", SBX_TAG_FILE_PATH, "/x", 2 },
        { "path above", SBX_TAG_FILE_PATH, "../x", 4 },
        { "NUL in arg", SBX_TAG_ARG, "a\0b", 3 },
        { "env without =", SBX_TAG_ENV, "A", 1 },
        { "env LD_", SBX_TAG_ENV, "LD_X=1", 6 },
        { "limit too short", SBX_TAG_LIMIT, "\0\0\0\0\0\0\0\0", 8 },
        { "limit unknown", SBX_TAG_LIMIT,
          "\x09\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 16 },
        { "limit reserved", SBX_TAG_LIMIT,
          "\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0", 16 },
        { "timeout 0", SBX_TAG_LIMIT,
          "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16 },
        { "timeout huge", SBX_TAG_LIMIT,
          "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x7f", 16 }
    };

    (void) state;

    put_head(&p);
    put_u32(&p, SBX_TAG_CASE, 1);
    assert_int_equal(unpack_job(&p, &err), 0);

    for (i = 0; i < COUNT(rows); i++) {
        put_head(&p);
        put(&p, rows[i].tag, rows[i].data, rows[i].len);
        put_u32(&p, SBX_TAG_CASE, 1);

        if (unpack_job(&p, &err) != -1) {
            fail_msg("accepted: %s", rows[i].what);
        }
    }
}


/* One row per field that replaces the good one of put_head. */
static void
test_job_values(void **state)
{
    size_t i;
    payload_t p;
    sbx_err_t err;
    const bad_row_t rows[] = {
        { "language empty", SBX_TAG_LANGUAGE, "", 0 },
        { "language with NUL", SBX_TAG_LANGUAGE, "py\0", 3 },
        { "language with slash", SBX_TAG_LANGUAGE, "../x", 4 },
        { "factor too small", SBX_TAG_FACTOR, U32('\xe7', 3, 0, 0) },
        { "factor too large", SBX_TAG_FACTOR, U32(0, 0, 1, 0) },
        { "factor of 8 bytes", SBX_TAG_FACTOR, "\xe8\3\0\0\0\0\0", 8 },
        { "unknown flag", SBX_TAG_FLAGS, U32(16, 0, 0, 0) },
        { "flag of high bit", SBX_TAG_FLAGS, U32(0, 0, 0, '\x80') },
        { "unknown layer", SBX_TAG_ALLOW_MISSING, U32(0, 0, '\x20', 0) },
        { "name empty", SBX_TAG_NAME, "", 0 },
        { "name with slash", SBX_TAG_NAME, "a/b", 3 },
        { "name ..", SBX_TAG_NAME, "..", 2 },
        { "name with dash", SBX_TAG_NAME, "-c", 2 }
    };
    const bad_row_t good[] = {
        { "", SBX_TAG_LANGUAGE, "python", 6 },
        { "", SBX_TAG_FACTOR, U32('\xe2', 4, 0, 0) },
        { "", SBX_TAG_FLAGS, U32(15, 0, 0, 0) },
        { "", SBX_TAG_ALLOW_MISSING, U32('\xff', '\x3f', 0, 0) },
        { "", SBX_TAG_NAME, "main.py", 7 },
        { "", SBX_TAG_CODE, "", 0 }
    };
    size_t k, missing;

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        p.len = 0;

        for (k = 0; k < COUNT(good); k++) {
            if (good[k].tag == rows[i].tag) {
                put(&p, rows[i].tag, rows[i].data, rows[i].len);

            } else {
                put(&p, good[k].tag, good[k].data, good[k].len);
            }
        }

        put_u32(&p, SBX_TAG_CASE, 1);

        if (unpack_job(&p, &err) != -1) {
            fail_msg("accepted: %s", rows[i].what);
        }
    }

    /* Each is required, in any order. */

    for (missing = 0; missing <= COUNT(good); missing++) {
        p.len = 0;

        for (k = COUNT(good); k-- > 0; /* void */ ) {
            if (k != missing) {
                put(&p, good[k].tag, good[k].data, good[k].len);
            }
        }

        put_u32(&p, SBX_TAG_CASE, 1);
        assert_int_equal(unpack_job(&p, &err),
                         missing == COUNT(good) ? 0 : -1);
    }
}


static void
test_job_cases(void **state)
{
    payload_t p;
    sbx_err_t err;

    (void) state;

    put_head(&p);
    assert_int_equal(unpack_job(&p, &err), -1);
    assert_string_equal(err.text, "a job without a case");

    put_head(&p);
    put_u32(&p, SBX_TAG_CASE, 1);
    put_text(&p, SBX_TAG_INPUT, "");
    put_text(&p, SBX_TAG_INPUT, "b");
    assert_int_equal(unpack_job(&p, &err), -1);

    put_head(&p);
    put_u32(&p, SBX_TAG_CASE, 1);
    put_text(&p, SBX_TAG_ARG, "shared, but late");
    assert_int_equal(unpack_job(&p, &err), -1);

    put_head(&p);
    put_text(&p, SBX_TAG_CASE, "short");
    assert_int_equal(unpack_job(&p, &err), -1);
}


/* What a later version adds is skipped, wherever it stands. */
static void
test_optional(void **state)
{
    payload_t p;
    sbx_err_t err;

    (void) state;

    p.len = 0;
    put_text(&p, SBX_TAG_OPTIONAL, "news");
    put_text(&p, SBX_TAG_LANGUAGE, "python");
    put_u32(&p, SBX_TAG_FACTOR, 1250);
    put_u32(&p, SBX_TAG_FLAGS, 0);
    put_u32(&p, SBX_TAG_ALLOW_MISSING, 0);
    put_text(&p, SBX_TAG_NAME, "main.py");
    put_text(&p, 0xffff, "");
    put_text(&p, SBX_TAG_CODE, "print(1)");
    put_u32(&p, SBX_TAG_CASE, 1);
    put_text(&p, SBX_TAG_OPTIONAL + 5, "news of a case");
    put_text(&p, SBX_TAG_INPUT, "x");
    put_text(&p, SBX_TAG_OPTIONAL + 5, "");
    assert_int_equal(unpack_job(&p, &err), 0);

    /* But its length is checked as any other's. */

    p.len -= 8;
    put(&p, SBX_TAG_OPTIONAL, "xy", 2);
    p.len -= 1;
    assert_int_equal(unpack_job(&p, &err), -1);
}


static void
test_field_head(void **state)
{
    payload_t p;
    sbx_err_t err;

    (void) state;

    put_head(&p);
    put_u32(&p, SBX_TAG_CASE, 1);
    p.data[2] = 1;
    assert_int_equal(unpack_job(&p, &err), -1);

    put_head(&p);
    put_u32(&p, SBX_TAG_CASE, 1);
    memset(p.data + 4, 0xff, 4);
    assert_int_equal(unpack_job(&p, &err), -1);
}


static void
test_job_bounds(void **state)
{
    size_t i;
    sbx_err_t err;
    payload_t *p;
    static const struct {
        uint16_t tag;
        const char *text;
        size_t max;
    } rows[] = {
        { SBX_TAG_ARG, "a", SBX_ARGS_MAX },
        { SBX_TAG_ENV, "A=", SBX_ENV_MAX }
    };
    size_t n;

    (void) state;

    p = malloc(sizeof(payload_t));

    for (i = 0; i < COUNT(rows); i++) {
        for (n = rows[i].max; n <= rows[i].max + 1; n++) {
            size_t k;

            put_head(p);

            for (k = 0; k < n; k++) {
                put_text(p, rows[i].tag, rows[i].text);
            }

            put_u32(p, SBX_TAG_CASE, 1);
            assert_int_equal(unpack_job(p, &err),
                             n == rows[i].max ? 0 : -1);
        }
    }

    free(p);
}


static void
test_too_many_cases(void **state)
{
    size_t i, size, more;
    char *payload;
    sbx_err_t err;
    sbx_job_t job, back;
    uint32_t head[3] = { SBX_TAG_CASE, 4, 7 };

    (void) state;

    fill_job(&job, SBX_CASES_MAX);
    size = sbx_job_size(&job);
    more = size + sizeof(head);
    payload = malloc(more);
    sbx_job_pack(&job, payload);
    memcpy(payload + size, head, sizeof(head));

    assert_int_equal(sbx_job_unpack(&back, payload, size, &err), 0);
    sbx_job_clear(&back);
    assert_int_equal(sbx_job_unpack(&back, payload, more, &err), -1);
    assert_string_equal(err.text, "too many cases");

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        if (i != SBX_LIMIT_CPU_TIME) {
            job.limits[i] = sbx_limits[i].max + 1;
            sbx_job_pack(&job, payload);
            assert_int_equal(sbx_job_unpack(&back, payload, size, &err), -1);
            assert_non_null(strstr(err.text, sbx_limits[i].name));
            job.limits[i] = sbx_limits[i].initial;
        }
    }

    free(payload);
    sbx_job_clear(&job);
}


static void
fill_verdict(sbx_verdict_t *v, uint32_t id)
{
    int i;

    sbx_verdict_init(v);
    v->id = id;
    v->status = SBX_SECCOMP_VIOLATION;
    v->reason = SBX_REASON_STDERR;
    v->exit_code = 3;
    v->signal = SIGSYS;
    strcpy(v->error, "a sentence");
    v->step = SBX_STEP_CGROUP;
    v->output = SBX_STR("out\0put");
    v->errout = SBX_STR("\xff");
    v->output_truncated = 1;
    v->wall_us = 1;
    v->cpu_us = 2;
    v->queue_us = 3;
    v->memory_bytes = 1ULL << 40;
    v->memory_source = SBX_SOURCE_CGROUP;
    v->processes = 4;
    strcpy(v->refused[0], "socket");
    strcpy(v->refused[1], "ptrace");
    v->nrefused = 2;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        v->limits[i] = 100 + i;
    }

    v->base_bytes = 5;
    v->code_bytes = 6;
    v->factor_permille = 1250;
    v->violation.type = SBX_VIOLATION_SYSCALL;
    v->violation.address = UINT64_MAX;
    v->violation.region_lo = 7;
    v->violation.region_hi = 8;
    v->violation.timestamp_ms = 1796000000123;
    v->violation.requested_bytes = 9;
    v->violation.limit_bytes = 10;
    v->violation.live_bytes = 11;
    v->violation.source = SBX_SOURCE_KERNEL;
    v->violation.number = 101;
    strcpy(v->violation.syscall, "ptrace");
}


static void
assert_same_verdict(const sbx_verdict_t *a, const sbx_verdict_t *b)
{
    sbx_verdict_t left, right;

    assert_same(a->output, b->output);
    assert_same(a->errout, b->errout);

    /* The rest holds no pointers; padding was zeroed by sbx_verdict_init. */

    left = *a;
    right = *b;
    left.output = right.output = (sbx_str_t) { NULL, 0 };
    left.errout = right.errout = (sbx_str_t) { NULL, 0 };
    assert_memory_equal(&left, &right, sizeof(sbx_verdict_t));
}


static void
test_verdict_round_trip(void **state)
{
    size_t i, size, len, at;
    char *payload;
    const char *p;
    sbx_err_t err;
    sbx_verdict_t v[4], back;

    (void) state;

    fill_verdict(&v[0], 1);
    sbx_verdict_init(&v[1]);
    fill_verdict(&v[2], UINT32_MAX);
    v[2].nrefused = SBX_REFUSED_MAX;
    memset(v[2].error, 'e', sizeof(v[2].error) - 1);
    sbx_verdict_init(&v[3]);
    v[3].id = 9;
    v[3].errout_truncated = 1;

    for (i = 2; i < SBX_REFUSED_MAX; i++) {
        strcpy(v[2].refused[i], "x");
    }

    size = 0;

    for (i = 0; i < COUNT(v); i++) {
        size += sbx_verdict_size(&v[i]);
    }

    payload = malloc(size);
    at = 0;

    for (i = 0; i < COUNT(v); i++) {
        sbx_verdict_pack(&v[i], payload + at);
        at += sbx_verdict_size(&v[i]);
    }

    p = payload;
    len = size;

    for (i = 0; i < COUNT(v); i++) {
        assert_int_equal(sbx_verdict_unpack(&back, &p, &len, &err), 1);
        assert_same_verdict(&v[i], &back);
    }

    assert_int_equal(sbx_verdict_unpack(&back, &p, &len, &err), 0);
    assert_int_equal(len, 0);
    assert_ptr_equal(p, payload + size);

    free(payload);
}


static void
test_verdict_truncated(void **state)
{
    int rc;
    size_t cut, size, len;
    char *payload, *copy;
    const char *p;
    sbx_err_t err;
    sbx_verdict_t v, back;

    (void) state;

    fill_verdict(&v, 1);
    size = sbx_verdict_size(&v);
    payload = malloc(size);
    sbx_verdict_pack(&v, payload);

    for (cut = 0; cut < size; cut++) {
        copy = malloc(cut);
        memcpy(copy, payload, cut);
        p = copy;
        len = cut;
        rc = sbx_verdict_unpack(&back, &p, &len, &err);

        /* Behind the status, every end of a field is a possible end. */

        assert_true(rc == (cut == 0 ? 0 : -1) || rc == 1);
        assert_true(rc != 1 || len == 0);
        free(copy);
    }

    free(payload);
}


static void
test_verdict_refused(void **state)
{
    size_t i, len;
    const char *at;
    payload_t p;
    sbx_err_t err;
    sbx_verdict_t v;
    char name[40];
    const bad_row_t rows[] = {
        { "unknown tag", 500, "", 0 },
        { "tag 0", 0, U32(0, 0, 0, 0) },
        { "a job's tag", SBX_TAG_CODE, "x", 1 },
        { "status twice", SBX_TAG_STATUS, U32(0, 0, 0, 0) },
        { "unknown reason", SBX_TAG_REASON, U32(SBX_REASON_COUNT, 0, 0, 0) },
        { "unknown step", SBX_TAG_STEP, U32(SBX_STEP_COUNT, 0, 0, 0) },
        { "exit code", SBX_TAG_EXIT_CODE, U32(0, 1, 0, 0) },
        { "exit code -2", SBX_TAG_EXIT_CODE,
          U32('\xfe', '\xff', '\xff', '\xff') },
        { "signal", SBX_TAG_SIGNAL, U32(65, 0, 0, 0) },
        { "signal -1", SBX_TAG_SIGNAL,
          U32('\xff', '\xff', '\xff', '\xff') },
        { "truncated", SBX_TAG_TRUNCATED, U32(4, 0, 0, 0) },
        { "wall of 4 bytes", SBX_TAG_WALL_US, U32(0, 0, 0, 0) },
        { "NUL in error", SBX_TAG_ERROR, "a\0b", 3 },
        { "refused too long", SBX_TAG_REFUSED, name, 32 },
        { "syscall too long", SBX_TAG_V_SYSCALL, name, 32 },
        { "violation", SBX_TAG_VIOLATION, U32(SBX_VIOLATION_COUNT, 0, 0, 0) }
    };

    (void) state;

    memset(name, 'n', sizeof(name));

    for (i = 0; i < COUNT(rows); i++) {
        p.len = 0;
        put_u32(&p, SBX_TAG_CASE, 1);
        put_u32(&p, SBX_TAG_STATUS, 0);
        put(&p, rows[i].tag, rows[i].data, rows[i].len);
        at = p.data;
        len = p.len;

        if (sbx_verdict_unpack(&v, &at, &len, &err) != -1) {
            fail_msg("accepted: %s", rows[i].what);
        }
    }

    /* No case first, no status, an unknown status. */

    p.len = 0;
    put_u32(&p, SBX_TAG_STATUS, 0);
    at = p.data;
    len = p.len;
    assert_int_equal(sbx_verdict_unpack(&v, &at, &len, &err), -1);

    p.len = 0;
    put_u32(&p, SBX_TAG_CASE, 1);
    put_u32(&p, SBX_TAG_OPTIONAL, 1);
    at = p.data;
    len = p.len;
    assert_int_equal(sbx_verdict_unpack(&v, &at, &len, &err), -1);

    put_u32(&p, SBX_TAG_STATUS, SBX_STATUS_COUNT);
    at = p.data;
    len = p.len;
    assert_int_equal(sbx_verdict_unpack(&v, &at, &len, &err), -1);
}


static void
test_run(void **state)
{
    size_t size, ncmd, cut;
    char *payload;
    sbx_str_t *cmd;
    sbx_err_t err;
    sbx_job_t job, back;
    char *argv[] = { "/usr/bin/python3", "-I", NULL };

    (void) state;

    fill_job(&job, 1);
    size = sbx_run_size(&job, argv);
    payload = malloc(size);
    sbx_run_pack(&job, argv, payload);

    assert_int_equal(sbx_run_unpack(&back, &cmd, &ncmd, payload, size, &err),
                     0);
    assert_int_equal(ncmd, 2);
    assert_str(cmd[0], "/usr/bin/python3");
    assert_str(cmd[1], "-I");
    assert_same_program(&job, &back);
    sbx_job_clear(&back);
    free(cmd);

    for (cut = 0; cut < size; cut++) {
        if (sbx_run_unpack(&back, &cmd, &ncmd, payload, cut, &err) == 0) {
            sbx_job_clear(&back);
            free(cmd);

        } else {
            assert_null(cmd);
            assert_int_equal(ncmd, 0);
        }
    }

    free(payload);

    /* A zygote that is the interpreter itself gets no command. */

    size = sbx_run_size(&job, NULL);
    payload = malloc(size);
    sbx_run_pack(&job, NULL, payload);
    assert_int_equal(sbx_run_unpack(&back, &cmd, &ncmd, payload, size, &err),
                     0);
    assert_int_equal(ncmd, 0);
    assert_null(cmd);
    sbx_job_clear(&back);
    free(payload);
    sbx_job_clear(&job);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_job_round_trip),
        cmocka_unit_test(test_job_truncated),
        cmocka_unit_test(test_job_refused),
        cmocka_unit_test(test_job_values),
        cmocka_unit_test(test_job_cases),
        cmocka_unit_test(test_optional),
        cmocka_unit_test(test_field_head),
        cmocka_unit_test(test_job_bounds),
        cmocka_unit_test(test_too_many_cases),
        cmocka_unit_test(test_verdict_round_trip),
        cmocka_unit_test(test_verdict_truncated),
        cmocka_unit_test(test_verdict_refused),
        cmocka_unit_test(test_run)
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
