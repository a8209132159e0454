/*
 * sbx_zygote_word.c: what a zygote says: that it is ready, that it cannot start
 * and why, that it has forked a child, and what it prints.
 *
 * Runs in the supervisor.  Nothing of it is trusted more than a message's size:
 * a zygote that talks nonsense is ended.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_layer.h"
#include "sbx_log.h"
#include "sbx_state.h"


/* What a zygote writes to its stdout and stderr: for the log, line by line. */
void
sbx_zygote_log(sbx_event_t *ev, uint32_t events)
{
    char buf[1024], *line, *end;
    ssize_t n;
    sbx_zyg_t *z = ev->data;

    (void) events;

    n = read(z->log_fd, buf, sizeof(buf) - 1);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            sbx_event_clear(ev);
        }
        return;
    }

    buf[n] = '\0';

    for (line = strtok_r(buf, "\n", &end); line != NULL;
         line = strtok_r(NULL, "\n", &end))
    {
        if (sbx_zygote_is_beside(z) && sbx_renew_is_failing(z)) {
            continue;
        }

        sbx_log(SBX_LOG_WARN, 0, "zygote %d: %s", (int) z->kind, line);
    }
}


/*
 * It cannot be what the configuration asks for.  Without it the language would
 * run, but not as its operator means it to: so it does not.
 */
static void
refused(sbx_zyg_t *z, const sbx_zmsg_t *msg)
{
    size_t i, last = msg->tag - 1;
    const char *place = NULL;
    char *const *names = sbx_super.conf->modules;
    char *const *places = sbx_super.conf->modules_at;
    sbx_runtime_t *rt = sbx_zygote_runtime(z->kind);

    for (i = 0; places != NULL && places[i] != NULL && i <= last; i++) {
        place = i == last ? places[i] : NULL;
    }

    snprintf(z->why, sizeof(z->why), "sandbox_preload: module \"%.100s\"%s"
             "%.150s %.220s", names[last], place != NULL ? " in " : "",
             place != NULL ? place : "", msg->err.text);

    if (!sbx_zygote_is_beside(z) && rt != NULL
        && strcmp(rt->refused, z->why) != 0)
    {
        memcpy(rt->refused, z->why, sizeof(rt->refused));
        sbx_log(SBX_LOG_CRIT, 0, "no run of %s is possible: %s",
                rt->conf->name, rt->refused);
        sbx_queue_dispatch();
    }
}


static void
cannot_start(sbx_zyg_t *z, const sbx_zmsg_t *msg)
{
    size_t n = 0;
    char *const *names = sbx_super.conf->modules;

    while (names != NULL && names[n] != NULL) {
        n++;
    }

    if (msg->tag >= 1 && msg->tag <= n) {
        refused(z, msg);

    } else if ((z->kind == SBX_ZYGOTE_KIND_NODE || msg->err.errnum == ENOSYS)
               && !sbx_zygote_is_beside(z) && !z->proven)
    {
        /* another interpreter than it knows: no start of it will be better */
        sbx_zygote_refuse(z->kind, msg->err.text);

    } else if (!sbx_zygote_is_beside(z) || !sbx_renew_is_failing(z)) {
        sbx_log_err(SBX_LOG_ERR, &msg->err, "zygote cannot start");
    }
}


static void
hello(sbx_zyg_t *z, const sbx_zmsg_t *msg, int fd)
{
    sbx_listener_t *l;
    sbx_runtime_t *rt = sbx_zygote_runtime(z->kind);

    sbx_timer_clear(&z->timer);
    z->why[0] = '\0';
    z->open_files = msg->open_files;

    if (rt != NULL && !sbx_zygote_is_beside(z)) {
        rt->refused[0] = '\0';
    }

    if (fd >= 0) {
        l = calloc(1, sizeof(*l));

        if (l == NULL) {
            close(fd);

        } else {
            l->fd = fd;
            l->refs = 1;
            l->killable = msg->notify == 2;
            l->ev.handler = sbx_notify_handler;
            l->ev.data = l;
            z->listener = l;

            if (sbx_event_set(&l->ev, fd, EPOLLIN) < 0) {
                sbx_log(SBX_LOG_ALERT, errno, "epoll");
            }
        }

    } else {
        if (!(sbx_super.missing & SBX_LAYER_NOTIFY)) {
            sbx_log(SBX_LOG_WARN, 0, "no seccomp listener: refused calls are "
                    "not named");
        }
        sbx_super.missing |= SBX_LAYER_NOTIFY;
    }

    z->ready = 1;
    z->base_bytes = rt != NULL && rt->address_space ? msg->vm_size
                                                    : msg->vm_data;
    z->anon_bytes = sbx_renew_anon_bytes(z->pid);

    if (sbx_zygote_is_beside(z)) {
        sbx_renew_hello(z);
        return;
    }

    if (rt == NULL || z->proven || sbx_probe_zygote(rt) < 0) {
        sbx_zygote_prove(z->kind);
    }

    sbx_queue_dispatch();
}


static sbx_lane_t *
lane_of_tag(const sbx_zyg_t *z, uint32_t tag)
{
    unsigned i;
    sbx_lane_t *lane;

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->tag == tag && sbx_zygote_waits_for(lane, z)) {
            return lane;
        }
    }

    return NULL;
}


void
sbx_zygote_spoke(sbx_event_t *ev, uint32_t events)
{
    int fd, nfds, fds[SBX_FDMSG_MAX];
    ssize_t n;
    sbx_zmsg_t msg;
    sbx_lane_t *lane;
    sbx_zyg_t *z = ev->data;

    (void) events;

    n = sbx_fdmsg_recv(z->ctl_fd, &msg, sizeof(msg), fds, &nfds);

    if (n < 0 && errno == EAGAIN) {
        return;
    }

    if (n != (ssize_t) sizeof(msg) || nfds > 1) {

        /* the end, or nonsense: its pidfd tells the rest */
        sbx_event_clear(ev);
        (void) kill(z->pid, SIGKILL);

        while (nfds > 0) {
            close(fds[--nfds]);
        }
        return;
    }

    fd = nfds == 1 ? fds[0] : -1;

    if (msg.type == SBX_ZMSG_HELLO && !z->ready) {
        hello(z, &msg, fd);
        return;
    }

    if (msg.type == SBX_ZMSG_FAILED && !z->ready && fd < 0) {
        msg.err.text[sizeof(msg.err.text) - 1] = '\0';
        cannot_start(z, &msg);
        return;
    }

    lane = lane_of_tag(z, msg.tag);

    if (lane != NULL && msg.type == SBX_ZMSG_FORKED && fd >= 0) {
        if (z->listener != NULL) {
            lane->listener = z->listener;
            z->listener->refs++;
        }
        sbx_lane_forked(lane, msg.pid, fd);

    } else {
        if (fd >= 0) {
            close(fd);
        }

        if (lane != NULL) {
            msg.err.text[sizeof(msg.err.text) - 1] = '\0';
            sbx_lane_fork_failed(lane, &msg.err);
        }
    }

    if (z->retired) {
        sbx_zygote_end_retired(z);
    }

    /* there is room again for who could not ask it */
    if (sbx_super.queued > 0) {
        sbx_queue_dispatch();
    }
}
