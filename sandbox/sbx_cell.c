/*
 * sbx_cell.c: guard and cell init.
 *
 * The guard stays in the host's namespaces, with the rights it was started
 * with: it clones the cell init, waits, sweeps the cgroups of the dead cell and
 * starts the next one.  The cell init is pid 1 of the cell: it builds the
 * surroundings, forks the supervisor, reaps whatever is orphaned, and ends with
 * the supervisor; then the kernel kills everything else in the namespace, and
 * only when that is done does the guard see the cell's end.  Neither reads a
 * byte that a client sent.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbx_cell.h"
#include "sbx_cgroup.h"
#include "sbx_layer.h"
#include "sbx_log.h"
#include "sbx_ns.h"
#include "sbx_sysfile.h"

#define BACKOFF_MIN_MS  50
#define BACKOFF_MAX_MS  5000
#define LIFE_GOOD_MS    10000

#define EXIT_FAILED     1       /* the cell could not be built */
#define EXIT_MISREAD    2       /* for nginx's master: "do not respawn" */

/* Mapping slots to ids of their own, and cleaning up after them, takes this. */
#define CAPS_PRIVILEGED                                                       \
    (SBX_CAP(CAP_SYS_ADMIN) | SBX_CAP(CAP_SETUID) | SBX_CAP(CAP_SETGID)       \
     | SBX_CAP(CAP_SETPCAP) | SBX_CAP(CAP_CHOWN) | SBX_CAP(CAP_KILL))

typedef struct {
    int (*supervise)(const sbx_cell_t *cell, unsigned starts, void *data);
    void *data;
    unsigned starts;
    sigset_t signals;       /* mask the guard was started with */
    int pidfd;              /* the guard's, so that the cell sees it end */
    uid_t uid;              /* as the guard's user namespace names them */
    gid_t gid;
} guard_t;

typedef struct {
    int drop;               /* namespaces to do without */
    int flags;              /* CLONE_NEWUSER, or none */
} plan_t;

static pid_t clone_cell(guard_t *guard, sbx_err_t *err);
static void run_cell(guard_t *guard, int flags, sbx_cell_t *cell)
    __attribute__((noreturn));
static int wait_cell(pid_t pid);
static int sleep_ms(unsigned ms);


#define CELL_NAMESPACES  (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET)

/* The one place that decides what a cell consists of; the first that works. */
static const plan_t plans[] = {
    { 0, 0 },
    { 0, CLONE_NEWUSER },
    { CLONE_NEWNET, 0 },
    { CLONE_NEWNET, CLONE_NEWUSER },
    { CELL_NAMESPACES, 0 }
};

#define PLANS  (sizeof(plans) / sizeof(plans[0]))


static uint64_t
now_ms(void)
{
    struct timespec ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}


static void
guard_signals(guard_t *guard)
{
    sigset_t set;

    /*
     * TERM and INT are taken with sigtimedwait.  The others are meant for
     * nginx's master and reach the guard when sent to the process group: they
     * must not take the runs in flight with them.
     */
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGCHLD);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);
    (void) sigaddset(&set, SIGHUP);
    (void) sigaddset(&set, SIGQUIT);
    (void) sigaddset(&set, SIGUSR1);
    (void) sigaddset(&set, SIGUSR2);
    (void) sigaddset(&set, SIGWINCH);
    (void) sigprocmask(SIG_BLOCK, &set, &guard->signals);

    /* an inherited SIG_IGN would reap the cell behind our back */
    (void) signal(SIGCHLD, SIG_DFL);
}


