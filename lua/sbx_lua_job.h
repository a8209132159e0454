/*
 * sbx_lua_job.h: what the files share that read a job from a policy's table.
 *
 * Private to sbx_lua_wish.c and sbx_lua_job*.c.  All of it runs below
 * sbx_lua_protect() and may raise Lua errors.
 */

#ifndef SBX_LUA_JOB_H
#define SBX_LUA_JOB_H

#include "sbx_lua_private.h"

typedef struct {
    lua_State *L;
    sbx_policy_wish_t *wish;
    char *room;                 /* where the next string goes */
} sbx_lua_reader_t;

/* The job in the table at index. */
void sbx_lua_read_job(lua_State *L, int index, sbx_policy_wish_t *wish);

/* Says why the values make no job; the first reason counts. */
void sbx_lua_refuse(sbx_lua_reader_t *in, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, why sbx_job_add_* refused. */
void sbx_lua_refuse_more(sbx_lua_reader_t *in, const char *field, int bound);

/* What the value at the top has to be. */
void sbx_lua_check_type(lua_State *L, int type, const char *field);

/* Copies of the string at index, and of the one that has to be at the top. */
sbx_str_t sbx_lua_copy_string(sbx_lua_reader_t *in, int index);
sbx_str_t sbx_lua_read_string(sbx_lua_reader_t *in, const char *field);

/* sbx_lua_job_lists.c: the value is at the top */
void sbx_lua_read_stdin(sbx_lua_reader_t *in);
void sbx_lua_read_args(sbx_lua_reader_t *in);
void sbx_lua_read_env(sbx_lua_reader_t *in);
void sbx_lua_read_files(sbx_lua_reader_t *in);
void sbx_lua_read_cases(sbx_lua_reader_t *in);
void sbx_lua_read_cases_from(sbx_lua_reader_t *in);
void sbx_lua_add_case(sbx_lua_reader_t *in, uint32_t id, sbx_str_t input);

#endif
