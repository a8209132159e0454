/*
 * sbx_zygotes.c: the supervisor's half of its zygotes: started with clean
 * descriptors and environment, asked for children, restarted with back-off.
 * sbx_renew.c decides when one is replaced while it serves.
 *
 * Runs in the supervisor.  While a zygote is away its jobs take the exec path.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_check.h"
#include "sbx_fault.h"
#include "sbx_fdmsg.h"
#include "sbx_layer.h"
#include "sbx_log.h"
#include "sbx_mount.h"

#define HELLO_MS        60000
#define STARTS_MAX      3
#define BACKOFF_MIN_MS  50
#define BACKOFF_MAX_MS  10000
#define REFUSED_MS      60000   /* until it is tried again as configured */


static void start_zygote(sbx_zyg_t *z);


/* By kind: the language that its children run, NULL: any. */
static const char *const languages[SBX_ZYGOTE_KINDS] = {
    [SBX_ZYGOTE_KIND_PYTHON] = "python",
    [SBX_ZYGOTE_KIND_NODE] = "node"
};


sbx_zygote_kind_t
sbx_zygote_of(const sbx_runtime_conf_t *conf)
{
    int k;

    for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {
        if (languages[k] != NULL && strcmp(languages[k], conf->name) == 0
            && !conf->own && sbx_zygote_is_there(k))
        {
            return k;
        }
    }

    return SBX_ZYGOTE_KIND_EXEC;
}


/* The built-in runtime of a kind's language; NULL: the operator has his own. */
sbx_runtime_t *
sbx_zygote_runtime(sbx_zygote_kind_t kind)
{
    unsigned i;

    for (i = 0; i < sbx_super.conf->nruntimes; i++) {
        if (languages[kind] != NULL && !sbx_super.conf->runtimes[i].own
            && strcmp(sbx_super.conf->runtimes[i].name, languages[kind]) == 0)
        {
            return &sbx_super.runtimes[i];
        }
    }

    return NULL;
}


int
sbx_zygote_is_there(sbx_zygote_kind_t kind)
{
    const sbx_conf_t *conf = sbx_super.conf;

    if (kind == SBX_ZYGOTE_KIND_EXEC) {
        return 1;
    }

    if (!conf->zygotes || sbx_zygote_runtime(kind) == NULL) {
        return 0;
    }

    return kind == SBX_ZYGOTE_KIND_PYTHON ? conf->python_zygote[0] != '\0'
                                          : conf->node_zygote[0] != '\0';
}


static void
publish(const sbx_zyg_t *z)
{
    sbx_stats_runtime_t *row;
    const sbx_runtime_t *rt = sbx_zygote_runtime(z->kind);
    size_t i = (size_t) (rt - sbx_super.runtimes);

    if (sbx_super.stats == NULL || rt == NULL || i >= SBX_STATS_RUNTIMES) {
        return;
    }

    row = &sbx_super.stats->runtimes[i];
    row->restarts = z->starts ? z->starts - 1 : 0;

    row->renewals = z->renewals;

    if (z->ready && z->proven) {
        row->base_bytes = z->base_bytes;
    }

    row->zygote = (uint32_t) (z->ready && z->proven);
    __atomic_store_n(&row->warming, !z->proven && !z->refused,
                     __ATOMIC_RELEASE);
}


void
sbx_zygote_prove(sbx_zygote_kind_t kind)
{
    sbx_zyg_t *z = &sbx_super.zygotes[kind];

    z->proven = 1;
    publish(z);
    sbx_check_zygote(kind);
}


/* Its runs go on as they began: by the exec path. */
void
sbx_zygote_refuse(sbx_zygote_kind_t kind, const char *why)
{
    sbx_zyg_t *z = &sbx_super.zygotes[kind];

    sbx_log(SBX_LOG_WARN, 0, "the zygote of %s does not work here, so each run "
            "starts an interpreter: %s", languages[kind], why);
    z->refused = 1;
    publish(z);

    if (z->pid != 0) {
        (void) kill(z->pid, SIGKILL);
    }

    sbx_check_zygote(kind);
}


void
sbx_listener_unref(sbx_listener_t *listener)
{
    if (--listener->refs > 0) {
        return;
    }

    sbx_event_clear(&listener->ev);
    close(listener->fd);
    free(listener);
}


int
sbx_zygote_is_beside(const sbx_zyg_t *z)
{
    return z == &sbx_super.besides[z->kind];
}


static void
unwatch(sbx_zyg_t *z)
{
    sbx_event_clear(&z->ev_pid);
    sbx_event_clear(&z->ev_ctl);
    sbx_event_clear(&z->ev_log);
    sbx_timer_clear(&z->timer);
}


