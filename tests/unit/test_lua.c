/*
 * test_lua.c: what a policy can say, and how its mistakes are told.
 *
 * Policies are written to files below /tmp and read through the public
 * functions of sbx_lua.h; tables of (policy, expectation) rows.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbx_json.h"
#include "../../lua/sbx_lua.h"

#define MIB  (1024UL * 1024)
#define LIMITS(body)    "return { limits = function(job, runtime)\n" body \
                        "\nend }\n"
#define RESPONSE(body)  "return { response = function(req, verdict)\n" body \
                        "\nend }\n"


static char path[64];


static void
write_file(const char *data, size_t len)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}


/* A deadline that a slow build (ASan) keeps too: time has tests of its own. */
static const sbx_policy_bounds_t slow = { 0, 0, 5000 };


static sbx_policy_t *
open_text(const char *text, char *err, size_t size)
{
    write_file(text, strlen(text));
    return sbx_policy_open(path, NULL, &slow, err, size);
}


static sbx_policy_t *
must_open(const char *text)
{
    char err[512] = "";
    sbx_policy_t *policy = open_text(text, err, sizeof(err));

    if (policy == NULL) {
        fail_msg("%s", err);
    }

    return policy;
}


/* Expectations about errors name the file as FILE. */
static void
check_error(const char *err, const char *wanted)
{
    char text[1024];

    if (strncmp(wanted, "FILE", 4) == 0) {
        snprintf(text, sizeof(text), "%s%s", path, wanted + 4);
    } else {
        snprintf(text, sizeof(text), "%s", wanted);
    }

    if (strncmp(err, text, strlen(text)) != 0) {
        fail_msg("wanted: %s\ngot:    %s", text, err);
    }
}


static const sbx_pair_t headers[] = {
    { SBX_STR("host"), SBX_STR("judge.example") },
    { SBX_STR("x-profile"), SBX_STR("bi") },
};

static const sbx_policy_request_t request = {
    .method = SBX_STR("POST"),
    .uri = SBX_STR("/bi/run"),
    .query = SBX_STR("a=1&b=2"),
    .remote_addr = SBX_STR("127.0.0.1"),
    .headers = headers,
    .nheaders = 2,
};

static const sbx_policy_runtime_t runtime = {
    SBX_STR("python"), 20 * MIB, 8 * MIB
};


static int
call_limits(sbx_policy_t *policy, sbx_job_t *job, char *err, size_t size)
{
    unsigned i;
    uint64_t ceilings[SBX_LIMIT_COUNT];

    sbx_job_init(job);
    job->language = SBX_STR("python");
    job->name = SBX_STR("main.py");
    job->code = SBX_STR("print(1)");
    job->factor_permille = 1250;
    job->limits[SBX_LIMIT_MEMORY] = 128 * MIB;
    job->limits[SBX_LIMIT_TIMEOUT] = 5000;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        ceilings[i] = sbx_limits[i].max;
    }

    ceilings[SBX_LIMIT_MEMORY] = 512 * MIB;
    ceilings[SBX_LIMIT_TIMEOUT] = 10000;

    return sbx_policy_limits(policy, job, ceilings, &request, &runtime, err,
                             size);
}


static void
test_open_errors(void **state)
{
    unsigned i;
    char err[512];
    sbx_policy_t *policy;
    static const char *const rows[][2] = {
        { "x = = 1", "FILE:1: unexpected symbol near '='" },
        { "return {\n\n  limits = function( end\n}",
          "FILE:3: <name> or '...' expected near 'end'" },
        { "\nlocal a = nil\nreturn a.b",
          "FILE:3: attempt to index a nil value (local 'a')" },
        { "\nerror('no way')", "FILE:2: no way" },
        { "error({})", "FILE:1: error object is a table, not a string" },
        { "return 1", "FILE: the file must return a table of functions, not a"
          " number" },
        { "", "FILE: the file must return a table of functions, not a nil" },
        { "return { limits = 1 }", "FILE: limits must be a function, not a "
          "number" },
        { "return {\n limit = function()\n end }", "FILE:2: unknown field "
          "\"limit\"; a policy has request, limits, response, heartbeat and "
          "heard" },
        { "return { limits = function() end, 1 }", "FILE: unknown field "
          "\"number\"" },
        { "while true do end", "FILE:1: policy used more than 1000000 "
          "instructions" },
        { "local t = {}\nfor i = 1, 1e9 do t[i] = ('x'):rep(100000) .. i end",
          "FILE: policy needs more than 16777216 bytes of memory" },
        { "require 'os'", "FILE:1: attempt to call a nil value (global "
          "'require')" },
        { "return io.open('/etc/passwd')", "FILE:1: attempt to index a nil "
          "value (global 'io')" },
        { "\nstring.rep = 1", "FILE:2: this table is read-only" },
        { "\nsetmetatable({}, { __gc = 1 })", "FILE:2: a metatable with __gc "
          "is not allowed here" },
        { "\nreturn 1 < 'x'", "FILE:2: attempt to compare number with "
          "string" },
        { "\ntable.sort({ 1, {} })", "FILE:2: attempt to compare " },
        { "\033Lua", "FILE: attempt to load a binary chunk" },
    };

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        policy = open_text(rows[i][0], err, sizeof(err));

        if (policy != NULL) {
            fail_msg("opened: %s", rows[i][0]);
        }

        check_error(err, rows[i][1]);
    }

    unlink(path);
    assert_null(sbx_policy_open(path, NULL, NULL, err, sizeof(err)));
    check_error(err, "FILE: No such file or directory");
    assert_null(sbx_policy_open("/tmp", NULL, NULL, err, sizeof(err)));
    check_error(err, "/tmp: is not a regular file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(sbx_policy_open(path, NULL, NULL, err, sizeof(err)));
    check_error(err, "FILE: is not a regular file");
    unlink(path);
}


