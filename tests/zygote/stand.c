/*
 * stand.c: the stand-in supervisor of the zygote tests: slots and zygotes.
 *
 * Runs as root or as a normal user.  Its slot is a clone with namespaces of its
 * own, two tmpfs and a /proc, on the host's root: the bare root is not what is
 * tested here.
 */

#include "stand.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_filter.h"
#include "sbx_ns.h"
#include "sbx_page.h"
#include "sbx_root.h"
#include "sbx_slot.h"

static int privileged;
static int filters_fd = -1;


void
stand_die(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}


static void
write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        stand_die(path);
    }

    close(fd);
}


int
stand_privileged(void)
{
    return privileged;
}


void
stand_enter(void)
{
    int status, flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET;
    char uid_map[64], gid_map[64];
    pid_t pid;
    sbx_err_t err;

    privileged = geteuid() == 0;
    snprintf(uid_map, sizeof(uid_map), "%u %u 1", getuid(), getuid());
    snprintf(gid_map, sizeof(gid_map), "%u %u 1", getgid(), getgid());

    if (unshare(flags | (privileged ? 0 : CLONE_NEWUSER)) < 0) {
        stand_die("unshare");
    }

    if (!privileged) {
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", uid_map);
        write_file("/proc/self/gid_map", gid_map);
    }

    pid = fork();

    /* an init above, as a cell has: CLONE_PARENT is not for its pid 1 */
    if (pid > 0) {
        waitpid(pid, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }

    prctl(PR_SET_PDEATHSIG, SIGKILL);

    pid = fork();
    if (pid > 0) {
        waitpid(pid, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
        || mount("proc", "/proc", "proc", 0, NULL) < 0)
    {
        stand_die("mount /proc");
    }

    filters_fd = sbx_filter_build(&err);
    if (filters_fd < 0) {
        stand_die(err.text);
    }
}


static void __attribute__((noreturn))
slot_init(int ready_fd, int go_fd, size_t disk_bytes)
{
    char byte, options[64];

    if (read(go_fd, &byte, 1) != 1) {
        _exit(1);
    }

    /* an id without a mapping cannot own files of this namespace's mounts */
    if (privileged && (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)) {
        _exit(4);
    }

    snprintf(options, sizeof(options), "size=%zu,nr_inodes=512,mode=1777",
             disk_bytes);

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
        || mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 options) < 0
        || mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 options) < 0
        || mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 NULL) < 0
        || mkdir(SBX_RUN_DIR, 0755) < 0
        || (privileged && chown(SBX_RUN_DIR, SBX_GUEST_UID, SBX_GUEST_UID) < 0)
        || sethostname("sandbox", 7) < 0)
    {
        _exit(2);
    }

    if (write(ready_fd, "r", 1) != 1) {
        _exit(3);
    }

    for ( ;; ) {
        if (wait(NULL) < 0) {
            pause();
        }
    }
}


void
slot_open(slot_t *slot, size_t disk_bytes)
{
    char byte, path[64], map[128];
    int ready[2], go[2];

    slot->ns_flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
    slot->uid = slot->gid = SBX_GUEST_UID;

    if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
        stand_die("pipe");
    }

    slot->pid = sbx_ns_clone(slot->ns_flags | CLONE_NEWPID);
    if (slot->pid < 0) {
        stand_die("clone a slot");
    }

    if (slot->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        slot_init(ready[1], go[0], disk_bytes);
    }

    snprintf(path, sizeof(path), "/proc/%d/uid_map", slot->pid);

    if (privileged) {
        snprintf(map, sizeof(map), "0 %u 1\n1000 %u 1\n", SBX_HOST_UID,
                 SBX_HOST_UID + 1);
    } else {
        snprintf(map, sizeof(map), "%u %u 1\n", SBX_GUEST_UID, getuid());
    }

    write_file(path, map);

    if (!privileged) {
        snprintf(path, sizeof(path), "/proc/%d/setgroups", slot->pid);
        write_file(path, "deny");
        snprintf(map, sizeof(map), "%u %u 1\n", SBX_GUEST_UID, getgid());
    }

    snprintf(path, sizeof(path), "/proc/%d/gid_map", slot->pid);
    write_file(path, map);

    if (write(go[1], "g", 1) != 1 || close(ready[1]) < 0
        || read(ready[0], &byte, 1) != 1)
    {
        stand_die("slot init");
    }

    close(ready[0]);
    close(go[0]);
    close(go[1]);

    slot->pidfd = (int) syscall(SYS_pidfd_open, slot->pid, 0);
    if (slot->pidfd < 0) {
        stand_die("pidfd_open");
    }
}


