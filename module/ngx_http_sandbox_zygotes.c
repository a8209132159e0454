/*
 * ngx_http_sandbox_zygotes.c: what the configuration says of zygotes.
 *
 * Runs in the master while it reads the configuration.  A setter says what is
 * wrong with its own words and leaves file and line to nginx.
 */

#include "ngx_http_sandbox.h"


/* all together, as SBX_PRELOAD_SIZE of sbx_super.h has room for them */
#define NGX_HTTP_SANDBOX_PRELOAD_MAX     4000
#define NGX_HTTP_SANDBOX_RENEW_RUNS_MAX  1000000000
#define NGX_HTTP_SANDBOX_RENEW_TIME_MAX  31536000
#define NGX_HTTP_SANDBOX_GROWTH_MAX      1000000


typedef struct {
    ngx_str_t      name;
    size_t         offset;
    ngx_int_t    (*parse)(ngx_str_t *value);
    const char    *takes;
} ngx_http_sandbox_renew_t;


static ngx_int_t ngx_http_sandbox_preload_module(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *name);
static ngx_int_t ngx_http_sandbox_renew_runs(ngx_str_t *value);
static ngx_int_t ngx_http_sandbox_renew_time(ngx_str_t *value);
static ngx_int_t ngx_http_sandbox_renew_growth(ngx_str_t *value);


static ngx_http_sandbox_renew_t  ngx_http_sandbox_renewals[] = {
    { ngx_string("runs="),
      offsetof(ngx_http_sandbox_main_conf_t, renew_runs),
      ngx_http_sandbox_renew_runs, "a number up to 1000000000" },

    { ngx_string("time="),
      offsetof(ngx_http_sandbox_main_conf_t, renew_time),
      ngx_http_sandbox_renew_time, "a time up to 1y, in seconds or longer" },

    { ngx_string("growth="),
      offsetof(ngx_http_sandbox_main_conf_t, renew_growth),
      ngx_http_sandbox_renew_growth, "a factor from 1.1 to 1000, or 0" },

    { ngx_null_string, 0, NULL, NULL }
};


/* What is not named keeps the supervisor's default; 0 and "off": never. */
char *
ngx_http_sandbox_zygote_renew(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    ngx_int_t                  n, *number;
    ngx_str_t                 *value, s;
    ngx_uint_t                 i;
    ngx_http_sandbox_renew_t  *renew;

    if (smcf->renew_set) {
        return "is duplicate";
    }

    smcf->renew_set = 1;
    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        smcf->renew_runs = smcf->renew_time = smcf->renew_growth = 0;
        return NGX_CONF_OK;
    }

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_strcmp(value[i].data, "off") == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"off\" of \"%V\" stands alone", &cmd->name);
            return NGX_CONF_ERROR;
        }

        for (renew = ngx_http_sandbox_renewals; renew->name.len; renew++) {
            if (ngx_strncmp(value[i].data, renew->name.data, renew->name.len)
                == 0)
            {
                break;
            }
        }

        if (renew->name.len == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\": \"%V\" takes "
                               "\"runs=\", \"time=\" and \"growth=\", or "
                               "\"off\" alone", &value[i], &cmd->name);
            return NGX_CONF_ERROR;
        }

        number = (ngx_int_t *) ((u_char *) smcf + renew->offset);

        if (*number != NGX_CONF_UNSET) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate parameter \"%V\" of \"%V\"",
                               &value[i], &cmd->name);
            return NGX_CONF_ERROR;
        }

        s.data = value[i].data + renew->name.len;
        s.len = value[i].len - renew->name.len;
        n = renew->parse(&s);

        if (n == NGX_ERROR) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" of \"%V\" takes %s, not \"%V\"",
                               &renew->name, &cmd->name, renew->takes, &s);
            return NGX_CONF_ERROR;
        }

        *number = n;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_sandbox_renew_runs(ngx_str_t *value)
{
    ngx_int_t  n = ngx_atoi(value->data, value->len);

    return n > NGX_HTTP_SANDBOX_RENEW_RUNS_MAX ? NGX_ERROR : n;
}


static ngx_int_t
ngx_http_sandbox_renew_time(ngx_str_t *value)
{
    ngx_int_t  n = ngx_parse_time(value, 1);

    return value->len == 0 || n > NGX_HTTP_SANDBOX_RENEW_TIME_MAX ? NGX_ERROR
                                                                  : n;
}


/* In thousandths.  A zygote that did not grow may not be renewed for it. */
static ngx_int_t
ngx_http_sandbox_renew_growth(ngx_str_t *value)
{
    ngx_int_t  n = ngx_atofp(value->data, value->len, 3);

    return (n != 0 && n < 1100) || n > NGX_HTTP_SANDBOX_GROWTH_MAX ? NGX_ERROR
                                                                   : n;
}


/* Each with its place, which the supervisor names when it refuses one. */
char *
ngx_http_sandbox_preload(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "python") != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" takes \"python\" and modules of it, "
                           "not \"%V\"", &cmd->name, &value[1]);
        return NGX_CONF_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_http_sandbox_preload_module(cf, smcf, &value[i]) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_sandbox_preload_module(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *name)
{
    u_char       c, *p;
    size_t       len;
    ngx_str_t   *module, *place;
    ngx_uint_t   i, start;

    start = 1;

    for (i = 0; i < name->len; i++) {
        c = name->data[i];

        if (c == '.' ? start
            : !(c == '_' || c >= 0x80 || (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (!start && c >= '0' && c <= '9')))
        {
            break;
        }

        start = c == '.';
    }

    if (i < name->len || start) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is no name of a module", name);
        return NGX_ERROR;
    }

    module = smcf->modules.elts;
    len = name->len + 1;

    for (i = 0; i < smcf->modules.nelts; i++) {
        len += module[i].len + 1;

        if (module[i].len == name->len
            && ngx_memcmp(module[i].data, name->data, name->len) == 0)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "module \"%V\" is named twice", name);
            return NGX_ERROR;
        }
    }

    if (len > NGX_HTTP_SANDBOX_PRELOAD_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the names of modules up to \"%V\" are longer "
                           "than %d bytes", name,
                           NGX_HTTP_SANDBOX_PRELOAD_MAX);
        return NGX_ERROR;
    }

    module = ngx_array_push(&smcf->modules);
    place = ngx_array_push(&smcf->modules_at);

    if (module == NULL || place == NULL) {
        return NGX_ERROR;
    }

    *module = *name;
    place->len = cf->conf_file->file.name.len + 1 + NGX_INT_T_LEN;
    place->data = ngx_pnalloc(cf->pool, place->len);

    if (place->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_snprintf(place->data, place->len, "%V:%ui",
                     &cf->conf_file->file.name, cf->conf_file->line);
    place->len = p - place->data;

    return NGX_OK;
}
