/*
 * ngx_http_sandbox_module.c: the directive table, and what a configuration
 * becomes: created, merged, checked.
 *
 * Runs in the master while it reads the configuration.  No parsing is left for
 * a request: workers find filled structures here.  Every mistake ends
 * `nginx -t` with file and line.
 */

#include "ngx_http_sandbox.h"


#define NGX_HTTP_SANDBOX_LEVELS                                               \
    NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF

/* rows of the static table below, an upper bound; limits follow them */
#define NGX_HTTP_SANDBOX_DIRECTIVES  24

#define NGX_HTTP_SANDBOX_QUEUE       1024
#define NGX_HTTP_SANDBOX_QUEUE_TIME  30000

/* what the supervisor may need beyond a run's own limits */
#define NGX_HTTP_SANDBOX_MARGIN      10000


static ngx_int_t ngx_http_sandbox_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_sandbox_add_limits(ngx_conf_t *cf);
static void *ngx_http_sandbox_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_sandbox_init_main_conf(ngx_conf_t *cf, void *conf);
static void *ngx_http_sandbox_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_sandbox_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static char *ngx_http_sandbox_check_servers(ngx_conf_t *cf,
    ngx_http_upstream_srv_conf_t *uscf);
static char *ngx_http_sandbox_merge_location(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *prev, ngx_http_sandbox_loc_conf_t *conf);
static void ngx_http_sandbox_merge_upstream(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *prev, ngx_http_sandbox_loc_conf_t *conf);


static ngx_conf_enum_t  ngx_http_sandbox_memory_modes[] = {
    { ngx_string("hard"), 0 },
    { ngx_string("soft"), 1 },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_sandbox_procs[] = {
    { ngx_string("on"), 0 },
    { ngx_string("empty"), 1 },
    { ngx_null_string, 0 }
};


/* clang-format off */
static ngx_command_t
    ngx_http_sandbox_commands[NGX_HTTP_SANDBOX_DIRECTIVES
                              + SBX_LIMIT_COUNT + 1] =
{
    { ngx_string("sandbox"),
      NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF|NGX_HTTP_LMT_CONF|NGX_CONF_TAKE1,
      ngx_http_sandbox,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_code"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_sandbox_code,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_runtime"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_2MORE,
      ngx_http_sandbox_runtime,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_policy"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_1MORE,
      ngx_http_sandbox_policy,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_heartbeat"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE12,
      ngx_http_sandbox_heartbeat,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_cases"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_TAKE1,
      ngx_http_sandbox_cases,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_pass"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_TAKE1,
      ngx_http_sandbox_pass,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_sandbox_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_dry_run"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_sandbox_loc_conf_t, dry_run),
      NULL },

    { ngx_string("sandbox_allow_missing"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_1MORE,
      ngx_http_sandbox_allow_missing,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_memory_mode"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_TAKE1,
      ngx_http_sandbox_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_sandbox_loc_conf_t, memory_soft),
      ngx_http_sandbox_memory_modes },

    { ngx_string("sandbox_proc"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_TAKE1,
      ngx_http_sandbox_enum,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_sandbox_loc_conf_t, proc_empty),
      ngx_http_sandbox_procs },

    { ngx_string("sandbox_intercept_errors"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_sandbox_loc_conf_t, upstream.intercept_errors),
      NULL },

    { ngx_string("sandbox_ignore_client_abort"),
      NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_sandbox_loc_conf_t, upstream.ignore_client_abort),
      NULL },

    { ngx_string("sandbox_slots"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_sandbox_slots,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_standby"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_sandbox_standby,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_queue"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_sandbox_queue,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_preload"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_2MORE,
      ngx_http_sandbox_preload,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_zygote_renew"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_http_sandbox_zygote_renew,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sandbox_command"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_sandbox_command,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

      /* sandbox_memory, sandbox_timeout …: ngx_http_sandbox_add_limits() */
};


static ngx_http_module_t  ngx_http_sandbox_module_ctx = {
    ngx_http_sandbox_preconfiguration,     /* preconfiguration */
    ngx_http_sandbox_filter_init,          /* postconfiguration */

    ngx_http_sandbox_create_main_conf,     /* create main configuration */
    ngx_http_sandbox_init_main_conf,       /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_sandbox_create_loc_conf,      /* create location configuration */
    ngx_http_sandbox_merge_loc_conf        /* merge location configuration */
};


ngx_module_t  ngx_http_sandbox_module = {
    NGX_MODULE_V1,
    &ngx_http_sandbox_module_ctx,          /* module context */
    ngx_http_sandbox_commands,             /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    ngx_http_sandbox_supervisor_init_module,
                                           /* init module */
    ngx_http_sandbox_heartbeat_init_process,
                                           /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};
/* clang-format on */


static ngx_int_t
ngx_http_sandbox_preconfiguration(ngx_conf_t *cf)
{
    if (ngx_http_sandbox_add_limits(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_sandbox_add_variables(cf);
}


/*
 * One directive per row of sbx_limits[].  All our directives live inside
 * http{}, and nginx calls this after it has seen "http" and before it reads what
 * is inside; on a reload the rows are there already.
 */
static ngx_int_t
ngx_http_sandbox_add_limits(ngx_conf_t *cf)
{
    ngx_uint_t      i;
    ngx_command_t  *cmd;

    static u_char   names[SBX_LIMIT_COUNT][32];

    for (cmd = ngx_http_sandbox_commands; cmd->name.len; cmd++) {
        if (cmd->set == ngx_http_sandbox_limit) {
            return NGX_OK;
        }
    }

    for (i = 0; i < SBX_LIMIT_COUNT; i++, cmd++) {
        cmd->name.data = names[i];
        cmd->name.len = ngx_snprintf(names[i], sizeof(names[i]) - 1,
                                     "sandbox_%s", sbx_limits[i].name)
                        - names[i];
        cmd->type = NGX_HTTP_SANDBOX_LEVELS|NGX_CONF_TAKE123;
        cmd->set = ngx_http_sandbox_limit;
        cmd->conf = NGX_HTTP_LOC_CONF_OFFSET;
        cmd->offset = i;
    }

    return NGX_OK;
}


static void *
ngx_http_sandbox_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_sandbox_main_conf_t));
    if (smcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&smcf->runtimes, cf->pool, 2,
                       sizeof(ngx_http_sandbox_runtime_t))
        != NGX_OK
        || ngx_array_init(&smcf->policies, cf->pool, 2,
                          sizeof(ngx_http_sandbox_policy_t))
        != NGX_OK
        || ngx_array_init(&smcf->heartbeats, cf->pool, 1,
                          sizeof(ngx_http_sandbox_heartbeat_t *))
        != NGX_OK
        || ngx_array_init(&smcf->suite_roots, cf->pool, 2, sizeof(ngx_str_t))
        != NGX_OK
        || ngx_array_init(&smcf->modules, cf->pool, 4, sizeof(ngx_str_t))
        != NGX_OK
        || ngx_array_init(&smcf->modules_at, cf->pool, 4, sizeof(ngx_str_t))
        != NGX_OK
        || ngx_array_init(&smcf->uses, cf->pool, 8,
                          sizeof(ngx_http_sandbox_use_t))
        != NGX_OK)
    {
        return NULL;
    }

    smcf->standby = NGX_CONF_UNSET_UINT;
    smcf->queue = NGX_HTTP_SANDBOX_QUEUE;
    smcf->queue_timeout = NGX_HTTP_SANDBOX_QUEUE_TIME;
    smcf->renew_runs = NGX_CONF_UNSET;
    smcf->renew_time = NGX_CONF_UNSET;
    smcf->renew_growth = NGX_CONF_UNSET;

    return smcf;
}


