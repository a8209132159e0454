/*
 * sbx_child.h: from a fresh fork to a fenced-in child, as a list of steps.
 *
 * Between fork and the end of the list: no malloc, no stdio, _exit and never
 * exit.  Every step fails closed.  Fault injection: with SBX_FAULT=STEP in the
 * zygote's environment (test builds, -DSBX_FAULTS) that step fails with EPERM.
 */

#ifndef SBX_CHILD_H
#define SBX_CHILD_H

#include <linux/filter.h>

#include "sbx_zygote.h"

typedef struct {
    const sbx_zmsg_t *fork;     /* flags, ns_flags, uid, gid */
    int slot_pidfd, job_fd, in_fd, out_fd, err_fd, page_fd;
    void *page_at;              /* where the hook's page is mapped, or NULL */
    const struct sock_fprog *filter;    /* NULL: skip */
} sbx_child_t;

/*
 * Afterwards: in the slot's namespaces and root, own session, descriptors 0, 1,
 * 2 and job_fd (moved to 3, close-on-exec) only, uid and gid of the slot, no
 * capabilities, no_new_privs, Landlock, the filter; cwd is SBX_RUN_DIR.
 * Runs in: child.
 */
int sbx_child_enter(sbx_child_t *child, sbx_err_t *err);

#endif
