/*
 * driver.c: runs one program under the preload hook and reports its page.
 *
 *     driver [--mode count|kill|soft] [--limit BYTES] [--alloc-limit BYTES]
 *            [--no-page] --hook LIBRARY --report FILE -- PROGRAM ARG…
 *
 * Stands where supervisor and slot init stand: makes the page, gives it to the
 * program as a descriptor, is pid 1 of its pid namespace (the hook signals pid
 * 1: without a namespace of our own that would be the machine's), counts the
 * SIGUSR1, and writes what the page and the wait status say, as JSON.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sbx_page.h"


typedef struct {
    const char *hook;
    const char *report;
    int mode;
    int no_page;
    int64_t limit;
    int64_t alloc_limit;
    char **program;
} options_t;


static sbx_page_t *page;
static int page_fd;
static volatile sig_atomic_t signals;


static void
die(const char *what)
{
    perror(what);
    _exit(99);
}


static void
count_signal(int sig)
{
    (void) sig;
    signals++;
}


static void
write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t) strlen(text)) {
        die(path);
    }

    close(fd);
}


static void
enter_namespaces(void)
{
    char map[64];
    unsigned uid = getuid(), gid = getgid();

    if (unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) {
        return;
    }

    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) {
        die("unshare");
    }

    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof(map), "%u %u 1", uid, uid);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof(map), "%u %u 1", gid, gid);
    write_file("/proc/self/gid_map", map);
}


static void
make_page(const options_t *options)
{
    struct rlimit files;

    page_fd = memfd_create("sbx-page", 0);

    if (page_fd < 0 || ftruncate(page_fd, SBX_PAGE_SIZE) != 0) {
        die("page");
    }

    page = mmap(NULL, SBX_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                page_fd, 0);

    if (page == MAP_FAILED) {
        die("mmap");
    }

    page->magic = SBX_PAGE_MAGIC;
    page->mode = (uint32_t) options->mode;
    page->limit = options->limit;
    page->alloc_limit = options->alloc_limit;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        page->files_limit = (uint32_t) files.rlim_cur;
    }
}


static void
report(const options_t *options, int status, uint64_t end_ns)
{
    FILE *f = fopen(options->report, "w");

    if (f == NULL) {
        die(options->report);
    }

    fprintf(f, "{\"exit\":%d,\"signal\":%d,\"sigusr1\":%d,\"loaded\":%" PRIu32
            ",\"event\":%" PRIu32 ",\"live\":%" PRId64 ",\"peak\":%" PRId64
            ",\"requested\":%" PRId64 ",\"live_at_event\":%" PRId64
            ",\"refusals\":%" PRIu64 ",\"event_ns\":%" PRIu64,
            WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0, (int) signals,
            page->loaded, page->event, page->live, page->peak,
            page->requested, page->live_at_event, page->refusals,
            page->event_ns);

    fprintf(f, ",\"fault_address\":%" PRIu64 ",\"fault_sp\":%" PRIu64
            ",\"fault_ip\":%" PRIu64 ",\"fault_error\":%" PRIu64
            ",\"region_lo\":%" PRIu64 ",\"region_hi\":%" PRIu64
            ",\"owner\":%" PRIu32 ",\"files_refused\":%" PRIu32
            ",\"files_peak\":%" PRIu32 ",\"threads\":%" PRIu32
            ",\"threads_peak\":%" PRIu32 ",\"largest\":%" PRId64
            ",\"end_ns\":%" PRIu64 "}\n",
            page->fault_address, page->fault_sp, page->fault_ip,
            page->fault_error, page->region_lo, page->region_hi,
            page->owner, page->files_refused, page->files_peak, page->threads,
            page->threads_peak, page->largest, end_ns);

    if (fclose(f) != 0) {
        die(options->report);
    }
}


static void
run_program(const options_t *options)
{
    char text[32];

    setenv("LD_PRELOAD", options->hook, 1);

    if (!options->no_page) {
        snprintf(text, sizeof(text), "%d", page_fd);
        setenv(SBX_PAGE_ENV, text, 1);
    }

    execv(options->program[0], options->program);
    die(options->program[0]);
}


/* Pid 1: reaps everything, ends when the program has ended. */
static void
run_init(const options_t *options)
{
    int status;
    pid_t program, pid;
    struct timespec now;
    struct sigaction act = { .sa_handler = count_signal,
                             .sa_flags = SA_RESTART };

    /* a test that gives up on the driver ends the namespace with it */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0
        || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("proc", "/proc", "proc", 0, NULL) != 0)
    {
        die("mount");
    }

    sigaction(SIGUSR1, &act, NULL);

    program = fork();

    if (program == 0) {
        run_program(options);
    }

    do {
        pid = waitpid(-1, &status, 0);
    } while (pid != program && (pid > 0 || errno == EINTR));

    clock_gettime(CLOCK_MONOTONIC, &now);
    report(options, status, (uint64_t) now.tv_sec * 1000000000u
                            + (uint64_t) now.tv_nsec);
    _exit(0);
}


static void
parse_options(options_t *options, int argc, char **argv)
{
    int c;
    static const char *const modes[] = { "count", "kill", "soft" };
    static const struct option names[] = {
        { "mode", required_argument, NULL, 'm' },
        { "limit", required_argument, NULL, 'l' },
        { "alloc-limit", required_argument, NULL, 'a' },
        { "no-page", no_argument, NULL, 'n' },
        { "hook", required_argument, NULL, 'h' },
        { "report", required_argument, NULL, 'r' },
        { NULL, 0, NULL, 0 }
    };

    options->limit = INT64_MAX;
    options->alloc_limit = INT64_MAX;

    while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        switch (c) {
        case 'm':
            while (options->mode < 3
                   && strcmp(optarg, modes[options->mode]) != 0)
            {
                options->mode++;
            }
            break;
        case 'l':
            options->limit = strtoll(optarg, NULL, 10);
            break;
        case 'a':
            options->alloc_limit = strtoll(optarg, NULL, 10);
            break;
        case 'n':
            options->no_page = 1;
            break;
        case 'h':
            options->hook = optarg;
            break;
        case 'r':
            options->report = optarg;
            break;
        default:
            exit(2);
        }
    }

    options->program = argv + optind;

    if (options->hook == NULL || options->report == NULL
        || options->program[0] == NULL || options->mode == 3)
    {
        fprintf(stderr, "usage: see driver.c\n");
        exit(2);
    }
}


int
main(int argc, char **argv)
{
    int status;
    pid_t init;
    options_t options = { .mode = SBX_HOOK_COUNT };

    parse_options(&options, argc, argv);
    make_page(&options);
    enter_namespaces();

    init = fork();

    if (init < 0) {
        die("fork");
    }

    if (init == 0) {
        run_init(&options);
    }

    if (waitpid(init, &status, 0) != init || !WIFEXITED(status)) {
        die("init");
    }

    return WEXITSTATUS(status);
}
