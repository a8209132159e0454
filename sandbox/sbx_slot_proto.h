/*
 * sbx_slot_proto.h: what supervisor and slot init say to each other.
 *
 * SOCK_SEQPACKET, one struct a message; requests are answered once, in order.
 * Both ends are the same binary, so the layout needs no version.
 */

#ifndef SBX_SLOT_PROTO_H
#define SBX_SLOT_PROTO_H

#include <stdint.h>
#include <sys/types.h>

#include "sbx_err.h"
#include "sbx_root.h"

#define SBX_SLOT_CONTROL_FD  3      /* in the init */

typedef enum {
    SBX_SLOT_SETUP = 1,     /* once, first */
    SBX_SLOT_RESET,
    SBX_SLOT_ADJUST
} sbx_slot_op_t;

typedef struct {
    uint32_t op;
    uint32_t proc_empty;
    uint64_t disk_bytes;
    /* SETUP only */
    int32_t namespaces;     /* CLONE_NEW* the init was cloned with */
    int32_t switch_ids;     /* 1: become uid and gid 0 of the user namespace */
    uid_t guest_uid;        /* as seen inside */
    gid_t guest_gid;
    sbx_root_t root;
} sbx_slot_request_t;

typedef struct {
    uint32_t op;            /* the request's */
    uint32_t failed;        /* 1: see err; the slot is of no more use */
    uint32_t missing;       /* sbx_layer_t */
    uint32_t pids_vary;     /* 1: the next pid could not be set to 2 */
    uint32_t leaked;        /* 1: something held a tmpfs; it was detached */
    uint32_t signals;       /* RESET: times SIGUSR1 was seen since the last */
    int32_t signal_pid;     /* who sent the last, as the init sees it */
    sbx_err_t err;
} sbx_slot_reply_t;

#endif
