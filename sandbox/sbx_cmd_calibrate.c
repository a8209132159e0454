/*
 * sbx_cmd_calibrate.c: deer-flow calibrate: what a program takes, and limits
 * for it.
 *
 * Runs FILE in the real sandbox with limits as high as this host allows (those
 * given as options stay), reads what the hook, the kernel and the supervisor
 * saw, adds headroom, and runs it again with the limits it is about to propose:
 * until the program ends as it did before, each limit that stopped it is
 * doubled.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sbx_cmd.h"
#include "sbx_json_text.h"
#include "sbx_sysfile.h"

#define READY_MS    30000
#define ROUNDS      12
#define MIB         (1024ull * 1024)
#define LONGEST_MS  60000

/* Nothing to measure by, or not proved. */
#define EXIT_FAILED  1

typedef struct {
    sbx_cmd_job_t cj;
    sbx_client_t client;
    sbx_conf_t conf;
    sbx_verdict_t seen;         /* of the run with high limits */
    uint64_t measured[SBX_LIMIT_COUNT];
    unsigned known;             /* bit per limit: it was measured */
    uint64_t proposed[SBX_LIMIT_COUNT];
    unsigned runs;
    int verified;
} calibration_t;


/*
 * Headroom: value × permille, up to a whole step, and no less than what leaves
 * room for a traceback.
 */
static const struct {
    sbx_limit_id_t id;
    unsigned permille;
    uint64_t step, least;
} headroom[] = {
    { SBX_LIMIT_MEMORY, 1250, MIB, 8 * MIB },
    { SBX_LIMIT_TIMEOUT, 3000, 100, 500 },  /* other hosts, busy hours */
    { SBX_LIMIT_CPU_TIME, 2000, 100, 300 },
    { SBX_LIMIT_OUTPUT, 2000, 65536, 65536 },
    { SBX_LIMIT_PROCESSES, 1000, 1, 1 },
    { SBX_LIMIT_THREADS, 1250, 1, 0 },
    { SBX_LIMIT_OPEN_FILES, 1500, 8, 16 }
};

#define NHEADROOM  (sizeof(headroom) / sizeof(headroom[0]))


static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}


/* Three quarters of what the host can spare; 1 GiB where nobody tells. */
static uint64_t
spare_memory(void)
{
    char text[4096];
    uint64_t kib = 0;

    if (sbx_sysfile_read(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) > 0) {
        kib = sbx_sysfile_key(text, "MemAvailable:");
    }

    return kib > 0 ? kib / 4 * 3 * 1024 : 1024 * MIB;
}


/* What prlimit lets a supervisor without privileges set. */
static uint64_t
hard_limit(int resource, uint64_t most)
{
    struct rlimit rl;

    if (getrlimit(resource, &rl) < 0 || rl.rlim_max == RLIM_INFINITY) {
        return most;
    }

    return least(rl.rlim_max, most);
}


static void
raise_limits(sbx_cmd_job_t *cj)
{
    int i;
    uint64_t memory = spare_memory(), most[SBX_LIMIT_COUNT];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    memcpy(most, cj->job.limits, sizeof(most));

    most[SBX_LIMIT_MEMORY] = least(memory, sbx_limits[SBX_LIMIT_MEMORY].max);
    most[SBX_LIMIT_DISK] = least(memory / 2, sbx_limits[SBX_LIMIT_DISK].max);
    most[SBX_LIMIT_OUTPUT] = sbx_limits[SBX_LIMIT_OUTPUT].max;
    most[SBX_LIMIT_OPEN_FILES] = hard_limit(RLIMIT_NOFILE,
                                       sbx_limits[SBX_LIMIT_OPEN_FILES].max);
    most[SBX_LIMIT_PROCESSES] = hard_limit(RLIMIT_NPROC, 2048) / 4;
    most[SBX_LIMIT_THREADS] = most[SBX_LIMIT_PROCESSES];

    if (!(cj->given & 1u << SBX_LIMIT_TIMEOUT)) {
        most[SBX_LIMIT_TIMEOUT] = LONGEST_MS;
    }

    most[SBX_LIMIT_CPU_TIME] = least(most[SBX_LIMIT_TIMEOUT]
                                     * (uint64_t) (cpus > 0 ? cpus : 1),
                                     sbx_limits[SBX_LIMIT_CPU_TIME].max);

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        if (!(cj->given & 1u << i)) {
            cj->job.limits[i] = most[i];
        }
    }
}


