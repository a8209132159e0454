/*
 * sbx_cgroup.c: finding cgroups, and what v1 and v2 have in common.
 *
 * The guard sweeps; the supervisor does the rest, in the cell, where the
 * hierarchies are mounted as on the host.  A cgroup is a backstop and a witness:
 * where there is none, every function here succeeds and says so in the note.
 *
 *     own cgroup or above / deer-flow-TOKEN / slot-INDEX-SERIAL
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sbx_cgroup_kind.h"
#include "sbx_sysfile.h"

#define PROBE_LEAF  "probe"


static const sbx_cgroup_kind_ops_t *const kinds[] = {
    [SBX_CGROUP_V1] = &sbx_cgroup_v1,
    [SBX_CGROUP_V2] = &sbx_cgroup_v2
};

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


/* "ID:CONTROLLERS:PATH" of /proc/self/cgroup; v2 has ID 0 and no controllers. */
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
            || sscanf(line, "%*s %*s %*s %4095s %4095s", at_root, at_point) != 2)
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


void
sbx_cgroup_name(sbx_cgroup_t *cg)
{
    static unsigned serial;

    snprintf(cg->leaf, sizeof(cg->leaf), "slot-%d-%u", cg->index, serial++);
}


int
sbx_cgroup_make(const char *parent, const char *leaf)
{
    SBX_AUTOCLOSE int fd = -1;

    fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (mkdirat(fd, leaf, 0755) < 0 && errno != EEXIST)) {
        return -1;
    }

    return openat(fd, leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}


uint64_t
sbx_cgroup_stat(const sbx_cgroup_t *cg, int which, const char *key)
{
    char text[1024];

    if (cg->stat_fds[which] < 0
        || sbx_sysfile_reread(cg->stat_fds[which], text, sizeof(text)) < 0)
    {
        return 0;
    }

    if (key != NULL) {
        return sbx_sysfile_key(text, key);
    }

    return strtoull(text, NULL, 10);
}


uint64_t
sbx_cgroup_number(int dir_fd, const char *name)
{
    char text[32];

    if (dir_fd < 0 || sbx_sysfile_read(dir_fd, name, text, sizeof(text)) < 0) {
        return 0;
    }

    return strtoull(text, NULL, 10);
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
        return 0;               /* a container's; its guard is not ours to see */
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


/*
 * Moves a process of ours in and lets it end: rights that mkdir and open do not
 * show (v2: write access at the common ancestor) come out here, not in the
 * first run.  0, or errno.
 */
static int
probe_attach(sbx_cgroup_t *cg)
{
    int status;
    pid_t pid, got;

    pid = fork();

    if (pid < 0) {
        return errno;
    }

    if (pid == 0) {
        _exit(sbx_cgroup_attach(cg, getpid(), NULL) < 0 ? errno : 0);
    }

    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);

    return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}


static int
probe(sbx_cgroup_host_t *host)
{
    int rc;
    sbx_cgroup_t cg;
    sbx_err_t err;

    if (sbx_cgroup_open(&cg, host, 0, &err) < 0) {
        snprintf(host->note, sizeof(host->note), "%.90s (%s)", err.text,
                 strerror(err.errnum));
        return -1;
    }

    rc = probe_attach(&cg);
    sbx_cgroup_close(&cg);

    if (rc != 0) {
        snprintf(host->note, sizeof(host->note), "no process can be moved in "
                 "(%s)", strerror(rc));
        return -1;
    }

    return 0;
}


void
sbx_cgroup_host_open(sbx_cgroup_host_t *host, const char *token)
{
    int i;
    static const sbx_cgroup_kind_t order[] = { SBX_CGROUP_V2, SBX_CGROUP_V1 };

    memset(host, 0, sizeof(sbx_cgroup_host_t));
    snprintf(host->name, sizeof(host->name), SBX_CGROUP_PREFIX "%s", token);

    for (i = 0; i < (int) COUNT(order); i++) {
        host->kind = order[i];

        if (kinds[order[i]]->host_open(host) < 0) {
            continue;
        }

        if (probe(host) == 0) {
            host->note[0] = '\0';
            return;
        }

        sbx_cgroup_host_close(host);
    }

    host->kind = SBX_CGROUP_NONE;
}


void
sbx_cgroup_host_close(sbx_cgroup_host_t *host)
{
    size_t i;
    char *dirs[] = { host->memory, host->pids, host->cpu };

    for (i = 0; i < COUNT(dirs); i++) {
        if (dirs[i][0] != '\0') {
            (void) rmdir(dirs[i]);
            dirs[i][0] = '\0';
        }
    }

    host->kind = SBX_CGROUP_NONE;
}


static const sbx_cgroup_kind_ops_t *
ops_of(const sbx_cgroup_t *cg)
{
    return cg->host == NULL || cg->host->kind == SBX_CGROUP_NONE
           ? NULL : kinds[cg->host->kind];
}


