/*
 * sbx_lua_view.c: jobs, requests, runtimes and verdicts as Lua tables.
 *
 * Runs in the worker, below sbx_lua_protect().  Copies everything, so a policy
 * may change a table it was given without changing the job; what it wants, it
 * returns.  Tables that are part of the native answer carry a mark (their
 * metatable), by which the JSON encoder knows their keys and the order.
 */

#include <stdio.h>
#include <string.h>

#include "sbx_lua_private.h"


static const char *const verdict_keys[] = {
    "status", "output", "stderr", "exit_code", "signal", "returncode", "error",
    "reason", "usage", "limits", "truncated", "replaced", "violation", NULL
};

static const char *const case_keys[] = {
    "status", "accepted", "name", "output", "stderr", "exit_code", "signal",
    "returncode", "error", "reason", "usage", "limits", "truncated", "replaced",
    "violation", NULL
};

static const char *const batch_keys[] = {
    "status", "accepted", "summary", "cases", NULL
};

static const char *const summary_keys[] = {
    "total", "accepted", "failed", "skipped", NULL
};

static const char *const usage_keys[] = {
    "wall_ms", "cpu_ms", "queue_ms", "memory_bytes", "memory_source",
    "processes", "threads", "open_files", "largest_bytes", "refused", NULL
};

static const char *const terms_keys[] = {
    "base", "code", "wanted", "factor", NULL
};

static const char *const streams_keys[] = {
    "output", "stderr", NULL
};

static const char *const violation_keys[] = {
    "violation_type", "violation_class", "address", "allocated_region",
    "timestamp", "requested_bytes", "limit_bytes", "live_bytes", "source",
    "syscall", "number", NULL
};

static const char *const no_keys[] = {
    NULL
};

/* filled from the table of limits, so a new limit appears here by itself */
static const char *limits_keys[SBX_LIMIT_COUNT + 2];

static const char *const *const views[SBX_LUA_VIEWS] = {
    [SBX_LUA_VIEW_VERDICT] = verdict_keys,
    [SBX_LUA_VIEW_USAGE] = usage_keys,
    [SBX_LUA_VIEW_LIMITS] = limits_keys,
    [SBX_LUA_VIEW_TERMS] = terms_keys,
    [SBX_LUA_VIEW_STREAMS] = streams_keys,
    [SBX_LUA_VIEW_VIOLATION] = violation_keys,
    [SBX_LUA_VIEW_BATCH] = batch_keys,
    [SBX_LUA_VIEW_SUMMARY] = summary_keys,
    [SBX_LUA_VIEW_CASE] = case_keys,
    [SBX_LUA_VIEW_LIST] = no_keys,
};


const char *const *
sbx_lua_view_keys(sbx_lua_view_t view)
{
    return views[view];
}


void
sbx_lua_open_views(lua_State *L)
{
    int i;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        limits_keys[i] = sbx_limits[i].name;
    }

    limits_keys[SBX_LIMIT_COUNT] = "memory_terms";

    for (i = 0; i < SBX_LUA_VIEWS; i++) {
        lua_createtable(L, 1, 1);
        lua_pushinteger(L, i);
        lua_rawseti(L, -2, 1);
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        sbx_lua_set_key(L, SBX_LUA_KEY_VIEW + i);
    }
}


int
sbx_lua_view_of(lua_State *L, int index)
{
    int i, found = -1;

    if (!lua_getmetatable(L, index)) {
        return -1;
    }

    for (i = 0; i < SBX_LUA_VIEWS && found < 0; i++) {
        sbx_lua_push_key(L, SBX_LUA_KEY_VIEW + i);

        if (lua_rawequal(L, -1, -2)) {
            found = i;
        }

        lua_pop(L, 1);
    }

    lua_pop(L, 1);
    return found;
}


void
sbx_lua_mark_list(lua_State *L)
{
    sbx_lua_push_key(L, SBX_LUA_KEY_VIEW + SBX_LUA_VIEW_LIST);
    lua_setmetatable(L, -2);
}


static void
push_view(lua_State *L, sbx_lua_view_t view, int size)
{
    lua_createtable(L, view == SBX_LUA_VIEW_LIST ? size : 0,
                    view == SBX_LUA_VIEW_LIST ? 0 : size);
    sbx_lua_push_key(L, SBX_LUA_KEY_VIEW + view);
    lua_setmetatable(L, -2);
}


static void
set_str(lua_State *L, const char *key, sbx_str_t value)
{
    lua_pushlstring(L, value.len ? value.data : "", value.len);
    lua_setfield(L, -2, key);
}


/* "" is what C's structs say for null */
static void
set_text(lua_State *L, const char *key, const char *value)
{
    if (*value != '\0') {
        lua_pushstring(L, value);
        lua_setfield(L, -2, key);
    }
}


static void
set_int(lua_State *L, const char *key, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer) value);
    lua_setfield(L, -2, key);
}


