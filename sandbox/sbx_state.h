/*
 * sbx_state.h: the supervisor's state, shared by its own files only.
 *
 *   conn     a worker's connection; one frame at a time on it
 *   run      one job of a frame: queued, then in a lane, then a verdict
 *   lane     a slot, the child in it, and the run it serves
 *   zygote   one of the processes that fork children, restarted when it dies;
 *            while it is renewed there is a second one beside it
 *   listener a zygote's seccomp listener; outlives the zygote while children do
 *
 * sbx_super.c start and loop, sbx_conf.c settings, sbx_conn.c conn, sbx_queue.c
 * queue, dispatch and refill, sbx_lane*.c a lane's life, sbx_run*.c hand-over,
 * limits, streams, samples, CPU per second and the end, sbx_zygotes.c and
 * sbx_zygote_spawn.c zygotes, sbx_renew.c their renewal, sbx_notify.c refused
 * calls and early answers, sbx_probe.c self-tests, sbx_check*.c checks.
 */

#ifndef SBX_STATE_H
#define SBX_STATE_H

#include <sys/types.h>

#include "sbx_job.h"
#include "sbx_judge.h"
#include "sbx_loop.h"
#include "sbx_slot.h"
#include "sbx_stats.h"
#include "sbx_suite.h"
#include "sbx_super.h"
#include "sbx_verdict.h"
#include "sbx_wire.h"
#include "sbx_zygote.h"

typedef struct sbx_conn_s sbx_conn_t;
typedef struct sbx_task_s sbx_task_t;
typedef struct sbx_lane_s sbx_lane_t;
typedef struct sbx_listener_s sbx_listener_t;

/* Samples of a run's CPU time: more than a second of them, see sbx_run_rate.c. */
#define SBX_RATES  32

typedef struct {
    uint64_t at_ns, cpu_ns;
} sbx_rate_t;

typedef enum { SBX_ZYGOTE_KIND_EXEC = 0, SBX_ZYGOTE_KIND_PYTHON,
    SBX_ZYGOTE_KIND_NODE, SBX_ZYGOTE_KINDS } sbx_zygote_kind_t;

/* What the supervisor knows of a language. */
typedef struct {
    const sbx_runtime_conf_t *conf;
    int address_space;      /* RLIMIT_AS (python) or RLIMIT_DATA */
    uint64_t base_bytes;    /* exec path: VmSize or VmData of an empty program,
                               0: not measured */
    int64_t hook_base;      /* exec path: live bytes of an empty program */
    int measured;           /* the self-test passed, both bases are known */
    uint64_t floors[SBX_LIMIT_COUNT];   /* what an empty program needed */
    unsigned retry_ms;      /* until the next self-test, after a failed one */
    sbx_timer_t timer;
    char why[256];          /* the self-test failed, "" : not yet */
    char refused[512];      /* its zygote is not as configured, and why */
    int probing;            /* its first self-test has yet to end */
    uint32_t failed;        /* SBX_CHECK_*: checks that it did not pass */
    sbx_check_result_t checks[SBX_CHECKS];
} sbx_runtime_t;

struct sbx_listener_s {
    int fd;
    sbx_event_t ev;
    int killable;           /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV */
    unsigned refs;          /* lanes with its children, + 1 for the zygote */
};

typedef struct {
    sbx_zygote_kind_t kind;
    unsigned generation;    /* no two starts of any zygote have the same */
    pid_t pid;              /* 0: not running */
    int pidfd, ctl_fd, log_fd;
    int program_fd;         /* of its program, see open_program */
    int ready;              /* HELLO came */
    uint32_t open_files;    /* a run that may have fewer starts cold */
    int proven;             /* a program ran in a child of it as it should */
    int refused;            /* one did not: not started again */
    sbx_listener_t *listener;
    uint64_t base_bytes;    /* VmSize or VmData, as its language is limited */
    uint64_t anon_bytes;    /* of its own memory, when it was ready */
    unsigned children;      /* asked of it */
    int retired;            /* another serves: ends when it owes no child */
    char why[512];          /* what it said of its failure; "" : nothing */
    unsigned starts, renewals;
    uint64_t started_ns;
    unsigned backoff_ms;
    sbx_event_t ev_pid, ev_ctl, ev_log;
    sbx_timer_t timer;      /* restart, or HELLO overdue */
} sbx_zyg_t;

