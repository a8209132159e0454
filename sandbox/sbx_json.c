/*
 * sbx_json.c: the native request, from JSON to a job.
 *
 * Runs in the worker and the command, on a body that a client sent.  The text
 * is scanned first (sbx_json_check.c), then json-c builds the tree, then the
 * table of keys below turns it into a job.  Every refusal names the field, as
 * the client wrote it.
 */

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
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
    sbx_str_t language;     /* the location's */
    size_t text_len;
    size_t decoded_len;     /* used of req->decoded */
    int has_code;
    char *why;
    size_t size;
} parser_t;

typedef struct {
    const char *key;
    int (*parse)(parser_t *p, struct json_object *value);
} key_row_t;

static int parse_language(parser_t *p, struct json_object *value);
static int parse_code(parser_t *p, struct json_object *value);
static int parse_name(parser_t *p, struct json_object *value);
static int parse_stdin(parser_t *p, struct json_object *value);
static int parse_args(parser_t *p, struct json_object *value);
static int parse_env(parser_t *p, struct json_object *value);
static int parse_files(parser_t *p, struct json_object *value);
static int parse_limits(parser_t *p, struct json_object *value);
static int parse_encoding(parser_t *p, struct json_object *value);
static int parse_root(parser_t *p, struct json_object *root);
static int parse_tree(parser_t *p, const char *text, size_t len);


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

    memset(&p, 0, sizeof(parser_t));
    p.req = req;
    p.language = sbx_language_canonical(language);
    p.text_len = len;
    p.why = why;
    p.size = size;

    errno = 0;

    if (parse_tree(&p, text, len) != 0) {
        return -1;
    }

    return parse_root(&p, req->root);
}


