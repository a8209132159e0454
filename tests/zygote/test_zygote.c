/*
 * test_zygote.c: real children of the exec zygote on a real kernel.
 *
 * Executed again as the zygote itself.  Needs python3 and node at their Debian
 * places, and root or user namespaces.  `test_zygote 20` runs each case 20
 * times, for leaks; times are printed, not judged.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_landlock.h"
#include "cases.h"
#include "tap.h"

static void
explain(const case_t *c, const result_t *r)
{
    unsigned i;

    printf("# status %x, expected %x%s; step %s: %s (%d)\n", r->status,
           c->status, r->timed_out ? ", timed out" : "",
           sbx_step_name(r->failed.step), r->failed.text, r->failed.errnum);
    printf("# out: %s\n# err: %s\n", r->out, r->err);

    for (i = 0; i < r->nnamed; i++) {
        printf("# named: %s\n", r->named[i]);
    }
}


static int
is_as_expected(const case_t *c, const result_t *r)
{
    int status = r->status;

    if (c->status == SYS_OR_SEGV && (status == SIGSYS || status == SIGSEGV)) {
        status = c->status;
    }

    if (r->timed_out || status != c->status
        || (c->out != NULL && strcmp(c->out, r->out) != 0)
        || strstr(r->err, c->err_has) == NULL)
    {
        return 0;
    }

    if (c->err_has[0] == '\0' && r->err_len != 0) {
        return 0;
    }

    if (c->named == NULL) {
        return r->nnamed == 0;
    }

    return c->named[0] == '\0' || has_named(r, c->named);
}


static void
run_case(zyg_t *z, const case_t *c, const char *where)
{
    int good;
    slot_t slot;
    static result_t r;

    slot_open(&slot, 1 << 20);
    stand_run(z, &slot, &c->program, &r);
    slot_close(&slot);

    good = is_as_expected(c, &r);
    tap_ok(good, "%s%s", where, c->what);

    if (!good) {
        explain(c, &r);
    }
}


static const case_t *
find_case(const char *what)
{
    const case_t *c;

    for (c = cases; strcmp(c->what, what) != 0; c++) {
        /* all names asked for are in the table */
    }

    return c;
}


/* What the message says when the sandbox, not the program, could not. */
static void
test_job_failures(zyg_t *z)
{
    slot_t slot;
    static result_t r;
    static char big[2 << 20];
    program_t p = { .code = "print(len(open('big').read()))\n",
                    .file_path = "big", .file_data = big,
                    .file_len = sizeof(big) };

    memset(big, 'x', sizeof(big));

    slot_open(&slot, 1 << 20);
    stand_run(z, &slot, &p, &r);
    tap_ok(r.failed.step == SBX_STEP_JOB
           && strstr(r.failed.text, "disk limit") != NULL,
           "a full disk is named: %s", r.failed.text);
    slot_close(&slot);

    slot_open(&slot, 8 << 20);
    stand_run(z, &slot, &p, &r);
    tap_ok(r.status == 0 && strcmp(r.out, "2097152\n") == 0,
           "a large job comes in a memfd");
    slot_close(&slot);

    slot_open(&slot, 1 << 20);
    stand_run(z, &slot, &find_case("no such command")->program, &r);
    tap_ok(r.failed.step == SBX_STEP_EXEC && r.failed.errnum == ENOENT,
           "a failed exec is reported: %s", r.failed.text);
    slot_close(&slot);
}


/* RECV must say that the notification is gone, and not wait for another. */
static void
test_unheard(zyg_t *z)
{
    slot_t slot;
    static result_t r;
    program_t p = { .code = "", .unheard = 1 };

    slot_open(&slot, 1 << 20);
    (void) alarm(60);
    stand_run(z, &slot, &p, &r);
    (void) alarm(0);
    tap_ok(r.status == SIGKILL && r.unheard == ENOENT,
           "killed between the event and its receipt: %s",
           strerror(r.unheard));
    slot_close(&slot);
    run_case(z, &cases[0], "after it: ");
}


