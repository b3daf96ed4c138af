/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread and the base that a loop belongs to: its own, or those of the program. */
#include "evd/loop/evd_loop_private.h"

#include "base/base_clock.h"
#include "base/base_futex.h"
#include "base/base_slice.h"
#include "base/base_thread.h"

#include <event2/event.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* libevent needs four: epoll, its timer, two signal sockets. The rest is left to other threads. */
#define LOOP_BASE_DESCRIPTORS 8
/*
 * The time slice that the loop's thread asks for. Its work for a peer fits in it, and a thread with
 * a short slice waits less for a program that computes.
 */
#define LOOP_SLICE_NS (BASE_NS_PER_MS / 10)

/* ---------------------------------------------------------------- belonging to a thread */

/* Needs room, by loop_thread_reserve. */
static void loop_thread_add(struct loop_thread *here, struct evd_loop *loop)
{
    base_list_prepend(&here->loops, &loop->link);
    here->descriptors += loop->io_count + 1;
    atomic_store_explicit(&loop->owner, here, memory_order_relaxed);
}

static void loop_thread_remove(struct loop_thread *here, struct evd_loop *loop)
{
    base_list_remove(&here->loops, &loop->link);
    here->descriptors -= loop->io_count + 1;
    loop_thread_release(here);
}

/* ---------------------------------------------------------------- rest */

void loop_rest_set(struct evd_loop *loop, enum loop_resting resting)
{
    atomic_store(&loop->resting, (uint32_t)resting);
    base_futex_wake(&loop->resting, INT_MAX);
}

void loop_rest_await_change(struct evd_loop *loop, enum loop_resting resting)
{
    while (atomic_load(&loop->resting) == (uint32_t)resting)
        base_futex_wait(&loop->resting, (uint32_t)resting);
}

/*
 * Called while the base does not run. If the loop was asked to rest, rests until it may go on, and
 * returns true.
 */
static bool loop_rest_here(struct evd_loop *loop)
{
    if (atomic_load(&loop->resting) != LOOP_REST_ASKED)
        return false;
    loop_rest_set(loop, LOOP_AT_REST);
    loop_rest_await_change(loop, LOOP_AT_REST);
    return true;
}

void *loop_main(void *argument)
{
    struct evd_loop *loop = argument;
    struct event_base *base =
        loop->base; /* this thread's, even when the loop has moved to another */

    (void)loop_thread_reserve(&loop_here, 1); /* cannot fail */
    loop_thread_add(&loop_here, loop);
    base_slice_shorten(LOOP_SLICE_NS);
    (void)pthread_setname_np(pthread_self(), loop->name); /* the name serves debuggers only */
    do
        (void)event_base_dispatch(base); /* until it is stopped, adopted, or to rest */
    while (evd_loop_is_current(loop) && loop_rest_here(loop));
    if (evd_loop_is_current(loop)) {
        while (evd_loop_has_tasks(loop))
            loop_run_tasks(loop); /* submitted by the last tasks */
        (void)event_del(&loop->wake_event);
        loop_thread_remove(&loop_here, loop);
    }
    event_base_free(base);
    return NULL;
}

/* ---------------------------------------------------------------- start and stop */

static void loop_wake_ready(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    loop_woken(argument);
}

static void loop_stop_run(struct evd_task *task)
{
    struct evd_loop *loop = BASE_ITEM(task, struct evd_loop, stop);

    (void)event_base_loopbreak(loop->base);
}