/* 0 is what C's structs say for "not known" */
static void
set_known(lua_State *L, const char *key, uint64_t value)
{
    if (value != 0) {
        set_int(L, key, value);
    }
}


static void
set_bool(lua_State *L, const char *key, int value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}


static void
set_ms(lua_State *L, const char *key, uint64_t us)
{
    lua_pushnumber(L, (lua_Number) us / 1000);
    lua_setfield(L, -2, key);
}


/*
 * A cpu_time of 0 means "as timeout": policies should not have to know.  A limit
 * that is none is nil.
 */
static void
push_limits(lua_State *L, const uint64_t limits[SBX_LIMIT_COUNT])
{
    int i;
    uint64_t value;

    push_view(L, SBX_LUA_VIEW_LIMITS, SBX_LIMIT_COUNT + 1);

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        value = limits[i];

        if (i == SBX_LIMIT_CPU_TIME && value == 0) {
            value = limits[SBX_LIMIT_TIMEOUT];
        }

        if (!sbx_limit_is_none((sbx_limit_id_t) i, value)) {
            set_int(L, sbx_limits[i].name, value);
        }
    }
}


void
sbx_lua_push_job(lua_State *L, const sbx_job_t *job,
    const uint64_t ceilings[SBX_LIMIT_COUNT], const sbx_policy_request_t *req)
{
    size_t i;
    uint64_t input = 0;

    for (i = 0; i < job->ncases; i++) {
        input += job->cases[i].input.len;
    }

    lua_createtable(L, 0, 8);
    set_str(L, "language", job->language);
    set_str(L, "name", job->name);
    set_int(L, "code_bytes", job->code.len);
    set_int(L, "stdin_bytes", input);
    set_int(L, "nargs", job->nargs);

    push_limits(L, job->limits);
    lua_setfield(L, -2, "limits");

    push_limits(L, ceilings);
    lua_setfield(L, -2, "ceilings");

    sbx_lua_push_request(L, req);
    lua_setfield(L, -2, "request");
}


void
sbx_lua_push_runtime(lua_State *L, const sbx_policy_runtime_t *runtime)
{
    lua_createtable(L, 0, 3);
    set_str(L, "name", runtime->name);

    /* not measured yet: nil, so that a policy cannot take 0 for a fact */
    set_known(L, "base", runtime->base_bytes);
    set_known(L, "floor", runtime->floor_bytes);
}


static void
push_usage(lua_State *L, const sbx_verdict_t *v)
{
    unsigned i;

    push_view(L, SBX_LUA_VIEW_USAGE, 10);
    set_ms(L, "wall_ms", v->wall_us);
    set_ms(L, "cpu_ms", v->cpu_us);
    set_ms(L, "queue_ms", v->queue_us);

    if (v->memory_source != SBX_SOURCE_NONE) {
        set_int(L, "memory_bytes", v->memory_bytes);
    }

    set_text(L, "memory_source", sbx_source_name(v->memory_source));
    set_int(L, "processes", v->processes);

    if (v->memory_source == SBX_SOURCE_HOOK) {
        set_int(L, "threads", v->threads);
        set_int(L, "open_files", v->open_files);
        set_int(L, "largest_bytes", v->largest_bytes);
    }

    push_view(L, SBX_LUA_VIEW_LIST, (int) v->nrefused);

    for (i = 0; i < v->nrefused; i++) {
        lua_pushstring(L, v->refused[i]);
        lua_rawseti(L, -2, i + 1);
    }

    lua_setfield(L, -2, "refused");
}


/* No run is without a timeout: without one, no limits were in force. */
static void
push_verdict_limits(lua_State *L, const sbx_verdict_t *v)
{
    int in_force = v->limits[SBX_LIMIT_TIMEOUT] != 0;

    if (in_force) {
        push_limits(L, v->limits);
    } else {
        push_view(L, SBX_LUA_VIEW_LIMITS, 1);
    }

    push_view(L, SBX_LUA_VIEW_TERMS, 4);
    set_known(L, "base", v->base_bytes);

    if (in_force) {
        set_int(L, "code", v->code_bytes);
        set_int(L, "wanted", v->limits[SBX_LIMIT_MEMORY]);
        lua_pushnumber(L, (lua_Number) v->factor_permille / 1000);
        lua_setfield(L, -2, "factor");
    }

    lua_setfield(L, -2, "memory_terms");
}


static void
push_streams(lua_State *L, int output, int errout)
{
    push_view(L, SBX_LUA_VIEW_STREAMS, 2);
    set_bool(L, "output", output);
    set_bool(L, "stderr", errout);
}


static void
set_timestamp(lua_State *L, int64_t timestamp_ms)
{
    char text[64];

    if (timestamp_ms > 0
        && sbx_lua_format_time(timestamp_ms, text, sizeof(text)) == 0)
    {
        set_text(L, "timestamp", text);
    }
}


