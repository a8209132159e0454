/*
 * ngx_http_sandbox_supervisor.c: starts this generation's supervisor.
 *
 * Runs in the master (or the single process), from init_module: on the first
 * start as the parent of the later daemon, on a reload with signals blocked.
 * Makes the listening socket, the statistics page and the lifeline, then forks
 * twice and executes `deer-flow supervise`, which nobody's child it becomes:
 * nginx waits for its own children only.
 *
 * The lifeline is a pipe whose write end the master and every worker of the
 * generation hold and nobody writes to.  When the last of them is gone, by
 * whatever death, the supervisor reads end of file and leaves.
 *
 * Nothing here fails init_module: on a reload that would end the master and
 * orphan its workers.  A failure is logged and the locations answer 503.
 */


#include "ngx_http_sandbox.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>


#define NGX_HTTP_SANDBOX_PROGRAM   "deer-flow"

/* The supervisor's descriptors by number; the last is gone after exec. */
typedef enum {
    NGX_HTTP_SANDBOX_FD_IN = 0,
    NGX_HTTP_SANDBOX_FD_OUT,
    NGX_HTTP_SANDBOX_FD_LOG,
    NGX_HTTP_SANDBOX_FD_LISTEN,
    NGX_HTTP_SANDBOX_FD_LIFELINE,
    NGX_HTTP_SANDBOX_FD_STATS,
    NGX_HTTP_SANDBOX_FD_REPORT,
    NGX_HTTP_SANDBOX_FDS
} ngx_http_sandbox_fd_t;


typedef struct {
    int                   fds[NGX_HTTP_SANDBOX_FDS];
    int                   lifeline;         /* write end */
    int                   report;           /* read end: errno of exec */
    char                 *argv[5];
    char                **envp;
} ngx_http_sandbox_launch_t;


static ngx_int_t ngx_http_sandbox_start(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf);
static ngx_int_t ngx_http_sandbox_prepare(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, ngx_http_sandbox_launch_t *launch);
static ngx_int_t ngx_http_sandbox_descriptors(ngx_cycle_t *cycle,
    ngx_http_sandbox_launch_t *launch);
static void ngx_http_sandbox_launch_close(ngx_http_sandbox_launch_t *launch);
static void ngx_http_sandbox_lifeline_cleanup(void *data);
static ngx_int_t ngx_http_sandbox_stats(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, int *stats);
static void ngx_http_sandbox_stats_cleanup(void *data);
static char *ngx_http_sandbox_find_program(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf);
static char *ngx_http_sandbox_beside_module(ngx_cycle_t *cycle,
    const char *name);
static char **ngx_http_sandbox_environment(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_sandbox_spawn(ngx_cycle_t *cycle,
    ngx_http_sandbox_launch_t *launch);
static void ngx_http_sandbox_detach(ngx_http_sandbox_launch_t *launch);
static void ngx_http_sandbox_exec(ngx_http_sandbox_launch_t *launch);
static int ngx_http_sandbox_place_fds(ngx_http_sandbox_launch_t *launch);
static void ngx_http_sandbox_close_from(int first);


/*
 * All that the supervisor gets of nginx's environment: local time for its log
 * lines, and what a sanitizer build needs.
 */
static const char  *ngx_http_sandbox_env_names[] = {
    "TZ", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", NULL
};

/* Below the module's directory: a build tree, then an installed PREFIX. */
static const char  *ngx_http_sandbox_beside[] = {
    NGX_HTTP_SANDBOX_PROGRAM,
    "../../../bin/" NGX_HTTP_SANDBOX_PROGRAM,
    NULL
};

static const char  *ngx_http_sandbox_installed[] = {
    "/usr/bin/" NGX_HTTP_SANDBOX_PROGRAM,
    "/usr/local/bin/" NGX_HTTP_SANDBOX_PROGRAM,
    NULL
};


ngx_int_t
ngx_http_sandbox_supervisor_init_module(ngx_cycle_t *cycle)
{
    ngx_http_sandbox_main_conf_t  *smcf;

    if (ngx_test_config) {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_sandbox_module);

    if (smcf != NULL && smcf->own
        && ngx_http_sandbox_start(cycle, smcf) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                      "no sandbox supervisor: its locations will answer 503");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_sandbox_start(ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf)
{
    ngx_int_t                  rc;
    ngx_uint_t                 i;
    ngx_pool_cleanup_t        *cln;
    ngx_http_sandbox_launch_t  launch;

    cln = ngx_pool_cleanup_add(cycle->pool, sizeof(int));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&launch, sizeof(ngx_http_sandbox_launch_t));

    for (i = 0; i < NGX_HTTP_SANDBOX_FDS; i++) {
        launch.fds[i] = -1;
    }

    launch.lifeline = -1;
    launch.report = -1;

    rc = ngx_http_sandbox_prepare(cycle, smcf, &launch);

    if (rc == NGX_OK) {
        rc = ngx_http_sandbox_spawn(cycle, &launch);
    }

    if (rc == NGX_OK) {
        cln->handler = ngx_http_sandbox_lifeline_cleanup;
        *(int *) cln->data = launch.lifeline;
        launch.lifeline = -1;

        ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                      "sandbox supervisor started, %V", &smcf->addr_text);

    } else {
        if (smcf->addrlen) {
            (void) unlink(smcf->addr.sun_path);
        }

        smcf->addrlen = 0;
        smcf->stats = NULL;
    }

    ngx_http_sandbox_launch_close(&launch);

    return rc;
}


