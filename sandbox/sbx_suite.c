/*
 * sbx_suite.c: finds, checks and reads the files of a suite.
 *
 * Runs in the supervisor, with its rights, on a name that a client chose.  So
 * everything is opened below the root (openat2, RESOLVE_BENEATH, no magic
 * links), and only regular files; a symbolic link out of the root is an error.
 * Read and not mapped: a file that somebody cuts short meanwhile would end a
 * process that has it mapped.
 */

#include "sbx_suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INPUT_SUFFIX    ".in"
#define OUTPUT_SUFFIX   ".out"
#define INFO            "info"
#define INFO_BYTES_MAX  (4u << 20)


static int open_below(int dir, const char *path, int flags);
static int load_info(sbx_suite_t *suite, sbx_job_t *job, sbx_str_t text,
    sbx_err_t *err);
static int load_listed(sbx_suite_t *suite, sbx_job_t *job, sbx_err_t *err);
static int add_case(sbx_suite_t *suite, sbx_job_t *job,
    const sbx_suite_case_t *c, sbx_err_t *err);
static int set_name(char *to, size_t size, const char *name, sbx_err_t *err);
static int read_file(int dir, const char *path, char **data, size_t *len,
    sbx_err_t *err);
static int read_all(int fd, size_t size, char **data, size_t *len);
static const char *member(struct json_object *o, const char *key);
static int by_number(const void *a, const void *b);
static int is_input(const char *name);


int
sbx_suite_load(sbx_suite_t *suite, sbx_job_t *job, const char *root,
    sbx_str_t name, sbx_err_t *err)
{
    int rc, top;
    char *info = NULL, path[SBX_PATH_MAX + 1];
    size_t len;

    memset(suite, 0, sizeof(*suite));
    suite->dir = -1;
    snprintf(path, sizeof(path), "%.*s", (int) name.len, name.data);

    top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (top < 0) {
        return sbx_fail(err, SBX_STEP_JOB, 0, "cases: the directory of all "
                        "suites: %s", strerror(errno));
    }

    suite->dir = open_below(top, path, O_RDONLY | O_DIRECTORY);
    rc = errno == ENOTDIR ? ENOENT : errno;
    close(top);

    if (suite->dir < 0) {
        return sbx_fail(err, SBX_STEP_JOB, rc, "cases \"%s\"", path);
    }

    suite->cases = calloc(SBX_CASES_MAX, sizeof(*suite->cases));

    if (suite->cases == NULL) {
        close(suite->dir);
        return sbx_fail(err, SBX_STEP_JOB, errno, "cases \"%s\"", path);
    }

    job->ncases = 0;
    rc = read_file(suite->dir, INFO, &info, &len, err);

    if (rc == 0) {
        suite->listed = 1;
        rc = load_info(suite, job, (sbx_str_t) { info, len }, err);

    } else if (err->errnum == ENOENT) {
        rc = load_listed(suite, job, err);
    }

    free(info);

    if (rc == 0 && job->ncases == 0) {
        rc = sbx_fail(err, SBX_STEP_JOB, 0, "cases \"%s\": there are none",
                      path);
    }

    return rc;
}


void
sbx_suite_clear(sbx_suite_t *suite)
{
    size_t i;

    if (suite->cases == NULL) {
        return;
    }

    for (i = 0; i < suite->ncases; i++) {
        free(suite->cases[i].data[0]);
        free(suite->cases[i].data[1]);
    }

    close(suite->dir);
    free(suite->cases);
    memset(suite, 0, sizeof(*suite));
}


int
sbx_suite_read(sbx_suite_t *suite, sbx_job_t *job, size_t i, sbx_err_t *err)
{
    int rc;
    size_t len;
    sbx_case_t *to = &job->cases[i];
    sbx_suite_case_t *c = &suite->cases[i];

    if (read_file(suite->dir, c->input, &c->data[0], &len, err) < 0) {
        return -1;
    }

    to->input = (sbx_str_t) { c->data[0], len };

    if (c->output[0] == '\0') {
        return 0;
    }

    rc = read_file(suite->dir, c->output, &c->data[1], &len, err);

    if (rc == 0) {
        to->expected = (sbx_str_t) { c->data[1], len };
    }

    /* whoever lists it may leave it out, or keep its digest alone */
    return rc == 0 || (err->errnum == ENOENT
                       && (!suite->listed || c->digest[0] != '\0')) ? 0 : -1;
}


void
sbx_suite_drop(sbx_suite_t *suite, sbx_job_t *job, size_t i)
{
    sbx_suite_case_t *c = &suite->cases[i];

    free(c->data[0]);
    free(c->data[1]);
    c->data[0] = c->data[1] = NULL;
    job->cases[i].input = job->cases[i].expected = (sbx_str_t) { NULL, 0 };
}


/* Since Linux 5.6; a link that stays below the root is as good as a file. */
static int
open_below(int dir, const char *path, int flags)
{
    struct open_how how;

    memset(&how, 0, sizeof(how));
    how.flags = (unsigned) flags | O_CLOEXEC | O_NONBLOCK;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

    return (int) syscall(SYS_openat2, dir, path, &how, sizeof(how));
}


