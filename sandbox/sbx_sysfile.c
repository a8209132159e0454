/*
 * sbx_sysfile.c: small kernel files (/proc, cgroups) and descriptors.
 *
 * Runs in: guard, cell init, supervisor, slot init.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_sysfile.h"

#ifndef SYS_close_range
#define SYS_close_range  436
#endif

#define FD_LIMIT_GUESS   65536


void
sbx_fd_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0) {
        (void) close(*fd);
        *fd = -1;
    }

    errno = saved;
}


static int
close_listed(unsigned first)
{
    int own;
    long fd;
    char *end;
    DIR *dir;
    struct dirent *entry;

    dir = opendir("/proc/self/fd");
    if (dir == NULL) {
        return -1;
    }

    own = dirfd(dir);

    while ((entry = readdir(dir)) != NULL) {
        fd = strtol(entry->d_name, &end, 10);

        if (*end == '\0' && fd >= (long) first && fd != own) {
            (void) close((int) fd);
        }
    }

    (void) closedir(dir);

    return 0;
}


void
sbx_fd_close_from(unsigned first)
{
    unsigned fd, limit = FD_LIMIT_GUESS;
    struct rlimit rl;

    if (syscall(SYS_close_range, first, ~0U, 0) == 0) {
        return;
    }

    if (close_listed(first) == 0) {
        return;
    }

    if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_max < limit) {
        limit = (unsigned) rl.rlim_max;
    }

    for (fd = first; fd < limit; fd++) {
        (void) close((int) fd);
    }
}


int
sbx_sysfile_write(int dirfd, const char *name, const char *text)
{
    size_t len = strlen(text);
    ssize_t n;
    SBX_AUTOCLOSE int fd = -1;

    fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }

    do {
        n = write(fd, text, len);
    } while (n < 0 && errno == EINTR);

    if (n < 0) {
        return -1;
    }

    if ((size_t) n != len) {
        errno = EIO;
        return -1;
    }

    return 0;
}


int
sbx_sysfile_reread(int fd, char *buf, size_t size)
{
    size_t len = 0;
    ssize_t n;

    while (len < size - 1) {
        n = pread(fd, buf + len, size - 1 - len, (off_t) len);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n < 0) {
            return -1;
        }

        if (n == 0) {
            break;
        }

        len += (size_t) n;
    }

    buf[len] = '\0';

    return (int) len;
}


int
sbx_sysfile_read(int dirfd, const char *name, char *buf, size_t size)
{
    SBX_AUTOCLOSE int fd = -1;

    fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }

    return sbx_sysfile_reread(fd, buf, size);
}


uint64_t
sbx_sysfile_key(const char *text, const char *key)
{
    size_t len = strlen(key);
    const char *line;

    for (line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';

        if (strncmp(line, key, len) == 0
            && (line[len] == ' ' || line[len] == '\t'))
        {
            return strtoull(line + len + 1, NULL, 10);
        }
    }

    return 0;
}
