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
#include "sbx_floor.h"
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


/* A place in the configuration, for checks that must wait for its end. */
typedef struct {
    ngx_str_t                       language;
    const char                     *directive;
    u_char                         *file;
    ngx_uint_t                      line;
} ngx_http_sandbox_use_t;


typedef struct {
    ngx_str_t                       file;
    sbx_policy_config_t             config;
    sbx_policy_t                   *policy;
} ngx_http_sandbox_policy_t;


typedef struct ngx_http_sandbox_heartbeat_s  ngx_http_sandbox_heartbeat_t;


typedef struct {
    /* directives, http level */
    ngx_uint_t                      slots;      /* 0: auto */
    ngx_uint_t                      standby;    /* NGX_CONF_UNSET_UINT: auto */
    ngx_str_t                       standby_file;   /* where that stands */
    ngx_uint_t                      standby_line;
    ngx_uint_t                      queue;
    ngx_msec_t                      queue_timeout;
    ngx_int_t                       renew_runs; /* NGX_CONF_UNSET: default */
    ngx_int_t                       renew_time;     /* seconds */
    ngx_int_t                       renew_growth;   /* thousandths */
    ngx_str_t                       command;    /* the deer-flow binary */
    ngx_array_t                     runtimes;   /* ngx_http_sandbox_runtime_t */

    ngx_array_t                     policies;   /* ngx_http_sandbox_policy_t */
    ngx_array_t                     heartbeats; /* ngx_http_sandbox_heartbeat_t
                                                   *, sent by one worker */
    ngx_array_t                     suite_roots;    /* ngx_str_t */
    ngx_array_t                     modules;    /* ngx_str_t, sandbox_preload */
    ngx_array_t                     modules_at; /* ngx_str_t, FILE:LINE */
    ngx_array_t                     uses;       /* ngx_http_sandbox_use_t */
    unsigned                        slots_set:1;
    unsigned                        standby_set:1;
    unsigned                        queue_set:1;
    unsigned                        renew_set:1;

    ngx_uint_t                      own;        /* some location uses the
                                                   generation's supervisor */
    ngx_http_upstream_srv_conf_t   *upstream;   /* implicit, own supervisor */
    ngx_shm_zone_t                 *zone;       /* counters */

    /* this generation, set by init_module */
    struct sockaddr_un              addr;
    socklen_t                       addrlen;    /* 0: there is no supervisor,
                                                   answer 503 */
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
    ngx_str_t                       file;       /* where it stands */
    ngx_uint_t                      line;
} ngx_http_sandbox_limit_t;


typedef struct {
    ngx_http_upstream_conf_t        upstream;
    ngx_str_t                       language;   /* "any", or canonical; data
                                                   NULL: not a sandbox */
    ngx_str_t                       code;       /* sandbox_code, file's text */
    ngx_str_t                       code_name;  /* its base name; data NULL:
                                                   the program is the body's */
    u_char                          code_sha256[32];
    ngx_array_t                    *limits[SBX_LIMIT_COUNT];
                                                /* ngx_http_sandbox_limit_t */
    sbx_policy_t                   *policy;
    sbx_policy_ceiling_t           *ceilings;   /* for the policy */
    ngx_uint_t                      nceilings;
    ngx_http_sandbox_heartbeat_t   *heartbeat;  /* NULL: none; not inherited */
    ngx_str_t                       suite_root; /* sandbox_cases; len 0: off */
    ngx_flag_t                      dry_run;
    ngx_uint_t                      memory_soft;
    ngx_uint_t                      proc_empty;
    ngx_uint_t                      allow_missing;  /* sbx_layer_t bits */
    u_char                         *file;       /* of sandbox, sandbox_code */
    ngx_uint_t                      line;
} ngx_http_sandbox_loc_conf_t;


/* What goes to the client: made once from the verdict, or by the policy. */
typedef struct {
    ngx_uint_t                      status;
    ngx_str_t                       body;
    sbx_pair_t                      own[3];
    const sbx_pair_t               *headers;
    size_t                          nheaders;
} ngx_http_sandbox_answer_t;


