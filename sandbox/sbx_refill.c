/*
 * sbx_refill.c: children made ready in idle time.
 *
 * Runs in the supervisor.
 */

#include "sbx_state.h"

/*
 * A child forked ahead of need must not take a processor from a run that is
 * there: none is started until so long after the last run began or ended, and
 * longer where each processor may have its run.  (Runs that wait rather than
 * compute begin and end seldom.)
 */
#define QUIET_NS        2000000u
#define QUIET_BUSY_NS   20000000u
#define PAUSE_NS        1000000000u

static uint64_t refill_at_ns;


static unsigned
count_standby(sbx_zygote_kind_t kind)
{
    unsigned i, n = 0;
    sbx_lane_t *lane;

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->run == NULL && lane->kind == kind
            && (lane->state == SBX_LANE_FORKING
                || lane->state == SBX_LANE_WARMING
                || lane->state == SBX_LANE_STANDBY))
        {
            n++;
        }
    }

    return n;
}


static void
refill_due(sbx_timer_t *timer)
{
    (void) timer;
    sbx_queue_dispatch();
}


static void
delay_refill(uint64_t at_ns)
{
    static sbx_timer_t timer = { .handler = refill_due };

    if (at_ns > refill_at_ns) {
        refill_at_ns = at_ns;
        (void) sbx_timer_set(&timer, at_ns);
    }
}


void
sbx_refill_pause(void)
{
    delay_refill(sbx_now_ns() + PAUSE_NS);
}


void
sbx_refill_hold(void)
{
    delay_refill(sbx_now_ns() + (sbx_super.running < sbx_super.cpus
                                 ? QUIET_NS : QUIET_BUSY_NS));
}


/* Children on their way to standby: each keeps a processor busy. */
static unsigned
count_warming(void)
{
    unsigned i, n = 0;

    for (i = 0; i < sbx_super.nlanes; i++) {
        n += sbx_super.lanes[i].run == NULL
             && (sbx_super.lanes[i].state == SBX_LANE_FORKING
                 || sbx_super.lanes[i].state == SBX_LANE_WARMING);
    }

    return n;
}


/*
 * Of the `wanted` of a kind `n` are there or on their way: may another be
 * started?  Until half of them are there, as many may be under way as there are
 * processors without a run.  (Runs may wait rather than compute, so one at
 * least, while they leave half of the slots.)  The other half has time: a run
 * may have threads, V8's collector has, and they find a processor of their own.
 */
static int
may_warm(unsigned n, unsigned wanted)
{
    int urgent = n * 2 < wanted;
    unsigned room = urgent && sbx_super.running * 2 <= sbx_super.slots ? 1 : 0;
    unsigned taken = sbx_super.running * (urgent ? 1 : 2);

    if (taken < sbx_super.cpus) {
        room = sbx_super.cpus - taken;
    }

    return count_warming() < room;
}


/*
 * Children of an earlier zygote would keep its layout, and its memory.  One is
 * ended at a time, when the pool is full, and its place filled before the next.
 */
static void
retire_standby(sbx_zygote_kind_t kind)
{
    unsigned i;
    sbx_lane_t *lane;

    if (count_warming() > 0) {
        return;
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->state == SBX_LANE_STANDBY && lane->kind == kind
            && lane->generation != sbx_super.zygotes[kind].generation)
        {
            sbx_lane_kill(lane, SBX_KILL_CANCEL);
            return;
        }
    }
}


/* As many of a kind as may now be on their way, but no more than `most`. */
static void
refill_kind(sbx_zygote_kind_t kind, unsigned most)
{
    unsigned n = count_standby(kind);
    uint32_t flags;
    sbx_lane_t *lane;

    while (n < most && may_warm(n, sbx_super.standby[kind])) {
        lane = sbx_queue_find_lane(SBX_LANE_FREE, kind, 0);

        if (lane == NULL) {
            return;
        }

        flags = sbx_queue_fork_flags(NULL) | SBX_FORK_WARM;

        if (sbx_lane_fork(lane, kind, flags, NULL) < 0) {
            sbx_refill_pause();
            return;
        }

        n++;
    }
}


/*
 * Warming costs more than a run of hello: only when nobody waits.  No kind's
 * second half comes before another's first.
 */
void
sbx_refill(void)
{
    int k, half;
    unsigned wanted;

    if (sbx_super.queued > 0 || sbx_super.stopping || sbx_super.probing > 0
        || sbx_super.running >= sbx_super.slots)
    {
        return;
    }

    for (half = 1; half >= 0; half--) {

        for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {

            /* a fork that failed has put it off */
            if (sbx_now_ns() < refill_at_ns) {
                return;
            }

            if (!sbx_super.zygotes[k].ready || !sbx_super.zygotes[k].proven) {
                continue;
            }

            wanted = sbx_super.standby[k];
            refill_kind(k, half ? (wanted + 1) / 2 : wanted);

            /* only where the place would be filled */
            if (!half && count_standby(k) >= wanted && wanted > 0
                && may_warm(wanted - 1, wanted))
            {
                retire_standby(k);
            }
        }
    }
}