static void
test_standby(zyg_t *z)
{
    int job_fd;
    pid_t pid;
    slot_t slot;
    static result_t r;
    static const char junk[64] = "junk";

    slot_open(&slot, 1 << 20);

    pid = stand_fork(z, &slot, 0, &job_fd, &r);
    tap_ok(pid > 0 && r.ready && r.vm_size > 0, "READY with %llu bytes",
           (unsigned long long) r.vm_size);
    close(job_fd);
    tap_ok(stand_reap(z, pid) == 0, "a child without a job ends with 0");

    pid = stand_fork(z, &slot, 0, &job_fd, &r);
    (void) sbx_fdmsg_send(job_fd, junk, sizeof(junk), -1);
    tap_ok(stand_reap(z, pid) == EXIT(125), "a bad job ends the child");
    close(job_fd);

    pid = stand_fork(z, &slot, 0, &job_fd, &r);
    (void) sbx_fdmsg_send(job_fd, junk, 3, -1);
    tap_ok(stand_reap(z, pid) == EXIT(125), "a short job ends the child");
    close(job_fd);

    slot_close(&slot);
}


/* One field wrong at a time; the zygote must answer and keep nothing. */
static void
test_bad_messages(zyg_t *z)
{
    int i, n, nfds, before, fds[SBX_FDMSG_MAX];
    char big[sizeof(sbx_zmsg_t) + 100];
    slot_t slot;
    sbx_zmsg_t good, msg, got;

    slot_open(&slot, 1 << 20);
    before = zyg_count_fds(z);

    memset(&good, 0, sizeof(good));
    good.type = SBX_ZMSG_FORK;
    good.ns_flags = slot.ns_flags;
    good.uid = slot.uid;
    good.gid = slot.gid;

    for (i = 0; i < SBX_FDMSG_MAX; i++) {
        fds[i] = slot.pidfd;
    }

    memset(big, 0, sizeof(big));
    (void) sbx_fdmsg_send_fds(z->ctl_fd, big, sizeof(big), fds, 6);
    (void) sbx_fdmsg_send_fds(z->ctl_fd, big, 1, fds, 8);
    (void) sbx_fdmsg_send_fds(z->ctl_fd, &good, sizeof(good) - 1, fds, 6);

    msg = good;
    msg.type = 77;
    (void) sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, 6);

    for (i = 0; i < 7; i++) {
        msg = good;
        msg.tag = (uint32_t) i;
        n = 6;

        switch (i) {
        case 0: n = 5; break;
        case 1: n = 7; break;
        case 2: msg.flags = 1u << 31; break;
        case 3: msg.ns_flags |= 0x11; break;
        case 4: msg.uid = 0; break;
        case 5: msg.gid = 0; break;
        default: n = 0; break;
        }

        (void) sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, n);

        if (sbx_fdmsg_recv(z->ctl_fd, &got, sizeof(got), fds, &nfds)
            != (ssize_t) sizeof(got) || got.type != SBX_ZMSG_FAILED
            || got.tag != (uint32_t) i || nfds != 0)
        {
            break;
        }

        for (n = 0; n < SBX_FDMSG_MAX; n++) {
            fds[n] = slot.pidfd;
        }
    }

    tap_ok(i == 7, "bad messages are answered or dropped (%d)", i);
    tap_ok(zyg_count_fds(z) == before, "and leave no descriptor");

    /* a pidfd that is none */
    fds[0] = slot.pidfd;
    fds[1] = fds[2] = fds[3] = fds[4] = fds[5] = z->ctl_fd;
    msg = good;
    fds[0] = z->ctl_fd;
    (void) sbx_fdmsg_send_fds(z->ctl_fd, &msg, sizeof(msg), fds, 6);
    tap_ok(sbx_fdmsg_recv(z->ctl_fd, &got, sizeof(got), fds, &nfds) > 0
           && got.type == SBX_ZMSG_FAILED && got.err.step == SBX_STEP_FORK,
           "a slot that is none: %s", got.err.text);

    slot_close(&slot);
    run_case(z, &cases[0], "after bad messages: ");
}


