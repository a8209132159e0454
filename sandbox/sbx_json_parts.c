/*
 * sbx_json_parts.c: the parts of a request that are lists: files, limits.
 *
 * Runs in the worker and the command, called by sbx_json.c for their keys.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sbx_json_parser.h"


/* The parts of a file, as they come; those not given have data NULL. */
enum { FILE_PATH, FILE_CONTENT, FILE_BASE64, FILE_PARTS };

static int
parse_file_parts(sbx_parser_t *p, size_t i, sbx_str_t parts[FILE_PARTS])
{
    int k;
    sbx_str_t key;
    static const char *const names[] = { "path", "content", "base64" };

    if (!sbx_parser_enter(p, '{')) {
        return sbx_json_fail(p, "files[%zu]: an object is expected", i);
    }

    while (sbx_json_more(&p->in)) {
        key = sbx_json_key(&p->in);

        for (k = 0; k < FILE_PARTS && !sbx_str_is(key, names[k]); k++) {
            /* void */
        }

        if (k == FILE_PARTS) {
            return sbx_json_fail(p, "files[%zu]: unknown key \"%.*s\"", i,
                                 sbx_quoted_len(key), key.data);
        }

        if (!sbx_parser_string(p, &parts[k])) {
            return sbx_json_fail(p, "files[%zu].%s: a string is expected", i,
                                 names[k]);
        }
    }

    return 0;
}


static int
parse_file_data(sbx_parser_t *p, size_t i, const sbx_str_t parts[FILE_PARTS],
    sbx_str_t *data)
{
    char field[48];

    if (parts[FILE_CONTENT].data != NULL && parts[FILE_BASE64].data != NULL) {
        return sbx_json_fail(p, "files[%zu]: \"content\" and \"base64\" "
                             "contradict each other", i);
    }

    if (parts[FILE_BASE64].data != NULL) {
        snprintf(field, sizeof(field), "files[%zu].base64", i);

        return sbx_parser_base64(p, field, parts[FILE_BASE64], data);
    }

    if (parts[FILE_CONTENT].data == NULL) {
        return sbx_json_fail(p, "files[%zu]: \"content\" or \"base64\" is "
                             "required", i);
    }

    *data = parts[FILE_CONTENT];

    return 0;
}


static int
parse_file(sbx_parser_t *p, size_t i)
{
    const char *why;
    sbx_str_t data;
    sbx_str_t parts[FILE_PARTS] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

    if (parse_file_parts(p, i, parts) != 0) {
        return -1;
    }

    if (parts[FILE_PATH].data == NULL) {
        return sbx_json_fail(p, "files[%zu].path: is required", i);
    }

    why = sbx_path_check(parts[FILE_PATH]);

    if (why != NULL) {
        return sbx_json_fail(p, "files[%zu].path: %s", i, why);
    }

    if (parse_file_data(p, i, parts, &data) != 0) {
        return -1;
    }

    if (sbx_job_add_file(&p->req->job, parts[FILE_PATH], data) != 0) {
        return errno == ENOMEM ? sbx_json_no_memory(p)
                               : sbx_json_fail(p, "files: more than %d",
                                               SBX_FILES_MAX);
    }

    return 0;
}


int
sbx_parse_files(sbx_parser_t *p)
{
    if (!sbx_parser_enter(p, '[')) {
        return sbx_json_fail(p, "files: an array of objects is expected");
    }

    while (sbx_json_more(&p->in)) {
        if (parse_file(p, p->req->job.nfiles) != 0) {
            return -1;
        }
    }

    return 0;
}


/* got: as the client wrote it; data NULL when it is no string or number. */
static int
fail_limit(sbx_parser_t *p, sbx_limit_id_t id, sbx_str_t got)
{
    char min[32], max[32];
    static const char *const kinds[] = {
        [SBX_UNIT_BYTES] = "a size such as \"64m\", or whole bytes,",
        [SBX_UNIT_MS] = "a time such as \"500ms\" or \"5s\", or whole ms,",
        [SBX_UNIT_COUNT] = "a whole number"
    };

    sbx_limit_format(id, sbx_limits[id].min, min, sizeof(min));
    sbx_limit_format(id, sbx_limits[id].max, max, sizeof(max));

    return sbx_json_fail(p, "limits.%s: %s from %s to %s is expected%s%.*s",
                         sbx_limits[id].name, kinds[sbx_limits[id].unit], min,
                         max, got.data == NULL ? "" : ", not ",
                         sbx_quoted_len(got), got.data);
}


static int
parse_limit(sbx_parser_t *p, sbx_limit_id_t id)
{
    int c;
    sbx_str_t text;

    c = sbx_json_peek(&p->in);

    if (c == '"') {
        text = sbx_json_string(&p->in);

    } else if (c == '-' || (c >= '0' && c <= '9')) {

        /* A number parses as text does, if it is nothing but digits. */

        text = sbx_json_token(&p->in);

    } else {
        return fail_limit(p, id, (sbx_str_t) { NULL, 0 });
    }

    if (sbx_limit_parse(id, text, 0, &p->req->wanted[id]) != 0) {
        return fail_limit(p, id, text);
    }

    p->req->asked |= 1u << id;

    return 0;
}


int
sbx_parse_limits(sbx_parser_t *p)
{
    int id;
    sbx_str_t name;

    if (!sbx_parser_enter(p, '{')) {
        return sbx_json_fail(p, "limits: an object is expected");
    }

    while (sbx_json_more(&p->in)) {
        name = sbx_json_key(&p->in);
        id = sbx_limit_find(name);

        if (id < 0) {
            return sbx_json_fail(p, "limits: unknown key \"%.*s\"",
                                 sbx_quoted_len(name), name.data);
        }

        if (parse_limit(p, id) != 0) {
            return -1;
        }
    }

    return 0;
}
