/*
 * test_cgroup.c: limits, counters and their return to zero.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stand_in.h"

#define MIB  (1UL << 20)


static void
touch(size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(at, 1, bytes);
    printf("touched\n");
    fflush(stdout);
}


static void
touch_much(void)
{
    touch(64 * MIB);
}


static void
touch_little(void)
{
    touch(16 * MIB);
}


static void
fill_tmpfs(void)
{
    int fd = open("/tmp/fill", O_WRONLY | O_CREAT, 0644);
    size_t i;
    static char block[65536];

    for (i = 0; i < 8 * MIB / sizeof(block); i++) {
        (void) !write(fd, block, sizeof(block));
    }

    printf("filled\n");
}


static void
fork_many(void)
{
    int i, refused = 0;

    for (i = 0; i < 10; i++) {
        switch (fork()) {
        case -1:
            refused += errno == EAGAIN;
            break;
        case 0:
            (void) pause();
            _exit(0);
        }
    }

    printf("refused=%d\n", refused);
}


static void
burn(void)
{
    volatile unsigned long i;

    for (i = 0; i < 50000000; i++) {
    }

    printf("burnt\n");
}


static void
test_memory(sbx_slot_t *slot)
{
    sbx_cgroup_stat_t st;
    sbx_err_t err;
    outcome_t out;

    ok(sbx_cgroup_limit(&slot->cgroup, 32 * MIB, 8, &err) == 0,
       "limited to 32 MiB and 8 tasks");
    run_in(slot, touch_much, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(WIFSIGNALED(out.status) && WTERMSIG(out.status) == SIGKILL
       && out.text[0] == '\0', "64 MiB do not fit");
    ok(st.oom_kills == 1 && st.oom_kills_other == 0,
       "one kill, by its own limit");
    ok(st.memory_peak >= 28 * MIB && st.memory_peak <= 32 * MIB,
       "peak: %lu KiB", (unsigned long) st.memory_peak >> 10);

    ok(reset_slot(slot, 16 * MIB, 0), "reset");
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(st.oom_kills == 0 && st.oom_kills_other == 0 && st.cpu_us < 1000
       && st.pids_refused == 0 && st.memory_peak < MIB,
       "counters from zero (peak %lu, cpu %lu us)",
       (unsigned long) st.memory_peak, (unsigned long) st.cpu_us);

    run_in(slot, touch_much, &out);
    ok(strcmp(out.text, "touched\n") == 0,
       "the next child warms up without the last run's memory limit");
    ok(reset_slot(slot, 16 * MIB, 0), "reset");

    ok(sbx_cgroup_limit(&slot->cgroup, 128 * MIB, 8, &err) == 0,
       "raised to 128 MiB");
    run_in(slot, touch_little, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(strcmp(out.text, "touched\n") == 0 && st.oom_kills == 0
       && st.memory_peak >= 15 * MIB && st.memory_peak <= 24 * MIB,
       "16 MiB fit, peak %lu KiB", (unsigned long) st.memory_peak >> 10);
    (void) reset_slot(slot, 16 * MIB, 0);
}


/* Names that are not there: the kernel remembers them, at this cgroup's cost. */
static void
look_for_many(void)
{
    int i;
    char name[256];
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    for (i = 0; i < 100000; i++) {
        snprintf(name, sizeof(name), "/usr/lib/%0100ld%0100d",
                 (long) now.tv_sec, i);
        (void) access(name, F_OK);
    }

    printf("looked\n");
}


