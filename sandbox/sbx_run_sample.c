/*
 * sbx_run_sample.c: memory and CPU time of a run's whole tree, looked at from
 * outside where no cgroup counts them.
 *
 * Runs in the supervisor, from a run's timer.  Without a cgroup each process of
 * a run has rlimits of its own, with room for stacks, and RLIMIT_DATA counts no
 * shared memory: a tree of 64 could take 64 times the limit.  A look every SAMPLE_NS is late by what
 * fits into that time, and never wrong: shared pages count once (Pss).
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sbx_state.h"
#include "sbx_sysfile.h"

#define SAMPLE_NS  50000000u


int
sbx_run_is_sampled(const sbx_lane_t *lane)
{
    return lane->slot.cgroup.memory_fd < 0 && !lane->run->measures;
}


/* Anonymous and shared memory: resident, or this process's share of it. */
static uint64_t
process_bytes(int proc, const char *pid, int share)
{
    char path[300], text[4096];

    snprintf(path, sizeof(path), "%s/%s", pid,
             share ? "smaps_rollup" : "status");

    if (sbx_sysfile_read(proc, path, text, sizeof(text)) < 0) {
        return 0;
    }

    return 1024 * (share ? sbx_sysfile_key(text, "Pss_Anon:")
                           + sbx_sysfile_key(text, "Pss_Shmem:")
                         : sbx_sysfile_key(text, "RssAnon:")
                           + sbx_sysfile_key(text, "RssShmem:"));
}


/*
 * By namespace and not by parent: a thread's children are in no list of its
 * process, and orphans are the slot's init's.
 */
static int
is_of_run(const sbx_lane_t *lane, int proc, const char *pid)
{
    char path[300];
    struct stat st;

    snprintf(path, sizeof(path), "%s/ns/pid", pid);

    return pid[0] >= '1' && pid[0] <= '9' && atoi(pid) != lane->slot.pid
           && fstatat(proc, path, &st, 0) == 0 && st.st_ino == lane->pidns;
}


static uint64_t
tree_bytes(sbx_lane_t *lane, int share)
{
    DIR *dir;
    pid_t pid;
    uint64_t bytes = 0, cpu_ns = 0;
    struct dirent *de;

    dir = opendir("/proc");
    if (dir == NULL) {
        return 0;
    }

    while ((de = readdir(dir)) != NULL) {
        if (!is_of_run(lane, dirfd(dir), de->d_name)) {
            continue;
        }

        pid = (pid_t) atoi(de->d_name);
        bytes += process_bytes(dirfd(dir), de->d_name, share);

        if (pid != lane->pid) {
            cpu_ns += sbx_process_cpu_ns(pid);
        }
    }

    closedir(dir);
    lane->others_cpu_ns = cpu_ns;

    return bytes;
}


int
sbx_run_sample(sbx_lane_t *lane, uint64_t now)
{
    uint64_t limit = sbx_run_backstop(lane);

    if (now < lane->sample_at_ns) {
        return 0;
    }

    lane->sample_at_ns = now + SAMPLE_NS;

    /* the cheap sum counts shared pages for each process, so it errs upwards */
    return tree_bytes(lane, 0) > limit && tree_bytes(lane, 1) > limit;
}
