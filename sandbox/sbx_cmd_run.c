/*
 * sbx_cmd_run.c: deer-flow run and explain.
 *
 * run: the same frame as nginx sends, to a supervisor of its own or, with
 * --connect, to a running one; exits with the verdict's returncode.
 * explain: what would be in force; nothing of the program runs.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sbx_cmd.h"
#include "sbx_floor.h"
#include "sbx_json.h"
#include "sbx_layer.h"

#define READY_MS  30000


static int
failed(const sbx_err_t *err)
{
    sbx_cmd_complain(err);

    return 125;
}


/* An empty text has no data. */
static void
print_text(sbx_str_t text, FILE *stream)
{
    if (text.len > 0) {
        fwrite(text.data, 1, text.len, stream);
    }
}


static void
print_human(const sbx_verdict_t *v)
{
    print_text(v->output, stdout);
    fflush(stdout);
    print_text(v->errout, stderr);

    if (v->status == SBX_SUCCESS) {
        return;
    }

    fprintf(stderr, "deer-flow: %s%s%s%s%s%s\n", sbx_status_name(v->status),
            v->reason ? " (" : "", sbx_reason_name(v->reason),
            v->reason ? ")" : "", v->error[0] ? ": " : "", v->error);
}


static int
print_json(const sbx_verdict_t *v)
{
    size_t len;
    char *text = sbx_verdict_json(v, SBX_ENCODING_UTF8, &len);

    if (text == NULL) {
        return -1;
    }

    fwrite(text, 1, len, stdout);
    putchar('\n');
    free(text);

    return 0;
}


static int
connect_or_start(sbx_client_t *client, sbx_conf_t *conf,
    const sbx_cmd_job_t *cj, sbx_err_t *err)
{
    if (cj->connect != NULL) {
        return sbx_client_connect(client, cj->connect, err);
    }

    if (sbx_cmd_conf(conf, &cj->job.language, err) < 0) {
        return -1;
    }

    conf->zygotes = cj->zygote;

    return sbx_client_start(client, conf, err);
}


int
sbx_cmd_run(int argc, char **argv)
{
    int rc;
    char *payload = NULL;
    sbx_err_t err;
    sbx_conf_t conf = { 0 };
    sbx_client_t client = { .fd = -1 };
    sbx_cmd_job_t cj;
    sbx_verdict_t v;

    rc = sbx_cmd_job_parse(&cj, argc, argv);

    if (rc != 0) {
        sbx_cmd_job_clear(&cj);
        return rc < 0 ? 0 : rc;
    }

    if (!cj.zygote && cj.connect == NULL) {
        cj.job.flags |= SBX_JOB_NO_ZYGOTE;
    }

    if (connect_or_start(&client, &conf, &cj, &err) < 0
        || (cj.zygote && cj.connect == NULL
            && sbx_client_wait_ready(&client, 1, READY_MS, &err) < 0)
        || sbx_client_run(&client, &cj.job, &v, &payload, &err) < 0)
    {
        rc = failed(&err);

    } else {
        rc = sbx_verdict_returncode(&v);

        if (!cj.json) {
            print_human(&v);

        } else if (print_json(&v) < 0) {
            rc = 125;
        }
    }

    sbx_client_close(&client);
    free(payload);
    sbx_conf_clear(&conf);
    sbx_cmd_job_clear(&cj);

    return rc;
}


static void
print_explanation(const sbx_cmd_job_t *cj, const sbx_stats_t *stats)
{
    int i;
    char text[32], line[400];
    const uint64_t *floors = stats->runtimes[0].floors;
    uint64_t base, wanted, sum;
    const sbx_job_t *job = &cj->job;
    const sbx_layer_info_t *l;

    printf("language        %.*s\nname            %.*s\ncode            %zu bytes\n",
           (int) job->language.len, job->language.data,
           (int) job->name.len, job->name.data, job->code.len);

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        printf("%-16s%s\n", sbx_limits[i].name,
               sbx_limit_format(i, job->limits[i], text, sizeof(text)));
    }

    for (i = sbx_floor_find(job->limits, floors, 0, 0); i >= 0;
         i = sbx_floor_find(job->limits, floors, i + 1, 0))
    {
        printf("warning         %s\n",
               sbx_floor_format(i, job->limits[i], floors[i], job->language,
                                line, sizeof(line)));
    }

    base = stats->runtimes[0].base_bytes;
    wanted = job->limits[SBX_LIMIT_MEMORY];
    sum = base + job->code.len + wanted / 1000 * job->factor_permille
          + wanted % 1000 * job->factor_permille / 1000;

    printf("formula         base %llu + code %zu + %u.%02u x %llu = %llu bytes "
           "of %s\n", (unsigned long long) base, job->code.len,
           job->factor_permille / 1000, job->factor_permille % 1000 / 10,
           (unsigned long long) wanted, (unsigned long long) sum,
           stats->runtimes[0].address_space ? "address space" : "data");

    for (l = sbx_layers; l->bit; l++) {
        printf("layer           %-13s %-8s %s\n", l->name,
               (stats->missing & l->bit) ? "missing" : "ok", l->protects);
    }
}


int
sbx_cmd_explain(int argc, char **argv)
{
    int rc;
    size_t len;
    char *json;
    sbx_err_t err;
    sbx_conf_t conf = { 0 };
    sbx_client_t client = { .fd = -1 };
    sbx_cmd_job_t cj;

    rc = sbx_cmd_job_parse(&cj, argc, argv);

    if (rc != 0) {
        sbx_cmd_job_clear(&cj);
        return rc < 0 ? 0 : rc;
    }

    cj.connect = NULL;

    if (connect_or_start(&client, &conf, &cj, &err) < 0
        || sbx_client_wait_ready(&client, 0, READY_MS, &err) < 0)
    {
        rc = failed(&err);

    } else if (!cj.json) {
        print_explanation(&cj, client.stats);

    } else {
        json = sbx_job_json(&cj.job, client.stats->runtimes[0].base_bytes,
                            client.stats->runtimes[0].floors, &len);
        if (json != NULL) {
            printf("%.*s\n", (int) len, json);
        }
        free(json);
    }

    sbx_client_close(&client);
    sbx_conf_clear(&conf);
    sbx_cmd_job_clear(&cj);

    return rc;
}
