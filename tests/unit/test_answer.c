/*
 * test_answer.c: verdicts and jobs as JSON, byte for byte, and the UTF-8 and
 * base64 below it.
 */

#include <signal.h>
#include <time.h>

#include "unit.h"

#include "sbx_json.h"
#include "sbx_json_text.h"
#include "sbx_layer.h"


#define USAGE_0                                                               \
    "\"usage\":{\"wall_ms\":0,\"cpu_ms\":0,\"queue_ms\":0,"                   \
    "\"memory_bytes\":null,\"memory_source\":null,\"processes\":0,"           \
    "\"threads\":null,\"open_files\":null,\"largest_bytes\":null,"           \
    "\"refused\":[]},"

#define LIMITS_NULL                                                           \
    "\"limits\":{\"memory\":null,\"timeout\":null,\"cpu_time\":null,"         \
    "\"output\":null,\"disk\":null,\"processes\":null,\"threads\":null,"      \
    "\"open_files\":null,\"stack\":null,\"allocation\":null,"                 \
    "\"cpu_per_second\":null,\"memory_terms\":{\"base\":null,"                \
    "\"code\":null,\"wanted\":null,\"factor\":null}},"

#define LIMITS_DEFAULT                                                        \
    "\"limits\":{\"memory\":134217728,\"timeout\":5000,\"cpu_time\":5000,"    \
    "\"output\":1048576,\"disk\":16777216,\"processes\":1,\"threads\":64,"    \
    "\"open_files\":256,\"stack\":8388608,\"allocation\":null,"               \
    "\"cpu_per_second\":null,\"memory_terms\":"

#define FLAGS_0                                                               \
    "\"truncated\":{\"output\":false,\"stderr\":false},"                      \
    "\"replaced\":{\"output\":false,\"stderr\":false},"


static void
check_answer(const sbx_verdict_t *v, sbx_encoding_t encoding,
    const char *want)
{
    size_t len;
    char *json, why[256];

    json = sbx_verdict_json(v, encoding, &len);
    assert_non_null(json);
    assert_int_equal(strlen(json), len);
    assert_string_equal(json, want);
    assert_null(sbx_json_check(json, len, why, sizeof(why)));
    free(json);
}


static void
set_limits(sbx_verdict_t *v)
{
    int i;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        v->limits[i] = sbx_limits[i].initial;
    }

    v->limits[SBX_LIMIT_CPU_TIME] = 5000;
    v->factor_permille = 1250;
}


static void
test_success(void **state)
{
    sbx_verdict_t v;

    (void) state;

    sbx_verdict_init(&v);
    set_limits(&v);
    v.exit_code = 0;
    v.output = SBX_STR("2\n");
    v.errout = SBX_STR("a/\"b\"\\\0\x1f\x7f\t\xc3\xa9");
    v.wall_us = 12500;
    v.cpu_us = 1;
    v.queue_us = 3000;
    v.memory_bytes = 123;
    v.memory_source = SBX_SOURCE_HOOK;
    v.processes = 1;
    v.threads = 2;
    v.open_files = 4;
    v.largest_bytes = 70000;
    strcpy(v.refused[0], "socket");
    strcpy(v.refused[1], "ptrace");
    v.nrefused = 2;
    v.base_bytes = 14000000;
    v.code_bytes = 10;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"success\",\"output\":\"2\\n\","
        "\"stderr\":\"a/\\\"b\\\"\\\\\\u0000\\u001f\x7f\\t\xc3\xa9\","
        "\"exit_code\":0,\"signal\":null,\"returncode\":0,\"error\":null,"
        "\"reason\":null,\"usage\":{\"wall_ms\":12.5,\"cpu_ms\":0.001,"
        "\"queue_ms\":3,\"memory_bytes\":123,\"memory_source\":\"hook\","
        "\"processes\":1,\"threads\":2,\"open_files\":4,"
        "\"largest_bytes\":70000,\"refused\":[\"socket\",\"ptrace\"]},"
        LIMITS_DEFAULT "{\"base\":14000000,\"code\":10,"
        "\"wanted\":134217728,\"factor\":1.25}}," FLAGS_0
        "\"violation\":null}");
}