static void
close_zygote(sbx_zyg_t *z)
{
    unwatch(z);

    close(z->pidfd);
    close(z->ctl_fd);
    close(z->log_fd);
    z->pidfd = z->ctl_fd = z->log_fd = -1;
    z->pid = 0;
    z->ready = 0;

    if (z->listener != NULL) {
        sbx_listener_unref(z->listener);
        z->listener = NULL;
    }
}


static void
restart_due(sbx_timer_t *timer)
{
    start_zygote(timer->data);
}


static void
restart_later(sbx_zyg_t *z)
{
    uint64_t now = sbx_now_ns();

    /* one that lived for a while starts again at once */
    if (now - z->started_ns > 10 * 1000000000ull) {
        z->backoff_ms = 0;
    }

    z->backoff_ms = z->backoff_ms ? 2 * z->backoff_ms : BACKOFF_MIN_MS;

    if (z->backoff_ms > BACKOFF_MAX_MS) {
        z->backoff_ms = BACKOFF_MAX_MS;
    }

    if (z->why[0] != '\0') {
        z->backoff_ms = REFUSED_MS;
    }

    z->timer.handler = restart_due;
    z->timer.data = z;
    (void) sbx_timer_set(&z->timer, now + z->backoff_ms * 1000000ull);
}


int
sbx_zygote_waits_for(const sbx_lane_t *lane, const sbx_zyg_t *z)
{
    return lane->generation == z->generation && lane->pid == 0
           && (lane->state == SBX_LANE_FORKING
               || lane->state == SBX_LANE_DYING);
}


/* Lanes whose FORK the dead zygote never answered. */
static void
fail_pending_forks(sbx_zyg_t *z)
{
    unsigned i;
    sbx_err_t err;

    (void) sbx_fail(&err, SBX_STEP_FORK, 0, "the zygote died");

    for (i = 0; i < sbx_super.nlanes; i++) {
        if (sbx_zygote_waits_for(&sbx_super.lanes[i], z)) {
            sbx_lane_fork_failed(&sbx_super.lanes[i], &err);
        }
    }
}


void
sbx_zygote_end_retired(sbx_zyg_t *z)
{
    unsigned i;

    for (i = 0; i < sbx_super.nlanes; i++) {
        if (sbx_zygote_waits_for(&sbx_super.lanes[i], z)) {
            return;
        }
    }

    if (z->pid != 0) {
        (void) kill(z->pid, SIGKILL);
    }
}


static void
zygote_ended(sbx_event_t *ev, uint32_t events)
{
    int status = 0;
    sbx_zyg_t *z = ev->data;

    (void) events;

    if (waitpid(z->pid, &status, WNOHANG | __WALL) != z->pid) {
        return;
    }

    /* its last words say why */
    sbx_zygote_log(&z->ev_log, EPOLLIN);

    if (!sbx_zygote_is_beside(z) && z->why[0] == '\0') {
        sbx_log(SBX_LOG_ERR, 0, "zygote %d (pid %d) ended with status 0x%x",
                (int) z->kind, (int) z->pid, (unsigned) status);
    }

    close_zygote(z);
    fail_pending_forks(z);

    if (sbx_zygote_is_beside(z)) {
        sbx_renew_ended(z);

    } else {
        publish(z);

        /* one that never worked is no accident: see its last words above */
        if (z->kind == SBX_ZYGOTE_KIND_NODE && !z->proven && !z->refused
            && z->starts >= STARTS_MAX)
        {
            sbx_zygote_refuse(z->kind, "it ended at its start");
        }

        if (!z->refused) {
            restart_later(z);
        }
    }

    sbx_queue_dispatch();
}


static void
hello_overdue(sbx_timer_t *timer)
{
    sbx_zyg_t *z = timer->data;

    if (!sbx_zygote_is_beside(z) || !sbx_renew_is_failing(z)) {
        sbx_log(SBX_LOG_ERR, 0, "zygote %d said nothing for %d ms",
                (int) z->kind, HELLO_MS);
    }

    (void) kill(z->pid, SIGKILL);
}


static void
watch(sbx_zyg_t *z)
{
    z->ev_pid.handler = zygote_ended;
    z->ev_ctl.handler = sbx_zygote_spoke;
    z->ev_log.handler = sbx_zygote_log;
    z->ev_pid.data = z->ev_ctl.data = z->ev_log.data = z;

    if (sbx_event_set(&z->ev_pid, z->pidfd, EPOLLIN) < 0
        || sbx_event_set(&z->ev_ctl, z->ctl_fd, EPOLLIN) < 0
        || sbx_event_set(&z->ev_log, z->log_fd, EPOLLIN) < 0)
    {
        sbx_log(SBX_LOG_ALERT, errno, "epoll");
    }
}


