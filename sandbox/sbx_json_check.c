/*
 * sbx_json_check.c: is this RFC 8259, to the letter?
 *
 * Runs in the worker and the command, on bodies of clients, before anything
 * else reads them.  Two readers of one body must never see two requests in it,
 * so whatever readers disagree on is refused: duplicate keys (compared after
 * their escapes are resolved), ill-formed UTF-8, lone surrogates, NUL in a key
 * (where many would end it), leading zeros, comments, trailing bytes.
 * Depth, number of values and length of keys are bounded, so the work is too.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_json.h"
#include "sbx_json_text.h"


/* As many as any ordinary request has. */
#define KEYS_ON_STACK  64


/* A key seen; raw, between its quotes. */
typedef struct {
    uint64_t hash;
    const char *data;
    size_t len;
} seen_key_t;

typedef struct {
    const char *start, *at, *end;
    int depth;
    size_t nvalues;
    seen_key_t *keys;   /* of the objects now open, innermost last */
    size_t nkeys;
    seen_key_t few[KEYS_ON_STACK];  /* keys, until it does not suffice */
    char *why;
    size_t size;
} scan_t;

typedef struct {
    sbx_str_t raw;
    uint64_t hash;      /* of the decoded code points */
    int nul;            /* an escaped NUL is in it */
} key_text_t;

static int scan_value(scan_t *s);


static int
fail_at(scan_t *s, const char *at, const char *what)
{
    snprintf(s->why, s->size, "%s at byte %zu", what, (size_t) (at - s->start));

    return -1;
}


static void
skip_space(scan_t *s)
{
    while (s->at < s->end
           && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'
               || *s->at == '\r'))
    {
        s->at++;
    }
}


const char *
sbx_json_check(const char *text, size_t len, char *why, size_t size)
{
    int rc;
    scan_t s;

    s.depth = 0;
    s.nvalues = 0;
    s.keys = s.few;
    s.nkeys = 0;
    s.start = text;
    s.at = text;
    s.end = text + len;
    s.why = why;
    s.size = size;

    rc = scan_value(&s);

    if (rc == 0) {
        skip_space(&s);

        if (s.at != s.end) {
            rc = fail_at(&s, s.at, "trailing bytes");
        }
    }

    if (s.keys != s.few) {
        free(s.keys);
    }

    return rc == 0 ? NULL : why;
}


static void
add_point(key_text_t *str, int32_t c)
{
    str->hash = (str->hash ^ (uint32_t) c) * 0x100000001b3ULL;
    str->nul |= c == 0;
}


/* From the opening quote to behind the closing one.  str: of a key, or NULL. */
static int
scan_string(scan_t *s, key_text_t *str)
{
    int n;
    int32_t c;
    const char *p, *start, *escape;

    start = s->at;

    for (p = start + 1; p < s->end && *p != '"'; /* void */ ) {

        if ((unsigned char) *p < 0x20) {
            return fail_at(s, p, "control character in a string");
        }

        if (*p == '\\') {
            escape = p;
            c = sbx_json_escape(&p, s->end);

            if (c < 0) {
                return fail_at(s, escape, c == -1 ? "invalid escape"
                                                  : "lone surrogate");
            }

        } else {
            n = sbx_utf8_length(p, s->end - p);

            if (n < 0) {
                return fail_at(s, p, "invalid UTF-8");
            }

            c = str == NULL ? 0 : sbx_utf8_decode(p, n);
            p += n;
        }

        if (str != NULL) {
            add_point(str, c);
        }
    }

    if (p == s->end) {
        return fail_at(s, start, "unterminated string");
    }

    s->at = p + 1;

    return 0;
}


/* A key, with what tells whether it was seen before. */
static int
scan_key(scan_t *s, key_text_t *str)
{
    memset(str, 0, sizeof(key_text_t));
    str->hash = 0xcbf29ce484222325ULL;
    str->raw.data = s->at + 1;

    if (scan_string(s, str) != 0) {
        return -1;
    }

    str->raw.len = s->at - 1 - str->raw.data;

    return 0;
}


static int32_t
next_point(const char **p, const char *end)
{
    int n;
    int32_t c;

    if (**p == '\\') {
        return sbx_json_escape(p, end);
    }

    n = sbx_utf8_length(*p, end - *p);
    c = sbx_utf8_decode(*p, n);
    *p += n;

    return c;
}


/* Both were scanned before; "a" and "\u0061" are the same key. */
static int
keys_equal(const seen_key_t *a, const key_text_t *b)
{
    const char *p, *q, *p_end, *q_end;

    if (a->hash != b->hash) {
        return 0;
    }

    p = a->data;
    p_end = p + a->len;
    q = b->raw.data;
    q_end = q + b->raw.len;

    while (p < p_end && q < q_end) {
        if (next_point(&p, p_end) != next_point(&q, q_end)) {
            return 0;
        }
    }

    return p == p_end && q == q_end;
}


