/*
 * ngx_http_sandbox_socket.c: the listening socket of a generation.
 *
 * Runs in the master (or the single process), from init_module.  One socket per
 * generation, named after nginx's pid file, the process that made it and a
 * counter, so that old and new workers each reach the supervisor of their own
 * configuration.  The supervisor's guard removes the name when it ends; what a
 * killed guard leaves is swept here.
 */


#include "ngx_http_sandbox.h"

/*
 * As many as may come at a time: where it is full, connect() fails at once.  The
 * kernel cuts it to net.core.somaxconn.
 */
#define BACKLOG  4096


static int ngx_http_sandbox_bind(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *base);
static ngx_int_t ngx_http_sandbox_name(ngx_cycle_t *cycle,
    ngx_http_sandbox_main_conf_t *smcf, ngx_str_t *base);
static int ngx_http_sandbox_bind_private(struct sockaddr_un *addr);
static void ngx_http_sandbox_sweep(ngx_cycle_t *cycle, ngx_str_t *base);
static ngx_uint_t ngx_http_sandbox_is_stale(struct sockaddr_un *addr,
    u_char *pid);


static ngx_uint_t  ngx_http_sandbox_generation;


/*
 * Beside nginx's pid file, where the master may write and workers may look;
 * else in nginx's prefix.  Nowhere else: in a directory that strangers can
 * write to they could take the name first.
 */
ngx_int_t
ngx_http_sandbox_listen(ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf,
    int *listener)
{
    u_char           *p;
    ngx_str_t         base;
    ngx_uint_t        i;
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    for (i = 0; i < 2; i++) {
        base.data = ngx_pnalloc(cycle->pool, ccf->pid.len + cycle->prefix.len
                                             + sizeof("nginx.sandbox"));
        if (base.data == NULL) {
            return NGX_ERROR;
        }

        p = (i == 0) ? ngx_sprintf(base.data, "%V.sandbox", &ccf->pid)
                     : ngx_sprintf(base.data, "%Vnginx.sandbox",
                                   &cycle->prefix);
        base.len = p - base.data;

        ngx_http_sandbox_sweep(cycle, &base);

        *listener = ngx_http_sandbox_bind(cycle, smcf, &base);

        if (*listener != -1) {
            return NGX_OK;
        }
    }

    return NGX_ERROR;
}


static int
ngx_http_sandbox_bind(ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf,
    ngx_str_t *base)
{
    int               s;
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (ngx_http_sandbox_name(cycle, smcf, base) != NGX_OK) {
        return -1;
    }

    s = ngx_http_sandbox_bind_private(&smcf->addr);
    if (s == -1) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_socket_errno,
                      "bind() to %V failed", &smcf->addr_text);
        return -1;
    }

    /* for a normal user the workers are that user, as is the socket's owner */
    if ((geteuid() == 0
         && lchown(smcf->addr.sun_path, ccf->user, (gid_t) -1) == -1)
        || listen(s, BACKLOG) == -1)
    {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      "chown() or listen() of %V failed", &smcf->addr_text);
        (void) unlink(smcf->addr.sun_path);
        (void) close(s);
        return -1;
    }

    smcf->addrlen = sizeof(struct sockaddr_un);

    return s;
}


static ngx_int_t
ngx_http_sandbox_name(ngx_cycle_t *cycle, ngx_http_sandbox_main_conf_t *smcf,
    ngx_str_t *base)
{
    u_char     *last;
    ngx_str_t  *text;

    text = &smcf->addr_text;
    text->len = sizeof("unix:") + base->len + 2 * (1 + NGX_INT64_LEN);

    text->data = ngx_pnalloc(cycle->pool, text->len);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(text->data, "unix:%V.%P.%ui%Z", base, ngx_pid,
                       ++ngx_http_sandbox_generation);
    text->len = last - 1 - text->data;

    if (text->len - (sizeof("unix:") - 1) >= sizeof(smcf->addr.sun_path)) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "\"%V\" is too long for the name of a unix socket", text);
        return NGX_ERROR;
    }

    ngx_memzero(&smcf->addr, sizeof(struct sockaddr_un));
    smcf->addr.sun_family = AF_UNIX;
    (void) ngx_cpystrn((u_char *) smcf->addr.sun_path,
                       text->data + sizeof("unix:") - 1,
                       sizeof(smcf->addr.sun_path));

    return NGX_OK;
}