int
sbx_cgroup_open(sbx_cgroup_t *cg, const sbx_cgroup_host_t *host, int index,
    sbx_err_t *err)
{
    size_t i;

    memset(cg, 0, sizeof(sbx_cgroup_t));

    cg->host = host;
    cg->index = index;
    cg->memory_fd = cg->pids_fd = cg->cpu_fd = -1;

    for (i = 0; i < SBX_CGROUP_STATS; i++) {
        cg->stat_fds[i] = -1;
    }

    if (ops_of(cg) == NULL) {
        return 0;
    }

    sbx_cgroup_name(cg);

    if (ops_of(cg)->open(cg, err) < 0) {
        sbx_cgroup_close(cg);
        return -1;
    }

    return 0;
}


void
sbx_cgroup_drop(sbx_cgroup_t *cg)
{
    size_t i;

    for (i = 0; i < SBX_CGROUP_STATS; i++) {
        sbx_fd_close(&cg->stat_fds[i]);
    }

    sbx_fd_close(&cg->memory_fd);
    sbx_fd_close(&cg->pids_fd);
    sbx_fd_close(&cg->cpu_fd);
}


void
sbx_cgroup_close(sbx_cgroup_t *cg)
{
    size_t i;
    char path[PATH_MAX];
    const char *dirs[3];

    if (ops_of(cg) == NULL) {
        return;
    }

    sbx_cgroup_drop(cg);

    dirs[0] = cg->host->memory;
    dirs[1] = cg->host->pids;
    dirs[2] = cg->host->cpu;

    for (i = 0; i < COUNT(dirs); i++) {
        if (dirs[i][0] != '\0') {
            snprintf(path, sizeof(path), "%s/%s", dirs[i], cg->leaf);
            (void) rmdir(path);     /* what is left is the sweep's */
        }
    }

    cg->host = NULL;
}


static int
limit_tasks(sbx_cgroup_t *cg, uint32_t tasks, sbx_err_t *err)
{
    char text[16] = "max";

    if (cg->pids_fd < 0 || tasks == cg->tasks_limit) {
        return 0;
    }

    if (tasks != 0) {
        snprintf(text, sizeof(text), "%u", tasks);
    }

    if (sbx_sysfile_write(cg->pids_fd, "pids.max", text) < 0) {
        return sbx_fail(err, SBX_STEP_CGROUP, errno, "write %s to %s/%s/pids.max",
                        text, cg->host->pids, cg->leaf);
    }

    cg->tasks_limit = tasks;

    return 0;
}


int
sbx_cgroup_limit(sbx_cgroup_t *cg, uint64_t memory_bytes, uint32_t tasks,
    sbx_err_t *err)
{
    if (ops_of(cg) == NULL) {
        return 0;
    }

    if (limit_tasks(cg, tasks, err) < 0) {
        return -1;
    }

    if (cg->memory_fd < 0 || memory_bytes == cg->memory_limit) {
        return 0;
    }

    if (ops_of(cg)->limit_memory(cg, memory_bytes, err) < 0) {
        return -1;
    }

    cg->memory_limit = memory_bytes;

    return 0;
}


int
sbx_cgroup_attach(sbx_cgroup_t *cg, pid_t pid, sbx_err_t *err)
{
    int fds[3];
    char text[16];
    size_t i;

    if (ops_of(cg) == NULL) {
        return 0;
    }

    fds[0] = cg->memory_fd;
    fds[1] = cg->pids_fd;
    fds[2] = cg->cpu_fd;
    snprintf(text, sizeof(text), "%d", (int) pid);

    for (i = 0; i < COUNT(fds); i++) {
        if (fds[i] >= 0
            && sbx_sysfile_write(fds[i], "cgroup.procs", text) < 0)
        {
            return sbx_fail(err, SBX_STEP_CGROUP, errno,
                            "move process %d to %s", (int) pid, cg->leaf);
        }
    }

    return 0;
}


static uint64_t
since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}


int
sbx_cgroup_read(sbx_cgroup_t *cg, sbx_cgroup_stat_t *st)
{
    memset(st, 0, sizeof(sbx_cgroup_stat_t));

    if (ops_of(cg) == NULL) {
        return 0;
    }

    ops_of(cg)->read(cg, st);

    st->memory_peak = since(st->memory_peak, cg->memory_base);
    st->memory_now = since(st->memory_now, cg->memory_base);
    st->cpu_us = since(st->cpu_us, cg->cpu_seen);
    st->pids_refused = since(st->pids_refused, cg->pids_seen);

    return 0;
}


int
sbx_cgroup_reset(sbx_cgroup_t *cg, sbx_err_t *err)
{
    return ops_of(cg) == NULL ? 0 : ops_of(cg)->reset(cg, err);
}
