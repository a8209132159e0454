/*
 * sbx_check_look.c: the checks' eyes: small readings of /proc.
 *
 * Runs in the supervisor, whose /proc shows the whole cell and nothing else.
 * Nothing here takes the word of the process looked at.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_check.h"
#include "sbx_sysfile.h"


static int
read_of(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);

    return sbx_sysfile_read(AT_FDCWD, path, text, size);
}


uint64_t
sbx_look_bytes(pid_t pid, const char *key)
{
    char text[4096];

    if (read_of(pid, "status", text, sizeof(text)) < 0) {
        return 0;
    }

    return sbx_sysfile_key(text, key) << 10;
}


pid_t
sbx_look_inner_pid(pid_t pid)
{
    char text[4096], *line, *last;

    if (read_of(pid, "status", text, sizeof(text)) < 0) {
        return 0;
    }

    line = strstr(text, "\nNSpid:");
    if (line == NULL) {
        return 0;
    }

    line[1 + strcspn(line + 1, "\n")] = '\0';
    last = strrchr(line, '\t');

    return last == NULL ? 0 : (pid_t) atoi(last + 1);
}


static uint64_t
limit_of(const char *word)
{
    return strcmp(word, "unlimited") == 0 ? UINT64_MAX
                                          : strtoull(word, NULL, 10);
}


int
sbx_look_limit(pid_t pid, const char *row, uint64_t *soft, uint64_t *hard)
{
    char text[4096], values[2][24], *line;

    if (read_of(pid, "limits", text, sizeof(text)) < 0) {
        return -1;
    }

    line = strstr(text, row);

    if (line == NULL
        || sscanf(line + strlen(row), " %23s %23s", values[0], values[1]) != 2)
    {
        return -1;
    }

    *soft = limit_of(values[0]);
    *hard = limit_of(values[1]);

    return 0;
}


/* Also where the file was replaced since, which adds " (deleted)". */
static int
is_path_of(const char *path, const char *name)
{
    const char *at = strstr(path, name);

    return at != NULL && (at[strlen(name)] == '\0'
                          || strcmp(at + strlen(name), " (deleted)") == 0);
}


/* "lo-hi r-xp offset dev inode   path" */
int
sbx_look_hook(pid_t pid, const char *library, int page_fd)
{
    int found = 0;
    FILE *maps;
    char path[4096], line[4200], rights[8];
    unsigned long long inode;
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
    maps = fopen(path, "re");

    if (maps == NULL || fstat(page_fd, &st) < 0) {
        st.st_ino = 0;
    }

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {

        if (sscanf(line, "%*s %7s %*s %*s %llu %4095[^\n]", rights, &inode,
                   path) != 3)
        {
            continue;
        }

        if (rights[2] == 'x' && is_path_of(path, library)) {
            found |= 1;
        }

        if (rights[3] == 's' && inode == st.st_ino
            && strncmp(path, "/memfd:", 7) == 0)
        {
            found |= 2;
        }
    }

    if (maps != NULL) {
        fclose(maps);
    }

    return found;
}


uint64_t
sbx_look_oom_kills(void)
{
    char text[16384];

    if (sbx_sysfile_read(AT_FDCWD, "/proc/vmstat", text, sizeof(text)) < 0) {
        return 0;
    }

    return sbx_sysfile_key(text, "oom_kill");
}


/* Which lane's pid namespace this is, and whether something may live there. */
static int
is_of_a_lane(pid_t pid, ino_t pidns)
{
    unsigned i;
    const sbx_lane_t *lane;

    for (i = 0; i < sbx_super.nlanes; i++) {
        lane = &sbx_super.lanes[i];

        if (lane->pidns == pidns) {
            return lane->slot.pid == pid || lane->state != SBX_LANE_FREE;
        }
    }

    return 0;
}


static int
is_known(pid_t pid)
{
    /* the cell's init, and us */
    return pid == 1 || pid == getpid() || sbx_zygote_is_pid(pid);
}


pid_t
sbx_look_stranger(char *name, size_t size)
{
    DIR *dir;
    pid_t pid, found = 0;
    char path[300];
    struct stat st;
    struct dirent *de;

    dir = opendir("/proc");
    if (dir == NULL) {
        return 0;
    }

    while (found == 0 && (de = readdir(dir)) != NULL) {
        pid = (pid_t) atoi(de->d_name);
        snprintf(path, sizeof(path), "%s/ns/pid", de->d_name);

        /* a zombie has left its namespaces, and has nothing left to run */
        if (pid <= 0 || is_known(pid)
            || fstatat(dirfd(dir), path, &st, 0) < 0
            || is_of_a_lane(pid, st.st_ino))
        {
            continue;
        }

        if (read_of(pid, "comm", name, size) < 0) {
            continue;           /* gone meanwhile */
        }

        name[strcspn(name, "\n")] = '\0';
        found = pid;
    }

    closedir(dir);

    return found;
}
