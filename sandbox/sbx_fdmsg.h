/*
 * sbx_fdmsg.h: one datagram with descriptors over a SOCK_SEQPACKET pair.
 *
 * Shared by supervisor, zygote and child.  No allocation.
 */

#ifndef SBX_FDMSG_H
#define SBX_FDMSG_H

#include <stddef.h>
#include <sys/types.h>

/* Descriptors that one message may bring; more are refused. */
#define SBX_FDMSG_MAX  8

/*
 * Sends len bytes, with one descriptor unless fd is -1.  Never SIGPIPE.
 * Returns 0, or -1 with errno.
 */
int sbx_fdmsg_send(int sock, const void *data, size_t len, int fd);

/* The same with several descriptors, nfds <= SBX_FDMSG_MAX. */
int sbx_fdmsg_send_fds(int sock, const void *data, size_t len, const int *fds,
    int nfds);

/*
 * Receives one message of at most size bytes.
 *
 * Owns:     the caller closes fds[0 .. *nfds - 1], all close-on-exec, also
 *           after -1.
 * Returns:  its length, 0 when the peer closed, or -1 with errno; EMSGSIZE: the
 *           message or its descriptors did not fit, and it is gone.
 * Source:   unix(7), SCM_RIGHTS; recvmsg(2), MSG_TRUNC and MSG_CTRUNC.
 */
ssize_t sbx_fdmsg_recv(int sock, void *data, size_t size,
    int fds[SBX_FDMSG_MAX], int *nfds);

#endif
