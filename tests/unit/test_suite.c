/*
 * test_suite.c: suites on a disk: which cases they have, and whose fault it is
 * that there are none.
 */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_suite.h"

static char root[] = "/tmp/test_suite.XXXXXX";


/* In the root: `name` with `text`, or without one a directory. */
static void
put(const char *name, const char *text)
{
    int fd, top = open(root, O_PATH | O_DIRECTORY);

    if (text == NULL) {
        assert_int_equal(mkdirat(top, name, 0755), 0);

    } else {
        fd = openat(top, name, O_WRONLY | O_CREAT, 0644);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
    }

    close(top);
}


/* How many cases, or -1; errnum, text: of the failure. */
static int
load(const char *below, const char *name, sbx_err_t *err)
{
    int n;
    sbx_job_t job;
    sbx_suite_t suite;

    sbx_job_init(&job);
    n = sbx_suite_load(&suite, &job, below, str(name), err) < 0
        ? -1 : (int) job.ncases;
    sbx_suite_clear(&suite);
    sbx_job_clear(&job);

    return n;
}


static void
test_every_input_is_a_case(void **state)
{
    int i;
    char name[32];
    sbx_err_t err;

    (void) state;
    put("many", NULL);

    for (i = 0; i < SBX_CASES_MAX; i++) {
        snprintf(name, sizeof(name), "many/%d.in", i);
        put(name, "");
    }

    assert_int_equal(load(root, "many", &err), SBX_CASES_MAX);

    put("many/one_more.in", "");
    assert_int_equal(load(root, "many", &err), -1);
    assert_int_equal(err.errnum, 0);
    assert_string_equal(err.text, "more than 1024 cases");
}


/* ENOENT is what a client is told to have asked for wrongly. */
static void
test_whose_fault(void **state)
{
    sbx_err_t err;

    (void) state;
    put("file", "");
    put("half", NULL);
    put("half/info", "{\"test_cases\": {\"1\": {\"input_name\": \"1.in\"}}}");

    assert_int_equal(load(root, "nothing", &err), -1);
    assert_int_equal(err.errnum, ENOENT);

    assert_int_equal(load(root, "file", &err), -1);
    assert_int_equal(err.errnum, ENOENT);

    assert_int_equal(load("/nonexistent", "half", &err), -1);
    assert_int_equal(err.errnum, 0);
}


/* What is not there is found out when the case is to run. */
static void
test_reading(void **state)
{
    size_t i;
    sbx_err_t err;
    sbx_job_t job;
    sbx_suite_t suite;
    static const int there[] = { -1, -1, 0, 0 };

    (void) state;
    put("read", NULL);
    put("read/a", "in");
    put("read/b", "out");
    put("read/info", "{\"test_cases\": {"
        "\"1\": {\"input_name\": \"none\"},"
        "\"2\": {\"input_name\": \"a\", \"output_name\": \"none\"},"
        "\"3\": {\"input_name\": \"a\", \"output_name\": \"none\","
        " \"stripped_output_md5\": \"00\"},"
        "\"4\": {\"input_name\": \"a\", \"output_name\": \"b\"}}}");

    sbx_job_init(&job);
    assert_int_equal(sbx_suite_load(&suite, &job, root, str("read"), &err), 0);
    assert_int_equal(job.ncases, COUNT(there));

    for (i = 0; i < COUNT(there); i++) {
        assert_int_equal(sbx_suite_read(&suite, &job, i, &err), there[i]);
    }

    assert_string_equal(suite.cases[2].digest, "00");
    assert_null(job.cases[2].expected.data);
    assert_int_equal(job.cases[3].input.len, 2);
    assert_memory_equal(job.cases[3].expected.data, "out", 3);

    sbx_suite_drop(&suite, &job, 3);
    assert_null(job.cases[3].input.data);
    sbx_suite_clear(&suite);
    sbx_job_clear(&job);
}


static int
make_root(void **state)
{
    (void) state;

    return mkdtemp(root) == NULL;
}


static int
remove_root(void **state)
{
    char command[64];

    (void) state;
    snprintf(command, sizeof(command), "rm -r %s", root);

    return system(command);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_input_is_a_case),
        cmocka_unit_test(test_whose_fault),
        cmocka_unit_test(test_reading)
    };

    return cmocka_run_group_tests(tests, make_root, remove_root);
}
