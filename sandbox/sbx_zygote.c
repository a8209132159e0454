/*
 * sbx_zygote.c: forks one child per request from a small, clean process.
 *
 * Runs in the zygote: one thread, no client data, no allocation after start, so
 * each fork begins from the same state.  Talks only to the supervisor, over one
 * socket; what it cannot make sense of it drops, with its descriptors.  The
 * child it has cloned goes on in sbx_standby.c and never comes back here.
 */

#include "sbx_zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_child.h"
#include "sbx_fdmsg.h"
#include "sbx_filter.h"
#include "sbx_page.h"
#include "sbx_standby.h"

/* linux/seccomp.h before 5.19 lacks it. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV  (1UL << 5)
#endif

/* Takes the place of the filters once they are mapped. */
#define PIDNS_FD    SBX_ZYGOTE_FILTERS_FD

#define FORK_FDS    6
#define FORK_FLAGS                                                             \
    (SBX_FORK_FORKING | SBX_FORK_WARM | SBX_FORK_NO_LANDLOCK                   \
     | SBX_FORK_SKIP_SECCOMP)
#define FORK_NS                                                                \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET  \
     | CLONE_NEWCGROUP)

typedef struct {
    const sbx_zygote_ops_t *ops;
    struct sock_fprog filters[SBX_FILTER_COUNT];
    int listener;       /* `notify` of HELLO: 0, 1 or 2 */
    int clone3;         /* 0: hidden by a container's filter */
    void *tid_at;       /* libc's own copy of the thread id */
    void *page_at;      /* the hook's page, NULL: no hook here */
} zygote_t;


static int zygote_open(zygote_t *z, sbx_err_t *err);
static void *find_page(void);
static int load_notify(zygote_t *z);
static int send_hello(const zygote_t *z, int listener);
static int serve(const zygote_t *z);
static int is_fork(const sbx_zmsg_t *msg, ssize_t len, int nfds);
static int fork_child(const zygote_t *z, const sbx_zmsg_t *msg,
    const int fds[FORK_FDS]);
static pid_t clone_child(const zygote_t *z, int *pidfd);
static int reply(const sbx_zmsg_t *msg, sbx_zmsg_type_t type, pid_t pid,
    const sbx_err_t *err, int fd);
static const struct sock_fprog *choose_filter(const zygote_t *z,
    uint32_t flags);
static void run_child(const zygote_t *z, const sbx_zmsg_t *msg,
    const int fds[FORK_FDS]) __attribute__((noreturn));


int
sbx_zygote_main(const sbx_zygote_ops_t *ops)
{
    int rc, listener;
    sbx_err_t err;
    static zygote_t z;

    memset(&err, 0, sizeof(err));
    z.ops = ops;

    if (zygote_open(&z, &err) < 0) {
        (void) reply(NULL, SBX_ZMSG_FAILED, 0, &err, -1);
        return 1;
    }

    listener = load_notify(&z);
    rc = send_hello(&z, listener);

    /* a child that found it here could answer its own notifications */
    if (listener >= 0) {
        close(listener);
    }

    if (rc < 0) {
        return 1;
    }

    while ((rc = serve(&z)) > 0) {
        /* one message after the other */
    }

    return rc < 0 ? 1 : 0;
}


/*
 * Descriptors 0 .. 5 must all be taken: then what a message brings is numbered
 * from 6 on, and the child can move it down without overwriting any of it.
 */
static int
zygote_open(zygote_t *z, sbx_err_t *err)
{
    int fd, ns;

    for (fd = 0; fd < SBX_CHILD_FDS; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            continue;
        }

        /* only the hook, which closes its own, may have left a gap */
        if (fd != SBX_ZYGOTE_PAGE_FD) {
            return sbx_fail(err, SBX_STEP_ZYGOTE, errno, "descriptor %d", fd);
        }

        if (open("/", O_PATH | O_CLOEXEC) != fd) {
            return sbx_fail(err, SBX_STEP_ZYGOTE, errno, "fill descriptor %d",
                            fd);
        }
    }

    for (fd = SBX_ZYGOTE_CONTROL_FD; fd < SBX_CHILD_FDS; fd++) {
        (void) fcntl(fd, F_SETFD, FD_CLOEXEC);
    }

    if (sbx_filter_map(SBX_ZYGOTE_FILTERS_FD, z->filters, err) < 0) {
        return -1;
    }

    ns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    if (ns < 0 || dup3(ns, PIDNS_FD, O_CLOEXEC) < 0) {
        return sbx_fail(err, SBX_STEP_ZYGOTE, errno, "own pid namespace");
    }

    close(ns);

    /* EINVAL comes from the call itself: it is there */
    (void) syscall(SYS_clone3, NULL, 0);
    z->clone3 = (errno == EINVAL);

    /* kernels without checkpoint support do not tell; see clone_child */
    if (prctl(PR_GET_TID_ADDRESS, &z->tid_at, 0, 0, 0) < 0) {
        z->tid_at = NULL;
    }

    z->page_at = find_page();

    return 0;
}


