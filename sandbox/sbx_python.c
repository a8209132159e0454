/*
 * sbx_python.c: libsbx_python.so, which makes a zygote of the interpreter that it
 * is preloaded into.
 *
 * Runs in the zygote: one thread, no client data.  Starts the interpreter as
 * `python3` would start for a program in SBX_RUN_DIR, imports what programs
 * commonly use, looks up what the child will need, freezes the heap, and hands
 * over to the common half (sbx_zygote_main), which forks the children.
 *
 * The distribution's own program, because none that could be linked from its
 * archives is as fast: the static one is not optimized as a whole (1.08 times
 * its time), the shared one takes 1.28 times.  Arenas stay obmalloc's own: they
 * come through mmap, where the preload hook counts them.  One huge reserved
 * region would fork faster, but the hook could not see what a run uses of it.
 */

#include "sbx_python.h"
#include "sbx_huge.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_child.h"
#include "sbx_fault.h"
#include "sbx_fdmsg.h"
#include "sbx_root.h"

#define PROGRAM     "/usr/bin/python3"
#define HOME        "/tmp"          /* a run's, from sbx_child_env */
#define NO_HOME     "/nonexistent"

/* the interpreter specializes a function's code after some eight calls */
#define REHEARSALS  20

#define FLAG_DONT_WRITE_BYTECODE    4   /* index in sys.flags */


typedef struct {
    PyObject **object;
    const char *module;
    const char *name;       /* attributes from the module on, by dots */
} lookup_t;


typedef int (*start_main_t)(int (*)(int, char **, char **), int, char **,
    void (*)(void), void (*)(void), void (*)(void), void *);


sbx_python_t sbx_python;

/*
 * In the order of import.  Each costs fork time (page tables, pages copied), so
 * these are the modules that programs of judges and agents use most, and those
 * which they pull in anyway.
 */
static const char *const preload[] = {
    "sys", "math", "collections", "heapq", "bisect", "itertools", "functools",
    "re", "json", "random", "string", "decimal", "fractions", "datetime",
    "time", "typing", "dataclasses", "copy", "operator", "io", "os",
    "statistics", "enum", "threading", "queue", "struct", "hashlib",
    "textwrap", "array", "cmath", "numbers", "contextlib", "abc", "types",
    "traceback", "collections.abc", "linecache", "weakref", "pprint",
    "calendar", "zlib", "base64", "binascii", "tempfile", "warnings",
    "inspect", "logging"
};

static const lookup_t lookups[] = {
    { &sbx_python.sys, "sys", "__dict__" },
    { &sbx_python.builtins, "builtins", "" },
    { &sbx_python.standard[0], "sys", "stdout" },
    { &sbx_python.standard[1], "sys", "stderr" },
    { &sbx_python.random, "random", "_inst" },
    { &sbx_python.random_seed, "_random", "Random.seed" },
    { &sbx_python.main_thread, "threading", "_main_thread" },
    { &sbx_python.loader, "_frozen_importlib_external", "SourceFileLoader" },
    { &sbx_python.environ, "os", "environ" },
    { &sbx_python.posix_environ, "posix", "environ" },
    { &sbx_python.tzset, "time", "tzset" },
    { &sbx_python.filters, "warnings", "filters" },
    { &sbx_python.threading, "threading", "" },
    { &sbx_python.threading_dict, "threading", "__dict__" },
    { &sbx_python.threading_shutdown, "threading", "_shutdown" },
    { &sbx_python.threading_atexits, "threading", "_threading_atexits" },
    { &sbx_python.threading_active, "threading", "_active" },
    { &sbx_python.atexit_run, "atexit", "_run_exitfuncs" },
    { &sbx_python.atexit_count, "atexit", "_ncallbacks" },
    { &sbx_python.logging_shutdown, "logging", "shutdown" },
    { &sbx_python.logging_handlers, "logging", "_handlerList" },
    { &sbx_python.getsignal, "_signal", "getsignal" },
    { &sbx_python.setsignal, "_signal", "signal" },
    { &sbx_python.sig_dfl, "_signal", "SIG_DFL" },
    { &sbx_python.gc_collect, "gc", "collect" },
    { &sbx_python.gc_unfreeze, "gc", "unfreeze" },
    { &sbx_python.import_, "builtins", "__import__" },
    { &sbx_python.importers, "sys", "path_importer_cache" }
};

