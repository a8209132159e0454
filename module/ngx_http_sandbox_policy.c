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


static ngx_int_t ngx_http_sandbox_policy_config(ngx_conf_t *cf,
    sbx_policy_config_t *config);
static sbx_pair_t *ngx_http_sandbox_policy_key(ngx_conf_t *cf,
    ngx_str_t *value, sbx_pair_t *pair);
static ngx_http_sandbox_policy_t *ngx_http_sandbox_policy_find(
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *file,
    sbx_policy_config_t *config);
static sbx_policy_t *ngx_http_sandbox_policy_open(ngx_conf_t *cf,
    ngx_str_t *file, sbx_policy_config_t *config);
static void ngx_http_sandbox_policy_cleanup(void *data);
static ngx_int_t ngx_http_sandbox_policy_headers(ngx_http_request_t *r,
    sbx_policy_request_t *view);


/* sandbox_policy FILE [key=value…] | off */

char *
ngx_http_sandbox_policy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    ngx_str_t                     *value, file;
    sbx_policy_config_t            config;
    ngx_http_sandbox_policy_t     *policy;
    ngx_http_sandbox_main_conf_t  *smcf;

    if (slcf->policy != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        slcf->policy = NULL;
        return cf->args->nelts == 2 ? NGX_CONF_OK
                                    : "takes no keys with \"off\"";
    }

    file = value[1];

    if (ngx_conf_full_name(cf->cycle, &file, 1) != NGX_OK
        || ngx_http_sandbox_policy_config(cf, &config) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);
    policy = ngx_http_sandbox_policy_find(smcf, &file, &config);

    slcf->policy = policy ? policy->policy
                          : ngx_http_sandbox_policy_open(cf, &file, &config);

    return slcf->policy ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static ngx_int_t
ngx_http_sandbox_policy_config(ngx_conf_t *cf, sbx_policy_config_t *config)
{
    ngx_str_t   *value;
    ngx_uint_t   i, j;
    sbx_pair_t  *pair;

    value = cf->args->elts;

    pair = ngx_palloc(cf->pool, cf->args->nelts * sizeof(sbx_pair_t));
    if (pair == NULL) {
        return NGX_ERROR;
    }

    config->pairs = pair;
    config->npairs = cf->args->nelts - 2;

    for (i = 0; i < config->npairs; i++) {
        if (ngx_http_sandbox_policy_key(cf, &value[i + 2], &pair[i]) == NULL) {
            return NGX_ERROR;
        }

        for (j = 0; j < i; j++) {
            if (pair[j].key.len == pair[i].key.len
                && ngx_memcmp(pair[j].key.data, pair[i].key.data,
                              pair[i].key.len)
                   == 0)
            {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "duplicate key in \"%V\"", &value[i + 2]);
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


/*
 * key=value; nginx takes quotes off a whole parameter, "key=some words", and
 * here they may also stand around the value alone.
 */
static sbx_pair_t *
ngx_http_sandbox_policy_key(ngx_conf_t *cf, ngx_str_t *value, sbx_pair_t *pair)
{
    u_char  *p, *last, quote;

    p = value->data;
    last = value->data + value->len;

    while (p < last && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
                        || *p == '_'
                        || (p > value->data && *p >= '0' && *p <= '9')))
    {
        p++;
    }

    if (p == value->data || p == last || *p != '=') {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"sandbox_policy\" takes key=value behind its "
                           "file, not \"%V\"", value);
        return NULL;
    }

    pair->key = (sbx_str_t) { (char *) value->data, p - value->data };
    p++;

    if (p < last && (*p == '"' || *p == '\'')) {
        quote = *p++;

        if (p == last || last[-1] != quote) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" ends within its quotes: a value with "
                               "spaces is written \"key=some words\"", value);
            return NULL;
        }

        last--;
    }

    pair->value = (sbx_str_t) { (char *) p, last - p };

    return pair;
}


/* The same file with the same keys is one policy, wherever it is named. */

static ngx_http_sandbox_policy_t *
ngx_http_sandbox_policy_find(ngx_http_sandbox_main_conf_t *smcf,
    ngx_str_t *file, sbx_policy_config_t *config)
{
    ngx_uint_t                  i, j;
    const sbx_pair_t           *a, *b;
    ngx_http_sandbox_policy_t  *policy;

    policy = smcf->policies.elts;

    for (i = 0; i < smcf->policies.nelts; i++, policy++) {

        if (policy->config.npairs != config->npairs
            || policy->file.len != file->len
            || ngx_memcmp(policy->file.data, file->data, file->len) != 0)
        {
            continue;
        }

        for (j = 0; j < config->npairs; j++) {
            a = &policy->config.pairs[j];
            b = &config->pairs[j];

            if (a->key.len != b->key.len || a->value.len != b->value.len
                || ngx_memcmp(a->key.data, b->key.data, a->key.len) != 0
                || ngx_memcmp(a->value.data, b->value.data, a->value.len) != 0)
            {
                break;
            }
        }

        if (j == config->npairs) {
            return policy;
        }
    }

    return NULL;
}


