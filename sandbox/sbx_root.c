/*
 * sbx_root.c: builds the bare root of every run, once.
 *
 * Runs in the supervisor, in the cell's mount namespace, before any slot and
 * before any client's byte.  The host's tree is trusted here; what goes into
 * the root is decided by the table below and the operator's bind=.  A path is
 * placed component by component, so that the root shows the same symbolic links
 * as the host does (merged /usr, alternatives, python3 → python3.11).
 *
 * Order: everything is placed, then the whole tree becomes read-only in one
 * step, then the device nodes, which alone must do without nodev, come on top.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_mount.h"
#include "sbx_root.h"
#include "sbx_slot.h"
#include "sbx_sysfile.h"

#define PLACED_MAX      128
#define LINKS_MAX       40              /* as the kernel's own limit */
#define COPY_MAX        (4 << 20)
#define ROOT_OPTIONS    "mode=0755,size=32m,nr_inodes=4096"

typedef enum {
    PLACE_BIND,         /* directory or file, seen through */
    PLACE_COPY,         /* small file: one mount less in every slot */
    PLACE_LINK          /* only where the host has a symbolic link */
} place_t;

typedef struct {
    const char *path;   /* glob(7) */
    place_t how;
} item_t;

typedef struct {
    const char *dir;                /* the root's mount point */
    char *placed[PLACED_MAX];       /* host paths seen through binds */
    size_t nplaced;
} builder_t;

static int place(builder_t *b, const char *path, place_t how, int links,
    sbx_err_t *err);


/* What the interpreters need; absent ones are skipped. */
static const item_t items[] = {
    { "/usr/lib", PLACE_BIND },
    { "/usr/lib64", PLACE_BIND },
    { "/lib", PLACE_BIND },
    { "/lib64", PLACE_BIND },
    { "/usr/local/lib", PLACE_BIND },
    { "/bin", PLACE_LINK },
    { "/usr/bin/python3", PLACE_BIND },
    { "/usr/bin/node", PLACE_BIND },
    { "/usr/bin/nodejs", PLACE_BIND },
    { "/usr/share/zoneinfo", PLACE_BIND },
    { "/usr/share/nodejs", PLACE_BIND },
    { "/usr/share/node_modules", PLACE_BIND },
    { "/usr/share/javascript", PLACE_BIND },
    { "/usr/share/python3", PLACE_BIND },
    { "/usr/share/perl", PLACE_BIND },
    { "/usr/share/perl5", PLACE_BIND },
    { "/usr/share/ca-certificates", PLACE_BIND },
    { "/etc/ssl/certs", PLACE_BIND },
    { "/etc/ssl/openssl.cnf", PLACE_COPY },
    { "/etc/alternatives", PLACE_BIND },
    { "/etc/python3*", PLACE_BIND },
    { "/etc/ld.so.cache", PLACE_COPY },
    { "/etc/localtime", PLACE_COPY },
    { "/etc/timezone", PLACE_COPY },
    { "/etc/mime.types", PLACE_COPY }
};

/* Names for the ids inside, and nothing of the host's users. */
static const struct {
    const char *path, *text;
} files[] = {
    { "/etc/passwd",
      "root:x:0:0:root:/tmp:/usr/sbin/nologin\n"
      "sandbox:x:1000:1000:sandbox:/tmp:/usr/sbin/nologin\n"
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" },
    { "/etc/group",
      "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n" }
};

static const char *const directories[] = {
    "/dev", "/dev/shm", "/etc", "/proc", "/run", "/run/sbx", "/tmp", "/usr",
    "/usr/bin"
};

static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"
};

static const struct {
    const char *path, *target;
} links[] = {
    { "/dev/fd", "/proc/self/fd" },
    { "/dev/stdin", "/proc/self/fd/0" },
    { "/dev/stdout", "/proc/self/fd/1" },
    { "/dev/stderr", "/proc/self/fd/2" }
};

/* Every run has its own of these, so a bind below would never be seen. */
static const char *const own[] = {
    "/dev", "/proc", "/run/sbx", "/sys", "/tmp"
};

/*
 * Where the root is mounted.  The directory vanishes from the supervisor's view
 * only, so it must be one that holds neither programs nor sockets nor logs, and
 * that exists on every host, in containers too; all below /proc are out, since a
 * covered /proc forbids mounting another one in a user namespace.
 */
static const char *const places[] = {
    "/sys/kernel", "/boot", "/media", "/srv", "/mnt"
};

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


