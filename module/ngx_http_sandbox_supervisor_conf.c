/*
 * ngx_http_sandbox_supervisor_conf.c: what the supervisor is told.
 *
 * Runs in the master (or the single process), from init_module.  The supervisor
 * knows nothing of nginx: it gets one JSON text, which sbx_conf_init of
 * sbx_super.h reads.  What is left out is the supervisor's own default.
 */


#include "ngx_http_sandbox.h"

#include <json-c/json.h>


static ngx_int_t ngx_http_sandbox_json_conf(struct json_object *conf,
    ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf);
static ngx_int_t ngx_http_sandbox_json_numbers(struct json_object *conf,
    ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf);
static struct json_object *ngx_http_sandbox_json_runtimes(
    ngx_http_sandbox_main_conf_t *smcf);
static struct json_object *ngx_http_sandbox_json_strings(ngx_array_t *strings);
static struct json_object *ngx_http_sandbox_json_string(ngx_str_t *s);
static ngx_int_t ngx_http_sandbox_json_set(struct json_object *conf,
    const char *key, struct json_object *value);
static ngx_int_t ngx_http_sandbox_json_append(struct json_object *list,
    struct json_object *value);


char *
ngx_http_sandbox_supervisor_conf(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf)
{
    u_char              *copy;
    size_t               len;
    const char          *text;
    struct json_object  *conf;

    copy = NULL;
    conf = json_object_new_object();

    if (conf != NULL
        && ngx_http_sandbox_json_conf(conf, cycle, smcf) == NGX_OK)
    {
        text = json_object_to_json_string_length(conf, JSON_C_TO_STRING_PLAIN
                                             |JSON_C_TO_STRING_NOSLASHESCAPE,
                                                 &len);
        copy = text ? ngx_pnalloc(cycle->pool, len + 1) : NULL;

        if (copy != NULL) {
            ngx_memcpy(copy, text, len + 1);
        }
    }

    (void) json_object_put(conf);

    return (char *) copy;
}


static ngx_int_t
ngx_http_sandbox_json_conf(struct json_object *conf, ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf)
{
    ngx_log_t  *log;

    if (ngx_http_sandbox_json_numbers(conf, cycle, smcf) != NGX_OK
        || ngx_http_sandbox_json_set(conf, "cases",
                               ngx_http_sandbox_json_strings(&smcf->suite_roots))
           != NGX_OK
        || ngx_http_sandbox_json_set(conf, "preload",
                               ngx_http_sandbox_json_strings(&smcf->modules))
           != NGX_OK
        || ngx_http_sandbox_json_set(conf, "preload_at",
                               ngx_http_sandbox_json_strings(&smcf->modules_at))
           != NGX_OK
        || ngx_http_sandbox_json_set(conf, "runtimes",
                                     ngx_http_sandbox_json_runtimes(smcf))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* a nameless log is stderr, and syslog is no file */
    log = ngx_log_get_file_log(cycle->log);

    if (log == NULL || log->file->name.len == 0) {
        return NGX_OK;
    }

    return ngx_http_sandbox_json_set(conf, "log",
                             ngx_http_sandbox_json_string(&log->file->name));
}


static ngx_int_t
ngx_http_sandbox_json_numbers(struct json_object *conf, ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf)
{
    ngx_uint_t        i;
    ngx_core_conf_t  *ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx,
                                                             ngx_core_module);

    const struct {
        const char   *key;
        int64_t       value;
        ngx_uint_t    automatic;
    } numbers[] = {
        { "slots", smcf->slots, smcf->slots == 0 },
        { "standby", smcf->standby, smcf->standby == NGX_CONF_UNSET_UINT },
        { "queue", smcf->queue, 0 },
        { "queue_ms", smcf->queue_timeout, 0 },
        { "renew_runs", smcf->renew_runs, smcf->renew_runs == NGX_CONF_UNSET },
        { "renew_s", smcf->renew_time, smcf->renew_time == NGX_CONF_UNSET },
        { "renew_growth_permille", smcf->renew_growth,
          smcf->renew_growth == NGX_CONF_UNSET },
        { "peer_uid", geteuid() == 0 ? ccf->user : geteuid(), 0 },
        /* beyond 8 nginx keeps bits for its debug subsystems */
        { "log_level", ngx_min(cycle->log->log_level, NGX_LOG_DEBUG), 0 }
    };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!numbers[i].automatic
            && ngx_http_sandbox_json_set(conf, numbers[i].key,
                               json_object_new_int64(numbers[i].value))
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static struct json_object *
ngx_http_sandbox_json_runtimes(ngx_http_sandbox_main_conf_t *smcf)
{
    ngx_uint_t                   i;
    struct json_object          *list, *item;
    ngx_http_sandbox_runtime_t  *rt;

    list = json_object_new_array();
    rt = smcf->runtimes.elts;

    for (i = 0; list != NULL && i < smcf->runtimes.nelts; i++) {
        item = json_object_new_object();

        if (ngx_http_sandbox_json_append(list, item) != NGX_OK
            || ngx_http_sandbox_json_set(item, "name",
                   ngx_http_sandbox_json_string(&rt[i].name)) != NGX_OK
            || ngx_http_sandbox_json_set(item, "command",
                   ngx_http_sandbox_json_strings(&rt[i].command)) != NGX_OK
            || ngx_http_sandbox_json_set(item, "bind",
                   ngx_http_sandbox_json_strings(&rt[i].binds)) != NGX_OK)
        {
            (void) json_object_put(list);
            return NULL;
        }
    }

    return list;
}


static struct json_object *
ngx_http_sandbox_json_strings(ngx_array_t *strings)
{
    ngx_str_t           *s;
    ngx_uint_t           i;
    struct json_object  *list;

    list = json_object_new_array();
    s = strings->elts;

    for (i = 0; list != NULL && i < strings->nelts; i++) {
        if (ngx_http_sandbox_json_append(list,
                                 ngx_http_sandbox_json_string(&s[i]))
            != NGX_OK)
        {
            (void) json_object_put(list);
            return NULL;
        }
    }

    return list;
}


static struct json_object *
ngx_http_sandbox_json_string(ngx_str_t *s)
{
    return json_object_new_string_len((char *) s->data, s->len);
}


/* Both take the value over, whatever they return; NULL: there was no memory. */
static ngx_int_t
ngx_http_sandbox_json_set(struct json_object *conf, const char *key,
    struct json_object *value)
{
    if (value == NULL || json_object_object_add(conf, key, value) != 0) {
        (void) json_object_put(value);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_json_append(struct json_object *list,
    struct json_object *value)
{
    if (value == NULL || json_object_array_add(list, value) != 0) {
        (void) json_object_put(value);
        return NGX_ERROR;
    }

    return NGX_OK;
}
