/*
 * sbx_cmd_serve.c: deer-flow serve (a supervisor on its own, for sandbox_pass)
 * and supervise (the same, started by nginx's master with descriptors 3, 4, 5).
 *
 * Runs in the guard: sbx_cell_guard forks the rest.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <getopt.h>
#include <json-c/json.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sbx_cgroup.h"
#include "sbx_cmd.h"
#include "sbx_log.h"

#define LISTEN_FD    3
#define LIFELINE_FD  4
#define STATS_FD     5

/* the kernel cuts it to net.core.somaxconn */
#define BACKLOG      4096


static int
guard(sbx_conf_t *conf)
{
    sbx_log_init(conf->log, conf->log_level);
    sbx_cgroup_sweep();
    sbx_cgroup_token(conf->cgroup_token, sizeof(conf->cgroup_token));

    return sbx_cell_guard(sbx_supervise, conf);
}


/*
 * The socket's name goes with the guard that listened there: the master made
 * it, but knows nothing of its generation's end.
 */
static void
remove_name(int fd)
{
    struct sockaddr_un sun;
    socklen_t len = sizeof(sun);

    if (getsockname(fd, (struct sockaddr *) &sun, &len) == 0
        && sun.sun_family == AF_UNIX
        && len > offsetof(struct sockaddr_un, sun_path)
        && sun.sun_path[0] == '/')
    {
        (void) unlink(sun.sun_path);
    }
}


int
sbx_cmd_supervise(int argc, char **argv)
{
    int rc;
    sbx_err_t err;
    static sbx_conf_t conf;

    if (argc != 3 || strcmp(argv[1], "--config") != 0) {
        fprintf(stderr, "deer-flow: supervise is started by nginx\n");
        return 1;
    }

    if (sbx_conf_init(&conf, argv[2], &err) < 0) {
        sbx_log_init("", SBX_LOG_ERR);
        sbx_log_err(SBX_LOG_EMERG, &err, "supervise");
        return 1;
    }

    conf.listen_fd = LISTEN_FD;
    conf.lifeline_fd = LIFELINE_FD;
    conf.stats_fd = STATS_FD;

    if (fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC) < 0
        || fcntl(LISTEN_FD, F_SETFL, O_NONBLOCK) < 0
        || fcntl(LIFELINE_FD, F_SETFD, FD_CLOEXEC) < 0
        || fcntl(STATS_FD, F_SETFD, FD_CLOEXEC) < 0)
    {
        fprintf(stderr, "deer-flow: supervise needs descriptors 3, 4, 5\n");
        return 1;
    }

    rc = guard(&conf);
    remove_name(LISTEN_FD);

    return rc;
}


/* A socket only its user may reach: 0600, and peers are asked who they are. */
static int
listen_on(const char *address, const struct passwd *user, sbx_err_t *err)
{
    int fd, rc;
    mode_t mask;
    struct stat st;
    struct sockaddr_un sun = { .sun_family = AF_UNIX };

    if (strncmp(address, "unix:", 5) != 0
        || strlen(address + 5) >= sizeof(sun.sun_path))
    {
        return sbx_fail(err, SBX_STEP_CONFIG, 0, "no unix:PATH: \"%.100s\"",
                        address);
    }

    strcpy(sun.sun_path, address + 5);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "socket");
    }

    if (connect(fd, (struct sockaddr *) &sun, sizeof(sun)) == 0) {
        close(fd);
        return sbx_fail(err, SBX_STEP_CONFIG, EADDRINUSE, "%s", address);
    }

    /* what a killed one left; a live one that is only busy, or a file, stays */
    if (errno == ECONNREFUSED && lstat(sun.sun_path, &st) == 0
        && S_ISSOCK(st.st_mode))
    {
        (void) unlink(sun.sun_path);
    }

    mask = umask(0177);
    rc = bind(fd, (struct sockaddr *) &sun, sizeof(sun));
    umask(mask);

    if (rc < 0 || listen(fd, BACKLOG) < 0
        || (user != NULL && chown(sun.sun_path, user->pw_uid, user->pw_gid)
            < 0))
    {
        (void) sbx_fail(err, SBX_STEP_CONFIG, errno, "listen on %s", address);
        close(fd);
        return -1;
    }

    return fd;
}


static int
usage(FILE *stream)
{
    fprintf(stream,
            "usage: deer-flow serve --listen unix:PATH [--user NAME] "
            "[--config JSON]\n"
            "  --user NAME    who may connect besides root and us\n"
            "  --config JSON  slots, standby, queue, queue_ms, renew_runs, "
            "renew_s,\n                 renew_growth_permille, log, log_level, "
            "cases, preload, runtimes\n");

    return SBX_EXIT_USAGE;
}


int
sbx_cmd_serve(int argc, char **argv)
{
    int opt, rc;
    const char *address = NULL, *json = NULL;
    sbx_err_t err;
    struct passwd *user = NULL;
    static sbx_conf_t conf;
    static const struct option options[] = {
        { "listen", required_argument, NULL, 'l' },
        { "user", required_argument, NULL, 'u' },
        { "config", required_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 }
    };

    optind = 1;

    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (opt) {

        case 'l':
            address = optarg;
            break;

        case 'u':
            user = getpwnam(optarg);
            if (user == NULL) {
                fprintf(stderr, "deer-flow: no such user: %s\n", optarg);
                return SBX_EXIT_USAGE;
            }
            break;

        case 'c':
            json = optarg;
            break;

        case 'h':
            (void) usage(stdout);
            return 0;

        default:
            return usage(stderr);
        }
    }

    if (address == NULL || optind != argc) {
        return usage(stderr);
    }

    if (sbx_conf_init(&conf, json, &err) < 0
        || (conf.listen_fd = listen_on(address, user, &err)) < 0)
    {
        fprintf(stderr, "deer-flow: %s%s%s\n", err.text,
                err.errnum ? ": " : "",
                err.errnum ? strerror(err.errnum) : "");
        return 1;
    }

    if (user != NULL) {
        conf.peer_uid = user->pw_uid;
    }

    rc = guard(&conf);
    (void) unlink(address + 5);

    return rc;
}