static void
test_dead_slot(zyg_t *z)
{
    int job_fd;
    slot_t slot;
    static result_t r;

    slot_open(&slot, 1 << 20);
    kill(slot.pid, SIGKILL);
    waitpid(slot.pid, NULL, 0);

    tap_ok(stand_fork(z, &slot, 0, &job_fd, &r) < 0
           && r.failed.step == SBX_STEP_FORK, "a dead slot: %s",
           r.failed.text);

    close(job_fd);
    close(slot.pidfd);
    run_case(z, &cases[0], "after a dead slot: ");
}


static void
test_no_listener(void)
{
    zyg_t z;
    slot_t slot;
    static result_t r;
    program_t p = { .code = "import socket, sys\n"
                            "try: socket.socket()\n"
                            "except OSError as e: sys.exit(e.errno)\n" };

    if (!tap_ok(zyg_open(&z, OUTER_NONE, NULL) == 0 && z.listener_fd >= 0
                && z.hello.notify == 2, "HELLO brings a listener"))
    {
        return;
    }

    close(z.listener_fd);
    z.listener_fd = -1;

    slot_open(&slot, 1 << 20);
    stand_run(&z, &slot, &p, &r);
    tap_ok(r.status == EXIT(ENOSYS), "nobody listens: still denied");
    slot_close(&slot);
    zyg_close(&z);
}


/* On hosts that give less: the fall-backs, really run. */
static void
test_outer(outer_t outer, const char *where, int listener)
{
    zyg_t z;
    case_t c;
    static const char *const same[] = {
        "hello python", "hello node", "exactly descriptors 0, 1, 2",
        "threads work", "setns the zygote's way kills", "x32 kills"
    };
    size_t i;

    if (!tap_ok(zyg_open(&z, outer, NULL) == 0
                && (z.hello.notify > 0) == listener
                && (z.listener_fd >= 0) == listener, "%sHELLO", where))
    {
        return;
    }

    for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        run_case(&z, find_case(same[i]), where);
    }

    c = *find_case("inotify_init1 kills, named");

    if (!listener) {
        c.status = SYS_KILLED;
        c.named = NULL;
    }

    run_case(&z, &c, where);

    c = *find_case("fork is refused as a process limit");
    c.named = listener ? c.named : NULL;
    run_case(&z, &c, where);

    c = *find_case("fork works in a forking run");
    c.named = listener ? c.named : NULL;
    run_case(&z, &c, where);

    c = *find_case("socket is refused and named");
    c.named = listener ? c.named : NULL;
    run_case(&z, &c, where);

    /* without the flag a handler does run: why there is no early answer then */
    c = *find_case("no handler while its end is held up");
    c.out = z.hello.notify == 1 ? "\n" : c.out;
    run_case(&z, &c, where);

    zyg_close(&z);
}


/* Built with -DSBX_FAULTS: every step fails closed, and says so. */
static void
test_faults(void)
{
    int job_fd;
    zyg_t z;
    pid_t pid;
    slot_t slot;
    size_t i;
    static result_t r;
    static const sbx_step_t steps[] = {
        SBX_STEP_ENTER, SBX_STEP_SESSION, SBX_STEP_FDS, SBX_STEP_RLIMITS,
        SBX_STEP_IDS, SBX_STEP_CAPS, SBX_STEP_LANDLOCK, SBX_STEP_SECCOMP
    };

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (zyg_open(&z, OUTER_NONE, sbx_step_name(steps[i])) < 0) {
            tap_ok(0, "a zygote with a fault in %s", sbx_step_name(steps[i]));
            continue;
        }

        slot_open(&slot, 1 << 20);
        pid = stand_fork(&z, &slot, 0, &job_fd, &r);
        tap_ok(pid > 0 && !r.ready && r.failed.step == steps[i]
               && r.failed.errnum == EPERM && stand_reap(&z, pid) == EXIT(125),
               "a fault in %s ends the child", sbx_step_name(steps[i]));
        close(job_fd);
        slot_close(&slot);
        zyg_close(&z);
    }
}


