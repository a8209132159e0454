/*
 * ngx_http_sandbox_handler.c: a request becomes a job.
 *
 * Runs in the worker.  Comes in: a request with its whole body.  Goes out: a
 * job with every value resolved, handed to the client code; or an answer of
 * ours, when the request is not one we can run.  Nothing of the request is
 * looked at again later.
 */

#include "ngx_http_sandbox.h"

#include <openssl/evp.h>


static ngx_http_sandbox_ctx_t *ngx_http_sandbox_create_ctx(
    ngx_http_request_t *r);
static void ngx_http_sandbox_cleanup(void *data);
static void ngx_http_sandbox_keep_limits(ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_precheck(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_is_archive(ngx_str_t *type);
static ngx_int_t ngx_http_sandbox_is_json(ngx_str_t *type, ngx_int_t *charset);
static void ngx_http_sandbox_body_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_body(ngx_http_request_t *r, ngx_str_t *body);
static ngx_int_t ngx_http_sandbox_body_copy(ngx_http_request_t *r, u_char *p);
static ngx_int_t ngx_http_sandbox_job(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, ngx_int_t *answer);
static ngx_int_t ngx_http_sandbox_job_native(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_job_complete(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_job_raw(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_http_sandbox_ctx_t *ctx, ngx_str_t *body);
static ngx_int_t ngx_http_sandbox_job_json(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_http_sandbox_ctx_t *ctx, ngx_str_t *body);
static ngx_int_t ngx_http_sandbox_job_language(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
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
    ctx->native.job.limits[SBX_LIMIT_CPU_TIME] =
                                     ctx->native.job.limits[SBX_LIMIT_TIMEOUT];
    ngx_http_sandbox_keep_limits(ctx);
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


/* For answers of ours: the job itself may be gone, or never become one. */

static void
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


/* An interpreter might take one for a program, which nobody meant. */

static ngx_int_t
ngx_http_sandbox_is_archive(ngx_str_t *type)
{
    size_t       len;
    ngx_uint_t   i;

    static const char *const  types[] = {
        "application/zip", "application/x-zip-compressed", "application/x-tar",
        "application/gzip", "application/x-gzip", "application/x-gtar",
        "application/x-bzip2", "application/x-xz", "application/zstd",
        "multipart/form-data"
    };

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        len = ngx_strlen(types[i]);

        if (type->len >= len
            && ngx_strncasecmp(type->data, (u_char *) types[i], len) == 0
            && (type->len == len || type->data[len] == ';'
                || type->data[len] == ' '))
        {
            return 1;
        }
    }

    return 0;
}


/* What can be said without the body is said without reading it. */

static ngx_int_t
ngx_http_sandbox_precheck(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_int_t                     charset;
    ngx_str_t                    *type;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);

    /* a subrequest is a GET whatever it asks for */

    if (r == r->main && r->method != NGX_HTTP_POST) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, NGX_HTTP_NOT_ALLOWED,
                                 "a program is run by POST, not by %.*s",
                                 (int) ngx_min(r->method_name.len, 32),
                                 r->method_name.data);
        return NGX_DECLINED;
    }

    if (slcf->code_name.data) {
        return NGX_OK;
    }

    type = r->headers_in.content_type ? &r->headers_in.content_type->value
                                      : NULL;

    if (type && ngx_http_sandbox_is_archive(type)) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID,
                                 NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                 "archives are not unpacked: send the files "
                                 "one by one, as \"files\" of a JSON body");
        return NGX_DECLINED;
    }

    if (type && ngx_http_sandbox_is_json(type, &charset)) {

        if (charset) {
            return NGX_OK;
        }

        ngx_http_sandbox_verdict(ctx, SBX_INVALID,
                                 NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                 "JSON is UTF-8: the charset of Content-Type "
                                 "is another");
        return NGX_DECLINED;
    }

    if (ngx_strcmp(slcf->language.data, NGX_HTTP_SANDBOX_ANY) == 0) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID,
                                 NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                 "the header \"Content-Type: "
                                 "application/json\" is missing, and without "
                                 "it the language is not known");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* *charset: 0 when a parameter names another one than UTF-8 */