void
sbx_request_clear(sbx_request_t *req)
{
    sbx_job_clear(&req->job);
    json_object_put(req->root);
    free(req->decoded);

    req->root = NULL;
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


static sbx_str_t
string_of(struct json_object *value)
{
    return (sbx_str_t) { json_object_get_string(value),
                         json_object_get_string_len(value) };
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


/* What the tree holds, in the same terms as the scan's tally of the text. */
static void
count_tree(struct json_object *value, sbx_json_tally_t *tally)
{
    size_t i;

    tally->values++;

    switch (json_object_get_type(value)) {

    case json_type_string:
        tally->bytes += json_object_get_string_len(value);
        break;

    case json_type_array:
        for (i = 0; i < json_object_array_length(value); i++) {
            count_tree(json_object_array_get_idx(value, i), tally);
        }

        break;

    case json_type_object: {
        json_object_object_foreach(value, key, member) {
            tally->bytes += strlen(key);
            count_tree(member, tally);
        }

        break;
    }

    default:
        break;
    }
}


/*
 * json-c passes over allocations that fail in the middle (0.16: a string ends
 * early, a member is lost), and half a program must not run as if it were the
 * whole.  So the tree is counted against the text.
 */
static int
parse_tree(parser_t *p, const char *text, size_t len)
{
    struct json_tokener *tok;
    sbx_json_tally_t scanned, parsed;

    if (len > INT_MAX) {
        return fail(p, "the body is too large");
    }

    if (sbx_json_scan(text, len, p->why, p->size, &scanned) != NULL) {
        return -1;
    }

    tok = json_tokener_new_ex(SBX_JSON_DEPTH + 1);

    if (tok == NULL) {
        return fail_memory(p);
    }

    p->req->root = json_tokener_parse_ex(tok, text, len);
    json_tokener_free(tok);

    if (!json_object_is_type(p->req->root, json_type_object)) {

        /* The text is valid: what is no object and was one has no memory. */

        return text[strspn(text, " \t\r\n")] == '{'
               ? fail_memory(p) : fail(p, "the body is not a JSON object");
    }

    memset(&parsed, 0, sizeof(parsed));
    count_tree(p->req->root, &parsed);

    if (parsed.values != scanned.values || parsed.bytes != scanned.bytes) {
        return fail_memory(p);
    }

    return 0;
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
parse_root(parser_t *p, struct json_object *root)
{
    const key_row_t *row;

    json_object_object_foreach(root, key, value) {

        for (row = keys; row->key != NULL; row++) {
            if (strcmp(row->key, key) == 0) {
                break;
            }
        }

        if (row->key == NULL) {
            return fail(p, "unknown key \"%.*s\"", QUOTED_MAX, key);
        }

        if (row->parse(p, value) != 0) {
            return -1;
        }
    }

    return finish(p);
}


static int
parse_language(parser_t *p, struct json_object *value)
{
    const char *why;
    sbx_str_t language;

    if (!json_object_is_type(value, json_type_string)) {
        return fail(p, "language: a string is expected");
    }

    language = string_of(value);
    why = sbx_name_check(language);

    if (why != NULL) {
        return fail(p, "language: %s", why);
    }

    p->req->job.language = sbx_language_canonical(language);

    return 0;
}


/* NUL may be in a program: the interpreter has an opinion on it, not we. */
static int
parse_code(parser_t *p, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_string)) {
        return fail(p, "code: a string is expected");
    }

    p->has_code = 1;
    p->req->job.code = string_of(value);

    return 0;
}


static int
parse_name(parser_t *p, struct json_object *value)
{
    const char *why;

    if (!json_object_is_type(value, json_type_string)) {
        return fail(p, "name: a string is expected");
    }

    p->req->job.name = string_of(value);
    why = sbx_name_check(p->req->job.name);

    return why == NULL ? 0 : fail(p, "name: %s", why);
}


/*
 * Room for decoded base64 and for "NAME=value": both are shorter than the text
 * they come from, and the texts do not overlap, so one block of the body's size
 * holds them all.
 */
static char *
decode_room(parser_t *p)
{
    if (p->req->decoded == NULL) {
        p->req->decoded = malloc(p->text_len);
    }

    return p->req->decoded == NULL ? NULL : p->req->decoded + p->decoded_len;
}


static int
parse_base64(parser_t *p, const char *field, struct json_object *value,
    sbx_str_t *data)
{
    char *room;

    if (!json_object_is_type(value, json_type_string)) {
        return fail(p, "%s: a string is expected", field);
    }

    room = decode_room(p);

    if (room == NULL) {
        return fail_memory(p);
    }

    if (sbx_base64_decode(room, &data->len, string_of(value)) != 0) {
        return fail(p, "%s: is not valid base64", field);
    }

    data->data = room;
    p->decoded_len += data->len;

    return 0;
}


static int
parse_stdin(parser_t *p, struct json_object *value)
{
    sbx_str_t input;
    struct json_object *encoded;

    if (json_object_is_type(value, json_type_string)) {
        input = string_of(value);

    } else if (json_object_is_type(value, json_type_object)
               && json_object_object_length(value) == 1
               && json_object_object_get_ex(value, "base64", &encoded))
    {
        if (parse_base64(p, "stdin.base64", encoded, &input) != 0) {
            return -1;
        }

    } else {
        return fail(p, "stdin: a string or {\"base64\": …} is expected");
    }

    return sbx_job_add_case(&p->req->job, 0, input) == 0 ? 0 : fail_memory(p);
}


static int
parse_args(parser_t *p, struct json_object *value)
{
    size_t i;
    sbx_str_t arg;
    struct json_object *element;

    if (!json_object_is_type(value, json_type_array)) {
        return fail(p, "args: an array of strings is expected");
    }

    for (i = 0; i < json_object_array_length(value); i++) {
        element = json_object_array_get_idx(value, i);

        if (!json_object_is_type(element, json_type_string)) {
            return fail(p, "args[%zu]: a string is expected", i);
        }

        arg = string_of(element);

        if (memchr(arg.data, '\0', arg.len) != NULL) {
            return fail(p, "args[%zu]: holds a NUL byte", i);
        }

        if (sbx_job_add_arg(&p->req->job, arg) != 0) {
            return fail_add(p, "args", SBX_ARGS_MAX);
        }
    }

    return 0;
}


static int
parse_env_entry(parser_t *p, const char *name, struct json_object *value)
{
    size_t len;
    const char *why;
    sbx_str_t env, text;
    char *room;

    if (!json_object_is_type(value, json_type_string)) {
        return fail(p, "env.%.*s: a string is expected", QUOTED_MAX, name);
    }

    if (strchr(name, '=') != NULL) {
        return fail(p, "env: the name \"%.*s\" holds a '='", QUOTED_MAX,
                    name);
    }

    room = decode_room(p);

    if (room == NULL) {
        return fail_memory(p);
    }

    text = string_of(value);
    len = strlen(name);

    memcpy(room, name, len);
    room[len] = '=';
    memcpy(room + len + 1, text.data, text.len);

    env = (sbx_str_t) { room, len + 1 + text.len };
    why = sbx_env_check(env);

    if (why != NULL) {
        return fail(p, "env.%.*s: %s", QUOTED_MAX, name, why);
    }

    p->decoded_len += env.len;

    if (sbx_job_add_env(&p->req->job, env) != 0) {
        return fail_add(p, "env", SBX_ENV_MAX);
    }

    return 0;
}


static int
parse_env(parser_t *p, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_object)) {
        return fail(p, "env: an object of strings is expected");
    }

    json_object_object_foreach(value, name, text) {
        if (parse_env_entry(p, name, text) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
parse_file_data(parser_t *p, size_t i, struct json_object *content,
    struct json_object *encoded, sbx_str_t *data)
{
    char field[48];

    if (content != NULL && encoded != NULL) {
        return fail(p, "files[%zu]: \"content\" and \"base64\" contradict "
                    "each other", i);
    }

    if (encoded != NULL) {
        snprintf(field, sizeof(field), "files[%zu].base64", i);

        return parse_base64(p, field, encoded, data);
    }

    if (content == NULL) {
        return fail(p, "files[%zu]: \"content\" or \"base64\" is required", i);
    }

    *data = string_of(content);

    return 0;
}


static int
parse_file(parser_t *p, size_t i, struct json_object *file)
{
    const char *why;
    sbx_str_t path, data;
    struct json_object *parts[3] = { NULL, NULL, NULL };
    size_t k;
    static const char *const names[] = { "path", "content", "base64" };

    if (!json_object_is_type(file, json_type_object)) {
        return fail(p, "files[%zu]: an object is expected", i);
    }

    json_object_object_foreach(file, key, value) {

        for (k = 0; k < 3 && strcmp(names[k], key) != 0; k++) {
            /* void */
        }

        if (k == 3) {
            return fail(p, "files[%zu]: unknown key \"%.*s\"", i, QUOTED_MAX,
                        key);
        }

        if (!json_object_is_type(value, json_type_string)) {
            return fail(p, "files[%zu].%s: a string is expected", i, key);
        }

        parts[k] = value;
    }

    if (parts[0] == NULL) {
        return fail(p, "files[%zu].path: is required", i);
    }

    path = string_of(parts[0]);
    why = sbx_path_check(path);

    if (why != NULL) {
        return fail(p, "files[%zu].path: %s", i, why);
    }

    if (parse_file_data(p, i, parts[1], parts[2], &data) != 0) {
        return -1;
    }

    if (sbx_job_add_file(&p->req->job, path, data) != 0) {
        return errno == ENOMEM ? fail_memory(p)
                               : fail(p, "files: more than %d", SBX_FILES_MAX);
    }

    return 0;
}


static int
parse_files(parser_t *p, struct json_object *value)
{
    size_t i;

    if (!json_object_is_type(value, json_type_array)) {
        return fail(p, "files: an array of objects is expected");
    }

    for (i = 0; i < json_object_array_length(value); i++) {
        if (parse_file(p, i, json_object_array_get_idx(value, i)) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
fail_limit(parser_t *p, sbx_limit_id_t id, struct json_object *value)
{
    const char *wanted;
    char min[32], max[32];
    static const char *const kinds[] = {
        [SBX_UNIT_BYTES] = "a size such as \"64m\", or whole bytes,",
        [SBX_UNIT_MS] = "a time such as \"500ms\" or \"5s\", or whole ms,",
        [SBX_UNIT_COUNT] = "a whole number"
    };

    wanted = kinds[sbx_limits[id].unit];
    sbx_limit_format(id, sbx_limits[id].min, min, sizeof(min));
    sbx_limit_format(id, sbx_limits[id].max, max, sizeof(max));

    switch (json_object_get_type(value)) {

    case json_type_int:
    case json_type_double:
    case json_type_string:
        return fail(p, "limits.%s: %s from %s to %s is expected, not %.*s",
                    sbx_limits[id].name, wanted, min, max, QUOTED_MAX,
                    json_object_get_string(value));

    default:
        return fail(p, "limits.%s: %s from %s to %s is expected",
                    sbx_limits[id].name, wanted, min, max);
    }
}


static int
parse_limit(parser_t *p, sbx_limit_id_t id, struct json_object *value)
{
    uint64_t wanted;
    const sbx_limit_t *row;

    row = &sbx_limits[id];

    switch (json_object_get_type(value)) {

    case json_type_int:
        if (json_object_get_int64(value) < 0) {
            return fail_limit(p, id, value);
        }

        wanted = json_object_get_uint64(value);

        if (wanted < row->min || wanted > row->max) {
            return fail_limit(p, id, value);
        }

        break;

    case json_type_string:
        if (sbx_limit_parse(id, string_of(value), 0, &wanted) != 0) {
            return fail_limit(p, id, value);
        }

        break;

    default:
        return fail_limit(p, id, value);
    }

    p->req->wanted[id] = wanted;
    p->req->asked |= 1u << id;

    return 0;
}


static int
parse_limits(parser_t *p, struct json_object *value)
{
    int id;

    if (!json_object_is_type(value, json_type_object)) {
        return fail(p, "limits: an object is expected");
    }

    json_object_object_foreach(value, name, limit) {

        id = sbx_limit_find((sbx_str_t) { name, strlen(name) });

        if (id < 0) {
            return fail(p, "limits: unknown key \"%.*s\"", QUOTED_MAX, name);
        }

        if (parse_limit(p, id, limit) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
parse_encoding(parser_t *p, struct json_object *value)
{
    sbx_str_t encoding;

    if (json_object_is_type(value, json_type_string)) {
        encoding = string_of(value);

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
