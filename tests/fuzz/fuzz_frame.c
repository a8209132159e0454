/*
 * fuzz_frame.c: what the supervisor reads from a worker: a head and a job.
 *
 * What is accepted must mean the same when it is packed and read again.
 */

#include <stdlib.h>
#include <string.h>

#include "sbx_wire.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *payload;
    size_t len;
    sbx_err_t err;
    sbx_job_t job, back;
    sbx_frame_t frame;

    if (size < SBX_WIRE_HEAD
        || sbx_frame_unpack((const char *) data, SBX_JOB_BYTES_MAX, &frame,
                            &err) != 0
        || sbx_job_unpack(&job, (const char *) data + SBX_WIRE_HEAD,
                          size - SBX_WIRE_HEAD, &err) != 0)
    {
        return 0;
    }

    len = sbx_job_size(&job);
    payload = malloc(len);
    sbx_job_pack(&job, payload);

    if (sbx_job_unpack(&back, payload, len, &err) != 0
        || back.ncases != job.ncases || back.nfiles != job.nfiles
        || memcmp(back.limits, job.limits, sizeof(job.limits)) != 0
        || sbx_job_size(&back) != len)
    {
        abort();
    }

    sbx_job_clear(&back);
    sbx_job_clear(&job);
    free(payload);

    return 0;
}
