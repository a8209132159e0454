/*
 * sbx_preload_count.c: the preload hook's sums, its refusal, its processes.
 *
 * Runs where sbx_preload.c runs.  All numbers live in the page; this file keeps
 * no copy of its settings, because a zygote's child has another page mapped
 * over the same address.  It notices by `loaded` being 0 there.
 *
 * A forked process shares its parent's page.  Its copy of the parent's memory
 * is not charged again and not credited when it frees it; what it adds is kept
 * in a cell and taken back when it has died, however it died.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sbx_preload.h"

/* A thread whose destructor has run: it posts each change at once. */
#define STAMP_ENDING    UINT64_MAX

/* Keys below have their values in the thread's own block (glibc's
 * PTHREAD_KEY_2NDLEVEL_SIZE); a higher one would make setspecific allocate. */
#define KEY_INLINE_MAX  32

#define CELL_BUSY       UINT32_MAX      /* no process has this number */


static void enter_process(void);
static void enter_page(sbx_page_t *page);
static void enter_thread(void);
static void leave_thread(void *unused);
static int64_t post(sbx_page_t *page, int64_t n);
static int post_if_room(sbx_page_t *page, int64_t n, int64_t *live);
static int64_t post_cell(sbx_page_cell_t *cell, int64_t n);
static uint32_t claim_cell(sbx_page_t *page);
static int reclaim_cells(sbx_page_t *page);
static int is_dead(uint32_t pid);
static void raise_to(int64_t *most, int64_t value);
static void raise_peak(sbx_page_t *page);
static void count_thread(sbx_page_t *page, int change);
static int refuse(sbx_page_t *page, size_t n, int64_t live,
    sbx_hook_event_t event);
static void end_run(sbx_page_t *page) __attribute__((noreturn));

#ifdef SBX_FAULTS
#define is_faulty(page, kind)  (sbx_hook_get(&(page)->fault) == (kind))
#else
#define is_faulty(page, kind)  0
#endif


/* Before the constructor, and for good where there is no page. */
static sbx_page_t own_page = {
    .magic = SBX_PAGE_MAGIC,
    .limit = INT64_MAX,
    .alloc_limit = INT64_MAX,
    .loaded = 1
};

/* In .bss, so that its page is anonymous: no other kind can be wiped. */
sbx_hook_process_t sbx_hook_process;
sbx_page_t *sbx_hook_page = &own_page;
__thread sbx_hook_thread_t sbx_hook_thread
    __attribute__((tls_model("initial-exec")));

static pthread_key_t thread_key;
static int thread_key_usable;
static uint64_t last_stamp;     /* 0: the constructor has not run */

/*
 * What the process held on this page's predecessor, and so may free without
 * having been charged for it here.  Deeper than that live cannot go: blocks
 * that others allocated (glibc by its own names) and the program freed through
 * us must not buy room.
 */
static int64_t last_live, inherited;


void
sbx_hook_start(void)
{
    syscall(SYS_madvise, &sbx_hook_process, sizeof(sbx_hook_process),
            MADV_WIPEONFORK);

    if (pthread_key_create(&thread_key, leave_thread) == 0) {
        thread_key_usable = thread_key < KEY_INLINE_MAX;
    }

    sbx_hook_process.stamp = ++last_stamp;
    sbx_hook_thread.stamp = last_stamp;
}


void
sbx_hook_attach(sbx_page_t *page)
{
    sbx_hook_flush(0);

    sbx_hook_page = page;
    enter_page(page);

    inherited = 0;
    post(page, sbx_hook_get(&own_page.live));
    raise_peak(page);
}


#ifdef SBX_FAULTS

