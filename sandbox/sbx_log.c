/*
 * sbx_log.c: lines in nginx's error-log form on stderr.
 *
 * Runs in: guard, supervisor, command.  nginx hands its error log over as
 * descriptor 2, so our lines land beside nginx's own.  One line is one write,
 * which O_APPEND keeps whole among several writers.
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sbx_log.h"


/* nginx's own bound of a line (NGX_MAX_ERROR_STR). */
#define LINE_MAX_BYTES  2048


static const char *const level_names[] = {
    "stderr", "emerg", "alert", "crit", "error", "warn", "notice", "info",
    "debug"
};

static char log_path[512];
static int log_level = SBX_LOG_NOTICE;


void
sbx_log_init(const char *path, int level)
{
    snprintf(log_path, sizeof(log_path), "%s", path == NULL ? "" : path);
    log_level = level;
}


/*
 * Never creates the file: after a rename the master makes the new one, with
 * the owner and the mode that the operator expects.
 */
void
sbx_log_reopen(void)
{
    int fd;
    struct stat now, named;

    if (log_path[0] == '\0' || stat(log_path, &named) != 0
        || fstat(STDERR_FILENO, &now) != 0
        || (now.st_dev == named.st_dev && now.st_ino == named.st_ino))
    {
        return;
    }

    fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd < 0) {
        return;
    }

    if (fd != STDERR_FILENO) {
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
}


/* How many bytes of size an snprintf that returned n has really used. */
static size_t
fitted(int n, size_t size)
{
    if (n < 0 || size == 0) {
        return 0;
    }

    return (size_t) n < size ? (size_t) n : size - 1;
}


static size_t
put_prefix(char *line, size_t size, int level)
{
    size_t len;
    struct tm tm;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);

    len = strftime(line, size, "%Y/%m/%d %H:%M:%S", &tm);

    return len + fitted(snprintf(line + len, size - len,
                                 " [%s] %d#0: deer-flow: ",
                                 level_names[level], (int) getpid()),
                        size - len);
}


void
sbx_log(int level, int errnum, const char *fmt, ...)
{
    size_t len, i, start;
    va_list args;
    const char *why;
    char line[LINE_MAX_BYTES];

    if (level > log_level || level < SBX_LOG_EMERG) {
        return;
    }

    if (level > SBX_LOG_DEBUG) {
        level = SBX_LOG_DEBUG;
    }

    /* nginx's master tells only children it knows of a rotation */
    sbx_log_reopen();

    start = put_prefix(line, sizeof(line) - 1, level);
    len = start;

    va_start(args, fmt);
    len += fitted(vsnprintf(line + len, sizeof(line) - 1 - len, fmt, args),
                  sizeof(line) - 1 - len);
    va_end(args);

    if (errnum != 0) {
        why = strerrordesc_np(errnum);
        len += fitted(snprintf(line + len, sizeof(line) - 1 - len, " (%d: %s)",
                               errnum, why == NULL ? "unknown" : why),
                      sizeof(line) - 1 - len);
    }

    /* Text from elsewhere must not be able to forge a line of its own. */

    for (i = start; i < len; i++) {
        if ((unsigned char) line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = '?';
        }
    }

    line[len++] = '\n';

    /* A log that cannot be written has nowhere to complain. */

    if (write(STDERR_FILENO, line, len) < 0) {
        return;
    }
}


void
sbx_log_err(int level, const sbx_err_t *err, const char *what)
{
    sbx_log(level, err->errnum, "%s: %s: %s", what, sbx_step_name(err->step),
            err->text);
}