static void
test_what_is_there(void **state)
{
    char err[512];
    sbx_policy_t *policy;

    (void) state;

    policy = must_open("return {}");
    assert_false(sbx_policy_has_limits(policy));
    assert_false(sbx_policy_has_response(policy));
    sbx_policy_close(policy);

    policy = must_open(LIMITS(""));
    assert_true(sbx_policy_has_limits(policy));
    assert_false(sbx_policy_has_response(policy));
    sbx_policy_close(policy);

    /* nothing that reads files, compiles, or reaches behind the bounds */
    policy = open_text(
        "assert(not io and not os and not debug and not package)\n"
        "assert(not coroutine and not load and not loadfile and not dofile)\n"
        "assert(not require and not print and not collectgarbage)\n"
        "assert(not xpcall and not rawset and not warn and not _G)\n"
        "assert(not string.dump and not string.pack)\n"
        "assert(not math.randomseed)\n"
        "assert(getmetatable('') == false)\n"
        "assert(getmetatable(string) == false)\n"
        "return {}\n", err, sizeof(err));

    if (policy == NULL) {
        fail_msg("%s", err);
    }

    sbx_policy_close(policy);
}


/* The result as "memory timeout factor", or the error. */
static void
test_limits(void **state)
{
    unsigned i;
    char err[512], got[64];
    sbx_job_t job;
    sbx_policy_t *policy;
    static const char *const rows[][2] = {
        { "", "134217728 5000 1250" },
        { "return nil", "134217728 5000 1250" },
        { "return {}", "134217728 5000 1250" },
        { "return { memory = '64m' }", "67108864 5000 1250" },
        { "return { memory = 1048576 * 1.5 }", "1572864 5000 1250" },
        { "return { memory = 2097152.9 }", "2097152 5000 1250" },
        { "return { memory = '1g' }", "536870912 5000 1250" },
        { "return { memory = 1e30 }", "536870912 5000 1250" },
        { "return { memory = math.huge }", "536870912 5000 1250" },
        { "return { timeout = '2s', factor = 1.5 }", "134217728 2000 1500" },
        { "return { timeout = 1 }", "134217728 1 1250" },
        { "return { timeout = '1m' }", "134217728 10000 1250" },
        { "return { factor = 4 }", "134217728 5000 4000" },
        { "return { memory = job.limits.memory // 2 }",
          "67108864 5000 1250" },
        { "return { memory = job.ceilings.memory }", "536870912 5000 1250" },
        { "return { memory = runtime.base + runtime.floor }",
          "29360128 5000 1250" },
        { "local r = job.request\n"
          "assert(r.method == 'POST' and r.uri == '/bi/run')\n"
          "assert(r.args == 'a=1&b=2' and r.remote_addr == '127.0.0.1')\n"
          "assert(r.headers['x-profile'] == 'bi' and #r.headers.host == 13)\n"
          "assert(job.language == 'python' and job.name == 'main.py')\n"
          "assert(job.code_bytes == 8 and job.stdin_bytes == 0)\n"
          "assert(job.nargs == 0 and runtime.name == 'python')\n"
          "assert(job.limits.cpu_time == 5000)\n"
          "return { timeout = 7 }", "134217728 7 1250" },

        { "return { memory = 0 }", "FILE:1: limits(): memory cannot be 0" },
        { "return { memory = -1 }", "FILE:1: limits(): memory cannot be -1" },
        { "return { memory = 0/0 }", "FILE:1: limits(): memory cannot be " },
        { "return { memory = '64q' }",
          "FILE:1: limits(): memory cannot be \"64q\"" },
        { "return { memory = '64m ' }", "FILE:1: limits(): memory cannot be" },
        { "return { memory = {} }", "FILE:1: limits(): memory must be a "
          "number or a string, not a table" },
        { "return { memroy = 1 }",
          "FILE:1: limits() returned an unknown limit \"memroy\"" },
        { "return { 5 }", "FILE:1: limits() returned a key that is a number" },
        { "return 5", "FILE:1: limits() must return nil or a table, not a "
          "number" },
        { "return { factor = 0.5 }", "FILE:1: limits(): factor must be "
          "between 1 and 4, not 0.5" },
        { "return { factor = 0/0 }", "FILE:1: limits(): factor must be" },
        { "return { factor = '2' }", "FILE:1: limits(): factor must be a "
          "number" },
        { "\nreturn job.nothing.x", "FILE:3: attempt to index a nil value "
          "(field 'nothing')" },
        { "error('sorry')", "FILE:2: sorry" },
        { "error('sorry', 0)", "FILE:2: sorry" },
        { "error(setmetatable({}, { __tostring = function() return 'x' end "
          "}))", "FILE:2: error object is a table, not a string" },
        { "local s = string.rep(nil)", "FILE:2: bad argument #1 to 'rep'" },
        { "\nwhile true do pcall(type, 1) end", "FILE:3: policy used more than "
          "1000000 instructions" },
    };

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[2048];

        snprintf(text, sizeof(text), LIMITS("%s"), rows[i][0]);
        policy = must_open(text);

        if (call_limits(policy, &job, err, sizeof(err)) != 0) {
            check_error(err, rows[i][1]);
            assert_int_equal(job.limits[SBX_LIMIT_MEMORY], 128 * MIB);

        } else {
            snprintf(got, sizeof(got), "%llu %llu %u",
                     (unsigned long long) job.limits[SBX_LIMIT_MEMORY],
                     (unsigned long long) job.limits[SBX_LIMIT_TIMEOUT],
                     job.factor_permille);
            assert_string_equal(got, rows[i][1]);
        }

        sbx_policy_close(policy);
    }
}


static void
test_all_or_nothing(void **state)
{
    char err[512];
    sbx_job_t job;
    sbx_policy_t *policy;

    (void) state;

    policy = must_open(LIMITS("return { memory = '64m', timeout = '1s',"
                              " factor = 2, output = 'much' }"));
    assert_int_equal(call_limits(policy, &job, err, sizeof(err)), -1);
    assert_int_equal(job.limits[SBX_LIMIT_MEMORY], 128 * MIB);
    assert_int_equal(job.limits[SBX_LIMIT_TIMEOUT], 5000);
    assert_int_equal(job.factor_permille, 1250);
    sbx_policy_close(policy);
}


