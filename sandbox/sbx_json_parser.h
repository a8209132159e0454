/*
 * sbx_json_parser.h: what the files that parse a request share.  Private to
 * sbx_json.c, sbx_json_cases.c and sbx_json_parts.c.
 */

#ifndef SBX_JSON_PARSER_H
#define SBX_JSON_PARSER_H

#include "sbx_json.h"
#include "sbx_json_text.h"

/* How much of a client's own text an error repeats. */
#define SBX_QUOTED_MAX  64

typedef struct {
    sbx_request_t *req;
    sbx_json_in_t in;
    sbx_str_t language;     /* the location's */
    const char *of_batch;   /* a key that says something of cases, or NULL */
    int has_code;
    char *why;
    size_t size;
} sbx_parser_t;

/* Say why, or that there is no memory, and return -1. */
int sbx_json_fail(sbx_parser_t *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int sbx_json_no_memory(sbx_parser_t *p);

/* Take a string, or the opening bracket, if it is next: 1; else 0. */
int sbx_parser_string(sbx_parser_t *p, sbx_str_t *s);
int sbx_parser_enter(sbx_parser_t *p, char bracket);

/* Decodes text; field: what an error calls it.  Returns 0 or -1. */
int sbx_parser_base64(sbx_parser_t *p, const char *field, sbx_str_t text,
    sbx_str_t *data);

int sbx_str_is(sbx_str_t s, const char *text);
int sbx_quoted_len(sbx_str_t s);

/* The value of the key is next.  Return 0 or -1. */
int sbx_parse_stdin(sbx_parser_t *p);
int sbx_parse_cases(sbx_parser_t *p);
int sbx_parse_cases_from(sbx_parser_t *p);
int sbx_parse_compare(sbx_parser_t *p);
int sbx_parse_stop(sbx_parser_t *p);
int sbx_parse_files(sbx_parser_t *p);
int sbx_parse_limits(sbx_parser_t *p);

#endif
