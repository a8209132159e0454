/*
 * sbx_cgroup_kind.h: what cgroup v1 and v2 do differently, shared by
 * sbx_cgroup*.c only.
 */

#ifndef SBX_CGROUP_KIND_H
#define SBX_CGROUP_KIND_H

#include "sbx_cgroup.h"

#define SBX_CGROUP_PREFIX  "deer-flow-"

enum { SBX_CGROUP_PEAK = 0, SBX_CGROUP_OOM, SBX_CGROUP_CPU, SBX_CGROUP_PIDS,
    SBX_CGROUP_STATS };

typedef struct {
    /*
     * Makes the parents of host->name; 0, or -1 with host->note filled and
     * nothing left behind.
     */
    int (*host_open)(sbx_cgroup_host_t *host);
    /* Makes cg->leaf and opens it. */
    int (*open)(sbx_cgroup_t *cg, sbx_err_t *err);
    int (*limit_memory)(sbx_cgroup_t *cg, uint64_t bytes, sbx_err_t *err);
    /* Fills st with raw counters, not differences. */
    void (*read)(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st);
    /* Starts anew: new counters, or old ones that read noted as seen. */
    int (*reset)(sbx_cgroup_t *cg, sbx_err_t *err);
} sbx_cgroup_kind_ops_t;

extern const sbx_cgroup_kind_ops_t sbx_cgroup_v1, sbx_cgroup_v2;

/*
 * Directory of the caller's own cgroup in the hierarchy of a v1 controller, or
 * of v2 (controller NULL); *mount_len: how much of it is the mount point.
 * 0, or -1: there is no such hierarchy.
 */
int sbx_cgroup_own(const char *controller, char *dir, size_t size,
    size_t *mount_len);

/* A name for cg->leaf that no cgroup of this process had before. */
void sbx_cgroup_name(sbx_cgroup_t *cg);

/* The directory parent/leaf as a descriptor, made if need be; -1 with errno. */
int sbx_cgroup_make(const char *parent, const char *leaf);

/* Closes directories and counters of cg. */
void sbx_cgroup_drop(sbx_cgroup_t *cg);

/*
 * An open counter: its number, or the one after a key; 0 when there is none.
 */
uint64_t sbx_cgroup_stat(const sbx_cgroup_t *cg, int which, const char *key);

/* A file of one number; 0 when it cannot be read. */
uint64_t sbx_cgroup_number(int dir_fd, const char *name);

#endif
