/*
 * fuzz_limit.c: a limit as text, from a directive, a flag, a policy or a body.
 * The first byte chooses the row and how a bare time counts.
 */

#include <stdlib.h>
#include <string.h>

#include "sbx_limit.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int id;
    char buf[32];
    uint64_t value, back;
    sbx_str_t text;

    if (size == 0) {
        return 0;
    }

    id = data[0] % SBX_LIMIT_COUNT;
    text = (sbx_str_t) { (const char *) data + 1, size - 1 };

    if (sbx_limit_parse(id, text, data[0] >> 7, &value) != 0) {
        return 0;
    }

    sbx_limit_format(id, value, buf, sizeof(buf));
    text = (sbx_str_t) { buf, strlen(buf) };

    if (value < sbx_limits[id].min || value > sbx_limits[id].max
        || sbx_limit_parse(id, text, 0, &back) != 0 || back != value)
    {
        abort();
    }

    return 0;
}
