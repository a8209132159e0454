/*
 * sbx_json_answer.c: verdicts as the JSON that clients get.
 *
 * Runs in the worker and the command.  All keys are always there, in this
 * order; what does not apply is null, so that a client never has to ask
 * whether a key exists.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sbx_json.h"
#include "sbx_json_text.h"


/* Room for all that is not output; a guess that saves the first copies. */
#define FIXED_BYTES  2048

/* Characters that a figure of an answer is given: 27 hours, 1 TiB less one. */
#define ROOM  12
#define NULL_WIDTH  4


/* A number that is 0 when nobody knows it. */
static void
put_known(sbx_json_out_t *out, const char *key, uint64_t value)
{
    if (value == 0) {
        sbx_json_null(out, key);

    } else {
        sbx_json_unsigned(out, key, value);
    }
}


void
sbx_json_limits(sbx_json_out_t *out, const uint64_t limits[SBX_LIMIT_COUNT],
    uint64_t base_bytes, uint64_t code_bytes, uint32_t factor_permille)
{
    int i, in_force;

    /* No run is without a timeout: without one, no limits were in force. */

    in_force = limits[SBX_LIMIT_TIMEOUT] != 0;

    sbx_json_open(out, "limits", '{');

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        if (in_force && !sbx_limit_is_none(i, limits[i])) {
            sbx_json_unsigned(out, sbx_limits[i].name, limits[i]);

        } else {
            sbx_json_null(out, sbx_limits[i].name);
        }
    }

    sbx_json_open(out, "memory_terms", '{');
    put_known(out, "base", base_bytes);

    if (in_force) {
        sbx_json_unsigned(out, "code", code_bytes);
        sbx_json_unsigned(out, "wanted", limits[SBX_LIMIT_MEMORY]);
        sbx_json_thousandths(out, "factor", factor_permille);

    } else {
        sbx_json_null(out, "code");
        sbx_json_null(out, "wanted");
        sbx_json_null(out, "factor");
    }

    sbx_json_close(out, '}');
    sbx_json_close(out, '}');
}


static void
put_signal(sbx_json_out_t *out, int signal)
{
    char name[32];
    const char *abbreviation;

    if (signal == 0) {
        sbx_json_null(out, "signal");
        return;
    }

    abbreviation = sigabbrev_np(signal);

    if (abbreviation != NULL) {
        snprintf(name, sizeof(name), "SIG%s", abbreviation);

    } else {
        snprintf(name, sizeof(name), "SIG%d", signal);
    }

    sbx_json_name(out, "signal", name);
}


/* An internal error without a reason of its own names the failing step. */
static void
put_reason(sbx_json_out_t *out, const sbx_verdict_t *v)
{
    if (v->status == SBX_INTERNAL_ERROR && v->reason == SBX_REASON_NONE
        && v->step != SBX_STEP_NONE)
    {
        sbx_json_name(out, "reason", sbx_step_name(v->step));
        return;
    }

    sbx_json_name(out, "reason", sbx_reason_name(v->reason));
}


/* What only the hook sees: null where it was not there. */
static void
put_counted(sbx_json_out_t *out, const sbx_verdict_t *v)
{
    if (v->memory_source != SBX_SOURCE_HOOK) {
        sbx_json_null(out, "threads");
        sbx_json_null(out, "open_files");
        sbx_json_null(out, "largest_bytes");
        return;
    }

    sbx_json_unsigned(out, "threads", v->threads);
    sbx_json_unsigned(out, "open_files", v->open_files);
    sbx_json_unsigned(out, "largest_bytes", v->largest_bytes);
}


static void
put_usage(sbx_json_out_t *out, const sbx_verdict_t *v)
{
    unsigned i;

    sbx_json_open(out, "usage", '{');
    sbx_json_thousandths(out, "wall_ms", v->wall_us);
    sbx_json_thousandths(out, "cpu_ms", v->cpu_us);
    sbx_json_thousandths(out, "queue_ms", v->queue_us);

    if (v->memory_source == SBX_SOURCE_NONE) {
        sbx_json_null(out, "memory_bytes");

    } else {
        sbx_json_unsigned(out, "memory_bytes", v->memory_bytes);
    }

    sbx_json_name(out, "memory_source", sbx_source_name(v->memory_source));
    sbx_json_unsigned(out, "processes", v->processes);
    put_counted(out, v);
    sbx_json_open(out, "refused", '[');

    for (i = 0; i < v->nrefused; i++) {
        sbx_json_name(out, NULL, v->refused[i]);
    }

    sbx_json_close(out, ']');
    sbx_json_close(out, '}');
}


