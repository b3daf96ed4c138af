/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop's work without its base, for a call that blocks or polls on the loop's own thread. A base
 * cannot be run from inside itself, and a program's base would run the program's handlers inside
 * the call. The base reports again what is found here; handlers cope with that.
 */
#include "evd/loop/evd_loop_private.h"

#include "base/base_clock.h"
#include "evd/loop/evd_waiter.h"

#include <errno.h>

/* Calls of evd_loop_poll inside a loop have the numbers 0 to 15, again and again. */
#define LOOP_POLLS_INSIDE 16u
#define LOOP_POLL_ENDS    0u /* returns false: the callback that polls ends */
#define LOOP_POLL_LOOKS   8u /* does a round of work */

/* ---------------------------------------------------------------- polling */

static nfds_t loop_poll_fill(struct pollfd *polls)
{
    nfds_t count = 0;

    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        polls[count++] = (struct pollfd){.fd = loop->wake_fd, .events = POLLIN};
        BASE_LIST_EACH(struct evd_io, io, &loop->ios, link)
            polls[count++] = (struct pollfd){.fd = io->fd, .events = (short)io->events};
    }
    return count;
}

static void loop_note_ready(struct evd_io *io, short revents)
{
    if (revents == 0 || io->found != 0)
        return;
    /* The handler's read or write reports an error or hang-up. */
    io->found = revents & (POLLERR | POLLHUP | POLLNVAL) ? io->events : (unsigned)revents;
    base_list_prepend(&io->loop->ready, &io->ready_link);
}

/* The lists have not changed since the array was filled: nothing ran in between. */
static void loop_poll_note(const struct pollfd *polls)
{
    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        loop->woken = (polls++)->revents != 0 || loop->woken;
        BASE_LIST_EACH(struct evd_io, io, &loop->ios, link)
            loop_note_ready(io, (polls++)->revents);
    }
}

static int loop_poll(uint64_t deadline_ns)
{
    struct pollfd *polls = loop_here.capacity ? loop_here.polls : loop_here.few;
    nfds_t count = loop_poll_fill(polls);
    struct timespec timeout = base_timespec_until(deadline_ns);
    int ready = ppoll(polls, count, deadline_ns == BASE_NEVER ? NULL : &timeout, NULL);

    if (ready > 0)
        loop_poll_note(polls);
    return ready < 0 ? errno : 0;
}

/* ---------------------------------------------------------------- handling */

/* Handles one wake-up or descriptor. Returns true if it did; the lists may then have changed. */
static bool loop_handle_one(void)
{
    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        struct evd_io *io = BASE_LIST_FIRST(&loop->ready, struct evd_io, ready_link);

        if (loop->woken) {
            loop->woken = false;
            loop_woken(loop);
            return true;
        }
        if (io) {
            unsigned found = io->found;

            loop_io_forget(io);
            loop_enter(loop);
            io->ready(io->argument, found);
            loop_leave(loop);
            return true;
        }
    }
    return false;
}

static struct evd_timer *loop_first_timer(void)
{
    struct evd_timer *first = NULL;

    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        BASE_LIST_EACH(struct evd_timer, timer, &loop->timers, link) {
            if (!first || timer->deadline_ns < first->deadline_ns)
                first = timer;
        }
    }
    return first;
}

static void loop_handle_timers(void)
{
    uint64_t now = base_now_ns();
    struct evd_timer *timer;

    while ((timer = loop_first_timer()) != NULL && timer->deadline_ns <= now)
        loop_timer_fire(timer);
}

static void loop_handle(void)
{
    while (loop_handle_one()) {
    }
    loop_handle_timers();
}

/* ---------------------------------------------------------------- for the calls */

/*
 * Handles tasks that were submitted inside a loop as a wake-up. Otherwise loop_leave would run
 * them, but only after this call has returned. Returns true if there are such tasks.
 */
static bool loop_note_tasks(void)
{
    bool found = false;

    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        if (loop->depth > 0 && loop_has_runnable(loop))
            loop->woken = true;
        found = found || loop->woken || !base_list_is_empty(&loop->ready);
    }
    return found;
}

/* Wakes loops whose tasks were left because they run code of the program. */
static void loop_end_quiet(void)
{
    loop_here.quiet = false;
    BASE_LIST_EACH(struct evd_loop, loop, &loop_here.loops, link) {
        if (loop->depth == 0 && !base_list_is_empty(&loop->pending))
            loop_arm(loop);
    }
}

static uint64_t loop_next_deadline(uint64_t deadline_ns)
{
    const struct evd_timer *timer = loop_first_timer();

    return timer && timer->deadline_ns < deadline_ns ? timer->deadline_ns : deadline_ns;
}

static int loop_turn(struct evd_waiter *waiter, uint64_t deadline_ns)
{
    int error;

    if (!evd_loop_is_here() || !evd_waiter_begin_poll(waiter, loop_first_here()->wake_fd))
        return 0;
    error = loop_poll(loop_next_deadline(deadline_ns));
    (void)evd_waiter_end_poll(waiter); /* loop_woken drains the kick like any wake-up */
    if (error == 0)
        loop_handle();
    return error == EINTR ? EINTR : 0;
}

int evd_loop_wait(struct evd_waiter *waiter, uint64_t deadline_ns)
{
    int error;

    (void)loop_note_tasks();
    loop_handle();
    do {
        error = loop_turn(waiter, deadline_ns);
        /* When other threads have adopted all loops, the caller finds out. */
    } while (error == 0 && evd_loop_is_here() && !evd_waiter_is_woken(waiter) &&
             !base_is_over(deadline_ns));
    return error;
}

void loop_serve(void)
{
    bool nested = loop_here.quiet;

    loop_here.quiet = true;
    /*
     * Handling may drain the wake-up that the caller waits for, so this function handles once and
     * returns, for the caller to look.
     */
    if (loop_note_tasks() || loop_poll(loop_next_deadline(BASE_NEVER)) == 0)
        loop_handle();
    if (!nested)
        loop_end_quiet();
}

static unsigned loop_poll_number(void)
{
    return loop_here.depth > 0 ? ++loop_here.asked % LOOP_POLLS_INSIDE : LOOP_POLL_LOOKS;
}

bool evd_loop_poll(void)
{
    unsigned number = loop_poll_number();
    int cancel;

    if (number == LOOP_POLL_ENDS)
        return false;
    if (number != LOOP_POLL_LOOKS || loop_here.quiet)
        return true;
    /* A thread cancelled in here would leave its loops quiet, and its EVD in use, for ever. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    loop_here.quiet = true;
    (void)loop_note_tasks();
    if (loop_poll(0) == 0)
        loop_handle();
    loop_end_quiet();
    (void)pthread_setcancelstate(cancel, NULL);
    return true;
}
