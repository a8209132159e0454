/*
 * sbx_python_core.c: what only the interpreter's own structures tell.
 *
 * Runs in the zygote and in the child.  The one file that looks behind the
 * interpreter's public interface.  It may: the zygote starts with no other
 * version than the one whose headers this is compiled against.  Each of these
 * could be had through Python code as well, for dozens of copied pages on the
 * path of every run.
 */

#define Py_BUILD_CORE   1

#include "sbx_python.h"

#include <pycore_interp.h>
#include <pycore_object.h>

#include "sbx_heap.h"

#if PY_VERSION_HEX >= 0x030e0000
#error "the collector of Python 3.14 keeps its generations elsewhere"
#endif

/*
 * Of obmalloc: blocks of one size share a pool, whose header counts those in
 * use in its first word.  The largest it serves, and the step of its sizes.
 */
#define POOL_BYTES      (16 << 10)
#define LARGEST_BLOCK   512
#define BLOCK_STEP      16

static void fill_pools(void);
static int is_new_pool(const void *block);
static int acts(PyObject *object);
static int has_destructor(const PyTypeObject *type);


/* Hooks of the operator's modules; NULL: there are none. */
static PyObject *hooks_kept;
static Py_ssize_t hooks_own;


/* Called twice: before and after the operator's modules. */
int
sbx_python_core_own_hooks(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();
    PyObject *hooks = interp->after_forkers_child;
    Py_ssize_t n = hooks == NULL ? 0 : PyList_GET_SIZE(hooks);

    if (hooks_own == 0) {
        hooks_own = n;

    } else if (n > hooks_own) {
        hooks_kept = PyList_GetSlice(hooks, hooks_own, n);

        return hooks_kept == NULL ? -1 : 0;
    }

    return 0;
}


/*
 * The modules' hooks stay registered, because a program's own os.fork must call
 * them.  At the zygote's fork they would cost a third of a run, and nearly all
 * of them mend locks that a single thread never holds.  Of an operator's modules
 * nothing is known, so theirs are called.
 */
void
sbx_python_core_after_fork(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();
    PyObject *hooks = interp->after_forkers_child;

    interp->after_forkers_child = hooks_kept;
    PyOS_AfterFork_Child();
    interp->after_forkers_child = hooks;
}


int
sbx_python_core_is_watched(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();

    return interp->gc.debug != 0 || interp->audit_hooks != NULL
           || (interp->gc.callbacks != NULL
               && PyList_GET_SIZE(interp->gc.callbacks) > 0);
}


const void *
sbx_python_core_frozen(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();

    return _PyGCHead_PREV(&interp->gc.permanent_generation.head);
}


/* The heap of the zygote is frozen: what these lists hold is the run's. */
int
sbx_python_core_acts(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();

    for (int i = 0; i < NUM_GENERATIONS; i++) {
        PyGC_Head *head = &interp->gc.generations[i].head;
        PyGC_Head *gc = _PyGCHead_NEXT(head);

        while (gc != head) {
            if (acts((PyObject *) (gc + 1))) {
                return 1;
            }

            gc = _PyGCHead_NEXT(gc);
        }
    }

    return 0;
}


/*
 * Instances of a class may be unknown to the collector; the class is not.  A
 * weak reference calls back when what it points to goes.
 */
static int
acts(PyObject *object)
{
    return has_destructor(Py_TYPE(object))
           || (PyType_Check(object) && has_destructor((PyTypeObject *) object))
           || (PyWeakref_Check(object)
               && ((PyWeakReference *) object)->wr_callback != NULL);
}


static int
has_destructor(const PyTypeObject *type)
{
    return type->tp_finalize != NULL || type->tp_del != NULL;
}


/*
 * What a child allocates would come from pools and gaps that the zygote has
 * begun: pages copied, for each of some thirty sizes.  Blocks that nobody uses
 * fill them, so that it comes from new pages instead, side by side.
 */
void
sbx_python_core_fill(void)
{
    fill_pools();
    sbx_heap_fill();
}


static void
fill_pools(void)
{
    for (size_t size = BLOCK_STEP; size <= LARGEST_BLOCK; size += BLOCK_STEP) {

        for (int i = 0; i < LARGEST_BLOCK * POOL_BYTES; i++) {
            void *block = PyObject_Malloc(size);

            if (block == NULL) {
                return;
            }

            if (is_new_pool(block)) {
                PyObject_Free(block);
                break;
            }
        }
    }
}


static int
is_new_pool(const void *block)
{
    const unsigned *used = (void *) ((uintptr_t) block
                                     & ~(uintptr_t) (POOL_BYTES - 1));

    return *used == 1;
}
