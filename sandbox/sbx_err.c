/*
 * sbx_err.c: filling an sbx_err_t, and the names of the steps.
 *
 * Runs in every process of ours, the child between fork and exec included.
 * There the C library's printf family is off limits: it may take locks or
 * allocate, and POSIX does not list it as async-signal-safe.  So the few
 * conversions that error texts need are written here, into the caller's
 * fixed buffer; what does not fit is cut off.
 */

#include <stdarg.h>
#include <string.h>

#include "sbx_err.h"


/* A buffer being filled; one byte stays free for the terminating NUL. */
typedef struct {
    char *at, *end;
} text_t;

/* One conversion of the format: %[-0][width][.precision][length]letter */
typedef struct {
    int left, zero;
    int width, precision;   /* precision -1: none given */
    int longs;              /* -2 hh, -1 h, 0 int, 1 long, 2 long long */
    char letter;
} spec_t;

static const char *parse_spec(const char *fmt, spec_t *spec, va_list *args);
static void put_conversion(text_t *text, const spec_t *spec, va_list *args);


static const char *const step_names[SBX_STEP_COUNT] = {
    [SBX_STEP_NONE] = "none",
    [SBX_STEP_CELL] = "cell",
    [SBX_STEP_ROOT] = "root",
    [SBX_STEP_SLOT] = "slot",
    [SBX_STEP_RESET] = "reset",
    [SBX_STEP_CGROUP] = "cgroup",
    [SBX_STEP_FORK] = "fork",
    [SBX_STEP_ENTER] = "enter",
    [SBX_STEP_SESSION] = "session",
    [SBX_STEP_FDS] = "fds",
    [SBX_STEP_RLIMITS] = "rlimits",
    [SBX_STEP_IDS] = "ids",
    [SBX_STEP_CAPS] = "caps",
    [SBX_STEP_LANDLOCK] = "landlock",
    [SBX_STEP_SECCOMP] = "seccomp",
    [SBX_STEP_WARM] = "warm",
    [SBX_STEP_JOB] = "job",
    [SBX_STEP_EXEC] = "exec",
    [SBX_STEP_ZYGOTE] = "zygote",
    [SBX_STEP_WIRE] = "wire",
    [SBX_STEP_CONFIG] = "config"
};


int
sbx_fail(sbx_err_t *err, sbx_step_t step, int errnum, const char *fmt, ...)
{
    va_list args;
    text_t text;
    spec_t spec;

    if (err == NULL) {
        return -1;
    }

    err->step = step;
    err->errnum = errnum;

    text.at = err->text;
    text.end = err->text + sizeof(err->text) - 1;

    va_start(args, fmt);

    while (*fmt != '\0' && text.at < text.end) {

        if (*fmt != '%') {
            *text.at++ = *fmt++;
            continue;
        }

        fmt = parse_spec(fmt + 1, &spec, &args);

        if (spec.letter == '\0') {
            break;
        }

        put_conversion(&text, &spec, &args);
    }

    va_end(args);

    *text.at = '\0';

    return -1;
}


const char *
sbx_step_name(sbx_step_t step)
{
    if ((unsigned) step >= SBX_STEP_COUNT) {
        return "unknown";
    }

    return step_names[step];
}


static int
parse_count(const char **fmt, va_list *args)
{
    int n = 0;

    if (**fmt == '*') {
        (*fmt)++;
        return va_arg(*args, int);
    }

    while (**fmt >= '0' && **fmt <= '9' && n < 10000) {
        n = n * 10 + (*(*fmt)++ - '0');
    }

    return n;
}


static const char *
parse_spec(const char *fmt, spec_t *spec, va_list *args)
{
    memset(spec, 0, sizeof(spec_t));

    for ( ;; ) {
        if (*fmt == '-') {
            spec->left = 1;

        } else if (*fmt == '0') {
            spec->zero = 1;

        } else if (*fmt != '#') {
            break;
        }

        fmt++;
    }

    spec->width = parse_count(&fmt, args);
    spec->precision = -1;

    if (*fmt == '.') {
        fmt++;
        spec->precision = parse_count(&fmt, args);
    }

    for ( ;; ) {
        if (*fmt == 'l') {
            spec->longs++;

        } else if (*fmt == 'h') {
            spec->longs--;

        } else if (*fmt == 'z' || *fmt == 'j' || *fmt == 't') {
            spec->longs = sizeof(size_t) == sizeof(long) ? 1 : 0;

        } else {
            break;
        }

        fmt++;
    }

    spec->letter = *fmt;

    return *fmt == '\0' ? fmt : fmt + 1;
}


