/*
 * test_inside.c: what a run can see, reach and do in a slot.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand_in.h"


static int
by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}


/* Prints the names in a directory, sorted, on one line. */
static void
list(const char *path)
{
    size_t i, n = 0;
    char *names[512];
    DIR *dir = opendir(path);
    struct dirent *entry;

    if (dir == NULL) {
        printf("%s:%s\n", path, strerror(errno));
        return;
    }

    while ((entry = readdir(dir)) != NULL && n < 512) {
        if (entry->d_name[0] != '.') {
            names[n++] = strdup(entry->d_name);
        }
    }

    qsort(names, n, sizeof(names[0]), by_name);
    printf("%s:", path);

    for (i = 0; i < n; i++) {
        printf("%s%s", i ? " " : "", names[i]);
    }

    printf("\n");
    (void) closedir(dir);
}


static void
look_around(void)
{
    char host[64] = "";

    (void) gethostname(host, sizeof(host));
    printf("pid=%d ppid=%d uid=%d gid=%d host=%s\n", getpid(), getppid(),
           (int) getuid(), (int) getgid(), host);
    list("/");
    list("/dev");
    list("/tmp");
    list("/tmp/run");
    list("/dev/shm");
    list("/usr");
    list("/usr/bin");
    list("/run");
}


static void
look_at_proc(void)
{
    list("/proc");
}


static void
tried(const char *what, int failed)
{
    printf("%s:%s\n", what, failed ? strerror(errno) : "DONE");
}


