/*
 * sbx_exec.c: the exec zygote: forks children that execute a command.
 *
 * For interpreters that cannot be forked warm, and whenever a warm zygote is
 * not to be had: slower, the same fences, the same contract.  The main and the
 * loop run in the zygote; run_command runs in the child, after the last step,
 * in a process that has one thread and no data but its job, so it may allocate.
 */

#include "sbx_zygote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sbx_child.h"
#include "sbx_fault.h"
#include "sbx_page.h"
#include "sbx_root.h"

#define PRELOAD_ENV  "LD_PRELOAD=" SBX_ROOT_PRELOAD


static void run_command(const sbx_job_t *job, const sbx_str_t *cmd,
    size_t ncmd);
static char **make_argv(const sbx_job_t *job, const sbx_str_t *cmd,
    size_t ncmd);
static char **make_env(const sbx_job_t *job);
static int is_set_later(const sbx_job_t *job, size_t from, const char *name,
    size_t len);
static int execute(char **argv, char **env);
static char *copy_str(sbx_str_t s);
static void *allocate(size_t size);


static const sbx_zygote_ops_t ops = { .run = run_command };

/* The PATH of sbx_child_env, where a command without a slash is looked for. */
static const char *const path_dirs[] = { "/usr/local/bin", "/usr/bin", "/bin" };


int
sbx_exec_zygote_main(void)
{
    (void) prctl(PR_SET_NAME, SBX_ZYGOTE_EXEC);

    /* children inherit dispositions: an ignored SIGPIPE stays so over exec */
    sbx_child_signals();

    /*
     * The slot's page is for the hook of the program, not for the one that may
     * be loaded here: without this page the child leaves it where it is.
     */
    close(SBX_ZYGOTE_PAGE_FD);

    return sbx_zygote_main(&ops);
}


static void
run_command(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd)
{
    char **argv, **env;
    sbx_err_t err;

    memset(&err, 0, sizeof(err));

    if (ncmd == 0) {
        (void) sbx_fail(&err, SBX_STEP_EXEC, EINVAL, "the job has no command");
        sbx_child_fail(&err);
    }

    argv = make_argv(job, cmd, ncmd);
    env = make_env(job);

    (void) execute(argv, env);

    (void) sbx_fail(&err, SBX_STEP_EXEC, errno, "execute %s", argv[0]);
    sbx_child_fail(&err);
}


/* COMMAND… NAME ARGS…, as a person would type it in the working directory. */
static char **
make_argv(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd)
{
    size_t i, n = 0;
    char **argv;

    argv = allocate((ncmd + 1 + job->nargs + 1) * sizeof(char *));

    for (i = 0; i < ncmd; i++) {
        argv[n++] = copy_str(cmd[i]);
    }

    argv[n++] = copy_str(job->name);

    for (i = 0; i < job->nargs; i++) {
        argv[n++] = copy_str(job->args[i]);
    }

    argv[n] = NULL;

    return argv;
}


/*
 * From scratch: the base list, less what the job sets itself, then the job's,
 * then the hook's two, which the hook removes before the program sees them.
 * sbx_env_check keeps loader and hook names out of jobs.
 */
static char **
make_env(const sbx_job_t *job)
{
    size_t i, n = 0, base = 0;
    char **env;
    const char *end;
    static char page[sizeof(SBX_PAGE_ENV) + 12];

    while (sbx_child_env[base] != NULL) {
        base++;
    }

    env = allocate((base + job->nenv + 3) * sizeof(char *));

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
            env[n++] = copy_str(job->env[i]);
        }
    }

    /* the loader would complain on the program's stderr about a missing one */
    if (access(SBX_ROOT_PRELOAD, R_OK) == 0 && !sbx_fault("check_preload")) {
        (void) snprintf(page, sizeof(page), "%s=%d", SBX_PAGE_ENV,
                        SBX_CHILD_PAGE_FD);
        env[n++] = PRELOAD_ENV;
        env[n++] = page;

    } else {
        close(SBX_CHILD_PAGE_FD);
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


/* Returns only when nothing could be executed, with errno of the best try. */
static int
execute(char **argv, char **env)
{
    int error = ENOENT;
    size_t i;
    char path[4096];

    if (strchr(argv[0], '/') != NULL) {
        return execve(argv[0], argv, env);
    }

    for (i = 0; i < sizeof(path_dirs) / sizeof(path_dirs[0]); i++) {
        if (snprintf(path, sizeof(path), "%s/%s", path_dirs[i], argv[0])
            >= (int) sizeof(path))
        {
            error = ENAMETOOLONG;
            continue;
        }

        (void) execve(path, argv, env);

        if (errno != ENOENT && errno != ENOTDIR) {
            error = errno;
        }
    }

    errno = error;

    return -1;
}


static char *
copy_str(sbx_str_t s)
{
    char *p = allocate(s.len + 1);

    if (s.len > 0) {
        memcpy(p, s.data, s.len);
    }

    p[s.len] = '\0';

    return p;
}


static void *
allocate(size_t size)
{
    void *p = malloc(size);
    sbx_err_t err;

    if (p == NULL) {
        memset(&err, 0, sizeof(err));
        (void) sbx_fail(&err, SBX_STEP_EXEC, ENOMEM, "arguments");
        sbx_child_fail(&err);
    }

    return p;
}
