/*
 * sbx_lane.c: the child in a lane: forked into the slot, READY, given a run,
 * killed, reaped.
 *
 * Runs in the supervisor.  Nothing here waits: each step ends in an event, and
 * each event that may stay away has a timer.  sbx_lane_slot.c has the slot.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_log.h"
#include "sbx_state.h"

#define START_MS        15000   /* from FORK, or an adjusted slot, to READY */


static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}


void
sbx_lane_drop_child(sbx_lane_t *lane)
{
    sbx_event_clear(&lane->ev_child);
    sbx_event_clear(&lane->ev_job);
    sbx_event_clear(&lane->ev_in);
    sbx_event_clear(&lane->ev_out[0]);
    sbx_event_clear(&lane->ev_out[1]);
    sbx_timer_clear(&lane->timer);

    close_fd(&lane->pidfd);
    close_fd(&lane->job_fd);
    close_fd(&lane->in_fd);
    close_fd(&lane->out_fd[0]);
    close_fd(&lane->out_fd[1]);

    if (lane->listener != NULL) {
        sbx_listener_unref(lane->listener);
        lane->listener = NULL;
    }

    lane->pid = 0;
    lane->ready = 0;
    lane->adjusting = 0;        /* else the answer to RESET would pass for it */
    lane->answered = 0;
    lane->kill = SBX_KILL_NONE;
    lane->in_pos = 0;
    lane->notified = 0;
    lane->answer_at_ns = 0;
    lane->forks_refused = 0;
    lane->forks = 0;
    lane->unread = 0;
    lane->syscall_number = -1;
    lane->syscall[0] = '\0';
}


void
sbx_lane_kill(sbx_lane_t *lane, sbx_kill_t why)
{
    if (lane->kill == SBX_KILL_NONE) {
        lane->kill = why;
    }

    lane->state = SBX_LANE_DYING;

    /* without a child the timer is the one on the zygote's answer */
    if (lane->pid != 0) {
        sbx_timer_clear(&lane->timer);
    }

    if (lane->pidfd >= 0) {
        (void) syscall(SYS_pidfd_send_signal, lane->pidfd, SIGKILL, NULL, 0);
    }
}


/*
 * The answer went out before the end, which has to agree with it: the same
 * status, and nothing written since.
 */
static void
check_early_answer(const sbx_lane_t *lane, int status)
{
    int i, left;

    /* a timer of the program's own may end it while its exit is held up */
    if (status != lane->early_status) {
        sbx_log(WIFSIGNALED(status) ? SBX_LOG_INFO : SBX_LOG_ALERT, 0,
                "slot %d: reaped status 0x%x differs from the answered 0x%x",
                lane->slot.index, (unsigned) status,
                (unsigned) lane->early_status);
    }

    for (i = 0; i < 2; i++) {
        left = 0;

        if (ioctl(lane->out_fd[i], FIONREAD, &left) == 0 && left > 0) {
            sbx_log(SBX_LOG_ALERT, 0, "slot %d: %d bytes were written after "
                    "the answer", lane->slot.index, left);
        }
    }
}


/*
 * There is no child for it, and nothing of the program ran: another one, by
 * exec, and at most two.  0: the caller has to refuse it.
 */
static int
run_again(sbx_lane_t *lane)
{
    sbx_task_t *run = lane->run;

    if (run->zygote != NULL || run->again == 2) {
        return 0;
    }

    sbx_run_detach(run);
    run->no_zygote = 1;
    run->again++;
    sbx_queue_add(run);

    return 1;
}


static void
run_unborn(sbx_lane_t *lane, int status)
{
    sbx_log(SBX_LOG_WARN, 0, "slot %d: a child died before it took the job "
            "(status 0x%x)%s%s", lane->slot.index, (unsigned) status,
            lane->syscall[0] ? ", forbidden call " : "", lane->syscall);

    /* a check looks at the child that it was given, and repeats itself */
    if (lane->run->watch != NULL || !run_again(lane)) {
        sbx_run_refuse(lane->run, SBX_INTERNAL_ERROR,
                       lane->lost ? SBX_REASON_SLOT : SBX_REASON_NONE,
                       "the child died before it took the job");
    }
}


