/*
 * sbx_check.h: the seven checks of each built-in runtime.
 *
 * Real programs run in the real sandbox while the supervisor looks at them from
 * outside: what a program prints paces the check and is no evidence.  They run
 * at start, before anybody's program; one that failed makes the runtime's
 * locations answer 503, unless sandbox_allow_missing has its name, and is
 * repeated until it passes.
 */

#ifndef SBX_CHECK_H
#define SBX_CHECK_H

#include "sbx_state.h"

/* Runs the checks of a runtime whose self-test passed.  0, or -1: no memory. */
int sbx_check_start(sbx_runtime_t *rt, int first);

/* A zygote is ready, or will not be so soon: who waited for it goes on. */
void sbx_check_zygote(sbx_zygote_kind_t kind);

/* The lane's slot was cleaned after its child. */
void sbx_check_cleaned(sbx_lane_t *lane);

/* Gives the verdict of a run whose runtime failed these checks. */
void sbx_check_refuse(sbx_task_t *run, uint32_t checks);


/* sbx_check.c and sbx_check_see.c. */

#define SBX_CHECK_STEPS         8       /* of 1 MiB */
#define SBX_CHECK_DEADLINE_MS   100

typedef struct sbx_check_s sbx_check_t;

/* In the order of sbx_checks. */
enum {
    SBX_SEE_LIMIT = 0,
    SBX_SEE_PRELOAD,
    SBX_SEE_PROC_LIMITS,
    SBX_SEE_GROWTH,
    SBX_SEE_SIGNAL,
    SBX_SEE_OOM,
    SBX_SEE_DEADLINE
};

/* One run. */
typedef struct {
    const char *python, *node;
    uint64_t memory, timeout_ms, processes;
    unsigned checks;                    /* 1 << SBX_SEE_LIMIT | … */
    void (*ended)(sbx_check_t *c);      /* the verdict is there */
    int (*cleaned)(sbx_check_t *c);     /* its slot is clean; 0: calls
                                           sbx_check_next itself, later */
} sbx_check_phase_t;

struct sbx_check_s {
    sbx_task_t run;
    sbx_job_t job;
    sbx_runtime_t *runtime;
    const sbx_check_phase_t *phase;
    sbx_lane_t *lane;                   /* that the run is, or was, in */
    unsigned waits_zygote:1, waits_slot:1, overdue:1, first:1;
    unsigned steps, looks;
    pid_t inner_pid;                    /* the run's, in its slot */
    uint64_t size[SBX_CHECK_STEPS + 1]; /* VmSize or VmData at each step */
    uint64_t oom_kills;                 /* of the host, before the run */
    sbx_timer_t timer;
    sbx_check_result_t results[SBX_CHECKS];
};

/* The phase has ended: the next, or the end of all.  May free c. */
void sbx_check_next(sbx_check_t *c);

extern const sbx_watch_t sbx_check_watch;
void sbx_check_grown(sbx_check_t *c);
void sbx_check_overran(sbx_check_t *c);
int sbx_check_overran_cleaned(sbx_check_t *c);
void sbx_check_outlived(sbx_check_t *c);
int sbx_check_outlived_cleaned(sbx_check_t *c);
/* Fails what the program did not come to. */
void sbx_check_fail_rest(sbx_check_t *c);


/* sbx_check_look.c: what the kernel says of a process. */

/* A number of /proc/PID/status, in bytes for a size; 0: not there. */
uint64_t sbx_look_bytes(pid_t pid, const char *key);

/* Its number in its own pid namespace; 0: not known. */
pid_t sbx_look_inner_pid(pid_t pid);

/*
 * The limit in /proc/PID/limits, by the row's name; UINT64_MAX: unlimited.
 * 0, or -1: there is no such row.
 */
int sbx_look_limit(pid_t pid, const char *row, uint64_t *soft, uint64_t *hard);

/*
 * What /proc/PID/maps has of the preload library's code and of the page.  Bits:
 * 1 the library, executable; 2 the memfd page_fd, shared.
 */
int sbx_look_hook(pid_t pid, const char *library, int page_fd);

/* The kernel's count of OOM kills on the whole host. */
uint64_t sbx_look_oom_kills(void);

/* A process of the cell that no lane or zygote has; 0: none. */
pid_t sbx_look_stranger(char *name, size_t size);

#endif
