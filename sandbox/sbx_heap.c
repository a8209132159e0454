/*
 * sbx_heap.c: malloc's heap, made ready to be forked.
 *
 * Runs in the zygote, before it forks.  Each chunk that a child gets from a gap
 * is a page to be copied, each that it gets from the top of the heap is new.
 */

#include "sbx_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

/* below what malloc takes from the kernel by mmap */
#define LARGEST_CHUNK   (64 << 10)
#define CHUNK_STEP      16


/* What malloc finds in no gap it cuts from the top of the heap. */
void
sbx_heap_fill(void)
{
    void *chunk;
    uintptr_t top;

    malloc_trim(0);
    chunk = malloc(LARGEST_CHUNK);
    top = (uintptr_t) chunk;
    free(chunk);

    for (size_t size = LARGEST_CHUNK; top != 0 && size > 0;
         size -= CHUNK_STEP)
    {
        do {
            chunk = malloc(size);
        } while (chunk != NULL && (uintptr_t) chunk < top);

        free(chunk);
    }
}
