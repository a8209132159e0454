/*
 * sbx_queue.c: who runs next.
 *
 * Runs wait in one queue, first come first served, bounded in length and time.
 * Runs in the supervisor.
 */

#include <errno.h>
#include <string.h>

#include "sbx_check.h"
#include "sbx_layer.h"
#include "sbx_log.h"

/* How long a client waits is the operator's choice, which is no self-test's. */
#define TEST_WAIT_MS    30000u

#define ASK_AGAIN_NS    20000000u


void
sbx_queue_init(void)
{
    sbx_super.queue.next = &sbx_super.queue;
    sbx_super.queue.prev = &sbx_super.queue;
    sbx_super.finished.next = &sbx_super.finished;
    sbx_super.finished.prev = &sbx_super.finished;
}


/* Whoever looks at the slots would find them free. */
static int
waits_for_tests(const sbx_task_t *run)
{
    return run->conn != NULL && run->runtime->probing
           && run->runtime->refused[0] == '\0';
}


static uint32_t
longest_wait_ms(const sbx_task_t *run)
{
    uint32_t ms = sbx_super.conf->queue_ms;

    return run->conn == NULL && ms < TEST_WAIT_MS ? TEST_WAIT_MS : ms;
}


static void
waited_too_long(sbx_timer_t *timer)
{
    sbx_task_t *run = timer->data;
    uint32_t ms = longest_wait_ms(run);

    sbx_queue_remove(run);

    if (waits_for_tests(run)) {
        sbx_run_refuse(run, SBX_BUSY, SBX_REASON_QUEUE,
                       "waited %u ms: the self-tests of %s, as at each start "
                       "and reload, still run", ms,
                       run->runtime->conf->name);
        return;
    }

    sbx_run_refuse(run, SBX_BUSY, SBX_REASON_QUEUE,
                   "waited %u ms for a free slot", ms);
}


void
sbx_queue_remove(sbx_task_t *run)
{
    if (!run->queued) {
        return;
    }

    run->prev->next = run->next;
    run->next->prev = run->prev;
    run->queued = 0;
    sbx_super.queued--;
    sbx_timer_clear(&run->timer);
}


/* Required layers this host lacks and the job's location does not excuse. */
static uint32_t
absent_layers(const sbx_task_t *run)
{
    /* a self-test is to show what there is */
    if (run->conn == NULL) {
        return 0;
    }

    return (sbx_super.missing | run->runtime->failed) & SBX_LAYERS_REQUIRED
           & ~run->job->allow_missing;
}


static void
refuse_unprotected(sbx_task_t *run, uint32_t absent)
{
    char names[200];
    size_t len = 0;
    const sbx_layer_info_t *l;

    if (absent & SBX_CHECKS_ALL) {
        sbx_check_refuse(run, absent & SBX_CHECKS_ALL);
        return;
    }

    names[0] = '\0';

    for (l = sbx_layers; l->bit; l++) {
        if ((absent & l->bit) && len + strlen(l->name) + 2 < sizeof(names)) {
            names[len++] = ' ';
            strcpy(names + len, l->name);
            len += strlen(l->name);
        }
    }

    sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_UNPROTECTED,
                   "this host lacks required protection:%s", names);
}


/*
 * Self-tests at start are nobody's runs: they take no place of the queue, and
 * for each slot that one of them holds, or that waits for them, one more run
 * waits.  Runs that wait for their runtime's tests are counted apart: they are
 * in nobody's way.
 */
static int
has_room(const sbx_task_t *run)
{
    unsigned i, waiting = 0, room = sbx_super.conf->queue;
    const sbx_task_t *other;

    if (sbx_super.probing == 0) {
        return sbx_super.queued <= room;
    }

    for (other = sbx_super.queue.next; other != &sbx_super.queue;
         other = other->next)
    {
        waiting += other->conn != NULL
                   && waits_for_tests(other) == waits_for_tests(run);
    }

    if (waits_for_tests(run)) {
        return waiting <= room + sbx_super.slots;
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        room += sbx_super.lanes[i].run != NULL
                && sbx_super.lanes[i].run->conn == NULL;
    }

    return waiting <= room;
}


