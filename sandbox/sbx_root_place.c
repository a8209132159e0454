/*
 * sbx_root_place.c: placing host paths in the bare root.
 *
 * A path is placed component by component, so that the root shows the same
 * symbolic links as the host does (merged /usr, alternatives, python3 →
 * python3.11).  The host's tree is trusted here.
 *
 * Runs in: supervisor, before any slot and before any client's byte.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_root_build.h"
#include "sbx_sysfile.h"

#define LINKS_MAX  40               /* as the kernel's own limit */
#define COPY_MAX   (4 << 20)

static int place(sbx_builder_t *b, const char *path, sbx_place_t how, int links,
    sbx_err_t *err);


int
sbx_root_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0
           && (path[len] == '\0' || path[len] == '/');
}


int
sbx_root_path(const sbx_builder_t *b, const char *path, char *full,
    sbx_err_t *err)
{
    if (snprintf(full, PATH_MAX, "%s%s", b->dir, path) >= PATH_MAX) {
        return sbx_fail(err, SBX_STEP_ROOT, ENAMETOOLONG, "%s", path);
    }

    return 0;
}


int
sbx_root_mkdir(const sbx_builder_t *b, const char *path, sbx_err_t *err)
{
    char full[PATH_MAX];

    if (sbx_root_path(b, path, full, err) < 0) {
        return -1;
    }

    if (mkdir(full, 0755) < 0 && errno != EEXIST) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "mkdir %s in the root",
                        path);
    }

    return 0;
}


int
sbx_root_link(const sbx_builder_t *b, const char *path, const char *target,
    sbx_err_t *err)
{
    char full[PATH_MAX];

    if (sbx_root_path(b, path, full, err) < 0) {
        return -1;
    }

    if (symlink(target, full) < 0 && errno != EEXIST) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "link %s in the root", path);
    }

    return 0;
}


int
sbx_root_file(const sbx_builder_t *b, const char *path, mode_t mode,
    sbx_err_t *err)
{
    int fd;
    char full[PATH_MAX];

    if (sbx_root_path(b, path, full, err) < 0) {
        return -1;
    }

    fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "create %s in the root",
                        path);
    }

    return fd;
}


int
sbx_root_write(int fd, const char *data, size_t len)
{
    ssize_t n;

    while (len > 0) {
        n = write(fd, data, len);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n < 0) {
            return -1;
        }

        data += n;
        len -= (size_t) n;
    }

    return 0;
}


int
sbx_root_copy(const sbx_builder_t *b, const char *from, const char *to,
    mode_t mode, sbx_err_t *err)
{
    char buf[16384];
    size_t total = 0;
    ssize_t n;
    SBX_AUTOCLOSE int in = -1;
    SBX_AUTOCLOSE int out = -1;

    in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "open %s", from);
    }

    out = sbx_root_file(b, to, mode, err);
    if (out < 0) {
        return -1;
    }

    while ((n = read(in, buf, sizeof(buf))) > 0) {
        total += (size_t) n;

        if (total > COPY_MAX) {
            return sbx_fail(err, SBX_STEP_ROOT, EFBIG, "copy %s", from);
        }

        if (sbx_root_write(out, buf, (size_t) n) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "copy %s", from);
        }
    }

    if (n < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "read %s", from);
    }

    return 0;
}


static int
is_placed(const sbx_builder_t *b, const char *path)
{
    size_t i;

    for (i = 0; i < b->nplaced; i++) {
        if (sbx_root_below(path, b->placed[i])) {
            return 1;
        }
    }

    return 0;
}


