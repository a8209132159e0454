/*
 * test_filter.c: the filters, run instruction by instruction.
 *
 * Builds the programs as the supervisor does, maps them as a zygote does, and
 * asks each of them about every row, every argument row, every number without a
 * row and foreign architectures.  Needs no rights and loads no filter.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_filter.h"
#include "tap.h"

#define ENOSYS_ANSWER  (SECCOMP_RET_ERRNO | ENOSYS)
#define NO_ANSWER      0xdeadbeefu

static struct sock_fprog progs[SBX_FILTER_COUNT];

static const char *const names[SBX_FILTER_COUNT] = {
    "notify", "single", "forking", "plain", "plain_forking"
};


/* The part of classic BPF that seccomp programs may use. */
static uint32_t
ask(int id, const struct seccomp_data *data)
{
    uint32_t a = 0;
    unsigned pc;
    const struct sock_filter *f;

    for (pc = 0; pc < progs[id].len; pc++) {
        f = &progs[id].filter[pc];

        switch (f->code) {

        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *) data + f->k, sizeof(a));
            break;

        case BPF_ALU | BPF_AND | BPF_K:
            a &= f->k;
            break;

        case BPF_JMP | BPF_JA:
            pc += f->k;
            break;

        case BPF_JMP | BPF_JEQ | BPF_K:
            pc += a == f->k ? f->jt : f->jf;
            break;

        case BPF_JMP | BPF_JGT | BPF_K:
            pc += a > f->k ? f->jt : f->jf;
            break;

        case BPF_JMP | BPF_JGE | BPF_K:
            pc += a >= f->k ? f->jt : f->jf;
            break;

        case BPF_JMP | BPF_JSET | BPF_K:
            pc += a & f->k ? f->jt : f->jf;
            break;

        case BPF_RET | BPF_K:
            return f->k;

        default:
            return NO_ANSWER;
        }
    }

    return NO_ANSWER;
}


static uint32_t
ask_call(int id, int number, int arg, uint64_t value)
{
    struct seccomp_data data;

    memset(&data, 0, sizeof(data));
#if defined(__x86_64__)
    data.arch = AUDIT_ARCH_X86_64;
#else
    data.arch = AUDIT_ARCH_AARCH64;
#endif
    data.nr = number;

    if (arg >= 0) {
        data.args[arg] = value;
    }

    return ask(id, &data);
}


/* The contract of sbx_filter.h, said once more and differently. */
static uint32_t
expected(int id, const sbx_syscall_t *row)
{
    int named = !row->zygote && row->rule != SBX_RULE_ALLOW
                && row->rule != SBX_RULE_ENOSYS;
    int plain = id == SBX_FILTER_PLAIN || id == SBX_FILTER_PLAIN_FORKING;

    if (id == SBX_FILTER_NOTIFY) {
        return named ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
    }

    if (row->rule == SBX_RULE_ENOSYS) {
        return ENOSYS_ANSWER;
    }

    if (row->rule == SBX_RULE_ALLOW || row->rule == SBX_RULE_EXIT
        || (named && !plain)
        || (id == SBX_FILTER_PLAIN_FORKING && row->rule == SBX_RULE_THREAD))
    {
        return SECCOMP_RET_ALLOW;
    }

    return row->rule == SBX_RULE_KILL
           ? SECCOMP_RET_KILL_PROCESS
           : SECCOMP_RET_ERRNO | (uint32_t) row->errnum;
}


/* An argument that no row of this call speaks of. */
static uint64_t
neutral(const char *name, int *arg)
{
    const sbx_syscall_arg_t *a;

    *arg = -1;

    for (a = sbx_syscall_args; a->name != NULL; a++) {
        if (strcmp(a->name, name) == 0) {
            *arg = (int) a->arg;

            return a->test == SBX_ARG_HAS ? 17 : 0x7ffffff0;
        }
    }

    return 0;
}


static void
check_rows(int id)
{
    int number, arg, rows = 0, bad = 0;
    uint32_t answer;
    uint64_t value;
    const sbx_syscall_t *row;

    for (row = sbx_syscalls; row->name != NULL; row++) {
        number = seccomp_syscall_resolve_name(row->name);
        if (number < 0) {
            continue;
        }

        value = neutral(row->name, &arg);
        answer = ask_call(id, number, arg, value);
        rows++;

        if (answer != expected(id, row)) {
            printf("# %s: %s: %08x, not %08x\n", names[id], row->name, answer,
                   expected(id, row));
            bad++;
        }
    }

    tap_ok(rows > 200 && bad == 0, "%s: %d rows, %u instructions", names[id],
           rows, progs[id].len);
}


