/*
 * ngx_http_sandbox_directives.c: one setter per directive.
 *
 * Runs in the master while it reads the configuration.  A setter says what is
 * wrong with its own words and leaves file and line to nginx.  Limits and
 * runtimes have files of their own.
 */

#include "ngx_http_sandbox.h"

#include <openssl/evp.h>


#define NGX_HTTP_SANDBOX_CODE_MAX  (64 << 20)


static ngx_int_t ngx_http_sandbox_read_code(ngx_conf_t *cf, ngx_str_t *file,
    ngx_str_t *text);
static ngx_int_t ngx_http_sandbox_own_upstream(ngx_conf_t *cf);
static void ngx_http_sandbox_unknown_layer(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name);
static char *ngx_http_sandbox_number(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_int_t min, ngx_int_t max, ngx_uint_t automatic, ngx_uint_t *number);


char *
ngx_http_sandbox(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    ngx_str_t                 *value;
    sbx_str_t                  language;
    ngx_http_core_loc_conf_t  *clcf;

    if (slcf->language.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        ngx_str_set(&slcf->language, "");
        return NGX_CONF_OK;
    }

    if (value[1].len == 0) {
        return "needs a language";
    }

    language = sbx_language_canonical((sbx_str_t) { (char *) value[1].data,
                                                    value[1].len });
    slcf->language.data = (u_char *) language.data;
    slcf->language.len = language.len;

    if (ngx_strcmp(value[1].data, NGX_HTTP_SANDBOX_ANY) != 0
        && ngx_http_sandbox_use(cf, &slcf->language, "sandbox") != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (slcf->code_name.data == NULL) {
        slcf->file = cf->conf_file->file.name.data;
        slcf->line = cf->conf_file->line;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler) {
        return "stands in a location that another directive, such as "
               "\"proxy_pass\", answers already";
    }

    clcf->handler = ngx_http_sandbox_handler;

    return ngx_http_sandbox_own_upstream(cf) == NGX_OK ? NGX_CONF_OK
                                                       : NGX_CONF_ERROR;
}


/*
 * The implicit upstream of this configuration's own supervisor.  It has a name
 * only: the address exists once the supervisor is started.  Made here, because
 * nginx initializes upstreams before it merges locations.
 */
static ngx_int_t
ngx_http_sandbox_own_upstream(ngx_conf_t *cf)
{
    ngx_url_t                      u;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    if (smcf->upstream) {
        return NGX_OK;
    }

    ngx_memzero(&u, sizeof(ngx_url_t));
    ngx_str_set(&u.url, "unix:sandbox");
    u.no_resolve = 1;

    smcf->upstream = ngx_http_upstream_add(cf, &u, 0);
    if (smcf->upstream == NULL) {
        return NGX_ERROR;
    }

    smcf->upstream->peer.init_upstream = ngx_http_sandbox_peer_init_upstream;

    return NGX_OK;
}


char *
ngx_http_sandbox_code(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    u_char      *p;
    ngx_str_t   *value, file;
    const char  *why;

    if (slcf->code_name.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    file = value[1];

    if (ngx_conf_full_name(cf->cycle, &file, 1) != NGX_OK
        || ngx_http_sandbox_read_code(cf, &file, &slcf->code) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (slcf->code.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\" is empty", &file);
        return NGX_CONF_ERROR;
    }

    p = file.data + file.len;
    while (p > file.data && p[-1] != '/') {
        p--;
    }

    slcf->code_name.data = p;
    slcf->code_name.len = file.data + file.len - p;

    why = sbx_name_check((sbx_str_t) { (char *) p, slcf->code_name.len });
    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "name of \"%V\": %s", &file,
                           why);
        return NGX_CONF_ERROR;
    }

    if (EVP_Digest(slcf->code.data, slcf->code.len, slcf->code_sha256, NULL,
                   EVP_sha256(), NULL)
        != 1)
    {
        return "cannot compute SHA-256";
    }

    slcf->file = cf->conf_file->file.name.data;
    slcf->line = cf->conf_file->line;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_sandbox_read_code(ngx_conf_t *cf, ngx_str_t *file, ngx_str_t *text)
{
    off_t            size;
    ssize_t          n;
    ngx_fd_t         fd;
    ngx_int_t        rc;
    ngx_file_info_t  fi;

    rc = NGX_ERROR;

    fd = ngx_open_file(file->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);
    if (fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" failed", file);
        return NGX_ERROR;
    }

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_fd_info_n " \"%V\" failed", file);
        goto done;
    }

    size = ngx_file_size(&fi);

    if (!ngx_is_file(&fi) || size > NGX_HTTP_SANDBOX_CODE_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a regular file of at most %d bytes",
                           file, NGX_HTTP_SANDBOX_CODE_MAX);
        goto done;
    }

    text->data = ngx_pnalloc(cf->pool, size ? size : 1);
    if (text->data == NULL) {
        goto done;
    }

    for (text->len = 0; text->len < (size_t) size; text->len += n) {
        n = ngx_read_fd(fd, text->data + text->len, size - text->len);
        if (n <= 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, n ? ngx_errno : 0,
                               ngx_read_fd_n " \"%V\" failed", file);
            goto done;
        }
    }

    rc = NGX_OK;

