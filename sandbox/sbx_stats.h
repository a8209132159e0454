/*
 * sbx_stats.h: the page the supervisor shares with nginx's workers.
 *
 * A memfd made by the master with the generation; the supervisor writes, the
 * workers read (relaxed atomics; each figure stands alone).  Workers take the
 * gauges of /metrics and the runtimes' measured bases (for Lua policies and
 * sandbox_dry_run) from it, without a round trip.
 */

#ifndef SBX_STATS_H
#define SBX_STATS_H

#include <stdint.h>

#define SBX_STATS_SIZE      20480
#define SBX_STATS_MAGIC     0x53425853u     /* "SBXS" */
#define SBX_STATS_RUNTIMES  16
#define SBX_STATS_LIMITS    16
#define SBX_CHECKS          7

typedef enum {
    SBX_CHECK_NOT_RUN = 0,      /* an operator's own runtime, or not yet */
    SBX_CHECK_PASSED,
    SBX_CHECK_FAILED,
    SBX_CHECK_SKIPPED           /* needs one that failed */
} sbx_check_state_t;

typedef struct {
    uint32_t state;             /* sbx_check_state_t */
    char evidence[124];         /* what the kernel said */
} sbx_check_result_t;

typedef struct {
    char name[32];              /* "" : no such row */
    uint64_t base_bytes;        /* VmSize (python) or VmData (others) of an
                                   idle child; 0: not measured yet */
    uint64_t floor_bytes;       /* smallest `memory` that runs an empty program */
    uint64_t floors[SBX_STATS_LIMITS];  /* by limit, see sbx_floor.h; 0: none,
                                   or not known */
    uint32_t address_space;     /* 1: RLIMIT_AS is used, 0: RLIMIT_DATA */
    uint32_t zygote;            /* 1: a warmed zygote serves it now */
    uint32_t warming;           /* 1: its zygote has yet to show that it works */
    uint32_t standby;           /* children ready now */
    uint32_t restarts;          /* of its zygote */
    uint32_t renewals;          /* of its zygote, while it served */
    uint32_t reserved;
    sbx_check_result_t checks[SBX_CHECKS];      /* in the order of sbx_checks */
} sbx_stats_runtime_t;

typedef struct {
    uint32_t magic;
    uint32_t ready;             /* 1: accepts jobs, self-tests done */
    uint64_t supervisor_starts; /* by the guard, 1 = never restarted */
    uint32_t slots, slots_busy;
    uint32_t queue, queue_max;
    uint32_t missing;           /* sbx_layer_t bits absent on this host */
    uint32_t reserved;
    char error[192];            /* no run is possible, and why; "" : none */
    uint64_t runs;              /* verdicts of runs given by this generation */
    uint64_t slot_failures;
    sbx_stats_runtime_t runtimes[SBX_STATS_RUNTIMES];
} sbx_stats_t;

_Static_assert(sizeof(sbx_stats_t) <= SBX_STATS_SIZE, "the page has room");

#endif
