/*
 * sbx_cgroup_v2.c: the unified hierarchy.
 *
 * The kernel lets no cgroup with processes of its own hand controllers to
 * cgroups below it, the hierarchy's root excepted.  Nothing that is not ours is
 * moved to make room; the parent goes below the nearest ancestor that already
 * hands out memory and pids or can be made to: with systemd that is the slice
 * our service or scope is in, in a session of a user the delegated one.
 *
 * memory.peak cannot be set back before 6.12, so each run gets a fresh leaf.
 *
 * Runs in: supervisor.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_cgroup_kind.h"
#include "sbx_sysfile.h"


static int
has_controllers(const char *dir)
{
    char path[600], text[256];

    snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);

    if (sbx_sysfile_read(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }

    return strstr(text, "memory") != NULL && strstr(text, "pids") != NULL;
}


/* 0, or -1 with host->note: dir/host->name exists and has both controllers. */
static int
make_parent(sbx_cgroup_host_t *host, const char *dir)
{
    int fd;
    char path[600];

    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);

    /* EBUSY: it has processes; EACCES: not ours; the next check tells */
    (void) sbx_sysfile_write(AT_FDCWD, path, "+memory +pids");

    fd = sbx_cgroup_make(dir, host->name);

    if (fd < 0) {
        snprintf(host->note, sizeof(host->note), "cannot make a cgroup below "
                 "%.60s (%s)", dir, strerror(errno));
        return -1;
    }

    sbx_fd_close(&fd);
    snprintf(path, sizeof(path), "%.500s/%s", dir, host->name);

    if (strlen(path) < sizeof(host->memory) && has_controllers(path)) {
        memcpy(host->memory, path, strlen(path) + 1);
        snprintf(path, sizeof(path), "%s/cgroup.subtree_control",
                 host->memory);

        if (sbx_sysfile_write(AT_FDCWD, path, "+memory +pids") == 0) {
            return 0;
        }

        memcpy(path, host->memory, sizeof(host->memory));
        host->memory[0] = '\0';
    }

    snprintf(host->note, sizeof(host->note), "%.60s does not hand out memory "
             "and pids", dir);
    (void) rmdir(path);

    return -1;
}


static int
host_open(sbx_cgroup_host_t *host)
{
    char dir[512];
    size_t len;

    if (sbx_cgroup_own(NULL, dir, sizeof(dir), &len) < 0) {
        return -1;
    }

    for ( ;; ) {
        if (has_controllers(dir) && make_parent(host, dir) == 0) {
            return 0;
        }

        if (strlen(dir) <= len) {
            return -1;
        }

        *strrchr(dir, '/') = '\0';
    }
}


static int
v2_open(sbx_cgroup_t *cg, sbx_err_t *err)
{
    int fd;

    fd = sbx_cgroup_make(cg->host->memory, cg->leaf);

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno, "make %s/%s",
                        cg->host->memory, cg->leaf);
    }

    cg->memory_fd = fd;
    cg->pids_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (cg->pids_fd < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno, "open %s/%s",
                        cg->host->memory, cg->leaf);
    }

    /* absent without swap, and a run must not escape its limit by it */
    if (sbx_sysfile_write(fd, "memory.swap.max", "0") < 0 && errno != ENOENT) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno,
                        "write %s/%s/memory.swap.max", cg->host->memory,
                        cg->leaf);
    }

    /* memory.peak is 5.19; memory.events.local leaves out cgroups below */
    cg->stat_fds[SBX_CGROUP_PEAK] = openat(fd, "memory.peak",
                                           O_RDONLY | O_CLOEXEC);
    cg->stat_fds[SBX_CGROUP_OOM] = openat(fd, "memory.events.local",
                                          O_RDONLY | O_CLOEXEC);
    cg->stat_fds[SBX_CGROUP_CPU] = openat(fd, "cpu.stat",
                                          O_RDONLY | O_CLOEXEC);
    cg->stat_fds[SBX_CGROUP_PIDS] = openat(fd, "pids.events",
                                           O_RDONLY | O_CLOEXEC);

    return 0;
}


static int
v2_limit_memory(sbx_cgroup_t *cg, uint64_t bytes, sbx_err_t *err)
{
    char text[32] = "max";

    if (bytes != 0) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long) bytes);
    }

    if (sbx_sysfile_write(cg->memory_fd, "memory.max", text) < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno,
                        "write %s to %s/%s/memory.max", text, cg->host->memory,
                        cg->leaf);
    }

    return 0;
}


static void
v2_read(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st)
{
    uint64_t kills;

    st->memory_peak = sbx_cgroup_stat(cg, SBX_CGROUP_PEAK, NULL);
    st->memory_now = sbx_cgroup_number(cg->memory_fd, "memory.current");
    st->cpu_us = sbx_cgroup_stat(cg, SBX_CGROUP_CPU, "usage_usec");
    st->pids_refused = sbx_cgroup_stat(cg, SBX_CGROUP_PIDS, "max");

    /* "oom": this limit was hit; "oom_kill": a victim, whoever's limit */
    kills = sbx_cgroup_stat(cg, SBX_CGROUP_OOM, "oom_kill");

    if (sbx_cgroup_stat(cg, SBX_CGROUP_OOM, "oom") != 0) {
        st->oom_kills = kills;

    } else {
        st->oom_kills_other = kills;
    }
}


static int
v2_reset(sbx_cgroup_t *cg, sbx_err_t *err)
{
    char path[320];

    sbx_cgroup_drop(cg);
    snprintf(path, sizeof(path), "%s/%s", cg->host->memory, cg->leaf);

    if (rmdir(path) < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno, "remove %s", path);
    }

    sbx_cgroup_name(cg);
    cg->memory_limit = 0;
    cg->tasks_limit = 0;

    return v2_open(cg, err);
}


const sbx_cgroup_kind_ops_t sbx_cgroup_v2 = {
    host_open, v2_open, v2_limit_memory, v2_read, v2_reset
};
