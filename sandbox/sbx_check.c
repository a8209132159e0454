/*
 * sbx_check.c: the seven checks of a runtime, in three runs: one that grows step
 * by step, one that takes more than it may, one that outlives its time.
 *
 * Runs in the supervisor, never waits.  The growing program stops after each
 * step until it is looked at: it writes a byte, and reads one.  A check that
 * failed is published, logged, and repeated until it passes.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sbx_check.h"
#include "sbx_fault.h"
#include "sbx_layer.h"
#include "sbx_log.h"

#define MIB             (1ull << 20)
#define STEPS           8
#define JUMP            (8 * MIB)       /* at once, by a step of 1 MiB */
#define MEMORY          (64 * MIB)
#define SMALL_MEMORY    (16 * MIB)
#define PATIENCE_MS     20000           /* for a program that ends by itself */
#define DEADLINE_MS     100
#define GRACE_MS        1000            /* of the supervisor's own timer */
#define RETRY_MIN_MS    1000
#define RETRY_MAX_MS    60000
#define LOOK_AGAIN_MS   100
#define LOOKS           20

typedef struct check_s check_t;

/* In the order of sbx_checks. */
enum { LIMIT, PRELOAD, PROC_LIMITS, GROWTH, SIGNAL, OOM, DEADLINE };

typedef struct {
    const char *python, *node;
    uint64_t memory, timeout_ms;
    unsigned checks;                    /* 1 << LIMIT | … */
    void (*ended)(check_t *c);          /* the verdict is there */
    int (*cleaned)(check_t *c);         /* its slot is clean; 0: not yet done */
} phase_t;

struct check_s {
    sbx_task_t run;
    sbx_job_t job;
    sbx_runtime_t *runtime;
    const phase_t *phase;               /* NULL: all have ended */
    sbx_lane_t *lane;                   /* that the run is, or was, in */
    unsigned waits_zygote:1, waits_slot:1, overdue:1, first:1;
    unsigned steps, looks;
    pid_t inner_pid;
    uint64_t size[STEPS + 1];           /* VmSize or VmData after each step */
    uint64_t oom_kills;                 /* of the host, before the run */
    uint64_t deadline_ns;
    sbx_timer_t timer;
    sbx_check_result_t results[SBX_CHECKS];
};

static void look_before(sbx_task_t *run);
static void look_during(sbx_task_t *run);
static void grown(check_t *c);
static void overran(check_t *c);
static int overran_cleaned(check_t *c);
static void outlived(check_t *c);
static int outlived_cleaned(check_t *c);
static void next_phase(check_t *c);
static void finish(check_t *c);


static const phase_t phases[] = {
    { "import os\n"
      "kept = []\n"
      "while len(kept) < 9:\n"
      "    os.write(1, b'.')\n"
      "    os.read(0, 1)\n"
      "    kept.append(bytearray(1 << 20))\n"
      "kept.append(b'x' * (4 << 20))\n",
      "const fs = require('fs'), one = Buffer.alloc(1), kept = [];\n"
      "while (kept.length < 9) {\n"
      "    fs.writeSync(1, '.');\n"
      "    fs.readSync(0, one, 0, 1);\n"
      "    kept.push(Buffer.alloc(1 << 20));\n"
      "}\n"
      "kept.push(Buffer.alloc(4 << 20, 1));\n",
      MEMORY, PATIENCE_MS,
      1 << LIMIT | 1 << PRELOAD | 1 << PROC_LIMITS | 1 << GROWTH | 1 << OOM,
      grown, NULL },

    { "x = bytearray(64 << 20)\n",
      "Buffer.alloc(64 << 20, 1);\n",
      SMALL_MEMORY, PATIENCE_MS, 1 << SIGNAL, overran, overran_cleaned },

    { "import time\ntime.sleep(60)\n",
      "setTimeout(() => {}, 60000);\n",
      MEMORY, DEADLINE_MS, 1 << DEADLINE, outlived, outlived_cleaned },

    { NULL, NULL, 0, 0, 0, NULL, NULL }
};