static void
refuse_full(sbx_task_t *run)
{
    if (waits_for_tests(run)) {
        sbx_run_refuse(run, SBX_BUSY, SBX_REASON_QUEUE,
                       "the self-tests of %s still run and %u runs are waiting",
                       run->runtime->conf->name, sbx_super.queued);
        return;
    }

    sbx_run_refuse(run, SBX_BUSY, SBX_REASON_QUEUE,
                   "all %u slots are busy and %u runs are waiting",
                   sbx_super.slots, sbx_super.queued);
}


void
sbx_queue_add(sbx_task_t *run)
{
    uint32_t absent;
    sbx_task_t *next = &sbx_super.queue;

    if (run->arrived_ns == 0) {
        run->arrived_ns = sbx_now_ns();
    }

    if (sbx_super.root_error[0] != '\0') {
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_UNPROTECTED, "%s",
                       sbx_super.root_error);
        return;
    }

    absent = absent_layers(run);

    if (absent != 0) {
        refuse_unprotected(run, absent);
        return;
    }

    /* before those who wait until the last self-test has ended */
    if (run->conn == NULL || run->again) {
        next = next->next;
    }

    run->prev = next->prev;
    run->next = next;
    next->prev->next = run;
    next->prev = run;
    run->queued = 1;
    sbx_super.queued++;

    run->timer.handler = waited_too_long;
    run->timer.data = run;

    sbx_queue_dispatch();

    if (!run->queued) {
        return;
    }

    /* a batch that has begun waits as long as it takes, like who had a child */
    if (run->admitted || run->again) {
        return;
    }

    if (run->conn != NULL && !has_room(run)) {
        sbx_queue_remove(run);
        refuse_full(run);
        return;
    }

    if (sbx_timer_set(&run->timer, run->arrived_ns
                      + longest_wait_ms(run) * 1000000ull) < 0)
    {
        sbx_queue_remove(run);
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_NONE, "no memory");
    }
}


/* What these variables do is done at interpreter start, long past in a zygote. */
static int
needs_cold_start(const sbx_job_t *job)
{
    size_t i;
    const char *const *p;
    static const char *const at_start[] = { "PYTHON", "NODE_", "OPENSSL_",
                                            "LANG=", "LC_", NULL };

    if (job->flags & SBX_JOB_NO_ZYGOTE) {
        return 1;
    }

    for (i = 0; i < job->nenv; i++) {
        for (p = at_start; *p != NULL; p++) {
            if (job->env[i].len >= strlen(*p)
                && memcmp(job->env[i].data, *p, strlen(*p)) == 0)
            {
                return 1;
            }
        }
    }

    return 0;
}


static sbx_zygote_kind_t
choose_kind(const sbx_task_t *run)
{
    sbx_zygote_kind_t kind = sbx_zygote_of(run->runtime->conf);
    const sbx_zyg_t *z = &sbx_super.zygotes[kind];

    if (run->no_zygote || !z->ready || !(z->proven || run->tries_zygote)
        || run->job->limits[SBX_LIMIT_OPEN_FILES] < z->open_files
        || needs_cold_start(run->job))
    {
        return SBX_ZYGOTE_KIND_EXEC;
    }

    return kind;
}


uint32_t
sbx_queue_fork_flags(const sbx_job_t *job)
{
    uint32_t flags = 0;

    if (job != NULL && job->limits[SBX_LIMIT_PROCESSES] > 1) {
        flags |= SBX_FORK_FORKING;
    }

    if (sbx_super.missing & SBX_LAYER_LANDLOCK) {
        flags |= SBX_FORK_NO_LANDLOCK;
    }

    if (sbx_super.missing & SBX_LAYER_SECCOMP) {
        flags |= SBX_FORK_SKIP_SECCOMP;
    }

    return flags;
}


/*
 * Among standby children those of an earlier zygote are used up first; among
 * free slots the one used last is taken: its memory is the warmest.
 */
static int
is_better(const sbx_lane_t *lane, const sbx_lane_t *than)
{
    return lane->state == SBX_LANE_STANDBY
           ? lane->generation < than->generation : lane->t0_ns > than->t0_ns;
}


sbx_lane_t *
sbx_queue_find_lane(sbx_lane_state_t state, sbx_zygote_kind_t kind,
    uint32_t flags)
{
    unsigned i;
    sbx_lane_t *lane, *found = NULL;

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->state != state
            || (state == SBX_LANE_STANDBY
                && (lane->kind != kind
                    || (lane->fork_flags & ~SBX_FORK_WARM) != flags)))
        {
            continue;
        }

        if (found == NULL || is_better(lane, found)) {
            found = lane;
        }
    }

    return found;
}


