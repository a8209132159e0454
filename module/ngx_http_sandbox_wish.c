/*
 * ngx_http_sandbox_wish.c: what a policy's request() wants becomes a job, an
 * answer, or somebody else's request.
 *
 * Runs in the worker, after the body is there and before anything is checked:
 * where a policy has a request(), it sees every method and every type.
 */

#include "ngx_http_sandbox.h"


static ngx_int_t ngx_http_sandbox_wish_job(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, sbx_policy_wish_t *wish);
static void ngx_http_sandbox_wish_language(
    ngx_http_sandbox_loc_conf_t *slcf, ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_wish_answer(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, sbx_policy_wish_t *wish);
static ngx_int_t ngx_http_sandbox_wish_pass(ngx_http_request_t *r,
    sbx_policy_wish_t *wish);


ngx_int_t
ngx_http_sandbox_policy_job(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx,
    ngx_int_t *rc)
{
    char                          err[512];
    ngx_int_t                     next;
    sbx_policy_wish_t             wish;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    if (slcf->policy == NULL || !sbx_policy_has_request(slcf->policy)) {
        return NGX_DECLINED;
    }

    if (ngx_http_sandbox_policy_view(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    if (sbx_policy_request(slcf->policy, &ctx->view, &wish, err, sizeof(err))
        != 0)
    {
        sbx_policy_wish_clear(&wish);
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "policy: %s", err);
        ngx_http_sandbox_verdict(ctx, SBX_INTERNAL_ERROR, 0,
                                 "the request policy failed; the server's "
                                 "error log says why");
        return NGX_ERROR;
    }

    next = NGX_DONE;

    switch (wish.action) {

    case SBX_POLICY_NATIVE:
        next = NGX_DECLINED;
        break;

    case SBX_POLICY_JOB:
        next = ngx_http_sandbox_wish_job(r, ctx, &wish);
        break;

    case SBX_POLICY_ANSWER:
        *rc = ngx_http_sandbox_wish_answer(r, ctx, &wish);
        break;

    case SBX_POLICY_PASS:
        *rc = ngx_http_sandbox_wish_pass(r, &wish);
        break;
    }

    sbx_policy_wish_clear(&wish);

    return next;
}


static ngx_int_t
ngx_http_sandbox_wish_job(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx,
    sbx_policy_wish_t *wish)
{
    int                           clash;
    sbx_job_t                    *job;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    /* taken over, with what they own */

    sbx_request_clear(&ctx->native);
    ctx->native = wish->native;
    ngx_memzero(&wish->native, sizeof(sbx_request_t));

    ctx->keep = wish->keep;
    ctx->view.keep = wish->keep;
    wish->keep = (sbx_str_t) { NULL, 0 };

    ctx->narrow = 1;
    job = &ctx->native.job;

    if (wish->invalid[0]) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0, "%s", wish->invalid);
        return NGX_OK;
    }

    if (slcf->code_name.data && job->code.data == NULL) {
        job->code = (sbx_str_t) { (char *) slcf->code.data, slcf->code.len };

        if (job->name.len == 0) {
            job->name = (sbx_str_t) { (char *) slcf->code_name.data,
                                      slcf->code_name.len };
        }
    }

    ngx_http_sandbox_wish_language(slcf, ctx);

    if (job->name.len == 0) {
        job->name = sbx_language_main(job->language);
    }

    clash = sbx_job_clash(job);

    if (clash >= 0) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                                 "files[%d]: path \"%.*s\" is in the way of "
                                 "another file", clash,
                                 (int) ngx_min(job->files[clash].path.len, 64),
                                 job->files[clash].path.data);
    }

    return NGX_OK;
}


/* Where the location has one, the policy need not name it. */

static void
ngx_http_sandbox_wish_language(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_http_sandbox_ctx_t *ctx)
{
    sbx_str_t  *language;

    language = &ctx->native.job.language;

    if (ngx_strcmp(slcf->language.data, NGX_HTTP_SANDBOX_ANY) == 0) {
        if (language->len == 0) {
            ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                                     "language: is required");
        }

        return;
    }

    if (language->len == 0) {
        *language = (sbx_str_t) { (char *) slcf->language.data,
                                  slcf->language.len };
        return;
    }

    if (language->len != slcf->language.len
        || ngx_memcmp(language->data, slcf->language.data, language->len) != 0)
    {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                                 "language: \"%.*s\" is not to be had here, "
                                 "only \"%.*s\"",
                                 (int) ngx_min(language->len, 64),
                                 language->data, (int) slcf->language.len,
                                 slcf->language.data);
    }
}


static ngx_int_t
ngx_http_sandbox_wish_answer(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, sbx_policy_wish_t *wish)
{
    ngx_http_sandbox_answer_t  *answer;

    ctx->shaped = wish->answer;
    ngx_memzero(&wish->answer, sizeof(sbx_policy_response_t));

    answer = &ctx->answer;
    answer->status = ctx->shaped.status;
    answer->headers = ctx->shaped.headers;
    answer->nheaders = ctx->shaped.nheaders;
    answer->body.data = (u_char *) ctx->shaped.body.data;
    answer->body.len = ctx->shaped.body.len;
    ctx->answered = 1;

    ngx_http_sandbox_metrics_policy(r, answer->status);

    return ngx_http_sandbox_reply(r, ctx);
}


/*
 * The body stays with the request, in memory or in its file, and the method is
 * what it was: a proxy_pass there sends what the client sent.  A named location
 * keeps the uri, too.
 */
static ngx_int_t
ngx_http_sandbox_wish_pass(ngx_http_request_t *r, sbx_policy_wish_t *wish)
{
    u_char      *p;
    ngx_str_t    uri, args;
    ngx_uint_t   flags;

    uri.len = wish->pass.len;
    uri.data = ngx_pnalloc(r->pool, uri.len + 1);
    if (uri.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_cpymem(uri.data, wish->pass.data, uri.len);
    *p = '\0';

    ngx_http_sandbox_metrics_policy(r, 0);

    if (uri.data[0] == '@') {
        (void) ngx_http_named_location(r, &uri);
        return NGX_DONE;
    }

    ngx_str_null(&args);
    flags = NGX_HTTP_LOG_UNSAFE;

    if (ngx_http_parse_unsafe_uri(r, &uri, &args, &flags) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_http_internal_redirect(r, &uri, &args);

    return NGX_DONE;
}