static ngx_int_t
ngx_http_sandbox_is_json(ngx_str_t *type, ngx_int_t *charset)
{
    size_t   n;
    u_char  *p, *last;

    static ngx_str_t  json = ngx_string("application/json");
    static ngx_str_t  name = ngx_string("charset=");
    static ngx_str_t  utf8 = ngx_string("utf-8");

    *charset = 1;

    if (type->len < json.len
        || ngx_strncasecmp(type->data, json.data, json.len) != 0)
    {
        return 0;
    }

    p = type->data + json.len;
    last = type->data + type->len;

    if (p < last && *p != ';' && *p != ' ' && *p != '\t') {
        return 0;
    }

    while (p < last) {

        if (*p == ';' || *p == ' ' || *p == '\t') {
            p++;
            continue;
        }

        for (n = 0; p + n < last && p[n] != ';'; n++) { /* void */ }

        if (n >= name.len && ngx_strncasecmp(p, name.data, name.len) == 0) {
            p += name.len;
            n -= name.len;

            while (n && (p[n - 1] == ' ' || p[n - 1] == '\t')) {
                n--;
            }

            if (n >= 2 && p[0] == '"' && p[n - 1] == '"') {
                p++;
                n -= 2;
            }

            *charset = n == utf8.len
                       && ngx_strncasecmp(p, utf8.data, utf8.len) == 0;
            return 1;
        }

        p += n;
    }

    return 1;
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


/*
 * NGX_OK: the job is complete.  NGX_DECLINED: it cannot be; the verdict says
 * why, unless it is too large.  NGX_DONE: the policy had no job; finalize with
 * *answer.  NGX_ERROR: the log says why.
 */
static ngx_int_t
ngx_http_sandbox_job(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx,
    ngx_int_t *answer)
{
    ngx_int_t  rc;

    rc = ngx_http_sandbox_policy_job(r, ctx, answer);

    if (rc == NGX_DECLINED) {
        rc = ngx_http_sandbox_job_native(r, ctx);
    }

    if (rc == NGX_OK && ctx->verdict_set) {
        return NGX_DECLINED;
    }

    return rc == NGX_OK ? ngx_http_sandbox_job_complete(r, ctx) : rc;
}


/* The job as the request's own body has it. */

static ngx_int_t
ngx_http_sandbox_job_native(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_int_t                     charset;
    ngx_table_elt_t              *type;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    type = r->headers_in.content_type;

    if (slcf->policy && sbx_policy_has_request(slcf->policy)
        && ngx_http_sandbox_precheck(r, ctx) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (slcf->code_name.data == NULL && type
        && ngx_http_sandbox_is_json(&type->value, &charset))
    {
        return ngx_http_sandbox_job_json(slcf, ctx, &ctx->body);
    }

    return ngx_http_sandbox_job_raw(slcf, ctx, &ctx->body);
}


static ngx_int_t
ngx_http_sandbox_job_complete(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    char                          why[256];
    ngx_int_t                     rc;
    sbx_job_t                    *job;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    job = &ctx->native.job;

    rc = ngx_http_sandbox_job_language(r, ctx);
    if (rc != NGX_OK) {
        return rc;
    }

    if (job->name.len == 0) {
        job->name = sbx_language_main(job->language);
    }

    if (job->code.len == 0) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0, "the program is empty");
        return NGX_DECLINED;
    }

    if (job->code.data == (char *) slcf->code.data) {
        ngx_memcpy(ctx->sha256, slcf->code_sha256, sizeof(ctx->sha256));
        ctx->sha256_set = 1;

    } else {
        ctx->sha256_set = EVP_Digest(job->code.data, job->code.len,
                                     ctx->sha256, NULL, EVP_sha256(), NULL);
    }

    if (job->suite.len && slcf->suite_root.len == 0) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                                 "cases_from: this location has no "
                                 "\"sandbox_cases\"");
        return NGX_DECLINED;
    }

    job->suite_root = (sbx_str_t) { (char *) slcf->suite_root.data,
                                    job->suite.len ? slcf->suite_root.len : 0 };
    job->allow_missing = slcf->allow_missing;
    job->flags |= (slcf->memory_soft ? SBX_JOB_SOFT_MEMORY : 0)
                  | (slcf->proc_empty ? SBX_JOB_PROC_EMPTY : 0);

    rc = ngx_http_sandbox_limits_set(r, ctx, why, sizeof(why));

    ngx_http_sandbox_keep_limits(ctx);

    if (rc == NGX_DECLINED) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0, "%s", why);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_http_sandbox_policy_limits(r, ctx);

    ngx_http_sandbox_keep_limits(ctx);

    if (rc == NGX_OK && sbx_job_size(job) > SBX_JOB_BYTES_MAX) {
        return NGX_DECLINED;
    }

    if (rc == NGX_OK
        && sbx_answer_max(job->ncases, job->limits[SBX_LIMIT_OUTPUT])
           > SBX_ANSWER_BYTES_MAX)
    {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                                 "cases: %zu of them, each with an output of "
                                 "%llu bytes, could print more than an answer "
                                 "holds; lower limits.output", job->ncases,
                                 (unsigned long long)
                                 job->limits[SBX_LIMIT_OUTPUT]);
        return NGX_DECLINED;
    }

    return rc;
}


