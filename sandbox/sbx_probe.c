/*
 * sbx_probe.c: self-tests at start: one tiny program per built-in runtime, by
 * the exec path, in the same sandbox as everyone's.  They show that runs work on
 * this host and measure what an empty program needs (the base of the memory
 * formula and of the hook's count).  And one in a child of a zygote whose
 * interpreter was not built to be forked.
 *
 * Runs in the supervisor; nobody's program runs before its runtime's have ended.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_check.h"
#include "sbx_fault.h"
#include "sbx_layer.h"
#include "sbx_log.h"

#define PROBE_MS      20000
#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  60000

#define STACK_GIVEN   (132 << 10)

_Static_assert(SBX_LIMIT_COUNT <= SBX_STATS_LIMITS, "a floor for each");

typedef struct {
    sbx_task_t run;
    sbx_job_t job;
    int first;              /* the one that the runtime's runs wait for */
} probe_t;

static void probe_again(sbx_timer_t *timer);
static void probe_free(probe_t *probe);


static const struct {
    const char *language;
    const char *program;    /* prints its own /proc/self/status */
    const char *zygote;     /* fails unless what a fork may break works */
} programs[] = {
    { "python", "print(open('/proc/self/status').read())", NULL },
    { "node", "console.log(require('fs').readFileSync("
              "'/proc/self/status','utf8'))",
      "const fs = require('fs'), zlib = require('zlib');\n"
      "const { Worker } = require('worker_threads');\n"
      "const wait = (ms) => new Promise((done) => setTimeout(done, ms));\n"
      "(async () => {\n"
      "  let junk = [];\n"
      "  for (let i = 0; i < 200000; i++) junk.push({ i });\n"
      "  await wait(2);\n"
      "  const text = await fs.promises.readFile(__filename);\n"
      "  const packed = await new Promise((done, failed) =>\n"
      "    zlib.gzip(text, (e, p) => e ? failed(e) : done(p)));\n"
      "  const worker = new Worker('require(\"worker_threads\")' +\n"
      "    '.parentPort.postMessage(6 * 7)', { eval: true });\n"
      "  const answer = await new Promise((done) =>\n"
      "    worker.once('message', done));\n"
      "  const random = require('crypto').randomBytes(8);\n"
      "  if (zlib.gunzipSync(packed).equals(text) && answer === 42\n"
      "      && random.length === 8 && junk.length === 200000)\n"
      "    console.log('ok');\n"
      "})();\n" },
    { NULL, "", NULL }      /* an operator's own: an empty file */
};


/* "VmData:   12345 kB" in the program's output: 12345; 0: not there. */
static uint64_t
field(const sbx_task_t *run, const char *name)
{
    char *at, text[8192];
    size_t len = run->verdict.output.len;

    if (len >= sizeof(text)) {
        len = sizeof(text) - 1;
    }

    if (len > 0) {
        memcpy(text, run->verdict.output.data, len);
    }
    text[len] = '\0';

    at = strstr(text, name);

    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}


static uint64_t
at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}


/*
 * Nothing is measured of memory: what an empty program has is the base, and on
 * top of that it runs with the smallest limit there is.
 */
static void
measure_floors(sbx_runtime_t *rt, const sbx_task_t *run)
{
    uint64_t threads = field(run, "Threads:");
    uint64_t stack_bytes = field(run, "VmStk:") << 10;
    const sbx_verdict_t *v = &run->verdict;

    rt->floors[SBX_LIMIT_TIMEOUT] = v->wall_us / 1000;
    rt->floors[SBX_LIMIT_CPU_TIME] = v->cpu_us / 1000;
    rt->floors[SBX_LIMIT_THREADS] = at_least(threads > 0 ? threads - 1 : 0,
                                             v->threads);
    rt->floors[SBX_LIMIT_OPEN_FILES] = v->open_files;
    rt->floors[SBX_LIMIT_ALLOCATION] = v->largest_bytes;

    /* the kernel gives as much to each, so it is no sign of a need */
    if (stack_bytes > STACK_GIVEN) {
        rt->floors[SBX_LIMIT_STACK] = stack_bytes;
    }
}


