/*
 * ngx_http_sandbox_heartbeat_conf.c: sandbox_heartbeat, as it is read.
 *
 * Runs in the master while it reads the configuration.  What is wrong ends
 * `nginx -t`; that a front does not answer is no mistake of the configuration.
 */

#include "ngx_http_sandbox_heartbeat.h"


#define NGX_HTTP_SANDBOX_HEARTBEAT_INTERVAL  5000
#define NGX_HTTP_SANDBOX_HEARTBEAT_LEAST     100


static char *ngx_http_sandbox_heartbeat_url(ngx_conf_t *cf,
    ngx_http_sandbox_heartbeat_t *hb);
static char *ngx_http_sandbox_heartbeat_interval(ngx_conf_t *cf,
    ngx_http_sandbox_heartbeat_t *hb);


/* sandbox_heartbeat URL [interval=TIME] */

char *
ngx_http_sandbox_heartbeat(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_sandbox_loc_conf_t *slcf = conf;

    char                           *rv;
    ngx_http_sandbox_heartbeat_t   *hb, **slot;
    ngx_http_sandbox_main_conf_t   *smcf;

    if (slcf->heartbeat) {
        return "is duplicate";
    }

    hb = ngx_pcalloc(cf->pool, sizeof(ngx_http_sandbox_heartbeat_t));
    if (hb == NULL) {
        return NGX_CONF_ERROR;
    }

    hb->file = cf->conf_file->file.name.data;
    hb->line = cf->conf_file->line;

    rv = ngx_http_sandbox_heartbeat_url(cf, hb);

    if (rv == NGX_CONF_OK) {
        rv = ngx_http_sandbox_heartbeat_interval(cf, hb);
    }

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    slot = ngx_array_push(&smcf->heartbeats);
    if (slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = hb;
    slcf->heartbeat = hb;

    return NGX_CONF_OK;
}


/* As in proxy_pass: names are resolved now, and a path is sent as it is. */

static char *
ngx_http_sandbox_heartbeat_url(ngx_conf_t *cf, ngx_http_sandbox_heartbeat_t *hb)
{
    size_t      i;
    u_char     *p;
    ngx_url_t   u;
    ngx_str_t  *value;

    value = cf->args->elts;
    hb->url = value[1];

    for (i = 0; i < hb->url.len && hb->url.data[i] > ' '; i++) { /* void */ }

    if (i < hb->url.len || hb->url.len < 7
        || ngx_strncasecmp(hb->url.data, (u_char *) "http://", 7) != 0)
    {
        return "takes a URL that begins with \"http://\"";
    }

    ngx_memzero(&u, sizeof(ngx_url_t));
    u.url.len = hb->url.len - 7;
    u.url.data = hb->url.data + 7;
    u.default_port = 80;
    u.uri_part = 1;

    if (ngx_parse_url(cf->pool, &u) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%s in the URL \"%V\" of \"sandbox_heartbeat\"",
                           u.err ? u.err : "mistake", &hb->url);
        return NGX_CONF_ERROR;
    }

    hb->addrs = u.addrs;
    hb->naddrs = u.naddrs;
    hb->uri = u.uri;

    if (hb->uri.len == 0) {
        ngx_str_set(&hb->uri, "/");
    }

    if (u.family == AF_UNIX) {
        ngx_str_set(&hb->host, "localhost");
        return NGX_CONF_OK;
    }

    hb->host = u.host;

    if (!u.no_port && u.port != 80) {
        hb->host.data = ngx_pnalloc(cf->pool, u.host.len + 1 + u.port_text.len);
        if (hb->host.data == NULL) {
            return NGX_CONF_ERROR;
        }

        p = ngx_sprintf(hb->host.data, "%V:%V", &u.host, &u.port_text);
        hb->host.len = p - hb->host.data;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_sandbox_heartbeat_interval(ngx_conf_t *cf,
    ngx_http_sandbox_heartbeat_t *hb)
{
    ngx_int_t   ms;
    ngx_str_t  *value, text;

    hb->interval = NGX_HTTP_SANDBOX_HEARTBEAT_INTERVAL;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    value = cf->args->elts;

    if (ngx_strncmp(value[2].data, "interval=", 9) != 0) {
        return "takes interval=TIME behind its URL";
    }

    text.data = value[2].data + 9;
    text.len = value[2].len - 9;
    ms = ngx_parse_time(&text, 0);

    if (ms == NGX_ERROR || ms < NGX_HTTP_SANDBOX_HEARTBEAT_LEAST) {
        return "takes an interval of 100ms and more";
    }

    hb->interval = ms;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_sandbox_heartbeat_check(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *slcf)
{
    ngx_http_sandbox_heartbeat_t  *hb;

    hb = slcf->heartbeat;

    if (hb == NULL) {
        return NGX_OK;
    }

    if (slcf->policy == NULL || !sbx_policy_has_heartbeat(slcf->policy)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"sandbox_heartbeat\" needs a \"sandbox_policy\" that "
                      "has a heartbeat() in %s:%ui", hb->file, hb->line);
        return NGX_ERROR;
    }

    hb->policy = slcf->policy;

    return NGX_OK;
}
