/*
 * sbx_child.c: the list of steps that turns a fork of a zygote into a child.
 *
 * Runs in the child, between clone and the program, with the zygote's rights
 * at the top of the list and none at its end.  What comes in is the FORK
 * message and its descriptors; what goes out is 0, or the step that failed.  A
 * step that fails ends the child before it has seen a job.
 */

#include "sbx_child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_fault.h"
#include "sbx_landlock.h"
#include "sbx_page.h"
#include "sbx_root.h"
#include "sbx_sysfile.h"

/* the kernel's first real-time signal; libc keeps those below SIGRTMIN */
#define INTERNAL_SIGNALS    32

typedef struct {
    sbx_step_t step;
    int (*run)(sbx_child_t *child, sbx_err_t *err);
} step_t;

typedef struct {
    int resource;
    rlim_t value;
    const char *name;
} rlimit_t;


static int enter_slot(sbx_child_t *child, sbx_err_t *err);
static int start_session(sbx_child_t *child, sbx_err_t *err);
static int take_fds(sbx_child_t *child, sbx_err_t *err);
static int take_page(sbx_child_t *child, sbx_err_t *err);
static int apply_rlimits(sbx_child_t *child, sbx_err_t *err);
static int drop_bounding(sbx_child_t *child, sbx_err_t *err);
static int drop_ids(sbx_child_t *child, sbx_err_t *err);
static int drop_caps(sbx_child_t *child, sbx_err_t *err);
static int apply_landlock(sbx_child_t *child, sbx_err_t *err);
static int apply_filter(sbx_child_t *child, sbx_err_t *err);
static int move_fd(int *fd, int to, int flags, sbx_err_t *err);
static int get_caps(struct __user_cap_data_struct caps[2]);
static int is_faulty(sbx_step_t step);
#ifdef SBX_FAULTS
static int enter_mounts(sbx_child_t *child, sbx_err_t *err);
#endif


static const step_t steps[] = {
    { SBX_STEP_ENTER, enter_slot },         /* needs the zygote's rights */
    { SBX_STEP_SESSION, start_session },
    { SBX_STEP_FDS, take_fds },             /* no descriptor of the zygote */
    { SBX_STEP_RLIMITS, apply_rlimits },    /* hard limits only go down */
    { SBX_STEP_CAPS, drop_bounding },       /* needs CAP_SETPCAP */
    { SBX_STEP_IDS, drop_ids },             /* needs CAP_SETUID, CAP_SETGID */
    { SBX_STEP_CAPS, drop_caps },           /* no rights below this line */
    { SBX_STEP_LANDLOCK, apply_landlock },  /* needs no_new_privs */
    { SBX_STEP_SECCOMP, apply_filter },     /* last: forbids all of the above */
    { SBX_STEP_NONE, NULL }
};


#ifdef SBX_FAULTS

/* What the layers cost is measured against children that have none of them. */
static const step_t bare_steps[] = {
    { SBX_STEP_ENTER, enter_mounts },
    { SBX_STEP_SESSION, start_session },
    { SBX_STEP_FDS, take_fds },
    { SBX_STEP_NONE, NULL }
};

#endif


/* The run's own limits come from the supervisor, by prlimit. */
static const rlimit_t rlimits[] = {
    { RLIMIT_CORE, 0, "core" },             /* no dumps on the host */
    { RLIMIT_MEMLOCK, 64 << 10, "memlock" },
    { RLIMIT_MSGQUEUE, 0, "msgqueue" },
    { RLIMIT_NICE, 0, "nice" },
    { RLIMIT_RTPRIO, 0, "rtprio" },         /* real time starves the host */
    { RLIMIT_SIGPENDING, 256, "sigpending" }    /* kernel memory; also timers */
};


int
sbx_child_enter(sbx_child_t *child, sbx_err_t *err)
{
    const step_t *s = steps;

#ifdef SBX_FAULTS
    if (sbx_fault("layers")) {
        s = bare_steps;
    }
#endif

    for ( /* void */ ; s->run != NULL; s++) {
        if (is_faulty(s->step)) {
            return sbx_fail(err, s->step, EPERM, "injected fault");
        }

        if (s->run(child, err) < 0) {
            return -1;
        }
    }

    return 0;
}


/*
 * posix_spawn, by which make and others start what starts us, leaves libc's own
 * two signals ignored, and libc's sigaction does not touch them.  A handler that
 * libc has set there is needed and stays.
 */