/* Global variables of one call are gone in the next; the file's stay. */
static void
test_fresh_environment(void **state)
{
    int i;
    char err[512];
    sbx_job_t job;
    sbx_policy_t *policy;

    (void) state;

    policy = must_open(
        "base = 1000\n"
        "function double(x) return x * 2 end\n"
        "return { limits = function()\n"
        "  count = (count or 0) + 1\n"
        "  base = base + 1\n"
        "  math = nil; string = nil\n"
        "  return { timeout = double(base) + count } end }\n");

    for (i = 0; i < 3; i++) {
        assert_int_equal(call_limits(policy, &job, err, sizeof(err)), 0);
        assert_int_equal(job.limits[SBX_LIMIT_TIMEOUT], 2003);
    }

    sbx_policy_close(policy);
}


static sbx_verdict_t
make_verdict(void)
{
    sbx_verdict_t v;

    sbx_verdict_init(&v);
    v.status = SBX_SUCCESS;
    v.exit_code = 0;
    v.output = SBX_STR("2\n");
    v.errout = SBX_STR("");
    v.wall_us = 12345;
    v.cpu_us = 7000;
    v.memory_bytes = 4096;
    v.memory_source = SBX_SOURCE_HOOK;
    v.processes = 1;
    v.limits[SBX_LIMIT_MEMORY] = 128 * MIB;
    v.limits[SBX_LIMIT_TIMEOUT] = 5000;
    v.limits[SBX_LIMIT_CPU_TIME] = 5000;
    v.base_bytes = 20 * MIB;
    v.code_bytes = 8;
    v.factor_permille = 1250;

    return v;
}


/* The answer as "status header=value… body", or the error. */
static void
test_response(void **state)
{
    int rc;
    unsigned i;
    size_t k;
    char err[512], got[2048];
    sbx_policy_t *policy;
    sbx_verdict_t v = make_verdict();
    sbx_policy_response_t out;
    static const char *const rows[][2] = {
        { "return nil", "native" },
        { "", "native" },
        { "return {}", "200 " },
        { "return { status = 201, body = 'x' }", "201 x" },
        { "return { status = 503.0 }", "503 " },
        { "return { body = '' }", "200 " },
        { "return { headers = { ['X-Status'] = verdict.status } }",
          "200 X-Status=success " },
        { "return { body = { status = verdict.status,"
          " output = verdict.output } }",
          "200 {\"status\":\"success\",\"output\":\"2\\n\"}" },
        { "return { body = { output = 1, zz = 2, aa = 3, status = 4 } }",
          "200 {\"status\":4,\"output\":1,\"aa\":3,\"zz\":2}" },
        { "return { body = { 1, 2.5, 'x', true, null, { } } }",
          "200 [1,2.5,\"x\",true,null,{}]" },
        { "return { body = json('\\0\\1\"\\\\/\\n\\t\\u{e4}\\u{1f600}') }",
          "200 \"\\u0000\\u0001\\\"\\\\/\\n\\t\xc3\xa4\xf0\x9f\x98\x80\"" },
        { "return { body = json('\\xff|\\xc3|\\xe2\\x82|\\xf0\\x9f\\x98|"
          "\\xed\\xa0\\x80|\\xc0\\xaf') }",
          "200 \"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|"
          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "return { body = json(12) .. json(1e300) .. json(-0.5)"
          " .. json(1 / 3) }",
          "200 121e+300-0.50.33333333333333" },
        { "return { body = json(verdict.usage.refused)"
          " .. json(verdict.truncated) }",
          "200 []{\"output\":false,\"stderr\":false}" },
        { "assert(req.uri == '/bi/run' and verdict.http == 200)\n"
          "assert(verdict.exit_code == 0 and verdict.signal == nil)\n"
          "assert(verdict.usage.wall_ms == 12.345)\n"
          "assert(verdict.limits.memory_terms.base == 20971520)\n"
          "assert(verdict.limits.memory_terms.factor == 1.25)\n"
          "assert(table.concat(verdict.usage.refused, ',') == '')\n"
          "return { body = verdict.output }", "200 2\n" },

        { "return 5", "FILE:1: response() must return nil or a table" },
        { "return { statsu = 1 }",
          "FILE:1: response() returned an unknown field \"statsu\"" },
        { "return { status = 99 }", "FILE:1: response(): status must be a " },
        { "return { status = 100 }", "FILE:1: response(): status must be a" },
        { "return { status = '200' }", "FILE:1: response(): status must be " },
        { "return { body = true }", "FILE:1: response(): body must be a " },
        { "return { headers = 1 }", "FILE:1: response(): headers must be " },
        { "return { headers = { ['X'] = 'a\\r\\nY: b' } }",
          "FILE:1: response(): the value of header X has a control " },
        { "return { headers = { ['X Y'] = 'a' } }",
          "FILE:1: response(): \"X Y\" is no header name" },
        { "return { headers = { ['X\\0Y'] = 'a' } }",
          "FILE:1: response(): \"X\" is no header name" },
        { "return { headers = { ['content-Length'] = '1' } }",
          "FILE:1: response(): header content-Length is set by nginx alone" },
        { "return { headers = { X = 1 } }",
          "FILE:1: response(): headers must be strings by names" },
        { "return { body = { 1, 2, x = 3 } }",
          "FILE:1: a table for JSON has either string keys or the numbers" },
        { "return { body = { [2] = 3 } }",
          "FILE:1: a table for JSON has either string keys or the numbers" },
        { "return { body = { f = type } }",
          "FILE:1: JSON cannot hold a function" },
        { "return { body = { 0/0 } }", "FILE:1: JSON has no number that is " },
        { "local t = {}\nt.t = t\nreturn { body = t }",
          "FILE:1: tables for JSON are nested deeper than 16" },
    };

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[2048];
        int n;

        snprintf(text, sizeof(text), RESPONSE("%s"), rows[i][0]);
        policy = must_open(text);
        rc = sbx_policy_response(policy, &request, &v, &out, err, sizeof(err));

        if (rc < 0) {
            check_error(err, rows[i][1]);

        } else if (rc == 0) {
            assert_string_equal("native", rows[i][1]);

        } else {
            n = snprintf(got, sizeof(got), "%d ", out.status);

            for (k = 0; k < out.nheaders; k++) {
                n += snprintf(got + n, sizeof(got) - (size_t) n, "%.*s=%.*s ",
                              (int) out.headers[k].key.len,
                              out.headers[k].key.data,
                              (int) out.headers[k].value.len,
                              out.headers[k].value.data);
            }

            snprintf(got + n, sizeof(got) - (size_t) n, "%.*s",
                     (int) out.body.len, out.body.len ? out.body.data : "");
            assert_string_equal(got, rows[i][1]);
        }

        sbx_policy_response_clear(&out);
        sbx_policy_close(policy);
    }
}


