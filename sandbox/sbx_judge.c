/*
 * sbx_judge.c: the verdict engine: an ordered table of rules, the first that
 * applies decides.  Runs in the supervisor; pure, so that tests read it as the
 * table that it is.
 */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sbx_judge.h"

typedef struct {
    int (*applies)(const sbx_evidence_t *ev, const sbx_verdict_t *v);
    sbx_status_t status;
    sbx_reason_t reason;
    void (*explain)(const sbx_evidence_t *ev, sbx_verdict_t *v);
} rule_t;


static void __attribute__((format(printf, 2, 3)))
say(sbx_verdict_t *v, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(v->error, sizeof(v->error), fmt, ap);
    va_end(ap);
}


static int
died_by(const sbx_evidence_t *ev, int sig)
{
    return WIFSIGNALED(ev->wait_status) && WTERMSIG(ev->wait_status) == sig;
}


static int
exited_with_error(const sbx_evidence_t *ev)
{
    return WIFEXITED(ev->wait_status) && WEXITSTATUS(ev->wait_status) != 0;
}


static int
page_refused(const sbx_evidence_t *ev)
{
    return ev->page.event == SBX_HOOK_MALLOC
           || ev->page.event == SBX_HOOK_MMAP
           || ev->page.event == SBX_HOOK_MPROTECT;
}


/* What the hook says it refused must really have been above a limit. */
static int
page_plausible(const sbx_evidence_t *ev)
{
    int64_t room;
    const sbx_page_t *p = &ev->page;

    if (p->requested < 0) {
        return 0;
    }

    if (p->requested > p->alloc_limit) {
        return 1;
    }

    return !__builtin_sub_overflow(p->limit, p->live_at_event, &room)
           && p->requested > room;
}


static int
is_slot_lost(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->slot_lost;
}


static int
is_cgroup_oom(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    if (ev->oom_kills == 0 || !ev->oom_own) {
        return 0;
    }

    /*
     * The tree had more than its limit, whichever of its processes the kernel
     * chose; to outlive that one is no coping, as with a caught MemoryError.
     */
    return !ev->soft_memory || died_by(ev, SIGKILL) || exited_with_error(ev);
}


static int
is_host_oom(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->oom_kills > 0 && !ev->oom_own && died_by(ev, SIGKILL);
}


static int
is_seccomp(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    /* a program may raise SIGSYS itself; the filter's own kill dumps core
     * only where allowed, so the signal alone is all there is to see */
    return ev->kill == SBX_KILL_SECCOMP || died_by(ev, SIGSYS);
}


static int
is_wall(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->kill == SBX_KILL_WALL;
}


static int
is_cpu(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    if (ev->kill == SBX_KILL_CPU) {
        return 1;
    }

    /*
     * The kernel's account alone is enough, however the program ended: of
     * processes that it waited for, the timer may see nothing before.  It also
     * tells a signal of RLIMIT_CPU from one that the program sent itself.
     */
    return ev->kill == SBX_KILL_NONE
           && ev->cpu_us >= v->limits[SBX_LIMIT_CPU_TIME] * 1000;
}


static int
is_cpu_per_second(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->kill == SBX_KILL_CPU_PER_SECOND;
}


static int
is_stdout(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->kill == SBX_KILL_STDOUT;
}


static int
is_stderr(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->kill == SBX_KILL_STDERR;
}


static int
is_watermark(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->kill == SBX_KILL_MEMORY;
}


static int
is_hook(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    if (!page_refused(ev) || !page_plausible(ev)) {
        return 0;
    }

    /* soft: the program saw a MemoryError; only its failure counts */
    if (ev->soft_memory) {
        return !(WIFEXITED(ev->wait_status)
                 && WEXITSTATUS(ev->wait_status) == 0);
    }

    return 1;
}


static int
is_allocation(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    return ev->page.requested > ev->page.alloc_limit && is_hook(ev, v);
}


static int
is_fault(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return died_by(ev, SIGSEGV) || died_by(ev, SIGBUS);
}


static int
is_disk(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return died_by(ev, SIGXFSZ) || (ev->disk_full && exited_with_error(ev));
}


static int
is_process(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->forks_refused + ev->tasks_refused > 0
           && (exited_with_error(ev) || died_by(ev, SIGABRT));
}


static int
is_file(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return ev->page.files_refused > 0 && exited_with_error(ev);
}


static int
is_signal(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return WIFSIGNALED(ev->wait_status);
}


static int
is_error(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) v;

    return exited_with_error(ev);
}


static int
is_success(const sbx_evidence_t *ev, const sbx_verdict_t *v)
{
    (void) ev;
    (void) v;

    return 1;
}


static void
explain_slot(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;

    v->step = SBX_STEP_SLOT;
    say(v, "the slot's init died while the program ran");
}


/*
 * The sentence of every limit: which it was, its value, what was seen, and what
 * can be done.  what: NULL for the row's own label.
 */
