/*
 * stand.c: the stand-in supervisor of the zygote tests.
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
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_filter.h"
#include "sbx_ns.h"
#include "sbx_page.h"
#include "sbx_root.h"
#include "sbx_slot.h"

#define RUN_MS  20000

static int privileged;
static int filters_fd = -1;


static void __attribute__((noreturn))
die(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}


static double
now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec / 1e3;
}


static void
write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        die(path);
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
        die("unshare");
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
        die("mount /proc");
    }

    filters_fd = sbx_filter_build(&err);
    if (filters_fd < 0) {
        die(err.text);
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
        die("pipe");
    }

    slot->pid = sbx_ns_clone(slot->ns_flags | CLONE_NEWPID);
    if (slot->pid < 0) {
        die("clone a slot");
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
        die("slot init");
    }

    close(ready[0]);
    close(go[0]);
    close(go[1]);

    slot->pidfd = (int) syscall(SYS_pidfd_open, slot->pid, 0);
    if (slot->pidfd < 0) {
        die("pidfd_open");
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


static int
make_page(void)
{
    int fd = memfd_create("page", MFD_CLOEXEC);
    sbx_page_t page = { .magic = SBX_PAGE_MAGIC, .limit = INT64_MAX,
                        .alloc_limit = INT64_MAX };

    if (fd < 0 || ftruncate(fd, SBX_PAGE_SIZE) < 0
        || pwrite(fd, &page, sizeof(page), 0) != (ssize_t) sizeof(page))
    {
        die("page");
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
        die("socketpair");
    }

    z->page_fd = make_page();
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


int
has_named(const result_t *r, const char *name)
{
    unsigned i;

    for (i = 0; i < r->nnamed; i++) {
        if (strcmp(r->named[i], name) == 0) {
            return 1;
        }
    }

    return 0;
}


/* The supervisor's decisions: kill, continue a new process, or errno. */
static void
answer(int listener, pid_t pid, uint32_t flags, result_t *r)
{
    char name[32];
    struct seccomp_notif req;
    struct seccomp_notif_resp resp;
    const sbx_syscall_t *row;

    memset(&req, 0, sizeof(req));
    memset(&resp, 0, sizeof(resp));

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) {
        return;
    }

    row = sbx_syscall_by_number(req.data.nr, name, sizeof(name));
    resp.id = req.id;
    resp.error = row != NULL && row->errnum ? -row->errnum : -EPERM;

    if (r->nnamed < 16 && !has_named(r, name)) {
        snprintf(r->named[r->nnamed++], sizeof(r->named[0]), "%s", name);
    }

    if (row != NULL && row->rule == SBX_RULE_KILL) {
        kill(pid, SIGKILL);
    }

    if (row != NULL && row->rule == SBX_RULE_THREAD
        && (flags & SBX_FORK_FORKING))
    {
        resp.error = 0;
        resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }

    (void) ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}


static void
read_more(int *fd, char *buf, size_t *len)
{
    ssize_t n = read(*fd, buf + *len, OUT_MAX - 1 - *len);

    if (n <= 0) {
        close(*fd);
        *fd = -1;
        return;
    }

    *len += (size_t) n;
    buf[*len] = '\0';
}


static void
read_report(int *fd, result_t *r)
{
    int nfds, fds[SBX_FDMSG_MAX];
    sbx_zmsg_t msg;

    if (sbx_fdmsg_recv(*fd, &msg, sizeof(msg), fds, &nfds)
        != (ssize_t) sizeof(msg))
    {
        close(*fd);
        *fd = -1;
        return;
    }

    if (msg.type == SBX_ZMSG_READY) {
        r->ready = 1;
        r->vm_size = msg.vm_size;

    } else if (msg.type == SBX_ZMSG_FAILED) {
        r->failed = msg.err;
    }
}


static pid_t
ask_fork(zyg_t *z, slot_t *slot, uint32_t flags, int job, int in, int out,
    int err, result_t *r)
{
    int nfds, fds[SBX_FDMSG_MAX] = { slot->pidfd, job, in, out, err, -1 };
    sbx_zmsg_t msg;

    memset(&msg, 0, sizeof(msg));
    msg.type = SBX_ZMSG_FORK;
    msg.tag = 4711;
    msg.flags = flags;
    msg.ns_flags = slot->ns_flags;
    msg.uid = slot->uid;
    msg.gid = slot->gid;
    fds[5] = make_page();

    if (sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, 6) < 0) {
        die("send FORK");
    }

    close(fds[5]);

    if (sbx_fdmsg_recv(z->ctl_fd, &msg, sizeof(msg), fds, &nfds)
        != (ssize_t) sizeof(msg) || msg.tag != 4711)
    {
        die("receive FORKED");
    }

    if (msg.type != SBX_ZMSG_FORKED || nfds != 1) {
        r->failed = msg.err;
        return -1;
    }

    close(fds[0]);

    return msg.pid;
}


