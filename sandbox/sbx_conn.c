/*
 * sbx_conn.c: a worker's connection: a RUN frame in, its runs, a VERDICTS frame
 * out, and the next.
 *
 * Runs in the supervisor.  The connection's end cancels its runs.  A bad frame
 * closes that connection and nothing else.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sbx_log.h"
#include "sbx_state.h"


static void read_frame(sbx_event_t *ev, uint32_t events);


/* The memfd of a large job, if it has one. */
void
sbx_conn_drop_job(sbx_conn_t *conn)
{
    if (conn->job_fd >= 0) {
        close(conn->job_fd);
        conn->job_fd = -1;
    }
}


static void
free_frame(sbx_conn_t *conn)
{
    size_t i;

    for (i = 0; i < conn->nruns; i++) {
        sbx_run_clear(&conn->runs[i]);
    }

    free(conn->runs);
    conn->runs = NULL;
    conn->nruns = conn->ndone = 0;
    sbx_job_clear(&conn->job);
    sbx_conn_drop_job(conn);
    sbx_suite_clear(&conn->suite);
    free(conn->payload);
    conn->payload = NULL;
    free(conn->answer);
    conn->answer = NULL;
    conn->have = 0;
    conn->busy = 0;
}


static void
close_conn(sbx_conn_t *conn)
{
    size_t i;

    for (i = 0; i < conn->nruns; i++) {
        sbx_run_cancel(&conn->runs[i]);
    }

    free_frame(conn);
    sbx_event_clear(&conn->ev);
    close(conn->fd);

    conn->prev->next = conn->next;
    conn->next->prev = conn->prev;
    sbx_super.nconns--;
    free(conn);

    sbx_queue_dispatch();
}


void
sbx_conn_open(int fd)
{
    sbx_conn_t *conn = calloc(1, sizeof(*conn));

    if (conn == NULL) {
        close(fd);
        return;
    }

    conn->fd = fd;
    conn->job_fd = -1;
    conn->ev.handler = read_frame;
    conn->ev.data = conn;

    if (sbx_event_set(&conn->ev, fd, EPOLLIN | EPOLLRDHUP) < 0) {
        close(fd);
        free(conn);
        return;
    }

    conn->prev = sbx_super.conns.prev;
    conn->next = &sbx_super.conns;
    conn->prev->next = conn;
    conn->next->prev = conn;
    sbx_super.nconns++;
}


/* 1: all sent; 0: the rest goes when there is room; -1: the peer is gone. */
static int
send_answer(sbx_conn_t *conn)
{
    ssize_t n;

    while (conn->answer_pos < conn->answer_len) {
        n = send(conn->fd, conn->answer + conn->answer_pos,
                 conn->answer_len - conn->answer_pos, MSG_NOSIGNAL);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? 0 : -1;
        }

        conn->answer_pos += (size_t) n;
    }

    return 1;
}


static void
write_answer(sbx_conn_t *conn)
{
    int rc = send_answer(conn);

    if (rc == 0
        && sbx_event_set(&conn->ev, conn->fd,
                         EPOLLOUT | EPOLLRDHUP) == 0)
    {
        return;
    }

    if (rc <= 0) {
        close_conn(conn);
        return;
    }

    free_frame(conn);

    if (sbx_event_set(&conn->ev, conn->fd, EPOLLIN | EPOLLRDHUP) < 0) {
        close_conn(conn);
    }
}


void
sbx_conn_answer(sbx_conn_t *conn)
{
    char *p;
    size_t i, len;
    sbx_frame_t frame;

    len = 0;
    for (i = 0; i < conn->nruns; i++) {
        len += sbx_verdict_size(&conn->runs[i].verdict);
    }

    conn->answer = malloc(SBX_WIRE_HEAD + len);
    if (conn->answer == NULL) {
        sbx_log(SBX_LOG_ALERT, errno, "no memory for an answer");
        close_conn(conn);
        return;
    }

    memset(&frame, 0, sizeof(frame));
    frame.type = SBX_FRAME_VERDICTS;
    frame.length = len;
    sbx_frame_pack(&frame, conn->answer);
    p = conn->answer + SBX_WIRE_HEAD;

    for (i = 0; i < conn->nruns; i++) {
        sbx_verdict_pack(&conn->runs[i].verdict, p);
        p += sbx_verdict_size(&conn->runs[i].verdict);
    }

    conn->answer_len = SBX_WIRE_HEAD + len;
    conn->answer_pos = 0;
    write_answer(conn);
}


/* 1: a whole frame is there; 0: more is to come; -1: the connection is over. */
static int
read_more(sbx_conn_t *conn)
{
    char *into;
    size_t want;
    ssize_t n;
    sbx_err_t err;

    for ( ;; ) {

        if (conn->have < SBX_WIRE_HEAD) {
            into = conn->head + conn->have;
            want = SBX_WIRE_HEAD - conn->have;

        } else {
            into = conn->payload + (conn->have - SBX_WIRE_HEAD);
            want = conn->frame.length - (conn->have - SBX_WIRE_HEAD);
        }

        if (want == 0) {
            return 1;
        }

        n = recv(conn->fd, into, want, 0);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? 0 : -1;
        }

        if (n == 0) {
            return -1;
        }

        conn->have += (size_t) n;

        if (conn->have != SBX_WIRE_HEAD) {
            continue;
        }

        if (sbx_frame_unpack(conn->head, SBX_JOB_BYTES_MAX, &conn->frame, &err)
            < 0)
        {
            sbx_log_err(SBX_LOG_ERR, &err, "bad frame");
            return -1;
        }

        conn->payload = malloc(conn->frame.length ? conn->frame.length : 1);
        if (conn->payload == NULL) {
            sbx_log(SBX_LOG_ALERT, errno, "no memory for a frame");
            return -1;
        }
    }
}


static void
read_frame(sbx_event_t *ev, uint32_t events)
{
    sbx_err_t err;
    sbx_conn_t *conn = ev->data;

    if (conn->answer != NULL && (events & EPOLLOUT)) {
        write_answer(conn);
        return;
    }

    if (conn->busy) {
        /* a peer that speaks before its answer has hung up, or is broken */
        close_conn(conn);
        return;
    }

    switch (read_more(conn)) {

    case 0:
        return;

    case 1:
        break;

    default:
        close_conn(conn);
        return;
    }

    if (conn->frame.type != SBX_FRAME_RUN
        || sbx_job_unpack(&conn->job, conn->payload, conn->frame.length, &err)
           < 0)
    {
        if (conn->frame.type == SBX_FRAME_RUN) {
            sbx_log_err(SBX_LOG_ERR, &err, "bad job");
        }
        close_conn(conn);
        return;
    }

    if (sbx_conn_start(conn) < 0) {
        sbx_log(SBX_LOG_ALERT, errno, "no memory for runs");
        close_conn(conn);
    }
}
