/*
 * sbx_python_stash.c: an operator's modules, imported once and put aside.
 *
 * In the zygote, sandbox_preload's modules are imported; each is refused that
 * leaves something a fork cannot give to every child of its own.  Then all that
 * they brought is taken out of sys.modules, so that no program finds what it
 * did not import.  In the child the import system, asked for one of them, gets
 * it back with what its import brought, in the same order, instead of a search
 * and a run of its code.
 *
 * The names come in the environment, one SBX_PRELOAD_ENV.  A refusal goes to the
 * supervisor, with the number of the name.
 */

#include "sbx_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sbx_fdmsg.h"
#include "sbx_hot.h"


/*
 * What is imported for whom is written down as it happens: what is loaded for
 * the first time by the import system's own function, the rest by __import__.
 * (Libraries of linear algebra, which would start their threads at once, are told
 * by sbx_child_env to do without, as in every run.)
 */
static const char code[] =
    "def preload(names):\n"
    "    import builtins, posix, sys, time, _signal\n"
    "    import _frozen_importlib as bootstrap\n"
    "    modules, before = sys.modules, dict(sys.modules)\n"
    "    load, import_ = bootstrap._find_and_load, builtins.__import__\n"
    "    stack, needs = [], {}\n"
    "    def note(name):\n"
    "        if stack and name != stack[-1]:\n"
    "            needs.setdefault(stack[-1], {})[name] = None\n"
    "    def noted_load(name, function):\n"
    "        note(name)\n"
    "        stack.append(name)\n"
    "        try:\n"
    "            return load(name, function)\n"
    "        finally:\n"
    "            stack.pop()\n"
    "    def noted_import(name, globals=None, locals=None, fromlist=(),\n"
    "                     level=0):\n"
    "        result = import_(name, globals, locals, fromlist, level)\n"
    "        if level > 0:\n"
    "            package = bootstrap._calc___package__(globals)\n"
    "            name = bootstrap._resolve_name(name, package, level)\n"
    "        note(name)\n"
    "        for item in fromlist or ():\n"
    "            if f'{name}.{item}' in modules:\n"
    "                note(f'{name}.{item}')\n"
    "        return result\n"
    "    def links(path):\n"
    "        found = {}\n"
    "        for item in posix.listdir(path):\n"
    "            try:\n"
    "                found[item] = posix.readlink(path + item)\n"
    "            except OSError:\n"
    "                pass\n"
    "        return found\n"
    "    def shared():\n"
    "        with open('/proc/self/maps') as maps:\n"
    "            return {line.split(' ', 1)[0] for line in maps\n"
    "                    if line.split()[1][1::2] == 'ws'}\n"
    "    def has_threads():\n"
    "        for _ in range(50):\n"
    "            if len(posix.listdir('/proc/self/task')) == 1:\n"
    "                return False\n"
    "            time.sleep(0.01)\n"
    "        return True\n"
    "    def has_children():\n"
    "        try:\n"
    "            posix.waitid(posix.P_ALL, 0, posix.WEXITED | posix.WNOHANG\n"
    "                         | posix.WNOWAIT)\n"
    "        except ChildProcessError:\n"
    "            return False\n"
    "        return True\n"
    "    def fault():\n"
    "        if has_threads():\n"
    "            return 'started a thread, which no fork has'\n"
    "        if has_children():\n"
    "            return 'left a child process'\n"
    "        for fd, what in links('/proc/self/fd/').items():\n"
    "            if files.get(fd) != what:\n"
    "                return f'keeps {what} open'\n"
    "        if shared() - shares:\n"
    "            return 'has memory that all runs would share'\n"
    "        if any(_signal.getitimer(i)[0] for i in range(3)):\n"
    "            return 'left a timer running'\n"
    "    files, shares = links('/proc/self/fd/'), shared()\n"
    "    bootstrap._find_and_load = noted_load\n"
    "    builtins.__import__ = noted_import\n"
    "    try:\n"
    "        for number, name in enumerate(names, 1):\n"
    "            try:\n"
    "                __import__(name)\n"
    "            except BaseException as error:\n"
    "                text = ' '.join(str(error).split())\n"
    "                return (number, 'cannot be imported: '\n"
    "                        f'{type(error).__name__}: {text}')\n"
    "            sys.stdout.flush()\n"
    "            why = fault()\n"
    "            if why:\n"
    "                return number, 'cannot be forked: it ' + why\n"
    "    finally:\n"
    "        bootstrap._find_and_load = load\n"
    "        builtins.__import__ = import_\n"
    "    stash = {}\n"
    "    for name, module in list(modules.items()):\n"
    "        if name in before:\n"
    "            continue\n"
    "        del modules[name]\n"
    "        above, _, last = name.rpartition('.')\n"
    "        parent = before.get(above) or stash.get(above, (None,))[0]\n"
    "        bound = getattr(parent, '__dict__', {}).get(last) is module\n"
    "        if bound:\n"
    "            delattr(parent, last)\n"
    "        else:\n"
    "            parent = None\n"
    "        stash[name] = (module, above, last, parent,\n"
    "                       tuple(needs.get(name, ())))\n"
    "    return stash\n";

