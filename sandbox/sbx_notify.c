/*
 * sbx_notify.c: calls that the filter holds up until the supervisor answers.
 *
 * Runs in the supervisor.  It names what was refused (the kernel's own word) and
 * denies; it lets a call go on only where the decision rests on a register and
 * nothing the caller could change meanwhile: clone's flags, exit_group's code.
 * Source: seccomp_unotify(2).
 */

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_check.h"
#include "sbx_filter.h"
#include "sbx_log.h"
#include "sbx_state.h"

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1
#endif

/* A call that would open a namespace is denied whatever the run may do. */
#define CLONE_NEW_ANY  (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID             \
                        | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET           \
                        | CLONE_NEWCGROUP | 0x80 /* CLONE_NEWTIME */)

/*
 * After so many calls in one run the answers come one by one at this distance,
 * whichever thread asked: a program that asks in a loop, or in many threads,
 * must not keep the supervisor from its neighbours.
 */
#define FREE_CALLS      256
#define SLOW_CALL_NS    1000000


/* As many as there are threads in runs: each waits for its answer. */
typedef struct {
    sbx_timer_t timer;
    sbx_listener_t *listener;
    struct seccomp_notif_resp resp;
} delayed_t;


static void
respond(sbx_listener_t *l, struct seccomp_notif_resp *resp)
{
    /* ENOENT: the caller was killed meanwhile */
    (void) ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, resp);
}


static void
respond_late(sbx_timer_t *timer)
{
    delayed_t *d = timer->data;

    respond(d->listener, &d->resp);
    sbx_listener_unref(d->listener);
    free(d);
}


static void
respond_slowly(sbx_lane_t *lane, sbx_listener_t *l,
    struct seccomp_notif_resp *resp)
{
    uint64_t now = sbx_now_ns();
    delayed_t *d = calloc(1, sizeof(*d));

    if (d == NULL) {
        respond(l, resp);
        return;
    }

    d->timer.handler = respond_late;
    d->timer.data = d;
    d->listener = l;
    d->resp = *resp;

    if (lane->answer_at_ns < now) {
        lane->answer_at_ns = now;
    }

    lane->answer_at_ns += SLOW_CALL_NS;

    if (sbx_timer_set(&d->timer, lane->answer_at_ns) < 0) {
        respond(l, resp);
        free(d);
        return;
    }

    l->refs++;
}


/* Whose thread: the child itself, or any process in its pid namespace. */
static sbx_lane_t *
find_lane(sbx_listener_t *l, pid_t tid, uint64_t id)
{
    char path[64];
    unsigned i;
    struct stat st;
    sbx_lane_t *lane;

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->listener == l && lane->pid == tid) {
            return lane;
        }
    }

    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int) tid);

    if (stat(path, &st) < 0) {
        return NULL;
    }

    /* killed meanwhile, its number may be another's by now */
    if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0) {
        return NULL;
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->listener == l && lane->pid != 0
            && lane->pidns == st.st_ino)
        {
            return lane;
        }
    }

    return NULL;
}


static void
note_refused(sbx_lane_t *lane, const char *name)
{
    unsigned i;
    sbx_verdict_t *v;

    if (lane->run == NULL) {
        return;
    }

    v = &lane->run->verdict;

    for (i = 0; i < v->nrefused; i++) {
        if (strcmp(v->refused[i], name) == 0) {
            return;
        }
    }

    if (v->nrefused < SBX_REFUSED_MAX) {
        snprintf(v->refused[v->nrefused++], sizeof(v->refused[0]), "%s",
                 name);
    }
}


/* A new process, allowed in forking runs: the flags are in a register. */
static int
may_clone(const sbx_lane_t *lane, const struct seccomp_notif *req)
{
    if (!(lane->fork_flags & SBX_FORK_FORKING)) {
        return 0;
    }

    if (req->data.nr == SYS_clone) {
        return (req->data.args[0] & CLONE_NEW_ANY) == 0;
    }

    return 1;                   /* fork, vfork */
}


static void
decide(sbx_lane_t *lane, const struct seccomp_notif *req,
    struct seccomp_notif_resp *resp)
{
    char name[32];
    uint64_t args[6];
    sbx_rule_t rule;
    const sbx_syscall_t *row;
    const sbx_syscall_arg_t *arg;

