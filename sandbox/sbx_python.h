/*
 * sbx_python.h: what the files of libsbx_python.so share.
 *
 * Private to sbx_python*.c, which alone link the interpreter.  Everything the
 * child needs from Python is looked up once, in the zygote, and kept here:
 * a look-up in the child would copy pages on the path of a run.
 */

#ifndef SBX_PYTHON_H
#define SBX_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "sbx_zygote.h"

/*
 * Names, interned once: a string made for one look-up is hashed, looked up
 * among all interned ones, and misses every cache that goes by a name's
 * address.
 */
typedef enum {
    SBX_PY_MAIN,
    SBX_PY_LOADER,
    SBX_PY_ANNOTATIONS,
    SBX_PY_BUILTINS,
    SBX_PY_FILE,
    SBX_PY_CACHED,
    SBX_PY_NAME,
    SBX_PY_PATH,
    SBX_PY_ARGV,
    SBX_PY_ORIG_ARGV,
    SBX_PY_STDOUT,
    SBX_PY_STDERR,
    SBX_PY_FIRST_STDOUT,
    SBX_PY_FIRST_STDERR,
    SBX_PY_CLOSED,
    SBX_PY_FLUSH,
    SBX_PY_IS_FINALIZING,
    SBX_PY_NATIVE_ID,
    SBX_PY_SHUTDOWN,
    SBX_PY_NAMES
} sbx_python_name_t;

typedef struct {
    const char *preload;        /* sandbox_preload's names, or NULL */
    int refused;                /* one of them, which was said */
    PyObject *names[SBX_PY_NAMES];
    PyObject *sys;              /* dict of the sys module */
    PyObject *builtins;         /* the module */

    /* what the modules' at-fork hooks would have renewed in a child */
    PyObject *random;           /* the instance behind random.random */
    PyObject *random_seed;      /* its C base's method */
    PyObject *main_thread;      /* threading's */

    /* for the job */
    PyObject *loader;           /* SourceFileLoader */
    PyObject *run_dir, *python3;    /* as strings */
    PyObject *environ;          /* os.environ */
    PyObject *posix_environ;    /* posix.environ */
    PyObject *tzset;

    /* for the end */
    PyObject *threading, *threading_shutdown;
    PyObject *threading_atexits, *threading_active;
    PyObject *atexit_run, *atexit_count;
    PyObject *standard[2];      /* sys.stdout and sys.stderr at the start */
    PyObject *logging_shutdown, *logging_handlers;
    PyObject *logging_own;      /* tuple: the handlers of every start */
    PyObject *getsignal, *setsignal, *sig_dfl;
    PyObject *gc_collect, *gc_unfreeze;
    PyObject *is_finalizing;    /* sys.is_finalizing at the end: True */
    PyObject *late_import;      /* builtins.__import__ at the end: refuses */
    PyObject *import_;          /* the real one */
    PyObject *startup;          /* name → module, as `python3` starts */
    PyObject *modules;          /* name → module, as every child starts */
    PyObject *importers;        /* keeps sys.path_importer_cache alive */
    PyObject *filters, *filters_own;    /* of warnings: list; tuple as it was */
    PyObject *threading_dict;
    const void *frozen;         /* sbx_python_core_frozen, as it was */
    PyObject *last;             /* frozen last */
    unsigned long long libraries;   /* shared objects loaded so far */
    int by_the_book;            /* this run ends by Py_FinalizeEx */
} sbx_python_t;

extern sbx_python_t sbx_python;

/* The ops of sbx_zygote.h.  Run in: child. */
void sbx_python_forked(void);
int sbx_python_warm(sbx_err_t *err);
void sbx_python_run(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd)
    __attribute__((noreturn));

/*
 * Parts of taking a job: os.environ and the C environment; sys.argv and
 * sys.path; the modules that its files hide.  0, or -1 with an exception set.
 */
int sbx_python_take_environment(const sbx_job_t *job);
int sbx_python_take_arguments(const sbx_job_t *job);
int sbx_python_take_shadows(const sbx_job_t *job);

/* An attribute of sys, borrowed; NULL, without an exception, where it is gone. */
PyObject *sbx_python_sys(sbx_python_name_t name);

/* Makes and installs a __main__ from file; returns its dict, or NULL. */
PyObject *sbx_python_take_main(PyObject *file);

/*
 * Imports the operator's modules and puts them aside.  -1 with an exception, or
 * sbx_python.refused set.  Runs in: zygote.
 * Learns the pages that their coming back writes to: when all else is ready.
 * Whether one is put aside; none is any more.  Run in: child.
 */
int sbx_python_stash_fill(void);
void sbx_python_stash_learn(void);
int sbx_python_stash_has(PyObject *name);
void sbx_python_stash_drop(void);

/*
 * Ends the child as the interpreter's own end would: threads joined, atexit
 * functions, streams flushed, what the program left behind destroyed.  code:
 * the exit code so far; interrupted: an uncaught KeyboardInterrupt, which ends
 * the process by SIGINT.  Runs in: child.
 */
void sbx_python_finish(int code, int interrupted) __attribute__((noreturn));

/*
 * Runs a program of our own, thorough or as short as a hello, and goes through
 * the motions of an end that ends nothing.  0, or -1.  Runs in: zygote and
 * child.
 */
int sbx_python_rehearse(int thorough);
void sbx_python_rehearse_end(void);

/* sys.stderr, then sys.stdout; errors are ignored, a pending one is kept. */
void sbx_python_flush(void);

/* Lets go of all objects above, which would outlive their modules. */
void sbx_python_forget(void);

/* How often a shared object was loaded, by the dynamic loader's count. */
unsigned long long sbx_python_libraries(void);

/*
 * Learns which pages a run writes to, a thorough one too: see sbx_hot.h.  Runs
 * in: zygote, when all else is ready.
 */
void sbx_python_learn(void);

/*
 * PyOS_AfterFork_Child, without the hooks of our own modules, which are those
 * that are registered by then.  Runs in: zygote; child.
 */
int sbx_python_core_own_hooks(void);
void sbx_python_core_after_fork(void);

/*
 * Whether the program asked to see the interpreter's own end: it debugs the
 * collector, has callbacks there, or an audit hook.
 */
int sbx_python_core_is_watched(void);

/* Whether an object made since gc.freeze acts when it is destroyed. */
int sbx_python_core_acts(void);

/* Changes when the program itself calls gc.freeze or gc.unfreeze. */
const void *sbx_python_core_frozen(void);

/*
 * Leaves no room in pages that the zygote has begun, so that a child's objects
 * come from new ones.  Run in: zygote.
 */
void sbx_python_core_fill(void);

/* The methods behind is_finalizing and late_import. */
extern PyMethodDef sbx_python_end_methods[];

#endif
