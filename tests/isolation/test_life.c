/*
 * test_life.c: who dies with whom, seen from outside of the cell.
 *
 * A guard with a cell of three slots, each with a child and an orphan in a
 * session of its own; then one of them is killed, and what must end is waited
 * for by pidfds that were opened before: the kernel's word, and no number that
 * could have been reused.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand_in.h"

#define FAMILY_MAX   64
#define PATIENCE_MS  60000

/* init, supervisor, three slot inits, three children, three orphans */
#define FAMILY_SIZE  (2 + 3 * SLOTS)

typedef struct {
    pid_t pids[FAMILY_MAX];
    int pidfds[FAMILY_MAX];
    size_t n;
} family_t;


static void
stay(void)
{
    if (fork() == 0) {
        (void) setsid();
        (void) signal(SIGTERM, SIG_IGN);
    }

    printf("here\n");
    fflush(stdout);

    for ( ;; ) {
        (void) pause();
    }
}


/* In the cell: fills the slots, says so, and waits to be killed. */
static int
supervise(const sbx_cell_t *cell, unsigned starts, void *data)
{
    int i, go_fd, out_fd, fd = *(int *) data;
    char text[10], byte = (char) ('0' + starts);
    size_t got;
    ssize_t n;
    static sbx_root_t root;
    static sbx_cgroup_host_t host;
    static sbx_slot_t slots[SLOTS];
    sbx_slot_setup_t setup = { 1 << 20, 0 };
    sbx_err_t err;

    if (starts > 1) {
        return 0;
    }

    if (sbx_root_build(&root, NULL, NULL, &err) < 0) {
        diag("%s", err.text);
        return 7;
    }

    for (i = 0; i < SLOTS; i++) {
        if (sbx_slot_open(&slots[i], i, &root, &host, cell->privileged, 1,
                          &setup, &err) < 0 || !wait_ready(&slots[i])
            || start_in(&slots[i], stay, &go_fd, &out_fd) < 0)
        {
            diag("slot %d: %s", i, err.text);
            return 7;
        }

        (void) !write(go_fd, "g", 1);

        /* one line from the child, one from its orphan */
        for (got = 0; got < sizeof(text); got += (size_t) n) {
            n = read(out_fd, text + got, sizeof(text) - got);
            if (n <= 0) {
                return 7;
            }
        }
    }

    (void) !write(fd, &byte, 1);

    for ( ;; ) {
        (void) pause();
    }
}


static pid_t
parent_of(pid_t pid)
{
    char path[64], line[512], *at;
    int ppid = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    file = fopen(path, "re");

    if (file != NULL && fgets(line, sizeof(line), file) != NULL
        && (at = strrchr(line, ')')) != NULL)
    {
        (void) sscanf(at + 1, " %*c %d", &ppid);
    }

    if (file != NULL) {
        (void) fclose(file);
    }

    return ppid;
}


/* All that descends from a process, itself not included. */
static void
find_family(pid_t top, family_t *family)
{
    DIR *dir;
    pid_t pid, up;
    struct dirent *entry;

    family->n = 0;
    dir = opendir("/proc");

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        pid = atoi(entry->d_name);

        if (pid <= 0 || pid == top) {
            continue;
        }

        for (up = pid; up > 1 && up != top; up = parent_of(up)) {
            /* climb */
        }

        if (up == top && family->n < FAMILY_MAX) {
            family->pids[family->n] = pid;
            family->pidfds[family->n] = (int) syscall(SYS_pidfd_open, pid, 0);
            family->n++;
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}


/* 1: all ended in time. */
static int
wait_family(family_t *family)
{
    int good = 1;
    size_t i;
    struct pollfd pfd = { .events = POLLIN };

    for (i = 0; i < family->n; i++) {
        pfd.fd = family->pidfds[i];

        if (pfd.fd >= 0 && poll(&pfd, 1, PATIENCE_MS) != 1) {
            diag("process %d lives on", (int) family->pids[i]);
            good = 0;
        }

        (void) close(pfd.fd);
    }

    return good;
}


static pid_t
start_guard(int fd)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();

    if (pid == 0) {
        (void) close(2);                /* restarts are logged there */
        (void) open("/dev/null", O_WRONLY);
        _exit(sbx_cell_guard(supervise, &fd));
    }

    return pid;
}


static int
wait_byte(int fd, char want)
{
    char byte = 0;
    struct pollfd pfd = { .fd = fd, .events = POLLIN };

    return poll(&pfd, 1, PATIENCE_MS) == 1 && read(fd, &byte, 1) == 1
           && byte == want;
}


/* The cell's init is the guard's child, the supervisor the init's. */
static pid_t
child_of(const family_t *family, pid_t parent)
{
    size_t i;

    for (i = 0; i < family->n; i++) {
        if (parent_of(family->pids[i]) == parent) {
            return family->pids[i];
        }
    }

    return -1;
}


static void
test_supervisor(int fds[2])
{
    int status = 0;
    pid_t guard;
    family_t family;

    guard = start_guard(fds[1]);
    ok(wait_byte(fds[0], '0'), "a cell with %d busy slots", SLOTS);
    find_family(guard, &family);
    ok(family.n == FAMILY_SIZE, "%d processes below the guard",
       (int) family.n);
    (void) kill(child_of(&family, child_of(&family, guard)), SIGKILL);
    ok(wait_family(&family), "a killed supervisor takes all of them along");

    ok(wait_byte(fds[0], '1'), "and the guard starts another");
    find_family(guard, &family);
    (void) kill(child_of(&family, guard), SIGKILL);
    ok(wait_family(&family), "so does a killed cell init");

    (void) waitpid(guard, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a supervisor that ends with 0 ends the guard");
}


static void
test_guard(int fds[2])
{
    int status = 0;
    pid_t guard;
    family_t family;

    guard = start_guard(fds[1]);
    ok(wait_byte(fds[0], '0'), "another cell");
    find_family(guard, &family);
    (void) kill(guard, SIGKILL);
    (void) waitpid(guard, NULL, 0);
    ok(family.n == FAMILY_SIZE && wait_family(&family),
       "a killed guard takes all of them along");

    guard = start_guard(fds[1]);
    ok(wait_byte(fds[0], '0'), "and another");
    find_family(guard, &family);
    (void) kill(guard, SIGHUP);
    (void) kill(guard, SIGQUIT);
    (void) kill(guard, SIGUSR1);
    (void) kill(guard, SIGUSR2);
    (void) kill(guard, SIGWINCH);
    (void) kill(guard, SIGTERM);
    (void) waitpid(guard, &status, 0);
    ok(family.n == FAMILY_SIZE && wait_family(&family)
       && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "SIGTERM ends the cell and the guard, with 0");
}


void
test_life(void)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0) {
        ok(0, "pipe");
        return;
    }

    test_supervisor(fds);
    test_guard(fds);

    (void) close(fds[0]);
    (void) close(fds[1]);
}
