/*
 * ngx_http_sandbox_response.c: the verdict becomes status, headers and body.
 *
 * Runs in the worker.  Every outcome takes this way: what a supervisor decided,
 * what we refuse ourselves, and (through a filter) what nginx answers when the
 * supervisor is gone.
 */

#include "ngx_http_sandbox.h"


typedef struct {
    ngx_str_t   name;
    size_t      offset;     /* of the pointer in headers_out; 0: none */
    ngx_uint_t  denied;     /* nginx makes it; nobody else may */
} ngx_http_sandbox_header_t;


static void ngx_http_sandbox_answer_native(ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_answer_json(ngx_http_sandbox_ctx_t *ctx);
static ngx_int_t ngx_http_sandbox_header(ngx_http_request_t *r,
    const sbx_pair_t *pair);
static void ngx_http_sandbox_content_type(ngx_http_request_t *r,
    ngx_str_t *type);
static ngx_int_t ngx_http_sandbox_send(ngx_http_request_t *r,
    ngx_uint_t status, ngx_str_t *body);
static ngx_int_t ngx_http_sandbox_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_sandbox_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);


#define NGX_HTTP_SANDBOX_OUT(field)  offsetof(ngx_http_headers_out_t, field)

static ngx_http_sandbox_header_t  ngx_http_sandbox_special[] = {
    { ngx_string("location"), NGX_HTTP_SANDBOX_OUT(location), 0 },
    { ngx_string("server"), NGX_HTTP_SANDBOX_OUT(server), 0 },
    { ngx_string("etag"), NGX_HTTP_SANDBOX_OUT(etag), 0 },
    { ngx_string("last-modified"), NGX_HTTP_SANDBOX_OUT(last_modified), 0 },
    { ngx_string("content-encoding"),
      NGX_HTTP_SANDBOX_OUT(content_encoding), 0 },
    { ngx_string("www-authenticate"),
      NGX_HTTP_SANDBOX_OUT(www_authenticate), 0 },
    { ngx_string("date"), 0, 1 },
    { ngx_string("connection"), 0, 1 },
    { ngx_string("keep-alive"), 0, 1 },
    { ngx_string("content-length"), 0, 1 },
    { ngx_string("transfer-encoding"), 0, 1 },
    { ngx_string("trailer"), 0, 1 },
    { ngx_string("upgrade"), 0, 1 },
    { ngx_null_string, 0, 0 }
};


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


void
ngx_http_sandbox_verdict(ngx_http_sandbox_ctx_t *ctx, sbx_status_t status,
    ngx_uint_t http, const char *fmt, ...)
{
    va_list  args;

    sbx_verdict_init(&ctx->verdict);

    ctx->verdict.status = status;
    ctx->verdict.http = http;
    ctx->verdict_set = 1;

    ngx_memcpy(ctx->verdict.limits, ctx->limits, sizeof(ctx->limits));
    ctx->verdict.factor_permille = ctx->factor_permille;

    va_start(args, fmt);
    (void) vsnprintf(ctx->verdict.error, sizeof(ctx->verdict.error), fmt, args);
    va_end(args);
}


ngx_int_t
ngx_http_sandbox_answer(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_int_t                   rc;
    ngx_http_sandbox_answer_t  *answer;

    answer = &ctx->answer;
    ngx_memzero(answer, sizeof(ngx_http_sandbox_answer_t));

    rc = ngx_http_sandbox_policy_response(r, ctx);

    if (rc == NGX_OK) {
        answer->status = ctx->shaped.status;
        answer->headers = ctx->shaped.headers;
        answer->nheaders = ctx->shaped.nheaders;
        answer->body.data = (u_char *) ctx->shaped.body.data;
        answer->body.len = ctx->shaped.body.len;
        ctx->answered = 1;
        return NGX_OK;
    }

    if (rc == NGX_ERROR) {
        ngx_http_sandbox_verdict(ctx, SBX_INTERNAL_ERROR, 0,
                                 "the response policy failed; the server's "
                                 "error log says why");
    }

    ngx_http_sandbox_answer_native(ctx);

    return ngx_http_sandbox_answer_json(ctx);
}


