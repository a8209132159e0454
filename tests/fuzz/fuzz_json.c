/*
 * fuzz_json.c: a client's body.  A request that is accepted must make a frame
 * that the supervisor accepts, and a dry run's answer must be JSON.
 */

#include <stdlib.h>

#include "sbx_json.h"
#include "sbx_wire.h"


static void
check_job(const sbx_job_t *job)
{
    char *payload, *json, why[256];
    size_t len;
    sbx_err_t err;
    sbx_job_t back;

    len = sbx_job_size(job);
    payload = malloc(len);
    sbx_job_pack(job, payload);

    if (sbx_job_unpack(&back, payload, len, &err) != 0
        || back.nargs != job->nargs || back.nenv != job->nenv)
    {
        abort();
    }

    sbx_job_clear(&back);
    free(payload);

    json = sbx_job_json(job, 1, NULL, &len);

    if (json == NULL || sbx_json_check(json, len, why, sizeof(why)) != NULL) {
        abort();
    }

    free(json);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[256];
    sbx_request_t req;

    if (sbx_request_parse(&req, (const char *) data, size, SBX_STR(""), why,
                          sizeof(why)) == 0)
    {
        check_job(&req.job);
    }

    sbx_request_clear(&req);

    return 0;
}