static sbx_policy_t *
ngx_http_sandbox_policy_open(ngx_conf_t *cf, ngx_str_t *file,
    sbx_policy_config_t *config)
{
    char                           err[512];
    ngx_pool_cleanup_t            *cln;
    ngx_http_sandbox_policy_t     *policy;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    policy = ngx_array_push(&smcf->policies);
    if (policy == NULL) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    policy->file = *file;
    policy->config = *config;
    policy->policy = sbx_policy_open((char *) file->data, config, NULL, err,
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
ngx_http_sandbox_policy_ceilings(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *slcf)
{
    ngx_str_t                     *name;
    ngx_uint_t                     i, n;
    sbx_policy_ceiling_t          *ceiling;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    for (n = 0; ngx_http_sandbox_language(smcf, n); n++) { /* void */ }

    ceiling = ngx_pcalloc(cf->pool, n * sizeof(sbx_policy_ceiling_t));
    if (ceiling == NULL) {
        return NGX_ERROR;
    }

    slcf->ceilings = ceiling;

    for (i = 0; i < n; i++) {
        name = ngx_http_sandbox_language(smcf, i);

        if (ngx_strcmp(slcf->language.data, NGX_HTTP_SANDBOX_ANY) != 0
            && (name->len != slcf->language.len
                || ngx_memcmp(name->data, slcf->language.data, name->len) != 0))
        {
            continue;
        }

        ceiling->language = (sbx_str_t) { (char *) name->data, name->len };
        ngx_http_sandbox_limit_ceilings(slcf, name, ceiling->limits);
        ceiling++;
    }

    slcf->nceilings = ceiling - slcf->ceilings;

    return NGX_OK;
}


ngx_int_t
ngx_http_sandbox_policy_limits(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    char                          err[512];
    uint64_t                      timeout;
    sbx_job_t                    *job;
    sbx_stats_runtime_t          *rt;
    sbx_policy_runtime_t          runtime;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    if (slcf->policy == NULL || !sbx_policy_has_limits(slcf->policy)) {
        return NGX_OK;
    }

    if (ngx_http_sandbox_policy_view(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    job = &ctx->native.job;
    rt = ngx_http_sandbox_stats_runtime(r, &ctx->language);

    runtime.name = job->language;
    runtime.base_bytes = rt ? rt->base_bytes : 0;
    runtime.floor_bytes = rt ? rt->floor_bytes : 0;

    timeout = job->limits[SBX_LIMIT_TIMEOUT];

    if (sbx_policy_limits(slcf->policy, job, ctx->ceilings, &ctx->view,
                          &runtime, err, sizeof(err))
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
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    if (slcf->policy == NULL || !sbx_policy_has_response(slcf->policy)) {
        return NGX_DECLINED;
    }

    if (ngx_http_sandbox_policy_view(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    /* a batch of which nothing ran is refused like a single job */

    if (ctx->cases && sbx_verdict_http(&ctx->verdict) == NGX_HTTP_OK) {
        rc = sbx_policy_response_batch(slcf->policy, &ctx->view, ctx->cases,
                                       ctx->ncases, &ctx->shaped, err,
                                       sizeof(err));

    } else {
        rc = sbx_policy_response(slcf->policy, &ctx->view, &ctx->verdict,
                                 &ctx->shaped, err, sizeof(err));
    }

    if (rc < 0) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "policy: %s", err);
        return NGX_ERROR;
    }

    return rc ? NGX_OK : NGX_DECLINED;
}


/* Once a request: the functions of a policy all see the same. */

ngx_int_t
ngx_http_sandbox_policy_view(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    sbx_policy_request_t         *view;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    view = &ctx->view;

    view->body = (sbx_str_t) { (char *) ctx->body.data, ctx->body.len };
    view->keep = ctx->keep;

    if (ctx->view_set) {
        return NGX_OK;
    }

    ctx->view_set = 1;

    view->ceilings = slcf->ceilings;
    view->nceilings = slcf->nceilings;
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
