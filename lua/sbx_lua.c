/*
 * sbx_lua.c: a policy from its file to its answers.
 *
 * Runs in the worker (and in the master at configuration time, to find mistakes
 * early).  One Lua state per policy and worker, made from the text that was
 * read when the policy was opened, kept between calls and made anew after a
 * call that spent its bounds.  What one call leaves in global variables, the
 * next does not see: each runs in an environment of its own over the
 * file's, which is over the library.  All of Lua runs below sbx_lua_protect():
 * an error outside of it would abort the worker.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_lua_private.h"

#define INSTRUCTIONS_DEFAULT    1000000
#define MEMORY_DEFAULT          (16u << 20)
#define DEADLINE_DEFAULT_MS     10


typedef struct {
    sbx_job_t *job;
    const uint64_t *ceilings;
    const sbx_policy_request_t *req;
    const sbx_policy_runtime_t *runtime;
    sbx_lua_limits_t result;
} limits_call_t;

typedef struct {
    const sbx_policy_request_t *req;
    const sbx_verdict_t *verdict;
    size_t ncases;              /* 0: no batch */
    sbx_policy_response_t *out;
    int answered;
} response_call_t;


const char *const sbx_lua_functions[SBX_LUA_FUNCTIONS] = {
    [SBX_LUA_REQUEST] = "request",
    [SBX_LUA_LIMITS] = "limits",
    [SBX_LUA_RESPONSE] = "response",
    [SBX_LUA_HEARTBEAT] = "heartbeat",
    [SBX_LUA_HEARD] = "heard",
};

/* Their addresses are keys of the registry; the contents mean nothing. */
static const char keys[SBX_LUA_KEY_COUNT];


void
sbx_lua_push_key(lua_State *L, int key)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &keys[key]);
}


void
sbx_lua_set_key(lua_State *L, int key)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &keys[key]);
}


/* The environment a file is run in: a copy of the library it may add to. */
static void
push_file_env(lua_State *L)
{
    lua_newtable(L);
    sbx_lua_push_key(L, SBX_LUA_KEY_LIBRARY);

    for (lua_pushnil(L); lua_next(L, -2); ) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);          /* …, env, library, key, key, value */
        lua_rawset(L, -5);
    }

    lua_pop(L, 1);
}


/*
 * The functions of a file share the main function's _ENV variable, so
 * setting it there gives all of them the new one.
 */
static void
set_env(lua_State *L)
{
    sbx_lua_push_key(L, SBX_LUA_KEY_CHUNK);
    lua_insert(L, -2);

    if (lua_setupvalue(L, -2, 1) == NULL) {
        luaL_error(L, "policy has no environment");
    }

    lua_pop(L, 1);
}


/* Raises an error at the line where the function at the top begins. */
static void
fail_at_function(lua_State *L, const char *text)
{
    lua_Debug ar;

    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &ar);
    lua_pushfstring(L, SBX_LUA_CHUNK ":%d: %s", ar.linedefined, text);
    lua_error(L);
}


static int
find_function(const char *name)
{
    int i;

    for (i = 0; i < SBX_LUA_FUNCTIONS; i++) {
        if (strcmp(sbx_lua_functions[i], name) == 0) {
            return i;
        }
    }

    return -1;
}


/* The table at the top is what the file returned. */
static void
check_table(lua_State *L, sbx_policy_t *policy)
{
    int i;
    const char *name, *text;

    policy->has = 0;

    if (!lua_istable(L, -1)) {
        luaL_error(L, "the file must return a table of functions, not a %s",
                   luaL_typename(L, -1));
    }

    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2)
                                              : luaL_typename(L, -2);
        i = lua_type(L, -2) == LUA_TSTRING ? find_function(name) : -1;

        if (i < 0) {
            text = lua_pushfstring(L, "unknown field \"%s\"; a policy has "
                                   "request, limits, response, heartbeat "
                                   "and heard", name);
            lua_insert(L, -2);

            if (lua_isfunction(L, -1)) {
                fail_at_function(L, text);
            }

            luaL_error(L, "%s", text);
        }

        if (!lua_isfunction(L, -1)) {
            luaL_error(L, "%s must be a function, not a %s", name,
                       luaL_typename(L, -1));
        }

        policy->has |= 1u << i;
    }
}


static int
load_call(lua_State *L)
{
    sbx_policy_t *policy = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_open_library(L);
    sbx_lua_open_views(L);
    sbx_lua_open_request(L);

    /* text only: a crafted binary chunk can corrupt the interpreter */
    if (luaL_loadbufferx(L, policy->text, policy->len, "=" SBX_LUA_CHUNK, "t")
        != LUA_OK)
    {
        return lua_error(L);
    }

    lua_pushvalue(L, 1);
    sbx_lua_set_key(L, SBX_LUA_KEY_CHUNK);

    lua_createtable(L, 0, 2);           /* metatable of the calls' _ENV */
    push_file_env(L);
    lua_pushvalue(L, -1);
    set_env(L);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    sbx_lua_set_key(L, SBX_LUA_KEY_ENV_META);

    lua_call(L, 0, 1);
    check_table(L, policy);
    sbx_lua_set_key(L, SBX_LUA_KEY_TABLE);

    return 0;
}


