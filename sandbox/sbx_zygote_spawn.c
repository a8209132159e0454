/*
 * sbx_zygote_spawn.c: a zygote's process, with clean descriptors, arguments and
 * environment.
 *
 * Runs in the supervisor, and between fork and exec in what becomes the zygote.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_fault.h"
#include "sbx_layer.h"
#include "sbx_mount.h"
#include "sbx_page.h"
#include "sbx_state.h"

#define HOOK_FD         6       /* the hook closes this one, not fd 5 */
#define PROGRAM_FD      7       /* closed by the exec */


static const char *
program_of(sbx_zygote_kind_t kind)
{
    switch (kind) {
    case SBX_ZYGOTE_KIND_PYTHON:
    case SBX_ZYGOTE_KIND_NODE:
        return sbx_zygote_runtime(kind)->conf->cmd[0];
    default:
        return sbx_super.conf->self;
    }
}


/* What makes a zygote of that program; "": it is one. */
static const char *
library_of(sbx_zygote_kind_t kind)
{
    switch (kind) {
    case SBX_ZYGOTE_KIND_PYTHON:
        return sbx_super.conf->python_zygote;
    case SBX_ZYGOTE_KIND_NODE:
        return sbx_super.conf->node_zygote;
    default:
        return "";
    }
}


/* Moves fds[i] to number i, without stepping on one that is still to move. */
static void
place_fds(int *fds, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD, 64);

        if (fds[i] < 0) {
            _exit(126);
        }
    }

    for (i = 0; i < n; i++) {

        if (dup2(fds[i], i) < 0) {
            _exit(126);
        }
    }

    if (syscall(SYS_close_range, n, ~0u, 0) < 0) {

        for (i = n; i < 4096; i++) {
            close(i);
        }
    }
}


/*
 * A zygote's child is the zygote's program, which /proc/self/exe leads to: out
 * of the slot's root.  Where runs have their starter's uid, it may be theirs.
 * Opened once: replacing the file changes nothing before the next start.
 */
static int
open_program(sbx_zyg_t *z)
{
    if (z->program_fd < 0) {
        z->program_fd = (sbx_super.missing & SBX_LAYER_MOUNT)
                        ? open(program_of(z->kind), O_PATH | O_CLOEXEC)
                        : sbx_mount_program(program_of(z->kind));
    }

    return z->program_fd;
}


/*
 * --expose-internals shows the bootstrap's parts to the warm-up, which hides
 * them again.  What the warm-up leaves of the young generation every child that
 * fills it has to copy: so that one does not grow until the zygote serves.
 * V8's built-in code stays in the program's text, in huge pages: V8 would copy
 * it, into small ones, near the code that it makes.  The warm-up's script is
 * loaded by -r, under another name: see sbx_node_command.c.
 */
static char **
make_argv(const sbx_zyg_t *z)
{
    int n = 0;
    static char script[320];
    static char *argv[10];

    memset(argv, 0, sizeof(argv));
    argv[n++] = (char *) program_of(z->kind);

    if (z->kind == SBX_ZYGOTE_KIND_EXEC) {
        argv[n++] = SBX_ZYGOTE_EXEC;
    }

    if (z->kind == SBX_ZYGOTE_KIND_NODE) {
        snprintf(script, sizeof(script), "%.*s/node/zygote.js",
                 (int) (strrchr(sbx_super.conf->node_zygote, '/')
                        - sbx_super.conf->node_zygote),
                 sbx_super.conf->node_zygote);

        argv[n++] = "--no-warnings";
        argv[n++] = "--expose-internals";
        argv[n++] = "--semi-space-growth-factor=1";
        argv[n++] = "--no-short-builtin-calls";
        argv[n++] = "-r";
        argv[n++] = SBX_NODE_SCRIPT;
        argv[n++] = script;
    }

    return argv;
}


