/*
 * sbx_standby.h: a child from its birth to its program.
 */

#ifndef SBX_STANDBY_H
#define SBX_STANDBY_H

#include "sbx_child.h"

/* Takes the steps, waits for the one job, runs it.  Runs in: child. */
void sbx_standby_main(const sbx_zygote_ops_t *ops, sbx_child_t *child)
    __attribute__((noreturn));

/*
 * Address space and private writable memory in bytes, from an open
 * /proc/PID/statm; 0 and 0 where it says nothing.  Runs in: zygote, child.
 */
void sbx_statm_read(int fd, uint64_t *size, uint64_t *data);

#endif
