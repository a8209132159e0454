/*
 * sbx_python_huge.c: the zygote's program text in huge pages.
 *
 * Runs in the zygote, before anything else.  A fork copies no page tables of a
 * mapped file, so every child would take a fault for each sixteen pages of the
 * interpreter that it runs through, some thirty in a hello.  Anonymous memory
 * is there after a fork; in huge pages it costs the fork three entries.  (In
 * small ones, copying the entries costs more than the faults it saves: then
 * the text stays where it is.)
 */

#include "sbx_python.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE        ((size_t) 2 << 20)
#define ROUND(n)    (((n) + HUGE - 1) & ~(HUGE - 1))


static int find_text(struct dl_phdr_info *info, size_t size, void *data);
static char *reserve(size_t len, char **whole);
static int is_huge(const char *at, size_t len);


typedef struct {
    uintptr_t at;
    size_t len;
    uintptr_t next;     /* where the segment behind it starts */
} text_t;


/*
 * The linker keeps text and constants together and what follows them in huge
 * pages of its own (see the Makefile); where it did not, nothing is done.
 */
void
sbx_python_huge_text(void)
{
    size_t len;
    char *whole, *copy;
    text_t text = { 0, 0, UINTPTR_MAX };

    dl_iterate_phdr(find_text, &text);
    len = ROUND(text.len);

    if (text.len == 0 || text.at % HUGE != 0 || text.at + len > text.next) {
        return;
    }

    copy = reserve(len, &whole);

    if (copy == NULL) {
        return;
    }

    if (madvise(copy, len, MADV_HUGEPAGE) == 0) {
        memcpy(copy, (void *) text.at, text.len);

        /* the old mapping goes in the same call that puts the copy there */
        if (is_huge(copy, len)
            && mprotect(copy, len, PROT_READ | PROT_EXEC) == 0
            && mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
                      (void *) text.at) != MAP_FAILED)
        {
            munmap(whole, copy - whole);
            munmap(copy + len, whole + HUGE - copy);
            return;
        }
    }

    munmap(whole, len + HUGE);
}


/* The first object is the program. */
static int
find_text(struct dl_phdr_info *info, size_t size, void *data)
{
    text_t *text = data;

    (void) size;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + h->p_vaddr;

        if (h->p_type != PT_LOAD) {
            continue;
        }

        if (h->p_flags & PF_X) {
            text->at = at;
            text->len = h->p_memsz;

        } else if (text->len != 0 && at < text->next) {
            text->next = at & ~(uintptr_t) (sysconf(_SC_PAGESIZE) - 1);
        }
    }

    return 1;
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
