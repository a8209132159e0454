/*
 * sbx_node_threads.c: node's helper threads, which a fork does not copy.
 *
 * Runs in the Node zygote and its children, in place of a few of libc's calls.
 * The zygote's threads sleep when it forks.  In the child they are gone: who
 * waits for one of them to end is told that it has, and the platform's workers
 * (concurrent collection and compilation) start anew when their first task is
 * posted, so that a short program never pays for them.  What an unknown version
 * of node does differently shows in the zygote's self-test.
 */

#include "sbx_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX     64
#define ATFORK_MAX      32
#define STACK_DEFAULT   (8ul << 20)
#define PARK_STEP_US    500

/* How far from a frame of a constructor the main thread's stack may reach. */
#define MAIN_STACK_UP   (8ul << 20)
#define MAIN_STACK_DOWN (64ul << 20)

typedef struct {
    pthread_t handle;           /* as node knows it */
    pthread_t again;            /* started anew in the child */
    int restarted;
    void *(*start)(void *);
    void *arg;
    size_t stack;
    int worker;                 /* of the platform's pool */
    volatile int parks;         /* has waited for a condition: of some pool */
    pthread_cond_t *volatile condition;     /* waits for it now */
    pthread_mutex_t *volatile mutex;
} thread_t;

/* libc's, behind ours */
typedef struct {
    long (*syscall)(long, ...);
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
        void *);
    int (*join)(pthread_t, void **);
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*timedwait)(pthread_cond_t *, pthread_mutex_t *,
        const struct timespec *);
    int (*signal)(pthread_cond_t *);
    int (*atfork)(void (*)(void), void (*)(void), void (*)(void), void *);
    void (*exit)(int) __attribute__((noreturn));
} libc_t;


int __register_atfork(void (*prepare)(void), void (*parent)(void),
    void (*child)(void), void *dso);

int sbx_node_in_child;

static thread_t threads[THREADS_MAX];
static int nthreads;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread thread_t *self;

static void (*atfork_child[ATFORK_MAX])(void);
static int natfork;

static pthread_cond_t *task_posted;     /* the platform's workers wait for it */
static int revived;
static char *main_stack;
static libc_t libc;


static void *run_thread(void *data);
static int is_worker(void *arg);
static void revive(void);


/*
 * By version where there are several: without one, dlsym may give the oldest, of
 * which a condition has another layout.
 */
static void *
next(const char *name, const char *version)
{
    void *symbol = dlvsym(RTLD_NEXT, name, version);

    return symbol != NULL ? symbol : dlsym(RTLD_NEXT, name);
}


static void __attribute__((constructor))
find_libc(void)
{
    if (libc.create != NULL) {
        return;
    }

    main_stack = __builtin_frame_address(0);
    sbx_node_note_command();
    libc.join = dlsym(RTLD_NEXT, "pthread_join");
    libc.wait = next("pthread_cond_wait", "GLIBC_2.3.2");
    libc.timedwait = next("pthread_cond_timedwait", "GLIBC_2.3.2");
    libc.signal = next("pthread_cond_signal", "GLIBC_2.3.2");
    libc.syscall = dlsym(RTLD_NEXT, "syscall");
    libc.atfork = dlsym(RTLD_NEXT, "__register_atfork");
    libc.exit = dlsym(RTLD_NEXT, "exit");
    libc.create = dlsym(RTLD_NEXT, "pthread_create");

    if (libc.create == NULL || libc.join == NULL || libc.wait == NULL
        || libc.timedwait == NULL || libc.signal == NULL
        || libc.syscall == NULL || libc.atfork == NULL || libc.exit == NULL)
    {
        fprintf(stderr, "libsbx_node.so: this libc lacks a call of threads\n");
        _exit(1);
    }
}


/*
 * An event loop with a ring would share its memory with all children, which may
 * not call it.  libuv does without where the kernel has none.
 */
long
syscall(long number, ...)
{
    int i;
    long arg[6];
    va_list args;

    find_libc();

    if (number == SYS_io_uring_setup) {
        errno = ENOSYS;
        return -1;
    }

    va_start(args, number);

    for (i = 0; i < 6; i++) {
        arg[i] = va_arg(args, long);
    }

    va_end(args);

    return libc.syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4],
                        arg[5]);
}


/*
 * In the zygote each thread gets a stack of ours.  libc would give the stack of
 * a lost one, and with it the same pthread_t, to a new thread of the child, and
 * a join could not tell the two apart.
 */
int
pthread_create(pthread_t *handle, const pthread_attr_t *attr,
    void *(*start)(void *), void *arg)
{
    int rc, detached = PTHREAD_CREATE_JOINABLE;
    char *stack;
    size_t guard = (size_t) sysconf(_SC_PAGESIZE);
    thread_t *t = NULL;
    pthread_attr_t own;

    find_libc();

    if (sbx_node_in_child) {
        return libc.create(handle, attr, start, arg);
    }

    pthread_mutex_lock(&threads_lock);

    if (nthreads < THREADS_MAX) {
        t = &threads[nthreads++];
    }

    pthread_mutex_unlock(&threads_lock);

    if (t == NULL) {
        return EAGAIN;
    }

    t->start = start;
    t->arg = arg;
    t->worker = is_worker(arg);

    if (attr != NULL) {
        pthread_attr_getstacksize(attr, &t->stack);
        pthread_attr_getdetachstate(attr, &detached);
    }

    if (t->stack == 0) {
        t->stack = STACK_DEFAULT;
    }

    stack = mmap(NULL, t->stack + guard, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
                 0);

    if (stack == MAP_FAILED || mprotect(stack, guard, PROT_NONE) < 0) {
        return EAGAIN;
    }

    pthread_attr_init(&own);
    pthread_attr_setdetachstate(&own, detached);
    pthread_attr_setstack(&own, stack + guard, t->stack);
    rc = libc.create(handle, &own, run_thread, t);
    pthread_attr_destroy(&own);
    t->handle = *handle;

    return rc;
}


