/*
 * sbx_layer.h: the layers that protect a run, and which this host has.
 */

#ifndef SBX_LAYER_H
#define SBX_LAYER_H

#include "sbx_types.h"

typedef enum {
    /* required, unless sandbox_allow_missing names them */
    SBX_LAYER_NO_NEW_PRIVS = 1 << 0,
    SBX_LAYER_SECCOMP = 1 << 1,
    SBX_LAYER_PID = 1 << 2,
    SBX_LAYER_MOUNT = 1 << 3,
    SBX_LAYER_NET = 1 << 4,
    SBX_LAYER_IPC = 1 << 5,
    SBX_LAYER_UTS = 1 << 6,
    SBX_LAYER_RLIMITS = 1 << 7,
    SBX_LAYER_PROC = 1 << 8,        /* a /proc of the slot's own */
    /* used where the host allows, with one warning where not */
    SBX_LAYER_USER = 1 << 9,        /* user namespace per slot */
    SBX_LAYER_UID = 1 << 10,        /* a host uid of its own per slot */
    SBX_LAYER_CGROUP = 1 << 11,     /* memory and pids */
    SBX_LAYER_LANDLOCK = 1 << 12,
    SBX_LAYER_NOTIFY = 1 << 13,     /* refused calls named by the kernel */
    /* the checks of a runtime (sbx_check.h), required like the above */
    SBX_CHECK_LIMIT = 1 << 14,
    SBX_CHECK_PRELOAD = 1 << 15,
    SBX_CHECK_PROC_LIMITS = 1 << 16,
    SBX_CHECK_GROWTH = 1 << 17,
    SBX_CHECK_SIGNAL = 1 << 18,
    SBX_CHECK_OOM = 1 << 19,
    SBX_CHECK_DEADLINE = 1 << 20
} sbx_layer_t;

#define SBX_CHECKS_ALL       0x1fc000u
#define SBX_LAYERS_REQUIRED  (0x1ffu | SBX_CHECKS_ALL)
#define SBX_LAYERS_ALL       (0x3fffu | SBX_CHECKS_ALL)

typedef struct {
    uint32_t bit;
    const char *name;       /* "seccomp", "pid", … as sandbox_allow_missing */
    const char *protects;   /* one line for deer-flow check */
} sbx_layer_info_t;

/* Both end with bit 0; the checks' order is that of their numbers, from 1. */
extern const sbx_layer_info_t sbx_layers[];
extern const sbx_layer_info_t sbx_checks[];

/* Bit of the layer or check called name, or 0. */
uint32_t sbx_layer_find(sbx_str_t name);

#endif