static void __attribute__((format(printf, 4, 5)))
explain_limit(sbx_verdict_t *v, const char *what, sbx_limit_id_t id,
    const char *fmt, ...)
{
    char value[32], seen[160];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(seen, sizeof(seen), fmt, ap);
    va_end(ap);

    say(v, "%s limit of %s exceeded%s; %s",
        what != NULL ? what : sbx_limits[id].label,
        sbx_limit_format(id, v->limits[id], value, sizeof(value)), seen,
        sbx_limits[id].advice);
}


static void
explain_memory(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;

    v->violation.type = SBX_VIOLATION_ALLOC_LIMIT;
    v->violation.limit_bytes = v->limits[SBX_LIMIT_MEMORY];
    v->violation.source = v->reason == SBX_REASON_CGROUP
                          ? SBX_SOURCE_CGROUP : SBX_SOURCE_WATERMARK;
    explain_limit(v, NULL, SBX_LIMIT_MEMORY, "%s",
                  v->reason == SBX_REASON_CGROUP
                  ? ": the kernel ended it" : "");
}


static void
explain_hook(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    int64_t live;
    sbx_limit_id_t id = v->reason == SBX_REASON_ALLOCATION
                        ? SBX_LIMIT_ALLOCATION : SBX_LIMIT_MEMORY;
    const sbx_page_t *p = &ev->page;
    sbx_violation_t *vio = &v->violation;

    /* a guest may have written anything there */
    if (__builtin_sub_overflow(p->live_at_event, ev->hook_base, &live)) {
        live = 0;
    }

    vio->type = SBX_VIOLATION_ALLOC_LIMIT;
    vio->requested_bytes = (uint64_t) p->requested;
    vio->live_bytes = live > 0 ? (uint64_t) live : 0;
    vio->limit_bytes = v->limits[id];
    vio->region_lo = p->region_lo;
    vio->region_hi = p->region_hi;
    vio->source = SBX_SOURCE_HOOK;

    explain_limit(v, NULL, id, ": %llu bytes asked for with %llu in use",
                  (unsigned long long) vio->requested_bytes,
                  (unsigned long long) vio->live_bytes);
}


static void
explain_host_oom(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;

    say(v, "killed because the host, or a cgroup above, ran out of memory; "
        "the program's own limit was not reached: try again later");
}


static void
explain_seccomp(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    v->violation.type = SBX_VIOLATION_SYSCALL;
    v->violation.source = SBX_SOURCE_KERNEL;

    if (ev->kill != SBX_KILL_SECCOMP) {
        say(v, "forbidden system call");
        return;
    }

    v->violation.number = ev->syscall_number;
    snprintf(v->violation.syscall, sizeof(v->violation.syscall), "%s",
             ev->syscall);
    say(v, "forbidden system call: %s (%d)", ev->syscall, ev->syscall_number);
}


static void
explain_wall(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;
    explain_limit(v, NULL, SBX_LIMIT_TIMEOUT, "%s", "");
}


static void
explain_cpu(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;
    explain_limit(v, NULL, SBX_LIMIT_CPU_TIME, "%s", "");
}


static void
explain_cpu_per_second(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;
    explain_limit(v, NULL, SBX_LIMIT_CPU_PER_SECOND, "%s", "");
}


static void
explain_output(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    explain_limit(v, ev->kill == SBX_KILL_STDERR ? "stderr" : "output",
                  SBX_LIMIT_OUTPUT, "%s", "");
}


static void
explain_disk(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    (void) ev;
    explain_limit(v, NULL, SBX_LIMIT_DISK, "%s", "");
}


static void
explain_file(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    v->violation.type = SBX_VIOLATION_HANDLES;
    v->violation.source = SBX_SOURCE_HOOK;
    explain_limit(v, NULL, SBX_LIMIT_OPEN_FILES, ": %u refused",
                  ev->page.files_refused);
}


static void
explain_process(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    unsigned long long n = ev->forks_refused + ev->tasks_refused;
    sbx_violation_t *vio = &v->violation;

    vio->type = SBX_VIOLATION_PROCESSES;
    vio->source = ev->forks_refused > 0 ? SBX_SOURCE_KERNEL
                                        : SBX_SOURCE_CGROUP;

    /* one process only, and the filter let no second one pass: a thread */
    if (!ev->forking && ev->forks_refused == 0) {
        vio->type = SBX_VIOLATION_THREADS;
        explain_limit(v, NULL, SBX_LIMIT_THREADS, ": %llu refused", n);

    } else if (ev->tasks_refused == 0) {
        explain_limit(v, NULL, SBX_LIMIT_PROCESSES, ": %llu refused", n);

    } else {
        say(v, "limit of %llu processes with %llu threads exceeded: %llu "
            "refused; %s",
            (unsigned long long) v->limits[SBX_LIMIT_PROCESSES],
            (unsigned long long) v->limits[SBX_LIMIT_THREADS], n,
            sbx_limits[SBX_LIMIT_PROCESSES].advice);
    }
}