static void *
run_thread(void *data)
{
    self = data;

    return self->start(self->arg);
}


static int
is_on_main_stack(const void *p)
{
    return (const char *) p > main_stack - MAIN_STACK_DOWN
           && (const char *) p < main_stack + MAIN_STACK_UP;
}


/*
 * What node gives a worker is { queue, mutex *, condition *, int *, id }; the
 * three in the middle lie in the frame of the constructor that starts them.  No
 * other thread's argument looks like that.  An allocated block has room for
 * three pointers at least, and the next one's head behind them.
 */
static int
is_worker(void *arg)
{
    void **part = arg;

    return arg != NULL && !is_on_main_stack(arg)
           && ((uintptr_t) arg & (sizeof(void *) - 1)) == 0
           && part[0] != NULL && !is_on_main_stack(part[0])
           && is_on_main_stack(part[1]) && is_on_main_stack(part[2])
           && is_on_main_stack(part[3]);
}


int
pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int rc;

    find_libc();

    if (self == NULL) {
        return libc.wait(condition, mutex);
    }

    self->mutex = mutex;
    self->condition = condition;
    self->parks = 1;
    rc = libc.wait(condition, mutex);
    self->condition = NULL;

    return rc;
}


int
pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
    const struct timespec *until)
{
    int rc;

    find_libc();

    if (self == NULL) {
        return libc.timedwait(condition, mutex, until);
    }

    self->mutex = mutex;
    self->condition = condition;
    rc = libc.timedwait(condition, mutex, until);
    self->condition = NULL;

    return rc;
}


int
pthread_cond_signal(pthread_cond_t *condition)
{
    find_libc();

    if (sbx_node_in_child && condition == task_posted && !revived) {
        revive();
    }

    return libc.signal(condition);
}


/*
 * The workers begin as they did in the zygote, but for the handshake with their
 * constructor, whose frame is gone.  Without any of them the first task would be
 * waited for until the run's time is over: rather the abort by which node itself
 * answers a thread that it cannot have.
 */
static void
revive(void)
{
    int i, n = 0;
    void **part;
    thread_t *t;
    pthread_attr_t attr;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static int pending;

    revived = 1;

    for (i = 0; i < nthreads; i++) {
        t = &threads[i];

        if (!t->worker) {
            continue;
        }

        part = t->arg;
        part[1] = &mutex;
        part[2] = &condition;
        part[3] = &pending;

        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, t->stack);
        t->restarted = libc.create(&t->again, &attr, t->start, t->arg) == 0;
        pthread_attr_destroy(&attr);
        n += t->restarted;
    }

    if (n == 0) {
        abort();
    }
}


int
pthread_join(pthread_t handle, void **result)
{
    int i;
    thread_t *t;

    find_libc();

    for (i = 0; sbx_node_in_child && i < nthreads; i++) {
        t = &threads[i];

        if (t->handle != handle) {
            continue;
        }

        if (t->restarted) {
            return libc.join(t->again, result);
        }

        if (result != NULL) {
            *result = NULL;
        }

        return 0;
    }

    return libc.join(handle, result);
}


/* In a child, nothing is left to be taken apart: destructors would be copies. */
void
exit(int code)
{
    find_libc();

    if (sbx_node_in_child) {
        fflush(NULL);
        _exit(code);
    }

    libc.exit(code);
}


/* A raw clone calls none of these, so the child does. */
int
__register_atfork(void (*prepare)(void), void (*parent)(void),
    void (*child)(void), void *dso)
{
    find_libc();

    if (!sbx_node_in_child && child != NULL && natfork < ATFORK_MAX) {
        atfork_child[natfork++] = child;
    }

    return libc.atfork(prepare, parent, child, dso);
}


/* All that belong to a pool sleep; the workers, for *posted. */
static int
is_parked(pthread_cond_t **posted)
{
    int i;
    pthread_cond_t *condition;

    *posted = NULL;

    for (i = 0; i < nthreads; i++) {
        condition = threads[i].condition;

        if ((threads[i].worker || threads[i].parks) && condition == NULL) {
            return 0;
        }

        if (threads[i].worker) {
            *posted = condition;
        }
    }

    return *posted != NULL;
}


int
sbx_node_threads_park(unsigned ms)
{
    unsigned waited;

    for (waited = 0; !is_parked(&task_posted); waited += PARK_STEP_US) {
        if (waited > ms * 1000) {
            return -1;
        }

        usleep(PARK_STEP_US);
    }

    return 0;
}


/*
 * A condition still counts the lost threads that wait for it, and a mutex its
 * users: signals would go to them, and destroying either would wait or fail.
 * libuv and V8 both measure by the monotonic clock.
 */
void
sbx_node_threads_forked(void)
{
    int i;
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);

    for (i = 0; i < nthreads; i++) {
        if (threads[i].condition != NULL) {
            pthread_cond_init(threads[i].condition, &attr);
            pthread_mutex_init(threads[i].mutex, NULL);
        }
    }

    pthread_condattr_destroy(&attr);

    for (i = 0; i < natfork; i++) {
        atfork_child[i]();
    }
}
