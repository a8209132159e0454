/*
 * sbx_judge.h: from evidence to verdict, in one table.
 *
 * Exit codes and printed text are never evidence for a limit.  Order of belief:
 * the kernel (its own kills and counters), the supervisor's own kills, the hook
 * page, then signals and codes.  The page may explain an end, never excuse one.
 */

#ifndef SBX_JUDGE_H
#define SBX_JUDGE_H

#include "sbx_page.h"
#include "sbx_verdict.h"

/* Why the supervisor itself ended the run. */
typedef enum {
    SBX_KILL_NONE = 0,
    SBX_KILL_WALL,
    SBX_KILL_CPU,
    SBX_KILL_CPU_PER_SECOND,
    SBX_KILL_STDOUT,
    SBX_KILL_STDERR,
    SBX_KILL_SECCOMP,       /* evidence: syscall_number */
    SBX_KILL_MEMORY,        /* sampled above the limit */
    SBX_KILL_CANCEL         /* nobody waits for the verdict */
} sbx_kill_t;

typedef struct {
    int wait_status;            /* of wait4 */
    sbx_kill_t kill;
    unsigned slot_lost:1;       /* the slot's init died first */
    unsigned disk_full:1;       /* no block or inode left at the end */
    unsigned soft_memory:1;
    uint64_t oom_kills;         /* in the run's cgroup */
    unsigned oom_own:1;         /* … and its own limit was reached */
    uint64_t forks_refused;     /* by the filter: processes */
    uint64_t tasks_refused;     /* by the cgroup: threads or processes */
    unsigned forking:1;         /* processes were allowed */
    int syscall_number;         /* SBX_KILL_SECCOMP; else -1 */
    char syscall[32];
    uint64_t cpu_us;            /* of the whole tree */
    int64_t hook_base;          /* live bytes of an empty program */
    sbx_page_t page;            /* a copy: the guest may still write it */
    int64_t event_realtime_ms;  /* when the end was seen, since the epoch */
} sbx_evidence_t;

/*
 * Sets status, reason, exit_code, signal, error and violation of a verdict whose
 * limits and usage are filled in.  Pure: no system calls.
 */
void sbx_judge(const sbx_evidence_t *ev, sbx_verdict_t *v);

#endif