/* Who looks at a run from outside, and paces it through its standard input. */
typedef struct {
    void (*limited)(sbx_task_t *run);   /* limits are set, the job not sent */
    void (*heard)(sbx_task_t *run);     /* it wrote to its standard output */
} sbx_watch_t;

struct sbx_task_s {
    sbx_task_t *prev, *next;    /* in one of the rings queue and finished */
    int queued, finished;
    sbx_conn_t *conn;           /* NULL: cancelled, or a probe */
    void (*done)(sbx_task_t *run);
    const sbx_job_t *job;
    size_t index;               /* of the case */
    sbx_runtime_t *runtime;
    int admitted;               /* a batch's later case: the queue has room */
    int over;                   /* its verdict stands */
    int no_zygote;              /* exec path */
    int tries_zygote;           /* a self-test of its runtime's zygote */
    int measures;               /* a self-test: finds what limits should be */
    uint64_t seen_bytes;        /* what that had at its end; 0: not seen */
    sbx_zyg_t *zygote;          /* is to fork its child; NULL: who serves */
    const sbx_watch_t *watch;   /* NULL: none */
    unsigned again;             /* how often a child died before it took it */
    sbx_lane_t *lane;
    uint64_t arrived_ns;
    sbx_timer_t timer;          /* waited too long */
    sbx_verdict_t verdict;
    char *output[2];            /* stdout, stderr */
    size_t output_len[2], output_cap[2];
};

typedef enum {
    SBX_LANE_DEAD = 0,      /* no slot; timer retries */
    SBX_LANE_RESETTING,     /* slot's init builds or cleans it */
    SBX_LANE_FREE,
    SBX_LANE_FORKING,       /* zygote was asked for a child */
    SBX_LANE_WARMING,       /* child exists, READY is to come */
    SBX_LANE_STANDBY,       /* READY, no run yet */
    SBX_LANE_RUNNING,       /* job handed over */
    SBX_LANE_DYING          /* killed; waiting for its pidfd */
} sbx_lane_state_t;

struct sbx_lane_s {
    sbx_slot_t slot;
    sbx_lane_state_t state;
    sbx_zygote_kind_t kind;
    uint32_t fork_flags;
    uint32_t tag;           /* of the FORK asked for */
    unsigned generation;    /* of the zygote it was asked of */
    uint64_t vm_size, vm_data;  /* of the child, from READY */
    ino_t pidns;            /* the slot's, to find whose a foreign tid is */
    unsigned adjusting:1;   /* slot's init still works on disk or proc */
    unsigned ready:1;       /* READY came */
    unsigned answered:1;    /* verdict went out before the child was reaped */
    unsigned lost:1;        /* the slot's init died */
    unsigned unread:1;      /* the child died with the job not taken */

    pid_t pid;
    int pidfd, job_fd, in_fd, out_fd[2];
    sbx_listener_t *listener;
    sbx_task_t *run;

    uint64_t t0_ns, cpu0_ns, wall_at_ns;
    uint64_t sample_at_ns, others_cpu_ns;   /* see sbx_run_sample.c */
    sbx_rate_t rates[SBX_RATES];
    unsigned nrates;        /* taken so far, the last SBX_RATES are kept */
    uint64_t backoff_ms;
    sbx_kill_t kill;
    size_t in_pos;
    int early_status;       /* wait status of the early answer */
    unsigned notified;      /* calls answered so far */
    uint64_t answer_at_ns;  /* when the last slow answer is due */
    uint64_t forks_refused;
    int syscall_number;
    char syscall[32];
    uint32_t forks;         /* new processes that were allowed */

    sbx_event_t ev_init, ev_ctl, ev_child, ev_job, ev_in, ev_out[2];
    sbx_timer_t timer;
};

