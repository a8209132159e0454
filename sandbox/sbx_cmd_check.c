/*
 * sbx_cmd_check.c: deer-flow check: what protects a run on this host.
 *
 * Starts a supervisor as nginx would, lets its self-tests and checks run, and
 * asks a program inside the sandbox what the kernel says of it.
 */

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_cmd.h"
#include "sbx_layer.h"
#include "sbx_log.h"

#define READY_MS  30000

/* What the kernel must say about a process inside. */
static const struct {
    const char *field;
    const char *value;      /* NULL: shown, any value will do */
} facts[] = {
    { "NoNewPrivs", "1" },
    { "Seccomp", "2" },
    { "CapEff", "0000000000000000" },
    { "CapPrm", "0000000000000000" },
    { "CapBnd", NULL },
    { "Pid", "2" },
    { "Uid", NULL }
};

#define NFACTS  (sizeof(facts) / sizeof(facts[0]))

static const char program[] =
    "for l in open('/proc/self/status'):\n"
    "    k, _, v = l.partition(':')\n"
    "    print(k, v.split()[0] if v.split() else '-')\n";


/* "Field value" in the program's output → value, "" if it is not there. */
static void
find_fact(const sbx_verdict_t *v, const char *field, char *value, size_t size)
{
    char text[8192], *line, *end;
    size_t n = strlen(field);

    snprintf(text, sizeof(text), "%.*s", (int) v->output.len,
             v->output.len ? v->output.data : "");
    value[0] = '\0';

    for (line = strtok_r(text, "\n", &end); line != NULL;
         line = strtok_r(NULL, "\n", &end))
    {
        if (strncmp(line, field, n) == 0 && line[n] == ' ') {
            snprintf(value, size, "%s", line + n + 1);
            return;
        }
    }
}


static int
check_layers(const sbx_stats_t *stats, struct json_object *root)
{
    int bad = 0, absent;
    const char *state;
    const sbx_layer_info_t *l;
    struct json_object *o, *list = json_object_new_object();

    for (l = sbx_layers; l->bit; l++) {
        absent = (stats->missing & l->bit) != 0;
        state = !absent ? "ok"
                : (l->bit & SBX_LAYERS_REQUIRED) ? "MISSING" : "missing";
        bad += absent && (l->bit & SBX_LAYERS_REQUIRED);

        if (root == NULL) {
            printf("layer    %-14s %-8s %s\n", l->name, state, l->protects);
        }

        o = json_object_new_string(state);
        json_object_object_add(list, l->name, o);
    }

    if (root != NULL) {
        json_object_object_add(root, "layers", list);

    } else {
        json_object_put(list);
    }

    return bad;
}


static int
check_facts(const sbx_verdict_t *v, struct json_object *root)
{
    int bad = 0, ok;
    size_t i;
    char value[64];
    struct json_object *list = json_object_new_object();

    for (i = 0; i < NFACTS; i++) {
        find_fact(v, facts[i].field, value, sizeof(value));
        ok = value[0] != '\0'
             && (facts[i].value == NULL || strcmp(value, facts[i].value) == 0);
        bad += !ok;

        if (root == NULL) {
            printf("inside   %-14s %-8s %s\n", facts[i].field,
                   ok ? "ok" : "WRONG", value);
        }

        json_object_object_add(list, facts[i].field,
                               json_object_new_string(value));
    }

    if (root != NULL) {
        json_object_object_add(root, "inside", list);

    } else {
        json_object_put(list);
    }

    return bad;
}


static int
check_runtimes(const sbx_stats_t *stats, struct json_object *root)
{
    int i, bad = 0, works;
    const sbx_stats_runtime_t *rt;
    struct json_object *o, *list = json_object_new_object();

    for (i = 0; i < SBX_STATS_RUNTIMES && stats->runtimes[i].name[0]; i++) {
        rt = &stats->runtimes[i];
        works = rt->base_bytes != 0;
        bad += !works;

        if (root == NULL) {
            printf("runtime  %-14s %-8s base %llu bytes, %s\n", rt->name,
                   works ? "ok" : "FAILED",
                   (unsigned long long) rt->base_bytes,
                   rt->zygote ? "warmed zygote" : "started per run");
        }

        o = json_object_new_object();
        json_object_object_add(o, "works", json_object_new_boolean(works));
        json_object_object_add(o, "base",
                               json_object_new_int64((int64_t)
                                                     rt->base_bytes));
        json_object_object_add(o, "zygote",
                               json_object_new_boolean(rt->zygote != 0));
        json_object_object_add(list, rt->name, o);
    }

    if (root != NULL) {
        json_object_object_add(root, "runtimes", list);

    } else {
        json_object_put(list);
    }

    return bad;
}


