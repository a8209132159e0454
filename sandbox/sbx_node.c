/*
 * sbx_node.c: the addon that turns a node process into a zygote.
 *
 * Runs in the Node zygote and its children, called by sandbox/node/zygote.js.
 * serve() blocks in the zygote (sbx_zygote_main) and returns in each child, to
 * node's own bootstrap, with the program to run: so that the program's frames
 * are exactly those of `node FILE`.
 */

#include "sbx_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_child.h"
#include "sbx_fdmsg.h"
#include "sbx_heap.h"
#include "sbx_hot.h"
#include "sbx_huge.h"
#include "sbx_root.h"

#define PARK_MS         5000
#define LAST_WORD_MS    5000
#define WARM_PIPE       (1 << 20)
#define PATH_SIZE       (sizeof(SBX_RUN_DIR) + SBX_NAME_MAX + 1)

typedef enum { STDIO_OWN, STDIO_PIPES, STDIO_NULL } stdio_t;

typedef struct {
    napi_env env;
    napi_ref touch;             /* what a standby child calls to warm up */
    napi_ref start_array;
    double *start;
    sigjmp_buf serving;         /* the frame of serve() */
    sbx_hot_t *hot, *learning;
    sbx_hot_t *hot_after;       /* what the warm-up leaves to the run */
    sbx_job_t job;
} node_t;

static node_t node;

napi_value napi_register_module_v1(napi_env env, napi_value exports);
int32_t node_api_module_get_api_version_v1(void);

static void child_forked(void);
static int child_entered(sbx_err_t *err);
static int child_warm(sbx_err_t *err);
static void child_run(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd);


static sbx_zygote_ops_t ops = {
    .forked = child_forked,
    .entered = child_entered,
    .warm = child_warm,
    .run = child_run
};


static void
child_forked(void)
{
    sbx_node_in_child = 1;
    sbx_hot_copy(node.hot);
}


static int
child_entered(sbx_err_t *err)
{
    prctl(PR_SET_NAME, "node", 0, 0, 0);

    if (sbx_node_fds_renew(err) < 0) {
        return -1;
    }

    sbx_node_threads_forked();

    if (sbx_node_engine_loop_forked(err) < 0) {
        return -1;
    }

    sbx_node_engine_skip_time();

    return 0;
}


/* Inside of serve(), so JavaScript may be called. */
static int
child_warm(sbx_err_t *err)
{
    napi_value touch, global, result;

    sbx_hot_warm(node.hot);

    if (napi_get_reference_value(node.env, node.touch, &touch) != 0
        || napi_get_global(node.env, &global) != 0
        || napi_call_function(node.env, global, touch, 0, NULL, &result) != 0)
    {
        return sbx_fail(err, SBX_STEP_WARM, 0, "node's warm-up");
    }

    sbx_hot_warm(node.hot_after);
    sbx_node_engine_stand_still();

    return 0;
}


/*
 * Back to serve(), over frames of C that have nothing to give back; that is how
 * a child leaves sbx_zygote_main.  Returns only when it fails.
 */
static int
begin(const sbx_job_t *job, sbx_err_t *err)
{
    node.job = *job;
    sbx_node_show_command(job);
    environ = sbx_child_make_env(job, 0);

    if (sbx_node_engine_reseed(err) < 0) {
        return -1;
    }

    sbx_node_engine_start_clock();
    siglongjmp(node.serving, 1);
}


static void
child_run(const sbx_job_t *job, const sbx_str_t *cmd, size_t ncmd)
{
    sbx_err_t err;

    (void) cmd;
    (void) ncmd;

    memset(&err, 0, sizeof(err));
    (void) begin(job, &err);
    sbx_child_fail(&err);
}


/*
 * The program's path, and each argument behind a NUL, which none can hold: one
 * string is what Node-API makes with the least work.  Empty: no job, but a
 * rehearsal.
 */