static ngx_int_t
ngx_http_sandbox_prepare(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, ngx_http_sandbox_launch_t *launch)
{
    launch->argv[0] = ngx_http_sandbox_find_program(cycle, smcf);
    if (launch->argv[0] == NULL) {
        return NGX_ERROR;
    }

    launch->argv[1] = "supervise";
    launch->argv[2] = "--config";
    launch->argv[3] = ngx_http_sandbox_supervisor_conf(cycle, smcf);
    launch->envp = ngx_http_sandbox_environment(cycle);
    if (launch->argv[3] == NULL || launch->envp == NULL) {
        return NGX_ERROR;
    }

    if (ngx_http_sandbox_listen(cycle, smcf,
                                &launch->fds[NGX_HTTP_SANDBOX_FD_LISTEN])
        != NGX_OK
        || ngx_http_sandbox_stats(cycle, smcf,
                                  &launch->fds[NGX_HTTP_SANDBOX_FD_STATS])
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_sandbox_descriptors(cycle, launch);
}


static ngx_int_t
ngx_http_sandbox_descriptors(ngx_cycle_t *cycle,
    ngx_http_sandbox_launch_t *launch)
{
    int         lifeline[2], report[2], null;
    ngx_log_t  *log;

    /*
     * Close-on-exec on every end: a new binary started by USR2 must not keep
     * this generation's supervisor alive.
     */
    if (pipe2(lifeline, O_CLOEXEC) == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "pipe2() failed");
        return NGX_ERROR;
    }

    launch->fds[NGX_HTTP_SANDBOX_FD_LIFELINE] = lifeline[0];
    launch->lifeline = lifeline[1];

    if (pipe2(report, O_CLOEXEC) == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "pipe2() failed");
        return NGX_ERROR;
    }

    launch->report = report[0];
    launch->fds[NGX_HTTP_SANDBOX_FD_REPORT] = report[1];

    null = open("/dev/null", O_RDWR|O_CLOEXEC);
    if (null == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      ngx_open_file_n " \"/dev/null\" failed");
        return NGX_ERROR;
    }

    /*
     * Not nginx's own output, or `nginx | tee` would never end; and a log that
     * goes to syslog or to memory has no descriptor to share.
     */
    log = ngx_log_get_file_log(cycle->log);

    launch->fds[NGX_HTTP_SANDBOX_FD_IN] = null;
    launch->fds[NGX_HTTP_SANDBOX_FD_OUT] = null;
    launch->fds[NGX_HTTP_SANDBOX_FD_LOG] = log ? log->file->fd : null;

    return NGX_OK;
}


/* All but the log's descriptor, which stays nginx's. */
static void
ngx_http_sandbox_launch_close(ngx_http_sandbox_launch_t *launch)
{
    ngx_uint_t  i;
    int         fds[] = {
        launch->fds[NGX_HTTP_SANDBOX_FD_IN],
        launch->fds[NGX_HTTP_SANDBOX_FD_LISTEN],
        launch->fds[NGX_HTTP_SANDBOX_FD_LIFELINE],
        launch->fds[NGX_HTTP_SANDBOX_FD_STATS],
        launch->fds[NGX_HTTP_SANDBOX_FD_REPORT],
        launch->lifeline,
        launch->report
    };

    for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] != -1) {
            (void) close(fds[i]);
        }
    }
}


