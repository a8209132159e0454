/*
 * sbx_conf.c: the supervisor's settings, from the JSON that nginx (or the
 * command) passes, and defaults.  Runs in guard and command, before the cell.
 */

#include <errno.h>
#include <json-c/json.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_log.h"
#include "sbx_super.h"

#define QUEUE_DEFAULT       256
#define QUEUE_MS_DEFAULT    30000

#define RENEW_RUNS              10000
#define RENEW_S                 3600
#define RENEW_GROWTH_PERMILLE   2000


static int
file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}


/* A companion: beside the binary (build tree), else where it is installed. */
static void
find_companion(const sbx_conf_t *conf, const char *name, char *path,
    size_t size)
{
    size_t len;
    const char *slash = strrchr(conf->self, '/');

    len = slash ? (size_t) (slash - conf->self) : 0;

    if (snprintf(path, size, "%.*s/%s", (int) len, conf->self, name)
            < (int) size && file_exists(path))
    {
        return;
    }

    if (snprintf(path, size, "%.*s/../lib/deer-flow/%s", (int) len, conf->self,
                 name) < (int) size && file_exists(path))
    {
        return;
    }

    path[0] = '\0';
}


static int
find_self(sbx_conf_t *conf, sbx_err_t *err)
{
    ssize_t n = readlink("/proc/self/exe", conf->self, sizeof(conf->self) - 1);

    if (n <= 0) {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "readlink /proc/self/exe");
    }

    conf->self[n] = '\0';
    find_companion(conf, "libsbx_preload.so", conf->preload,
                   sizeof(conf->preload));
    find_companion(conf, "libsbx_python.so", conf->python_zygote,
                   sizeof(conf->python_zygote));
    find_companion(conf, "libsbx_node.so", conf->node_zygote,
                   sizeof(conf->node_zygote));

    if (conf->preload[0] == '\0') {
        return sbx_fail(err, SBX_STEP_CONFIG, ENOENT, "libsbx_preload.so is "
                        "neither beside %.100s nor in ../lib/deer-flow",
                        conf->self);
    }

#ifdef SBX_ZYGOTE_PROGRAM

    /* a sanitizer build: the hook and a sanitizer cannot share one malloc */
    if (snprintf(conf->self, sizeof(conf->self), "%s", SBX_ZYGOTE_PROGRAM)
        >= (int) sizeof(conf->self))
    {
        return sbx_fail(err, SBX_STEP_CONFIG, ENAMETOOLONG, "%s",
                        SBX_ZYGOTE_PROGRAM);
    }

#endif

    return 0;
}


static int
are_strings(struct json_object *array)
{
    size_t i;

    if (!json_object_is_type(array, json_type_array)) {
        return 0;
    }

    for (i = 0; i < json_object_array_length(array); i++) {
        if (!json_object_is_type(json_object_array_get_idx(array, i),
                                 json_type_string))
        {
            return 0;
        }
    }

    return 1;
}


static char **
copy_strings(struct json_object *array)
{
    char **list;
    size_t i, n;

    n = array ? json_object_array_length(array) : 0;
    list = calloc(n + 1, sizeof(*list));

    for (i = 0; list != NULL && i < n; i++) {
        list[i] = strdup(json_object_get_string(
                             json_object_array_get_idx(array, i)));
    }

    return list;
}


static void
free_strings(char **list)
{
    size_t i;

    for (i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }

    free(list);
}


static sbx_runtime_conf_t *
runtime_slot(sbx_conf_t *conf, const char *name)
{
    unsigned i;

    for (i = 0; i < conf->nruntimes; i++) {
        if (strcmp(conf->runtimes[i].name, name) == 0) {
            free_strings(conf->runtimes[i].cmd);
            free_strings(conf->runtimes[i].binds);
            return &conf->runtimes[i];
        }
    }

    return conf->nruntimes < SBX_RUNTIMES_MAX
           ? &conf->runtimes[conf->nruntimes++] : NULL;
}


static int
add_runtime(sbx_conf_t *conf, struct json_object *o, sbx_err_t *err)
{
    const char *name;
    sbx_runtime_conf_t *rt;
    struct json_object *v, *cmd = NULL, *bind = NULL;

    if (!json_object_is_type(o, json_type_object)
        || !json_object_object_get_ex(o, "name", &v)
        || !json_object_is_type(v, json_type_string)
        || !json_object_object_get_ex(o, "command", &cmd)
        || !are_strings(cmd) || json_object_array_length(cmd) == 0
        || (json_object_object_get_ex(o, "bind", &bind)
            && !are_strings(bind)))
    {
        return sbx_fail(err, SBX_STEP_CONFIG, 0, "a runtime needs \"name\", "
                        "and \"command\" as an array of strings");
    }

    name = json_object_get_string(v);
    rt = runtime_slot(conf, name);

    if (rt == NULL) {
        return sbx_fail(err, SBX_STEP_CONFIG, 0, "more than %d runtimes",
                        SBX_RUNTIMES_MAX);
    }

    snprintf(rt->name, sizeof(rt->name), "%s", name);
    rt->own = 1;
    rt->cmd = copy_strings(cmd);
    rt->binds = copy_strings(bind);

    if (rt->cmd == NULL || rt->binds == NULL) {
        return sbx_fail(err, SBX_STEP_CONFIG, ENOMEM, "runtime %s", name);
    }

    return 0;
}