static void
write_places(void)
{
    size_t i;
    static const char *const places[] = {
        "/x", "/usr/x", "/usr/lib/x", "/usr/bin/x", "/etc/x", "/dev/x",
        "/run/x", "/run/sbx/x", "/etc/passwd", "/usr/bin/python3",
        "/proc/sys/kernel/ns_last_pid", "/proc/sysrq-trigger",
        "/proc/self/oom_score_adj"
    };

    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        tried(places[i],
              open(places[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644) < 0);
    }

    tried("mkdir /x", mkdir("/x", 0755) < 0);
    tried("unlink /etc/passwd", unlink("/etc/passwd") < 0);
    tried("chmod /dev/null", chmod("/dev/null", 0777) < 0);
    tried("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) < 0);
    tried("umount /tmp", umount("/tmp") < 0);
    tried("umount /proc", umount("/proc") < 0);
    tried("mount", mount("t", "/tmp", "tmpfs", 0, NULL) < 0);
    tried("chroot", chroot("/tmp") < 0);
    tried("mknod", mknod("/tmp/null", S_IFCHR | 0666, 0x103) < 0);
    tried("sethostname", sethostname("x", 1) < 0);
}


static void
use_places(void)
{
    int fd;
    char byte;

    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    tried("null", fd < 0 || write(fd, "x", 1) != 1);
    fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    tried("urandom", fd < 0 || read(fd, &byte, 1) != 1);
    fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    tried("zero", fd < 0 || read(fd, &byte, 1) != 1);
    tried("tmp", open("/tmp/x", O_WRONLY | O_CREAT, 0644) < 0);
    tried("run", open("/tmp/run/x", O_WRONLY | O_CREAT, 0755) < 0);
    tried("shm", open("/dev/shm/x", O_WRONLY | O_CREAT, 0644) < 0);
    fd = open("/tmp/run/tool", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    tried("tool", fd < 0 || write(fd, "#!/usr/bin/python3\n", 19) != 19);
    (void) close(fd);
    execl("/tmp/run/tool", "tool", NULL);
    tried("exec", 1);
}


/* Every mount of the run, with what must not be missing among its flags. */
static void
check_mounts(void)
{
    char line[1024], point[256], flags[256];
    FILE *file = fopen("/proc/self/mountinfo", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {

        if (sscanf(line, "%*s %*s %*s %*s %255s %255s", point, flags) != 2) {
            continue;
        }

        if (strstr(flags, "nosuid") == NULL) {
            printf("SUID %s %s\n", point, flags);
        }

        if (strncmp(point, "/dev/", 5) != 0 && strstr(flags, "nodev") == NULL) {
            printf("DEV %s %s\n", point, flags);
        }

        if (strncmp(flags, "ro", 2) != 0 && strcmp(point, "/tmp") != 0
            && strcmp(point, "/dev/shm") != 0)
        {
            printf("RW %s %s\n", point, flags);
        }

        if (strncmp(flags, "ro", 2) != 0 && strstr(flags, "noexec") == NULL) {
            printf("EXEC %s %s\n", point, flags);
        }
    }

    printf("end\n");
}


static void
attack_init(void)
{
    int signo, i;
    union sigval value = { 0 };

    for (signo = 1; signo <= SIGRTMAX; signo++) {
        for (i = 0; i < 50; i++) {
            if (signo >= SIGRTMIN) {
                (void) sigqueue(1, signo, value);

            } else {
                (void) kill(1, signo);
            }
        }
    }

    tried("ptrace", ptrace(PTRACE_ATTACH, 1, NULL, NULL) < 0);
    tried("root", open("/proc/1/root/", O_RDONLY | O_CLOEXEC) < 0);
    tried("mem", open("/proc/1/mem", O_RDWR | O_CLOEXEC) < 0);
    tried("exe", open("/proc/1/exe", O_RDONLY | O_CLOEXEC) < 0);
    tried("fd", opendir("/proc/1/fd") == NULL);
    tried("cwd", open("/proc/1/cwd/", O_RDONLY | O_CLOEXEC) < 0);
    tried("environ", open("/proc/1/environ", O_RDONLY | O_CLOEXEC) < 0);
}


static void
run_python(void)
{
    execl("/usr/bin/python3", "python3", "-c",
          "import json, ssl, zoneinfo, os, pwd, time\n"
          "print(6 * 7, os.path.realpath('/proc/self').startswith('/proc/'),"
          " pwd.getpwuid(1000).pw_name, zoneinfo.ZoneInfo('UTC').key)\n",
          NULL);
    printf("exec: %s\n", strerror(errno));
}


static void
run_node(void)
{
    execl("/usr/bin/node", "node", "-e", "console.log(6 * 7, require('os')"
          ".hostname(), process.memoryUsage().rss > 0)", NULL);
    printf("exec: %s\n", strerror(errno));
}


/* 1: the line that list printed for path has no name but these. */
static int
only(const char *text, const char *path, const char *names)
{
    char head[64], name[256];
    const char *at;
    int n;

    snprintf(head, sizeof(head), "\n%s:", path);
    at = strstr(text, head);

    if (at == NULL) {
        return 0;
    }

    at += strlen(head);

    while (*at != '\n' && sscanf(at, "%255[^ \n]%n", name, &n) == 1) {
        if (strstr(names, name) == NULL) {
            return 0;
        }

        at += n;
        at += *at == ' ';
    }

    return 1;
}


static void
show_if(int bad, const outcome_t *out, const char *name)
{
    if (!ok(!bad, "%s", name)) {
        diag("%s", out->text);
    }
}


static void
test_sight(sbx_slot_t *slot)
{
    char want[128];
    outcome_t out;

    run_in(slot, look_around, &out);
    snprintf(want, sizeof(want), "pid=2 ppid=0 uid=%d gid=%d host=sandbox\n",
             (int) slot->uid, (int) slot->gid);

    show_if(strstr(out.text, want) == NULL, &out,
            "first process is 2, own ids and host name");

    show_if(!only(out.text, "/", "bin dev etc lib lib64 proc root run tmp usr"),
            &out, "/ is bare");
    show_if(!only(out.text, "/dev", "fd null random shm stderr stdin stdout "
                  "urandom zero"), &out, "/dev is bare");
    show_if(!only(out.text, "/tmp", "run") || !only(out.text, "/tmp/run", "")
            || !only(out.text, "/dev/shm", ""), &out,
            "/tmp, /tmp/run and /dev/shm are empty");
    show_if(!only(out.text, "/run", "sbx"), &out, "/run has the hook alone");
    show_if(strstr(out.text, " sh ") != NULL
            || strstr(out.text, " cat ") != NULL
            || strstr(out.text, " mount ") != NULL, &out, "no shell, no tools");

    run_in(slot, look_at_proc, &out);

    show_if(strncmp(out.text, "/proc:3 self thread-self", 24) != 0, &out,
            "/proc shows the run's own process and nothing else");
}


static void
test_walls(sbx_slot_t *slot)
{
    outcome_t out;

    run_in(slot, write_places, &out);

    show_if(strstr(out.text, "DONE") != NULL
            || strstr(out.text, "sethostname:") == NULL, &out,
            "nothing of the root can be written, moved or mounted over");

    run_in(slot, check_mounts, &out);

    show_if(strcmp(out.text, "end\n") != 0, &out,
            "all mounts nosuid, nodev, read-only but for two, noexec there");

    run_in(slot, use_places, &out);

    show_if(strcmp(out.text, "null:DONE\nurandom:DONE\nzero:DONE\ntmp:DONE\n"
                   "run:DONE\nshm:DONE\ntool:DONE\nexec:Permission denied\n")
            != 0, &out, "devices and private directories work, without "
            "execution");

    run_in(slot, attack_init, &out);

    show_if(!WIFEXITED(out.status) || strstr(out.text, "DONE") != NULL
            || strstr(out.text, "environ:") == NULL, &out,
            "signals and /proc do not reach the slot's init");
    ok(reset_slot(slot, 1 << 20, 0), "it still answers");
}


static void
test_interpreters(sbx_slot_t *slot)
{
    outcome_t out;

    if (access("/usr/bin/python3", X_OK) == 0) {
        run_in(slot, run_python, &out);

        show_if(strstr(out.text, "42 True sandbox UTC\n") == NULL, &out,
                "python3 works in the root");
    }

    if (access("/usr/bin/node", X_OK) == 0) {
        run_in(slot, run_node, &out);

        show_if(strstr(out.text, "42 sandbox true\n") == NULL, &out,
                "node works in the root");
    }

    (void) reset_slot(slot, 1 << 20, 0);
}


void
test_inside(sbx_slot_t *slots)
{
    test_sight(&slots[0]);
    test_walls(&slots[0]);
    test_interpreters(&slots[1]);
}