int
sbx_zygote_start(sbx_zyg_t *z)
{
    static unsigned generation;

    z->started_ns = sbx_now_ns();
    z->starts++;
    z->generation = ++generation;
    z->children = 0;
    z->why[0] = '\0';

    if (sbx_zygote_spawn(z) < 0) {
        return -1;
    }

    watch(z);
    z->timer.handler = hello_overdue;
    z->timer.data = z;
    (void) sbx_timer_set(&z->timer, z->started_ns + HELLO_MS * 1000000ull);

    return 0;
}


static void
start_zygote(sbx_zyg_t *z)
{
    if (sbx_zygote_start(z) < 0) {
        sbx_log(SBX_LOG_ERR, errno, "cannot start zygote %d", (int) z->kind);
        restart_later(z);
    }
}


/*
 * The two change places in memory, since everyone looks for the one that serves
 * in its own: what the loop knows by address is taken out first, and put in
 * again.  What was to restart the other one goes with it.
 */
void
sbx_zygote_exchange(sbx_zygote_kind_t kind)
{
    sbx_zyg_t *serving = &sbx_super.zygotes[kind];
    sbx_zyg_t *beside = &sbx_super.besides[kind];
    sbx_zyg_t old;

    unwatch(serving);
    unwatch(beside);

    old = *serving;
    *serving = *beside;
    *beside = old;

    serving->starts = old.starts;
    serving->renewals = old.renewals + 1;
    beside->retired = 1;

    watch(serving);

    if (beside->pid != 0) {
        watch(beside);
        sbx_zygote_end_retired(beside);
    }

    publish(serving);
}


void
sbx_zygotes_start(void)
{
    int k;
    sbx_zyg_t *z;

    for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {
        z = &sbx_super.zygotes[k];
        z->kind = k;
        z->pidfd = z->ctl_fd = z->log_fd = z->program_fd = -1;

        if (sbx_zygote_is_there(k)) {
            publish(z);
            start_zygote(z);
        }
    }
}


void
sbx_zygote_kill(const sbx_lane_t *lane)
{
    sbx_zyg_t *z = &sbx_super.zygotes[lane->kind];

    if (z->generation != lane->generation) {
        z = &sbx_super.besides[lane->kind];
    }

    if (z->generation == lane->generation && z->pid != 0) {
        (void) kill(z->pid, SIGKILL);
    }
}


int
sbx_zygote_fork(sbx_zyg_t *z, sbx_lane_t *lane, const int fds[6])
{
    static uint32_t tag;

    sbx_zmsg_t msg = { .type = SBX_ZMSG_FORK, .flags = lane->fork_flags,
                       .ns_flags = lane->slot.ns_flags, .uid = lane->slot.uid,
                       .gid = lane->slot.gid };

    if (!z->ready) {
        errno = ENOTCONN;
        return -1;
    }

    lane->tag = msg.tag = ++tag;
    lane->generation = z->generation;

    if (sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, 6) == 0) {
        return 0;
    }

    /* its pidfd tells soon, too */
    if (errno == EPIPE || errno == ECONNRESET) {
        z->ready = 0;
    }

    return -1;
}


/* Self-tests and children nobody needed are no reason to renew a zygote. */
void
sbx_zygote_count_run(const sbx_lane_t *lane)
{
    sbx_zyg_t *z = &sbx_super.zygotes[lane->kind];

    if (lane->run->conn != NULL && z->generation == lane->generation) {
        z->children++;
    }
}


int
sbx_zygote_is_pid(pid_t pid)
{
    int k;

    for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {
        if (sbx_super.zygotes[k].pid == pid
            || sbx_super.besides[k].pid == pid)
        {
            return 1;
        }
    }

    return 0;
}


static int
is_known(pid_t pid)
{
    unsigned i;

    if (sbx_zygote_is_pid(pid)) {
        return 1;
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        if (sbx_super.lanes[i].pid == pid
            || sbx_super.lanes[i].slot.pid == pid)
        {
            return 1;
        }
    }

    return 0;
}


void
sbx_zygotes_reap(void)
{
    unsigned i;
    siginfo_t si;

    /* a child whose number is on its way is nobody's orphan */
    for (i = 0; i < sbx_super.nlanes; i++) {
        if (sbx_super.lanes[i].pid == 0
            && (sbx_super.lanes[i].state == SBX_LANE_FORKING
                || sbx_super.lanes[i].state == SBX_LANE_DYING))
        {
            return;
        }
    }

    si.si_pid = 0;

    if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0
        && si.si_pid > 0 && !is_known(si.si_pid))
    {
        (void) waitpid(si.si_pid, NULL, WNOHANG | __WALL);
    }
}
