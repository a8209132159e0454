/*
 * sbx_check_see.c: what each of the seven checks looks at, and what it makes of
 * it.  The growing program stops after each step until it is looked at: it
 * writes a byte, and reads one.
 *
 * Runs in the supervisor.  A limit is compared with the intended one, a mapping
 * with the slot's, a signal with what the slot's init took; a program's output
 * is never evidence.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sbx_check.h"
#include "sbx_fault.h"
#include "sbx_log.h"

#define MIB             (1ull << 20)
#define JUMP            (8 * MIB)       /* at once, by a step of 1 MiB */
#define GRACE_MS        1000            /* of the supervisor's own timer */
#define LOOK_AGAIN_MS   100
#define LOOKS           20

static void look_before(sbx_task_t *run);
static void look_during(sbx_task_t *run);
static void is_overdue(sbx_timer_t *timer);


const sbx_watch_t sbx_check_watch = { look_before, look_during };


static void __attribute__((format(printf, 4, 5)))
result(sbx_check_t *c, int which, sbx_check_state_t state, const char *fmt, ...)
{
    va_list ap;
    sbx_check_result_t *r = &c->results[which];

    va_start(ap, fmt);
    vsnprintf(r->evidence, sizeof(r->evidence), fmt, ap);
    va_end(ap);

    r->state = state;
}


static const char *
size_name(const sbx_check_t *c)
{
    return c->runtime->address_space ? "VmSize" : "VmData";
}


static const char *
row_name(const sbx_check_t *c)
{
    return c->runtime->address_space ? "Max address space" : "Max data size";
}


static uint64_t
size_now(const sbx_check_t *c)
{
    return sbx_look_bytes(c->lane->pid, c->runtime->address_space ? "VmSize:"
                                                                  : "VmData:");
}


/* The limits are set and the job is not sent: no code of a program ran yet. */
static void
look_before(sbx_task_t *run)
{
    uint64_t soft, hard, wanted;
    sbx_check_t *c = (sbx_check_t *) run;

    c->lane = run->lane;
    c->inner_pid = sbx_look_inner_pid(c->lane->pid);
    c->oom_kills = sbx_look_oom_kills();

    if (c->phase->checks & 1 << SBX_SEE_DEADLINE) {
        c->timer.handler = is_overdue;
        (void) sbx_timer_set(&c->timer, sbx_now_ns() + GRACE_MS * 1000000ull);
    }

    if (!(c->phase->checks & 1 << SBX_SEE_PROC_LIMITS)) {
        return;
    }

    wanted = sbx_run_address_bytes(run);

    if (sbx_look_limit(c->lane->pid, row_name(c), &soft, &hard) < 0) {
        result(c, SBX_SEE_PROC_LIMITS, SBX_CHECK_FAILED,
               "/proc/%d/limits has no row \"%s\"", (int) c->lane->pid,
               row_name(c));
        return;
    }

    if (soft == UINT64_MAX) {
        result(c, SBX_SEE_PROC_LIMITS, SBX_CHECK_FAILED,
               "%s is unlimited before the job is handed over", row_name(c));
        return;
    }

    result(c, SBX_SEE_PROC_LIMITS, soft == wanted && hard == wanted
                                   ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s is %llu (hard: %llu) before the hand-over, intended: %llu",
           row_name(c), (unsigned long long) soft, (unsigned long long) hard,
           (unsigned long long) wanted);
}


static void
look_at_limit(sbx_check_t *c)
{
    struct rlimit rl;
    uint64_t wanted = sbx_run_address_bytes(&c->run);
    int as = c->runtime->address_space;

    if (prlimit(c->lane->pid, as ? RLIMIT_AS : RLIMIT_DATA, NULL, &rl) < 0) {
        result(c, SBX_SEE_LIMIT, SBX_CHECK_FAILED, "prlimit: %m");
        return;
    }

    result(c, SBX_SEE_LIMIT, rl.rlim_cur == wanted && rl.rlim_max == wanted
                             ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s is %llu (hard: %llu) while it runs, intended: %llu",
           as ? "RLIMIT_AS" : "RLIMIT_DATA",
           (unsigned long long) rl.rlim_cur,
           (unsigned long long) rl.rlim_max, (unsigned long long) wanted);
}


