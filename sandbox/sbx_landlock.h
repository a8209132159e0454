/*
 * sbx_landlock.h: a second opinion on the bare root.
 *
 * Mount flags already say where one may write and what one may execute.
 * Landlock says it again, by another part of the kernel: a mistake in one of
 * them alone opens nothing.
 */

#ifndef SBX_LANDLOCK_H
#define SBX_LANDLOCK_H

#include "sbx_err.h"

/*
 * Version of the kernel's Landlock, or 0 where there is none, or none that can
 * be used: before version 2 every rename across directories is refused.
 */
int sbx_landlock_version(void);

/*
 * Execute: all directories of the root but /tmp, /dev and /proc.  Write, make
 * and remove: below /tmp and /dev/shm, no device nodes; and /dev's own files.
 * Reading is left to the bare root.  0 also where there is no Landlock.
 * Runs in: child, after no_new_privs, in the slot's root; no allocation.
 */
int sbx_landlock_apply(sbx_err_t *err);

#endif
