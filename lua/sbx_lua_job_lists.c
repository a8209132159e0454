/*
 * sbx_lua_job_lists.c: the parts of a job that are lists: arguments,
 * environment, files, cases.
 *
 * Runs in the worker, below sbx_lua_protect(), called by sbx_lua_job.c for
 * their keys.
 */

#include <stdlib.h>
#include <string.h>

#include "sbx_lua_job.h"


void
sbx_lua_add_case(sbx_lua_reader_t *in, uint32_t id, sbx_str_t input)
{
    if (sbx_job_add_case(&in->wish->native.job, id, input) != 0) {
        luaL_error(in->L, "no memory for a job");
    }
}


static void
contradict(sbx_lua_reader_t *in)
{
    luaL_error(in->L, "request(): stdin, cases and cases_from contradict each other");
}


void
sbx_lua_read_stdin(sbx_lua_reader_t *in)
{
    if (in->wish->native.job.ncases > 0) {
        contradict(in);
    }

    sbx_lua_add_case(in, 0, sbx_lua_read_string(in, "stdin"));
}


/* The list at the top, 1 to n and nothing else; returns n. */
static lua_Integer
check_list(lua_State *L, const char *field)
{
    lua_Integer n, count = 0;

    sbx_lua_check_type(L, LUA_TTABLE, field);
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


void
sbx_lua_read_args(sbx_lua_reader_t *in)
{
    sbx_str_t arg;
    lua_Integer i, n;
    sbx_job_t *job = &in->wish->native.job;

    n = check_list(in->L, "args");

    for (i = 1; i <= n; i++) {
        lua_rawgeti(in->L, -1, i);
        arg = sbx_lua_read_string(in, "args[]");
        lua_pop(in->L, 1);

        if (memchr(arg.data, '\0', arg.len) != NULL) {
            sbx_lua_refuse(in, "args[%d]: holds a NUL byte", (int) i - 1);
        }

        if (sbx_job_add_arg(job, arg) != 0) {
            sbx_lua_refuse_more(in, "args", SBX_ARGS_MAX);
            return;
        }
    }
}


/* "NAME=value" from key and value; the '=' takes the place of a NUL. */
static void
read_env_entry(sbx_lua_reader_t *in)
{
    const char *why;
    sbx_str_t name, value, entry;

    if (lua_type(in->L, -2) != LUA_TSTRING) {
        luaL_error(in->L, "request(): env must have strings by names");
    }

    sbx_lua_check_type(in->L, LUA_TSTRING, "a value of env");

    name = sbx_lua_copy_string(in, -2);
    in->room--;
    *in->room++ = '=';
    value = sbx_lua_copy_string(in, -1);
    entry = (sbx_str_t) { name.data, name.len + 1 + value.len };

    if (memchr(name.data, '=', name.len) != NULL) {
        sbx_lua_refuse(in, "env: a name holds a '='");
    }

    why = sbx_env_check(entry);

    if (why != NULL) {
        sbx_lua_refuse(in, "env: %s", why);
    }

    if (sbx_job_add_env(&in->wish->native.job, entry) != 0) {
        sbx_lua_refuse_more(in, "env", SBX_ENV_MAX);
    }
}


static int
compare_env(const void *a, const void *b)
{
    return strcmp(((const sbx_str_t *) a)->data, ((const sbx_str_t *) b)->data);
}


/* Sorted: a Lua table has no order that two requests could rely on. */
void
sbx_lua_read_env(sbx_lua_reader_t *in)
{
    sbx_job_t *job = &in->wish->native.job;

    sbx_lua_check_type(in->L, LUA_TTABLE, "env");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        read_env_entry(in);
    }

    if (job->nenv > 1) {
        qsort(job->env, job->nenv, sizeof(*job->env), compare_env);
    }
}


static void
read_file(sbx_lua_reader_t *in, int i)
{
    const char *key, *why;
    sbx_str_t path = { NULL, 0 }, data = { NULL, 0 };

    sbx_lua_check_type(in->L, LUA_TTABLE, "files[]");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        key = lua_type(in->L, -2) == LUA_TSTRING ? lua_tostring(in->L, -2) : "";

        if (strcmp(key, "path") == 0) {
            path = sbx_lua_read_string(in, "files[].path");

        } else if (strcmp(key, "content") == 0) {
            data = sbx_lua_read_string(in, "files[].content");

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
        sbx_lua_refuse(in, "files[%d].path: %s", i, why);
    }

    if (sbx_job_add_file(&in->wish->native.job, path, data) != 0) {
        sbx_lua_refuse_more(in, "files", SBX_FILES_MAX);
    }
}


void
sbx_lua_read_files(sbx_lua_reader_t *in)
{
    lua_Integer i, n;

    n = check_list(in->L, "files");

    if (n > SBX_FILES_MAX) {
        sbx_lua_refuse(in, "files: more than %d", SBX_FILES_MAX);
        return;
    }

    for (i = 1; i <= n; i++) {
        lua_rawgeti(in->L, -1, i);
        read_file(in, (int) i - 1);
        lua_pop(in->L, 1);
    }
}


static void
read_case(sbx_lua_reader_t *in, sbx_case_t *c)
{
    const char *key;

    sbx_lua_check_type(in->L, LUA_TTABLE, "cases[]");

    for (lua_pushnil(in->L); lua_next(in->L, -2); lua_pop(in->L, 1)) {
        key = lua_type(in->L, -2) == LUA_TSTRING ? lua_tostring(in->L, -2) : "";

        if (strcmp(key, "stdin") == 0) {
            c->input = sbx_lua_read_string(in, "cases[].stdin");

        } else if (strcmp(key, "expected") == 0) {
            c->expected = sbx_lua_read_string(in, "cases[].expected");

        } else {
            luaL_error(in->L, "request(): cases[] has an unknown field \"%s\"",
                       key);
        }
    }
}


/* The one case stands for those that the supervisor finds. */
void
sbx_lua_read_cases_from(sbx_lua_reader_t *in)
{
    const char *why;
    sbx_job_t *job = &in->wish->native.job;

    job->suite = sbx_lua_read_string(in, "cases_from");
    why = sbx_path_check(job->suite);

    if (why != NULL) {
        sbx_lua_refuse(in, "cases_from: %s", why);
    }

    if (job->ncases > 0) {
        contradict(in);
    }

    sbx_lua_add_case(in, 0, SBX_STR(""));
    in->wish->native.is_batch = 1;
}


void
sbx_lua_read_cases(sbx_lua_reader_t *in)
{
    lua_Integer i, n;
    sbx_job_t *job = &in->wish->native.job;

    n = check_list(in->L, "cases");

    if (n == 0) {
        sbx_lua_refuse(in, "cases: is empty");
    }

    if (n > SBX_CASES_MAX) {
        sbx_lua_refuse(in, "cases: more than %d", SBX_CASES_MAX);
        return;
    }

    if (job->ncases > 0) {
        contradict(in);
    }

    for (i = 1; i <= n; i++) {
        sbx_lua_add_case(in, (uint32_t) i - 1, SBX_STR(""));
        lua_rawgeti(in->L, -1, i);
        read_case(in, &job->cases[i - 1]);
        lua_pop(in->L, 1);
    }

    in->wish->native.is_batch = 1;
}
