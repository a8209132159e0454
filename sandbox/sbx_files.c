/*
 * sbx_files.c: writes the main file and the extra files below SBX_RUN_DIR.
 *
 * Runs in the child, after the last step, as the slot's user: no path can lead
 * anywhere the program itself could not go.  Every component is still opened
 * without following links, and every file must be new, so one job's files
 * cannot overwrite each other.
 */

#include "sbx_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_FILE  (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define IN_DIR    (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)


static int write_files(const sbx_job_t *job, sbx_err_t *err);
static int write_file(sbx_str_t path, sbx_str_t data, sbx_err_t *err);
static int open_parent(char *path, char **last);
static int write_data(int fd, sbx_str_t data);
static void unmap_data(sbx_str_t *data);
static int fail_file(sbx_err_t *err, const char *path);


int
sbx_files_write(sbx_job_t *job, int mapped, sbx_err_t *err)
{
    int rc;
    size_t i;
    struct sigaction ignore, old;

    /* a file above RLIMIT_FSIZE is an error to report, no silent death */
    memset(&ignore, 0, sizeof(ignore));
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    (void) sigaction(SIGXFSZ, &ignore, &old);

    rc = write_files(job, err);

    (void) sigaction(SIGXFSZ, &old, NULL);

    for (i = 0; mapped && i < job->nfiles; i++) {
        unmap_data(&job->files[i].data);
    }

    return rc;
}


static int
write_files(const sbx_job_t *job, sbx_err_t *err)
{
    size_t i;
    const char *why;

    why = sbx_name_check(job->name);
    if (why != NULL) {
        return sbx_fail(err, SBX_STEP_JOB, 0, "main file's name: %s", why);
    }

    if (write_file(job->name, job->code, err) < 0) {
        return -1;
    }

    for (i = 0; i < job->nfiles; i++) {
        why = sbx_path_check(job->files[i].path);
        if (why != NULL) {
            return sbx_fail(err, SBX_STEP_JOB, 0, "file %zu: %s", i, why);
        }

        if (write_file(job->files[i].path, job->files[i].data, err) < 0) {
            return -1;
        }
    }

    return 0;
}


static int
write_file(sbx_str_t path, sbx_str_t data, sbx_err_t *err)
{
    int dir, fd, rc;
    char *last, buf[SBX_PATH_MAX + 1], shown[SBX_PATH_MAX + 1];

    if (path.len == 0 || path.len > SBX_PATH_MAX) {
        return sbx_fail(err, SBX_STEP_JOB, ENAMETOOLONG, "a file's path");
    }

    memcpy(buf, path.data, path.len);
    buf[path.len] = '\0';
    memcpy(shown, buf, path.len + 1);

    dir = open_parent(buf, &last);
    if (dir < 0) {
        return fail_file(err, shown);
    }

    fd = openat(dir, last, NEW_FILE, 0644);
    if (fd < 0) {
        rc = fail_file(err, shown);
        close(dir);

        return rc;
    }

    close(dir);
    rc = write_data(fd, data);

    if (rc < 0) {
        rc = fail_file(err, shown);
    }

    close(fd);

    return rc;
}


/* Makes and enters one component after the other; *last is what remains. */
static int
open_parent(char *path, char **last)
{
    int dir, next;
    char *slash;

    dir = open(".", IN_DIR);

    while (dir >= 0 && (slash = strchr(path, '/')) != NULL) {
        *slash = '\0';

        if (mkdirat(dir, path, 0755) < 0 && errno != EEXIST) {
            close(dir);
            return -1;
        }

        next = openat(dir, path, IN_DIR);
        close(dir);
        dir = next;
        path = slash + 1;
    }

    *last = path;

    return dir;
}


static int
write_data(int fd, sbx_str_t data)
{
    ssize_t n;

    while (data.len > 0) {
        n = write(fd, data.data, data.len);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }

            return -1;
        }

        data.data += n;
        data.len -= (size_t) n;
    }

    return 0;
}


/* The whole pages inside; those at the edges hold other fields as well. */
static void
unmap_data(sbx_str_t *data)
{
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t) data->data + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t) data->data + data->len) & ~(page - 1);

    if (to > from) {
        (void) munmap((void *) from, to - from);
    }

    *data = (sbx_str_t) { NULL, 0 };
}


/* Keeps errno as it found it for the message. */
static int
fail_file(sbx_err_t *err, const char *path)
{
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "write %s: the files are "
                        "larger than the disk limit", path);
    }

    return sbx_fail(err, SBX_STEP_JOB, errno, "write %s", path);
}
