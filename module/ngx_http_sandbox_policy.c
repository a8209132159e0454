/*
 * ngx_http_sandbox_policy.c: the operator's Lua files, between request and job
 * and between verdict and answer.
 *
 * Opened in the master when the configuration is read, so that a mistake ends
 * `nginx -t`; workers inherit the states by fork.  A worker that is started
 * anew, hours later, so runs the policy of its configuration and not what lies
 * on the disk by then; a reload takes up changes.
 */

#include "ngx_http_sandbox.h"


static void ngx_http_sandbox_policy_cleanup(void *data);
static ngx_int_t ngx_http_sandbox_policy_view(ngx_http_request_t *r,
    sbx_policy_request_t *view);
static ngx_int_t ngx_http_sandbox_policy_headers(ngx_http_request_t *r,
    sbx_policy_request_t *view);


sbx_policy_t *
ngx_http_sandbox_policy_add(ngx_conf_t *cf, ngx_str_t *file)
{
    char                           err[512];
    ngx_str_t                      name;
    ngx_uint_t                     i;
    ngx_pool_cleanup_t            *cln;
    ngx_http_sandbox_policy_t     *policy;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);
    name = *file;

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NULL;
    }

    policy = smcf->policies.elts;

    for (i = 0; i < smcf->policies.nelts; i++) {
        if (policy[i].file.len == name.len
            && ngx_memcmp(policy[i].file.data, name.data, name.len) == 0)
        {
            return policy[i].policy;
        }
    }

    policy = ngx_array_push(&smcf->policies);
    if (policy == NULL) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    policy->file = name;
    policy->policy = sbx_policy_open((char *) name.data, NULL, err,
                                     sizeof(err));
    if (policy->policy == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "policy: %s", err);
        return NULL;
    }

    cln->handler = ngx_http_sandbox_policy_cleanup;
    cln->data = policy->policy;

    return policy->policy;
}


static void
ngx_http_sandbox_policy_cleanup(void *data)
{
    sbx_policy_close(data);
}


ngx_int_t
ngx_http_sandbox_policy_limits(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    char                          err[512];
    uint64_t                      timeout;
    sbx_job_t                    *job;
    sbx_stats_runtime_t          *rt;
    sbx_policy_request_t          view;
    sbx_policy_runtime_t          runtime;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    if (slcf->policy == NULL || !sbx_policy_has_limits(slcf->policy)) {
        return NGX_OK;
    }

    if (ngx_http_sandbox_policy_view(r, &view) != NGX_OK) {
        return NGX_ERROR;
    }

    job = &ctx->native.job;
    rt = ngx_http_sandbox_stats_runtime(r, &ctx->language);

    runtime.name = job->language;
    runtime.base_bytes = rt ? rt->base_bytes : 0;
    runtime.floor_bytes = rt ? rt->floor_bytes : 0;

    timeout = job->limits[SBX_LIMIT_TIMEOUT];

    if (sbx_policy_limits(slcf->policy, job, ctx->ceilings, &view, &runtime,
                          err, sizeof(err))
        != 0)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "policy: %s", err);
        ngx_http_sandbox_verdict(ctx, SBX_INTERNAL_ERROR, 0,
                                 "the limits policy failed; the server's error "
                                 "log says why");
        return NGX_ERROR;
    }

    /* a cpu_time that nobody chose goes with the timeout */

    if (ctx->cpu_implied && job->limits[SBX_LIMIT_CPU_TIME] == timeout) {
        job->limits[SBX_LIMIT_CPU_TIME] =
            ngx_min(job->limits[SBX_LIMIT_TIMEOUT],
                    ctx->ceilings[SBX_LIMIT_CPU_TIME]);
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_sandbox_policy_response(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    int                           rc;
    char                          err[512];
    sbx_policy_request_t          view;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    if (slcf->policy == NULL || !sbx_policy_has_response(slcf->policy)) {
        return NGX_DECLINED;
    }

    if (ngx_http_sandbox_policy_view(r, &view) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = sbx_policy_response(slcf->policy, &view, &ctx->verdict, &ctx->shaped,
                             err, sizeof(err));

    if (rc < 0) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "policy: %s", err);
        return NGX_ERROR;
    }

    return rc ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_sandbox_policy_view(ngx_http_request_t *r, sbx_policy_request_t *view)
{
    view->method = (sbx_str_t) { (char *) r->method_name.data,
                                 r->method_name.len };
    view->uri = (sbx_str_t) { (char *) r->uri.data, r->uri.len };
    view->query = (sbx_str_t) { (char *) r->args.data, r->args.len };
    view->remote_addr = (sbx_str_t) { (char *) r->connection->addr_text.data,
                                      r->connection->addr_text.len };

    return ngx_http_sandbox_policy_headers(r, view);
}


static ngx_int_t
ngx_http_sandbox_policy_headers(ngx_http_request_t *r,
    sbx_policy_request_t *view)
{
    size_t            n;
    sbx_pair_t       *pair;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    n = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        n += part->nelts;
    }

    pair = ngx_palloc(r->pool, (n ? n : 1) * sizeof(sbx_pair_t));
    if (pair == NULL) {
        return NGX_ERROR;
    }

    view->headers = pair;
    view->nheaders = n;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++, pair++) {
            pair->key = (sbx_str_t) { (char *) h[i].lowcase_key,
                                      h[i].key.len };
            pair->value = (sbx_str_t) { (char *) h[i].value.data,
                                        h[i].value.len };
        }
    }

    return NGX_OK;
}


sbx_stats_runtime_t *
ngx_http_sandbox_stats_runtime(ngx_http_request_t *r, ngx_str_t *language)
{
    ngx_uint_t                     i;
    sbx_stats_runtime_t           *rt;
    ngx_http_sandbox_loc_conf_t   *slcf;
    ngx_http_sandbox_main_conf_t  *smcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);

    /* the page tells of our own supervisor only */

    if (smcf->stats == NULL || slcf->upstream.upstream != smcf->upstream) {
        return NULL;
    }

    for (i = 0; i < SBX_STATS_RUNTIMES; i++) {
        rt = &smcf->stats->runtimes[i];

        if (ngx_strncmp(rt->name, language->data, language->len) == 0
            && rt->name[language->len] == '\0')
        {
            return rt;
        }
    }

    return NULL;
}
