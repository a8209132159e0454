/*
 * sbx_python.h: what the files of deer-flow-python share.
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

typedef struct {
    /* at-fork hooks of the preloaded modules, kept back until after the fork */
    PyObject *hooks;            /* list of keyword dicts, in order */
    PyObject *register_at_fork;

    /* what those hooks would have renewed in a child */
    PyObject *random_seed;
    PyObject *set_native_id;    /* of threading's main thread */

    /* for the job */
    PyObject *loader;           /* SourceFileLoader */
    PyObject *environ;          /* os.environ */
    PyObject *posix_environ;    /* posix.environ */
    PyObject *tzset;

    /* for the end */
    PyObject *threading, *threading_shutdown;
    PyObject *threading_atexits, *threading_active;
    PyObject *atexit_run, *atexit_count;
    PyObject *logging_shutdown, *logging_handlers;
    PyObject *getsignal, *setsignal, *sig_dfl;
    PyObject *gc_collect, *gc_objects, *gc_unfreeze, *gc_callbacks;
    PyObject *gc_debug;
    PyObject *is_finalizing;    /* sys.is_finalizing at the end: True */
    PyObject *late_import;      /* builtins.__import__ at the end: refuses */
    PyObject *import_;          /* the real one */
    PyObject *startup;          /* name → module, as `python3` starts */
    PyObject *modules;          /* name → module, as every child starts */
    PyObject *importers;        /* keeps sys.path_importer_cache alive */
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

/* Makes and installs a __main__ from file; returns its dict, or NULL. */
PyObject *sbx_python_take_main(PyObject *file);

/*
 * Ends the child as the interpreter's own end would: threads joined, atexit
 * functions, streams flushed, what the program left behind destroyed.  code:
 * the exit code so far; interrupted: an uncaught KeyboardInterrupt, which ends
 * the process by SIGINT.  Runs in: child.
 */
void sbx_python_finish(int code, int interrupted) __attribute__((noreturn));

/* Goes through the motions of an end that ends nothing; part of warming up. */
void sbx_python_rehearse(void);

/* sys.stderr, then sys.stdout; errors are ignored, a pending one is kept. */
void sbx_python_flush(void);

/* Lets go of all objects above, which would outlive their modules. */
void sbx_python_forget(void);

/* How often a shared object was loaded, by the dynamic loader's count. */
unsigned long long sbx_python_libraries(void);

/* The methods behind is_finalizing and late_import. */
extern PyMethodDef sbx_python_end_methods[];

#endif
