/*
 * sbx_lua_wish.c: what request() returned: a job, an answer, or where to pass
 * the request on.
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
#include "sbx_lua_private.h"

#define PASS_MAX        4096
#define STRINGS_DEPTH   4       /* deeper than any table of a job */


typedef struct {
    lua_State *L;
    sbx_policy_wish_t *wish;
    char *room;                 /* where the next string goes */
} reader_t;

/* The value is at the top. */
typedef struct {
    const char *name;
    void (*read)(reader_t *in);
} row_t;


/* The first reason counts. */
static void __attribute__((format(printf, 2, 3)))
refuse(reader_t *in, const char *fmt, ...)
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


static void
check_type(lua_State *L, int type, const char *field)
{
    if (lua_type(L, -1) != type) {
        luaL_error(L, "request(): %s must be a %s, not a %s", field,
                   lua_typename(L, type), luaL_typename(L, -1));
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


/* A copy of the string at index. */
static sbx_str_t
copy(reader_t *in, int index)
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
check_value(reader_t *in, const char *field, const char *why)
{
    if (why != NULL) {
        refuse(in, "%s: %s", field, why);
    }
}


static sbx_str_t
read_string(reader_t *in, const char *field)
{
    check_type(in->L, LUA_TSTRING, field);
    return copy(in, -1);
}


static void
read_language(reader_t *in)
{
    sbx_str_t language = read_string(in, "language");

    check_value(in, "language", sbx_name_check(language));
    in->wish->native.job.language = sbx_language_canonical(language);
}


static void
read_code(reader_t *in)
{
    in->wish->native.job.code = read_string(in, "code");
}


static void
read_name(reader_t *in)
{
    in->wish->native.job.name = read_string(in, "name");
    check_value(in, "name", sbx_name_check(in->wish->native.job.name));
}


/* Why sbx_job_add_* refused. */
static void
refuse_more(reader_t *in, const char *field, int bound)
{
    if (errno == ENOMEM) {
        luaL_error(in->L, "no memory for a job");
    }

    refuse(in, "%s: more than %d, or too long together", field, bound);
}


static void
add_case(reader_t *in, uint32_t id, sbx_str_t input)
{
    if (sbx_job_add_case(&in->wish->native.job, id, input) != 0) {
        luaL_error(in->L, "no memory for a job");
    }
}


static void
contradict(reader_t *in)
{
    luaL_error(in->L, "request(): stdin and cases contradict each other");
}


static void
read_stdin(reader_t *in)
{
    if (in->wish->native.job.ncases > 0) {
        contradict(in);
    }

    add_case(in, 0, read_string(in, "stdin"));
}


/* The list at the top, 1 to n and nothing else; returns n. */
static lua_Integer
check_list(lua_State *L, const char *field)
{
    lua_Integer n, count = 0;

    check_type(L, LUA_TTABLE, field);
    n = (lua_Integer) lua_rawlen(L, -1);

    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        sbx_lua_meter(L, 1);
        count++;
    }

    if (count != n) {
        luaL_error(L, "request(): %s must be a list", field);
    }

    return n;
}


static void
read_args(reader_t *in)
{
    sbx_str_t arg;
    lua_Integer i, n;
    sbx_job_t *job = &in->wish->native.job;

    n = check_list(in->L, "args");

    for (i = 1; i <= n; i++) {
        lua_rawgeti(in->L, -1, i);
        arg = read_string(in, "args[]");
        lua_pop(in->L, 1);

        if (memchr(arg.data, '\0', arg.len) != NULL) {
            refuse(in, "args[%d]: holds a NUL byte", (int) i - 1);
        }

        if (sbx_job_add_arg(job, arg) != 0) {
            refuse_more(in, "args", SBX_ARGS_MAX);
            return;
        }
    }
}


/* "NAME=value" from key and value; the copies' NUL bytes are the room of '='. */
static void
read_env_entry(reader_t *in)
{
    sbx_str_t name, value, entry;

    if (lua_type(in->L, -2) != LUA_TSTRING) {
        luaL_error(in->L, "request(): env must have strings by names");
    }

    check_type(in->L, LUA_TSTRING, "a value of env");

    name = copy(in, -2);
    in->room--;
    *in->room++ = '=';
    value = copy(in, -1);
    entry = (sbx_str_t) { name.data, name.len + 1 + value.len };

    if (memchr(name.data, '=', name.len) != NULL) {
        refuse(in, "env: a name holds a '='");
    }

    check_value(in, "env", sbx_env_check(entry));

    if (sbx_job_add_env(&in->wish->native.job, entry) != 0) {
        refuse_more(in, "env", SBX_ENV_MAX);
    }
}


static int
compare_env(const void *a, const void *b)
{
    return strcmp(((const sbx_str_t *) a)->data, ((const sbx_str_t *) b)->data);
}


/* Sorted: a Lua table has no order that two requests could rely on. */
static void
read_env(reader_t *in)
{
    sbx_job_t *job = &in->wish->native.job;

    check_type(in->L, LUA_TTABLE, "env");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        read_env_entry(in);
    }

    if (job->nenv > 1) {
        qsort(job->env, job->nenv, sizeof(*job->env), compare_env);
    }
}


