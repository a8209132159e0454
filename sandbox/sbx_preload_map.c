/*
 * sbx_preload_map.c: the preload hook's mmap family.
 *
 * Runs where sbx_preload.c runs.  Charged is writable commitment: pages that
 * the program may write to and that no file keeps.  A sorted table of ranges
 * knows which pages are charged, so that each is charged once and credited
 * once, whatever pieces a program protects, unmaps or moves (V8 commits its
 * heap by mprotect on parts of a reservation; CPython maps 1 MiB arenas).
 *
 * munmap, mapping over, PROT_NONE, MADV_DONTNEED and MADV_FREE credit.  Taking
 * only the write bit does not: the pages keep what was written.  Pages written
 * again after MADV_DONTNEED, and hidden behind PROT_NONE, are the kernel
 * limits' to catch; so is what glibc maps for itself (thread stacks).
 *
 * The lock is in wiped memory, so a fork in mid-change leaves it open in the
 * child, with `torn` set; the child then forgets the table.
 */

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sbx_preload.h"

#define RANGES_MAX      16384
#define PAGE_MASK       ((uintptr_t) 4095)

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED    24
#endif


/* [lo, hi), charged.  shared: other processes see it, so only its unmapping
 * (or MADV_REMOVE) gives memory back.  inherited: the zygote's, which the run
 * was never charged for: giving it back is no credit. */
typedef struct {
    uintptr_t lo;
    uintptr_t hi:62;
    uintptr_t shared:1;
    uintptr_t inherited:1;
} range_t;

typedef enum {
    KIND_FREE,          /* not charged */
    KIND_PRIVATE,
    KIND_SHARED
} kind_t;


static int lock_table(void);
static void unlock_table(void);
static size_t count_range(uintptr_t lo, uintptr_t hi, kind_t kind);
static size_t drop_range(uintptr_t lo, uintptr_t hi, int with_shared);
static size_t covered(uintptr_t lo, uintptr_t hi);
static size_t find_range(uintptr_t at);
static void put_range(size_t i, uintptr_t lo, uintptr_t hi, int shared);
static void insert_range(size_t i, range_t range);
static void remove_ranges(size_t from, size_t to);
static kind_t kind_of(int prot, int flags, int fd);


static range_t ranges[RANGES_MAX];
static size_t nranges;
static int torn;


static inline size_t
round_up(size_t n)
{
    return (n + PAGE_MASK) & ~PAGE_MASK;
}


void
sbx_hook_map_forked(int shares_page)
{
    size_t i;

    /* What a forked process inherits is not its own charge. */
    if (shares_page || torn) {
        nranges = 0;
        torn = 0;
    }

    for (i = 0; i < nranges; i++) {
        ranges[i].inherited = 1;
    }

    sbx_hook_thread.in_map = 0;
}


SBX_HOOK_EXPORT void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    void *p;
    size_t size = round_up(len), reserved = 0;
    int64_t change;
    uintptr_t lo = (uintptr_t) addr;
    kind_t kind = kind_of(prot, flags, fd);

    if (kind != KIND_FREE) {
        reserved = size;

        if (flags & MAP_FIXED) {
            reserved -= covered(lo, lo + size);
        }

        if (sbx_hook_reserve(reserved, size, SBX_HOOK_MMAP) != 0) {
            return MAP_FAILED;
        }
    }

    p = (void *) syscall(SYS_mmap, addr, len, prot, flags, fd, off);

    if (p == MAP_FAILED) {
        sbx_hook_settle(0, reserved);
        return p;
    }

    /* Whatever was charged there is gone, unmapped behind our back or not. */
    lo = (uintptr_t) p;
    change = -(int64_t) drop_range(lo, lo + size, 1);
    change += (int64_t) count_range(lo, lo + size, kind);
    sbx_hook_settle(change, reserved);

    return p;
}