static void
put_padded(text_t *text, const spec_t *spec, const char *data, size_t len)
{
    size_t room, pad;
    char fill;

    pad = spec->width > 0 && (size_t) spec->width > len
          ? (size_t) spec->width - len : 0;
    fill = spec->zero && !spec->left ? '0' : ' ';

    for ( ; !spec->left && pad > 0 && text->at < text->end; pad--) {
        *text->at++ = fill;
    }

    room = text->end - text->at;

    if (len > room) {
        len = room;
    }

    memcpy(text->at, data, len);
    text->at += len;

    for ( ; pad > 0 && text->at < text->end; pad--) {
        *text->at++ = fill;
    }
}


static void
put_number(text_t *text, const spec_t *spec, unsigned long long value,
    unsigned base, int negative)
{
    int least;
    const char *digits;
    char buf[32], *p;

    /* Zero padding, a precision too, asks for a least number of digits. */

    least = spec->precision >= 0 ? spec->precision
            : spec->zero && !spec->left ? spec->width - negative : 0;
    digits = spec->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    p = buf + sizeof(buf);

    do {
        *--p = digits[value % base];
        value /= base;
    } while (value != 0);

    while (least > buf + sizeof(buf) - p && p > buf + 3) {
        *--p = '0';
    }

    if (negative) {
        *--p = '-';
    }

    if (spec->letter == 'p') {
        *--p = 'x';
        *--p = '0';
    }

    put_padded(text, spec, p, buf + sizeof(buf) - p);
}


static unsigned long long
take_unsigned(const spec_t *spec, va_list *args)
{
    switch (spec->longs) {
    case 0:
        return va_arg(*args, unsigned);
    case 1:
        return va_arg(*args, unsigned long);
    case 2:
        return va_arg(*args, unsigned long long);
    case -1:
        return (unsigned short) va_arg(*args, unsigned);
    default:
        return (unsigned char) va_arg(*args, unsigned);
    }
}


static long long
take_signed(const spec_t *spec, va_list *args)
{
    switch (spec->longs) {
    case 1:
        return va_arg(*args, long);
    case 2:
        return va_arg(*args, long long);
    default:
        return va_arg(*args, int);
    }
}


static void
put_string(text_t *text, const spec_t *spec, const char *s)
{
    size_t max;

    if (s == NULL) {
        s = "(null)";
    }

    /* With a precision the string may lack its NUL: strnlen stops in time. */

    max = spec->precision >= 0 ? (size_t) spec->precision : SIZE_MAX;

    put_padded(text, spec, s, strnlen(s, max));
}


static void
put_conversion(text_t *text, const spec_t *spec, va_list *args)
{
    char c;
    long long value;

    switch (spec->letter) {

    case 'd':
    case 'i':
        value = take_signed(spec, args);
        put_number(text, spec,
                   value < 0 ? -(unsigned long long) value
                             : (unsigned long long) value,
                   10, value < 0);
        break;

    case 'u':
        put_number(text, spec, take_unsigned(spec, args), 10, 0);
        break;

    case 'x':
    case 'X':
        put_number(text, spec, take_unsigned(spec, args), 16, 0);
        break;

    case 'o':
        put_number(text, spec, take_unsigned(spec, args), 8, 0);
        break;

    case 'p':
        put_number(text, spec, (uintptr_t) va_arg(*args, void *), 16, 0);
        break;

    case 's':
        put_string(text, spec, va_arg(*args, const char *));
        break;

    case 'c':
        c = (char) va_arg(*args, int);
        put_padded(text, spec, &c, 1);
        break;

    default:
        put_padded(text, spec, &spec->letter, 1);
    }
}
