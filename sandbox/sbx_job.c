/*
 * sbx_job.c: building a job, and what its names may look like.
 *
 * Runs in every process of ours.  The checks are used at each trust boundary
 * (JSON in the worker, frames in the supervisor, the job channel in the
 * child), so that no hop has to believe the one before.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_job.h"


static int grow(void *array, size_t n, size_t size, size_t max);
static int check_argenv(const sbx_job_t *job, sbx_str_t more);


typedef struct {
    const char *alias;
    sbx_str_t language;
} alias_t;

static const alias_t aliases[] = {
    { "py", SBX_STR("python") },
    { "python3", SBX_STR("python") },
    { "js", SBX_STR("node") },
    { "javascript", SBX_STR("node") },
    { "nodejs", SBX_STR("node") },
    { NULL, { NULL, 0 } }
};

/*
 * Names that steer the loader, the allocator or the start of an interpreter.
 * They would act on the exec path and not in a zygote, which started long
 * before: the same job must not depend on the path it takes.  A trailing '*'
 * stands for any ending.
 */
static const char *const env_refused[] = {
    "LD_*",
    "GLIBC_TUNABLES",
    "MALLOC_*",
    "NODE_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "SBX_*",
    NULL
};


void
sbx_job_init(sbx_job_t *job)
{
    int i;

    memset(job, 0, sizeof(sbx_job_t));

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        job->limits[i] = sbx_limits[i].initial;
    }

    job->factor_permille = 1250;
}


int
sbx_job_add_arg(sbx_job_t *job, sbx_str_t arg)
{
    if (check_argenv(job, arg) != 0
        || grow(&job->args, job->nargs, sizeof(sbx_str_t), SBX_ARGS_MAX) != 0)
    {
        return -1;
    }

    job->args[job->nargs++] = arg;

    return 0;
}


int
sbx_job_add_env(sbx_job_t *job, sbx_str_t env)
{
    if (check_argenv(job, env) != 0
        || grow(&job->env, job->nenv, sizeof(sbx_str_t), SBX_ENV_MAX) != 0)
    {
        return -1;
    }

    job->env[job->nenv++] = env;

    return 0;
}


int
sbx_job_add_file(sbx_job_t *job, sbx_str_t path, sbx_str_t data)
{
    if (grow(&job->files, job->nfiles, sizeof(sbx_file_t), SBX_FILES_MAX)
        != 0)
    {
        return -1;
    }

    job->files[job->nfiles].path = path;
    job->files[job->nfiles].data = data;
    job->nfiles++;

    return 0;
}


int
sbx_job_add_case(sbx_job_t *job, uint32_t id, sbx_str_t input)
{
    if (grow(&job->cases, job->ncases, sizeof(sbx_case_t), SBX_CASES_MAX)
        != 0)
    {
        return -1;
    }

    job->cases[job->ncases].id = id;
    job->cases[job->ncases].input = input;
    job->cases[job->ncases].expected = (sbx_str_t) { NULL, 0 };
    job->ncases++;

    return 0;
}


void
sbx_job_clear(sbx_job_t *job)
{
    free(job->args);
    free(job->env);
    free(job->files);
    free(job->cases);

    job->args = NULL;
    job->env = NULL;
    job->files = NULL;
    job->cases = NULL;
    job->nargs = 0;
    job->nenv = 0;
    job->nfiles = 0;
    job->ncases = 0;
}


const char *
sbx_path_check(sbx_str_t path)
{
    size_t len;
    const char *p, *end, *slash;

    if (path.len == 0) {
        return "is empty";
    }

    if (path.len > SBX_PATH_MAX) {
        return "is longer than 1024 bytes";
    }

    if (memchr(path.data, '\0', path.len) != NULL) {
        return "holds a NUL byte";
    }

    if (path.data[0] == '/') {
        return "is absolute";
    }

    p = path.data;
    end = path.data + path.len;

    do {
        slash = memchr(p, '/', end - p);
        len = (slash == NULL ? end : slash) - p;

        if (len == 0) {
            return "has an empty component";
        }

        if (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.'))) {
            return "has a \".\" or \"..\" component";
        }

        if (len > SBX_NAME_MAX) {
            return "has a component longer than 255 bytes";
        }

        p += len + 1;

    } while (slash != NULL);

    return NULL;
}


