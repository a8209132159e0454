/*
 * ngx_http_sandbox_metrics_page.c: /metrics.
 *
 * Runs in a worker.  Counters come from shared memory, gauges from the page
 * that the supervisor writes, without asking it.  The text is Prometheus
 * exposition format 0.0.4.
 */


#include "ngx_http_sandbox_metrics.h"


/* A text that grows in links of a chain. */
typedef struct {
    ngx_pool_t     *pool;
    ngx_chain_t    *out;
    ngx_chain_t   **last;
    ngx_chain_t    *tail;
    off_t           size;
    ngx_uint_t      failed;
} ngx_http_sandbox_text_t;


typedef struct {
    const char     *name;
    const char     *type;
    const char     *help;
    size_t          offset;
    size_t          size;
} ngx_http_sandbox_gauge_t;


static ngx_int_t ngx_http_sandbox_metrics_handler(ngx_http_request_t *r);
static void ngx_http_sandbox_metrics_statuses(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters, const char *name, const char *help,
    size_t offset);
static void ngx_http_sandbox_metrics_policies(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters);
static void ngx_http_sandbox_metrics_codes(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters);
static void ngx_http_sandbox_metrics_histogram(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters, const char *name, const char *help,
    size_t offset);
static void ngx_http_sandbox_metrics_supervisor(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats);
static void ngx_http_sandbox_metrics_checks(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats);
static void ngx_http_sandbox_metrics_runtimes(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats);
static void ngx_http_sandbox_metrics_host(ngx_http_sandbox_text_t *text);
static uint64_t ngx_http_sandbox_metrics_read(const void *p, size_t size);
static void ngx_http_sandbox_text_add(ngx_http_sandbox_text_t *text,
    const char *fmt, ...);


/*
 * The codes that have a meaning of their own are there from the first scrape
 * on: a rate over a counter that appears with its first event misses it.
 */
static const ngx_uint_t  ngx_http_sandbox_known_codes[] = {
    0, 1, 125, 128, 134, 135, 137, 139, 143, 153, 159
};


#define ngx_http_sandbox_stat(field)                                          \
    offsetof(sbx_stats_t, field), sizeof(((sbx_stats_t *) 0)->field)

static const ngx_http_sandbox_gauge_t  ngx_http_sandbox_gauges[] = {
    { "sandbox_up", "gauge",
      "1 once the self-tests of all runtimes have ended; "
      "0 without a supervisor.",
      ngx_http_sandbox_stat(ready) },
    { "sandbox_slots", "gauge", "Runs that may go on at a time.",
      ngx_http_sandbox_stat(slots) },
    { "sandbox_slots_busy", "gauge", "Runs that go on now.",
      ngx_http_sandbox_stat(slots_busy) },
    { "sandbox_queue", "gauge", "Jobs waiting for a slot.",
      ngx_http_sandbox_stat(queue) },
    { "sandbox_queue_max", "gauge", "Jobs that may wait for a slot.",
      ngx_http_sandbox_stat(queue_max) },
    { "sandbox_supervisor_starts", "gauge",
      "Starts of this configuration's supervisor; above 1 it was restarted.",
      ngx_http_sandbox_stat(supervisor_starts) },
    { "sandbox_supervisor_runs", "gauge",
      "Runs that this configuration's supervisor gave a verdict on.",
      ngx_http_sandbox_stat(runs) },
    { "sandbox_slot_failures", "gauge",
      "Slots that this configuration's supervisor lost or gave up.",
      ngx_http_sandbox_stat(slot_failures) },
    { NULL, NULL, NULL, 0, 0 }
};


#define ngx_http_sandbox_runtime_stat(field)                                  \
    offsetof(sbx_stats_runtime_t, field),                                     \
    sizeof(((sbx_stats_runtime_t *) 0)->field)

