/*
 * sbx_slot.c: the supervisor's side of a slot.
 *
 * Clones and executes the slot's init, writes its id maps, and sends it
 * requests; whatever takes time happens over there.  Works in the cell, as root
 * or, in the cell's user namespace, as any user.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_layer.h"
#include "sbx_ns.h"
#include "sbx_slot.h"
#include "sbx_slot_proto.h"
#include "sbx_sysfile.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL  0x0008U
#endif

#define SLOT_NAMESPACES                                                       \
    (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)

#define STACK_BYTES      (64 << 10)

/* What the init's first instructions need, on memory shared with us. */
typedef struct {
    int self_fd;            /* our own program */
    int ctl_fd;
    sigset_t signals;
    int errnum;             /* set when it failed before exec */
    const char *what;
} birth_t;

/* An init that was killed and is not reaped yet. */
typedef struct grave_s grave_t;

struct grave_s {
    grave_t *next;
    pid_t pid;
    int pidfd;
    sbx_cgroup_t cgroup;
};


static grave_t *graves;


static void
reap_graves(void)
{
    pid_t pid;
    grave_t *grave, **link = &graves;

    while ((grave = *link) != NULL) {
        pid = waitpid(grave->pid, NULL, WNOHANG | __WALL);

        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            link = &grave->next;
            continue;
        }

        *link = grave->next;
        sbx_fd_close(&grave->pidfd);
        sbx_cgroup_close(&grave->cgroup);
        free(grave);
    }
}


static void
clear_page(sbx_page_t *page)
{
    memset(page, 0, SBX_PAGE_SIZE);
    page->magic = SBX_PAGE_MAGIC;
    page->mode = SBX_HOOK_COUNT;
    page->limit = INT64_MAX;
    page->alloc_limit = INT64_MAX;
}


static int
open_page(sbx_slot_t *slot, sbx_err_t *err)
{
    int fd;
    void *page;
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;

    fd = memfd_create("sbx-page", flags | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create("sbx-page", flags);   /* before 6.3 */
    }

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "create the hook's page");
    }

    slot->page_fd = fd;

    /* a guest that could shrink it would give the supervisor a SIGBUS */
    if (ftruncate(fd, SBX_PAGE_SIZE) < 0
        || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
           < 0)
    {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "size the hook's page");
    }

    page = mmap(NULL, SBX_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page == MAP_FAILED) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "map the hook's page");
    }

    slot->page = page;
    clear_page(slot->page);

    return 0;
}


/*
 * Opened once: a package upgrade may replace the file while we run.  Well above
 * the init's control descriptor, which be_born places without looking.
 */
static int
open_self(void)
{
    int low;
    static int fd = -1;

    if (fd < 0) {
        low = open("/proc/self/exe", O_PATH | O_CLOEXEC);

        if (low >= 0) {
            fd = fcntl(low, F_DUPFD_CLOEXEC, SBX_SLOT_CONTROL_FD + 1);
            sbx_fd_close(&low);
        }
    }

    return fd;
}


/*
 * Between clone and exec, on the supervisor's memory and a stack of its own,
 * while the supervisor waits (CLONE_VFORK): system calls only.
 */
static int
be_born(void *data)
{
    birth_t *birth = data;
    static char name[] = "deer-flow", verb[] = SBX_SLOT_INIT;
    static char *argv[] = { name, verb, NULL };
#ifdef SBX_FAULTS
    char **envp = environ;
#else
    static char *envp[] = { NULL };
#endif

    birth->what = "keep capabilities";

    /*
     * Of the new user namespace, in which no id is mapped yet: only ambient
     * capabilities survive an exec there.
     */
    if (sbx_caps_keep() < 0) {
        birth->errnum = errno;
        return 1;
    }

    birth->what = "place the control socket";

    if (birth->ctl_fd == SBX_SLOT_CONTROL_FD) {
        if (fcntl(birth->ctl_fd, F_SETFD, 0) < 0) {
            birth->errnum = errno;
            return 1;
        }

    } else if (dup2(birth->ctl_fd, SBX_SLOT_CONTROL_FD) < 0) {
        birth->errnum = errno;
        return 1;
    }

    birth->what = "execute";
    (void) syscall(SYS_execveat, birth->self_fd, "", argv, envp, AT_EMPTY_PATH);
    birth->errnum = errno;

    return 1;
}


