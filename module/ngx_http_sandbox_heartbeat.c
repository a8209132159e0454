/*
 * ngx_http_sandbox_heartbeat.c: tells a judge's front, at intervals, that this
 * judge is there.
 *
 * Runs in one worker, the first, from its event loop.  Goes out: one POST a
 * time, made by the policy's heartbeat().  Comes in: the answer, for its
 * heard().  What fails is logged once, until it works again; the next heartbeat
 * is sent all the same.
 */

#include "ngx_http_sandbox_heartbeat.h"


/* of an answer that is looked at */
#define NGX_HTTP_SANDBOX_HEARTBEAT_ANSWER    8192


static void ngx_http_sandbox_heartbeat_cleanup(void *data);
static void ngx_http_sandbox_heartbeat_timer(ngx_event_t *ev);
static void ngx_http_sandbox_heartbeat_send(ngx_http_sandbox_heartbeat_t *hb);
static ngx_int_t ngx_http_sandbox_heartbeat_request(
    ngx_http_sandbox_heartbeat_t *hb, char *err, size_t size);
static ngx_buf_t *ngx_http_sandbox_heartbeat_pack(
    ngx_http_sandbox_heartbeat_t *hb, sbx_policy_response_t *out);
static void ngx_http_sandbox_heartbeat_connect(
    ngx_http_sandbox_heartbeat_t *hb, ngx_err_t err);
static ngx_int_t ngx_http_sandbox_heartbeat_connected(ngx_connection_t *c);
static void ngx_http_sandbox_heartbeat_write(ngx_event_t *wev);
static void ngx_http_sandbox_heartbeat_read(ngx_event_t *rev);
static void ngx_http_sandbox_heartbeat_heard(ngx_http_sandbox_heartbeat_t *hb);
static void ngx_http_sandbox_heartbeat_end(ngx_http_sandbox_heartbeat_t *hb,
    ngx_err_t err, const char *why);
static void ngx_http_sandbox_heartbeat_close(ngx_http_sandbox_heartbeat_t *hb);


/*
 * The first worker alone.  After a reload it is another one, and the old one,
 * which may have runs to wait for, is exiting and sends no more; one that died
 * is replaced by one of the same number.
 */
ngx_int_t
ngx_http_sandbox_heartbeat_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                      i;
    ngx_pool_cleanup_t             *cln;
    ngx_http_sandbox_heartbeat_t   *hb, **slot;
    ngx_http_sandbox_main_conf_t   *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_sandbox_module);

    if (smcf == NULL || ngx_worker != 0
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    slot = smcf->heartbeats.elts;

    for (i = 0; i < smcf->heartbeats.nelts; i++) {
        hb = slot[i];

        cln = ngx_pool_cleanup_add(cycle->pool, 0);
        if (cln == NULL) {
            return NGX_ERROR;
        }

        cln->handler = ngx_http_sandbox_heartbeat_cleanup;
        cln->data = hb;

        hb->quiet = *cycle->log;
        hb->quiet.log_level = NGX_LOG_EMERG;

        hb->timer.data = hb;
        hb->timer.log = cycle->log;
        hb->timer.handler = ngx_http_sandbox_heartbeat_timer;
        hb->timer.cancelable = 1;       /* holds up no worker that would go */

        ngx_add_timer(&hb->timer, 1);
    }

    return NGX_OK;
}


/* A single process outlives its configuration; a worker does not. */

static void
ngx_http_sandbox_heartbeat_cleanup(void *data)
{
    ngx_http_sandbox_heartbeat_t *hb = data;

    if (hb->timer.timer_set) {
        ngx_del_timer(&hb->timer);
    }

    ngx_http_sandbox_heartbeat_close(hb);
}


static void
ngx_http_sandbox_heartbeat_timer(ngx_event_t *ev)
{
    ngx_http_sandbox_heartbeat_t  *hb;

    hb = ev->data;

    if (ngx_exiting) {
        return;
    }

    ngx_add_timer(ev, hb->interval);

    if (hb->peer.connection) {
        ngx_http_sandbox_heartbeat_end(hb, 0, "no answer before it was time "
                                       "for the next one");
    }

    ngx_http_sandbox_heartbeat_send(hb);
}


static void
ngx_http_sandbox_heartbeat_send(ngx_http_sandbox_heartbeat_t *hb)
{
    char  err[512];

    ngx_cpystrn((u_char *) err, (u_char *) "no memory", sizeof(err));

    if (ngx_http_sandbox_heartbeat_request(hb, err, sizeof(err)) != NGX_OK) {
        ngx_http_sandbox_heartbeat_end(hb, 0, err);
        return;
    }

    hb->addr = 0;
    ngx_http_sandbox_heartbeat_connect(hb, 0);
}


