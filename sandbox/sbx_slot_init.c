/*
 * sbx_slot_init.c: pid 1 of a slot.
 *
 * Executed by the supervisor into fresh namespaces, with all rights over them
 * and none outside.  It builds the slot's surroundings once, gives up what it
 * will not need again, and then waits for two things: orphans to reap and
 * requests on its control socket.  It never runs a guest's code and never reads
 * what a guest wrote.  A guest cannot reach it: it is not dumpable, and has no
 * signal handlers, so that the kernel drops whatever signals come from inside
 * (pid_namespaces(7)).  One it takes, as a note and no more: SIGUSR1, by which
 * the preload hook says that it ended the run.
 */

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_fault.h"
#include "sbx_layer.h"
#include "sbx_ns.h"
#include "sbx_slot.h"
#include "sbx_slot_init.h"
#include "sbx_slot_proto.h"
#include "sbx_sysfile.h"

/* mount and renew the ipc namespace; give files away; kill every guest */
#define CAPS_KEPT                                                             \
    (SBX_CAP(CAP_SYS_ADMIN) | SBX_CAP(CAP_CHOWN) | SBX_CAP(CAP_KILL))

typedef int (*step_t)(sbx_init_t *init, sbx_err_t *err);

static int take_ids(sbx_init_t *init, sbx_err_t *err);
static int name_host(sbx_init_t *init, sbx_err_t *err);
static int fix_pids(sbx_init_t *init, sbx_err_t *err);
static int drop_rights(sbx_init_t *init, sbx_err_t *err);


static const step_t setup_steps[] = {
    take_ids,               /* files made below belong to the slot */
    sbx_init_enter_root,    /* opens what only the old root shows */
    name_host,
    sbx_init_mount_tmpfs,
    sbx_init_mount_empty,
    fix_pids,
    drop_rights             /* last: all of the above needs some */
};

/* A program may send them, too, and each wakes us up: no more are heard. */
#define SIGNALS_MAX  16

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


static int
take_ids(sbx_init_t *init, sbx_err_t *err)
{
    /* the host's root owns files outside, even without a capability there */
    if (init->request.switch_ids
        && (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0
            || setresuid(0, 0, 0) < 0))
    {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "take the slot's ids");
    }

    /*
     * kill(2) lets a guest signal whose real uid is its own; nothing else that
     * the filter allows asks for that one alone.
     */
    if (setresuid(init->request.guest_uid, (uid_t) -1, (uid_t) -1) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "take the guest's uid");
    }

    return 0;
}


static int
name_host(sbx_init_t *init, sbx_err_t *err)
{
    if ((init->request.namespaces & CLONE_NEWUTS) == 0) {
        return 0;               /* it would be the host's name */
    }

    if (sethostname("sandbox", 7) < 0 || setdomainname("(none)", 6) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "set the host name");
    }

    return 0;
}


/* The next process of the namespace is number 2, as it was for the last run. */
static int
fix_pids(sbx_init_t *init, sbx_err_t *err)
{
    (void) err;

    init->pids_vary = init->last_pid_fd < 0
                      || pwrite(init->last_pid_fd, "1", 1, 0) != 1;

    return 0;
}


static int
drop_rights(sbx_init_t *init, sbx_err_t *err)
{
    (void) init;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        || sbx_caps_limit(CAPS_KEPT) < 0)
    {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "drop capabilities");
    }

    /* a guest with the same uid must not look into us, nor ptrace us */
    if (prctl(PR_SET_DUMPABLE, 0) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "become undumpable");
    }

    /*
     * Only now, because a change of ids clears it.  End of file on the control
     * socket covers a supervisor that died before this line.
     */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "follow the supervisor");
    }

    return 0;
}


static int
setup(sbx_init_t *init, sbx_err_t *err)
{
    size_t i;

    for (i = 0; i < COUNT(setup_steps); i++) {
        if (setup_steps[i](init, err) < 0) {
            return -1;
        }
    }

    return 0;
}


/*
 * The run's first process is the supervisor's child and was reaped by it before
 * the request came; what it left behind is ours.
 */
static int
kill_all(sbx_err_t *err)
{
    pid_t pid;

    if (kill(-1, SIGKILL) < 0 && errno != ESRCH) {
        return sbx_fail(err, SBX_STEP_RESET, errno, "kill what is left");
    }

    do {
        pid = waitpid(-1, NULL, __WALL);
    } while (pid > 0 || errno == EINTR);

    if (errno != ECHILD) {
        return sbx_fail(err, SBX_STEP_RESET, errno, "reap what is left");
    }

    return 0;
}


static int
reset(sbx_init_t *init, sbx_err_t *err)
{
    if (kill_all(err) < 0) {
        return -1;
    }

    if (sbx_fault("layers")) {
        return fix_pids(init, err);
    }

    if (sbx_init_umount_empty(init, err) < 0
        || sbx_init_umount_tmpfs(init, err) < 0
        || sbx_init_mount_tmpfs(init, err) < 0
        || sbx_init_mount_empty(init, err) < 0)
    {
        return -1;
    }

    /* shared memory, semaphores and message queues go with the old one */
    if ((init->request.namespaces & CLONE_NEWIPC)
        && unshare(CLONE_NEWIPC) < 0)
    {
        return sbx_fail(err, SBX_STEP_RESET, errno, "renew the ipc namespace");
    }

    return fix_pids(init, err);
}


