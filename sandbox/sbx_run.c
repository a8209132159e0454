/*
 * sbx_run.c: one run: handed over with its limits set from outside, watched for
 * its deadlines, given up, delivered.
 *
 * Runs in the supervisor.  The wall clock starts at the hand-over.
 */

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sbx_fault.h"
#include "sbx_log.h"
#include "sbx_state.h"


static void arm_timer(sbx_lane_t *lane, uint64_t now);


/* The process's CPU clock: user and system time of all its threads. */
uint64_t
sbx_process_cpu_ns(pid_t pid)
{
    clockid_t clock = (clockid_t) (~(unsigned) pid << 3 | 2);
    struct timespec ts;

    if (clock_gettime(clock, &ts) < 0) {
        return 0;
    }

    return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}


/* CPU of the run so far, over the whole tree where the cgroup tells. */
static uint64_t
run_cpu_ns(sbx_lane_t *lane)
{
    uint64_t ns = sbx_process_cpu_ns(lane->pid);
    sbx_cgroup_stat_t st;

    ns = ns > lane->cpu0_ns ? ns - lane->cpu0_ns : 0;
    ns += lane->others_cpu_ns;

    if ((lane->fork_flags & SBX_FORK_FORKING)
        && sbx_cgroup_read(&lane->slot.cgroup, &st) == 0
        && st.cpu_us * 1000 > ns)
    {
        ns = st.cpu_us * 1000;
    }

    return ns;
}


void
sbx_run_detach(sbx_task_t *run)
{
    if (run->lane != NULL) {
        run->lane->run = NULL;
        run->lane = NULL;
        sbx_super.running--;
    }
}


void
sbx_run_clear(sbx_task_t *run)
{
    sbx_queue_remove(run);
    sbx_run_detach(run);

    if (run->finished) {
        run->prev->next = run->next;
        run->next->prev = run->prev;
        run->finished = 0;
    }

    free(run->output[0]);
    free(run->output[1]);
    run->output[0] = run->output[1] = NULL;
}


void
sbx_run_cancel(sbx_task_t *run)
{
    sbx_lane_t *lane = run->lane;

    sbx_queue_remove(run);

    if (lane != NULL) {
        sbx_run_detach(run);
        sbx_lane_kill(lane, SBX_KILL_CANCEL);
    }
}


void
sbx_run_finish(sbx_task_t *run)
{
    sbx_run_detach(run);
    sbx_refill_hold();

    if (sbx_super.stats != NULL && run->conn != NULL) {
        sbx_super.stats->runs++;
    }

    run->prev = sbx_super.finished.prev;
    run->next = &sbx_super.finished;
    run->prev->next = run;
    run->next->prev = run;
    run->finished = 1;
}


void
sbx_run_deliver(void)
{
    sbx_task_t *run;

    while (sbx_super.finished.next != &sbx_super.finished) {
        run = sbx_super.finished.next;
        run->prev->next = run->next;
        run->next->prev = run->prev;
        run->finished = 0;
        run->done(run);
    }
}


void
sbx_run_refuse(sbx_task_t *run, sbx_status_t status, sbx_reason_t reason,
    const char *fmt, ...)
{
    va_list ap;
    sbx_verdict_t *v = &run->verdict;

    va_start(ap, fmt);
    vsnprintf(v->error, sizeof(v->error), fmt, ap);
    va_end(ap);

    v->status = status;
    v->reason = reason;
    memcpy(v->limits, run->job->limits, sizeof(v->limits));
    v->factor_permille = run->job->factor_permille;
    v->queue_us = (sbx_now_ns() - run->arrived_ns) / 1000;

    sbx_run_finish(run);
}


