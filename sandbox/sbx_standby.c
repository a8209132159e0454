/*
 * sbx_standby.c: a child from its birth to its program.
 *
 * Runs in the child, which a zygote has just cloned: the steps, READY, a wait
 * that may last for hours, one job, its files, the program.  Talks only to the
 * supervisor, over the job channel, and no more once the program runs.
 */

#include "sbx_standby.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbx_fdmsg.h"
#include "sbx_files.h"

#define CHILD_EXIT  125


static void send_ready(const sbx_child_t *child);
static int receive_job(sbx_job_t *job, sbx_str_t **cmd, size_t *ncmd);
static int map_job(const sbx_run_t *run, int fd, const char **data,
    sbx_err_t *err);


/* Where the child reports until its program starts. */
static int job_channel = -1;


void
sbx_standby_main(const sbx_zygote_ops_t *ops, sbx_child_t *child)
{
    int mapped, rc;
    size_t ncmd;
    sbx_str_t *cmd;
    sbx_job_t job;
    sbx_err_t err;

    memset(&err, 0, sizeof(err));

    /* before all else, since it makes ready the pages that the rest uses */
    if (ops->forked != NULL) {
        ops->forked();
    }

    job_channel = child->job_fd;

    /* here, since the slot's own /proc may be empty */
    child->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    rc = sbx_child_enter(child, &err);
    job_channel = child->job_fd;

    if (rc < 0) {
        sbx_child_fail(&err);
    }

    if (ops->entered != NULL && ops->entered(&err) < 0) {
        sbx_child_fail(&err);
    }

    if ((child->fork->flags & SBX_FORK_WARM) && ops->warm != NULL
        && ops->warm(&err) < 0)
    {
        sbx_child_fail(&err);
    }

    send_ready(child);
    mapped = receive_job(&job, &cmd, &ncmd);

    if (sbx_files_write(&job, mapped, &err) < 0) {
        sbx_child_fail(&err);
    }

    /*
     * An interpreter that is here already runs the program itself: nothing but
     * 0, 1 and 2 may be left.  Before an exec the channel still has a use, and
     * the page is for the hook of the new program.
     */
    if (ncmd == 0) {
        close(SBX_CHILD_PAGE_FD);
        close(SBX_CHILD_JOB_FD);
        job_channel = -1;
    }

    ops->run(&job, cmd, ncmd);

    _exit(CHILD_EXIT);
}


void
sbx_child_fail(const sbx_err_t *err)
{
    sbx_zmsg_t msg;

    if (job_channel >= 0) {
        memset(&msg, 0, sizeof(msg));
        msg.type = SBX_ZMSG_FAILED;
        msg.err = *err;

        (void) sbx_fdmsg_send(job_channel, &msg, sizeof(msg), -1);
    }

    _exit(CHILD_EXIT);
}


static void
send_ready(const sbx_child_t *child)
{
    sbx_zmsg_t out;

    memset(&out, 0, sizeof(out));
    out.type = SBX_ZMSG_READY;
    out.tag = child->fork->tag;

    if (child->statm_fd >= 0) {
        sbx_statm_read(child->statm_fd, &out.vm_size, &out.vm_data);
        close(child->statm_fd);
    }

    if (sbx_fdmsg_send(SBX_CHILD_JOB_FD, &out, sizeof(out), -1) < 0) {
        _exit(CHILD_EXIT);
    }
}


/*
 * Waits, maybe for hours, for the one job.  The supervisor closing the channel
 * without one is the ordinary end of a child that was not needed.  Returns 1
 * when the job is mapped, 0 when it came in the message.
 */
static int
receive_job(sbx_job_t *job, sbx_str_t **cmd, size_t *ncmd)
{
    int nfds, fds[SBX_FDMSG_MAX];
    size_t len;
    ssize_t n;
    const char *data;
    sbx_err_t err;
    static struct {
        sbx_run_t run;
        char data[SBX_RUN_INLINE_MAX];
    } msg;

    memset(&err, 0, sizeof(err));

    n = sbx_fdmsg_recv(SBX_CHILD_JOB_FD, &msg, sizeof(msg), fds, &nfds);

    if (n == 0) {
        _exit(0);
    }

    if (n < (ssize_t) sizeof(msg.run)) {
        (void) sbx_fail(&err, SBX_STEP_JOB, n < 0 ? errno : 0,
                        "receive the job");
        sbx_child_fail(&err);
    }

    len = (size_t) n - sizeof(msg.run);
    data = msg.data;

    if (msg.run.inline_len != len) {
        (void) sbx_fail(&err, SBX_STEP_JOB, 0, "job: %zu bytes, not %u", len,
                        msg.run.inline_len);
        sbx_child_fail(&err);
    }

    if (msg.run.flags & SBX_RUN_MEMFD) {
        if (len != 0 || nfds != 1) {
            (void) sbx_fail(&err, SBX_STEP_JOB, 0, "job: %d descriptors and "
                            "%zu bytes", nfds, len);
            sbx_child_fail(&err);
        }

        if (map_job(&msg.run, fds[0], &data, &err) < 0) {
            sbx_child_fail(&err);
        }

        len = (size_t) msg.run.len;
    }

    while (nfds > 0) {
        close(fds[--nfds]);
    }

    if (sbx_run_unpack(job, cmd, ncmd, data, len, &err) < 0) {
        err.step = SBX_STEP_JOB;
        sbx_child_fail(&err);
    }

    return (msg.run.flags & SBX_RUN_MEMFD) != 0;
}


/* Mapped and not copied, so that it is no memory of the program's. */
static int
map_job(const sbx_run_t *run, int fd, const char **data, sbx_err_t *err)
{
    void *map;
    struct stat st;

    if (fstat(fd, &st) < 0) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "stat the job");
    }

    /* reading past its end would be a SIGBUS that looks like the program's */
    if (run->len == 0 || run->len > (uint64_t) st.st_size) {
        return sbx_fail(err, SBX_STEP_JOB, 0, "job: %llu bytes of %lld",
                        (unsigned long long) run->len, (long long) st.st_size);
    }

    map = mmap(NULL, (size_t) run->len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        return sbx_fail(err, SBX_STEP_JOB, errno, "map the job");
    }

    *data = map;

    return 0;
}


/* "size resident shared text lib data dt", in pages; no stdio after a fork. */
void
sbx_statm_read(int fd, uint64_t *size, uint64_t *data)
{
    int field = 0;
    char buf[256];
    ssize_t n, i;
    uint64_t values[7] = { 0 };
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

    n = pread(fd, buf, sizeof(buf), 0);

    for (i = 0; i < n && field < 7; i++) {
        if (buf[i] >= '0' && buf[i] <= '9') {
            values[field] = values[field] * 10 + (uint64_t) (buf[i] - '0');

        } else {
            field++;
        }
    }

    *size = values[0] * page;
    *data = values[5] * page;
}
