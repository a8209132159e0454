/*
 * sbx_run_streams.c: what goes into a child and comes out of it: the job, stdin,
 * and both output streams, drained at once up to their limit.
 *
 * Runs in the supervisor.  All descriptors here are non-blocking.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_state.h"


static void write_input(sbx_event_t *ev, uint32_t events);
static void read_output(sbx_event_t *ev, uint32_t events);


static char *
pack_job(const sbx_task_t *run, char *const *cmd, size_t head, size_t len)
{
    char *buf = malloc(head + len);

    if (buf != NULL) {
        memset(buf, 0, head);
        sbx_run_pack(run->job, cmd, buf + head);
    }

    return buf;
}


/*
 * The job as fields in a memfd: one for all cases of a frame, since a child only
 * maps it, and making one takes us 4 ms a MiB.
 */
static int
large_job(sbx_task_t *run, char *const *cmd, size_t len)
{
    int fd;
    char *buf;
    sbx_conn_t *conn = run->conn;

    if (conn != NULL && conn->job_fd >= 0 && conn->job_cmd == cmd) {
        return fcntl(conn->job_fd, F_DUPFD_CLOEXEC, 0);
    }

    buf = pack_job(run, cmd, 0, len);
    fd = buf == NULL ? -1 : memfd_create("job", MFD_CLOEXEC
                                                | MFD_ALLOW_SEALING);

    if (fd >= 0 && (write(fd, buf, len) != (ssize_t) len
                    || fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK
                                              | F_SEAL_GROW | F_SEAL_WRITE)
                       < 0))
    {
        close(fd);
        fd = -1;
    }

    free(buf);

    if (fd >= 0 && conn != NULL && conn->job.ncases > 1) {
        sbx_conn_drop_job(conn);
        conn->job_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        conn->job_cmd = cmd;
    }

    return fd;
}


/* The job as fields, inline or, when large, in a memfd that travels with it. */
int
sbx_run_send(sbx_lane_t *lane)
{
    int rc, error, fd = -1;
    char *buf;
    size_t len, inline_len;
    sbx_run_t *head;
    char *const *cmd;
    sbx_task_t *run = lane->run;

    cmd = lane->kind == SBX_ZYGOTE_KIND_EXEC ? run->runtime->conf->cmd : NULL;
    len = sbx_run_size(run->job, cmd);
    inline_len = len <= SBX_RUN_INLINE_MAX ? len : 0;

    if (inline_len == 0) {
        fd = large_job(run, cmd, len);
        if (fd < 0) {
            return -1;
        }
    }

    buf = inline_len ? pack_job(run, cmd, sizeof(sbx_run_t), len)
                     : calloc(1, sizeof(sbx_run_t));
    rc = -1;

    if (buf != NULL) {
        head = (sbx_run_t *) buf;
        head->len = len;
        head->inline_len = (uint32_t) inline_len;
        head->flags = inline_len ? 0 : SBX_RUN_MEMFD;
        rc = sbx_fdmsg_send(lane->job_fd, buf, sizeof(sbx_run_t) + inline_len,
                            fd);
    }

    error = errno;

    if (fd >= 0) {
        close(fd);
    }

    free(buf);
    errno = error;

    return rc;
}


int
sbx_run_watch(sbx_lane_t *lane)
{
    int i;

    for (i = 0; i < 2; i++) {
        lane->ev_out[i].handler = read_output;
        lane->ev_out[i].data = lane;

        if (sbx_event_set(&lane->ev_out[i], lane->out_fd[i], EPOLLIN) < 0) {
            return -1;
        }
    }

    lane->ev_in.handler = write_input;
    lane->ev_in.data = lane;
    write_input(&lane->ev_in, 0);

    return 0;
}


