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
static void add_hook(char **env);
static int execute(char **argv, char **env);


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
    env = sbx_child_make_env(job, 2);
    add_hook(env);

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

    argv = sbx_child_alloc((ncmd + 1 + job->nargs + 1) * sizeof(char *));

    for (i = 0; i < ncmd; i++) {
        argv[n++] = sbx_child_copy(cmd[i]);
    }

    argv[n++] = sbx_child_copy(job->name);

    for (i = 0; i < job->nargs; i++) {
        argv[n++] = sbx_child_copy(job->args[i]);
    }

    argv[n] = NULL;

    return argv;
}


/* The hook's two, which the hook removes before the program sees them. */
static void
add_hook(char **env)
{
    size_t n = 0;
    static char page[sizeof(SBX_PAGE_ENV) + 12];

    /* the loader would complain on the program's stderr about a missing one */
    if (access(SBX_ROOT_PRELOAD, R_OK) < 0 || sbx_fault("check_preload")) {
        close(SBX_CHILD_PAGE_FD);
        return;
    }

    while (env[n] != NULL) {
        n++;
    }

    (void) snprintf(page, sizeof(page), "%s=%d", SBX_PAGE_ENV,
                    SBX_CHILD_PAGE_FD);
    env[n++] = PRELOAD_ENV;
    env[n++] = page;
    env[n] = NULL;
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