/* Wrong descriptors at its start: FAILED and an exit code, no HELLO. */
static void
test_bad_start(void)
{
    int pair[2], nfds, status, fds[SBX_FDMSG_MAX];
    pid_t pid;
    sbx_zmsg_t msg;
    char *argv[] = { "zygote", SBX_ZYGOTE_EXEC, NULL };
    char *env[] = { NULL };

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        return;
    }

    pid = fork();
    if (pid == 0) {
        dup2(pair[1], 63);
        dup2(63, SBX_ZYGOTE_CONTROL_FD);
        close(SBX_ZYGOTE_FILTERS_FD);
        syscall(SYS_close_range, 6, ~0U, 0);
        execve("/proc/self/exe", argv, env);
        _exit(127);
    }

    close(pair[1]);
    tap_ok(sbx_fdmsg_recv(pair[0], &msg, sizeof(msg), fds, &nfds)
           == (ssize_t) sizeof(msg) && msg.type == SBX_ZMSG_FAILED
           && msg.err.step == SBX_STEP_ZYGOTE, "a bad start: %s",
           msg.err.text);
    waitpid(pid, &status, 0);
    tap_ok(status == EXIT(1), "ends with 1");
    close(pair[0]);
}


static int
compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}


static void
report_times(zyg_t *z)
{
    int i;
    slot_t slot;
    static result_t r;
    static double fork_us[50], run_us[50];
    static const char *const cmd[] = { "/usr/bin/true", NULL };
    program_t p = { .cmd = cmd, .code = "" };

    for (i = 0; i < 50; i++) {
        slot_open(&slot, 1 << 20);
        stand_run(z, &slot, &p, &r);
        slot_close(&slot);
        fork_us[i] = r.fork_us;
        run_us[i] = r.run_us;
    }

    qsort(fork_us, 50, sizeof(double), compare);
    qsort(run_us, 50, sizeof(double), compare);
    printf("# FORK to READY %.0f us, job to reaped (/usr/bin/true) %.0f us, "
           "medians of 50\n", fork_us[25], run_us[25]);
}


int
main(int argc, char **argv)
{
    int fds, round, rounds;
    zyg_t z;
    const case_t *c;

    if (argc > 1 && strcmp(argv[1], SBX_ZYGOTE_EXEC) == 0) {
        return sbx_exec_zygote_main();
    }

    rounds = argc > 1 ? atoi(argv[1]) : 1;
    stand_enter();

    if (!tap_ok(zyg_open(&z, OUTER_NONE, NULL) == 0 && z.hello.notify == 2
                && z.hello.vm_size > 0, "HELLO as %s, Landlock %d",
                stand_privileged() ? "root" : "a normal user",
                sbx_landlock_version()))
    {
        return tap_done();
    }

    /* after its first child it has surely closed the listener */
    run_case(&z, &cases[0], "first: ");
    fds = zyg_count_fds(&z);

    for (round = 0; round < rounds; round++) {
        for (c = cases; c->what != NULL; c++) {
            run_case(&z, c, "");
        }
    }

    test_job_failures(&z);
    test_unheard(&z);
    test_standby(&z);
    test_bad_messages(&z);
    test_dead_slot(&z);
    report_times(&z);
    tap_ok(zyg_count_fds(&z) == fds, "the zygote holds %d descriptors, as "
           "at its start", fds);
    zyg_close(&z);

    test_no_listener();
    test_outer(OUTER_LISTENER, "outer listener: ", 0);
    test_outer(OUTER_NO_CLONE3, "no clone3: ", 0);
    test_outer(OUTER_NO_CLOSE_RANGE, "no close_range: ", 1);
    test_outer(OUTER_NO_LANDLOCK, "no Landlock: ", 1);
    test_outer(OUTER_NO_KILLABLE, "no WAIT_KILLABLE_RECV: ", 1);
    test_faults();
    test_bad_start();

    return tap_done();
}