static int
is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0
           && (path[len] == '\0' || path[len] == '/');
}


static int
inside(const builder_t *b, const char *path, char *full, sbx_err_t *err)
{
    if (snprintf(full, PATH_MAX, "%s%s", b->dir, path) >= PATH_MAX) {
        return sbx_fail(err, SBX_STEP_ROOT, ENAMETOOLONG, "%s", path);
    }

    return 0;
}


static int
make_directory(const builder_t *b, const char *path, sbx_err_t *err)
{
    char full[PATH_MAX];

    if (inside(b, path, full, err) < 0) {
        return -1;
    }

    if (mkdir(full, 0755) < 0 && errno != EEXIST) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "mkdir %s in the root", path);
    }

    return 0;
}


static int
make_link(const builder_t *b, const char *path, const char *target,
    sbx_err_t *err)
{
    char full[PATH_MAX];

    if (inside(b, path, full, err) < 0) {
        return -1;
    }

    if (symlink(target, full) < 0 && errno != EEXIST) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "link %s in the root", path);
    }

    return 0;
}


/* An empty regular file, to bind on or to fill; open for writing. */
static int
make_file(const builder_t *b, const char *path, mode_t mode, sbx_err_t *err)
{
    int fd;
    char full[PATH_MAX];

    if (inside(b, path, full, err) < 0) {
        return -1;
    }

    fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "create %s in the root",
                        path);
    }

    return fd;
}


static int
write_all(int fd, const char *data, size_t len)
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


/* from: the host's path; to: the path in the root. */
static int
copy_file(const builder_t *b, const char *from, const char *to, mode_t mode,
    sbx_err_t *err)
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

    out = make_file(b, to, mode, err);
    if (out < 0) {
        return -1;
    }

    while ((n = read(in, buf, sizeof(buf))) > 0) {
        total += (size_t) n;

        if (total > COPY_MAX) {
            return sbx_fail(err, SBX_STEP_ROOT, EFBIG, "copy %s", from);
        }

        if (write_all(out, buf, (size_t) n) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "copy %s", from);
        }
    }

    if (n < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "read %s", from);
    }

    return 0;
}


static int
is_placed(const builder_t *b, const char *path)
{
    size_t i;

    for (i = 0; i < b->nplaced; i++) {
        if (is_below(path, b->placed[i])) {
            return 1;
        }
    }

    return 0;
}


static int
bind_path(builder_t *b, const char *path, int directory, sbx_err_t *err)
{
    int fd;
    char full[PATH_MAX];

    if (b->nplaced == PLACED_MAX) {
        return sbx_fail(err, SBX_STEP_ROOT, 0, "bind %s: more than %d paths",
                        path, PLACED_MAX);
    }

    if (directory) {
        if (make_directory(b, path, err) < 0) {
            return -1;
        }

    } else {
        fd = make_file(b, path, 0644, err);
        if (fd < 0) {
            return -1;
        }
        sbx_fd_close(&fd);
    }

    if (inside(b, path, full, err) < 0) {
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
place_link(builder_t *b, const char *at, const char *rest, place_t how,
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

    if (!is_placed(b, at) && make_link(b, at, target, err) < 0) {
        return -1;
    }

    if (how == PLACE_LINK) {
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
place_end(builder_t *b, const char *path, mode_t mode, place_t how,
    sbx_err_t *err)
{
    if (is_placed(b, path) || how == PLACE_LINK) {
        return 0;
    }

    if (how == PLACE_COPY && S_ISREG(mode)) {
        return copy_file(b, path, path, 0644, err);
    }

    if (!S_ISDIR(mode) && !S_ISREG(mode)) {
        return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                        "bind %s: neither a directory nor a file", path);
    }

    return bind_path(b, path, S_ISDIR(mode), err);
}


static int
place(builder_t *b, const char *path, place_t how, int links, sbx_err_t *err)
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
            && make_directory(b, at, err) < 0)
        {
            return -1;
        }
    }
}


static int
place_item(builder_t *b, const item_t *item, sbx_err_t *err)
{
    int rc = 0;
    size_t i;
    glob_t found;
    struct stat st;

    if (glob(item->path, GLOB_NOSORT, NULL, &found) != 0) {
        globfree(&found);
        return 0;               /* this host does without */
    }

    for (i = 0; i < found.gl_pathc && rc == 0; i++) {

        if (stat(found.gl_pathv[i], &st) < 0) {
            continue;           /* a dangling link is as good as none */
        }

        if (access(found.gl_pathv[i], R_OK) < 0) {
            continue;           /* not for us, so not for a run */
        }

        rc = place(b, found.gl_pathv[i], item->how, 0, err);
    }

    globfree(&found);

    return rc;
}