static const sbx_watch_t watch = { look_before, look_during };

static check_t *checks[SBX_RUNTIMES_MAX];       /* under way, by runtime */


static void __attribute__((format(printf, 4, 5)))
result(check_t *c, int which, sbx_check_state_t state, const char *fmt, ...)
{
    va_list ap;
    sbx_check_result_t *r = &c->results[which];

    va_start(ap, fmt);
    vsnprintf(r->evidence, sizeof(r->evidence), fmt, ap);
    va_end(ap);

    r->state = state;
}


static const char *
size_name(const check_t *c)
{
    return c->runtime->address_space ? "VmSize" : "VmData";
}


static const char *
row_name(const check_t *c)
{
    return c->runtime->address_space ? "Max address space" : "Max data size";
}


static uint64_t
size_now(const check_t *c)
{
    return sbx_look_bytes(c->lane->pid, c->runtime->address_space ? "VmSize:"
                                                                  : "VmData:");
}


/* The limits are set and the job is not sent: no code of a program ran yet. */
static void
look_before(sbx_task_t *run)
{
    int ok;
    uint64_t soft, hard, wanted;
    check_t *c = (check_t *) run;

    c->lane = run->lane;
    c->inner_pid = sbx_look_inner_pid(c->lane->pid);
    c->oom_kills = sbx_look_oom_kills();
    c->deadline_ns = sbx_now_ns() + c->phase->timeout_ms * 1000000ull;

    if (c->timer.handler != NULL) {
        (void) sbx_timer_set(&c->timer, c->deadline_ns
                                        + GRACE_MS * 1000000ull);
    }

    if (!(c->phase->checks & 1 << PROC_LIMITS)) {
        return;
    }

    wanted = sbx_run_address_bytes(run);

    if (sbx_look_limit(c->lane->pid, row_name(c), &soft, &hard) < 0) {
        result(c, PROC_LIMITS, SBX_CHECK_FAILED,
               "/proc/%d/limits has no row \"%s\"", (int) c->lane->pid,
               row_name(c));
        return;
    }

    ok = soft == wanted && hard == wanted;

    if (soft == UINT64_MAX) {
        result(c, PROC_LIMITS, SBX_CHECK_FAILED,
               "%s is unlimited before the job is handed over", row_name(c));
        return;
    }

    result(c, PROC_LIMITS, ok ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s is %llu (hard: %llu) before the hand-over, intended: %llu",
           row_name(c), (unsigned long long) soft, (unsigned long long) hard,
           (unsigned long long) wanted);
}


static void
look_at_limit(check_t *c)
{
    struct rlimit rl;
    uint64_t wanted = sbx_run_address_bytes(&c->run);
    int as = c->runtime->address_space;

    if (prlimit(c->lane->pid, as ? RLIMIT_AS : RLIMIT_DATA, NULL, &rl) < 0) {
        result(c, LIMIT, SBX_CHECK_FAILED, "prlimit: %m");
        return;
    }

    result(c, LIMIT, rl.rlim_cur == wanted && rl.rlim_max == wanted
                     ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s is %llu (hard: %llu) while it runs, intended: %llu",
           as ? "RLIMIT_AS" : "RLIMIT_DATA",
           (unsigned long long) rl.rlim_cur,
           (unsigned long long) rl.rlim_max, (unsigned long long) wanted);
}


static void
look_at_hook(check_t *c)
{
    int found = sbx_look_hook(c->lane->pid, "/libsbx_preload.so",
                              c->lane->slot.page_fd);

    result(c, PRELOAD, found == 3 ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "/proc/%d/maps: libsbx_preload.so is %smapped, the slot's page is "
           "%smapped", (int) c->lane->pid, found & 1 ? "" : "not ",
           found & 2 ? "" : "not ");
}


