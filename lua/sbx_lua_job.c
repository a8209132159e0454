/*
 * sbx_lua_job.c: the job that request() returned.
 *
 * Runs in the worker, below sbx_lua_protect().  Keys and types are the
 * policy's: what is not understood is an error.  Values are often the client's,
 * handed through: those that make no job are told as such, so that the client
 * is refused and the operator's log stays quiet.  Tables are read raw: no code
 * of the policy's runs any more, so what was measured stays what it is.
 */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_compare.h"
#include "sbx_lua_job.h"

#define STRINGS_DEPTH   4       /* deeper than any table of a job */


/* The value is at the top. */
typedef struct {
    const char *name;
    void (*read)(sbx_lua_reader_t *in);
} row_t;


void
sbx_lua_refuse(sbx_lua_reader_t *in, const char *fmt, ...)
{
    va_list args;
    sbx_policy_wish_t *wish = in->wish;

    if (wish->invalid[0] != '\0') {
        return;
    }

    va_start(args, fmt);
    vsnprintf(wish->invalid, sizeof(wish->invalid), fmt, args);
    va_end(args);
}


void
sbx_lua_check_type(lua_State *L, int type, const char *field)
{
    if (lua_type(L, -1) != type) {
        luaL_error(L, "request(): %s must be a %s, not a %s", field,
                   lua_typename(L, type), luaL_typename(L, -1));
    }

    if (type == LUA_TTABLE) {
        sbx_lua_check_open(L, -1, field);
    }
}


/*
 * Length of all strings in the table at the top, and one byte more for each: a
 * job's strings have room in one block of that size.
 */
static size_t
measure(lua_State *L, int depth)
{
    int i;
    size_t sum = 0;

    luaL_checkstack(L, 4, "tables of a job");

    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        sbx_lua_meter(L, 4);

        for (i = -2; i < 0; i++) {
            sum += lua_type(L, i) == LUA_TSTRING ? lua_rawlen(L, i) + 1 : 0;
        }

        if (lua_istable(L, -1) && depth < STRINGS_DEPTH) {
            sum += measure(L, depth + 1);
        }
    }

    return sum;
}


sbx_str_t
sbx_lua_copy_string(sbx_lua_reader_t *in, int index)
{
    size_t len;
    const char *text = lua_tolstring(in->L, index, &len);
    sbx_str_t str = { in->room, len };

    sbx_lua_meter(in->L, len / SBX_LUA_BYTES_PER_STEP);
    memcpy(in->room, text, len);
    in->room[len] = '\0';
    in->room += len + 1;

    return str;
}


static void
check_value(sbx_lua_reader_t *in, const char *field, const char *why)
{
    if (why != NULL) {
        sbx_lua_refuse(in, "%s: %s", field, why);
    }
}


sbx_str_t
sbx_lua_read_string(sbx_lua_reader_t *in, const char *field)
{
    sbx_lua_check_type(in->L, LUA_TSTRING, field);
    return sbx_lua_copy_string(in, -1);
}


void
sbx_lua_refuse_more(sbx_lua_reader_t *in, const char *field, int bound)
{
    if (errno == ENOMEM) {
        luaL_error(in->L, "no memory for a job");
    }

    sbx_lua_refuse(in, "%s: more than %d, or too long together", field, bound);
}


static void
read_language(sbx_lua_reader_t *in)
{
    sbx_str_t language = sbx_lua_read_string(in, "language");

    check_value(in, "language", sbx_name_check(language));
    in->wish->native.job.language = sbx_language_canonical(language);
}


static void
read_code(sbx_lua_reader_t *in)
{
    in->wish->native.job.code = sbx_lua_read_string(in, "code");
}


static void
read_name(sbx_lua_reader_t *in)
{
    in->wish->native.job.name = sbx_lua_read_string(in, "name");
    check_value(in, "name", sbx_name_check(in->wish->native.job.name));
}


static void
read_compare(sbx_lua_reader_t *in)
{
    int how;
    sbx_str_t name = sbx_lua_read_string(in, "compare");

    how = sbx_compare_find(name);

    if (how < 0) {
        sbx_lua_refuse(in, "compare: must be exact, tokens, trimmed or lines");
        return;
    }

    in->wish->native.job.compare = (uint32_t) how;
}