/* 2026-11-30T04:00:00.123Z */
static void
put_timestamp(sbx_json_out_t *out, int64_t timestamp_ms)
{
    size_t len;
    time_t seconds;
    struct tm tm;
    char text[64];

    seconds = timestamp_ms / 1000;

    if (timestamp_ms <= 0 || gmtime_r(&seconds, &tm) == NULL) {
        sbx_json_null(out, "timestamp");
        return;
    }

    len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + len, sizeof(text) - len, ".%03dZ",
             (int) (timestamp_ms % 1000));

    sbx_json_name(out, "timestamp", text);
}


static void
put_address(sbx_json_out_t *out, const sbx_violation_t *violation)
{
    char text[64];

    text[0] = '\0';

    if (sbx_violation_has_address(violation)) {
        snprintf(text, sizeof(text), "0x%llx",
                 (unsigned long long) violation->address);
    }

    sbx_json_name(out, "address", text);

    text[0] = '\0';

    if (violation->region_hi != 0) {
        snprintf(text, sizeof(text), "0x%llx-0x%llx",
                 (unsigned long long) violation->region_lo,
                 (unsigned long long) violation->region_hi);
    }

    sbx_json_name(out, "allocated_region", text);
}


static void
put_violation(sbx_json_out_t *out, const char *key,
    const sbx_violation_t *violation)
{
    if (violation->type == SBX_VIOLATION_NONE) {
        sbx_json_null(out, key);
        return;
    }

    sbx_json_open(out, key, '{');
    sbx_json_name(out, "violation_type", sbx_violation_name(violation->type));
    sbx_json_name(out, "violation_class", sbx_violation_class(violation->type));
    put_address(out, violation);
    put_timestamp(out, violation->timestamp_ms);

    if (violation->type == SBX_VIOLATION_ALLOC_LIMIT) {
        put_known(out, "requested_bytes", violation->requested_bytes);
        put_known(out, "limit_bytes", violation->limit_bytes);
        sbx_json_unsigned(out, "live_bytes", violation->live_bytes);

    } else {
        sbx_json_null(out, "requested_bytes");
        sbx_json_null(out, "limit_bytes");
        sbx_json_null(out, "live_bytes");
    }

    sbx_json_name(out, "source", sbx_source_name(violation->source));
    sbx_json_name(out, "syscall", violation->syscall);

    if (violation->number < 0) {
        sbx_json_null(out, "number");

    } else {
        sbx_json_number(out, "number", violation->number);
    }

    sbx_json_close(out, '}');
}


static void
put_pair(sbx_json_out_t *out, const char *key, int output, int errout)
{
    sbx_json_open(out, key, '{');
    sbx_json_bool(out, "output", output);
    sbx_json_bool(out, "stderr", errout);
    sbx_json_close(out, '}');
}


static int
put_stream(sbx_json_out_t *out, const char *key, sbx_str_t data,
    sbx_encoding_t encoding)
{
    if (encoding == SBX_ENCODING_BASE64) {
        sbx_json_base64(out, key, data);
        return 0;
    }

    return sbx_json_text(out, key, data);
}


/* null: there was nothing to compare with. */
static void
put_accepted(sbx_json_out_t *out, sbx_accept_t accept)
{
    if (accept == SBX_NOT_COMPARED) {
        sbx_json_null(out, "accepted");

    } else {
        sbx_json_bool(out, "accepted", accept == SBX_ACCEPTED);
    }
}


