/*
 * sbx_client.h: the other end of the wire, for the command and for tests.
 *
 * Runs in: deer-flow run, check, explain.  Blocking.
 */

#ifndef SBX_CLIENT_H
#define SBX_CLIENT_H

#include <sys/types.h>

#include "sbx_job.h"
#include "sbx_stats.h"
#include "sbx_super.h"
#include "sbx_verdict.h"

typedef struct {
    int fd;                 /* the connection */
    pid_t guard;            /* 0: somebody else's supervisor */
    sbx_stats_t *stats;     /* of a supervisor of our own, else NULL */
} sbx_client_t;

/*
 * Starts a supervisor of our own for this one connection (conf.conn_fd and
 * stats_fd are filled in), or connects to "unix:/path".  The caller closes by
 * sbx_client_close, also after -1.
 */
int sbx_client_start(sbx_client_t *client, sbx_conf_t *conf, sbx_err_t *err);
int sbx_client_connect(sbx_client_t *client, const char *address,
    sbx_err_t *err);

/*
 * Waits until its self-tests have ended, and if zygotes is set no zygote has yet
 * to show that it works; at most ms.  0, or -1.
 */
int sbx_client_wait_ready(sbx_client_t *client, int zygotes, unsigned ms,
    sbx_err_t *err);

/*
 * Sends the job and reads the first case's verdict.  *payload (heap) is what
 * its strings point into; the caller frees it.
 */
int sbx_client_run(sbx_client_t *client, const sbx_job_t *job,
    sbx_verdict_t *v, char **payload, sbx_err_t *err);

/* Ends the connection and waits for our supervisor to be gone. */
void sbx_client_close(sbx_client_t *client);

#endif
