/*
 * sbx_json.h: JSON at the edges: request body → job, verdict → answer.
 * Both the module and deer-flow use it.  The text of a client is checked to the
 * letter, then read once; answers are written once: no trees, no copies of
 * large strings, nothing that can fail half-way.
 */

#ifndef SBX_JSON_H
#define SBX_JSON_H

#include "sbx_job.h"
#include "sbx_verdict.h"

#define SBX_JSON_DEPTH  16

typedef enum { SBX_ENCODING_UTF8 = 0, SBX_ENCODING_BASE64 } sbx_encoding_t;

typedef struct {
    sbx_job_t job;
    sbx_encoding_t encoding;
    unsigned is_batch;                  /* "cases": the answer is a list */
    uint64_t wanted[SBX_LIMIT_COUNT];   /* as the request asked */
    unsigned asked:SBX_LIMIT_COUNT;     /* bit per limit: the request has it */
    char *decoded;                      /* strings that had escapes, base64
                                           contents, env entries */
} sbx_request_t;

/*
 * Strict RFC 8259: returns NULL, or says what is wrong and where ("duplicate
 * key \"code\" at byte 17").  why: caller's buffer that the result points into.
 */
const char *sbx_json_check(const char *text, size_t len, char *why,
    size_t size);

/*
 * Parses the native request.  Strings of the job point into text and into
 * req->decoded: text has to live as long.  language: the location's, or "" for
 * `any`, which makes the key required.  Unknown keys, wrong types, contradictory
 * fields: -1 with why naming the field, and errno 0; no memory: -1 and ENOMEM.
 * Limits are parsed, not compared with ceilings: the caller does that.  The job
 * gets one case, of id 0, or those of "cases", numbered from 0.  The caller frees with sbx_request_clear, also after
 * -1.
 */
int sbx_request_parse(sbx_request_t *req, const char *text, size_t len,
    sbx_str_t language, char *why, size_t size);
void sbx_request_clear(sbx_request_t *req);

/*
 * The answer of the contract, every key present, no line end.  Heap; the caller
 * frees.  *len its length.  NULL: no memory.
 */
char *sbx_verdict_json(const sbx_verdict_t *v, sbx_encoding_t encoding,
    size_t *len);

/*
 * The answer to a batch: {"status","accepted","summary","cases"}, each case as
 * above with "accepted" behind "status".  status: that of the first case that
 * did not end well, else success; accepted: false when a case failed, null when
 * none had an expectation.
 */
char *sbx_batch_json(const sbx_verdict_t *v, size_t n, sbx_encoding_t encoding,
    size_t *len);

/*
 * The same for HTTP: followed by as many spaces (which JSON allows) as the
 * figures that differ from run to run are short of their full width, so that
 * equal outcomes are equally long.  Load generators that take another length
 * for a failure (ab) then count none.
 */
char *sbx_verdict_body(const sbx_verdict_t *v, sbx_encoding_t encoding,
    size_t *len);

/*
 * The job as sandbox_dry_run answers it: {"dry_run":true}, then the request's
 * own keys, "limits" as in an answer, "memory_mode", "proc", "allow_missing".
 * base_bytes: 0 if not measured.
 */
/*
 * The answer's object "violation" alone, on one line: numbers and names of ours,
 * nothing that a guest wrote, below SBX_VIOLATION_JSON_MAX bytes.  NULL when
 * there is none, or no memory.
 */
#define SBX_VIOLATION_JSON_MAX  768
char *sbx_violation_json(const sbx_violation_t *violation, size_t *len);

char *sbx_job_json(const sbx_job_t *job, uint64_t base_bytes,
    const uint64_t *floors, size_t *len);

#endif
