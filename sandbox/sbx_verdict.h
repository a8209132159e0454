/*
 * sbx_verdict.h: what comes out.  Everything the response needs is here.
 */

#ifndef SBX_VERDICT_H
#define SBX_VERDICT_H

#include "sbx_err.h"
#include "sbx_limit.h"
#include "sbx_types.h"

typedef enum {
    SBX_SUCCESS = 0,
    SBX_ERROR,
    SBX_MEMORY_EXCEEDED,
    SBX_OOM_KILLED,
    SBX_TIMEOUT,
    SBX_MEMORY_VIOLATION,
    SBX_SIGNALED,
    SBX_SECCOMP_VIOLATION,
    SBX_OUTPUT_EXCEEDED,
    SBX_PROCESS_EXCEEDED,
    SBX_FILE_EXCEEDED,
    SBX_DISK_EXCEEDED,
    SBX_BUSY,               /* 503, Retry-After: nothing ran */
    SBX_INVALID,            /* 4xx: nothing ran */
    SBX_INTERNAL_ERROR,     /* 500, or 503 with reason "unprotected" */
    SBX_SKIPPED,            /* a case behind the one that ended a batch */
    SBX_STATUS_COUNT
} sbx_status_t;

typedef enum {
    SBX_REASON_NONE = 0,
    SBX_REASON_HOOK,        /* memory_exceeded */
    SBX_REASON_UNUSED,      /* had a meaning: numbers go over the wire */
    SBX_REASON_CGROUP,
    SBX_REASON_WATERMARK,
    SBX_REASON_WALL,        /* timeout */
    SBX_REASON_CPU,
    SBX_REASON_STDOUT,      /* output_exceeded */
    SBX_REASON_STDERR,
    SBX_REASON_QUEUE,       /* busy: queue full, or waited too long */
    SBX_REASON_STOPPING,    /* busy: the supervisor is leaving */
    SBX_REASON_UNPROTECTED, /* internal_error: a required layer is missing */
    SBX_REASON_SLOT,        /* internal_error: slot or its init failed */
    SBX_REASON_ALLOCATION,  /* memory_exceeded: one block, see the hook */
    SBX_REASON_CPU_PER_SECOND,  /* timeout: the share of a second */
    SBX_REASON_LIMIT,       /* invalid: too little to start with */
    SBX_REASON_COUNT
} sbx_reason_t;

typedef enum {
    SBX_SOURCE_NONE = 0,
    SBX_SOURCE_HOOK,        /* the preload hook's page: live bytes */
    SBX_SOURCE_CGROUP,      /* memory.peak, or v1 max_usage_in_bytes */
    SBX_SOURCE_RUSAGE,      /* ru_maxrss less what was inherited */
    SBX_SOURCE_WATERMARK,   /* sampled from /proc */
    SBX_SOURCE_KERNEL,      /* seccomp notification, si_addr */
    SBX_SOURCE_COUNT
} sbx_source_t;

typedef enum {
    SBX_VIOLATION_NONE = 0,
    SBX_VIOLATION_ALLOC_LIMIT,
    SBX_VIOLATION_READ,             /* READ_OUT_OF_BOUNDS */
    SBX_VIOLATION_WRITE,            /* WRITE_OUT_OF_BOUNDS */
    SBX_VIOLATION_EXEC,             /* EXEC_OUT_OF_BOUNDS */
    SBX_VIOLATION_STACK_OVERFLOW,
    SBX_VIOLATION_BUS,              /* BUS_ERROR */
    SBX_VIOLATION_SYSCALL,          /* FORBIDDEN_SYSCALL */
    SBX_VIOLATION_UNKNOWN,          /* no evidence beyond the signal */
    SBX_VIOLATION_PROCESSES,        /* PROCESS_LIMIT */
    SBX_VIOLATION_THREADS,          /* THREAD_LIMIT */
    SBX_VIOLATION_HANDLES,          /* HANDLE_LIMIT */
    SBX_VIOLATION_COUNT
} sbx_violation_type_t;

#define SBX_REFUSED_MAX  16

