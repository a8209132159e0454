/*
 * sbx_heap.h: malloc's heap, made ready to be forked.
 */

#ifndef SBX_HEAP_H
#define SBX_HEAP_H

/*
 * Fills the gaps that free() left in this process's main heap with chunks that
 * nobody uses, so that what a child allocates lies side by side at the heap's
 * end: in few pages, and new ones.  They are never given back.
 *
 * Runs in:  zygote.
 */
void sbx_heap_fill(void);

#endif