static char *
ngx_http_sandbox_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_sandbox_main_conf_t  *smcf = conf;

    if (ngx_http_sandbox_check_uses(cf, smcf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (smcf->slots && smcf->standby != NGX_CONF_UNSET_UINT
        && smcf->standby > smcf->slots)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"sandbox_standby\" %ui is more than "
                      "\"sandbox_slots\" %ui in %V:%ui", smcf->standby,
                      smcf->slots, &smcf->standby_file, smcf->standby_line);
        return NGX_CONF_ERROR;
    }

    if (smcf->upstream && smcf->zone == NULL
        && ngx_http_sandbox_metrics_zone(cf, smcf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static void *
ngx_http_sandbox_create_loc_conf(ngx_conf_t *cf)
{
    ngx_uint_t                    i;
    ngx_http_sandbox_loc_conf_t  *slcf;

    slcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_sandbox_loc_conf_t));
    if (slcf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     slcf->upstream.upstream = NULL;
     *     slcf->upstream.buffering = 0;
     *     slcf->upstream.next_upstream = 0;
     *     slcf->upstream.hide_headers_hash = { NULL, 0 };
     *     slcf->language = { 0, NULL };
     *     slcf->code = { 0, NULL };
     */

    slcf->upstream.intercept_errors = NGX_CONF_UNSET;
    slcf->upstream.ignore_client_abort = NGX_CONF_UNSET;

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        slcf->limits[i] = NGX_CONF_UNSET_PTR;
    }

    slcf->policy = NGX_CONF_UNSET_PTR;
    slcf->dry_run = NGX_CONF_UNSET;
    slcf->memory_soft = NGX_CONF_UNSET_UINT;
    slcf->proc_empty = NGX_CONF_UNSET_UINT;
    slcf->allow_missing = NGX_CONF_UNSET_UINT;

    return slcf;
}


