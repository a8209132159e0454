/*
 * sbx_loop.h: the supervisor's one loop: epoll events and timers.
 *
 * Handlers may remove any event or timer, their own or another's, at any time:
 * events of the current batch that belong to a removed one are dropped.  The
 * storage is the caller's.  Runs in: supervisor.
 */

#ifndef SBX_LOOP_H
#define SBX_LOOP_H

#include <stdint.h>

#include "sbx_types.h"

typedef struct sbx_event_s sbx_event_t;
typedef struct sbx_timer_s sbx_timer_t;

struct sbx_event_s {
    void (*handler)(sbx_event_t *ev, uint32_t events);
    void *data;
    int fd;
    uint32_t mask;          /* 0: not in the set */
};

struct sbx_timer_s {
    void (*handler)(sbx_timer_t *timer);
    void *data;
    uint64_t at_ns;         /* CLOCK_MONOTONIC */
    size_t index;           /* in the heap, from 1; 0: not armed */
};

/* Returns 0 or -1 with errno. */
int sbx_loop_init(void);

/* Adds the event to the set, or changes its mask (EPOLLIN, EPOLLOUT). */
int sbx_event_set(sbx_event_t *ev, int fd, uint32_t mask);

/* Takes it out; the descriptor stays the caller's.  Harmless when not in. */
void sbx_event_clear(sbx_event_t *ev);

/* Arms or moves a timer.  -1 without memory for the heap. */
int sbx_timer_set(sbx_timer_t *timer, uint64_t at_ns);
void sbx_timer_clear(sbx_timer_t *timer);

/* Waits for and handles one batch of events and all timers that are due. */
int sbx_loop_once(void);

/* CLOCK_MONOTONIC, read now. */
uint64_t sbx_now_ns(void);

#endif
