/*
 * sbx_preload_files.c: how many files are open, and calls that failed because
 * they were too many.
 *
 * Runs where sbx_preload.c runs.  The kernel keeps no count of EMFILE, and a
 * program's descriptors are closed by the time it has ended; so the calls that
 * most programs open files with are passed on unchanged and looked at.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_preload.h"

/* glibc's own names, public since 2.2.5: points where a thread can be
 * cancelled, which a raw system call would not be. */
extern int __open(const char *path, int flags, ...);
extern int __open64(const char *path, int flags, ...);


/* A program that lowered its own limit ran into that, not into the run's. */
static int
is_own_limit(const sbx_page_t *page)
{
    struct rlimit rl;

    return getrlimit(RLIMIT_NOFILE, &rl) == 0
           && rl.rlim_cur < sbx_hook_get(&page->files_limit);
}


/*
 * The kernel gives the lowest free number and bounds the highest, so the highest
 * one is what the limit has to be; calls that are not looked at show in the
 * next number.
 */
static int
look(int rc, int fd)
{
    uint32_t peak;
    sbx_page_t *page = sbx_hook_page;

    if (rc >= 0) {
        peak = sbx_hook_get(&page->files_peak);

        while ((uint32_t) fd + 1 > peak
               && !__atomic_compare_exchange_n(&page->files_peak, &peak,
                                               (uint32_t) fd + 1, 1,
                                               __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED))
        { /* peak was read again */ }

    } else if (errno == EMFILE && !is_own_limit(page)) {
        __atomic_add_fetch(&page->files_refused, 1, __ATOMIC_RELAXED);
    }

    return rc;
}


static int
look_fd(int fd)
{
    return look(fd, fd);
}


static int
look_pair(int rc, const int fds[2])
{
    return look(rc, rc < 0 ? -1 : fds[0] > fds[1] ? fds[0] : fds[1]);
}


/* The mode is there only if the flags say so. */
#define TAKE_MODE(flags, mode)                                                \
    do {                                                                      \
        if ((flags) & (O_CREAT | __O_TMPFILE)) {                              \
            va_list ap;                                                       \
                                                                              \
            va_start(ap, flags);                                              \
            mode = va_arg(ap, mode_t);                                        \
            va_end(ap);                                                       \
        }                                                                     \
    } while (0)


SBX_HOOK_EXPORT int
open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);

    return look_fd(__open(path, flags, mode));
}


SBX_HOOK_EXPORT int
open64(const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);

    return look_fd(__open64(path, flags, mode));
}


SBX_HOOK_EXPORT int
dup(int fd)
{
    return look_fd((int) syscall(SYS_dup, fd));
}


SBX_HOOK_EXPORT int
pipe2(int fds[2], int flags)
{
    return look_pair((int) syscall(SYS_pipe2, fds, flags), fds);
}


SBX_HOOK_EXPORT int
socketpair(int domain, int type, int protocol, int fds[2])
{
    return look_pair((int) syscall(SYS_socketpair, domain, type, protocol,
                                   fds), fds);
}