static void
reset_internal_signals(void)
{
    long i;
    struct {                /* the kernel's sigaction, not libc's */
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } old;

    for (i = INTERNAL_SIGNALS; i < SIGRTMIN; i++) {
        memset(&old, 0, sizeof(old));

        if (syscall(SYS_rt_sigaction, i, NULL, &old, sizeof(old.mask)) == 0
            && old.handler == SIG_IGN)
        {
            old.handler = SIG_DFL;
            (void) syscall(SYS_rt_sigaction, i, &old, NULL, sizeof(old.mask));
        }
    }
}


void
sbx_child_signals(void)
{
    int i;
    sigset_t none;
    struct sigaction dfl;

    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    sigemptyset(&dfl.sa_mask);

    /* fails for SIGKILL and SIGSTOP, where there is nothing to undo */
    for (i = 1; i < NSIG; i++) {
        (void) sigaction(i, &dfl, NULL);
    }

    reset_internal_signals();

    sigemptyset(&none);
    (void) sigprocmask(SIG_SETMASK, &none, NULL);
}


/*
 * All namespaces in one call: it is one commit in the kernel, and the user
 * namespace's rights are needed for the others.  The mount namespace brings
 * the slot's root with it.
 */
static int
enter_slot(sbx_child_t *child, sbx_err_t *err)
{
    if (child->fork->ns_flags != 0
        && setns(child->slot_pidfd, child->fork->ns_flags) < 0)
    {
        return sbx_fail(err, SBX_STEP_ENTER, errno, "setns into the slot");
    }

    if (chdir(SBX_RUN_DIR) < 0) {
        return sbx_fail(err, SBX_STEP_ENTER, errno, "chdir %s", SBX_RUN_DIR);
    }

    return 0;
}


/*
 * Without a session of its own a program could signal the zygote's process
 * group or reach a controlling terminal.
 */
static int
start_session(sbx_child_t *child, sbx_err_t *err)
{
    (void) child;

    if (setsid() < 0) {
        return sbx_fail(err, SBX_STEP_SESSION, errno, "setsid");
    }

    umask(022);

    return 0;
}


static int
take_fds(sbx_child_t *child, sbx_err_t *err)
{
    if (move_fd(&child->in_fd, STDIN_FILENO, 0, err) < 0
        || move_fd(&child->out_fd, STDOUT_FILENO, 0, err) < 0
        || move_fd(&child->err_fd, STDERR_FILENO, 0, err) < 0
        || move_fd(&child->job_fd, SBX_CHILD_JOB_FD, O_CLOEXEC, err) < 0
        || take_page(child, err) < 0)
    {
        return -1;
    }

    if (child->statm_fd >= 0
        && move_fd(&child->statm_fd, SBX_CHILD_STATM_FD, O_CLOEXEC, err) < 0)
    {
        return -1;
    }

    if (child->statm_fd < 0) {
        close(SBX_CHILD_STATM_FD);
    }

    /* CVE-2024-21626: one forgotten directory is a way out of the root */
    sbx_fd_close_from(SBX_CHILD_FDS);

    return 0;
}


/*
 * The hook that this zygote has already loaded counts on a page of the
 * zygote's: the slot's page takes its place at the same address.
 */
static int
take_page(sbx_child_t *child, sbx_err_t *err)
{
    if (child->page_at != NULL
        && mmap(child->page_at, SBX_PAGE_SIZE, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, child->page_fd, 0)
           == MAP_FAILED)
    {
        return sbx_fail(err, SBX_STEP_FDS, errno, "map the hook's page");
    }

    return move_fd(&child->page_fd, SBX_CHILD_PAGE_FD, 0, err);
}


static int
apply_rlimits(sbx_child_t *child, sbx_err_t *err)
{
    size_t i;
    struct rlimit have, want;

    (void) child;

    for (i = 0; i < sizeof(rlimits) / sizeof(rlimits[0]); i++) {
        if (getrlimit(rlimits[i].resource, &have) < 0) {
            return sbx_fail(err, SBX_STEP_RLIMITS, errno, "getrlimit %s",
                            rlimits[i].name);
        }

        want.rlim_cur = want.rlim_max = rlimits[i].value;

        if (want.rlim_max > have.rlim_max) {
            want.rlim_cur = want.rlim_max = have.rlim_max;
        }

        if (setrlimit(rlimits[i].resource, &want) < 0) {
            return sbx_fail(err, SBX_STEP_RLIMITS, errno, "setrlimit %s",
                            rlimits[i].name);
        }
    }

    return 0;
}


/*
 * With an empty bounding set no file on any mount gives a capability back.  A
 * zygote without CAP_SETPCAP has none to lose: its slot is no user namespace
 * and it is no root.
 */
