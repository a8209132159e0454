/*
 * sbx_page.h: the page a run's preload hook shares with the supervisor.
 *
 * One page (a memfd) per slot.  The supervisor writes the settings before the
 * hand-over; the hook writes the rest.  Guest code can scribble on it, so it may
 * make a verdict earlier or more detailed, never milder than the kernel's own
 * evidence.
 *
 * How it gets there.  Exec path: descriptor number in SBX_PAGE_FD; the hook's
 * constructor maps it, closes it and removes SBX_PAGE_FD and LD_PRELOAD from
 * the environment.  Zygote: started in the same way with a page of its own, in
 * which the hook leaves its address in `self`; after a fork the child maps the
 * slot's page over that address (MAP_FIXED) and so starts from live = 0.
 */

#ifndef SBX_PAGE_H
#define SBX_PAGE_H

#include <stdint.h>

#define SBX_PAGE_SIZE       4096
#define SBX_PAGE_MAGIC      0x53425850u     /* "SBXP" */
#define SBX_PAGE_ENV        "SBX_PAGE_FD"

typedef enum {
    SBX_HOOK_COUNT = 0,     /* count, never refuse */
    SBX_HOOK_KILL = 1,      /* SIGUSR1 to pid 1 of the namespace (the slot's
                               init), record, then end at the violating call */
    SBX_HOOK_SOFT = 2       /* record, errno ENOMEM, return NULL */
} sbx_hook_mode_t;

/* What a hook built with -DSBX_FAULTS does wrong, see sbx_fault.h. */
typedef enum {
    SBX_PAGE_FAULT_NONE = 0,
    SBX_PAGE_FAULT_JUMP,        /* takes 64 MiB with the program's third MiB */
    SBX_PAGE_FAULT_MUTE         /* sends no SIGUSR1 */
} sbx_page_fault_t;

typedef enum {
    SBX_HOOK_NONE = 0,
    SBX_HOOK_MALLOC,        /* the malloc family */
    SBX_HOOK_MMAP,          /* mmap, mremap */
    SBX_HOOK_MPROTECT,
    SBX_HOOK_SEGV,          /* fault handler: wild pointer */
    SBX_HOOK_STACK,         /* fault handler: stack overflow */
    SBX_HOOK_BUS
} sbx_hook_event_t;

/*
 * One forked process of the run.  What a process holds goes with it when it
 * ends, whether or not it freed it, so each has its own sum to take back.
 */
#define SBX_PAGE_CELLS      128

typedef struct {
    uint32_t pid;               /* in the run's pid namespace; 0: free */
    uint32_t reserved;
    int64_t live;               /* this process's part of live, >= 0 */
} sbx_page_cell_t;

typedef struct {
    /* supervisor's, before the hand-over */
    uint32_t magic;
    uint32_t mode;              /* sbx_hook_mode_t */
    int64_t limit;              /* bytes of live; INT64_MAX: none */
    int64_t alloc_limit;        /* one allocation; INT64_MAX: none */
    uint32_t one_arena;         /* exec path: malloc is not to reserve 64 MiB
                                   for each thread; address space is bounded */
    uint32_t fault;             /* sbx_page_fault_t, in test builds */
    uint32_t files_limit;       /* the run's of descriptors; 0: not known */
    uint8_t settings_reserved[28];

    /* the hook's; all accessed with relaxed atomics */
    uint64_t self;              /* address the hook mapped this page at */
    uint32_t loaded;            /* 1 once the hook runs on this page */
    uint32_t event;             /* sbx_hook_event_t, first one wins */
    int64_t live;               /* writable commitment now, bytes */
    int64_t peak;
    int64_t requested;          /* refused size, with event 1..3; above
                                   alloc_limit: of the whole block */
    int64_t live_at_event;
    uint64_t refusals;          /* times an allocation was refused */
    uint64_t event_ns;          /* CLOCK_MONOTONIC */
    uint64_t fault_address;     /* event 4..6 */
    uint64_t fault_sp;
    uint64_t fault_ip;
    uint64_t fault_error;       /* x86 page-fault error code; bit 1: write,
                                   bit 4: instruction fetch */
    uint64_t region_lo, region_hi;  /* nearest writable mapping below the
                                       fault, or the stack's; 0, 0: none, or
                                       not known */
    uint32_t owner;             /* pid of the first process on this page: the
                                   run; when a forked process is refused in
                                   KILL mode, the hook ends this one too, by
                                   SIGKILL */
    uint32_t files_refused;     /* calls that failed with EMFILE, under the
                                   run's limit */
    uint32_t files_peak;        /* highest descriptor seen, and one */
    uint32_t threads;           /* of the owner, beyond its first, that have
                                   allocated; now */
    uint32_t threads_peak;
    uint32_t reserved;
    int64_t largest;            /* asked for at once, of SBX_HOOK_BATCH on */
    sbx_page_cell_t cells[SBX_PAGE_CELLS];
} sbx_page_t;

_Static_assert(sizeof(sbx_page_t) <= SBX_PAGE_SIZE, "one page");

/* Exit code of a run the hook ended (A62); the wait status alone is no proof. */
#define SBX_HOOK_EXIT   128

#endif
