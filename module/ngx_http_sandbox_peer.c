/*
 * ngx_http_sandbox_peer.c: the one peer of the implicit upstream.
 *
 * Runs in a worker, init_upstream in the master.  The generation's socket is
 * only named in init_module, after upstreams are configured, so the address is
 * taken from the main configuration when a request connects.  Idle connections
 * are kept for the next request, as ngx_http_upstream_keepalive_module does
 * for an upstream{} block; there is no other peer, so nothing is retried
 * elsewhere.
 */


#include "ngx_http_sandbox.h"


#define NGX_HTTP_SANDBOX_IDLE_MAX  64


typedef struct {
    ngx_queue_t                    queue;
    ngx_connection_t              *connection;
    struct ngx_http_sandbox_peers_s  *peers;
} ngx_http_sandbox_idle_t;


typedef struct ngx_http_sandbox_peers_s {
    ngx_http_sandbox_main_conf_t  *smcf;
    ngx_queue_t                    idle;    /* most recently used first */
    ngx_queue_t                    free;
    ngx_http_sandbox_idle_t        items[NGX_HTTP_SANDBOX_IDLE_MAX];
} ngx_http_sandbox_peers_t;


typedef struct {
    ngx_http_sandbox_peers_t      *peers;
    ngx_http_upstream_t           *upstream;
} ngx_http_sandbox_peer_data_t;


static ngx_int_t ngx_http_sandbox_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us);
static ngx_int_t ngx_http_sandbox_peer_get(ngx_peer_connection_t *pc,
    void *data);
static ngx_connection_t *ngx_http_sandbox_peer_idle(
    ngx_http_sandbox_peers_t *peers);
static void ngx_http_sandbox_peer_free(ngx_peer_connection_t *pc, void *data,
    ngx_uint_t state);
static ngx_uint_t ngx_http_sandbox_peer_reusable(ngx_connection_t *c,
    ngx_http_upstream_t *u, ngx_uint_t state);
static void ngx_http_sandbox_peer_keep(ngx_connection_t *c,
    ngx_http_sandbox_peers_t *peers);
static ngx_uint_t ngx_http_sandbox_peer_silent(ngx_connection_t *c);
static void ngx_http_sandbox_peer_dummy_handler(ngx_event_t *ev);
static void ngx_http_sandbox_peer_close_handler(ngx_event_t *ev);
static void ngx_http_sandbox_peer_close(ngx_connection_t *c);


ngx_int_t
ngx_http_sandbox_peer_init_upstream(ngx_conf_t *cf,
    ngx_http_upstream_srv_conf_t *us)
{
    ngx_uint_t                 i;
    ngx_http_sandbox_peers_t  *peers;

    peers = ngx_pcalloc(cf->pool, sizeof(ngx_http_sandbox_peers_t));
    if (peers == NULL) {
        return NGX_ERROR;
    }

    peers->smcf = ngx_http_conf_get_module_main_conf(cf,
                                                     ngx_http_sandbox_module);

    ngx_queue_init(&peers->idle);
    ngx_queue_init(&peers->free);

    for (i = 0; i < NGX_HTTP_SANDBOX_IDLE_MAX; i++) {
        peers->items[i].peers = peers;
        ngx_queue_insert_head(&peers->free, &peers->items[i].queue);
    }

    us->peer.init = ngx_http_sandbox_peer_init;
    us->peer.data = peers;

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us)
{
    ngx_http_upstream_t           *u;
    ngx_http_sandbox_peer_data_t  *pd;

    u = r->upstream;

    pd = ngx_palloc(r->pool, sizeof(ngx_http_sandbox_peer_data_t));
    if (pd == NULL) {
        return NGX_ERROR;
    }

    pd->peers = us->peer.data;
    pd->upstream = u;

    u->peer.data = pd;
    u->peer.get = ngx_http_sandbox_peer_get;
    u->peer.free = ngx_http_sandbox_peer_free;
    u->peer.tries = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_peer_get(ngx_peer_connection_t *pc, void *data)
{
    ngx_http_sandbox_peer_data_t  *pd = data;

    ngx_connection_t              *c;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = pd->peers->smcf;

    pc->name = &smcf->addr_text;
    pc->cached = 0;
    pc->connection = NULL;

    if (smcf->addrlen == 0) {
        /* init_module logged why there is no supervisor */
        return NGX_BUSY;
    }

    pc->sockaddr = (struct sockaddr *) &smcf->addr;
    pc->socklen = smcf->addrlen;

    c = ngx_http_sandbox_peer_idle(pd->peers);

    if (c == NULL) {
        return NGX_OK;
    }

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, pc->log, 0,
                   "sandbox peer: using idle connection %p", c);

    c->idle = 0;
    c->sent = 0;
    c->data = NULL;
    c->log = pc->log;
    c->read->log = pc->log;
    c->write->log = pc->log;
    c->pool->log = pc->log;

    pc->connection = c;
    pc->cached = 1;

    return NGX_DONE;
}


