/*
 * sbx_cmd.h: the subcommands of deer-flow, and what they share.
 */

#ifndef SBX_CMD_H
#define SBX_CMD_H

#include "sbx_client.h"
#include "sbx_job.h"

#define SBX_EXIT_USAGE  2

/* What `run`, `explain` and `calibrate` were asked for. */
typedef struct {
    sbx_job_t job;
    int json, dry, zygote;
    uint32_t given;             /* bit per limit: an option has it */
    const char *connect;        /* unix:PATH, or NULL: a supervisor of our own */
    char *code, *input;         /* heap: texts of the files */
} sbx_cmd_job_t;

/*
 * Parses options, FILE and its arguments.  0; on a mistake says so on stderr
 * and returns SBX_EXIT_USAGE; -1: help was printed.
 */
int sbx_cmd_job_parse(sbx_cmd_job_t *cj, int argc, char **argv);
void sbx_cmd_job_clear(sbx_cmd_job_t *cj);

/* What kept a command from its work, on stderr: one line. */
void sbx_cmd_complain(const sbx_err_t *err);

/* Settings of a supervisor for one command: one slot, one runtime if given. */
int sbx_cmd_conf(sbx_conf_t *conf, const sbx_str_t *language, sbx_err_t *err);

/* Each returns the exit status of the command. */
int sbx_cmd_run(int argc, char **argv);
int sbx_cmd_explain(int argc, char **argv);
int sbx_cmd_calibrate(int argc, char **argv);
int sbx_cmd_check(int argc, char **argv);
int sbx_cmd_serve(int argc, char **argv);
int sbx_cmd_supervise(int argc, char **argv);

#endif
