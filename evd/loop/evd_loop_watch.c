/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors and timers. The loop keeps lists of the active ones, for the two places that work
 * without the base: a wait on the loop's thread, and the move to another base.
 */
#include "evd/loop/evd_loop_private.h"

#include "base/base_clock.h"

#include <event2/event.h>

/*
 * libevent computes with a time that it read before, so a timer may expire early. A timer that is
 * early by more than this is started again.
 */
#define LOOP_EARLY_NS BASE_NS_PER_MS

/* ---------------------------------------------------------------- descriptors */

static void loop_io_ready(evutil_socket_t fd, short what, void *argument)
{
    struct evd_io *io = argument;
    struct evd_loop *loop = io->loop;
    unsigned events = 0;

    (void)fd;
    if (what & EV_READ)
        events |= EVD_IO_READ;
    if (what & EV_WRITE)
        events |= EVD_IO_WRITE;
    if (what & EV_CLOSED)
        events |= EVD_IO_CLOSED;
    loop_enter(loop);
    io->ready(io->argument, events); /* the watch may be gone after this */
    loop_leave(loop);
}

static bool loop_io_add(struct evd_io *io, struct event_base *base)
{
    short what = EV_PERSIST;

    if (io->events & EVD_IO_READ)
        what |= EV_READ;
    if (io->events & EVD_IO_WRITE)
        what |= EV_WRITE;
    if (io->events & EVD_IO_CLOSED)
        what |= EV_CLOSED;
    return event_assign(&io->event, base, io->fd, what, loop_io_ready, io) == 0 &&
           event_add(&io->event, NULL) == 0;
}

bool evd_io_watch(struct evd_io *io, struct evd_loop *loop, int fd, unsigned events,
                  void (*ready)(void *argument, unsigned events), void *argument)
{
    evd_io_unwatch(io);
    io->loop = loop;
    io->fd = fd;
    io->events = events;
    io->ready = ready;
    io->argument = argument;
    if (!loop_thread_reserve(&loop_here, 1) || !loop_io_add(io, loop->base))
        return false;
    io->active = true;
    base_list_prepend(&loop->ios, &io->link);
    loop->io_count++;
    loop_here.descriptors++;
    return true;
}

void loop_io_forget(struct evd_io *io)
{
    if (io->found == 0)
        return;
    io->found = 0;
    base_list_remove(&io->loop->ready, &io->ready_link);
}

void evd_io_unwatch(struct evd_io *io)
{
    struct evd_loop *loop = io->loop;

    if (!io->active)
        return;
    io->active = false;
    (void)event_del(&io->event); /* cannot fail: the event was added */
    loop_io_forget(io);
    base_list_remove(&loop->ios, &io->link);
    loop->io_count--;
    loop_here.descriptors--;
}

/* ---------------------------------------------------------------- timers */

static void loop_timer_expired(evutil_socket_t fd, short what, void *argument);

static bool loop_timer_add(struct evd_timer *timer, struct event_base *base)
{
    uint64_t now = base_now_ns();
    uint64_t delay_ns = timer->deadline_ns > now ? timer->deadline_ns - now : 0;
    struct timeval delay = {
        .tv_sec = (time_t)(delay_ns / BASE_NS_PER_S),
        /* Rounded up: a timer may be late, not early. The sum stays below one second... */
        .tv_usec = (suseconds_t)((delay_ns % BASE_NS_PER_S + BASE_NS_PER_US - 1) / BASE_NS_PER_US),
    };

    /* ...or is exactly one second, which is no valid tv_usec. */
    if (delay.tv_usec == 1000000) {
        delay.tv_sec++;
        delay.tv_usec = 0;
    }
    return event_assign(&timer->event, base, -1, 0, loop_timer_expired, timer) == 0 &&
           event_add(&timer->event, &delay) == 0;
}

void loop_timer_fire(struct evd_timer *timer)
{
    struct evd_loop *loop = timer->loop;

    evd_timer_stop(timer);
    loop_enter(loop);
    timer->expired(timer->argument); /* the timer may run again, or be gone, after this */
    loop_leave(loop);
}

static void loop_timer_expired(evutil_socket_t fd, short what, void *argument)
{
    struct evd_timer *timer = argument;

    (void)fd;
    (void)what;
    if (base_now_ns() + LOOP_EARLY_NS < timer->deadline_ns &&
        loop_timer_add(timer, timer->loop->base))
        return;
    loop_timer_fire(timer);
}

bool evd_timer_start(struct evd_timer *timer, struct evd_loop *loop, uint64_t delay_ns,
                     void (*expired)(void *argument), void *argument)
{
    evd_timer_stop(timer);
    timer->loop = loop;
    timer->expired = expired;
    timer->argument = argument;
    timer->deadline_ns = base_deadline_ns(base_now_ns(), delay_ns);
    if (!loop_timer_add(timer, loop->base))
        return false;
    timer->active = true;
    base_list_prepend(&loop->timers, &timer->link);
    return true;
}

void evd_timer_stop(struct evd_timer *timer)
{
    if (!timer->active)
        return;
    timer->active = false;
    (void)event_del(&timer->event); /* cannot fail: the event was added */
    base_list_remove(&timer->loop->timers, &timer->link);
}

/* ---------------------------------------------------------------- another base */

/* On failure the descriptor returns to the old base, which needs no memory for it. */
static bool loop_move_io(struct evd_io *io, struct event_base *base)
{
    (void)event_del(&io->event);
    if (loop_io_add(io, base))
        return true;
    (void)loop_io_add(io, io->loop->base);
    return false;
}

static bool loop_move_timer(struct evd_timer *timer, struct event_base *base)
{
    (void)event_del(&timer->event);
    if (loop_timer_add(timer, base))
        return true;
    (void)loop_timer_add(timer, timer->loop->base);
    return false;
}

/* Returns the entries before io and timer to the old base; all if both are NULL. */
static void loop_move_back(struct evd_loop *loop, const struct evd_io *io,
                           const struct evd_timer *timer)
{
    BASE_LIST_EACH(struct evd_io, moved, &loop->ios, link) {
        if (moved == io)
            return; /* no timer has moved yet */
        (void)loop_move_io(moved, loop->base);
    }
    BASE_LIST_EACH(struct evd_timer, moved, &loop->timers, link) {
        if (moved == timer)
            return;
        (void)loop_move_timer(moved, loop->base);
    }
}

bool loop_move_watches(struct evd_loop *loop, struct event_base *base)
{
    BASE_LIST_EACH(struct evd_io, io, &loop->ios, link) {
        if (!loop_move_io(io, base)) {
            loop_move_back(loop, io, NULL);
            return false;
        }
    }
    BASE_LIST_EACH(struct evd_timer, timer, &loop->timers, link) {
        if (!loop_move_timer(timer, base)) {
            loop_move_back(loop, NULL, timer);
            return false;
        }
    }
    return true;
}
