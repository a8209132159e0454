/*
 * ngx_http_sandbox_client.c: the job goes out, the verdict comes in.
 *
 * Runs in the worker, as callbacks of ngx_http_upstream: one RUN frame to a
 * supervisor, one VERDICTS frame back, collected whole before anything is sent
 * to the client, because status and headers follow from it.  Connections,
 * time-outs, fail-over and a client that goes away are nginx's business.
 *
 * What the supervisor sends is bounded and checked: a bad frame ends this
 * request with 502, never the worker.
 */

#include "ngx_http_sandbox.h"


static ngx_int_t ngx_http_sandbox_create_request(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_reinit_request(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_process_header(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_process_head(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_count_verdicts(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_process_verdicts(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_filter_body_init(void *data);
static ngx_int_t ngx_http_sandbox_filter_body(void *data, ssize_t bytes);
static void ngx_http_sandbox_abort_request(ngx_http_request_t *r);
static void ngx_http_sandbox_finalize_request(ngx_http_request_t *r,
    ngx_int_t rc);
static void ngx_http_sandbox_log_violation(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static void ngx_http_sandbox_failed(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, ngx_uint_t status, const char *text);


ngx_int_t
ngx_http_sandbox_run(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_http_upstream_t           *u;
    ngx_http_upstream_conf_t      *conf;
    ngx_http_sandbox_loc_conf_t   *slcf;
    ngx_http_sandbox_main_conf_t  *smcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);

    if (slcf->upstream.upstream == smcf->upstream && smcf->addrlen == 0) {
        ngx_http_sandbox_failed(r, ctx, NGX_HTTP_SERVICE_UNAVAILABLE,
                                "no supervisor was started; the server's error "
                                "log says why");
        return NGX_HTTP_SERVICE_UNAVAILABLE;
    }

    if (ngx_http_upstream_create(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    u = r->upstream;

    ngx_str_set(&u->schema, "sandbox://");
    u->output.tag = (ngx_buf_tag_t) &ngx_http_sandbox_module;
    u->conf = &slcf->upstream;

    ctx->suite = ctx->native.job.suite.len != 0;
    ctx->ncases = ctx->suite ? SBX_CASES_MAX
                  : ctx->native.is_batch ? ctx->native.job.ncases : 0;

    if (r != r->main || ctx->ncases) {
        conf = ngx_palloc(r->pool, sizeof(ngx_http_upstream_conf_t));
        if (conf == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        *conf = slcf->upstream;
        u->conf = conf;

        /*
         * A subrequest is a GET to nginx, which would try the next server after
         * the first had the program: no program runs twice.
         */
        if (r != r->main) {
            conf->next_upstream = NGX_CONF_BITMASK_SET
                                  |NGX_HTTP_UPSTREAM_FT_OFF;
        }

        /* the answer to a batch comes in one piece, after its last case */
        if (ctx->ncases) {
            conf->read_timeout += (ctx->ncases - 1)
                                  * (ngx_msec_t) ctx->limits[SBX_LIMIT_TIMEOUT];
        }
    }

    u->create_request = ngx_http_sandbox_create_request;
    u->reinit_request = ngx_http_sandbox_reinit_request;
    u->process_header = ngx_http_sandbox_process_header;
    u->abort_request = ngx_http_sandbox_abort_request;
    u->finalize_request = ngx_http_sandbox_finalize_request;

    u->input_filter_init = ngx_http_sandbox_filter_body_init;
    u->input_filter = ngx_http_sandbox_filter_body;
    u->input_filter_ctx = r;

    ngx_http_upstream_init(r);

    return NGX_DONE;
}


/* The frame is a copy, so the job, with a JSON tree behind it, can go. */

static ngx_int_t
ngx_http_sandbox_create_request(ngx_http_request_t *r)
{
    size_t                   size;
    ngx_buf_t               *b;
    ngx_chain_t             *cl;
    sbx_frame_t              frame;
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);

    size = sbx_job_size(&ctx->native.job);

    b = ngx_create_temp_buf(r->pool, SBX_WIRE_HEAD + size);
    if (b == NULL) {
        return NGX_ERROR;
    }

    cl = ngx_alloc_chain_link(r->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    frame.type = SBX_FRAME_RUN;
    frame.flags = 0;
    frame.length = size;

    sbx_frame_pack(&frame, (char *) b->last);
    b->last += SBX_WIRE_HEAD;

    sbx_job_pack(&ctx->native.job, (char *) b->last);
    b->last += size;
    b->flush = 1;

    cl->buf = b;
    cl->next = NULL;
    r->upstream->request_bufs = cl;

    sbx_request_clear(&ctx->native);

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_reinit_request(ngx_http_request_t *r)
{
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);
    ctx->frame_set = 0;

    /* the buffer may be the former answer's body, which is not read into */
    if (r->upstream->buffer.start == ctx->answer.body.data) {
        r->upstream->buffer.start = NULL;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_process_header(ngx_http_request_t *r)
{
    ngx_int_t                rc;
    ngx_http_upstream_t     *u;
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);
    u = r->upstream;

    if (!ctx->frame_set) {
        rc = ngx_http_sandbox_process_head(r, ctx);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    if ((uint64_t) (u->buffer.last - u->buffer.pos) < ctx->frame.length) {
        return NGX_AGAIN;
    }

    rc = ngx_http_sandbox_process_verdicts(r, ctx);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_sandbox_answer(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    if (!ngx_http_sandbox_intercepted(r, ctx->answer.status)
        && ngx_http_sandbox_headers(r, ctx) != NGX_OK)
    {
        return NGX_ERROR;
    }

    u->headers_in.status_n = ctx->answer.status;
    u->headers_in.content_length_n = ctx->answer.body.len;
    u->state->status = ctx->answer.status;

    /* the answer was read to its end, so the connection is free again */

    u->keepalive = 1;

    /*
     * From here on nginx sees the body that was made as one that came in.  The
     * outputs in the old buffer are not needed beyond it.
     */

    ctx->verdict.output.len = 0;
    ctx->verdict.errout.len = 0;
    (void) ngx_pfree(r->pool, u->buffer.start);

    u->buffer.start = ctx->answer.body.data;
    u->buffer.pos = u->buffer.start;
    u->buffer.last = u->buffer.start + ctx->answer.body.len;
    u->buffer.end = u->buffer.last;

    return NGX_OK;
}


/* Reads the head and makes room for exactly what it announces. */

static ngx_int_t
ngx_http_sandbox_process_head(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    size_t                have;
    u_char               *p;
    uint64_t              max;
    sbx_err_t             err;
    ngx_buf_t            *b;

    b = &r->upstream->buffer;

    if (b->last - b->pos < SBX_WIRE_HEAD) {
        return NGX_AGAIN;
    }

    max = sbx_answer_max(ctx->ncases ? ctx->ncases : 1,
                         ctx->ceilings[SBX_LIMIT_OUTPUT]);
    max = ngx_min(max, SBX_ANSWER_BYTES_MAX);

    if (sbx_frame_unpack((char *) b->pos, max, &ctx->frame, &err) != 0) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent an invalid frame: %s", err.text);
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    if (ctx->frame.type != SBX_FRAME_VERDICTS) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent a frame of type %d",
                      (int) ctx->frame.type);
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    b->pos += SBX_WIRE_HEAD;
    have = b->last - b->pos;

    if (have > ctx->frame.length) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent more than it announced");
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    /* one byte more, so that a full buffer never looks like a long header */

    if ((uint64_t) (b->end - b->pos) <= ctx->frame.length) {
        p = ngx_palloc(r->pool, ctx->frame.length + 1);
        if (p == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(p, b->pos, have);
        (void) ngx_pfree(r->pool, b->start);

        b->start = p;
        b->pos = p;
        b->last = p + have;
        b->end = p + ctx->frame.length + 1;
    }

    ctx->frame_set = 1;

    return NGX_OK;
}


/* How many cases a suite has, the supervisor found out. */

static ngx_int_t
ngx_http_sandbox_count_verdicts(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    int            rc;
    size_t         len, n;
    sbx_err_t      err;
    const char    *payload;
    sbx_verdict_t  v;

    payload = (char *) r->upstream->buffer.pos;
    len = ctx->frame.length;

    for (n = 0; (rc = sbx_verdict_unpack(&v, &payload, &len, &err)) == 1; n++) {
        /* void */
    }

    if (rc < 0 || n == 0 || n > SBX_CASES_MAX) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent an invalid verdict: %s",
                      rc < 0 ? err.text : "none, or too many");
        return NGX_ERROR;
    }

    ctx->ncases = n;

    return NGX_OK;
}


/* As many verdicts as there were cases; outside of a batch, one. */

static ngx_int_t
ngx_http_sandbox_process_verdicts(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    int             rc;
    size_t          len, n, want;
    sbx_err_t       err;
    const char     *payload;
    sbx_verdict_t  *v;

    if (ctx->suite && ngx_http_sandbox_count_verdicts(r, ctx) != NGX_OK) {
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    want = ctx->ncases ? ctx->ncases : 1;
    v = &ctx->verdict;

    if (ctx->ncases) {
        v = ngx_palloc(r->pool, want * sizeof(sbx_verdict_t));
        if (v == NULL) {
            return NGX_ERROR;
        }

        ctx->cases = v;
    }

    payload = (char *) r->upstream->buffer.pos;
    len = r->upstream->buffer.last - r->upstream->buffer.pos;

    if (len > ctx->frame.length) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent more than it announced");
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    for (n = 0; n < want; n++) {

        rc = sbx_verdict_unpack(&v[n], &payload, &len, &err);

        if (rc <= 0) {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "supervisor sent an invalid verdict: %s",
                          rc ? err.text : "none");
            return NGX_HTTP_UPSTREAM_INVALID_HEADER;
        }
    }

    if (len) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "supervisor sent more verdicts than there were cases");
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    if (ctx->ncases) {
        for (n = 0; n + 1 < want && !sbx_verdict_failed(&v[n]); n++) {
            /* void */
        }

        ctx->verdict = v[sbx_verdict_failed(&v[n]) ? n : 0];
    }

    ctx->verdict_set = 1;

    return NGX_OK;
}


/* The answer's length is known, which tells nginx where it ends. */

static ngx_int_t
ngx_http_sandbox_filter_body_init(void *data)
{
    ngx_http_request_t *r = data;

    r->upstream->length = r->upstream->headers_in.content_length_n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_filter_body(void *data, ssize_t bytes)
{
    ngx_http_request_t *r = data;

    ngx_buf_t            *b;
    ngx_chain_t          *cl, **ll;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    for (ll = &u->out_bufs; *ll; ll = &(*ll)->next) { /* void */ }

    cl = ngx_chain_get_free_buf(r->pool, &u->free_bufs);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    b = &u->buffer;

    cl->buf->flush = 1;
    cl->buf->memory = 1;
    cl->buf->tag = u->output.tag;
    cl->buf->pos = b->last;
    b->last += bytes;
    cl->buf->last = b->last;

    *ll = cl;
    u->length -= bytes;

    return NGX_OK;
}


static void
ngx_http_sandbox_abort_request(ngx_http_request_t *r)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "abort sandbox request");
}


/*
 * The one place that every handed-over job passes.  Without a verdict, either
 * the client is gone, which ends the run and has no outcome, or the supervisor
 * is, which is our failure.
 */
static void
ngx_http_sandbox_finalize_request(ngx_http_request_t *r, ngx_int_t rc)
{
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);

    if (ctx->answered) {
        ngx_http_sandbox_metrics_count(r, ctx);
        ngx_http_sandbox_log_violation(r, ctx);

    } else if (rc >= NGX_HTTP_INTERNAL_SERVER_ERROR) {
        ngx_http_sandbox_failed(r, ctx, rc,
                                rc == NGX_HTTP_GATEWAY_TIME_OUT
                                ? "the supervisor did not answer in time"
                                : "the supervisor cannot be reached or broke "
                                  "off");
    }
}


/*
 * One line for each violation, in a form that a search finds and a program
 * reads.  It is the guest's fault and no error of the server's.
 */
static void
ngx_http_sandbox_log_violation(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    char    *json;
    size_t   len;

    if (ctx->verdict.violation.type == SBX_VIOLATION_NONE
        || r->connection->log->log_level < NGX_LOG_NOTICE)
    {
        return;
    }

    json = sbx_violation_json(&ctx->verdict.violation, &len);

    if (json) {
        ngx_log_error(NGX_LOG_NOTICE, r->connection->log, 0,
                      "sandbox violation: %s %*s",
                      sbx_status_name(ctx->verdict.status), len, json);
        free(json);
    }
}


/* nginx will answer with this status: error_page, or else our filter's body. */

static void
ngx_http_sandbox_failed(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx,
    ngx_uint_t status, const char *text)
{
    ngx_http_sandbox_verdict(ctx, SBX_INTERNAL_ERROR, status, "%s", text);
    ctx->failed = 1;

    ngx_http_sandbox_metrics_count(r, ctx);
}
