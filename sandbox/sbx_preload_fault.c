/*
 * sbx_preload_fault.c: where a program faulted, for the verdict's `violation`.
 *
 * Runs where sbx_preload.c runs, in a signal handler on a stack of its own: a
 * stack overflow leaves no other.  It records, restores the default action and
 * returns; the instruction faults again, and the process ends by the signal it
 * would have ended by.  No wait status differs with and without it.
 *
 * Programs must not see it: CPython asks for every disposition when it starts,
 * and Node sets them all to default.  So sigaction and signal answer SIG_DFL in
 * its place, and keep it where a program sets SIG_DFL.  A handler of the
 * program's own (faulthandler, Node's trap handler) takes its place, and then
 * the supervisor knows the signal alone.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sbx_preload.h"

#if !defined(__x86_64__)
#error "the fault record reads x86-64 registers"
#endif

#define STACK_SIZE      (64 << 10)

/* How far from the stack pointer an overflow's fault can be: frames of up to
 * this size are entered without a probe between. */
#define STACK_REACH     (64 << 10)


typedef int (*sigaction_pt)(int sig, const struct sigaction *act,
    struct sigaction *old);

/* Reads /proc/self/maps piece by piece, without stdio. */
typedef struct {
    int fd;
    size_t len, pos;
    char text[1024];
} maps_t;


/* glibc's own names, which nobody interposes */
extern int __sigaction(int sig, const struct sigaction *act,
    struct sigaction *old);
extern __typeof__(signal) ssignal;

static void record_fault(int sig, siginfo_t *info, void *context);
static void find_region(sbx_page_t *page, uint64_t at);


static const int fault_signals[] = { SIGSEGV, SIGBUS };

#define NFAULTS     (sizeof(fault_signals) / sizeof(fault_signals[0]))

/* What the program thinks it has set, while ours is in place. */
static struct sigaction shown[NFAULTS];
static struct sigaction ours;
static char stack[STACK_SIZE] __attribute__((aligned(16)));
static uintptr_t stack_top;
static int active;


void
sbx_hook_fault_start(void)
{
    size_t i;
    struct sigaction old;
    stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

    ours.sa_sigaction = record_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);

    /* The environment lies above every frame of the main thread. */
    stack_top = (uintptr_t) environ;

    if (sigaltstack(&alternate, NULL) != 0) {
        return;
    }

    for (i = 0; i < NFAULTS; i++) {
        if (__sigaction(fault_signals[i], NULL, &old) == 0
            && old.sa_handler == SIG_DFL)
        {
            __sigaction(fault_signals[i], &ours, NULL);
        }
    }

    active = 1;
}


/* Index in fault_signals, or -1 for a signal that is none of ours. */
static int
find_signal(int sig)
{
    size_t i;

    for (i = 0; active && i < NFAULTS; i++) {
        if (fault_signals[i] == sig) {
            return (int) i;
        }
    }

    return -1;
}


static int
is_default(const struct sigaction *act)
{
    return !(act->sa_flags & SA_SIGINFO) && act->sa_handler == SIG_DFL;
}


SBX_HOOK_EXPORT int
sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    int rc, i = find_signal(sig);
    struct sigaction was, wanted;

    if (i < 0) {
        return __sigaction(sig, act, old);
    }

    if (act != NULL) {
        wanted = *act;      /* may be the same object as *old */
    }

    rc = __sigaction(sig, act != NULL && is_default(act) ? &ours : act, &was);

    if (rc != 0) {
        return rc;
    }

    if (old != NULL) {
        *old = was.sa_sigaction == record_fault ? shown[i] : was;
    }

    if (act != NULL) {
        shown[i] = wanted;
    }

    return 0;
}


SBX_HOOK_EXPORT sighandler_t
signal(int sig, sighandler_t handler)
{
    struct sigaction act, old;

    if (find_signal(sig) < 0 || handler == SIG_ERR) {
        return ssignal(sig, handler);
    }

    memset(&act, 0, sizeof(act));
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigemptyset(&act.sa_mask);
    sigaddset(&act.sa_mask, sig);

    return sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}