static int
add_builtin(sbx_conf_t *conf, const char *name, const char *path,
    const char *option, sbx_err_t *err)
{
    int rc;
    struct json_object *o, *cmd;

    if (!file_exists(path)) {
        return 0;
    }

    o = json_object_new_object();
    cmd = json_object_new_array();
    json_object_array_add(cmd, json_object_new_string(path));

    if (option != NULL) {
        json_object_array_add(cmd, json_object_new_string(option));
    }

    json_object_object_add(o, "name", json_object_new_string(name));
    json_object_object_add(o, "command", cmd);
    rc = add_runtime(conf, o, err);
    json_object_put(o);

    if (rc == 0) {
        conf->runtimes[conf->nruntimes - 1].own = 0;
    }

    return rc;
}


/* The numbers of --config, each with the largest that is no mistake. */
static const struct {
    const char *key;
    size_t offset;
    int64_t max;
} numbers[] = {
    { "slots", offsetof(sbx_conf_t, slots), 4096 },
    { "standby", offsetof(sbx_conf_t, standby), 4096 },
    { "queue", offsetof(sbx_conf_t, queue), 1000000 },
    { "queue_ms", offsetof(sbx_conf_t, queue_ms), 86400000 },
    { "renew_runs", offsetof(sbx_conf_t, renew_runs), 1000000000 },
    { "renew_s", offsetof(sbx_conf_t, renew_s), 31536000 },
    { "renew_growth_permille", offsetof(sbx_conf_t, renew_growth_permille),
      1000000 },
    { "peer_uid", offsetof(sbx_conf_t, peer_uid), UINT32_MAX - 1 },
    { "log_level", offsetof(sbx_conf_t, log_level), SBX_LOG_DEBUG }
};

#define NNUMBERS  (sizeof(numbers) / sizeof(numbers[0]))


static int
read_number(sbx_conf_t *conf, const char *key, struct json_object *v,
    sbx_err_t *err)
{
    size_t i;
    int64_t n;
    uint32_t value;

    for (i = 0; i < NNUMBERS; i++) {

        if (strcmp(key, numbers[i].key) != 0) {
            continue;
        }

        n = json_object_get_int64(v);

        if (!json_object_is_type(v, json_type_int) || n < 0
            || n > numbers[i].max)
        {
            return sbx_fail(err, SBX_STEP_CONFIG, 0, "--config: %s is no "
                            "number from 0 to %lld", key,
                            (long long) numbers[i].max);
        }

        value = (uint32_t) n;
        memcpy((char *) conf + numbers[i].offset, &value, sizeof(value));

        return 0;
    }

    return sbx_fail(err, SBX_STEP_CONFIG, 0, "--config: unknown key %.60s",
                    key);
}


static int
read_runtimes(sbx_conf_t *conf, struct json_object *v, sbx_err_t *err)
{
    size_t i;

    if (!json_object_is_type(v, json_type_array)) {
        return sbx_fail(err, SBX_STEP_CONFIG, 0,
                        "--config: runtimes is no array");
    }

    for (i = 0; i < json_object_array_length(v); i++) {
        if (add_runtime(conf, json_object_array_get_idx(v, i), err) < 0) {
            return -1;
        }
    }

    return 0;
}


/* Lists of strings. */
static const struct {
    const char *key;
    size_t offset;
} lists[] = {
    { "cases", offsetof(sbx_conf_t, suite_roots) },
    { "preload", offsetof(sbx_conf_t, modules) },
    { "preload_at", offsetof(sbx_conf_t, modules_at) }
};

#define NLISTS  (sizeof(lists) / sizeof(lists[0]))


/* 1: it is one of them and was read; 0: it is none; -1: what it has is wrong. */
static int
read_list(sbx_conf_t *conf, const char *key, struct json_object *v,
    sbx_err_t *err)
{
    size_t i;
    char ***list;

    for (i = 0; i < NLISTS && strcmp(key, lists[i].key) != 0; i++) {
        /* the row of this key */
    }

    if (i == NLISTS) {
        return 0;
    }

    if (!are_strings(v)) {
        return sbx_fail(err, SBX_STEP_CONFIG, 0,
                        "--config: %s is no array of strings", key);
    }

    list = (char ***) ((char *) conf + lists[i].offset);
    free_strings(*list);
    *list = copy_strings(v);

    if (*list == NULL) {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "--config");
    }

    return 1;
}