/* Makes the state where there is none: at first, and after a spent call. */
static int
load_state(sbx_policy_t *policy, char *err, size_t size)
{
    if (policy->L != NULL) {
        return 0;
    }

    policy->L = sbx_lua_state_new(policy);

    if (policy->L == NULL) {
        snprintf(err, size, "%s: no memory for a Lua state", policy->path);
        return -1;
    }

    if (sbx_lua_protect(policy, load_call, policy, 0, err, size) != 0) {
        lua_close(policy->L);
        policy->L = NULL;
        return -1;
    }

    return 0;
}


int
sbx_lua_call(sbx_policy_t *policy, lua_CFunction fn, void *data, size_t extra,
    char *err, size_t size)
{
    int rc;

    if (load_state(policy, err, size) != 0) {
        return -1;
    }

    rc = sbx_lua_protect(policy, fn, data, extra, err, size);
    sbx_lua_settle(policy);

    return rc;
}


void
sbx_lua_push_function(lua_State *L, sbx_lua_function_t function)
{
    lua_newtable(L);
    sbx_lua_push_key(L, SBX_LUA_KEY_ENV_META);
    lua_setmetatable(L, -2);
    set_env(L);

    sbx_lua_push_key(L, SBX_LUA_KEY_TABLE);
    lua_pushstring(L, sbx_lua_functions[function]);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    sbx_lua_policy(L)->function = function;
}


const char *
sbx_lua_function(lua_State *L)
{
    return sbx_lua_functions[sbx_lua_policy(L)->function];
}


/* No line of the policy runs any more that an error could point to. */
void
sbx_lua_read_result(lua_State *L, lua_CFunction reader, void *call)
{
    int status;

    lua_pushcfunction(L, reader);
    lua_pushvalue(L, 2);
    lua_pushlightuserdata(L, call);

    status = lua_pcall(L, 2, 0, 0);
    if (status == LUA_OK) {
        return;
    }

    if (status != LUA_ERRRUN) {
        lua_error(L);       /* no memory: stays what it is */
    }

    lua_pushvalue(L, 1);
    fail_at_function(L, lua_tostring(L, -2));
}


static int
read_limits(lua_State *L)
{
    limits_call_t *call = lua_touserdata(L, 2);

    sbx_lua_read_limits(L, 1, call->ceilings, &call->result);
    return 0;
}


static int
limits_call(lua_State *L)
{
    limits_call_t *call = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_push_function(L, SBX_LUA_LIMITS);
    lua_pushvalue(L, 1);
    sbx_lua_push_job(L, call->job, call->ceilings, call->req);
    sbx_lua_push_runtime(L, call->runtime);
    lua_call(L, 2, 1);
    sbx_lua_read_result(L, read_limits, call);

    return 0;
}


static int respond(sbx_policy_t *policy, const sbx_policy_request_t *req,
    const sbx_verdict_t *v, size_t ncases, sbx_policy_response_t *out,
    char *err, size_t size);


static int
read_response(lua_State *L)
{
    response_call_t *call = lua_touserdata(L, 2);

    if (!lua_isnil(L, 1)) {
        sbx_lua_read_response(L, 1, call->out);
        call->answered = 1;
    }

    return 0;
}


static int
response_call(lua_State *L)
{
    response_call_t *call = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sbx_lua_push_function(L, SBX_LUA_RESPONSE);
    lua_pushvalue(L, 1);
    sbx_lua_push_request(L, call->req);

    if (call->ncases > 0) {
        sbx_lua_push_batch(L, call->verdict, call->ncases);

    } else {
        sbx_lua_push_verdict(L, call->verdict);
    }

    lua_call(L, 2, 1);
    sbx_lua_read_result(L, read_response, call);

    return 0;
}


static int
read_file(sbx_policy_t *policy, char *err, size_t size)
{
    int fd;
    ssize_t n;
    const char *why = NULL;
    struct stat st;

    fd = open(policy->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) != 0) {
        why = strerror(errno);

    } else if (!S_ISREG(st.st_mode)) {
        why = "is not a regular file";

    } else if (st.st_size > SBX_LUA_FILE_MAX) {
        why = "is longer than 1 MiB";

    } else if ((policy->text = malloc((size_t) st.st_size + 1)) == NULL) {
        why = "no memory";
    }

    while (why == NULL && policy->len < (size_t) st.st_size) {
        n = read(fd, policy->text + policy->len,
                 (size_t) st.st_size - policy->len);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n < 0) {
            why = strerror(errno);
        }

        if (n <= 0) {
            break;
        }

        policy->len += (size_t) n;
    }

    if (fd >= 0) {
        close(fd);
    }

    if (why != NULL) {
        snprintf(err, size, "%s: %s", policy->path, why);
        return -1;
    }

    return 0;
}


