/*
 * sbx_wire_program.c: a job's program as fields, for frames and job channel.
 *
 * Runs in the worker and the supervisor (frames) and in the child (job
 * channel).  Frames and job channel carry a program in the same fields, and
 * every receiver checks all of it again: the child's checks are what keeps a
 * file inside the run's directory even if the supervisor were deceived.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_wire_field.h"
#include "sbx_zygote.h"


/* argv of a runtime, from the operator's configuration. */
#define CMD_MAX  256


static const sbx_row_t program_rows[] = {
    { SBX_TAG_NAME, SBX_KIND_STR, 1, offsetof(sbx_job_t, name), 0, 0,
      "name" },
    { SBX_TAG_CODE, SBX_KIND_STR, 1, offsetof(sbx_job_t, code), 0, 0,
      "code" },
    { 0, 0, 0, 0, 0, 0, NULL }
};


void
sbx_program_put(sbx_sink_t *out, const sbx_job_t *job)
{
    size_t i;

    sbx_rows_put(out, program_rows, job);

    for (i = 0; i < job->nargs; i++) {
        sbx_field_put(out, SBX_TAG_ARG, job->args[i]);
    }

    for (i = 0; i < job->nenv; i++) {
        sbx_field_put(out, SBX_TAG_ENV, job->env[i]);
    }

    for (i = 0; i < job->nfiles; i++) {
        sbx_field_put(out, SBX_TAG_FILE_PATH, job->files[i].path);
        sbx_field_put(out, SBX_TAG_FILE_DATA, job->files[i].data);
    }
}


/* Of an append that failed. */
static int
fail_add(sbx_err_t *err, const char *what)
{
    return sbx_fail(err, SBX_STEP_WIRE, errno, "%s %s",
                    errno == E2BIG ? "too many" : "no memory for", what);
}


static int
get_arg(sbx_job_t *job, sbx_str_t arg, sbx_err_t *err)
{
    if (memchr(arg.data, '\0', arg.len) != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "args[%zu] holds a NUL byte",
                        job->nargs);
    }

    if (sbx_job_add_arg(job, arg) != 0) {
        return fail_add(err, "args");
    }

    return 1;
}


static int
get_env(sbx_job_t *job, sbx_str_t env, sbx_err_t *err)
{
    const char *why;

    why = sbx_env_check(env);

    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "env[%zu] %s", job->nenv, why);
    }

    if (sbx_job_add_env(job, env) != 0) {
        return fail_add(err, "env");
    }

    return 1;
}


static int
get_path(const sbx_job_t *job, sbx_str_t data, sbx_str_t *path,
    sbx_err_t *err)
{
    const char *why;

    why = sbx_path_check(data);

    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "path of files[%zu] %s",
                        job->nfiles, why);
    }

    *path = data;

    return 1;
}


int
sbx_program_get(sbx_job_t *job, const sbx_field_t *field, sbx_str_t *path,
    uint64_t *seen, sbx_err_t *err)
{
    if ((path->data != NULL) != (field->tag == SBX_TAG_FILE_DATA)) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "path and data of files[%zu] do not come together",
                        job->nfiles);
    }

    switch (field->tag) {

    case SBX_TAG_ARG:
        return get_arg(job, field->data, err);

    case SBX_TAG_ENV:
        return get_env(job, field->data, err);

    case SBX_TAG_FILE_PATH:
        return get_path(job, field->data, path, err);

    case SBX_TAG_FILE_DATA:
        if (sbx_job_add_file(job, *path, field->data) != 0) {
            return fail_add(err, "files");
        }

        *path = (sbx_str_t) { NULL, 0 };

        return 1;
    }

    return sbx_rows_get(program_rows, job, field, seen, err);
}


int
sbx_program_complete(const sbx_job_t *job, sbx_str_t path, uint64_t seen,
    sbx_err_t *err)
{
    int clash;
    const char *why;

    if (path.data != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "files[%zu] has no data",
                        job->nfiles);
    }

    if (sbx_rows_complete(program_rows, seen, err) != 0) {
        return -1;
    }

    why = sbx_name_check(job->name);

    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "name %s", why);
    }

    clash = sbx_job_clash(job);

    if (clash >= 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "files[%d] is in the way of another file", clash);
    }

    return 0;
}


static void
put_run(sbx_sink_t *out, const sbx_job_t *job, char *const *cmd)
{
    for ( /* void */ ; cmd != NULL && *cmd != NULL; cmd++) {
        sbx_field_put(out, SBX_TAG_CMD, (sbx_str_t) { *cmd, strlen(*cmd) });
    }

    sbx_program_put(out, job);
}


size_t
sbx_run_size(const sbx_job_t *job, char *const *cmd)
{
    sbx_sink_t out = { NULL, 0 };

    put_run(&out, job, cmd);

    return out.size;
}


void
sbx_run_pack(const sbx_job_t *job, char *const *cmd, char *payload)
{
    sbx_sink_t out = { payload, 0 };

    put_run(&out, job, cmd);
}


static int
add_cmd(sbx_str_t **cmd, size_t *ncmd, sbx_str_t arg, sbx_err_t *err)
{
    if (*cmd == NULL) {
        *cmd = malloc(CMD_MAX * sizeof(sbx_str_t));

        if (*cmd == NULL) {
            errno = ENOMEM;
            return fail_add(err, "cmd");
        }
    }

    if (*ncmd == CMD_MAX) {
        errno = E2BIG;
        return fail_add(err, "cmd");
    }

    if (arg.len == 0 || memchr(arg.data, '\0', arg.len) != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "cmd[%zu] is empty or holds a NUL byte", *ncmd);
    }

    (*cmd)[(*ncmd)++] = arg;

    return 1;
}


static int
get_run(sbx_job_t *job, sbx_str_t **cmd, size_t *ncmd, sbx_fields_t *in,
    sbx_err_t *err)
{
    int rc;
    uint64_t seen;
    sbx_str_t path;
    sbx_field_t field;

    seen = 0;
    path = (sbx_str_t) { NULL, 0 };

    while ((rc = sbx_field_next(in, &field, err)) == 1) {

        if (field.tag == SBX_TAG_CMD) {
            rc = add_cmd(cmd, ncmd, field.data, err);

        } else {
            rc = sbx_program_get(job, &field, &path, &seen, err);
        }

        if (rc < 0) {
            return -1;
        }

        if (rc == 0) {
            return sbx_fail(err, SBX_STEP_WIRE, 0, "unknown field %u",
                            field.tag);
        }
    }

    if (rc < 0) {
        return -1;
    }

    return sbx_program_complete(job, path, seen, err);
}


int
sbx_run_unpack(sbx_job_t *job, sbx_str_t **cmd, size_t *ncmd,
    const char *payload, size_t len, sbx_err_t *err)
{
    sbx_fields_t in = { payload, len };

    sbx_job_init(job);
    *cmd = NULL;
    *ncmd = 0;

    if (get_run(job, cmd, ncmd, &in, err) != 0) {
        sbx_job_clear(job);
        free(*cmd);
        *cmd = NULL;
        *ncmd = 0;
        return -1;
    }

    return 0;
}
