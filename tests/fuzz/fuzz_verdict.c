/*
 * fuzz_verdict.c: what a worker reads from a supervisor, and the answer that
 * it makes of it, which must be JSON whatever the verdict says.
 */

#include <stdlib.h>

#include "sbx_json.h"
#include "sbx_wire.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int i;
    char *json, why[256];
    size_t len, json_len;
    const char *payload;
    sbx_err_t err;
    sbx_verdict_t v;

    payload = (const char *) data;
    len = size;

    while (sbx_verdict_unpack(&v, &payload, &len, &err) == 1) {
        for (i = 0; i < 2; i++) {
            json = sbx_verdict_json(&v, i, &json_len);

            if (json == NULL
                || sbx_json_check(json, json_len, why, sizeof(why)) != NULL)
            {
                abort();
            }

            free(json);
        }

        if (sbx_verdict_returncode(&v) < 0 || sbx_verdict_http(&v) < 200) {
            abort();
        }
    }

    return 0;
}