static void
look_at_hook(sbx_check_t *c)
{
    int found = sbx_look_hook(c->lane->pid, "/libsbx_preload.so",
                              c->lane->slot.page_fd);

    result(c, SBX_SEE_PRELOAD,
           found == 3 ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "/proc/%d/maps: libsbx_preload.so is %smapped, the slot's page is "
           "%smapped", (int) c->lane->pid, found & 1 ? "" : "not ",
           found & 2 ? "" : "not ");
}


static void
look_at_growth(sbx_check_t *c)
{
    unsigned i, at = 0;
    int64_t by, most = 0, sum;

    for (i = 1; i <= SBX_CHECK_STEPS; i++) {
        by = (int64_t) (c->size[i] - c->size[i - 1]);

        if (by > most) {
            most = by;
            at = i;
        }
    }

    sum = (int64_t) (c->size[SBX_CHECK_STEPS] - c->size[0]);

    /* V8 gives back some of what starting took: half of it must be there */
    result(c, SBX_SEE_GROWTH, most <= (int64_t) JUMP
                              && sum >= (int64_t) (SBX_CHECK_STEPS * MIB / 2)
                              ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s grew by %lld kB in %d steps of 1024 kB, by %lld kB in step %u",
           size_name(c), (long long) sum / 1024, SBX_CHECK_STEPS,
           (long long) most / 1024, at);
}


/* Each byte of the program's is one step, and it waits for one of ours. */
static void
look_during(sbx_task_t *run)
{
    sbx_check_t *c = (sbx_check_t *) run;
    sbx_err_t err;
    sbx_cgroup_stat_t st;

    if (c->steps > SBX_CHECK_STEPS || run->output_len[0] <= c->steps) {
        return;
    }

    c->size[c->steps] = size_now(c);

    if (c->steps++ == SBX_CHECK_STEPS) {
        look_at_limit(c);
        look_at_hook(c);
        look_at_growth(c);

        if (sbx_fault("check_oom")
            && sbx_cgroup_read(&c->lane->slot.cgroup, &st) == 0)
        {
            (void) sbx_cgroup_limit(&c->lane->slot.cgroup,
                                    st.memory_now + MIB, 64, &err);
        }
    }

    if (write(c->lane->in_fd, "\n", 1) != 1) {
        sbx_log(SBX_LOG_WARN, 0, "the check's program reads no more");
    }
}


/* What the program did not come to. */
void
sbx_check_fail_rest(sbx_check_t *c)
{
    int i;
    const sbx_verdict_t *v = &c->run.verdict;

    for (i = 0; i < SBX_CHECKS; i++) {
        if ((c->phase->checks & 1u << i)
            && c->results[i].state == SBX_CHECK_NOT_RUN)
        {
            result(c, i, SBX_CHECK_FAILED, "the program ended too early: "
                   "%s: %.60s", sbx_status_name(v->status), v->error);
        }
    }
}


void
sbx_check_grown(sbx_check_t *c)
{
    int ok = c->run.verdict.status == SBX_SUCCESS;
    uint64_t kills;
    sbx_cgroup_stat_t st;
    const char *where;

    if (c->lane == NULL || c->steps <= SBX_CHECK_STEPS) {
        return;
    }

    if (c->lane->slot.cgroup.memory_fd >= 0
        && sbx_cgroup_read(&c->lane->slot.cgroup, &st) == 0)
    {
        kills = st.oom_kills + st.oom_kills_other;
        where = "the cgroup's counter";
        ok = ok && kills == 0;

    } else {
        /* the whole host's: one that the program outlived was another's */
        kills = sbx_look_oom_kills() - c->oom_kills;
        where = "the host's, oom_kill in /proc/vmstat";
    }

    result(c, SBX_SEE_OOM, ok ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%llu OOM kills by %s; the program ended as %s",
           (unsigned long long) kills, where,
           sbx_status_name(c->run.verdict.status));
}


