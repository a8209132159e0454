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

#include "sbx_json_parser.h"


typedef struct {
    const char *key;
    int (*parse)(sbx_parser_t *p);
} key_row_t;

static int parse_language(sbx_parser_t *p);
static int parse_code(sbx_parser_t *p);
static int parse_name(sbx_parser_t *p);
static int parse_args(sbx_parser_t *p);
static int parse_env(sbx_parser_t *p);
static int parse_encoding(sbx_parser_t *p);
static int parse_root(sbx_parser_t *p);


static const key_row_t keys[] = {
    { "language", parse_language },
    { "code", parse_code },
    { "name", parse_name },
    { "stdin", sbx_parse_stdin },
    { "cases", sbx_parse_cases },
    { "cases_from", sbx_parse_cases_from },
    { "compare", sbx_parse_compare },
    { "stop_at_failure", sbx_parse_stop },
    { "args", parse_args },
    { "env", parse_env },
    { "files", sbx_parse_files },
    { "limits", sbx_parse_limits },
    { "encoding", parse_encoding },
    { NULL, NULL }
};


int
sbx_request_parse(sbx_request_t *req, const char *text, size_t len,
    sbx_str_t language, char *why, size_t size)
{
    sbx_parser_t p;

    memset(req, 0, sizeof(sbx_request_t));
    sbx_job_init(&req->job);

    memset(&p, 0, sizeof(sbx_parser_t));
    p.req = req;
    p.in = (sbx_json_in_t) { text, text + len, NULL };
    p.language = sbx_language_canonical(language);
    p.why = why;
    p.size = size;

    errno = 0;

    /* the checker would ask for a value, whose sender forgot all of it */
    if (sbx_json_peek(&p.in) == 0 && p.in.at == p.in.end) {
        return sbx_json_fail(&p, "the body is empty: a JSON object with %s"
                             "\"code\" is expected",
                             p.language.len > 0 ? "" : "\"language\" and ");
    }

    if (sbx_json_check(text, len, why, size) != NULL) {
        return -1;
    }

    /*
     * Each byte of a string is stored at most twice: when its escapes are
     * resolved, and when it becomes part of "NAME=value" or is decoded from
     * base64.  The '=' has its room in the quotes.
     */

    req->decoded = malloc(2 * len);
    p.in.room = req->decoded;

    return parse_root(&p);
}


void
sbx_request_clear(sbx_request_t *req)
{
    sbx_job_clear(&req->job);
    free(req->decoded);

    req->decoded = NULL;
}


int
sbx_json_fail(sbx_parser_t *p, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->why, p->size, fmt, args);
    va_end(args);

    errno = 0;

    return -1;
}


int
sbx_json_no_memory(sbx_parser_t *p)
{
    sbx_json_fail(p, "no memory");
    errno = ENOMEM;

    return -1;
}


/* Why sbx_job_add_* refused; bound: how many there may be. */
static int
fail_add(sbx_parser_t *p, const char *field, int bound)
{
    if (errno == ENOMEM) {
        return sbx_json_no_memory(p);
    }

    return sbx_json_fail(p, "%s: more than %d, or args and env together "
                         "above %d bytes", field, bound, SBX_ARGENV_BYTES);
}


int
sbx_str_is(sbx_str_t s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}


int
sbx_quoted_len(sbx_str_t s)
{
    return s.len > SBX_QUOTED_MAX ? SBX_QUOTED_MAX : (int) s.len;
}


int
sbx_parser_string(sbx_parser_t *p, sbx_str_t *s)
{
    if (sbx_json_peek(&p->in) != '"') {
        return 0;
    }

    *s = sbx_json_string(&p->in);

    return 1;
}


int
sbx_parser_enter(sbx_parser_t *p, char bracket)
{
    if (sbx_json_peek(&p->in) != bracket) {
        return 0;
    }

    sbx_json_enter(&p->in);

    return 1;
}


/* What is known only when all keys were seen. */
static int
finish(sbx_parser_t *p)
{
    int clash;
    sbx_job_t *job;

    job = &p->req->job;

    if (!p->has_code) {
        return sbx_json_fail(p, "code: is required");
    }

    if (p->language.len > 0 && job->language.len > 0
        && (p->language.len != job->language.len
            || memcmp(p->language.data, job->language.data, job->language.len)
               != 0))
    {
        return sbx_json_fail(p, "language: \"%.*s\" is not to be had here, "
                             "only \"%.*s\"", sbx_quoted_len(job->language),
                             job->language.data, sbx_quoted_len(p->language),
                             p->language.data);
    }

    if (job->language.len == 0) {
        job->language = p->language;
    }

    if (job->language.len == 0) {
        return sbx_json_fail(p, "language: is required");
    }

    if (job->name.len == 0) {
        job->name = sbx_language_main(job->language);
    }

    if (p->of_batch != NULL && !p->req->is_batch) {
        return sbx_json_fail(p, "%s: is for a batch, and there are no "
                             "\"cases\" or \"cases_from\"", p->of_batch);
    }

    clash = sbx_job_clash(job);

    if (clash >= 0) {
        return sbx_json_fail(p, "files[%d]: path \"%.*s\" is in the way of "
                             "another file", clash,
                             sbx_quoted_len(job->files[clash].path),
                             job->files[clash].path.data);
    }

    if (job->ncases == 0
        && sbx_job_add_case(job, 0, (sbx_str_t) { NULL, 0 }) != 0)
    {
        return sbx_json_no_memory(p);
    }

    return 0;
}