/* { body = verdict } is the native answer, byte for byte. */
static void
check_same_as_native(const sbx_verdict_t *v)
{
    char err[512], *native;
    size_t len;
    sbx_policy_t *policy;
    sbx_policy_response_t out;

    policy = must_open(RESPONSE("return { body = verdict }"));

    if (sbx_policy_response(policy, &request, v, &out, err, sizeof(err)) != 1) {
        fail_msg("%s", err);
    }

    native = sbx_verdict_json(v, SBX_ENCODING_UTF8, &len);
    assert_non_null(native);

    if (len != out.body.len || memcmp(native, out.body.data, len) != 0) {
        fail_msg("native %s\npolicy %.*s", native, (int) out.body.len,
                 out.body.data);
    }

    free(native);
    sbx_policy_response_clear(&out);
    sbx_policy_close(policy);
}


static void
test_verdict_is_native(void **state)
{
    int i;
    sbx_verdict_t v = make_verdict();

    (void) state;

    check_same_as_native(&v);

    sbx_verdict_init(&v);
    check_same_as_native(&v);
    v.status = SBX_INTERNAL_ERROR;
    v.step = SBX_STEP_SECCOMP;
    check_same_as_native(&v);

    v = make_verdict();
    v.output = SBX_STR("a\xff\xe2\x82" "b\x01\x7f");
    v.output_truncated = 1;
    v.status = SBX_MEMORY_EXCEEDED;
    v.reason = SBX_REASON_HOOK;
    v.exit_code = -1;
    strcpy(v.error, "memory limit");
    v.queue_us = 1;
    v.wall_us = 1234567891;
    v.nrefused = 2;
    strcpy(v.refused[0], "socket");
    strcpy(v.refused[1], "shmget");

    for (i = SBX_VIOLATION_NONE; i < SBX_VIOLATION_COUNT; i++) {
        v.violation.type = (sbx_violation_type_t) i;
        check_same_as_native(&v);

        v.violation.address = 0x7fff12345678;
        v.violation.region_lo = 0x1000;
        v.violation.region_hi = 0x2000;
        v.violation.timestamp_ms = 1796000000123;
        v.violation.requested_bytes = 1000;
        v.violation.limit_bytes = 2000;
        v.violation.live_bytes = 1500;
        v.violation.source = SBX_SOURCE_HOOK;
        strcpy(v.violation.syscall, "reboot");
        v.violation.number = 169;
        check_same_as_native(&v);
    }

    v = make_verdict();

    for (i = 1; i < 65; i++) {
        v.status = SBX_SIGNALED;
        v.exit_code = -1;
        v.signal = i;
        check_same_as_native(&v);
    }

    for (i = 0; i < SBX_STATUS_COUNT; i++) {
        v.status = (sbx_status_t) i;
        check_same_as_native(&v);
    }
}


/* Bounds are for what the policy does: a long output widens them. */
static void
test_long_output(void **state)
{
    int rc;
    char err[512], *text;
    size_t len = 8 * MIB;
    sbx_policy_t *policy;
    sbx_verdict_t v = make_verdict();
    sbx_policy_response_t out;

    (void) state;

    text = malloc(len);
    assert_non_null(text);
    memset(text, 'x', len);
    v.output = (sbx_str_t) { text, len };
    v.errout = (sbx_str_t) { text, len };

    policy = must_open(RESPONSE("return { body = verdict }"));
    rc = sbx_policy_response(policy, &request, &v, &out, err, sizeof(err));

    if (rc != 1) {
        fail_msg("%s", err);
    }

    assert_true(out.body.len > 2 * len);
    sbx_policy_response_clear(&out);
    sbx_policy_close(policy);

    policy = must_open(RESPONSE("return { body = json(verdict.output) .. '\\n'"
                                " }"));
    rc = sbx_policy_response(policy, &request, &v, &out, err, sizeof(err));

    if (rc != 1) {
        fail_msg("%s", err);
    }

    assert_int_equal(out.body.len, len + 3);
    sbx_policy_response_clear(&out);
    sbx_policy_close(policy);
    free(text);
}


/*
 * Every size of the memory cap, from nothing to enough: each allocation fails
 * once.  It ends in an error or in the right answer, never in an abort.
 */