/* The hook has written its own address into the page it shares with us. */
static void *
find_page(void)
{
    void *at = NULL;
    struct stat st;
    const sbx_page_t *page;

    if (fstat(SBX_ZYGOTE_PAGE_FD, &st) < 0 || st.st_size < SBX_PAGE_SIZE) {
        return NULL;
    }

    page = mmap(NULL, SBX_PAGE_SIZE, PROT_READ, MAP_SHARED,
                SBX_ZYGOTE_PAGE_FD, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }

    if (page->magic == SBX_PAGE_MAGIC && page->loaded) {
        at = (void *) (uintptr_t) page->self;
    }

    munmap((void *) page, SBX_PAGE_SIZE);

    return at;
}


/*
 * One listener per chain of filters is all the kernel gives: ours, inherited by
 * all children.  Where another one is in the chain (a container's), where the
 * kernel has none, or where we would have to use the notified `clone`
 * ourselves, the children load the plain filters.  Returns it, or -1.
 */
static int
load_notify(zygote_t *z)
{
    int fd;
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    struct sock_fprog *notify = &z->filters[SBX_FILTER_NOTIFY];

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !z->clone3) {
        return -1;
    }

    /*
     * WAIT_KILLABLE_RECV: else a signal handler may run in the middle of a
     * notification, and the call be made and notified again.
     */
    fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                       flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, notify);

    if (fd >= 0) {
        z->listener = 2;
    }

    if (fd < 0 && errno == EINVAL) {
        fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, notify);
    }

    if (fd >= 0 && z->listener == 0) {
        z->listener = 1;
    }

    return fd;
}


static int
send_hello(const zygote_t *z, int listener)
{
    int fd;
    sbx_zmsg_t msg;

    memset(&msg, 0, sizeof(msg));
    msg.type = SBX_ZMSG_HELLO;
    msg.notify = (uint32_t) z->listener;
    msg.open_files = z->ops->open_files;

    fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        sbx_statm_read(fd, &msg.vm_size, &msg.vm_data);
        close(fd);
    }

    return sbx_fdmsg_send(SBX_ZYGOTE_CONTROL_FD, &msg, sizeof(msg), listener);
}


/*
 * One message.  1: go on, 0: the supervisor is gone, -1: this zygote cannot be
 * used any more.
 */
static int
serve(const zygote_t *z)
{
    int rc = 1, nfds, i, fds[SBX_FDMSG_MAX];
    ssize_t n;
    sbx_zmsg_t msg;

    n = sbx_fdmsg_recv(SBX_ZYGOTE_CONTROL_FD, &msg, sizeof(msg), fds, &nfds);

    if (n == 0) {
        return 0;
    }

    if (n < 0 && errno != EMSGSIZE) {
        return -1;
    }

    if (is_fork(&msg, n, nfds)) {
        rc = fork_child(z, &msg, fds);
    }

    for (i = 0; i < nfds; i++) {
        close(fds[i]);
    }

    return rc;
}


/*
 * The supervisor is trusted, but a mistake in it must not become a child that
 * misses a fence: exact sizes, known bits, no superuser.
 */
static int
is_fork(const sbx_zmsg_t *msg, ssize_t len, int nfds)
{
    sbx_err_t err;

    if (len != (ssize_t) sizeof(*msg) || msg->type != SBX_ZMSG_FORK) {
        return 0;
    }

    if (nfds != FORK_FDS || (msg->flags & ~(uint32_t) FORK_FLAGS) != 0
        || (msg->ns_flags & ~FORK_NS) != 0 || msg->uid == 0 || msg->gid == 0)
    {
        (void) sbx_fail(&err, SBX_STEP_FORK, EINVAL, "bad FORK message: %d "
                        "descriptors, flags %x, ns %x, ids %u %u", nfds,
                        msg->flags, (unsigned) msg->ns_flags, msg->uid,
                        msg->gid);
        (void) reply(msg, SBX_ZMSG_FAILED, 0, &err, -1);

        return 0;
    }

    return 1;
}


