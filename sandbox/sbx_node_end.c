/*
 * sbx_node_end.c: how a Node run ends.
 *
 * Runs in the child (and once in each rehearsal), when the program is over or
 * calls process.exit(): the exit code is as node has it, C's streams are
 * written, and the process ends before node takes its heap apart.
 */

#include "sbx_node.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct {
    napi_env env;
    napi_ref process;
    sbx_hot_t *learning;        /* NULL: a run, no rehearsal */
    int32_t *fields;            /* node 20: its fields of the exit code */
    int32_t exiting_at, code_at, has_code_at;
    unsigned long long libraries;
} end;


/* As node takes an exit code: what is no number becomes one, or 0. */
static int32_t
to_exit_code(napi_env env, napi_value value)
{
    int32_t code = 0;
    napi_value number;

    if (napi_get_value_int32(env, value, &code) == NAPI_NUMBER_EXPECTED
        && napi_coerce_to_number(env, value, &number) == 0)
    {
        (void) napi_get_value_int32(env, number, &code);
    }

    return code;
}


napi_value
sbx_node_end_really(napi_env env, napi_callback_info info)
{
    int code;
    size_t argc = 1;
    napi_value argv[1], target = NULL;

    if (napi_get_new_target(env, info, &target) == 0 && target != NULL) {
        (void) napi_throw_type_error(env, NULL, "process.reallyExit is not a "
                                     "constructor");
        return NULL;
    }

    /* undefined where there is none */
    (void) napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    code = to_exit_code(env, argv[0]);

    fflush(NULL);
    _exit(code);
}


/* Node 18 keeps the code in process.exitCode alone. */
static int32_t
exit_code_of_process(void)
{
    int32_t code = 0;
    napi_value process, key, value;
    napi_handle_scope scope;

    if (napi_open_handle_scope(end.env, &scope) == 0
        && napi_get_reference_value(end.env, end.process, &process) == 0
        && napi_create_string_utf8(end.env, "exitCode", NAPI_AUTO_LENGTH,
                                   &key) == 0)
    {
        value = sbx_node_engine_get(process, key);

        if (value != NULL) {
            code = to_exit_code(end.env, value);
        }
    }

    return code;
}


/*
 * The program's natural end: 'exit' has been emitted, and what follows takes
 * apart a heap that is a copy.
 */
static void
program_ended(void *arg)
{
    int32_t code;

    (void) arg;

    if (!sbx_node_in_child) {
        return;
    }

    if (end.learning != NULL) {
        sbx_hot_end(end.learning);
    }

    if (end.fields != NULL) {
        code = end.fields[end.has_code_at]
               ? end.fields[end.code_at] : 0;

    } else {
        code = exit_code_of_process();
    }

    fflush(NULL);
    _exit(code);
}


/*
 * node lets no JavaScript run any more: Node-API says so before it misses the
 * function.  (process._exiting alone does not tell: after a listener of 'exit'
 * that threw, a program may go on.)
 */
static int
is_over(void)
{
    return end.fields != NULL && end.fields[end.exiting_at]
           && napi_call_function(end.env, NULL, NULL, 0, NULL, NULL)
              != NAPI_INVALID_ARG;
}


static int
note_libraries(struct dl_phdr_info *info, size_t size, void *libraries)
{
    (void) size;
    *(unsigned long long *) libraries = info->dlpi_adds;

    return 1;
}


/* How many libraries were ever loaded. */
static unsigned long long
count_libraries(void)
{
    unsigned long long libraries = 0;

    (void) dl_iterate_phdr(note_libraries, &libraries);

    return libraries;
}


/*
 * What waits for events of the main loop when all is over is node's closing of
 * its handles, and what comes next would take hundreds of objects apart.  But
 * what the thread pool has begun, writes to files and pipes, is still waited
 * for; and an addon that the program loaded may have a hook of its own, which
 * comes before ours.  (Before node 20, which does not say that it is exiting,
 * our hook is the end.)
 */
int
epoll_pwait(int fd, struct epoll_event *events, int max, int ms,
    const sigset_t *mask)
{
    static int (*libc)(int, struct epoll_event *, int, int, const sigset_t *);

    if (libc == NULL) {
        libc = dlsym(RTLD_NEXT, "epoll_pwait");
    }

    if (sbx_node_in_child && fd == sbx_node_engine_loop_fd() && is_over()
        && !sbx_node_engine_has_requests()
        && count_libraries() == end.libraries)
    {
        program_ended(NULL);
    }

    return libc(fd, events, max, ms, mask);
}


void
sbx_node_end_note(napi_env env, napi_value process, const napi_value *fields)
{
    void *data = NULL;

    end.env = env;
    (void) napi_create_reference(env, process, 1, &end.process);

    if (napi_get_typedarray_info(env, fields[0], NULL, NULL, &data, NULL, NULL)
        == 0)
    {
        end.fields = data;
        (void) napi_get_value_int32(env, fields[1], &end.exiting_at);
        (void) napi_get_value_int32(env, fields[2], &end.code_at);
        (void) napi_get_value_int32(env, fields[3], &end.has_code_at);
    }

    (void) napi_add_env_cleanup_hook(env, program_ended, NULL);
    end.libraries = count_libraries();
}


void
sbx_node_end_learn(sbx_hot_t *hot)
{
    end.learning = hot;
}