static int
clone_init(sbx_slot_t *slot, int ctl_fd, int namespaces, sbx_err_t *err)
{
    int pid, pidfd = -1;
    char *stack;
    birth_t birth = { .ctl_fd = ctl_fd, .self_fd = open_self() };
    sigset_t all;

    if (birth.self_fd < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "open /proc/self/exe");
    }

    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "map a stack");
    }

    /* a handler of ours must not run in the init on our memory */
    (void) sigfillset(&all);
    (void) sigprocmask(SIG_SETMASK, &all, &birth.signals);

    pid = clone(be_born, stack + STACK_BYTES,
                namespaces | CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                &birth, &pidfd);

    if (pid < 0) {
        sbx_fail(err, SBX_STEP_SLOT, errno, "clone the init of slot %d%s",
                 slot->index,
                 namespaces & CLONE_NEWUSER ? " (with a user namespace)" : "");
    }

    (void) sigprocmask(SIG_SETMASK, &birth.signals, NULL);
    (void) munmap(stack, STACK_BYTES);

    if (pid < 0) {
        return -1;
    }

    slot->pid = pid;
    slot->pidfd = pidfd;

    if (birth.errnum != 0) {
        return sbx_fail(err, SBX_STEP_SLOT, birth.errnum,
                        "%s the init of slot %d", birth.what, slot->index);
    }

    return 0;
}


/*
 * The init's directory in /proc.  Its number there is the kernel's word on the
 * pidfd, which fits even where /proc is another pid namespace's.
 */
static int
open_proc(const sbx_slot_t *slot)
{
    char text[512], path[64];
    uint64_t pid;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", slot->pidfd);

    if (sbx_sysfile_read(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return -1;
    }

    pid = sbx_sysfile_key(text, "Pid:");
    snprintf(path, sizeof(path), "/proc/%llu", (unsigned long long) pid);

    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}


/*
 * Privileged: host ids of the slot's own for the init (0 inside) and the guest.
 * Else, or where the ids are not to be had (a container's own map): one line,
 * the guest is our own id outside.  Sets request->switch_ids.
 */
static int
map_ids(sbx_slot_t *slot, int privileged, sbx_slot_request_t *request,
    sbx_err_t *err)
{
    char uids[96], gids[96];
    unsigned host = SBX_HOST_UID + 2 * (unsigned) slot->index;
    SBX_AUTOCLOSE int fd = -1;

    fd = open_proc(slot);
    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno,
                        "find the init of slot %d in /proc", slot->index);
    }

    if (privileged) {
        snprintf(uids, sizeof(uids), "0 %u 1\n%u %u 1\n", host, SBX_GUEST_UID,
                 host + 1);

        if (sbx_ns_map(fd, uids, NULL, uids) == 0) {
            request->switch_ids = 1;
            slot->host_uid = host + 1;
            return 0;
        }

        if (errno != EPERM) {
            return sbx_fail(err, SBX_STEP_SLOT, errno,
                            "map ids %u and %u of slot %d", host, host + 1,
                            slot->index);
        }
    }

    snprintf(uids, sizeof(uids), "%u %u 1\n", SBX_GUEST_UID, geteuid());
    snprintf(gids, sizeof(gids), "%u %u 1\n", SBX_GUEST_UID, getegid());

    if (sbx_ns_map(fd, uids, "deny", gids) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "map uid %u of slot %d",
                        geteuid(), slot->index);
    }

    slot->missing |= SBX_LAYER_UID;

    return 0;
}


static int
request_init(sbx_slot_t *slot, sbx_slot_request_t *request,
    const sbx_slot_setup_t *setup, sbx_step_t step, sbx_err_t *err)
{
    ssize_t n;

    request->disk_bytes = setup->disk_bytes;
    request->proc_empty = setup->proc_empty != 0;

    do {
        n = send(slot->ctl_fd, request, sizeof(*request),
                 MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);

    if (n != sizeof(*request)) {
        return sbx_fail(err, step, errno, "ask the init of slot %d",
                        slot->index);
    }

    slot->disk_bytes = setup->disk_bytes;
    slot->proc_empty = setup->proc_empty;
    slot->pending++;

    return 0;
}


static int
start_init(sbx_slot_t *slot, const sbx_root_t *root, int privileged, int userns,
    const sbx_slot_setup_t *setup, sbx_err_t *err)
{
    int pair[2], rc;
    sbx_slot_request_t request = { .op = SBX_SLOT_SETUP };

    request.namespaces = sbx_ns_supported(SLOT_NAMESPACES, &slot->missing);

    if (userns) {
        request.namespaces |= CLONE_NEWUSER;
        slot->uid = slot->gid = SBX_GUEST_UID;
        slot->host_uid = geteuid();

    } else {
        slot->missing |= SBX_LAYER_USER;
        slot->uid = slot->gid = SBX_HOST_UID + 2 * (unsigned) slot->index + 1;
        slot->host_uid = slot->uid;
    }

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        return sbx_fail(err, SBX_STEP_SLOT, errno, "socketpair");
    }

    slot->ctl_fd = pair[0];
    rc = clone_init(slot, pair[1], request.namespaces, err);
    sbx_fd_close(&pair[1]);

    if (rc < 0 || (userns && map_ids(slot, privileged, &request, err) < 0)) {
        return -1;
    }

    slot->ns_flags = request.namespaces & ~CLONE_NEWPID;
    request.guest_uid = slot->uid;
    request.guest_gid = slot->gid;
    request.root = *root;

    return request_init(slot, &request, setup, SBX_STEP_SLOT, err);
}