const char *
sbx_name_check(sbx_str_t name)
{
    if (name.len > SBX_NAME_MAX) {
        return "is longer than 255 bytes";
    }

    if (memchr(name.data == NULL ? "" : name.data, '/', name.len) != NULL) {
        return "holds a slash";
    }

    /* Interpreters would take it for one of their own options. */

    if (name.len > 0 && name.data[0] == '-') {
        return "starts with a dash";
    }

    return sbx_path_check(name);
}


const char *
sbx_env_check(sbx_str_t env)
{
    size_t i, len, want;
    const char *equal, *name;

    if (memchr(env.data == NULL ? "" : env.data, '\0', env.len) != NULL) {
        return "holds a NUL byte";
    }

    equal = memchr(env.data == NULL ? "" : env.data, '=', env.len);

    if (equal == NULL) {
        return "has no '='";
    }

    len = equal - env.data;

    if (len == 0) {
        return "has an empty name";
    }

    for (i = 0; env_refused[i] != NULL; i++) {
        name = env_refused[i];
        want = strlen(name);

        if (name[want - 1] == '*') {
            want--;

            if (len >= want && memcmp(env.data, name, want) == 0) {
                return "steers the loader or the interpreter's start";
            }

        } else if (len == want && memcmp(env.data, name, want) == 0) {
            return "steers the loader or the interpreter's start";
        }
    }

    return NULL;
}


/* Equal, or one is a directory on the other's way. */
static int
paths_clash(sbx_str_t a, sbx_str_t b)
{
    size_t min;

    min = a.len < b.len ? a.len : b.len;

    if (min == 0 || memcmp(a.data, b.data, min) != 0) {
        return 0;
    }

    return a.len == b.len
           || (a.len > b.len ? a.data[min] : b.data[min]) == '/';
}


int
sbx_job_clash(const sbx_job_t *job)
{
    size_t i, k;

    for (i = 0; i < job->nfiles; i++) {

        if (paths_clash(job->files[i].path, job->name)) {
            return i;
        }

        for (k = 0; k < i; k++) {
            if (paths_clash(job->files[i].path, job->files[k].path)) {
                return i;
            }
        }
    }

    return -1;
}


sbx_str_t
sbx_language_canonical(sbx_str_t text)
{
    const alias_t *a;

    for (a = aliases; a->alias != NULL; a++) {
        if (strlen(a->alias) == text.len
            && memcmp(a->alias, text.data, text.len) == 0)
        {
            return a->language;
        }
    }

    return text;
}


sbx_str_t
sbx_language_main(sbx_str_t language)
{
    if (language.len == 6 && memcmp(language.data, "python", 6) == 0) {
        return SBX_STR("main.py");
    }

    if (language.len == 4 && memcmp(language.data, "node", 4) == 0) {
        return SBX_STR("main.js");
    }

    return SBX_STR("main");
}


/*
 * Room for one more in an array of n.  There is no capacity field: arrays
 * double whenever n is a power of two, so n tells how much there is.
 */
static int
grow(void *array, size_t n, size_t size, size_t max)
{
    void *p, *old;

    if (n >= max) {
        errno = E2BIG;
        return -1;
    }

    if (n != 0 && (n < 4 || (n & (n - 1)) != 0)) {
        return 0;
    }

    memcpy(&old, array, sizeof(void *));

    p = realloc(old, (n == 0 ? 4 : 2 * n) * size);

    if (p == NULL) {
        errno = ENOMEM;
        return -1;
    }

    memcpy(array, &p, sizeof(void *));

    return 0;
}


/* The kernel counts arguments and environment together, with their NULs. */
static int
check_argenv(const sbx_job_t *job, sbx_str_t more)
{
    size_t i, sum;

    sum = more.len;

    for (i = 0; i < job->nargs && sum <= SBX_ARGENV_BYTES; i++) {
        sum += job->args[i].len + 1;
    }

    for (i = 0; i < job->nenv && sum <= SBX_ARGENV_BYTES; i++) {
        sum += job->env[i].len + 1;
    }

    if (sum >= SBX_ARGENV_BYTES) {
        errno = E2BIG;
        return -1;
    }

    return 0;
}