typedef struct {
    sbx_violation_type_t type;      /* NONE: the key "violation" is null */
    uint64_t address;               /* si_addr, or 0 */
    uint64_t region_lo, region_hi;  /* 0, 0: unknown */
    int64_t timestamp_ms;           /* since the epoch, UTC */
    uint64_t requested_bytes, limit_bytes, live_bytes;  /* ALLOC_LIMIT */
    sbx_source_t source;
    int32_t number;                 /* system call; -1: not known */
    char syscall[32];               /* "" : not known */
} sbx_violation_t;

/* Whether the output was what the case expects. */
typedef enum {
    SBX_NOT_COMPARED = 0,
    SBX_REJECTED,
    SBX_ACCEPTED,
    SBX_ACCEPT_COUNT
} sbx_accept_t;

typedef struct {
    uint32_t id;                /* the case's */
    sbx_accept_t accept;
    char name[64];              /* of a case from a suite, "" : none */
    char digest[64];            /* of what it should print, by the suite */
    sbx_status_t status;
    sbx_reason_t reason;
    int exit_code;              /* -1: null */
    int signal;                 /* 0: null */
    char error[512];            /* one sentence for people, "" : null */
    int http;                   /* not on the wire; 0: as sbx_verdict_http has
                                   it, else 405, 415, 502 … */
    sbx_step_t step;            /* internal_error: where */
    sbx_str_t output, errout;   /* raw bytes, up to the limit */
    unsigned output_truncated:1;
    unsigned errout_truncated:1;

    uint64_t wall_us, cpu_us, queue_us;
    uint64_t memory_bytes;
    sbx_source_t memory_source;
    uint32_t processes;         /* peak, 1 for a plain run */
    /* of the first process, by the hook; memory_source HOOK: they are known */
    uint32_t threads;           /* peak of those beyond the first */
    uint32_t open_files;        /* highest descriptor, and one */
    uint64_t largest_bytes;     /* asked for at once; 0: below 64 KiB */
    char refused[SBX_REFUSED_MAX][32];  /* system calls answered by errno */
    unsigned nrefused;

    uint64_t limits[SBX_LIMIT_COUNT];   /* in force */
    uint64_t base_bytes, code_bytes;    /* terms of the memory formula */
    uint32_t factor_permille;

    sbx_violation_t violation;
} sbx_verdict_t;

/* Zero, with exit_code -1 and violation.number -1. */
void sbx_verdict_init(sbx_verdict_t *v);

/* "memory_exceeded", "hook", "cgroup", "ALLOC_LIMIT"; "" for NONE. */
const char *sbx_status_name(sbx_status_t status);
const char *sbx_reason_name(sbx_reason_t reason);
const char *sbx_source_name(sbx_source_t source);
const char *sbx_violation_name(sbx_violation_type_t type);
/* 0 is an address, too: the most frequent one of all. */
int sbx_violation_has_address(const sbx_violation_t *violation);
/* The coarser word for dashboards: "MEMORY_EXCEEDED", "HANDLE_EXHAUSTION". */
const char *sbx_violation_class(sbx_violation_type_t type);

/* Not run to a success, or not with the output that was expected. */
int sbx_verdict_failed(const sbx_verdict_t *v);

/*
 * What a batch came to.  status: of the first case that did not end well, else
 * success; accept: rejected when a case failed, not compared when none had an
 * expectation.
 */
typedef struct {
    sbx_status_t status;
    sbx_accept_t accept;
    size_t total, accepted, failed, skipped;
} sbx_summary_t;

void sbx_summarize(const sbx_verdict_t *v, size_t n, sbx_summary_t *sum);

/* Index of the status called name, or -1. */
int sbx_status_find(sbx_str_t name);

/* The table of design: 0, the exit code, 128, 137, 143, 139, 128 + n … */
int sbx_verdict_returncode(const sbx_verdict_t *v);

/* The verdict's http, or 200, 400, 500, 503 by its status. */
int sbx_verdict_http(const sbx_verdict_t *v);

#endif