static int
place_bind(builder_t *b, const char *path, sbx_err_t *err)
{
    size_t i;

    if (path[0] != '/' || path[strspn(path, "/")] == '\0') {
        return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                        "bind \"%s\": not an absolute path below /", path);
    }

    for (i = 0; i < COUNT(own); i++) {
        if (is_below(path, own[i])) {
            return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                            "bind %s: every run has a %s of its own", path,
                            own[i]);
        }
    }

    return place(b, path, PLACE_BIND, 0, err);
}


static int
fill_root(builder_t *b, const char *const *binds, const char *preload,
    sbx_err_t *err)
{
    int fd;
    size_t i;

    for (i = 0; i < COUNT(directories); i++) {
        if (make_directory(b, directories[i], err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(items); i++) {
        if (place_item(b, &items[i], err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(files); i++) {
        fd = make_file(b, files[i].path, 0644, err);
        if (fd < 0) {
            return -1;
        }

        if (write_all(fd, files[i].text, strlen(files[i].text)) < 0) {
            sbx_fd_close(&fd);
            return sbx_fail(err, SBX_STEP_ROOT, errno, "write %s",
                            files[i].path);
        }

        sbx_fd_close(&fd);
    }

    for (i = 0; i < COUNT(links); i++) {
        if (make_link(b, links[i].path, links[i].target, err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(devices); i++) {
        fd = make_file(b, devices[i], 0666, err);
        if (fd < 0) {
            return -1;
        }
        sbx_fd_close(&fd);
    }

    for (i = 0; binds != NULL && binds[i] != NULL; i++) {
        if (place_bind(b, binds[i], err) < 0) {
            return -1;
        }
    }

    /* a copy, so that replacing the package's file changes no run in flight */
    if (preload != NULL && preload[0] != '\0') {
        return copy_file(b, preload, SBX_ROOT_PRELOAD, 0755, err);
    }

    return 0;
}


static int
bind_devices(const builder_t *b, sbx_err_t *err)
{
    size_t i;
    char full[PATH_MAX];

    for (i = 0; i < COUNT(devices); i++) {
        if (inside(b, devices[i], full, err) < 0) {
            return -1;
        }

        if (mount(devices[i], full, NULL, MS_BIND, NULL) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "bind %s", devices[i]);
        }

        /* read-only spares the node's owner and mode, not what it takes */
        if (sbx_mount_restrict(full, MS_RDONLY | MS_NOSUID | MS_NOEXEC) < 0) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "restrict %s",
                            devices[i]);
        }
    }

    return 0;
}


static int
build(builder_t *b, const char *const *binds, const char *preload,
    sbx_err_t *err)
{
    if (fill_root(b, binds, preload, err) < 0) {
        return -1;
    }

    if (sbx_mount_restrict(b->dir, MS_RDONLY | MS_NOSUID | MS_NODEV) < 0) {
        return sbx_fail(err, SBX_STEP_ROOT, errno, "make the root read-only");
    }

    return bind_devices(b, err);
}


int
sbx_root_build(sbx_root_t *root, const char *const *binds,
    const char *preload, sbx_err_t *err)
{
    int rc;
    size_t i;
    mode_t mask;
    builder_t b = { .dir = root->dir };

    root->dir[0] = '\0';

    for (i = 0; i < COUNT(places); i++) {
        if (mount("sbx-root", places[i], "tmpfs", MS_NOSUID | MS_NODEV,
                  ROOT_OPTIONS) == 0)
        {
            snprintf(root->dir, sizeof(root->dir), "%s", places[i]);
            break;
        }

        if (errno != ENOENT && errno != ENOTDIR) {
            return sbx_fail(err, SBX_STEP_ROOT, errno, "mount a tmpfs on %s",
                            places[i]);
        }
    }

    if (root->dir[0] == '\0') {
        return sbx_fail(err, SBX_STEP_ROOT, ENOENT, "no place for the root");
    }

    mask = umask(022);
    rc = build(&b, binds, preload, err);
    (void) umask(mask);

    if (rc < 0) {
        (void) umount2(root->dir, MNT_DETACH);
        root->dir[0] = '\0';
    }

    while (b.nplaced > 0) {
        free(b.placed[--b.nplaced]);
    }

    return rc;
}
