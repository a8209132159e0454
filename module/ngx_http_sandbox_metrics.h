/*
 * ngx_http_sandbox_metrics.h: the counters in shared memory, for the two files
 * that fill and show them.
 */

#ifndef NGX_HTTP_SANDBOX_METRICS_H
#define NGX_HTTP_SANDBOX_METRICS_H

#include "ngx_http_sandbox.h"


/* Changes with the structure below: another layout must not be read as this. */
#define NGX_HTTP_SANDBOX_METRICS_VERSION  2

#define NGX_HTTP_SANDBOX_METRICS_ROWS     (SBX_STATS_RUNTIMES + 1)
#define NGX_HTTP_SANDBOX_METRICS_CODES    256
#define NGX_HTTP_SANDBOX_METRICS_BUCKETS  14

/* of policies' own answers: 2xx to 5xx */
#define NGX_HTTP_SANDBOX_METRICS_CLASSES  4


typedef struct {
    ngx_atomic_t    buckets[NGX_HTTP_SANDBOX_METRICS_BUCKETS];
    ngx_atomic_t    count;
    ngx_atomic_t    sum_us;
} ngx_http_sandbox_histogram_t;


/* One language.  Row 0 is "other", which has no name of its own to claim. */
typedef struct {
    u_char                          name[32];
    ngx_atomic_t                    requests[SBX_STATUS_COUNT];
    ngx_atomic_t                    runs[SBX_STATUS_COUNT];
    ngx_http_sandbox_histogram_t    wall;
    ngx_http_sandbox_histogram_t    queue;
} ngx_http_sandbox_row_t;


typedef struct {
    ngx_uint_t                version;
    ngx_atomic_t              codes[NGX_HTTP_SANDBOX_METRICS_CODES];
    ngx_atomic_t              answers[NGX_HTTP_SANDBOX_METRICS_CLASSES];
    ngx_atomic_t              passed;
    ngx_http_sandbox_row_t    rows[NGX_HTTP_SANDBOX_METRICS_ROWS];
} ngx_http_sandbox_counters_t;


/* Upper bounds, in microseconds and as their labels; +Inf is the count. */
typedef struct {
    uint64_t      us;
    const char   *label;
} ngx_http_sandbox_bucket_t;


extern const ngx_http_sandbox_bucket_t
    ngx_http_sandbox_buckets[NGX_HTTP_SANDBOX_METRICS_BUCKETS];

#endif
