/*
 * fuzz_run.c: what a child reads from the job channel.
 */

#include <stdlib.h>

#include "sbx_zygote.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t i, ncmd;
    sbx_err_t err;
    sbx_job_t job;
    sbx_str_t *cmd;

    if (sbx_run_unpack(&job, &cmd, &ncmd, (const char *) data, size, &err)
        != 0)
    {
        if (cmd != NULL || job.files != NULL || err.text[0] == '\0') {
            abort();
        }

        return 0;
    }

    for (i = 0; i < job.nfiles; i++) {
        if (sbx_path_check(job.files[i].path) != NULL) {
            abort();
        }
    }

    sbx_job_clear(&job);
    free(cmd);

    return 0;
}
