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

/* Where the child has its descriptors until the program starts. */
#define SBX_CHILD_JOB_FD    3   /* close-on-exec */
#define SBX_CHILD_PAGE_FD   4   /* stays for an exec path, see sbx_page.h */
#define SBX_CHILD_STATM_FD  5   /* close-on-exec */
#define SBX_CHILD_FDS       6

typedef struct {
    const sbx_zmsg_t *fork;     /* flags, ns_flags, uid, gid */
    int slot_pidfd, job_fd, in_fd, out_fd, err_fd, page_fd;
    int statm_fd;               /* own /proc/self/statm; -1: none */
    void *page_at;              /* where the hook's page is mapped, or NULL */
    const struct sock_fprog *filter;    /* NULL: skip */
} sbx_child_t;

/*
 * Afterwards: in the slot's namespaces and root, own session, descriptors 0, 1,
 * 2 and the three above only, uid and gid of the slot, no capabilities,
 * no_new_privs, Landlock, the filter; cwd is SBX_RUN_DIR.  job_fd is kept up to
 * date, also after -1.  All descriptors must be >= SBX_CHILD_FDS.
 * Runs in: child.
 */
int sbx_child_enter(sbx_child_t *child, sbx_err_t *err);

/*
 * Default dispositions for all signals, none blocked: what a program started
 * from a shell finds.  Runs in: zygote, before its interpreter starts; child,
 * before exec.
 */
void sbx_child_signals(void);

/*
 * What every program finds in its environment, unless its job says otherwise;
 * ends with NULL.
 */
extern const char *const sbx_child_env[];

/*
 * The environment of a job's program: the list above, less what the job sets
 * itself, then the job's; on the heap, ends with NULL, with room for so many
 * more.  A name appears once.  No memory: the child fails.  Runs in: child.
 */
char **sbx_child_make_env(const sbx_job_t *job, size_t more);

/* A string with its end, and memory, on the heap; else the child fails. */
char *sbx_child_copy(sbx_str_t s);
void *sbx_child_alloc(size_t size);

#endif
