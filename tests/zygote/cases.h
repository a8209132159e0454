/*
 * cases.h: programs and how they must end, for any zygote.
 */

#ifndef CASES_H
#define CASES_H

#include <signal.h>

#include "stand.h"

/* Statuses of wait(2). */
#define EXIT(code)   ((code) << 8)
#define KILLED       SIGKILL
#define SYS_KILLED   SIGSYS
#define SYS_OR_SEGV  (-2)       /* some kernels have no i386 calls at all */

typedef struct {
    const char *what;
    program_t program;
    int status;
    const char *out;        /* NULL: whatever */
    const char *err_has;
    const char *named;      /* NULL: no call may be named, "" : whatever */
} case_t;

/* Ends with what NULL. */
extern const case_t cases[];

#endif
