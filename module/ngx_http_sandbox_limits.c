/*
 * ngx_http_sandbox_limits.c: a limit as directive and as a request's wish.
 *
 * The directives are read in the master; the values are chosen in the worker,
 * once per request: the location's default, then what the request asks for, up
 * to the ceiling.  What a limit is called, its unit and its range are the rows
 * of sbx_limits[].
 */

#include "ngx_http_sandbox.h"


static ngx_int_t ngx_http_sandbox_limit_language(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_uint_t n, ngx_str_t *language);
static ngx_http_sandbox_limit_t *ngx_http_sandbox_limit_add(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *slcf, sbx_limit_id_t id, ngx_str_t *language);
static char *ngx_http_sandbox_limit_value(ngx_conf_t *cf, sbx_limit_id_t id,
    ngx_str_t *text, uint64_t *value);
static char *ngx_http_sandbox_limit_default(ngx_conf_t *cf, sbx_limit_id_t id,
    ngx_str_t *text, ngx_http_sandbox_limit_t *limit, ngx_uint_t ceiling);
static ngx_http_sandbox_limit_t *ngx_http_sandbox_limit_find(
    ngx_http_sandbox_loc_conf_t *slcf, sbx_limit_id_t id, ngx_str_t *language);
static ngx_int_t ngx_http_sandbox_limit_evaluate(ngx_http_request_t *r,
    ngx_http_sandbox_limit_t *limit, sbx_limit_id_t id, uint64_t *value);


static const char  *ngx_http_sandbox_units[] = { " bytes", " ms", "" };


/* sandbox_NAME [LANGUAGE] DEFAULT [max=CEILING]; cmd->offset is the row. */