static const char *const names[SBX_PY_NAMES] = {
    [SBX_PY_MAIN] = "__main__",
    [SBX_PY_LOADER] = "__loader__",
    [SBX_PY_ANNOTATIONS] = "__annotations__",
    [SBX_PY_BUILTINS] = "__builtins__",
    [SBX_PY_FILE] = "__file__",
    [SBX_PY_CACHED] = "__cached__",
    [SBX_PY_NAME] = "name",
    [SBX_PY_PATH] = "path",
    [SBX_PY_ARGV] = "argv",
    [SBX_PY_ORIG_ARGV] = "orig_argv",
    [SBX_PY_STDOUT] = "stdout",
    [SBX_PY_STDERR] = "stderr",
    [SBX_PY_FIRST_STDOUT] = "__stdout__",
    [SBX_PY_FIRST_STDERR] = "__stderr__",
    [SBX_PY_CLOSED] = "closed",
    [SBX_PY_FLUSH] = "flush",
    [SBX_PY_IS_FINALIZING] = "is_finalizing",
    [SBX_PY_NATIVE_ID] = "_native_id",
    [SBX_PY_SHUTDOWN] = "_shutdown"
};

static const sbx_zygote_ops_t ops = {
    .forked = sbx_python_forked,
    .warm = sbx_python_warm,
    .run = sbx_python_run
};


int __libc_start_main(int (*theirs)(int, char **, char **), int argc,
    char **argv, void (*init)(void), void (*fini)(void),
    void (*rtld_fini)(void), void *stack_end);

static int zygote(int argc, char **argv, char **env);
static void clean_process(void);
static void clean_environment(void);
static int start_interpreter(void);
static int open_pipes(int saved[3]);
static void close_pipes(const int saved[3]);
static PyStatus initialize(void);
static int mend_flags(void);
static int mend_user_site(void);
static int import_modules(void);
static int look_up(void);
static int make_ready(void);
static int forget_shutdown(void);


/*
 * In place of libc's, which the program calls with its main: what the
 * interpreter would do with a command line is done here instead.
 */
int
__libc_start_main(int (*theirs)(int, char **, char **), int argc, char **argv,
    void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
    void *stack_end)
{
    start_main_t start = dlsym(RTLD_NEXT, "__libc_start_main");

    (void) theirs;

    return start(zygote, argc, argv, init, fini, rtld_fini, stack_end);
}


static int
zygote(int argc, char **argv, char **env)
{
    sbx_zmsg_t msg = { .type = SBX_ZMSG_FAILED };

    (void) argc;
    (void) argv;
    (void) env;

    prctl(PR_SET_NAME, "deer-flow-py", 0, 0, 0);

    /* it would be read with structures of another one's */
    if (Py_Version >> 8 != PY_VERSION_HEX >> 8 || sbx_fault("python_version")) {
        (void) sbx_fail(&msg.err, SBX_STEP_ZYGOTE, ENOSYS, "libsbx_python.so "
                        "was built for Python %s, this is %.20s", PY_VERSION,
                        Py_GetVersion());
        (void) sbx_fdmsg_send(SBX_ZYGOTE_CONTROL_FD, &msg, sizeof(msg), -1);
        return 1;
    }

    sbx_huge_text(NULL);
    clean_process();
    clean_environment();

    if (start_interpreter() == -1 || import_modules() == -1
        || look_up() == -1 || make_ready() == -1)
    {
        if (sbx_python.refused) {
            return 1;
        }

        if (Py_IsInitialized() && PyErr_Occurred()) {
            PyErr_PrintEx(0);
        }

        fprintf(stderr, "libsbx_python.so: cannot start the interpreter\n");
        return 1;
    }

    /* nothing of the interpreter is worth an orderly end here */
    _exit(sbx_zygote_main(&ops) == 0 ? 0 : 1);
}


/*
 * Python takes over an ignored SIGINT and would never raise KeyboardInterrupt;
 * a mask or an umask of the operator's shell would reach the children.  A
 * malloc arena per thread, which the interpreter's one lock makes useless,
 * would take 64 MB of a run's address space: three threads, and no fourth can
 * start.
 */
static void
clean_process(void)
{
    sbx_child_signals();
    umask(022);
    mallopt(M_ARENA_MAX, 1);
}


/*
 * PYTHON* would change flags, paths and buffering of every run.  HOME is set
 * aside meanwhile: in the zygote it is the host's /tmp, where anybody could
 * leave a .local with a .pth file that `site` executes.
 */
