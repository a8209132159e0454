/*
 * sbx_node_engine.c: what node, libuv, V8 and OpenSSL know of time, chance and
 * the event loop, made a child's own.
 *
 * Runs in the Node zygote (open, spin) and in the child.  All of it is reached by
 * symbols that node exports.
 */

#include "sbx_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "sbx_node_api.h"

#define TIMERS_MAX      64
#define UV_TIMER        13      /* uv_handle_type, the same in all of libuv 1 */
#define SEED_BYTES      48
#define NS              1000000000u

typedef struct {
    void *timer;
    uint64_t due_ms;            /* from when the loop's clock stood still */
    uint64_t repeat_ms;
} due_t;

typedef struct {
    void *(*default_loop)(void);
    int (*backend_fd)(const void *loop);
    int (*run)(void *loop, int mode);
    int (*loop_fork)(void *loop);
    void (*update_time)(void *loop);
    void (*walk)(void *loop, void (*each)(void *, void *), void *arg);
    int (*handle_get_type)(const void *handle);
    int (*is_active)(const void *handle);
    uint64_t (*timer_get_due_in)(const void *timer);
    uint64_t (*timer_get_repeat)(const void *timer);
    int (*timer_again)(void *timer);
    void (*timer_set_repeat)(void *timer, uint64_t ms);
    uint64_t (*hrtime)(void);
} uv_t;

/* The beginning of uv_loop_t, as in uv.h of node 18 to 24. */
typedef struct {
    void *data;
    unsigned active_handles;
    void *handles[2];
    union {
        void *unused;
        unsigned count;
    } requests;
} loop_t;

/* V8's, as C sees them: a handle is the address of a slot. */
typedef struct {
    void *(*isolate)(void);
    void *(*context)(void *isolate);
    void *(*generator)(void *isolate);
    void (*set_seed)(void *generator, int64_t seed);
    void (*reset_math)(uintptr_t context);
    void *(*get)(void *object, void *context, void *key);
} v8_t;

/* V8's two clocks: one of its own, one that it asks node for. */
typedef struct {
    const char *now;                /* a function, and its length */
    size_t now_len;
    void **methods;                 /* of node's v8::Platform */
    double (*platform)(void *self);
} clocks_t;

static uv_t uv;
static v8_t v8;
static clocks_t clocks;
static uint64_t stood_at_ns, stood_ns;      /* since; and how long so far */
static int (*libc_gettime)(clockid_t clock, struct timespec *time);
static void (*rand_seed)(const void *bytes, int n);
static uint64_t *process_start, *performance_start;
static double *performance_start_us;
static pid_t zygote_pid;
static struct timespec began_mono, began_real;

static const struct {
    void *to;
    const char *name;
    int needed;
} symbols[] = {
    { &uv.default_loop, "uv_default_loop", 1 },
    { &uv.backend_fd, "uv_backend_fd", 1 },
    { &uv.run, "uv_run", 1 },
    { &uv.loop_fork, "uv_loop_fork", 1 },
    { &uv.update_time, "uv_update_time", 1 },
    { &uv.walk, "uv_walk", 1 },
    { &uv.handle_get_type, "uv_handle_get_type", 1 },
    { &uv.is_active, "uv_is_active", 1 },
    { &uv.timer_get_due_in, "uv_timer_get_due_in", 1 },
    { &uv.timer_get_repeat, "uv_timer_get_repeat", 1 },
    { &uv.timer_again, "uv_timer_again", 1 },
    { &uv.timer_set_repeat, "uv_timer_set_repeat", 1 },
    { &uv.hrtime, "uv_hrtime", 1 },
    { &rand_seed, "RAND_seed", 1 },
    { &v8.isolate, "_ZN2v87Isolate10GetCurrentEv", 1 },
    { &v8.context, "_ZN2v87Isolate17GetCurrentContextEv", 1 },
    { &v8.get, "_ZN2v86Object3GetENS_5LocalINS_7ContextEEE"
               "NS1_INS_5ValueEEE", 0 },
    { &v8.generator,
      "_ZN2v88internal7Isolate23random_number_generatorEv", 0 },
    { &v8.set_seed, "_ZN2v84base21RandomNumberGenerator7SetSeedEl", 0 },
    { &v8.reset_math,
      "_ZN2v88internal10MathRandom12ResetContextENS0_7ContextE", 0 },
    { &clocks.now, "_ZN2v84base9TimeTicks3NowEv", 0 },
    { &clocks.methods, "_ZTVN4node12NodePlatformE", 0 },
    { &clocks.platform,
      "_ZN4node12NodePlatform27MonotonicallyIncreasingTimeEv", 0 },
    { &process_start, "_ZN4node11per_process15node_start_timeE", 0 },

    /* node 20 and later, then 18 */
    { &performance_start,
      "_ZN4node11performance25performance_process_startE", 0 },
    { &performance_start_us,
      "_ZN4node11performance35performance_process_start_timestampE", 0 },
    { &performance_start, "_ZN4node11performance10timeOriginE", 0 },
    { &performance_start_us,
      "_ZN4node11performance19timeOriginTimestampE", 0 },

    /* V8 12: another spelling of the same argument */
    { &v8.reset_math, "_ZN2v88internal10MathRandom12ResetContext"
                      "ENS0_6TaggedINS0_7ContextEEE", 0 }
};