char *
ngx_http_sandbox_limit(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    char                      *rv;
    ngx_str_t                 *value, ceiling, language;
    ngx_uint_t                 n;
    sbx_limit_id_t             id;
    ngx_http_sandbox_limit_t  *limit;

    id = (sbx_limit_id_t) cmd->offset;
    value = cf->args->elts;
    n = cf->args->nelts;

    ngx_str_null(&ceiling);

    if (n > 2 && ngx_strncmp(value[n - 1].data, "max=", 4) == 0) {
        ceiling.data = value[n - 1].data + 4;
        ceiling.len = value[n - 1].len - 4;
        n--;
    }

    if (ngx_http_sandbox_limit_language(cf, cmd, n, &language) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    limit = ngx_http_sandbox_limit_add(cf, slcf, id, &language);
    if (limit == NULL) {
        return NGX_CONF_ERROR;
    }

    if (limit == NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    if (ceiling.data) {
        rv = ngx_http_sandbox_limit_value(cf, id, &ceiling, &limit->max);
        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return ngx_http_sandbox_limit_default(cf, id, &value[n - 1], limit,
                                          ceiling.data != NULL);
}


/* n: of the arguments, without a ceiling; a value in the language's place is
   a mistake of many */

static ngx_int_t
ngx_http_sandbox_limit_language(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_uint_t n, ngx_str_t *language)
{
    uint64_t         first, second;
    ngx_str_t       *value;
    sbx_str_t        name, text;
    ngx_uint_t       less;
    sbx_limit_id_t   id;

    ngx_str_set(language, "");

    if (n == 2) {
        return NGX_OK;
    }

    first = 0;
    id = (sbx_limit_id_t) cmd->offset;
    value = cf->args->elts;
    name = (sbx_str_t) { (char *) value[1].data, value[1].len };
    text = (sbx_str_t) { (char *) value[2].data, value[2].len };

    if (n == 3 && sbx_limit_parse(id, name, 1, &first) != 0) {
        name = sbx_language_canonical(name);
        language->data = (u_char *) name.data;
        language->len = name.len;

        return ngx_http_sandbox_use(cf, language, (char *) cmd->name.data);
    }

    if (n == 3 && sbx_limit_parse(id, text, 1, &second) == 0) {
        less = second < first;
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V %V %V\" has two values: a ceiling is written "
                           "\"%V %V max=%V\"", &cmd->name, &value[1],
                           &value[2], &cmd->name, &value[1 + less],
                           &value[2 - less]);
        return NGX_ERROR;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\": \"%V\" takes a language, "
                       "or none, a value, and \"max=\" with the ceiling",
                       &value[n - 1], &cmd->name);
    return NGX_ERROR;
}


/* NULL: no memory; NGX_CONF_UNSET_PTR: the language has one on this level */

static ngx_http_sandbox_limit_t *
ngx_http_sandbox_limit_add(ngx_conf_t *cf, ngx_http_sandbox_loc_conf_t *slcf,
    sbx_limit_id_t id, ngx_str_t *language)
{
    ngx_uint_t                 i;
    ngx_http_sandbox_limit_t  *limit;

    if (slcf->limits[id] == NGX_CONF_UNSET_PTR) {
        slcf->limits[id] = ngx_array_create(cf->pool, 2,
                                            sizeof(ngx_http_sandbox_limit_t));
        if (slcf->limits[id] == NULL) {
            return NULL;
        }
    }

    limit = slcf->limits[id]->elts;

    for (i = 0; i < slcf->limits[id]->nelts; i++) {
        if (limit[i].language.len == language->len
            && ngx_memcmp(limit[i].language.data, language->data,
                          language->len)
               == 0)
        {
            return NGX_CONF_UNSET_PTR;
        }
    }

    limit = ngx_array_push(slcf->limits[id]);

    if (limit) {
        ngx_memzero(limit, sizeof(ngx_http_sandbox_limit_t));
        limit->language = *language;
        limit->file = cf->conf_file->file.name;
        limit->line = cf->conf_file->line;
    }

    return limit;
}


static char *
ngx_http_sandbox_limit_default(ngx_conf_t *cf, sbx_limit_id_t id,
    ngx_str_t *text, ngx_http_sandbox_limit_t *limit, ngx_uint_t ceiling)
{
    char                              *rv;
    ngx_http_compile_complex_value_t   ccv;

    if (ngx_http_script_variables_count(text)) {

        /* whatever a client can put into a variable must end somewhere */

        if (!ceiling) {
            return "needs \"max=\" with a value of variables";
        }

        limit->value = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
        if (limit->value == NULL) {
            return NGX_CONF_ERROR;
        }

        ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));
        ccv.cf = cf;
        ccv.value = text;
        ccv.complex_value = limit->value;

        return ngx_http_compile_complex_value(&ccv) == NGX_OK
               ? NGX_CONF_OK : NGX_CONF_ERROR;
    }

    rv = ngx_http_sandbox_limit_value(cf, id, text, &limit->fixed);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (!ceiling) {
        limit->max = limit->fixed;
    }

    if (limit->max < limit->fixed) {
        return "has \"max=\" below its default";
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_sandbox_limit_value(ngx_conf_t *cf, sbx_limit_id_t id,
    ngx_str_t *text, uint64_t *value)
{
    char               min[32], max[32];
    static const char *const  units[] = {
        [SBX_UNIT_BYTES] = ", in bytes or with k, m, g",
        [SBX_UNIT_MS] = ", in seconds or with ms, s, m, h",
        [SBX_UNIT_COUNT] = ""
    };

    if (sbx_limit_parse(id, (sbx_str_t) { (char *) text->data, text->len }, 1,
                        value)
        == 0)
    {
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid value \"%V\" of \"sandbox_%s\", which takes "
                       "%s to %s%s", text, sbx_limits[id].name,
                       sbx_limit_format(id, sbx_limits[id].min, min,
                                        sizeof(min)),
                       sbx_limit_format(id, sbx_limits[id].max, max,
                                        sizeof(max)),
                       units[sbx_limits[id].unit]);
    return NGX_CONF_ERROR;
}


/* As with proxy_set_header: a level that sets a limit sets it for all. */

void
ngx_http_sandbox_limits_merge(ngx_http_sandbox_loc_conf_t *prev,
    ngx_http_sandbox_loc_conf_t *conf)
{
    ngx_uint_t  i;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        ngx_conf_merge_ptr_value(conf->limits[i], prev->limits[i], NULL);
    }
}


/*
 * What is measured is known when runs are refused; what is known of the built-in
 * languages anyway, whoever tests the configuration should hear.
 */
void
ngx_http_sandbox_limits_warn(ngx_conf_t *cf, ngx_http_sandbox_loc_conf_t *conf)
{
    char                       has[32], needs[32];
    uint64_t                   value, floor;
    sbx_str_t                  name;
    ngx_str_t                 *language;
    ngx_uint_t                 i, n;
    ngx_http_sandbox_limit_t  *limit;

    static ngx_str_t  languages[] = {
        ngx_string("python"), ngx_string("node")
    };

    for (n = 0; n < sizeof(languages) / sizeof(languages[0]); n++) {
        language = &languages[n];

        if (ngx_strcmp(conf->language.data, NGX_HTTP_SANDBOX_ANY) != 0
            && ngx_strcmp(conf->language.data, language->data) != 0)
        {
            continue;
        }

        name = (sbx_str_t) { (char *) language->data, language->len };

        for (i = 0; i < SBX_LIMIT_COUNT; i++) {
            limit = ngx_http_sandbox_limit_find(conf, i, language);
            floor = sbx_floor_known(name, i);

            if (limit == NULL) {
                continue;
            }

            value = limit->value ? limit->max : limit->fixed;

            if (value < floor) {
                ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                              "\"sandbox_%s\" of %s is too little for %V, "
                              "which never starts with less than %s, in "
                              "%V:%ui",
                              sbx_limits[i].name,
                              sbx_limit_format(i, value, has, sizeof(has)),
                              language,
                              sbx_limit_format(i, floor, needs,
                                               sizeof(needs)),
                              &limit->file, limit->line);
            }
        }
    }
}