void
sbx_check_overran(sbx_check_t *c)
{
    const sbx_verdict_t *v = &c->run.verdict;

    if (c->results[SBX_SEE_PRELOAD].state != SBX_CHECK_PASSED) {
        result(c, SBX_SEE_SIGNAL, SBX_CHECK_SKIPPED,
               "without the preload library there is no signal");

    } else if (c->lane != NULL && (v->status != SBX_MEMORY_EXCEEDED
                                   || v->reason != SBX_REASON_HOOK))
    {
        result(c, SBX_SEE_SIGNAL, SBX_CHECK_FAILED,
               "the hook did not end the run: %s, %s",
               sbx_status_name(v->status), sbx_reason_name(v->reason));
    }
}


int
sbx_check_overran_cleaned(sbx_check_t *c)
{
    const sbx_slot_t *slot = &c->lane->slot;
    int seen = slot->signals > 0 && slot->signal_pid == c->inner_pid;

    if (c->results[SBX_SEE_SIGNAL].state != SBX_CHECK_NOT_RUN) {
        return 1;
    }

    result(c, SBX_SEE_SIGNAL, seen ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           seen ? "the slot's init saw %u SIGUSR1, from pid %d, the run"
                : "the slot's init saw %u SIGUSR1 from the run, pid %d",
           seen ? slot->signals : 0, (int) c->inner_pid);

    return 1;
}


/* Later than the run's own timer, of the same loop: late both or on time. */
static void
is_overdue(sbx_timer_t *timer)
{
    sbx_check_t *c = timer->data;

    uint64_t at_ns;
    sbx_lane_t *lane = c->run.lane;

    if (lane == NULL || lane->kill != SBX_KILL_NONE) {
        return;
    }

    at_ns = lane->t0_ns + (SBX_CHECK_DEADLINE_MS + GRACE_MS) * 1000000ull;

    if (sbx_now_ns() < at_ns) {
        (void) sbx_timer_set(timer, at_ns);
        return;
    }

    c->overdue = 1;
    result(c, SBX_SEE_DEADLINE, SBX_CHECK_FAILED, "a run of %d ms still runs "
           "%d ms after its deadline", SBX_CHECK_DEADLINE_MS, GRACE_MS);
    sbx_lane_kill(lane, SBX_KILL_WALL);
}


void
sbx_check_outlived(sbx_check_t *c)
{
    const sbx_verdict_t *v = &c->run.verdict;

    if (c->lane != NULL && !c->overdue && v->status != SBX_TIMEOUT) {
        result(c, SBX_SEE_DEADLINE, SBX_CHECK_FAILED,
               "the deadline did not end the run: %s",
               sbx_status_name(v->status));
    }
}


#ifdef SBX_FAULTS

static void
leave_stranger(void)
{
    static int done;

    if (sbx_fault("check_pool") && !done++ && fork() == 0) {
        for ( ;; ) {
            pause();
        }
    }
}

#endif


static void
look_at_pool(sbx_timer_t *timer)
{
    char name[32];
    pid_t pid;
    sbx_check_t *c = timer->data;

#ifdef SBX_FAULTS
    leave_stranger();
#endif

    pid = sbx_look_stranger(name, sizeof(name));

    /* a slot that was closed takes a moment to be gone */
    if (pid != 0 && ++c->looks < LOOKS
        && sbx_timer_set(&c->timer, sbx_now_ns() + LOOK_AGAIN_MS * 1000000ull)
           == 0)
    {
        return;
    }

    if (pid != 0) {
        result(c, SBX_SEE_DEADLINE, SBX_CHECK_FAILED,
               "process %d (%s) is outside the pool", (int) pid, name);

    } else {
        result(c, SBX_SEE_DEADLINE, SBX_CHECK_PASSED,
               "a run of %d ms ended after %llu ms, no process is outside the "
               "pool", SBX_CHECK_DEADLINE_MS,
               (unsigned long long) c->run.verdict.wall_us / 1000);
    }

    sbx_check_next(c);
}


int
sbx_check_outlived_cleaned(sbx_check_t *c)
{
    if (c->results[SBX_SEE_DEADLINE].state != SBX_CHECK_NOT_RUN) {
        return 1;
    }

    c->timer.handler = look_at_pool;
    look_at_pool(&c->timer);

    return 0;
}
