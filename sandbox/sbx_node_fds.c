/*
 * sbx_node_fds.c: descriptors that node's loops hold, made anew in a child.
 *
 * Runs in the Node zygote (note) and in the child (renew).  The zygote's event
 * loops have epoll instances, eventfds and pipes.  A child that kept these would
 * share them with its zygote, and libuv follows a pointer that it reads from its
 * signal pipe: one write would be enough to take the zygote over.  So the child
 * has none of them (sbx_child.c closes all); here an object of the same kind
 * gets each number, because libuv aborts where there is none.
 */

#include "sbx_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_child.h"

#define HELD_MAX    64
#define FD_LIMIT    1024

typedef enum { HELD_EPOLL, HELD_EVENT, HELD_PIPE, HELD_OTHER } kind_t;

typedef struct {
    int fd;
    kind_t kind;
    int writes;             /* a pipe's writing end */
    ino_t pipe;
} held_t;

static held_t held[HELD_MAX];
static int nheld;


static int
open_kind(kind_t kind)
{
    switch (kind) {
    case HELD_EPOLL:
        return epoll_create1(EPOLL_CLOEXEC);
    case HELD_EVENT:
        return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    default:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}


int
sbx_node_fds_note(uint32_t *open_files, sbx_err_t *err)
{
    int fd;
    char path[64], target[128];
    ssize_t n;
    held_t *h;
    struct stat st;

    nheld = 0;

    for (fd = SBX_CHILD_FDS; fd < FD_LIMIT; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        n = readlink(path, target, sizeof(target) - 1);

        if (n < 0) {
            continue;
        }

        target[n] = '\0';

        /* its memory is in every child, whoever has the descriptor */
        if (strstr(target, "[io_uring]") != NULL) {
            return sbx_fail(err, SBX_STEP_ZYGOTE, 0, "node has an io_uring");
        }

        if (nheld == HELD_MAX) {
            return sbx_fail(err, SBX_STEP_ZYGOTE, 0, "node has more than %d "
                            "descriptors", HELD_MAX);
        }

        h = &held[nheld++];
        h->fd = fd;
        h->kind = strstr(target, "[eventpoll]") ? HELD_EPOLL
                  : strstr(target, "[eventfd]") ? HELD_EVENT : HELD_OTHER;

        if (strncmp(target, "pipe:", 5) == 0 && fstat(fd, &st) == 0) {
            h->kind = HELD_PIPE;
            h->pipe = st.st_ino;
            h->writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
        }
    }

    /* while they are made anew, a pipe is above all of them; and one to spare */
    *open_files = (uint32_t) (nheld ? held[nheld - 1].fd : SBX_CHILD_FDS) + 4;

    return 0;
}


static int
place(int fresh, int fd, sbx_err_t *err)
{
    if (fresh == fd) {
        return 0;
    }

    if (fresh < 0 || dup3(fresh, fd, O_CLOEXEC) < 0) {
        return sbx_fail(err, SBX_STEP_FDS, errno, "node's descriptor %d", fd);
    }

    return 0;
}


/*
 * New objects start above all numbers in the table, so none is in the way of
 * another: fcntl moves them there.
 */
static int
above(int fd)
{
    int up;

    if (fd < 0) {
        return -1;
    }

    up = fcntl(fd, F_DUPFD_CLOEXEC, nheld ? held[nheld - 1].fd + 1 : fd);
    close(fd);

    return up;
}


static int
renew_pipe(int i, sbx_err_t *err)
{
    int j, rc = 0, ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        return sbx_fail(err, SBX_STEP_FDS, errno, "node's pipe");
    }

    ends[0] = above(ends[0]);
    ends[1] = above(ends[1]);

    for (j = i; j < nheld && rc == 0; j++) {
        if (held[j].kind == HELD_PIPE && held[j].pipe == held[i].pipe) {
            rc = place(ends[held[j].writes], held[j].fd, err);
        }
    }

    close(ends[0]);
    close(ends[1]);

    return rc;
}


int
sbx_node_fds_renew(sbx_err_t *err)
{
    int i, j, fd, rc;

    for (i = 0; i < nheld; i++) {

        if (held[i].kind == HELD_PIPE) {

            /* the first of its ends has brought both */
            for (j = 0; j < i; j++) {
                if (held[j].kind == HELD_PIPE && held[j].pipe == held[i].pipe) {
                    break;
                }
            }

            if (j == i && renew_pipe(i, err) < 0) {
                return -1;
            }

            continue;
        }

        fd = open_kind(held[i].kind);

        if (fd != held[i].fd) {
            fd = above(fd);
        }

        rc = place(fd, held[i].fd, err);

        if (fd != held[i].fd) {
            close(fd);
        }

        if (rc < 0) {
            return -1;
        }
    }

    return 0;
}
