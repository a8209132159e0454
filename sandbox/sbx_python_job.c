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


static int set_variable(sbx_str_t name, sbx_str_t value);
static PyObject *make_loader(PyObject *file);
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
    PyObject *path = sbx_python_sys(SBX_PY_PATH);
    PyObject *word;

    if (argv == NULL || original == NULL || path == NULL) {
        return -1;
    }

    PyList_SET_ITEM(original, 0, Py_NewRef(sbx_python.python3));

    for (size_t i = 0; i <= job->nargs; i++) {
        word = text(i == 0 ? job->name : job->args[i - 1]);
        failed |= word == NULL;

        Py_XINCREF(word);
        PyList_SET_ITEM(argv, i, word);
        PyList_SET_ITEM(original, i + 1, word);
    }

    failed = failed
             || PyDict_SetItem(sbx_python.sys, sbx_python.names[SBX_PY_ARGV],
                               argv) == -1
             || PyDict_SetItem(sbx_python.sys,
                               sbx_python.names[SBX_PY_ORIG_ARGV],
                               original) == -1
             || PyList_Insert(path, 0, sbx_python.run_dir) == -1;

    Py_DECREF(argv);
    Py_DECREF(original);

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
    PyObject **names = sbx_python.names;
    PyObject *module = PyModule_NewObject(names[SBX_PY_MAIN]);
    PyObject *annotations = PyDict_New();
    PyObject *loader = make_loader(file);
    PyObject *dict;

    if (module == NULL || annotations == NULL || loader == NULL) {
        return NULL;
    }

    dict = PyModule_GetDict(module);
    Py_INCREF(dict);

    failed = PyDict_SetItem(dict, names[SBX_PY_LOADER], loader) == -1
             || PyDict_SetItem(dict, names[SBX_PY_ANNOTATIONS],
                               annotations) == -1
             || PyDict_SetItem(dict, names[SBX_PY_BUILTINS],
                               sbx_python.builtins) == -1
             || PyDict_SetItem(dict, names[SBX_PY_FILE], file) == -1
             || PyDict_SetItem(dict, names[SBX_PY_CACHED], Py_None) == -1
             || PyDict_SetItem(PyImport_GetModuleDict(), names[SBX_PY_MAIN],
                               module) == -1;

    Py_DECREF(module);
    Py_DECREF(annotations);
    Py_DECREF(loader);

    return failed ? NULL : dict;
}


/* SourceFileLoader("__main__", file), without running its Python code. */
static PyObject *
make_loader(PyObject *file)
{
    PyTypeObject *type = (PyTypeObject *) sbx_python.loader;
    PyObject *none = PyTuple_New(0);
    PyObject *loader = none == NULL
                       ? NULL : PyBaseObject_Type.tp_new(type, none, NULL);

    Py_XDECREF(none);

    if (loader != NULL
        && (PyObject_SetAttr(loader, sbx_python.names[SBX_PY_NAME],
                             sbx_python.names[SBX_PY_MAIN]) == -1
            || PyObject_SetAttr(loader, sbx_python.names[SBX_PY_PATH],
                                file) == -1))
    {
        Py_CLEAR(loader);
    }

    return loader;
}


/* Borrowed; NULL: the program has deleted it. */
PyObject *
sbx_python_sys(sbx_python_name_t name)
{
    return PyDict_GetItem(sbx_python.sys, sbx_python.names[name]);
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

    sbx_python_stash_drop();
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

    } else if (found == 0) {
        found = sbx_python_stash_has(name);
    }

    Py_DECREF(name);

    return found;
}


static PyObject *
text(sbx_str_t s)
{
    return PyUnicode_DecodeFSDefaultAndSize(s.data, s.len);
}
