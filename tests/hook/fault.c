/*
 * fault.c: ways to fault, and what a program sees of the hook's handler.
 *
 *     fault WAY       ends by the signal; the page tells the rest
 *     fault see       TAP: dispositions as without the hook
 */

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"


static volatile uintptr_t nowhere = 16;
static volatile int deep = 1;


static void
do_null(void)
{
    *(volatile int *) nowhere = 1;
}


static void
do_read(void)
{
    volatile char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap((void *) (p + 4096), 4096);
    printf("%p\n", (void *) p);
    fflush(stdout);
    (void) p[4096];
}


static void
do_exec(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ((void (*)(void)) p)();
}


static int __attribute__((noinline))
recurse(volatile char *above)
{
    volatile char frame[3000];

    frame[0] = above[0];

    if (!deep) {
        return 0;
    }

    return recurse(frame) + frame[0];
}


static void
do_stack(void)
{
    char c = 0;

    recurse(&c);
}


/* Out of the stack's other end: an overrun, no overflow. */
static void
do_above(void)
{
    volatile char c[16];
    size_t i;

    for (i = 0; i < 64 << 20; i++) {
        *((volatile char *) c + i) = 0;
    }
}


static void
do_bus(void)
{
    FILE *f = tmpfile();
    volatile char *p;

    if (ftruncate(fileno(f), 4096) != 0) {
        return;
    }

    p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(f), 0);
    (void) p[4096];
}


static void
do_raise(void)
{
    raise(SIGSEGV);
}


static void
do_sent(void)
{
    kill(getpid(), SIGSEGV);
}


static void
do_default(void)
{
    signal(SIGSEGV, SIG_IGN);
    signal(SIGSEGV, SIG_DFL);
    do_null();
}


static void *
null_thread(void *unused)
{
    do_null();
    return unused;
}


static void
do_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, null_thread, NULL);
    pthread_join(thread, NULL);
}


static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    { "null", do_null },
    { "read", do_read },
    { "exec", do_exec },
    { "stack", do_stack },
    { "above", do_above },
    { "bus", do_bus },
    { "raise", do_raise },
    { "sent", do_sent },
    { "default", do_default },
    { "thread", do_thread }
};


static void
handler(int sig)
{
    (void) sig;
    _exit(0);
}


static int
see(void)
{
    struct sigaction act, old;

    sigaction(SIGSEGV, NULL, &old);
    check(old.sa_handler == SIG_DFL && old.sa_flags == 0,
          "SIGSEGV is at its default");
    sigaction(SIGBUS, NULL, &old);
    check(old.sa_handler == SIG_DFL, "SIGBUS too");

    check(signal(SIGSEGV, handler) == SIG_DFL, "signal returns the default");
    sigaction(SIGSEGV, NULL, &old);
    check(old.sa_handler == handler && (old.sa_flags & SA_RESTART),
          "a handler is seen as it was set");

    memset(&act, 0, sizeof(act));
    act.sa_handler = SIG_DFL;
    act.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &act, &old);
    check(old.sa_handler == handler, "sigaction returns what was set");
    sigaction(SIGSEGV, NULL, &old);
    check(old.sa_handler == SIG_DFL && (old.sa_flags & SA_NODEFER),
          "the default is seen as it was set");

    check(signal(SIGSEGV, SIG_IGN) == SIG_DFL
          && signal(SIGSEGV, SIG_DFL) == SIG_IGN, "SIG_IGN and back");
    check(signal(SIGUSR1, handler) == SIG_DFL
          && signal(SIGUSR1, SIG_DFL) == handler, "other signals pass");
    check(signal(SIGKILL, handler) == SIG_ERR
          && signal(SIGSEGV, SIG_ERR) == SIG_ERR, "mistakes fail");

    signal(SIGSEGV, handler);

    if (finish() != 0) {
        return 1;
    }

    do_null();
    return 2;
}


int
main(int argc, char **argv)
{
    size_t i;

    if (argc == 2 && strcmp(argv[1], "see") == 0) {
        return see();
    }

    for (i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
        }
    }

    return 2;
}
