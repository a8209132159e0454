/*
 * sbx_suite.h: test cases that lie on the operator's disk.
 *
 * A suite is a directory below a configured root.  With a file `info` (JSON, as
 * QDUOJ's judge server keeps it) that names the cases; else each NAME.in is one,
 * in the order of numbers, and NAME.out, where it is, what it should print.
 */

#ifndef SBX_SUITE_H
#define SBX_SUITE_H

#include "sbx_err.h"
#include "sbx_job.h"

#define SBX_SUITE_FILE_MAX  (64u << 20)

typedef struct {
    char name[64];          /* "1" */
    char digest[64];        /* stripped_output_md5 of info; "" : none */
    char input[256];        /* names of its files; output "" : none */
    char output[256];
    char *data[2];          /* their contents, while the case runs */
} sbx_suite_case_t;

typedef struct {
    int dir;                    /* valid while cases is not NULL */
    sbx_suite_case_t *cases;    /* as many as the job has; NULL: no suite */
    size_t ncases;
    int listed;                 /* info names the files */
} sbx_suite_t;

/*
 * Replaces the job's cases by those of root/name, their texts still to be read;
 * root is an absolute path of the configuration, name comes from a client.  0,
 * or -1 with err; errnum ENOENT: there is no such suite.  The caller frees with
 * sbx_suite_clear, also after -1.  Runs in: supervisor.
 */
int sbx_suite_load(sbx_suite_t *suite, sbx_job_t *job, const char *root,
    sbx_str_t name, sbx_err_t *err);
void sbx_suite_clear(sbx_suite_t *suite);

/*
 * Reads case i, before it runs, and forgets what was read, when it is over: a
 * suite may be larger than memory.  0, or -1 with err.
 */
int sbx_suite_read(sbx_suite_t *suite, sbx_job_t *job, size_t i,
    sbx_err_t *err);
void sbx_suite_drop(sbx_suite_t *suite, sbx_job_t *job, size_t i);

#endif