SBX_HOOK_EXPORT void *
mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
    __attribute__((alias("mmap")));


SBX_HOOK_EXPORT int
munmap(void *addr, size_t len)
{
    int rc;
    size_t dropped;
    uintptr_t lo = (uintptr_t) addr, hi = lo + round_up(len);

    if ((lo & PAGE_MASK) != 0 || hi <= lo) {
        return (int) syscall(SYS_munmap, addr, len);
    }

    /* Before the call: after it another thread may be given the same range. */
    dropped = drop_range(lo, hi, 1);
    rc = (int) syscall(SYS_munmap, addr, len);

    if (rc != 0 && dropped != 0) {
        dropped -= count_range(lo, hi, KIND_PRIVATE);
    }

    sbx_hook_add(-(int64_t) dropped);
    return rc;
}


SBX_HOOK_EXPORT int
mprotect(void *addr, size_t len, int prot)
{
    int rc;
    size_t reserved = 0;
    uintptr_t lo = (uintptr_t) addr, hi = lo + round_up(len);

    if ((lo & PAGE_MASK) != 0 || hi <= lo) {
        return (int) syscall(SYS_mprotect, addr, len, prot);
    }

    if (prot & PROT_WRITE) {
        reserved = (size_t) (hi - lo) - covered(lo, hi);

        if (reserved != 0
            && sbx_hook_reserve(reserved, reserved, SBX_HOOK_MPROTECT) != 0)
        {
            return -1;
        }
    }

    rc = (int) syscall(SYS_mprotect, addr, len, prot);

    if (rc != 0) {
        sbx_hook_settle(0, reserved);
        return rc;
    }

    if (reserved != 0) {
        sbx_hook_settle((int64_t) count_range(lo, hi, KIND_PRIVATE), reserved);

    } else if (prot == PROT_NONE) {
        sbx_hook_add(-(int64_t) drop_range(lo, hi, 0));
    }

    return 0;
}


SBX_HOOK_EXPORT int
madvise(void *addr, size_t len, int advice)
{
    int rc;
    uintptr_t lo = (uintptr_t) addr, hi = lo + round_up(len);

    rc = (int) syscall(SYS_madvise, addr, len, advice);

    if (rc != 0 || hi <= lo) {
        return rc;
    }

    switch (advice) {

    case MADV_DONTNEED:
    case MADV_DONTNEED_LOCKED:
    case MADV_FREE:
        sbx_hook_add(-(int64_t) drop_range(lo, hi, 0));
        break;

    case MADV_REMOVE:
        sbx_hook_add(-(int64_t) drop_range(lo, hi, 1));
        break;
    }

    return rc;
}


/*
 * What a moved mapping had charged it has charged in full afterwards: the holes
 * that MADV_DONTNEED made are writable still.
 */
static int64_t
remap_change(uintptr_t to, size_t old_size, size_t new_size, int known,
    kind_t kind)
{
    int64_t change = -(int64_t) drop_range(to, to + new_size, 1);

    if (known) {
        return change + (int64_t) count_range(to, to + new_size, kind);
    }

    /* A forked process does not know what it inherited: count what is new. */
    if (new_size > old_size && sbx_hook_is_forked()) {
        change += (int64_t) count_range(to + old_size, to + new_size,
                                        KIND_PRIVATE);
    }

    return change;
}


static kind_t
kind_at(uintptr_t at)
{
    size_t i;
    kind_t kind = KIND_PRIVATE;

    if (lock_table() == 0) {
        i = find_range(at);

        if (i < nranges && ranges[i].lo <= at && ranges[i].shared) {
            kind = KIND_SHARED;
        }

        unlock_table();
    }

    return kind;
}


