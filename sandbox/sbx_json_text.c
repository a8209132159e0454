/*
 * sbx_json_text.c: UTF-8 and base64, strictly.
 *
 * Runs in the worker and the command, on bytes of clients and of programs.
 */

#include <string.h>

#include "sbx_json_text.h"


static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";


/*
 * The second byte of a sequence is the one with special bounds: they exclude
 * overlong forms (E0, F0), surrogates (ED) and what lies beyond U+10FFFF (F4).
 */
int
sbx_utf8_length(const char *p, size_t left)
{
    int i, len;
    unsigned char lo, hi;
    const unsigned char *u = (const unsigned char *) p;

    if (u[0] < 0x80) {
        return 1;
    }

    if (u[0] < 0xc2 || u[0] > 0xf4) {
        return -1;
    }

    len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    lo = u[0] == 0xe0 ? 0xa0 : u[0] == 0xf0 ? 0x90 : 0x80;
    hi = u[0] == 0xed ? 0x9f : u[0] == 0xf4 ? 0x8f : 0xbf;

    for (i = 1; i < len; i++) {
        if ((size_t) i == left || u[i] < lo || u[i] > hi) {
            return -i;
        }

        lo = 0x80;
        hi = 0xbf;
    }

    return len;
}


int32_t
sbx_utf8_decode(const char *p, int len)
{
    int i;
    int32_t c;
    static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };

    c = (unsigned char) p[0] & mask[len];

    for (i = 1; i < len; i++) {
        c = c << 6 | (p[i] & 0x3f);
    }

    return c;
}


int
sbx_utf8_encode(int32_t c, char out[4])
{
    int i, len;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    if (c < 0x80) {
        out[0] = c;
        return 1;
    }

    len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (i = len - 1; i > 0; i--) {
        out[i] = 0x80 | (c & 0x3f);
        c >>= 6;
    }

    out[0] = first[len] | c;

    return len;
}


int
sbx_utf8_valid(sbx_str_t text)
{
    int n;
    size_t i;

    for (i = 0; i < text.len; i += n) {
        n = sbx_utf8_length(text.data + i, text.len - i);

        if (n < 0) {
            return 0;
        }
    }

    return 1;
}


size_t
sbx_base64_size(size_t len)
{
    return (len + 2) / 3 * 4;
}


void
sbx_base64_encode(char *out, sbx_str_t data)
{
    size_t i, n;
    uint32_t bits;
    const unsigned char *p = (const unsigned char *) data.data;

    for (i = 0; i < data.len; i += 3) {
        n = data.len - i;
        bits = (uint32_t) p[i] << 16;
        bits |= n > 1 ? (uint32_t) p[i + 1] << 8 : 0;
        bits |= n > 2 ? p[i + 2] : 0;

        *out++ = base64_digits[bits >> 18];
        *out++ = base64_digits[bits >> 12 & 63];
        *out++ = n > 1 ? base64_digits[bits >> 6 & 63] : '=';
        *out++ = n > 2 ? base64_digits[bits & 63] : '=';
    }
}


static int
base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }

    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }

    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }

    return c == '+' ? 62 : c == '/' ? 63 : -1;
}


int
sbx_base64_decode(char *out, size_t *len, sbx_str_t text)
{
    int value;
    size_t i, pad;
    uint32_t bits;
    char *start;

    if (text.len % 4 != 0) {
        return -1;
    }

    pad = 0;

    while (pad < 2 && pad < text.len && text.data[text.len - 1 - pad] == '=') {
        pad++;
    }

    bits = 0;
    start = out;

    for (i = 0; i < text.len - pad; i++) {
        value = base64_value(text.data[i]);

        if (value < 0) {
            return -1;
        }

        bits = bits << 6 | value;

        if (i % 4 == 3) {
            *out++ = bits >> 16 & 0xff;
            *out++ = bits >> 8 & 0xff;
            *out++ = bits & 0xff;
        }
    }

    /* Bits that no byte takes must be 0, or two texts mean the same bytes. */

    if (pad == 1) {
        *out++ = bits >> 10 & 0xff;
        *out++ = bits >> 2 & 0xff;
        bits &= 3;

    } else if (pad == 2) {
        *out++ = bits >> 4 & 0xff;
        bits &= 15;
    }

    *len = out - start;

    return pad > 0 && bits != 0 ? -1 : 0;
}