/* *payload: what the verdict's texts point into. */
static int
run_once(calibration_t *c, sbx_verdict_t *v, char **payload, sbx_err_t *err)
{
    c->runs++;

    return sbx_client_run(&c->client, &c->cj.job, v, payload, err);
}


static void
measure(calibration_t *c)
{
    const sbx_verdict_t *v = &c->seen;

    c->measured[SBX_LIMIT_MEMORY] = v->memory_bytes;
    c->measured[SBX_LIMIT_TIMEOUT] = v->wall_us / 1000 + 1;
    c->measured[SBX_LIMIT_CPU_TIME] = v->cpu_us / 1000 + 1;
    c->measured[SBX_LIMIT_OUTPUT] = v->output.len > v->errout.len
                                    ? v->output.len : v->errout.len;
    c->measured[SBX_LIMIT_PROCESSES] = v->processes;
    c->measured[SBX_LIMIT_THREADS] = v->threads;
    c->measured[SBX_LIMIT_OPEN_FILES] = v->open_files;
    c->measured[SBX_LIMIT_ALLOCATION] = v->largest_bytes;

    c->known = 1u << SBX_LIMIT_TIMEOUT | 1u << SBX_LIMIT_CPU_TIME
               | 1u << SBX_LIMIT_OUTPUT | 1u << SBX_LIMIT_PROCESSES;

    if (v->memory_source != SBX_SOURCE_NONE) {
        c->known |= 1u << SBX_LIMIT_MEMORY;
    }

    /* without the hook nobody counted */
    if (v->memory_source == SBX_SOURCE_HOOK) {
        c->known |= 1u << SBX_LIMIT_THREADS | 1u << SBX_LIMIT_OPEN_FILES;

        if (v->largest_bytes > 0) {
            c->known |= 1u << SBX_LIMIT_ALLOCATION;
        }
    }
}


static void
propose(calibration_t *c)
{
    int id;
    size_t i;
    uint64_t value;
    const uint64_t *floors = c->client.stats->runtimes[0].floors;

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {
        c->proposed[id] = (c->cj.given & 1u << id) ? c->cj.job.limits[id]
                                                   : sbx_limits[id].initial;
    }

    for (i = 0; i < NHEADROOM; i++) {
        id = headroom[i].id;

        if (c->cj.given & 1u << id) {
            continue;
        }

        if (!(c->known & 1u << id)) {
            continue;           /* the default stays */
        }

        value = c->measured[id] > floors[id] ? c->measured[id] : floors[id];
        value = (value * headroom[i].permille + 999) / 1000;
        value = (value + headroom[i].step - 1) / headroom[i].step
                * headroom[i].step;

        if (value < headroom[i].least) {
            value = headroom[i].least;
        }

        c->proposed[id] = least(value, sbx_limits[id].max);
    }
}


/* The limit that ended a run; -1: none did. */
static int
limit_of(const sbx_verdict_t *v)
{
    size_t i;
    static const struct {
        sbx_status_t status;
        sbx_reason_t reason;
        sbx_limit_id_t id;
    } rows[] = {
        { SBX_MEMORY_EXCEEDED, SBX_REASON_ALLOCATION, SBX_LIMIT_ALLOCATION },
        { SBX_MEMORY_EXCEEDED, SBX_REASON_HOOK, SBX_LIMIT_MEMORY },
        { SBX_MEMORY_EXCEEDED, SBX_REASON_CGROUP, SBX_LIMIT_MEMORY },
        { SBX_MEMORY_EXCEEDED, SBX_REASON_WATERMARK, SBX_LIMIT_MEMORY },
        { SBX_TIMEOUT, SBX_REASON_WALL, SBX_LIMIT_TIMEOUT },
        { SBX_TIMEOUT, SBX_REASON_CPU, SBX_LIMIT_CPU_TIME },
        { SBX_TIMEOUT, SBX_REASON_CPU_PER_SECOND, SBX_LIMIT_CPU_PER_SECOND },
        { SBX_OUTPUT_EXCEEDED, SBX_REASON_STDOUT, SBX_LIMIT_OUTPUT },
        { SBX_OUTPUT_EXCEEDED, SBX_REASON_STDERR, SBX_LIMIT_OUTPUT },
        { SBX_FILE_EXCEEDED, SBX_REASON_NONE, SBX_LIMIT_OPEN_FILES },
        { SBX_DISK_EXCEEDED, SBX_REASON_NONE, SBX_LIMIT_DISK }
    };

    if (v->violation.type == SBX_VIOLATION_STACK_OVERFLOW) {
        return SBX_LIMIT_STACK;
    }

    if (v->status == SBX_PROCESS_EXCEEDED) {
        return v->violation.type == SBX_VIOLATION_THREADS
               ? SBX_LIMIT_THREADS : SBX_LIMIT_PROCESSES;
    }

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (v->status == rows[i].status && v->reason == rows[i].reason) {
            return (int) rows[i].id;
        }
    }

    return -1;
}


