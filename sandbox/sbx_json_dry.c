/*
 * sbx_json_dry.c: the job as the JSON that a dry run answers.
 *
 * Runs in the worker and the command.  The request's own keys, so that what is
 * answered can be sent again.
 */

#include <stdio.h>
#include <string.h>

#include "sbx_compare.h"
#include "sbx_floor.h"
#include "sbx_json.h"
#include "sbx_json_text.h"
#include "sbx_layer.h"


/* As a request writes it: text, or {"base64":…} where text cannot hold it. */
static void
put_bytes(sbx_json_out_t *out, const char *key, sbx_str_t data)
{
    if (sbx_utf8_valid(data)) {
        sbx_json_text(out, key, data);
        return;
    }

    sbx_json_open(out, key, '{');
    sbx_json_base64(out, "base64", data);
    sbx_json_close(out, '}');
}


static void
put_env(sbx_json_out_t *out, sbx_str_t env)
{
    size_t len;
    char name[SBX_JSON_KEY_BYTES + 1];
    const char *equal;

    equal = memchr(env.data, '=', env.len);
    len = equal == NULL ? env.len : (size_t) (equal - env.data);

    snprintf(name, sizeof(name), "%.*s", (int) len, env.data);

    sbx_json_text(out, name,
                  equal == NULL ? (sbx_str_t) { NULL, 0 }
                                : (sbx_str_t) { equal + 1,
                                                env.len - len - 1 });
}


static void
put_file(sbx_json_out_t *out, const sbx_file_t *file)
{
    sbx_json_open(out, NULL, '{');
    sbx_json_text(out, "path", file->path);

    if (sbx_utf8_valid(file->data)) {
        sbx_json_text(out, "content", file->data);

    } else {
        sbx_json_base64(out, "base64", file->data);
    }

    sbx_json_close(out, '}');
}


static void
put_cases(sbx_json_out_t *out, const sbx_job_t *job)
{
    size_t i;

    sbx_json_open(out, "cases", '[');

    for (i = 0; i < job->ncases; i++) {
        sbx_json_open(out, NULL, '{');
        put_bytes(out, "stdin", job->cases[i].input);

        if (job->cases[i].expected.data != NULL) {
            put_bytes(out, "expected", job->cases[i].expected);
        }

        sbx_json_close(out, '}');
    }

    sbx_json_close(out, ']');
}


static void
put_input(sbx_json_out_t *out, const sbx_job_t *job)
{
    if (job->suite.len > 0) {
        sbx_json_text(out, "cases_from", job->suite);

    } else if (job->ncases == 1 && job->cases[0].expected.data == NULL) {
        put_bytes(out, "stdin", job->cases[0].input);
        return;

    } else {
        put_cases(out, job);
    }

    sbx_json_name(out, "compare", sbx_compare_name(job->compare));
    sbx_json_bool(out, "stop_at_failure", (job->flags & SBX_JOB_STOP) != 0);
}


static void
put_program(sbx_json_out_t *out, const sbx_job_t *job)
{
    size_t i;

    sbx_json_text(out, "language", job->language);
    put_bytes(out, "code", job->code);
    sbx_json_text(out, "name", job->name);
    put_input(out, job);
    sbx_json_open(out, "args", '[');

    for (i = 0; i < job->nargs; i++) {
        sbx_json_text(out, NULL, job->args[i]);
    }

    sbx_json_close(out, ']');
    sbx_json_open(out, "env", '{');

    for (i = 0; i < job->nenv; i++) {
        put_env(out, job->env[i]);
    }

    sbx_json_close(out, '}');
    sbx_json_open(out, "files", '[');

    for (i = 0; i < job->nfiles; i++) {
        put_file(out, &job->files[i]);
    }

    sbx_json_close(out, ']');
}


/* Limits that are below what the language starts with. */
static void
put_warnings(sbx_json_out_t *out, const sbx_job_t *job, const uint64_t *floors)
{
    int id = -1;
    char text[400];

    sbx_json_open(out, "warnings", '[');

    while (floors != NULL
           && (id = sbx_floor_find(job->limits, floors, id + 1, 0)) >= 0)
    {
        sbx_floor_format(id, job->limits[id], floors[id], job->language, text,
                         sizeof(text));
        sbx_json_text(out, NULL, (sbx_str_t) { text, strlen(text) });
    }

    sbx_json_close(out, ']');
}


char *
sbx_job_json(const sbx_job_t *job, uint64_t base_bytes,
    const uint64_t *floors, size_t *len)
{
    uint64_t limits[SBX_LIMIT_COUNT];
    const sbx_layer_info_t *layer;
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    memcpy(limits, job->limits, sizeof(limits));

    if (limits[SBX_LIMIT_CPU_TIME] == 0) {
        limits[SBX_LIMIT_CPU_TIME] = limits[SBX_LIMIT_TIMEOUT];
    }

    sbx_json_open(&out, NULL, '{');
    sbx_json_bool(&out, "dry_run", 1);
    put_program(&out, job);
    sbx_json_limits(&out, limits, base_bytes, job->code.len,
               job->factor_permille);
    sbx_json_name(&out, "memory_mode",
                  job->flags & SBX_JOB_SOFT_MEMORY ? "soft" : "hard");
    sbx_json_name(&out, "proc",
                  job->flags & SBX_JOB_PROC_EMPTY ? "empty" : "on");
    sbx_json_open(&out, "allow_missing", '[');

    for (layer = sbx_layers; layer->bit != 0; layer++) {
        if (job->allow_missing & layer->bit) {
            sbx_json_name(&out, NULL, layer->name);
        }
    }

    for (layer = sbx_checks; layer->bit != 0; layer++) {
        if (job->allow_missing & layer->bit) {
            sbx_json_name(&out, NULL, layer->name);
        }
    }

    sbx_json_close(&out, ']');
    put_warnings(&out, job, floors);
    sbx_json_close(&out, '}');

    return sbx_json_end(&out, len);
}
