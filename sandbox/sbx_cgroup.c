/*
 * sbx_cgroup.c: what cgroup v1 and v2 have in common.
 *
 * Runs in the supervisor, in the cell, where the hierarchies are mounted as on
 * the host.  A cgroup is a backstop and a witness: where there is none, every
 * function here succeeds and the note says why.
 *
 *     own cgroup or above / deer-flow-TOKEN / slot-INDEX-SERIAL
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_cgroup_kind.h"
#include "sbx_sysfile.h"


static const sbx_cgroup_kind_ops_t *const kinds[] = {
    [SBX_CGROUP_V1] = &sbx_cgroup_v1,
    [SBX_CGROUP_V2] = &sbx_cgroup_v2
};

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


void
sbx_cgroup_name(sbx_cgroup_t *cg)
{
    static unsigned serial;

    snprintf(cg->leaf, sizeof(cg->leaf), "slot-%d-%u", cg->index, serial++);
}


int
sbx_cgroup_make(const char *parent, const char *leaf)
{
    SBX_AUTOCLOSE int fd = -1;

    fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (mkdirat(fd, leaf, 0755) < 0 && errno != EEXIST)) {
        return -1;
    }

    return openat(fd, leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}


uint64_t
sbx_cgroup_stat(const sbx_cgroup_t *cg, int which, const char *key)
{
    char text[1024];

    if (cg->stat_fds[which] < 0
        || sbx_sysfile_reread(cg->stat_fds[which], text, sizeof(text)) < 0)
    {
        return 0;
    }

    if (key != NULL) {
        return sbx_sysfile_key(text, key);
    }

    return strtoull(text, NULL, 10);
}


uint64_t
sbx_cgroup_number(int dir_fd, const char *name)
{
    char text[32];

    if (dir_fd < 0 || sbx_sysfile_read(dir_fd, name, text, sizeof(text)) < 0) {
        return 0;
    }

    return strtoull(text, NULL, 10);
}


/*
 * Moves a process of ours in and lets it end: rights that mkdir and open do not
 * show (v2: write access at the common ancestor) come out here, not in the
 * first run.  0, or errno.
 */
static int
probe_attach(sbx_cgroup_t *cg)
{
    int status;
    pid_t pid, got;

    pid = fork();

    if (pid < 0) {
        return errno;
    }

    if (pid == 0) {
        _exit(sbx_cgroup_attach(cg, getpid(), NULL) < 0 ? errno : 0);
    }

    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);

    return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}


static int
probe(sbx_cgroup_host_t *host)
{
    int rc;
    sbx_cgroup_t cg;
    sbx_err_t err;

    if (sbx_cgroup_open(&cg, host, 0, &err) < 0) {
        snprintf(host->note, sizeof(host->note), "%.90s (%s)", err.text,
                 strerror(err.errnum));
        return -1;
    }

    rc = probe_attach(&cg);
    sbx_cgroup_close(&cg);

    if (rc != 0) {
        snprintf(host->note, sizeof(host->note), "no process can be moved in "
                 "(%s)", strerror(rc));
        return -1;
    }

    return 0;
}


void
sbx_cgroup_host_open(sbx_cgroup_host_t *host, const char *token)
{
    int i;
    static const sbx_cgroup_kind_t order[] = { SBX_CGROUP_V2, SBX_CGROUP_V1 };

    memset(host, 0, sizeof(sbx_cgroup_host_t));
    snprintf(host->name, sizeof(host->name), SBX_CGROUP_PREFIX "%s", token);

    for (i = 0; i < (int) COUNT(order); i++) {
        host->kind = order[i];

        if (kinds[order[i]]->host_open(host) < 0) {
            continue;
        }

        if (probe(host) == 0) {
            host->note[0] = '\0';
            return;
        }

        sbx_cgroup_host_close(host);
    }

    host->kind = SBX_CGROUP_NONE;
}


void
sbx_cgroup_host_close(sbx_cgroup_host_t *host)
{
    size_t i;
    char *dirs[] = { host->memory, host->pids, host->cpu };

    for (i = 0; i < COUNT(dirs); i++) {
        if (dirs[i][0] != '\0') {
            (void) rmdir(dirs[i]);
            dirs[i][0] = '\0';
        }
    }

    host->kind = SBX_CGROUP_NONE;
}


static const sbx_cgroup_kind_ops_t *
ops_of(const sbx_cgroup_t *cg)
{
    return cg->host == NULL || cg->host->kind == SBX_CGROUP_NONE
           ? NULL : kinds[cg->host->kind];
}


