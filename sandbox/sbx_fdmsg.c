/*
 * sbx_fdmsg.c: datagrams with descriptors.
 *
 * Runs in the supervisor, in zygotes and in children.  Lengths are the
 * kernel's; whatever a message brings in descriptors is in the caller's hands
 * or closed, also when the message itself is refused.
 */

#include "sbx_fdmsg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union {
    char bytes[CMSG_SPACE(SBX_FDMSG_MAX * sizeof(int))];
    struct cmsghdr align;
} control_t;


static void take_fds(struct msghdr *msg, int fds[SBX_FDMSG_MAX], int *nfds);


int
sbx_fdmsg_send(int sock, const void *data, size_t len, int fd)
{
    return sbx_fdmsg_send_fds(sock, data, len, &fd, fd >= 0 ? 1 : 0);
}


int
sbx_fdmsg_send_fds(int sock, const void *data, size_t len, const int *fds,
    int nfds)
{
    ssize_t n;
    size_t size = (size_t) nfds * sizeof(int);
    control_t control;
    struct msghdr msg;
    struct cmsghdr *head;
    struct iovec iov = { .iov_base = (void *) data, .iov_len = len };

    if (nfds < 0 || nfds > SBX_FDMSG_MAX) {
        errno = EINVAL;
        return -1;
    }

    memset(&msg, 0, sizeof(msg));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;

    if (nfds > 0) {
        memset(&control, 0, sizeof(control));
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(size);

        head = CMSG_FIRSTHDR(&msg);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(head), fds, size);
    }

    do {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);

    return n < 0 ? -1 : 0;
}


ssize_t
sbx_fdmsg_recv(int sock, void *data, size_t size, int fds[SBX_FDMSG_MAX],
    int *nfds)
{
    ssize_t n;
    control_t control;
    struct msghdr msg;
    struct iovec iov = { .iov_base = data, .iov_len = size };

    memset(&msg, 0, sizeof(msg));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control);
    *nfds = 0;

    do {
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);

    if (n < 0) {
        return -1;
    }

    take_fds(&msg, fds, nfds);

    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        errno = EMSGSIZE;
        return -1;
    }

    return n;
}


static void
take_fds(struct msghdr *msg, int fds[SBX_FDMSG_MAX], int *nfds)
{
    int fd;
    size_t i, n;
    struct cmsghdr *head;

    for (head = CMSG_FIRSTHDR(msg); head; head = CMSG_NXTHDR(msg, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
            continue;
        }

        n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (i = 0; i < n; i++) {
            memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));

            /* the alignment of the buffer leaves room for one more */
            if (*nfds == SBX_FDMSG_MAX) {
                close(fd);
                msg->msg_flags |= MSG_CTRUNC;
                continue;
            }

            fds[(*nfds)++] = fd;
        }
    }
}
