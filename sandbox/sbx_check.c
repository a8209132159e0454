/*
 * sbx_check.c: the seven checks of a runtime, in three runs: one that grows
 * step by step, one that takes more than it may, one that outlives its time.
 *
 * Runs in the supervisor, never waits.  A check that failed is published,
 * logged, and repeated until it passes.  sbx_check_see.c has what is looked at.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_check.h"
#include "sbx_layer.h"
#include "sbx_log.h"

#define MIB             (1ull << 20)
#define PATIENCE_MS     20000           /* for a program that ends by itself */
#define AGAIN_MS        50              /* when there was no room */
#define ZYGOTE_MS       10000           /* for Python's zygote to be ready */
#define RETRY_MIN_MS    1000
#define RETRY_MAX_MS    60000

static void run_phase(sbx_check_t *c);
static void finish(sbx_check_t *c);
static void retry_later(sbx_runtime_t *rt);


/*
 * The steps are SBX_CHECK_STEPS and one; what is beyond the limit is 64 MiB.
 * Node's helper threads, whose stacks count too, start with their first task,
 * here a module to compile.
 */
static const sbx_check_phase_t phases[] = {
    { "import os\n"
      "kept = []\n"
      "while len(kept) < 9:\n"
      "    os.write(1, b'.')\n"
      "    os.read(0, 1)\n"
      "    kept.append(bytearray(1 << 20))\n"
      "kept.append(b'x' * (4 << 20))\n",
      "const fs = require('fs'), one = Buffer.alloc(1), kept = [];\n"
      "const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);\n"
      "WebAssembly.compile(code).then(() => {\n"
      "    while (kept.length < 9) {\n"
      "        fs.writeSync(1, '.');\n"
      "        fs.readSync(0, one, 0, 1);\n"
      "        kept.push(Buffer.alloc(1 << 20));\n"
      "    }\n"
      "    kept.push(Buffer.alloc(4 << 20, 1));\n"
      "});\n",
      64 * MIB, PATIENCE_MS, 1,
      1 << SBX_SEE_LIMIT | 1 << SBX_SEE_PRELOAD | 1 << SBX_SEE_PROC_LIMITS
      | 1 << SBX_SEE_GROWTH | 1 << SBX_SEE_OOM,
      sbx_check_grown, NULL },

    { "x = bytearray(64 << 20)\n",
      "Buffer.alloc(64 << 20, 1);\n",
      16 * MIB, PATIENCE_MS, 1, 1 << SBX_SEE_SIGNAL,
      sbx_check_overran, sbx_check_overran_cleaned },

    /* each leaves a process of its own behind */
    { "import os, time\n"
      "os.fork()\n"
      "time.sleep(60)\n",
      "const wait = 'setTimeout(() => {}, 60000)';\n"
      "require('child_process').spawn(process.execPath, ['-e', wait]);\n"
      "eval(wait);\n",
      64 * MIB, SBX_CHECK_DEADLINE_MS, 2, 1 << SBX_SEE_DEADLINE,
      sbx_check_outlived, sbx_check_outlived_cleaned },

    { NULL, NULL, 0, 0, 0, 0, NULL, NULL }
};

static sbx_check_t *checks[SBX_RUNTIMES_MAX];   /* under way, by runtime */


static void
phase_again(sbx_timer_t *timer)
{
    run_phase(timer->data);
}


static void
run_ended(sbx_task_t *run)
{
    sbx_check_t *c = (sbx_check_t *) run;

    sbx_timer_clear(&c->timer);

    /* few slots, a short queue: another runtime's check is under way */
    if (c->lane == NULL && run->verdict.status == SBX_BUSY) {
        sbx_run_clear(run);
        sbx_job_clear(&c->job);
        c->timer.handler = phase_again;
        c->timer.data = c;
        (void) sbx_timer_set(&c->timer, sbx_now_ns() + AGAIN_MS * 1000000ull);
        return;
    }

    c->phase->ended(c);

    /* it never had a slot, or the check has all it needs */
    if (c->lane == NULL || c->phase->cleaned == NULL) {
        sbx_check_fail_rest(c);
        sbx_check_next(c);
        return;
    }

    c->waits_slot = 1;
}


void
sbx_check_cleaned(sbx_lane_t *lane)
{
    unsigned i;
    sbx_check_t *c;

    for (i = 0; i < SBX_RUNTIMES_MAX; i++) {
        c = checks[i];

        if (c == NULL || !c->waits_slot || c->lane != lane) {
            continue;
        }

        c->waits_slot = 0;

        if (c->phase->cleaned(c)) {
            sbx_check_next(c);
        }
    }
}


static void
run_phase(sbx_check_t *c)
{
    const sbx_check_phase_t *phase = c->phase;
    const char *code;

    memset(&c->run, 0, sizeof(c->run));
    c->lane = NULL;
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
    c->job.limits[SBX_LIMIT_PROCESSES] = phase->processes;

    sbx_verdict_init(&c->run.verdict);
    c->run.job = &c->job;
    c->run.runtime = c->runtime;
    c->run.done = run_ended;
    c->run.watch = &sbx_check_watch;

    if (sbx_job_add_case(&c->job, 0, SBX_STR("")) < 0) {
        snprintf(c->run.verdict.error, sizeof(c->run.verdict.error),
                 "no memory");
        sbx_check_fail_rest(c);
        sbx_check_next(c);
        return;
    }

    sbx_queue_add(&c->run);
}


void
sbx_check_next(sbx_check_t *c)
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
    if (sbx_check_start(timer->data, 0) < 0) {
        retry_later(timer->data);
    }
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
finish(sbx_check_t *c)
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
        sbx_probe_ended(rt);
    }

    sbx_queue_dispatch();
}


/* A language is checked the way that it will run: a child of its zygote. */
static int
lacks_zygote(const sbx_runtime_t *rt)
{
    sbx_zygote_kind_t kind = sbx_zygote_of(rt->conf);

    return kind != SBX_ZYGOTE_KIND_EXEC && !sbx_super.zygotes[kind].proven
           && !sbx_super.zygotes[kind].refused;
}


static void
stop_waiting(sbx_check_t *c)
{
    sbx_timer_clear(&c->timer);
    c->waits_zygote = 0;
    run_phase(c);
}


/* Nobody's program runs before the checks: then they look at the exec path. */
static void
zygote_late(sbx_timer_t *timer)
{
    sbx_check_t *c = timer->data;

    sbx_log(SBX_LOG_WARN, 0, "runtime %s: its zygote is not ready after %d s; "
            "until it is, each run starts the interpreter, without what is "
            "preloaded", c->runtime->conf->name, ZYGOTE_MS / 1000);
    stop_waiting(c);
}


int
sbx_check_start(sbx_runtime_t *rt, int first)
{
    sbx_check_t *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return -1;
    }

    c->runtime = rt;
    c->phase = phases;
    c->first = first != 0;
    checks[rt - sbx_super.runtimes] = c;

    if (lacks_zygote(rt)) {
        c->waits_zygote = 1;
        c->timer.handler = zygote_late;
        c->timer.data = c;
        (void) sbx_timer_set(&c->timer, sbx_now_ns() + ZYGOTE_MS * 1000000ull);

    } else {
        run_phase(c);
    }

    return 0;
}


void
sbx_check_zygote(sbx_zygote_kind_t kind)
{
    unsigned i;

    for (i = 0; i < sbx_super.nruntimes; i++) {
        if (checks[i] != NULL && checks[i]->waits_zygote
            && sbx_zygote_of(sbx_super.runtimes[i].conf) == kind)
        {
            stop_waiting(checks[i]);
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
