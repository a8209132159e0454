/*
 * stand.h: a stand-in for the supervisor: slots, zygotes, runs, notifications.
 *
 * Only as much of a supervisor as it takes to put real children on a real
 * kernel; what is under test is on the other side of the sockets.
 */

#ifndef STAND_H
#define STAND_H

#include <stddef.h>
#include <sys/types.h>

#include "sbx_zygote.h"

#define OUT_MAX  65536

typedef struct {
    pid_t pid;
    int pidfd;
    int ns_flags;
    uid_t uid;
    gid_t gid;
} slot_t;

/* What a container's own filter may do to a zygote before it starts. */
typedef enum {
    OUTER_NONE = 0,
    OUTER_LISTENER,         /* has the chain's only listener */
    OUTER_NO_CLONE3,        /* these answer ENOSYS */
    OUTER_NO_CLOSE_RANGE,
    OUTER_NO_LANDLOCK,
    OUTER_NO_KILLABLE       /* the flag answers EINVAL, as before 5.19 */
} outer_t;

typedef struct {
    pid_t pid;
    int ctl_fd;
    int listener_fd;        /* -1: none */
    int page_fd;            /* the zygote's own hook page */
    sbx_zmsg_t hello;
} zyg_t;

typedef struct {
    const char *const *cmd; /* NULL: python3 */
    const char *name;       /* NULL: main.py */
    const char *code;
    const char *const *args;
    const char *const *env;
    const char *file_path;  /* one extra file */
    const char *file_data;
    size_t file_len;
    const char *input;
    uint32_t flags;         /* of FORK */
    int prod;               /* a signal to send while its end is held up */
    int unheard;            /* killed before the notification is received */
} program_t;

typedef struct {
    sbx_err_t failed;       /* step NONE: none */
    int ready;
    uint64_t vm_size;
    int status;             /* of wait */
    char out[OUT_MAX], err[OUT_MAX];
    size_t out_len, err_len;
    char named[16][32];     /* calls the kernel named */
    unsigned nnamed;
    unsigned ends;          /* times that its exit_group was notified */
    int unheard;            /* errno of a notification that was gone */
    int timed_out;
    double fork_us, run_us; /* FORK to READY, job to reaped */
} result_t;

/* Unprivileged: first enters a user and a pid namespace, and returns there. */
void stand_enter(void);
int stand_privileged(void);

void stand_die(const char *what) __attribute__((noreturn));

/* A new hook page, a memfd. */
int stand_page(void);

void slot_open(slot_t *slot, size_t disk_bytes);
void slot_close(slot_t *slot);

/* fault: a step's name or NULL.  Returns 0, or -1 when HELLO did not come. */
int zyg_open(zyg_t *z, outer_t outer, const char *fault);
void zyg_close(zyg_t *z);
int zyg_count_fds(const zyg_t *z);

/* One program from FORK to the reaped child. */
void stand_run(zyg_t *z, slot_t *slot, const program_t *p, result_t *r);

/* A child that waits for its job; r as far as READY or FAILED. */
pid_t stand_fork(zyg_t *z, slot_t *slot, uint32_t flags, int *job_fd,
    result_t *r);
int stand_reap(zyg_t *z, pid_t pid);

int has_named(const result_t *r, const char *name);

#endif