static void
send_job(int job_fd, const program_t *p)
{
    size_t i, len;
    char *buf;
    int fd = -1;
    sbx_job_t job;
    sbx_run_t *run;
    static const char *const python[] = { "/usr/bin/python3", NULL };
    const char *const *cmd = p->cmd ? p->cmd : python;

    sbx_job_init(&job);
    job.name.data = p->name ? p->name : "main.py";
    job.name.len = strlen(job.name.data);
    job.code.data = p->code;
    job.code.len = strlen(p->code);

    for (i = 0; p->args && p->args[i]; i++) {
        sbx_job_add_arg(&job, (sbx_str_t) { p->args[i], strlen(p->args[i]) });
    }

    for (i = 0; p->env && p->env[i]; i++) {
        sbx_job_add_env(&job, (sbx_str_t) { p->env[i], strlen(p->env[i]) });
    }

    if (p->file_path != NULL) {
        sbx_job_add_file(&job,
            (sbx_str_t) { p->file_path, strlen(p->file_path) },
            (sbx_str_t) { p->file_data, p->file_len });
    }

    len = sbx_run_size(&job, (char *const *) cmd);
    buf = calloc(1, sizeof(*run) + len);
    run = (sbx_run_t *) buf;
    sbx_run_pack(&job, (char *const *) cmd, buf + sizeof(*run));

    run->len = len;
    run->inline_len = (uint32_t) len;
    len += sizeof(*run);

    if (run->len > SBX_RUN_INLINE_MAX) {
        run->flags = SBX_RUN_MEMFD;
        run->inline_len = 0;
        fd = memfd_create("job", MFD_CLOEXEC);

        if (write(fd, buf + sizeof(*run), run->len) != (ssize_t) run->len) {
            die("job memfd");
        }

        len = sizeof(*run);
    }

    /* a child that failed has gone away already */
    (void) sbx_fdmsg_send(job_fd, buf, len, fd);

    if (fd >= 0) {
        close(fd);
    }

    free(buf);
    sbx_job_clear(&job);
}


static void
run_loop(zyg_t *z, const program_t *p, pid_t pid, int job, int out, int err,
    result_t *r)
{
    int sent = 0, left;
    double start = now_us(), ready = 0;
    struct pollfd fds[5];
    int pidfd = (int) syscall(SYS_pidfd_open, pid, 0);

    for ( ;; ) {
        fds[0] = (struct pollfd) { job, POLLIN, 0 };
        fds[1] = (struct pollfd) { out, POLLIN, 0 };
        fds[2] = (struct pollfd) { err, POLLIN, 0 };
        fds[3] = (struct pollfd) { z->listener_fd, POLLIN, 0 };
        fds[4] = (struct pollfd) { pidfd, POLLIN, 0 };

        left = RUN_MS - (int) ((now_us() - start) / 1000);

        if (left <= 0 || poll(fds, 5, left) <= 0) {
            r->timed_out = 1;
            kill(pid, SIGKILL);
            break;
        }

        if (fds[0].revents) {
            read_report(&job, r);
        }

        if (r->ready && !sent) {
            sent = 1;
            ready = now_us();
            r->fork_us = ready - start;
            send_job(job, p);
        }

        if (fds[1].revents) {
            read_more(&out, r->out, &r->out_len);
        }

        if (fds[2].revents) {
            read_more(&err, r->err, &r->err_len);
        }

        if (fds[3].revents & POLLIN) {
            answer(z->listener_fd, pid, p->flags, r);
        }

        if (fds[4].revents && out < 0 && err < 0) {
            break;
        }
    }

    r->status = stand_reap(pid);
    r->run_us = now_us() - ready;

    /* what it said in its last moment */
    if (job >= 0) {
        fds[0] = (struct pollfd) { job, POLLIN, 0 };

        while (job >= 0 && poll(fds, 1, 0) > 0) {
            read_report(&job, r);
        }
    }

    close(pidfd);

    if (job >= 0) {
        close(job);
    }
}


void
stand_run(zyg_t *z, slot_t *slot, const program_t *p, result_t *r)
{
    int job[2], in[2], out[2], err[2];
    pid_t pid;

    memset(r, 0, sizeof(*r));

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job) < 0
        || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0
        || pipe2(err, O_CLOEXEC) < 0)
    {
        die("descriptors");
    }

    if (p->input != NULL && write(in[1], p->input, strlen(p->input)) < 0) {
        die("input");
    }

    pid = ask_fork(z, slot, p->flags, job[1], in[0], out[1], err[1], r);

    close(job[1]);
    close(in[0]);
    close(in[1]);
    close(out[1]);
    close(err[1]);

    if (pid < 0) {
        close(job[0]);
        close(out[0]);
        close(err[0]);
        return;
    }

    run_loop(z, p, pid, job[0], out[0], err[0], r);
}


pid_t
stand_fork(zyg_t *z, slot_t *slot, uint32_t flags, int *job_fd, result_t *r)
{
    int job[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid;

    memset(r, 0, sizeof(*r));

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job) < 0) {
        die("socketpair");
    }

    pid = ask_fork(z, slot, flags, job[1], null, null, null, r);
    close(job[1]);
    close(null);
    *job_fd = job[0];

    if (pid > 0) {
        read_report(job_fd, r);
    }

    return pid;
}


int
stand_reap(pid_t pid)
{
    int status = -1;

    if (waitpid(pid, &status, __WALL) != pid) {
        return -1;
    }

    return status;
}