void
slot_close(slot_t *slot)
{
    kill(slot->pid, SIGKILL);
    waitpid(slot->pid, NULL, 0);
    close(slot->pidfd);
}


/* Loaded in front of the zygote, as a container runtime would. */
static void
apply_outer(outer_t outer)
{
    static const int numbers[] = {
        [OUTER_NO_CLONE3] = SYS_clone3,
        [OUTER_NO_CLOSE_RANGE] = SYS_close_range,
        [OUTER_NO_LANDLOCK] = SYS_landlock_create_ruleset,
        [OUTER_NO_KILLABLE] = SYS_seccomp,
        [OUTER_LISTENER] = SYS_acct
    };
    struct sock_filter insns[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) numbers[outer], 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                 outer == OUTER_NO_KILLABLE ? 1 << 5 : 0xffffffff, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    };
    struct sock_fprog prog = { sizeof(insns) / sizeof(insns[0]), insns };
    int fd, flags = 0;

    if (outer == OUTER_NONE) {
        return;
    }

    /* whatever the second argument is */
    if (outer != OUTER_NO_KILLABLE) {
        insns[3].jt = insns[3].jf = 0;
    }

    if (outer == OUTER_NO_KILLABLE) {
        insns[4].k = SECCOMP_RET_ERRNO | EINVAL;
    }

    if (outer == OUTER_LISTENER) {
        flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
        insns[4].k = SECCOMP_RET_USER_NOTIF;
    }

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

    /* kept open: a chain whose listener is gone is still a chain with one */
    if (fd < 0 || (fd > 0 && fcntl(fd, F_SETFD, 0) < 0)) {
        _exit(124);
    }
}


int
stand_page(void)
{
    int fd = memfd_create("page", MFD_CLOEXEC);
    sbx_page_t page = { .magic = SBX_PAGE_MAGIC, .limit = INT64_MAX,
                        .alloc_limit = INT64_MAX };

    if (fd < 0 || ftruncate(fd, SBX_PAGE_SIZE) < 0
        || pwrite(fd, &page, sizeof(page), 0) != (ssize_t) sizeof(page))
    {
        stand_die("page");
    }

    return fd;
}


static void __attribute__((noreturn))
exec_zygote(int ctl, int page, outer_t outer, const char *fault)
{
    int fds[6], i, log[2];
    char text[64];
    char *argv[] = { "zygote", SBX_ZYGOTE_EXEC, NULL };
    char *env[] = { "PATH=/usr/bin:/bin", NULL, NULL };

    if (pipe2(log, 0) < 0) {
        _exit(123);
    }

    fds[0] = log[0];
    fds[1] = log[1];
    fds[2] = STDERR_FILENO;
    fds[3] = ctl;
    fds[4] = filters_fd;
    fds[5] = page;

    for (i = 0; i < 6; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
    }

    for (i = 0; i < 6; i++) {
        dup2(fds[i], i);
    }

    syscall(SYS_close_range, 6, ~0U, 0);

    if (fault != NULL) {
        snprintf(text, sizeof(text), "SBX_FAULT=%s", fault);
        env[0] = text;
    }

    if (!privileged && sbx_caps_keep() < 0) {
        _exit(122);
    }

    apply_outer(outer);
    execve("/proc/self/exe", argv, env);
    _exit(127);
}


int
zyg_open(zyg_t *z, outer_t outer, const char *fault)
{
    int pair[2], nfds, fds[SBX_FDMSG_MAX];
    ssize_t n;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        stand_die("socketpair");
    }

    z->page_fd = stand_page();
    z->ctl_fd = pair[0];
    z->listener_fd = -1;
    z->pid = fork();

    if (z->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exec_zygote(pair[1], z->page_fd, outer, fault);
    }

    close(pair[1]);
    n = sbx_fdmsg_recv(z->ctl_fd, &z->hello, sizeof(z->hello), fds, &nfds);

    if (nfds > 0) {
        z->listener_fd = fds[0];
    }

    return n == (ssize_t) sizeof(z->hello)
           && z->hello.type == SBX_ZMSG_HELLO ? 0 : -1;
}


void
zyg_close(zyg_t *z)
{
    int status;

    close(z->ctl_fd);
    close(z->page_fd);

    if (z->listener_fd >= 0) {
        close(z->listener_fd);
    }

    waitpid(z->pid, &status, 0);

    if (status != 0) {
        printf("# zygote ended with %x\n", status);
    }
}


int
zyg_count_fds(const zyg_t *z)
{
    int fd, count = 0;
    char path[64];
    struct stat st;

    for (fd = 0; fd < 256; fd++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", z->pid, fd);
        count += lstat(path, &st) == 0;
    }

    return count;
}