/*
 * The generation's end in this process.  A reload destroys the old pool after it
 * has called the new configuration's init_module, so that there is never a
 * moment without a supervisor; from then on only the old workers keep the old
 * one alive.  The pool, and not the next init_module: a new configuration may
 * no longer load this module.
 */
static void
ngx_http_sandbox_lifeline_cleanup(void *data)
{
    int *fd = data;

    (void) close(*fd);
}


/*
 * The supervisor writes the page, this master and its workers only read it.
 */
static ngx_int_t
ngx_http_sandbox_stats(ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf,
    int *stats)
{
    void                *p;
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    *stats = memfd_create("deer-flow-stats", MFD_CLOEXEC);

    if (*stats == -1 || ftruncate(*stats, SBX_STATS_SIZE) == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      "memfd_create() or ftruncate() failed");
        return NGX_ERROR;
    }

    p = mmap(NULL, SBX_STATS_SIZE, PROT_READ, MAP_SHARED, *stats, 0);
    if (p == MAP_FAILED) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "mmap() failed");
        return NGX_ERROR;
    }

    cln->handler = ngx_http_sandbox_stats_cleanup;
    cln->data = p;

    smcf->stats = p;

    return NGX_OK;
}


static void
ngx_http_sandbox_stats_cleanup(void *data)
{
    (void) munmap(data, SBX_STATS_SIZE);
}


static char *
ngx_http_sandbox_find_program(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf)
{
    char        *path;
    const char  **name;

    if (smcf->command.len) {
        return (char *) smcf->command.data;
    }

    for (name = ngx_http_sandbox_beside; *name; name++) {
        path = ngx_http_sandbox_beside_module(cycle, *name);
        if (path != NULL) {
            return path;
        }
    }

    for (name = ngx_http_sandbox_installed; *name; name++) {
        if (access(*name, X_OK) == 0) {
            return (char *) *name;
        }
    }

    ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                  "\"" NGX_HTTP_SANDBOX_PROGRAM "\" is neither beside the "
                  "module nor installed, set \"sandbox_command\"");

    return NULL;
}


/* An executable file by a path relative to the module's .so, or NULL. */
static char *
ngx_http_sandbox_beside_module(ngx_cycle_t *cycle, const char *name)
{
    char     *path, *slash;
    u_char   *p;
    size_t    len;
    Dl_info   info;

    if (dladdr((void *) &ngx_http_sandbox_module, &info) == 0
        || info.dli_fname == NULL || info.dli_fname[0] != '/')
    {
        return NULL;
    }

    slash = strrchr(info.dli_fname, '/');
    len = slash + 1 - info.dli_fname;

    p = ngx_pnalloc(cycle->pool, len + ngx_strlen(name) + 1);
    if (p == NULL) {
        return NULL;
    }

    path = (char *) p;
    p = ngx_cpymem(p, info.dli_fname, len);
    (void) ngx_cpymem(p, name, ngx_strlen(name) + 1);

    return access(path, X_OK) == 0 ? path : NULL;
}


