/*
 * sbx_types.h: the words every layer shares.  A leaf: includes nothing of ours.
 *
 * worker       an nginx worker; never forks, never blocks.
 * supervisor   one per configuration generation; decides every verdict.
 * zygote       a warmed, single-threaded interpreter (or launcher) that forks.
 * slot         kernel objects one run lives in; never two runs at a time.
 * child        one per run, in a slot; runs one job and dies.
 */

#ifndef SBX_TYPES_H
#define SBX_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define SBX_VERSION "0.1.0"

/* Bytes with a length; may hold NUL; never owns what it points to. */
typedef struct {
    const char *data;
    size_t len;
} sbx_str_t;

#define SBX_STR(s)  ((sbx_str_t) { (s), sizeof(s) - 1 })

#endif
