/*
 * sbx_python_run.c: from a fresh fork to the end of the user's program.
 *
 * Runs in the child, above the frozen heap of the zygote.  The program runs as
 * `cd SBX_RUN_DIR && python3 NAME ARGS` would run it: called from C with no
 * Python frame below (f_back, print_stack and the recursion limit would show
 * it), from a real file under the shown name (the traceback printer opens it).
 */

#include "sbx_python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sbx_hot.h"
#include "sbx_root.h"

#define PATH_SIZE   (sizeof(SBX_RUN_DIR) + SBX_NAME_MAX + 1)


static PyObject *take_job(const sbx_job_t *job, const char *path,
    const char **what);
static int run_file(PyObject *dict, const char *path, int *interrupted);
static int exit_code(void);
static int give_input(const char *text);
static int rehearse(const char *program);
static int rehearse_job(void);
static void discard(int saved[2]);
static void restore(const int saved[2]);
static void no_python(const char *what) __attribute__((noreturn));

/*
 * What most programs do once.  Whatever it touches is copied before the job is
 * there: code of the compiler's and printer's data, free lists, first arenas.
 */
static const char warm_program[] =
    "def warm(n):\n"
    "    class Item:\n"
    "        def __init__(self, value):\n"
    "            self.value = value\n"
    "        def __repr__(self):\n"
    "            return f'Item({self.value!r})'\n"
    "    squares = [i * i for i in range(n)]\n"
    "    items = {str(i): Item(i) for i in squares}\n"
    "    print(len(items), sorted(items)[:3], items, '%d' % n, sep='\\n')\n"
    "    try:\n"
    "        items['none']\n"
    "    except KeyError as error:\n"
    "        str(error)\n"
    "    return ','.join(items).split(','), sum(x for x in squares)\n"
    "print(warm(200))\n"
    "1 / 0\n";

/* What every program does. */
static const char short_program[] = "print(1 + 1)\n";

/*
 * What programs begin with.  An import of a loaded module writes to it (its
 * references are counted), to its specification and to what is taken from it,
 * each on a page of its own.  Only a fork that learns may run this: it reads
 * standard input.
 */
static const char *const first_lines[] = {
    "import array, base64, bisect, collections, copy, dataclasses, datetime\n",
    "import decimal, enum, fractions, functools, hashlib, heapq, io\n",
    "import itertools, json, math, operator, os, queue, random, re\n",
    "import statistics, string, struct, sys, textwrap, threading, time\n",
    "import traceback, typing\n",
    "from bisect import bisect_left, bisect_right, insort\n",
    "from collections import Counter, OrderedDict, defaultdict, deque\n",
    "from collections import namedtuple\n",
    "from dataclasses import dataclass, field\n",
    "from functools import cmp_to_key, lru_cache, partial, reduce\n",
    "from heapq import heapify, heappop, heappush\n",
    "from itertools import accumulate, combinations, permutations, product\n",
    "from math import ceil, gcd, inf, sqrt\n",
    "from typing import Dict, List, Optional, Tuple\n",
    "import sys\nsys.setrecursionlimit(10000)\n",
    "n = int(input())\na, b = map(int, input().split())\n",
    "import sys\nfor line in sys.stdin:\n    print(line.strip())\n"
    "sys.stdin.read()\n",
    NULL
};

static const char first_input[] = "3\n4 5\n6\n";


/* By kind of child: forked on demand, standby. */
static sbx_hot_t *hot[2];


/* The motions of a run, or, with `standby`, also of what it may do more. */
static int
rehearse_forked(sbx_hot_t *unused, void *standby)
{
    const char *const *program;

    (void) unused;

    sbx_python_forked();

    if (rehearse_job() == -1) {
        return -1;
    }

    if (standby == NULL) {
        return 0;
    }

    if (sbx_python_rehearse(1) == -1 || give_input(first_input) == -1) {
        return -1;
    }

    for (program = first_lines; *program != NULL; program++) {
        if (rehearse(*program) == -1) {
            return -1;
        }
    }

    return 0;
}


static int
give_input(const char *text)
{
    int fds[2];
    size_t len = strlen(text);

    if (pipe2(fds, O_CLOEXEC) == -1 || dup2(fds[0], 0) == -1
        || write(fds[1], text, len) != (ssize_t) len)
    {
        return -1;
    }

    close(fds[1]);

    return 0;
}


