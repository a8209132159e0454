/*
 * ngx_http_sandbox_heartbeat.h: one sandbox_heartbeat, for the two files that
 * read it and send it.
 */

#ifndef NGX_HTTP_SANDBOX_HEARTBEAT_H
#define NGX_HTTP_SANDBOX_HEARTBEAT_H

#include "ngx_http_sandbox.h"

#include <ngx_event_connect.h>


typedef enum {
    NGX_HTTP_SANDBOX_HEARTBEAT_UNKNOWN = 0,
    NGX_HTTP_SANDBOX_HEARTBEAT_TAKEN,
    NGX_HTTP_SANDBOX_HEARTBEAT_FAILED
} ngx_http_sandbox_heartbeat_state_e;


struct ngx_http_sandbox_heartbeat_s {
    ngx_str_t                           url;
    ngx_str_t                           host;       /* the header */
    ngx_str_t                           uri;
    ngx_addr_t                         *addrs;
    ngx_uint_t                          naddrs;
    ngx_msec_t                          interval;
    sbx_policy_t                       *policy;
    u_char                             *file;
    ngx_uint_t                          line;

    /* the worker's */
    ngx_http_sandbox_heartbeat_state_e  state;
    ngx_event_t                         timer;
    ngx_log_t                           quiet;      /* for what nginx would
                                                       log each time */
    ngx_peer_connection_t               peer;       /* connection NULL: idle */
    ngx_uint_t                          addr;       /* the one that is tried */
    ngx_pool_t                         *pool;       /* of one exchange */
    ngx_buf_t                          *request;
    ngx_buf_t                          *answer;
    unsigned                            connected:1;
};

#endif
