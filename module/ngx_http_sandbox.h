/*
 * ngx_http_sandbox.h: types and functions the module's files share.
 *
 * Runs in the master (configuration, init_module) and in workers (the rest).
 */

#ifndef NGX_HTTP_SANDBOX_H
#define NGX_HTTP_SANDBOX_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sbx_job.h"
#include "sbx_json.h"
#include "sbx_layer.h"
#include "sbx_limit.h"
#include "sbx_stats.h"
#include "sbx_verdict.h"
#include "sbx_wire.h"
#include "sbx_lua.h"


#define NGX_HTTP_SANDBOX_ANY  "any"


typedef struct {
    ngx_str_t                       name;
    ngx_array_t                     command;    /* ngx_str_t */
    ngx_array_t                     binds;      /* ngx_str_t, bind=PATH */
} ngx_http_sandbox_runtime_t;


typedef struct {
    /* directives, http level */
    ngx_uint_t                      slots;      /* 0: auto */
    ngx_uint_t                      standby;    /* NGX_CONF_UNSET_UINT: auto */
    ngx_uint_t                      queue;
    ngx_msec_t                      queue_timeout;
    ngx_str_t                       command;    /* the deer-flow binary */
    ngx_array_t                     runtimes;   /* ngx_http_sandbox_runtime_t */

    ngx_uint_t                      own;        /* some location uses the
                                                   generation's supervisor */
    ngx_http_upstream_srv_conf_t   *upstream;   /* implicit, own supervisor */
    ngx_shm_zone_t                 *zone;       /* counters */

    /* this generation, set by init_module */
    struct sockaddr_un              addr;
    socklen_t                       addrlen;
    ngx_str_t                       addr_text;  /* "unix:/path" */
    sbx_stats_t                    *stats;      /* shared with the supervisor;
                                                   NULL: none */
} ngx_http_sandbox_main_conf_t;


/* One limit for one language ("" : for all), as configured. */
typedef struct {
    ngx_str_t                       language;
    ngx_http_complex_value_t       *value;      /* NULL: `fixed` holds it */
    uint64_t                        fixed;
    uint64_t                        max;        /* ceiling */
} ngx_http_sandbox_limit_t;


typedef struct {
    ngx_http_upstream_conf_t        upstream;
    ngx_str_t                       language;   /* "any", or canonical; data
                                                   NULL: not a sandbox */
    ngx_str_t                       code;       /* sandbox_code, file's text */
    ngx_str_t                       code_name;  /* its base name */
    ngx_array_t                    *limits[SBX_LIMIT_COUNT];
                                                /* ngx_http_sandbox_limit_t */
    ngx_str_t                       policy_file;
    ngx_uint_t                      policy_index;   /* see policy_get */
    ngx_flag_t                      dry_run;
    ngx_uint_t                      memory_soft;
    ngx_uint_t                      proc_empty;
    uint32_t                        allow_missing;
    ngx_http_complex_value_t       *pass;       /* reserved */
} ngx_http_sandbox_loc_conf_t;


/* One request's state; found again after an internal redirect. */
typedef struct {
    ngx_http_request_t             *request;
    sbx_request_t                   native;     /* holds the job */
    uint64_t                        ceilings[SBX_LIMIT_COUNT];
    unsigned char                   sha256[32];
    unsigned                        sha256_set:1;
    unsigned                        verdict_set:1;
    unsigned                        counted:1;
    sbx_verdict_t                   verdict;    /* of the first job */
    sbx_frame_t                     frame;      /* head of the answer */
    unsigned                        frame_set:1;
} ngx_http_sandbox_ctx_t;


extern ngx_module_t  ngx_http_sandbox_module;


/* ngx_http_sandbox_handler.c: worker; content handler of a sandbox location */
ngx_int_t ngx_http_sandbox_handler(ngx_http_request_t *r);

/*
 * The request's context: the module's ctx slot, or, after an internal redirect
 * wiped it, the pool cleanup that also frees the job.  NULL: not ours.
 */
ngx_http_sandbox_ctx_t *ngx_http_sandbox_get_ctx(ngx_http_request_t *r);

/* ngx_http_sandbox_client.c: worker; the job goes out, the verdict comes in */
ngx_int_t ngx_http_sandbox_run(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/*
 * ngx_http_sandbox_response.c: worker.  Turns ctx->verdict into status, headers
 * and body (native JSON, or what the policy makes of it).  Sets *status,
 * *body (pool), content type and further headers in r->headers_out.
 */
ngx_int_t ngx_http_sandbox_answer(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, ngx_uint_t *status, ngx_str_t *body);

/* Sends an answer that no supervisor took part in (invalid, busy, dry run). */
ngx_int_t ngx_http_sandbox_send(ngx_http_request_t *r, ngx_uint_t status,
    ngx_str_t *body);

/* ngx_http_sandbox_policy.c: loaded per worker, checked at `nginx -t` */
char *ngx_http_sandbox_policy_add(ngx_conf_t *cf, ngx_str_t *file,
    ngx_uint_t *index);
sbx_policy_t *ngx_http_sandbox_policy_get(ngx_uint_t index);
ngx_int_t ngx_http_sandbox_policy_init_process(ngx_cycle_t *cycle);
void ngx_http_sandbox_policy_exit_process(ngx_cycle_t *cycle);

/*
 * ngx_http_sandbox_peer.c: worker; peer.init_upstream of the implicit upstream:
 * takes the address from the main configuration at run time (it is only known
 * in init_module) and keeps idle connections.
 */
ngx_int_t ngx_http_sandbox_peer_init_upstream(ngx_conf_t *cf,
    ngx_http_upstream_srv_conf_t *us);

/*
 * ngx_http_sandbox_supervisor.c: master; starts this generation's supervisor
 * (double fork, exec, lifeline), never fails init_module.
 */
ngx_int_t ngx_http_sandbox_supervisor_init_module(ngx_cycle_t *cycle);

/* ngx_http_sandbox_metrics.c: counters in shared memory, /metrics */
char *ngx_http_sandbox_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
ngx_int_t ngx_http_sandbox_metrics_zone(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf);
/* Counts one finished request, once (ctx->counted). */
void ngx_http_sandbox_metrics_count(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* ngx_http_sandbox_variables.c: preconfiguration */
ngx_int_t ngx_http_sandbox_add_variables(ngx_conf_t *cf);

#endif