/* In place of node's, which is the same with nothing taken away. */
static double
platform_time(void *self)
{
    (void) self;

    return (double) (uv.hrtime() - stood_ns) / 1e9;
}


/* A symbol's, in bytes; 0: there is no such symbol. */
static size_t
size_of(const void *at)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;

    return at != NULL && dladdr1(at, &info, (void **) &symbol, RTLD_DL_SYMENT)
           && symbol != NULL && info.dli_saddr == at ? symbol->st_size : 0;
}


/* Of the mapping that has the address, for mprotect; 0: not known. */
static int
rights_of(uintptr_t at)
{
    int rights = 0;
    char line[512], mode[5];
    unsigned long lo, hi;
    FILE *maps = fopen("/proc/self/maps", "re");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx %4s", &lo, &hi, mode) == 3 && lo <= at
            && at < hi)
        {
            rights = (mode[0] == 'r' ? PROT_READ : 0)
                     | (mode[1] == 'w' ? PROT_WRITE : 0)
                     | (mode[2] == 'x' ? PROT_EXEC : 0);
        }
    }

    if (maps != NULL) {
        fclose(maps);
    }

    return rights;
}


/*
 * V8 judges by the bytes allocated per second how large its young generation
 * should be.  With the time that a zygote waited for work no program would
 * allocate anything, and in its first ten collections that space would shrink
 * each time.  So V8's clocks stand still with the zygote; a program's own
 * (performance.now, process.hrtime) do not.  Both clocks or none: where a
 * version of node has others, a program collects some milliseconds longer.
 */
static void
find_clocks(void)
{
    int rights;
    size_t i, len, methods;
    uintptr_t page;
    void *own, *ours;
    size_t size = (size_t) sysconf(_SC_PAGESIZE);
    double (*time)(void *self) = platform_time;

    len = size_of(clocks.now);
    methods = size_of(clocks.methods) / sizeof(void *);
    memcpy(&own, &clocks.platform, sizeof(own));
    memcpy(&ours, &time, sizeof(ours));

    for (i = 0; i < methods && clocks.methods[i] != own; i++) {
        /* void */
    }

    if (len == 0 || own == NULL || i == methods) {
        return;
    }

    page = (uintptr_t) &clocks.methods[i] & ~(size - 1);
    rights = rights_of(page);

    if (rights != 0
        && mprotect((void *) page, size, rights | PROT_WRITE) == 0)
    {
        clocks.methods[i] = ours;
        (void) mprotect((void *) page, size, rights);
        clocks.now_len = len;
    }
}


/* Everybody's clock_gettime; only what V8 is told differs. */
int
clock_gettime(clockid_t clock, struct timespec *time)
{
    int rc;
    uint64_t ns;
    size_t from = (size_t) ((const char *) __builtin_return_address(0)
                            - clocks.now);

    if (libc_gettime == NULL) {
        libc_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    }

    rc = libc_gettime(clock, time);

    if (rc == 0 && clock == CLOCK_MONOTONIC && from < clocks.now_len) {
        ns = (uint64_t) time->tv_sec * NS + (uint64_t) time->tv_nsec - stood_ns;
        time->tv_sec = (time_t) (ns / NS);
        time->tv_nsec = (long) (ns % NS);
    }

    return rc;
}


int
sbx_node_engine_open(sbx_err_t *err)
{
    size_t i;
    void *at;

    zygote_pid = getpid();

    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        at = dlsym(RTLD_DEFAULT, symbols[i].name);

        if (at != NULL) {
            memcpy(symbols[i].to, &at, sizeof(at));

        } else if (symbols[i].needed) {
            return sbx_fail(err, SBX_STEP_ZYGOTE, ENOSYS, "this node does not "
                            "export %s", symbols[i].name);
        }
    }

    find_clocks();

    return 0;
}


const void *
sbx_node_engine_text(void)
{
    return (const void *) (uintptr_t) v8.isolate;
}


int
sbx_node_engine_loop_forked(sbx_err_t *err)
{
    int rc = uv.loop_fork(uv.default_loop());

    if (rc != 0) {
        return sbx_fail(err, SBX_STEP_FDS, -rc, "node's event loop");
    }

    return 0;
}