static void
push_violation(lua_State *L, const sbx_violation_t *violation)
{
    char text[64];

    push_view(L, SBX_LUA_VIEW_VIOLATION, 11);
    set_text(L, "violation_type", sbx_violation_name(violation->type));
    set_text(L, "violation_class", sbx_violation_class(violation->type));

    if (sbx_violation_has_address(violation)) {
        snprintf(text, sizeof(text), "0x%llx",
                 (unsigned long long) violation->address);
        set_text(L, "address", text);
    }

    if (violation->region_hi != 0) {
        snprintf(text, sizeof(text), "0x%llx-0x%llx",
                 (unsigned long long) violation->region_lo,
                 (unsigned long long) violation->region_hi);
        set_text(L, "allocated_region", text);
    }

    set_timestamp(L, violation->timestamp_ms);

    if (violation->type == SBX_VIOLATION_ALLOC_LIMIT) {
        set_known(L, "requested_bytes", violation->requested_bytes);
        set_known(L, "limit_bytes", violation->limit_bytes);
        set_int(L, "live_bytes", violation->live_bytes);
    }

    set_text(L, "source", sbx_source_name(violation->source));
    set_text(L, "syscall", violation->syscall);

    if (violation->number >= 0) {
        set_int(L, "number", (uint64_t) violation->number);
    }
}


/* "SIGABRT", as the native answer says it */
static void
set_signal(lua_State *L, int sig)
{
    const char *name;

    if (sig == 0) {
        return;
    }

    name = sigabbrev_np(sig);

    if (name != NULL) {
        lua_pushfstring(L, "SIG%s", name);
    } else {
        lua_pushfstring(L, "SIG%d", sig);
    }

    lua_setfield(L, -2, "signal");
}


/* An internal error without a reason of its own names the failing step. */
static const char *
reason_of(const sbx_verdict_t *v)
{
    if (v->status == SBX_INTERNAL_ERROR && v->reason == SBX_REASON_NONE
        && v->step != SBX_STEP_NONE)
    {
        return sbx_step_name(v->step);
    }

    return sbx_reason_name(v->reason);
}


static void
fill_verdict(lua_State *L, const sbx_verdict_t *v)
{
    set_text(L, "status", sbx_status_name(v->status));
    set_str(L, "output", v->output);
    set_str(L, "stderr", v->errout);

    if (v->exit_code >= 0) {
        set_int(L, "exit_code", (uint64_t) v->exit_code);
    }

    set_signal(L, v->signal);
    set_int(L, "returncode", (uint64_t) sbx_verdict_returncode(v));
    set_text(L, "error", v->error);
    set_text(L, "reason", reason_of(v));
    set_int(L, "http", (uint64_t) sbx_verdict_http(v));

    push_usage(L, v);
    lua_setfield(L, -2, "usage");

    push_verdict_limits(L, v);
    lua_setfield(L, -2, "limits");

    push_streams(L, v->output_truncated, v->errout_truncated);
    lua_setfield(L, -2, "truncated");

    push_streams(L, !sbx_utf8_valid(v->output),
                 !sbx_utf8_valid(v->errout));
    lua_setfield(L, -2, "replaced");

    if (v->violation.type != SBX_VIOLATION_NONE) {
        push_violation(L, &v->violation);
        lua_setfield(L, -2, "violation");
    }
}


void
sbx_lua_push_verdict(lua_State *L, const sbx_verdict_t *v)
{
    push_view(L, SBX_LUA_VIEW_VERDICT, 14);
    fill_verdict(L, v);
}


/* nil: there was nothing to compare with. */
static void
set_accepted(lua_State *L, sbx_accept_t accept)
{
    if (accept != SBX_NOT_COMPARED) {
        lua_pushboolean(L, accept == SBX_ACCEPTED);
        lua_setfield(L, -2, "accepted");
    }
}


static void
push_case(lua_State *L, const sbx_verdict_t *v)
{
    push_view(L, SBX_LUA_VIEW_CASE, 17);
    fill_verdict(L, v);
    set_accepted(L, v->accept);
    set_text(L, "name", v->name);
    set_text(L, "digest", v->digest);
}


void
sbx_lua_push_batch(lua_State *L, const sbx_verdict_t *v, size_t n)
{
    size_t i;
    sbx_summary_t sum;

    sbx_summarize(v, n, &sum);

    push_view(L, SBX_LUA_VIEW_BATCH, 5);
    set_text(L, "status", sbx_status_name(sum.status));
    set_accepted(L, sum.accept);
    set_int(L, "http", 200);

    push_view(L, SBX_LUA_VIEW_SUMMARY, 4);
    set_int(L, "total", sum.total);
    set_int(L, "accepted", sum.accepted);
    set_int(L, "failed", sum.failed);
    set_int(L, "skipped", sum.skipped);
    lua_setfield(L, -2, "summary");

    push_view(L, SBX_LUA_VIEW_LIST, (int) n);

    for (i = 0; i < n; i++) {
        push_case(L, &v[i]);
        lua_rawseti(L, -2, (lua_Integer) i + 1);
    }

    lua_setfield(L, -2, "cases");
}
