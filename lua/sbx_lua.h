/*
 * sbx_lua.h: an operator's policy, bounded.
 *
 * A policy file returns a table of functions: request(req), limits(job,
 * runtime), response(req, verdict), heartbeat() and heard(answer), each
 * optional.  It runs in a worker,
 * between events: instruction budget, memory cap, deadline, reduced and metered
 * library.  A policy can lower and choose; C narrows the result to the
 * ceilings.  A policy that fails refuses.  lua_State appears in no header.
 */

#ifndef SBX_LUA_H
#define SBX_LUA_H

#include "../sandbox/sbx_job.h"
#include "../sandbox/sbx_json.h"
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

/* What stands behind the file in the directive: the policy's `config`. */
typedef struct {
    const sbx_pair_t *pairs;
    size_t npairs;
} sbx_policy_config_t;

/* The most a language may have in a location. */
typedef struct {
    sbx_str_t language;
    uint64_t limits[SBX_LIMIT_COUNT];
} sbx_policy_ceiling_t;

/*
 * A view of the request.  What the policy reads is copied into Lua when it is
 * read, so the view has to live as long as the call, the ceilings as long as
 * the policy.
 */
typedef struct {
    sbx_str_t method, uri, query, remote_addr, body;
    const sbx_pair_t *headers;  /* keys in lower case */
    size_t nheaders;
    const sbx_policy_ceiling_t *ceilings;
    size_t nceilings;
    sbx_str_t keep;             /* of sbx_policy_wish_t; "" : nil */
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

typedef enum {
    SBX_POLICY_NATIVE = 0,      /* nil: the native contract goes on */
    SBX_POLICY_JOB,
    SBX_POLICY_ANSWER,          /* nothing runs */
    SBX_POLICY_PASS             /* somebody else's */
} sbx_policy_action_t;

/* What request() wants. */
typedef struct {
    sbx_policy_action_t action;
    sbx_request_t native;       /* JOB: as parsed from JSON; language "" and
                                   code.data NULL: the policy named none */
    char invalid[256];          /* JOB: why its values make no job; "" : they
                                   do */
    sbx_str_t keep;             /* JOB: heap; for sbx_policy_request_t */
    sbx_policy_response_t answer;
    sbx_str_t pass;             /* PASS: heap; "@name", or "/uri?args" */
} sbx_policy_wish_t;

/*
 * Loads the file (text chunks only), runs it once in bounds, checks that it
 * returns a table that has no other fields than the known functions.
 * Configuration time (master); workers inherit it by fork.  config NULL: none;
 * its strings have to live as long as the policy.  On NULL, err says
 * "FILE:LINE: message".  The file is read when opened, not later.
 */
sbx_policy_t *sbx_policy_open(const char *path,
    const sbx_policy_config_t *config, const sbx_policy_bounds_t *bounds,
    char *err, size_t size);
void sbx_policy_close(sbx_policy_t *policy);

int sbx_policy_has_request(const sbx_policy_t *policy);
int sbx_policy_has_limits(const sbx_policy_t *policy);
int sbx_policy_has_response(const sbx_policy_t *policy);

/*
 * request(req): req has method, uri, args, headers, body, remote_addr and
 * ceilings by language and limit.  The result is nil, a job (its limits are
 * wishes: the caller narrows them), an answer, or where to pass the request on.
 * Unknown keys and wrong types are errors; values of the right type that make
 * no job (a path with "..") are told in wish->invalid, because they may be the
 * client's.  Returns 0 with *wish filled, -1 with err; the caller clears *wish
 * after either.
 */
int sbx_policy_request(sbx_policy_t *policy, const sbx_policy_request_t *req,
    sbx_policy_wish_t *wish, char *err, size_t size);
void sbx_policy_wish_clear(sbx_policy_wish_t *wish);

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
 * response(req, verdict): req is what request() saw, and keep is what it kept;
 * verdict is the native answer as a table (numbers,
 * strings, tables; output and stderr as raw byte strings), plus http (the
 * status it would have).  The result is nil (native answer stays), or a table
 * with status (200 … 599, else as http), headers (string → string), body
 * (string, or a table that is encoded as JSON).  Returns 1 with *out filled
 * (caller frees by sbx_policy_response_clear), 0 for nil, -1 with err.
 */
int sbx_policy_response(sbx_policy_t *policy, const sbx_policy_request_t *req,
    const sbx_verdict_t *v, sbx_policy_response_t *out, char *err, size_t size);

/*
 * The same for a batch of n: verdict has status, accepted, summary = { total,
 * accepted, failed, skipped } and cases, a list of verdicts with accepted, name
 * and digest.
 */
int sbx_policy_response_batch(sbx_policy_t *policy,
    const sbx_policy_request_t *req, const sbx_verdict_t *v, size_t n,
    sbx_policy_response_t *out, char *err, size_t size);
void sbx_policy_response_clear(sbx_policy_response_t *out);

/*
 * heartbeat(): the headers and the body of what a judge's front is told at
 * intervals.  Returns 0 with *out filled (its status is 0; the caller clears
 * it), -1 with err.
 */
int sbx_policy_has_heartbeat(const sbx_policy_t *policy);
int sbx_policy_heartbeat(sbx_policy_t *policy, sbx_policy_response_t *out,
    char *err, size_t size);

/*
 * heard(answer): answer has status and body.  The result is nil, or a string
 * that says what is wrong with it; without the function, only 2xx is right.
 * Returns 0 when the heartbeat was taken, -1 with the reason in err.
 */
int sbx_policy_heard(sbx_policy_t *policy, int status, sbx_str_t body,
    char *err, size_t size);

#endif
