/*
 * sbx_wire.h: frames between worker (or deer-flow run) and supervisor.
 *
 * A frame is a 24-byte head and a payload of fields:
 *
 *     head     "SBXF"  u16 version  u16 type  u32 flags  u32 reserved  u64 length
 *     field    u16 tag  u16 reserved (0)  u32 length  bytes, no padding
 *
 * in host order: both ends live on one machine (unix sockets only).  A RUN
 * frame carries 1..N jobs that share program, files and limits and differ in
 * stdin: shared fields first, then one CASE field (u32 id) per job, followed
 * by that job's own fields.  Its answer is one VERDICTS frame: for each job a
 * CASE field and the fields of its verdict, in the order of the jobs.  Tags not
 * listed for a frame are refused, except those >= SBX_TAG_OPTIONAL, which a
 * receiver skips: that is how a later version adds a field.
 *
 * Bounds: the payload's length is compared with a limit before anything is
 * allocated, every field's with what is left of the payload.
 */

#ifndef SBX_WIRE_H
#define SBX_WIRE_H

#include "sbx_err.h"
#include "sbx_job.h"
#include "sbx_verdict.h"

#define SBX_WIRE_VERSION    1
#define SBX_WIRE_HEAD       24

typedef enum {
    SBX_FRAME_RUN = 1,          /* worker → supervisor: jobs, attached to the
                                   connection, whose end cancels them */
    SBX_FRAME_VERDICTS = 2      /* supervisor → worker */
} sbx_frame_type_t;

typedef struct {
    uint16_t type;
    uint32_t flags;
    uint64_t length;            /* of the payload */
} sbx_frame_t;

/* Writes the 24 bytes of a head. */
void sbx_frame_pack(const sbx_frame_t *frame, char head[SBX_WIRE_HEAD]);

/* Checks magic, version, type and length <= max. */
int sbx_frame_unpack(const char head[SBX_WIRE_HEAD], uint64_t max,
    sbx_frame_t *frame, sbx_err_t *err);

/*
 * Size of a job's payload, and the payload itself.  sbx_job_pack writes exactly
 * sbx_job_size bytes.
 */
size_t sbx_job_size(const sbx_job_t *job);
void sbx_job_pack(const sbx_job_t *job, char *payload);

/*
 * Parses and checks a RUN payload: all bounds of sbx_job.h, names, paths, env,
 * limits within the rows' min..max.  Strings point into payload.  On -1 the job
 * is cleared.
 */
int sbx_job_unpack(sbx_job_t *job, const char *payload, size_t len,
    sbx_err_t *err);

/* The most that the answer to so many cases can take: refused above the bound. */
#define SBX_ANSWER_BYTES_MAX    (256UL << 20)
uint64_t sbx_answer_max(size_t ncases, uint64_t output_limit);

/* One job's verdict; a frame's payload is these one after the other. */
size_t sbx_verdict_size(const sbx_verdict_t *v);
void sbx_verdict_pack(const sbx_verdict_t *v, char *payload);

/*
 * Parses the next verdict at *payload, moves *payload and *len past it.
 * Returns 1, 0 when nothing is left, -1 with err.
 */
int sbx_verdict_unpack(sbx_verdict_t *v, const char **payload, size_t *len,
    sbx_err_t *err);

#endif
