/*
 * sbx_json_text.h: what the JSON files share: UTF-8, base64, a reader and a
 * writer.  Private to sbx_json*.c and to lua/, which writes JSON too.
 */

#ifndef SBX_JSON_TEXT_H
#define SBX_JSON_TEXT_H

#include "sbx_limit.h"
#include "sbx_types.h"

/*
 * More keys and elements than any request of the contract can hold, and longer
 * keys: whoever reads a body can rely on them.
 */
#define SBX_JSON_VALUES     8192
#define SBX_JSON_KEY_BYTES  512

/*
 * The code point that the escape at *p (a backslash) stands for; moves *p past
 * it.  -1: no escape of JSON; -2: half of a surrogate pair.
 */
int32_t sbx_json_escape(const char **p, const char *end);

/*
 * A text being read.  It must have passed sbx_json_check: this does not look
 * for mistakes again.  room: as many bytes as the text has, for strings whose
 * escapes are resolved; others stay where they are.
 */
typedef struct {
    const char *at, *end;
    char *room;
} sbx_json_in_t;

/* First byte of the next value: { [ " t f n - or a digit.  Stays there. */
int sbx_json_peek(sbx_json_in_t *in);

/* Into the object or array that peek has shown. */
void sbx_json_enter(sbx_json_in_t *in);

/* 1: a member or an element follows; 0: none, and the bracket is passed. */
int sbx_json_more(sbx_json_in_t *in);

/* The next member's key; its value follows. */
sbx_str_t sbx_json_key(sbx_json_in_t *in);

/* The string that peek has shown. */
sbx_str_t sbx_json_string(sbx_json_in_t *in);

/* The number, true, false or null that peek has shown, as it is written. */
sbx_str_t sbx_json_token(sbx_json_in_t *in);

/*
 * Length (1..4) of the well-formed UTF-8 sequence at p, or minus the length
 * (1..3) of the maximal ill-formed part that one U+FFFD stands for (Unicode,
 * chapter 3.9; what Python's errors="replace" does).
 */
int sbx_utf8_length(const char *p, size_t left);

/* The code point of the well-formed sequence of len bytes at p. */
int32_t sbx_utf8_decode(const char *p, int len);

/* The sequence of a code point, and its length. */
int sbx_utf8_encode(int32_t c, char out[4]);

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

/*
 * "limits" with "memory_terms", of answers and dry runs (sbx_json_answer.c).
 * base_bytes 0: not known.
 */
void sbx_json_limits(sbx_json_out_t *out,
    const uint64_t limits[SBX_LIMIT_COUNT], uint64_t base_bytes,
    uint64_t code_bytes, uint32_t factor_permille);

#endif
