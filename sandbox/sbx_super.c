/*
 * sbx_super.c: the supervisor: what it makes once, its loop, its end.
 *
 * Runs in the supervisor, inside the cell.  Signals and timers set facts; this
 * one loop decides.  Comes in: frames on unix sockets.  Goes out: verdicts.
 * When it fails to prepare, jobs are answered with the reason, never run.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sbx_fault.h"
#include "sbx_filter.h"
#include "sbx_landlock.h"
#include "sbx_layer.h"
#include "sbx_log.h"
#include "sbx_state.h"

#define LOG_CHECK_NS    1000000000ull
#define ACCEPT_NS       100000000ull


sbx_super_t sbx_super;

static void accept_again(sbx_timer_t *timer);

static sbx_timer_t log_timer;
static sbx_timer_t accept_timer = { .handler = accept_again };


static void
check_log(sbx_timer_t *timer)
{
    sbx_log_reopen();
    sbx_zygotes_reap();
    sbx_renew_tick();
    (void) sbx_timer_set(timer, sbx_now_ns() + LOG_CHECK_NS);
}


/* SO_PEERCRED: the workers' uid, our own, or root. */
static int
peer_allowed(int fd)
{
    socklen_t len = sizeof(struct ucred);
    struct ucred cred;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        return 0;
    }

    return cred.uid == 0 || cred.uid == geteuid()
           || cred.uid == sbx_super.conf->peer_uid;
}


static void
accept_again(sbx_timer_t *timer)
{
    (void) timer;

    if (!sbx_super.stopping) {
        (void) sbx_event_set(&sbx_super.ev_listen, sbx_super.conf->listen_fd,
                             EPOLLIN);
    }
}


static void
accept_conn(sbx_event_t *ev, uint32_t events)
{
    int fd;

    (void) events;

    fd = accept4(ev->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        /* whoever waits would wake us again at once */
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM
            || errno == ENOBUFS)
        {
            sbx_log(SBX_LOG_ALERT, errno, "accept");
            sbx_event_clear(ev);
            (void) sbx_timer_set(&accept_timer, sbx_now_ns() + ACCEPT_NS);
        }
        return;
    }

    if (!peer_allowed(fd)) {
        sbx_log(SBX_LOG_ERR, 0, "refused a connection of another user");
        close(fd);
        return;
    }

    sbx_conn_open(fd);
}


/* The write ends are gone: no worker of this generation lives. */
static void
lifeline_ended(sbx_event_t *ev, uint32_t events)
{
    (void) events;

    sbx_event_clear(ev);
    sbx_event_clear(&sbx_super.ev_listen);
    sbx_super.stopping = 1;
}


static void
signal_came(sbx_event_t *ev, uint32_t events)
{
    struct signalfd_siginfo si;

    (void) events;

    if (read(ev->fd, &si, sizeof(si)) == (ssize_t) sizeof(si)) {
        sbx_log(SBX_LOG_NOTICE, 0, "signal %u, leaving", si.ssi_signo);
        sbx_super.stopping = 2;
    }
}


static int
watch(sbx_event_t *ev, int fd, void (*handler)(sbx_event_t *, uint32_t))
{
    ev->handler = handler;

    return fd < 0 ? 0 : sbx_event_set(ev, fd, EPOLLIN);
}


static int
watch_signals(void)
{
    int fd;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);

    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

    return fd < 0 ? -1 : watch(&sbx_super.ev_signal, fd, signal_came);
}


static void
map_stats(unsigned starts)
{
    unsigned i;
    sbx_stats_t *st;

    if (sbx_super.conf->stats_fd < 0) {
        return;
    }

    st = mmap(NULL, SBX_STATS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
              sbx_super.conf->stats_fd, 0);

    if (st == MAP_FAILED) {
        sbx_log(SBX_LOG_ERR, errno, "cannot map the page of figures");
        return;
    }

    st->magic = SBX_STATS_MAGIC;
    st->ready = 0;
    st->supervisor_starts = starts + 1;     /* starts: the ones before */
    st->slots = sbx_super.slots;
    st->queue_max = sbx_super.conf->queue;

    for (i = 0; i < sbx_super.nruntimes && i < SBX_STATS_RUNTIMES; i++) {
        snprintf(st->runtimes[i].name, sizeof(st->runtimes[i].name), "%s",
                 sbx_super.runtimes[i].conf->name);
        st->runtimes[i].zygote = 0;
        st->runtimes[i].base_bytes = 0;
    }

    sbx_super.stats = st;
}


/* Tried: a kernel that has them may allow none (user.max_user_namespaces). */
static int
has_userns(void)
{
    int status = 1;
    pid_t got, pid = fork();

    if (pid == 0) {
        _exit(unshare(CLONE_NEWUSER) < 0);
    }

    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);

    return pid > 0 && status == 0;
}


