/*
 * tap.h: TAP lines for the programs of this directory.
 */

#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_count, tap_failed;


static inline int __attribute__((format(printf, 2, 3)))
tap_ok(int good, const char *fmt, ...)
{
    va_list args;

    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);

    tap_failed += !good;

    return good;
}


static inline int
tap_done(void)
{
    printf("1..%d\n", tap_count);

    return tap_failed != 0;
}

#endif