int
sbx_slot_open(sbx_slot_t *slot, int index, const sbx_root_t *root,
    const sbx_cgroup_host_t *cgroups, int cell_privileged, int userns,
    const sbx_slot_setup_t *setup, sbx_err_t *err)
{
    memset(slot, 0, sizeof(sbx_slot_t));

    slot->index = index;
    slot->pidfd = -1;
    slot->ctl_fd = -1;
    slot->page_fd = -1;

    reap_graves();

    if (sbx_cgroup_open(&slot->cgroup, cgroups, index, err) < 0
        || open_page(slot, err) < 0)
    {
        return -1;
    }

    if (slot->cgroup.memory_fd < 0 || slot->cgroup.pids_fd < 0) {
        slot->missing |= SBX_LAYER_CGROUP;
    }

    return start_init(slot, root, cell_privileged, userns, setup, err);
}


int
sbx_slot_reset(sbx_slot_t *slot, const sbx_slot_setup_t *setup, sbx_err_t *err)
{
    sbx_slot_request_t request = { .op = SBX_SLOT_RESET };

    return request_init(slot, &request, setup, SBX_STEP_RESET, err);
}


int
sbx_slot_adjust(sbx_slot_t *slot, const sbx_slot_setup_t *setup,
    sbx_err_t *err)
{
    sbx_slot_request_t request = { .op = SBX_SLOT_ADJUST };

    return request_init(slot, &request, setup, SBX_STEP_SLOT, err);
}


int
sbx_slot_ready(sbx_slot_t *slot, sbx_err_t *err)
{
    ssize_t n;
    sbx_slot_reply_t reply;

    reap_graves();

    n = recv(slot->ctl_fd, &reply, sizeof(reply), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }

    if (n != sizeof(reply)) {
        return sbx_fail(err, SBX_STEP_SLOT, n < 0 ? errno : EPIPE,
                        "the init of slot %d is gone", slot->index);
    }

    if (reply.failed) {
        reply.err.text[sizeof(reply.err.text) - 1] = '\0';
        return sbx_fail(err, reply.err.step, reply.err.errnum, "slot %d: %s",
                        slot->index, reply.err.text);
    }

    slot->missing |= reply.missing;
    slot->pids_vary = reply.pids_vary != 0;

    if (reply.op == SBX_SLOT_RESET) {
        slot->signals = reply.signals;
        slot->signal_pid = reply.signal_pid;
        clear_page(slot->page);
    }

    if (slot->pending > 0) {
        slot->pending--;
    }

    return slot->pending == 0;
}


void
sbx_slot_close(sbx_slot_t *slot)
{
    grave_t *grave;

    sbx_fd_close(&slot->ctl_fd);
    sbx_fd_close(&slot->page_fd);

    if (slot->page != NULL) {
        (void) munmap(slot->page, SBX_PAGE_SIZE);
        slot->page = NULL;
    }

    if (slot->pid > 0) {
        (void) syscall(SYS_pidfd_send_signal, slot->pidfd, SIGKILL, NULL, 0);

        grave = malloc(sizeof(grave_t));

        if (grave != NULL) {
            grave->next = graves;
            grave->pid = slot->pid;
            grave->pidfd = slot->pidfd;
            grave->cgroup = slot->cgroup;
            graves = grave;

        } else {
            /* a zombie and an empty cgroup stay until the cell ends */
            sbx_fd_close(&slot->pidfd);
        }

        slot->pid = 0;
        slot->pidfd = -1;

    } else {
        sbx_cgroup_close(&slot->cgroup);
    }

    memset(&slot->cgroup, 0, sizeof(slot->cgroup));
    slot->cgroup.memory_fd = slot->cgroup.pids_fd = slot->cgroup.cpu_fd = -1;

    reap_graves();
}