static void
publish(sbx_runtime_t *rt)
{
    sbx_stats_runtime_t *row;
    size_t i = (size_t) (rt - sbx_super.runtimes);

    if (sbx_super.stats == NULL || i >= SBX_STATS_RUNTIMES) {
        return;
    }

    row = &sbx_super.stats->runtimes[i];

    /* the python zygote's children have a base of their own: see HELLO */
    if (row->base_bytes == 0 || !row->zygote) {
        row->base_bytes = rt->base_bytes;
    }

    row->floor_bytes = sbx_limits[SBX_LIMIT_MEMORY].min;
    memcpy(row->floors, rt->floors, sizeof(rt->floors));
    row->address_space = (uint32_t) rt->address_space;
}


/*
 * Not measured means not run: with a base of 0 the interpreter's own memory
 * would count as the program's.  So the test is repeated until it passes; an
 * operator's own runtime may refuse an empty program and runs all the same.
 */
static void
probe_later(sbx_runtime_t *rt)
{
    rt->retry_ms = rt->retry_ms ? 2 * rt->retry_ms : RETRY_MIN_MS;

    if (rt->retry_ms > RETRY_MAX_MS) {
        rt->retry_ms = RETRY_MAX_MS;
    }

    rt->timer.handler = probe_again;
    rt->timer.data = rt;
    (void) sbx_timer_set(&rt->timer,
                         sbx_now_ns() + rt->retry_ms * 1000000ull);
}


static void
probe_done(sbx_task_t *run)
{
    int first;
    probe_t *probe = (probe_t *) run;
    sbx_runtime_t *rt = run->runtime;
    const sbx_verdict_t *v = &run->verdict;

    if (v->status == SBX_SUCCESS && !sbx_fault("probe")) {
        rt->measured = 1;
        rt->base_bytes = rt->conf->own ? run->seen_bytes
                         : field(run, rt->address_space ? "VmPeak:"
                                                        : "VmData:") << 10;
        measure_floors(rt, run);
        rt->hook_base = v->memory_source == SBX_SOURCE_HOOK
                        ? (int64_t) v->memory_bytes : 0;

        if (v->memory_source != SBX_SOURCE_HOOK) {
            sbx_log(SBX_LOG_WARN, 0, "runtime %s does not load the preload "
                    "hook", rt->conf->name);
        }

        sbx_log(SBX_LOG_INFO, 0, "runtime %s: base %llu bytes, hook base %lld",
                rt->conf->name, (unsigned long long) rt->base_bytes,
                (long long) rt->hook_base);
        publish(rt);

    } else {
        snprintf(rt->why, sizeof(rt->why), "%s: %.100s %.*s",
                 sbx_status_name(v->status), v->error,
                 (int) (v->errout.len < 100 ? v->errout.len : 100),
                 v->errout.len ? v->errout.data : "");
        sbx_log(SBX_LOG_ERR, 0, "runtime %s does not work here: %s",
                rt->conf->name, rt->why);

        if (!rt->conf->own) {
            probe_later(rt);
        }
    }

    first = probe->first;
    probe_free(probe);

    if (rt->measured && !rt->conf->own && sbx_super.conf->checks) {

        /* the first one failed: now runs have something to wait for */
        if (!first) {
            rt->probing = 1;
            sbx_super.probing++;
        }

        if (sbx_check_start(rt, 1) == 0) {
            return;
        }

        sbx_log(SBX_LOG_ALERT, 0, "no memory for the checks");
        rt->measured = 0;
        snprintf(rt->why, sizeof(rt->why), "no memory for the checks");
        probe_later(rt);
        first = 1;
    }

    if (first) {
        sbx_probe_ended(rt);
    }

    sbx_queue_dispatch();
}


void
sbx_probe_ended(sbx_runtime_t *rt)
{
    rt->probing = 0;

    if (--sbx_super.probing == 0 && sbx_super.stats != NULL) {
        sbx_super.stats->missing = sbx_super.missing;
        sbx_super.stats->ready = 1;
    }
}


/* The row of a runtime; an operator's own may be any program. */
static size_t
row_of(const sbx_runtime_t *rt)
{
    size_t i;

    for (i = 0; programs[i].language != NULL; i++) {
        if (!rt->conf->own
            && strcmp(programs[i].language, rt->conf->name) == 0)
        {
            break;
        }
    }

    return i;
}


