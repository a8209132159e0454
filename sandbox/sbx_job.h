/*
 * sbx_job.h: what goes in.  Everything a child needs is in the job.
 *
 * A leaf over sbx_types.h and sbx_limit.h.  Strings point into memory of
 * whoever filled the job (a request body, a frame); the job owns only its
 * arrays, which sbx_job_clear frees.
 */

#ifndef SBX_JOB_H
#define SBX_JOB_H

#include "sbx_limit.h"
#include "sbx_types.h"

/* Bounds, checked at every trust boundary: JSON, wire, child. */
#define SBX_NAME_MAX        255     /* language, main file's name */
#define SBX_PATH_MAX        1024    /* path of an extra file, below /tmp/run */
#define SBX_ARGS_MAX        256
#define SBX_ENV_MAX         256
#define SBX_ARGENV_BYTES    (256 << 10)
#define SBX_FILES_MAX       256
#define SBX_CASES_MAX       1024
#define SBX_JOB_BYTES_MAX   (256UL << 20)   /* one frame's payload */

typedef enum {
    SBX_JOB_SOFT_MEMORY = 1 << 0,   /* the language's own MemoryError first */
    SBX_JOB_PROC_EMPTY = 1 << 1,    /* no /proc inside */
    SBX_JOB_NO_ZYGOTE = 1 << 2,     /* take the exec path */
    SBX_JOB_STOP = 1 << 3           /* the first case that fails is the last */
} sbx_job_flag_t;

/* How a case's output is compared with what it expects. */
typedef enum {
    SBX_COMPARE_EXACT = 0,      /* byte for byte */
    SBX_COMPARE_TOKENS,         /* the words between white space */
    SBX_COMPARE_TRIMMED,        /* but for white space at the end */
    SBX_COMPARE_LINES,          /* and at the end of each line */
    SBX_COMPARE_COUNT
} sbx_compare_t;

typedef struct {
    sbx_str_t path;     /* relative, checked by sbx_path_check */
    sbx_str_t data;
} sbx_file_t;

/* One run of the job's program.  Jobs of a frame share all but this. */
typedef struct {
    uint32_t id;            /* chosen by the sender; echoed in the verdict */
    sbx_str_t input;        /* stdin */
    sbx_str_t expected;     /* data NULL: the output is not compared */
} sbx_case_t;

typedef struct {
    sbx_str_t language;     /* canonical runtime name: "python", "node", … */
    sbx_str_t name;         /* main file's name, "main.py" */
    sbx_str_t code;
    sbx_str_t *args;
    size_t nargs;
    sbx_str_t *env;         /* "NAME=value", checked by sbx_env_check */
    size_t nenv;
    sbx_file_t *files;
    size_t nfiles;
    sbx_case_t *cases;      /* 1..N; a simple request has one */
    size_t ncases;
    uint32_t compare;           /* sbx_compare_t */
    sbx_str_t suite;            /* the cases are on the supervisor's disk, in
                                   this directory … */
    sbx_str_t suite_root;       /* … below one of its roots */
    uint64_t limits[SBX_LIMIT_COUNT];
    uint32_t factor_permille;   /* headroom of the memory formula: 1250 */
    uint32_t flags;             /* sbx_job_flag_t */
    uint32_t allow_missing;     /* sbx_layer_t bits that may be absent */
} sbx_job_t;

/* Zeroes the job and sets every limit to its row's default. */
void sbx_job_init(sbx_job_t *job);

/*
 * Appends to an array of the job (grown on the heap).  Return 0, or -1 with
 * errno ENOMEM, or E2BIG when the bound above is reached.
 */
int sbx_job_add_arg(sbx_job_t *job, sbx_str_t arg);
int sbx_job_add_env(sbx_job_t *job, sbx_str_t env);
int sbx_job_add_file(sbx_job_t *job, sbx_str_t path, sbx_str_t data);
int sbx_job_add_case(sbx_job_t *job, uint32_t id, sbx_str_t input);

/* Frees the arrays; the strings are the filler's. */
void sbx_job_clear(sbx_job_t *job);

/*
 * NULL, or why this is no acceptable extra file / main file / environment
 * entry: absolute, "..", empty component, NUL, too long; for env: no '=',
 * an empty name, or one of the names that steer the loader or the
 * interpreter's start (LD_*, GLIBC_TUNABLES, NODE_OPTIONS, SBX_*).
 */
const char *sbx_path_check(sbx_str_t path);
const char *sbx_name_check(sbx_str_t name);
const char *sbx_env_check(sbx_str_t env);

/*
 * Index of the first extra file that would land on the main file, on an earlier
 * file or on a directory that another file needs; -1: none.
 */
int sbx_job_clash(const sbx_job_t *job);

/*
 * "py", "python3" → "python"; "js", "javascript", "nodejs" → "node"; any other
 * text is returned as it is.
 */
sbx_str_t sbx_language_canonical(sbx_str_t text);

/* "main.py", "main.js", or "main" for a runtime of the operator's own. */
sbx_str_t sbx_language_main(sbx_str_t language);

#endif