static const ngx_http_sandbox_gauge_t  ngx_http_sandbox_runtime_gauges[] = {
    { "sandbox_zygote_up", "gauge",
      "1 when a warmed zygote serves the language.",
      ngx_http_sandbox_runtime_stat(zygote) },
    { "sandbox_zygote_restarts", "gauge",
      "Restarts of the language's zygote in this configuration.",
      ngx_http_sandbox_runtime_stat(restarts) },
    { "sandbox_zygote_renewals", "gauge",
      "Times that another zygote took the place of one that served.",
      ngx_http_sandbox_runtime_stat(renewals) },
    { "sandbox_standby", "gauge",
      "Children that wait, ready, for a job; languages without a zygote share "
      "theirs.",
      ngx_http_sandbox_runtime_stat(standby) },
    { "sandbox_base_bytes", "gauge",
      "Memory of an idle child, the first term of the memory formula.",
      ngx_http_sandbox_runtime_stat(base_bytes) },
    { NULL, NULL, NULL, 0, 0 }
};


char *
ngx_http_sandbox_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t      *clcf;
    ngx_http_sandbox_main_conf_t  *smcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler == ngx_http_sandbox_metrics_handler) {
        return "is duplicate";
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_sandbox_module);

    if (smcf->zone == NULL
        && ngx_http_sandbox_metrics_zone(cf, smcf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    clcf->handler = ngx_http_sandbox_metrics_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_sandbox_metrics_handler(ngx_http_request_t *r)
{
    ngx_int_t                      rc;
    ngx_http_sandbox_text_t        text;
    ngx_http_sandbox_counters_t   *counters;
    ngx_http_sandbox_main_conf_t  *smcf;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);
    counters = smcf->zone->data;

    ngx_memzero(&text, sizeof(ngx_http_sandbox_text_t));
    text.pool = r->pool;
    text.last = &text.out;

    ngx_http_sandbox_metrics_statuses(&text, counters,
        "sandbox_requests_total", "Answers by language and status.",
        offsetof(ngx_http_sandbox_row_t, requests));
    ngx_http_sandbox_metrics_statuses(&text, counters,
        "sandbox_runs_total",
        "Verdicts by language and status; each case of a batch has one.",
        offsetof(ngx_http_sandbox_row_t, runs));
    ngx_http_sandbox_metrics_policies(&text, counters);
    ngx_http_sandbox_metrics_codes(&text, counters);
    ngx_http_sandbox_metrics_histogram(&text, counters,
        "sandbox_run_duration_seconds", "Wall clock time of runs.",
        offsetof(ngx_http_sandbox_row_t, wall));
    ngx_http_sandbox_metrics_histogram(&text, counters,
        "sandbox_queue_duration_seconds", "Time that runs waited for a slot.",
        offsetof(ngx_http_sandbox_row_t, queue));

    if (smcf->stats != NULL && smcf->stats->magic == SBX_STATS_MAGIC) {
        ngx_http_sandbox_metrics_supervisor(&text, smcf->stats);
        ngx_http_sandbox_metrics_runtimes(&text, smcf->stats);
        ngx_http_sandbox_metrics_checks(&text, smcf->stats);
    }

    ngx_http_sandbox_metrics_host(&text);

    if (text.failed || text.tail == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    text.tail->buf->last_buf = (r == r->main) ? 1 : 0;
    text.tail->buf->last_in_chain = 1;

    ngx_str_set(&r->headers_out.content_type,
                "text/plain; version=0.0.4; charset=utf-8");
    r->headers_out.content_type_len = sizeof("text/plain") - 1;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = text.size;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, text.out);
}


static void
ngx_http_sandbox_metrics_statuses(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters, const char *name, const char *help,
    size_t offset)
{
    ngx_uint_t               i, status;
    ngx_atomic_t            *count;
    ngx_http_sandbox_row_t  *row;

    ngx_http_sandbox_text_add(text, "# HELP %s %s\n# TYPE %s counter\n", name,
                              help, name);

    for (i = 0; i < NGX_HTTP_SANDBOX_METRICS_ROWS; i++) {
        row = &counters->rows[i];
        count = (ngx_atomic_t *) ((u_char *) row + offset);

        if (row->name[0] == '\0') {
            continue;
        }

        for (status = 0; status < SBX_STATUS_COUNT; status++) {
            ngx_http_sandbox_text_add(text,
                "%s{language=\"%s\",status=\"%s\"} %uA\n", name, row->name,
                sbx_status_name(status), count[status]);
        }
    }
}


static void
ngx_http_sandbox_metrics_policies(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters)
{
    ngx_uint_t  i;

    ngx_http_sandbox_text_add(text,
        "# HELP sandbox_policy_answers_total Requests that a policy answered "
        "itself, by class of status.\n"
        "# TYPE sandbox_policy_answers_total counter\n");

    for (i = 0; i < NGX_HTTP_SANDBOX_METRICS_CLASSES; i++) {
        ngx_http_sandbox_text_add(text,
            "sandbox_policy_answers_total{class=\"%uixx\"} %uA\n", i + 2,
            counters->answers[i]);
    }

    ngx_http_sandbox_text_add(text,
        "# HELP sandbox_policy_passed_total Requests that a policy passed on.\n"
        "# TYPE sandbox_policy_passed_total counter\n"
        "sandbox_policy_passed_total %uA\n", counters->passed);
}


static void
ngx_http_sandbox_metrics_codes(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters)
{
    ngx_uint_t  i, code, known;

    ngx_http_sandbox_text_add(text,
        "# HELP sandbox_exit_code Answers by returncode.\n"
        "# TYPE sandbox_exit_code counter\n");

    for (code = 0; code < NGX_HTTP_SANDBOX_METRICS_CODES; code++) {
        known = 0;

        for (i = 0; i < sizeof(ngx_http_sandbox_known_codes)
                        / sizeof(ngx_http_sandbox_known_codes[0]); i++)
        {
            known |= (ngx_http_sandbox_known_codes[i] == code);
        }

        if (known || counters->codes[code]) {
            ngx_http_sandbox_text_add(text,
                "sandbox_exit_code{code=\"%ui\"} %uA\n", code,
                counters->codes[code]);
        }
    }
}


static void
ngx_http_sandbox_metrics_histogram(ngx_http_sandbox_text_t *text,
    ngx_http_sandbox_counters_t *counters, const char *name, const char *help,
    size_t offset)
{
    u_char                        *language;
    uint64_t                       sum;
    ngx_uint_t                     i, n;
    ngx_atomic_uint_t              count, below;
    ngx_http_sandbox_histogram_t  *h;

    ngx_http_sandbox_text_add(text, "# HELP %s %s\n# TYPE %s histogram\n",
                              name, help, name);

    for (i = 0; i < NGX_HTTP_SANDBOX_METRICS_ROWS; i++) {
        language = counters->rows[i].name;
        h = (ngx_http_sandbox_histogram_t *)
                                     ((u_char *) &counters->rows[i] + offset);
        count = h->count;
        sum = h->sum_us;

        if (count == 0) {
            continue;
        }

        for (n = 0, below = 0; n < NGX_HTTP_SANDBOX_METRICS_BUCKETS; n++) {
            below += h->buckets[n];

            /* workers go on counting meanwhile: no bucket above the total */
            below = ngx_min(below, count);

            ngx_http_sandbox_text_add(text,
                "%s_bucket{language=\"%s\",le=\"%s\"} %uA\n", name, language,
                ngx_http_sandbox_buckets[n].label, below);
        }

        ngx_http_sandbox_text_add(text,
            "%s_bucket{language=\"%s\",le=\"+Inf\"} %uA\n"
            "%s_sum{language=\"%s\"} %uL.%06uL\n"
            "%s_count{language=\"%s\"} %uA\n",
            name, language, count,
            name, language, sum / 1000000, sum % 1000000,
            name, language, count);
    }
}


static void
ngx_http_sandbox_metrics_supervisor(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats)
{
    const sbx_layer_info_t          *layer;
    const ngx_http_sandbox_gauge_t  *g;

    for (g = ngx_http_sandbox_gauges; g->name; g++) {
        ngx_http_sandbox_text_add(text,
            "# HELP %s %s\n# TYPE %s %s\n%s %uL\n",
            g->name, g->help, g->name, g->type, g->name,
            ngx_http_sandbox_metrics_read((u_char *) stats + g->offset,
                                          g->size));
    }

    ngx_http_sandbox_text_add(text,
        "# HELP sandbox_layer 1 when this host has the protecting layer.\n"
        "# TYPE sandbox_layer gauge\n");

    for (layer = sbx_layers; layer->bit; layer++) {
        ngx_http_sandbox_text_add(text, "sandbox_layer{layer=\"%s\"} %d\n",
            layer->name,
            (ngx_http_sandbox_metrics_read(&stats->missing,
                                           sizeof(stats->missing))
             & layer->bit) ? 0 : 1);
    }
}


static void
ngx_http_sandbox_metrics_runtimes(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats)
{
    ngx_uint_t                       i;
    sbx_stats_runtime_t             *rt;
    const ngx_http_sandbox_gauge_t  *g;

    for (g = ngx_http_sandbox_runtime_gauges; g->name; g++) {
        ngx_http_sandbox_text_add(text, "# HELP %s %s\n# TYPE %s %s\n",
                                  g->name, g->help, g->name, g->type);

        for (i = 0; i < SBX_STATS_RUNTIMES; i++) {
            rt = &stats->runtimes[i];

            if (rt->name[0] != '\0') {
                ngx_http_sandbox_text_add(text,
                    "%s{language=\"%*s\"} %uL\n", g->name,
                    strnlen(rt->name, sizeof(rt->name)), rt->name,
                    ngx_http_sandbox_metrics_read((u_char *) rt + g->offset,
                                                  g->size));
            }
        }
    }
}


/* Of a built-in language, once they ran; a skipped check has no line. */
static void
ngx_http_sandbox_metrics_checks(ngx_http_sandbox_text_t *text,
    sbx_stats_t *stats)
{
    uint64_t              state;
    ngx_uint_t            i, k;
    sbx_stats_runtime_t  *rt;

    ngx_http_sandbox_text_add(text,
        "# HELP sandbox_check 1 when the language passed, 0 when it failed.\n"
        "# TYPE sandbox_check gauge\n");

    for (i = 0; i < SBX_STATS_RUNTIMES; i++) {
        rt = &stats->runtimes[i];

        for (k = 0; k < SBX_CHECKS; k++) {
            state = ngx_http_sandbox_metrics_read(&rt->checks[k].state,
                                                  sizeof(rt->checks[k].state));

            if (state == SBX_CHECK_PASSED || state == SBX_CHECK_FAILED) {
                ngx_http_sandbox_text_add(text,
                    "sandbox_check{language=\"%*s\",check=\"%s\"} %d\n",
                    strnlen(rt->name, sizeof(rt->name)), rt->name,
                    sbx_checks[k].name, state == SBX_CHECK_PASSED);
            }
        }
    }
}


/* Beside the counters, it tells one greedy program from a host in need. */
static void
ngx_http_sandbox_metrics_host(ngx_http_sandbox_text_t *text)
{
    FILE                *f;
    char                 line[128];
    unsigned long long   kib;

    f = fopen("/proc/meminfo", "re");
    if (f == NULL) {
        return;
    }

    while (fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            ngx_http_sandbox_text_add(text,
                "# HELP sandbox_host_memory_available_bytes "
                "MemAvailable of this host.\n"
                "# TYPE sandbox_host_memory_available_bytes gauge\n"
                "sandbox_host_memory_available_bytes %uL\n",
                (uint64_t) kib * 1024);
            break;
        }
    }

    (void) fclose(f);
}


