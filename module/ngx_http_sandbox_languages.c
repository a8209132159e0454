/*
 * ngx_http_sandbox_languages.c: which languages there are.
 *
 * Runs in the master while it reads the configuration, and in the worker to
 * look a name up.  A runtime may be declared below the lines that name it, so
 * those are remembered with their place and checked at the end of http{}.
 */

#include "ngx_http_sandbox.h"


/* rows of the supervisor's table that the built-in runtimes take */
#define NGX_HTTP_SANDBOX_BUILT_IN  2


static char *ngx_http_sandbox_check_runtime(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *name);
static ngx_int_t ngx_http_sandbox_check_bind(ngx_conf_t *cf, ngx_str_t *path);


static ngx_str_t  ngx_http_sandbox_built_in[NGX_HTTP_SANDBOX_BUILT_IN] = {
    ngx_string("python"),
    ngx_string("node")
};


char *
ngx_http_sandbox_runtime(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    char                        *rv;
    ngx_str_t                   *value, *s;
    ngx_uint_t                   i;
    ngx_http_sandbox_runtime_t  *rt;

    value = cf->args->elts;

    rv = ngx_http_sandbox_check_runtime(cf, smcf, &value[1]);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rt = ngx_array_push(&smcf->runtimes);
    if (rt == NULL) {
        return NGX_CONF_ERROR;
    }

    rt->name = value[1];

    if (ngx_array_init(&rt->command, cf->pool, 4, sizeof(ngx_str_t)) != NGX_OK
        || ngx_array_init(&rt->binds, cf->pool, 4, sizeof(ngx_str_t)) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {

        if (ngx_strncmp(value[i].data, "bind=", 5) != 0) {
            s = ngx_array_push(&rt->command);
            if (s == NULL) {
                return NGX_CONF_ERROR;
            }

            *s = value[i];
            continue;
        }

        s = ngx_array_push(&rt->binds);
        if (s == NULL) {
            return NGX_CONF_ERROR;
        }

        s->data = value[i].data + 5;
        s->len = value[i].len - 5;

        if (ngx_http_sandbox_check_bind(cf, s) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    if (rt->command.nelts == 0) {
        return "needs a command";
    }

    if (ngx_http_sandbox_check_executable(cf, rt->command.elts) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_sandbox_check_runtime(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *name)
{
    u_char     c;
    size_t     i;
    sbx_str_t  text;

    text.data = (char *) name->data;
    text.len = name->len;

    for (i = 0; i < name->len; i++) {
        c = name->data[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')
            && (i == 0 || (c != '-' && c != '_' && c != '.' && c != '+')))
        {
            break;
        }
    }

    if (i == 0 || i < name->len
        || name->len >= sizeof(((sbx_stats_runtime_t *) 0)->name))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "runtime name \"%V\" is not made of up to 31 of "
                           "a-z, 0-9, \"-\", \"_\", \".\", \"+\"", name);
        return NGX_CONF_ERROR;
    }

    if (sbx_language_canonical(text).data != text.data
        || ngx_strcmp(name->data, NGX_HTTP_SANDBOX_ANY) == 0
        || ngx_strcmp(name->data, "off") == 0
        || ngx_http_sandbox_find_language(smcf, text))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "runtime name \"%V\" is taken", name);
        return NGX_CONF_ERROR;
    }

    if (smcf->runtimes.nelts + NGX_HTTP_SANDBOX_BUILT_IN
        == SBX_STATS_RUNTIMES)
    {
        return "has too many runtimes before it";
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_sandbox_check_bind(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_file_info_t  fi;

    if (path->len < 2 || path->data[0] != '/') {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"bind=%V\" needs an absolute path", path);
        return NGX_ERROR;
    }

    if (ngx_file_info(path->data, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_file_info_n " \"%V\" failed", path);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_sandbox_use(ngx_conf_t *cf, ngx_str_t *language, const char *directive)
{
    ngx_http_sandbox_use_t        *use;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    use = ngx_array_push(&smcf->uses);
    if (use == NULL) {
        return NGX_ERROR;
    }

    use->language = *language;
    use->directive = directive;
    use->file = cf->conf_file->file.name.data;
    use->line = cf->conf_file->line;

    return NGX_OK;
}


/* For an error's text: "python, node", and what was added. */
static ngx_str_t
ngx_http_sandbox_known_languages(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf)
{
    u_char      *p;
    size_t       size = 0;
    ngx_str_t   *name, known = ngx_null_string;
    ngx_uint_t   i;

    for (i = 0; (name = ngx_http_sandbox_language(smcf, i)) != NULL; i++) {
        size += name->len + 2;
    }

    p = ngx_pnalloc(cf->temp_pool, size);
    if (p == NULL) {
        return known;
    }

    known.data = p;

    for (i = 0; (name = ngx_http_sandbox_language(smcf, i)) != NULL; i++) {
        p = ngx_cpymem(p, i == 0 ? "" : ", ", i == 0 ? 0 : 2);
        p = ngx_cpymem(p, name->data, name->len);
    }

    known.len = p - known.data;

    return known;
}


ngx_int_t
ngx_http_sandbox_check_uses(ngx_conf_t *cf, ngx_http_sandbox_main_conf_t *smcf)
{
    ngx_str_t                known;
    ngx_uint_t               i;
    ngx_http_sandbox_use_t  *use;

    use = smcf->uses.elts;

    for (i = 0; i < smcf->uses.nelts; i++) {

        if (ngx_http_sandbox_find_language(smcf,
                (sbx_str_t) { (char *) use[i].language.data,
                              use[i].language.len })
            == NULL)
        {
            known = ngx_http_sandbox_known_languages(cf, smcf);
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown language \"%V\" in \"%s\" directive, "
                          "known are %V in %s:%ui", &use[i].language,
                          use[i].directive, &known, use[i].file,
                          use[i].line);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_str_t *
ngx_http_sandbox_language(ngx_http_sandbox_main_conf_t *smcf, ngx_uint_t i)
{
    ngx_http_sandbox_runtime_t  *rt;

    if (i < NGX_HTTP_SANDBOX_BUILT_IN) {
        return &ngx_http_sandbox_built_in[i];
    }

    i -= NGX_HTTP_SANDBOX_BUILT_IN;
    rt = smcf->runtimes.elts;

    return i < smcf->runtimes.nelts ? &rt[i].name : NULL;
}


ngx_str_t *
ngx_http_sandbox_find_language(ngx_http_sandbox_main_conf_t *smcf,
    sbx_str_t language)
{
    ngx_str_t   *name;
    ngx_uint_t   i;

    for (i = 0; (name = ngx_http_sandbox_language(smcf, i)) != NULL; i++) {

        if (name->len == language.len
            && ngx_memcmp(name->data, language.data, language.len) == 0)
        {
            return name;
        }
    }

    return NULL;
}