static void
write_input(sbx_event_t *ev, uint32_t events)
{
    ssize_t n;
    sbx_lane_t *lane = ev->data;
    const sbx_str_t *in;

    (void) events;

    if (lane->run == NULL) {
        goto close;
    }

    in = &lane->run->job->cases[lane->run->index].input;

    if (lane->run->watch != NULL) {
        return;                 /* it paces the program, and writes itself */
    }

    while (lane->in_pos < in->len) {
        n = write(lane->in_fd, in->data + lane->in_pos,
                  in->len - lane->in_pos);

        if (n > 0) {
            lane->in_pos += (size_t) n;
            continue;
        }

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n < 0 && errno == EAGAIN
            && sbx_event_set(ev, lane->in_fd, EPOLLOUT) == 0)
        {
            return;
        }

        break;                  /* EPIPE: the program reads no more */
    }

close:

    sbx_event_clear(ev);

    if (lane->in_fd >= 0) {
        close(lane->in_fd);
        lane->in_fd = -1;
    }
}


/*
 * Reads what is there.  1: more may come, 0: end of file or an error, -1: the
 * limit is exceeded (exactly the limit is kept), -2: no memory.
 */
static int
drain(sbx_lane_t *lane, int which)
{
    char *grown;
    size_t cap, limit;
    ssize_t n;
    sbx_task_t *run = lane->run;

    limit = run->job->limits[SBX_LIMIT_OUTPUT];

    for ( ;; ) {

        /* one byte more than the limit tells "exactly full" from "too much" */
        if (run->output_len[which] == run->output_cap[which]) {
            cap = run->output_cap[which] ? 2 * run->output_cap[which] : 4096;

            if (cap > limit + 1) {
                cap = limit + 1;
            }

            grown = realloc(run->output[which], cap);
            if (grown == NULL) {
                return -2;
            }

            run->output[which] = grown;
            run->output_cap[which] = cap;
        }

        n = read(lane->out_fd[which],
                 run->output[which] + run->output_len[which],
                 run->output_cap[which] - run->output_len[which]);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? 1 : 0;
        }

        if (n == 0) {
            return 0;
        }

        run->output_len[which] += (size_t) n;

        if (run->output_len[which] > limit) {
            run->output_len[which] = limit;

            if (which == 0) {
                run->verdict.output_truncated = 1;

            } else {
                run->verdict.errout_truncated = 1;
            }

            return -1;
        }
    }
}


static void
read_output(sbx_event_t *ev, uint32_t events)
{
    int rc, which;
    sbx_lane_t *lane = ev->data;

    (void) events;

    which = ev == &lane->ev_out[1];

    if (lane->run == NULL) {
        sbx_event_clear(ev);
        return;
    }

    rc = drain(lane, which);

    if (lane->run->watch != NULL && which == 0 && rc >= 0) {
        lane->run->watch->heard(lane->run);
    }

    if (rc > 0) {
        return;
    }

    sbx_event_clear(ev);

    /*
     * The pipe stays open until the child is gone: closing it first would let
     * the program see, and report, a broken pipe before the signal.
     */
    if (rc == -2) {
        sbx_run_refuse(lane->run, SBX_INTERNAL_ERROR, SBX_REASON_NONE,
                       "no memory for the program's output");
        sbx_lane_kill(lane, SBX_KILL_CANCEL);

    } else if (rc < 0) {
        sbx_lane_kill(lane, which ? SBX_KILL_STDERR : SBX_KILL_STDOUT);
    }
}


/* What pipes still hold after the end.  An excess found here counts too. */
void
sbx_run_drain(sbx_lane_t *lane)
{
    int which;
    const sbx_verdict_t *v = &lane->run->verdict;

    for (which = 0; which < 2; which++) {

        if (which ? v->errout_truncated : v->output_truncated) {
            continue;
        }

        if (drain(lane, which) < 0 && lane->kill == SBX_KILL_NONE) {
            lane->kill = which ? SBX_KILL_STDERR : SBX_KILL_STDOUT;
        }
    }
}
