/*
 * sbx_conn_runs.c: the jobs of a frame become runs, and their verdicts one
 * answer.
 *
 * Runs in the supervisor.  Cases of a frame share a program; each gets a fresh
 * child.  They run some at a time, so that a long batch leaves slots to others,
 * and are compared here, so that what a program printed need not be believed by
 * anybody else.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_compare.h"
#include "sbx_log.h"
#include "sbx_state.h"


static void feed(sbx_conn_t *conn);


static sbx_runtime_t *
find_runtime(sbx_str_t name)
{
    unsigned i;
    sbx_runtime_t *rt;

    for (i = 0; i < sbx_super.nruntimes; i++) {
        rt = &sbx_super.runtimes[i];

        if (strlen(rt->conf->name) == name.len
            && memcmp(rt->conf->name, name.data, name.len) == 0)
        {
            return rt;
        }
    }

    return NULL;
}


static void
init_verdict(sbx_task_t *run)
{
    const sbx_conn_t *conn = run->conn;

    sbx_verdict_init(&run->verdict);
    run->verdict.id = conn->job.cases[run->index].id;

    if (conn->suite.cases != NULL) {
        memcpy(run->verdict.name, conn->suite.cases[run->index].name,
               sizeof(run->verdict.name));
        memcpy(run->verdict.digest, conn->suite.cases[run->index].digest,
               sizeof(run->verdict.digest));
    }
}


static void
init_run(sbx_task_t *run, sbx_conn_t *conn, size_t index,
    sbx_runtime_t *runtime)
{
    run->conn = conn;
    run->done = sbx_conn_run_done;
    run->job = &conn->job;
    run->index = index;
    run->runtime = runtime;

    /* what follows has its place: it waits for the case before */
    run->admitted = index > 0;

    init_verdict(run);
}


/* The root may be any of ours: a worker that was taken over chooses it. */
static int
load_suite(sbx_conn_t *conn, sbx_err_t *err)
{
    char **root = sbx_super.conf->suite_roots;
    sbx_job_t *job = &conn->job;

    for ( /* void */ ; root != NULL && *root != NULL; root++) {
        if (strlen(*root) == job->suite_root.len
            && memcmp(*root, job->suite_root.data, job->suite_root.len) == 0)
        {
            return sbx_suite_load(&conn->suite, job, *root, job->suite, err);
        }
    }

    return sbx_fail(err, SBX_STEP_JOB, 0, "cases: \"%.*s\" is no directory of "
                    "this supervisor's", (int) job->suite_root.len,
                    job->suite_root.data);
}


/* One verdict tells what is wrong with all cases. */
static int
refuse_suite(sbx_conn_t *conn, const sbx_err_t *err)
{
    sbx_job_t *job = &conn->job;

    sbx_log_err(err->errnum == ENOENT ? SBX_LOG_INFO : SBX_LOG_ERR, err,
                "suite");
    sbx_suite_clear(&conn->suite);
    job->ncases = 0;

    if (sbx_job_add_case(job, 0, (sbx_str_t) { NULL, 0 }) != 0
        || (conn->runs = calloc(1, sizeof(*conn->runs))) == NULL)
    {
        return -1;
    }

    conn->nruns = conn->nstarted = conn->nactive = 1;
    conn->busy = 1;
    init_run(&conn->runs[0], conn, 0, NULL);
    conn->runs[0].arrived_ns = sbx_now_ns();
    sbx_run_refuse(&conn->runs[0],
                   err->errnum == ENOENT ? SBX_INVALID : SBX_INTERNAL_ERROR,
                   SBX_REASON_NONE, "%s%s%s", err->text,
                   err->errnum ? ": " : "",
                   err->errnum ? strerror(err->errnum) : "");

    return 0;
}


int
sbx_conn_start(sbx_conn_t *conn)
{
    size_t i, n;
    sbx_err_t err;
    sbx_runtime_t *runtime = find_runtime(conn->job.language);

    if (conn->job.suite.len > 0 && load_suite(conn, &err) < 0) {
        return refuse_suite(conn, &err);
    }

    n = conn->job.ncases;
    conn->runs = calloc(n, sizeof(*conn->runs));
    if (conn->runs == NULL) {
        return -1;
    }

    conn->nruns = n;
    conn->nstarted = 0;
    conn->nactive = 0;
    conn->ndone = 0;
    conn->busy = 1;

    for (i = 0; i < n; i++) {
        init_run(&conn->runs[i], conn, i, runtime);
    }

    feed(conn);

    return 0;
}


