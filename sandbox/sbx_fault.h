/*
 * sbx_fault.h: what a test breaks on purpose, to see a check notice it.
 *
 * Only in builds with -DSBX_FAULTS: SBX_FAULT in the supervisor's environment
 * is the name of the check (sbx_layer.c) whose layer is to be broken, or
 * address_limit: no wall around one process's memory; or layers: children that
 * enter no more of their slots than its mounts, without rlimits, ids, Landlock
 * and a filter of their own, and slots that are used again as they are.  With SBX_FAULT_UNTIL
 * there, too, it is broken until that file exists.
 */

#ifndef SBX_FAULT_H
#define SBX_FAULT_H

#ifdef SBX_FAULTS

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int
sbx_fault(const char *name)
{
    const char *fault = getenv("SBX_FAULT");
    const char *until = getenv("SBX_FAULT_UNTIL");

    return fault != NULL && strcmp(fault, name) == 0
           && (until == NULL || access(until, F_OK) != 0);
}

#else

#define sbx_fault(name)  0

#endif

#endif
