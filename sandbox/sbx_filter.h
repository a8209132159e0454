/*
 * sbx_filter.h: system calls, from one table.
 *
 * Five programs, built once by the supervisor and handed to the zygotes as
 * plain BPF:
 *
 *   notify   loaded by each zygote, once, with a listener: calls of rule KILL,
 *            ERRNO and THREAD (but threads) → SECCOMP_RET_USER_NOTIF, all else
 *            allowed.  All its children inherit it; the supervisor answers, so
 *            the kernel's own word names the call.  Calls the zygote itself
 *            needs are not in it.  No listener alive: ENOSYS, still denied.
 *   single   loaded by each child on top: rule ALLOW → allow; KILL, ERRNO and
 *            THREAD → allow here where `notify` has them (that one decides),
 *            else kill or errno; anything unknown → ENOSYS.
 *   forking  the same, for runs with processes > 1: the supervisor's answer to
 *            a new process (rule THREAD) is what differs, continue for errno.
 *   plain    `single` and plain_forking for hosts without listeners: KILL
 *            kills, ERRNO refuses, no names.
 */

#ifndef SBX_FILTER_H
#define SBX_FILTER_H

#include <linux/filter.h>

#include "sbx_err.h"

typedef enum {
    SBX_FILTER_NOTIFY = 0,
    SBX_FILTER_SINGLE,
    SBX_FILTER_FORKING,
    SBX_FILTER_PLAIN,
    SBX_FILTER_PLAIN_FORKING,
    SBX_FILTER_COUNT
} sbx_filter_id_t;

typedef enum {
    SBX_RULE_ALLOW,
    SBX_RULE_ERRNO,         /* the program goes on; named in usage.refused */
    SBX_RULE_KILL,          /* seccomp_violation */
    SBX_RULE_THREAD,        /* a new process: as ERRNO, or allowed in forking
                               runs; clone's argument rows let threads pass */
    SBX_RULE_EXIT,          /* exit_group: allowed, after the supervisor had a
                               look at the run's end */
    SBX_RULE_ENOSYS         /* quietly not there: clone3, io_uring_setup … */
} sbx_rule_t;

typedef struct {
    const char *name;       /* libseccomp's */
    sbx_rule_t rule;
    int errnum;             /* of ERRNO and THREAD */
    int zygote;             /* 1: the zygote needs it itself: not in `notify` */
    const char *reason;
} sbx_syscall_t;

/* Ends with name NULL. */
extern const sbx_syscall_t sbx_syscalls[];

typedef enum { SBX_ARG_IS, SBX_ARG_HAS } sbx_arg_test_t;

/*
 * What a call's argument changes: where it is `value` (IS) or has one of its
 * bits (HAS), this rule holds in place of the call's own.  Only the low 32 bits
 * count, as the kernel sees them in all these calls.  The filters decide these
 * rows themselves, but for KILL: there the listener has to tell the name.
 */
typedef struct {
    const char *name;
    unsigned arg;           /* 0 .. 5 */
    sbx_arg_test_t test;
    uint32_t value;
    sbx_rule_t rule;        /* ALLOW, ERRNO or KILL */
    int errnum;
    int zygote;             /* 1: the zygote's own call; killed without a name */
    const char *reason;
} sbx_syscall_arg_t;

/* Ends with name NULL. */
extern const sbx_syscall_arg_t sbx_syscall_args[];

/* The row of a call by its number on this machine, or NULL.  name: resolved
 * even without a row; caller's buffer.  Runs in: supervisor (libseccomp). */
const sbx_syscall_t *sbx_syscall_by_number(int number, char *name, size_t size);

/* The first argument row that a call matches, or NULL. */
const sbx_syscall_arg_t *sbx_syscall_arg_find(const char *name,
    const uint64_t args[6]);

/*
 * Builds all programs into one sealed memfd: an array of SBX_FILTER_COUNT
 * uint32_t instruction counts, then the instructions in the same order.
 * Returns the descriptor or -1.  Runs in: supervisor, at start.
 */
int sbx_filter_build(sbx_err_t *err);

/* Maps such a memfd; progs[] point into the mapping, which stays. */
int sbx_filter_map(int fd, struct sock_fprog progs[SBX_FILTER_COUNT],
    sbx_err_t *err);

#endif