static void
start_run(sbx_task_t *run)
{
    sbx_err_t err;
    sbx_conn_t *conn = run->conn;
    const sbx_job_t *job = run->job;

    run->arrived_ns = sbx_now_ns();

    if (run->runtime == NULL) {
        (void) sbx_conf_no_language(sbx_super.conf, job->language, &err);
        sbx_run_refuse(run, SBX_INVALID, SBX_REASON_NONE, "%s", err.text);
        return;
    }

    if (sbx_answer_max(job->ncases, job->limits[SBX_LIMIT_OUTPUT])
        > SBX_ANSWER_BYTES_MAX)
    {
        sbx_run_refuse(run, SBX_INVALID, SBX_REASON_NONE,
                       "%zu cases could print more than an answer holds",
                       job->ncases);
        return;
    }

    if (conn->suite.cases != NULL
        && sbx_suite_read(&conn->suite, &conn->job, run->index, &err) < 0)
    {
        sbx_log_err(SBX_LOG_ERR, &err, "suite");
        sbx_run_refuse(run, SBX_INTERNAL_ERROR, SBX_REASON_NONE, "%s%s%s",
                       err.text, err.errnum ? ": " : "",
                       err.errnum ? strerror(err.errnum) : "");
        return;
    }

    sbx_queue_add(run);
}


/* One case for each processor: more at a time end no sooner. */
static void
feed(sbx_conn_t *conn)
{
    while (conn->nstarted < conn->nruns && conn->nactive < sbx_super.cpus) {
        conn->nactive++;
        start_run(&conn->runs[conn->nstarted++]);
    }
}


/*
 * The cases behind one that failed, whether they ended already or not: which of
 * them had been quick must not show.
 */
static void
skip_behind(sbx_conn_t *conn, size_t index)
{
    size_t i;
    sbx_task_t *run;

    for (i = index + 1; i < conn->nruns; i++) {
        run = &conn->runs[i];

        if (!run->over) {
            conn->ndone++;
            conn->nactive -= i < conn->nstarted;
            run->over = 1;
        }

        sbx_run_cancel(run);
        sbx_run_clear(run);

        if (conn->suite.cases != NULL) {
            sbx_suite_drop(&conn->suite, &conn->job, i);
        }

        init_verdict(run);
        run->verdict.status = SBX_SKIPPED;
        memcpy(run->verdict.limits, conn->job.limits,
               sizeof(run->verdict.limits));
        run->verdict.factor_permille = conn->job.factor_permille;
    }

    conn->nstarted = conn->nruns;
}


static void
compare(sbx_task_t *run)
{
    const sbx_job_t *job = run->job;
    sbx_verdict_t *v = &run->verdict;
    sbx_str_t expected = job->cases[run->index].expected;

    if (expected.data == NULL) {
        return;
    }

    v->accept = v->status == SBX_SUCCESS
                && sbx_compare(job->compare, v->output, expected)
                ? SBX_ACCEPTED : SBX_REJECTED;
}


/* No room for the first case is no room for the batch. */
static int
is_refused(const sbx_task_t *run)
{
    return run->index == 0 && sbx_verdict_http(&run->verdict) != 200;
}


void
sbx_conn_run_done(sbx_task_t *run)
{
    sbx_conn_t *conn = run->conn;

    run->over = 1;
    conn->ndone++;
    conn->nactive--;
    compare(run);

    if (conn->suite.cases != NULL) {
        sbx_suite_drop(&conn->suite, &conn->job, run->index);
    }

    if (sbx_verdict_failed(&run->verdict)
        && ((conn->job.flags & SBX_JOB_STOP) || is_refused(run)))
    {
        skip_behind(conn, run->index);
    }

    if (conn->ndone == conn->nruns) {
        sbx_conn_answer(conn);
        return;
    }

    feed(conn);
}