static napi_value
make_job(napi_env env)
{
    size_t i, len, max = PATH_SIZE;
    char *text;
    sbx_err_t err;
    napi_value job = NULL;

    memset(&err, 0, sizeof(err));

    if (node.learning != NULL) {
        (void) napi_create_string_utf8(env, "", 0, &job);
        return job;
    }

    for (i = 0; i < node.job.nargs; i++) {
        max += node.job.args[i].len + 1;
    }

    text = malloc(max);

    if (text == NULL) {
        (void) sbx_fail(&err, SBX_STEP_JOB, ENOMEM, "the program's arguments");
        sbx_child_fail(&err);
    }

    len = (size_t) snprintf(text, PATH_SIZE, "%s/%.*s", SBX_RUN_DIR,
                            (int) node.job.name.len, node.job.name.data);

    for (i = 0; i < node.job.nargs; i++) {
        text[len++] = '\0';
        memcpy(text + len, node.job.args[i].data, node.job.args[i].len);
        len += node.job.args[i].len;
    }

    /* without it JavaScript would take this for a rehearsal */
    if (napi_create_string_utf8(env, text, len, &job) != 0) {
        (void) sbx_fail(&err, SBX_STEP_JOB, 0, "the program's arguments");
        sbx_child_fail(&err);
    }

    free(text);

    return job;
}


/* What JavaScript has to know of a run's start, as zygote.js numbers it. */
static void
tell_start(void)
{
    sbx_node_engine_times(&node.start[0], &node.start[1]);
    node.start[2] = (double) syscall(SYS_getpid);
    node.start[3] = sbx_node_engine_math_seed();
}


/*
 * A whole run, from the first step to the last, of the program that the zygote
 * was warmed with.  It prints to a pipe, as programs do, which nobody reads.
 * With `standby`, what counts begins after the warm-up.
 */
static int
rehearse(sbx_hot_t *hot, void *standby)
{
    int out[2];
    sbx_job_t job;
    sbx_err_t err;

    child_forked();

    if (pipe2(out, O_CLOEXEC) < 0 || dup2(out[1], STDOUT_FILENO) < 0
        || dup2(out[1], STDERR_FILENO) < 0)
    {
        return -1;
    }

    if (child_entered(&err) < 0) {
        return -1;
    }

    if (standby != NULL) {
        if (child_warm(&err) < 0) {
            return -1;
        }

        sbx_hot_begin(hot);
    }

    sbx_job_init(&job);
    job.name = SBX_STR("main.js");
    node.learning = hot;
    sbx_node_end_learn(hot);

    return begin(&job, &err);
}


/* The end of a zygote: its supervisor is gone, or it could not start. */
static void __attribute__((noreturn))
end_zygote(const sbx_err_t *err)
{
    sbx_zmsg_t msg;
    struct pollfd gone = { SBX_ZYGOTE_CONTROL_FD, POLLIN, 0 };

    if (err != NULL) {
        memset(&msg, 0, sizeof(msg));
        msg.type = SBX_ZMSG_FAILED;
        msg.err = *err;

        /* the supervisor ends us when it has read that */
        if (sbx_fdmsg_send(SBX_ZYGOTE_CONTROL_FD, &msg, sizeof(msg), -1) == 0) {
            (void) poll(&gone, 1, LAST_WORD_MS);
        }
    }

    /* the filter holds up exit_group, and nobody may be there to let it go on */
    (void) kill(getpid(), SIGKILL);
    _exit(1);
}


static napi_value
serve(napi_env env, napi_callback_info info)
{
    sbx_err_t err;

    (void) info;

    memset(&err, 0, sizeof(err));

    if (sigsetjmp(node.serving, 0) == 0) {

        if (sbx_node_threads_park(PARK_MS) < 0) {
            (void) sbx_fail(&err, SBX_STEP_ZYGOTE, 0, "node's worker threads "
                            "are not as expected");
            end_zygote(&err);
        }

        if (sbx_node_fds_note(&ops.open_files, &err) < 0) {
            end_zygote(&err);
        }

        sbx_heap_fill();
        sbx_huge_text(sbx_node_engine_text());
        sbx_node_engine_stand_still();
        node.hot = sbx_hot_learn(rehearse, NULL);
        node.hot_after = sbx_hot_learn(rehearse, &node);
        (void) sbx_zygote_main(&ops);
        end_zygote(NULL);
    }

    tell_start();

    return make_job(env);
}