sbx_policy_t *
sbx_policy_open(const char *path, const sbx_policy_config_t *config,
    const sbx_policy_bounds_t *bounds, char *err, size_t size)
{
    sbx_policy_t *policy;
    sbx_policy_bounds_t *own;

    policy = calloc(1, sizeof(*policy));

    if (policy == NULL || (policy->path = strdup(path)) == NULL) {
        free(policy);
        snprintf(err, size, "%s: no memory", path);
        return NULL;
    }

    own = &policy->bounds;

    if (config != NULL) {
        policy->config = *config;
    }

    if (bounds != NULL) {
        *own = *bounds;
    }

    own->instructions = own->instructions ? own->instructions
                                          : INSTRUCTIONS_DEFAULT;
    own->memory_bytes = own->memory_bytes ? own->memory_bytes : MEMORY_DEFAULT;
    own->deadline_ms = own->deadline_ms ? own->deadline_ms
                                        : DEADLINE_DEFAULT_MS;

    if (read_file(policy, err, size) != 0
        || load_state(policy, err, size) != 0)
    {
        sbx_policy_close(policy);
        return NULL;
    }

    return policy;
}


void
sbx_policy_close(sbx_policy_t *policy)
{
    if (policy == NULL) {
        return;
    }

    if (policy->L != NULL) {
        lua_close(policy->L);
    }

    free(policy->json.buf);
    free(policy->keep.buf);
    free(policy->text);
    free(policy->path);
    free(policy);
}


int
sbx_policy_has_request(const sbx_policy_t *policy)
{
    return (policy->has & 1u << SBX_LUA_REQUEST) != 0;
}


int
sbx_policy_has_limits(const sbx_policy_t *policy)
{
    return (policy->has & 1u << SBX_LUA_LIMITS) != 0;
}


int
sbx_policy_has_response(const sbx_policy_t *policy)
{
    return (policy->has & 1u << SBX_LUA_RESPONSE) != 0;
}


int
sbx_policy_limits(sbx_policy_t *policy, sbx_job_t *job,
    const uint64_t ceilings[SBX_LIMIT_COUNT], const sbx_policy_request_t *req,
    const sbx_policy_runtime_t *runtime, char *err, size_t size)
{
    limits_call_t call = { job, ceilings, req, runtime, { { 0 }, 0 } };

    if (!sbx_policy_has_limits(policy)) {
        return 0;
    }

    memcpy(call.result.limits, job->limits, sizeof(job->limits));
    call.result.factor_permille = job->factor_permille;

    if (sbx_lua_call(policy, limits_call, &call,
                     req->body.len + req->keep.len, err, size) != 0)
    {
        return -1;
    }

    /* all of it, or, after an error, nothing */
    memcpy(job->limits, call.result.limits, sizeof(job->limits));
    job->factor_permille = call.result.factor_permille;

    return 0;
}


int
sbx_policy_response(sbx_policy_t *policy, const sbx_policy_request_t *req,
    const sbx_verdict_t *v, sbx_policy_response_t *out, char *err, size_t size)
{
    return respond(policy, req, v, 0, out, err, size);
}


int
sbx_policy_response_batch(sbx_policy_t *policy,
    const sbx_policy_request_t *req, const sbx_verdict_t *v, size_t n,
    sbx_policy_response_t *out, char *err, size_t size)
{
    return respond(policy, req, v, n, out, err, size);
}


static int
respond(sbx_policy_t *policy, const sbx_policy_request_t *req,
    const sbx_verdict_t *v, size_t ncases, sbx_policy_response_t *out,
    char *err, size_t size)
{
    size_t i, bytes = req->body.len + req->keep.len;
    response_call_t call = { req, v, ncases, out, 0 };

    memset(out, 0, sizeof(*out));

    if (!sbx_policy_has_response(policy)) {
        return 0;
    }

    for (i = 0; i < (ncases ? ncases : 1); i++) {
        bytes += v[i].output.len + v[i].errout.len;
    }

    if (sbx_lua_call(policy, response_call, &call, bytes, err, size) != 0) {
        sbx_policy_response_clear(out);
        return -1;
    }

    if (call.answered && out->status == 0) {
        out->status = ncases ? 200 : sbx_verdict_http(v);
    }

    return call.answered;
}


void
sbx_policy_response_clear(sbx_policy_response_t *out)
{
    size_t i;

    for (i = 0; i < out->nheaders; i++) {
        free((char *) out->headers[i].key.data);
    }

    free(out->headers);
    free((char *) out->body.data);
    memset(out, 0, sizeof(*out));
}
