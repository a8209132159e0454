/*
 * ngx_http_sandbox_metrics.c: counters of all workers.
 *
 * Runs in a worker; the zone is made in the master.  The counters live in
 * shared memory that a reload hands to the next configuration, so they never go
 * backwards while nginx runs.
 */


#include "ngx_http_sandbox_metrics.h"


static ngx_int_t ngx_http_sandbox_metrics_init_zone(ngx_shm_zone_t *zone,
    void *data);
static ngx_http_sandbox_row_t *ngx_http_sandbox_metrics_row(
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *language);
static ngx_http_sandbox_row_t *ngx_http_sandbox_metrics_claim(
    ngx_shm_zone_t *zone, ngx_str_t *language);
static void ngx_http_sandbox_metrics_run(ngx_http_sandbox_row_t *row,
    sbx_verdict_t *v);
static void ngx_http_sandbox_metrics_observe(ngx_http_sandbox_histogram_t *h,
    uint64_t us);


const ngx_http_sandbox_bucket_t
    ngx_http_sandbox_buckets[NGX_HTTP_SANDBOX_METRICS_BUCKETS] =
{
    { 1000, "0.001" },
    { 2500, "0.0025" },
    { 5000, "0.005" },
    { 10000, "0.01" },
    { 25000, "0.025" },
    { 50000, "0.05" },
    { 100000, "0.1" },
    { 250000, "0.25" },
    { 500000, "0.5" },
    { 1000000, "1" },
    { 2500000, "2.5" },
    { 5000000, "5" },
    { 10000000, "10" },
    { 30000000, "30" }
};


ngx_int_t
ngx_http_sandbox_metrics_zone(ngx_conf_t *cf,
    ngx_http_sandbox_main_conf_t *smcf)
{
    size_t     size;
    ngx_str_t  name = ngx_string("sandbox_metrics");

    size = ngx_align(sizeof(ngx_http_sandbox_counters_t) + 8 * ngx_pagesize,
                     ngx_pagesize);

    smcf->zone = ngx_shared_memory_add(cf, &name, size,
                                       &ngx_http_sandbox_module);
    if (smcf->zone == NULL) {
        return NGX_ERROR;
    }

    smcf->zone->init = ngx_http_sandbox_metrics_init_zone;

    return NGX_OK;
}


/* data: what the previous configuration's zone of this name and size held. */
static ngx_int_t
ngx_http_sandbox_metrics_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t              *shpool;
    ngx_http_sandbox_counters_t  *counters;

    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    counters = data ? data : (zone->shm.exists ? shpool->data : NULL);

    if (counters != NULL
        && counters->version == NGX_HTTP_SANDBOX_METRICS_VERSION)
    {
        zone->data = counters;
        return NGX_OK;
    }

    counters = ngx_slab_calloc(shpool, sizeof(ngx_http_sandbox_counters_t));
    if (counters == NULL) {
        return NGX_ERROR;
    }

    counters->version = NGX_HTTP_SANDBOX_METRICS_VERSION;

    (void) ngx_cpystrn(counters->rows[0].name, (u_char *) "other",
                       sizeof(counters->rows[0].name));

    shpool->data = counters;
    zone->data = counters;

    return NGX_OK;
}


void
ngx_http_sandbox_metrics_count(ngx_http_request_t *r,
    ngx_http_sandbox_ctx_t *ctx)
{
    size_t                         i;
    sbx_verdict_t                 *v;
    ngx_http_sandbox_row_t        *row;
    ngx_http_sandbox_counters_t   *counters;
    ngx_http_sandbox_main_conf_t  *smcf;

    if (ctx->counted || !ctx->verdict_set) {
        return;
    }

    ctx->counted = 1;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);

    if (smcf->zone == NULL) {
        return;
    }

    v = &ctx->verdict;
    counters = smcf->zone->data;
    row = ngx_http_sandbox_metrics_row(smcf, &ctx->language);

    (void) ngx_atomic_fetch_add(&row->requests[v->status], 1);
    (void) ngx_atomic_fetch_add(
               &counters->codes[sbx_verdict_returncode(v) & 0xff], 1);

    if (ctx->cases == NULL) {
        ngx_http_sandbox_metrics_run(row, v);
        return;
    }

    for (i = 0; i < ctx->ncases; i++) {
        ngx_http_sandbox_metrics_run(row, &ctx->cases[i]);
    }
}


