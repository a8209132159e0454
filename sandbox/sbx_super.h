/*
 * sbx_super.h: the supervisor: frames in, verdicts out.
 */

#ifndef SBX_SUPER_H
#define SBX_SUPER_H

#include "sbx_cell.h"
#include "sbx_err.h"
#include "sbx_types.h"

#define SBX_RUNTIMES_MAX    16
#define SBX_PRELOAD_SIZE    4096    /* all names of modules together */

typedef struct {
    char name[32];
    char **cmd;             /* argv of the exec path, NULL-terminated */
    char **binds;           /* more host paths for the root, NULL-terminated */
    int own;                /* given by the operator, not built in */
} sbx_runtime_conf_t;

typedef struct {
    int listen_fd;          /* accepts workers; -1: only conn_fd */
    int conn_fd;            /* one connection made ahead (deer-flow run); -1 */
    int lifeline_fd;        /* EOF: every worker is gone; -1: none */
    int stats_fd;           /* memfd of sbx_stats_t; -1: none */
    uint32_t slots;         /* runs at a time; 0: 4 per CPU */
    uint32_t standby;       /* children kept ready; UINT32_MAX: 2 per CPU */
    uint32_t queue;         /* jobs waiting beyond that */
    uint32_t queue_ms;      /* longest wait */
    uint32_t peer_uid;      /* workers' uid: others but root are refused;
                               UINT32_MAX: only our own */
    uint32_t renew_runs;    /* a zygote's children until it is renewed */
    uint32_t renew_s;       /* its age */
    uint32_t renew_growth_permille;     /* its memory; 0 in each: never */
    int zygotes;            /* 0: exec path only (deer-flow run) */
    int checks;             /* 0: none at start (deer-flow run) */
    char self[256];         /* this binary, for inits and zygotes */
    char preload[256];      /* libsbx_preload.so */
    char python_zygote[256];    /* libsbx_python.so, "" : none */
    char node_zygote[256];      /* libsbx_node.so, "" : none */
    char cgroup_token[48];
    char log[256];          /* file to reopen when its inode changes, "" */
    int log_level;          /* nginx's numbers: 3 error … 8 debug */
    char **modules;         /* modules of Python, NULL-terminated, or NULL */
    char **modules_at;      /* where each is configured, or NULL */
    char **suite_roots;     /* directories of suites, NULL-terminated, or NULL */
    sbx_runtime_conf_t runtimes[SBX_RUNTIMES_MAX];
    unsigned nruntimes;
} sbx_conf_t;

/*
 * Reads the JSON that nginx passes (deer-flow supervise --config JSON):
 * {"slots","standby","queue","queue_ms","renew_runs","renew_s",
 *  "renew_growth_permille","peer_uid","log","log_level",
 *  "cases":[…], "preload":[…], "preload_at":[…], "runtimes":[{"name","command":[…],"bind":[…]}]}, all optional; sets every
 * default, finds self, preload and zygote beside the binary or installed.
 */
int sbx_conf_init(sbx_conf_t *conf, const char *json, sbx_err_t *err);
void sbx_conf_clear(sbx_conf_t *conf);

/* Fills *err with the languages that there are instead, and returns -1. */
int sbx_conf_no_language(const sbx_conf_t *conf, sbx_str_t language,
    sbx_err_t *err);

/*
 * Runs until the lifeline ends and no connection is left, or (conn_fd without a
 * listener) the connection ends.  Returns the exit code.
 * Runs in: supervisor, inside the cell.
 */
int sbx_supervise(const sbx_cell_t *cell, unsigned starts, void *conf);

#endif