/* pidfd readable: the child is a zombie.  Reaped here and nowhere else. */
static void
child_ended(sbx_event_t *ev, uint32_t events)
{
    int status;
    pid_t pid;
    uint64_t cpu_us;
    sbx_lane_t *lane = ev->data;
    struct rusage ru;

    (void) events;

    do {
        pid = wait4(lane->pid, &status, WNOHANG | __WALL, &ru);
    } while (pid < 0 && errno == EINTR);

    if (pid == 0) {
        return;
    }

    if (pid < 0) {
        /* reaped elsewhere, which cannot be: but no reason to spin */
        sbx_log(SBX_LOG_ALERT, errno, "wait4 %d", (int) lane->pid);
        status = SIGKILL;
        memset(&ru, 0, sizeof(ru));
        lane->lost = 1;
    }

    /* what it said before it ended, in case this event came first */
    lane->state = SBX_LANE_DYING;
    sbx_lane_hear(lane);

    cpu_us = (uint64_t) ru.ru_utime.tv_sec * 1000000u
             + (uint64_t) ru.ru_utime.tv_usec
             + (uint64_t) ru.ru_stime.tv_sec * 1000000u
             + (uint64_t) ru.ru_stime.tv_usec;

    if (lane->answered && lane->kill == SBX_KILL_NONE) {
        check_early_answer(lane, status);
    }

    if (lane->unread && (lane->kill == SBX_KILL_NONE
                         || lane->kill == SBX_KILL_SECCOMP))
    {
        lane->t0_ns = 0;            /* nothing of the program ran */
    }

    if (lane->run != NULL && lane->t0_ns != 0) {
        sbx_run_end(lane, status, cpu_us, (uint64_t) ru.ru_maxrss << 10);

    } else if (lane->run != NULL) {
        run_unborn(lane, status);

    } else if (lane->t0_ns == 0 && !lane->lost
               && (lane->kill == SBX_KILL_NONE
                   || lane->kill == SBX_KILL_SECCOMP))
    {
        sbx_log(SBX_LOG_WARN, 0, "a standby child died (status 0x%x)%s%s",
                (unsigned) status, lane->syscall[0] ? ", forbidden call " : "",
                lane->syscall);
        sbx_refill_pause();
    }

    sbx_lane_clean(lane);
}


static void
job_failed(sbx_lane_t *lane, const sbx_err_t *err)
{
    sbx_task_t *run = lane->run;

    if (run == NULL) {
        sbx_log_err(SBX_LOG_ERR, err, "standby child");
        sbx_refill_pause();
        return;
    }

    /* no room for the job's own files is the guest's doing, not ours */
    if (err->step == SBX_STEP_JOB && err->errnum == ENOSPC) {
        run->verdict.exit_code = -1;
        sbx_run_refuse(run, SBX_DISK_EXCEEDED, SBX_REASON_NONE,
                       "the program's files do not fit the disk limit");
        return;
    }

    sbx_log_err(SBX_LOG_ERR, err, "child");

    /* the slot's init is gone: another slot's is not */
    if (err->step == SBX_STEP_ENTER && err->errnum == ESRCH
        && run->watch == NULL && run_again(lane))
    {
        return;
    }

    run->verdict.step = err->step;
    sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_NONE, "%s: %s%s%s",
                   sbx_step_name(err->step), err->text,
                   err->errnum ? ": " : "",
                   err->errnum ? strerror(err->errnum) : "");
}