static void
read_file(reader_t *in, int i)
{
    const char *key, *why;
    sbx_str_t path = { NULL, 0 }, data = { NULL, 0 };

    check_type(in->L, LUA_TTABLE, "files[]");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        key = lua_type(in->L, -2) == LUA_TSTRING ? lua_tostring(in->L, -2) : "";

        if (strcmp(key, "path") == 0) {
            path = read_string(in, "files[].path");

        } else if (strcmp(key, "content") == 0) {
            data = read_string(in, "files[].content");

        } else {
            luaL_error(in->L, "request(): files[] has an unknown field \"%s\"",
                       key);
        }
    }

    if (path.data == NULL || data.data == NULL) {
        luaL_error(in->L, "request(): files[] needs path and content");
    }

    why = sbx_path_check(path);

    if (why != NULL) {
        refuse(in, "files[%d].path: %s", i, why);
    }

    if (sbx_job_add_file(&in->wish->native.job, path, data) != 0) {
        refuse_more(in, "files", SBX_FILES_MAX);
    }
}


static void
read_files(reader_t *in)
{
    lua_Integer i, n;

    n = check_list(in->L, "files");

    if (n > SBX_FILES_MAX) {
        refuse(in, "files: more than %d", SBX_FILES_MAX);
        return;
    }

    for (i = 1; i <= n; i++) {
        lua_rawgeti(in->L, -1, i);
        read_file(in, (int) i - 1);
        lua_pop(in->L, 1);
    }
}


static void
read_case(reader_t *in, sbx_case_t *c)
{
    const char *key;

    check_type(in->L, LUA_TTABLE, "cases[]");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        key = lua_type(in->L, -2) == LUA_TSTRING ? lua_tostring(in->L, -2) : "";

        if (strcmp(key, "stdin") == 0) {
            c->input = read_string(in, "cases[].stdin");

        } else if (strcmp(key, "expected") == 0) {
            c->expected = read_string(in, "cases[].expected");

        } else {
            luaL_error(in->L, "request(): cases[] has an unknown field \"%s\"",
                       key);
        }
    }
}


static void
read_cases(reader_t *in)
{
    lua_Integer i, n;
    sbx_job_t *job = &in->wish->native.job;

    n = check_list(in->L, "cases");

    if (n == 0) {
        refuse(in, "cases: is empty");
    }

    if (n > SBX_CASES_MAX) {
        refuse(in, "cases: more than %d", SBX_CASES_MAX);
        return;
    }

    if (job->ncases > 0) {
        contradict(in);
    }

    for (i = 1; i <= n; i++) {
        add_case(in, (uint32_t) i - 1, SBX_STR(""));
        lua_rawgeti(in->L, -1, i);
        read_case(in, &job->cases[i - 1]);
        lua_pop(in->L, 1);
    }

    in->wish->native.is_batch = 1;
}


static void
read_compare(reader_t *in)
{
    int how;
    sbx_str_t name = read_string(in, "compare");

    how = sbx_compare_find(name);

    if (how < 0) {
        refuse(in, "compare: must be exact, tokens or trimmed");
        return;
    }

    in->wish->native.job.compare = (uint32_t) how;
}


