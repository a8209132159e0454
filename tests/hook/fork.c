/*
 * fork.c: processes that a run forks, and a zygote's child.
 *
 *     fork count      COUNT mode, limit 0: live is exact
 *     fork kill       KILL mode, limit 64 MiB
 *     fork over       KILL mode: a forked process asks for more
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MIB         (1 << 20)
#define FORKS       200
#define DEAD        6


static sbx_page_t *other;       /* the slot's page of the zygote test */
static volatile int stop;


static int
wait_exit(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
           ? WEXITSTATUS(status) : -1;
}


/* The global keeps the compiler from leaving the block out. */
static void *volatile filled;


static void *
fill(size_t size)
{
    filled = malloc(size);

    return filled != NULL ? memset(filled, 1, size) : NULL;
}


static void
test_inherited(void)
{
    int64_t start = live(), with = 0;
    int code;
    pid_t pid;
    void *p = fill(30 * MIB);

    with = live();
    pid = fork();

    if (pid == 0) {
        free(p);

        if (live() < with) {
            _exit(1);
        }

        p = fill(20 * MIB);

        if (live() < with + 20 * MIB) {
            _exit(2);
        }

        free(p);
        _exit(live() < with || live() > with + MIB ? 3 : 0);
    }

    code = wait_exit(pid);
    check_equal(code, 0, "a forked process frees its copy: no credit");
    free(p);
    check(live() - start < MIB, "the parent's own is credited");
}


/* What sbx_child does: another page at the same address, by a raw clone. */
static void
test_zygote(void)
{
    int fd = memfd_create("slot-page", MFD_CLOEXEC);
    int64_t zygote;
    pid_t pid;
    void *volatile inherited;
    static volatile int wrong;

    if (fd < 0 || ftruncate(fd, SBX_PAGE_SIZE) != 0) {
        check(0, "memfd");
        return;
    }

    inherited = fill(5 * MIB);
    other = mmap(NULL, SBX_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                 0);
    other->magic = SBX_PAGE_MAGIC;
    zygote = live();

    pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid == 0) {
        syscall(SYS_mmap, page, (size_t) SBX_PAGE_SIZE,
                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t) 0);

        wrong |= live() != 0 ? 1 : 0;
        wrong |= page->owner != (uint32_t) getpid() ? 2 : 0;
        fill(3 * MIB);
        wrong |= live() < 3 * MIB || live() > 4 * MIB ? 4 : 0;
        free(inherited);
        wrong |= live() > -1 * MIB ? 8 : 0;
        _exit(wrong);
    }

    check_equal(wait_exit(pid), 0, "a zygote's child counts from zero");
    check_equal(other->loaded, 1, "on its own page");
    check(other->peak >= 3 * MIB, "and has its own peak");
    check_equal(live(), zygote, "the zygote's page is as it was");
    free(inherited);
}


static void *
map_and_unmap(void *unused)
{
    void *p;

    (void) unused;

    while (!stop) {
        p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect((char *) p + 4096, 4096, PROT_NONE);
        munmap(p, 3 * 4096);
    }

    return NULL;
}


/* A fork while another thread changes the table must not inherit its lock. */
static void
test_locks(void)
{
    int i, bad = 0;
    pid_t pid;
    pthread_t threads[2];

    for (i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, map_and_unmap, NULL);
    }

    for (i = 0; i < FORKS; i++) {
        pid = fork();

        if (pid == 0) {
            alarm(20);
            munmap(mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
            _exit(0);
        }

        bad += wait_exit(pid) != 0;
    }

    stop = 1;

    for (i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }

    check_equal(bad, 0, "no fork inherits a closed lock");
}


static void
test_dead(int reap)
{
    int i;
    pid_t pid;
    void *p;

    for (i = 0; i < DEAD; i++) {
        pid = fork();

        if (pid == 0) {
            fill(20 * MIB);

            /* neither a destructor nor an exit handler sees this one */
            kill(getpid(), SIGKILL);
        }

        if (reap) {
            waitpid(pid, NULL, 0);

        } else {
            siginfo_t info;

            waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT);
        }
    }

    p = fill(50 * MIB);
    check(p != NULL && page->refusals == 0,
          reap ? "what dead processes held is taken back"
               : "what zombies held is taken back");
    free(p);
}


static int
over(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        fill(100 * MIB);
        _exit(0);
    }

    wait_exit(pid);
    sleep(20);
    return 0;
}


int
main(int argc, char **argv)
{
    find_page();

    if (argc == 2 && strcmp(argv[1], "over") == 0) {
        return over();
    }

    if (argc == 2 && strcmp(argv[1], "kill") == 0) {
        test_dead(1);
        test_dead(0);

    } else {
        test_inherited();
        test_zygote();
        test_locks();
    }

    return finish();
}
