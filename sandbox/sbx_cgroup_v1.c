/*
 * sbx_cgroup_v1.c: the memory, pids and cpuacct hierarchies of cgroup v1.
 *
 * Making and removing v1 cgroups is slow (three mkdirs, 0.2 ms), so a slot
 * keeps its own and the counters are set back, or remembered where they cannot
 * be.  Where much stays charged it gets new ones.
 *
 * Runs in: supervisor.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sbx_cgroup_kind.h"
#include "sbx_sysfile.h"

#define FULL_MARGIN  (256 << 10)    /* the kernel charges 64 pages ahead */

#define LEFT_MEMORY  (16u << 20)    /* more stays charged: a new cgroup */

/* What the warm-up of a child is far below.  Most limits are above it. */
#define WARM_MEMORY  (64u << 20)
#define WARM_TASKS   32


/* Makes the parent below our own cgroup, where our limits still hold. */
static int
make_parent(sbx_cgroup_host_t *host, const char *controller, char *dir,
    size_t size)
{
    int fd;
    char own[512];
    size_t len;

    dir[0] = '\0';

    if (sbx_cgroup_own(controller, own, sizeof(own), &len) < 0) {
        return -1;
    }

    if ((size_t) snprintf(dir, size, "%s/%s", own, host->name) >= size) {
        dir[0] = '\0';
        return -1;
    }

    fd = sbx_cgroup_make(own, host->name);

    if (fd < 0) {
        if (host->note[0] == '\0') {   /* the first, memory, matters most */
            snprintf(host->note, sizeof(host->note), "cannot make a cgroup "
                     "below %.60s (%s)", own, strerror(errno));
        }
        dir[0] = '\0';
        return -1;
    }

    /* default since 5.11; without it a child's use is nobody's above it */
    (void) sbx_sysfile_write(fd, "memory.use_hierarchy", "1");

    sbx_fd_close(&fd);

    return 0;
}


static int
host_open(sbx_cgroup_host_t *host)
{
    (void) make_parent(host, "memory", host->memory, sizeof(host->memory));
    (void) make_parent(host, "pids", host->pids, sizeof(host->pids));
    (void) make_parent(host, "cpuacct", host->cpu, sizeof(host->cpu));

    if (host->memory[0] != '\0' || host->pids[0] != '\0') {
        return 0;
    }

    sbx_cgroup_host_close(host);    /* CPU accounting alone bounds nothing */

    if (host->note[0] == '\0') {
        snprintf(host->note, sizeof(host->note),
                 "no memory or pids hierarchy is mounted");
    }

    return -1;
}


static int
open_leaf(sbx_cgroup_t *cg, const char *parent, int *fd, sbx_err_t *err)
{
    if (parent[0] == '\0') {
        return 0;
    }

    *fd = sbx_cgroup_make(parent, cg->leaf);

    if (*fd < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno, "make %s/%s", parent,
                        cg->leaf);
    }

    return 0;
}


static int
open_file(int dir_fd, const char *name)
{
    return dir_fd < 0 ? -1 : openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
}


static int
v1_open(sbx_cgroup_t *cg, sbx_err_t *err)
{
    if (open_leaf(cg, cg->host->memory, &cg->memory_fd, err) < 0
        || open_leaf(cg, cg->host->pids, &cg->pids_fd, err) < 0
        || open_leaf(cg, cg->host->cpu, &cg->cpu_fd, err) < 0)
    {
        return -1;
    }

    cg->stat_fds[SBX_CGROUP_PEAK] = open_file(cg->memory_fd,
                                              "memory.max_usage_in_bytes");
    cg->stat_fds[SBX_CGROUP_OOM] = open_file(cg->memory_fd,
                                             "memory.oom_control");
    cg->stat_fds[SBX_CGROUP_CPU] = open_file(cg->cpu_fd, "cpuacct.usage");
    cg->stat_fds[SBX_CGROUP_PIDS] = open_file(cg->pids_fd, "pids.events");

    return 0;
}


static int
v1_limit_memory(sbx_cgroup_t *cg, uint64_t bytes, sbx_err_t *err)
{
    int i, raise, swap;
    char text[32] = "-1";
    const char *name;

    /* memory + swap may never be below memory: the order follows */
    raise = cg->memory_limit != 0 && (bytes == 0 || bytes > cg->memory_limit);

    if (bytes != 0) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long) bytes);
    }

    for (i = 0; i < 2; i++) {
        swap = raise ? i == 0 : i == 1;
        name = swap ? "memory.memsw.limit_in_bytes" : "memory.limit_in_bytes";

        if (sbx_sysfile_write(cg->memory_fd, name, text) < 0
            && !(swap && errno == ENOENT))      /* swapaccount=0 */
        {
            return sbx_fail(err, SBX_STEP_CGROUP, errno, "write %s to %s/%s/%s",
                            text, cg->host->memory, cg->leaf, name);
        }
    }

    return 0;
}


