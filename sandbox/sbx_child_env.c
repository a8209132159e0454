/*
 * sbx_child_env.c: the environment that a program finds.
 *
 * Runs in the child, with its job, before the program; what cannot be allocated
 * there fails the child.
 */

#include "sbx_child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


static int is_set_later(const sbx_job_t *job, size_t from, const char *name,
    size_t len);


/*
 * One thread for numeric libraries: they would start one for each of the
 * host's processors, more than a run may have.
 */
const char *const sbx_child_env[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "HOME=/tmp",
    "LANG=C.UTF-8",
    "OMP_NUM_THREADS=1",
    "OPENBLAS_NUM_THREADS=1",
    "MKL_NUM_THREADS=1",
    "NUMEXPR_NUM_THREADS=1",
    NULL
};


/*
 * From scratch.  sbx_env_check keeps loader and hook names out of jobs.
 */
char **
sbx_child_make_env(const sbx_job_t *job, size_t more)
{
    size_t i, n = 0, base = 0;
    char **env;
    const char *end;

    while (sbx_child_env[base] != NULL) {
        base++;
    }

    env = sbx_child_alloc((base + job->nenv + more + 1) * sizeof(char *));

    for (i = 0; i < base; i++) {
        end = strchr(sbx_child_env[i], '=');

        if (!is_set_later(job, 0, sbx_child_env[i],
                          (size_t) (end - sbx_child_env[i])))
        {
            env[n++] = (char *) sbx_child_env[i];
        }
    }

    for (i = 0; i < job->nenv; i++) {
        end = memchr(job->env[i].data, '=', job->env[i].len);

        if (end != NULL
            && !is_set_later(job, i + 1, job->env[i].data,
                                 (size_t) (end - job->env[i].data)))
        {
            env[n++] = sbx_child_copy(job->env[i]);
        }
    }

    env[n] = NULL;

    return env;
}


/* The last setting of a name wins, and a name appears once. */
static int
is_set_later(const sbx_job_t *job, size_t from, const char *name, size_t len)
{
    size_t i;

    for (i = from; i < job->nenv; i++) {
        if (job->env[i].len > len && job->env[i].data[len] == '='
            && memcmp(job->env[i].data, name, len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


char *
sbx_child_copy(sbx_str_t s)
{
    char *p = sbx_child_alloc(s.len + 1);

    if (s.len > 0) {
        memcpy(p, s.data, s.len);
    }

    p[s.len] = '\0';

    return p;
}


void *
sbx_child_alloc(size_t size)
{
    void *p = malloc(size);
    sbx_err_t err;

    if (p == NULL) {
        memset(&err, 0, sizeof(err));
        (void) sbx_fail(&err, SBX_STEP_EXEC, ENOMEM, "arguments and environment");
        sbx_child_fail(&err);
    }

    return p;
}