static sbx_hook_event_t
classify(int sig, uint64_t fault, uint64_t sp)
{
    if (sig == SIGBUS) {
        return SBX_HOOK_BUS;
    }

    /* Below the stack's top, or it is a buffer overrun that left the stack at
     * the other end. */
    if (fault < stack_top && fault + STACK_REACH > sp
        && fault < sp + STACK_REACH)
    {
        return SBX_HOOK_STACK;
    }

    return SBX_HOOK_SEGV;
}


static void
record_fault(int sig, siginfo_t *info, void *context)
{
    const greg_t *regs = ((ucontext_t *) context)->uc_mcontext.gregs;
    sbx_page_t *page = sbx_hook_page;
    struct sigaction fallback = { .sa_handler = SIG_DFL };
    struct timespec now;
    uint32_t none = SBX_HOOK_NONE;
    uint64_t fault = (uint64_t) (uintptr_t) info->si_addr;
    sbx_hook_event_t event = classify(sig, fault, (uint64_t) regs[REG_RSP]);

    __sigaction(sig, &fallback, NULL);

    if (info->si_code <= 0) {
        /* Sent, not raised by an instruction: it would not come again. */
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
        return;
    }

    /* The run's own end; the fault of a process it forked is not it. */
    if (sbx_hook_is_forked()) {
        return;
    }

    clock_gettime(CLOCK_MONOTONIC, &now);

    sbx_hook_set(&page->fault_address, fault);
    sbx_hook_set(&page->fault_sp, (uint64_t) regs[REG_RSP]);
    sbx_hook_set(&page->fault_ip, (uint64_t) regs[REG_RIP]);
    sbx_hook_set(&page->fault_error, (uint64_t) regs[REG_ERR]);

    if (__atomic_compare_exchange_n(&page->event, &none, event, 0,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {
        sbx_hook_set(&page->live_at_event, sbx_hook_get(&page->live));
        sbx_hook_set(&page->event_ns, (uint64_t) now.tv_sec * 1000000000u
                                      + (uint64_t) now.tv_nsec);
    }

    /* the stack's own mapping lies above what it overflowed into */
    find_region(page, event == SBX_HOOK_STACK ? stack_top : fault);
}


/* The next character, or -1 at the end. */
static int
next_char(maps_t *maps)
{
    long n;

    if (maps->pos == maps->len) {
        n = syscall(SYS_read, maps->fd, maps->text, sizeof(maps->text));

        if (n <= 0) {
            return -1;
        }

        maps->len = (size_t) n;
        maps->pos = 0;
    }

    return (unsigned char) maps->text[maps->pos++];
}


static uint64_t
next_hex(maps_t *maps)
{
    int c;
    uint64_t value = 0;

    for ( ;; ) {
        c = next_char(maps);

        if (c >= '0' && c <= '9') {
            value = value * 16 + (uint64_t) (c - '0');

        } else if (c >= 'a' && c <= 'f') {
            value = value * 16 + (uint64_t) (c - 'a' + 10);

        } else {
            return value;
        }
    }
}


/*
 * The block that was overrun: the nearest writable mapping below `at`, or
 * around it.  Lines are sorted: "7f12000-7f34000 rw-p …".
 */
static void
find_region(sbx_page_t *page, uint64_t at)
{
    int c;
    uint64_t lo, hi, best_lo = 0, best_hi = 0;
    maps_t maps = { .fd = -1 };

    maps.fd = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                            O_RDONLY | O_CLOEXEC, 0);
    if (maps.fd < 0) {
        return;
    }

    do {
        lo = next_hex(&maps);
        hi = next_hex(&maps);

        if (lo > at || hi <= lo) {
            break;
        }

        next_char(&maps);

        if (next_char(&maps) == 'w') {
            best_lo = lo;
            best_hi = hi;
        }

        do {
            c = next_char(&maps);
        } while (c != '\n' && c != -1);

    } while (c != -1);

    syscall(SYS_close, maps.fd);

    sbx_hook_set(&page->region_lo, best_lo);
    sbx_hook_set(&page->region_hi, best_hi);
}
