/*
 * sbx_preload.h: what the files of the preload hook share.
 *
 * Runs in a stranger's program: the zygote, the child, whatever the child
 * executes.  Nothing here allocates, takes a lock of malloc's, or calls a
 * function that the hook itself interposes.
 *
 * Counting.  Each thread keeps a remainder and posts it to the page when it
 * passes SBX_HOOK_BATCH; within SBX_HOOK_NEAR of the limit, and for anything as
 * large as a batch, it reserves on the page before it allocates.  So the limit
 * is exact for one thread, and late by one batch for each further thread.
 */

#ifndef SBX_PRELOAD_H
#define SBX_PRELOAD_H

#include <stddef.h>
#include <stdint.h>

#include "sbx_page.h"

#define SBX_HOOK_BATCH      (64 << 10)
#define SBX_HOOK_NEAR       (1 << 20)
#define SBX_HOOK_EXPORT     __attribute__((visibility("default")))

#define sbx_hook_get(p)     __atomic_load_n(p, __ATOMIC_RELAXED)
#define sbx_hook_set(p, v)  __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define sbx_likely(x)       __builtin_expect(!!(x), 1)


/*
 * The process's, in memory that the kernel wipes on fork: a child finds a zero
 * stamp there however it was forked (raw clone included), and an open lock.
 */
typedef union {
    struct {
        uint64_t stamp;
        uint32_t map_lock;
        uint32_t cell;      /* index + 1 of a forked process's; 0: none */
    };
    char page[SBX_PAGE_SIZE];   /* MADV_WIPEONFORK takes whole pages */
} __attribute__((aligned(SBX_PAGE_SIZE))) sbx_hook_process_t;

/* The thread's.  A stamp that is not the process's: new, forked or ending. */
typedef struct {
    int64_t pending;        /* bytes not yet posted */
    uint64_t stamp;
    uint32_t in_map;        /* holds map_lock: a signal handler must not wait */
} sbx_hook_thread_t;


extern sbx_page_t *sbx_hook_page;       /* never NULL */
extern sbx_hook_process_t sbx_hook_process;
extern __thread sbx_hook_thread_t sbx_hook_thread
    __attribute__((tls_model("initial-exec")));


/*
 * sbx_preload_count.c.  start: the process's first call.  attach: the page is
 * mapped; what was counted before moves there.
 */
void sbx_hook_start(void);
void sbx_hook_attach(sbx_page_t *page);

/*
 * Posts n to the page if the limits allow it.  block: the size the program asks
 * for, of which n is new.  Returns 0, or -1 with errno ENOMEM and the refusal
 * recorded; in KILL mode it does not return then.
 */
int sbx_hook_reserve(size_t n, size_t block, sbx_hook_event_t event);

/* Posts the remainder and n; may be negative.  The slow half of add. */
void sbx_hook_flush(int64_t n);

/* n bytes are in use now, of which `reserved` are posted already. */
void sbx_hook_settle(int64_t n, size_t reserved);

/* 1: forked by a hooked process, and shares its page. */
int sbx_hook_is_forked(void);


/* sbx_preload_map.c.  forked: the ranges are the parent's, or half written. */
void sbx_hook_map_forked(int shares_page);

/* sbx_preload_fault.c.  Records where a program faults; needs a page. */
void sbx_hook_fault_start(void);


static inline int
sbx_hook_is_current(void)
{
    return sbx_hook_thread.stamp == sbx_hook_process.stamp
           && sbx_hook_get(&sbx_hook_page->loaded) != 0;
}


static inline void
sbx_hook_add(int64_t n)
{
    int64_t pending = sbx_hook_thread.pending + n;

    if (sbx_likely((uint64_t) (pending + SBX_HOOK_BATCH) <= 2 * SBX_HOOK_BATCH
                   && sbx_hook_is_current()))
    {
        sbx_hook_thread.pending = pending;
        return;
    }

    sbx_hook_flush(n);
}


/* Small, far from the limit: nothing to reserve. */
static inline int
sbx_hook_fits(size_t n, size_t block)
{
    const sbx_page_t *page = sbx_hook_page;
    int64_t after;

    /* unsigned: the program may have written anything into live */
    after = (int64_t) ((uint64_t) sbx_hook_get(&page->live)
                       + (uint64_t) sbx_hook_thread.pending + n);

    return n < SBX_HOOK_BATCH
           && (int64_t) block <= sbx_hook_get(&page->alloc_limit)
           && after < (int64_t) ((uint64_t) sbx_hook_get(&page->limit)
                                 - SBX_HOOK_NEAR)
           && sbx_hook_is_current();
}

#endif