    row = sbx_syscall_by_number(req->data.nr, name, sizeof(name));
    memcpy(args, req->data.args, sizeof(args));
    arg = sbx_syscall_arg_find(name, args);
    rule = row == NULL || (arg != NULL && arg->rule == SBX_RULE_KILL)
           ? SBX_RULE_KILL : row->rule;
    resp->error = -EPERM;

    if (rule == SBX_RULE_THREAD) {

        if (may_clone(lane, req)) {
            lane->forks++;
            resp->error = 0;
            resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
            return;
        }

        lane->forks_refused++;
        resp->error = -EAGAIN;
        note_refused(lane, name);
        return;
    }

    if (rule == SBX_RULE_ERRNO) {
        resp->error = -row->errnum;
        note_refused(lane, name);
        return;
    }

    if (lane->kill == SBX_KILL_NONE) {
        lane->syscall_number = req->data.nr;
        snprintf(lane->syscall, sizeof(lane->syscall), "%s", name);
    }

    sbx_lane_kill(lane, SBX_KILL_SECCOMP);
}


/*
 * Threads of a process: links of its task directory, without "." and "..".
 * The caller is held up in exit_group, so 1 means that nothing of it runs.
 */
static int
is_alone(pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);

    return stat(path, &st) == 0 && st.st_nlink == 3;
}


/*
 * The run's only thread of its only process is about to end: its status is in a
 * register, its output complete, its CPU clocks stand still.  The verdict goes
 * out now; the kernel's tear-down of the address space, most of a short run's
 * time, comes after the answer.  Anything less simple takes the ordinary way, by the
 * pidfd.  The reaped status must agree (child_ended looks).
 */
static void
answer_early(sbx_lane_t *lane, const struct seccomp_notif *req)
{
    int status;
    struct sched_param none = { .sched_priority = 0 };

    if (lane == NULL) {
        return;
    }

    /* a step that failed was reported before its exit, not heard before it */
    sbx_lane_hear(lane);

    if (lane->run == NULL || !lane->listener->killable
        || lane->state != SBX_LANE_RUNNING || lane->lost
        || (lane->fork_flags & SBX_FORK_FORKING)
        || (pid_t) req->pid != lane->pid || !is_alone(lane->pid))
    {
        return;
    }

    status = (int) (req->data.args[0] & 0xff) << 8;
    lane->answered = 1;
    lane->early_status = status;
    sbx_run_end(lane, status, sbx_process_cpu_ns(lane->pid) / 1000, 0);
    lane->state = SBX_LANE_DYING;
    sbx_run_deliver();

    /* else the dying child preempts us on this processor */
    (void) sched_setscheduler(lane->pid, SCHED_IDLE, &none);
}


/* What an operator's runtime has at the end of an empty program, which cannot
 * tell it itself. */
static void
measure(sbx_lane_t *lane)
{
    if (lane != NULL && lane->run != NULL && lane->run->measures) {
        lane->run->seen_bytes =
            sbx_look_bytes(lane->pid, lane->run->runtime->address_space
                                      ? "VmPeak:" : "VmData:");
    }
}


void
sbx_notify_handler(sbx_event_t *ev, uint32_t events)
{
    sbx_lane_t *lane;
    sbx_listener_t *l = ev->data;
    struct seccomp_notif req;
    struct seccomp_notif_resp resp;

    /* the last process under this filter is gone */
    if (!(events & 1 /* EPOLLIN */)) {
        sbx_event_clear(ev);
        return;
    }

    memset(&req, 0, sizeof(req));

    /* ENOENT: whoever called was killed between the event and here */
    if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) {
        return;
    }

    memset(&resp, 0, sizeof(resp));
    resp.id = req.id;
    resp.error = -EPERM;

    lane = find_lane(l, (pid_t) req.pid, req.id);

    if (req.data.nr == SYS_exit_group) {
        measure(lane);
        answer_early(lane, &req);
        resp.error = 0;
        resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        respond(l, &resp);
        sbx_queue_dispatch();       /* who waits need not wait for the end */
        return;
    }

    if (lane == NULL) {
        respond(l, &resp);
        return;
    }

    decide(lane, &req, &resp);

    if (++lane->notified > FREE_CALLS) {
        respond_slowly(lane, l, &resp);

    } else {
        respond(l, &resp);
    }
}