/* READY, FAILED, or the end of the channel: the program runs. */
void
sbx_lane_hear(sbx_lane_t *lane)
{
    ssize_t n;
    sbx_zmsg_t msg;
    sbx_event_t *ev = &lane->ev_job;

    if (lane->job_fd < 0) {
        return;
    }

    n = recv(lane->job_fd, &msg, sizeof(msg), 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }

    if (n != (ssize_t) sizeof(msg)) {

        /* unix_release_sock(): it closed its end with our message in it */
        if (n < 0 && errno == ECONNRESET) {
            lane->unread = 1;
        }

        sbx_event_clear(ev);
        close_fd(&lane->job_fd);

        /* no job can be given to it any more */
        if (lane->t0_ns == 0 && lane->state != SBX_LANE_DYING) {
            sbx_lane_kill(lane, SBX_KILL_NONE);
        }
        return;
    }

    if (msg.type == SBX_ZMSG_FAILED) {
        msg.err.text[sizeof(msg.err.text) - 1] = '\0';
        job_failed(lane, &msg.err);
        sbx_lane_kill(lane, SBX_KILL_CANCEL);
        return;
    }

    if (msg.type != SBX_ZMSG_READY || lane->state == SBX_LANE_DYING) {
        return;
    }

    lane->ready = 1;
    lane->vm_size = msg.vm_size;
    lane->vm_data = msg.vm_data;

    if (lane->run == NULL) {
        sbx_timer_clear(&lane->timer);
        lane->state = SBX_LANE_STANDBY;
        sbx_queue_dispatch();

    } else if (!lane->adjusting) {
        (void) sbx_run_hand_over(lane);
    }
}


static void
job_channel(sbx_event_t *ev, uint32_t events)
{
    (void) events;

    sbx_lane_hear(ev->data);
}


/* A zygote, child or init that was stopped, or waits for a disk. */
static void
start_overdue(sbx_timer_t *timer)
{
    sbx_lane_t *lane = timer->data;

    sbx_log(SBX_LOG_ERR, 0, "slot %d: no child is ready after %d ms",
            lane->slot.index, START_MS);

    if (lane->pid == 0) {
        sbx_zygote_kill(lane);          /* its end answers all its FORKs */
        return;
    }

    if (lane->run != NULL) {
        sbx_run_refuse(lane->run, SBX_INTERNAL_ERROR, SBX_REASON_NONE,
                       "no child was ready after %d ms", START_MS);
    }

    lane->lost = 1;
    sbx_lane_kill(lane, SBX_KILL_CANCEL);
}


static void
watch_start(sbx_lane_t *lane)
{
    lane->timer.handler = start_overdue;
    lane->timer.data = lane;
    (void) sbx_timer_set(&lane->timer, sbx_now_ns() + START_MS * 1000000ull);
}


static int
open_channels(sbx_lane_t *lane, int theirs[4])
{
    int i, p[2];

    for (i = 0; i < 4; i++) {
        theirs[i] = -1;
    }

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) < 0) {
        return -1;
    }

    lane->job_fd = p[0];
    theirs[0] = p[1];

    if (fcntl(lane->job_fd, F_SETFL, O_NONBLOCK) < 0) {
        return -1;
    }

    if (pipe2(p, O_CLOEXEC) < 0) {
        return -1;
    }

    theirs[1] = p[0];
    lane->in_fd = p[1];

    for (i = 0; i < 2; i++) {

        if (pipe2(p, O_CLOEXEC) < 0) {
            return -1;
        }

        lane->out_fd[i] = p[0];
        theirs[2 + i] = p[1];

        if (fcntl(p[0], F_SETFL, O_NONBLOCK) < 0) {
            return -1;
        }
    }

    /* else /dev/stdin and /dev/stdout, which open them anew, say EACCES */
    for (i = 1; i < 4; i++) {
        if (fchown(theirs[i], lane->slot.host_uid, (gid_t) -1) < 0) {
            return -1;
        }
    }

    return fcntl(lane->in_fd, F_SETFL, O_NONBLOCK);
}


/*
 * A zygote forks one child after another; its socket holds some hundred requests
 * for one (SO_SNDBUF), and the kernel bounds descriptors on their way.
 */
int
sbx_lane_asks_later(int error)
{
    return error == EAGAIN || error == ETOOMANYREFS;
}