struct sbx_conn_s {
    sbx_conn_t *prev, *next;
    int fd;
    sbx_event_t ev;
    char head[SBX_WIRE_HEAD];
    size_t have;            /* bytes of head and payload read */
    sbx_frame_t frame;
    char *payload;
    sbx_job_t job;
    sbx_suite_t suite;      /* zero: the job's cases came with it */
    int job_fd;             /* of a large job: what its children map; or -1 */
    char *const *job_cmd;   /* with this command */
    int busy;               /* a frame is being served */
    sbx_task_t *runs;
    size_t nruns, nstarted, nactive, ndone;
    char *answer;
    size_t answer_len, answer_pos;
};

typedef struct {
    const sbx_conf_t *conf;
    const sbx_cell_t *cell;
    uint32_t missing;           /* sbx_layer_t */
    sbx_root_t root;
    sbx_cgroup_host_t cgroups;
    int userns;                 /* slots have user namespaces */
    int tasks_per_slot;         /* RLIMIT_NPROC counts a slot's tasks alone */
    int filters_fd;
    sbx_stats_t *stats;
    sbx_runtime_t runtimes[SBX_RUNTIMES_MAX];
    unsigned nruntimes;
    sbx_zyg_t zygotes[SBX_ZYGOTE_KINDS];    /* they serve */
    sbx_zyg_t besides[SBX_ZYGOTE_KINDS];    /* to come, or to go */
    sbx_lane_t *lanes;
    unsigned nlanes;
    unsigned cpus, slots, standby[SBX_ZYGOTE_KINDS];
    uint64_t open_files;        /* the most that a run can be given */
    unsigned running;           /* lanes that serve a run */
    unsigned probing;           /* runtimes whose first self-test is to end */
    sbx_task_t queue;           /* ring; .next is the first */
    sbx_task_t finished;        /* ring: done() is to be called */
    unsigned queued;
    sbx_conn_t conns;           /* ring */
    unsigned nconns;
    int stopping;               /* lifeline ended */
    sbx_slot_setup_t setup;     /* as the last run wanted it */
    sbx_event_t ev_listen, ev_lifeline, ev_signal;
    char root_error[320];       /* set: no slot can be had, and why */
} sbx_super_t;

extern sbx_super_t sbx_super;

static inline uint64_t
sbx_run_limit_of(const sbx_task_t *run, sbx_limit_id_t id)
{
    return run->job->limits[id];
}

/* sbx_conn.c */
void sbx_conn_open(int fd);
/* Packs the verdicts of all runs and sends them. */
void sbx_conn_answer(sbx_conn_t *conn);
void sbx_conn_drop_job(sbx_conn_t *conn);

/* sbx_conn_runs.c: starts the runs of conn->job; -1: no memory */
int sbx_conn_start(sbx_conn_t *conn);
void sbx_conn_run_done(sbx_task_t *run);

/* sbx_queue.c */
void sbx_queue_init(void);
/* Takes a run with conn or done set; gives a verdict at once when it must. */
void sbx_queue_add(sbx_task_t *run);
void sbx_queue_remove(sbx_task_t *run);
/* Starts what can start, then fills the standby pool: after every change. */
void sbx_queue_dispatch(void);
/* Of one that is free, or stands by with these flags, the best; NULL: none. */
sbx_lane_t *sbx_queue_find_lane(sbx_lane_state_t state, sbx_zygote_kind_t kind,
    uint32_t flags);
/* What a child is to be forked with: SBX_FORK_*; NULL: for a job to come. */
uint32_t sbx_queue_fork_flags(const sbx_job_t *job);

/* sbx_refill.c: as many standby children as may now be on their way. */
void sbx_refill(void);
/*
 * No new ones: for a second when one failed, so that a lasting fault costs a
 * log line a second and not a processor; for a moment when a run begins or ends.
 */
void sbx_refill_pause(void);
void sbx_refill_hold(void);

/* sbx_lane_slot.c */
void sbx_lane_open(sbx_lane_t *lane);
/* The child is gone: the slot is cleaned for the next, or opened anew. */
void sbx_lane_clean(sbx_lane_t *lane);
void sbx_lane_slot_failed(sbx_lane_t *lane, const sbx_err_t *err);

