/*
 * sbx_huge.c: a zygote's program text in huge pages.
 *
 * Runs in the zygote, before it forks.  A fork copies no page tables of a
 * mapped file, so every child would take a fault for each sixteen pages of the
 * interpreter that it runs through, some thirty in a hello.  Anonymous memory
 * is there after a fork; in huge pages it costs the fork three entries.  (In
 * small ones, copying the entries costs more than the faults it saves: then
 * the text stays where it is.)
 */

#include "sbx_huge.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE        ((size_t) 2 << 20)
#define ROUND(n)    (((n) + HUGE - 1) & ~(HUGE - 1))


#define PARTS_MAX   8

typedef struct {
    uintptr_t at;
    size_t len;
    int rights;
} part_t;

/* Constants, text and constants, side by side. */
typedef struct {
    uintptr_t within;   /* an address in the text; 0: the program's */
    int nparts;
    part_t parts[PARTS_MAX];
    int complete;       /* one that is written to came behind them */
} object_t;


static int find_parts(struct dl_phdr_info *info, size_t size, void *data);
static void move(const object_t *object);
static void copy_parts(const object_t *object, char *copy, uintptr_t lo,
    uintptr_t hi);
static void protect(const object_t *object, uintptr_t lo, uintptr_t hi);
static char *reserve(size_t len, char **whole);
static int is_huge(const char *at, size_t len);


void
sbx_huge_text(const void *within)
{
    object_t object = { .within = (uintptr_t) within };

    dl_iterate_phdr(find_parts, &object);

    if (object.nparts > 0) {
        move(&object);
    }
}


/*
 * Segments are in the order of their addresses, those that are written to
 * behind the others; the first object is the program.
 */
static int
find_parts(struct dl_phdr_info *info, size_t size, void *data)
{
    int i, found;
    uintptr_t at;
    object_t *object = data;
    const ElfW(Phdr) *h;

    (void) size;

    found = object->within == 0;
    object->nparts = 0;
    object->complete = 0;

    for (i = 0; i < info->dlpi_phnum; i++) {
        h = &info->dlpi_phdr[i];
        at = info->dlpi_addr + h->p_vaddr;

        if (h->p_type != PT_LOAD) {
            continue;
        }

        if (at <= object->within && object->within < at + h->p_memsz) {
            found = 1;
        }

        if (object->complete) {
            continue;
        }

        if ((h->p_flags & PF_W) || object->nparts == PARTS_MAX) {
            object->complete = 1;
            continue;
        }

        object->parts[object->nparts++] = (part_t) {
            at, h->p_memsz, PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0)
        };
    }

    if (!found) {
        object->nparts = 0;
    }

    return found;
}


/*
 * What of them is whole huge pages: from where the object begins, if a huge page
 * can begin there, to what is written to.
 */
static void
move(const object_t *object)
{
    size_t len;
    char *whole, *copy;
    const part_t *last = &object->parts[object->nparts - 1];
    uintptr_t lo = ROUND(object->parts[0].at);
    uintptr_t hi = (last->at + last->len) & ~(HUGE - 1);

    if (hi <= lo) {
        return;
    }

    len = hi - lo;
    copy = reserve(len, &whole);

    if (copy == NULL) {
        return;
    }

    if (madvise(copy, len, MADV_HUGEPAGE) == 0) {
        copy_parts(object, copy, lo, hi);

        /* the old mapping goes in the same call that puts the copy there */
        if (is_huge(copy, len)
            && mprotect(copy, len, PROT_READ | PROT_EXEC) == 0
            && mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
                      (void *) lo) != MAP_FAILED)
        {
            protect(object, lo, hi);
            munmap(whole, copy - whole);
            munmap(copy + len, whole + HUGE - copy);
            return;
        }
    }

    munmap(whole, len + HUGE);
}


/*
 * What lies between two parts, a page or two of the object's own range, becomes
 * zeros: this early nobody has mapped anything there.
 */
static void
copy_parts(const object_t *object, char *copy, uintptr_t lo, uintptr_t hi)
{
    int i;
    uintptr_t at, end;

    for (i = 0; i < object->nparts; i++) {
        at = object->parts[i].at;
        end = at + object->parts[i].len;
        at = at > lo ? at : lo;
        end = end < hi ? end : hi;

        if (at < end) {
            memcpy(copy + (at - lo), (void *) at, end - at);
        }
    }
}


/*
 * Huge pages that have no text lose the right to execute it.  Constants that
 * share one with text keep it; none can be written to.
 */
static void
protect(const object_t *object, uintptr_t lo, uintptr_t hi)
{
    int i, rights;
    uintptr_t at;
    const part_t *part;

    for (at = lo; at < hi; at += HUGE) {
        rights = 0;

        for (i = 0; i < object->nparts; i++) {
            part = &object->parts[i];

            if (part->at < at + HUGE && at < part->at + part->len) {
                rights |= part->rights;
            }
        }

        if (!(rights & PROT_EXEC)) {
            (void) mprotect((void *) at, HUGE, PROT_READ);
        }
    }
}


/* len bytes at a huge page's border, within *whole of len + HUGE. */
static char *
reserve(size_t len, char **whole)
{
    *whole = mmap(NULL, len + HUGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return *whole == MAP_FAILED ? NULL : (char *) ROUND((uintptr_t) *whole);
}


/* Huge pages are a wish: what the kernel made of it stands in smaps. */
static int
is_huge(const char *at, size_t len)
{
    int here = 0;
    size_t huge = 0;
    char line[256];
    FILE *file = fopen("/proc/self/smaps", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        unsigned long lo, hi, kib;

        if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2) {
            here = lo <= (uintptr_t) at && (uintptr_t) at < hi;

        } else if (here && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1) {
            huge = kib << 10;
        }
    }

    if (file != NULL) {
        fclose(file);
    }

    return huge >= len;
}