/* Mode 0600 from the first moment: there is none in which others connect. */
static int
ngx_http_sandbox_bind_private(struct sockaddr_un *addr)
{
    int        s, rc;
    mode_t     mask;
    ngx_err_t  err;

    s = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0);
    if (s == -1) {
        return -1;
    }

    mask = umask(0177);
    rc = bind(s, (struct sockaddr *) addr, sizeof(struct sockaddr_un));
    err = ngx_socket_errno;
    (void) umask(mask);

    if (rc == -1) {
        (void) close(s);
        ngx_set_socket_errno(err);
        return -1;
    }

    return s;
}


/*
 * Removes sockets of supervisors that were killed together with their guard.
 * A living one, of another generation or of an old binary's master, stays.
 */
static void
ngx_http_sandbox_sweep(ngx_cycle_t *cycle, ngx_str_t *base)
{
    u_char              *name, *pid;
    size_t               len, dirlen, room;
    ngx_dir_t            dir;
    ngx_str_t            path;
    struct sockaddr_un   addr;

    for (dirlen = base->len; dirlen && base->data[dirlen - 1] != '/'; dirlen--)
    {
        /* void */
    }

    name = base->data + dirlen;
    len = base->len - dirlen;

    ngx_memzero(&addr, sizeof(struct sockaddr_un));
    addr.sun_family = AF_UNIX;

    if (dirlen == 0 || base->len + 1 >= sizeof(addr.sun_path)) {
        return;
    }

    (void) ngx_cpymem(addr.sun_path, base->data, dirlen);
    room = sizeof(addr.sun_path) - dirlen;
    pid = (u_char *) addr.sun_path + base->len + 1;

    path.data = (u_char *) addr.sun_path;
    path.len = dirlen;

    if (ngx_open_dir(&path, &dir) == NGX_ERROR) {
        return;
    }

    while (ngx_read_dir(&dir) == NGX_OK) {
        if (ngx_de_namelen(&dir) <= len + 1
            || ngx_de_namelen(&dir) >= room
            || ngx_memcmp(ngx_de_name(&dir), name, len) != 0
            || ngx_de_name(&dir)[len] != '.')
        {
            continue;
        }

        (void) ngx_cpystrn((u_char *) addr.sun_path + dirlen,
                           ngx_de_name(&dir), room);

        if (ngx_http_sandbox_is_stale(&addr, pid)
            && unlink(addr.sun_path) == 0)
        {
            ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                          "removed stale sandbox socket %s", addr.sun_path);
        }
    }

    (void) ngx_close_dir(&dir);
}


/*
 * Stale: its maker is dead (or is this process, which made it earlier) and
 * nobody listens.  Both are asked for, because a socket between another
 * master's bind() and listen() refuses connections too.
 */
static ngx_uint_t
ngx_http_sandbox_is_stale(struct sockaddr_un *addr, u_char *pid)
{
    int           s, rc;
    u_char       *dot;
    ngx_int_t     maker;
    ngx_err_t     err;
    struct stat   st;

    dot = (u_char *) ngx_strchr(pid, '.');
    maker = dot ? ngx_atoi(pid, dot - pid) : NGX_ERROR;

    if (maker <= 0
        || lstat(addr->sun_path, &st) == -1
        || !S_ISSOCK(st.st_mode)
        || (maker != ngx_pid
            && (kill(maker, 0) == 0 || ngx_errno != NGX_ESRCH)))
    {
        return 0;
    }

    s = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0);
    if (s == -1) {
        return 0;
    }

    rc = connect(s, (struct sockaddr *) addr, sizeof(struct sockaddr_un));
    err = ngx_socket_errno;

    (void) close(s);

    return rc == -1 && err == NGX_ECONNREFUSED;
}