/* sbx_lane.c */
/* Closes what belongs to one child; the slot stays. */
void sbx_lane_drop_child(sbx_lane_t *lane);
/* Asks a zygote for a child; run may be NULL (standby).  0, or -1 with errno. */
int sbx_lane_fork(sbx_lane_t *lane, sbx_zygote_kind_t kind, uint32_t flags,
    sbx_task_t *run);
/* That errno: not now, but when the zygote has answered others. */
int sbx_lane_asks_later(int error);
/* Gives a standby lane its run. */
void sbx_lane_assign(sbx_lane_t *lane, sbx_task_t *run);
void sbx_lane_forked(sbx_lane_t *lane, pid_t pid, int pidfd);
/* Takes the child's next word, if there is one; events may come out of order. */
void sbx_lane_hear(sbx_lane_t *lane);
void sbx_lane_fork_failed(sbx_lane_t *lane, const sbx_err_t *err);
/* Ends the child for a reason; its verdict follows when it is reaped. */
void sbx_lane_kill(sbx_lane_t *lane, sbx_kill_t why);

/* sbx_run.c */
int sbx_run_hand_over(sbx_lane_t *lane);
/* CPU clock of a process: user and system time of all its threads. */
uint64_t sbx_process_cpu_ns(pid_t pid);
/* A verdict without a run: busy, internal_error … */
void sbx_run_refuse(sbx_task_t *run, sbx_status_t status, sbx_reason_t reason,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The verdict is complete: done() is called by sbx_run_deliver. */
void sbx_run_finish(sbx_task_t *run);
/* Takes the run out of its lane, which goes on without it. */
void sbx_run_detach(sbx_task_t *run);
/* Nobody waits for it any more: out of the queue, its child killed. */
void sbx_run_cancel(sbx_task_t *run);
void sbx_run_clear(sbx_task_t *run);
/*
 * Calls done() of every run that finished since.  Only from the loop, and for an
 * early answer as its last step but one, so that no function finds its run freed
 * under its hands.
 */
void sbx_run_deliver(void);

/* sbx_run_end.c */
void sbx_run_end(sbx_lane_t *lane, int wait_status, uint64_t cpu_us,
    uint64_t maxrss_bytes);

/* sbx_run_limits.c */
/* 1: with these limits no program starts here; the verdict says so. */
int sbx_run_unfit(sbx_task_t *run);
int sbx_run_limit(sbx_lane_t *lane, sbx_err_t *err);
/* The memory limit that the kernel is to enforce on the run's processes. */
uint64_t sbx_run_address_bytes(const sbx_task_t *run);
#ifdef SBX_FAULTS
void sbx_run_limit_late(sbx_lane_t *lane);
#endif
/* Live bytes that the runtime itself has by then: not the program's. */
int64_t sbx_run_hook_base(const sbx_lane_t *lane);
/* The hook's cap on one allocation; INT64_MAX: none. */
int64_t sbx_run_alloc_limit(const sbx_task_t *run);

/* What the tree may have before the kernel, or we, end it. */
uint64_t sbx_run_backstop(const sbx_lane_t *lane);

/* sbx_run_sample.c */
/* No cgroup bounds this run's memory. */
int sbx_run_is_sampled(const sbx_lane_t *lane);
/* 1: the tree has more than the backstop.  Looks no oftener than it should. */
int sbx_run_sample(sbx_lane_t *lane, uint64_t now);

/* sbx_run_rate.c */
int sbx_run_is_rated(const sbx_lane_t *lane);
void sbx_run_rate_start(sbx_lane_t *lane);
/* When the next sample is due. */
uint64_t sbx_run_rate_at(const sbx_lane_t *lane);
/* 1: more CPU time than a second may have.  Takes a sample when one is due. */
int sbx_run_rate(sbx_lane_t *lane, uint64_t now, uint64_t cpu_ns);

/* sbx_run_streams.c */
int sbx_run_send(sbx_lane_t *lane);
int sbx_run_watch(sbx_lane_t *lane);
/* What the pipes still hold after the end. */
void sbx_run_drain(sbx_lane_t *lane);

/* sbx_zygote_spawn.c: its process, pidfd, control and log; 0, or -1 */
int sbx_zygote_spawn(sbx_zyg_t *z);

/* sbx_zygotes.c */
void sbx_zygotes_start(void);
/* Whose children run a built-in language warm; EXEC: nobody's. */
sbx_zygote_kind_t sbx_zygote_of(const sbx_runtime_conf_t *conf);
/* The built-in runtime of its language; NULL: none. */
sbx_runtime_t *sbx_zygote_runtime(sbx_zygote_kind_t kind);
/* 1: this host has its parts and the settings do not exclude it. */
int sbx_zygote_is_there(sbx_zygote_kind_t kind);
/* It passed its self-test, or failed it and is not to be used; why: for the log. */
void sbx_zygote_prove(sbx_zygote_kind_t kind);
void sbx_zygote_refuse(sbx_zygote_kind_t kind, const char *why);
/*
 * A zygote killed between its clone and its word leaves a child of ours that no
 * lane knows.  Its job channel has ended, so it ends too: reaped here.
 */
void sbx_zygotes_reap(void);
/* Asks z for the lane's child. */
int sbx_zygote_fork(sbx_zyg_t *z, sbx_lane_t *lane, const int fds[6]);
/* A child of it has been given a job. */
void sbx_zygote_count_run(const sbx_lane_t *lane);
/* The one asked for the lane's child does not answer: ended. */
void sbx_zygote_kill(const sbx_lane_t *lane);
/* One of ours, in service or beside. */
int sbx_zygote_is_pid(pid_t pid);
/* It is not the one that serves. */
int sbx_zygote_is_beside(const sbx_zyg_t *z);
/* The lane asked z for a child and has no answer yet. */
int sbx_zygote_waits_for(const sbx_lane_t *lane, const sbx_zyg_t *z);
void sbx_listener_unref(sbx_listener_t *listener);
/* Starts one beside the one that serves; -1 with errno. */
int sbx_zygote_start(sbx_zyg_t *z);
/* Changes places: the one beside serves, the other one is retired. */
void sbx_zygote_exchange(sbx_zygote_kind_t kind);
/* Ends a retired one that owes nobody a child. */
void sbx_zygote_end_retired(sbx_zyg_t *z);

/* sbx_zygote_word.c, called by the loop: its control socket, what it prints */
void sbx_zygote_spoke(sbx_event_t *ev, uint32_t events);
void sbx_zygote_log(sbx_event_t *ev, uint32_t events);

/* sbx_renew.c */
/* Why a zygote is to be renewed; NULL: it is not. */
const char *sbx_renew_reason(const sbx_conf_t *conf, const sbx_zyg_t *z,
    uint64_t age_ns, uint64_t anon_bytes);
/* Anonymous memory of a process, from /proc/PID/statm; 0: not known. */
uint64_t sbx_renew_anon_bytes(pid_t pid);
/* Looks whether one is due: every second. */
void sbx_renew_tick(void);
/* Of the one beside: it said HELLO; it ended. */
void sbx_renew_hello(sbx_zyg_t *z);
void sbx_renew_ended(sbx_zyg_t *z);
/* Its failure was logged: what it says now is known. */
int sbx_renew_is_failing(const sbx_zyg_t *z);

/* sbx_notify.c */
void sbx_notify_handler(sbx_event_t *ev, uint32_t events);

/* sbx_probe.c */
void sbx_probe_start(void);
/*
 * One program in a child of its zygote, which then proves or refuses it; -1:
 * there is none to try.
 */
int sbx_probe_zygote(sbx_runtime_t *rt);
/* The job that shows whether a zygote works (-1: no memory), and whether it did. */
int sbx_probe_job(const sbx_runtime_t *rt, sbx_job_t *job);
int sbx_probe_passed(const sbx_task_t *run);
/* The one that the runtime's runs wait for has ended. */
void sbx_probe_ended(sbx_runtime_t *rt);

#endif