/* What draws random numbers from a state that was seeded at its import. */
static const struct {
    const char *module;
    const char *seed;
} seeded[] = {
    { "numpy.random.mtrand", "seed" }
};

/* of an entry of the stash */
enum { MODULE, ABOVE, LAST, PARENT, NEEDS };


static PyObject *list_names(const char *text);
static PyObject *preload(PyObject *names);
static int refuse(PyObject *refusal);
static PyObject *load(PyObject *self, PyObject *const *args, Py_ssize_t n);
static int reveal(PyObject *name);
static int reveal_entry(PyObject *name, PyObject *entry);
static int reseed(PyObject *name, PyObject *module);


static PyObject *stash;         /* name → entry; NULL: nothing is put aside */
static PyObject *find_and_load; /* the import system's own */
static sbx_hot_t *hot;          /* its pages, until they are the child's own */

static PyMethodDef load_method = {
    "_find_and_load", (PyCFunction) (void (*)(void)) load, METH_FASTCALL, NULL
};


int
sbx_python_stash_fill(void)
{
    int failed;
    PyObject *names, *result, *bootstrap, *function;
    const char *text = sbx_python.preload;

    if (text == NULL || text[0] == '\0') {
        return 0;
    }

    names = list_names(text);
    result = names == NULL ? NULL : preload(names);
    Py_XDECREF(names);

    if (result == NULL) {
        return -1;
    }

    if (!PyDict_Check(result)) {
        return refuse(result);
    }

    bootstrap = PyImport_ImportModule("_frozen_importlib");
    function = PyCFunction_New(&load_method, NULL);
    find_and_load = bootstrap == NULL
                    ? NULL
                    : PyObject_GetAttrString(bootstrap, load_method.ml_name);
    failed = function == NULL || find_and_load == NULL
             || PyObject_SetAttrString(bootstrap, load_method.ml_name,
                                       function) == -1;
    Py_XDECREF(bootstrap);
    Py_XDECREF(function);
    stash = result;

    return failed ? -1 : 0;
}


static PyObject *
list_names(const char *text)
{
    PyObject *all = PyUnicode_FromString(text);
    PyObject *names = all == NULL ? NULL : PyUnicode_Split(all, NULL, -1);

    Py_XDECREF(all);

    return names;
}


/* The stash, or a tuple (number of a name, why it is refused). */
static PyObject *
preload(PyObject *names)
{
    PyObject *globals = PyDict_New();
    PyObject *done = NULL, *function, *result = NULL;

    if (globals != NULL
        && PyDict_SetItemString(globals, "__builtins__",
                                PyEval_GetBuiltins()) == 0)
    {
        done = PyRun_String(code, Py_file_input, globals, globals);
    }

    if (done != NULL) {
        function = PyDict_GetItemString(globals, "preload");
        result = PyObject_CallOneArg(function, names);
    }

    Py_XDECREF(done);
    Py_XDECREF(globals);

    return result;
}


static int
refuse(PyObject *refusal)
{
    int number;
    const char *why;
    sbx_zmsg_t msg;

    if (PyArg_ParseTuple(refusal, "is", &number, &why)) {
        memset(&msg, 0, sizeof(msg));
        msg.type = SBX_ZMSG_FAILED;
        msg.tag = (uint32_t) number;
        (void) sbx_fail(&msg.err, SBX_STEP_ZYGOTE, 0, "%s", why);
        (void) sbx_fdmsg_send(SBX_ZYGOTE_CONTROL_FD, &msg, sizeof(msg), -1);
        sbx_python.refused = 1;
    }

    Py_DECREF(refusal);

    return -1;
}