int
sbx_run_hand_over(sbx_lane_t *lane)
{
    sbx_err_t err;
    sbx_task_t *run = lane->run;
    sbx_verdict_t *v = &run->verdict;

    /* not when it came: what a program needs, the self-tests find out */
    if (sbx_run_unfit(run)) {
        sbx_lane_kill(lane, SBX_KILL_CANCEL);
        return -1;
    }

    sbx_zygote_count_run(lane);
    memcpy(v->limits, run->job->limits, sizeof(v->limits));
    lane->cpu0_ns = sbx_process_cpu_ns(lane->pid);

    if (sbx_run_limit(lane, &err) < 0) {
        goto failed;
    }

    if (run->watch != NULL) {
        run->watch->limited(run);
    }

    lane->t0_ns = sbx_now_ns();
    v->queue_us = (lane->t0_ns - run->arrived_ns) / 1000;
    lane->sample_at_ns = lane->t0_ns;
    lane->others_cpu_ns = 0;
    sbx_run_rate_start(lane);
    lane->wall_at_ns = lane->t0_ns
                       + sbx_run_limit_of(run, SBX_LIMIT_TIMEOUT) * 1000000ull;
    lane->wall_at_ns += sbx_fault("check_deadline") ? 60 * 1000000000ull : 0;
    lane->state = SBX_LANE_RUNNING;

    if (sbx_run_send(lane) < 0) {

        /* it is dead, as its pidfd is about to say; REFUSED: before 6.2 */
        if (errno != EPIPE && errno != ECONNREFUSED) {
            (void) sbx_fail(&err, SBX_STEP_JOB, errno, "hand-over");
            goto failed;
        }

        lane->unread = 1;
    }

#ifdef SBX_FAULTS
    sbx_run_limit_late(lane);
#endif

    if (sbx_run_watch(lane) < 0) {
        (void) sbx_fail(&err, SBX_STEP_JOB, errno, "epoll");
        goto failed;
    }

    /* what it says now it says before it ends: see sbx_lane_hear's callers */
    sbx_event_clear(&lane->ev_job);
    arm_timer(lane, lane->t0_ns);

    return 0;

failed:

    sbx_log_err(SBX_LOG_ERR, &err, "hand-over");
    v->step = err.step;
    sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_NONE, "%s: %s",
                   sbx_step_name(err.step), err.text);
    sbx_lane_kill(lane, SBX_KILL_CANCEL);

    return -1;
}


static void
deadline(sbx_timer_t *timer)
{
    uint64_t now, cpu_ns;
    sbx_lane_t *lane = timer->data;

    now = sbx_now_ns();

    if (now >= lane->wall_at_ns) {
        sbx_lane_kill(lane, SBX_KILL_WALL);
        return;
    }

    cpu_ns = run_cpu_ns(lane);

    if (cpu_ns
        >= sbx_run_limit_of(lane->run, SBX_LIMIT_CPU_TIME) * 1000000ull)
    {
        sbx_lane_kill(lane, SBX_KILL_CPU);
        return;
    }

    if (sbx_run_is_rated(lane) && sbx_run_rate(lane, now, cpu_ns)) {
        sbx_lane_kill(lane, SBX_KILL_CPU_PER_SECOND);
        return;
    }

    if (sbx_run_is_sampled(lane) && sbx_run_sample(lane, now)) {
        sbx_lane_kill(lane, SBX_KILL_MEMORY);
        return;
    }

    arm_timer(lane, now);
}


/*
 * The next moment at which a limit can have been reached: the deadline, or the
 * rest of the CPU time divided by the processors that could burn it.
 */
static void
arm_timer(sbx_lane_t *lane, uint64_t now)
{
    uint64_t at, used, allowed, rest;

    at = lane->wall_at_ns;
    allowed = sbx_run_limit_of(lane->run, SBX_LIMIT_CPU_TIME) * 1000000ull;
    used = now == lane->t0_ns ? 0 : run_cpu_ns(lane);

    if (used < allowed) {
        rest = (allowed - used) / sbx_super.cpus;

    } else {
        rest = 0;
    }

    if (rest < 1000000) {
        rest = 1000000;
    }

    if (now + rest < at) {
        at = now + rest;
    }

    if (sbx_run_is_sampled(lane) && lane->sample_at_ns < at) {
        at = lane->sample_at_ns;
    }

    if (sbx_run_is_rated(lane) && sbx_run_rate_at(lane) < at) {
        at = sbx_run_rate_at(lane);
    }

    lane->timer.handler = deadline;
    lane->timer.data = lane;

    if (sbx_timer_set(&lane->timer, at) < 0) {
        sbx_lane_kill(lane, SBX_KILL_WALL);     /* better early than never */
    }
}