static void
ngx_http_sandbox_answer_native(ngx_http_sandbox_ctx_t *ctx)
{
    sbx_pair_t                 *pair;
    ngx_http_sandbox_answer_t  *answer;

    answer = &ctx->answer;
    answer->status = sbx_verdict_http(&ctx->verdict);
    pair = answer->own;

    pair->key = SBX_STR("Content-Type");
    pair->value = SBX_STR("application/json");
    pair++;

    if (ctx->verdict.status == SBX_BUSY) {
        pair->key = SBX_STR("Retry-After");
        pair->value = SBX_STR("1");
        pair++;
    }

    if (answer->status == NGX_HTTP_NOT_ALLOWED) {
        pair->key = SBX_STR("Allow");
        pair->value = SBX_STR("POST");
        pair++;
    }

    answer->headers = answer->own;
    answer->nheaders = pair - answer->own;
}


static ngx_int_t
ngx_http_sandbox_answer_json(ngx_http_sandbox_ctx_t *ctx)
{
    size_t  len;

    free(ctx->json);

    /* a batch of which nothing ran is refused like a single job */

    if (ctx->cases && sbx_verdict_http(&ctx->verdict) == NGX_HTTP_OK) {
        ctx->json = sbx_batch_json(ctx->cases, ctx->ncases, ctx->encoding,
                                   &len);

    } else {
        ctx->json = sbx_verdict_body(&ctx->verdict, ctx->encoding, &len);
    }

    if (ctx->json == NULL) {
        return NGX_ERROR;
    }

    ctx->answer.body.data = (u_char *) ctx->json;
    ctx->answer.body.len = len;
    ctx->answered = 1;

    return NGX_OK;
}