static int
add_key(scan_t *s, size_t base, const key_text_t *str)
{
    size_t i;
    char what[96];
    seen_key_t *key;

    if (str->nul) {
        return fail_at(s, str->raw.data, "NUL in a key");
    }

    if (str->raw.len > SBX_JSON_KEY_BYTES) {
        return fail_at(s, str->raw.data, "key too long");
    }

    for (i = base; i < s->nkeys; i++) {
        if (keys_equal(&s->keys[i], str)) {
            snprintf(what, sizeof(what), "duplicate key \"%.*s\"",
                     str->raw.len > 64 ? 64 : (int) str->raw.len,
                     str->raw.data);

            return fail_at(s, str->raw.data - 1, what);
        }
    }

    if (s->nkeys == KEYS_ON_STACK && s->keys == s->few) {

        /* Enough for good: every key has a value, and values are counted. */

        key = malloc(SBX_JSON_VALUES * sizeof(seen_key_t));

        if (key == NULL) {
            errno = ENOMEM;
            return fail_at(s, s->at, "no memory");
        }

        s->keys = memcpy(key, s->few, sizeof(s->few));
    }

    key = &s->keys[s->nkeys++];
    key->hash = str->hash;
    key->data = str->raw.data;
    key->len = str->raw.len;

    return 0;
}


static int
expect(scan_t *s, char c, const char *what)
{
    skip_space(s);

    if (s->at == s->end || *s->at != c) {
        return fail_at(s, s->at, what);
    }

    s->at++;

    return 0;
}


static int
scan_member(scan_t *s, size_t base)
{
    key_text_t str;

    skip_space(s);

    if (s->at == s->end || *s->at != '"') {
        return fail_at(s, s->at, "a key was expected");
    }

    if (scan_key(s, &str) != 0
        || add_key(s, base, &str) != 0
        || expect(s, ':', "a colon was expected") != 0)
    {
        return -1;
    }

    return scan_value(s);
}


/* An object or an array, from behind its bracket to behind the closing one. */
static int
scan_container(scan_t *s, char close)
{
    int rc;
    size_t base;

    base = s->nkeys;

    if (++s->depth > SBX_JSON_DEPTH) {
        return fail_at(s, s->at - 1, "nested too deeply");
    }

    skip_space(s);

    if (s->at < s->end && *s->at == close) {
        s->at++;
        s->depth--;
        return 0;
    }

    for ( ;; ) {
        rc = close == '}' ? scan_member(s, base) : scan_value(s);

        if (rc != 0) {
            return -1;
        }

        skip_space(s);

        if (s->at < s->end && *s->at == ',') {
            s->at++;
            continue;
        }

        if (expect(s, close, close == '}' ? "a comma or } was expected"
                                          : "a comma or ] was expected")
            != 0)
        {
            return -1;
        }

        s->nkeys = base;
        s->depth--;

        return 0;
    }
}


static int
scan_digits(scan_t *s)
{
    const char *start;

    start = s->at;

    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->at++;
    }

    return s->at == start ? -1 : 0;
}


static int
scan_number(scan_t *s)
{
    const char *start;

    start = s->at;

    if (*s->at == '-') {
        s->at++;
    }

    if (s->at < s->end && *s->at == '0') {
        s->at++;

    } else if (scan_digits(s) != 0) {
        return fail_at(s, start, "invalid number");
    }

    if (s->at < s->end && *s->at == '.') {
        s->at++;

        if (scan_digits(s) != 0) {
            return fail_at(s, start, "invalid number");
        }
    }

    if (s->at < s->end && (*s->at | 0x20) == 'e') {
        s->at++;

        if (s->at < s->end && (*s->at == '+' || *s->at == '-')) {
            s->at++;
        }

        if (scan_digits(s) != 0) {
            return fail_at(s, start, "invalid number");
        }
    }

    if (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        return fail_at(s, start, "leading zero in a number");
    }

    return 0;
}


static int
scan_literal(scan_t *s)
{
    size_t i, len;
    static const char *const literals[] = { "true", "false", "null" };

    for (i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
        len = strlen(literals[i]);

        if ((size_t) (s->end - s->at) >= len
            && memcmp(s->at, literals[i], len) == 0)
        {
            s->at += len;
            return 0;
        }
    }

    return fail_at(s, s->at, "a value was expected");
}


static int
scan_value(scan_t *s)
{
    skip_space(s);

    if (s->at == s->end) {
        return fail_at(s, s->at, "the text ends too early");
    }

    if (++s->nvalues > SBX_JSON_VALUES) {
        return fail_at(s, s->at, "too many values");
    }

    switch (*s->at) {

    case '{':
        s->at++;
        return scan_container(s, '}');

    case '[':
        s->at++;
        return scan_container(s, ']');

    case '"':
        return scan_string(s, NULL);

    case '-':
    case '0' ... '9':
        return scan_number(s);

    default:
        return scan_literal(s);
    }
}
