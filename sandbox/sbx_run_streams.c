/*
 * sbx_run_streams.c: what goes into a child and comes out of it: the job, stdin,
 * and both output streams, drained at once up to their limit.
 *
 * Runs in the supervisor.  All descriptors here are non-blocking.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_state.h"


static void write_input(sbx_event_t *ev, uint32_t events);
static void read_output(sbx_event_t *ev, uint32_t events);


/* The job as fields, inline or, when large, in a memfd that travels with it. */
int
sbx_run_send(sbx_lane_t *lane)
{
    int fd = -1, rc = -1;
    char *buf;
    size_t len, size = sizeof(sbx_run_t);
    sbx_run_t *head;
    char *const *cmd;
    sbx_task_t *run = lane->run;

    cmd = lane->kind == SBX_ZYGOTE_KIND_EXEC ? run->runtime->conf->cmd : NULL;
    len = sbx_run_size(run->job, cmd);

    buf = malloc(sizeof(sbx_run_t) + len);
    if (buf == NULL) {
        return -1;
    }

    head = (sbx_run_t *) buf;
    memset(head, 0, sizeof(*head));
    head->len = len;
    sbx_run_pack(run->job, cmd, buf + sizeof(sbx_run_t));

    if (len <= SBX_RUN_INLINE_MAX) {
        head->inline_len = (uint32_t) len;
        size += len;

    } else {
        head->flags = SBX_RUN_MEMFD;
        fd = memfd_create("job", MFD_CLOEXEC);

        if (fd < 0 || write(fd, buf + sizeof(sbx_run_t), len) != (ssize_t) len) {
            goto done;
        }
    }

    rc = sbx_fdmsg_send(lane->job_fd, buf, size, fd);

done:

    if (fd >= 0) {
        close(fd);
    }

    free(buf);

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