static int
make_job(const sbx_runtime_t *rt, const char *program, sbx_job_t *job)
{
    sbx_job_init(job);
    job->language = (sbx_str_t) { rt->conf->name, strlen(rt->conf->name) };
    job->name = sbx_language_main(job->language);
    job->code = (sbx_str_t) { program, strlen(program) };
    job->allow_missing = SBX_LAYERS_ALL;
    job->limits[SBX_LIMIT_TIMEOUT] = PROBE_MS;
    job->limits[SBX_LIMIT_CPU_TIME] = PROBE_MS;
    job->limits[SBX_LIMIT_MEMORY] = 1ull << 30;

    return sbx_job_add_case(job, 0, SBX_STR(""));
}


int
sbx_probe_job(const sbx_runtime_t *rt, sbx_job_t *job)
{
    size_t row = row_of(rt);

    return make_job(rt, programs[row].zygote != NULL ? programs[row].zygote
                                                     : programs[row].program,
                    job);
}


int
sbx_probe_passed(const sbx_task_t *run)
{
    const sbx_verdict_t *v = &run->verdict;

    return v->status == SBX_SUCCESS && !run->no_zygote
           && (programs[row_of(run->runtime)].zygote == NULL
               || (v->output.len == 3
                   && memcmp(v->output.data, "ok\n", 3) == 0));
}



static probe_t *
probe_new(sbx_runtime_t *rt, const char *program,
    void (*done)(sbx_task_t *run))
{
    probe_t *probe = calloc(1, sizeof(*probe));

    if (probe == NULL || make_job(rt, program, &probe->job) < 0) {
        free(probe);
        return NULL;
    }

    sbx_verdict_init(&probe->run.verdict);
    probe->run.job = &probe->job;
    probe->run.runtime = rt;
    probe->run.done = done;

    return probe;
}


static void
probe_free(probe_t *probe)
{
    sbx_run_clear(&probe->run);
    sbx_job_clear(&probe->job);
    free(probe);
}


static int
probe_add(sbx_runtime_t *rt, int first)
{
    probe_t *probe;

    probe = probe_new(rt, programs[row_of(rt)].program, probe_done);

    if (probe == NULL) {
        return -1;
    }

    probe->job.flags = SBX_JOB_NO_ZYGOTE;
    probe->run.no_zygote = 1;
    probe->run.measures = 1;
    probe->first = first;
    sbx_queue_add(&probe->run);

    return 0;
}


/*
 * no_zygote: the child died before the program began, and the queue took the
 * run to the exec path, which says nothing of the zygote.
 */
static void
zygote_done(sbx_task_t *run)
{
    char why[256];
    sbx_zygote_kind_t kind = sbx_zygote_of(run->runtime->conf);
    const sbx_verdict_t *v = &run->verdict;

    if (sbx_probe_passed(run)) {
        sbx_zygote_prove(kind);

    } else {
        snprintf(why, sizeof(why), "%s%s: %.80s %.*s",
                 run->no_zygote ? "no child, then " : "",
                 sbx_status_name(v->status), v->error,
                 (int) (v->errout.len < 100 ? v->errout.len : 100),
                 v->errout.len ? v->errout.data : "");
        sbx_zygote_refuse(kind, why);
    }

    probe_free((probe_t *) run);
    sbx_queue_dispatch();
}


int
sbx_probe_zygote(sbx_runtime_t *rt)
{
    probe_t *probe;
    const char *program = programs[row_of(rt)].zygote;

    if (program == NULL) {
        return -1;
    }

    probe = probe_new(rt, program, zygote_done);

    if (probe == NULL) {
        return -1;
    }

    probe->run.tries_zygote = 1;
    sbx_queue_add(&probe->run);

    return 0;
}


static void
probe_again(sbx_timer_t *timer)
{
    sbx_runtime_t *rt = timer->data;

    if (probe_add(rt, 0) < 0) {
        probe_later(rt);
    }
}


void
sbx_probe_start(void)
{
    unsigned i;

    for (i = 0; i < sbx_super.nruntimes; i++) {
        sbx_super.runtimes[i].probing = 1;
        sbx_super.probing++;
    }

    for (i = 0; i < sbx_super.nruntimes; i++) {
        if (probe_add(&sbx_super.runtimes[i], 1) < 0) {
            sbx_log(SBX_LOG_ALERT, 0, "no memory for a self-test");
            sbx_probe_ended(&sbx_super.runtimes[i]);
        }
    }

    if (sbx_super.nruntimes == 0 && sbx_super.stats != NULL) {
        sbx_super.stats->ready = 1;
    }
}
