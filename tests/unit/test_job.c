/*
 * test_job.c: bounds of a job, and what its names may look like.
 */

#include <errno.h>

#include "unit.h"

#include "sbx_job.h"


#define A16   "aaaaaaaaaaaaaaaa"
#define A256  A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16


typedef struct {
    sbx_str_t text;
    int accepted;
} check_row_t;

static const check_row_t paths[] = {
    { SBX_STR("a"), 1 },
    { SBX_STR("a/b.txt"), 1 },
    { SBX_STR(".hidden"), 1 },
    { SBX_STR("..."), 1 },
    { SBX_STR("a/..b"), 1 },
    { SBX_STR("-"), 1 },
    { SBX_STR("with space/\xc3\xa9"), 1 },
    { SBX_STR(""), 0 },
    { SBX_STR("/"), 0 },
    { SBX_STR("/etc/passwd"), 0 },
    { SBX_STR(".."), 0 },
    { SBX_STR("."), 0 },
    { SBX_STR("../a"), 0 },
    { SBX_STR("a/../b"), 0 },
    { SBX_STR("a/.."), 0 },
    { SBX_STR("a/./b"), 0 },
    { SBX_STR("a//b"), 0 },
    { SBX_STR("a/"), 0 },
    { SBX_STR("a\0b"), 0 },
    { SBX_STR(A256), 0 },
    { SBX_STR("x/" A256), 0 }
};

static const check_row_t names[] = {
    { SBX_STR("main.py"), 1 },
    { SBX_STR("a b.mjs"), 1 },
    { SBX_STR(""), 0 },
    { SBX_STR("."), 0 },
    { SBX_STR(".."), 0 },
    { SBX_STR("a/b.py"), 0 },
    { SBX_STR("/main.py"), 0 },
    { SBX_STR("-c"), 0 },
    { SBX_STR("a\0.py"), 0 },
    { SBX_STR(A256), 0 }
};

static const check_row_t envs[] = {
    { SBX_STR("A=b"), 1 },
    { SBX_STR("A="), 1 },
    { SBX_STR("A=b=c"), 1 },
    { SBX_STR("PYTHONHASHSEED=0"), 1 },
    { SBX_STR("LDX=1"), 1 },
    { SBX_STR("ld_preload=x"), 1 },
    { SBX_STR("A"), 0 },
    { SBX_STR(""), 0 },
    { SBX_STR("=a"), 0 },
    { SBX_STR("A=b\0c"), 0 },
    { SBX_STR("LD_PRELOAD=x"), 0 },
    { SBX_STR("LD_=x"), 0 },
    { SBX_STR("GLIBC_TUNABLES=x"), 0 },
    { SBX_STR("GLIBC_TUNABLESX=x"), 1 },
    { SBX_STR("NODE_OPTIONS=--x"), 0 },
    { SBX_STR("SBX_PAGE_FD=3"), 0 },
    { SBX_STR("MALLOC_ARENA_MAX=1"), 0 },
    { SBX_STR("PYTHONHOME=/"), 0 }
};


static void
check_rows(const check_row_t *rows, size_t n, const char *(*check)(sbx_str_t))
{
    size_t i;
    const char *why;

    for (i = 0; i < n; i++) {
        why = check(rows[i].text);

        if ((why == NULL) != rows[i].accepted) {
            fail_msg("\"%.*s\": %s", (int) rows[i].text.len,
                     rows[i].text.data, why == NULL ? "accepted" : why);
        }
    }
}


static void
test_checks(void **state)
{
    (void) state;

    check_rows(paths, COUNT(paths), sbx_path_check);
    check_rows(names, COUNT(names), sbx_name_check);
    check_rows(envs, COUNT(envs), sbx_env_check);

    assert_non_null(sbx_path_check((sbx_str_t) { NULL, 0 }));
    assert_non_null(sbx_name_check((sbx_str_t) { NULL, 0 }));
    assert_non_null(sbx_env_check((sbx_str_t) { NULL, 0 }));
}


static void
test_path_length(void **state)
{
    size_t i;
    sbx_str_t path;
    char text[SBX_PATH_MAX + 1];

    (void) state;

    for (i = 0; i < sizeof(text); i++) {
        text[i] = i % 100 == 99 ? '/' : 'a';
    }

    path = (sbx_str_t) { text, SBX_PATH_MAX };
    assert_null(sbx_path_check(path));

    path.len++;
    assert_non_null(sbx_path_check(path));
}