static void
put_verdict(sbx_json_out_t *out, const sbx_verdict_t *v,
    sbx_encoding_t encoding, int is_case)
{
    int output_replaced, errout_replaced;

    sbx_json_reserve(out, FIXED_BYTES + v->output.len + v->errout.len);

    sbx_json_open(out, NULL, '{');
    sbx_json_name(out, "status", sbx_status_name(v->status));

    if (is_case) {
        put_accepted(out, v->accept);
        sbx_json_name(out, "name", v->name);
    }

    output_replaced = put_stream(out, "output", v->output, encoding);
    errout_replaced = put_stream(out, "stderr", v->errout, encoding);

    if (v->exit_code < 0) {
        sbx_json_null(out, "exit_code");

    } else {
        sbx_json_number(out, "exit_code", v->exit_code);
    }

    put_signal(out, v->signal);
    sbx_json_number(out, "returncode", sbx_verdict_returncode(v));
    sbx_json_name(out, "error", v->error);
    put_reason(out, v);
    put_usage(out, v);
    sbx_json_limits(out, v->limits, v->base_bytes, v->code_bytes,
               v->factor_permille);
    put_pair(out, "truncated", v->output_truncated, v->errout_truncated);
    put_pair(out, "replaced", output_replaced, errout_replaced);
    put_violation(out, "violation", &v->violation);
    sbx_json_close(out, '}');
}


char *
sbx_verdict_json(const sbx_verdict_t *v, sbx_encoding_t encoding, size_t *len)
{
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    put_verdict(&out, v, encoding, 0);

    return sbx_json_end(&out, len);
}


char *
sbx_batch_json(const sbx_verdict_t *v, size_t n, sbx_encoding_t encoding,
    size_t *len)
{
    size_t i;
    sbx_summary_t sum;
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    sbx_summarize(v, n, &sum);

    sbx_json_open(&out, NULL, '{');
    sbx_json_name(&out, "status", sbx_status_name(sum.status));
    put_accepted(&out, sum.accept);
    sbx_json_open(&out, "summary", '{');
    sbx_json_unsigned(&out, "total", sum.total);
    sbx_json_unsigned(&out, "accepted", sum.accepted);
    sbx_json_unsigned(&out, "failed", sum.failed);
    sbx_json_unsigned(&out, "skipped", sum.skipped);
    sbx_json_close(&out, '}');
    sbx_json_open(&out, "cases", '[');

    for (i = 0; i < n; i++) {
        put_verdict(&out, &v[i], encoding, 1);
    }

    sbx_json_close(&out, ']');
    sbx_json_close(&out, '}');

    return sbx_json_end(&out, len);
}


char *
sbx_violation_json(const sbx_violation_t *violation, size_t *len)
{
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    if (violation->type == SBX_VIOLATION_NONE) {
        return NULL;
    }

    put_violation(&out, NULL, violation);

    return sbx_json_end(&out, len);
}


/* How many characters a figure takes, with up to three decimals. */
static size_t
width(uint64_t value, int thousandths)
{
    size_t n = 1;
    unsigned part = thousandths ? value % 1000 : 0;

    if (part != 0) {
        n += part % 10 ? 4 : part % 100 ? 3 : 2;
    }

    for (value = thousandths ? value / 1000 : value; value > 9; value /= 10) {
        n++;
    }

    return n;
}


static void
pad(sbx_json_out_t *out, size_t room, size_t used)
{
    sbx_json_reserve(out, room);

    for ( /* void */ ; used < room && !out->failed; used++) {
        out->buf[out->len++] = ' ';
    }
}


char *
sbx_verdict_body(const sbx_verdict_t *v, sbx_encoding_t encoding, size_t *len)
{
    sbx_json_out_t out = { NULL, 0, 0, 0, 0 };

    put_verdict(&out, v, encoding, 0);
    pad(&out, ROOM, width(v->wall_us, 1));
    pad(&out, ROOM, width(v->cpu_us, 1));
    pad(&out, ROOM, width(v->queue_us, 1));
    pad(&out, ROOM, v->memory_source == SBX_SOURCE_NONE
                    ? NULL_WIDTH : width(v->memory_bytes, 0));

    /* an engine's own threads start when they like */
    if (v->memory_source == SBX_SOURCE_HOOK) {
        pad(&out, ROOM, width(v->threads, 0));
        pad(&out, ROOM, width(v->largest_bytes, 0));
    }

    pad(&out, ROOM, v->base_bytes == 0 ? NULL_WIDTH : width(v->base_bytes, 0));

    return sbx_json_end(&out, len);
}
