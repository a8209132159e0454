/*
 * sbx_renew.c: a zygote replaced while it serves, after so many children, so
 * much time, or when it has grown.
 *
 * Children of one zygote are alike: hash secret, addresses.  So a second one is
 * started beside it, says HELLO, and has to show a child that runs a program.
 * Then it serves, and the first one ends when it owes nobody a child; those it
 * has forked are the supervisor's own, and live on.  When the second one fails,
 * nothing changes but that it is tried again later.
 *
 * Runs in the supervisor, and never waits.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sbx_log.h"
#include "sbx_state.h"

/* So long a start, which keeps a processor busy, waits for an idle one. */
#define BUSY_TICKS      3
#define RETRY_MIN_MS    1000
#define RETRY_MAX_MS    600000


typedef struct {
    sbx_task_t run;             /* the self-test of the one beside */
    sbx_job_t job;
    int testing;                /* that run is under way */
    int failing;                /* the last one failed, which was logged */
    unsigned busy_ticks;
    unsigned retry_ms;
    uint64_t retry_at_ns;
    const char *why;
} renewal_t;

static renewal_t renewals[SBX_ZYGOTE_KINDS];


static void begin(sbx_zygote_kind_t kind, const char *reason);
static int test(sbx_zyg_t *z);
static void tested(sbx_task_t *run);
static void failed(sbx_zygote_kind_t kind, const char *why, int errnum);


uint64_t
sbx_renew_anon_bytes(pid_t pid)
{
    int fd;
    char path[64], buf[128];
    ssize_t n;
    unsigned long long resident, shared;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);

    if (fd >= 0) {
        close(fd);
    }

    buf[n > 0 ? n : 0] = '\0';

    /* "size resident shared …", in pages; shared: those of files */
    if (sscanf(buf, "%*u %llu %llu", &resident, &shared) != 2
        || shared > resident)
    {
        return 0;
    }

    return (resident - shared) * (uint64_t) sysconf(_SC_PAGESIZE);
}


const char *
sbx_renew_reason(const sbx_conf_t *conf, const sbx_zyg_t *z, uint64_t age_ns,
    uint64_t anon_bytes)
{
    if (conf->renew_runs > 0 && z->children >= conf->renew_runs) {
        return "its children";
    }

    if (conf->renew_s > 0 && age_ns >= conf->renew_s * 1000000000ull) {
        return "its age";
    }

    if (conf->renew_growth_permille > 0 && z->anon_bytes > 0
        && anon_bytes * 1000 > z->anon_bytes * conf->renew_growth_permille)
    {
        return "its growth";
    }

    return NULL;
}


/* What a zygote executes has a layout and a secret of its own each time. */
void
sbx_renew_tick(void)
{
    int k;
    const char *reason;
    renewal_t *r;
    const sbx_zyg_t *z;
    uint64_t now = sbx_now_ns();

    if (sbx_super.stopping || sbx_super.probing > 0) {
        return;
    }

    for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {
        z = &sbx_super.zygotes[k];
        r = &renewals[k];

        if (sbx_zygote_runtime(k) == NULL || !z->ready || !z->proven
            || r->testing
            || sbx_super.besides[k].pid != 0 || now < r->retry_at_ns)
        {
            continue;
        }

        reason = sbx_renew_reason(sbx_super.conf, z, now - z->started_ns,
                                  sbx_renew_anon_bytes(z->pid));

        if (reason == NULL
            || (sbx_super.running >= sbx_super.cpus
                && r->busy_ticks++ < BUSY_TICKS))
        {
            continue;
        }

        begin(k, reason);
    }
}


static void
begin(sbx_zygote_kind_t kind, const char *reason)
{
    renewal_t *r = &renewals[kind];
    sbx_zyg_t *z = &sbx_super.besides[kind];

    memset(z, 0, sizeof(*z));
    z->kind = kind;
    z->pidfd = z->ctl_fd = z->log_fd = -1;

    /* the program that this supervisor started with, whatever is there now */
    z->program_fd = sbx_super.zygotes[kind].program_fd;
    r->busy_ticks = 0;
    r->why = NULL;
    sbx_log(SBX_LOG_INFO, 0, "zygote %d is renewed for %s", (int) kind, reason);

    if (sbx_zygote_start(z) < 0) {
        failed(kind, "cannot be started", errno);
    }
}


void
sbx_renew_hello(sbx_zyg_t *z)
{
    if (!z->retired && test(z) < 0) {
        renewals[z->kind].why = "no memory for its self-test";
        (void) kill(z->pid, SIGKILL);
    }
}


static int
test(sbx_zyg_t *z)
{
    renewal_t *r = &renewals[z->kind];
    sbx_runtime_t *rt = sbx_zygote_runtime(z->kind);

    memset(&r->run, 0, sizeof(r->run));

    if (rt == NULL || sbx_probe_job(rt, &r->job) < 0) {
        return -1;
    }

    sbx_verdict_init(&r->run.verdict);
    r->run.job = &r->job;
    r->run.runtime = rt;
    r->run.zygote = z;
    r->run.done = tested;
    r->testing = 1;
    sbx_queue_add(&r->run);

    return 0;
}


static void
tested(sbx_task_t *run)
{
    renewal_t *r = (renewal_t *) run;
    sbx_zyg_t *z = run->zygote;
    sbx_zygote_kind_t kind = z->kind;
    int ok = sbx_probe_passed(run);

    if (!ok && r->why == NULL) {
        r->why = run->verdict.status == SBX_BUSY
                 ? "found no slot for its self-test"
                 : "does not pass its self-test";
    }

    sbx_run_clear(run);
    sbx_job_clear(&r->job);
    r->testing = 0;

    if (!z->ready) {
        return;                 /* sbx_renew_ended has said so */
    }

    if (!ok) {
        (void) kill(z->pid, SIGKILL);
        return;
    }

    if (r->failing) {
        sbx_log(SBX_LOG_NOTICE, 0, "zygote %d can be renewed again",
                (int) kind);
    }

    r->failing = 0;
    r->retry_ms = 0;
    z->proven = 1;
    sbx_zygote_exchange(kind);
    sbx_queue_dispatch();
}


void
sbx_renew_ended(sbx_zyg_t *z)
{
    renewal_t *r = &renewals[z->kind];

    if (z->retired) {
        return;
    }

    /* nobody is there any more to fork its child: it would wait for ever */
    if (r->testing && r->run.queued) {
        sbx_queue_remove(&r->run);
        sbx_run_refuse(&r->run, SBX_INTERNAL_ERROR, SBX_REASON_NONE,
                       "the zygote died");
    }

    failed(z->kind, z->why[0] != '\0' ? z->why
           : r->why != NULL ? r->why : "died", 0);
}


static void
failed(sbx_zygote_kind_t kind, const char *why, int errnum)
{
    renewal_t *r = &renewals[kind];

    r->retry_ms = r->retry_ms ? 2 * r->retry_ms : RETRY_MIN_MS;

    if (r->retry_ms > RETRY_MAX_MS) {
        r->retry_ms = RETRY_MAX_MS;
    }

    r->retry_at_ns = sbx_now_ns() + r->retry_ms * 1000000ull;

    if (!r->failing) {
        sbx_log(SBX_LOG_ERR, errnum, "zygote %d cannot be renewed, the one in "
                "service stays: the new one %s", (int) kind, why);
    }

    r->failing = 1;
}


int
sbx_renew_is_failing(const sbx_zyg_t *z)
{
    return renewals[z->kind].failing;
}
