/*
 * sbx_python_finish.c: the end of a Python run.
 *
 * Runs in the child.  Py_FinalizeEx takes apart the whole interpreter, page by
 * copied page: several times the run itself.  So the part of it that a program
 * can notice is done here, in its order: threads, atexit functions, streams.
 * Then what the program left behind is looked at.  Mostly nothing of it would
 * act when it is destroyed (no __del__, no open file, no suspended generator,
 * no weak reference with a callback), so nobody could tell whether it was, and
 * the process ends.  Else it is destroyed as the interpreter would: signal
 * handlers, __main__ and the program's own modules, with two collections.  If
 * something that acts is still alive (parked in a library's module, say), and
 * when other threads or interpreters are left, Py_FinalizeEx itself runs.
 */

#include "sbx_python.h"

#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_FAILED    120     /* the interpreter's exit code for it */


static void stop_threads(int callbacks);
static int count_callbacks(void);
static void call_atexit(void);
static int has_handlers(void);
static int is_as_it_was(PyObject *list, PyObject *own);
static int is_shutdown_ours(void);
static int is_alone(void);
static int has_lost_stream(void);
static void mark_end(void);
static int flush_streams(void);
static void drop_handlers(void);
static void drop_names(void);
static void drop_modules(void);
static void set_import(PyObject *function);
static int is_own(PyObject *name, PyObject *module);
static void collect(void);
static int acts_at_end(void);
static void destroy(void);
static int same_origin(PyObject *module);
static int count_libraries(struct dl_phdr_info *info, size_t size, void *data);
static PyObject *yes(PyObject *self, PyObject *none);
static PyObject *refuse_import(PyObject *self, PyObject *args);
static void finalize(int code, int interrupted) __attribute__((noreturn));
static void leave(int code, int interrupted, int orderly)
    __attribute__((noreturn));

/* of sys */
static const char *const gone[] = {
    "path", "argv", "ps1", "ps2", "last_type", "last_value", "last_traceback",
    "path_hooks", "path_importer_cache", "meta_path"
};

PyMethodDef sbx_python_end_methods[] = {
    { "is_finalizing", yes, METH_NOARGS, NULL },
    { "__import__", refuse_import, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};


void
sbx_python_finish(int code, int interrupted)
{
    if (!is_shutdown_ours()) {
        finalize(code, interrupted);
    }

    stop_threads(count_callbacks());
    call_atexit();

    if (sbx_python.by_the_book || !is_alone() || has_lost_stream()
        || sbx_python_core_is_watched()
        || sbx_python_core_frozen() != sbx_python.frozen)
    {
        finalize(code, interrupted);
    }

    mark_end();

    if (flush_streams() == -1) {
        code = FLUSH_FAILED;
    }

    if (acts_at_end()) {
        destroy();

        if (sbx_python_core_acts()) {
            finalize(code, interrupted);
        }

        /* what destructors printed; by now a failure is nobody's business */
        sbx_python_flush();
    }

    leave(code, interrupted, sbx_python_libraries() != sbx_python.libraries);
}


/* Touches what the end touches, so that it is copied ahead of the job. */
void
sbx_python_rehearse_end(void)
{
    PyObject *name = sbx_python.names[SBX_PY_IS_FINALIZING];
    PyObject *value = sbx_python_sys(SBX_PY_IS_FINALIZING);

    if (value != NULL && PyDict_SetItem(sbx_python.sys, name, value) == -1) {
        PyErr_Clear();
    }

    (void) count_callbacks();
    (void) is_shutdown_ours();
    (void) has_handlers();
    (void) is_alone();
    (void) flush_streams();
    (void) acts_at_end();
    (void) sbx_python_libraries();
}


/*
 * Joins the program's threads.  The call, and the pages it copies, are saved
 * where there never were any and no atexit function will look.
 */
static void
stop_threads(int callbacks)
{
    PyObject *none;

    if (callbacks == 0
        && PyDict_Size(sbx_python.threading_active) == 1
        && PyList_Size(sbx_python.threading_atexits) == 0
        && is_alone())
    {
        return;
    }

    none = PyObject_CallNoArgs(sbx_python.threading_shutdown);

    if (none == NULL) {
        PyErr_WriteUnraisable(sbx_python.threading);
    }

    Py_XDECREF(none);
}


/* The interpreter looks it up by its name. */
static int
is_shutdown_ours(void)
{
    return PyDict_GetItem(sbx_python.threading_dict,
                          sbx_python.names[SBX_PY_SHUTDOWN])
           == sbx_python.threading_shutdown;
}


static int
count_callbacks(void)
{
    int callbacks;
    PyObject *count = PyObject_CallNoArgs(sbx_python.atexit_count);

    callbacks = count == NULL || PyLong_AsLong(count) != 0;
    Py_XDECREF(count);
    PyErr_Clear();

    return callbacks;
}


static void
call_atexit(void)
{
    PyObject *none;

    if (count_callbacks() != 0) {
        none = PyObject_CallNoArgs(sbx_python.atexit_run);
        Py_XDECREF(none);
        PyErr_Clear();
    }

    /* registered first of all, so called last: see make_ready */
    if (has_handlers()) {
        none = PyObject_CallNoArgs(sbx_python.logging_shutdown);

        if (none == NULL) {
            PyErr_WriteUnraisable(sbx_python.logging_shutdown);
        }

        Py_XDECREF(none);
    }
}


/*
 * Whether logging has other handlers than its own last resort, which holds
 * nothing back: it writes to sys.stderr.
 */
static int
has_handlers(void)
{
    return !is_as_it_was(sbx_python.logging_handlers, sbx_python.logging_own);
}


/* The same objects in the same order. */
static int
is_as_it_was(PyObject *list, PyObject *own)
{
    Py_ssize_t n = PyList_Size(list);

    if (n != PyTuple_GET_SIZE(own)) {
        return 0;
    }

    for (Py_ssize_t i = 0; i < n; i++) {
        if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(own, i)) {
            return 0;
        }
    }

    return 1;
}