static int
reveal_all(sbx_hot_t *unused, void *arg)
{
    PyObject *names = PyDict_Keys(stash);

    (void) unused;
    (void) arg;

    for (Py_ssize_t i = 0; names != NULL && i < PyList_GET_SIZE(names); i++) {
        if (reveal(PyList_GET_ITEM(names, i)) == -1) {
            return -1;
        }
    }

    return names == NULL ? -1 : 0;
}


void
sbx_python_stash_learn(void)
{
    if (stash != NULL) {
        hot = sbx_hot_learn(reveal_all, NULL);
    }
}


int
sbx_python_stash_has(PyObject *name)
{
    return stash == NULL ? 0 : PyDict_Contains(stash, name);
}


/* Another module of such a name comes first: all are searched for anew. */
void
sbx_python_stash_drop(void)
{
    stash = NULL;
}


/*
 * In the place of importlib._bootstrap._find_and_load, which C calls for what
 * is not in sys.modules.  A function of C, so that no traceback shows it.
 */
static PyObject *
load(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    PyObject *module;

    (void) self;

    if (n == 2 && stash != NULL && PyUnicode_Check(args[0])) {
        int found = PyDict_Contains(stash, args[0]);

        if (found == -1 || (found == 1 && reveal(args[0]) == -1)) {
            return NULL;
        }

        module = found == 1 ? PyDict_GetItemWithError(PyImport_GetModuleDict(),
                                                      args[0])
                            : NULL;

        if (module != NULL) {
            return Py_NewRef(module);
        }

        if (PyErr_Occurred()) {
            return NULL;
        }
    }

    return PyObject_Vectorcall(find_and_load, args, (size_t) n, NULL);
}


/*
 * What is in the stash is taken out of it: who deletes a module from sys.modules
 * has the next import run its code, as everywhere.
 */
static int
reveal(PyObject *name)
{
    int rc;
    PyObject *entry = PyDict_GetItemWithError(stash, name);

    if (entry == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }

    /* its libraries' destructors are left out at the end: see DESIGN.md */
    if (hot != NULL) {
        sbx_hot_copy(hot);
        hot = NULL;
    }

    /* the package is imported first, and may bring this one */
    if (reveal(PyTuple_GET_ITEM(entry, ABOVE)) == -1) {
        return -1;
    }

    if (PyDict_GetItemWithError(stash, name) == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }

    Py_INCREF(entry);
    rc = PyDict_DelItem(stash, name) == -1 ? -1 : reveal_entry(name, entry);
    Py_DECREF(entry);

    return rc;
}


/* As the import system leaves it: in sys.modules after what it imports. */
static int
reveal_entry(PyObject *name, PyObject *entry)
{
    PyObject *module = PyTuple_GET_ITEM(entry, MODULE);
    PyObject *parent = PyTuple_GET_ITEM(entry, PARENT);
    PyObject *needs = PyTuple_GET_ITEM(entry, NEEDS);

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(needs); i++) {
        if (reveal(PyTuple_GET_ITEM(needs, i)) == -1) {
            return -1;
        }
    }

    if (PyDict_SetItem(PyImport_GetModuleDict(), name, module) == -1) {
        return -1;
    }

    if (parent != Py_None
        && PyObject_SetAttr(parent, PyTuple_GET_ITEM(entry, LAST), module)
           == -1)
    {
        return -1;
    }

    return reseed(name, module);
}


/* Else all runs would draw the same numbers. */
static int
reseed(PyObject *name, PyObject *module)
{
    PyObject *none;

    for (size_t i = 0; i < sizeof(seeded) / sizeof(seeded[0]); i++) {

        if (PyUnicode_CompareWithASCIIString(name, seeded[i].module) != 0) {
            continue;
        }

        none = PyObject_CallMethod(module, seeded[i].seed, NULL);

        if (none == NULL) {
            return -1;
        }

        Py_DECREF(none);
    }

    return 0;
}
