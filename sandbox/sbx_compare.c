/*
 * sbx_compare.c: output against expectation.
 *
 * Runs in the supervisor, on bytes of a guest and bytes of a client.  White
 * space is what C's isspace takes for it in the C locale; nothing is decoded, so
 * a text that is no UTF-8 is compared as it is.
 */

#include "sbx_compare.h"

#include <string.h>

static int is_space(char c);
static sbx_str_t trim(sbx_str_t s);
static int same(sbx_str_t a, sbx_str_t b);
static int same_tokens(sbx_str_t a, sbx_str_t b);
static sbx_str_t next_token(sbx_str_t *rest);
static int same_lines(sbx_str_t a, sbx_str_t b);
static sbx_str_t next_line(sbx_str_t *rest);


static const char *const names[SBX_COMPARE_COUNT] = {
    [SBX_COMPARE_EXACT] = "exact",
    [SBX_COMPARE_TOKENS] = "tokens",
    [SBX_COMPARE_TRIMMED] = "trimmed",
    [SBX_COMPARE_LINES] = "lines"
};


int
sbx_compare(sbx_compare_t how, sbx_str_t output, sbx_str_t expected)
{
    switch (how) {

    case SBX_COMPARE_TOKENS:
        return same_tokens(output, expected);

    case SBX_COMPARE_TRIMMED:
        return same(trim(output), trim(expected));

    case SBX_COMPARE_LINES:
        return same_lines(output, expected);

    default:
        return same(output, expected);
    }
}


const char *
sbx_compare_name(sbx_compare_t how)
{
    return (unsigned) how < SBX_COMPARE_COUNT ? names[how] : "";
}


int
sbx_compare_find(sbx_str_t name)
{
    int i;

    for (i = 0; i < SBX_COMPARE_COUNT; i++) {
        if (strlen(names[i]) == name.len
            && memcmp(names[i], name.data, name.len) == 0)
        {
            return i;
        }
    }

    return -1;
}


static int
is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}


/* Without white space at the end: a last line end more or less is no error. */
static sbx_str_t
trim(sbx_str_t s)
{
    while (s.len > 0 && is_space(s.data[s.len - 1])) {
        s.len--;
    }

    return s;
}


static int
same(sbx_str_t a, sbx_str_t b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}


static int
same_tokens(sbx_str_t a, sbx_str_t b)
{
    sbx_str_t x, y;

    do {
        x = next_token(&a);
        y = next_token(&b);

        if (!same(x, y)) {
            return 0;
        }

    } while (x.len > 0);

    return 1;
}


/* Empty at the end. */
static sbx_str_t
next_token(sbx_str_t *rest)
{
    sbx_str_t token;

    while (rest->len > 0 && is_space(*rest->data)) {
        rest->data++;
        rest->len--;
    }

    token = (sbx_str_t) { rest->data, 0 };

    while (rest->len > 0 && !is_space(*rest->data)) {
        rest->data++;
        rest->len--;
        token.len++;
    }

    return token;
}


/* What is at the end of the whole is no line, however many ends it has. */
static int
same_lines(sbx_str_t a, sbx_str_t b)
{
    a = trim(a);
    b = trim(b);

    while (a.len > 0 && b.len > 0) {
        if (!same(next_line(&a), next_line(&b))) {
            return 0;
        }
    }

    return a.len == b.len;
}


/* Without white space at its end; rest is not empty. */
static sbx_str_t
next_line(sbx_str_t *rest)
{
    sbx_str_t line = *rest;
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t taken = rest->len;

    if (end != NULL) {
        line.len = (size_t) (end - rest->data);
        taken = line.len + 1;
    }

    rest->data += taken;
    rest->len -= taken;

    return trim(line);
}
