/*
 * test_reset.c: nothing of one run is left for the next, and nothing piles up.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stand_in.h"

#define IPC_KEY     0x5b5b5b
#define RESETS      200


static void
leave_traces(void)
{
    int i;

    (void) close(open("/tmp/trace", O_WRONLY | O_CREAT, 0644));
    (void) close(open("/tmp/run/trace", O_WRONLY | O_CREAT, 0644));
    (void) close(open("/dev/shm/trace", O_WRONLY | O_CREAT, 0644));
    (void) mkdir("/tmp/run/dir", 0700);
    (void) chmod("/tmp/run", 0);
    printf("shm=%d sem=%d msg=%d\n",
           shmget(IPC_KEY, 4096, IPC_CREAT | 0600) >= 0,
           semget(IPC_KEY, 1, IPC_CREAT | 0600) >= 0,
           msgget(IPC_KEY, IPC_CREAT | 0600) >= 0);
    fflush(stdout);

    /* orphans in sessions of their own, with open files and working dirs */
    for (i = 0; i < 5; i++) {
        if (fork() == 0) {
            (void) setsid();
            if (fork() == 0) {
                (void) chdir("/dev/shm");
                (void) open("/tmp/trace", O_RDWR);
                (void) signal(SIGTERM, SIG_IGN);
                for ( ;; ) {
                    (void) pause();
                }
            }
            _exit(0);
        }
    }
}


static void
look_for_traces(void)
{
    struct stat st;

    printf("pid=%d tmp=%d run=%d shm=%d proc=%d mode=%o", getpid(),
           count_entries("/tmp"), count_entries("/tmp/run"),
           count_entries("/dev/shm"), count_entries("/proc"),
           stat("/tmp/run", &st) == 0 ? (unsigned) st.st_mode & 07777 : 0);
    printf(" ipc=%d%d%d\n", shmget(IPC_KEY, 4096, 0600) >= 0,
           semget(IPC_KEY, 1, 0600) >= 0, msgget(IPC_KEY, 0600) >= 0);
}


