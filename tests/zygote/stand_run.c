/*
 * stand_run.c: the stand-in supervisor of the zygote tests: runs.
 *
 * Asks a zygote for a child, hands it a job, drains its output, answers the
 * calls that its filter holds up, reaps it.
 */

#include "stand.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_filter.h"

#define RUN_MS   20000
#define PROD_MS  50      /* ample for a handler, if one can run at all */


static double
now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec / 1e3;
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
answer(int listener, pid_t pid, const program_t *p, result_t *r)
{
    char name[32];
    struct seccomp_notif req;
    struct seccomp_notif_resp resp;
    uint64_t args[6];
    const sbx_syscall_t *row;
    const sbx_syscall_arg_t *arg;
    int forbidden;

    memset(&req, 0, sizeof(req));
    memset(&resp, 0, sizeof(resp));

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) {
        r->unheard = errno;
        return;
    }

    row = sbx_syscall_by_number(req.data.nr, name, sizeof(name));
    memcpy(args, req.data.args, sizeof(args));
    arg = sbx_syscall_arg_find(name, args);
    forbidden = (arg != NULL && arg->rule == SBX_RULE_KILL)
                || (row != NULL && row->rule == SBX_RULE_KILL);
    resp.id = req.id;
    resp.error = row != NULL && row->errnum ? -row->errnum : -EPERM;

    if (row != NULL && row->rule == SBX_RULE_EXIT) {

        if (r->ends++ == 0 && p->prod != 0) {
            kill(pid, p->prod);
            (void) poll(NULL, 0, PROD_MS);
        }

        resp.error = 0;
        resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void) ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
        return;
    }

    if (r->nnamed < 16 && !has_named(r, name)) {
        snprintf(r->named[r->nnamed++], sizeof(r->named[0]), "%s", name);
    }

    if (forbidden) {
        kill(pid, SIGKILL);

    } else if (row != NULL && row->rule == SBX_RULE_THREAD
               && (p->flags & SBX_FORK_FORKING))
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
    fds[5] = stand_page();

    if (sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, 6) < 0) {
        stand_die("send FORK");
    }

    close(fds[5]);

    if (sbx_fdmsg_recv(z->ctl_fd, &msg, sizeof(msg), fds, &nfds)
        != (ssize_t) sizeof(msg) || msg.tag != 4711)
    {
        stand_die("receive FORKED");
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
            stand_die("job memfd");
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

            if (p->unheard) {
                kill(pid, SIGKILL);
                (void) poll(&fds[4], 1, RUN_MS);
            }

            answer(z->listener_fd, pid, p, r);
        }

        if (fds[4].revents && out < 0 && err < 0) {
            break;
        }
    }

    r->status = stand_reap(z, pid);
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
        stand_die("descriptors");
    }

    if (p->input != NULL && write(in[1], p->input, strlen(p->input)) < 0) {
        stand_die("input");
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
        stand_die("socketpair");
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
stand_reap(zyg_t *z, pid_t pid)
{
    int status = -1;
    pid_t got;
    struct pollfd pfd = { z->listener_fd, POLLIN, 0 };
    static result_t unused;
    static const program_t none;

    /* its end is a call that waits for an answer, too */
    while ((got = waitpid(pid, &status, __WALL | WNOHANG)) == 0) {
        if (poll(&pfd, 1, 10) > 0 && (pfd.revents & POLLIN)) {
            answer(z->listener_fd, pid, &none, &unused);
        }
    }

    return got == pid ? status : -1;
}