uint64_t
ngx_http_sandbox_limit_most(ngx_http_sandbox_loc_conf_t *slcf,
    sbx_limit_id_t id)
{
    uint64_t                   most;
    ngx_uint_t                 i;
    ngx_http_sandbox_limit_t  *limit;

    most = sbx_limits[id].initial;

    if (slcf->limits[id]) {
        limit = slcf->limits[id]->elts;

        for (i = 0; i < slcf->limits[id]->nelts; i++) {
            most = ngx_max(most, limit[i].max);
        }
    }

    return most;
}


/* A cpu_time that was never set may be as long as the timeout. */

void
ngx_http_sandbox_limit_ceilings(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_str_t *language, uint64_t ceilings[SBX_LIMIT_COUNT])
{
    ngx_uint_t                 i;
    ngx_http_sandbox_limit_t  *limit;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        limit = ngx_http_sandbox_limit_find(slcf, i, language);
        ceilings[i] = limit ? limit->max : sbx_limits[i].initial;
    }

    if (ceilings[SBX_LIMIT_CPU_TIME] == 0) {
        ceilings[SBX_LIMIT_CPU_TIME] = ceilings[SBX_LIMIT_TIMEOUT];
    }
}


ngx_int_t
ngx_http_sandbox_limits_set(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, char *why, size_t size)
{
    uint64_t                     *limits, value;
    ngx_int_t                     rc;
    ngx_uint_t                    i;
    ngx_http_sandbox_limit_t     *limit;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_sandbox_module);
    limits = ctx->native.job.limits;

    ngx_http_sandbox_limit_ceilings(slcf, &ctx->language, ctx->ceilings);

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        limit = ngx_http_sandbox_limit_find(slcf, i, &ctx->language);

        limits[i] = sbx_limits[i].initial;

        if (limit) {
            rc = ngx_http_sandbox_limit_evaluate(r, limit, i, &limits[i]);
            if (rc != NGX_OK) {
                return rc;
            }
        }
    }

    /* sbx_limits[] orders timeout before cpu_time, which follows it */

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {

        if (i == SBX_LIMIT_CPU_TIME && limits[i] == 0) {
            limits[i] = limits[SBX_LIMIT_TIMEOUT];
            ctx->cpu_implied = !(ctx->native.asked & (1u << i));
            limits[i] = ngx_min(limits[i], ctx->ceilings[i]);
        }

        if (!(ctx->native.asked & (1u << i))) {
            continue;
        }

        value = ctx->native.wanted[i];

        if (ctx->narrow) {
            value = ngx_min(value, ctx->ceilings[i]);
        }

        if (value > ctx->ceilings[i]) {
            snprintf(why, size,
                     "limits.%s: %llu%s asked for, at most %llu%s allowed here",
                     sbx_limits[i].name, (unsigned long long) value,
                     ngx_http_sandbox_units[sbx_limits[i].unit],
                     (unsigned long long) ctx->ceilings[i],
                     ngx_http_sandbox_units[sbx_limits[i].unit]);
            return NGX_DECLINED;
        }

        limits[i] = value;
    }

    return NGX_OK;
}


static ngx_http_sandbox_limit_t *
ngx_http_sandbox_limit_find(ngx_http_sandbox_loc_conf_t *slcf,
    sbx_limit_id_t id, ngx_str_t *language)
{
    ngx_uint_t                 i;
    ngx_http_sandbox_limit_t  *limit, *general;

    if (slcf->limits[id] == NULL) {
        return NULL;
    }

    general = NULL;
    limit = slcf->limits[id]->elts;

    for (i = 0; i < slcf->limits[id]->nelts; i++) {

        if (limit[i].language.len == 0) {
            general = &limit[i];
            continue;
        }

        if (limit[i].language.len == language->len
            && ngx_memcmp(limit[i].language.data, language->data,
                          language->len)
               == 0)
        {
            return &limit[i];
        }
    }

    return general;
}


/*
 * An empty variable (a map without a match) leaves the built-in default.  A
 * value above the ceiling is the operator's own contradiction, not the client's
 * wish: the ceiling holds, with a line in the log.
 */
static ngx_int_t
ngx_http_sandbox_limit_evaluate(ngx_http_request_t *r,
    ngx_http_sandbox_limit_t *limit, sbx_limit_id_t id, uint64_t *value)
{
    ngx_str_t  text;

    if (limit->value == NULL) {
        *value = limit->fixed;
        return NGX_OK;
    }

    if (ngx_http_complex_value(r, limit->value, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    if (text.len
        && sbx_limit_parse(id, (sbx_str_t) { (char *) text.data, text.len }, 1,
                           value)
           != 0)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "invalid value \"%V\" of \"sandbox_%s\"", &text,
                      sbx_limits[id].name);
        return NGX_ERROR;
    }

    if (*value > limit->max) {
        if (text.len) {
            ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                          "\"sandbox_%s\" is \"%V\", above its \"max=\"",
                          sbx_limits[id].name, &text);
        }

        *value = limit->max;
    }

    return NGX_OK;
}
