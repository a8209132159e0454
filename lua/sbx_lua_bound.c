/*
 * sbx_lua_bound.c: the bounds a policy runs in.
 *
 * Runs in the worker.  A policy is the operator's own code, so the bounds are a
 * safety net and no tenant boundary; yet it works on bytes that strangers
 * send, and a worker that hangs takes every route of the proxy with it.  So
 * memory has a cap, instructions a budget, the call a deadline, and once a
 * bound is spent, every further instruction fails: pcall cannot outlive it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sbx_lua_private.h"

#define NS_PER_MS  1000000LL

/* Input the policy did not choose: a millisecond more for this much of it. */
#define BYTES_PER_MS  (16u << 10)

/* Comparing strings that may be this long can take a while: check often. */
#define FINE_BYTES  (1u << 20)

/* Making an object of this size is a step of its own: check right after it. */
#define LARGE_BYTES (64u << 10)

/* No object may be more than this part of the cap: filling it is one step. */
#define OBJECT_PART 4


static void count_hook(lua_State *L, lua_Debug *ar);


static int64_t
clock_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


sbx_policy_t *
sbx_lua_policy(lua_State *L)
{
    return *(sbx_policy_t **) lua_getextraspace(L);
}


static void
set_step(lua_State *L, sbx_lua_bound_t *bound, int step)
{
    bound->step = step;
    lua_sethook(L, count_hook, LUA_MASKCOUNT, step);
}


/* lua_Alloc.  A refusal is not final: Lua collects garbage and asks again. */
static void *
alloc_bounded(void *data, void *old, size_t old_size, size_t size)
{
    void *block;
    sbx_lua_bound_t *bound = data;

    if (old == NULL) {
        old_size = 0;       /* Lua passes the kind of object here */
    }

    if (size == 0) {
        free(old);
        bound->used -= old_size;
        return NULL;
    }

    if (size > old_size
        && (size > bound->cap / OBJECT_PART || bound->used > bound->cap
            || size - old_size > bound->cap - bound->used))
    {
        bound->refused = 1;
        return NULL;
    }

    block = realloc(old, size);
    if (block != NULL) {
        bound->used += size;
        bound->used -= old_size;
    }

    /* lua_sethook may be called at any time: it was made for signal handlers */
    if (size >= LARGE_BYTES && bound->running != NULL) {
        set_step(bound->running, bound, 1);
    }

    return block;
}


lua_State *
sbx_lua_state_new(sbx_policy_t *policy)
{
    lua_State *L;

    memset(&policy->bound, 0, sizeof(policy->bound));
    policy->bound.cap = policy->bounds.memory_bytes;

    L = lua_newstate(alloc_bounded, &policy->bound);
    if (L != NULL) {
        *(sbx_policy_t **) lua_getextraspace(L) = policy;
    }

    return L;
}


static int
line_of(lua_State *L)
{
    int level;
    lua_Debug ar;

    for (level = 0; lua_getstack(L, level, &ar); level++) {
        if (lua_getinfo(L, "l", &ar) && ar.currentline > 0) {
            return ar.currentline;
        }
    }

    return 0;
}


/*
 * The error may be caught by a pcall of the policy, so the fact is kept in the
 * bound, and a hook at every instruction from now on ends whatever catches it.
 */
static void
exhaust(lua_State *L, sbx_lua_bound_t *bound, sbx_lua_spent_t why)
{
    if (bound->spent == SBX_LUA_ALIVE) {
        bound->spent = why;
        bound->spent_line = line_of(L);
        set_step(L, bound, 1);
    }

    luaL_error(L, "bounds exhausted");
}


/*
 * Other processes may hold the CPU while the worker waits, which is no fault of
 * the policy.  So the first half of the time is taken by the cheap clock, and
 * the second by the thread's own CPU clock: that one is a system call, which
 * the usual call, over in a microsecond, should not have to pay.
 */
static int
time_is_up(sbx_lua_bound_t *bound)
{
    int64_t now, cpu;

    now = clock_ns(CLOCK_MONOTONIC);
    if (now < bound->deadline_ns) {
        return 0;
    }

    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (bound->cpu_end_ns == 0) {
        bound->cpu_end_ns = cpu + bound->half_ns;
    }

    bound->deadline_ns = now + (bound->cpu_end_ns - cpu);
    return cpu >= bound->cpu_end_ns;
}


static void
charge(lua_State *L, sbx_lua_bound_t *bound, uint64_t n)
{
    if (bound->spent != SBX_LUA_ALIVE) {
        exhaust(L, bound, bound->spent);
    }

    if (n >= bound->budget) {
        exhaust(L, bound, SBX_LUA_SPENT_INSTRUCTIONS);
    }

    bound->budget -= n;

    if (time_is_up(bound)) {
        exhaust(L, bound, SBX_LUA_SPENT_TIME);
    }
}


static void
count_hook(lua_State *L, lua_Debug *ar)
{
    int step;
    sbx_lua_bound_t *bound = &sbx_lua_policy(L)->bound;

    (void) ar;

    charge(L, bound, (uint64_t) bound->step);

    step = bound->used > FINE_BYTES ? SBX_LUA_STEP_FINE : SBX_LUA_STEP;
    if (step != bound->step) {
        set_step(L, bound, step);
    }
}


void
sbx_lua_meter(lua_State *L, uint64_t n)
{
    uint64_t pending;
    sbx_lua_bound_t *bound = &sbx_lua_policy(L)->bound;

    bound->pending += n;

    if (bound->pending >= SBX_LUA_STEP) {
        pending = bound->pending;
        bound->pending = 0;
        charge(L, bound, pending);
    }
}