static void
test_every_allocation_fails(void **state)
{
    int opened = 0, answered = 0;
    char err[512];
    uint64_t bytes;
    sbx_job_t job;
    sbx_policy_t *policy;
    sbx_verdict_t v = make_verdict();
    sbx_policy_response_t out;
    static const char text[] =
        "local t = {}\n"
        "for i = 1, 20 do t[i] = ('x'):rep(i) end\n"
        "return {\n"
        "  limits = function(job)\n"
        "    local s = table.concat(t, ',') .. job.request.uri\n"
        "    for w in s:gmatch('%w+') do s = s:gsub(w, '%0%0', 1) end\n"
        "    return { timeout = 7 }\n"
        "  end,\n"
        "  response = function(req, verdict)\n"
        "    return { headers = { a = 'b', c = verdict.status },"
        " body = verdict }\n"
        "  end,\n"
        "}\n";

    (void) state;

    write_file(text, sizeof(text) - 1);

    for (bytes = 512; bytes < 96 * 1024; bytes += 64) {
        sbx_policy_bounds_t bounds = { 0, bytes, 1000 };

        policy = sbx_policy_open(path, NULL, &bounds, err, sizeof(err));
        if (policy == NULL) {
            continue;
        }

        opened++;

        if (call_limits(policy, &job, err, sizeof(err)) == 0) {
            assert_int_equal(job.limits[SBX_LIMIT_TIMEOUT], 7);
            answered++;
        }

        if (sbx_policy_response(policy, &request, &v, &out, err, sizeof(err))
            == 1)
        {
            assert_int_equal(out.nheaders, 2);
        }

        sbx_policy_response_clear(&out);
        sbx_policy_close(policy);
    }

    assert_true(opened > 0);
    assert_true(answered > 0 && answered < opened);
}


/* What files keep between calls is theirs, until it would fill the state. */
static void
test_growing_file(void **state)
{
    int i, failed = 0;
    char err[512];
    sbx_job_t job;
    sbx_policy_t *policy;

    (void) state;

    policy = must_open(
        "local kept, n = {}, 0\n"
        "return { limits = function()\n"
        "  n = n + 1\n"
        "  kept[n] = ('x'):rep(1000000) .. n\n"
        "  return { timeout = n } end }\n");

    for (i = 0; i < 100; i++) {
        failed += call_limits(policy, &job, err, sizeof(err)) != 0;
    }

    assert_int_equal(failed, 0);
    sbx_policy_close(policy);
}


/* The worker may wait for the CPU for long: that is not the policy's time. */
static void
test_deadline_is_cpu_time(void **state)
{
    int i;
    char err[512];
    pid_t pids[8];
    sbx_job_t job;
    sbx_policy_t *policy;
    sbx_policy_bounds_t bounds = { 5000000, 0, 60 };

    (void) state;

    write_file(LIMITS("for i = 1, 100000 do local x = i * 2 end"),
               strlen(LIMITS("for i = 1, 100000 do local x = i * 2 end")));
    policy = sbx_policy_open(path, NULL, &bounds, err, sizeof(err));
    assert_non_null(policy);

    for (i = 0; i < 8; i++) {
        pids[i] = fork();

        if (pids[i] == 0) {
            alarm(1);
            for ( ;; ) { }
        }
    }

    for (i = 0; i < 40; i++) {
        if (call_limits(policy, &job, err, sizeof(err)) != 0) {
            fail_msg("%s", err);
        }
    }

    for (i = 0; i < 8; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }

    sbx_policy_close(policy);
}


static double
now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec / 1e3;
}


/* No verdict: times depend on the machine.  Printed when asked for. */
static void
test_speed(void **state)
{
    int i, n = 20000;
    char err[512];
    double start;
    sbx_job_t job;
    sbx_policy_t *policy;
    sbx_verdict_t v = make_verdict();
    sbx_policy_response_t out;

    (void) state;

    policy = must_open(
        "local budget = { ['/bi/run'] = 256 << 20 }\n"
        "return { limits = function(job, runtime)\n"
        "  local most = budget[job.request.uri] or 64 << 20\n"
        "  if job.limits.memory > most then return { memory = most } end\n"
        "end, response = function(req, verdict)\n"
        "  if verdict.status == 'memory_exceeded' then\n"
        "    return { body = { error = 'less' } } end end }\n");

    start = now_us();

    for (i = 0; i < n; i++) {
        assert_int_equal(call_limits(policy, &job, err, sizeof(err)), 0);
    }

    start = (now_us() - start) / n;

    if (getenv("SBX_TEST_VERBOSE") != NULL) {
        printf("limits()   %.2f us a call\n", start);
    }

    start = now_us();

    for (i = 0; i < n; i++) {
        assert_int_equal(sbx_policy_response(policy, &request, &v, &out, err,
                                             sizeof(err)), 0);
    }

    start = (now_us() - start) / n;

    if (getenv("SBX_TEST_VERBOSE") != NULL) {
        printf("response() %.2f us a call\n", start);
    }

    sbx_policy_close(policy);
}


static const sbx_policy_ceiling_t ceilings[] = {
    { SBX_STR("python"), { 512 * MIB, 10000 } },
    { SBX_STR("node"), { 64 * MIB, 5000 } },
};


/* What request(req) wants, as text. */
static void
format_wish(const sbx_policy_wish_t *wish, char *out, size_t size)
{
    size_t i;
    int n;
    const sbx_job_t *job = &wish->native.job;

    switch (wish->action) {

    case SBX_POLICY_NATIVE:
        snprintf(out, size, "native");
        return;

    case SBX_POLICY_PASS:
        snprintf(out, size, "pass %.*s", (int) wish->pass.len,
                 wish->pass.data);
        return;

    case SBX_POLICY_ANSWER:
        snprintf(out, size, "%d %.*s", wish->answer.status,
                 (int) wish->answer.body.len,
                 wish->answer.body.len ? wish->answer.body.data : "");
        return;

    case SBX_POLICY_JOB:
        break;
    }

    if (wish->invalid[0] != '\0') {
        snprintf(out, size, "invalid %s", wish->invalid);
        return;
    }

    n = snprintf(out, size, "%.*s|%.*s|%.*s", (int) job->language.len,
                 job->language.data ? job->language.data : "",
                 (int) job->name.len, job->name.data ? job->name.data : "",
                 (int) job->code.len, job->code.data ? job->code.data : "");

    for (i = 0; i < job->nargs; i++) {
        n += snprintf(out + n, size - (size_t) n, " arg:%.*s",
                      (int) job->args[i].len, job->args[i].data);
    }

    for (i = 0; i < job->nenv; i++) {
        n += snprintf(out + n, size - (size_t) n, " env:%.*s",
                      (int) job->env[i].len, job->env[i].data);
    }

    for (i = 0; i < job->nfiles; i++) {
        n += snprintf(out + n, size - (size_t) n, " file:%.*s=%.*s",
                      (int) job->files[i].path.len, job->files[i].path.data,
                      (int) job->files[i].data.len, job->files[i].data.data);
    }

    for (i = 0; i < job->ncases; i++) {
        n += snprintf(out + n, size - (size_t) n, " case:%.*s>%.*s",
                      (int) job->cases[i].input.len, job->cases[i].input.data,
                      (int) job->cases[i].expected.len,
                      job->cases[i].expected.data ? job->cases[i].expected.data
                                                  : "");
    }

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        if (wish->native.asked & (1u << i)) {
            n += snprintf(out + n, size - (size_t) n, " %s:%llu",
                          sbx_limits[i].name,
                          (unsigned long long) wish->native.wanted[i]);
        }
    }

    snprintf(out + n, size - (size_t) n, " compare:%u%s", job->compare,
             job->flags & SBX_JOB_STOP ? " stop" : "");
}