/* Another process writes the page: one load, never torn or repeated. */
static uint64_t
ngx_http_sandbox_metrics_read(const void *p, size_t size)
{
    if (size == sizeof(uint64_t)) {
        return __atomic_load_n((const uint64_t *) p, __ATOMIC_RELAXED);
    }

    return __atomic_load_n((const uint32_t *) p, __ATOMIC_RELAXED);
}


/* No line of ours is longer than half a kilobyte. */
static void
ngx_http_sandbox_text_add(ngx_http_sandbox_text_t *text, const char *fmt, ...)
{
    u_char       *p;
    va_list       args;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    if (text->failed) {
        return;
    }

    if (text->tail == NULL
        || text->tail->buf->end - text->tail->buf->last < 512)
    {
        b = ngx_create_temp_buf(text->pool, 4000);
        cl = ngx_alloc_chain_link(text->pool);

        if (b == NULL || cl == NULL) {
            text->failed = 1;
            return;
        }

        cl->buf = b;
        cl->next = NULL;
        *text->last = cl;
        text->last = &cl->next;
        text->tail = cl;
    }

    b = text->tail->buf;

    va_start(args, fmt);
    p = ngx_vslprintf(b->last, b->end, fmt, args);
    va_end(args);

    text->size += p - b->last;
    b->last = p;
}