/* One request's state; found again after an internal redirect. */
typedef struct {
    ngx_http_request_t             *request;
    sbx_request_t                   native;     /* the job, until it is packed;
                                                   read `language` instead */
    ngx_str_t                       language;   /* canonical; "" : not known */
    sbx_encoding_t                  encoding;
    uint64_t                        ceilings[SBX_LIMIT_COUNT];
    uint64_t                        limits[SBX_LIMIT_COUNT];    /* in force */
    uint32_t                        factor_permille;
    u_char                          sha256[32];
    sbx_verdict_t                   verdict;    /* of the one job; of a batch,
                                                   the first that failed */
    sbx_verdict_t                  *cases;      /* of a batch, in its order */
    size_t                          ncases;     /* 0: no batch */
    unsigned                        suite:1;    /* the supervisor knows them */
    sbx_frame_t                     frame;      /* head of the answer */
    ngx_http_sandbox_answer_t       answer;
    sbx_policy_response_t           shaped;
    sbx_policy_request_t            view;       /* what policies see */
    sbx_str_t                       keep;       /* heap */
    ngx_str_t                       body;       /* of the request */
    char                           *json;       /* heap */
    unsigned                        sha256_set:1;
    unsigned                        verdict_set:1;
    unsigned                        counted:1;
    unsigned                        frame_set:1;
    unsigned                        cpu_implied:1;  /* cpu_time = timeout */
    unsigned                        view_set:1;
    unsigned                        narrow:1;   /* wishes above a ceiling are
                                                   a policy's */
    unsigned                        answered:1;
    unsigned                        failed:1;   /* nginx's own 5xx: filter puts
                                                   our body in */
    unsigned                        replaced:1;
} ngx_http_sandbox_ctx_t;


extern ngx_module_t  ngx_http_sandbox_module;


