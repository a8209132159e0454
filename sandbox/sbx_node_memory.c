/*
 * sbx_node_memory.c: V8's heap, made fit to be forked and cheap to fill.
 *
 * Runs in the Node zygote and its children, in place of a few of libc's calls
 * (behind which, in the order of loading, the preload hook counts).
 */

#include "sbx_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_MAX       (2ul << 20)
#define HEAP_PAGE       (256ul << 10)   /* V8's; the kernel's are smaller */

/* since Linux 5.14; libc 2.36's headers have it, older ones do not */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* the next one's, behind ours */
static struct {
    int (*madvise)(void *, size_t, int);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*mprotect)(void *, size_t, int);
} libc;


static void __attribute__((constructor))
find(void)
{
    if (libc.mprotect != NULL) {
        return;
    }

    libc.madvise = dlsym(RTLD_NEXT, "madvise");
    libc.mmap = dlsym(RTLD_NEXT, "mmap");
    libc.mprotect = dlsym(RTLD_NEXT, "mprotect");

    if (libc.madvise == NULL || libc.mmap == NULL || libc.mprotect == NULL) {
        fprintf(stderr, "libsbx_node.so: this libc lacks a call of memory\n");
        _exit(1);
    }
}


/*
 * V8 keeps its heap from children (MADV_DONTFORK), which would die of their
 * first look at it.
 */
int
madvise(void *at, size_t len, int advice)
{
    find();

    if (advice == MADV_DONTFORK && !sbx_node_in_child) {
        return 0;
    }

    return libc.madvise(at, len, advice);
}


/*
 * V8 asks for each piece of its heap at a random address.  Spread over all of
 * the address space, each would need three pages of page tables of its own, which
 * every fork has to make and every exit to free: most of what both cost.  Where
 * the kernel chooses, pieces lie side by side (below an address that it, too,
 * chose at random).  The reserve for code is larger, and has to be near the text.
 */
void *
mmap(void *at, size_t len, int rights, int flags, int fd, off_t offset)
{
    find();

    if (rights == PROT_NONE && (flags & MAP_ANONYMOUS)
        && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) && len <= PIECE_MAX)
    {
        at = NULL;
    }

    return libc.mmap(at, len, rights, flags, fd, offset);
}


void *
mmap64(void *at, size_t len, int rights, int flags, int fd, off_t offset)
{
    return mmap(at, len, rights, flags, fd, offset);
}


/*
 * A page of V8's heap is about to be filled.  The kernel's pages for it are had
 * in one call, cheaper than by a fault for each.
 */
int
mprotect(void *at, size_t len, int rights)
{
    int rc, error = errno;

    find();
    rc = libc.mprotect(at, len, rights);

    if (rc == 0 && sbx_node_in_child && len == HEAP_PAGE
        && rights == (PROT_READ | PROT_WRITE)
        && ((uintptr_t) at & (HEAP_PAGE - 1)) == 0)
    {
        /* an older kernel: by faults */
        (void) libc.madvise(at, len, MADV_POPULATE_WRITE);
        errno = error;
    }

    return rc;
}
