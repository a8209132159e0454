/*
 * sbx_json_cases.c: the parts of a request about its input: "stdin", or "cases"
 * with what each should print.
 *
 * Runs in the worker and the command, called by sbx_json.c for their keys.
 */

#include <errno.h>
#include <stdio.h>

#include "sbx_compare.h"
#include "sbx_json_parser.h"


static int parse_case(sbx_parser_t *p, size_t i);


/* {"base64":…}, the one key and a string. */
static int
parse_bytes_object(sbx_parser_t *p, const char *field, sbx_str_t *data)
{
    char name[48];
    sbx_str_t text;

    sbx_json_enter(&p->in);

    if (!sbx_json_more(&p->in)
        || !sbx_str_is(sbx_json_key(&p->in), "base64")
        || !sbx_parser_string(p, &text)
        || sbx_json_more(&p->in))
    {
        return sbx_json_fail(p, "%s: the object is not {\"base64\": \"…\"}",
                             field);
    }

    snprintf(name, sizeof(name), "%s.base64", field);

    return sbx_parser_base64(p, name, text, data);
}


/* A string, or {"base64":…} for what is no text. */
static int
parse_bytes(sbx_parser_t *p, const char *field, sbx_str_t *data)
{
    if (sbx_json_peek(&p->in) == '{') {
        return parse_bytes_object(p, field, data);
    }

    if (!sbx_parser_string(p, data)) {
        return sbx_json_fail(p, "%s: a string or {\"base64\": \"…\"} is "
                             "expected", field);
    }

    return 0;
}


/* No keys twice, so a case that is there comes from the other key. */
static int
is_other_there(sbx_parser_t *p)
{
    return p->req->job.ncases > 0;
}


static int
fail_contradiction(sbx_parser_t *p)
{
    return sbx_json_fail(p, "stdin, cases, cases_from: contradict each other, "
                         "each case has a stdin");
}


int
sbx_parse_stdin(sbx_parser_t *p)
{
    sbx_str_t input;

    if (is_other_there(p)) {
        return fail_contradiction(p);
    }

    if (parse_bytes(p, "stdin", &input) != 0) {
        return -1;
    }

    if (sbx_job_add_case(&p->req->job, 0, input) != 0) {
        return sbx_json_no_memory(p);
    }

    return 0;
}


int
sbx_parse_cases(sbx_parser_t *p)
{
    sbx_job_t *job = &p->req->job;

    if (is_other_there(p)) {
        return fail_contradiction(p);
    }

    if (!sbx_parser_enter(p, '[')) {
        return sbx_json_fail(p, "cases: an array of objects is expected");
    }

    while (sbx_json_more(&p->in)) {

        if (sbx_job_add_case(job, job->ncases, (sbx_str_t) { NULL, 0 }) != 0) {
            return errno == ENOMEM
                   ? sbx_json_no_memory(p)
                   : sbx_json_fail(p, "cases: more than %d", SBX_CASES_MAX);
        }

        if (parse_case(p, job->ncases - 1) != 0) {
            return -1;
        }
    }

    if (job->ncases == 0) {
        return sbx_json_fail(p, "cases: is empty");
    }

    p->req->is_batch = 1;

    return 0;
}


static int
parse_case(sbx_parser_t *p, size_t i)
{
    char field[48];
    sbx_str_t key, *data;
    sbx_case_t *c = &p->req->job.cases[i];

    if (!sbx_parser_enter(p, '{')) {
        return sbx_json_fail(p, "cases[%zu]: an object is expected", i);
    }

    while (sbx_json_more(&p->in)) {
        key = sbx_json_key(&p->in);
        data = sbx_str_is(key, "stdin") ? &c->input
               : sbx_str_is(key, "expected") ? &c->expected : NULL;

        if (data == NULL) {
            return sbx_json_fail(p, "cases[%zu]: unknown key \"%.*s\"", i,
                                 sbx_quoted_len(key), key.data);
        }

        snprintf(field, sizeof(field), "cases[%zu].%.*s", i, (int) key.len,
                 key.data);

        if (parse_bytes(p, field, data) != 0) {
            return -1;
        }
    }

    return 0;
}


/* The one case stands for those that the supervisor finds. */
int
sbx_parse_cases_from(sbx_parser_t *p)
{
    const char *why;
    sbx_job_t *job = &p->req->job;

    if (is_other_there(p)) {
        return fail_contradiction(p);
    }

    if (!sbx_parser_string(p, &job->suite)) {
        return sbx_json_fail(p, "cases_from: a string is expected");
    }

    why = sbx_path_check(job->suite);

    if (why != NULL) {
        return sbx_json_fail(p, "cases_from: %s", why);
    }

    if (sbx_job_add_case(job, 0, (sbx_str_t) { NULL, 0 }) != 0) {
        return sbx_json_no_memory(p);
    }

    p->req->is_batch = 1;

    return 0;
}


int
sbx_parse_compare(sbx_parser_t *p)
{
    int how = -1;
    sbx_str_t name;

    if (sbx_parser_string(p, &name)) {
        how = sbx_compare_find(name);
    }

    if (how < 0) {
        return sbx_json_fail(p, "compare: \"exact\", \"tokens\", \"trimmed\" or "
                             "\"lines\" is expected");
    }

    p->req->job.compare = (uint32_t) how;
    p->of_batch = "compare";

    return 0;
}


int
sbx_parse_stop(sbx_parser_t *p)
{
    sbx_str_t word;
    int c = sbx_json_peek(&p->in);

    if (c != 't' && c != 'f') {
        return sbx_json_fail(p, "stop_at_failure: true or false is expected");
    }

    word = sbx_json_token(&p->in);

    if (sbx_str_is(word, "true")) {
        p->req->job.flags |= SBX_JOB_STOP;
    }

    p->of_batch = "stop_at_failure";

    return 0;
}