static void
read_stop(sbx_lua_reader_t *in)
{
    sbx_lua_check_type(in->L, LUA_TBOOLEAN, "stop_at_failure");

    if (lua_toboolean(in->L, -1)) {
        in->wish->native.job.flags |= SBX_JOB_STOP;
    }
}


/* A wish, narrowed to the ceiling later; only nonsense is refused. */
static void
read_limit(sbx_lua_reader_t *in, int id)
{
    lua_Number number;
    uint64_t value;
    sbx_str_t text;
    const sbx_limit_t *row = &sbx_limits[id];

    if (lua_type(in->L, -1) == LUA_TSTRING) {
        text.data = lua_tolstring(in->L, -1, &text.len);

        /* the row's own words first: "none" */
        if (sbx_limit_parse((sbx_limit_id_t) id, text, 0, &value) != 0
            && sbx_unit_parse(row->unit, text, &value) != 0)
        {
            sbx_lua_refuse(in, "limits.%s: \"%.*s\" is not understood",
                           row->name, text.len > 64 ? 64 : (int) text.len,
                           text.data);
            return;
        }

        number = (lua_Number) value;

    } else {
        sbx_lua_check_type(in->L, LUA_TNUMBER, row->name);
        number = floor(lua_tonumber(in->L, -1));
    }

    if (!(number >= 0) || (number < 1 && row->min > 0)) {
        sbx_lua_refuse(in, "limits.%s: must be more than nothing", row->name);
        return;
    }

    /* compared as numbers: a huge one would not fit into 64 bits */
    value = number >= (lua_Number) row->max ? row->max : (uint64_t) number;
    in->wish->native.wanted[id] = value < row->min ? row->min : value;
    in->wish->native.asked |= 1u << id;
}


static void
read_limits(sbx_lua_reader_t *in)
{
    int id;
    sbx_str_t key;

    sbx_lua_check_type(in->L, LUA_TTABLE, "limits");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        key = SBX_STR("");

        if (lua_type(in->L, -2) == LUA_TSTRING) {
            key.data = lua_tolstring(in->L, -2, &key.len);
        }

        id = sbx_limit_find(key);
        if (id < 0) {
            luaL_error(in->L, "request(): unknown limit \"%s\"", key.data);
        }

        read_limit(in, id);
    }
}


static void
read_keep(sbx_lua_reader_t *in)
{
    sbx_json_out_t *keep = &sbx_lua_policy(in->L)->keep;

    sbx_lua_pack_value(in->L, -1);

    /* taken over: the policy begins another one next time */
    in->wish->keep = (sbx_str_t) { keep->buf, keep->len };
    memset(keep, 0, sizeof(*keep));
}


static const row_t job_rows[] = {
    { "language", read_language },
    { "code", read_code },
    { "name", read_name },
    { "stdin", sbx_lua_read_stdin },
    { "args", sbx_lua_read_args },
    { "env", sbx_lua_read_env },
    { "files", sbx_lua_read_files },
    { "limits", read_limits },
    { "cases", sbx_lua_read_cases },
    { "cases_from", sbx_lua_read_cases_from },
    { "compare", read_compare },
    { "stop_at_failure", read_stop },
    { "keep", read_keep },
    { NULL, NULL }
};


void
sbx_lua_read_job(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    const row_t *row;
    const char *key;
    sbx_lua_reader_t in = { L, wish, NULL };

    wish->action = SBX_POLICY_JOB;
    sbx_job_init(&wish->native.job);

    lua_pushvalue(L, index);
    wish->native.decoded = malloc(measure(L, 1) + 1);
    in.room = wish->native.decoded;

    if (in.room == NULL) {
        luaL_error(L, "no memory for a job");
    }

    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

        for (row = job_rows; row->name != NULL; row++) {
            if (strcmp(row->name, key) == 0) {
                break;
            }
        }

        if (strcmp(key, "body") == 0 || strcmp(key, "headers") == 0) {
            luaL_error(L, "request() returned \"%s\" without \"status\": an "
                       "answer needs a status, and a job has no such field",
                       key);
        }

        if (row->name == NULL) {
            luaL_error(L, "request() returned an unknown field \"%s\"", key);
        }

        row->read(&in);
    }

    lua_pop(L, 1);

    if (wish->native.job.ncases == 0) {
        sbx_lua_add_case(&in, 0, SBX_STR(""));
    }
}