static void
test_violations(void **state)
{
    sbx_verdict_t v;

    (void) state;

    sbx_verdict_init(&v);
    v.status = SBX_MEMORY_EXCEEDED;
    v.reason = SBX_REASON_HOOK;
    v.exit_code = 128;
    strcpy(v.error, "too much");
    v.violation.type = SBX_VIOLATION_ALLOC_LIMIT;
    v.violation.timestamp_ms = 1796000000123;
    v.violation.requested_bytes = 1000;
    v.violation.limit_bytes = 900;
    v.violation.source = SBX_SOURCE_HOOK;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"memory_exceeded\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":128,\"signal\":null,\"returncode\":128,"
        "\"error\":\"too much\",\"reason\":\"hook\"," USAGE_0 LIMITS_NULL
        FLAGS_0 "\"violation\":{\"violation_type\":\"ALLOC_LIMIT\","
        "\"violation_class\":\"MEMORY_EXCEEDED\",\"address\":null,"
        "\"allocated_region\":null,"
        "\"timestamp\":\"2026-11-30T00:53:20.123Z\","
        "\"requested_bytes\":1000,\"limit_bytes\":900,\"live_bytes\":0,"
        "\"source\":\"hook\",\"syscall\":null,\"number\":null}}");

    sbx_verdict_init(&v);
    v.status = SBX_MEMORY_VIOLATION;
    v.signal = SIGSEGV;
    v.violation.type = SBX_VIOLATION_WRITE;
    v.violation.address = 0xdeadbeef;
    v.violation.region_lo = 0x1000;
    v.violation.region_hi = 0x2000;
    v.violation.source = SBX_SOURCE_KERNEL;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"memory_violation\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":null,\"signal\":\"SIGSEGV\",\"returncode\":139,"
        "\"error\":null,\"reason\":null," USAGE_0 LIMITS_NULL
        FLAGS_0 "\"violation\":{\"violation_type\":\"WRITE_OUT_OF_BOUNDS\","
        "\"violation_class\":\"MEMORY_VIOLATION\",\"address\":\"0xdeadbeef\","
        "\"allocated_region\":\"0x1000-0x2000\",\"timestamp\":null,"
        "\"requested_bytes\":null,\"limit_bytes\":null,\"live_bytes\":null,"
        "\"source\":\"kernel\",\"syscall\":null,\"number\":null}}");

    sbx_verdict_init(&v);
    v.status = SBX_SECCOMP_VIOLATION;
    v.signal = SIGSYS;
    v.violation.type = SBX_VIOLATION_SYSCALL;
    v.violation.number = 0;
    strcpy(v.violation.syscall, "read");

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"seccomp_violation\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":null,\"signal\":\"SIGSYS\",\"returncode\":159,"
        "\"error\":null,\"reason\":null," USAGE_0 LIMITS_NULL
        FLAGS_0 "\"violation\":{\"violation_type\":\"FORBIDDEN_SYSCALL\","
        "\"violation_class\":\"SECCOMP_VIOLATION\",\"address\":null,"
        "\"allocated_region\":null,\"timestamp\":null,"
        "\"requested_bytes\":null,\"limit_bytes\":null,\"live_bytes\":null,"
        "\"source\":null,\"syscall\":\"read\",\"number\":0}}");
}


/*
 * The line for logs: the answer's own object, bounded, for every type the same
 * keys in the same order.
 */
static void
test_violation_line(void **state)
{
    int type;
    size_t len;
    char *line;
    sbx_violation_t violation;

    (void) state;

    memset(&violation, 0, sizeof(violation));
    assert_null(sbx_violation_json(&violation, &len));

    violation.address = violation.region_lo = violation.region_hi = UINT64_MAX;
    violation.requested_bytes = violation.limit_bytes = UINT64_MAX;
    violation.live_bytes = UINT64_MAX;
    violation.timestamp_ms = 1796000000007;
    violation.source = SBX_SOURCE_WATERMARK;
    violation.number = INT32_MAX;
    memset(violation.syscall, 'x', sizeof(violation.syscall) - 1);

    for (type = 1; type < SBX_VIOLATION_COUNT; type++) {
        violation.type = (sbx_violation_type_t) type;
        line = sbx_violation_json(&violation, &len);

        assert_non_null(line);
        assert_true(len == strlen(line) && len < SBX_VIOLATION_JSON_MAX);
        assert_null(strchr(line, '\n'));
        assert_ptr_equal(strstr(line, "{\"violation_type\":\""), line);
        assert_non_null(strstr(line, "\"timestamp\":\"2026-11-30T00:53:20.007Z"
                                     "\""));
        assert_true(sbx_violation_name(type)[0] != '\0');
        assert_true(sbx_violation_class(type)[0] != '\0');
        free(line);
    }
}


static void
test_ours(void **state)
{
    sbx_verdict_t v;

    (void) state;

    sbx_verdict_init(&v);
    v.status = SBX_INTERNAL_ERROR;
    v.step = SBX_STEP_SECCOMP;
    strcpy(v.error, "load filter");

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"internal_error\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":null,\"signal\":null,\"returncode\":125,"
        "\"error\":\"load filter\",\"reason\":\"seccomp\"," USAGE_0
        LIMITS_NULL FLAGS_0 "\"violation\":null}");

    v.reason = SBX_REASON_SLOT;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"internal_error\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":null,\"signal\":null,\"returncode\":125,"
        "\"error\":\"load filter\",\"reason\":\"slot\"," USAGE_0
        LIMITS_NULL FLAGS_0 "\"violation\":null}");

    sbx_verdict_init(&v);
    v.status = SBX_SIGNALED;
    v.signal = 40;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"signaled\",\"output\":\"\",\"stderr\":\"\","
        "\"exit_code\":null,\"signal\":\"SIG40\",\"returncode\":168,"
        "\"error\":null,\"reason\":null," USAGE_0
        LIMITS_NULL FLAGS_0 "\"violation\":null}");
}