/* {"test_cases": {"1": {"input_name", "output_name", …}, …}} */
static int
load_info(sbx_suite_t *suite, sbx_job_t *job, sbx_str_t text, sbx_err_t *err)
{
    int rc = 0;
    struct json_object *info = NULL, *list;
    struct json_tokener *tokener = json_tokener_new();

    if (tokener != NULL && text.len > 0 && text.len <= INFO_BYTES_MAX) {
        info = json_tokener_parse_ex(tokener, text.data, (int) text.len);
    }

    if (tokener != NULL) {
        json_tokener_free(tokener);
    }

    if (!json_object_object_get_ex(info, "test_cases", &list)
        || !json_object_is_type(list, json_type_object))
    {
        json_object_put(info);
        return sbx_fail(err, SBX_STEP_JOB, 0, INFO ": no test_cases");
    }

    json_object_object_foreach(list, key, value) {
        sbx_suite_case_t c;

        memset(&c, 0, sizeof(c));
        snprintf(c.name, sizeof(c.name), "%s", key);
        snprintf(c.digest, sizeof(c.digest), "%s",
                 member(value, "stripped_output_md5"));

        rc = set_name(c.input, sizeof(c.input), member(value, "input_name"),
                      err);

        if (rc == 0 && member(value, "output_name")[0] != '\0') {
            rc = set_name(c.output, sizeof(c.output),
                          member(value, "output_name"), err);
        }

        if (rc < 0 || (rc = add_case(suite, job, &c, err)) < 0) {
            break;
        }
    }

    json_object_put(info);

    return rc;
}


static int
set_name(char *to, size_t size, const char *name, sbx_err_t *err)
{
    if (name[0] == '\0' || strlen(name) >= size) {
        return sbx_fail(err, SBX_STEP_JOB, 0, INFO ": a case has no "
                        "input_name, or one that is too long");
    }

    strcpy(to, name);

    return 0;
}


static const char *
member(struct json_object *o, const char *key)
{
    struct json_object *value;

    return json_object_object_get_ex(o, key, &value)
           && json_object_is_type(value, json_type_string)
           ? json_object_get_string(value) : "";
}


static int
load_listed(sbx_suite_t *suite, sbx_job_t *job, sbx_err_t *err)
{
    int rc = 0, copy = dup(suite->dir);
    char *names[SBX_CASES_MAX + 1];
    size_t i, n = 0;
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    if (list == NULL) {
        rc = sbx_fail(err, SBX_STEP_JOB, errno, "list of cases");

        if (copy >= 0) {
            close(copy);
        }

        return rc;
    }

    /* one more than there may be: add_case says so */
    while (rc == 0 && n <= SBX_CASES_MAX && (entry = readdir(list)) != NULL) {

        if (!is_input(entry->d_name)) {
            continue;
        }

        names[n] = strdup(entry->d_name);

        if (names[n] == NULL) {
            rc = sbx_fail(err, SBX_STEP_JOB, errno, "no memory for cases");

        } else {
            n++;
        }
    }

    closedir(list);
    qsort(names, n, sizeof(names[0]), by_number);

    for (i = 0; i < n; i++) {
        sbx_suite_case_t c;
        int stem = (int) (strlen(names[i]) - strlen(INPUT_SUFFIX));

        memset(&c, 0, sizeof(c));
        snprintf(c.name, sizeof(c.name), "%.*s", stem, names[i]);
        snprintf(c.input, sizeof(c.input), "%s", names[i]);
        snprintf(c.output, sizeof(c.output), "%.*s" OUTPUT_SUFFIX,
                 stem > (int) sizeof(c.output) - 5
                 ? (int) sizeof(c.output) - 5 : stem, names[i]);

        if (rc == 0) {
            rc = add_case(suite, job, &c, err);
        }

        free(names[i]);
    }

    return rc;
}


static int
is_input(const char *name)
{
    size_t len = strlen(name), suffix = strlen(INPUT_SUFFIX);

    return len > suffix && strcmp(name + len - suffix, INPUT_SUFFIX) == 0;
}


/* 2.in before 10.in */
static int
by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *) a, *(char *const *) b);
}


static int
add_case(sbx_suite_t *suite, sbx_job_t *job, const sbx_suite_case_t *c,
    sbx_err_t *err)
{
    if (suite->ncases == SBX_CASES_MAX) {
        return sbx_fail(err, SBX_STEP_JOB, 0, "more than %d cases",
                        SBX_CASES_MAX);
    }

    if (sbx_job_add_case(job, (uint32_t) job->ncases, (sbx_str_t) { NULL, 0 })
        != 0)
    {
        return sbx_fail(err, SBX_STEP_JOB, errno, "no memory for cases");
    }

    suite->cases[suite->ncases++] = *c;

    return 0;
}


static int
read_file(int dir, const char *path, char **data, size_t *len, sbx_err_t *err)
{
    int rc, error;
    struct stat st;
    int fd = open_below(dir, path, O_RDONLY);

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "cases: file \"%s\"", path);
    }

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
        || st.st_size > (off_t) SBX_SUITE_FILE_MAX)
    {
        close(fd);
        return sbx_fail(err, SBX_STEP_JOB, 0, "cases: \"%s\" is no file of at "
                        "most %u bytes", path, SBX_SUITE_FILE_MAX);
    }

    rc = read_all(fd, (size_t) st.st_size, data, len);
    error = errno;
    close(fd);

    return rc == 0 ? 0 : sbx_fail(err, SBX_STEP_JOB, error,
                                  "cases: read \"%s\"", path);
}


/* All of it: one that was cut short meanwhile is no case to judge by. */
static int
read_all(int fd, size_t size, char **data, size_t *len)
{
    ssize_t n = 1;

    *len = 0;
    *data = malloc(size + 1);

    if (*data == NULL) {
        return -1;
    }

    while (*len < size && n > 0) {
        n = read(fd, *data + *len, size - *len);

        if (n > 0) {
            *len += (size_t) n;
        }
    }

    if (n == 0) {
        errno = ESTALE;
    }

    if (*len < size) {
        free(*data);
        *data = NULL;
        return -1;
    }

    return 0;
}