static ngx_int_t
ngx_http_sandbox_heartbeat_request(ngx_http_sandbox_heartbeat_t *hb, char *err,
    size_t size)
{
    sbx_policy_response_t  out;

    hb->pool = ngx_create_pool(1024, ngx_cycle->log);
    if (hb->pool == NULL) {
        return NGX_ERROR;
    }

    hb->answer = ngx_create_temp_buf(hb->pool,
                                     NGX_HTTP_SANDBOX_HEARTBEAT_ANSWER);
    if (hb->answer == NULL
        || sbx_policy_heartbeat(hb->policy, &out, err, size) != 0)
    {
        return NGX_ERROR;
    }

    hb->request = ngx_http_sandbox_heartbeat_pack(hb, &out);
    sbx_policy_response_clear(&out);

    return hb->request ? NGX_OK : NGX_ERROR;
}


/* HTTP/1.0: the answer ends with the connection and comes in one piece. */

static ngx_buf_t *
ngx_http_sandbox_heartbeat_pack(ngx_http_sandbox_heartbeat_t *hb,
    sbx_policy_response_t *out)
{
    size_t       len, i;
    ngx_buf_t   *b;
    sbx_pair_t  *h;

    static const char  head[] = "POST %V HTTP/1.0" CRLF
                                "Host: %V" CRLF
                                "Connection: close" CRLF
                                "Content-Length: %uz" CRLF;

    len = sizeof(head) + hb->uri.len + hb->host.len + NGX_SIZE_T_LEN
          + sizeof(CRLF) - 1 + out->body.len;

    for (i = 0; i < out->nheaders; i++) {
        len += out->headers[i].key.len + sizeof(": ") - 1
               + out->headers[i].value.len + sizeof(CRLF) - 1;
    }

    b = ngx_create_temp_buf(hb->pool, len);
    if (b == NULL) {
        return NULL;
    }

    b->last = ngx_sprintf(b->last, head, &hb->uri, &hb->host, out->body.len);

    for (i = 0; i < out->nheaders; i++) {
        h = &out->headers[i];

        b->last = ngx_cpymem(b->last, h->key.data, h->key.len);
        *b->last++ = ':'; *b->last++ = ' ';
        b->last = ngx_cpymem(b->last, h->value.data, h->value.len);
        *b->last++ = CR; *b->last++ = LF;
    }

    *b->last++ = CR; *b->last++ = LF;
    b->last = ngx_cpymem(b->last, out->body.data, out->body.len);

    return b;
}


/*
 * To the first address that can be reached; err is why the one before could
 * not.
 */
static void
ngx_http_sandbox_heartbeat_connect(ngx_http_sandbox_heartbeat_t *hb,
    ngx_err_t err)
{
    ngx_int_t               rc;
    ngx_addr_t             *addr;
    ngx_connection_t       *c;
    ngx_peer_connection_t  *peer;

    peer = &hb->peer;

    for ( /* void */ ; hb->addr < hb->naddrs; hb->addr++) {

        addr = &hb->addrs[hb->addr];

        ngx_memzero(peer, sizeof(ngx_peer_connection_t));
        peer->sockaddr = addr->sockaddr;
        peer->socklen = addr->socklen;
        peer->name = &addr->name;
        peer->get = ngx_event_get_peer;
        peer->log = &hb->quiet;
        peer->log_error = NGX_ERROR_ERR;

        ngx_set_errno(0);

        rc = ngx_event_connect_peer(peer);

        if (rc != NGX_OK && rc != NGX_AGAIN) {
            err = ngx_errno;
            peer->connection = NULL;
            continue;
        }

        c = peer->connection;
        c->data = hb;
        c->idle = 1;                /* closed when the worker is to go */
        c->write->handler = ngx_http_sandbox_heartbeat_write;
        c->read->handler = ngx_http_sandbox_heartbeat_read;

        hb->connected = 0;

        if (rc == NGX_OK) {
            ngx_http_sandbox_heartbeat_write(c->write);
        }

        return;
    }

    ngx_http_sandbox_heartbeat_end(hb, err, "cannot connect");
}


/* NGX_ERROR: not this address; the next one is being tried, or it is over. */

static ngx_int_t
ngx_http_sandbox_heartbeat_connected(ngx_connection_t *c)
{
    int                            err;
    socklen_t                      len;
    ngx_http_sandbox_heartbeat_t  *hb;

    hb = c->data;

    if (hb->connected) {
        return NGX_OK;
    }

    err = 0;
    len = sizeof(int);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    if (err == 0) {
        hb->connected = 1;
        return NGX_OK;
    }

    ngx_close_connection(c);
    hb->peer.connection = NULL;

    hb->addr++;
    ngx_http_sandbox_heartbeat_connect(hb, err);

    return NGX_ERROR;
}