static void
test_bounds(void **state)
{
    size_t i;
    sbx_job_t job;
    sbx_str_t a = SBX_STR("a"), env = SBX_STR("A=b");

    (void) state;

    sbx_job_init(&job);

    for (i = 0; i < SBX_ARGS_MAX; i++) {
        assert_int_equal(sbx_job_add_arg(&job, a), 0);
        assert_int_equal(sbx_job_add_env(&job, env), 0);
        assert_int_equal(sbx_job_add_file(&job, a, a), 0);
    }

    for (i = 0; i < SBX_CASES_MAX; i++) {
        assert_int_equal(sbx_job_add_case(&job, i, a), 0);
    }

    errno = 0;
    assert_int_equal(sbx_job_add_arg(&job, a), -1);
    assert_int_equal(errno, E2BIG);
    assert_int_equal(sbx_job_add_env(&job, env), -1);
    assert_int_equal(sbx_job_add_file(&job, a, a), -1);
    assert_int_equal(sbx_job_add_case(&job, 0, a), -1);

    for (i = 0; i < SBX_CASES_MAX; i++) {
        assert_int_equal(job.cases[i].id, i);
    }

    sbx_job_clear(&job);
    assert_int_equal(job.ncases, 0);
    sbx_job_clear(&job);
}


static void
test_argenv_bytes(void **state)
{
    sbx_job_t job;
    sbx_str_t half;
    static char text[SBX_ARGENV_BYTES];

    (void) state;

    memset(text, 'a', sizeof(text));
    half = (sbx_str_t) { text, SBX_ARGENV_BYTES / 2 - 1 };

    sbx_job_init(&job);
    assert_int_equal(sbx_job_add_arg(&job, half), 0);
    assert_int_equal(sbx_job_add_env(&job, half), 0);

    errno = 0;
    assert_int_equal(sbx_job_add_arg(&job, SBX_STR("")), -1);
    assert_int_equal(errno, E2BIG);

    sbx_job_clear(&job);
}


static void
test_clash(void **state)
{
    size_t i, k;
    sbx_job_t job;
    static const struct {
        const char *files[4];
        int clash;
    } rows[] = {
        { { "a", "b", "c/d" }, -1 },
        { { "a", "ab", "a.b" }, -1 },
        { { "a", "b", "a" }, 2 },
        { { "main.py" }, 0 },
        { { "x", "main.py/x" }, 1 },
        { { "main.pyc", "main.p" }, -1 },
        { { "d/f", "d" }, 1 },
        { { "d", "d/f" }, 1 },
        { { "d/f", "d/g", "e/f" }, -1 }
    };

    (void) state;

    for (i = 0; i < COUNT(rows); i++) {
        sbx_job_init(&job);
        job.name = SBX_STR("main.py");

        for (k = 0; rows[i].files[k] != NULL; k++) {
            sbx_job_add_file(&job, str(rows[i].files[k]), SBX_STR(""));
        }

        assert_int_equal(sbx_job_clash(&job), rows[i].clash);
        sbx_job_clear(&job);
    }
}


static void
test_languages(void **state)
{
    (void) state;

    assert_str(sbx_language_canonical(SBX_STR("py")), "python");
    assert_str(sbx_language_canonical(SBX_STR("python3")), "python");
    assert_str(sbx_language_canonical(SBX_STR("python")), "python");
    assert_str(sbx_language_canonical(SBX_STR("js")), "node");
    assert_str(sbx_language_canonical(SBX_STR("javascript")), "node");
    assert_str(sbx_language_canonical(SBX_STR("nodejs")), "node");
    assert_str(sbx_language_canonical(SBX_STR("ruby")), "ruby");
    assert_str(sbx_language_canonical(SBX_STR("")), "");

    assert_str(sbx_language_main(SBX_STR("python")), "main.py");
    assert_str(sbx_language_main(SBX_STR("node")), "main.js");
    assert_str(sbx_language_main(SBX_STR("ruby")), "main");
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_path_length),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_argenv_bytes),
        cmocka_unit_test(test_clash),
        cmocka_unit_test(test_languages)
    };

    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