static void
clean_environment(void)
{
#ifdef SBX_FAULTS
    char *fault = getenv("SBX_FAULT");

    if (fault != NULL) {
        fault = strdup(fault);
    }
#endif

    const char *preload = getenv(SBX_PRELOAD_ENV);

    sbx_python.preload = preload == NULL ? NULL : strdup(preload);
    clearenv();

    for (size_t i = 0; sbx_child_env[i] != NULL; i++) {
        putenv((char *) sbx_child_env[i]);
    }

    setenv("HOME", NO_HOME, 1);

#ifdef SBX_FAULTS
    if (fault != NULL) {
        setenv("SBX_FAULT", fault, 1);
    }
#endif
}


static int
start_interpreter(void)
{
    int saved[3];
    PyStatus status;

    if (open_pipes(saved) == -1) {
        return -1;
    }

    status = initialize();
    close_pipes(saved);

    if (PyStatus_Exception(status)) {
        fprintf(stderr, "libsbx_python.so: %s\n",
                status.err_msg ? status.err_msg : "exit asked for");
        return -1;
    }

    setenv("HOME", HOME, 1);

    return mend_flags() == -1 ? -1 : mend_user_site();
}


/*
 * sys.stdin, stdout and stderr remember the kind of their descriptors
 * (seekable, block size).  A child's are pipes, so they are pipes while the
 * interpreter starts, whatever the zygote was given.
 */
static int
open_pipes(int saved[3])
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) == -1) {
        return -1;
    }

    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);

        if (dup2(fds[fd == 0 ? 0 : 1], fd) == -1) {
            return -1;
        }
    }

    close(fds[0]);
    close(fds[1]);

    return 0;
}


static void
close_pipes(const int saved[3])
{
    for (int fd = 0; fd < 3; fd++) {
        if (saved[fd] != -1) {
            dup2(saved[fd], fd);
            close(saved[fd]);
        }
    }
}


static PyStatus
initialize(void)
{
    PyConfig config;
    PyStatus status;

    PyConfig_InitPythonConfig(&config);
    config.parse_argv = 0;

    /* the zygote, maybe root, leaves nothing in the host's __pycache__ */
    config.write_bytecode = 0;

    status = PyConfig_SetBytesString(&config, &config.program_name, PROGRAM);

    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(&config);
    }

    PyConfig_Clear(&config);

    return status;
}


/* From here on as `python3`: a program may write bytecode of its modules. */
static int
mend_flags(void)
{
    PyObject *flags = PySys_GetObject("flags");

    if (flags == NULL) {
        return -1;
    }

    PyStructSequence_SetItem(flags, FLAG_DONT_WRITE_BYTECODE,
                             PyLong_FromLong(0));

    return 0;
}


/* What `site` would have found with a run's HOME (and no such directory). */
static int
mend_user_site(void)
{
    static const char code[] =
        "def mend(old, new):\n"
        "    import os, posix, site\n"
        "    os.environ['HOME'] = new\n"
        "    posix.environ[b'HOME'] = new.encode()\n"
        "    for name in 'USER_BASE', 'USER_SITE':\n"
        "        value = getattr(site, name)\n"
        "        if value is not None:\n"
        "            setattr(site, name, value.replace(old, new, 1))\n"
        "mend('" NO_HOME "', '" HOME "')\n";
    PyObject *globals = PyDict_New();
    PyObject *result = NULL;

    if (globals != NULL
        && PyDict_SetItemString(globals, "__builtins__",
                                PyEval_GetBuiltins()) == 0)
    {
        result = PyRun_String(code, Py_file_input, globals, globals);
    }

    Py_XDECREF(globals);
    Py_XDECREF(result);

    return result == NULL ? -1 : 0;
}


static int
import_modules(void)
{
    sbx_python.startup = PyDict_Copy(PyImport_GetModuleDict());

    if (sbx_python.startup == NULL) {
        return -1;
    }

    for (size_t i = 0; i < sizeof(preload) / sizeof(preload[0]); i++) {
        PyObject *module = PyImport_ImportModule(preload[i]);

        if (module == NULL) {
            return -1;
        }

        Py_DECREF(module);
    }

    if (sbx_python_core_own_hooks() == -1 || sbx_python_stash_fill() == -1
        || sbx_python_core_own_hooks() == -1)
    {
        return -1;
    }

    return PySys_SetObject("dont_write_bytecode", Py_False);
}