int
sbx_cell_guard(int (*supervise)(const sbx_cell_t *cell, unsigned starts,
    void *data), void *data)
{
    int code;
    pid_t pid;
    guard_t guard = { .supervise = supervise, .data = data };
    uint64_t born;
    unsigned wait_ms = BACKOFF_MIN_MS;
    sbx_err_t err;

    guard_signals(&guard);
    guard.pidfd = (int) syscall(SYS_pidfd_open, getpid(), 0);
    guard.uid = geteuid();
    guard.gid = getegid();

    for ( ;; ) {
        sbx_cgroup_sweep();

        born = now_ms();
        pid = clone_cell(&guard, &err);

        if (pid < 0) {
            sbx_log_err(SBX_LOG_CRIT, &err, "cannot start a supervisor");
            code = EXIT_FAILED;

        } else {
            code = wait_cell(pid);
        }

        if (code <= 0) {
            break;
        }

        guard.starts++;

        if (now_ms() - born >= LIFE_GOOD_MS) {
            wait_ms = BACKOFF_MIN_MS;
        }

        sbx_log(SBX_LOG_ALERT, 0, "supervisor ended with code %d, "
                "the next one starts in %u ms", code, wait_ms);

        if (sleep_ms(wait_ms) < 0) {
            break;
        }

        wait_ms = 2 * wait_ms < BACKOFF_MAX_MS ? 2 * wait_ms : BACKOFF_MAX_MS;
    }

    sbx_cgroup_sweep();
    sbx_fd_close(&guard.pidfd);

    /* the mask stays: a pending HUP would turn our exit code into a signal */
    return 0;
}


static pid_t
clone_cell(guard_t *guard, sbx_err_t *err)
{
    int flags, supported;
    pid_t pid;
    size_t i;
    uint32_t missing = 0;
    sbx_cell_t cell;

    supported = sbx_ns_supported(CELL_NAMESPACES, &missing);

    /* what lies in stdio buffers now would be written twice */
    (void) fflush(NULL);

    for (i = 0; i < PLANS; i++) {
        flags = (supported & ~plans[i].drop) | plans[i].flags;

        if (plans[i].flags == 0 && plans[i].drop != CELL_NAMESPACES
            && (sbx_caps_effective() & CAPS_PRIVILEGED) != CAPS_PRIVILEGED)
        {
            continue;
        }

        pid = sbx_ns_clone(flags);

        if (pid == 0) {
            cell.privileged = plans[i].flags == 0
                              && plans[i].drop != CELL_NAMESPACES;
            cell.missing = missing | sbx_ns_layers(plans[i].drop);
            run_cell(guard, flags, &cell);
        }

        if (pid > 0) {
            return pid;
        }

        if (errno == EAGAIN || errno == ENOMEM) {
            break;              /* the next plan would fare no better */
        }
    }

    return sbx_fail(err, SBX_STEP_CELL, errno, "clone the cell's init");
}


/* -1: the guard was told to end; else the cell's exit code. */
static int
wait_cell(pid_t pid)
{
    int status, signo, told = 0;
    pid_t got;
    sigset_t set;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGCHLD);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);

    for ( ;; ) {
        got = waitpid(pid, &status, WNOHANG);

        if (got == pid) {
            break;
        }

        if (got < 0 && errno != EINTR) {
            return EXIT_FAILED;
        }

        signo = sigwaitinfo(&set, NULL);

        if (signo == SIGTERM || signo == SIGINT) {
            told = 1;
            (void) kill(pid, SIGKILL);
        }
    }

    if (told) {
        return -1;
    }

    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}


/* -1: the guard was told to end. */
static int
sleep_ms(unsigned ms)
{
    int signo;
    sigset_t set;
    uint64_t now, end = now_ms() + ms;
    struct timespec ts;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);

    while ((now = now_ms()) < end) {
        ts.tv_sec = (time_t) ((end - now) / 1000);
        ts.tv_nsec = (long) ((end - now) % 1000) * 1000000;

        signo = sigtimedwait(&set, NULL, &ts);

        if (signo == SIGTERM || signo == SIGINT) {
            return -1;
        }
    }

    return 0;
}


/*
 * One line, the caller's own ids: all that an unprivileged process may write,
 * and it may write it for itself (user_namespaces(7)).
 */
