/*
 * sbx_cgroup_find.c: where our cgroups may be, and which of them are dead.
 *
 * The guard sweeps: it alone sees the host's process numbers, by which cgroups
 * are named.  The supervisor, in the cell, asks for its own place.
 */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_cgroup_kind.h"
#include "sbx_sysfile.h"


static const char *const controllers[] = { "memory", "pids", "cpuacct", NULL };

#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))


/* 1: word is one of a comma-separated list. */
static int
is_listed(const char *list, const char *word)
{
    size_t len, want = strlen(word);

    for ( ;; ) {
        len = strcspn(list, ",\n");

        if (len == want && strncmp(list, word, len) == 0) {
            return 1;
        }

        if (list[len] != ',') {
            return 0;
        }

        list += len + 1;
    }
}


/* Lines "ID:CONTROLLERS:PATH" of /proc/self/cgroup; v2 has no controllers. */
static int
find_path(const char *controller, char *path, size_t size)
{
    int rc = -1;
    char *line = NULL, *list, *at;
    size_t cap = 0;
    FILE *file;

    file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) {
        return -1;
    }

    while (rc < 0 && getline(&line, &cap, file) > 0) {
        list = strchr(line, ':');
        at = list != NULL ? strchr(list + 1, ':') : NULL;

        if (at == NULL) {
            continue;
        }

        list++;
        *at++ = '\0';
        at[strcspn(at, "\n")] = '\0';

        if (controller != NULL ? is_listed(list, controller)
                               : list[0] == '\0')
        {
            rc = (size_t) snprintf(path, size, "%s", at) < size ? 0 : -1;
        }
    }

    free(line);
    (void) fclose(file);

    return rc;
}


/*
 * "id parent dev ROOT POINT options … - TYPE source OPTIONS": ROOT is the part
 * of the hierarchy that is mounted here, in a container not the whole.
 */
static int
find_mount(const char *controller, char *root, char *point, size_t size)
{
    int rc = -1;
    char *line = NULL, *sep, type[16], options[256];
    char at_root[PATH_MAX], at_point[PATH_MAX];
    size_t cap = 0;
    FILE *file;

    file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL) {
        return -1;
    }

    while (rc < 0 && getline(&line, &cap, file) > 0) {
        sep = strstr(line, " - ");

        if (sep == NULL
            || sscanf(sep, " - %15s %*s %255s", type, options) != 2
            || sscanf(line, "%*s %*s %*s %4095s %4095s", at_root, at_point)
               != 2)
        {
            continue;
        }

        if (controller != NULL ? strcmp(type, "cgroup") != 0
                                 || !is_listed(options, controller)
                               : strcmp(type, "cgroup2") != 0)
        {
            continue;
        }

        rc = (size_t) snprintf(root, size, "%s", at_root) < size
             && (size_t) snprintf(point, size, "%s", at_point) < size ? 0 : -1;
    }

    free(line);
    (void) fclose(file);

    return rc;
}


int
sbx_cgroup_own(const char *controller, char *dir, size_t size,
    size_t *mount_len)
{
    char path[512], root[512], point[512];
    size_t len;
    const char *rest = path;

    if (find_path(controller, path, sizeof(path)) < 0
        || find_mount(controller, root, point, sizeof(root)) < 0)
    {
        return -1;
    }

    len = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(path, root, len) == 0
        && (path[len] == '/' || path[len] == '\0'))
    {
        rest = path + len;

    } else {
        rest = "";              /* outside of what is mounted: take its top */
    }

    if (strcmp(rest, "/") == 0 || strstr(rest, "..") != NULL) {
        rest = "";
    }

    *mount_len = strlen(point);

    return (size_t) snprintf(dir, size, "%s%s", point, rest) < size ? 0 : -1;
}


/* Field 22 of /proc/PID/stat; 0: no such process. */
static unsigned long long
start_time(long pid)
{
    int i;
    char path[64], text[1024], *at;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);

    if (sbx_sysfile_read(AT_FDCWD, path, text, sizeof(text)) < 0) {
        return 0;
    }

    at = strrchr(text, ')');    /* the name before may hold anything */

    for (i = 2; at != NULL && i < 22; i++) {
        at = strchr(at + 1, ' ');
    }

    return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}


static unsigned long long
pid_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}


void
sbx_cgroup_token(char *token, size_t size)
{
    snprintf(token, size, "%llu-%d-%llu", pid_namespace(), (int) getpid(),
             start_time(getpid()));
}


/* 1: a cgroup of this name has no guard any more, or is the caller's. */
static int
is_stale(const char *name)
{
    long pid;
    unsigned long long ns, started;

    if (sscanf(name, SBX_CGROUP_PREFIX "%llu-%ld-%llu", &ns, &pid, &started)
        != 3)
    {
        return 0;
    }

    if (ns != pid_namespace()) {
        return 0;               /* a container's: its guard is out of sight */
    }

    return pid == getpid() || start_time(pid) != started;
}


/* Removes a cgroup and those below.  What still runs there keeps it alive. */
static void
remove_tree(int parent_fd, const char *name)
{
    int fd;
    DIR *dir;
    struct dirent *entry;

    fd = openat(parent_fd, name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return;
    }

    dir = fdopendir(fd);

    if (dir == NULL) {
        sbx_fd_close(&fd);
        return;
    }

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            (void) unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
    }

    (void) closedir(dir);
    (void) unlinkat(parent_fd, name, AT_REMOVEDIR);
}


static void
sweep_directory(const char *path)
{
    DIR *dir;
    struct dirent *entry;

    dir = opendir(path);
    if (dir == NULL) {
        return;
    }

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_type == DT_DIR && is_stale(entry->d_name)) {
            remove_tree(dirfd(dir), entry->d_name);
        }
    }

    (void) closedir(dir);
}


void
sbx_cgroup_sweep(void)
{
    char dir[512];
    size_t i, len;

    for (i = 0; i < COUNT(controllers); i++) {
        if (sbx_cgroup_own(controllers[i], dir, sizeof(dir), &len) < 0) {
            continue;
        }

        /* v2 parents may be any ancestor, see sbx_cgroup_v2.c */
        for ( ;; ) {
            sweep_directory(dir);

            if (strlen(dir) <= len) {
                break;
            }

            *strrchr(dir, '/') = '\0';
        }
    }
}
