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

typedef struct {
    char name[64];          /* "1" */
    char digest[64];        /* stripped_output_md5 of info; "" : none */
} sbx_suite_case_t;

typedef struct {
    sbx_str_t *maps;        /* files, mapped */
    size_t nmaps;
    sbx_suite_case_t *cases;    /* as many as the job has */
} sbx_suite_t;

/*
 * Replaces the job's cases by those of root/name; root is an absolute path of
 * the configuration, name comes from a client.  The files are mapped, not read,
 * and must not be cut short while runs use them.  0, or -1 with err; errnum
 * ENOENT: there is no such suite.  The caller frees with sbx_suite_clear after
 * the job's last use, also after -1.  Runs in: supervisor.
 */
int sbx_suite_load(sbx_suite_t *suite, sbx_job_t *job, const char *root,
    sbx_str_t name, sbx_err_t *err);
void sbx_suite_clear(sbx_suite_t *suite);

#endif
