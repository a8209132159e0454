/*
 * sbx_root.h: the bare root of every run.
 *
 * Built once by the supervisor, on a small tmpfs, in a mount namespace that it
 * enters for that: read-only binds of what the interpreters need (libraries,
 * their standard libraries, single binaries, time zones, a few files of /etc),
 * /dev with null, zero, random and urandom, empty mount points /proc, /tmp,
 * /dev/shm, and the preload library as SBX_ROOT_PRELOAD.  Every slot copies and
 * pivots into it.
 */

#ifndef SBX_ROOT_H
#define SBX_ROOT_H

#include "sbx_err.h"

#define SBX_ROOT_PRELOAD    "/run/sbx/libsbx_preload.so"
#define SBX_RUN_DIR         "/tmp/run"      /* a program's working directory */

typedef struct {
    char dir[64];       /* where it is mounted, in the supervisor's view */
} sbx_root_t;

/*
 * binds: NULL-terminated absolute host paths (files or directories) that the
 * runtimes need beyond the built-in list; absent ones are an error, absent
 * built-in ones are skipped.  preload: the library's host path.
 * Runs in: supervisor, once, before any slot.
 */
int sbx_root_build(sbx_root_t *root, const char *const *binds,
    const char *preload, sbx_err_t *err);

#endif