/*
 * The interpreter's calls into libc are bound when they are first made.  One,
 * pthread_key_delete, is made by PyOS_AfterFork_Child only: each child would
 * look it up.
 */
static void
bind_key_delete(void)
{
    Py_tss_t key = Py_tss_NEEDS_INIT;

    if (PyThread_tss_create(&key) == 0) {
        PyThread_tss_delete(&key);
    }
}


void
sbx_python_learn(void)
{
    bind_key_delete();
    hot[0] = sbx_hot_learn(rehearse_forked, NULL);
    hot[1] = sbx_hot_learn(rehearse_forked, hot);
}


/*
 * Of what the modules' hooks do, which are not called, only the random state
 * (siblings would draw the same numbers) and the thread's kernel number are
 * needed.
 */
void
sbx_python_forked(void)
{
    PyObject *none, *id;

    sbx_hot_copy(hot[0]);
    sbx_python_core_after_fork();
    prctl(PR_SET_NAME, "python3", 0, 0, 0);

    none = PyObject_CallOneArg(sbx_python.random_seed, sbx_python.random);

    if (none == NULL) {
        /* unseeded, two runs would share their random numbers */
        _exit(1);
    }

    Py_DECREF(none);

    id = PyLong_FromUnsignedLong(PyThread_get_thread_native_id());

    if (id == NULL
        || PyObject_SetAttr(sbx_python.main_thread,
                            sbx_python.names[SBX_PY_NATIVE_ID], id) == -1)
    {
        PyErr_Clear();
    }

    Py_XDECREF(id);
}


int
sbx_python_warm(sbx_err_t *err)
{
    sbx_hot_warm(hot[1]);

    if (sbx_python_rehearse(0) == -1) {
        return sbx_fail(err, SBX_STEP_WARM, errno, "prepare warm-up");
    }

    return 0;
}


int
sbx_python_rehearse(int thorough)
{
    return rehearse(thorough ? warm_program : short_program);
}


/*
 * The program's __main__ takes the place of the one before, and gives it up
 * when the next comes.
 */
static int
rehearse(const char *program)
{
    int saved[2];
    PyObject *name, *dict, *result;
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    FILE *file = fmemopen((char *) program, strlen(program), "r");

    name = PyUnicode_FromString("warm");

    if (file == NULL || name == NULL
        || (dict = sbx_python_take_main(name)) == NULL)
    {
        return -1;
    }

    discard(saved);

    result = PyRun_FileExFlags(file, "warm", Py_file_input, dict, dict, 1,
                               &flags);
    Py_XDECREF(result);

    /* 0: leaves no sys.last_traceback behind */
    PyErr_PrintEx(0);

    PyDict_Clear(dict);
    Py_DECREF(dict);
    Py_DECREF(name);
    sbx_python_rehearse_end();

    restore(saved);

    return 0;
}


/* A whole run, from its job to its end: only for a fork that learns. */
static int
rehearse_job(void)
{
    int saved[2], interrupted;
    char path[PATH_SIZE];
    const char *what;
    PyObject *dict;
    sbx_job_t job;
    int fd = memfd_create("main.py", MFD_CLOEXEC);
    ssize_t len = sizeof(short_program) - 1;

    sbx_job_init(&job);
    job.name = SBX_STR("main.py");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

    if (fd == -1 || write(fd, short_program, (size_t) len) != len
        || (dict = take_job(&job, path, &what)) == NULL)
    {
        return -1;
    }

    /*
     * In the zygote the directory of runs is the host's, where anybody could
     * leave a file for the traceback printer or an import to find.
     */
    if (PyList_SetSlice(sbx_python_sys(SBX_PY_PATH), 0, 1, NULL) == -1) {
        return -1;
    }

    discard(saved);
    (void) run_file(dict, path, &interrupted);
    Py_DECREF(dict);
    sbx_python_rehearse_end();
    restore(saved);
    close(fd);

    return 0;
}


/* Without /dev/null the output is lost in closed descriptors: as well. */
static void
discard(int saved[2])
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    for (int i = 0; i < 2; i++) {
        saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 10);
        close(i + 1);

        if (null != -1) {
            dup2(null, i + 1);
        }
    }

    if (null != -1) {
        close(null);
    }
}


