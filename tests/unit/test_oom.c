/*
 * test_oom.c: allocations fail: the nth alone, or all from the nth on, for n =
 * 0, 1, 2 … until none does.
 *
 * Whatever n is, the outcome is a clean refusal or the complete result: never a
 * crash, a leak, half a job, or an answer with a hole.  The program's own malloc
 * takes the place of the C library's; sanitizers do the same, so under them
 * there is nothing to run here.
 */

#include <errno.h>

#include "unit.h"

#include "sbx_json.h"
#include "sbx_wire.h"
#include "sbx_zygote.h"


#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED  1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED  1
#endif
#endif


#ifndef SANITIZED

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static long allocations_left = -1;      /* -1: never fail */
static int once;                        /* only that one fails */
static long blocks;


static int
fails(void)
{
    if (allocations_left < 0) {
        return 0;
    }

    if (allocations_left > 0) {
        allocations_left--;
        return 0;
    }

    if (once) {
        allocations_left = -1;
    }

    errno = ENOMEM;

    return 1;
}


void *
malloc(size_t size)
{
    if (fails()) {
        return NULL;
    }

    blocks++;

    return __libc_malloc(size);
}


void *
calloc(size_t n, size_t size)
{
    if (fails()) {
        return NULL;
    }

    blocks++;

    return __libc_calloc(n, size);
}


void *
realloc(void *p, size_t size)
{
    if (fails()) {
        return NULL;
    }

    blocks += p == NULL;

    return __libc_realloc(p, size);
}


void
free(void *p)
{
    blocks -= p != NULL;
    __libc_free(p);
}


typedef int (*task_pt)(void);       /* 1: complete, 0: refused */


static void
run_one(const char *name, task_pt task)
{
    int complete, reached;
    long n, before;

    for (n = 0; n < 10000; n++) {
        before = blocks;
        allocations_left = n;
        complete = task();
        reached = once ? allocations_left < 0 : allocations_left == 0;
        allocations_left = -1;

        if (complete < 0) {
            fail_msg("%s: wrong result at allocation %ld", name, n);
        }

        if (blocks != before) {
            fail_msg("%s: %ld blocks leaked at allocation %ld", name,
                     blocks - before, n);
        }

        if (complete && !reached) {
            print_message("%s: %ld allocations\n", name, n);
            return;
        }
    }

    fail_msg("%s never completes", name);
}


/* All allocations from the nth on fail, or the nth alone. */
static void
run_task(const char *name, task_pt task)
{
    for (once = 0; once < 2; once++) {
        run_one(name, task);
    }
}


static const char request[] =
    "{\"language\":\"python\",\"code\":\"print('a longer program, so that the "
    "buffer of the tokener has to grow in the middle of it \\u20ac')\","
    "\"stdin\":{\"base64\":\"QUJD\"},\"args\":[\"a\",\"b\",\"c\",\"d\",\"e\"],"
    "\"env\":{\"A\":\"1\",\"B\":\"2\"},\"files\":[{\"path\":\"x/y\","
    "\"content\":\"some text that is longer than any buffer that is put into "
    "an object\"},{\"path\":\"z\",\"base64\":\"QUJD\"}],"
    "\"limits\":{\"memory\":\"64m\",\"timeout\":1500}}";


static int
request_is_whole(const sbx_request_t *req)
{
    const sbx_job_t *job = &req->job;

    return job->code.len == 96 && job->ncases == 1
           && job->cases[0].input.len == 3 && job->nargs == 5
           && job->nenv == 2 && job->nfiles == 2
           && job->files[0].data.len == 67
           && req->wanted[SBX_LIMIT_MEMORY] == 64 << 20
           && req->wanted[SBX_LIMIT_TIMEOUT] == 1500;
}


static int
parse_request(void)
{
    int rc, result;
    char why[256];
    sbx_request_t req;

    rc = sbx_request_parse(&req, request, sizeof(request) - 1, SBX_STR(""),
                           why, sizeof(why));

    if (rc == 0) {
        result = request_is_whole(&req) ? 1 : -1;

    } else {
        result = errno == ENOMEM && strstr(why, "no memory") != NULL ? 0 : -1;
    }

    sbx_request_clear(&req);

    return result;
}