/* More of what stopped it; of what it may have been, where nobody can tell. */
static int
relax(calibration_t *c, const sbx_verdict_t *v)
{
    int i, raised = 0, id = limit_of(v);

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {

        if ((c->cj.given & 1u << i)
            || (id < 0 ? i != SBX_LIMIT_MEMORY && i != SBX_LIMIT_THREADS
                         && i != SBX_LIMIT_OPEN_FILES && i != SBX_LIMIT_DISK
                       : i != id)
            || c->proposed[i] >= sbx_limits[i].max)
        {
            continue;
        }

        c->proposed[i] = least(c->proposed[i] ? 2 * c->proposed[i] : 1,
                               sbx_limits[i].max);
        raised = 1;
    }

    return raised;
}


static int
verify(calibration_t *c, sbx_err_t *err)
{
    int round;
    char *payload;
    sbx_verdict_t v;

    for (round = 0; round < ROUNDS && !c->verified; round++) {
        memcpy(c->cj.job.limits, c->proposed, sizeof(c->proposed));

        if (run_once(c, &v, &payload, err) < 0) {
            return -1;
        }

        c->verified = v.status == c->seen.status
                      && v.exit_code == c->seen.exit_code;
        free(payload);

        if (!c->verified && !relax(c, &v)) {
            break;
        }
    }

    return 0;
}


static int
is_shown(const calibration_t *c, int id)
{
    size_t i;

    for (i = 0; i < NHEADROOM; i++) {
        if ((int) headroom[i].id == id) {
            return 1;
        }
    }

    return c->proposed[id] != sbx_limits[id].initial;
}


static void
format_directive(const calibration_t *c, int id, char *buf, size_t size)
{
    char value[32];
    const sbx_job_t *job = &c->cj.job;

    snprintf(buf, size, "sandbox_%s %.*s %s;", sbx_limits[id].name,
             (int) job->language.len, job->language.data,
             sbx_limit_format((sbx_limit_id_t) id, c->proposed[id], value,
                              sizeof(value)));
}


/* Not to be pasted, so sizes may be rounded. */
static char *
format_measured(int id, uint64_t value, char *buf, size_t size)
{
    if (sbx_limits[id].unit != SBX_UNIT_BYTES || value < 1024) {
        return sbx_limit_format((sbx_limit_id_t) id, value, buf, size);
    }

    if (value < MIB) {
        snprintf(buf, size, "%.1fk", (double) value / 1024);

    } else {
        snprintf(buf, size, "%.1fm", (double) value / (double) MIB);
    }

    return buf;
}


static void
print_human(const calibration_t *c)
{
    int id;
    char line[128], took[32];
    const sbx_verdict_t *v = &c->seen;
    const sbx_job_t *job = &c->cj.job;

    printf("# %.*s: %s, exit code %d, %u runs; %s\n", (int) job->name.len,
           job->name.data, sbx_status_name(v->status), v->exit_code, c->runs,
           c->verified ? "the last one with these limits"
                       : "NOT proved: it ends otherwise with these limits");

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {

        if (!is_shown(c, id)) {
            continue;
        }

        format_directive(c, id, line, sizeof(line));

        if (c->known & 1u << id) {
            printf("%-40s# took %s\n", line,
                   format_measured(id, c->measured[id], took, sizeof(took)));
        } else {
            printf("%s\n", line);
        }
    }

    if (c->known & 1u << SBX_LIMIT_ALLOCATION) {
        printf("# largest single allocation: %s\n",
               format_measured(SBX_LIMIT_ALLOCATION,
                               c->measured[SBX_LIMIT_ALLOCATION], took,
                               sizeof(took)));
    }
}