done:

    if (ngx_close_file(fd) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_ALERT, cf, ngx_errno,
                           ngx_close_file_n " \"%V\" failed", file);
    }

    return rc;
}


ngx_int_t
ngx_http_sandbox_check_executable(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_str_t       *directive = cf->args->elts;
    ngx_file_info_t  fi;

    if (path->data[0] != '/') {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "command \"%V\" of \"%V\" needs an absolute path",
                           path, directive);
        return NGX_ERROR;
    }

    if (ngx_file_info(path->data, &fi) == NGX_FILE_ERROR
        || access((char *) path->data, X_OK) != 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "command \"%V\" cannot be executed", path);
        return NGX_ERROR;
    }

    if (!ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "command \"%V\" is no file",
                           path);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * A directory of suites, for cases_from.  The supervisor is told all of them,
 * and opens below no other.
 */
char *
ngx_http_sandbox_cases(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    ngx_str_t                     *value, *root, path;
    ngx_uint_t                     i;
    ngx_file_info_t                info;
    ngx_http_sandbox_main_conf_t  *smcf;

    if (slcf->suite_root.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    path = value[1];

    if (ngx_strcmp(path.data, "off") == 0) {
        ngx_str_set(&slcf->suite_root, "");
        return NGX_CONF_OK;
    }

    if (ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_file_info(path.data, &info) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "directory \"%V\" of \"%V\" cannot be opened",
                           &path, &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (!ngx_is_dir(&info)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"%V\" is no directory", &path,
                           &cmd->name);
        return NGX_CONF_ERROR;
    }

    slcf->suite_root = path;
    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);
    root = smcf->suite_roots.elts;

    for (i = 0; i < smcf->suite_roots.nelts; i++) {
        if (root[i].len == path.len
            && ngx_memcmp(root[i].data, path.data, path.len) == 0)
        {
            return NGX_CONF_OK;
        }
    }

    root = ngx_array_push(&smcf->suite_roots);
    if (root == NULL) {
        return NGX_CONF_ERROR;
    }

    *root = path;

    return NGX_CONF_OK;
}


char *
ngx_http_sandbox_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    ngx_url_t   u;
    ngx_str_t  *value;

    if (slcf->upstream.upstream) {
        return "is duplicate";
    }

    value = cf->args->elts;

    /* frames are in host order and carry no credentials: one machine only */

    if (ngx_strchr(value[1].data, '/')
        && ngx_strncmp(value[1].data, "unix:", 5) != 0)
    {
        goto invalid;
    }

    ngx_memzero(&u, sizeof(ngx_url_t));
    u.url = value[1];
    u.no_resolve = 1;

    slcf->upstream.upstream = ngx_http_upstream_add(cf, &u, 0);
    if (slcf->upstream.upstream == NULL) {
        return NGX_CONF_ERROR;
    }

    if (u.family != AF_UNIX && (u.port || !u.no_port)) {
        goto invalid;
    }

    return NGX_CONF_OK;

invalid:

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" of \"sandbox_pass\" is neither \"unix:/path\" "
                       "nor the name of an upstream block", &value[1]);
    return NGX_CONF_ERROR;
}