static void
test_request(void **state)
{
    int rc;
    unsigned i;
    char err[512], got[1024], text[2048];
    sbx_policy_t *policy;
    sbx_policy_wish_t wish;
    sbx_policy_request_t req = request;
    static const char *const rows[][2] = {
        { "return nil", "native" },
        { "return { pass = '@old' }", "pass @old" },
        { "return { pass = '/a?b=c' }", "pass /a?b=c" },
        { "return { status = 503, body = { a = req.method } }",
          "503 {\"a\":\"POST\"}" },
        { "return { language = 'py', code = req.body }",
          "python||a\nb case:> compare:0" },
        { "return { code = 'c', name = 'n', stdin = 'i', args = { 'x', 'y' },"
          " env = { B = '2', A = '1' },"
          " files = { { path = 'd/f', content = 'F' } } }",
          "|n|c arg:x arg:y env:A=1 env:B=2 file:d/f=F case:i> compare:0" },
        { "return { code = '', limits = { memory = '64m', timeout = 1500.9,"
          " processes = 1e300, output = '1000g', disk = '4k' } }",
          "|| case:> memory:67108864 timeout:1500 output:67108864"
          " disk:" },
        { "return { cases = { { stdin = '1', expected = '2' }, {} },"
          " compare = 'tokens', stop_at_failure = true }",
          "|| case:1>2 case:> compare:1 stop" },
        { "local n = 0 for k, v in pairs(req.ceilings) do n = n + v.memory end"
          " assert(req.ceilings.node.timeout == 5000)"
          " assert(req.ceilings.ruby == nil)"
          " return { pass = '/' .. n }", "pass /603979776" },
        { "local a, b = req.headers, req.headers assert(a == b)"
          " a['x-profile'] = nil assert(req.uri == '/bi/run')"
          " assert(req.nothing == nil and req.keep == nil)"
          " return { pass = '/' .. req.args }", "pass /a=1&b=2" },

        { "return { code = 'x', name = '../x' }", "invalid name: " },
        { "return { files = { { path = '/x', content = '' } } }",
          "invalid files[0].path: is absolute" },
        { "return { env = { LD_PRELOAD = 'x' } }", "invalid env: steers" },
        { "return { env = { ['A=B'] = 'x' } }", "invalid env: a name holds" },
        { "return { args = { 'a\\0b' } }", "invalid args[0]: holds a NUL" },
        { "local t = {} for i = 1, 300 do t[i] = '' end return { args = t }",
          "invalid args: more than 256" },
        { "local t = {} for i = 1, 1025 do t[i] = {} end"
          " return { cases = t }", "invalid cases: more than 1024" },
        { "return { cases = {} }", "invalid cases: is empty" },
        { "return { compare = 'fuzzy' }", "invalid compare: must be" },
        { "return { limits = { memory = 'lots' } }",
          "invalid limits.memory: \"lots\" is not understood" },
        { "return { limits = { memory = -1 } }", "invalid limits.memory: " },
        { "return { limits = { timeout = 0 } }", "invalid limits.timeout: " },
        { "return { limits = { timeout = 0/0 } }", "invalid limits.timeout: " },

        { "return 1", "FILE:1: request() must return nil or a table, not a" },
        { "return { kode = 1 }",
          "FILE:1: request() returned an unknown field \"kode\"" },
        { "return { code = 1 }",
          "FILE:1: request(): code must be a string, not a number" },
        { "return { args = { 1 } }", "FILE:1: request(): args[] must be a s" },
        { "return { args = { x = '1' } }", "FILE:1: request(): args must be a "
          "list" },
        { "return { env = { 'x' } }", "FILE:1: request(): env must have " },
        { "return { files = { {} } }", "FILE:1: request(): files[] needs " },
        { "return { files = { { data = 1 } } }",
          "FILE:1: request(): files[] has an unknown field \"data\"" },
        { "return { limits = { memroy = 1 } }",
          "FILE:1: request(): unknown limit \"memroy\"" },
        { "return { limits = { memory = true } }",
          "FILE:1: request(): memory must be a number, not a boolean" },
        { "return { stdin = '', cases = { {} } }",
          "FILE:1: request(): stdin, cases and cases_from contradict each "
          "other" },
        { "return { cases = { { input = '' } } }",
          "FILE:1: request(): cases[] has an unknown field \"input\"" },
        { "return { stop_at_failure = 1 }",
          "FILE:1: request(): stop_at_failure must be a boolean" },
        { "return { pass = 'x' }", "FILE:1: request(): pass must be " },
        { "return { pass = '@' }", "FILE:1: request(): pass must be " },
        { "return { pass = '/a b' }", "FILE:1: request(): pass must be " },
        { "return { pass = '/\\r\\n' }", "FILE:1: request(): pass must be " },
        { "return { pass = '@a', code = 'x' }",
          "FILE:1: request(): pass stands alone" },
        { "return { code = 'x', pass = '@a' }",
          "FILE:1: request(): pass stands alone" },
        { "return { status = 200, code = 'x' }",
          "FILE:1: request() returned an unknown field \"code\"" },
        { "return { body = 'x' }",
          "FILE:1: request() returned \"body\" without \"status\": " },
        { "return { status = 42 }", "FILE:1: request(): status must be a " },
        { "return { keep = type }", "FILE:1: request(): keep cannot hold a f" },
        { "local t = {} t.t = t return { keep = t }",
          "FILE:1: request(): tables in keep are nested deeper than 16" },
        { "req.ceilings.python.memory = 1", "FILE:2: this table is read-only" },
        { "req.ceilings.x = 1", "FILE:2: this table is read-only" },
        { "config.a = 1", "FILE:2: this table is read-only" },
        { "json(config)", "FILE:2: JSON cannot hold a read-only table" },
        { "return { keep = req.ceilings }", "FILE:1: request(): a table in "
          "keep is a read-only table; copy what is needed of it" },
        { "return { keep = { c = config } }", "FILE:1: request(): a table in "
          "keep is a read-only table; copy what is needed of it" },
        { "return { keep = req }", "FILE:1: request(): keep cannot hold the "
          "request, or a table with a metatable; copy what is needed of it" },
        { "return { keep = setmetatable({}, {}) }", "FILE:1: request(): keep "
          "cannot hold the request, or a table with a metatable; copy " },
        { "return { limits = req.ceilings.python }", "FILE:1: request(): "
          "limits is a read-only table; copy what is needed of it" },
        { "return { env = config }", "FILE:1: request(): env is a read-only "
          "table; copy what is needed of it" },
        { "return config", "FILE:1: request(): the result is a read-only "
          "table; copy what is needed of it" },
        { "return { status = 200, headers = config }", "FILE:1: request(): "
          "headers is a read-only table; copy what is needed of it" },
    };

    (void) state;

    req.body = SBX_STR("a\nb");
    req.ceilings = ceilings;
    req.nceilings = 2;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "return { request = function(req)\n%s\n"
                 "end }\n", rows[i][0]);
        policy = must_open(text);
        rc = sbx_policy_request(policy, &req, &wish, err, sizeof(err));

        if (rc != 0) {
            check_error(err, rows[i][1]);

        } else {
            format_wish(&wish, got, sizeof(got));

            if (strncmp(got, rows[i][1], strlen(rows[i][1])) != 0) {
                fail_msg("wanted: %s\ngot:    %s", rows[i][1], got);
            }
        }

        sbx_policy_wish_clear(&wish);
        sbx_policy_close(policy);
    }
}


