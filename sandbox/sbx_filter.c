/*
 * sbx_filter.c: from the tables of sbx_syscalls.c to BPF programs.
 *
 * sbx_filter_build runs in the supervisor, once, at its start.  libseccomp knows
 * names and numbers; the programs are our own, because every child pays for the
 * loading: the kernel tries a new filter with each call number there is, and a
 * tree over ranges of equal answers takes far less of that than libseccomp's
 * tree over single numbers.  The result is a sealed memfd.  sbx_filter_map runs
 * in zygotes and needs no library.
 *
 * The kernel takes the strictest answer of all stacked filters in the order
 * kill, errno, notify, allow.  So the strict filters allow what `notify` has:
 * an errno of theirs would win and the call would go unnamed.
 */

#include "sbx_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_MAX   BPF_MAXINSNS

/* Numbers from here on have the filter's initial answer; x32's are far above. */
#define NUMBERS       1024

#if defined(__x86_64__)
#define AUDIT_ARCH_HERE  AUDIT_ARCH_X86_64
#define X32_NUMBERS      0x40000000u
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE  AUDIT_ARCH_AARCH64
#else
#error "deer-flow: no system call table for this architecture"
#endif

/* A program loads the low half of a 64-bit argument by its address. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "argument rows are compared on little-endian machines only");

typedef struct {
    struct sock_filter insns[PROGRAM_MAX];
    uint32_t count;
} program_t;

/* From this number to the next range's: one answer, or one call's rows. */
typedef struct {
    uint32_t first;
    uint32_t answer;
    const sbx_syscall_arg_t *args;      /* NULL: none */
} range_t;

typedef struct {
    range_t at[NUMBERS + 1];
    uint32_t count;
} ranges_t;


static int build_program(sbx_filter_id_t id, program_t *p, sbx_err_t *err);
static void find_ranges(sbx_filter_id_t id, ranges_t *r);
static void emit_head(program_t *p);
static void emit_tree(sbx_filter_id_t id, program_t *p, const range_t *at,
    uint32_t count);
static void emit_leaf(sbx_filter_id_t id, program_t *p, const range_t *range);
static void emit(program_t *p, struct sock_filter insn);
static uint32_t row_action(sbx_filter_id_t id, const sbx_syscall_t *row);
static uint32_t arg_action(sbx_filter_id_t id, const sbx_syscall_arg_t *row);
static const sbx_syscall_t *find_row(const char *name);
static const sbx_syscall_arg_t *find_args(const char *name);
static int has_listener(sbx_filter_id_t id);
static int is_notified(const sbx_syscall_t *row);
static int write_all(int fd, const void *data, size_t len);


const sbx_syscall_t *
sbx_syscall_by_number(int number, char *name, size_t size)
{
    char *known;
    const sbx_syscall_t *row = NULL;

    if (size > 0) {
        name[0] = '\0';
    }

    known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    if (known != NULL) {
        snprintf(name, size, "%s", known);
        row = find_row(known);
        free(known);
    }

    return row;
}


const sbx_syscall_arg_t *
sbx_syscall_arg_find(const char *name, const uint64_t args[6])
{
    uint32_t value;
    const sbx_syscall_arg_t *a;

    for (a = sbx_syscall_args; a->name != NULL; a++) {
        value = (uint32_t) args[a->arg];

        if (strcmp(a->name, name) == 0
            && (a->test == SBX_ARG_IS ? value == a->value
                                      : (value & a->value) != 0))
        {
            return a;
        }
    }

    return NULL;
}


