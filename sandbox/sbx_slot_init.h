/*
 * sbx_slot_init.h: the state of a slot's init, shared by its two files.
 *
 * Runs in: slot init.
 */

#ifndef SBX_SLOT_INIT_H
#define SBX_SLOT_INIT_H

#include "sbx_slot_proto.h"

typedef struct {
    sbx_slot_request_t request; /* SETUP's, with size and proc of the latest */
    uint32_t missing;           /* sbx_layer_t */
    int last_pid_fd;            /* the slot's own next pid; -1: not writable */
    int pids_vary;
    int leaked;
    int proc_covered;           /* an empty tmpfs lies over /proc */
    int signal_fd;
    uint32_t signals;           /* SIGUSR1: a hook says that it ended the run */
    int32_t signal_pid;
} sbx_init_t;

/* Pivots into the bare root and mounts a /proc of the slot's own. */
int sbx_init_enter_root(sbx_init_t *init, sbx_err_t *err);

/* /tmp with the run directory, and /dev/shm. */
int sbx_init_mount_tmpfs(sbx_init_t *init, sbx_err_t *err);
int sbx_init_umount_tmpfs(sbx_init_t *init, sbx_err_t *err);
int sbx_init_resize_tmpfs(sbx_init_t *init, sbx_err_t *err);

/* The cover over /proc, if this run is to have it; else nothing. */
int sbx_init_mount_empty(sbx_init_t *init, sbx_err_t *err);
int sbx_init_umount_empty(sbx_init_t *init, sbx_err_t *err);

#endif