/*
 * Linux counts tasks for RLIMIT_NPROC by user namespace since 5.14; before, by
 * the host's uid, which all slots of a normal user share with everything else.
 */
static int
counts_tasks_by_userns(void)
{
    int major, minor;
    struct utsname uts;

    if (uname(&uts) < 0 || sscanf(uts.release, "%d.%d", &major, &minor) != 2) {
        return 0;
    }

    return major > 5 || (major == 5 && minor >= 14);
}


static void
find_layers(void)
{
    sbx_super.tasks_per_slot = sbx_super.cell->privileged
                               || counts_tasks_by_userns();
    sbx_super.missing = sbx_super.cell->missing;
    sbx_super.userns = has_userns() && !sbx_fault("layers");

    if (!sbx_super.userns) {
        sbx_super.missing |= SBX_LAYER_USER;
    }

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0) {
        sbx_super.missing |= SBX_LAYER_NO_NEW_PRIVS;
    }

    if (prctl(PR_GET_SECCOMP) < 0) {
        sbx_super.missing |= SBX_LAYER_SECCOMP;
    }

    if (sbx_landlock_version() == 0) {
        sbx_super.missing |= SBX_LAYER_LANDLOCK;
    }

    if (!sbx_super.cell->privileged) {
        sbx_super.missing |= SBX_LAYER_UID;
    }

    if (sbx_super.cgroups.kind == SBX_CGROUP_NONE) {
        sbx_super.missing |= SBX_LAYER_CGROUP;
    }
}


/* One warning a start, with the reason where it is known. */
static void
report_layers(void)
{
    char list[200];
    size_t len = 0;
    const sbx_layer_info_t *l;

    list[0] = '\0';

    for (l = sbx_layers; l->bit; l++) {
        if ((sbx_super.missing & l->bit)
            && len + strlen(l->name) + 2 < sizeof(list))
        {
            len += (size_t) snprintf(list + len, sizeof(list) - len, " %s",
                                     l->name);
        }
    }

    if (len > 0) {
        sbx_log(SBX_LOG_WARN, 0, "runs go without these layers of protection:"
                "%s%s%s%s", list, sbx_super.cgroups.note[0] ? " (cgroup: " : "",
                sbx_super.cgroups.note, sbx_super.cgroups.note[0] ? ")" : "");
    }
}


/*
 * Two per processor; and four more, since requests come in bursts, and the
 * smaller the machine, the larger a burst is for it.  More than slots would
 * never run.
 */
static unsigned
choose_standby(const sbx_conf_t *conf)
{
    unsigned n = 2 * sbx_super.cpus + 4;

    if (conf->standby != UINT32_MAX) {
        n = conf->standby;
    }

    return n < sbx_super.slots ? n : sbx_super.slots;
}


static void
choose_sizes(const sbx_conf_t *conf)
{
    long cpus;
    cpu_set_t set;
    int k;
    unsigned i;

    cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    sbx_super.cpus = cpus > 0 ? (unsigned) cpus : 1;
    sbx_super.slots = conf->slots ? conf->slots : 4 * sbx_super.cpus;
    i = choose_standby(conf);
    sbx_super.nlanes = sbx_super.slots;

    for (k = 0; k < SBX_ZYGOTE_KINDS; k++) {
        if (sbx_zygote_is_there(k)) {
            sbx_super.standby[k] = k == SBX_ZYGOTE_KIND_EXEC ? (i + 1) / 2 : i;
            sbx_super.nlanes += sbx_super.standby[k];
        }
    }

    for (i = 0; i < conf->nruntimes; i++) {
        sbx_super.runtimes[i].conf = &conf->runtimes[i];
        sbx_super.runtimes[i].address_space =
            strcmp(conf->runtimes[i].name, "python") == 0;
    }

    sbx_super.nruntimes = conf->nruntimes;
}


static int
build_root(const sbx_conf_t *conf, sbx_err_t *err)
{
    int rc;
    char **b;
    unsigned i;
    size_t n = 0, used = 0;
    const char **binds;

    for (i = 0; i < conf->nruntimes; i++) {
        n += 1;
        for (b = conf->runtimes[i].binds; b && *b; b++) {
            n++;
        }
    }

    binds = calloc(n + 1, sizeof(*binds));
    if (binds == NULL) {
        return sbx_fail(err, SBX_STEP_ROOT, ENOMEM, "list of binds");
    }

    for (i = 0; i < conf->nruntimes; i++) {

        /* the command itself, and what the operator says it needs */
        if (conf->runtimes[i].own) {
            binds[used++] = conf->runtimes[i].cmd[0];
        }

        for (b = conf->runtimes[i].binds; b && *b; b++) {
            binds[used++] = *b;
        }
    }

    rc = sbx_root_build(&sbx_super.root, binds, conf->preload, err);
    free(binds);

    return rc;
}


