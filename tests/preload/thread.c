/*
 * thread.c: a module of Python, in C, that starts a thread when it is imported.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <unistd.h>


static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "native", .m_size = -1
};


static void *
sleep_on(void *data)
{
    (void) data;

    for ( ;; ) {
        pause();
    }

    return NULL;
}


PyMODINIT_FUNC
PyInit_native(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, sleep_on, NULL) != 0) {
        return PyErr_NoMemory();
    }

    return PyModule_Create(&module);
}
