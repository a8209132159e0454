/*
 * sbx_client.c: a blocking client of a supervisor, and one to talk to.
 * Runs in the deer-flow command.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_cgroup.h"
#include "sbx_client.h"
#include "sbx_wire.h"

/* two outputs of the largest limit, and the other fields */
#define ANSWER_MAX  (129ull << 20)


static int
make_stats(sbx_client_t *client)
{
    void *p;
    int fd = memfd_create("figures", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, SBX_STATS_SIZE) < 0) {
        return -1;
    }

    p = mmap(NULL, SBX_STATS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        close(fd);
        return -1;
    }

    client->stats = p;

    return fd;
}


int
sbx_client_start(sbx_client_t *client, sbx_conf_t *conf, sbx_err_t *err)
{
    int pair[2], stats_fd;

    memset(client, 0, sizeof(*client));
    client->fd = -1;

    stats_fd = make_stats(client);

    if (stats_fd < 0
        || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "socketpair");
    }

    client->guard = fork();

    if (client->guard < 0) {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "fork");
    }

    if (client->guard == 0) {
        close(pair[0]);
        (void) fcntl(pair[1], F_SETFL, O_NONBLOCK);
        (void) setsid();        /* the terminal's Ctrl-C is ours, not its */
        conf->conn_fd = pair[1];
        conf->stats_fd = stats_fd;
        sbx_cgroup_sweep();
        sbx_cgroup_token(conf->cgroup_token, sizeof(conf->cgroup_token));
        _exit(sbx_cell_guard(sbx_supervise, conf));
    }

    close(pair[1]);
    close(stats_fd);
    client->fd = pair[0];

    return 0;
}


int
sbx_client_connect(sbx_client_t *client, const char *address, sbx_err_t *err)
{
    struct sockaddr_un sun = { .sun_family = AF_UNIX };

    memset(client, 0, sizeof(*client));
    client->fd = -1;

    if (strncmp(address, "unix:", 5) != 0
        || strlen(address + 5) >= sizeof(sun.sun_path))
    {
        return sbx_fail(err, SBX_STEP_CONFIG, 0,
                        "no unix:PATH: \"%.100s\"", address);
    }

    strcpy(sun.sun_path, address + 5);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (client->fd < 0
        || connect(client->fd, (struct sockaddr *) &sun, sizeof(sun)) < 0)
    {
        return sbx_fail(err, SBX_STEP_CONFIG, errno, "connect to %.100s",
                        address);
    }

    return 0;
}


static int
is_ready(const sbx_stats_t *stats, int zygotes)
{
    int i;

    if (!__atomic_load_n(&stats->ready, __ATOMIC_ACQUIRE)) {
        return 0;
    }

    for (i = 0; zygotes && i < SBX_STATS_RUNTIMES; i++) {

        if (__atomic_load_n(&stats->runtimes[i].warming, __ATOMIC_ACQUIRE)) {
            return 0;
        }
    }

    return 1;
}


int
sbx_client_wait_ready(sbx_client_t *client, int zygotes, unsigned ms,
    sbx_err_t *err)
{
    unsigned waited;

    for (waited = 0; waited < ms; waited += 5) {

        if (is_ready(client->stats, zygotes)) {
            return 0;
        }

        if (client->stats->error[0] != '\0') {
            return sbx_fail(err, SBX_STEP_CONFIG, 0, "%.190s",
                            client->stats->error);
        }

        usleep(5000);
    }

    return sbx_fail(err, SBX_STEP_CONFIG, 0,
                    "the supervisor is not ready after %u ms", ms);
}


static int
transfer(int fd, char *buf, size_t len, int out)
{
    ssize_t n;

    while (len > 0) {
        n = out ? send(fd, buf, len, MSG_NOSIGNAL) : recv(fd, buf, len, 0);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return -1;
        }

        buf += n;
        len -= (size_t) n;
    }

    return 0;
}


int
sbx_client_run(sbx_client_t *client, const sbx_job_t *job, sbx_verdict_t *v,
    char **payload, sbx_err_t *err)
{
    int rc;
    char head[SBX_WIRE_HEAD], *buf;
    size_t len = sbx_job_size(job);
    const char *at;
    sbx_frame_t frame = { .type = SBX_FRAME_RUN, .length = len };

    *payload = NULL;
    buf = malloc(SBX_WIRE_HEAD + len);

    if (buf == NULL) {
        return sbx_fail(err, SBX_STEP_WIRE, ENOMEM, "frame");
    }

    sbx_frame_pack(&frame, buf);
    sbx_job_pack(job, buf + SBX_WIRE_HEAD);
    rc = transfer(client->fd, buf, SBX_WIRE_HEAD + len, 1);
    free(buf);

    if (rc < 0 || transfer(client->fd, head, sizeof(head), 0) < 0) {
        return sbx_fail(err, SBX_STEP_WIRE, 0, "the supervisor went away");
    }

    if (sbx_frame_unpack(head, ANSWER_MAX, &frame, err) < 0) {
        return -1;
    }

    len = frame.length;
    buf = malloc(len + 1);

    if (buf == NULL || transfer(client->fd, buf, len, 0) < 0) {
        free(buf);
        return sbx_fail(err, SBX_STEP_WIRE, errno, "answer of %zu bytes", len);
    }

    at = buf;

    if (sbx_verdict_unpack(v, &at, &len, err) != 1) {
        free(buf);
        return -1;
    }

    *payload = buf;

    return 0;
}


void
sbx_client_close(sbx_client_t *client)
{
    if (client->fd >= 0) {
        close(client->fd);
        client->fd = -1;
    }

    if (client->guard > 0) {
        while (waitpid(client->guard, NULL, 0) < 0 && errno == EINTR) {
            /* its supervisor leaves when the connection ends */
        }
        client->guard = 0;
    }

    if (client->stats != NULL) {
        munmap(client->stats, SBX_STATS_SIZE);
        client->stats = NULL;
    }
}