/* Makes everything that is made once.  On -1 every job is answered with *err. */
static int
prepare(const sbx_conf_t *conf, sbx_err_t *err)
{
    unsigned i;

    if (build_root(conf, err) < 0) {
        return -1;
    }

    sbx_super.filters_fd = sbx_filter_build(err);
    if (sbx_super.filters_fd < 0) {
        return -1;
    }

    sbx_super.lanes = calloc(sbx_super.nlanes, sizeof(*sbx_super.lanes));
    if (sbx_super.lanes == NULL) {
        return sbx_fail(err, SBX_STEP_SLOT, ENOMEM, "%u slots",
                        sbx_super.nlanes);
    }

    for (i = 0; i < sbx_super.nlanes; i++) {
        sbx_lane_t *lane = &sbx_super.lanes[i];

        memset(&lane->slot, 0, sizeof(lane->slot));
        lane->slot.index = (int) i;
        lane->pidfd = lane->job_fd = lane->in_fd = -1;
        lane->out_fd[0] = lane->out_fd[1] = -1;
        lane->syscall_number = -1;
    }

    return 0;
}


static void
raise_nofile(void)
{
    struct rlimit rl;

    /*
     * Some ten descriptors a lane and the workers' connections; and no run can
     * be given more than we have: as many as may be asked for, where we may.
     */
    if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
        struct rlimit most = { sbx_limits[SBX_LIMIT_OPEN_FILES].max,
                               sbx_limits[SBX_LIMIT_OPEN_FILES].max };

        if (rl.rlim_max < most.rlim_max
            && setrlimit(RLIMIT_NOFILE, &most) == 0)
        {
            rl = most;
        }

        rl.rlim_cur = rl.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &rl);
        sbx_super.open_files = rl.rlim_max;
    }
}


static int
start(const sbx_conf_t *conf, unsigned starts, sbx_err_t *err)
{
    unsigned i;

    if (sbx_loop_init() < 0 || watch_signals() < 0
        || watch(&sbx_super.ev_listen, conf->listen_fd, accept_conn) < 0
        || watch(&sbx_super.ev_lifeline, conf->lifeline_fd, lifeline_ended)
           < 0)
    {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "event loop");
    }

    raise_nofile();
    choose_sizes(conf);
    map_stats(starts);
    sbx_queue_init();
    sbx_super.conns.next = sbx_super.conns.prev = &sbx_super.conns;

    if (conf->conn_fd >= 0) {
        sbx_conn_open(conf->conn_fd);
    }

    sbx_cgroup_host_open(&sbx_super.cgroups, conf->cgroup_token);
    find_layers();
    sbx_super.setup.disk_bytes = sbx_limits[SBX_LIMIT_DISK].initial;

    if (prepare(conf, err) < 0) {
        snprintf(sbx_super.root_error, sizeof(sbx_super.root_error),
                 "%s: %s%s%s", sbx_step_name(err->step), err->text,
                 err->errnum ? ": " : "",
                 err->errnum ? strerror(err->errnum) : "");
        sbx_log(SBX_LOG_CRIT, 0, "no run is possible: %s",
                sbx_super.root_error);

        if (sbx_super.stats != NULL) {
            snprintf(sbx_super.stats->error, sizeof(sbx_super.stats->error),
                     "%.180s", sbx_super.root_error);
        }
        return 0;
    }

    report_layers();

    for (i = 0; i < sbx_super.nlanes; i++) {
        sbx_lane_open(&sbx_super.lanes[i]);
    }

    sbx_zygotes_start();
    sbx_probe_start();

    log_timer.handler = check_log;

    return sbx_timer_set(&log_timer, sbx_now_ns() + LOG_CHECK_NS);
}


static int
may_leave(void)
{
    if (sbx_super.stopping == 2) {
        return 1;
    }

    if (sbx_super.nconns > 0) {
        return 0;
    }

    return sbx_super.stopping || sbx_super.conf->listen_fd < 0;
}


int
sbx_supervise(const sbx_cell_t *cell, unsigned starts, void *data)
{
    const sbx_conf_t *conf = data;
    sbx_err_t err;

    sbx_super.conf = conf;
    sbx_super.cell = cell;
    sbx_log_init(conf->log, conf->log_level);

    if (start(conf, starts, &err) < 0) {
        sbx_log_err(SBX_LOG_EMERG, &err, "supervisor");
        return 1;
    }

    while (!may_leave()) {

        if (sbx_loop_once() < 0) {
            sbx_log(SBX_LOG_EMERG, errno, "epoll_wait");
            return 1;
        }

        sbx_run_deliver();
    }

    sbx_cgroup_host_close(&sbx_super.cgroups);

    return 0;
}
