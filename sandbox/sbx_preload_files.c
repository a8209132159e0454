/*
 * sbx_preload_files.c: calls that failed because too many files are open.
 *
 * Runs where sbx_preload.c runs.  The kernel keeps no count of EMFILE, and a
 * program's descriptors are closed by the time it has ended; so the calls that
 * most programs open files with are passed on unchanged and looked at.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_preload.h"

/* glibc's own names, public since 2.2.5: points where a thread can be
 * cancelled, which a raw system call would not be. */
extern int __open(const char *path, int flags, ...);
extern int __open64(const char *path, int flags, ...);


static int
look(int rc)
{
    if (rc < 0 && errno == EMFILE) {
        __atomic_add_fetch(&sbx_hook_page->files_refused, 1, __ATOMIC_RELAXED);
    }

    return rc;
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

    return look(__open(path, flags, mode));
}


SBX_HOOK_EXPORT int
open64(const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);

    return look(__open64(path, flags, mode));
}


SBX_HOOK_EXPORT int
dup(int fd)
{
    return look((int) syscall(SYS_dup, fd));
}


SBX_HOOK_EXPORT int
pipe2(int fds[2], int flags)
{
    return look((int) syscall(SYS_pipe2, fds, flags));
}


SBX_HOOK_EXPORT int
socketpair(int domain, int type, int protocol, int fds[2])
{
    return look((int) syscall(SYS_socketpair, domain, type, protocol, fds));
}
