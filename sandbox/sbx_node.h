/*
 * sbx_node.h: what the files of libsbx_node.so share.
 *
 * The library is in a node process twice: preloaded before libc, so that it can
 * leave out or put off a few calls of threads, and loaded as an addon, so that
 * sandbox/node/zygote.js can call it.  It knows node and libuv by the symbols
 * that the running program exports, looked up once in the zygote; what is not
 * there is done without, or the zygote does not start.
 */

#ifndef SBX_NODE_H
#define SBX_NODE_H

#include "sbx_err.h"
#include "sbx_hot.h"
#include "sbx_node_api.h"
#include "sbx_zygote.h"

/* Set in the child, from its first moment on. */
extern int sbx_node_in_child;

/*
 * sbx_node_threads.c.  park: waits until every pool thread sleeps, so that none
 * holds a lock that a child would inherit; 0, or -1.  Runs in: zygote.
 * forked: makes locks and conditions of the lost threads new, and calls what
 * libraries registered for a fork.  Runs in: child, with its own descriptors.
 */
int sbx_node_threads_park(unsigned ms);
void sbx_node_threads_forked(void);

/*
 * sbx_node_fds.c.  note: remembers what the zygote's descriptors are, and how
 * many a child must be allowed; 0, or -1: there is one that children would
 * share, or too many.  renew: an
 * object of the child's own under each number, which all were closed.
 */
int sbx_node_fds_note(uint32_t *open_files, sbx_err_t *err);
int sbx_node_fds_renew(sbx_err_t *err);

/*
 * sbx_node_engine.c.  open: looks symbols up; 0, or -1 with what is missing.
 * loop_forked: the event loop's own descriptors.  reseed: random numbers of this
 * child's own; 0, or -1.  math_seed: not 0: the caller has to seed Math.random.
 * stand_still, skip_time: V8 and the loop's timers do not notice how long nothing
 * ran between the two.  start_clock:
 * the same, and uptime and performance.now() begin now.
 */
int sbx_node_engine_open(sbx_err_t *err);
/* An address in V8's text. */
const void *sbx_node_engine_text(void);
int sbx_node_engine_loop_forked(sbx_err_t *err);
/* What the main loop waits with; -1: nothing yet. */
int sbx_node_engine_loop_fd(void);
/* 1: something that was asked for (of the thread pool, too) is not done. */
int sbx_node_engine_has_requests(void);
int sbx_node_engine_reseed(sbx_err_t *err);
int sbx_node_engine_math_seed(void);
void sbx_node_engine_stand_still(void);
void sbx_node_engine_skip_time(void);
void sbx_node_engine_start_clock(void);
/* When the run began: ns of CLOCK_MONOTONIC, µs since 1970. */
void sbx_node_engine_times(double *mono_ns, double *real_us);
void sbx_node_engine_spin(int mode);
/* object[key] without running JavaScript: handles of Node-API; NULL: none. */
void *sbx_node_engine_get(void *object, void *key);

/*
 * sbx_node_end.c.  note: in the zygote; process, and [exit fields or null, index
 * of exiting, of code, of has-code].  learn: what a rehearsal ends with.  really:
 * process.reallyExit.
 */
void sbx_node_end_note(napi_env env, napi_value process,
    const napi_value *fields);
void sbx_node_end_learn(sbx_hot_t *hot);
napi_value sbx_node_end_really(napi_env env, napi_callback_info info);

/*
 * sbx_node_command.c.  note_command: before node reads its arguments.  show: what
 * /proc shows of a child is a plain start of its program.
 */
void sbx_node_note_command(void);
void sbx_node_show_command(const sbx_job_t *job);

#endif
