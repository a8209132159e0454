/*
 * sbx_zygote.h: the protocol between supervisor, zygote and child, and the
 * zygote's common half (sbx_zygote_main), which the interpreters' zygotes and the
 * exec zygote (deer-flow executed with SBX_ZYGOTE_EXEC) share.
 *
 * Start: the supervisor executes the zygote with a clean environment, its
 * preload hook, stdin and stdout as pipes (interpreters look at the kind of
 * their descriptors), and
 *     fd 3   control, SOCK_SEQPACKET: sbx_zmsg_t both ways
 *     fd 4   the filters, see sbx_filter_map
 *     fd 5   the zygote's own hook page (a memfd), which the hook maps too
 * The zygote warms up, loads `notify` and sends HELLO with the listener, which
 * it then closes; or FAILED, with the number of the module in SBX_PRELOAD_ENV
 * (from 1) in the tag where that one is refused.
 *
 * FORK: the supervisor asks for a child in a slot and sends six descriptors:
 *     0 slot init's pidfd   1 child's end of the job channel
 *     2 stdin  3 stdout  4 stderr (ends of pipes)   5 the slot's hook page
 * The zygote enters the slot's pid namespace, clones with CLONE_PARENT |
 * CLONE_PIDFD (so that the supervisor reaps), goes back, answers FORKED with the
 * pidfd.  The child walks the steps of sbx_child.h, warms up if asked, and sends
 * READY on its job channel, or FAILED with the step.
 *
 * Job channel, SOCK_SEQPACKET: one sbx_run_t followed by `inline_len` bytes of
 * fields, or, when SBX_RUN_MEMFD is set, with a memfd of `len` bytes of them
 * (SCM_RIGHTS).  Fields: CMD (exec path: argv, repeated), NAME, CODE, ARG, ENV,
 * FILE_PATH, FILE_DATA, as in sbx_wire.  The child writes the files below
 * SBX_RUN_DIR, closes the channel and runs.  End of file without FAILED:
 * the program runs (or the child died: its pidfd says so).
 */

#ifndef SBX_ZYGOTE_H
#define SBX_ZYGOTE_H

#include <stdint.h>
#include <sys/types.h>

#include "sbx_err.h"
#include "sbx_job.h"

#define SBX_ZYGOTE_EXEC         "exec-zygote"
/* what node is told to load first; see sbx_node_command.c */
#define SBX_NODE_SCRIPT         "/dev/null"
#define SBX_PRELOAD_ENV         "SBX_PRELOAD"   /* modules, by spaces */
#define SBX_ZYGOTE_CONTROL_FD   3
#define SBX_ZYGOTE_FILTERS_FD   4
#define SBX_ZYGOTE_PAGE_FD      5

typedef enum {
    SBX_ZMSG_HELLO = 1,     /* zygote →; fd: listener, or none */
    SBX_ZMSG_FORK,          /* supervisor →; fds: the six above */
    SBX_ZMSG_FORKED,        /* zygote →; fd: the child's pidfd */
    SBX_ZMSG_READY,         /* child → on the job channel */
    SBX_ZMSG_FAILED         /* child or zygote →: err */
} sbx_zmsg_type_t;

typedef enum {
    SBX_FORK_FORKING = 1 << 0,      /* filter that lets it fork */
    SBX_FORK_WARM = 1 << 1,         /* warm up before READY */
    SBX_FORK_NO_LANDLOCK = 1 << 2,
    SBX_FORK_SKIP_SECCOMP = 1 << 3  /* sandbox_allow_missing seccomp, and
                                       ablation */
} sbx_fork_flag_t;

typedef struct {
    uint32_t type;
    uint32_t tag;           /* FORK's, echoed by FORKED and FAILED */
    uint32_t flags;         /* sbx_fork_flag_t */
    int32_t pid;            /* FORKED: in the supervisor's pid namespace */
    int32_t ns_flags;       /* FORK: for the child's setns */
    uint32_t uid, gid;      /* FORK: for setresuid, after setns */
    uint32_t notify;        /* HELLO: 1 a listener comes with it, 2 and no
                               signal handler runs during a notification */
    uint32_t open_files;    /* HELLO: the least `open_files` of a run that can
                               do with one of its children */
    uint64_t vm_size, vm_data;  /* HELLO, READY: bytes, from /proc/self/statm */
    sbx_err_t err;          /* FAILED */
} sbx_zmsg_t;

#define SBX_RUN_INLINE_MAX  (48 << 10)

typedef enum { SBX_RUN_MEMFD = 1 << 0 } sbx_run_flag_t;

typedef struct {
    uint32_t flags;
    uint32_t inline_len;
    uint64_t len;
} sbx_run_t;

/* What a runtime adds to the common zygote. */
typedef struct {
    /* Descriptors that a child must be allowed to have; 0: no more than any. */
    uint32_t open_files;
    /*
     * After the fork, before all else: e.g. PyOS_AfterFork_Child.  Nobody could
     * be told that it failed: sbx_child_fail has no channel yet.
     */
    void (*forked)(void);
    /* Renews what the interpreter had in descriptors; after the steps. */
    int (*entered)(sbx_err_t *err);
    /* Runs a throw-away program; after the steps, before READY. */
    int (*warm)(sbx_err_t *err);
    /*
     * Runs the job, whose files are written, and never returns to its caller.  argv of an
     * exec path in cmd (ncmd 0 for a zygote that is the interpreter itself).
     * A step that fails before user code runs goes to sbx_child_fail.
     */
    void (*run)(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd);
} sbx_zygote_ops_t;

/*
 * Loop of a zygote: HELLO, then FORK after FORK until the control socket ends.
 * Single-threaded; allocates nothing between two forks.
 * Runs in: zygote; the ops in the child.
 */
int sbx_zygote_main(const sbx_zygote_ops_t *ops);

/* Reports FAILED on the job channel and exits the child. */
void sbx_child_fail(const sbx_err_t *err) __attribute__((noreturn));

/* The exec zygote's ops and main. */
int sbx_exec_zygote_main(void);

/*
 * Supervisor's half: the fields for the job channel.  size first, then pack.
 */
size_t sbx_run_size(const sbx_job_t *job, char *const *cmd);
void sbx_run_pack(const sbx_job_t *job, char *const *cmd, char *payload);
/* Child's half; *cmd is an array on the heap. */
int sbx_run_unpack(sbx_job_t *job, sbx_str_t **cmd, size_t *ncmd,
    const char *payload, size_t len, sbx_err_t *err);

#endif
