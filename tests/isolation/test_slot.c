/*
 * test_slot.c: cell, root, slots and cgroups on the real kernel.
 *
 *     test_slot [--no-cgroup] [--no-userns] [--old-kernel] [--cgroup-v2]
 *
 * Prints TAP.  Works as root and as any user; the options make it act as on a
 * host that has less (old-kernel: ENOSYS for calls newer than 5.10).  cgroup-v2
 * demands that kind, where it must be had.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_layer.h"
#include "stand_in.h"


static char token[48];


static int
read_text(const char *path, char *text, size_t size)
{
    size_t n = 0;
    FILE *file = fopen(path, "re");

    if (file != NULL) {
        n = fread(text, 1, size - 1, file);
        (void) fclose(file);
    }

    text[n] = '\0';

    return n > 0;
}


static void
test_cell(const sbx_cell_t *cell)
{
    char text[4096];

    ok(cell->missing == 0, "the cell lacks nothing (0x%x)", cell->missing);
    ok(cell->privileged == (geteuid() == 0), "privileged: %d",
       cell->privileged);
    ok(getpid() == 2 && getppid() == 1, "the supervisor is process 2 of it");
    ok(read_text("/proc/self/net/dev", text, sizeof(text))
       && strstr(text, "lo:") != NULL && strstr(text, "eth") == NULL
       && count_lines("/proc/self/net/dev") == 3, "with a loopback only");
    ok(read_text("/proc/1/comm", text, sizeof(text))
       && strcmp(text, "deer-flow-init\n") == 0, "and a /proc of its own");
}


static void
test_root(sbx_root_t *root)
{
    const char *binds[] = { NULL, NULL };
    sbx_err_t err;

    binds[0] = "/usr/no/such/path";
    ok(sbx_root_build(root, binds, NULL, &err) < 0
       && strstr(err.text, "/usr/no/such/path") != NULL,
       "an absent bind is an error: %s", err.text);

    binds[0] = "/tmp/x";
    ok(sbx_root_build(root, binds, NULL, &err) < 0
       && strstr(err.text, "/tmp of its own") != NULL, "%s", err.text);

    binds[0] = "/usr/lib/../sbin";
    ok(sbx_root_build(root, binds, "/proc/self/exe", &err) == 0,
       "the root is built: %s", root->dir[0] != '\0' ? root->dir : err.text);
    diag("%d mounts in the supervisor's namespace",
         count_lines("/proc/self/mountinfo"));
}


/* 1: the ids that slots take are there to be mapped; not so in a container. */
static int
has_host_ids(void)
{
    int found = 0;
    unsigned long inside, outside, count;
    FILE *file = fopen("/proc/self/uid_map", "re");

    while (file != NULL
           && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
    {
        found |= inside <= SBX_HOST_UID
                 && SBX_HOST_UID + 2 * SLOTS <= inside + count;
    }

    if (file != NULL) {
        (void) fclose(file);
    }

    return found;
}


static int
open_slots(sbx_slot_t *slots, const sbx_root_t *root,
    const sbx_cgroup_host_t *host, const sbx_cell_t *cell)
{
    int i, good = 1;
    uint32_t missing = 0;
    sbx_slot_setup_t setup = { 1 << 20, 0 };
    sbx_err_t err;

    for (i = 0; i < SLOTS; i++) {
        if (sbx_slot_open(&slots[i], i, root, host, cell->privileged,
                          options.userns, &setup, &err) < 0)
        {
            diag("%s: %s", err.text, strerror(err.errnum));
            good = 0;

        } else {
            good = wait_ready(&slots[i]) && good;
        }
    }

    ok(good, "%d slots", SLOTS);

    if (!options.userns) {
        missing |= SBX_LAYER_USER;

    } else if (!cell->privileged || !has_host_ids()) {
        missing |= SBX_LAYER_UID;
    }

    if (host->kind == SBX_CGROUP_NONE) {
        missing |= SBX_LAYER_CGROUP;
    }

    ok(slots[0].missing == missing && !slots[0].pids_vary,
       "a slot lacks 0x%x, as it should", slots[0].missing);

    return good;
}


static void
idle(void)
{
    for ( ;; ) {
        (void) pause();
    }
}


/* Closing never waits, not even for a run that nobody has reaped yet. */
static void
test_close(sbx_slot_t *slots, sbx_cgroup_host_t *host, const sbx_root_t *root,
    const sbx_cell_t *cell)
{
    int go_fd, out_fd, i;
    pid_t pid;
    sbx_err_t err;
    sbx_slot_setup_t setup = { 1 << 20, 0 };

    sbx_slot_close(&slots[2]);
    ok(sbx_slot_open(&slots[2], 2, root, host, cell->privileged,
                     options.userns, &setup, &err) == 0
       && wait_ready(&slots[2]), "a lost slot is opened again");

    pid = start_in(&slots[2], idle, &go_fd, &out_fd);
    (void) sbx_cgroup_attach(&slots[2].cgroup, pid, &err);
    sbx_slot_close(&slots[2]);
    ok(waitpid(pid, NULL, __WALL) == pid, "closed with a run in it");
    (void) close(go_fd);
    (void) close(out_fd);

    sbx_slot_close(&slots[0]);
    sbx_slot_close(&slots[1]);

    /* the inits are children, so this waits for their end without taking it */
    for (i = 0; i < 1000 && waitid(P_ALL, 0, &(siginfo_t) { 0 },
                                   WEXITED | WNOWAIT) == 0; i++)
    {
        sbx_slot_close(&slots[0]);
    }

    ok(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD,
       "every init is reaped");

    if (host->kind != SBX_CGROUP_NONE) {
        char dir[256];
        struct stat st;

        memcpy(dir, host->memory, sizeof(dir));
        sbx_cgroup_host_close(host);
        ok(stat(dir, &st) < 0 && errno == ENOENT, "and every cgroup removed");
    }
}


static int
supervise(const sbx_cell_t *cell, unsigned starts, void *data)
{
    static sbx_root_t root;
    static sbx_cgroup_host_t host;
    static sbx_slot_t slots[SLOTS];

    (void) starts;
    (void) data;

    if (options.cgroup) {
        sbx_cgroup_host_open(&host, token);

    } else {
        snprintf(host.note, sizeof(host.note), "asked for none");
    }

    if (options.cgroup_v2) {
        ok(host.kind == SBX_CGROUP_V2, "cgroup v2 %s", host.note);
    }

    test_cell(cell);
    test_root(&root);

    if (open_slots(slots, &root, &host, cell)) {
        test_inside(slots);
        test_cgroup(&slots[1], &host);
        test_reset(slots);
        test_close(slots, &host, &root, cell);
    }

    /* the guard takes anything but 0 for an accident and starts again */
    (void) !write(*(int *) data, "", done_testing() == 0);

    return 0;
}


/* Answers ENOSYS to what a 5.10 kernel does not know. */
static void
make_kernel_old(void)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 442, 2, 0),     /* mount_setattr */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 1, 0),     /* close_range */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
    };
    struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

    /* the condition for a filter without CAP_SYS_ADMIN; it changes no test */
    (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0) {
        perror("seccomp");
        exit(1);
    }
}


int
main(int argc, char **argv)
{
    int i, fds[2];
    char byte;

    if (argc > 1 && strcmp(argv[1], SBX_SLOT_INIT) == 0) {
        return sbx_slot_init_main(argc, argv);
    }

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-cgroup") == 0) {
            options.cgroup = 0;

        } else if (strcmp(argv[i], "--no-userns") == 0) {
            options.userns = 0;

        } else if (strcmp(argv[i], "--old-kernel") == 0) {
            make_kernel_old();

        } else if (strcmp(argv[i], "--cgroup-v2") == 0) {
            options.cgroup_v2 = 1;

        } else {
            fprintf(stderr, "usage: test_slot [--no-cgroup] [--no-userns] "
                    "[--old-kernel] [--cgroup-v2]\n");
            return 1;
        }
    }

    sbx_cgroup_token(token, sizeof(token));
    test_life();

    if (pipe(fds) < 0) {
        return 1;
    }

    (void) sbx_cell_guard(supervise, &fds[1]);
    (void) close(fds[1]);

    return read(fds[0], &byte, 1) == 1 ? 0 : 1;
}