/* ngx_http_sandbox_directives.c: master; one setter per directive */
char *ngx_http_sandbox(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_code(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_cases(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_enum(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_allow_missing(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_sandbox_slots(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_standby(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_queue(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_command(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* ngx_http_sandbox_zygotes.c: master; sandbox_preload, sandbox_zygote_renew */
char *ngx_http_sandbox_preload(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_sandbox_zygote_renew(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* A program's absolute path; logs what is wrong with it. */
ngx_int_t ngx_http_sandbox_check_executable(ngx_conf_t *cf, ngx_str_t *path);

/* ngx_http_sandbox_languages.c: master; sandbox_runtime and names of runtimes */
char *ngx_http_sandbox_runtime(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Remembers that `directive`, here, names a language; runtimes may follow
 * later in the file, so the check waits for init_main_conf.
 */
ngx_int_t ngx_http_sandbox_use(ngx_conf_t *cf, ngx_str_t *language,
    const char *directive);
ngx_int_t ngx_http_sandbox_check_uses(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf);

/*
 * The runtime's name, in memory that lives as long as the configuration; NULL:
 * neither built in nor declared by sandbox_runtime.
 */
ngx_str_t *ngx_http_sandbox_find_language(ngx_http_sandbox_main_conf_t *smcf,
    sbx_str_t language);

/* The i-th runtime's name; NULL behind the last. */
ngx_str_t *ngx_http_sandbox_language(ngx_http_sandbox_main_conf_t *smcf,
    ngx_uint_t i);

/* ngx_http_sandbox_limits.c: one directive and one JSON key per row */
char *ngx_http_sandbox_limit(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
void ngx_http_sandbox_limits_merge(ngx_http_sandbox_loc_conf_t *prev,
    ngx_http_sandbox_loc_conf_t *conf);
/* The largest ceiling of a limit, whatever the language. */
void ngx_http_sandbox_limits_warn(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *conf);
uint64_t ngx_http_sandbox_limit_most(ngx_http_sandbox_loc_conf_t *slcf,
    sbx_limit_id_t id);
/* The ceilings of one language. */
void ngx_http_sandbox_limit_ceilings(ngx_http_sandbox_loc_conf_t *slcf,
    ngx_str_t *language, uint64_t ceilings[SBX_LIMIT_COUNT]);
/*
 * Sets the job's limits and ctx->ceilings from the location and from what the
 * request asked for.  NGX_OK, NGX_DECLINED with why filled (asked for too
 * much), NGX_ERROR (logged).
 */
ngx_int_t ngx_http_sandbox_limits_set(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, char *why, size_t size);

/* ngx_http_sandbox_handler.c: worker; content handler of a sandbox location */
ngx_int_t ngx_http_sandbox_handler(ngx_http_request_t *r);

/* For answers of ours: the job itself may be gone, or never become one. */
void ngx_http_sandbox_keep_limits(ngx_http_sandbox_ctx_t *ctx);

/*
 * ngx_http_sandbox_job.c: worker; a request becomes a job.  What can be said
 * without the body is said before it is read: NGX_DECLINED with a verdict.
 */
ngx_int_t ngx_http_sandbox_precheck(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/*
 * NGX_OK: the job is complete.  NGX_DECLINED: it cannot be; the verdict says
 * why, unless it is too large.  NGX_DONE: the policy had no job; finalize with
 * *answer.  NGX_ERROR: the log says why.
 */
ngx_int_t ngx_http_sandbox_job(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, ngx_int_t *answer);

/*
 * The request's context: the module's ctx slot, or, after an internal redirect
 * wiped it, the pool cleanup that also frees the job.  NULL: not ours.
 */
ngx_http_sandbox_ctx_t *ngx_http_sandbox_get_ctx(ngx_http_request_t *r);

/*
 * ngx_http_sandbox_client.c: worker; the job goes out, the verdict comes in.
 * NGX_DONE: nginx goes on by itself; else what to finalize the request with.
 */
ngx_int_t ngx_http_sandbox_run(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* ngx_http_sandbox_response.c: worker; the verdict becomes the answer */

/* Replaces the verdict by one of ours: nothing ran, or we failed. */
void ngx_http_sandbox_verdict(ngx_http_sandbox_ctx_t *ctx, sbx_status_t status,
    ngx_uint_t http, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Fills ctx->answer from ctx->verdict (native JSON, or what the policy makes of
 * it).  A policy that fails turns the verdict into internal_error.
 */
ngx_int_t ngx_http_sandbox_answer(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* Puts the answer's headers, not its status and length, into headers_out. */
ngx_int_t ngx_http_sandbox_headers(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* Whether sandbox_intercept_errors and an error_page take this status over. */
ngx_int_t ngx_http_sandbox_intercepted(ngx_http_request_t *r,
    ngx_uint_t status);

/*
 * Answers and counts a verdict that no supervisor gave.  Returns what
 * ngx_http_finalize_request wants.
 */
ngx_int_t ngx_http_sandbox_refuse(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* Sends 200 and a JSON text (dry run). */
ngx_int_t ngx_http_sandbox_send_json(ngx_http_request_t *r, ngx_str_t *body);

/*
 * Postconfiguration: when nginx itself answers 5xx because the supervisor is
 * gone and no error_page takes over, a filter puts our body in.
 */
ngx_int_t ngx_http_sandbox_filter_init(ngx_conf_t *cf);

/*
 * Answers with ctx->answer, which nobody else has a part in.  Returns what
 * ngx_http_finalize_request wants.
 */
ngx_int_t ngx_http_sandbox_reply(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* ngx_http_sandbox_policy.c: opened at configuration, inherited by workers */
char *ngx_http_sandbox_policy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
/* The location's ceilings, for its policy to read. */
ngx_int_t ngx_http_sandbox_policy_ceilings(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *slcf);
/* Fills ctx->view. */
ngx_int_t ngx_http_sandbox_policy_view(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
/*
 * ngx_http_sandbox_wish.c: worker; what the policy's request() wants.
 * NGX_DECLINED: the native contract goes on.  NGX_OK: ctx->native is filled
 * from the policy's job, or ctx->verdict says why it cannot be.  NGX_DONE: the
 * request was answered or passed on, and is to be finalized with *rc.
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_http_sandbox_policy_job(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx, ngx_int_t *rc);
/* NGX_OK, or NGX_ERROR after logging. */
ngx_int_t ngx_http_sandbox_policy_limits(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);
/* NGX_OK with ctx->shaped filled, NGX_DECLINED for the native answer. */
ngx_int_t ngx_http_sandbox_policy_response(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* The page's row of a language, or NULL. */
sbx_stats_runtime_t *ngx_http_sandbox_stats_runtime(ngx_http_request_t *r,
    ngx_str_t *language);

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

/*
 * ngx_http_sandbox_socket.c: master.  Makes the generation's listening socket,
 * fills addr, addrlen and addr_text; sweeps what killed supervisors left.
 */
ngx_int_t ngx_http_sandbox_listen(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, int *listener);

/*
 * ngx_http_sandbox_supervisor_conf.c: master.  The JSON text that sbx_conf_init
 * reads, in cycle->pool; NULL: no memory.
 */
char *ngx_http_sandbox_supervisor_conf(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf);

/*
 * ngx_http_sandbox_heartbeat_conf.c: master; POSTs to a judge's front.  The
 * check, once the location's policy is known, logs what is wrong.
 */
char *ngx_http_sandbox_heartbeat(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_sandbox_heartbeat_check(ngx_conf_t *cf,
    ngx_http_sandbox_loc_conf_t *slcf);

/* ngx_http_sandbox_heartbeat.c: worker; begins to send them, from one of all */
ngx_int_t ngx_http_sandbox_heartbeat_init_process(ngx_cycle_t *cycle);

/* ngx_http_sandbox_metrics.c: counters in shared memory, /metrics */
char *ngx_http_sandbox_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
ngx_int_t ngx_http_sandbox_metrics_zone(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf);
/* Counts one finished request, once (ctx->counted). */
void ngx_http_sandbox_metrics_count(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx);

/* Counts what a policy's request() did instead; status 0: it passed it on. */
void ngx_http_sandbox_metrics_policy(ngx_http_request_t *r, ngx_uint_t status);

/* ngx_http_sandbox_variables.c: preconfiguration */
ngx_int_t ngx_http_sandbox_add_variables(ngx_conf_t *cf);

#endif