static int
adjust(sbx_init_t *init, sbx_err_t *err)
{
    if (sbx_init_resize_tmpfs(init, err) < 0
        || sbx_init_umount_empty(init, err) < 0)
    {
        return -1;
    }

    return sbx_init_mount_empty(init, err);
}


static int
serve(sbx_init_t *init, const sbx_slot_request_t *request, sbx_err_t *err)
{
    if (request->op == SBX_SLOT_SETUP && init->request.op == 0) {
        init->request = *request;
        init->request.root.dir[sizeof(init->request.root.dir) - 1] = '\0';

        return setup(init, err);
    }

    init->request.disk_bytes = request->disk_bytes;
    init->request.proc_empty = request->proc_empty;

    if (request->op == SBX_SLOT_RESET && init->request.op != 0) {
        return reset(init, err);
    }

    if (request->op == SBX_SLOT_ADJUST && init->request.op != 0) {
        return adjust(init, err);
    }

    return sbx_fail(err, SBX_STEP_SLOT, EPROTO, "unexpected request %u",
                    request->op);
}


/* Descriptor for SIGCHLD and, or not, SIGUSR1; fd: that one is changed. */
static int
watch_signals(int fd, int hook)
{
    sigset_t set;

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGCHLD);

    if (hook) {
        (void) sigaddset(&set, SIGUSR1);
    }

    return signalfd(fd, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}


static void
reap(sbx_init_t *init)
{
    ssize_t n;
    struct signalfd_siginfo info;

    do {
        n = read(init->signal_fd, &info, sizeof(info));

        if (n == sizeof(info) && info.ssi_signo == SIGUSR1) {
            init->signals++;
            init->signal_pid = (int32_t) info.ssi_pid;

            if (init->signals == SIGNALS_MAX) {
                (void) watch_signals(init->signal_fd, 0);
            }
        }
    } while (n > 0 || (n < 0 && errno == EINTR));

    while (waitpid(-1, NULL, WNOHANG | __WALL) > 0) {
        /* orphans of the run; nobody asks how they ended */
    }
}


/* The next run's count begins at 0, also if one of the last is still there. */
static void
forget_signals(sbx_init_t *init)
{
    struct signalfd_siginfo info;

    if (init->signals >= SIGNALS_MAX) {
        (void) watch_signals(init->signal_fd, 1);

        while (read(init->signal_fd, &info, sizeof(info)) > 0) {
            /* the run is over; who ended has been waited for */
        }
    }

    init->signals = 0;
}


/* 1: more may follow; 0: the supervisor is gone. */
static int
answer(sbx_init_t *init)
{
    ssize_t n;
    sbx_slot_reply_t reply;
    sbx_slot_request_t request;

    n = recv(SBX_SLOT_CONTROL_FD, &request, sizeof(request), 0);

    if (n < 0 && errno == EINTR) {
        return 1;
    }

    if (n != sizeof(request)) {
        return 0;
    }

    memset(&reply, 0, sizeof(reply));
    init->leaked = 0;
    reap(init);             /* a signal came before the end of its run */

    reply.op = request.op;
    reply.failed = serve(init, &request, &reply.err) < 0;
    reply.missing = init->missing;
    reply.pids_vary = (uint32_t) init->pids_vary;
    reply.leaked = (uint32_t) init->leaked;

    if (request.op == SBX_SLOT_RESET) {
        reply.signals = init->signals;
        reply.signal_pid = init->signal_pid;
        forget_signals(init);
    }

    do {
        n = send(SBX_SLOT_CONTROL_FD, &reply, sizeof(reply), MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);

    return n == sizeof(reply);
}


/*
 * Everything but SIGCHLD and SIGUSR1 stays unblocked with its default action:
 * the kernel drops such signals for a namespace's init; blocked ones would pile
 * up.  These two do not: there is at most one of each.
 */
static int
open_signals(void)
{
    int signo;
    sigset_t set;

    for (signo = 1; signo < NSIG; signo++) {
        (void) signal(signo, SIG_DFL);
    }

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGCHLD);
    (void) sigaddset(&set, SIGUSR1);
    (void) sigprocmask(SIG_SETMASK, &set, NULL);

    return watch_signals(-1, 1);
}


int
sbx_slot_init_main(int argc, char **argv)
{
    int n;
    sbx_init_t init = { .last_pid_fd = -1 };
    struct pollfd pfds[2];

    (void) argc;
    (void) argv;

    (void) prctl(PR_SET_NAME, "sbx-slot-init");
    (void) umask(0);

    /* 0 to 2 too: they are the supervisor's, and log lines are its business */
    (void) close(0);
    (void) close(1);
    (void) close(2);
    sbx_fd_close_from(SBX_SLOT_CONTROL_FD + 1);

    pfds[0].fd = init.signal_fd = open_signals();
    pfds[1].fd = SBX_SLOT_CONTROL_FD;
    pfds[0].events = pfds[1].events = POLLIN;

    if (pfds[0].fd < 0) {
        return 1;
    }

    for ( ;; ) {
        n = poll(pfds, 2, -1);

        if (n < 0 && errno != EINTR) {
            return 1;
        }

        if (n > 0 && pfds[0].revents != 0) {
            reap(&init);
        }

        if (n > 0 && pfds[1].revents != 0 && !answer(&init)) {
            return 0;
        }
    }
}