static void
test_encodings(void **state)
{
    sbx_verdict_t v;

    (void) state;

    sbx_verdict_init(&v);
    v.exit_code = 0;
    v.output = SBX_STR("\xff\0");
    v.errout = SBX_STR("ok\xe2\x82");
    v.output_truncated = 1;

    check_answer(&v, SBX_ENCODING_UTF8,
        "{\"status\":\"success\",\"output\":\"\xef\xbf\xbd\\u0000\","
        "\"stderr\":\"ok\xef\xbf\xbd\",\"exit_code\":0,\"signal\":null,"
        "\"returncode\":0,\"error\":null,\"reason\":null," USAGE_0
        LIMITS_NULL "\"truncated\":{\"output\":true,\"stderr\":false},"
        "\"replaced\":{\"output\":true,\"stderr\":true},"
        "\"violation\":null}");

    check_answer(&v, SBX_ENCODING_BASE64,
        "{\"status\":\"success\",\"output\":\"/wA=\",\"stderr\":\"b2vigg==\","
        "\"exit_code\":0,\"signal\":null,"
        "\"returncode\":0,\"error\":null,\"reason\":null," USAGE_0
        LIMITS_NULL "\"truncated\":{\"output\":true,\"stderr\":false},"
        "\"replaced\":{\"output\":false,\"stderr\":false},"
        "\"violation\":null}");
}


