/*
 * sbx_loop.c: epoll and a binary heap of timers.  Runs in the supervisor, which
 * has exactly one loop, so its state is the file's.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "sbx_loop.h"

#define BATCH  64


static int epoll_fd = -1;
static struct epoll_event batch[BATCH];
static int batch_len, batch_pos;

static sbx_timer_t **heap;      /* heap[1 .. heap_len], least at_ns first */
static size_t heap_len, heap_cap;


int
sbx_loop_init(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);

    return epoll_fd < 0 ? -1 : 0;
}


uint64_t
sbx_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}


int
sbx_event_set(sbx_event_t *ev, int fd, uint32_t mask)
{
    int op;
    struct epoll_event ee = { .events = mask, .data.ptr = ev };

    if (ev->mask == mask && ev->fd == fd) {
        return 0;
    }

    op = ev->mask ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (epoll_ctl(epoll_fd, op, fd, &ee) < 0) {
        return -1;
    }

    ev->fd = fd;
    ev->mask = mask;

    return 0;
}


void
sbx_event_clear(sbx_event_t *ev)
{
    int i;

    if (ev->mask == 0) {
        return;
    }

    (void) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, ev->fd, NULL);
    ev->mask = 0;

    /* what this batch still holds of it must not reach a recycled object */
    for (i = batch_pos; i < batch_len; i++) {
        if (batch[i].data.ptr == ev) {
            batch[i].data.ptr = NULL;
        }
    }
}


static void
heap_place(sbx_timer_t *timer, size_t i)
{
    heap[i] = timer;
    timer->index = i;
}


static void
heap_up(sbx_timer_t *timer, size_t i)
{
    while (i > 1 && heap[i / 2]->at_ns > timer->at_ns) {
        heap_place(heap[i / 2], i);
        i /= 2;
    }

    heap_place(timer, i);
}


static void
heap_down(sbx_timer_t *timer, size_t i)
{
    size_t child;

    while ((child = 2 * i) <= heap_len) {

        if (child < heap_len && heap[child + 1]->at_ns < heap[child]->at_ns) {
            child++;
        }

        if (heap[child]->at_ns >= timer->at_ns) {
            break;
        }

        heap_place(heap[child], i);
        i = child;
    }

    heap_place(timer, i);
}


int
sbx_timer_set(sbx_timer_t *timer, uint64_t at_ns)
{
    size_t cap;
    sbx_timer_t **grown;

    sbx_timer_clear(timer);

    if (heap_len + 1 >= heap_cap) {
        cap = heap_cap ? 2 * heap_cap : 64;
        grown = realloc(heap, cap * sizeof(*heap));
        if (grown == NULL) {
            return -1;
        }
        heap = grown;
        heap_cap = cap;
    }

    timer->at_ns = at_ns;
    heap_up(timer, ++heap_len);

    return 0;
}


void
sbx_timer_clear(sbx_timer_t *timer)
{
    size_t i = timer->index;
    sbx_timer_t *last;

    if (i == 0) {
        return;
    }

    timer->index = 0;
    last = heap[heap_len--];

    if (last == timer) {
        return;
    }

    /* the last one takes the hole and moves whichever way it must */
    if (i > 1 && heap[i / 2]->at_ns > last->at_ns) {
        heap_up(last, i);

    } else {
        heap_down(last, i);
    }
}


static int
next_timeout_ms(void)
{
    uint64_t now, at;

    if (heap_len == 0) {
        return -1;
    }

    now = sbx_now_ns();
    at = heap[1]->at_ns;

    if (at <= now) {
        return 0;
    }

    /* rounded up: waking before the time would spin */
    at = (at - now + 999999) / 1000000;

    return at > 60000 ? 60000 : (int) at;
}


static void
run_timers(void)
{
    uint64_t now = sbx_now_ns();
    sbx_timer_t *timer;

    while (heap_len > 0 && heap[1]->at_ns <= now) {
        timer = heap[1];
        sbx_timer_clear(timer);
        timer->handler(timer);
    }
}


int
sbx_loop_once(void)
{
    int n;
    sbx_event_t *ev;

    n = epoll_wait(epoll_fd, batch, BATCH, next_timeout_ms());

    if (n < 0) {
        return errno == EINTR ? 0 : -1;
    }

    batch_len = n;

    for (batch_pos = 0; batch_pos < batch_len; /* void */ ) {
        ev = batch[batch_pos].data.ptr;
        batch_pos++;

        if (ev != NULL) {
            ev->handler(ev, batch[batch_pos - 1].events);
        }
    }

    batch_len = 0;
    run_timers();

    return 0;
}