static int
look_up(void)
{
    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        char names[64];
        char *rest = names;
        PyObject *object = PyImport_ImportModule(lookups[i].module);

        snprintf(names, sizeof(names), "%s", lookups[i].name);

        for (char *name; object != NULL
             && (name = strsep(&rest, ".")) != NULL && name[0] != '\0';)
        {
            PyObject *next = PyObject_GetAttrString(object, name);

            Py_DECREF(object);
            object = next;
        }

        if (object == NULL) {
            return -1;
        }

        *lookups[i].object = object;
    }

    for (size_t i = 0; i < SBX_PY_NAMES; i++) {
        sbx_python.names[i] = PyUnicode_InternFromString(names[i]);

        if (sbx_python.names[i] == NULL) {
            return -1;
        }
    }

    sbx_python.run_dir = PyUnicode_FromString(SBX_RUN_DIR);
    sbx_python.python3 = PyUnicode_FromString("python3");
    sbx_python.is_finalizing = PyCFunction_New(&sbx_python_end_methods[0],
                                               NULL);
    sbx_python.late_import = PyCFunction_New(&sbx_python_end_methods[1], NULL);

    return sbx_python.is_finalizing == NULL || sbx_python.late_import == NULL
           || sbx_python.run_dir == NULL || sbx_python.python3 == NULL
           ? -1 : 0;
}


/*
 * The rehearsals fill the interpreter's caches and specialize its code: each
 * entry that a child made itself would be a page copied in every run.
 *
 * gc.freeze comes last: what it holds is never looked at by a child's
 * collections, which would copy all of it.
 */
static int
make_ready(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *result;

    if (gc == NULL || forget_shutdown() == -1) {
        return -1;
    }

    sbx_python.modules = PyDict_Copy(PyImport_GetModuleDict());
    sbx_python.logging_own = PyList_AsTuple(sbx_python.logging_handlers);
    sbx_python.filters_own = PyList_AsTuple(sbx_python.filters);

    if (sbx_python.modules == NULL || sbx_python.logging_own == NULL
        || sbx_python.filters_own == NULL
        || PyDict_DelItemString(sbx_python.modules, "__main__") == -1
        || PyDict_DelItemString(sbx_python.startup, "__main__") == -1)
    {
        return -1;
    }

    sbx_python.libraries = sbx_python_libraries();

    for (int i = 0; i < REHEARSALS; i++) {
        if (sbx_python_rehearse(1) == -1) {
            return -1;
        }
    }

    PyGC_Collect();

    result = PyObject_CallMethod(gc, "freeze", NULL);
    Py_XDECREF(result);

    /* the last of all, which nobody lets go of: see sbx_python_core_frozen */
    sbx_python.last = PyList_New(0);
    result = PyObject_CallMethod(gc, "freeze", NULL);
    Py_XDECREF(result);
    Py_DECREF(gc);
    sbx_python.frozen = sbx_python_core_frozen();
    sbx_python_core_fill();
    sbx_python_learn();
    sbx_python_stash_learn();

    return result == NULL ? -1 : 0;
}


/*
 * logging.shutdown leaves atexit's list, where it would be called (and copy
 * pages) at the end of every run; sbx_python_finish calls it when there are
 * handlers, at the same place in the order.  _clear, because unregister leaves
 * its place in the count.  An operator's sitecustomize may have added to the
 * list: then it stays, and a second shutdown does nothing.
 */
static int
forget_shutdown(void)
{
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *count = PyObject_CallNoArgs(sbx_python.atexit_count);
    PyObject *result = NULL;

    if (atexit != NULL && count != NULL) {
        result = PyLong_AsLong(count) != 1
                 ? Py_NewRef(Py_None)
                 : PyObject_CallMethod(atexit, "_clear", NULL);
    }

    Py_XDECREF(atexit);
    Py_XDECREF(count);
    Py_XDECREF(result);

    return result == NULL ? -1 : 0;
}


void
sbx_python_forget(void)
{
    PyObject **made[] = {
        &sbx_python.is_finalizing, &sbx_python.late_import,
        &sbx_python.startup, &sbx_python.modules, &sbx_python.logging_own,
        &sbx_python.filters_own, &sbx_python.run_dir, &sbx_python.python3
    };

    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        Py_CLEAR(*lookups[i].object);
    }

    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        Py_CLEAR(*made[i]);
    }

    for (size_t i = 0; i < SBX_PY_NAMES; i++) {
        Py_CLEAR(sbx_python.names[i]);
    }
}
