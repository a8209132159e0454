/*
 * sbx_node_command.c: how the process was started, as a program sees it.
 *
 * Runs in the Node zygote and its children.  The zygote's command line has more
 * than that of `node FILE`, and a path of the operator's; its program comes from a
 * mount that is no longer there, which /proc/self/exe shows as "/".
 */

#include "sbx_node.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_MAX  4096

static char *area;              /* the process's arguments, one after another */
static size_t area_len;
static char program[PATH_MAX];
static char script[PATH_MAX];   /* what SBX_NODE_SCRIPT stands for; "": no more */


/* libc knows where the first of them lies; the kernel, how long all are. */
void
sbx_node_note_command(void)
{
    int fd;
    ssize_t n;
    char buf[COMMAND_MAX];

    fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

    if (fd >= 0) {
        close(fd);
    }

    if (n > 1 && strcmp(buf, program_invocation_name) == 0) {
        area = program_invocation_name;
        area_len = (size_t) n;
        (void) realpath(area, program);

        for (n--; n > 0 && area[n - 1] != '\0'; n--) {
            /* the last argument */
        }

        strncpy(script, area + n, sizeof(script) - 1);
    }
}


static size_t
append(size_t at, const char *text, size_t len)
{
    if (at + len + 1 > area_len) {
        return area_len;
    }

    memcpy(area + at, text, len);
    area[at + len] = '\0';

    return at + len + 1;
}


/* The first argument stays: node's process.title is a view of it. */
void
sbx_node_show_command(const sbx_job_t *job)
{
    size_t i, at;
    static const char flag[] = "--no-warnings";

    if (area == NULL) {
        return;
    }

    at = strlen(area) + 1;
    memset(area + at, 0, area_len - at);
    at = append(at, flag, sizeof(flag) - 1);
    at = append(at, job->name.data, job->name.len);

    for (i = 0; i < job->nargs; i++) {
        at = append(at, job->args[i].data, job->args[i].len);
    }
}


/*
 * node 18 has what -r names loaded anew in a Worker that a Worker starts, where
 * the zygote's script is not: a file that is empty then, and that script once.
 */
int
open64(const char *path, int flags, ...)
{
    int fd, mode = 0;
    va_list args;
    static int (*next)(const char *, int, ...);

    if (next == NULL) {
        next = dlsym(RTLD_NEXT, "open64");
    }

    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_start(args, flags);
        mode = va_arg(args, int);
        va_end(args);
    }

    if (script[0] != '\0' && !sbx_node_in_child
        && (flags & O_ACCMODE) == O_RDONLY
        && strcmp(path, SBX_NODE_SCRIPT) == 0)
    {
        fd = next(script, flags, mode);
        script[0] = '\0';
        return fd;
    }

    return next(path, flags, mode);
}


int
open(const char *path, int flags, ...)
    __attribute__((alias("open64")));


/* node asks for its own path in each Worker again. */
ssize_t
readlink(const char *path, char *buf, size_t size)
{
    size_t len = strlen(program);
    static ssize_t (*next)(const char *, char *, size_t);

    if (next == NULL) {
        next = dlsym(RTLD_NEXT, "readlink");
    }

    if (len > 0 && len <= size && strcmp(path, "/proc/self/exe") == 0) {
        memcpy(buf, program, len);
        return (ssize_t) len;
    }

    return next(path, buf, size);
}
