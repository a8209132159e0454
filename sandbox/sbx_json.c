/*
 * sbx_json.c: the native request, from JSON to a job.
 *
 * Runs in the worker and the command, on a body that a client sent.  The text
 * is checked first (sbx_json_check.c), then read once from front to end, by the
 * tables of keys below.  Every refusal names the field, as the client wrote it.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_json.h"
#include "sbx_json_text.h"


/* How much of a client's own text an error repeats. */
#define QUOTED_MAX  64


typedef struct {
    sbx_request_t *req;
    sbx_json_in_t in;
    sbx_str_t language;     /* the location's */
    int has_code;
    char *why;
    size_t size;
} parser_t;

typedef struct {
    const char *key;
    int (*parse)(parser_t *p);
} key_row_t;

static int parse_language(parser_t *p);
static int parse_code(parser_t *p);
static int parse_name(parser_t *p);
static int parse_stdin(parser_t *p);
static int parse_args(parser_t *p);
static int parse_env(parser_t *p);
static int parse_files(parser_t *p);
static int parse_limits(parser_t *p);
static int parse_encoding(parser_t *p);
static int parse_root(parser_t *p);


static const key_row_t keys[] = {
    { "language", parse_language },
    { "code", parse_code },
    { "name", parse_name },
    { "stdin", parse_stdin },
    { "args", parse_args },
    { "env", parse_env },
    { "files", parse_files },
    { "limits", parse_limits },
    { "encoding", parse_encoding },
    { NULL, NULL }
};


int
sbx_request_parse(sbx_request_t *req, const char *text, size_t len,
    sbx_str_t language, char *why, size_t size)
{
    parser_t p;

    memset(req, 0, sizeof(sbx_request_t));
    sbx_job_init(&req->job);

    errno = 0;

    if (sbx_json_check(text, len, why, size) != NULL) {
        return -1;
    }

    /*
     * Each byte of a string is stored at most twice: when its escapes are
     * resolved, and when it becomes part of "NAME=value" or is decoded from
     * base64.  The '=' has its room in the quotes.
     */

    req->decoded = malloc(2 * len);

    memset(&p, 0, sizeof(parser_t));
    p.req = req;
    p.in = (sbx_json_in_t) { text, text + len, req->decoded };
    p.language = sbx_language_canonical(language);
    p.why = why;
    p.size = size;

    return parse_root(&p);
}


void
sbx_request_clear(sbx_request_t *req)
{
    sbx_job_clear(&req->job);
    free(req->decoded);

    req->decoded = NULL;
}


static int __attribute__((format(printf, 2, 3)))
fail(parser_t *p, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->why, p->size, fmt, args);
    va_end(args);

    errno = 0;

    return -1;
}


static int
fail_memory(parser_t *p)
{
    fail(p, "no memory");
    errno = ENOMEM;

    return -1;
}


/* Why sbx_job_add_* refused; bound: how many there may be. */
static int
fail_add(parser_t *p, const char *field, int bound)
{
    if (errno == ENOMEM) {
        return fail_memory(p);
    }

    return fail(p, "%s: more than %d, or args and env together above %d bytes",
                field, bound, SBX_ARGENV_BYTES);
}


static int
str_is(sbx_str_t s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}


static int
quoted_len(sbx_str_t s)
{
    return s.len > QUOTED_MAX ? QUOTED_MAX : (int) s.len;
}


/* A string is next, and is taken. */
static int
take_string(parser_t *p, sbx_str_t *s)
{
    if (sbx_json_peek(&p->in) != '"') {
        return 0;
    }

    *s = sbx_json_string(&p->in);

    return 1;
}


/* An object or an array is next, and is entered. */
static int
take_bracket(parser_t *p, char bracket)
{
    if (sbx_json_peek(&p->in) != bracket) {
        return 0;
    }

    sbx_json_enter(&p->in);

    return 1;
}


/* What is known only when all keys were seen. */
static int
finish(parser_t *p)
{
    int clash;
    sbx_job_t *job;

    job = &p->req->job;

    if (!p->has_code) {
        return fail(p, "code: is required");
    }

    if (p->language.len > 0 && job->language.len > 0
        && (p->language.len != job->language.len
            || memcmp(p->language.data, job->language.data, job->language.len)
               != 0))
    {
        return fail(p, "language: \"%.*s\" is not to be had here, only "
                    "\"%.*s\"", quoted_len(job->language), job->language.data,
                    quoted_len(p->language), p->language.data);
    }

    if (job->language.len == 0) {
        job->language = p->language;
    }

    if (job->language.len == 0) {
        return fail(p, "language: is required");
    }

    if (job->name.len == 0) {
        job->name = sbx_language_main(job->language);
    }

    clash = sbx_job_clash(job);

    if (clash >= 0) {
        return fail(p, "files[%d]: path \"%.*s\" is in the way of another "
                    "file", clash, quoted_len(job->files[clash].path),
                    job->files[clash].path.data);
    }

    if (job->ncases == 0
        && sbx_job_add_case(job, 0, (sbx_str_t) { NULL, 0 }) != 0)
    {
        return fail_memory(p);
    }

    return 0;
}


