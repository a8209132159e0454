/*
 * sbx_suite.c: finds, checks and maps the files of a suite.
 *
 * Runs in the supervisor, with its rights, on a name that a client chose.  So
 * everything is opened below the root (openat2, RESOLVE_BENEATH, no magic
 * links), and only regular files; a symbolic link out of the root is an error.
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INPUT_SUFFIX    ".in"
#define OUTPUT_SUFFIX   ".out"
#define INFO            "info"
#define INFO_BYTES_MAX  (4u << 20)


static int open_below(int dir, const char *path, int flags);
static int load_info(sbx_suite_t *suite, sbx_job_t *job, int dir,
    sbx_str_t text, sbx_err_t *err);
static int load_listed(sbx_suite_t *suite, sbx_job_t *job, int dir,
    sbx_err_t *err);
static int add_case(sbx_suite_t *suite, sbx_job_t *job, int dir,
    const sbx_suite_case_t *c, const char *input, const char *output,
    sbx_err_t *err);
static int map_file(sbx_suite_t *suite, int dir, const char *path,
    sbx_str_t *data, sbx_err_t *err);
static int fail_too_many(sbx_err_t *err);
static int fail_file(sbx_err_t *err, const char *what);
static const char *member(struct json_object *o, const char *key);
static int by_number(const void *a, const void *b);
static int is_input(const char *name);


int
sbx_suite_load(sbx_suite_t *suite, sbx_job_t *job, const char *root,
    sbx_str_t name, sbx_err_t *err)
{
    int rc, top, dir;
    char path[SBX_PATH_MAX + 1];
    sbx_str_t info = { NULL, 0 };

    memset(suite, 0, sizeof(*suite));
    snprintf(path, sizeof(path), "%.*s", (int) name.len, name.data);

    top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (top < 0) {
        return fail_file(err, "cases: their root");
    }

    dir = open_below(top, path, O_RDONLY | O_DIRECTORY);
    close(top);

    if (dir < 0) {
        return sbx_fail(err, SBX_STEP_JOB, errno == ENOTDIR ? ENOENT : errno,
                        "cases \"%s\"", path);
    }

    /* one map each, at most two for a case and one for info */
    suite->maps = calloc(2 * SBX_CASES_MAX + 1, sizeof(*suite->maps));
    suite->cases = calloc(SBX_CASES_MAX, sizeof(*suite->cases));
    job->ncases = 0;

    if (suite->maps == NULL || suite->cases == NULL) {
        rc = sbx_fail(err, SBX_STEP_JOB, errno, "cases \"%s\"", path);

    } else if (map_file(suite, dir, INFO, &info, err) == 0) {
        rc = load_info(suite, job, dir, info, err);

    } else if (err->errnum == ENOENT) {
        rc = load_listed(suite, job, dir, err);

    } else {
        rc = -1;
    }

    close(dir);

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

    for (i = 0; i < suite->nmaps; i++) {
        if (suite->maps[i].len > 0) {
            munmap((void *) suite->maps[i].data, suite->maps[i].len);
        }
    }

    free(suite->maps);
    free(suite->cases);
    memset(suite, 0, sizeof(*suite));
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
load_info(sbx_suite_t *suite, sbx_job_t *job, int dir, sbx_str_t text,
    sbx_err_t *err)
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
        const char *input = member(value, "input_name");

        snprintf(c.name, sizeof(c.name), "%s", key);
        snprintf(c.digest, sizeof(c.digest), "%s",
                 member(value, "stripped_output_md5"));

        if (input[0] == '\0') {
            rc = sbx_fail(err, SBX_STEP_JOB, 0,
                          INFO ": test_cases.%s has no input_name", c.name);

        } else {
            rc = add_case(suite, job, dir, &c, input,
                          member(value, "output_name"), err);
        }

        if (rc < 0) {
            break;
        }
    }

    json_object_put(info);

    return rc;
}


static const char *
member(struct json_object *o, const char *key)
{
    struct json_object *value;

    return json_object_object_get_ex(o, key, &value)
           && json_object_is_type(value, json_type_string)
           ? json_object_get_string(value) : "";
}


/*
 * The names of all inputs, on the heap; *n says how many, also after -1.  One
 * left out would be a case that nobody runs and everybody takes for accepted.
 */
