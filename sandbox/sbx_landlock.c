/*
 * sbx_landlock.c: builds and enters the child's Landlock domain.
 *
 * Runs in the child, as the slot's user, without capabilities.  The rules hold
 * on to the slot's own mounts, so they are made per child and not once.
 */

#include "sbx_landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Missing in headers before 5.19 and 6.2. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER     (1ULL << 13)
#endif

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE  (1ULL << 14)
#endif

#define VERSION_REFER     2
#define VERSION_TRUNCATE  3

#define CHANGE_FILE  (LANDLOCK_ACCESS_FS_WRITE_FILE                            \
                      | LANDLOCK_ACCESS_FS_TRUNCATE)

#define CHANGE_TREE  (CHANGE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR              \
                      | LANDLOCK_ACCESS_FS_REMOVE_FILE                         \
                      | LANDLOCK_ACCESS_FS_MAKE_DIR                            \
                      | LANDLOCK_ACCESS_FS_MAKE_REG                            \
                      | LANDLOCK_ACCESS_FS_MAKE_SOCK                           \
                      | LANDLOCK_ACCESS_FS_MAKE_FIFO                           \
                      | LANDLOCK_ACCESS_FS_MAKE_SYM                            \
                      | LANDLOCK_ACCESS_FS_REFER)

/* What needs a rule; device nodes have none and so are refused everywhere. */
#define HANDLED  (CHANGE_TREE | LANDLOCK_ACCESS_FS_EXECUTE                     \
                  | LANDLOCK_ACCESS_FS_MAKE_CHAR                               \
                  | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

typedef struct {
    const char *path;
    uint64_t access;
} path_rule_t;

typedef struct {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
} dirent64_t;


static int add_executables(int ruleset, sbx_err_t *err);
static int add_rule(int ruleset, int dir, const char *path, uint64_t access,
    sbx_err_t *err);


/* A path that the root does not have needs no rule. */
static const path_rule_t path_rules[] = {
    { "/tmp", CHANGE_TREE },
    { "/dev/shm", CHANGE_TREE },
    { "/dev/null", CHANGE_FILE },
    { "/dev/zero", CHANGE_FILE },
    { "/dev/full", CHANGE_FILE },
    { "/dev/random", CHANGE_FILE },
    { "/dev/urandom", CHANGE_FILE }
};

static const char *const not_executable[] = { ".", "..", "tmp", "dev", "proc" };


int
sbx_landlock_version(void)
{
    long version;

    version = syscall(SYS_landlock_create_ruleset, NULL, 0,
                      LANDLOCK_CREATE_RULESET_VERSION);

    return version >= VERSION_REFER ? (int) version : 0;
}


int
sbx_landlock_apply(sbx_err_t *err)
{
    int ruleset, version, rc = -1;
    size_t i;
    uint64_t handled = HANDLED;
    struct landlock_ruleset_attr attr;

    version = sbx_landlock_version();
    if (version == 0) {
        return 0;
    }

    if (version < VERSION_TRUNCATE) {
        handled &= ~LANDLOCK_ACCESS_FS_TRUNCATE;
    }

    memset(&attr, 0, sizeof(attr));
    attr.handled_access_fs = handled;

    ruleset = (int) syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
                            0);
    if (ruleset < 0) {
        return sbx_fail(err, SBX_STEP_LANDLOCK, errno, "create a ruleset");
    }

    for (i = 0; i < sizeof(path_rules) / sizeof(path_rules[0]); i++) {
        if (add_rule(ruleset, AT_FDCWD, path_rules[i].path,
                     path_rules[i].access & handled, err)
            < 0)
        {
            goto done;
        }
    }

    if (add_executables(ruleset, err) < 0) {
        goto done;
    }

    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) {
        (void) sbx_fail(err, SBX_STEP_LANDLOCK, errno, "restrict self");
        goto done;
    }

    rc = 0;

done:

    close(ruleset);

    return rc;
}


/*
 * An operator's runtime may be bound anywhere, so the root itself is asked.
 * Links such as /bin lead to a directory that is listed as well.
 */
static int
add_executables(int ruleset, sbx_err_t *err)
{
    int root, rc = -1;
    long n, at;
    size_t i;
    char buf[2048] __attribute__((aligned(8)));
    const dirent64_t *d;

    root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        return sbx_fail(err, SBX_STEP_LANDLOCK, errno, "open /");
    }

    while ((n = syscall(SYS_getdents64, root, buf, sizeof(buf))) > 0) {
        for (at = 0; at < n; at += d->reclen) {
            d = (const dirent64_t *) (buf + at);

            for (i = 0; i < sizeof(not_executable) / sizeof(char *); i++) {
                if (strcmp(d->name, not_executable[i]) == 0) {
                    break;
                }
            }

            if (d->type != DT_DIR
                || i < sizeof(not_executable) / sizeof(char *))
            {
                continue;
            }

            if (add_rule(ruleset, root, d->name, LANDLOCK_ACCESS_FS_EXECUTE,
                         err)
                < 0)
            {
                goto done;
            }
        }
    }

    if (n < 0) {
        (void) sbx_fail(err, SBX_STEP_LANDLOCK, errno, "list /");
        goto done;
    }

    rc = 0;

done:

    close(root);

    return rc;
}


static int
add_rule(int ruleset, int dir, const char *path, uint64_t access,
    sbx_err_t *err)
{
    int rc;
    struct landlock_path_beneath_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.allowed_access = access;
    attr.parent_fd = openat(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (attr.parent_fd < 0) {
        if (errno == ENOENT) {
            return 0;
        }

        return sbx_fail(err, SBX_STEP_LANDLOCK, errno, "open %s", path);
    }

    rc = (int) syscall(SYS_landlock_add_rule, ruleset,
                       LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
    if (rc < 0) {
        rc = sbx_fail(err, SBX_STEP_LANDLOCK, errno, "add a rule for %s",
                      path);
    }

    close(attr.parent_fd);

    return rc;
}