static ngx_int_t
ngx_http_sandbox_job_raw(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_http_sandbox_ctx_t *ctx, ngx_str_t *body)
{
    sbx_job_t  *job;
    sbx_str_t   input, text;

    job = &ctx->native.job;
    text = (sbx_str_t) { (char *) body->data, body->len };
    input = (sbx_str_t) { "", 0 };

    job->language = (sbx_str_t) { (char *) slcf->language.data,
                                  slcf->language.len };
    job->code = text;

    if (slcf->code_name.data) {
        input = text;
        job->code = (sbx_str_t) { (char *) slcf->code.data, slcf->code.len };
        job->name = (sbx_str_t) { (char *) slcf->code_name.data,
                                  slcf->code_name.len };
    }

    return sbx_job_add_case(job, 0, input) == 0 ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_sandbox_job_json(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_http_sandbox_ctx_t *ctx, ngx_str_t *body)
{
    char       why[256];
    sbx_str_t  language;

    language = (sbx_str_t) { "", 0 };

    if (ngx_strcmp(slcf->language.data, NGX_HTTP_SANDBOX_ANY) != 0) {
        language = (sbx_str_t) { (char *) slcf->language.data,
                                 slcf->language.len };
    }

    if (sbx_request_parse(&ctx->native, (char *) body->data, body->len,
                          language, why, sizeof(why))
        != 0)
    {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0, "%s", why);
        return NGX_DECLINED;
    }

    ctx->encoding = ctx->native.encoding;

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_job_language(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    u_char                         known[256], *p, *last;
    ngx_str_t                     *name;
    ngx_uint_t                     i;
    ngx_http_sandbox_runtime_t    *rt;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);

    name = ngx_http_sandbox_find_language(smcf, ctx->native.job.language);

    if (name) {
        ctx->language = *name;
        ctx->native.job.language = (sbx_str_t) { (char *) name->data,
                                                 name->len };
        return NGX_OK;
    }

    p = known;
    last = known + sizeof(known) - 1;
    rt = smcf->runtimes.elts;

    for (i = 0; i < smcf->runtimes.nelts; i++) {
        p = ngx_slprintf(p, last, ", %V", &rt[i].name);
    }

    *p = '\0';

    ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0,
                             "language: \"%.*s\" is not one of python, node%s",
                             (int) ngx_min(ctx->native.job.language.len, 64),
                             ctx->native.job.language.data, known);
    return NGX_DECLINED;
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
