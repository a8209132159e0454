/*
 * stand_in.h: what the tests of this directory share: TAP lines, a stand-in for
 * zygote and child that enters a slot as the real ones do, and counting.
 */

#ifndef STAND_IN_H
#define STAND_IN_H

#include <sys/types.h>

#include "sbx_cell.h"
#include "sbx_slot.h"

#define SLOTS  3

typedef struct {
    int cgroup;             /* 0: act as on a host without */
    int userns;             /* 0: act as on a host without */
    int cgroup_v2;          /* 1: it must be v2 */
} options_t;

extern options_t options;

/* One TAP line; the format is the test's name.  Returns good. */
int ok(int good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "1..N"; returns the exit code. */
int done_testing(void);

typedef struct {
    int status;             /* wait status */
    char text[8192];        /* what the child reported */
} outcome_t;

/*
 * Runs body in a child inside the slot and reaps it.  report: descriptor 1.
 * tasks, memory: limits of the slot's cgroup, 0 none.
 */
void run_in(sbx_slot_t *slot, void (*body)(void), outcome_t *out);

/* The first half: the child exists, is in the slot, and has not begun. */
pid_t start_in(sbx_slot_t *slot, void (*body)(void), int *go_fd, int *out_fd);

/* Waits for slot init's answer as an event loop would.  1, or 0 with a diag. */
int wait_ready(sbx_slot_t *slot);
int reset_slot(sbx_slot_t *slot, uint64_t disk_bytes, int proc_empty);

/* Entries of a directory other than . and .. ; -1: cannot be read. */
int count_entries(const char *path);
int count_lines(const char *path);

/* test_inside.c: what a run can see and do */
void test_inside(sbx_slot_t *slots);
/* test_reset.c: what is left for the next run */
void test_reset(sbx_slot_t *slots);
/* test_cgroup.c */
void test_cgroup(sbx_slot_t *slot, sbx_cgroup_host_t *host);
/* test_life.c: who dies with whom; runs outside of any cell */
void test_life(void);

#endif