static void
fill_disk(void)
{
    int fd, i;
    char path[64];
    ssize_t n;
    static char block[4096];
    unsigned long total = 0;

    fd = open("/tmp/fill", O_WRONLY | O_CREAT, 0644);

    while ((n = write(fd, block, sizeof(block))) > 0) {
        total += (unsigned long) n;
    }

    printf("bytes=%lu %s", total, strerror(errno));
    (void) unlink("/tmp/fill");
    (void) close(fd);

    for (i = 0; i < 100000; i++) {
        snprintf(path, sizeof(path), "/tmp/run/%d", i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

        if (fd < 0) {
            break;
        }

        (void) close(fd);
    }

    printf(" files=%d %s\n", i, strerror(errno));
}


static void
look_at_proc(void)
{
    printf("proc=%d ", count_entries("/proc"));
    printf("write=%d\n", open("/proc/x", O_WRONLY | O_CREAT, 0644) >= 0);
}


static void
idle(void)
{
    printf("i");
    fflush(stdout);

    for ( ;; ) {
        (void) pause();
    }
}


static void
test_traces(sbx_slot_t *slots)
{
    int i;
    outcome_t out;
    static const char want[] = "pid=2 tmp=1 run=0 shm=0 proc=3 mode=755 "
                               "ipc=000\n";

    for (i = 0; i < 2; i++) {
        run_in(&slots[0], leave_traces, &out);

        if (strstr(out.text, "shm=1 sem=1 msg=1") == NULL) {
            diag("%s", out.text);
        }

        run_in(&slots[1], look_for_traces, &out);

        /* the pid of an unreset slot goes on; all else must look new */
        ok(strstr(out.text, "tmp=1 run=0 shm=0") != NULL
           && strstr(out.text, "ipc=000") != NULL,
           "another slot sees nothing of it");
        (void) reset_slot(&slots[1], 1 << 20, 0);

        ok(reset_slot(&slots[0], 1 << 20, 0), "reset with orphans about");
        run_in(&slots[0], look_for_traces, &out);

        if (!ok(strstr(out.text, want) != NULL, "no process, file, ipc object "
                "or number of the last run"))
        {
            diag("want %s got %s", want, out.text);
        }

        (void) reset_slot(&slots[0], 1 << 20, 0);
    }
}


static void
test_sizes(sbx_slot_t *slot)
{
    sbx_slot_setup_t setup = { 4 << 20, 0 };
    sbx_err_t err;
    outcome_t out;

    run_in(slot, fill_disk, &out);
    ok(strstr(out.text, "bytes=1048576 No space left on device files=254 "
              "No space left on device") != NULL, "1 MiB of disk");

    (void) reset_slot(slot, 1 << 20, 0);

    ok(sbx_slot_adjust(slot, &setup, &err) == 0 && wait_ready(slot),
       "size adjusted");
    run_in(slot, fill_disk, &out);
    ok(strstr(out.text, "bytes=4194304 No space left on device files=1022 ")
       != NULL, "4 MiB of disk");

    (void) reset_slot(slot, 65536, 0);
    run_in(slot, fill_disk, &out);
    ok(strstr(out.text, "bytes=65536 No space left on device files=62 ")
       != NULL, "64 KiB of disk");

    (void) reset_slot(slot, 1 << 20, 0);
}


static void
test_proc(sbx_slot_t *slot)
{
    int go_fd, out_fd, status;
    char text[64] = "";
    pid_t pid;
    sbx_slot_setup_t setup = { 1 << 20, 1 };
    sbx_err_t err;
    outcome_t out;

    /* adjusted while a child is there already, as a standby child is */
    pid = start_in(slot, look_at_proc, &go_fd, &out_fd);
    ok(sbx_slot_adjust(slot, &setup, &err) == 0 && wait_ready(slot),
       "/proc covered");
    (void) !write(go_fd, "g", 1);
    (void) !read(out_fd, text, sizeof(text) - 1);
    (void) waitpid(pid, &status, __WALL);
    (void) close(go_fd);
    (void) close(out_fd);
    ok(strcmp(text, "proc=0 write=0\n") == 0, "empty for the waiting child");

    ok(reset_slot(slot, 1 << 20, 1), "reset, still covered");
    run_in(slot, look_at_proc, &out);
    ok(strcmp(out.text, "proc=0 write=0\n") == 0, "and empty");

    ok(reset_slot(slot, 1 << 20, 0), "reset, uncovered");
    run_in(slot, look_at_proc, &out);
    ok(strcmp(out.text, "proc=3 write=0\n") == 0, "and back");
    (void) reset_slot(slot, 1 << 20, 0);
}


typedef struct {
    int fds, init_fds, mounts, cgroups;
} counts_t;


static void
count(const sbx_slot_t *slot, counts_t *counts)
{
    char path[64];

    counts->fds = count_entries("/proc/self/fd");
    snprintf(path, sizeof(path), "/proc/%d/fd", (int) slot->pid);
    counts->init_fds = count_entries(path);
    snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int) slot->pid);
    counts->mounts = count_lines(path);
    counts->cgroups = slot->cgroup.memory_fd < 0 ? 0
                      : count_entries(slot->cgroup.host->memory);
}


static int
by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}