/* Which way a fault went: x86 page-fault error code, bits 1 and 4. */
static sbx_violation_type_t
fault_type(const sbx_page_t *p)
{
    switch (p->event) {

    case SBX_HOOK_STACK:
        return SBX_VIOLATION_STACK_OVERFLOW;

    case SBX_HOOK_BUS:
        return SBX_VIOLATION_BUS;

    case SBX_HOOK_SEGV:
        if (p->fault_error & 0x10) {
            return SBX_VIOLATION_EXEC;
        }
        return (p->fault_error & 0x2) ? SBX_VIOLATION_WRITE
                                      : SBX_VIOLATION_READ;

    default:
        return SBX_VIOLATION_UNKNOWN;
    }
}


/* By now the stack may be at its limit, or a thread's smaller one. */
static void
explain_stack(sbx_verdict_t *v, const char *signal)
{
    char text[32];

    say(v, "stack overflow (%s, stack limit %s); %s", signal,
        sbx_limit_format(SBX_LIMIT_STACK, v->limits[SBX_LIMIT_STACK], text,
                         sizeof(text)), sbx_limits[SBX_LIMIT_STACK].advice);
}


static void
explain_fault(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    const char *name;
    sbx_violation_t *vio = &v->violation;

    vio->type = fault_type(&ev->page);

    if (vio->type != SBX_VIOLATION_UNKNOWN) {
        vio->address = ev->page.fault_address;
        vio->region_lo = ev->page.region_lo;
        vio->region_hi = ev->page.region_hi;
        vio->source = SBX_SOURCE_HOOK;
    }

    name = died_by(ev, SIGBUS) ? "SIGBUS" : "SIGSEGV";

    if (vio->type == SBX_VIOLATION_STACK_OVERFLOW) {
        explain_stack(v, name);

    } else if (vio->type != SBX_VIOLATION_UNKNOWN) {
        say(v, "invalid memory access at 0x%llx (%s)",
            (unsigned long long) vio->address, name);

    } else {
        say(v, "invalid memory access (%s)", name);
    }
}


static void
explain_signal(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    const char *name = sigabbrev_np(WTERMSIG(ev->wait_status));

    say(v, "ended by signal %d (SIG%s)", WTERMSIG(ev->wait_status),
        name ? name : "?");
}


static void
explain_exit(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    say(v, "exit code %d", WEXITSTATUS(ev->wait_status));
}


static const rule_t rules[] = {
    /* ours */
    { is_slot_lost, SBX_INTERNAL_ERROR, SBX_REASON_SLOT, explain_slot },

    /* the kernel's word */
    { is_cgroup_oom, SBX_MEMORY_EXCEEDED, SBX_REASON_CGROUP, explain_memory },
    { is_host_oom, SBX_OOM_KILLED, SBX_REASON_NONE, explain_host_oom },
    { is_seccomp, SBX_SECCOMP_VIOLATION, SBX_REASON_NONE, explain_seccomp },

    /* the supervisor's own kills */
    { is_wall, SBX_TIMEOUT, SBX_REASON_WALL, explain_wall },
    { is_cpu, SBX_TIMEOUT, SBX_REASON_CPU, explain_cpu },
    { is_cpu_per_second, SBX_TIMEOUT, SBX_REASON_CPU_PER_SECOND,
      explain_cpu_per_second },
    { is_stdout, SBX_OUTPUT_EXCEEDED, SBX_REASON_STDOUT, explain_output },
    { is_stderr, SBX_OUTPUT_EXCEEDED, SBX_REASON_STDERR, explain_output },
    { is_watermark, SBX_MEMORY_EXCEEDED, SBX_REASON_WATERMARK,
      explain_memory },

    /* the hook's page */
    { is_allocation, SBX_MEMORY_EXCEEDED, SBX_REASON_ALLOCATION,
      explain_hook },
    { is_hook, SBX_MEMORY_EXCEEDED, SBX_REASON_HOOK, explain_hook },

    /* the end of the program itself, with counters that explain it */
    { is_fault, SBX_MEMORY_VIOLATION, SBX_REASON_NONE, explain_fault },
    { is_disk, SBX_DISK_EXCEEDED, SBX_REASON_NONE, explain_disk },
    { is_process, SBX_PROCESS_EXCEEDED, SBX_REASON_NONE, explain_process },
    { is_file, SBX_FILE_EXCEEDED, SBX_REASON_NONE, explain_file },
    { is_signal, SBX_SIGNALED, SBX_REASON_NONE, explain_signal },
    { is_error, SBX_ERROR, SBX_REASON_NONE, explain_exit },
    { is_success, SBX_SUCCESS, SBX_REASON_NONE, NULL }
};


void
sbx_judge(const sbx_evidence_t *ev, sbx_verdict_t *v)
{
    const rule_t *r = rules;

    if (WIFEXITED(ev->wait_status)) {
        v->exit_code = WEXITSTATUS(ev->wait_status);

    } else if (WIFSIGNALED(ev->wait_status)) {
        v->signal = WTERMSIG(ev->wait_status);
    }

    while (!r->applies(ev, v)) {
        r++;
    }

    v->status = r->status;
    v->reason = r->reason;

    if (r->explain != NULL) {
        r->explain(ev, v);
    }

    if (v->violation.type != SBX_VIOLATION_NONE) {
        v->violation.timestamp_ms = ev->event_realtime_ms;
    }
}
