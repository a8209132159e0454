/*
 * sbx_lua.h: an operator's policy, bounded.
 *
 * A policy file returns a table of functions: limits(job, runtime) and
 * response(req, verdict), each optional.  It runs in a worker, between events:
 * instruction budget, memory cap, deadline, reduced and metered library.  A
 * policy can lower and choose; C narrows the result to the ceilings.  A policy
 * that fails refuses.  lua_State appears in no header.
 */

#ifndef SBX_LUA_H
#define SBX_LUA_H

#include "../sandbox/sbx_job.h"
#include "../sandbox/sbx_verdict.h"

typedef struct sbx_policy_s sbx_policy_t;

typedef struct {
    uint64_t instructions;      /* 0: default 1,000,000 per call */
    uint64_t memory_bytes;      /* 0: default 16 MiB */
    uint32_t deadline_ms;       /* 0: default 10 */
} sbx_policy_bounds_t;

/* Key and value of a header or of a request's view. */
typedef struct {
    sbx_str_t key, value;
} sbx_pair_t;

/* Read-only views.  All strings are copied into Lua. */
typedef struct {
    sbx_str_t method, uri, query, remote_addr;
    const sbx_pair_t *headers;  /* keys in lower case */
    size_t nheaders;
} sbx_policy_request_t;

typedef struct {
    sbx_str_t name;             /* "python" */
    uint64_t base_bytes;        /* measured; 0: not known yet */
    uint64_t floor_bytes;
} sbx_policy_runtime_t;

typedef struct {
    int status;                 /* HTTP status */
    sbx_pair_t *headers;        /* heap, with the strings: one block each */
    size_t nheaders;
    sbx_str_t body;             /* heap */
} sbx_policy_response_t;

/*
 * Loads the file (text chunks only), runs it once in bounds, checks that it
 * returns a table that has no other fields than the known functions.
 * Configuration time (master); workers inherit it by fork.  On NULL, err says
 * "FILE:LINE: message".  The file is read when opened, not later.
 */
sbx_policy_t *sbx_policy_open(const char *path,
    const sbx_policy_bounds_t *bounds, char *err, size_t size);
void sbx_policy_close(sbx_policy_t *policy);

int sbx_policy_has_limits(const sbx_policy_t *policy);
int sbx_policy_has_response(const sbx_policy_t *policy);

/*
 * limits(job, runtime): job has language, name, code_bytes, stdin_bytes, nargs,
 * limits (asked for or default, by name: bytes, ms, counts) and ceilings, and
 * request = method, uri, args, headers, remote_addr; runtime has name, base,
 * floor.  The result is nil (as it is) or a table of limit names to values
 * (numbers, or "64m", "2s") and `factor` (1.0 … 4.0).  Values are narrowed to
 * 0 < value <= ceiling.  Unknown keys, wrong types: -1.
 * Returns 0, -1 with "FILE:LINE: message" in err.
 */
int sbx_policy_limits(sbx_policy_t *policy, sbx_job_t *job,
    const uint64_t ceilings[SBX_LIMIT_COUNT],
    const sbx_policy_request_t *req, const sbx_policy_runtime_t *runtime,
    char *err, size_t size);

/*
 * response(req, verdict): verdict is the native answer as a table (numbers,
 * strings, tables; output and stderr as raw byte strings), plus http (the
 * status it would have).  The result is nil (native answer stays), or a table
 * with status (200 … 599, else as http), headers (string → string), body
 * (string, or a table that is encoded as JSON).  Returns 1 with *out filled
 * (caller frees by sbx_policy_response_clear), 0 for nil, -1 with err.
 */
int sbx_policy_response(sbx_policy_t *policy, const sbx_policy_request_t *req,
    const sbx_verdict_t *v, sbx_policy_response_t *out, char *err, size_t size);
void sbx_policy_response_clear(sbx_policy_response_t *out);

#endif
