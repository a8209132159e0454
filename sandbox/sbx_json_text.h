/*
 * sbx_json_text.h: what the JSON files share: UTF-8, base64, the strict scan
 * and a writer.  Private to sbx_json*.c and to lua/, which writes JSON too.
 */

#ifndef SBX_JSON_TEXT_H
#define SBX_JSON_TEXT_H

#include "sbx_types.h"

/*
 * More keys and elements than any request of the contract can hold.  It keeps
 * the tree that json-c builds in proportion to the body: "[1,1,1 …" would take
 * 25 times its size.
 */
#define SBX_JSON_VALUES     8192
#define SBX_JSON_KEY_BYTES  512

/* What a scanned text holds; a parsed tree must hold the same. */
typedef struct {
    size_t values;      /* of any type, the outermost included */
    size_t bytes;       /* of keys and strings, decoded */
} sbx_json_tally_t;

const char *sbx_json_scan(const char *text, size_t len, char *why,
    size_t size, sbx_json_tally_t *tally);

/*
 * Length (1..4) of the well-formed UTF-8 sequence at p, or minus the length
 * (1..3) of the maximal ill-formed part that one U+FFFD stands for (Unicode,
 * chapter 3.9; what Python's errors="replace" does).
 */
int sbx_utf8_length(const char *p, size_t left);

/* 1: all of text is well-formed. */
int sbx_utf8_valid(sbx_str_t text);

/* Bytes that base64 of len bytes takes; and the encoding, without a NUL. */
size_t sbx_base64_size(size_t len);
void sbx_base64_encode(char *out, sbx_str_t data);

/*
 * Strict RFC 4648: padded, no white space, no stray bits.  out has room for
 * 3 bytes of every 4.  Returns 0 or -1.
 */
int sbx_base64_decode(char *out, size_t *len, sbx_str_t text);

/*
 * Text of JSON in the making.  Failure to get memory is kept in `failed`, so
 * that only the end has to look.  key NULL: an element of an array.
 */
typedef struct {
    char *buf;
    size_t len, size;
    int failed;
    int comma;          /* the next value needs one before it */
} sbx_json_out_t;

void sbx_json_reserve(sbx_json_out_t *out, size_t more);
void sbx_json_open(sbx_json_out_t *out, const char *key, char bracket);
void sbx_json_close(sbx_json_out_t *out, char bracket);
void sbx_json_null(sbx_json_out_t *out, const char *key);
void sbx_json_bool(sbx_json_out_t *out, const char *key, int value);
void sbx_json_number(sbx_json_out_t *out, const char *key, int64_t value);
void sbx_json_unsigned(sbx_json_out_t *out, const char *key, uint64_t value);

/* A finite number, with 14 digits. */
void sbx_json_real(sbx_json_out_t *out, const char *key, double value);

/* value / 1000, without trailing zeros: 12.5 */
void sbx_json_thousandths(sbx_json_out_t *out, const char *key,
    uint64_t value);

/* The string, or null when it is empty. */
void sbx_json_name(sbx_json_out_t *out, const char *key, const char *value);

/* Ill-formed UTF-8 becomes U+FFFD: returns 1 when any did. */
int sbx_json_text(sbx_json_out_t *out, const char *key, sbx_str_t text);
void sbx_json_base64(sbx_json_out_t *out, const char *key, sbx_str_t data);

/* The text, NUL-terminated, for the caller to free; NULL: no memory. */
char *sbx_json_end(sbx_json_out_t *out, size_t *len);

#endif
