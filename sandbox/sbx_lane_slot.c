/*
 * sbx_lane_slot.c: the slot of a lane: opened, cleaned after each child, opened
 * anew when its init died or failed.
 *
 * Runs in the supervisor.  Nothing here waits: the slot's init works, and its
 * answer is an event.  sbx_lane.c has the child.
 */

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "sbx_check.h"
#include "sbx_log.h"

#define REOPEN_MIN_MS   50
#define REOPEN_MAX_MS   5000
#define RESET_MS        30000


static void
reopen_due(sbx_timer_t *timer)
{
    sbx_lane_open(timer->data);
}


static void
reopen_later(sbx_lane_t *lane)
{
    lane->state = SBX_LANE_DEAD;
    lane->backoff_ms = lane->backoff_ms ? 2 * lane->backoff_ms : REOPEN_MIN_MS;

    if (lane->backoff_ms > REOPEN_MAX_MS) {
        lane->backoff_ms = REOPEN_MAX_MS;
    }

    lane->timer.handler = reopen_due;
    lane->timer.data = lane;
    (void) sbx_timer_set(&lane->timer,
                         sbx_now_ns() + lane->backoff_ms * 1000000u);
}


static void
close_slot(sbx_lane_t *lane)
{
    sbx_event_clear(&lane->ev_init);
    sbx_event_clear(&lane->ev_ctl);
    sbx_slot_close(&lane->slot);
    lane->lost = 0;
    lane->adjusting = 0;

    if (sbx_super.stats != NULL) {
        sbx_super.stats->slot_failures++;
    }
}


/* The slot's init died: the kernel kills everything in its pid namespace. */
static void
init_died(sbx_event_t *ev, uint32_t events)
{
    sbx_lane_t *lane = ev->data;

    (void) events;

    sbx_log(SBX_LOG_ERR, 0, "init of slot %d died", lane->slot.index);
    sbx_event_clear(ev);
    lane->lost = 1;

    if (lane->pid != 0) {
        return;                 /* its pidfd follows at once */
    }

    if (lane->state == SBX_LANE_FORKING || lane->state == SBX_LANE_DYING) {
        return;                 /* the zygote's answer, a failure, follows */
    }

    close_slot(lane);
    reopen_later(lane);
}


void
sbx_lane_slot_failed(sbx_lane_t *lane, const sbx_err_t *err)
{
    sbx_log_err(SBX_LOG_ERR, err, "slot");

    /* its socket may have hung up, which is said again and again */
    sbx_event_clear(&lane->ev_ctl);

    /* also when killed while it was born: the zygote's answer is to come */
    if (lane->pid != 0 || lane->state == SBX_LANE_FORKING
        || lane->state == SBX_LANE_DYING)
    {
        lane->lost = 1;
        sbx_lane_kill(lane, SBX_KILL_NONE);
        return;
    }

    close_slot(lane);
    reopen_later(lane);
}


/* A killed process that does not die (uninterruptible I/O) must not keep it. */
static void
reset_overdue(sbx_timer_t *timer)
{
    sbx_lane_t *lane = timer->data;

    sbx_log(SBX_LOG_ERR, 0, "slot %d is not clean after %d ms: given up",
            lane->slot.index, RESET_MS);
    close_slot(lane);
    reopen_later(lane);
    sbx_queue_dispatch();
}


static void
await_slot(sbx_lane_t *lane)
{
    lane->state = SBX_LANE_RESETTING;
    lane->timer.handler = reset_overdue;
    lane->timer.data = lane;
    (void) sbx_timer_set(&lane->timer, sbx_now_ns() + RESET_MS * 1000000ull);
}


static void
slot_answered(sbx_event_t *ev, uint32_t events)
{
    int rc;
    sbx_err_t err;
    sbx_lane_t *lane = ev->data;

    (void) events;

    rc = sbx_slot_ready(&lane->slot, &err);

    if (rc == 0) {
        return;
    }

    if (rc < 0) {
        sbx_lane_slot_failed(lane, &err);
        sbx_queue_dispatch();
        return;
    }

    if (lane->adjusting) {
        lane->adjusting = 0;

        if (lane->run != NULL && lane->ready
            && lane->state != SBX_LANE_DYING)
        {
            (void) sbx_run_hand_over(lane);
        }
        return;
    }

    if (sbx_cgroup_reset(&lane->slot.cgroup, &err) < 0) {
        sbx_lane_slot_failed(lane, &err);
        return;
    }

    /* its init's word: sbx_queue.c looks before each start */
    sbx_super.missing |= lane->slot.missing;
    sbx_timer_clear(&lane->timer);
    lane->backoff_ms = 0;
    lane->state = SBX_LANE_FREE;
    sbx_check_cleaned(lane);
    sbx_queue_dispatch();
}


static ino_t
pidns_of(pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int) pid);

    return stat(path, &st) == 0 ? st.st_ino : 0;
}


void
sbx_lane_open(sbx_lane_t *lane)
{
    int rc;
    sbx_err_t err;

    sbx_timer_clear(&lane->timer);

    rc = sbx_slot_open(&lane->slot, lane->slot.index, &sbx_super.root,
                       &sbx_super.cgroups, sbx_super.cell->privileged,
                       sbx_super.userns, &sbx_super.setup, &err);

    if (rc < 0) {
        sbx_log_err(SBX_LOG_ERR, &err, "cannot open a slot");
        close_slot(lane);
        reopen_later(lane);
        return;
    }

    lane->pidns = pidns_of(lane->slot.pid);
    await_slot(lane);
    lane->ev_init.handler = init_died;
    lane->ev_init.data = lane;
    lane->ev_ctl.handler = slot_answered;
    lane->ev_ctl.data = lane;

    if (sbx_event_set(&lane->ev_init, lane->slot.pidfd, EPOLLIN) < 0
        || sbx_event_set(&lane->ev_ctl, lane->slot.ctl_fd, EPOLLIN) < 0)
    {
        close_slot(lane);
        reopen_later(lane);
    }
}


void
sbx_lane_clean(sbx_lane_t *lane)
{
    sbx_err_t err;

    sbx_lane_drop_child(lane);
    lane->adjusting = 0;        /* its answer counts with the reset's */

    if (lane->lost) {
        close_slot(lane);
        sbx_lane_open(lane);

    } else if (sbx_slot_reset(&lane->slot, &sbx_super.setup, &err) < 0) {
        lane->state = SBX_LANE_RESETTING;
        sbx_lane_slot_failed(lane, &err);

    } else {
        await_slot(lane);
    }

    sbx_queue_dispatch();
}
