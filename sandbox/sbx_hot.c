/*
 * sbx_hot.c: the pages that every run uses, made ready in one go.
 *
 * A child shares the zygote's memory until it writes to it; then the kernel
 * copies that page, at the price of a fault.  A hello writes to some hundred,
 * nearly the same in every run.  So the zygote learns them once, from a fork
 * of its own that goes through the motions of a run, and a child has them
 * copied by few calls, each several times cheaper than the faults it saves.
 * Of what it only reads, a fork inherits all but the pages of files; these it
 * has mapped in the same way.
 *
 * Learning runs in the zygote, before any client's data; the rest in the child.
 */

#include "sbx_hot.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* since Linux 5.14; libc 2.36's headers have it, older ones do not */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define LEARN_S     5
#define RANGES_MAX  1024
#define MAPPINGS_MAX  1024
#define PAGES_MAX   (1 << 20)
#define ENTRIES     512

/* Of /proc/PID/pagemap: see admin-guide/mm/pagemap.rst. */
#define PRESENT     (UINT64_C(1) << 63)
#define EXCLUSIVE   (UINT64_C(1) << 56)


/* How a run uses a page; what is its own may be written to as well. */
typedef enum { USE_NONE, USE_MAPPED, USE_OWN } use_t;

typedef struct {
    uintptr_t at;
    size_t len;
    int write;
} range_t;

struct sbx_hot_s {
    size_t nmappings, count;
    range_t mappings[MAPPINGS_MAX];     /* private and readable, before */
    range_t ranges[RANGES_MAX];
    unsigned char *before;              /* of the fork: use_t of each page */
};


static int can_populate(void);
static void note_mappings(sbx_hot_t *hot);
static void note_pages(sbx_hot_t *hot);
static void each_page(sbx_hot_t *hot,
    void (*page)(sbx_hot_t *hot, const range_t *m, uintptr_t at, size_t index,
                 use_t use));
static void remember(sbx_hot_t *hot, const range_t *m, uintptr_t at,
    size_t index, use_t use);
static void remember_shared(sbx_hot_t *hot, const range_t *m, uintptr_t at,
    size_t index, use_t use);
static void compare(sbx_hot_t *hot, const range_t *m, uintptr_t at,
    size_t index, use_t use);
static void note_page(sbx_hot_t *hot, const range_t *m, uintptr_t at,
    int write);


static size_t page_size;


/* Before Linux 5.14 nothing is learned: each page costs its fault. */
static int
can_populate(void)
{
    int rc;
    void *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED) {
        return 0;
    }

    rc = madvise(page, page_size, MADV_POPULATE_WRITE);
    munmap(page, page_size);

    return rc == 0;
}