/* More keys than the scan keeps on its stack. */
static int
check_many_keys(void)
{
    size_t len;
    unsigned i;
    const char *wrong;
    char why[256];
    static char text[4096];

    len = sprintf(text, "{");

    for (i = 0; i < 200; i++) {
        len += sprintf(text + len, "%s\"k%u\":1", i == 0 ? "" : ",", i);
    }

    len += sprintf(text + len, "}");

    wrong = sbx_json_check(text, len, why, sizeof(why));

    if (wrong == NULL) {
        return 1;
    }

    return strstr(wrong, "no memory") != NULL ? 0 : -1;
}


static int
print_verdict(void)
{
    size_t len;
    char *json;
    sbx_verdict_t v;
    static char output[20000];

    memset(output, 1, sizeof(output));
    sbx_verdict_init(&v);
    v.output = (sbx_str_t) { output, sizeof(output) };

    json = sbx_verdict_json(&v, SBX_ENCODING_UTF8, &len);

    if (json == NULL) {
        return 0;
    }

    free(json);

    return len > 6 * sizeof(output) ? 1 : -1;
}


static void
fill_job(sbx_job_t *job)
{
    unsigned i;

    sbx_job_init(job);
    job->language = SBX_STR("python");
    job->name = SBX_STR("main.py");

    for (i = 0; i < 20; i++) {
        sbx_job_add_arg(job, SBX_STR("a"));
        sbx_job_add_env(job, SBX_STR("A=b"));
        sbx_job_add_case(job, i, SBX_STR("input"));
    }

    sbx_job_add_file(job, SBX_STR("f"), SBX_STR("data"));
}


static int
job_is_whole(const sbx_job_t *job, size_t ncases)
{
    return job->nargs == 20 && job->nenv == 20 && job->nfiles == 1
           && job->ncases == ncases;
}


static int
print_job(void)
{
    int result;
    size_t len;
    char *json;
    sbx_job_t job;

    fill_job(&job);
    result = 0;

    if (job_is_whole(&job, 20)) {
        json = sbx_job_json(&job, 0, NULL, &len);
        result = json != NULL;
        free(json);
    }

    sbx_job_clear(&job);

    return result;
}


static char payload[65536];
static size_t payload_len;


static int
unpack_job(void)
{
    int result;
    sbx_err_t err;
    sbx_job_t job;

    if (sbx_job_unpack(&job, payload, payload_len, &err) != 0) {
        return err.errnum == ENOMEM ? 0 : -1;
    }

    result = job_is_whole(&job, 20) ? 1 : -1;
    sbx_job_clear(&job);

    return result;
}


static int
unpack_run(void)
{
    int result;
    size_t ncmd;
    sbx_err_t err;
    sbx_job_t job;
    sbx_str_t *cmd;

    if (sbx_run_unpack(&job, &cmd, &ncmd, payload, payload_len, &err) != 0) {
        return err.errnum == ENOMEM ? 0 : -1;
    }

    result = job_is_whole(&job, 0) && ncmd == 1 ? 1 : -1;
    sbx_job_clear(&job);
    free(cmd);

    return result;
}


static void
test_json(void **state)
{
    (void) state;

    run_task("request", parse_request);
    run_task("keys", check_many_keys);
    run_task("verdict", print_verdict);
    run_task("job", print_job);
}


static void
test_wire(void **state)
{
    sbx_job_t job;
    char *cmd[] = { "/bin/true", NULL };

    (void) state;

    fill_job(&job);

    payload_len = sbx_job_size(&job);
    assert_true(payload_len <= sizeof(payload));
    sbx_job_pack(&job, payload);
    run_task("unpack job", unpack_job);

    payload_len = sbx_run_size(&job, cmd);
    sbx_run_pack(&job, cmd, payload);
    run_task("unpack run", unpack_run);

    sbx_job_clear(&job);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_wire)
    };

    return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}

#else

int
main(void)
{
    puts("oom: not under a sanitizer, which has its own malloc");

    return 0;
}

#endif
