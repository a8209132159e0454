/*
 * sbx_check.h: the seven checks of each built-in runtime.
 *
 * Real programs run in the real sandbox while the supervisor looks at them from
 * outside: what a program prints paces the check and is no evidence.  They run
 * at start, before anybody's program; one that failed makes the runtime's
 * locations answer 503, unless sandbox_allow_missing has its name, and is
 * repeated until it passes.
 */

#ifndef SBX_CHECK_H
#define SBX_CHECK_H

#include "sbx_state.h"

/* Runs the checks of a runtime whose self-test passed.  0, or -1: no memory. */
int sbx_check_start(sbx_runtime_t *rt, int first);

/* A zygote is ready, or will not be so soon: who waited for it goes on. */
void sbx_check_zygote(sbx_zygote_kind_t kind);

/* The lane's slot was cleaned after its child. */
void sbx_check_cleaned(sbx_lane_t *lane);

/* Gives the verdict of a run whose runtime failed these checks. */
void sbx_check_refuse(sbx_task_t *run, uint32_t checks);


/* sbx_check_look.c: what the kernel says of a process. */

/* A number of /proc/PID/status, in bytes for a size; 0: not there. */
uint64_t sbx_look_bytes(pid_t pid, const char *key);

/* Its number in its own pid namespace; 0: not known. */
pid_t sbx_look_inner_pid(pid_t pid);

/*
 * The limit in /proc/PID/limits, by the row's name; UINT64_MAX: unlimited.
 * 0, or -1: there is no such row.
 */
int sbx_look_limit(pid_t pid, const char *row, uint64_t *soft, uint64_t *hard);

/*
 * What /proc/PID/maps has of the preload library's code and of the page.  Bits:
 * 1 the library, executable; 2 the memfd page_fd, shared.
 */
int sbx_look_hook(pid_t pid, const char *library, int page_fd);

/* The kernel's count of OOM kills on the whole host. */
uint64_t sbx_look_oom_kills(void);

/* A process of the cell that no lane or zygote has; 0: none. */
pid_t sbx_look_stranger(char *name, size_t size);

#endif
