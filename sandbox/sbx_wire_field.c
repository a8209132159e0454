/*
 * sbx_wire_field.c: packs and unpacks single fields and tables of them.
 *
 * Runs in every process of ours.  Whatever is read here comes from another
 * process: a length is compared with what is left before it is used, a number
 * with its bounds, and everything is copied byte by byte, since nothing in a
 * payload is aligned.
 */

#include <string.h>

#include "sbx_wire_field.h"


void
sbx_field_put(sbx_sink_t *out, sbx_tag_t tag, sbx_str_t data)
{
    uint16_t head[2];
    uint32_t len;

    out->size += SBX_FIELD_HEAD + data.len;

    if (out->at == NULL) {
        return;
    }

    head[0] = tag;
    head[1] = 0;
    len = data.len;

    memcpy(out->at, head, 4);
    memcpy(out->at + 4, &len, 4);

    if (data.len > 0) {
        memcpy(out->at + SBX_FIELD_HEAD, data.data, data.len);
    }

    out->at += SBX_FIELD_HEAD + data.len;
}


void
sbx_field_put_u32(sbx_sink_t *out, sbx_tag_t tag, uint32_t value)
{
    sbx_field_put(out, tag, (sbx_str_t) { (const char *) &value, 4 });
}


int
sbx_field_next(sbx_fields_t *in, sbx_field_t *field, sbx_err_t *err)
{
    uint16_t head[2];
    uint32_t len;

    do {
        if (in->left == 0) {
            return 0;
        }

        if (in->left < SBX_FIELD_HEAD) {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "%zu stray bytes at the end", in->left);
        }

        memcpy(head, in->at, 4);
        memcpy(&len, in->at + 4, 4);

        if (head[1] != 0) {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "reserved bits set in field %u", head[0]);
        }

        if (len > in->left - SBX_FIELD_HEAD) {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "field %u of %u bytes, but %zu are left", head[0],
                            len, in->left - SBX_FIELD_HEAD);
        }

        field->tag = head[0];
        field->data.data = in->at + SBX_FIELD_HEAD;
        field->data.len = len;

        in->at += SBX_FIELD_HEAD + (size_t) len;
        in->left -= SBX_FIELD_HEAD + (size_t) len;

    } while (field->tag >= SBX_TAG_OPTIONAL);

    return 1;
}


int
sbx_field_u32(const sbx_field_t *field, uint32_t *value, sbx_err_t *err)
{
    if (field->data.len != 4) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "field %u has %zu bytes instead of 4", field->tag,
                        field->data.len);
    }

    memcpy(value, field->data.data, 4);

    return 0;
}


void
sbx_rows_put(sbx_sink_t *out, const sbx_row_t *rows, const void *base)
{
    sbx_str_t data;
    const char *at;

    for ( /* void */ ; rows->tag != 0; rows++) {
        at = (const char *) base + rows->offset;

        switch (rows->kind) {
        case SBX_KIND_STR:
            memcpy(&data, at, sizeof(sbx_str_t));
            break;
        case SBX_KIND_TEXT:
            data = (sbx_str_t) { at, strnlen(at, rows->max - 1) };
            break;
        case SBX_KIND_U64:
            data = (sbx_str_t) { at, 8 };
            break;
        default:
            data = (sbx_str_t) { at, 4 };
        }

        if (data.len > 0 || rows->required) {
            sbx_field_put(out, rows->tag, data);
        }
    }
}


static int
get_number(const sbx_row_t *row, char *at, const sbx_field_t *field,
    sbx_err_t *err)
{
    int32_t i32;
    uint32_t u32;
    int64_t value;

    if (row->kind == SBX_KIND_U64) {
        if (field->data.len != 8) {
            return sbx_fail(err, SBX_STEP_WIRE, 0,
                            "%s has %zu bytes instead of 8", row->name,
                            field->data.len);
        }

        memcpy(at, field->data.data, 8);

        return 1;
    }

    u32 = 0;

    if (sbx_field_u32(field, &u32, err) != 0) {
        return -1;
    }

    memcpy(&i32, &u32, 4);
    value = row->kind == SBX_KIND_I32 ? i32 : (int64_t) u32;

    if (value < row->min || value > row->max) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "%s is %lld, which is not in %lld..%lld", row->name,
                        (long long) value, (long long) row->min,
                        (long long) row->max);
    }

    memcpy(at, &u32, 4);

    return 1;
}


static int
get_text(const sbx_row_t *row, char *at, const sbx_field_t *field,
    sbx_err_t *err)
{
    if (field->data.len >= (uint64_t) row->max) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "%s has %zu bytes, more than %lld", row->name,
                        field->data.len, (long long) row->max - 1);
    }

    if (memchr(field->data.data, '\0', field->data.len) != NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "%s holds a NUL byte",
                        row->name);
    }

    memcpy(at, field->data.data, field->data.len);
    at[field->data.len] = '\0';

    return 1;
}


int
sbx_rows_get(const sbx_row_t *rows, void *base, const sbx_field_t *field,
    uint64_t *seen, sbx_err_t *err)
{
    char *at;
    uint64_t bit;
    const sbx_row_t *row;

    for (row = rows; row->tag != 0; row++) {
        if (row->tag == field->tag) {
            break;
        }
    }

    /* Tag 0 ends the table; in a field it is as unknown as any other. */

    if (row->tag == 0) {
        return 0;
    }

    bit = 1ULL << (row - rows);

    if (*seen & bit) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "%s comes twice", row->name);
    }

    *seen |= bit;
    at = (char *) base + row->offset;

    switch (row->kind) {
    case SBX_KIND_STR:
        memcpy(at, &field->data, sizeof(sbx_str_t));
        return 1;
    case SBX_KIND_TEXT:
        return get_text(row, at, field, err);
    default:
        return get_number(row, at, field, err);
    }
}


int
sbx_rows_complete(const sbx_row_t *rows, uint64_t seen, sbx_err_t *err)
{
    const sbx_row_t *row;

    for (row = rows; row->tag != 0; row++) {
        if (row->required && !(seen & (1ULL << (row - rows)))) {
            return sbx_fail(err, SBX_STEP_WIRE, 0, "%s is missing", row->name);
        }
    }

    return 0;
}


void
sbx_limits_put(sbx_sink_t *out, const uint64_t limits[SBX_LIMIT_COUNT])
{
    uint32_t i;
    char data[16];

    memset(data, 0, sizeof(data));

    for (i = 0; i < SBX_LIMIT_COUNT; i++) {
        memcpy(data, &i, 4);
        memcpy(data + 8, &limits[i], 8);

        sbx_field_put(out, SBX_TAG_LIMIT,
                      (sbx_str_t) { data, sizeof(data) });
    }
}


int
sbx_limits_get(const sbx_field_t *field, uint64_t limits[SBX_LIMIT_COUNT],
    uint64_t *seen, sbx_err_t *err)
{
    uint32_t head[2];

    if (field->data.len != 16) {
        return sbx_fail(err, SBX_STEP_WIRE, 0,
                        "a limit has %zu bytes instead of 16",
                        field->data.len);
    }

    memcpy(head, field->data.data, 8);

    if (head[0] >= SBX_LIMIT_COUNT || head[1] != 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "unknown limit %u", head[0]);
    }

    if (*seen & (1ULL << head[0])) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "limit %s comes twice",
                        sbx_limits[head[0]].name);
    }

    *seen |= 1ULL << head[0];
    memcpy(&limits[head[0]], field->data.data + 8, 8);

    return 0;
}