/* An idle connection that is still good, or NULL. */
static ngx_connection_t *
ngx_http_sandbox_peer_idle(ngx_http_sandbox_peers_t *peers)
{
    ngx_queue_t              *q;
    ngx_connection_t         *c;
    ngx_http_sandbox_idle_t  *item;

    while (!ngx_queue_empty(&peers->idle)) {
        q = ngx_queue_head(&peers->idle);
        item = ngx_queue_data(q, ngx_http_sandbox_idle_t, queue);
        c = item->connection;

        ngx_queue_remove(q);
        ngx_queue_insert_head(&peers->free, q);

        /*
         * A supervisor that has just died closed its end, but the event may
         * wait behind this request, which as a POST would not be retried.
         */
        if (ngx_http_sandbox_peer_silent(c)) {
            return c;
        }

        ngx_http_sandbox_peer_close(c);
    }

    return NULL;
}


static void
ngx_http_sandbox_peer_free(ngx_peer_connection_t *pc, void *data,
    ngx_uint_t state)
{
    ngx_http_sandbox_peer_data_t  *pd = data;

    if (pc->connection != NULL
        && ngx_http_sandbox_peer_reusable(pc->connection, pd->upstream, state))
    {
        ngx_http_sandbox_peer_keep(pc->connection, pd->peers);
        pc->connection = NULL;
    }

    if (pc->tries) {
        pc->tries--;
    }
}


static ngx_uint_t
ngx_http_sandbox_peer_reusable(ngx_connection_t *c, ngx_http_upstream_t *u,
    ngx_uint_t state)
{
    if ((state & NGX_PEER_FAILED)
        || c->read->eof
        || c->read->error
        || c->read->timedout
        || c->write->error
        || c->write->timedout)
    {
        return 0;
    }

    /* u->keepalive: the answer was read to its end */
    if (!u->keepalive || !u->request_body_sent) {
        return 0;
    }

    /* a leaving worker must not hold its supervisor back */
    if (ngx_terminate || ngx_exiting) {
        return 0;
    }

    return ngx_handle_read_event(c->read, 0) == NGX_OK;
}


static void
ngx_http_sandbox_peer_keep(ngx_connection_t *c, ngx_http_sandbox_peers_t *peers)
{
    ngx_queue_t              *q;
    ngx_http_sandbox_idle_t  *item;

    if (ngx_queue_empty(&peers->free)) {
        q = ngx_queue_last(&peers->idle);
        item = ngx_queue_data(q, ngx_http_sandbox_idle_t, queue);
        ngx_http_sandbox_peer_close(item->connection);

    } else {
        q = ngx_queue_head(&peers->free);
        item = ngx_queue_data(q, ngx_http_sandbox_idle_t, queue);
    }

    ngx_queue_remove(q);
    ngx_queue_insert_head(&peers->idle, q);

    item->connection = c;

    if (c->read->timer_set) {
        ngx_del_timer(c->read);
    }

    if (c->write->timer_set) {
        ngx_del_timer(c->write);
    }

    c->read->handler = ngx_http_sandbox_peer_close_handler;
    c->write->handler = ngx_http_sandbox_peer_dummy_handler;

    c->data = item;
    c->idle = 1;
    c->log = ngx_cycle->log;
    c->read->log = ngx_cycle->log;
    c->write->log = ngx_cycle->log;
    c->pool->log = ngx_cycle->log;

    if (c->read->ready) {
        ngx_http_sandbox_peer_close_handler(c->read);
    }
}


/* Nothing to read and not closed: bytes out of turn are an error as well. */
static ngx_uint_t
ngx_http_sandbox_peer_silent(ngx_connection_t *c)
{
    char     byte;
    ssize_t  n;

    n = recv(c->fd, &byte, 1, MSG_PEEK|MSG_DONTWAIT);

    return n == -1 && ngx_socket_errno == NGX_EAGAIN;
}


static void
ngx_http_sandbox_peer_dummy_handler(ngx_event_t *ev)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, ev->log, 0,
                   "sandbox peer: dummy handler");
}


static void
ngx_http_sandbox_peer_close_handler(ngx_event_t *ev)
{
    ngx_connection_t         *c;
    ngx_http_sandbox_idle_t  *item;

    c = ev->data;

    /* c->close: this worker leaves gracefully and wants idle ones gone */
    if (!c->close && ngx_http_sandbox_peer_silent(c)) {
        ev->ready = 0;

        if (ngx_handle_read_event(c->read, 0) == NGX_OK) {
            return;
        }
    }

    item = c->data;

    ngx_queue_remove(&item->queue);
    ngx_queue_insert_head(&item->peers->free, &item->queue);

    ngx_http_sandbox_peer_close(c);
}


static void
ngx_http_sandbox_peer_close(ngx_connection_t *c)
{
    ngx_destroy_pool(c->pool);
    ngx_close_connection(c);
}