/* The seven of a runtime; returns how many failed. */
static int
check_runtime(const sbx_stats_runtime_t *rt, struct json_object *list)
{
    int i, bad = 0;
    struct json_object *o;
    const sbx_check_result_t *r;
    static const char *const states[] = { "not run", "OK", "FAILED",
                                          "skipped" };

    for (i = 0; i < SBX_CHECKS; i++) {
        r = &rt->checks[i];
        bad += r->state != SBX_CHECK_PASSED;

        if (list == NULL) {
            printf("check    %-14s %-8s %d %s: %s\n", rt->name,
                   states[r->state], i + 1, sbx_checks[i].name, r->evidence);
            continue;
        }

        o = json_object_new_object();
        json_object_object_add(o, "number", json_object_new_int(i + 1));
        json_object_object_add(o, "name",
                               json_object_new_string(sbx_checks[i].name));
        json_object_object_add(o, "state",
                               json_object_new_string(states[r->state]));
        json_object_object_add(o, "shows",
                               json_object_new_string(sbx_checks[i].protects));
        json_object_object_add(o, "evidence",
                               json_object_new_string(r->evidence));
        json_object_array_add(list, o);
    }

    return bad;
}


static int
check_checks(const sbx_stats_t *stats, struct json_object *root)
{
    int i, bad = 0;
    struct json_object *all = NULL, *list = NULL;

    if (root != NULL) {
        all = json_object_new_object();
        json_object_object_add(root, "checks", all);
    }

    for (i = 0; i < SBX_STATS_RUNTIMES && stats->runtimes[i].name[0]; i++) {

        if (all != NULL) {
            list = json_object_new_array();
            json_object_object_add(all, stats->runtimes[i].name, list);
        }

        bad += check_runtime(&stats->runtimes[i], list);
    }

    return bad;
}


static int
run_program(sbx_client_t *client, sbx_verdict_t *v, char **payload,
    sbx_err_t *err)
{
    int rc;
    sbx_job_t job;

    sbx_job_init(&job);
    job.language = SBX_STR("python");
    job.name = SBX_STR("check.py");
    job.code = SBX_STR(program);
    job.allow_missing = SBX_LAYERS_ALL;
    job.limits[SBX_LIMIT_CPU_TIME] = job.limits[SBX_LIMIT_TIMEOUT];
    rc = sbx_job_add_case(&job, 0, SBX_STR(""));

    if (rc == 0) {
        rc = sbx_client_run(client, &job, v, payload, err);
    }

    sbx_job_clear(&job);

    return rc;
}


int
sbx_cmd_check(int argc, char **argv)
{
    int bad;
    char *payload = NULL;
    sbx_err_t err;
    sbx_conf_t conf;
    sbx_client_t client = { .fd = -1 };
    sbx_verdict_t v;
    struct json_object *root = NULL;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("usage: deer-flow check [--json]\n");
        return 0;
    }

    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json") != 0)) {
        fprintf(stderr, "usage: deer-flow check [--json]\n");
        return SBX_EXIT_USAGE;
    }

    if (argc == 2) {
        root = json_object_new_object();
    }

    memset(&conf, 0, sizeof(conf));

    if (sbx_cmd_conf(&conf, NULL, &err) < 0) {
        goto failed;
    }

    conf.zygotes = 1;
    conf.checks = 1;
    conf.log_level = SBX_LOG_WARN;

    if (sbx_client_start(&client, &conf, &err) < 0
        || sbx_client_wait_ready(&client, 1, READY_MS, &err) < 0
        || run_program(&client, &v, &payload, &err) < 0)
    {
        goto failed;
    }

    bad = check_layers(client.stats, root);
    bad += check_facts(&v, root);
    bad += check_runtimes(client.stats, root);
    bad += check_checks(client.stats, root);

    if (v.status != SBX_SUCCESS) {
        fprintf(stderr, "deer-flow: the check's program: %s: %s\n",
                sbx_status_name(v.status), v.error);
        bad++;
    }

    if (root != NULL) {
        json_object_object_add(root, "ok", json_object_new_boolean(bad == 0));
        printf("%s\n", json_object_to_json_string_ext(root,
                           JSON_C_TO_STRING_PRETTY));
    } else {
        printf("%s\n", bad ? "not every required layer is in force, or not "
                             "every check passed"
                           : "every required layer is in force, every check "
                             "passed");
    }

    sbx_client_close(&client);
    free(payload);
    sbx_conf_clear(&conf);
    json_object_put(root);

    return bad ? 1 : 0;

failed:

    sbx_cmd_complain(&err);
    sbx_client_close(&client);
    sbx_conf_clear(&conf);
    json_object_put(root);

    return 1;
}
