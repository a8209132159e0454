/*
 * sbx_lua_private.h: what the files below lua/ share.
 *
 * Included by nobody outside lua/, because lua_State must not leak into the
 * module: nginx may carry a second Lua (LuaJIT) with the same symbol names.
 *
 * All functions here run in a worker (or in the master while it reads the
 * configuration).  Those that take a lua_State may raise a Lua error, and so
 * run only below sbx_lua_protect().
 */

#ifndef SBX_LUA_PRIVATE_H
#define SBX_LUA_PRIVATE_H

#include <lauxlib.h>
#include <lua.h>

#include "sbx_json_text.h"
#include "sbx_lua.h"

#define SBX_LUA_FILE_MAX    (1u << 20)  /* text of a policy */
#define SBX_LUA_STEP        100         /* instructions between two checks */
#define SBX_LUA_STEP_FINE   10          /* the same, once strings are long */
#define SBX_LUA_CHUNK       "policy"    /* name in Lua's own messages */

typedef enum {
    SBX_LUA_ALIVE = 0,
    SBX_LUA_SPENT_INSTRUCTIONS,
    SBX_LUA_SPENT_TIME
} sbx_lua_spent_t;

typedef struct {
    uint64_t used, cap;         /* bytes Lua holds, and may hold */
    uint64_t budget;            /* instructions left */
    lua_State *running;         /* NULL: no call is under way */
    uint64_t pending;           /* metered by C functions, not yet charged */
    int64_t half_ns;            /* of the time a call may take */
    int64_t deadline_ns;        /* CLOCK_MONOTONIC: end of the first half */
    int64_t cpu_end_ns;         /* CLOCK_THREAD_CPUTIME_ID: of the second;
                                   0: still in the first */
    int step;                   /* of the count hook now */
    sbx_lua_spent_t spent;
    int spent_line;             /* of the policy, 0: not known */
    unsigned refused:1;         /* an allocation was, at least once */
    unsigned broken:1;          /* the call was cut short */
} sbx_lua_bound_t;

typedef enum {
    SBX_LUA_REQUEST = 0,
    SBX_LUA_LIMITS,
    SBX_LUA_RESPONSE,
    SBX_LUA_HEARTBEAT,
    SBX_LUA_HEARD,
    SBX_LUA_FUNCTIONS
} sbx_lua_function_t;

extern const char *const sbx_lua_functions[SBX_LUA_FUNCTIONS];

struct sbx_policy_s {
    char *path;
    char *text;
    size_t len;
    sbx_policy_bounds_t bounds;
    lua_State *L;               /* NULL: made again at the next call */
    sbx_lua_bound_t bound;
    sbx_policy_config_t config;
    const sbx_policy_request_t *request;    /* of the call under way */
    sbx_json_out_t json;        /* here, so that no Lua error leaks it */
    sbx_json_out_t keep;        /* the same */
    unsigned has;               /* bit per sbx_lua_function_t */
    sbx_lua_function_t function;    /* called last */
};

/* Tables that are part of the native answer, by their metatables. */
typedef enum {
    SBX_LUA_VIEW_VERDICT = 0,
    SBX_LUA_VIEW_USAGE,
    SBX_LUA_VIEW_LIMITS,
    SBX_LUA_VIEW_TERMS,
    SBX_LUA_VIEW_STREAMS,       /* truncated, replaced */
    SBX_LUA_VIEW_VIOLATION,
    SBX_LUA_VIEW_BATCH,
    SBX_LUA_VIEW_SUMMARY,
    SBX_LUA_VIEW_CASE,          /* a verdict within a batch */
    SBX_LUA_VIEW_LIST,          /* an array, also when it is empty */
    SBX_LUA_VIEWS
} sbx_lua_view_t;

/* Registry keys: the address is the key, the name is for the reader. */
typedef enum {
    SBX_LUA_KEY_LIBRARY = 0,    /* name → function or read-only table */
    SBX_LUA_KEY_CHUNK,          /* main function; its upvalue 1 is _ENV */
    SBX_LUA_KEY_ENV_META,       /* metatable of each call's fresh _ENV */
    SBX_LUA_KEY_TABLE,          /* what the policy file returned */
    SBX_LUA_KEY_REQUEST,        /* table of the call's request */
    SBX_LUA_KEY_REQUEST_META,
    SBX_LUA_KEY_CEILINGS,       /* C's array → read-only table */
    SBX_LUA_KEY_VIEW,           /* first of one metatable per view */
    SBX_LUA_KEY_COUNT = SBX_LUA_KEY_VIEW + SBX_LUA_VIEWS
} sbx_lua_key_t;

/* sbx_lua.c: what the functions' files share */
int sbx_lua_call(sbx_policy_t *policy, lua_CFunction fn, void *data,
    size_t extra, char *err, size_t size);

