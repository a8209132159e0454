/*
 * sbx_sysfile.h: small kernel files (/proc, cgroups) and descriptors.
 *
 * Such a file takes its whole value in one write and says whether it liked it;
 * stdio would split or delay that.  No heap: all of it works between fork and
 * exec.  Failures are in errno; the caller knows what the file means.
 */

#ifndef SBX_SYSFILE_H
#define SBX_SYSFILE_H

#include <stddef.h>
#include <stdint.h>

/* Closes on leaving the scope; initialise with -1 or an open call. */
#ifndef SBX_AUTOCLOSE
#define SBX_AUTOCLOSE  __attribute__((cleanup(sbx_fd_close)))
#endif

/* Closes *fd unless it is -1, sets it to -1, keeps errno. */
void sbx_fd_close(int *fd);

/*
 * Closes first and every descriptor above it.  Falls back to /proc/self/fd and
 * then to the descriptor limit where close_range (5.9) is not to be had.
 */
void sbx_fd_close_from(unsigned first);

/* name is relative to dirfd, as in openat.  0, or -1 with errno. */
int sbx_sysfile_write(int dirfd, const char *name, const char *text);

/* Length read, NUL-terminated and cut at size - 1; or -1 with errno. */
int sbx_sysfile_read(int dirfd, const char *name, char *buf, size_t size);

/* The same from the start of an open descriptor. */
int sbx_sysfile_reread(int fd, char *buf, size_t size);

/* The number after "key " in a file of such lines; 0 when it is not there. */
uint64_t sbx_sysfile_key(const char *text, const char *key);

#endif