static void
check_unknown(int id)
{
    int number, count = 0, bad = 0;
    char name[64];
    uint32_t want = id == SBX_FILTER_NOTIFY ? SECCOMP_RET_ALLOW
                                            : ENOSYS_ANSWER;

    for (number = 0; number < 1024; number++) {
        if (sbx_syscall_by_number(number, name, sizeof(name)) == NULL) {
            count++;
            bad += ask_call(id, number, -1, 0) != want;
        }
    }

    tap_ok(count > 400 && bad == 0, "%s: %d numbers without a row", names[id],
           count);
}


static uint32_t
arg_expected(int id, const sbx_syscall_arg_t *a)
{
    int named = a->rule == SBX_RULE_KILL && !a->zygote;

    if (id == SBX_FILTER_NOTIFY) {
        return named ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
    }

    if (named && id != SBX_FILTER_PLAIN && id != SBX_FILTER_PLAIN_FORKING) {
        return SECCOMP_RET_ALLOW;
    }

    switch (a->rule) {

    case SBX_RULE_ALLOW:
        return SECCOMP_RET_ALLOW;

    case SBX_RULE_ERRNO:
        return SECCOMP_RET_ERRNO | (uint32_t) a->errnum;

    default:
        return SECCOMP_RET_KILL_PROCESS;
    }
}


/* With and without bits in the half that the kernel does not look at. */
static void
check_arguments(int id)
{
    int number, rows = 0, bad = 0;
    uint32_t want;
    const sbx_syscall_arg_t *a;

    for (a = sbx_syscall_args; a->name != NULL; a++) {
        number = seccomp_syscall_resolve_name(a->name);
        want = arg_expected(id, a);
        rows++;

        /* HAS: one bit of the row's is enough */
        bad += ask_call(id, number, (int) a->arg,
                        a->test == SBX_ARG_HAS ? a->value & -a->value
                                               : a->value)
               != want;
        bad += ask_call(id, number, (int) a->arg, a->value | 5ULL << 40)
               != want;
    }

    tap_ok(rows > 20 && bad == 0, "%s: %d argument rows", names[id], rows);
}


static void
check_foreign(int id)
{
    int bad = 0;
#if defined(__x86_64__)
    struct seccomp_data data;

    memset(&data, 0, sizeof(data));
    data.arch = AUDIT_ARCH_I386;
    data.nr = 20;
    bad += ask(id, &data) != SECCOMP_RET_KILL_PROCESS;

    data.nr = SYS_prctl;
    bad += ask(id, &data) != SECCOMP_RET_KILL_PROCESS;

    data.arch = AUDIT_ARCH_X86_64;
    data.nr = 0x40000000 | SYS_getpid;
    bad += ask(id, &data) != SECCOMP_RET_KILL_PROCESS;
#endif

    tap_ok(bad == 0, "%s: i386 and x32 kill", names[id]);
}


/* By the listener, which names it, or by the filter where there is none. */
static int
dies(int number, int arg, uint64_t value)
{
    return ask_call(SBX_FILTER_NOTIFY, number, arg, value)
               == SECCOMP_RET_USER_NOTIF
           && ask_call(SBX_FILTER_PLAIN, number, arg, value)
                  == SECCOMP_RET_KILL_PROCESS
           && ask_call(SBX_FILTER_PLAIN_FORKING, number, arg, value)
                  == SECCOMP_RET_KILL_PROCESS;
}