/* They go to the zygote in one variable, by spaces. */
static int
check_preload(const sbx_conf_t *conf, sbx_err_t *err)
{
    size_t len = sizeof("SBX_PRELOAD=");
    char *const *name = conf->modules;

    for (; name != NULL && *name != NULL; name++) {

        if ((*name)[0] == '\0' || strpbrk(*name, " \t\r\n\v\f") != NULL) {
            return sbx_fail(err, SBX_STEP_CONFIG, 0,
                            "--config: preload: \"%.60s\" is no module",
                            *name);
        }

        len += strlen(*name) + 1;
    }

    if (len > SBX_PRELOAD_SIZE) {
        return sbx_fail(err, SBX_STEP_CONFIG, 0, "--config: the names in "
                        "preload are longer than %d bytes", SBX_PRELOAD_SIZE);
    }

    return 0;
}


static int
read_members(sbx_conf_t *conf, struct json_object *root, sbx_err_t *err)
{
    int rc;

    json_object_object_foreach(root, key, v) {

        rc = read_list(conf, key, v, err);

        if (rc < 0) {
            return -1;
        }

        if (rc > 0) {
            continue;
        }

        if (strcmp(key, "runtimes") == 0) {
            if (read_runtimes(conf, v, err) < 0) {
                return -1;
            }

        } else if (strcmp(key, "log") == 0
                   && json_object_is_type(v, json_type_string))
        {
            snprintf(conf->log, sizeof(conf->log), "%s",
                     json_object_get_string(v));

        } else if (read_number(conf, key, v, err) < 0) {
            return -1;
        }
    }

    return check_preload(conf, err);
}


static int
read_json(sbx_conf_t *conf, const char *json, sbx_err_t *err)
{
    int rc;
    struct json_object *root = json_tokener_parse(json);

    if (!json_object_is_type(root, json_type_object)) {
        json_object_put(root);
        return sbx_fail(err, SBX_STEP_CONFIG, 0, "--config is no JSON object");
    }

    rc = read_members(conf, root, err);
    json_object_put(root);

    return rc;
}


int
sbx_conf_init(sbx_conf_t *conf, const char *json, sbx_err_t *err)
{
    memset(conf, 0, sizeof(*conf));
    conf->listen_fd = conf->conn_fd = -1;
    conf->lifeline_fd = conf->stats_fd = -1;
    conf->standby = UINT32_MAX;
    conf->queue = QUEUE_DEFAULT;
    conf->queue_ms = QUEUE_MS_DEFAULT;
    conf->renew_runs = RENEW_RUNS;
    conf->renew_s = RENEW_S;
    conf->renew_growth_permille = RENEW_GROWTH_PERMILLE;
    conf->peer_uid = UINT32_MAX;
    conf->zygotes = 1;
    conf->checks = 1;
    conf->log_level = SBX_LOG_NOTICE;

    if (add_builtin(conf, "python", "/usr/bin/python3", NULL, err) < 0
        || add_builtin(conf, "node", "/usr/bin/node", "--no-warnings", err)
           < 0
        || (json != NULL && read_json(conf, json, err) < 0))
    {
        return -1;
    }

    return find_self(conf, err);
}


void
sbx_conf_clear(sbx_conf_t *conf)
{
    unsigned i;

    for (i = 0; i < conf->nruntimes; i++) {
        free_strings(conf->runtimes[i].cmd);
        free_strings(conf->runtimes[i].binds);
    }

    free_strings(conf->suite_roots);
    free_strings(conf->modules);
    free_strings(conf->modules_at);
    conf->suite_roots = conf->modules = conf->modules_at = NULL;
    conf->nruntimes = 0;
}


int
sbx_conf_no_language(const sbx_conf_t *conf, sbx_str_t language,
    sbx_err_t *err)
{
    unsigned i;
    char known[SBX_RUNTIMES_MAX * (sizeof(conf->runtimes[0].name) + 2)];
    size_t len = 0;

    known[0] = '\0';

    for (i = 0; i < conf->nruntimes; i++) {
        len += (size_t) snprintf(known + len, sizeof(known) - len, "%s%s",
                                 i == 0 ? "" : ", ", conf->runtimes[i].name);
    }

    return sbx_fail(err, SBX_STEP_CONFIG, 0, "language: \"%.*s\" is not one of "
                    "%s", language.len > 64 ? 64 : (int) language.len,
                    language.data, known);
}