static char *
ngx_http_sandbox_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_sandbox_loc_conf_t  *prev = parent;
    ngx_http_sandbox_loc_conf_t  *conf = child;

    ngx_http_sandbox_limits_merge(prev, conf);

    ngx_conf_merge_ptr_value(conf->policy, prev->policy, NULL);
    ngx_conf_merge_str_value(conf->suite_root, prev->suite_root, "");
    ngx_conf_merge_value(conf->dry_run, prev->dry_run, 0);
    ngx_conf_merge_uint_value(conf->memory_soft, prev->memory_soft, 0);
    ngx_conf_merge_uint_value(conf->proc_empty, prev->proc_empty, 0);
    ngx_conf_merge_uint_value(conf->allow_missing, prev->allow_missing, 0);

    if (ngx_http_sandbox_heartbeat_check(cf, conf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    ngx_http_sandbox_merge_upstream(cf, prev, conf);

    return ngx_http_sandbox_merge_location(cf, prev, conf);
}


/*
 * Supervisors are asked once: a run that has begun is not repeated elsewhere
 * (nginx never retries a POST it has sent), one that could not be handed over
 * goes to the next.
 */
static void
ngx_http_sandbox_merge_upstream(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *prev, ngx_http_sandbox_loc_conf_t *conf)
{
    ngx_http_upstream_conf_t      *ucf;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);
    ucf = &conf->upstream;

    if (ucf->upstream == NULL) {
        ucf->upstream = prev->upstream.upstream;
    }

    ngx_conf_merge_value(ucf->intercept_errors,
                         prev->upstream.intercept_errors, 0);
    ngx_conf_merge_value(ucf->ignore_client_abort,
                         prev->upstream.ignore_client_abort, 0);

    ucf->connect_timeout = 5000;
    ucf->send_timeout = 60000;
    ucf->read_timeout = ngx_http_sandbox_limit_most(conf, SBX_LIMIT_TIMEOUT)
                        + smcf->queue_timeout + NGX_HTTP_SANDBOX_MARGIN;
    ucf->buffer_size = ngx_pagesize;
    ucf->next_upstream = NGX_CONF_BITMASK_SET|NGX_HTTP_UPSTREAM_FT_ERROR
                         |NGX_HTTP_UPSTREAM_FT_TIMEOUT;
    ucf->pass_request_body = 1;
    ngx_str_set(&ucf->module, "sandbox");
}


static char *
ngx_http_sandbox_merge_location(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *prev, ngx_http_sandbox_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t      *clcf;
    ngx_http_sandbox_main_conf_t  *smcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    /* "if" and "limit_except" blocks are the location they are in */

    if (clcf->noname && conf->language.data == NULL
        && prev->language.data && clcf->handler == NULL)
    {
        conf->language = prev->language;
        conf->code = prev->code;
        conf->code_name = prev->code_name;
        ngx_memcpy(conf->code_sha256, prev->code_sha256,
                   sizeof(conf->code_sha256));
        conf->file = prev->file;
        conf->line = prev->line;
        clcf->handler = prev->language.len ? ngx_http_sandbox_handler : NULL;
    }

    if (conf->code_name.data
        && (conf->language.len == 0
            || ngx_strcmp(conf->language.data, NGX_HTTP_SANDBOX_ANY) == 0))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"sandbox_code\" needs \"sandbox LANGUAGE\" in the same "
                      "location in %s:%ui", conf->file, conf->line);
        return NGX_CONF_ERROR;
    }

    if (conf->language.len == 0) {
        return NGX_CONF_OK;
    }

    if (clcf->handler != ngx_http_sandbox_handler) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"sandbox\" stands in a location that another "
                      "directive, such as \"proxy_pass\", answers in %s:%ui",
                      conf->file, conf->line);
        return NGX_CONF_ERROR;
    }

    if (conf->policy
        && ngx_http_sandbox_policy_ceilings(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_http_sandbox_limits_warn(cf, conf);

    if (conf->upstream.upstream) {
        return ngx_http_sandbox_check_servers(cf, conf->upstream.upstream);
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);
    conf->upstream.upstream = smcf->upstream;

    if (!conf->dry_run) {
        smcf->own = 1;
    }

    return NGX_CONF_OK;
}


/* Frames are in host order and carry no credentials: one machine only. */

static char *
ngx_http_sandbox_check_servers(ngx_conf_t *cf,
    ngx_http_upstream_srv_conf_t *uscf)
{
    ngx_uint_t                   i, j;
    ngx_http_upstream_server_t  *server;

    if (uscf->servers == NULL) {
        return NGX_CONF_OK;
    }

    server = uscf->servers->elts;

    for (i = 0; i < uscf->servers->nelts; i++) {
        for (j = 0; j < server[i].naddrs; j++) {

            if (server[i].addrs[j].sockaddr->sa_family != AF_UNIX) {
                ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                              "server \"%V\" of an upstream for "
                              "\"sandbox_pass\" is no unix socket in %s:%ui",
                              &server[i].addrs[j].name, uscf->file_name,
                              uscf->line);
                return NGX_CONF_ERROR;
            }
        }
    }

    return NGX_CONF_OK;
}
