/*
 * ngx_http_sandbox_handler.c: a sandbox location's requests.
 *
 * Runs in the worker.  Comes in: a request, whose whole body is read.  Goes
 * out: its job, which ngx_http_sandbox_job.c makes, to the client code; or an
 * answer of ours, when the request is not one we can run.  Nothing of the
 * request is looked at again later.
 */

#include "ngx_http_sandbox.h"


static ngx_http_sandbox_ctx_t *ngx_http_sandbox_create_ctx(
    ngx_http_request_t *r);
static void ngx_http_sandbox_cleanup(void *data);
static void ngx_http_sandbox_body_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_body(ngx_http_request_t *r, ngx_str_t *body);
static ngx_int_t ngx_http_sandbox_body_copy(ngx_http_request_t *r, u_char *p);
static ngx_int_t ngx_http_sandbox_dry_run(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);


ngx_int_t
ngx_http_sandbox_handler(ngx_http_request_t *r)
{
    ngx_int_t                     rc;
    ngx_http_sandbox_ctx_t       *ctx;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    /* "sandbox off" in an "if" block: the location's handler is still ours */

    if (slcf->language.len == 0) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_sandbox_create_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* a policy with a request() sees what nobody else would accept */

    if ((slcf->policy == NULL || !sbx_policy_has_request(slcf->policy))
        && ngx_http_sandbox_precheck(r, ctx) != NGX_OK)
    {
        return ngx_http_sandbox_refuse(r, ctx);
    }

    rc = ngx_http_read_client_request_body(r, ngx_http_sandbox_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


static ngx_http_sandbox_ctx_t *
ngx_http_sandbox_create_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t      *cln;
    ngx_http_sandbox_ctx_t  *ctx;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_sandbox_ctx_t));
    if (cln == NULL) {
        return NULL;
    }

    ctx = cln->data;
    ngx_memzero(ctx, sizeof(ngx_http_sandbox_ctx_t));
    cln->handler = ngx_http_sandbox_cleanup;

    ctx->request = r;
    sbx_job_init(&ctx->native.job);
    sbx_verdict_init(&ctx->verdict);
    ngx_http_set_ctx(r, ctx, ngx_http_sandbox_module);

    return ctx;
}


static void
ngx_http_sandbox_cleanup(void *data)
{
    ngx_http_sandbox_ctx_t *ctx = data;

    sbx_request_clear(&ctx->native);
    sbx_policy_response_clear(&ctx->shaped);
    free((char *) ctx->keep.data);
    free(ctx->json);
}


void
ngx_http_sandbox_keep_limits(ngx_http_sandbox_ctx_t *ctx)
{
    ngx_memcpy(ctx->limits, ctx->native.job.limits, sizeof(ctx->limits));
    ctx->factor_permille = ctx->native.job.factor_permille;
}


/* Subrequests share the pool, so the list holds their contexts too. */

ngx_http_sandbox_ctx_t *
ngx_http_sandbox_get_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t      *cln;
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);

    if (ctx || !(r->internal || r->filter_finalize)) {
        return ctx;
    }

    for (cln = r->pool->cleanup; cln; cln = cln->next) {

        if (cln->handler == ngx_http_sandbox_cleanup) {
            ctx = cln->data;

            if (ctx->request == r) {
                return ctx;
            }
        }
    }

    return NULL;
}


static void
ngx_http_sandbox_body_handler(ngx_http_request_t *r)
{
    ngx_int_t                     rc, answer;
    ngx_http_sandbox_ctx_t       *ctx;
    ngx_http_sandbox_loc_conf_t  *slcf;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    answer = NGX_HTTP_INTERNAL_SERVER_ERROR;
    rc = ngx_http_sandbox_body(r, &ctx->body);

    if (rc == NGX_OK) {
        rc = ngx_http_sandbox_job(r, ctx, &answer);
    }

    if (rc == NGX_DONE) {
        ngx_http_finalize_request(r, answer);
        return;
    }

    if (rc == NGX_DECLINED && !ctx->verdict_set) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID,
                                 NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                 "a job has at most %lu bytes",
                                 SBX_JOB_BYTES_MAX);
    }

    if (rc == NGX_OK) {
        rc = slcf->dry_run ? ngx_http_sandbox_dry_run(r, ctx)
                           : ngx_http_sandbox_run(r, ctx);

        if (rc == NGX_DONE) {
            return;
        }

    } else {

        if (!ctx->verdict_set) {
            ngx_http_sandbox_verdict(ctx, SBX_INTERNAL_ERROR, 0,
                                     "the request could not be prepared; the "
                                     "server's error log says why");
        }

        rc = ngx_http_sandbox_refuse(r, ctx);
    }

    ngx_http_finalize_request(r, rc);
}


/*
 * The body in one piece; NGX_DECLINED when it is too large.  One that nginx
 * wrote to a temporary file was written a moment ago: reading it back is a copy
 * from the page cache.
 */
static ngx_int_t
ngx_http_sandbox_body(ngx_http_request_t *r, ngx_str_t *body)
{
    off_t         size;
    ngx_chain_t  *cl;

    ngx_str_set(body, "");

    if (r->request_body == NULL || r->request_body->bufs == NULL) {
        return NGX_OK;
    }

    cl = r->request_body->bufs;

    if (cl->next == NULL && ngx_buf_in_memory(cl->buf)) {
        body->data = cl->buf->pos;
        body->len = cl->buf->last - cl->buf->pos;
        return NGX_OK;
    }

    size = 0;

    for ( /* void */ ; cl; cl = cl->next) {
        size += ngx_buf_size(cl->buf);
    }

    if (size > (off_t) SBX_JOB_BYTES_MAX) {
        return NGX_DECLINED;
    }

    body->len = size;
    body->data = ngx_pnalloc(r->pool, body->len ? body->len : 1);
    if (body->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_sandbox_body_copy(r, body->data);
}


static ngx_int_t
ngx_http_sandbox_body_copy(ngx_http_request_t *r, u_char *p)
{
    off_t         offset;
    size_t        size;
    ssize_t       n;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {

        b = cl->buf;

        if (ngx_buf_in_memory(b)) {
            p = ngx_cpymem(p, b->pos, b->last - b->pos);
            continue;
        }

        offset = b->file_pos;

        while (offset < b->file_last) {
            size = ngx_min(b->file_last - offset, NGX_MAX_INT32_VALUE);

            n = ngx_read_file(b->file, p, size, offset);
            if (n <= 0) {
                ngx_log_error(NGX_LOG_CRIT, r->connection->log, 0,
                              "body file \"%V\" ended early", &b->file->name);
                return NGX_ERROR;
            }

            p += n;
            offset += n;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_dry_run(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    size_t                len;
    ngx_str_t             body;
    sbx_stats_runtime_t  *rt;

    rt = ngx_http_sandbox_stats_runtime(r, &ctx->language);

    ctx->json = sbx_job_json(&ctx->native.job, rt ? rt->base_bytes : 0,
                             rt ? rt->floors : NULL, &len);
    if (ctx->json == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    body.data = (u_char *) ctx->json;
    body.len = len;

    return ngx_http_sandbox_send_json(r, &body);
}