static int
list_inputs(int dir, char *names[SBX_CASES_MAX], size_t *n, sbx_err_t *err)
{
    int rc = 0, copy = dup(dir);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    *n = 0;

    if (list == NULL) {
        rc = sbx_fail(err, SBX_STEP_JOB, errno, "list of cases");

        if (copy >= 0) {
            close(copy);
        }

        return rc;
    }

    while (errno = 0, rc == 0 && (entry = readdir(list)) != NULL) {
        if (!is_input(entry->d_name)) {
            continue;
        }

        if (*n == SBX_CASES_MAX) {
            rc = fail_too_many(err);

        } else if ((names[*n] = strdup(entry->d_name)) == NULL) {
            rc = fail_file(err, "list of cases");

        } else {
            (*n)++;
        }
    }

    if (rc == 0 && errno != 0) {
        rc = fail_file(err, "list of cases");
    }

    closedir(list);
    qsort(names, *n, sizeof(names[0]), by_number);

    return rc;
}


static int
load_listed(sbx_suite_t *suite, sbx_job_t *job, int dir, sbx_err_t *err)
{
    int rc;
    char *names[SBX_CASES_MAX];
    size_t i, n;

    rc = list_inputs(dir, names, &n, err);

    for (i = 0; i < n; i++) {
        sbx_suite_case_t c;
        char output[NAME_MAX + sizeof(OUTPUT_SUFFIX)];
        int stem = (int) (strlen(names[i]) - strlen(INPUT_SUFFIX));

        memset(&c, 0, sizeof(c));
        snprintf(c.name, sizeof(c.name), "%.*s", stem, names[i]);
        snprintf(output, sizeof(output), "%.*s" OUTPUT_SUFFIX, stem, names[i]);

        if (rc == 0) {
            rc = add_case(suite, job, dir, &c, names[i], output, err);
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


/* A case without an output is run and not compared. */
static int
add_case(sbx_suite_t *suite, sbx_job_t *job, int dir,
    const sbx_suite_case_t *c, const char *input, const char *output,
    sbx_err_t *err)
{
    sbx_str_t in, out = { NULL, 0 };

    if (job->ncases == SBX_CASES_MAX) {
        return fail_too_many(err);
    }

    if (map_file(suite, dir, input, &in, err) < 0) {
        return err->errnum != ENOENT ? -1
               : sbx_fail(err, SBX_STEP_JOB, 0, "cases: there is no file "
                          "\"%s\"", input);
    }

    if (output[0] != '\0' && map_file(suite, dir, output, &out, err) < 0
        && err->errnum != ENOENT)
    {
        return -1;
    }

    if (sbx_job_add_case(job, (uint32_t) job->ncases, in) != 0) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "no memory for cases");
    }

    suite->cases[job->ncases - 1] = *c;
    job->cases[job->ncases - 1].expected = out;

    return 0;
}


static int
fail_too_many(sbx_err_t *err)
{
    return sbx_fail(err, SBX_STEP_JOB, 0, "more than %d cases", SBX_CASES_MAX);
}


/* Never ENOENT, which says that a client asked for what there is not. */
static int
fail_file(sbx_err_t *err, const char *what)
{
    return errno == ENOENT
           ? sbx_fail(err, SBX_STEP_JOB, 0, "%s is not there", what)
           : sbx_fail(err, SBX_STEP_JOB, errno, "%s", what);
}


static int
map_file(sbx_suite_t *suite, int dir, const char *path, sbx_str_t *data,
    sbx_err_t *err)
{
    struct stat st;
    void *map = "";
    int fd = open_below(dir, path, O_RDONLY);

    if (fd < 0 || fstat(fd, &st) < 0) {
        int error = errno;

        if (fd >= 0) {
            close(fd);
        }

        return sbx_fail(err, SBX_STEP_JOB, error, "cases: file \"%s\"", path);
    }

    if (!S_ISREG(st.st_mode) || st.st_size > (off_t) SBX_JOB_BYTES_MAX) {
        close(fd);
        return sbx_fail(err, SBX_STEP_JOB, 0, "cases: \"%s\" is no file of at "
                        "most %lu bytes", path, SBX_JOB_BYTES_MAX);
    }

    if (st.st_size > 0) {
        map = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }

    close(fd);

    if (map == MAP_FAILED) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "cases: map \"%s\"", path);
    }

    *data = (sbx_str_t) { map, (size_t) st.st_size };
    suite->maps[suite->nmaps++] = *data;

    return 0;
}
