/*
 * unit.h: what every unit test includes: cmocka, and strings with a length.
 */

#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sbx_types.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))


/* Of a C string. */
static inline sbx_str_t
str(const char *s)
{
    return (sbx_str_t) { s, strlen(s) };
}


static inline void
assert_str(sbx_str_t got, const char *want)
{
    if (got.len != strlen(want) || memcmp(got.data, want, got.len) != 0) {
        fail_msg("got \"%.*s\", want \"%s\"", (int) got.len, got.data, want);
    }
}

#endif