/* A clock that is today's, and ids that differ, also after a fork. */
static void
test_clock(void **state)
{
    char err[512];
    sbx_policy_t *policy;

    (void) state;

    policy = open_text(
        "local a = now()\n"
        "assert(math.type(a) == 'integer' and a > 1700000000000)\n"
        "assert(now() >= a)\n"
        "assert(timestamp(0) == '1970-01-01T00:00:00.000Z')\n"
        "assert(timestamp(1764475200123) == '2025-11-30T04:00:00.123Z')\n"
        "assert(timestamp() >= timestamp(a))\n"
        "assert(timestamp(-1) == nil and timestamp(1 << 62) == nil)\n"
        "local seen = {}\n"
        "for i = 1, 100 do\n"
        "  local id = uuid()\n"
        "  assert(#id == 36 and not seen[id])\n"
        "  assert(id:find('^%x+%-%x+%-4%x+%-[89ab]%x+%-%x+$'))\n"
        "  seen[id] = true\n"
        "end\n"
        "return {}\n", err, sizeof(err));

    if (policy == NULL) {
        fail_msg("%s", err);
    }

    sbx_policy_close(policy);
}


/* What is kept outlives the state, which another call may spend. */
static void
test_keep(void **state)
{
    char err[512];
    sbx_verdict_t v;
    sbx_policy_t *policy;
    sbx_policy_wish_t wish;
    sbx_policy_response_t out;
    sbx_policy_request_t req = request;
    static const char kept[] =
        "{\"e\":[],\"f\":false,\"i\":3,\"l\":[1,2,{\"x\":\"y\"}],\"n\":1.5,"
        "\"s\":\"a\\u0000b\",\"t\":true,\"z\":null}";

    (void) state;

    policy = must_open(
        "return {\n"
        "  request = function(req)\n"
        "    if req.body == 'loop' then while true do end end\n"
        "    return { code = 'x', keep = { s = 'a\\0b', n = 1.5, i = 3,"
        " t = true, f = false, z = null, l = { 1, 2, { x = 'y' } },"
        " e = json.decode('[]') } }\n"
        "  end,\n"
        "  response = function(req, verdict)\n"
        "    assert(req.keep.z == null and req.keep == req.keep)\n"
        "    return { body = req.keep }\n"
        "  end,\n"
        "}\n");

    assert_int_equal(sbx_policy_request(policy, &req, &wish, err, sizeof(err)),
                     0);
    assert_true(wish.keep.len > 0);
    req.keep = wish.keep;

    {
        sbx_policy_wish_t other;
        sbx_policy_request_t loop = request;

        loop.body = SBX_STR("loop");
        assert_int_equal(sbx_policy_request(policy, &loop, &other, err,
                                            sizeof(err)), -1);
        sbx_policy_wish_clear(&other);
    }

    sbx_verdict_init(&v);
    assert_int_equal(sbx_policy_response(policy, &req, &v, &out, err,
                                         sizeof(err)), 1);
    assert_int_equal(out.body.len, sizeof(kept) - 1);
    assert_memory_equal(out.body.data, kept, sizeof(kept) - 1);

    sbx_policy_response_clear(&out);
    sbx_policy_wish_clear(&wish);
    sbx_policy_close(policy);
}