/*
 * 1: the cgroup was at its own limit.  By the highest use, since new kernels no
 * longer count failures (memory.failcnt stays 0, seen on 6.18).
 */
static int
was_full(const sbx_cgroup_t *cg)
{
    size_t i;
    static const char *const peaks[] = {
        "memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"
    };

    for (i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++) {
        if (cg->memory_limit != 0
            && sbx_cgroup_number(cg->memory_fd, peaks[i]) + FULL_MARGIN
               >= cg->memory_limit)
        {
            return 1;
        }
    }

    return 0;
}


static void
v1_read(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st)
{
    uint64_t kills;

    st->memory_peak = sbx_cgroup_stat(cg, SBX_CGROUP_PEAK, NULL);
    st->memory_now = sbx_cgroup_number(cg->memory_fd, "memory.usage_in_bytes");
    st->cpu_us = sbx_cgroup_stat(cg, SBX_CGROUP_CPU, NULL) / 1000;
    st->pids_refused = sbx_cgroup_stat(cg, SBX_CGROUP_PIDS, "max");

    kills = sbx_cgroup_stat(cg, SBX_CGROUP_OOM, "oom_kill");

    if (kills <= cg->oom_seen) {
        return;
    }

    /* the counter names the victim's cgroup, whoever's limit it was */
    if (was_full(cg)) {
        st->oom_kills = kills - cg->oom_seen;

    } else {
        st->oom_kills_other = kills - cg->oom_seen;
    }
}


/*
 * The next child warms up before it has its run's limits: those of a small run
 * that was here before must not end it.  Others stay, and most often are the
 * next run's, too: three files less to write.
 */
static int
lift_small_limits(sbx_cgroup_t *cg, sbx_err_t *err)
{
    uint64_t memory = cg->memory_limit < WARM_MEMORY
                      || cg->memory_limit == SBX_CGROUP_UNKNOWN
                      ? 0 : cg->memory_limit;
    uint32_t tasks = cg->tasks_limit < WARM_TASKS ? 0 : cg->tasks_limit;

    return sbx_cgroup_limit(cg, memory, tasks, err);
}


/*
 * Some stays charged when a run is gone: page cache of files that it read first,
 * and what the kernel keeps for names that it looked up, as much as the run was
 * allowed.  To lower the next run's limit below that takes the kernel most of a
 * second, of our time, and may fail (EBUSY); to throw it out would make the next
 * runs read the interpreter's files again.  With the cgroup it becomes the
 * parent's, which has no limit.
 */
static int
replace_leaf(sbx_cgroup_t *cg, sbx_err_t *err)
{
    size_t i;
    char path[PATH_MAX];
    const char *dirs[] = { cg->host->memory, cg->host->pids, cg->host->cpu };

    sbx_cgroup_drop(cg);

    for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dirs[i], cg->leaf);

        /* ENOENT: hierarchies that are mounted together */
        if (dirs[i][0] != '\0' && rmdir(path) < 0 && errno != ENOENT) {
            return sbx_fail(err, SBX_STEP_CGROUP, errno, "remove %s", path);
        }
    }

    sbx_cgroup_name(cg);
    cg->memory_limit = cg->memory_base = 0;
    cg->tasks_limit = 0;
    cg->oom_seen = cg->pids_seen = cg->cpu_seen = 0;

    return v1_open(cg, err);
}


static int
v1_reset(sbx_cgroup_t *cg, sbx_err_t *err)
{
    static const char *const counters[] = {
        "memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"
    };
    size_t i;

    cg->cpu_seen = sbx_cgroup_stat(cg, SBX_CGROUP_CPU, NULL) / 1000;
    cg->pids_seen = sbx_cgroup_stat(cg, SBX_CGROUP_PIDS, "max");
    cg->oom_seen = sbx_cgroup_stat(cg, SBX_CGROUP_OOM, "oom_kill");

    if (lift_small_limits(cg, err) < 0) {
        return -1;
    }

    if (cg->memory_fd < 0) {
        return 0;
    }

    cg->memory_base = sbx_cgroup_number(cg->memory_fd, "memory.usage_in_bytes");

    if (cg->memory_base > LEFT_MEMORY) {
        return replace_leaf(cg, err);
    }

    for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (sbx_sysfile_write(cg->memory_fd, counters[i], "0") < 0
            && errno != ENOENT)
        {
            return sbx_fail(err, SBX_STEP_CGROUP, errno, "reset %s/%s/%s",
                            cg->host->memory, cg->leaf, counters[i]);
        }
    }

    return 0;
}


const sbx_cgroup_kind_ops_t sbx_cgroup_v1 = {
    host_open, v1_open, v1_limit_memory, v1_read, v1_reset
};