int
sbx_cgroup_open(sbx_cgroup_t *cg, const sbx_cgroup_host_t *host, int index,
    sbx_err_t *err)
{
    size_t i;

    memset(cg, 0, sizeof(sbx_cgroup_t));

    cg->host = host;
    cg->index = index;
    cg->memory_fd = cg->pids_fd = cg->cpu_fd = -1;

    for (i = 0; i < SBX_CGROUP_STATS; i++) {
        cg->stat_fds[i] = -1;
    }

    if (ops_of(cg) == NULL) {
        return 0;
    }

    sbx_cgroup_name(cg);

    if (ops_of(cg)->open(cg, err) < 0) {
        sbx_cgroup_close(cg);
        return -1;
    }

    return 0;
}


void
sbx_cgroup_drop(sbx_cgroup_t *cg)
{
    size_t i;

    for (i = 0; i < SBX_CGROUP_STATS; i++) {
        sbx_fd_close(&cg->stat_fds[i]);
    }

    sbx_fd_close(&cg->memory_fd);
    sbx_fd_close(&cg->pids_fd);
    sbx_fd_close(&cg->cpu_fd);
}


void
sbx_cgroup_close(sbx_cgroup_t *cg)
{
    size_t i;
    char path[PATH_MAX];
    const char *dirs[3];

    if (ops_of(cg) == NULL) {
        return;
    }

    sbx_cgroup_drop(cg);

    dirs[0] = cg->host->memory;
    dirs[1] = cg->host->pids;
    dirs[2] = cg->host->cpu;

    for (i = 0; i < COUNT(dirs); i++) {
        if (dirs[i][0] != '\0') {
            snprintf(path, sizeof(path), "%s/%s", dirs[i], cg->leaf);
            (void) rmdir(path);     /* what is left is the sweep's */
        }
    }

    cg->host = NULL;
}


static int
limit_tasks(sbx_cgroup_t *cg, uint32_t tasks, sbx_err_t *err)
{
    char text[16] = "max";

    if (cg->pids_fd < 0 || tasks == cg->tasks_limit) {
        return 0;
    }

    if (tasks != 0) {
        snprintf(text, sizeof(text), "%u", tasks);
    }

    if (sbx_sysfile_write(cg->pids_fd, "pids.max", text) < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno,
                        "write %s to %s/%s/pids.max", text, cg->host->pids,
                        cg->leaf);
    }

    cg->tasks_limit = tasks;

    return 0;
}


int
sbx_cgroup_limit(sbx_cgroup_t *cg, uint64_t memory_bytes, uint32_t tasks,
    sbx_err_t *err)
{
    if (ops_of(cg) == NULL) {
        return 0;
    }

    if (limit_tasks(cg, tasks, err) < 0) {
        return -1;
    }

    if (cg->memory_fd < 0 || memory_bytes == cg->memory_limit) {
        return 0;
    }

    if (ops_of(cg)->limit_memory(cg, memory_bytes, err) < 0) {
        cg->memory_limit = SBX_CGROUP_UNKNOWN;  /* half of it may be written */
        return -1;
    }

    cg->memory_limit = memory_bytes;

    return 0;
}


int
sbx_cgroup_attach(sbx_cgroup_t *cg, pid_t pid, sbx_err_t *err)
{
    int fds[3];
    char text[16];
    size_t i;

    if (ops_of(cg) == NULL) {
        return 0;
    }

    fds[0] = cg->memory_fd;
    fds[1] = cg->pids_fd;
    fds[2] = cg->cpu_fd;
    snprintf(text, sizeof(text), "%d", (int) pid);

    for (i = 0; i < COUNT(fds); i++) {
        if (fds[i] >= 0
            && sbx_sysfile_write(fds[i], "cgroup.procs", text) < 0)
        {
            return sbx_fail(err, SBX_STEP_CGROUP, errno,
                            "move process %d to %s", (int) pid, cg->leaf);
        }
    }

    return 0;
}


static uint64_t
since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}


int
sbx_cgroup_read(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st)
{
    memset(st, 0, sizeof(sbx_cgroup_stat_t));

    if (ops_of(cg) == NULL) {
        return 0;
    }

    ops_of(cg)->read(cg, st);

    st->memory_peak = since(st->memory_peak, cg->memory_base);
    st->memory_now = since(st->memory_now, cg->memory_base);
    st->cpu_us = since(st->cpu_us, cg->cpu_seen);
    st->pids_refused = since(st->pids_refused, cg->pids_seen);

    return 0;
}


int
sbx_cgroup_reset(sbx_cgroup_t *cg, sbx_err_t *err)
{
    return ops_of(cg) == NULL ? 0 : ops_of(cg)->reset(cg, err);
}