static void
test_many(sbx_slot_t *slot)
{
    int i, good = 1;
    double us[RESETS];
    counts_t before, after;
    struct timespec t0, t1;
    outcome_t out;

    count(slot, &before);

    for (i = 0; i < RESETS && good; i++) {
        run_in(slot, i % 10 == 0 ? leave_traces : look_for_traces, &out);
        good = i % 10 == 0 || strstr(out.text, "pid=2 tmp=1 run=0 shm=0 proc=3")
                              != NULL;

        (void) clock_gettime(CLOCK_MONOTONIC, &t0);
        good = reset_slot(slot, 1 << 20, 0) && good;
        (void) clock_gettime(CLOCK_MONOTONIC, &t1);

        us[i] = (double) (t1.tv_sec - t0.tv_sec) * 1e6
                + (double) (t1.tv_nsec - t0.tv_nsec) / 1e3;
    }

    count(slot, &after);
    qsort(us, RESETS, sizeof(us[0]), by_value);

    ok(good, "%d runs and resets, each found the slot new", RESETS);
    ok(before.fds == after.fds, "descriptors: %d before, %d after", before.fds,
       after.fds);
    ok(before.init_fds == after.init_fds, "the init's: %d before, %d after",
       before.init_fds, after.init_fds);
    ok(before.mounts == after.mounts && after.mounts < 40,
       "mounts of the slot: %d before, %d after", before.mounts, after.mounts);
    ok(before.cgroups == after.cgroups, "cgroups: %d before, %d after",
       before.cgroups, after.cgroups);
    diag("reset: %.0f us P10, %.0f us median, %.0f us P90", us[RESETS / 10],
         us[RESETS / 2], us[RESETS * 9 / 10]);
}


static void
signal_init(void)
{
    printf("pid=%d sent=%d\n", getpid(),
           kill(1, SIGUSR1) == 0 && kill(1, SIGUSR2) == 0
           && kill(1, SIGTERM) == 0);
}


static void
signal_init_otherwise(void)
{
    (void) kill(1, SIGUSR2);
    (void) kill(1, SIGHUP);
}


/* Long enough for the init to hear far more than it listens to. */
static void
flood_init(void)
{
    int i;

    for (i = 0; i < 20000; i++) {
        (void) kill(1, SIGUSR1);
        (void) sched_yield();
    }
}


/* The hook's SIGUSR1: a note for the supervisor, of the last run only. */
static void
test_signal(sbx_slot_t *slot)
{
    int pid = 0, sent = 0, clean;
    outcome_t out;

    run_in(slot, signal_init, &out);
    (void) sscanf(out.text, "pid=%d sent=%d", &pid, &sent);
    clean = reset_slot(slot, 1 << 20, 0);

    ok(sent && clean && slot->signals == 1 && slot->signal_pid == pid,
       "the init takes SIGUSR1 as a note: %u from pid %d, the run is %d",
       slot->signals, slot->signal_pid, pid);

    run_in(slot, signal_init_otherwise, &out);
    ok(reset_slot(slot, 1 << 20, 0) && slot->signals == 0,
       "and of another run none");

    run_in(slot, flood_init, &out);
    clean = reset_slot(slot, 1 << 20, 0);
    ok(clean && slot->signals == 16,
       "nobody keeps the init busy: it heard %u of 20000", slot->signals);

    run_in(slot, signal_init, &out);
    clean = reset_slot(slot, 1 << 20, 0);
    ok(clean && slot->signals == 1,
       "and hears the next run's: %u", slot->signals);
}


static void
test_loss(sbx_slot_t *slots)
{
    int go_fd, out_fd, status = 0;
    char byte;
    pid_t pid;
    struct pollfd pfd;
    sbx_err_t err;

    pid = start_in(&slots[2], idle, &go_fd, &out_fd);
    (void) !write(go_fd, "g", 1);
    (void) !read(out_fd, &byte, 1);
    (void) syscall(SYS_pidfd_send_signal, slots[2].pidfd, SIGKILL, NULL, 0);
    (void) waitpid(pid, &status, __WALL);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
       "a run dies with its slot's init");
    (void) close(go_fd);
    (void) close(out_fd);

    pfd.fd = slots[2].pidfd;
    pfd.events = POLLIN;
    ok(poll(&pfd, 1, 5000) == 1, "its pidfd says so");
    ok(sbx_slot_ready(&slots[2], &err) < 0, "and so does its socket: %s",
       err.text);
}


void
test_reset(sbx_slot_t *slots)
{
    test_traces(slots);
    test_sizes(&slots[0]);
    test_proc(&slots[0]);
    test_many(&slots[0]);
    test_signal(&slots[0]);
    test_loss(slots);
}