/* The names, by spaces; together they fit, see sbx_conf.c. */
static void
list_modules(char *buf, size_t size)
{
    size_t len;
    char *const *name = sbx_super.conf->modules;

    len = (size_t) snprintf(buf, size, SBX_PRELOAD_ENV "=");

    for (; name != NULL && *name != NULL; name++) {
        len += (size_t) snprintf(buf + len, size - len, "%s ", *name);
    }
}


static char **
make_env(const sbx_zyg_t *z)
{
    int n = 0;
    const char *fault = getenv("SBX_FAULT");
    static char preload[600], hook[32], name[64];
    static char modules[SBX_PRELOAD_SIZE];
    static char *env[9];

    env[n++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    env[n++] = "HOME=/tmp";
    env[n++] = "LANG=C.UTF-8";

    /* the first stands before libc and the hook, some of whose calls it has */
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s:%s", library_of(z->kind),
             sbx_fault("check_preload") ? "" : sbx_super.conf->preload);
    snprintf(hook, sizeof(hook), SBX_PAGE_ENV "=%d", HOOK_FD);
    env[n++] = preload;
    env[n++] = hook;

    if (z->kind == SBX_ZYGOTE_KIND_PYTHON) {
        list_modules(modules, sizeof(modules));
        env[n++] = modules;
    }

    if (fault != NULL) {
        snprintf(name, sizeof(name), "SBX_FAULT=%s", fault);
        env[n++] = name;
    }

    env[n] = NULL;

    return env;
}


static void __attribute__((noreturn))
exec_zygote(sbx_zyg_t *z, int *fds)
{
    sigset_t none;
    char **argv = make_argv(z), **env = make_env(z);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    place_fds(fds, PROGRAM_FD + 1);
    (void) fcntl(PROGRAM_FD, F_SETFD, FD_CLOEXEC);
    (void) syscall(SYS_execveat, PROGRAM_FD, "", argv, env, AT_EMPTY_PATH);
    _exit(127);
}


static int
make_page(void)
{
    int fd;
    sbx_page_t page = { .magic = SBX_PAGE_MAGIC, .mode = SBX_HOOK_COUNT,
                        .limit = INT64_MAX, .alloc_limit = INT64_MAX };

    fd = memfd_create("hook", MFD_CLOEXEC);

    if (fd >= 0 && (ftruncate(fd, SBX_PAGE_SIZE) < 0
        || pwrite(fd, &page, sizeof(page), 0) != (ssize_t) sizeof(page)))
    {
        close(fd);
        return -1;
    }

    return fd;
}


int
sbx_zygote_spawn(sbx_zyg_t *z)
{
    int ctl[2] = { -1, -1 }, in[2] = { -1, -1 }, log[2] = { -1, -1 };
    int page, rc = -1;
    pid_t pid;

    page = make_page();

    if (page < 0 || open_program(z) < 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0
        || pipe2(in, O_CLOEXEC) < 0 || pipe2(log, O_CLOEXEC) < 0)
    {
        goto done;
    }

    pid = fork();

    if (pid == 0) {
        exec_zygote(z, (int []) { in[0], log[1], log[1], ctl[1],
                                  sbx_super.filters_fd, page, page,
                                  z->program_fd });
    }

    if (pid < 0) {
        goto done;
    }

    z->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);

    if (z->pidfd < 0) {
        /* nothing would tell of its end */
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, __WALL);
        goto done;
    }

    z->pid = pid;
    z->ctl_fd = ctl[0];
    z->log_fd = log[0];
    ctl[0] = log[0] = -1;
    (void) fcntl(z->ctl_fd, F_SETFL, O_NONBLOCK);
    (void) fcntl(z->log_fd, F_SETFL, O_NONBLOCK);
    rc = 0;

done:

    for (int i = 0; i < 2; i++) {
        if (ctl[i] >= 0) {
            close(ctl[i]);
        }
        if (in[i] >= 0) {
            close(in[i]);
        }
        if (log[i] >= 0) {
            close(log[i]);
        }
    }

    if (page >= 0) {
        close(page);
    }

    return rc;
}