static int
drop_bounding(sbx_child_t *child, sbx_err_t *err)
{
    int cap;
    struct __user_cap_data_struct caps[2];
    static const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED
        | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED
        | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

    (void) child;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "no_new_privs");
    }

    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "clear ambient set");
    }

    if (get_caps(caps) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "capget");
    }

    if ((caps[CAP_TO_INDEX(CAP_SETPCAP)].effective
         & CAP_TO_MASK(CAP_SETPCAP))
        == 0)
    {
        return 0;
    }

    /* the kernel may know more of them than our headers: until it says so */
    for (cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++) {
        /* one capability per call is all there is */
    }

    if (errno != EINVAL) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "drop capability %d from "
                        "the bounding set", cap);
    }

    if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "securebits");
    }

    return 0;
}


static int
drop_ids(sbx_child_t *child, sbx_err_t *err)
{
    uid_t uid = child->fork->uid;
    gid_t gid = child->fork->gid;
    int same;

    same = getuid() == uid && geteuid() == uid && getgid() == gid
           && getegid() == gid;

    /*
     * A user namespace made without privileges forbids setgroups for good;
     * there the slot's ids are our own already, and so are the groups.
     */
    if (syscall(SYS_setgroups, 0, NULL) < 0 && !(errno == EPERM && same)) {
        return sbx_fail(err, SBX_STEP_IDS, errno, "setgroups");
    }

    /* raw: libc's would look for other threads, of which there are none */
    if (syscall(SYS_setresgid, gid, gid, gid) < 0) {
        return sbx_fail(err, SBX_STEP_IDS, errno, "setresgid %u", gid);
    }

    if (syscall(SYS_setresuid, uid, uid, uid) < 0) {
        return sbx_fail(err, SBX_STEP_IDS, errno, "setresuid %u", uid);
    }

    return 0;
}


static int
drop_caps(sbx_child_t *child, sbx_err_t *err)
{
    struct __user_cap_data_struct caps[2];
    struct __user_cap_header_struct head = {
        .version = _LINUX_CAPABILITY_VERSION_3, .pid = 0
    };

    (void) child;

    memset(caps, 0, sizeof(caps));

    if (syscall(SYS_capset, &head, caps) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "capset");
    }

    if (get_caps(caps) < 0
        || (caps[0].permitted | caps[1].permitted
            | caps[0].effective | caps[1].effective
            | caps[0].inheritable | caps[1].inheritable) != 0)
    {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "capabilities are left");
    }

    /*
     * Changed ids made the process undumpable, and its own /proc/self root's.
     * Programs read theirs.  Nobody else is in the slot to profit.
     */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) {
        return sbx_fail(err, SBX_STEP_CAPS, errno, "dumpable");
    }

    return 0;
}


static int
apply_landlock(sbx_child_t *child, sbx_err_t *err)
{
    if (child->fork->flags & SBX_FORK_NO_LANDLOCK) {
        return 0;
    }

    return sbx_landlock_apply(err);
}


static int
apply_filter(sbx_child_t *child, sbx_err_t *err)
{
    if (child->filter == NULL) {
        return 0;
    }

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, child->filter) < 0) {
        return sbx_fail(err, SBX_STEP_SECCOMP, errno, "load the filter");
    }

    return 0;
}


/*
 * No source is below SBX_CHILD_FDS, so no move overwrites a later source.
 */
static int
move_fd(int *fd, int to, int flags, sbx_err_t *err)
{
    if (*fd < SBX_CHILD_FDS) {
        return sbx_fail(err, SBX_STEP_FDS, EBADF, "descriptor %d for %d", *fd,
                        to);
    }

    if (dup3(*fd, to, flags) < 0) {
        return sbx_fail(err, SBX_STEP_FDS, errno, "dup to %d", to);
    }

    *fd = to;

    return 0;
}


static int
get_caps(struct __user_cap_data_struct caps[2])
{
    struct __user_cap_header_struct head = {
        .version = _LINUX_CAPABILITY_VERSION_3, .pid = 0
    };

    return (int) syscall(SYS_capget, &head, caps);
}


static int
is_faulty(sbx_step_t step)
{
#ifdef SBX_FAULTS
    const char *name = getenv("SBX_FAULT");

    return name != NULL && strcmp(name, sbx_step_name(step)) == 0;
#else
    (void) step;

    return 0;
#endif
}


#ifdef SBX_FAULTS

/* The slot's place for a program's file, and nothing else of the slot. */
static int
enter_mounts(sbx_child_t *child, sbx_err_t *err)
{
    if (setns(child->slot_pidfd, CLONE_NEWNS) < 0 || chdir(SBX_RUN_DIR) < 0) {
        return sbx_fail(err, SBX_STEP_ENTER, errno, "enter the slot's mounts");
    }

    /* the last run's: nobody else has cleared it away */
    (void) unlink("main.py");
    (void) unlink("main.js");

    return 0;
}

#endif
