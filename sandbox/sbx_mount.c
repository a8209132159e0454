/*
 * sbx_mount.c: mount flags of whole trees, new kernels and old.
 *
 * Runs in: supervisor, slot init.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sbx_mount.h"

#ifndef SYS_mount_setattr
#define SYS_mount_setattr  442
#endif

#ifndef AT_RECURSIVE
#define AT_RECURSIVE  0x8000
#endif

/* struct mount_attr of linux/mount.h, which clashes with sys/mount.h */
typedef struct {
    uint64_t set, clear, propagation, userns_fd;
} attr_t;

typedef struct {
    const char *name;       /* in mountinfo */
    unsigned long flag;     /* MS_* */
    uint64_t attr;          /* MOUNT_ATTR_* */
} flag_t;

typedef struct {
    int id, parent;
    char *point, *options;
} mount_t;

#define TREE_MAX  512

typedef struct {
    const char *dir;
    unsigned long flags;
    int ids[TREE_MAX];      /* of the tree's mounts; the first is its top */
    size_t nids;
} tree_t;


static const flag_t flags_table[] = {
    { "ro", MS_RDONLY, 0x01 },
    { "nosuid", MS_NOSUID, 0x02 },
    { "nodev", MS_NODEV, 0x04 },
    { "noexec", MS_NOEXEC, 0x08 },
    { "noatime", MS_NOATIME, 0 },
    { "nodiratime", MS_NODIRATIME, 0 },
    { "relatime", MS_RELATIME, 0 }
};

#define FLAGS  (sizeof(flags_table) / sizeof(flags_table[0]))


/* Undoes the octal escapes of mountinfo, in place. */
static void
unescape(char *text)
{
    char *to = text;

    while (*text != '\0') {
        if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3'
            && text[2] >= '0' && text[2] <= '7'
            && text[3] >= '0' && text[3] <= '7')
        {
            *to++ = (char) ((text[1] - '0') << 6 | (text[2] - '0') << 3
                            | (text[3] - '0'));
            text += 4;
            continue;
        }

        *to++ = *text++;
    }

    *to = '\0';
}


static unsigned long
parse_flags(char *options)
{
    char *save, *word;
    size_t i;
    unsigned long flags = 0;

    for (word = strtok_r(options, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save))
    {
        for (i = 0; i < FLAGS; i++) {
            if (strcmp(word, flags_table[i].name) == 0) {
                flags |= flags_table[i].flag;
            }
        }
    }

    return flags;
}


/* Cuts a line of mountinfo: "id parent dev root POINT OPTIONS ...". */
static int
parse_line(char *line, mount_t *m)
{
    int i;
    char *save, *words[6];

    for (i = 0; i < 6; i++) {
        words[i] = strtok_r(i == 0 ? line : NULL, " ", &save);

        if (words[i] == NULL) {
            return 0;
        }
    }

    m->id = atoi(words[0]);
    m->parent = atoi(words[1]);
    m->point = words[4];
    m->options = words[5];
    unescape(m->point);

    return 1;
}


/*
 * Calls visit for each mount until it says non-zero; returns that, or -1 when
 * the list cannot be had.
 */
static int
each_mount(int (*visit)(mount_t *m, tree_t *tree), tree_t *tree)
{
    int rc = 0, saved;
    char *line = NULL;
    size_t size = 0;
    FILE *file;
    mount_t m;

    file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL) {
        return -1;
    }

    while (rc == 0 && getline(&line, &size, file) > 0) {
        if (parse_line(line, &m)) {
            rc = visit(&m, tree);
        }
    }

    saved = errno;
    free(line);
    (void) fclose(file);
    errno = saved;

    return rc;
}


/* The last one mounted at dir is the one a path reaches. */
static int
find_top(mount_t *m, tree_t *tree)
{
    if (strcmp(m->point, tree->dir) == 0) {
        tree->ids[0] = m->id;
        tree->nids = 1;
    }

    return 0;
}


static int
remount(mount_t *m, tree_t *tree)
{
    size_t i;

    /*
     * By ancestry, not by path: a mount that the tree covers still has a path
     * that looks like one of the tree.  Parents are listed before children.
     */
    for (i = 0; i < tree->nids; i++) {
        if (m->parent == tree->ids[i] || m->id == tree->ids[0]) {
            break;
        }
    }

    if (i == tree->nids) {
        return 0;
    }

    if (m->id != tree->ids[0]) {
        if (tree->nids == TREE_MAX) {
            errno = E2BIG;
            return -1;
        }
        tree->ids[tree->nids++] = m->id;
    }

    return mount(NULL, m->point, NULL,
                 MS_REMOUNT | MS_BIND | tree->flags | parse_flags(m->options),
                 NULL);
}


static int
remount_each(const char *dir, unsigned long flags)
{
    tree_t tree = { .dir = dir, .flags = flags };

    if (each_mount(find_top, &tree) < 0) {
        return -1;
    }

    if (tree.nids == 0) {
        errno = EINVAL;
        return -1;
    }

    return each_mount(remount, &tree);
}


int
sbx_mount_restrict(const char *dir, unsigned long flags)
{
    size_t i;
    attr_t attr = { 0 };

    for (i = 0; i < FLAGS; i++) {
        if (flags & flags_table[i].flag) {
            attr.set |= flags_table[i].attr;
        }
    }

    if (syscall(SYS_mount_setattr, AT_FDCWD, dir, AT_RECURSIVE, &attr,
                sizeof(attr)) == 0)
    {
        return 0;
    }

    /* EPERM: what a container's filter says to calls it does not know */
    if (errno != ENOSYS && errno != EPERM) {
        return -1;
    }

    return remount_each(dir, flags);
}


int
sbx_mount_program(const char *path)
{
    int fd = -1, error;
    char real[PATH_MAX];

    if (realpath(path, real) == NULL
        || mount(real, real, NULL, MS_BIND, NULL) < 0)
    {
        return -1;
    }

    if (sbx_mount_restrict(real, MS_RDONLY | MS_NOSUID | MS_NODEV) == 0) {
        fd = open(real, O_PATH | O_CLOEXEC);
    }

    error = errno;
    (void) umount2(real, MNT_DETACH);
    errno = error;

    return fd;
}
