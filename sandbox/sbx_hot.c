/*
 * sbx_hot.c: the pages that every run writes to, copied in one go.
 *
 * A child shares the zygote's memory until it writes to it; then the kernel
 * copies that page, at the price of a fault.  A hello writes to some hundred,
 * nearly the same in every run.  So the zygote learns them once, from a fork
 * of its own that goes through the motions of a run, and a child has them
 * copied by few calls, each several times cheaper than the faults it saves.
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
#define MADV_POPULATE_WRITE 23
#endif

#define LEARN_S     5
#define RANGES_MAX  1024
#define MAPPINGS_MAX  1024

/* Of /proc/PID/pagemap: see admin-guide/mm/pagemap.rst. */
#define PRESENT     (UINT64_C(1) << 63)
#define EXCLUSIVE   (UINT64_C(1) << 56)

/* A gap of one page costs less than another call. */
#define GAP_PAGES   1


typedef struct {
    uintptr_t at;
    size_t len;
} range_t;

struct sbx_hot_s {
    size_t nmappings, count;
    range_t mappings[MAPPINGS_MAX];     /* private and writable, before */
    range_t ranges[RANGES_MAX];
};


static void note_mappings(sbx_hot_t *hot);
static void note_pages(sbx_hot_t *hot);
static void note_pages_of(sbx_hot_t *hot, int pagemap, uintptr_t lo, uintptr_t hi);
static void note_page(sbx_hot_t *hot, uintptr_t lo, uintptr_t at);


static size_t page_size;


sbx_hot_t *
sbx_hot_learn(int (*motions)(sbx_hot_t *hot, void *arg), void *arg)
{
    pid_t pid;
    sbx_hot_t *hot, *own;

    page_size = (size_t) sysconf(_SC_PAGESIZE);
    hot = mmap(NULL, sizeof(*hot), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (hot == MAP_FAILED) {
        return NULL;
    }

    pid = fork();

    if (pid == 0) {
        (void) alarm(LEARN_S);
        note_mappings(hot);

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
sbx_hot_copy(const sbx_hot_t *hot)
{
    for (size_t i = 0; hot != NULL && i < hot->count; i++) {
        if (madvise((void *) hot->ranges[i].at, hot->ranges[i].len,
                    MADV_POPULATE_WRITE) == -1)
        {
            return;
        }
    }
}


void
sbx_hot_touch(const sbx_hot_t *hot)
{
    for (size_t i = 0; hot != NULL && i < hot->count; i++) {
        volatile char *at = (volatile char *) hot->ranges[i].at;

        for (size_t n = 0; n < hot->ranges[i].len; n += page_size) {
            at[n] = at[n];
        }
    }
}


/*
 * The mappings that a child will find, too.  What the fork maps itself later (an
 * arena, more of the heap) no child has: to touch that would end it.
 */
static void
note_mappings(sbx_hot_t *hot)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        char rights[5];
        unsigned long lo, hi;

        if (sscanf(line, "%lx-%lx %4s", &lo, &hi, rights) == 3
            && rights[1] == 'w' && rights[3] == 'p' && hot->nmappings < MAPPINGS_MAX)
        {
            hot->mappings[hot->nmappings++] = (range_t) { lo, hi - lo };
        }
    }

    if (maps != NULL) {
        fclose(maps);
    }
}


/* What the fork has of its own by now. */
static void
note_pages(sbx_hot_t *hot)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; pagemap != -1 && i < hot->nmappings; i++) {
        const range_t *m = &hot->mappings[i];

        note_pages_of(hot, pagemap, m->at, m->at + m->len);
    }

    /* the process ends here: nothing to close */
}


static void
note_pages_of(sbx_hot_t *hot, int pagemap, uintptr_t lo, uintptr_t hi)
{
    uint64_t entries[512];

    for (uintptr_t next = lo; next < hi; ) {
        size_t want = (hi - next) / page_size;
        ssize_t n;

        if (want > sizeof(entries) / sizeof(entries[0])) {
            want = sizeof(entries) / sizeof(entries[0]);
        }

        n = pread(pagemap, entries, want * sizeof(entries[0]),
                  (off_t) (next / page_size * sizeof(entries[0])));

        if (n <= 0) {
            return;
        }

        for (size_t i = 0; i < (size_t) n / sizeof(entries[0]); i++) {
            if ((entries[i] & PRESENT) && (entries[i] & EXCLUSIVE)) {
                note_page(hot, lo, next + i * page_size);
            }
        }

        next += (size_t) n / sizeof(entries[0]) * page_size;
    }
}


/* A gap before lo, where the mapping starts, may be a page of no rights. */
static void
note_page(sbx_hot_t *hot, uintptr_t lo, uintptr_t at)
{
    range_t *last = hot->count > 0 ? &hot->ranges[hot->count - 1] : NULL;

    if (last != NULL && last->at + last->len >= lo
        && at - (last->at + last->len) <= GAP_PAGES * page_size)
    {
        last->len = at + page_size - last->at;
        return;
    }

    if (hot->count < RANGES_MAX) {
        hot->ranges[hot->count++] = (range_t) { at, page_size };
    }
}