/* Daemon threads only stop for a real end of the interpreter. */
static int
is_alone(void)
{
    PyInterpreterState *interp = PyInterpreterState_Head();
    PyThreadState *thread = PyInterpreterState_ThreadHead(interp);

    return PyInterpreterState_Next(interp) == NULL
           && PyThreadState_Next(thread) == NULL;
}


/*
 * Whether sys has no name left for a stream that it began with.  What such a one
 * still holds back is written when the interpreter gives it up.
 */
static int
has_lost_stream(void)
{
    static const sbx_python_name_t names[][2] = {
        { SBX_PY_STDOUT, SBX_PY_FIRST_STDOUT },
        { SBX_PY_STDERR, SBX_PY_FIRST_STDERR }
    };

    for (int i = 0; i < 2; i++) {
        if (sbx_python_sys(names[i][0]) != sbx_python.standard[i]
            && sbx_python_sys(names[i][1]) != sbx_python.standard[i])
        {
            return 1;
        }
    }

    return 0;
}


/* From here on the interpreter says of itself that it ends. */
static void
mark_end(void)
{
    if (PyDict_SetItem(sbx_python.sys, sbx_python.names[SBX_PY_IS_FINALIZING],
                       sbx_python.is_finalizing) == -1)
    {
        PyErr_Clear();
    }
}


/* As the interpreter's flush_std_files: complains about stdout alone. */
static int
flush_streams(void)
{
    int status = 0;
    static const sbx_python_name_t names[] = { SBX_PY_STDOUT, SBX_PY_STDERR };

    for (int i = 0; i < 2; i++) {
        int closed = 0;
        PyObject *stream = sbx_python_sys(names[i]);
        PyObject *result;

        if (stream == NULL || stream == Py_None) {
            continue;
        }

        result = PyObject_GetAttr(stream, sbx_python.names[SBX_PY_CLOSED]);

        if (result != NULL) {
            closed = PyObject_IsTrue(result);
            Py_DECREF(result);
        }

        PyErr_Clear();

        if (closed > 0) {
            continue;
        }

        result = PyObject_CallMethodNoArgs(stream,
                                           sbx_python.names[SBX_PY_FLUSH]);

        if (result == NULL) {
            status = -1;

            if (i == 0) {
                PyErr_WriteUnraisable(stream);

            } else {
                PyErr_Clear();
            }
        }

        Py_XDECREF(result);
    }

    return status;
}


/* A handler of the program would keep its __main__ alive. */
static void
drop_handlers(void)
{
    for (int sig = 1; sig < NSIG; sig++) {
        PyObject *handler = PyObject_CallFunction(sbx_python.getsignal, "i",
                                                  sig);

        if (handler != NULL && PyCallable_Check(handler)) {
            PyObject *old = PyObject_CallFunction(sbx_python.setsignal, "iO",
                                                  sig, sbx_python.sig_dfl);

            Py_XDECREF(old);
        }

        Py_XDECREF(handler);
        PyErr_Clear();
    }
}


/*
 * Names that hold a program's objects: a traceback keeps whole frames.  From
 * here on only what is loaded can be imported.
 */
static void
drop_names(void)
{
    static const char *const files[][2] = {
        { "stdin", "__stdin__" }, { "stdout", "__stdout__" },
        { "stderr", "__stderr__" }
    };

    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        if (PySys_SetObject(gone[i], Py_None) == -1) {
            PyErr_Clear();
        }
    }

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        PyObject *first = PySys_GetObject(files[i][1]);

        if (PySys_SetObject(files[i][0], first ? first : Py_None) == -1) {
            PyErr_Clear();
        }
    }
}