/* known: bit per limit; the others are null. */
static void
put_limits(sbx_json_out_t *out, const char *key, const uint64_t *limits,
    unsigned known)
{
    int id;

    sbx_json_open(out, key, '{');

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {
        if (sbx_limit_is_none((sbx_limit_id_t) id, limits[id])
            || !(known & 1u << id))
        {
            sbx_json_null(out, sbx_limits[id].name);

        } else {
            sbx_json_unsigned(out, sbx_limits[id].name, limits[id]);
        }
    }

    sbx_json_close(out, '}');
}


static int
print_json(const calibration_t *c)
{
    int id;
    size_t len;
    char line[128], *text;
    const sbx_verdict_t *v = &c->seen;
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    sbx_json_open(&out, NULL, '{');
    sbx_json_text(&out, "language", c->cj.job.language);
    sbx_json_text(&out, "name", c->cj.job.name);
    sbx_json_name(&out, "status", sbx_status_name(v->status));
    sbx_json_number(&out, "exit_code", v->exit_code);
    sbx_json_unsigned(&out, "runs", c->runs);
    sbx_json_bool(&out, "verified", c->verified);
    put_limits(&out, "measured", c->measured, c->known);
    sbx_json_name(&out, "memory_source", sbx_source_name(v->memory_source));
    put_limits(&out, "proposed", c->proposed, ~0u);
    sbx_json_open(&out, "directives", '[');

    for (id = 0; id < SBX_LIMIT_COUNT; id++) {
        if (is_shown(c, id)) {
            format_directive(c, id, line, sizeof(line));
            sbx_json_text(&out, NULL, (sbx_str_t) { line, strlen(line) });
        }
    }

    sbx_json_close(&out, ']');
    sbx_json_close(&out, '}');

    text = sbx_json_end(&out, &len);
    if (text == NULL) {
        return -1;
    }

    printf("%.*s\n", (int) len, text);
    free(text);

    return 0;
}


/*
 * A run that did not end by itself has not shown what it needs.  One that
 * failed by itself has, but perhaps not what was meant to be measured.
 */
static int
has_ended(const sbx_verdict_t *v)
{
    int ended = v->status == SBX_SUCCESS || v->status == SBX_ERROR;

    if (v->status == SBX_SUCCESS) {
        return 1;
    }

    fprintf(stderr, "deer-flow: %s, the program's end is %s: %s\n",
            ended ? "measured until it failed" : "nothing to measure by",
            sbx_status_name(v->status), v->error);

    if (v->errout.len > 0) {
        fwrite(v->errout.data, 1, v->errout.len, stderr);
    }

    return ended;
}


static int
start(calibration_t *c, sbx_err_t *err)
{
    if (sbx_cmd_conf(&c->conf, &c->cj.job.language, err) < 0) {
        return -1;
    }

    c->conf.zygotes = c->cj.zygote;

    if (!c->cj.zygote) {
        c->cj.job.flags |= SBX_JOB_NO_ZYGOTE;
    }

    return sbx_client_start(&c->client, &c->conf, err) < 0
           || sbx_client_wait_ready(&c->client, c->cj.zygote, READY_MS, err)
              < 0 ? -1 : 0;
}


static int
calibrate(calibration_t *c, sbx_err_t *err)
{
    int rc = 0;
    char *payload = NULL;

    raise_limits(&c->cj);

    if (start(c, err) < 0 || run_once(c, &c->seen, &payload, err) < 0) {
        return -1;
    }

    if (!has_ended(&c->seen)) {
        rc = EXIT_FAILED;

    } else {
        measure(c);
        propose(c);

        if (verify(c, err) < 0
            || (c->cj.json ? print_json(c) : (print_human(c), 0)) < 0)
        {
            rc = -1;

        } else if (!c->verified) {
            rc = EXIT_FAILED;
        }
    }

    free(payload);

    return rc;
}


int
sbx_cmd_calibrate(int argc, char **argv)
{
    int rc;
    sbx_err_t err;
    calibration_t *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return EXIT_FAILED;
    }

    c->client.fd = -1;
    rc = sbx_cmd_job_parse(&c->cj, argc, argv);

    if (rc < 0) {
        rc = 0;

    } else if (rc == 0) {
        rc = calibrate(c, &err);

        if (rc < 0) {
            sbx_cmd_complain(&err);
            rc = EXIT_FAILED;
        }
    }

    sbx_client_close(&c->client);
    sbx_conf_clear(&c->conf);
    sbx_cmd_job_clear(&c->cj);
    free(c);

    return rc;
}