int
sbx_filter_build(sbx_err_t *err)
{
    static program_t programs[SBX_FILTER_COUNT];
    uint32_t counts[SBX_FILTER_COUNT];
    int fd, i;

    for (i = 0; i < SBX_FILTER_COUNT; i++) {
        if (build_program((sbx_filter_id_t) i, &programs[i], err) < 0) {
            return -1;
        }

        counts[i] = programs[i].count;
    }

    fd = memfd_create("sbx-filters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_SECCOMP, errno, "memfd for filters");
    }

    if (write_all(fd, counts, sizeof(counts)) < 0) {
        goto failed;
    }

    for (i = 0; i < SBX_FILTER_COUNT; i++) {
        if (write_all(fd, programs[i].insns,
                      counts[i] * sizeof(struct sock_filter))
            < 0)
        {
            goto failed;
        }
    }

    /* A zygote that went astray must not change the next one's filters. */
    if (fcntl(fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
        < 0)
    {
        goto failed;
    }

    return fd;

failed:

    (void) sbx_fail(err, SBX_STEP_SECCOMP, errno, "write filters to a memfd");
    close(fd);

    return -1;
}


int
sbx_filter_map(int fd, struct sock_fprog progs[SBX_FILTER_COUNT],
    sbx_err_t *err)
{
    int i;
    void *map;
    size_t want, have;
    const uint32_t *counts;
    struct sock_filter *insns;
    struct stat st;

    if (fstat(fd, &st) < 0) {
        return sbx_fail(err, SBX_STEP_SECCOMP, errno, "stat filters");
    }

    have = (size_t) st.st_size;
    want = SBX_FILTER_COUNT * sizeof(uint32_t);

    if (have < want) {
        return sbx_fail(err, SBX_STEP_SECCOMP, 0, "filters: too short");
    }

    map = mmap(NULL, have, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        return sbx_fail(err, SBX_STEP_SECCOMP, errno, "map filters");
    }

    counts = map;
    insns = (struct sock_filter *) (counts + SBX_FILTER_COUNT);

    for (i = 0; i < SBX_FILTER_COUNT; i++) {
        if (counts[i] == 0 || counts[i] > PROGRAM_MAX) {
            munmap(map, have);
            return sbx_fail(err, SBX_STEP_SECCOMP, 0, "filter %d: bad count",
                            i);
        }

        progs[i].len = (unsigned short) counts[i];
        progs[i].filter = insns;
        insns += counts[i];
        want += counts[i] * sizeof(struct sock_filter);
    }

    if (want != have) {
        munmap(map, have);
        return sbx_fail(err, SBX_STEP_SECCOMP, 0, "filters: bad length");
    }

    return 0;
}


static int
build_program(sbx_filter_id_t id, program_t *p, sbx_err_t *err)
{
    static ranges_t ranges;

    find_ranges(id, &ranges);

    p->count = 0;
    emit_head(p);
    emit_tree(id, p, ranges.at, ranges.count);

    if (p->count >= PROGRAM_MAX) {
        return sbx_fail(err, SBX_STEP_SECCOMP, 0, "filter %d: %u instructions",
                        (int) id, p->count);
    }

    return 0;
}


static void
find_ranges(sbx_filter_id_t id, ranges_t *r)
{
    int number;
    uint32_t i, initial;
    range_t *at = r->at;
    const sbx_syscall_t *row;

    initial = id == SBX_FILTER_NOTIFY ? SECCOMP_RET_ALLOW
                                      : SECCOMP_RET_ERRNO | ENOSYS;

    for (i = 0; i <= NUMBERS; i++) {
        at[i] = (range_t) { i, initial, NULL };
    }

    for (row = sbx_syscalls; row->name != NULL; row++) {
        number = seccomp_syscall_resolve_name(row->name);

        /* negative: not on this machine, or not known to libseccomp */
        if (number >= 0 && number < NUMBERS) {
            at[number].answer = row_action(id, row);
            at[number].args = find_args(row->name);
        }
    }

    r->count = 1;

    for (i = 1; i <= NUMBERS; i++) {
        if (at[i].answer != at[r->count - 1].answer || at[i].args != NULL
            || at[r->count - 1].args != NULL)
        {
            at[r->count++] = at[i];
        }
    }
}


/*
 * int 0x80 and x32 would reach calls by other numbers than the table's: both
 * end the program.  x32 shares its architecture with x86-64.
 */
static void
emit_head(program_t *p)
{
    emit(p, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
        offsetof(struct seccomp_data, arch)));
    emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
        AUDIT_ARCH_HERE, 1, 0));
    emit(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K,
        SECCOMP_RET_KILL_PROCESS));
    emit(p, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
        offsetof(struct seccomp_data, nr)));

#if defined(__x86_64__)
    /* all bits set is no call, but a tracer's word for "skip it" */
    emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
        X32_NUMBERS, 0, 2));
    emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
        UINT32_MAX, 1, 0));
    emit(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K,
        SECCOMP_RET_KILL_PROCESS));
#endif
}


/*
 * Halves the ranges until one is left.  The lower half follows at once; the
 * upper one may be further away than a conditional jump's 8 bits reach.
 */
static void
emit_tree(sbx_filter_id_t id, program_t *p, const range_t *at, uint32_t count)
{
    uint32_t half = count / 2, node = p->count, len;
    struct sock_filter *insn = &p->insns[node];

    if (count == 1) {
        emit_leaf(id, p, at);
        return;
    }

    emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
        at[half].first, 0, 0));
    emit_tree(id, p, at, half);
    len = p->count - (node + 1);

    if (p->count >= PROGRAM_MAX) {
        return;
    }

    if (len <= UINT8_MAX) {
        insn->jt = (uint8_t) len;

    } else {
        memmove(insn + 2, insn + 1, len * sizeof(*insn));
        p->count++;
        insn->jf = 1;
        insn[1] = (struct sock_filter) BPF_STMT(BPF_JMP | BPF_JA | BPF_K, len);
    }

    emit_tree(id, p, at + half, count - half);
}