/*
 * __main__ and the program's own modules.  Those of the library that it
 * imported stay: to destroy them takes time, and acts_at_end looks at what they
 * hold.
 */
static void
drop_modules(void)
{
    Py_ssize_t position = 0;
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *own = PyList_New(0);
    PyObject *name, *module;

    if (own == NULL) {
        PyErr_Clear();
        return;
    }

    while (PyDict_Next(modules, &position, &name, &module)) {
        if (is_own(name, module) && PyList_Append(own, name) == -1) {
            PyErr_Clear();
        }
    }

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(own); i++) {
        if (PyDict_SetItem(modules, PyList_GET_ITEM(own, i), Py_None) == -1) {
            PyErr_Clear();
        }
    }

    Py_DECREF(own);
}


static void
set_import(PyObject *function)
{
    if (PyDict_SetItemString(PyEval_GetBuiltins(), "__import__",
                             function) == -1)
    {
        PyErr_Clear();
    }
}


static int
is_own(PyObject *name, PyObject *module)
{
    return PyDict_GetItem(sbx_python.modules, name) != module
           && !same_origin(module);
}


/* Whether a module comes from below the interpreter's prefix. */
static int
same_origin(PyObject *module)
{
    int same = 0;
    PyObject *spec, *origin = NULL;

    if (!PyModule_Check(module)) {
        return 0;
    }

    spec = PyDict_GetItemString(PyModule_GetDict(module), "__spec__");

    if (spec != NULL && spec != Py_None) {
        origin = PyObject_GetAttrString(spec, "origin");
    }

    if (origin != NULL && PyUnicode_Check(origin)) {
        const char *path = PyUnicode_AsUTF8(origin);

        same = path != NULL && (strncmp(path, "/usr/", 5) == 0
                                || strcmp(path, "built-in") == 0
                                || strcmp(path, "frozen") == 0);
    }

    Py_XDECREF(origin);
    PyErr_Clear();

    return same;
}


/* gc.collect works after gc.disable too, as the interpreter's last one does. */
static void
collect(void)
{
    PyObject *count = PyObject_CallNoArgs(sbx_python.gc_collect);

    Py_XDECREF(count);
    PyErr_Clear();
}


/*
 * A program that changed the warnings may wait for one about a resource.  Who
 * put another stream in a standard one's place still has its output in that.
 */
static int
acts_at_end(void)
{
    return !is_as_it_was(sbx_python.filters, sbx_python.filters_own)
           || sbx_python_sys(SBX_PY_STDOUT) != sbx_python.standard[0]
           || sbx_python_sys(SBX_PY_STDERR) != sbx_python.standard[1]
           || sbx_python_core_acts();
}


/* All that the program made and that is reached from where programs put it. */
static void
destroy(void)
{
    drop_handlers();
    PyGC_Collect();

    drop_names();
    drop_modules();

    /* the interpreter has no modules any more when it collects again */
    set_import(sbx_python.late_import);
    collect();
}


static PyObject *
yes(PyObject *self, PyObject *none)
{
    (void) self;
    (void) none;

    Py_RETURN_TRUE;
}


static PyObject *
refuse_import(PyObject *self, PyObject *args)
{
    (void) self;
    (void) args;

    PyErr_SetString(PyExc_ImportError, "sys.meta_path is None, Python is "
                    "likely shutting down");

    return NULL;
}


static void
finalize(int code, int interrupted)
{
    /* what the program froze itself stays so */
    if (sbx_python_core_frozen() == sbx_python.frozen) {
        PyObject *none = PyObject_CallNoArgs(sbx_python.gc_unfreeze);

        Py_XDECREF(none);
        PyErr_Clear();
    }

    set_import(sbx_python.import_);
    sbx_python_forget();

    if (Py_FinalizeEx() < 0) {
        code = FLUSH_FAILED;
    }

    leave(code, interrupted, 1);
}


/*
 * orderly: shared objects came with the program, and may have destructors.
 * Otherwise C streams (ctypes' printf) are all that C's exit would look after.
 */
static void
leave(int code, int interrupted, int orderly)
{
    if (interrupted) {
        PyOS_setsig(SIGINT, SIG_DFL);
        kill(getpid(), SIGINT);
        code = 128 + SIGINT;    /* it was blocked */
    }

    if (orderly) {
        exit(code);
    }

    fflush(NULL);
    _exit(code);
}


unsigned long long
sbx_python_libraries(void)
{
    unsigned long long count = 0;

    dl_iterate_phdr(count_libraries, &count);

    return count;
}


static int
count_libraries(struct dl_phdr_info *info, size_t size, void *data)
{
    (void) size;

    *(unsigned long long *) data = info->dlpi_adds;

    return 1;
}