static int
parse_root(parser_t *p)
{
    sbx_str_t key;
    const key_row_t *row;

    if (p->req->decoded == NULL) {
        return fail_memory(p);
    }

    if (!take_bracket(p, '{')) {
        return fail(p, "the body is not a JSON object");
    }

    while (sbx_json_more(&p->in)) {
        key = sbx_json_key(&p->in);

        for (row = keys; row->key != NULL; row++) {
            if (str_is(key, row->key)) {
                break;
            }
        }

        if (row->key == NULL) {
            return fail(p, "unknown key \"%.*s\"", quoted_len(key), key.data);
        }

        if (row->parse(p) != 0) {
            return -1;
        }
    }

    return finish(p);
}


static int
parse_language(parser_t *p)
{
    const char *why;
    sbx_str_t language;

    if (!take_string(p, &language)) {
        return fail(p, "language: a string is expected");
    }

    why = sbx_name_check(language);

    if (why != NULL) {
        return fail(p, "language: %s", why);
    }

    p->req->job.language = sbx_language_canonical(language);

    return 0;
}


/* NUL may be in a program: the interpreter has an opinion on it, not we. */
static int
parse_code(parser_t *p)
{
    p->has_code = 1;

    if (!take_string(p, &p->req->job.code)) {
        return fail(p, "code: a string is expected");
    }

    return 0;
}


static int
parse_name(parser_t *p)
{
    const char *why;

    if (!take_string(p, &p->req->job.name)) {
        return fail(p, "name: a string is expected");
    }

    why = sbx_name_check(p->req->job.name);

    return why == NULL ? 0 : fail(p, "name: %s", why);
}


static int
parse_base64(parser_t *p, const char *field, sbx_str_t text, sbx_str_t *data)
{
    data->data = p->in.room;

    if (sbx_base64_decode(p->in.room, &data->len, text) != 0) {
        return fail(p, "%s: is not valid base64", field);
    }

    p->in.room += data->len;

    return 0;
}


/* {"base64":…}, the one key and a string. */
static int
parse_stdin_object(parser_t *p, sbx_str_t *input)
{
    sbx_str_t text;

    sbx_json_enter(&p->in);

    if (!sbx_json_more(&p->in)
        || !str_is(sbx_json_key(&p->in), "base64")
        || !take_string(p, &text)
        || sbx_json_more(&p->in))
    {
        return fail(p, "stdin: the object is not {\"base64\": \"…\"}");
    }

    return parse_base64(p, "stdin.base64", text, input);
}


static int
parse_stdin(parser_t *p)
{
    sbx_str_t input;

    if (sbx_json_peek(&p->in) == '{') {
        if (parse_stdin_object(p, &input) != 0) {
            return -1;
        }

    } else if (!take_string(p, &input)) {
        return fail(p, "stdin: a string or {\"base64\": \"…\"} is expected");
    }

    return sbx_job_add_case(&p->req->job, 0, input) == 0 ? 0 : fail_memory(p);
}


static int
parse_args(parser_t *p)
{
    sbx_str_t arg;
    sbx_job_t *job;

    job = &p->req->job;

    if (!take_bracket(p, '[')) {
        return fail(p, "args: an array of strings is expected");
    }

    while (sbx_json_more(&p->in)) {

        if (!take_string(p, &arg)) {
            return fail(p, "args[%zu]: a string is expected", job->nargs);
        }

        if (memchr(arg.data, '\0', arg.len) != NULL) {
            return fail(p, "args[%zu]: holds a NUL byte", job->nargs);
        }

        if (sbx_job_add_arg(job, arg) != 0) {
            return fail_add(p, "args", SBX_ARGS_MAX);
        }
    }

    return 0;
}


static int
parse_env_entry(parser_t *p, sbx_str_t name)
{
    const char *why;
    sbx_str_t env, text;

    if (!take_string(p, &text)) {
        return fail(p, "env.%.*s: a string is expected", quoted_len(name),
                    name.data);
    }

    if (memchr(name.data, '=', name.len) != NULL) {
        return fail(p, "env: the name \"%.*s\" holds a '='",
                    quoted_len(name), name.data);
    }

    env.data = p->in.room;
    env.len = name.len + 1 + text.len;

    memcpy(p->in.room, name.data, name.len);
    p->in.room[name.len] = '=';
    memcpy(p->in.room + name.len + 1, text.data, text.len);
    p->in.room += env.len;

    why = sbx_env_check(env);

    if (why != NULL) {
        return fail(p, "env.%.*s: %s", quoted_len(name), name.data, why);
    }

    if (sbx_job_add_env(&p->req->job, env) != 0) {
        return fail_add(p, "env", SBX_ENV_MAX);
    }

    return 0;
}