/* Pushes the policy's function, with a fresh environment for it. */
void sbx_lua_push_function(lua_State *L, sbx_lua_function_t function);

/* The name of the one that was pushed last, for errors. */
const char *sbx_lua_function(lua_State *L);

/*
 * Calls reader(result, call), where the stack holds function and result, and
 * makes its errors point to the function.
 */
void sbx_lua_read_result(lua_State *L, lua_CFunction reader, void *call);

void sbx_lua_push_key(lua_State *L, int key);
void sbx_lua_set_key(lua_State *L, int key);    /* pops the value */

/* sbx_lua_bound.c */
lua_State *sbx_lua_state_new(sbx_policy_t *policy);

/*
 * Calls fn(L) with a light userdata data as its only argument, in bounds.
 * extra: bytes of input that the policy did not choose, for which the bounds
 * grow.  Leaves the stack empty.  Returns 0, or -1 with "FILE:LINE: message".
 */
int sbx_lua_protect(sbx_policy_t *policy, lua_CFunction fn, void *data,
    size_t extra, char *err, size_t size);

/* After a call: closes a state that had better not serve another one. */
void sbx_lua_settle(sbx_policy_t *policy);

/* Charges n instructions for work a C function is about to do. */
void sbx_lua_meter(lua_State *L, uint64_t n);

sbx_policy_t *sbx_lua_policy(lua_State *L);

/* A loop over bytes in C costs about this many bytes per instruction. */
#define SBX_LUA_BYTES_PER_STEP  16

/* sbx_lua_lib.c, sbx_lua_table.c, sbx_lua_find.c: the library */
void sbx_lua_open_library(lua_State *L);

/* Replaces the table at the top by a closed one that reads from it. */
void sbx_lua_make_read_only(lua_State *L);

/*
 * Raises an error when the table at index is such a closed one, which C would
 * find empty; what is its name in the error.
 */
void sbx_lua_check_open(lua_State *L, int index, const char *what);
extern const luaL_Reg sbx_lua_table_functions[];
extern const luaL_Reg sbx_lua_find_functions[];

/* sbx_lua_codec.c */
extern const luaL_Reg sbx_lua_base64_functions[];
extern const luaL_Reg sbx_lua_hex_functions[];
extern const luaL_Reg sbx_lua_codec_functions[];

/* sbx_lua_clock.c */
extern const luaL_Reg sbx_lua_clock_functions[];

/* "2026-11-30T04:00:00.123Z", of milliseconds since 1970; -1: no such time. */
int sbx_lua_format_time(int64_t ms, char *text, size_t size);

/* sbx_lua_decode.c: pushes the table json */
void sbx_lua_push_json(lua_State *L);

/* sbx_lua_view.c: C's structs as tables; each pushes one value */
void sbx_lua_open_views(lua_State *L);

/* Makes the table at the top a list in JSON, also when it is empty. */
void sbx_lua_mark_list(lua_State *L);
void sbx_lua_push_job(lua_State *L, const sbx_job_t *job,
    const uint64_t ceilings[SBX_LIMIT_COUNT], const sbx_policy_request_t *req);
void sbx_lua_push_runtime(lua_State *L, const sbx_policy_runtime_t *runtime);
void sbx_lua_push_verdict(lua_State *L, const sbx_verdict_t *v);
void sbx_lua_push_batch(lua_State *L, const sbx_verdict_t *v, size_t n);

/*
 * NULL-terminated keys of a view in the order of the native answer, and the
 * view that the table at index is, or -1 for the policy's own tables.
 */
const char *const *sbx_lua_view_keys(sbx_lua_view_t view);
int sbx_lua_view_of(lua_State *L, int index);

/* sbx_lua_request.c: the request, whose fields are made when they are read */
void sbx_lua_open_request(lua_State *L);
void sbx_lua_push_request(lua_State *L, const sbx_policy_request_t *req);

/*
 * sbx_lua_keep.c: a value as bytes that outlive the state; appended to the
 * policy's keep text, and read back.
 */
void sbx_lua_pack_value(lua_State *L, int index);
void sbx_lua_push_packed(lua_State *L, sbx_str_t packed);

/* sbx_lua_json.c: appends the value at index to the policy's json text */
void sbx_lua_json_value(lua_State *L, int index);
int sbx_lua_json(lua_State *L);         /* json(value) → string */

/* sbx_lua_result.c: what the functions returned, at the stack's top */
typedef struct {
    uint64_t limits[SBX_LIMIT_COUNT];
    uint32_t factor_permille;
} sbx_lua_limits_t;

void sbx_lua_read_limits(lua_State *L, int index,
    const uint64_t ceilings[SBX_LIMIT_COUNT], sbx_lua_limits_t *out);
void sbx_lua_read_response(lua_State *L, int index,
    sbx_policy_response_t *out);

#endif
