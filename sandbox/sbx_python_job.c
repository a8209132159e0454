/*
 * sbx_python_job.c: what a job changes in the interpreter before its program
 * runs.
 *
 * Runs in the child.  Environment, arguments, module path, __main__, and the
 * modules that a file of the job hides, each as `python3` would have found
 * them at its start.  -1 everywhere means that an object could not be made,
 * and leaves the interpreter's exception set.
 */

#include "sbx_python.h"

#include <string.h>

#include "sbx_root.h"


static int set_variable(sbx_str_t name, sbx_str_t value);
static int shadows(sbx_str_t path);
static PyObject *text(sbx_str_t s);


int
sbx_python_take_environment(const sbx_job_t *job)
{
    for (size_t i = 0; i < job->nenv; i++) {
        sbx_str_t name = job->env[i], value;
        const char *equals = memchr(name.data, '=', name.len);

        if (equals == NULL) {
            continue;
        }

        name.len = equals - name.data;
        value.data = equals + 1;
        value.len = job->env[i].len - name.len - 1;

        if (set_variable(name, value) == -1) {
            return -1;
        }

        /* the interpreter looks at it when the time module starts */
        if (name.len == 2 && memcmp(name.data, "TZ", 2) == 0) {
            PyObject *none = PyObject_CallNoArgs(sbx_python.tzset);

            Py_XDECREF(none);
            PyErr_Clear();
        }
    }

    return 0;
}


/* os.environ's own assignment also does the C side; posix.environ is apart. */
static int
set_variable(sbx_str_t name, sbx_str_t value)
{
    int failed = 1;
    PyObject *key = text(name);
    PyObject *object = text(value);
    PyObject *raw_key = PyBytes_FromStringAndSize(name.data, name.len);
    PyObject *raw = PyBytes_FromStringAndSize(value.data, value.len);

    if (key != NULL && object != NULL && raw_key != NULL && raw != NULL) {
        failed = PyObject_SetItem(sbx_python.environ, key, object) == -1
                 || PyDict_SetItem(sbx_python.posix_environ, raw_key, raw)
                    == -1;
    }

    Py_XDECREF(key);
    Py_XDECREF(object);
    Py_XDECREF(raw_key);
    Py_XDECREF(raw);

    return failed ? -1 : 0;
}


/* sys.argv, sys.orig_argv and sys.path[0]. */
int
sbx_python_take_arguments(const sbx_job_t *job)
{
    int failed = 0;
    PyObject *argv = PyList_New(job->nargs + 1);
    PyObject *original = PyList_New(job->nargs + 2);
    PyObject *dir = PyUnicode_FromString(SBX_RUN_DIR);
    PyObject *path = PySys_GetObject("path");
    PyObject *word;

    if (argv == NULL || original == NULL || dir == NULL || path == NULL) {
        return -1;
    }

    word = PyUnicode_FromString("python3");
    PyList_SET_ITEM(original, 0, word);
    failed |= word == NULL;

    for (size_t i = 0; i <= job->nargs; i++) {
        word = text(i == 0 ? job->name : job->args[i - 1]);
        failed |= word == NULL;

        Py_XINCREF(word);
        PyList_SET_ITEM(argv, i, word);
        PyList_SET_ITEM(original, i + 1, word);
    }

    failed = failed || PySys_SetObject("argv", argv) == -1
             || PySys_SetObject("orig_argv", original) == -1
             || PyList_Insert(path, 0, dir) == -1;

    Py_DECREF(argv);
    Py_DECREF(original);
    Py_DECREF(dir);

    return failed ? -1 : 0;
}


/*
 * A new __main__, its names in the interpreter's own order.  The zygote's is
 * frozen, and would never give its objects back.
 */
PyObject *
sbx_python_take_main(PyObject *file)
{
    int failed;
    PyObject *module = PyModule_New("__main__");
    PyObject *annotations = PyDict_New();
    PyObject *loader = PyObject_CallFunction(sbx_python.loader, "sO",
                                             "__main__", file);
    PyObject *dict;

    if (module == NULL || annotations == NULL || loader == NULL) {
        return NULL;
    }

    dict = PyModule_GetDict(module);
    Py_INCREF(dict);

    failed = PyDict_SetItemString(dict, "__loader__", loader) == -1
             || PyDict_SetItemString(dict, "__annotations__",
                                     annotations) == -1
             || PyDict_SetItemString(dict, "__builtins__",
                                     PyImport_AddModule("builtins")) == -1
             || PyDict_SetItemString(dict, "__file__", file) == -1
             || PyDict_SetItemString(dict, "__cached__", Py_None) == -1
             || PyDict_SetItemString(PyImport_GetModuleDict(), "__main__",
                                     module) == -1;

    Py_DECREF(module);
    Py_DECREF(annotations);
    Py_DECREF(loader);

    return failed ? NULL : dict;
}


/*
 * A file of the job that has the name of a preloaded module comes first on
 * sys.path.  Other preloaded modules may import that one too, so all go, and
 * the run starts with the modules that `python3` has; threading among them, of
 * which sbx_python_finish only knows the preloaded one.
 */
int
sbx_python_take_shadows(const sbx_job_t *job)
{
    int found = shadows(job->name);
    Py_ssize_t position = 0;
    PyObject *name, *module;
    PyObject *modules = PyImport_GetModuleDict();

    for (size_t i = 0; i < job->nfiles && found == 0; i++) {
        found = shadows(job->files[i].path);
    }

    if (found != 1) {
        return found;
    }

    sbx_python.by_the_book = 1;

    while (PyDict_Next(sbx_python.modules, &position, &name, &module)) {
        if (PyDict_GetItem(sbx_python.startup, name) == NULL
            && PyDict_DelItem(modules, name) == -1)
        {
            return -1;
        }
    }

    return 0;
}


/* NAME.py, NAME.ABI.so or NAME/…: what the import system would look at. */
static int
shadows(sbx_str_t path)
{
    int found;
    PyObject *name;

    for (size_t i = 0; i < path.len; i++) {
        if (path.data[i] == '.' || path.data[i] == '/') {
            path.len = i;
        }
    }

    name = text(path);

    if (name == NULL) {
        return -1;
    }

    found = PyDict_Contains(sbx_python.modules, name);

    if (found == 1) {
        found = PyDict_Contains(sbx_python.startup, name) == 0;
    }

    Py_DECREF(name);

    return found;
}


static PyObject *
text(sbx_str_t s)
{
    return PyUnicode_DecodeFSDefaultAndSize(s.data, s.len);
}