/* A call's argument rows in their order, then its own answer. */
static void
emit_leaf(sbx_filter_id_t id, program_t *p, const range_t *range)
{
    unsigned loaded = UINT32_MAX;
    uint32_t action;
    uint16_t test;
    const sbx_syscall_arg_t *a;

    for (a = range->args; a != NULL && a->name != NULL; a++) {
        if (strcmp(a->name, range->args->name) != 0) {
            break;
        }

        action = arg_action(id, a);

        if (action == UINT32_MAX) {
            continue;
        }

        if (a->arg != loaded) {
            emit(p, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                (uint32_t) (offsetof(struct seccomp_data, args)
                            + a->arg * sizeof(uint64_t))));
            loaded = a->arg;
        }

        test = a->test == SBX_ARG_IS ? BPF_JEQ : BPF_JSET;

        emit(p, (struct sock_filter) BPF_JUMP(BPF_JMP | test | BPF_K,
            a->value, 0, 1));
        emit(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, action));
    }

    emit(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, range->answer));
}


/* Counts on at the end without writing: build_program looks at the count. */
static void
emit(program_t *p, struct sock_filter insn)
{
    if (p->count < PROGRAM_MAX) {
        p->insns[p->count] = insn;
    }

    p->count++;
}


static uint32_t
row_action(sbx_filter_id_t id, const sbx_syscall_t *row)
{
    int forking;

    if (id == SBX_FILTER_NOTIFY) {
        return is_notified(row) ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
    }

    forking = (id == SBX_FILTER_FORKING || id == SBX_FILTER_PLAIN_FORKING);

    if (row->rule == SBX_RULE_ALLOW || row->rule == SBX_RULE_EXIT
        || (has_listener(id) && is_notified(row))
        || (forking && row->rule == SBX_RULE_THREAD))
    {
        return SECCOMP_RET_ALLOW;
    }

    switch (row->rule) {

    case SBX_RULE_KILL:
        return SECCOMP_RET_KILL_PROCESS;

    case SBX_RULE_ERRNO:
    case SBX_RULE_THREAD:
        return SECCOMP_RET_ERRNO | (uint32_t) row->errnum;

    default:
        return SECCOMP_RET_ERRNO | ENOSYS;
    }
}


/*
 * The answer to a matching row, or UINT32_MAX for no test at all.  `notify`
 * has what the listener is to name, and steps aside for all other rows: the
 * strict filter on top has the same ones.
 */
static uint32_t
arg_action(sbx_filter_id_t id, const sbx_syscall_arg_t *row)
{
    const sbx_syscall_t *call;
    int named = row->rule == SBX_RULE_KILL && !row->zygote;

    if (id == SBX_FILTER_NOTIFY) {
        if (named) {
            return SECCOMP_RET_USER_NOTIF;
        }

        call = find_row(row->name);

        return call && is_notified(call) ? SECCOMP_RET_ALLOW : UINT32_MAX;
    }

    switch (row->rule) {

    case SBX_RULE_ALLOW:
        return SECCOMP_RET_ALLOW;

    case SBX_RULE_ERRNO:
        return SECCOMP_RET_ERRNO | (uint32_t) row->errnum;

    default:
        return named && has_listener(id) ? SECCOMP_RET_ALLOW
                                         : SECCOMP_RET_KILL_PROCESS;
    }
}


static int
has_listener(sbx_filter_id_t id)
{
    return id == SBX_FILTER_SINGLE || id == SBX_FILTER_FORKING;
}


static int
is_notified(const sbx_syscall_t *row)
{
    return !row->zygote
           && (row->rule == SBX_RULE_KILL || row->rule == SBX_RULE_ERRNO
               || row->rule == SBX_RULE_THREAD
               || row->rule == SBX_RULE_EXIT);
}


static const sbx_syscall_t *
find_row(const char *name)
{
    const sbx_syscall_t *row;

    for (row = sbx_syscalls; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }

    return NULL;
}


static const sbx_syscall_arg_t *
find_args(const char *name)
{
    const sbx_syscall_arg_t *a;

    for (a = sbx_syscall_args; a->name != NULL; a++) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }

    return NULL;
}


static int
write_all(int fd, const void *data, size_t len)
{
    ssize_t n;
    const char *p = data;

    while (len > 0) {
        n = write(fd, p, len);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }

            return -1;
        }

        p += n;
        len -= (size_t) n;
    }

    return 0;
}