static void
take_more(void)
{
    static int calls;

    if (++calls == 3) {
        syscall(SYS_mmap, NULL, (size_t) 64 << 20, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    }
}

#else
#define take_more()
#endif


int
sbx_hook_reserve(size_t n, size_t block, sbx_hook_event_t event)
{
    int64_t live;
    sbx_page_t *page = sbx_hook_page;

    sbx_hook_flush(0);
    raise_to(&page->largest, (int64_t) block);

    if (sbx_hook_get(&page->mode) == SBX_HOOK_COUNT) {
        post(page, (int64_t) n);
        return 0;
    }

    live = sbx_hook_get(&page->live);

    if ((int64_t) block > sbx_hook_get(&page->alloc_limit)) {
        return refuse(page, block, live, event);
    }

    if (is_faulty(page, SBX_PAGE_FAULT_JUMP) && n >= 1 << 20) {
        take_more();
    }

    if (post_if_room(page, (int64_t) n, &live) == 0
        || (reclaim_cells(page)
            && post_if_room(page, (int64_t) n, &live) == 0))
    {
        return 0;
    }

    return refuse(page, n, live, event);
}


void
sbx_hook_flush(int64_t n)
{
    sbx_page_t *page = sbx_hook_page;

    if (!sbx_hook_is_current()) {
        enter_process();
    }

    n += sbx_hook_thread.pending;
    sbx_hook_thread.pending = 0;

    if (n != 0) {
        post(page, n);

        if (n > 0) {
            raise_peak(page);
        }
    }
}


void
sbx_hook_settle(int64_t n, size_t reserved)
{
    sbx_hook_add(n - (int64_t) reserved);

    /* Only now: a reservation that the system then refused was no peak. */
    if (n > 0 && reserved != 0) {
        raise_peak(sbx_hook_page);
    }
}


int
sbx_hook_is_forked(void)
{
    return sbx_hook_get(&sbx_hook_page->owner) != 0
           && sbx_hook_get(&sbx_hook_page->owner) != (uint32_t) getpid();
}


/* First call of a thread, of a forked process, or on a new page. */
static void
enter_process(void)
{
    sbx_page_t *page = sbx_hook_page;

    if (last_stamp == 0) {
        return;
    }

    if (sbx_hook_get(&page->loaded) == 0) {
        enter_page(page);

    } else if (sbx_hook_process.stamp == 0) {
        sbx_hook_process.stamp = ++last_stamp;
        sbx_hook_thread.stamp = last_stamp;
        sbx_hook_thread.pending = 0;
        sbx_hook_map_forked(1);
        sbx_hook_process.cell = claim_cell(page);

    } else {
        enter_thread();
    }
}


/* The first process of a run: by exec, or in a zygote's child. */
static void
enter_page(sbx_page_t *page)
{
    if (sbx_hook_process.stamp == 0) {
        sbx_hook_process.stamp = ++last_stamp;
        sbx_hook_map_forked(0);
    }

    inherited = last_live > 0 ? last_live : 0;
    sbx_hook_process.cell = 0;
    sbx_hook_thread.stamp = sbx_hook_process.stamp;
    sbx_hook_thread.pending = 0;

    sbx_hook_set(&page->self, (uint64_t) (uintptr_t) page);
    sbx_hook_set(&page->owner, (uint32_t) getpid());
    sbx_hook_set(&page->loaded, 1);
}


/* Without a destructor its remainder would be lost with the thread, and many
 * threads' remainders add up: such a thread posts each change at once. */
static void
enter_thread(void)
{
    if (sbx_hook_thread.stamp == STAMP_ENDING || !thread_key_usable) {
        return;
    }

    if (pthread_setspecific(thread_key, &sbx_hook_thread) == 0) {
        sbx_hook_thread.stamp = sbx_hook_process.stamp;
        count_thread(sbx_hook_page, 1);
    }
}


static void
leave_thread(void *unused)
{
    (void) unused;

    sbx_hook_flush(0);
    sbx_hook_thread.stamp = STAMP_ENDING;
    count_thread(sbx_hook_page, -1);
}


/*
 * For the figures of the run alone: the kernel bounds threads.  Of a forked
 * process nothing is counted, since what it leaves when it is killed would stay.
 */
static void
count_thread(sbx_page_t *page, int change)
{
    uint32_t now, peak;

    if (sbx_hook_process.cell != 0) {
        return;
    }

    now = __atomic_add_fetch(&page->threads, (uint32_t) change,
                             __ATOMIC_RELAXED);
    peak = sbx_hook_get(&page->threads_peak);

    while (change > 0 && now > peak
           && !__atomic_compare_exchange_n(&page->threads_peak, &peak, now, 1,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    { /* peak was read again */ }
}


/* Returns live afterwards. */
static int64_t
post(sbx_page_t *page, int64_t n)
{
    int64_t floor, after;

    if (sbx_hook_process.cell != 0) {
        n = post_cell(&page->cells[(sbx_hook_process.cell - 1)
                                   % SBX_PAGE_CELLS], n);
    }

    after = __atomic_add_fetch(&page->live, n, __ATOMIC_RELAXED);

    /* NEAR: other threads' remainders may be on their way */
    floor = -inherited - SBX_HOOK_NEAR;

    if (n < 0 && after < floor) {
        after = __atomic_add_fetch(&page->live, floor - after,
                                   __ATOMIC_RELAXED);
    }

    last_live = after;
    return after;
}


/* 0, or -1 with what was live when there was no room for n. */
static int
post_if_room(sbx_page_t *page, int64_t n, int64_t *live)
{
    int64_t room, limit = sbx_hook_get(&page->limit);

    *live = sbx_hook_get(&page->live);

    /* live may be below zero, and n near the largest number there is */
    if (__builtin_sub_overflow(limit, *live, &room)) {
        room = limit;
    }

    if (n > room) {
        return -1;
    }

    *live = post(page, n) - n;

    if (*live > limit - n) {
        post(page, -n);
        return -1;
    }

    return 0;
}


/* What of n counts: a cell never goes below zero, see the file's header. */
static int64_t
post_cell(sbx_page_cell_t *cell, int64_t n)
{
    int64_t old, new;

    old = sbx_hook_get(&cell->live);

    do {
        new = old + n > 0 ? old + n : 0;

    } while (!__atomic_compare_exchange_n(&cell->live, &old, new, 1,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));

    return new - old;
}


/* Takes back what a dead process held. */
static void
drop_cell(sbx_page_t *page, sbx_page_cell_t *cell)
{
    int64_t live = __atomic_exchange_n(&cell->live, 0, __ATOMIC_RELAXED);

    __atomic_sub_fetch(&page->live, live, __ATOMIC_RELAXED);
}


/* Index + 1; 0: all are taken, and the process counts without one. */
static uint32_t
claim_cell(sbx_page_t *page)
{
    int tries;
    uint32_t i, old, pid = (uint32_t) getpid();

    for (i = 0; i < SBX_PAGE_CELLS; i++) {
        if (sbx_hook_get(&page->cells[i].pid) == pid) {
            /* a former process with our number */
            drop_cell(page, &page->cells[i]);
            return i + 1;
        }
    }

    for (tries = 0; tries < 2; tries++) {
        for (i = 0; i < SBX_PAGE_CELLS; i++) {
            old = 0;

            if (__atomic_compare_exchange_n(&page->cells[i].pid, &old, pid, 0,
                                            __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED))
            {
                return i + 1;
            }
        }

        if (!reclaim_cells(page)) {
            break;
        }
    }

    return 0;
}


/* Returns how many processes were found dead. */
static int
reclaim_cells(sbx_page_t *page)
{
    int n = 0;
    uint32_t i, pid;

    for (i = 0; i < SBX_PAGE_CELLS; i++) {
        pid = sbx_hook_get(&page->cells[i].pid);

        if (pid == 0 || pid == CELL_BUSY || i + 1 == sbx_hook_process.cell
            || !is_dead(pid))
        {
            continue;
        }

        /* one finder only, and nobody claims it before it is empty */
        if (__atomic_compare_exchange_n(&page->cells[i].pid, &pid, CELL_BUSY,
                                        0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        {
            drop_cell(page, &page->cells[i]);
            __atomic_store_n(&page->cells[i].pid, 0, __ATOMIC_RELEASE);
            n++;
        }
    }

    return n;
}


/* A zombie's number still exists, its memory does not: statm begins with 0. */
static int
is_dead(uint32_t pid)
{
    int fd;
    long n;
    char path[32], digit, *p = path + sizeof(path);
    static const char tail[] = "/statm", head[] = "/proc/";
    unsigned i;

    if (syscall(SYS_kill, (pid_t) pid, 0) != 0) {
        return errno == ESRCH;
    }

    for (i = sizeof(tail); i > 0; i--) {
        *--p = tail[i - 1];
    }

    do {
        *--p = (char) ('0' + pid % 10);
        pid /= 10;
    } while (pid != 0);

    for (i = sizeof(head) - 1; i > 0; i--) {
        *--p = head[i - 1];
    }

    fd = (int) syscall(SYS_openat, AT_FDCWD, p, O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0) {
        return 0;
    }

    n = syscall(SYS_read, fd, &digit, (size_t) 1);
    syscall(SYS_close, fd);

    return n == 1 && digit == '0';
}


static void
raise_to(int64_t *most, int64_t value)
{
    int64_t old = sbx_hook_get(most);

    while (value > old
           && !__atomic_compare_exchange_n(most, &old, value, 1,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    { /* old was read again */ }
}


static void
raise_peak(sbx_page_t *page)
{
    raise_to(&page->peak, sbx_hook_get(&page->live));
}


static int
refuse(sbx_page_t *page, size_t n, int64_t live, sbx_hook_event_t event)
{
    struct timespec now;
    uint32_t none = SBX_HOOK_NONE;

    __atomic_add_fetch(&page->refusals, 1, __ATOMIC_RELAXED);

    if (__atomic_compare_exchange_n(&page->event, &none, event, 0,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {
        clock_gettime(CLOCK_MONOTONIC, &now);

        sbx_hook_set(&page->requested, (int64_t) n);
        sbx_hook_set(&page->live_at_event, live);
        sbx_hook_set(&page->event_ns, (uint64_t) now.tv_sec * 1000000000u
                                      + (uint64_t) now.tv_nsec);
    }

    if (sbx_hook_get(&page->mode) == SBX_HOOK_KILL) {
        end_run(page);
    }

    errno = ENOMEM;
    return -1;
}


/*
 * The signal is a courtesy, and may be refused; the page is the evidence.  The
 * run is its first process: one that forked must not live on by leaving the
 * allocating to others.
 */
static void
end_run(sbx_page_t *page)
{
    int32_t owner = (int32_t) sbx_hook_get(&page->owner);
    pid_t self = getpid();

    if (self != 1 && !is_faulty(page, SBX_PAGE_FAULT_MUTE)) {
        syscall(SYS_kill, 1, SIGUSR1);
    }

    /* positive only: 0 and -1 would mean every process */
    if (owner > 1 && owner != self) {
        syscall(SYS_kill, owner, SIGKILL);
    }

    for ( ;; ) {
        syscall(SYS_exit_group, SBX_HOOK_EXIT);
    }
}