sbx_hot_t *
sbx_hot_learn(int (*motions)(sbx_hot_t *hot, void *arg), void *arg)
{
    pid_t pid;
    sbx_hot_t *hot, *own;

    page_size = (size_t) sysconf(_SC_PAGESIZE);

    if (!can_populate()) {
        return NULL;
    }

    hot = mmap(NULL, sizeof(*hot), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (hot == MAP_FAILED) {
        return NULL;
    }

    pid = fork();

    if (pid == 0) {
        (void) alarm(LEARN_S);
        note_mappings(hot);
        each_page(hot, remember_shared);

        if (motions(hot, arg) == 0) {
            sbx_hot_end(hot);
        }

        _exit(1);
    }

    if (pid > 0) {
        (void) waitpid(pid, NULL, 0);
    }

    /*
     * A child could make a shared mapping writable again, and lead all later
     * children astray.
     */
    own = mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (own == MAP_FAILED) {
        own = NULL;

    } else {
        memcpy(own, hot, sizeof(*own));
        (void) mprotect(own, sizeof(*own), PROT_READ);
    }

    munmap(hot, sizeof(*hot));

    return own;
}


void
sbx_hot_end(sbx_hot_t *hot)
{
    note_pages(hot);
    _exit(0);
}


void
sbx_hot_begin(sbx_hot_t *hot)
{
    each_page(hot, remember);
}


/* 1: the pages are there; 0: not all, or no longer of this kind. */
static int
populate(const range_t *range)
{
    return madvise((void *) range->at, range->len,
                   range->write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)
           == 0;
}


void
sbx_hot_copy(const sbx_hot_t *hot)
{
    for (size_t i = 0; hot != NULL && i < hot->count; i++) {
        (void) populate(&hot->ranges[i]);
    }
}


/* Only what could be populated is sure to be there. */
void
sbx_hot_warm(const sbx_hot_t *hot)
{
    for (size_t i = 0; hot != NULL && i < hot->count; i++) {
        const range_t *range = &hot->ranges[i];
        volatile char *at = (volatile char *) range->at;

        if (!populate(range)) {
            continue;
        }

        /* another thread may be writing there */
        for (size_t n = 0; n < range->len; n += page_size) {
            if (range->write) {
                (void) __atomic_fetch_or(at + n, 0, __ATOMIC_RELAXED);

            } else {
                (void) at[n];
            }
        }
    }
}


/*
 * The mappings that a child will find, too.  What the fork maps itself later
 * (an arena, more of the heap) no child has.
 */
static void
note_mappings(sbx_hot_t *hot)
{
    char line[512];
    size_t pages = 0;
    FILE *maps = fopen("/proc/self/maps", "re");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        char rights[5];
        unsigned long lo, hi;

        if (sscanf(line, "%lx-%lx %4s", &lo, &hi, rights) == 3
            && rights[0] == 'r' && rights[3] == 'p'
            && hot->nmappings < MAPPINGS_MAX
            && pages + (hi - lo) / page_size <= PAGES_MAX)
        {
            hot->mappings[hot->nmappings++] =
                (range_t) { lo, hi - lo, rights[1] == 'w' };
            pages += (hi - lo) / page_size;
        }
    }

    if (maps != NULL) {
        fclose(maps);
    }

    hot->before = mmap(NULL, pages, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (hot->before == MAP_FAILED) {
        hot->nmappings = 0;
    }
}


static void
note_pages(sbx_hot_t *hot)
{
    each_page(hot, compare);
}


/* index counts all pages of all mappings. */
static void
each_page(sbx_hot_t *hot,
    void (*page)(sbx_hot_t *hot, const range_t *m, uintptr_t at, size_t index,
                 use_t use))
{
    size_t index = 0;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; pagemap != -1 && i < hot->nmappings; i++) {
        const range_t *m = &hot->mappings[i];
        size_t pages = m->len / page_size;

        for (size_t n = 0; n < pages; n += ENTRIES) {
            uint64_t entries[ENTRIES];
            size_t want = pages - n < ENTRIES ? pages - n : ENTRIES;

            if (pread(pagemap, entries, want * sizeof(entries[0]),
                      (off_t) ((m->at / page_size + n) * sizeof(entries[0])))
                != (ssize_t) (want * sizeof(entries[0])))
            {
                break;
            }

            for (size_t k = 0; k < want; k++) {
                page(hot, m, m->at + (n + k) * page_size, index + n + k,
                     !(entries[k] & PRESENT) ? USE_NONE
                     : entries[k] & EXCLUSIVE ? USE_OWN : USE_MAPPED);
            }
        }

        index += pages;
    }

    if (pagemap != -1) {
        close(pagemap);
    }
}


static void
remember(sbx_hot_t *hot, const range_t *m, uintptr_t at, size_t index,
    use_t use)
{
    (void) m;
    (void) at;

    hot->before[index] = (unsigned char) use;
}


/* A fork has nothing of its own yet, but for what finding that out took. */
static void
remember_shared(sbx_hot_t *hot, const range_t *m, uintptr_t at, size_t index,
    use_t use)
{
    remember(hot, m, at, index, use == USE_OWN ? USE_MAPPED : use);
}


/* An exclusive page that cannot be written to has one user only. */
static void
compare(sbx_hot_t *hot, const range_t *m, uintptr_t at, size_t index,
    use_t use)
{
    int write = m->write && use == USE_OWN;

    if (write ? hot->before[index] != USE_OWN
              : use != USE_NONE && hot->before[index] == USE_NONE)
    {
        note_page(hot, m, at, write);
    }
}


static void
note_page(sbx_hot_t *hot, const range_t *m, uintptr_t at, int write)
{
    range_t *last = hot->count > 0 ? &hot->ranges[hot->count - 1] : NULL;

    if (last != NULL && last->write == write && last->at >= m->at
        && at == last->at + last->len)
    {
        last->len += page_size;
        return;
    }

    if (hot->count < RANGES_MAX) {
        hot->ranges[hot->count++] = (range_t) { at, page_size, write };
    }
}