static int
parse_env(parser_t *p)
{
    if (!take_bracket(p, '{')) {
        return fail(p, "env: an object of strings is expected");
    }

    while (sbx_json_more(&p->in)) {
        if (parse_env_entry(p, sbx_json_key(&p->in)) != 0) {
            return -1;
        }
    }

    return 0;
}


/* The parts of a file, as they come; those not given have data NULL. */
enum { FILE_PATH, FILE_CONTENT, FILE_BASE64, FILE_PARTS };

static int
parse_file_parts(parser_t *p, size_t i, sbx_str_t parts[FILE_PARTS])
{
    int k;
    sbx_str_t key;
    static const char *const names[] = { "path", "content", "base64" };

    if (!take_bracket(p, '{')) {
        return fail(p, "files[%zu]: an object is expected", i);
    }

    while (sbx_json_more(&p->in)) {
        key = sbx_json_key(&p->in);

        for (k = 0; k < FILE_PARTS && !str_is(key, names[k]); k++) {
            /* void */
        }

        if (k == FILE_PARTS) {
            return fail(p, "files[%zu]: unknown key \"%.*s\"", i,
                        quoted_len(key), key.data);
        }

        if (!take_string(p, &parts[k])) {
            return fail(p, "files[%zu].%s: a string is expected", i, names[k]);
        }
    }

    return 0;
}


static int
parse_file_data(parser_t *p, size_t i, const sbx_str_t parts[FILE_PARTS],
    sbx_str_t *data)
{
    char field[48];

    if (parts[FILE_CONTENT].data != NULL && parts[FILE_BASE64].data != NULL) {
        return fail(p, "files[%zu]: \"content\" and \"base64\" contradict "
                    "each other", i);
    }

    if (parts[FILE_BASE64].data != NULL) {
        snprintf(field, sizeof(field), "files[%zu].base64", i);

        return parse_base64(p, field, parts[FILE_BASE64], data);
    }

    if (parts[FILE_CONTENT].data == NULL) {
        return fail(p, "files[%zu]: \"content\" or \"base64\" is required", i);
    }

    *data = parts[FILE_CONTENT];

    return 0;
}


static int
parse_file(parser_t *p, size_t i)
{
    const char *why;
    sbx_str_t data;
    sbx_str_t parts[FILE_PARTS] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

    if (parse_file_parts(p, i, parts) != 0) {
        return -1;
    }

    if (parts[FILE_PATH].data == NULL) {
        return fail(p, "files[%zu].path: is required", i);
    }

    why = sbx_path_check(parts[FILE_PATH]);

    if (why != NULL) {
        return fail(p, "files[%zu].path: %s", i, why);
    }

    if (parse_file_data(p, i, parts, &data) != 0) {
        return -1;
    }

    if (sbx_job_add_file(&p->req->job, parts[FILE_PATH], data) != 0) {
        return errno == ENOMEM ? fail_memory(p)
                               : fail(p, "files: more than %d", SBX_FILES_MAX);
    }

    return 0;
}


static int
parse_files(parser_t *p)
{
    if (!take_bracket(p, '[')) {
        return fail(p, "files: an array of objects is expected");
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
fail_limit(parser_t *p, sbx_limit_id_t id, sbx_str_t got)
{
    char min[32], max[32];
    static const char *const kinds[] = {
        [SBX_UNIT_BYTES] = "a size such as \"64m\", or whole bytes,",
        [SBX_UNIT_MS] = "a time such as \"500ms\" or \"5s\", or whole ms,",
        [SBX_UNIT_COUNT] = "a whole number"
    };

    sbx_limit_format(id, sbx_limits[id].min, min, sizeof(min));
    sbx_limit_format(id, sbx_limits[id].max, max, sizeof(max));

    return fail(p, "limits.%s: %s from %s to %s is expected%s%.*s",
                sbx_limits[id].name, kinds[sbx_limits[id].unit], min, max,
                got.data == NULL ? "" : ", not ", quoted_len(got), got.data);
}


static int
parse_limit(parser_t *p, sbx_limit_id_t id)
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


static int
parse_limits(parser_t *p)
{
    int id;
    sbx_str_t name;

    if (!take_bracket(p, '{')) {
        return fail(p, "limits: an object is expected");
    }

    while (sbx_json_more(&p->in)) {
        name = sbx_json_key(&p->in);
        id = sbx_limit_find(name);

        if (id < 0) {
            return fail(p, "limits: unknown key \"%.*s\"", quoted_len(name),
                        name.data);
        }

        if (parse_limit(p, id) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
parse_encoding(parser_t *p)
{
    sbx_str_t encoding;

    if (take_string(p, &encoding)) {

        if (str_is(encoding, "utf-8")) {
            p->req->encoding = SBX_ENCODING_UTF8;
            return 0;
        }

        if (str_is(encoding, "base64")) {
            p->req->encoding = SBX_ENCODING_BASE64;
            return 0;
        }
    }

    return fail(p, "encoding: \"utf-8\" or \"base64\" is expected");
}