static void
check_single_cases(void)
{
    static const unsigned long thread = CLONE_VM | CLONE_FS | CLONE_FILES
        | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
        | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

    tap_ok(ask_call(SBX_FILTER_SINGLE, SYS_clone, 0, thread)
           == SECCOMP_RET_ALLOW
           && ask_call(SBX_FILTER_NOTIFY, SYS_clone, 0, thread)
              == SECCOMP_RET_ALLOW, "a thread is nobody's business");
    tap_ok(dies(SYS_clone, 0, thread | CLONE_NEWNS),
           "a thread with a namespace dies");
    tap_ok(dies(SYS_clone, 0, 17 | CLONE_NEWUSER),
           "a new user namespace dies");
    tap_ok(dies(SYS_clone, 0, 17 | CLONE_PARENT),
           "a child for the supervisor dies");
    tap_ok(dies(SYS_ioctl, 1, TIOCSTI), "typing into a terminal dies");
    tap_ok(dies(SYS_setns, 1, CLONE_NEWNET) && dies(SYS_setns, 1, 0),
           "entering a namespace dies");
    tap_ok(ask_call(SBX_FILTER_NOTIFY, SYS_setns, 1, CLONE_NEWPID)
           == SECCOMP_RET_ALLOW
           && ask_call(SBX_FILTER_SINGLE, SYS_setns, 1, CLONE_NEWPID)
              == SECCOMP_RET_KILL_PROCESS, "so it does the zygote's way");
    tap_ok(ask_call(SBX_FILTER_PLAIN, SYS_clone, 0, 17)
           == (SECCOMP_RET_ERRNO | EAGAIN), "plain: no process");
    tap_ok(ask_call(SBX_FILTER_NOTIFY, SYS_clone, 0, 17)
           == SECCOMP_RET_USER_NOTIF, "a process is the supervisor's business");
    tap_ok(ask_call(SBX_FILTER_NOTIFY, SYS_socketpair, 0, AF_INET)
           == SECCOMP_RET_USER_NOTIF
           && ask_call(SBX_FILTER_NOTIFY, SYS_socketpair, 0, AF_UNIX)
              == SECCOMP_RET_ALLOW, "pairs are unix pairs");
    tap_ok(ask_call(SBX_FILTER_SINGLE, SYS_prctl, 0, 35 /* SET_MM */)
           == ENOSYS_ANSWER, "other prctl options are not there");
}


static void
check_names(void)
{
    char name[32];
    const sbx_syscall_t *row;

    row = sbx_syscall_by_number(SYS_inotify_init1, name, sizeof(name));
    tap_ok(row && row->rule == SBX_RULE_KILL
           && strcmp(name, "inotify_init1") == 0
           && SYS_inotify_init1 == 294, "294 is inotify_init1, and kills");
    tap_ok(sbx_syscall_by_number(100000, name, sizeof(name)) == NULL
           && name[0] == '\0', "an unknown number has no name");
}


/* Groups of argument rows are found by standing together. */
static void
check_tables(void)
{
    int bad = 0;
    char name[32];
    const sbx_syscall_t *row, *other;
    const sbx_syscall_arg_t *a, *b;

    for (row = sbx_syscalls; row->name != NULL; row++) {
        bad += row->reason == NULL;
        bad += (row->rule == SBX_RULE_ERRNO || row->rule == SBX_RULE_THREAD)
               != (row->errnum != 0);

        for (other = row + 1; other->name != NULL; other++) {
            bad += strcmp(row->name, other->name) == 0;
        }
    }

    for (a = sbx_syscall_args; a->name != NULL; a++) {
        bad += sbx_syscall_by_number(seccomp_syscall_resolve_name(a->name),
                                     name, sizeof(name))
               == NULL;

        for (b = a + 1; b->name != NULL; b++) {
            bad += strcmp(a->name, b->name) == 0
                   && strcmp(a->name, b[-1].name) != 0;
        }
    }

    tap_ok(bad == 0, "tables: reasons, errnos, no name twice");
}


static void
check_mapping(int fd)
{
    int copy;
    char byte = 0;
    sbx_err_t err;
    uint32_t counts[SBX_FILTER_COUNT] = { 1, 1, 1, 1, 5000 };
    struct sock_fprog other[SBX_FILTER_COUNT];

    tap_ok(pwrite(fd, &byte, 1, 0) < 0 && ftruncate(fd, 0) < 0
           && ftruncate(fd, 1 << 20) < 0, "the memfd is sealed");

    copy = memfd_create("bad", MFD_CLOEXEC);
    tap_ok(sbx_filter_map(copy, other, &err) < 0, "an empty file is refused");
    tap_ok(write(copy, counts, sizeof(counts)) == (ssize_t) sizeof(counts)
           && sbx_filter_map(copy, other, &err) < 0, "a bad count is refused");

    counts[4] = 1;
    tap_ok(pwrite(copy, counts, sizeof(counts), 0) == (ssize_t) sizeof(counts)
           && sbx_filter_map(copy, other, &err) < 0, "a cut file is refused");
    close(copy);
}


int
main(void)
{
    int fd, id;
    sbx_err_t err;

    fd = sbx_filter_build(&err);
    if (!tap_ok(fd >= 0 && sbx_filter_map(fd, progs, &err) == 0,
                "build and map"))
    {
        printf("# %s\n", err.text);
        return tap_done();
    }

    check_tables();

    for (id = 0; id < SBX_FILTER_COUNT; id++) {
        check_rows(id);
        check_unknown(id);
        check_arguments(id);
        check_foreign(id);
    }

    check_single_cases();
    check_names();
    check_mapping(fd);

    return tap_done();
}