static int
map_own_ids(uid_t uid, gid_t gid)
{
    char uid_map[64], gid_map[64];
    SBX_AUTOCLOSE int proc_fd = -1;

    proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0) {
        return -1;
    }

    snprintf(uid_map, sizeof(uid_map), "%u %u 1", uid, uid);
    snprintf(gid_map, sizeof(gid_map), "%u %u 1", gid, gid);

    return sbx_ns_map(proc_fd, uid_map, "deny", gid_map);
}


/* Ties the caller's life to its parent's.  -1: the parent is gone already. */
static int
follow_guard(const guard_t *guard)
{
    struct pollfd pfd = { .fd = guard->pidfd, .events = POLLIN };

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return -1;
    }

    /*
     * The guard may have died before the prctl.  getppid() is no help: it says
     * 0 for a parent outside the pid namespace, dead or alive.
     */
    if (guard->pidfd >= 0 && poll(&pfd, 1, 0) != 0) {
        return -1;
    }

    return 0;
}


static int
enter_cell(const guard_t *guard, int flags, sbx_cell_t *cell, sbx_err_t *err)
{
    if ((flags & CLONE_NEWUSER) && map_own_ids(guard->uid, guard->gid) < 0) {
        return sbx_fail(err, SBX_STEP_CELL, errno, "map uid %u, gid %u",
                        guard->uid, guard->gid);
    }

    /* zygotes and slot inits are executed by an unprivileged uid */
    if ((flags & CLONE_NEWUSER) && sbx_caps_keep() < 0) {
        return sbx_fail(err, SBX_STEP_CELL, errno, "keep capabilities");
    }

    if (follow_guard(guard) < 0) {
        return sbx_fail(err, SBX_STEP_CELL, errno, "follow the guard");
    }

    if ((flags & CLONE_NEWNS) == 0) {
        return 0;
    }

    /* a shared "/" would carry our mounts out to the host */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        return sbx_fail(err, SBX_STEP_CELL, errno, "make / private");
    }

    /* the old /proc numbers processes as another pid namespace does */
    if ((flags & CLONE_NEWPID)
        && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 NULL) < 0)
    {
        cell->missing |= SBX_LAYER_PROC;
    }

    return 0;
}


/* In the supervisor: never returns to the cell init's code. */
static void
run_supervisor(guard_t *guard, const sbx_cell_t *cell, pid_t init)
{
    /* the kernel does this for a pid namespace; without one nobody else does */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != init) {
        _exit(EXIT_FAILED);
    }

    sbx_fd_close(&guard->pidfd);
    (void) sigprocmask(SIG_SETMASK, &guard->signals, NULL);

    exit(guard->supervise(cell, guard->starts, guard->data));
}


static int
exit_code(int status)
{
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                   : WEXITSTATUS(status);

    return code == EXIT_MISREAD ? EXIT_FAILED : code;
}


static void
run_cell(guard_t *guard, int flags, sbx_cell_t *cell)
{
    int status;
    pid_t pid, got, init = getpid();
    sbx_err_t err;

    (void) prctl(PR_SET_NAME, "deer-flow-init");

    if (enter_cell(guard, flags, cell, &err) < 0) {
        sbx_log_err(SBX_LOG_CRIT, &err, "cell");
        _exit(EXIT_FAILED);
    }

    /* without a pid namespace orphans would go to the host's init */
    if ((flags & CLONE_NEWPID) == 0) {
        (void) prctl(PR_SET_CHILD_SUBREAPER, 1);
    }

    pid = fork();

    if (pid < 0) {
        sbx_fail(&err, SBX_STEP_CELL, errno, "fork the supervisor");
        sbx_log_err(SBX_LOG_CRIT, &err, "cell");
        _exit(EXIT_FAILED);
    }

    if (pid == 0) {
        run_supervisor(guard, cell, init);
    }

    sbx_fd_close_from(0);

    do {
        got = waitpid(-1, &status, __WALL);
    } while (got != pid && (got > 0 || errno == EINTR));

    _exit(got == pid ? exit_code(status) : EXIT_FAILED);
}