int
sbx_lane_fork(sbx_lane_t *lane, sbx_zygote_kind_t kind, uint32_t flags,
    sbx_task_t *run)
{
    int i, rc, error, theirs[4], fds[6];

    sbx_lane_drop_child(lane);

    lane->kind = kind;
    lane->fork_flags = flags;
    lane->t0_ns = 0;

    rc = open_channels(lane, theirs);

    if (rc == 0) {
        fds[0] = lane->slot.pidfd;
        fds[5] = lane->slot.page_fd;
        memcpy(&fds[1], theirs, sizeof(theirs));
        rc = sbx_zygote_fork(run != NULL && run->zygote != NULL ? run->zygote
                             : &sbx_super.zygotes[kind], lane, fds);
    }

    error = errno;

    for (i = 0; i < 4; i++) {
        close_fd(&theirs[i]);
    }

    if (rc < 0) {
        if (!sbx_lane_asks_later(error)) {
            sbx_log(SBX_LOG_ERR, error, "cannot ask zygote %d for a child",
                    (int) kind);
        }

        sbx_lane_drop_child(lane);
        errno = error;
        return -1;
    }

    lane->state = SBX_LANE_FORKING;
    watch_start(lane);

    if (run != NULL) {
        sbx_lane_assign(lane, run);
    }

    return 0;
}


void
sbx_lane_assign(sbx_lane_t *lane, sbx_task_t *run)
{
    sbx_err_t err;
    sbx_slot_setup_t setup;

    lane->run = run;
    run->lane = lane;
    sbx_super.running++;

    /* while the slot is adjusted below, no other run may find this child */
    if (lane->state == SBX_LANE_STANDBY) {
        lane->state = SBX_LANE_WARMING;
    }

    setup.disk_bytes = run->job->limits[SBX_LIMIT_DISK];
    setup.proc_empty = (run->job->flags & SBX_JOB_PROC_EMPTY) != 0;

    if (setup.disk_bytes != lane->slot.disk_bytes
        || setup.proc_empty != lane->slot.proc_empty)
    {
        sbx_super.setup = setup;

        if (sbx_slot_adjust(&lane->slot, &setup, &err) < 0) {
            sbx_lane_slot_failed(lane, &err);
            return;
        }
        lane->adjusting = 1;
        watch_start(lane);
    }

    if (lane->ready && !lane->adjusting) {
        (void) sbx_run_hand_over(lane);
    }
}


void
sbx_lane_forked(sbx_lane_t *lane, pid_t pid, int pidfd)
{
    sbx_err_t err;

    lane->pid = pid;
    lane->pidfd = pidfd;

    lane->ev_child.handler = child_ended;
    lane->ev_child.data = lane;
    lane->ev_job.handler = job_channel;
    lane->ev_job.data = lane;

    if (sbx_event_set(&lane->ev_child, pidfd, EPOLLIN) < 0
        || sbx_event_set(&lane->ev_job, lane->job_fd, EPOLLIN) < 0)
    {
        sbx_log(SBX_LOG_ALERT, errno, "epoll");
        lane->lost = 1;
    }

    if (lane->state == SBX_LANE_DYING || lane->lost) {
        sbx_lane_kill(lane, SBX_KILL_NONE);     /* killed while it was born */
        return;
    }

    lane->state = SBX_LANE_WARMING;

    if (sbx_cgroup_attach(&lane->slot.cgroup, pid, &err) < 0) {
        sbx_log_err(SBX_LOG_ERR, &err, "cgroup");
        lane->lost = 1;
        sbx_lane_kill(lane, SBX_KILL_NONE);
    }
}


void
sbx_lane_fork_failed(sbx_lane_t *lane, const sbx_err_t *err)
{
    sbx_task_t *run = lane->run;

    sbx_log_err(SBX_LOG_ERR, err, "zygote cannot fork");

    if (run == NULL) {
        sbx_refill_pause();
    }

    if (run != NULL && !run_again(lane)) {
        run->verdict.step = err->step;
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, lane->lost
                       ? SBX_REASON_SLOT : SBX_REASON_NONE,
                       "%s: %s", sbx_step_name(err->step), err->text);
    }

    sbx_lane_clean(lane);
}
