/*
 * sbx_json_out.c: writes JSON in one pass, repairing UTF-8 on the way.
 *
 * Runs in the worker and the command.  A worker serves others while it does
 * this, and an answer may hold many megabytes of output: so there is one copy,
 * from the frame into the answer, and no tree in between.  (json-c would also
 * pass over an allocation that fails while it prints, and leave a hole in the
 * answer.)
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_json_text.h"


#define REPLACEMENT  "\xef\xbf\xbd"     /* U+FFFD */


/* The letter behind the backslash; 0: none is needed. */
static const char escapes[128] = {
    [0x00 ... 0x07] = 'u',
    [0x0b] = 'u',
    [0x0e ... 0x1f] = 'u',
    ['\b'] = 'b',
    ['\t'] = 't',
    ['\n'] = 'n',
    ['\f'] = 'f',
    ['\r'] = 'r',
    ['"'] = '"',
    ['\\'] = '\\'
};


/* Makes room for more bytes and a NUL; twice the size each time. */
void
sbx_json_reserve(sbx_json_out_t *out, size_t more)
{
    char *p;
    size_t size;

    if (out->failed || out->size - out->len > more) {
        return;
    }

    size = 2 * out->size;

    if (size < out->len + more + 1) {
        size = out->len + more + 1;
    }

    p = realloc(out->buf, size);

    if (p == NULL) {
        out->failed = 1;
        return;
    }

    out->buf = p;
    out->size = size;
}


static void
put(sbx_json_out_t *out, const char *data, size_t len)
{
    if (len == 0) {
        return;
    }

    sbx_json_reserve(out, len);

    if (!out->failed) {
        memcpy(out->buf + out->len, data, len);
        out->len += len;
    }
}


/* Of a control character, a quote or a backslash. */
static void
put_escape(sbx_json_out_t *out, unsigned char c)
{
    char text[6] = { '\\', 'u', '0', '0', '0', '0' };
    size_t len;
    static const char hex[] = "0123456789abcdef";

    if (escapes[c] == 'u') {
        text[4] = hex[c >> 4];
        text[5] = hex[c & 15];
        len = 6;

    } else {
        text[1] = escapes[c];
        len = 2;
    }

    put(out, text, len);
}


/* Quoted; runs of bytes that need nothing are copied at once. */
static int
put_string(sbx_json_out_t *out, sbx_str_t text)
{
    int n, replaced;
    const char *p, *run, *end;

    replaced = 0;
    p = text.len > 0 ? text.data : "";
    run = p;
    end = p + text.len;

    sbx_json_reserve(out, text.len + 2);
    put(out, "\"", 1);

    while (p < end) {

        if ((unsigned char) *p < 0x80) {
            if (escapes[(unsigned char) *p] == 0) {
                p++;
                continue;
            }

            put(out, run, p - run);
            put_escape(out, *p);
            run = ++p;
            continue;
        }

        n = sbx_utf8_length(p, end - p);

        if (n > 0) {
            p += n;
            continue;
        }

        put(out, run, p - run);
        put(out, REPLACEMENT, sizeof(REPLACEMENT) - 1);
        replaced = 1;
        p -= n;
        run = p;
    }

    put(out, run, p - run);
    put(out, "\"", 1);

    return replaced;
}


static void
put_key(sbx_json_out_t *out, const char *key)
{
    if (out->comma) {
        put(out, ",", 1);
    }

    out->comma = 1;

    if (key != NULL) {
        put_string(out, (sbx_str_t) { key, strlen(key) });
        put(out, ":", 1);
    }
}


static void __attribute__((format(printf, 3, 4)))
put_format(sbx_json_out_t *out, const char *key, const char *fmt, ...)
{
    int n;
    char text[64];
    va_list args;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    put_key(out, key);
    put(out, text, n);
}


void
sbx_json_open(sbx_json_out_t *out, const char *key, char bracket)
{
    put_key(out, key);
    put(out, &bracket, 1);
    out->comma = 0;
}


void
sbx_json_close(sbx_json_out_t *out, char bracket)
{
    put(out, &bracket, 1);
    out->comma = 1;
}


void
sbx_json_null(sbx_json_out_t *out, const char *key)
{
    put_format(out, key, "null");
}


void
sbx_json_bool(sbx_json_out_t *out, const char *key, int value)
{
    put_format(out, key, "%s", value ? "true" : "false");
}


void
sbx_json_number(sbx_json_out_t *out, const char *key, int64_t value)
{
    put_format(out, key, "%" PRId64, value);
}


void
sbx_json_unsigned(sbx_json_out_t *out, const char *key, uint64_t value)
{
    put_format(out, key, "%" PRIu64, value);
}


void
sbx_json_real(sbx_json_out_t *out, const char *key, double value)
{
    put_format(out, key, "%.14g", value);
}


void
sbx_json_thousandths(sbx_json_out_t *out, const char *key, uint64_t value)
{
    unsigned part, digits;

    part = value % 1000;
    digits = 3;

    while (digits > 0 && part % 10 == 0) {
        part /= 10;
        digits--;
    }

    if (digits == 0) {
        put_format(out, key, "%" PRIu64, value / 1000);

    } else {
        put_format(out, key, "%" PRIu64 ".%0*u", value / 1000, (int) digits,
                   part);
    }
}


void
sbx_json_name(sbx_json_out_t *out, const char *key, const char *value)
{
    if (value[0] == '\0') {
        sbx_json_null(out, key);
        return;
    }

    sbx_json_text(out, key, (sbx_str_t) { value, strlen(value) });
}


int
sbx_json_text(sbx_json_out_t *out, const char *key, sbx_str_t text)
{
    put_key(out, key);

    return put_string(out, text);
}


void
sbx_json_base64(sbx_json_out_t *out, const char *key, sbx_str_t data)
{
    size_t size;

    put_key(out, key);
    put(out, "\"", 1);

    size = sbx_base64_size(data.len);
    sbx_json_reserve(out, size);

    if (!out->failed) {
        sbx_base64_encode(out->buf + out->len, data);
        out->len += size;
    }

    put(out, "\"", 1);
}


char *
sbx_json_end(sbx_json_out_t *out, size_t *len)
{
    if (out->failed) {
        free(out->buf);
        return NULL;
    }

    out->buf[out->len] = '\0';
    *len = out->len;

    return out->buf;
}