/* Where a policy answered or passed on, there is no verdict to count. */

void
ngx_http_sandbox_metrics_policy(ngx_http_request_t *r, ngx_uint_t status)
{
    ngx_uint_t                     i;
    ngx_http_sandbox_counters_t   *counters;
    ngx_http_sandbox_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_sandbox_module);

    if (smcf->zone == NULL) {
        return;
    }

    counters = smcf->zone->data;

    if (status == 0) {
        (void) ngx_atomic_fetch_add(&counters->passed, 1);
        return;
    }

    i = status / 100 - 2;

    if (i < NGX_HTTP_SANDBOX_METRICS_CLASSES) {
        (void) ngx_atomic_fetch_add(&counters->answers[i], 1);
    }
}


static void
ngx_http_sandbox_metrics_run(ngx_http_sandbox_row_t *row, sbx_verdict_t *v)
{
    (void) ngx_atomic_fetch_add(&row->runs[v->status], 1);

    if (v->status < SBX_BUSY) {
        ngx_http_sandbox_metrics_observe(&row->wall, v->wall_us);
        ngx_http_sandbox_metrics_observe(&row->queue, v->queue_us);
    }
}


/*
 * A language gets a row of its own when it is built in or configured, never
 * because a request names it: labels must not grow with what strangers send.
 */
static ngx_http_sandbox_row_t *
ngx_http_sandbox_metrics_row(ngx_http_sandbox_main_conf_t *smcf,
    ngx_str_t *language)
{
    ngx_uint_t                    i;
    ngx_str_t                    *known;
    ngx_http_sandbox_counters_t  *counters;

    counters = smcf->zone->data;

    known = ngx_http_sandbox_find_language(smcf,
                (sbx_str_t) { (char *) language->data, language->len });

    if (known == NULL || known->len >= sizeof(counters->rows[0].name)) {
        return &counters->rows[0];
    }

    for (i = 1; i < NGX_HTTP_SANDBOX_METRICS_ROWS; i++) {
        if (ngx_strncmp(counters->rows[i].name, known->data, known->len) == 0
            && counters->rows[i].name[known->len] == '\0')
        {
            return &counters->rows[i];
        }
    }

    return ngx_http_sandbox_metrics_claim(smcf->zone, known);
}


static ngx_http_sandbox_row_t *
ngx_http_sandbox_metrics_claim(ngx_shm_zone_t *zone, ngx_str_t *language)
{
    ngx_uint_t                    i;
    ngx_slab_pool_t              *shpool;
    ngx_http_sandbox_row_t       *row, *found;
    ngx_http_sandbox_counters_t  *counters;

    counters = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    found = &counters->rows[0];

    ngx_shmtx_lock(&shpool->mutex);

    for (i = 1; i < NGX_HTTP_SANDBOX_METRICS_ROWS; i++) {
        row = &counters->rows[i];

        if (row->name[0] == '\0') {
            /* the name's first byte last: readers take it as the sign */
            ngx_memcpy(row->name + 1, language->data + 1, language->len - 1);
            ngx_memory_barrier();
            row->name[0] = language->data[0];
            found = row;
            break;
        }

        /* another worker was faster */
        if (ngx_strncmp(row->name, language->data, language->len) == 0
            && row->name[language->len] == '\0')
        {
            found = row;
            break;
        }
    }

    ngx_shmtx_unlock(&shpool->mutex);

    return found;
}


static void
ngx_http_sandbox_metrics_observe(ngx_http_sandbox_histogram_t *h, uint64_t us)
{
    ngx_uint_t  i;

    /* each bucket alone; the text adds them up */
    for (i = 0; i < NGX_HTTP_SANDBOX_METRICS_BUCKETS; i++) {
        if (us <= ngx_http_sandbox_buckets[i].us) {
            (void) ngx_atomic_fetch_add(&h->buckets[i], 1);
            break;
        }
    }

    (void) ngx_atomic_fetch_add(&h->count, 1);
    (void) ngx_atomic_fetch_add(&h->sum_us, us);
}
