/*
 * ngx_http_sandbox_variables.c: a run's outcome for log_format, add_header and
 * the like.
 *
 * Runs in the worker, mostly while a request is logged.  Before there is a
 * verdict, and where none is ever given, a variable is not found ("-" in logs).
 */

#include "ngx_http_sandbox.h"


static ngx_int_t ngx_http_sandbox_text_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_sandbox_number_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_sandbox_violation_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_sandbox_sha256_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static void ngx_http_sandbox_set_variable(ngx_http_variable_value_t *v,
    u_char *data, size_t len);


typedef enum {
    NGX_HTTP_SANDBOX_STATUS = 0,
    NGX_HTTP_SANDBOX_REASON,
    NGX_HTTP_SANDBOX_LANGUAGE
} ngx_http_sandbox_text_e;

#define NGX_HTTP_SANDBOX_FIELD(field)  offsetof(sbx_verdict_t, field)


static ngx_http_variable_t  ngx_http_sandbox_variables[] = {

    { ngx_string("sandbox_status"), NULL, ngx_http_sandbox_text_variable,
      NGX_HTTP_SANDBOX_STATUS, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_reason"), NULL, ngx_http_sandbox_text_variable,
      NGX_HTTP_SANDBOX_REASON, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_language"), NULL, ngx_http_sandbox_text_variable,
      NGX_HTTP_SANDBOX_LANGUAGE, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_wall_time"), NULL, ngx_http_sandbox_number_variable,
      NGX_HTTP_SANDBOX_FIELD(wall_us), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_cpu_time"), NULL, ngx_http_sandbox_number_variable,
      NGX_HTTP_SANDBOX_FIELD(cpu_us), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_queue_time"), NULL, ngx_http_sandbox_number_variable,
      NGX_HTTP_SANDBOX_FIELD(queue_us), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_memory"), NULL, ngx_http_sandbox_number_variable,
      NGX_HTTP_SANDBOX_FIELD(memory_bytes), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_violation"), NULL,
      ngx_http_sandbox_violation_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("sandbox_code_sha256"), NULL,
      ngx_http_sandbox_sha256_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


ngx_int_t
ngx_http_sandbox_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_sandbox_variables; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_text_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    const char              *text;
    ngx_http_sandbox_ctx_t  *ctx;

    v->not_found = 1;

    ctx = ngx_http_sandbox_get_ctx(r);
    if (ctx == NULL) {
        return NGX_OK;
    }

    if (data == NGX_HTTP_SANDBOX_LANGUAGE) {
        if (ctx->language.len) {
            ngx_http_sandbox_set_variable(v, ctx->language.data,
                                          ctx->language.len);
        }

        return NGX_OK;
    }

    if (!ctx->verdict_set) {
        return NGX_OK;
    }

    text = (data == NGX_HTTP_SANDBOX_STATUS)
           ? sbx_status_name(ctx->verdict.status)
           : sbx_reason_name(ctx->verdict.reason);

    if (*text) {
        ngx_http_sandbox_set_variable(v, (u_char *) text, ngx_strlen(text));
    }

    return NGX_OK;
}


/* Times as nginx's own: seconds with milliseconds.  Memory in bytes. */

static ngx_int_t
ngx_http_sandbox_number_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                  *p, *last;
    uint64_t                 n;
    ngx_http_sandbox_ctx_t  *ctx;

    v->not_found = 1;

    ctx = ngx_http_sandbox_get_ctx(r);
    if (ctx == NULL || !ctx->verdict_set) {
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, NGX_INT64_LEN + sizeof(".000"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    n = *(uint64_t *) ((char *) &ctx->verdict + data);

    if (data == NGX_HTTP_SANDBOX_FIELD(memory_bytes)) {
        last = ngx_sprintf(p, "%uL", n);

    } else {
        n = (n + 500) / 1000;
        last = ngx_sprintf(p, "%uL.%03uL", n / 1000, n % 1000);
    }

    ngx_http_sandbox_set_variable(v, p, last - p);

    return NGX_OK;
}


/* The answer's object, for log_format with escape=json or escape=none. */

static ngx_int_t
ngx_http_sandbox_violation_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    char                    *json;
    u_char                  *p;
    size_t                   len;
    ngx_http_sandbox_ctx_t  *ctx;

    v->not_found = 1;

    ctx = ngx_http_sandbox_get_ctx(r);
    if (ctx == NULL || !ctx->verdict_set
        || ctx->verdict.violation.type == SBX_VIOLATION_NONE)
    {
        return NGX_OK;
    }

    json = sbx_violation_json(&ctx->verdict.violation, &len);
    if (json == NULL) {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(r->pool, len);

    if (p) {
        ngx_memcpy(p, json, len);
        ngx_http_sandbox_set_variable(v, p, len);
    }

    free(json);

    return p ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_sandbox_sha256_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                  *p;
    ngx_http_sandbox_ctx_t  *ctx;

    v->not_found = 1;

    ctx = ngx_http_sandbox_get_ctx(r);
    if (ctx == NULL || !ctx->sha256_set) {
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, 2 * sizeof(ctx->sha256));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_hex_dump(p, ctx->sha256, sizeof(ctx->sha256));
    ngx_http_sandbox_set_variable(v, p, 2 * sizeof(ctx->sha256));

    return NGX_OK;
}


static void
ngx_http_sandbox_set_variable(ngx_http_variable_value_t *v, u_char *data,
    size_t len)
{
    v->valid = 1;
    v->no_cacheable = 1;
    v->not_found = 0;
    v->data = data;
    v->len = len;
}
