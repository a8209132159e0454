/*
 * sbx_slot.h: the kernel objects one run lives in, made ahead and reused.
 *
 * A slot is a user (where the host allows), mount, pid, ipc and uts namespace,
 * two private tmpfs, a cgroup, a hook page and a tiny init (deer-flow executed
 * again, so that it shares no memory with the supervisor).  Never two runs at a
 * time.  Between runs the init kills and reaps what is left, mounts both tmpfs
 * afresh, renews the ipc namespace and sets the next pid to 2.
 *
 * The supervisor never waits for an init: reset is a message, its end an event.
 */

#ifndef SBX_SLOT_H
#define SBX_SLOT_H

#include <sys/types.h>

#include "sbx_cgroup.h"
#include "sbx_err.h"
#include "sbx_page.h"
#include "sbx_root.h"

#define SBX_GUEST_UID   1000            /* inside, where ids are mapped */
#define SBX_HOST_UID    0x70000000u     /* + 2 x index (+ 1: the guest): a
                                           range no system uses */

typedef struct {
    int index;
    pid_t pid;              /* the init's, as the supervisor sees it */
    int pidfd;              /* readable: the init died, the slot is lost */
    int ctl_fd;             /* SOCK_SEQPACKET to the init */
    int ns_flags;           /* CLONE_NEW* a child must enter by setns(pidfd),
                               without CLONE_NEWPID */
    uid_t uid;              /* child's setresuid value, inside its namespaces */
    gid_t gid;
    uid_t host_uid;         /* the same uid as the supervisor sees it */
    int page_fd;
    sbx_page_t *page;
    sbx_cgroup_t cgroup;
    uint64_t disk_bytes;    /* of the tmpfs now mounted */
    int proc_empty;
    unsigned pending;       /* requests the init has not answered yet */
    uint32_t missing;       /* sbx_layer_t: what this slot could not have;
                               complete when sbx_slot_ready said 1 once */
    int pids_vary;          /* 1: the next pid could not be set to 2 */
    uint32_t signals;       /* SIGUSR1 that its init saw from the last child */
    pid_t signal_pid;       /* the sender, in the slot's pid namespace */
} sbx_slot_t;

typedef struct {
    uint64_t disk_bytes;    /* size of /tmp; /dev/shm gets the same */
    int proc_empty;
} sbx_slot_setup_t;

/*
 * Clones and executes the init, which builds its surroundings and then answers
 * like a reset: poll ctl_fd, call sbx_slot_ready.  userns: 0 only where user
 * namespaces are not to be had.  cell_privileged as in sbx_cell_t.
 * Runs in: supervisor.
 * Owns: the caller closes by sbx_slot_close, also after -1.
 */
int sbx_slot_open(sbx_slot_t *slot, int index, const sbx_root_t *root,
    const sbx_cgroup_host_t *cgroups, int cell_privileged, int userns,
    const sbx_slot_setup_t *setup, sbx_err_t *err);

/*
 * Asks the init to clean and set up for the next run.  The run's first process
 * must have been reaped (it is the supervisor's child, not the init's).
 */
int sbx_slot_reset(sbx_slot_t *slot, const sbx_slot_setup_t *setup,
    sbx_err_t *err);

/*
 * Asks for another tmpfs size or /proc while a standby child already waits in
 * the slot (its files are untouched: the run directory is empty by then).
 */
int sbx_slot_adjust(sbx_slot_t *slot, const sbx_slot_setup_t *setup,
    sbx_err_t *err);

/*
 * ctl_fd is readable: 1 all that was asked for is done, 0 not yet, -1 it failed
 * and the slot is lost.  The page is cleared here, after a reset: before it,
 * what the run left behind could still write there.
 */
int sbx_slot_ready(sbx_slot_t *slot, sbx_err_t *err);

/*
 * Kills the init and so everything in the slot.  Never waits: the kernel shows
 * an init's end only after that of the last process of its namespace, which the
 * caller may still have to reap.  Init and cgroup go now or, if that is too
 * early, in a later call of any function here.
 */
void sbx_slot_close(sbx_slot_t *slot);

/* The init itself: argv[1] is SBX_SLOT_INIT.  Runs in: slot init. */
#define SBX_SLOT_INIT "slot-init"
int sbx_slot_init_main(int argc, char **argv);

#endif