int
sbx_node_engine_loop_fd(void)
{
    return uv.backend_fd(uv.default_loop());
}


int
sbx_node_engine_has_requests(void)
{
    const loop_t *loop = uv.default_loop();

    return loop->requests.count > 0;
}


static int
reseeds_math(void)
{
    return v8.generator != NULL && v8.set_seed != NULL
           && v8.reset_math != NULL;
}


/* Where V8 does not export what Math.random is seeded by, it has a flag. */
int
sbx_node_engine_math_seed(void)
{
    uint32_t seed = 0;

    if (reseeds_math()) {
        return 0;
    }

    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
        _exit(1);       /* with the same seed as its siblings: rather not */
    }

    return (int) (seed & 0x7fffffff) | 1;
}


/*
 * OpenSSL notices a fork by the process's number, and seeds itself anew with its
 * next random byte.  In another namespace a child may have its zygote's number.
 */
int
sbx_node_engine_reseed(sbx_err_t *err)
{
    int64_t seed;
    void *isolate;
    uintptr_t *context;
    unsigned char bytes[SEED_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)
        || getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
    {
        return sbx_fail(err, SBX_STEP_JOB, errno, "random numbers");
    }

    if (getpid() == zygote_pid) {
        rand_seed(bytes, sizeof(bytes));
    }

    if (reseeds_math()) {
        isolate = v8.isolate();
        context = v8.context(isolate);
        v8.set_seed(v8.generator(isolate), seed);
        v8.reset_math(*context);
    }

    return 0;
}


static void
note_timer(void *handle, void *arg)
{
    due_t *due = arg;

    while (due->timer != NULL) {
        due++;
    }

    if (uv.handle_get_type(handle) == UV_TIMER && uv.is_active(handle)
        && due[1].due_ms != UINT64_MAX)
    {
        due->timer = handle;
        due->due_ms = uv.timer_get_due_in(handle);
        due->repeat_ms = uv.timer_get_repeat(handle);
    }
}


/*
 * The loop's clock stood still while the zygote, or a child on standby, waited.
 * An update alone would make every timer of the zygote's overdue: V8 has one of
 * eight seconds that starts a full collection, in each hello of an older zygote.
 * Each keeps what it still had to wait.  uv_timer_again is the one call that
 * moves a timer and leaves its callback.
 */
static void
skip_timers(void)
{
    int i;
    void *loop = uv.default_loop();
    due_t due[TIMERS_MAX + 1];

    memset(due, 0, sizeof(due));
    due[TIMERS_MAX].due_ms = UINT64_MAX;
    uv.walk(loop, note_timer, due);
    uv.update_time(loop);

    for (i = 0; i < TIMERS_MAX && due[i].timer != NULL; i++) {
        uv.timer_set_repeat(due[i].timer, due[i].due_ms ? due[i].due_ms : 1);
        (void) uv.timer_again(due[i].timer);
        uv.timer_set_repeat(due[i].timer, due[i].repeat_ms);
    }
}


void
sbx_node_engine_stand_still(void)
{
    stood_at_ns = uv.hrtime();
}


/* Waiting is over, in the zygote or in a child on standby. */
void
sbx_node_engine_skip_time(void)
{
    stood_ns += uv.hrtime() - stood_at_ns;
    sbx_node_engine_stand_still();
    skip_timers();
}


void
sbx_node_engine_start_clock(void)
{
    uint64_t mono_ns;

    clock_gettime(CLOCK_MONOTONIC, &began_mono);
    clock_gettime(CLOCK_REALTIME, &began_real);
    mono_ns = (uint64_t) began_mono.tv_sec * NS
              + (uint64_t) began_mono.tv_nsec;

    if (process_start != NULL) {
        *process_start = mono_ns;
    }

    if (performance_start != NULL) {
        *performance_start = mono_ns;
    }

    if (performance_start_us != NULL) {
        *performance_start_us = (double) began_real.tv_sec * 1e6
                                + (double) began_real.tv_nsec / 1e3;
    }

    sbx_node_engine_skip_time();
}


void
sbx_node_engine_times(double *mono_ns, double *real_us)
{
    *mono_ns = (double) began_mono.tv_sec * 1e9 + (double) began_mono.tv_nsec;
    *real_us = (double) began_real.tv_sec * 1e6
               + (double) began_real.tv_nsec / 1e3;
}


void
sbx_node_engine_spin(int mode)
{
    (void) uv.run(uv.default_loop(), mode);
}


void *
sbx_node_engine_get(void *object, void *key)
{
    return v8.get == NULL ? NULL
                          : v8.get(object, v8.context(v8.isolate()), key);
}