SBX_HOOK_EXPORT void *
mremap(void *old, size_t old_len, size_t new_len, int flags, ...)
{
    void *p, *to = NULL;
    size_t old_size = round_up(old_len), new_size = round_up(new_len);
    size_t had, known, grow, reserved = 0;
    int64_t change;
    uintptr_t lo = (uintptr_t) old;
    kind_t kind = kind_at(lo);
    va_list args;

    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_start(args, flags);
        to = va_arg(args, void *);
        va_end(args);
    }

    had = known = covered(lo, lo + old_size);

    /* DONTUNMAP leaves the old range writable, with nothing in it */
    grow = flags & MREMAP_DONTUNMAP ? new_size
           : new_size > old_size ? new_size - old_size : 0;

    if (had != 0 || (grow != 0 && sbx_hook_is_forked())) {
        reserved = grow;

        if (reserved != 0
            && sbx_hook_reserve(reserved, new_size, SBX_HOOK_MMAP) != 0)
        {
            return MAP_FAILED;
        }
    }

    if (!(flags & MREMAP_DONTUNMAP)) {
        had = drop_range(lo, lo + old_size, 1);
    }

    p = (void *) syscall(SYS_mremap, old, old_len, new_len, flags, to);

    if (p == MAP_FAILED) {
        change = 0;

        /* in full, with holes and the zygote's: never for less than it had */
        if (!(flags & MREMAP_DONTUNMAP) && known != 0) {
            change = (int64_t) count_range(lo, lo + old_size, kind)
                     - (int64_t) had;
        }

        sbx_hook_settle(change, reserved);
        return p;
    }

    sbx_hook_settle(remap_change((uintptr_t) p, old_size, new_size,
                                 known != 0, kind)
                    - (flags & MREMAP_DONTUNMAP ? 0 : (int64_t) had),
                    reserved);
    return p;
}


/*
 * Memory that the program may write to and that is nowhere else: anonymous,
 * or a private copy of a file.  A shared mapping of a file is the file's
 * (the run's tmpfs has a limit of its own); /dev/zero shared is anonymous.
 */
static kind_t
kind_of(int prot, int flags, int fd)
{
    struct stat st;

    if (!(prot & PROT_WRITE)) {
        return KIND_FREE;
    }

    if ((flags & MAP_TYPE) == MAP_PRIVATE) {
        return KIND_PRIVATE;
    }

    if (flags & MAP_ANONYMOUS) {
        return KIND_SHARED;
    }

    if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode)
        && st.st_rdev == makedev(1, 5))
    {
        return KIND_SHARED;
    }

    return KIND_FREE;
}


/* -1 in a signal handler that interrupted us: what it maps stays unknown. */
static int
lock_table(void)
{
    if (sbx_hook_thread.in_map) {
        return -1;
    }

    sbx_hook_thread.in_map = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);

    while (__atomic_exchange_n(&sbx_hook_process.map_lock, 1, __ATOMIC_ACQUIRE))
    {
        syscall(SYS_sched_yield);
    }

    return 0;
}


