/*
 * sbx_cell.h: the supervisor's own surroundings.
 *
 * guard ─ cell init (pid 1 of a pid namespace) ─ supervisor ─ zygotes, slots
 *
 * The cell is a pid, mount and (empty, loopback down) net namespace; without
 * CAP_SYS_ADMIN also a user namespace.  Zygotes and children inherit the empty
 * net namespace, so it costs nothing per run.  When the supervisor ends, for
 * whatever reason, the cell init ends, and with it the kernel kills every
 * process of the pid namespace: nothing survives a supervisor.
 */

#ifndef SBX_CELL_H
#define SBX_CELL_H

#include "sbx_err.h"

typedef struct {
    int privileged;     /* 1: CAP_SYS_ADMIN in the initial user namespace's
                           sense: no user namespace was needed for the cell */
    uint32_t missing;   /* sbx_layer_t bits that could not be had */
} sbx_cell_t;

/*
 * Guard's loop: forks a process that enters the cell and calls
 * supervise(data), restarts it with back-off (50 ms doubling to 5 s, reset
 * after 10 s of life) when it ends with anything but exit code 0, and returns 0
 * then.  A supervisor that finds its lifeline ended leaves with 0.  SIGTERM ends
 * the guard, and the cell with it.  Guard and cell init hold no client data.
 * The process is expected to exit next: nginx's signals stay blocked in it.
 * Never exits with code 2 (nginx's master misreads it).
 *
 * Runs in: guard.  PR_SET_PDEATHSIG(SIGKILL) ties each level to the one above.
 */
int sbx_cell_guard(int (*supervise)(const sbx_cell_t *cell, unsigned starts,
    void *data), void *data);

#endif