/* The examples of Unicode 3.9, and what Python's errors="replace" gives. */
static void
test_repair(void **state)
{
    size_t i, len;
    int replaced;
    char *got;
    sbx_json_out_t out;
    static const struct {
        sbx_str_t raw;
        const char *want;   /* '?' stands for U+FFFD */
        int replaced;
    } rows[] = {
        { SBX_STR("plain"), "plain", 0 },
        { SBX_STR("\xc3\xa9\xf0\x9f\x98\x80"), "\xc3\xa9\xf0\x9f\x98\x80", 0 },
        { SBX_STR("\x80"), "?", 1 },
        { SBX_STR("\xff\xfe"), "??", 1 },
        { SBX_STR("a\xc3"), "a?", 1 },
        { SBX_STR("\xc3z"), "?z", 1 },
        { SBX_STR("\xe2\x82z"), "?z", 1 },
        { SBX_STR("\xe2\x82"), "?", 1 },
        { SBX_STR("\xf0\x9f\x98"), "?", 1 },
        { SBX_STR("\xf0\x9f\x98z"), "?z", 1 },
        { SBX_STR("\xf0\x9f\x98\xf0\x9f\x98\x80"), "?\xf0\x9f\x98\x80", 1 },
        { SBX_STR("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82z"), "????????z", 1 },
        { SBX_STR("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), "????????A", 1 },
        { SBX_STR("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"), "?????A??B", 1 },
        { SBX_STR("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), "????A", 1 }
    };
    char want[128], *w;
    const char *p;

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        memset(&out, 0, sizeof(out));
        replaced = sbx_json_text(&out, NULL, rows[i].raw);
        got = sbx_json_end(&out, &len);

        w = want;
        *w++ = '"';

        for (p = rows[i].want; *p != '\0'; p++) {
            if (*p == '?') {
                memcpy(w, "\xef\xbf\xbd", 3);
                w += 3;

            } else {
                *w++ = *p;
            }
        }

        *w++ = '"';
        *w = '\0';

        assert_string_equal(got, want);
        assert_int_equal(replaced, rows[i].replaced);
        assert_int_equal(sbx_utf8_valid(rows[i].raw), !rows[i].replaced);
        free(got);
    }
}


static void
test_base64(void **state)
{
    size_t i, len;
    char buf[64];
    sbx_str_t text;
    static const struct {
        const char *plain, *coded;
    } rows[] = {
        { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" }, { "\xff\xfe\xfd", "//79" },
        { "\xfb\xf0", "+/A=" }
    };
    static const char *const refused[] = {
        "Z", "Zg", "Zg=", "Zm8", "====", "=", "Zg==Zg==", "Zg==\n", "Z g=",
        "Zm9-", "Zm9_", "Zh==", "Zm9=", "Z===", "Zm=v", "Zm9v====",
        "\xff\xff\xff\xff"
    };

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        text = str(rows[i].plain);
        len = sbx_base64_size(text.len);
        sbx_base64_encode(buf, text);
        assert_str((sbx_str_t) { buf, len }, rows[i].coded);

        assert_int_equal(sbx_base64_decode(buf, &len, str(rows[i].coded)), 0);
        assert_str((sbx_str_t) { buf, len }, rows[i].plain);
    }

    for (i = 0; i < COUNT(refused); i++) {
        if (sbx_base64_decode(buf, &len, str(refused[i])) == 0) {
            fail_msg("accepted: %s", refused[i]);
        }
    }
}


static void
test_job(void **state)
{
    size_t len;
    char *json;
    sbx_job_t job;
    uint64_t floors[SBX_LIMIT_COUNT] = { 0 };

    (void) state;

    sbx_job_init(&job);
    job.language = SBX_STR("python");
    job.name = SBX_STR("main.py");
    job.code = SBX_STR("print(1)");
    job.flags = SBX_JOB_SOFT_MEMORY;
    job.allow_missing = SBX_LAYER_SECCOMP | SBX_LAYER_NET;
    sbx_job_add_arg(&job, SBX_STR("a"));
    sbx_job_add_env(&job, SBX_STR("A=b=c"));
    sbx_job_add_file(&job, SBX_STR("t"), SBX_STR("x"));
    sbx_job_add_file(&job, SBX_STR("b"), SBX_STR("\xff"));
    sbx_job_add_case(&job, 0, SBX_STR("\xfe"));

    json = sbx_job_json(&job, 0, NULL, &len);
    assert_string_equal(json,
        "{\"dry_run\":true,\"language\":\"python\",\"code\":\"print(1)\","
        "\"name\":\"main.py\",\"stdin\":{\"base64\":\"/g==\"},"
        "\"args\":[\"a\"],\"env\":{\"A\":\"b=c\"},"
        "\"files\":[{\"path\":\"t\",\"content\":\"x\"},"
        "{\"path\":\"b\",\"base64\":\"/w==\"}],"
        LIMITS_DEFAULT "{\"base\":null,\"code\":8,\"wanted\":134217728,"
        "\"factor\":1.25}},\"memory_mode\":\"soft\",\"proc\":\"on\","
        "\"allow_missing\":[\"seccomp\",\"net\"],\"warnings\":[]}");
    assert_int_equal(strlen(json), len);
    free(json);

    floors[SBX_LIMIT_THREADS] = 70;
    floors[SBX_LIMIT_TIMEOUT] = 6000;
    json = sbx_job_json(&job, 0, floors, &len);
    assert_non_null(strstr(json, "\"warnings\":["
        "\"\\\"timeout\\\" of 5s is little: an empty program in python took "
        "6s here\","
        "\"\\\"threads\\\" of 64 is too little: python needs at least 70 to "
        "start\"]}"));
    free(json);
    sbx_job_clear(&job);
}


/* Equal outcomes are equally long, whatever their figures. */
static void
test_body(void **state)
{
    size_t i, len, first = 0;
    char *json;
    sbx_verdict_t v;
    static const uint64_t figures[] = { 0, 1, 10, 999, 1000, 1500, 12340,
                                        123456, 98765432109 };

    (void) state;

    for (i = 0; i < COUNT(figures); i++) {
        sbx_verdict_init(&v);
        v.wall_us = v.cpu_us = v.queue_us = figures[i];
        v.memory_bytes = v.base_bytes = figures[i];
        v.memory_source = SBX_SOURCE_HOOK;

        json = sbx_verdict_body(&v, SBX_ENCODING_UTF8, &len);
        assert_non_null(json);
        assert_int_equal(strlen(json), len);

        first = first ? first : len;
        assert_int_equal(len, first);
        free(json);
    }
}


/* 16 MiB of the worst kinds. */
static void
test_large(void **state)
{
    size_t i, k, len;
    char *data, *json;
    sbx_verdict_t v;
    static const struct {
        unsigned char byte;
        size_t factor;
    } rows[] = { { 'a', 1 }, { '\0', 6 }, { 0xff, 3 }, { '"', 2 } };

    (void) state;

    data = malloc(16 << 20);

    for (i = 0; i < COUNT(rows); i++) {
        memset(data, rows[i].byte, 16 << 20);

        for (k = 0; k < 2; k++) {
            sbx_verdict_init(&v);
            v.output = (sbx_str_t) { data, 16 << 20 };

            json = sbx_verdict_json(&v, k, &len);
            assert_non_null(json);
            assert_true(len > (k == 0 ? rows[i].factor << 24 : 4 << 22));
            assert_true(json[len - 1] == '}');
            free(json);
        }
    }

    free(data);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),
        cmocka_unit_test(test_violations),
        cmocka_unit_test(test_violation_line),
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_job),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_large)
    };

    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
