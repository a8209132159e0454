/*
 * test_log.c: a line of the log has nginx's form, and stays one line.
 */

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "sbx_log.h"


static char dir[] = "/tmp/sbx-test-log-XXXXXX";
static char path[64], other[64];


/* stderr goes to the log file while fn runs. */
static void
with_log(void (*fn)(void))
{
    int fd, saved;

    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);

    fn();

    dup2(saved, STDERR_FILENO);
    close(saved);
}


static void
assert_file(const char *file, const char *pattern)
{
    int fd;
    ssize_t n;
    regex_t re;
    char text[8192];

    fd = open(file, O_RDONLY);
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';

    assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);

    if (regexec(&re, text, 0, NULL, 0) != 0) {
        fail_msg("\"%s\" does not match %s", text, pattern);
    }

    regfree(&re);
}


#define DATE  "[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} "


static void
log_plain(void)
{
    sbx_err_t err;

    sbx_log_init(path, SBX_LOG_NOTICE);
    sbx_log(SBX_LOG_NOTICE, 0, "one %d", 1);
    sbx_log(SBX_LOG_INFO, 0, "not logged");
    sbx_log(SBX_LOG_ERR, EACCES, "two\nforged");

    sbx_fail(&err, SBX_STEP_CGROUP, ENOENT, "open x");
    sbx_log_err(SBX_LOG_WARN, &err, "slot 3");
}


static void
log_long(void)
{
    static char text[5000];

    memset(text, 'x', sizeof(text) - 1);
    sbx_log_init(path, SBX_LOG_DEBUG);
    sbx_log(SBX_LOG_DEBUG, EINVAL, "%s", text);
}


static void
log_rotated(void)
{
    int fd;

    sbx_log_init(path, SBX_LOG_NOTICE);

    assert_int_equal(rename(path, other), 0);
    sbx_log_reopen();
    sbx_log(SBX_LOG_NOTICE, 0, "before");

    /* The name is free until the master makes the new file. */

    assert_int_equal(access(path, F_OK), -1);

    fd = open(path, O_WRONLY | O_CREAT, 0600);
    close(fd);
    sbx_log_reopen();
    sbx_log(SBX_LOG_NOTICE, 0, "after");
    sbx_log_reopen();
    sbx_log(SBX_LOG_NOTICE, 0, "later");
}


static void
test_plain(void **state)
{
    (void) state;

    with_log(log_plain);
    assert_file(path,
        "^" DATE "\\[notice\\] [0-9]+#0: deer-flow: one 1\n"
        DATE "\\[error\\] [0-9]+#0: deer-flow: two\\?forged "
        "\\(13: Permission denied\\)\n"
        DATE "\\[warn\\] [0-9]+#0: deer-flow: slot 3: cgroup: open x "
        "\\(2: No such file or directory\\)\n$");
}


static void
test_long(void **state)
{
    struct stat st;

    (void) state;

    with_log(log_long);
    assert_file(path, "^" DATE "\\[debug\\] [0-9]+#0: deer-flow: x+\n$");
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= 2048);
}


static void
test_reopen(void **state)
{
    (void) state;

    with_log(log_rotated);
    assert_file(other, "^" DATE "\\[notice\\] [0-9]+#0: deer-flow: before\n$");
    assert_file(path, "^" DATE "\\[notice\\] [0-9]+#0: deer-flow: after\n"
                DATE "\\[notice\\] [0-9]+#0: deer-flow: later\n$");
}


static int
set_up(void **state)
{
    (void) state;

    if (mkdtemp(dir) == NULL) {
        return -1;
    }

    snprintf(path, sizeof(path), "%s/error.log", dir);
    snprintf(other, sizeof(other), "%s/error.log.0", dir);

    return 0;
}


static int
tear_down(void **state)
{
    (void) state;

    unlink(path);
    unlink(other);

    return rmdir(dir);
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_reopen)
    };

    return cmocka_run_group_tests_name("log", tests, set_up, tear_down);
}