/* As ngx_conf_set_enum_slot(), of two words, which the error names. */
char *
ngx_http_sandbox_enum(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t        *value = cf->args->elts;
    ngx_uint_t        i, *field = (ngx_uint_t *) ((char *) conf + cmd->offset);
    ngx_conf_enum_t  *words = cmd->post;

    if (*field != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    for (i = 0; i < 2; i++) {
        if (words[i].name.len == value[1].len
            && ngx_strcasecmp(words[i].name.data, value[1].data) == 0)
        {
            *field = words[i].value;
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" takes \"%V\" or \"%V\", not \"%V\"", &value[0],
                       &words[0].name, &words[1].name, &value[1]);

    return NGX_CONF_ERROR;
}


char *
ngx_http_sandbox_allow_missing(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    uint32_t    bit;
    ngx_str_t  *value;
    ngx_uint_t  i, layers;

    if (slcf->allow_missing != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    layers = 0;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "none") == 0) {
        slcf->allow_missing = 0;
        return NGX_CONF_OK;
    }

    for (i = 1; i < cf->args->nelts; i++) {
        bit = sbx_layer_find((sbx_str_t) { (char *) value[i].data,
                                           value[i].len });

        if (bit == 0) {
            ngx_http_sandbox_unknown_layer(cf, cmd, &value[i]);
            return NGX_CONF_ERROR;
        }

        if (!(bit & SBX_LAYERS_REQUIRED) || (layers & bit)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "layer \"%V\" is %s",
                               &value[i],
                               (layers & bit) ? "named twice"
                               : "used where it can be had, never required");
            return NGX_CONF_ERROR;
        }

        layers |= bit;
    }

    slcf->allow_missing = layers;

    return NGX_CONF_OK;
}


static void
ngx_http_sandbox_unknown_layer(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name)
{
    u_char                   known[512], *p, *last;
    ngx_uint_t               i;
    const sbx_layer_info_t  *layer;

    static const sbx_layer_info_t  *tables[] = { sbx_layers, sbx_checks };

    p = known;
    last = known + sizeof(known);

    for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (layer = tables[i]; layer->bit; layer++) {
            if (layer->bit & SBX_LAYERS_REQUIRED) {
                p = ngx_slprintf(p, last, "%s, ", layer->name);
            }
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "layer \"%V\" is not known: \"%V\" takes %*sor "
                       "\"none\"", name, &cmd->name, (size_t) (p - known),
                       known);
}


char *
ngx_http_sandbox_slots(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    if (smcf->slots_set) {
        return "is duplicate";
    }

    smcf->slots_set = 1;

    return ngx_http_sandbox_number(cf, cmd, 1, 4096, 0, &smcf->slots);
}


char *
ngx_http_sandbox_standby(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    if (smcf->standby_set) {
        return "is duplicate";
    }

    smcf->standby_set = 1;
    smcf->standby_file = cf->conf_file->file.name;
    smcf->standby_line = cf->conf_file->line;

    return ngx_http_sandbox_number(cf, cmd, 0, 4096, NGX_CONF_UNSET_UINT,
                                   &smcf->standby);
}


static char *
ngx_http_sandbox_number(ngx_conf_t *cf, ngx_command_t *cmd, ngx_int_t min,
    ngx_int_t max, ngx_uint_t automatic, ngx_uint_t *number)
{
    ngx_int_t   n;
    ngx_str_t  *value;

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "auto") == 0) {
        *number = automatic;
        return NGX_CONF_OK;
    }

    n = ngx_atoi(value[1].data, value[1].len);

    if (n == NGX_ERROR || n < min || n > max) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" takes \"auto\" or a number from %i to %i, "
                           "not \"%V\"", &cmd->name, min, max, &value[1]);
        return NGX_CONF_ERROR;
    }

    *number = n;

    return NGX_CONF_OK;
}


char *
ngx_http_sandbox_queue(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    ngx_int_t   n;
    ngx_str_t  *value, s;

    if (smcf->queue_set) {
        return "is duplicate";
    }

    smcf->queue_set = 1;

    value = cf->args->elts;

    n = ngx_atoi(value[1].data, value[1].len);

    if (n == NGX_ERROR || n > 65536) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" takes a number up to 65536, not \"%V\"",
                           &cmd->name, &value[1]);
        return NGX_CONF_ERROR;
    }

    smcf->queue = n;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    if (ngx_strncmp(value[2].data, "timeout=", 8) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid parameter \"%V\": \"%V\" takes a number, "
                           "and \"timeout=\" with a time up to 1h", &value[2],
                           &cmd->name);
        return NGX_CONF_ERROR;
    }

    s.data = value[2].data + 8;
    s.len = value[2].len - 8;

    n = ngx_parse_time(&s, 0);

    if (n == NGX_ERROR || n == 0 || n > 3600000) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"timeout=\" of \"%V\" takes a time from 1ms to "
                           "1h, not \"%V\"", &cmd->name, &s);
        return NGX_CONF_ERROR;
    }

    smcf->queue_timeout = n;

    return NGX_CONF_OK;
}


char *
ngx_http_sandbox_command(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_main_conf_t *smcf = conf;

    ngx_str_t  *value;

    if (smcf->command.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    smcf->command = value[1];

    if (ngx_conf_full_name(cf->cycle, &smcf->command, 0) != NGX_OK
        || ngx_http_sandbox_check_executable(cf, &smcf->command) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}