static void
ngx_http_sandbox_heartbeat_write(ngx_event_t *wev)
{
    ssize_t                        n;
    ngx_buf_t                     *b;
    ngx_connection_t              *c;
    ngx_http_sandbox_heartbeat_t  *hb;

    c = wev->data;
    hb = c->data;

    if (ngx_http_sandbox_heartbeat_connected(c) != NGX_OK) {
        return;
    }

    b = hb->request;

    while (b->pos < b->last) {
        n = c->send(c, b->pos, b->last - b->pos);

        if (n == NGX_AGAIN) {
            break;
        }

        if (n == NGX_ERROR) {
            ngx_http_sandbox_heartbeat_end(hb, ngx_socket_errno,
                                           "it could not be sent");
            return;
        }

        b->pos += n;
    }

    if (ngx_handle_write_event(wev, 0) != NGX_OK) {
        ngx_http_sandbox_heartbeat_end(hb, 0, "it could not be sent");
    }
}


static void
ngx_http_sandbox_heartbeat_read(ngx_event_t *rev)
{
    ssize_t                        n;
    ngx_buf_t                     *b;
    ngx_connection_t              *c;
    ngx_http_sandbox_heartbeat_t  *hb;

    c = rev->data;
    hb = c->data;

    if (c->close) {
        ngx_http_sandbox_heartbeat_close(hb);
        return;
    }

    if (ngx_http_sandbox_heartbeat_connected(c) != NGX_OK) {
        return;
    }

    b = hb->answer;

    while (b->last < b->end) {
        n = c->recv(c, b->last, b->end - b->last);

        if (n == NGX_AGAIN) {
            if (ngx_handle_read_event(rev, 0) != NGX_OK) {
                ngx_http_sandbox_heartbeat_end(hb, 0, "no answer can be read");
            }

            return;
        }

        if (n == NGX_ERROR) {
            ngx_http_sandbox_heartbeat_end(hb, ngx_socket_errno,
                                           "no answer can be read");
            return;
        }

        if (n == 0) {
            break;
        }

        b->last += n;
    }

    ngx_http_sandbox_heartbeat_heard(hb);
}


static void
ngx_http_sandbox_heartbeat_heard(ngx_http_sandbox_heartbeat_t *hb)
{
    char        err[512];
    u_char     *body;
    size_t      len;
    ngx_int_t   status;
    ngx_buf_t  *b;

    b = hb->answer;
    len = b->last - b->pos;
    status = NGX_ERROR;

    /* HTTP/1.1 200 */

    if (len > 12 && ngx_strncmp(b->pos, "HTTP/1.", 7) == 0
        && b->pos[8] == ' ')
    {
        status = ngx_atoi(b->pos + 9, 3);
    }

    body = ngx_strnstr(b->pos, CRLF CRLF, len);

    if (status == NGX_ERROR || body == NULL) {
        ngx_http_sandbox_heartbeat_end(hb, 0, "the answer is no HTTP");
        return;
    }

    body += 4;

    if (sbx_policy_heard(hb->policy, status,
                         (sbx_str_t) { (char *) body, b->last - body }, err,
                         sizeof(err))
        != 0)
    {
        ngx_http_sandbox_heartbeat_end(hb, 0, err);
        return;
    }

    ngx_http_sandbox_heartbeat_end(hb, 0, NULL);
}


/* why NULL: it was taken.  A line for each change, not for each heartbeat. */

static void
ngx_http_sandbox_heartbeat_end(ngx_http_sandbox_heartbeat_t *hb, ngx_err_t err,
    const char *why)
{
    ngx_http_sandbox_heartbeat_close(hb);

    if (why == NULL) {
        if (hb->state != NGX_HTTP_SANDBOX_HEARTBEAT_TAKEN) {
            ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                          "sandbox heartbeats to \"%V\" are taken", &hb->url);
        }

        hb->state = NGX_HTTP_SANDBOX_HEARTBEAT_TAKEN;
        return;
    }

    if (hb->state != NGX_HTTP_SANDBOX_HEARTBEAT_FAILED) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "sandbox heartbeats to \"%V\" fail: %s", &hb->url, why);
    }

    hb->state = NGX_HTTP_SANDBOX_HEARTBEAT_FAILED;
}


static void
ngx_http_sandbox_heartbeat_close(ngx_http_sandbox_heartbeat_t *hb)
{
    if (hb->peer.connection) {
        ngx_close_connection(hb->peer.connection);
        hb->peer.connection = NULL;
    }

    if (hb->pool) {
        ngx_destroy_pool(hb->pool);
        hb->pool = NULL;
    }
}
