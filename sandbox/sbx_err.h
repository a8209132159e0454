/*
 * sbx_err.h: one way to report a failure, with the step that failed.
 *
 * A function that can fail returns 0, or -1 with the caller's err filled.
 * No heap, no stdio streams: it works between fork and exec.  Lower layers
 * fill err and stay silent; whoever handles it logs it, once.
 */

#ifndef SBX_ERR_H
#define SBX_ERR_H

#include "sbx_types.h"

/* The step names in answers ("failing step"), logs and fault injection. */
typedef enum {
    SBX_STEP_NONE = 0,
    SBX_STEP_CELL,      /* supervisor's own namespaces */
    SBX_STEP_ROOT,      /* the bare root, built once */
    SBX_STEP_SLOT,      /* slot's namespaces and init */
    SBX_STEP_RESET,     /* cleaning a slot between runs */
    SBX_STEP_CGROUP,
    SBX_STEP_FORK,      /* zygote's clone of a child */
    SBX_STEP_ENTER,     /* child joins the slot's namespaces */
    SBX_STEP_SESSION,
    SBX_STEP_FDS,
    SBX_STEP_RLIMITS,
    SBX_STEP_IDS,
    SBX_STEP_CAPS,
    SBX_STEP_LANDLOCK,
    SBX_STEP_SECCOMP,
    SBX_STEP_WARM,
    SBX_STEP_JOB,       /* child receives the job, writes its files */
    SBX_STEP_EXEC,
    SBX_STEP_ZYGOTE,    /* starting a zygote */
    SBX_STEP_WIRE,      /* a frame from a peer */
    SBX_STEP_CONFIG,
    SBX_STEP_COUNT
} sbx_step_t;

typedef struct {
    sbx_step_t step;
    int errnum;         /* errno, or 0 */
    char text[256];     /* what was tried, with the object's name */
} sbx_err_t;

/* Fills *err (which may be NULL) and returns -1.  Async-signal-safe. */
int sbx_fail(sbx_err_t *err, sbx_step_t step, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "slot", "seccomp" …; never NULL. */
const char *sbx_step_name(sbx_step_t step);

#endif