static void
read_stop(reader_t *in)
{
    check_type(in->L, LUA_TBOOLEAN, "stop_at_failure");

    if (lua_toboolean(in->L, -1)) {
        in->wish->native.job.flags |= SBX_JOB_STOP;
    }
}


/* A wish, narrowed to the ceiling later; only nonsense is refused. */
static void
read_limit(reader_t *in, int id)
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
            refuse(in, "limits.%s: \"%.*s\" is not understood", row->name,
                   text.len > 64 ? 64 : (int) text.len, text.data);
            return;
        }

        number = (lua_Number) value;

    } else {
        check_type(in->L, LUA_TNUMBER, row->name);
        number = floor(lua_tonumber(in->L, -1));
    }

    if (!(number >= 0) || (number < 1 && row->min > 0)) {
        refuse(in, "limits.%s: must be more than nothing", row->name);
        return;
    }

    /* compared as numbers: a huge one would not fit into 64 bits */
    value = number >= (lua_Number) row->max ? row->max : (uint64_t) number;
    in->wish->native.wanted[id] = value < row->min ? row->min : value;
    in->wish->native.asked |= 1u << id;
}


static void
read_limits(reader_t *in)
{
    int id;
    sbx_str_t key;

    check_type(in->L, LUA_TTABLE, "limits");

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
read_keep(reader_t *in)
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
    { "stdin", read_stdin },
    { "args", read_args },
    { "env", read_env },
    { "files", read_files },
    { "limits", read_limits },
    { "cases", read_cases },
    { "compare", read_compare },
    { "stop_at_failure", read_stop },
    { "keep", read_keep },
    { NULL, NULL }
};


static void
read_job(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    const row_t *row;
    const char *key;
    reader_t in = { L, wish, NULL };

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

        if (row->name == NULL) {
            luaL_error(L, "request() returned an unknown field \"%s\"", key);
        }

        row->read(&in);
    }

    lua_pop(L, 1);

    if (wish->native.job.ncases == 0) {
        add_case(&in, 0, SBX_STR(""));
    }
}


/* "@name", or "/uri" with its arguments; nginx looks at the rest. */
static void
read_pass(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    size_t len, i;
    char *block;
    const char *text;

    wish->action = SBX_POLICY_PASS;

    lua_pushnil(L);
    lua_next(L, index);
    lua_pop(L, 1);

    if (lua_next(L, index)) {
        luaL_error(L, "request(): pass stands alone");
    }

    lua_pushliteral(L, "pass");
    lua_rawget(L, index);
    check_type(L, LUA_TSTRING, "pass");
    text = lua_tolstring(L, -1, &len);

    for (i = 0; i < len && (unsigned char) text[i] > 0x20 && text[i] != 0x7f;
         i++)
    {
        /* void */
    }

    if (len < 1 || len > PASS_MAX || i < len
        || !(text[0] == '/' || (text[0] == '@' && len > 1)))
    {
        luaL_error(L, "request(): pass must be \"@name\" or \"/uri?args\"");
    }

    block = malloc(len + 1);
    if (block == NULL) {
        luaL_error(L, "no memory to pass a request on");
    }

    memcpy(block, text, len + 1);
    wish->pass = (sbx_str_t) { block, len };
}


static int
has_field(lua_State *L, int index, const char *name)
{
    int found;

    lua_pushstring(L, name);
    found = lua_rawget(L, index) != LUA_TNIL;
    lua_pop(L, 1);

    return found;
}


/* wish is zero, and owns what was read so far even after an error. */
void
sbx_lua_read_wish(lua_State *L, int index, sbx_policy_wish_t *wish)
{
    if (!lua_istable(L, index)) {
        luaL_error(L, "request() must return nil or a table, not a %s",
                   luaL_typename(L, index));
    }

    if (has_field(L, index, "pass")) {
        read_pass(L, index, wish);

    } else if (has_field(L, index, "status")) {
        wish->action = SBX_POLICY_ANSWER;
        sbx_lua_read_response(L, index, &wish->answer);

    } else {
        read_job(L, index, wish);
    }
}