static int
parse_root(sbx_parser_t *p)
{
    sbx_str_t key;
    const key_row_t *row;

    if (p->req->decoded == NULL) {
        return sbx_json_no_memory(p);
    }

    if (!sbx_parser_enter(p, '{')) {
        return sbx_json_fail(p, "the body is not a JSON object");
    }

    while (sbx_json_more(&p->in)) {
        key = sbx_json_key(&p->in);

        for (row = keys; row->key != NULL; row++) {
            if (sbx_str_is(key, row->key)) {
                break;
            }
        }

        if (row->key == NULL) {
            return sbx_json_fail(p, "unknown key \"%.*s\"",
                                 sbx_quoted_len(key), key.data);
        }

        if (row->parse(p) != 0) {
            return -1;
        }
    }

    return finish(p);
}


static int
parse_language(sbx_parser_t *p)
{
    const char *why;
    sbx_str_t language;

    if (!sbx_parser_string(p, &language)) {
        return sbx_json_fail(p, "language: a string is expected");
    }

    why = sbx_name_check(language);

    if (why != NULL) {
        return sbx_json_fail(p, "language: %s", why);
    }

    p->req->job.language = sbx_language_canonical(language);

    return 0;
}


/* NUL may be in a program: the interpreter has an opinion on it, not we. */
static int
parse_code(sbx_parser_t *p)
{
    p->has_code = 1;

    if (!sbx_parser_string(p, &p->req->job.code)) {
        return sbx_json_fail(p, "code: a string is expected");
    }

    return 0;
}


static int
parse_name(sbx_parser_t *p)
{
    const char *why;

    if (!sbx_parser_string(p, &p->req->job.name)) {
        return sbx_json_fail(p, "name: a string is expected");
    }

    why = sbx_name_check(p->req->job.name);

    return why == NULL ? 0 : sbx_json_fail(p, "name: %s", why);
}


int
sbx_parser_base64(sbx_parser_t *p, const char *field, sbx_str_t text,
    sbx_str_t *data)
{
    data->data = p->in.room;

    if (sbx_base64_decode(p->in.room, &data->len, text) != 0) {
        return sbx_json_fail(p, "%s: is not valid base64", field);
    }

    p->in.room += data->len;

    return 0;
}


static int
parse_args(sbx_parser_t *p)
{
    sbx_str_t arg;
    sbx_job_t *job;

    job = &p->req->job;

    if (!sbx_parser_enter(p, '[')) {
        return sbx_json_fail(p, "args: an array of strings is expected");
    }

    while (sbx_json_more(&p->in)) {

        if (!sbx_parser_string(p, &arg)) {
            return sbx_json_fail(p, "args[%zu]: a string is expected",
                                 job->nargs);
        }

        if (memchr(arg.data, '\0', arg.len) != NULL) {
            return sbx_json_fail(p, "args[%zu]: holds a NUL byte", job->nargs);
        }

        if (sbx_job_add_arg(job, arg) != 0) {
            return fail_add(p, "args", SBX_ARGS_MAX);
        }
    }

    return 0;
}


static int
parse_env_entry(sbx_parser_t *p, sbx_str_t name)
{
    const char *why;
    sbx_str_t env, text;

    if (!sbx_parser_string(p, &text)) {
        return sbx_json_fail(p, "env.%.*s: a string is expected",
                             sbx_quoted_len(name), name.data);
    }

    if (memchr(name.data, '=', name.len) != NULL) {
        return sbx_json_fail(p, "env: the name \"%.*s\" holds a '='",
                             sbx_quoted_len(name), name.data);
    }

    env.data = p->in.room;
    env.len = name.len + 1 + text.len;

    memcpy(p->in.room, name.data, name.len);
    p->in.room[name.len] = '=';
    memcpy(p->in.room + name.len + 1, text.data, text.len);
    p->in.room += env.len;

    why = sbx_env_check(env);

    if (why != NULL) {
        return sbx_json_fail(p, "env.%.*s: %s", sbx_quoted_len(name),
                             name.data, why);
    }

    if (sbx_job_add_env(&p->req->job, env) != 0) {
        return fail_add(p, "env", SBX_ENV_MAX);
    }

    return 0;
}


static int
parse_env(sbx_parser_t *p)
{
    if (!sbx_parser_enter(p, '{')) {
        return sbx_json_fail(p, "env: an object of strings is expected");
    }

    while (sbx_json_more(&p->in)) {
        if (parse_env_entry(p, sbx_json_key(&p->in)) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
parse_encoding(sbx_parser_t *p)
{
    sbx_str_t encoding;

    if (sbx_parser_string(p, &encoding)) {

        if (sbx_str_is(encoding, "utf-8")) {
            p->req->encoding = SBX_ENCODING_UTF8;
            return 0;
        }

        if (sbx_str_is(encoding, "base64")) {
            p->req->encoding = SBX_ENCODING_BASE64;
            return 0;
        }
    }

    return sbx_json_fail(p, "encoding: \"utf-8\" or \"base64\" is expected");
}