/* Each row has to be true. */
static void
test_library(void **state)
{
    unsigned i;
    char err[512], text[2048];
    sbx_policy_t *policy;
    static const sbx_pair_t pairs[] = {
        { SBX_STR("token"), SBX_STR("a b") }, { SBX_STR("max"), SBX_STR("") },
    };
    static const sbx_policy_config_t config = { pairs, 2 };
    static const char *const rows[] = {
        "config.token == 'a b' and config.max == '' and config.x == nil",
        "(function() local n = 0 for k, v in pairs(config) do n = n + #v end"
        " return n end)() == 3",
        "base64.encode('') == '' and base64.decode('') == ''",
        "base64.encode('a\\0b') == 'YQBi' and base64.decode('YQBi') == 'a\\0b'",
        "base64.encode(('x'):rep(5000)) ~= nil",
        "base64.encode('', 60) == '' and base64.encode('a', 0) == 'YQ=='",
        "base64.encode('abcdef', 4) == 'YWJj\\nZGVm\\n'",
        "base64.encode('abcd', 60) == 'YWJjZA==\\n'",
        "base64.encode('abcd', 1) == 'Y\\nW\\nJ\\nj\\nZ\\nA\\n=\\n=\\n'",
        "base64.encode(('x'):rep(4500), 60) == (('eHh4'):rep(15) .. '\\n')"
        ":rep(100)",
        "not pcall(base64.encode, 'a', -1) and not pcall(base64.encode, 'a',"
        " 1025)",
        "base64.decode(base64.encode(('xyz'):rep(5000))) == ('xyz'):rep(5000)",
        "select(2, base64.decode('YQ=')) == 'not valid base64'",
        "base64.decode('YQ==\\n') == nil and base64.decode('YQ!=') == nil",
        "hex.encode('\\0\\xffA') == '00ff41' and hex.decode('00Ff41') == "
        "'\\0\\xffA'",
        "hex.decode('0') == nil and hex.decode('0g') == nil",
        "sha256('abc') == 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410"
        "ff61f20015ad'",
        "md5('') == 'd41d8cd98f00b204e9800998ecf8427e'",
        "size('64m') == 64 << 20 and size('1') == 1 and size('0') == 0",
        "size('') == nil and size('m') == nil and size('1.5g') == nil",
        "size('99999999999g') == nil",
        "time('1500ms') == 1500 and time('1m30s') == 90000 and time('5') == 5",
        "time('soon') == nil and time('1s1m') == nil",
        "equal('a', 'a') and not equal('a', 'b') and not equal('a', 'aa')",
        "equal('', '') and not equal('', 'a')",
        "not pcall(equal, nil, 'a') and not pcall(sha256)",
        "query('').a == nil and query('a').a == '' and query('a=').a == ''",
        "query('a=1&b=x%20y+z&a=2&&c=%4').b == 'x y z'",
        "query('a=1&a=2').a == '2' and query('c=%4').c == '%4'",
        "query('%61=%zz%').a == '%zz%'",
        "query(('a&'):rep(1025)) == nil",
        "json({ 1 }) == '[1]' and json.encode({ a = 1 }) == '{\"a\":1}'",
        "json(json.list {}) == '[]' and json({}) == '{}'",
        "json(json.decode('{\"a\":[],\"b\":{}}')) == "
        "'{\"a\":[],\"b\":{}}'",
        "json.decode('null') == null and json.decode(' 1 ') == 1",
        "math.type(json.decode('1')) == 'integer' and "
        "math.type(json.decode('1.0')) == 'float'",
        "json.decode('-0.5e+2') == -50.0 and json.decode('1e400') == math.huge",
        "json.decode('12345678901234567890') == 12345678901234567890.0",
        "json.decode('[1,2,[3]]')[3][1] == 3",
        "json.decode('\"\\\\u00e4\\\\ud83d\\\\ude00\\\\n\\\\\"\"') =="
        " '\\u{e4}\\u{1f600}\\n\"'",
        "#json.list(json.decode('[1]')) == 1",
        "#json.decode('{\"a\":true,\"b\":false}') == 0",
        "select(2, json.decode('{\"a\":1,\"a\":2}')) == "
        "'duplicate key at byte 7'",
        "select(2, json.decode('')) == 'the text ends too early at byte 0'",
        "select(2, json.decode('[1] x')) == 'trailing bytes at byte 4'",
        "select(2, json.decode(('['):rep(99))) == "
        "'nested too deeply at byte 32'",
        "json.decode('[1,]') == nil and json.decode('[,1]') == nil",
        "json.decode('{\"a\"}') == nil and json.decode('{a:1}') == nil",
        "json.decode('01') == nil and json.decode('1.') == nil",
        "json.decode('-') == nil and json.decode('0x10') == nil",
        "json.decode('\"a') == nil and json.decode('\"\\n\"') == nil",
        "json.decode('\"\\\\ud800\"') == nil and json.decode('\"\\xff\"')"
        " == nil",
        "json.decode('nul') == nil and json.decode('truex') == nil",
        "not pcall(json.decode, {}) and not pcall(json.list, json)",
        "not pcall(function() json.decode = 1 end)",
    };

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "assert(%s)\nreturn {}\n", rows[i]);
        write_file(text, strlen(text));
        policy = sbx_policy_open(path, &config, &slow, err, sizeof(err));

        if (policy == NULL) {
            fail_msg("%s: %s", err, rows[i]);
        }

        sbx_policy_close(policy);
    }
}


int
main(void)
{
    int rc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_errors),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_what_is_there),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_fresh_environment),
        cmocka_unit_test(test_response),
        cmocka_unit_test(test_verdict_is_native),
        cmocka_unit_test(test_long_output),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_growing_file),
        cmocka_unit_test(test_deadline_is_cpu_time),
        cmocka_unit_test(test_speed),
    };

    snprintf(path, sizeof(path), "/tmp/sbx-policy-%d.lua", (int) getpid());
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);

    return rc;
}
