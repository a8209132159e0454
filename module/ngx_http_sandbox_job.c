/*
 * ngx_http_sandbox_job.c: a request with its body becomes a job.
 *
 * Runs in the worker.  Comes in: a request, its body in one piece, perhaps a
 * policy.  Goes out: a job with every value resolved; or a verdict that says
 * why there is none.
 */

#include "ngx_http_sandbox.h"

#include <openssl/evp.h>


static ngx_int_t ngx_http_sandbox_is_archive(ngx_str_t *type);
static ngx_int_t ngx_http_sandbox_is_json(ngx_str_t *type, ngx_int_t *charset);
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


ngx_int_t
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


ngx_int_t
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

    if (rc == NGX_DECLINED) {
        ngx_http_sandbox_verdict(ctx, SBX_INVALID, 0, "%s", why);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    /* until here none are in force, and what is refused shows none */
    ngx_http_sandbox_keep_limits(ctx);

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
