/*
 * sbx_cgroup.h: one memory + pids (+ cpu accounting) cgroup per slot, on v2, v1
 * or hybrid hosts; every function does nothing successfully on a host without.
 */

#ifndef SBX_CGROUP_H
#define SBX_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "sbx_err.h"

#define SBX_CGROUP_UNKNOWN  UINT64_MAX

typedef enum { SBX_CGROUP_NONE = 0, SBX_CGROUP_V1, SBX_CGROUP_V2 }
    sbx_cgroup_kind_t;

typedef struct {
    sbx_cgroup_kind_t kind;
    char name[64];                  /* "deer-flow-TOKEN" */
    char memory[256], pids[256], cpu[256];  /* v1: parent directories of each
                                       hierarchy ("" if absent); v2: memory
                                       holds the one parent */
    char note[128];                 /* why there is none, for check and log */
} sbx_cgroup_host_t;

typedef struct {
    const sbx_cgroup_host_t *host;
    int index;
    int memory_fd, pids_fd, cpu_fd; /* directories; -1: none */
    int stat_fds[4];                /* kept open: peak, oom, cpu, pids events */
    char leaf[32];                  /* its directory's name: never used twice */
    uint64_t memory_limit;          /* in force, to skip equal writes; 0: none,
                                       or SBX_CGROUP_UNKNOWN */
    uint32_t tasks_limit;
    uint64_t memory_base;           /* v1: bytes charged at the last reset */
    uint64_t oom_seen, pids_seen, cpu_seen; /* counters at the last reset */
} sbx_cgroup_t;

typedef struct {
    uint64_t memory_peak;   /* bytes since reset; 0: not known */
    uint64_t memory_now;
    uint64_t oom_kills;     /* by this cgroup's own limit, since reset */
    uint64_t oom_kills_other;   /* by an ancestor's, or the host was full */
    uint64_t cpu_us;        /* whole tree since reset; 0: not known */
    uint64_t pids_refused;  /* forks refused by pids.max since reset */
} sbx_cgroup_stat_t;

/*
 * Removes cgroups that guards that no longer live left behind, and those of the
 * caller itself, which must have no supervisor at the time.  token names the
 * ones to come: "<pid namespace>-<pid>-<start time>", since containers that
 * share a hierarchy number their processes alike.
 * Runs in: guard (sees the host's pids).
 */
void sbx_cgroup_sweep(void);
void sbx_cgroup_token(char *token, size_t size);

/* Finds what there is and makes the parents.  Never fails: kind NONE + note. */
void sbx_cgroup_host_open(sbx_cgroup_host_t *host, const char *token);
void sbx_cgroup_host_close(sbx_cgroup_host_t *host);

int sbx_cgroup_open(sbx_cgroup_t *cg, const sbx_cgroup_host_t *host, int index,
    sbx_err_t *err);
void sbx_cgroup_close(sbx_cgroup_t *cg);

/* v1: memory and memory+swap; v2: memory.max, memory.swap.max = 0. */
int sbx_cgroup_limit(sbx_cgroup_t *cg, uint64_t memory_bytes, uint32_t tasks,
    sbx_err_t *err);
int sbx_cgroup_attach(sbx_cgroup_t *cg, pid_t pid, sbx_err_t *err);
int sbx_cgroup_read(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st);

/*
 * It has no processes now: counters to zero, and no limit that the warm-up of a
 * child could meet (v2: a fresh leaf).
 */
int sbx_cgroup_reset(sbx_cgroup_t *cg, sbx_err_t *err);

#endif