static void
test_kernel_memory(sbx_slot_t *slot)
{
    char leaf[sizeof(slot->cgroup.leaf)];
    sbx_cgroup_stat_t st;
    sbx_err_t err;
    outcome_t out;

    snprintf(leaf, sizeof(leaf), "%s", slot->cgroup.leaf);
    run_in(slot, look_for_many, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(strcmp(out.text, "looked\n") == 0, "100,000 names looked up: %lu KiB",
       (unsigned long) st.memory_now >> 10);

    ok(reset_slot(slot, 16 * MIB, 0), "reset");
    ok(slot->cgroup.memory_base <= 16 * MIB, "%lu KiB are left charged",
       (unsigned long) slot->cgroup.memory_base >> 10);
    ok(st.memory_now <= 16 * MIB || strcmp(leaf, slot->cgroup.leaf) != 0,
       "in a new cgroup, if there was much");
    ok(sbx_cgroup_limit(&slot->cgroup, 32 * MIB, 8, &err) == 0,
       "so that the next run's limit can be set");
    run_in(slot, touch_little, &out);
    ok(strcmp(out.text, "touched\n") == 0, "and it has all of it");
    (void) reset_slot(slot, 16 * MIB, 0);
}


static void
test_tmpfs(sbx_slot_t *slot)
{
    sbx_cgroup_stat_t st;
    outcome_t out;

    run_in(slot, fill_tmpfs, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(strcmp(out.text, "filled\n") == 0 && st.memory_now >= 7 * MIB,
       "8 MiB of files count: %lu KiB", (unsigned long) st.memory_now >> 10);

    ok(reset_slot(slot, MIB, 0), "reset");
    (void) sbx_cgroup_read(&slot->cgroup, &st);
    ok(slot->cgroup.memory_base + st.memory_now < 2 * MIB,
       "they are gone: %lu KiB left charged",
       (unsigned long) (slot->cgroup.memory_base + st.memory_now) >> 10);
}


static void
test_tasks(sbx_slot_t *slot)
{
    sbx_cgroup_stat_t st;
    sbx_err_t err;
    outcome_t out;

    ok(sbx_cgroup_limit(&slot->cgroup, 128 * MIB, 4, &err) == 0, "4 tasks");
    run_in(slot, fork_many, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);

    /* the kernel counts an event per refusal on v1 and v2 alike */
    ok(strcmp(out.text, "refused=7\n") == 0 && st.pids_refused == 7,
       "7 of 10 forks refused, %lu counted", (unsigned long) st.pids_refused);
    (void) reset_slot(slot, MIB, 0);

    run_in(slot, fork_many, &out);
    ok(strcmp(out.text, "refused=0\n") == 0,
       "the next child warms up without the last run's limit of tasks");
    (void) reset_slot(slot, MIB, 0);

    run_in(slot, burn, &out);
    (void) sbx_cgroup_read(&slot->cgroup, &st);

    if (slot->cgroup.stat_fds[2] >= 0) {
        ok(st.cpu_us > 10000, "CPU time: %lu us", (unsigned long) st.cpu_us);
    }

    (void) reset_slot(slot, MIB, 0);
}


static void
test_sweep(const sbx_cgroup_host_t *host)
{
    char stale[512], alive[512], leaf[600], token[48];
    struct stat st;
    unsigned long long ns, start;
    long pid;

    /* a guard that is gone: our number, another start time */
    sbx_cgroup_token(token, sizeof(token));

    if (sscanf(token, "%llu-%ld-%llu", &ns, &pid, &start) != 3) {
        ok(0, "token %s", token);
        return;
    }

    snprintf(stale, sizeof(stale), "%.*s/deer-flow-%llu-%ld-%llu",
             (int) (strrchr(host->memory, '/') - host->memory), host->memory,
             ns, pid, start + 1);
    snprintf(leaf, sizeof(leaf), "%s/slot-0-7", stale);
    snprintf(alive, sizeof(alive), "%.*s/deer-flow-%llu-1-%llu",
             (int) (strrchr(host->memory, '/') - host->memory), host->memory,
             ns + 1, start);

    ok(mkdir(stale, 0755) == 0 && mkdir(leaf, 0755) == 0
       && mkdir(alive, 0755) == 0, "cgroups of other guards");
    sbx_cgroup_sweep();
    ok(stat(stale, &st) < 0 && errno == ENOENT, "the dead one's are swept");
    ok(rmdir(alive) == 0, "another pid namespace's are left alone");
}


void
test_cgroup(sbx_slot_t *slot, sbx_cgroup_host_t *host)
{
    if (host->kind == SBX_CGROUP_NONE) {
        sbx_cgroup_stat_t st;
        sbx_err_t err;

        diag("no cgroup: %s", host->note);
        ok(host->note[0] != '\0', "there is a reason for no cgroup");
        ok(sbx_cgroup_limit(&slot->cgroup, MIB, 1, &err) == 0
           && sbx_cgroup_attach(&slot->cgroup, getpid(), &err) == 0
           && sbx_cgroup_read(&slot->cgroup, &st) == 0
           && sbx_cgroup_reset(&slot->cgroup, &err) == 0
           && st.memory_peak == 0, "and everything succeeds without");
        return;
    }

    diag("cgroup v%d: %s %s %s", (int) host->kind, host->memory, host->pids,
         host->cpu);

    test_memory(slot);
    test_kernel_memory(slot);
    test_tmpfs(slot);
    test_tasks(slot);
    test_sweep(host);
}
