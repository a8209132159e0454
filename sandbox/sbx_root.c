/*
 * sbx_root.c: builds the bare root of every run, once.
 *
 * Runs in the supervisor, in the cell's mount namespace, before any slot and
 * before any client's byte.  The host's tree is trusted here; what goes into
 * the root is decided by the tables below and the operator's bind=.
 *
 * Order: everything is placed, then the whole tree becomes read-only in one
 * step, then the device nodes, which alone must do without nodev, come on top.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_mount.h"
#include "sbx_root.h"
#include "sbx_root_build.h"
#include "sbx_sysfile.h"

#define ROOT_OPTIONS  "mode=0755,size=32m,nr_inodes=4096"

typedef struct {
    const char *path;   /* glob(7) */
    sbx_place_t how;
} item_t;


/* What the interpreters need; absent ones are skipped. */
static const item_t items[] = {
    { "/usr/lib", SBX_PLACE_BIND },
    { "/usr/lib64", SBX_PLACE_BIND },
    { "/lib", SBX_PLACE_BIND },
    { "/lib64", SBX_PLACE_BIND },
    { "/usr/local/lib", SBX_PLACE_BIND },
    { "/bin", SBX_PLACE_LINK },
    { "/usr/bin/python3", SBX_PLACE_BIND },
    { "/usr/bin/node", SBX_PLACE_BIND },
    { "/usr/bin/nodejs", SBX_PLACE_BIND },
    { "/usr/share/zoneinfo", SBX_PLACE_BIND },
    { "/usr/share/nodejs", SBX_PLACE_BIND },
    { "/usr/share/node_modules", SBX_PLACE_BIND },
    { "/usr/share/javascript", SBX_PLACE_BIND },
    { "/usr/share/python3", SBX_PLACE_BIND },
    { "/usr/share/perl", SBX_PLACE_BIND },
    { "/usr/share/perl5", SBX_PLACE_BIND },
    { "/usr/share/ca-certificates", SBX_PLACE_BIND },
    { "/etc/ssl/certs", SBX_PLACE_BIND },
    { "/etc/ssl/openssl.cnf", SBX_PLACE_COPY },
    { "/etc/alternatives", SBX_PLACE_BIND },
    { "/etc/python3*", SBX_PLACE_BIND },
    { "/etc/ld.so.cache", SBX_PLACE_COPY },
    { "/etc/localtime", SBX_PLACE_COPY },
    { "/etc/timezone", SBX_PLACE_COPY },
    { "/etc/mime.types", SBX_PLACE_COPY }
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
 * that exists on every host, in containers too.  All below /proc are out: a
 * covered /proc forbids mounting another one in a user namespace.
 */
static const char *const places[] = {
    "/sys/kernel", "/boot", "/media", "/srv", "/mnt"
};

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


static int
place_item(sbx_builder_t *b, const item_t *item, sbx_err_t *err)
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

        rc = sbx_root_place(b, found.gl_pathv[i], item->how, err);
    }

    globfree(&found);

    return rc;
}


static int
place_bind(sbx_builder_t *b, const char *path, sbx_err_t *err)
{
    size_t i;

    if (path[0] != '/' || path[strspn(path, "/")] == '\0') {
        return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                        "bind \"%s\": not an absolute path below /", path);
    }

    for (i = 0; i < COUNT(own); i++) {
        if (sbx_root_below(path, own[i])) {
            return sbx_fail(err, SBX_STEP_ROOT, EINVAL,
                            "bind %s: every run has a %s of its own", path,
                            own[i]);
        }
    }

    return sbx_root_place(b, path, SBX_PLACE_BIND, err);
}


static int
fill_root(sbx_builder_t *b, const char *const *binds, const char *preload,
    sbx_err_t *err)
{
    int fd;
    size_t i;

    for (i = 0; i < COUNT(directories); i++) {
        if (sbx_root_mkdir(b, directories[i], err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(items); i++) {
        if (place_item(b, &items[i], err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(files); i++) {
        fd = sbx_root_file(b, files[i].path, 0644, err);
        if (fd < 0) {
            return -1;
        }

        if (sbx_root_write(fd, files[i].text, strlen(files[i].text)) < 0) {
            sbx_fd_close(&fd);
            return sbx_fail(err, SBX_STEP_ROOT, errno, "write %s",
                            files[i].path);
        }

        sbx_fd_close(&fd);
    }

    for (i = 0; i < COUNT(links); i++) {
        if (sbx_root_link(b, links[i].path, links[i].target, err) < 0) {
            return -1;
        }
    }

    for (i = 0; i < COUNT(devices); i++) {
        fd = sbx_root_file(b, devices[i], 0666, err);
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
        return sbx_root_copy(b, preload, SBX_ROOT_PRELOAD, 0755, err);
    }

    return 0;
}


static int
bind_devices(const sbx_builder_t *b, sbx_err_t *err)
{
    size_t i;
    char full[PATH_MAX];

    for (i = 0; i < COUNT(devices); i++) {
        if (sbx_root_path(b, devices[i], full, err) < 0) {
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
build(sbx_builder_t *b, const char *const *binds, const char *preload,
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
    sbx_builder_t b = { .dir = root->dir };

    root->dir[0] = '\0';

    /*
     * Whatever the caller runs in: where the cell had to do without a mount
     * namespace, all of this would happen to the host.
     */
    if (unshare(CLONE_NEWNS) < 0
        || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    {
        return sbx_fail(err, SBX_STEP_ROOT, errno,
                        "enter a mount namespace of its own");
    }

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