static void
restore(const int saved[2])
{
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
}


void
sbx_python_run(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd)
{
    int code, interrupted = 0;
    char path[PATH_SIZE];
    const char *what;
    PyObject *dict;

    (void) cmd;
    (void) ncmd;

    snprintf(path, sizeof(path), "%s/%.*s", SBX_RUN_DIR,
             (int) job->name.len, job->name.data);

    dict = take_job(job, path, &what);

    if (dict == NULL) {
        no_python(what);
    }

    code = run_file(dict, path, &interrupted);
    Py_DECREF(dict);

    sbx_python_finish(code, interrupted);
}


/* The names of the program's __main__; or NULL, and what could not be made. */
static PyObject *
take_job(const sbx_job_t *job, const char *path, const char **what)
{
    PyObject *file, *dict = NULL;

    *what = "environment";

    if (sbx_python_take_environment(job) == -1) {
        return NULL;
    }

    *what = "arguments";

    if (sbx_python_take_arguments(job) == -1) {
        return NULL;
    }

    *what = "modules";

    if (sbx_python_take_shadows(job) == -1) {
        return NULL;
    }

    *what = "__main__";
    file = PyUnicode_DecodeFSDefault(path);

    if (file != NULL) {
        dict = sbx_python_take_main(file);
        Py_DECREF(file);
    }

    return dict;
}


static int
run_file(PyObject *dict, const char *path, int *interrupted)
{
    FILE *file = fopen(path, "rb");
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    PyObject *result;

    if (file == NULL) {
        no_python(path);
    }

    result = PyRun_FileExFlags(file, path, Py_file_input, dict, dict, 1,
                               &flags);
    sbx_python_flush();

    if (result == NULL) {
        if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
            return exit_code();
        }

        *interrupted = PyErr_Occurred() == PyExc_KeyboardInterrupt;
        PyErr_Print();
    }

    /* so the interpreter does, and atexit functions see it */
    if (PyDict_DelItemString(dict, "__file__") == -1) {
        PyErr_Clear();
    }

    if (PyDict_DelItemString(dict, "__cached__") == -1) {
        PyErr_Clear();
    }

    if (result == NULL) {
        return 1;
    }

    Py_DECREF(result);

    return 0;
}


/*
 * The exit code of the SystemExit that is set, its message printed, as
 * PyErr_Print would; but that one goes on to end the process.
 */
static int
exit_code(void)
{
    int code = 0;
    PyObject *type, *value, *traceback, *attribute, *stream;

    fflush(stdout);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);

    if (value != NULL && PyExceptionInstance_Check(value)) {
        attribute = PyObject_GetAttrString(value, "code");

        if (attribute != NULL) {
            Py_SETREF(value, attribute);
        }
    }

    if (value != NULL && PyLong_Check(value)) {
        code = (int) PyLong_AsLong(value);

    } else if (value != NULL && value != Py_None) {
        PyErr_Clear();
        code = 1;
        stream = PySys_GetObject("stderr");

        if (stream != NULL && stream != Py_None) {
            PyFile_WriteObject(value, stream, Py_PRINT_RAW);

        } else {
            PyObject_Print(value, stderr, Py_PRINT_RAW);
            fflush(stderr);
        }

        PySys_WriteStderr("\n");
    }

    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    PyErr_Clear();

    return code;
}


void
sbx_python_flush(void)
{
    static const sbx_python_name_t names[] = { SBX_PY_STDERR, SBX_PY_STDOUT };
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);

    for (size_t i = 0; i < 2; i++) {
        PyObject *stream = sbx_python_sys(names[i]);

        if (stream != NULL) {
            PyObject *none = PyObject_CallMethodNoArgs(
                stream, sbx_python.names[SBX_PY_FLUSH]);

            Py_XDECREF(none);
            PyErr_Clear();
        }
    }

    PyErr_Restore(type, value, traceback);
}


/* The program has not begun: the run is the sandbox's failure. */
static void
no_python(const char *what)
{
    sbx_err_t err;

    sbx_fail(&err, SBX_STEP_JOB, errno, "python: prepare %s", what);
    sbx_child_fail(&err);
}