/* Looks for descriptors first: without one for its signal sockets libevent ends the process. */
static bool loop_base_has_descriptors(void)
{
    int fds[LOOP_BASE_DESCRIPTORS];
    int count = 0;

    while (count < LOOP_BASE_DESCRIPTORS &&
           (fds[count] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
    return count == LOOP_BASE_DESCRIPTORS;
}

static struct event_base *loop_base_create(void)
{
    struct event_config *config;
    struct event_base *base = NULL;

    if (!loop_base_has_descriptors())
        return NULL;
    config = event_config_new();
    if (!config)
        return NULL;
    /* The environment must not choose a method other than epoll: EVD_IO_CLOSED needs epoll. */
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_PRECISE_TIMER |
                                          EVENT_BASE_FLAG_IGNORE_ENV) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static bool loop_watch_wake(struct evd_loop *loop, struct event_base *base)
{
    return event_assign(&loop->wake_event, base, loop->wake_fd, EV_READ | EV_PERSIST,
                        loop_wake_ready, loop) == 0 &&
           event_add(&loop->wake_event, NULL) == 0;
}

it_status_t evd_loop_start(struct evd_loop **loop_out, const char *thread_name)
{
    struct evd_loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return IT_ERR_RESOURCES;
    (void)snprintf(loop->name, sizeof(loop->name), "%s", thread_name); /* a long name is cut */
    loop->stop.run = loop_stop_run;
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0)
        goto err_free;
    loop->base = loop_base_create();
    if (!loop->base)
        goto err_close;
    if (!loop_watch_wake(loop, loop->base))
        goto err_base;
    if (base_thread_create(&loop->thread, loop_main, loop) != 0)
        goto err_event;
    *loop_out = loop;
    return IT_SUCCESS;

err_event:
    (void)event_del(&loop->wake_event);
err_base:
    event_base_free(loop->base);
err_close:
    (void)close(loop->wake_fd);
err_free:
    free(loop);
    return IT_ERR_RESOURCES;
}

/* Ends a loop on a lent base; on its thread. */
static void loop_end(void *argument)
{
    struct evd_loop *loop = argument;

    while (evd_loop_has_tasks(loop))
        loop_run_tasks(loop);
    (void)event_del(&loop->wake_event);
    loop_thread_remove(&loop_here, loop);
}

void evd_loop_stop(struct evd_loop *loop)
{
    if (atomic_load_explicit(&loop->lent, memory_order_relaxed)) {
        loop_call(loop, loop_call_note, loop_end, loop, false);
    } else {
        (void)evd_loop_submit(loop, &loop->stop); /* submitted here only */
        (void)pthread_join(loop->thread, NULL);
    }
    (void)close(loop->wake_fd);
    free(loop);
}

/* ---------------------------------------------------------------- adoption */

bool evd_loop_is_lent(const struct evd_loop *loop)
{
    return atomic_load_explicit(&loop->lent, memory_order_relaxed);
}

struct loop_move {
    struct evd_loop *loop;
    struct event_base *base;
    struct loop_thread *to; /* of the thread that waits for the move */
    bool was_lent;
    bool moved;
};

static bool loop_move_wake(struct evd_loop *loop, struct event_base *base)
{
    (void)event_del(&loop->wake_event);
    if (loop_watch_wake(loop, base))
        return true;
    (void)loop_watch_wake(loop, loop->base); /* cannot fail: libevent still has the memory for it */
    return false;
}

/* The old thread's last use of the loop. The new thread may use it at once. */
static void loop_move_run(void *argument)
{
    struct loop_move *move = argument;
    struct evd_loop *loop = move->loop;
    struct loop_thread *from = atomic_load_explicit(&loop->owner, memory_order_relaxed);

    if (!loop_thread_reserve(move->to, loop->io_count + 1) || !loop_move_wake(loop, move->base))
        return;
    if (!loop_move_watches(loop, move->base)) {
        (void)loop_move_wake(loop, loop->base);
        return;
    }
    move->moved = true;
    move->was_lent = atomic_exchange_explicit(&loop->lent, true, memory_order_relaxed);
    if (!move->was_lent)
        (void)event_base_loopbreak(loop->base);
    loop->base = move->base;
    loop_thread_remove(from, loop);
    loop_thread_add(move->to, loop);
}

static it_status_t loop_adopt(struct evd_loop *loop, struct event_base *base)
{
    struct loop_move move = {.loop = loop, .base = base, .to = &loop_here};

    loop_call(loop, loop_call_note, loop_move_run, &move, true);
    if (move.moved && !move.was_lent)
        (void)pthread_join(loop->thread, NULL);
    if (!move.moved)
        loop_thread_release(&loop_here);
    return move.moved ? IT_SUCCESS : IT_ERR_RESOURCES;
}

/* Moves one lent loop at a time: two threads that adopt each other's loop would wait for ever. */
it_status_t evd_loop_adopt(struct evd_loop *loop, struct event_base *base)
{
    static _Atomic bool adopting_lent;
    _Atomic bool *adopting =
        atomic_load_explicit(&loop->lent, memory_order_relaxed) ? &adopting_lent : &loop->adopting;
    it_status_t status;

    if (atomic_exchange_explicit(adopting, true, memory_order_acquire))
        return IT_ERR_EVD_BUSY;
    status = loop_adopt(loop, base);
    atomic_store_explicit(adopting, false, memory_order_release);
    return status;
}