static void
arm(sbx_policy_t *policy, size_t extra)
{
    int64_t length_ns;
    sbx_lua_bound_t *bound = &policy->bound;

    bound->budget = policy->bounds.instructions + extra / 4;
    bound->pending = 0;
    bound->cap = policy->bounds.memory_bytes + 4 * (uint64_t) extra;
    bound->spent = SBX_LUA_ALIVE;
    bound->spent_line = 0;
    bound->refused = 0;

    /* copying and encoding 16 MiB takes 20 ms, where memory is slow 400 */
    length_ns = ((int64_t) policy->bounds.deadline_ms
                 + (int64_t) (extra / BYTES_PER_MS)) * NS_PER_MS;
    bound->half_ns = length_ns / 2;
    bound->deadline_ns = clock_ns(CLOCK_MONOTONIC) + bound->half_ns;
    bound->cpu_end_ns = 0;

    bound->running = policy->L;
    set_step(policy->L, bound, SBX_LUA_STEP);
}


static void
disarm(sbx_policy_t *policy)
{
    policy->bound.running = NULL;
    policy->request = NULL;
    lua_sethook(policy->L, NULL, 0, 0);
}


/*
 * Message handler: keeps strings only (asking an object for its text would run
 * its __tostring after the bounds' last check) and says where, if Lua did not.
 */
static int
explain(lua_State *L)
{
    int line;
    const char *text;

    if (lua_type(L, 1) != LUA_TSTRING) {
        lua_pushfstring(L, "error object is a %s, not a string",
                        luaL_typename(L, 1));
        lua_replace(L, 1);
    }

    text = lua_tostring(L, 1);
    line = line_of(L);

    if (line > 0 && strncmp(text, SBX_LUA_CHUNK ":",
                            sizeof(SBX_LUA_CHUNK)) != 0)
    {
        lua_pushfstring(L, SBX_LUA_CHUNK ":%d: %s", line, text);
    }

    return 1;
}


static void
report_spent(const sbx_policy_t *policy, size_t extra, char *err, size_t size)
{
    int n;
    const sbx_lua_bound_t *bound = &policy->bound;

    n = bound->spent_line
        ? snprintf(err, size, "%s:%d: ", policy->path, bound->spent_line)
        : snprintf(err, size, "%s: ", policy->path);

    if (n < 0 || (size_t) n >= size) {
        return;
    }

    if (bound->spent == SBX_LUA_SPENT_INSTRUCTIONS) {
        snprintf(err + n, size - n, "policy used more than %llu instructions",
                 (unsigned long long) (policy->bounds.instructions
                                       + extra / 4));
        return;
    }

    snprintf(err + n, size - n, "policy ran longer than %u ms",
             (unsigned) (policy->bounds.deadline_ms + extra / BYTES_PER_MS));
}


static void
report_error(const sbx_policy_t *policy, int status, const char *text,
    char *err, size_t size)
{
    const size_t skip = sizeof(SBX_LUA_CHUNK);  /* with the colon */

    if (status == LUA_ERRMEM) {
        snprintf(err, size, "%s: policy needs more than %llu bytes of memory, "
                 "or %llu for one string or table", policy->path,
                 (unsigned long long) policy->bound.cap,
                 (unsigned long long) policy->bound.cap / OBJECT_PART);
        return;
    }

    if (text == NULL) {
        text = "error without a text";
    }

    if (strncmp(text, SBX_LUA_CHUNK ":", skip) == 0
        && text[skip] >= '0' && text[skip] <= '9')
    {
        snprintf(err, size, "%s:%s", policy->path, text + skip);
        return;
    }

    snprintf(err, size, "%s: %s", policy->path, text);
}


/*
 * A state that was cut short may have half-made objects of the policy's, one
 * that keeps much will fail sooner or later.  Either is thrown away; making
 * another one takes some 50 microseconds.
 */
void
sbx_lua_settle(sbx_policy_t *policy)
{
    int renew;
    uint64_t keep = policy->bounds.memory_bytes / 2;
    sbx_lua_bound_t *bound = &policy->bound;

    renew = bound->broken || bound->refused;

    if (!renew && bound->used > keep) {
        lua_gc(policy->L, LUA_GCCOLLECT);
        renew = bound->used > keep;
    }

    if (renew) {
        lua_close(policy->L);
        policy->L = NULL;
    }
}


int
sbx_lua_protect(sbx_policy_t *policy, lua_CFunction fn, void *data,
    size_t extra, char *err, size_t size)
{
    int status, failed;
    const char *text;
    lua_State *L = policy->L;

    arm(policy, extra);

    /* none of these pushes allocates: light values on the initial stack */
    lua_settop(L, 0);
    lua_pushcfunction(L, explain);
    lua_pushcfunction(L, fn);
    lua_pushlightuserdata(L, data);

    status = lua_pcall(L, 1, 0, 1);
    disarm(policy);
    failed = status != LUA_OK || policy->bound.spent != SBX_LUA_ALIVE;

    if (policy->bound.spent != SBX_LUA_ALIVE) {
        report_spent(policy, extra, err, size);

    } else if (failed) {
        /* a string already: lua_tostring converts nothing, so no allocation */
        text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
        report_error(policy, status, text, err, size);
    }

    policy->bound.broken = status == LUA_ERRMEM || status == LUA_ERRERR
                           || policy->bound.spent != SBX_LUA_ALIVE;
    lua_settop(L, 0);

    return failed ? -1 : 0;
}