/*
 * The child is born in the slot's pid namespace, but as the supervisor's child:
 * that one reaps it, and no pid can be reused behind its back.
 */
static int
fork_child(const zygote_t *z, const sbx_zmsg_t *msg, const int fds[FORK_FDS])
{
    int pidfd = -1, error;
    pid_t pid = -1;
    sbx_err_t err;

    if (setns(fds[0], CLONE_NEWPID) < 0) {
        (void) sbx_fail(&err, SBX_STEP_FORK, errno, "setns into the slot's "
                        "pid namespace");
        return reply(msg, SBX_ZMSG_FAILED, 0, &err, -1);
    }

    pid = clone_child(z, &pidfd);

    if (pid == 0) {
        run_child(z, msg, fds);
    }

    error = errno;

    if (pid < 0) {
        (void) sbx_fail(&err, SBX_STEP_FORK, error, "clone");
        error = reply(msg, SBX_ZMSG_FAILED, 0, &err, -1);

    } else {
        error = reply(msg, SBX_ZMSG_FORKED, pid, NULL, pidfd);
        close(pidfd);
    }

    /* where we stay in the slot, our next children would be born there */
    if (setns(PIDNS_FD, CLONE_NEWPID) < 0) {
        return -1;
    }

    return error;
}


/*
 * A raw clone knows nothing of libc: the kernel writes the new thread id where
 * libc keeps it, else locks would carry the zygote's.
 *
 * CLONE_PARENT demands exit_signal 0.
 */
static pid_t
clone_child(const zygote_t *z, int *pidfd)
{
    unsigned long flags = CLONE_PARENT | CLONE_PIDFD;
    struct clone_args args;

    if (z->tid_at != NULL) {
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    }

    if (!z->clone3) {
#if defined(__x86_64__)
        return (pid_t) syscall(SYS_clone, flags, 0, pidfd, z->tid_at, 0);
#else
        return (pid_t) syscall(SYS_clone, flags, 0, pidfd, 0, z->tid_at);
#endif
    }

    memset(&args, 0, sizeof(args));
    args.flags = flags;
    args.pidfd = (uintptr_t) pidfd;
    args.child_tid = (uintptr_t) z->tid_at;

    return (pid_t) syscall(SYS_clone3, &args, sizeof(args));
}


/* 1, or 0 when the supervisor is gone: what `serve` returns. */
static int
reply(const sbx_zmsg_t *msg, sbx_zmsg_type_t type, pid_t pid,
    const sbx_err_t *err, int fd)
{
    sbx_zmsg_t out;

    memset(&out, 0, sizeof(out));
    out.type = type;
    out.tag = msg != NULL ? msg->tag : 0;
    out.pid = pid;

    if (err != NULL) {
        out.err = *err;
    }

    return sbx_fdmsg_send(SBX_ZYGOTE_CONTROL_FD, &out, sizeof(out), fd) == 0;
}


static void
run_child(const zygote_t *z, const sbx_zmsg_t *msg, const int fds[FORK_FDS])
{
    sbx_child_t child;

    child.fork = msg;
    child.slot_pidfd = fds[0];
    child.job_fd = fds[1];
    child.in_fd = fds[2];
    child.out_fd = fds[3];
    child.err_fd = fds[4];
    child.page_fd = fds[5];
    child.page_at = z->page_at;
    child.filter = choose_filter(z, msg->flags);

    sbx_standby_main(z->ops, &child);
}


static const struct sock_fprog *
choose_filter(const zygote_t *z, uint32_t flags)
{
    int forking = (flags & SBX_FORK_FORKING) != 0;

    if (flags & SBX_FORK_SKIP_SECCOMP) {
        return NULL;
    }

    /* `single` relies on `notify` below it: never without */
    if (z->listener) {
        return &z->filters[forking ? SBX_FILTER_FORKING : SBX_FILTER_SINGLE];
    }

    return &z->filters[forking ? SBX_FILTER_PLAIN_FORKING : SBX_FILTER_PLAIN];
}