static char **
ngx_http_sandbox_environment(ngx_cycle_t *cycle)
{
    char         *value, **envp;
    u_char       *p;
    size_t        len;
    ngx_uint_t    n;
    const char  **name;

    envp = ngx_palloc(cycle->pool,
                      sizeof(ngx_http_sandbox_env_names) + 2 * sizeof(char *));
    if (envp == NULL) {
        return NULL;
    }

    n = 0;
    envp[n++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                "/sbin:/bin";

    for (name = ngx_http_sandbox_env_names; *name; name++) {
        value = getenv(*name);
        if (value == NULL) {
            continue;
        }

        len = ngx_strlen(*name) + 1 + ngx_strlen(value) + 1;
        p = ngx_pnalloc(cycle->pool, len);
        if (p == NULL) {
            return NULL;
        }

        envp[n++] = (char *) p;
        (void) ngx_sprintf(p, "%s=%s%Z", *name, value);
    }

    envp[n] = NULL;

    return envp;
}


static ngx_int_t
ngx_http_sandbox_spawn(ngx_cycle_t *cycle, ngx_http_sandbox_launch_t *launch)
{
    int      err;
    pid_t    pid;
    ssize_t  n;

    pid = fork();

    if (pid == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "fork() failed");
        return NGX_ERROR;
    }

    if (pid == 0) {
        ngx_http_sandbox_detach(launch);
    }

    (void) close(launch->fds[NGX_HTTP_SANDBOX_FD_REPORT]);
    launch->fds[NGX_HTTP_SANDBOX_FD_REPORT] = -1;

    /*
     * Before the master looks for dead children itself, so that it meets no
     * process it does not know.  ECHILD: a single process' handler was faster.
     */
    while (waitpid(pid, NULL, 0) == -1 && ngx_errno == NGX_EINTR) { /* void */ }

    do {
        n = read(launch->report, &err, sizeof(err));
    } while (n == -1 && ngx_errno == NGX_EINTR);

    if (n == 0) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ALERT, cycle->log,
                  n == sizeof(err) ? err : ngx_errno,
                  "starting \"%s\" failed", launch->argv[0]);

    return NGX_ERROR;
}


/*
 * In the forked process: a session of its own, and init as the parent, because
 * nginx's master reports and restarts only children that it made itself.
 */
static void
ngx_http_sandbox_detach(ngx_http_sandbox_launch_t *launch)
{
    int    err;
    pid_t  pid;

    (void) setsid();

    pid = fork();

    if (pid == 0) {
        ngx_http_sandbox_exec(launch);
    }

    if (pid == -1) {
        err = ngx_errno;
        (void) !write(launch->fds[NGX_HTTP_SANDBOX_FD_REPORT], &err,
                      sizeof(err));
    }

    _exit(0);
}


static void
ngx_http_sandbox_exec(ngx_http_sandbox_launch_t *launch)
{
    int               err, signo;
    sigset_t          set;
    struct sigaction  sa;

    /* nginx ignores or blocks signals, which exec would keep so */
    ngx_memzero(&sa, sizeof(struct sigaction));
    sa.sa_handler = SIG_DFL;

    for (signo = 1; signo < NSIG; signo++) {
        (void) sigaction(signo, &sa, NULL);
    }

    sigemptyset(&set);
    (void) sigprocmask(SIG_SETMASK, &set, NULL);

    (void) umask(022);

    if (ngx_http_sandbox_place_fds(launch) == 0 && chdir("/") == 0) {
        (void) execve(launch->argv[0], launch->argv, launch->envp);
    }

    err = ngx_errno;
    (void) !write(launch->fds[NGX_HTTP_SANDBOX_FD_REPORT], &err, sizeof(err));

    _exit(1);
}


static int
ngx_http_sandbox_place_fds(ngx_http_sandbox_launch_t *launch)
{
    int  i, *fds;

    fds = launch->fds;

    /* out of the way first: any of them may have another's final number */
    for (i = 0; i < NGX_HTTP_SANDBOX_FDS; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 2 * NGX_HTTP_SANDBOX_FDS);
        if (fds[i] == -1) {
            return -1;
        }
    }

    for (i = 0; i < NGX_HTTP_SANDBOX_FDS; i++) {
        if (dup2(fds[i], i) == -1) {
            return -1;
        }
    }

    fds[NGX_HTTP_SANDBOX_FD_REPORT] = NGX_HTTP_SANDBOX_FD_REPORT;

    ngx_http_sandbox_close_from(NGX_HTTP_SANDBOX_FDS);

    return fcntl(NGX_HTTP_SANDBOX_FD_REPORT, F_SETFD, FD_CLOEXEC);
}


/*
 * Not all of nginx's descriptors are close-on-exec: its listening sockets are
 * not, and a supervisor that held them would keep the ports.
 */
static void
ngx_http_sandbox_close_from(int first)
{
    int    fd;
    long   max;
#ifdef SYS_close_range

    if (syscall(SYS_close_range, first, ~0U, 0) == 0) {
        return;
    }

#endif

    max = sysconf(_SC_OPEN_MAX);

    for (fd = first; fd < max; fd++) {
        (void) close(fd);
    }
}