ngx_int_t
ngx_http_sandbox_headers(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    size_t                      i;
    ngx_str_t                   type;
    ngx_http_sandbox_answer_t  *answer;

    answer = &ctx->answer;

    for (i = 0; i < answer->nheaders; i++) {
        if (ngx_http_sandbox_header(r, &answer->headers[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (r->headers_out.content_type.len == 0) {
        ngx_str_set(&type, "application/json");
        ngx_http_sandbox_content_type(r, &type);
    }

    return NGX_OK;
}


/*
 * A policy writes headers, and may put a guest's output into one: a line end in
 * it would be a header of the guest's own.
 */
static ngx_int_t
ngx_http_sandbox_header(ngx_http_request_t *r, const sbx_pair_t *pair)
{
    size_t                      i;
    ngx_str_t                   key, value;
    ngx_table_elt_t            *h, **slot;
    ngx_http_sandbox_header_t  *special;

    key.data = (u_char *) pair->key.data;
    key.len = pair->key.len;
    value.data = (u_char *) pair->value.data;
    value.len = pair->value.len;

    for (i = 0; i < key.len && key.data[i] > ' ' && key.data[i] < 0x7f
                && key.data[i] != ':'; i++) { /* void */ }

    if (key.len == 0 || i < key.len
        || ngx_strlchr(value.data, value.data + value.len, '\r')
        || ngx_strlchr(value.data, value.data + value.len, '\n')
        || ngx_strlchr(value.data, value.data + value.len, '\0'))
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "policy's header \"%V\" is malformed and left out", &key);
        return NGX_OK;
    }

    if (key.len == sizeof("content-type") - 1
        && ngx_strncasecmp(key.data, (u_char *) "content-type", key.len) == 0)
    {
        ngx_http_sandbox_content_type(r, &value);
        return NGX_OK;
    }

    for (special = ngx_http_sandbox_special; special->name.len; special++) {
        if (key.len == special->name.len
            && ngx_strncasecmp(key.data, special->name.data, key.len) == 0)
        {
            break;
        }
    }

    if (special->denied) {
        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "policy's header \"%V\" is nginx's own and left out",
                      &key);
        return NGX_OK;
    }

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
    h->key = key;
    h->value = value;
    h->lowcase_key = NULL;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif

    if (special->name.len) {
        slot = (ngx_table_elt_t **) ((char *) &r->headers_out
                                     + special->offset);
        *slot = h;
    }

    return NGX_OK;
}


static void
ngx_http_sandbox_content_type(ngx_http_request_t *r, ngx_str_t *type)
{
    u_char  *p;

    r->headers_out.content_type = *type;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.content_type_len = type->len;

    p = ngx_strlchr(type->data, type->data + type->len, ';');
    if (p) {
        r->headers_out.content_type_len = p - type->data;
    }
}


ngx_int_t
ngx_http_sandbox_intercepted(ngx_http_request_t *r, ngx_uint_t status)
{
    ngx_uint_t                    i;
    ngx_http_err_page_t          *page;
    ngx_http_core_loc_conf_t     *clcf;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (status < NGX_HTTP_SPECIAL_RESPONSE
        || !slcf->upstream.intercept_errors || clcf->error_pages == NULL)
    {
        return 0;
    }

    page = clcf->error_pages->elts;

    for (i = 0; i < clcf->error_pages->nelts; i++) {
        if (page[i].status == (ngx_int_t) status) {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_http_sandbox_refuse(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_int_t  rc;

    rc = ngx_http_sandbox_answer(r, ctx);

    ngx_http_sandbox_metrics_count(r, ctx);

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "sandbox refused the request: %s", ctx->verdict.error);

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_sandbox_reply(r, ctx);
}


ngx_int_t
ngx_http_sandbox_reply(ngx_http_request_t *r, ngx_http_sandbox_ctx_t *ctx)
{
    ngx_int_t  rc;

    if (ngx_http_sandbox_intercepted(r, ctx->answer.status)) {
        return ctx->answer.status;
    }

    /* not before: an error_page may hand the body on to someone else */

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_sandbox_headers(r, ctx) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_sandbox_send(r, ctx->answer.status, &ctx->answer.body);
}


ngx_int_t
ngx_http_sandbox_send_json(ngx_http_request_t *r, ngx_str_t *body)
{
    ngx_str_t  type;

    ngx_str_set(&type, "application/json");
    ngx_http_sandbox_content_type(r, &type);

    return ngx_http_sandbox_send(r, NGX_HTTP_OK, body);
}


static ngx_int_t
ngx_http_sandbox_send(ngx_http_request_t *r, ngx_uint_t status,
    ngx_str_t *body)
{
    ngx_int_t    rc;
    ngx_buf_t   *b;
    ngx_chain_t  out;

    r->headers_out.status = status;
    r->headers_out.content_length_n = body->len;

    if (body->len == 0) {
        r->header_only = 1;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = body->data;
    b->last = body->data + body->len;
    b->memory = 1;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


ngx_int_t
ngx_http_sandbox_filter_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_sandbox_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_sandbox_body_filter;

    return NGX_OK;
}


/*
 * When the supervisor cannot be reached, nginx answers in its own HTML.  An
 * error_page, if there is one, has wiped the context by then and goes its own
 * way; otherwise clients get the native shape here as everywhere.
 */
static ngx_int_t
ngx_http_sandbox_header_filter(ngx_http_request_t *r)
{
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);

    if (ctx == NULL || !ctx->failed || ctx->replaced
        || r->headers_out.status != (ngx_uint_t) ctx->verdict.http)
    {
        return ngx_http_next_header_filter(r);
    }

    if (ngx_http_sandbox_answer(r, ctx) == NGX_OK) {
        ngx_str_null(&r->headers_out.content_type);

        if (ngx_http_sandbox_headers(r, ctx) != NGX_OK) {
            return NGX_ERROR;
        }

        r->headers_out.status = ctx->answer.status;
        r->headers_out.content_length_n = ctx->answer.body.len;
        ctx->replaced = 1;
    }

    return ngx_http_next_header_filter(r);
}


static ngx_int_t
ngx_http_sandbox_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t               *b;
    ngx_chain_t              out;
    ngx_http_sandbox_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_sandbox_module);

    if (ctx == NULL || !ctx->replaced || in == NULL) {
        return ngx_http_next_body_filter(r, in);
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = ctx->answer.body.data;
    b->last = b->pos + ctx->answer.body.len;
    b->memory = (b->pos != b->last);
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    ctx->replaced = 0;
    ctx->failed = 0;

    out.buf = b;
    out.next = NULL;

    return ngx_http_next_body_filter(r, &out);
}