static void
look_at_growth(check_t *c)
{
    unsigned i, at = 0;
    int64_t by, most = 0, sum;

    for (i = 1; i <= STEPS; i++) {
        by = (int64_t) (c->size[i] - c->size[i - 1]);

        if (by > most) {
            most = by;
            at = i;
        }
    }

    sum = (int64_t) (c->size[STEPS] - c->size[0]);

    /* V8 gives back some of what starting took: half of it must be there */
    result(c, GROWTH, most <= (int64_t) JUMP
                      && sum >= (int64_t) (STEPS * MIB / 2)
                      ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%s grew by %lld kB in %d steps of 1024 kB, by %lld kB in step %u",
           size_name(c), (long long) sum / 1024, STEPS,
           (long long) most / 1024, at);
}


/* Each byte of the program's is one step, and it waits for one of ours. */
static void
look_during(sbx_task_t *run)
{
    check_t *c = (check_t *) run;
    sbx_err_t err;
    sbx_cgroup_stat_t st;

    if (c->steps > STEPS || run->output_len[0] <= c->steps) {
        return;
    }

    c->size[c->steps] = size_now(c);

    if (c->steps++ == STEPS) {
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
static void
fail_rest(check_t *c)
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


static void
grown(check_t *c)
{
    uint64_t kills;
    sbx_cgroup_stat_t st;
    const char *where;

    if (c->lane == NULL || c->steps <= STEPS) {
        return;
    }

    if (c->lane->slot.cgroup.memory_fd >= 0
        && sbx_cgroup_read(&c->lane->slot.cgroup, &st) == 0)
    {
        kills = st.oom_kills + st.oom_kills_other;
        where = "the cgroup's counter";

    } else {
        kills = sbx_look_oom_kills() - c->oom_kills;
        where = "oom_kill in /proc/vmstat (no cgroup)";
    }

    result(c, OOM, kills == 0 && c->run.verdict.status == SBX_SUCCESS
                   ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           "%llu OOM kills by %s, the program ended as %s",
           (unsigned long long) kills, where,
           sbx_status_name(c->run.verdict.status));
}


static void
overran(check_t *c)
{
    const sbx_verdict_t *v = &c->run.verdict;

    if (c->results[PRELOAD].state != SBX_CHECK_PASSED) {
        result(c, SIGNAL, SBX_CHECK_SKIPPED,
               "without the preload library there is no signal");

    } else if (c->lane != NULL && (v->status != SBX_MEMORY_EXCEEDED
                                   || v->reason != SBX_REASON_HOOK))
    {
        result(c, SIGNAL, SBX_CHECK_FAILED, "the hook did not end the run: "
               "%s, %s", sbx_status_name(v->status),
               sbx_reason_name(v->reason));
    }
}


static int
overran_cleaned(check_t *c)
{
    const sbx_slot_t *slot = &c->lane->slot;
    int seen = slot->signals > 0 && slot->signal_pid == c->inner_pid;

    if (c->results[SIGNAL].state != SBX_CHECK_NOT_RUN) {
        return 1;
    }

    result(c, SIGNAL, seen ? SBX_CHECK_PASSED : SBX_CHECK_FAILED,
           seen ? "the slot's init saw %u SIGUSR1, from pid %d, the run"
                : "the slot's init saw %u SIGUSR1 from the run, pid %d",
           seen ? slot->signals : 0, (int) c->inner_pid);

    return 1;
}


/* Later than the run's own timer, of the same loop: late both or on time. */
static void
is_overdue(sbx_timer_t *timer)
{
    check_t *c = timer->data;

    if (c->run.lane == NULL || c->run.lane->kill != SBX_KILL_NONE) {
        return;
    }

    c->overdue = 1;
    result(c, DEADLINE, SBX_CHECK_FAILED, "a run of %d ms still runs %d ms "
           "after its deadline", DEADLINE_MS, GRACE_MS);
    sbx_lane_kill(c->run.lane, SBX_KILL_WALL);
}


static void
outlived(check_t *c)
{
    const sbx_verdict_t *v = &c->run.verdict;

    if (c->lane != NULL && !c->overdue && v->status != SBX_TIMEOUT) {
        result(c, DEADLINE, SBX_CHECK_FAILED, "the deadline did not end the "
               "run: %s", sbx_status_name(v->status));
    }
}


static void
look_at_pool(sbx_timer_t *timer)
{
    char name[32];
    pid_t pid;
    check_t *c = timer->data;

    pid = sbx_look_stranger(name, sizeof(name));

    /* a slot that was closed takes a moment to be gone */
    if (pid != 0 && ++c->looks < LOOKS
        && sbx_timer_set(&c->timer, sbx_now_ns() + LOOK_AGAIN_MS * 1000000ull)
           == 0)
    {
        return;
    }

    if (pid != 0) {
        result(c, DEADLINE, SBX_CHECK_FAILED,
               "process %d (%s) belongs to no slot", (int) pid, name);

    } else {
        result(c, DEADLINE, SBX_CHECK_PASSED, "a run of %d ms ended after %llu "
               "ms, no process is outside the pool", DEADLINE_MS,
               (unsigned long long) c->run.verdict.wall_us / 1000);
    }

    next_phase(c);
}


static int
outlived_cleaned(check_t *c)
{
    if (c->results[DEADLINE].state != SBX_CHECK_NOT_RUN) {
        return 1;
    }

    c->timer.handler = look_at_pool;
    look_at_pool(&c->timer);

    return 0;
}


static void
run_ended(sbx_task_t *run)
{
    check_t *c = (check_t *) run;

    sbx_timer_clear(&c->timer);
    c->phase->ended(c);

    /* it never had a slot, or the check has all it needs */
    if (c->lane == NULL || c->phase->cleaned == NULL) {
        fail_rest(c);
        next_phase(c);
        return;
    }

    c->waits_slot = 1;
}


void
sbx_check_cleaned(sbx_lane_t *lane)
{
    unsigned i;
    check_t *c;

    for (i = 0; i < SBX_RUNTIMES_MAX; i++) {
        c = checks[i];

        if (c == NULL || !c->waits_slot || c->lane != lane) {
            continue;
        }

        c->waits_slot = 0;

        if (c->phase->cleaned(c)) {
            next_phase(c);
        }
    }
}


static void
run_phase(check_t *c)
{
    const phase_t *phase = c->phase;
    const char *code;

    memset(&c->run, 0, sizeof(c->run));
    c->lane = NULL;
    c->timer.handler = phase->checks & 1 << DEADLINE ? is_overdue : NULL;
    c->timer.data = c;

    code = strcmp(c->runtime->conf->name, "node") == 0 ? phase->node
                                                       : phase->python;
    sbx_job_init(&c->job);
    c->job.language = (sbx_str_t) { c->runtime->conf->name,
                                    strlen(c->runtime->conf->name) };
    c->job.name = sbx_language_main(c->job.language);
    c->job.code = (sbx_str_t) { code, strlen(code) };
    c->job.allow_missing = SBX_LAYERS_ALL;
    c->job.limits[SBX_LIMIT_TIMEOUT] = phase->timeout_ms;
    c->job.limits[SBX_LIMIT_CPU_TIME] = PATIENCE_MS;
    c->job.limits[SBX_LIMIT_MEMORY] = phase->memory;

    sbx_verdict_init(&c->run.verdict);
    c->run.job = &c->job;
    c->run.runtime = c->runtime;
    c->run.done = run_ended;
    c->run.watch = &watch;

    if (sbx_job_add_case(&c->job, 0, SBX_STR("")) < 0) {
        snprintf(c->run.verdict.error, sizeof(c->run.verdict.error),
                 "no memory");
        fail_rest(c);
        next_phase(c);
        return;
    }

    sbx_queue_add(&c->run);
}


static void
next_phase(check_t *c)
{
    sbx_timer_clear(&c->timer);
    sbx_run_clear(&c->run);
    sbx_job_clear(&c->job);
    c->phase++;

    if (c->phase->ended != NULL) {
        run_phase(c);

    } else {
        finish(c);
    }
}


static void
check_again(sbx_timer_t *timer)
{
    (void) sbx_check_start(timer->data, 0);
}


static void
retry_later(sbx_runtime_t *rt)
{
    rt->retry_ms = rt->retry_ms ? 2 * rt->retry_ms : RETRY_MIN_MS;

    if (rt->retry_ms > RETRY_MAX_MS) {
        rt->retry_ms = RETRY_MAX_MS;
    }

    rt->timer.handler = check_again;
    rt->timer.data = rt;
    (void) sbx_timer_set(&rt->timer, sbx_now_ns() + rt->retry_ms * 1000000ull);
}


static void
finish(check_t *c)
{
    int i, first = c->first;
    sbx_runtime_t *rt = c->runtime;
    size_t row = (size_t) (rt - sbx_super.runtimes);

    rt->failed = 0;

    for (i = 0; i < SBX_CHECKS; i++) {
        if (c->results[i].state != SBX_CHECK_FAILED) {
            continue;
        }

        rt->failed |= sbx_checks[i].bit;
        sbx_log(SBX_LOG_ERR, 0, "runtime %s: check %d (%s) failed: %s",
                rt->conf->name, i + 1, sbx_checks[i].name,
                c->results[i].evidence);
    }

    memcpy(rt->checks, c->results, sizeof(rt->checks));

    if (sbx_super.stats != NULL && row < SBX_STATS_RUNTIMES) {
        memcpy(sbx_super.stats->runtimes[row].checks, rt->checks,
               sizeof(rt->checks));
    }

    checks[row] = NULL;
    free(c);

    if (rt->failed) {
        retry_later(rt);

    } else {
        sbx_log(SBX_LOG_INFO, 0, "runtime %s: all checks passed",
                rt->conf->name);
    }

    if (first) {
        sbx_probe_ended();
    }

    sbx_queue_dispatch();
}


/* Python is checked the way that it will run: a child of its zygote. */
static int
lacks_zygote(const sbx_runtime_t *rt)
{
    return sbx_super.conf->zygotes
           && sbx_super.conf->python_zygote[0] != '\0'
           && strcmp(rt->conf->name, "python") == 0
           && !sbx_super.zygotes[SBX_ZYGOTE_KIND_PYTHON].ready;
}


int
sbx_check_start(sbx_runtime_t *rt, int first)
{
    check_t *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return -1;
    }

    c->runtime = rt;
    c->phase = phases;
    c->first = first != 0;
    checks[rt - sbx_super.runtimes] = c;

    if (lacks_zygote(rt)) {
        c->waits_zygote = 1;

    } else {
        run_phase(c);
    }

    return 0;
}


void
sbx_check_zygote(sbx_zygote_kind_t kind)
{
    unsigned i;

    for (i = 0; i < SBX_RUNTIMES_MAX && kind == SBX_ZYGOTE_KIND_PYTHON; i++) {
        if (checks[i] != NULL && checks[i]->waits_zygote) {
            checks[i]->waits_zygote = 0;
            run_phase(checks[i]);
        }
    }
}


void
sbx_check_refuse(sbx_task_t *run, uint32_t failed)
{
    int i = 0;

    while (!(failed & sbx_checks[i].bit)) {
        i++;
    }

    sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_UNPROTECTED,
                   "check %d of %s (%s) failed: %s", i + 1,
                   run->runtime->conf->name, sbx_checks[i].name,
                   run->runtime->checks[i].evidence);
}
