/*
 * sbx_json_read.c: reads a JSON text that sbx_json_check.c has passed.
 *
 * Runs in the worker and the command.  Values are taken from the text in
 * order, without a tree: a body costs no more memory than itself, and no
 * allocation can fail half-way.  (json-c, good for configuration, builds 25
 * bytes for each of some bodies, and version 0.16 shortens strings and crashes
 * when an allocation fails.)
 */

#include <string.h>

#include "sbx_json_text.h"


static int
hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


/* Four hex digits at p, or -1. */
static int32_t
parse_hex4(const char *p, const char *end)
{
    int i, digit;
    int32_t value;

    if (end - p < 4) {
        return -1;
    }

    value = 0;

    for (i = 0; i < 4; i++) {
        digit = hex_value(p[i]);

        if (digit < 0) {
            return -1;
        }

        value = value << 4 | digit;
    }

    return value;
}


int32_t
sbx_json_escape(const char **p, const char *end)
{
    int32_t high, low;
    const char *at, *found;
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";

    at = *p + 1;

    if (at == end) {
        return -1;
    }

    if (*at != 'u') {
        found = *at == '\0' ? NULL : strchr(letters, *at);
        *p = at + 1;

        return found == NULL ? -1 : values[found - letters];
    }

    high = parse_hex4(at + 1, end);

    if (high < 0) {
        return -1;
    }

    *p = at + 5;

    if (high < 0xd800 || high > 0xdfff) {
        return high;
    }

    if (high > 0xdbff || end - *p < 2 || (*p)[0] != '\\' || (*p)[1] != 'u') {
        return -2;
    }

    low = parse_hex4(*p + 2, end);

    if (low < 0xdc00 || low > 0xdfff) {
        return low < 0 ? -1 : -2;
    }

    *p += 6;

    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}


static int
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}


int
sbx_json_peek(sbx_json_in_t *in)
{
    while (in->at < in->end && is_space(*in->at)) {
        in->at++;
    }

    return in->at < in->end ? *in->at : 0;
}


void
sbx_json_enter(sbx_json_in_t *in)
{
    in->at++;
}


int
sbx_json_more(sbx_json_in_t *in)
{
    int c;

    c = sbx_json_peek(in);

    if (c == ',') {
        in->at++;
        c = sbx_json_peek(in);
    }

    if (c == '}' || c == ']' || c == 0) {
        in->at += c != 0;
        return 0;
    }

    return 1;
}


sbx_str_t
sbx_json_key(sbx_json_in_t *in)
{
    sbx_str_t key;

    key = sbx_json_string(in);

    sbx_json_peek(in);
    in->at++;

    return key;
}


sbx_str_t
sbx_json_string(sbx_json_in_t *in)
{
    const char *p, *run;
    sbx_str_t s;

    run = in->at + 1;

    for (p = run; *p != '"' && *p != '\\'; p++) {
        /* void */
    }

    if (*p == '"') {
        in->at = p + 1;
        return (sbx_str_t) { run, p - run };
    }

    s.data = in->room;

    for ( ;; ) {
        memcpy(in->room, run, p - run);
        in->room += p - run;

        if (*p == '"') {
            break;
        }

        in->room += sbx_utf8_encode(sbx_json_escape(&p, in->end), in->room);

        for (run = p; *p != '"' && *p != '\\'; p++) {
            /* void */
        }
    }

    s.len = in->room - s.data;
    in->at = p + 1;

    return s;
}


sbx_str_t
sbx_json_token(sbx_json_in_t *in)
{
    const char *start;

    start = in->at;

    while (in->at < in->end && !is_space(*in->at) && *in->at != ','
           && *in->at != ']' && *in->at != '}')
    {
        in->at++;
    }

    return (sbx_str_t) { start, in->at - start };
}
