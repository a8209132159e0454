/*
 * stand_in.c: TAP, and a stand-in for zygote and child.
 *
 * The stand-in takes the same way into a slot as sbx_zygote.h describes: a
 * process of its own enters the slot's pid namespace and clones with
 * CLONE_PARENT, and the clone enters the rest.  No filter and no Landlock: what
 * these tests show must hold without them.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_ns.h"
#include "stand_in.h"

#define PATIENCE_MS  60000


options_t options = { 1, 1, 0 };

static unsigned tests, failures;


int
ok(int good, const char *fmt, ...)
{
    va_list args;

    tests++;
    failures += good == 0;

    printf("%sok %u - ", good ? "" : "not ", tests);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);

    return good;
}


void
diag(const char *fmt, ...)
{
    va_list args;

    printf("# ");
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}


int
done_testing(void)
{
    printf("1..%u\n", tests);
    fflush(stdout);

    return failures != 0;
}


static void
enter(const sbx_slot_t *slot)
{
    if (setns(slot->pidfd, slot->ns_flags) < 0) {
        dprintf(1, "setns: %s\n", strerror(errno));
        _exit(101);
    }

    /* EPERM: an unprivileged user namespace has given it up */
    if (setgroups(0, NULL) < 0 && errno != EPERM) {
        _exit(102);
    }

    if (setresgid(slot->gid, slot->gid, slot->gid) < 0
        || setresuid(slot->uid, slot->uid, slot->uid) < 0)
    {
        dprintf(1, "setresuid: %s\n", strerror(errno));
        _exit(103);
    }

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        || sbx_caps_limit(0) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0
        || chdir(SBX_RUN_DIR) < 0)
    {
        dprintf(1, "chdir: %s\n", strerror(errno));
        _exit(104);
    }
}


static void
be_child(const sbx_slot_t *slot, void (*body)(void), int go_fd, int out_fd)
{
    char byte;

    if (read(go_fd, &byte, 1) != 1) {
        _exit(100);
    }

    (void) dup2(out_fd, 1);
    (void) dup2(out_fd, 2);
    (void) signal(SIGPIPE, SIG_DFL);
    enter(slot);
    (void) close_range(3, ~0U, 0);
    body();
    fflush(stdout);
    _exit(0);
}


pid_t
start_in(sbx_slot_t *slot, void (*body)(void), int *go_fd, int *out_fd)
{
    int go[2], out[2], pids[2];
    pid_t zygote, child = -1;

    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0
        || pipe2(pids, O_CLOEXEC) < 0)
    {
        return -1;
    }

    fflush(stdout);
    zygote = fork();

    if (zygote == 0) {
        if (setns(slot->pidfd, CLONE_NEWPID) < 0) {
            _exit(1);
        }

        child = (pid_t) syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, 0);

        if (child == 0) {
            (void) close(go[1]);
            be_child(slot, body, go[0], out[1]);
        }

        _exit(write(pids[1], &child, sizeof(child)) != sizeof(child));
    }

    (void) close(go[0]);
    (void) close(out[1]);
    (void) close(pids[1]);

    if (read(pids[0], &child, sizeof(child)) != sizeof(child)) {
        child = -1;
    }

    (void) close(pids[0]);
    (void) waitpid(zygote, NULL, 0);

    *go_fd = go[1];
    *out_fd = out[0];

    return child;
}


/* Reads what is there; 0 at end of file. */
static int
take_text(int fd, outcome_t *out, size_t *len)
{
    ssize_t n;
    struct pollfd pfd = { .fd = fd, .events = POLLIN };

    while (*len < sizeof(out->text) - 1 && poll(&pfd, 1, 0) > 0) {
        n = read(fd, out->text + *len, sizeof(out->text) - 1 - *len);

        if (n <= 0) {
            return 0;
        }

        *len += (size_t) n;
    }

    return 1;
}


void
run_in(sbx_slot_t *slot, void (*body)(void), outcome_t *out)
{
    int go_fd = -1, out_fd = -1;
    pid_t pid;
    size_t len = 0;
    struct pollfd pfds[2];
    sbx_err_t err;

    memset(out, 0, sizeof(outcome_t));
    out->status = -1;

    pid = start_in(slot, body, &go_fd, &out_fd);

    if (pid <= 0) {
        diag("no child in slot %d: %s", slot->index, strerror(errno));
        (void) close(go_fd);
        (void) close(out_fd);
        return;
    }

    if (sbx_cgroup_attach(&slot->cgroup, pid, &err) < 0) {
        diag("attach: %s: %s", err.text, strerror(err.errnum));
    }

    (void) !write(go_fd, "g", 1);
    (void) close(go_fd);

    /* survivors may hold the pipe: the first process's end decides */
    pfds[0].fd = (int) syscall(SYS_pidfd_open, pid, 0);
    pfds[1].fd = out_fd;
    pfds[0].events = pfds[1].events = POLLIN;

    do {
        if (poll(pfds, 2, PATIENCE_MS) <= 0) {
            diag("the child does not end");
            (void) kill(pid, SIGKILL);
            break;
        }

        if (!take_text(out_fd, out, &len)) {
            pfds[1].fd = -1;
        }
    } while (pfds[0].revents == 0);

    (void) take_text(out_fd, out, &len);
    (void) close(pfds[0].fd);
    (void) close(out_fd);

    if (waitpid(pid, &out->status, __WALL) != pid) {
        diag("wait: %s", strerror(errno));
    }
}


int
wait_ready(sbx_slot_t *slot)
{
    int rc;
    struct pollfd pfd = { .fd = slot->ctl_fd, .events = POLLIN };
    sbx_err_t err;

    do {
        if (poll(&pfd, 1, PATIENCE_MS) <= 0) {
            diag("slot %d does not answer", slot->index);
            return 0;
        }

        rc = sbx_slot_ready(slot, &err);
    } while (rc == 0);

    if (rc < 0) {
        diag("%s (%s)", err.text, strerror(err.errnum));
    }

    return rc > 0;
}


int
reset_slot(sbx_slot_t *slot, uint64_t disk_bytes, int proc_empty)
{
    sbx_slot_setup_t setup = { disk_bytes, proc_empty };
    sbx_err_t err;

    if (sbx_slot_reset(slot, &setup, &err) < 0 || !wait_ready(slot)) {
        diag("reset: %s (%s)", err.text, strerror(err.errnum));
        return 0;
    }

    if (sbx_cgroup_reset(&slot->cgroup, &err) < 0) {
        diag("reset: %s (%s)", err.text, strerror(err.errnum));
        return 0;
    }

    return 1;
}


int
count_entries(const char *path)
{
    int n = 0;
    DIR *dir;
    struct dirent *entry;

    dir = opendir(path);
    if (dir == NULL) {
        return -1;
    }

    while ((entry = readdir(dir)) != NULL) {
        n += strcmp(entry->d_name, ".") != 0
             && strcmp(entry->d_name, "..") != 0;
    }

    (void) closedir(dir);

    return n;
}


int
count_lines(const char *path)
{
    int c, n = 0;
    FILE *file;

    file = fopen(path, "re");
    if (file == NULL) {
        return -1;
    }

    while ((c = getc(file)) != EOF) {
        n += c == '\n';
    }

    (void) fclose(file);

    return n;
}