/*
 * warm-up: descriptors 0, 1 and 2 become ends of pipes or /dev/null, and later
 * the zygote's own again.  Returns [writing end of stdin, reading end of the
 * others].
 */
static napi_value
set_stdio(napi_env env, napi_callback_info info)
{
    int i, in[2], out[2], null;
    size_t argc = 1;
    int32_t mode = STDIO_OWN;
    napi_value argv[1], pair = NULL, value = NULL;
    static int saved[3];

    (void) napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    (void) napi_get_value_int32(env, argv[0], &mode);

    for (i = 0; i < 3; i++) {
        if (mode != STDIO_OWN) {
            saved[i] = fcntl(i, F_DUPFD_CLOEXEC, SBX_CHILD_FDS);

        } else {
            dup2(saved[i], i);
            close(saved[i]);
        }
    }

    if (mode == STDIO_NULL) {
        null = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (i = 0; i < 3 && null >= 0; i++) {
            dup2(null, i);
        }

        close(null);
    }

    if (mode != STDIO_PIPES || pipe2(in, O_CLOEXEC) < 0) {
        return NULL;
    }

    if (pipe2(out, O_CLOEXEC) < 0) {
        close(in[0]);
        close(in[1]);
        return NULL;
    }

    /* what the warm-up prints has to fit: nobody reads it */
    (void) fcntl(out[1], F_SETPIPE_SZ, WARM_PIPE);
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    close(in[0]);
    close(out[1]);

    (void) napi_create_array(env, &pair);
    (void) napi_create_int32(env, in[1], &value);
    (void) napi_set_element(env, pair, 0, value);
    (void) napi_create_int32(env, out[0], &value);
    (void) napi_set_element(env, pair, 1, value);

    return pair;
}


static napi_value
spin(napi_env env, napi_callback_info info)
{
    size_t argc = 1;
    int32_t mode = 0;
    napi_value argv[1];

    (void) napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    (void) napi_get_value_int32(env, argv[0], &mode);
    sbx_node_engine_spin(mode);

    return NULL;
}


/*
 * setup(touch, process, Float64Array of a run's start, exit fields or null,
 * index of exiting, of code, of has-code)
 */
static napi_value
setup(napi_env env, napi_callback_info info)
{
    size_t argc = 7;
    void *data = NULL;
    sbx_err_t err;
    napi_value argv[7];

    node.env = env;
    (void) napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
    (void) napi_create_reference(env, argv[0], 1, &node.touch);
    (void) napi_create_reference(env, argv[2], 1, &node.start_array);

    if (napi_get_typedarray_info(env, argv[2], NULL, NULL, &data, NULL, NULL)
        != 0)
    {
        memset(&err, 0, sizeof(err));
        (void) sbx_fail(&err, SBX_STEP_ZYGOTE, 0, "node's addon calls");
        end_zygote(&err);
    }

    node.start = data;

    sbx_node_end_note(env, argv[1], &argv[3]);

    return NULL;
}


int32_t
node_api_module_get_api_version_v1(void)
{
    return 8;
}


napi_value
napi_register_module_v1(napi_env env, napi_value exports)
{
    size_t i;
    sbx_err_t err;
    napi_value function;
    static const struct {
        const char *name;
        napi_callback function;
    } table[] = {
        { "setup", setup },
        { "serve", serve },
        { "setStdio", set_stdio },
        { "spin", spin },
        { "reallyExit", sbx_node_end_really }
    };

    /* a program that finds the library gets nothing from it */
    if (sbx_node_in_child) {
        return exports;
    }

    memset(&err, 0, sizeof(err));

    if (sbx_node_engine_open(&err) < 0) {
        end_zygote(&err);
    }

    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (napi_create_function(env, table[i].name, NAPI_AUTO_LENGTH,
                                 table[i].function, NULL, &function) != 0
            || napi_set_named_property(env, exports, table[i].name, function)
               != 0)
        {
            (void) sbx_fail(&err, SBX_STEP_ZYGOTE, 0, "node's addon calls");
            end_zygote(&err);
        }
    }

    return exports;
}
