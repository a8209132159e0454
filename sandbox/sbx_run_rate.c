/*
 * sbx_run_rate.c: the CPU time of a run in any second, for locations that want
 * endless loops ended before their deadline (sandbox_cpu_per_second).
 *
 * Runs in the supervisor, from a run's timer, and only for runs with that limit.
 * Samples of the tree's CPU time are kept for a little more than a second, so
 * the second slides with them.
 */

#include "sbx_state.h"

#define SECOND_NS  1000000000u
#define SAMPLE_NS  50000000u


int
sbx_run_is_rated(const sbx_lane_t *lane)
{
    return !sbx_limit_is_none(SBX_LIMIT_CPU_PER_SECOND,
                              sbx_run_limit_of(lane->run,
                                               SBX_LIMIT_CPU_PER_SECOND));
}


void
sbx_run_rate_start(sbx_lane_t *lane)
{
    lane->nrates = 1;
    lane->rates[0].at_ns = lane->t0_ns;
    lane->rates[0].cpu_ns = 0;
}


uint64_t
sbx_run_rate_at(const sbx_lane_t *lane)
{
    return lane->rates[(lane->nrates - 1) % SBX_RATES].at_ns + SAMPLE_NS;
}


/*
 * Since a sample that is younger than a second no more may have been used than
 * in a second; since the first that is older, no more than its time allows.  A
 * timer that comes late makes that longer, and the program no worse off.
 */
int
sbx_run_rate(sbx_lane_t *lane, uint64_t now, uint64_t cpu_ns)
{
    unsigned i;
    uint64_t allowed, age = 0;
    const sbx_rate_t *s = NULL;

    allowed = sbx_run_limit_of(lane->run, SBX_LIMIT_CPU_PER_SECOND) * 1000000u;

    for (i = 1; i <= SBX_RATES && i <= lane->nrates && age < SECOND_NS; i++) {
        s = &lane->rates[(lane->nrates - i) % SBX_RATES];
        age = now - s->at_ns;
    }

    if (s != NULL && cpu_ns > s->cpu_ns
        && (double) (cpu_ns - s->cpu_ns)
           > (double) allowed * (age > SECOND_NS ? (double) age / SECOND_NS
                                                 : 1))
    {
        return 1;
    }

    if (now >= sbx_run_rate_at(lane)) {
        lane->rates[lane->nrates % SBX_RATES].at_ns = now;
        lane->rates[lane->nrates % SBX_RATES].cpu_ns = cpu_ns;
        lane->nrates++;
    }

    return 0;
}