static int
bind_path(sbx_builder_t *b, const char *path, int directory, sbx_err_t *err)
{
    int fd;
    char full[PATH_MAX];

    if (b->nplaced == SBX_PLACED_MAX) {
        return sbx_fail(err, SBX_STEP_ROOT, 0, "bind %s: more than %d paths",
                        path, SBX_PLACED_MAX);
    }

    if (directory) {
        if (sbx_root_mkdir(b, path, err) < 0) {
            return -1;
        }

    } else {
        fd = sbx_root_file(b, path, 0644, err);
        if (fd < 0) {
            return -1;
        }
        sbx_fd_close(&fd);
    }

    if (sbx_root_path(b, path, full, err) < 0) {
        return -1;
    }

    /* recursive: in a user namespace a bind may not uncover what is below */
    if (mount(path, full, NULL, MS_BIND | MS_REC, NULL) < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "bind %s", path);
    }

    b->placed[b->nplaced] = strdup(path);

    if (b->placed[b->nplaced] == NULL) {
        return sbx_fail(err, SBX_STEP_ROOT, ENOMEM, "bind %s", path);
    }

    b->nplaced++;

    return 0;
}


/* Appends one component to a path that holds no symbolic link. */
static int
step_into(char *path, const char *name, size_t len)
{
    char *slash;
    size_t at = strlen(path);

    if (len == 0 || (len == 1 && name[0] == '.')) {
        return 0;
    }

    if (len == 2 && name[0] == '.' && name[1] == '.') {
        slash = strrchr(path, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
        return 0;
    }

    if (at + 1 + len >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }

    path[at] = '/';
    memcpy(path + at + 1, name, len);
    path[at + 1 + len] = '\0';

    return 0;
}


/* at: a symbolic link of the host; rest: what follows it in the path. */
static int
place_link(sbx_builder_t *b, const char *at, const char *rest, sbx_place_t how,
    int links, sbx_err_t *err)
{
    int n;
    char target[PATH_MAX], next[PATH_MAX];
    ssize_t len;

    len = readlink(at, target, sizeof(target) - 1);

    if (len < 0 || links == LINKS_MAX) {
        return sbx_fail(err, SBX_STEP_ROOT, len < 0 ? errno : ELOOP,
                        "follow %s", at);
    }

    target[len] = '\0';

    if (!is_placed(b, at) && sbx_root_link(b, at, target, err) < 0) {
        return -1;
    }

    if (how == SBX_PLACE_LINK) {
        return 0;
    }

    if (target[0] == '/') {
        n = snprintf(next, sizeof(next), "%s/%s", target, rest);

    } else {
        n = snprintf(next, sizeof(next), "%.*s/%s/%s",
                     (int) (strrchr(at, '/') - at), at, target, rest);
    }

    if (n >= (int) sizeof(next)) {
        return sbx_fail(err, SBX_STEP_ROOT, ENAMETOOLONG, "follow %s", at);
    }

    return place(b, next, how, links + 1, err);
}


static int
place_end(sbx_builder_t *b, const char *path, mode_t mode, sbx_place_t how,
    sbx_err_t *err)
{
    if (is_placed(b, path) || how == SBX_PLACE_LINK) {
        return 0;
    }

    if (how == SBX_PLACE_COPY && S_ISREG(mode)) {
        return sbx_root_copy(b, path, path, 0644, err);
    }

    if (!S_ISDIR(mode) && !S_ISREG(mode)) {
        return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                        "bind %s: neither a directory nor a file", path);
    }

    return bind_path(b, path, S_ISDIR(mode), err);
}


static int
place(sbx_builder_t *b, const char *path, sbx_place_t how, int links,
    sbx_err_t *err)
{
    char at[PATH_MAX] = "";
    size_t len;
    const char *name = path;
    struct stat st;

    for ( ;; ) {
        name += strspn(name, "/");
        len = strcspn(name, "/");

        if (step_into(at, name, len) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "%s", path);
        }

        name += len;

        if (lstat(at[0] == '\0' ? "/" : at, &st) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "%s", path);
        }

        if (S_ISLNK(st.st_mode)) {
            return place_link(b, at, name, how, links, err);
        }

        if (name[strspn(name, "/")] == '\0') {
            return place_end(b, at, st.st_mode, how, err);
        }

        if (at[0] != '\0' && !is_placed(b, at)
            && sbx_root_mkdir(b, at, err) < 0)
        {
            return -1;
        }
    }
}


int
sbx_root_place(sbx_builder_t *b, const char *path, sbx_place_t how,
    sbx_err_t *err)
{
    return place(b, path, how, 0, err);
}