static void
unlock_table(void)
{
    __atomic_store_n(&sbx_hook_process.map_lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sbx_hook_thread.in_map = 0;
}


static void
begin_change(void)
{
    sbx_hook_set(&torn, 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}


static void
end_change(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sbx_hook_set(&torn, 0);
}


/* Fills the gaps of [lo, hi); returns the bytes that were not counted yet. */
static size_t
count_range(uintptr_t lo, uintptr_t hi, kind_t kind)
{
    size_t i, added = 0;
    uintptr_t end;

    if (kind == KIND_FREE || lo >= hi) {
        return 0;
    }

    if (lock_table() != 0) {
        return (size_t) (hi - lo);
    }

    begin_change();

    while (lo < hi) {
        i = find_range(lo);

        if (i < nranges && ranges[i].lo <= lo) {
            lo = ranges[i].hi;
            continue;
        }

        end = i < nranges && ranges[i].lo < hi ? ranges[i].lo : hi;
        put_range(i, lo, end, kind == KIND_SHARED);
        added += (size_t) (end - lo);
        lo = end;
    }

    end_change();
    unlock_table();

    return added;
}


/*
 * Forgets [lo, hi), shared ranges only if asked; returns the bytes that the run
 * was charged for.
 */
static size_t
drop_range(uintptr_t lo, uintptr_t hi, int with_shared)
{
    size_t i, whole, dropped = 0;
    uintptr_t from, to;

    if (lock_table() != 0) {
        return 0;
    }

    begin_change();

    for (i = find_range(lo); i < nranges && ranges[i].lo < hi; i++) {
        if (ranges[i].shared && !with_shared) {
            continue;
        }

        from = ranges[i].lo > lo ? ranges[i].lo : lo;
        to = ranges[i].hi < hi ? ranges[i].hi : hi;
        dropped += ranges[i].inherited ? 0 : (size_t) (to - from);

        if (from > ranges[i].lo && to < ranges[i].hi) {
            insert_range(i + 1, (range_t) {
                .lo = to, .hi = ranges[i].hi, .shared = ranges[i].shared,
                .inherited = ranges[i].inherited
            });
            ranges[i].hi = from;
            break;
        }

        if (from > ranges[i].lo) {
            ranges[i].hi = from;

        } else if (to < ranges[i].hi) {
            ranges[i].lo = to;

        } else {
            for (whole = i + 1;
                 whole < nranges && ranges[whole].hi <= hi
                 && (with_shared || !ranges[whole].shared);
                 whole++)
            {
                dropped += ranges[whole].inherited ? 0
                           : (size_t) (ranges[whole].hi - ranges[whole].lo);
            }

            remove_ranges(i, whole);
            i--;
        }
    }

    end_change();
    unlock_table();

    return dropped;
}


static size_t
covered(uintptr_t lo, uintptr_t hi)
{
    size_t i, sum = 0;
    uintptr_t from, to;

    if (lock_table() != 0) {
        return 0;
    }

    for (i = find_range(lo); i < nranges && ranges[i].lo < hi; i++) {
        from = ranges[i].lo > lo ? ranges[i].lo : lo;
        to = ranges[i].hi < hi ? ranges[i].hi : hi;
        sum += (size_t) (to - from);
    }

    unlock_table();
    return sum;
}


/* The first range that ends above `at`. */
static size_t
find_range(uintptr_t at)
{
    size_t middle, from = 0, to = nranges;

    while (from < to) {
        middle = from + (to - from) / 2;

        if (ranges[middle].hi > at) {
            to = middle;

        } else {
            from = middle + 1;
        }
    }

    return from;
}


/* Puts a gap's range before range i, as a part of its neighbours if it can. */
static void
put_range(size_t i, uintptr_t lo, uintptr_t hi, int shared)
{
    int below, above;

    below = i > 0 && ranges[i - 1].hi == lo && !ranges[i - 1].inherited
            && (int) ranges[i - 1].shared == shared;
    above = i < nranges && ranges[i].lo == hi && !ranges[i].inherited
            && (int) ranges[i].shared == shared;

    if (below && above) {
        ranges[i - 1].hi = ranges[i].hi;
        remove_ranges(i, i + 1);

    } else if (below) {
        ranges[i - 1].hi = hi;

    } else if (above) {
        ranges[i].lo = lo;

    } else {
        insert_range(i, (range_t) {
            .lo = lo, .hi = hi, .shared = (unsigned) shared & 1
        });
    }
}


/* A full table loses the range: it stays charged for the rest of the run. */
static void
insert_range(size_t i, range_t range)
{
    if (nranges == RANGES_MAX) {
        return;
    }

    memmove(&ranges[i + 1], &ranges[i], (nranges - i) * sizeof(range_t));
    ranges[i] = range;
    nranges++;
}


static void
remove_ranges(size_t from, size_t to)
{
    memmove(&ranges[from], &ranges[to], (nranges - to) * sizeof(range_t));
    nranges -= to - from;
}