static void
asked_again(sbx_timer_t *timer)
{
    (void) timer;
    sbx_queue_dispatch();
}


static void
ask_again(void)
{
    static sbx_timer_t timer = { .handler = asked_again };

    (void) sbx_timer_set(&timer, sbx_now_ns() + ASK_AGAIN_NS);
}


/* 1: the run left the queue; 0: nothing can take it now. */
static int
start(sbx_task_t *run)
{
    uint32_t flags;
    sbx_zyg_t *z;
    sbx_lane_t *lane = NULL;
    sbx_zygote_kind_t kind;

    if (run->conn != NULL && run->runtime->refused[0] != '\0') {
        sbx_queue_remove(run);
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_UNPROTECTED, "%s",
                       run->runtime->refused);
        return 1;
    }

    kind = run->zygote != NULL ? run->zygote->kind : choose_kind(run);
    z = run->zygote != NULL ? run->zygote : &sbx_super.zygotes[kind];
    flags = sbx_queue_fork_flags(run->job);

    /* nor was it checked then, whatever its zygote can do */
    if (run->conn != NULL && !run->runtime->measured
        && !run->runtime->conf->own)
    {
        sbx_queue_remove(run);
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_UNPROTECTED,
                       "the self-test of %s failed: %s",
                       run->runtime->conf->name, run->runtime->why);
        return 1;
    }

    if (run->zygote == NULL) {
        lane = sbx_queue_find_lane(SBX_LANE_STANDBY, kind, flags);
    }

    if (lane != NULL) {
        sbx_queue_remove(run);
        sbx_refill_hold();
        sbx_lane_assign(lane, run);
        return 1;
    }

    if (!z->ready) {
        return 0;
    }

    lane = sbx_queue_find_lane(SBX_LANE_FREE, kind, flags);
    if (lane == NULL) {
        return 0;
    }

    if (sbx_lane_fork(lane, kind, flags, run) < 0) {

        /* it has died: when its end is heard, the run has another choice */
        if (!z->ready) {
            return 0;
        }

        /*
         * It has been asked for so many that no more can, and its next word
         * tells; or the kernel has so many messages of this user's under way,
         * of which nobody tells.
         */
        if (sbx_lane_asks_later(errno)) {
            ask_again();
            return 0;
        }

        sbx_queue_remove(run);
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_NONE,
                       "cannot ask the zygote for a child");
        return 1;
    }

    sbx_queue_remove(run);
    sbx_refill_hold();

    return 1;
}


/* A language without a warm zygote takes the exec zygote's children. */
static void
publish(void)
{
    unsigned i, ready[SBX_ZYGOTE_KINDS] = { 0 };
    sbx_zygote_kind_t kind;
    sbx_stats_t *st = sbx_super.stats;

    if (st == NULL) {
        return;
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        ready[sbx_super.lanes[i].kind] +=
            sbx_super.lanes[i].state == SBX_LANE_STANDBY;
    }

    for (i = 0; i < sbx_super.nruntimes && i < SBX_STATS_RUNTIMES; i++) {
        kind = st->runtimes[i].zygote
               ? sbx_zygote_of(sbx_super.runtimes[i].conf)
               : SBX_ZYGOTE_KIND_EXEC;
        st->runtimes[i].standby = ready[kind];
    }

    st->queue = sbx_super.queued;
    st->slots_busy = sbx_super.running;
}


/* Nobody's program runs before the self-tests of its runtime have ended. */
static sbx_task_t *
first(void)
{
    sbx_task_t *run = sbx_super.queue.next;

    while (run != &sbx_super.queue && waits_for_tests(run)) {
        run = run->next;
    }

    return run != &sbx_super.queue ? run : NULL;
}


void
sbx_queue_dispatch(void)
{
    uint32_t absent;
    sbx_task_t *run;

    while (sbx_super.running < sbx_super.slots && (run = first()) != NULL) {

        /* slots tell what they lack only when they are built */
        absent = absent_layers(run);

        if (absent != 0) {
            sbx_queue_remove(run);
            refuse_unprotected(run, absent);
            continue;
        }

        if (!start(run)) {
            break;
        }
    }

    sbx_refill();
    publish();
}
