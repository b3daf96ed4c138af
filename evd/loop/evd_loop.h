/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IA's loop: what is not data path (listeners, connection startup, timers, callbacks) runs
 * here, on one libevent base that no other thread touches. The base and its thread are the IA's own
 * until the program lends a base of its own (evd_loop_adopt); the loop then belongs to the thread
 * that lent it. Other threads hand over tasks.
 */
#ifndef ITAPI_EVD_LOOP_EVD_LOOP_H
#define ITAPI_EVD_LOOP_EVD_LOOP_H

#include "base/base_list.h"

#include "it_api.h"

#include <event2/event_struct.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct evd_loop;
struct evd_waiter;

/* A task is memory of its submitter; it runs once per successful submit, on the loop's thread. */
struct evd_task {
    struct base_stack_link handed_over;
    struct base_link pending;
    void (*run)(struct evd_task *task);
    _Atomic bool queued;
    bool calls_out; /* runs code of the program: not inside a call that only polls */
};

/* IT_ERR_RESOURCES when there is no memory, descriptor or thread. */
it_status_t evd_loop_start(struct evd_loop **loop_out, const char *thread_name);

/*
 * Runs the tasks queued so far, ends the loop and its thread, if that is the loop's own. Not from
 * inside the loop.
 */
void evd_loop_stop(struct evd_loop *loop);

/*
 * Moves the loop to a base of the program and to the calling thread; its own thread ends. Not from
 * inside the loop. IT_ERR_RESOURCES: all is as before; IT_ERR_EVD_BUSY: two at the same time.
 */
it_status_t evd_loop_adopt(struct evd_loop *loop, struct event_base *base);

/*
 * evd_loop_rest.c. Returns when the loop's own thread is outside of everything that it runs, and
 * stays there. False: the base is the program's, or the caller is the loop's thread. At rest the
 * process may be copied.
 */
bool evd_loop_rest(struct evd_loop *loop);
/* The loop goes on, in the process that it was in. */
void evd_loop_go_on(struct evd_loop *loop);
/*
 * The same in a copy of the process, which has no such thread. All descriptors but keep_fd, which
 * is the copy's own, are silent from now on. False without descriptors or thread.
 */
bool evd_loop_go_on_in_copy(struct evd_loop *loop, int keep_fd);
/*
 * Puts an eventfd of the copy's own in the place of the descriptor, with this count. False without
 * descriptors.
 */
bool evd_loop_renew_eventfd(int fd, unsigned count);

/* The calling thread is the loop's. */
bool evd_loop_is_current(const struct evd_loop *loop);

/* The calling thread is the loop's, and the call comes from something that the loop runs. */
bool evd_loop_is_inside(const struct evd_loop *loop);

/* The loop lives on a base of the program. */
bool evd_loop_is_lent(const struct evd_loop *loop);

/* The calling thread is that of some loop: while it waits nobody else does the work of that. */
bool evd_loop_is_here(void);

/* Any thread. False when the task is queued already (it will run after this call in any case). */
bool evd_loop_submit(struct evd_loop *loop, struct evd_task *task);

/*
 * Runs function(argument) on the loop's thread and returns when it is done. Until then the calling
 * thread does the work of its own loops, but for callbacks: two loops may call each other.
 */
void evd_loop_call(struct evd_loop *loop, void (*function)(void *argument), void *argument);
/* The same of a function with a result. */
it_status_t evd_loop_run(struct evd_loop *loop, it_status_t (*function)(void *argument),
                         void *argument);

/* ---------------------------------------------------------------- only where evd_loop_is_here() */

/*
 * Does the work of this thread's loops, without their bases, until the waiter is woken or
 * CLOCK_MONOTONIC passes deadline_ns. Returns 0, or EINTR when a signal handler ran. A return
 * without reason is allowed.
 */
int evd_loop_wait(struct evd_waiter *waiter, uint64_t deadline_ns);

/*
 * For a call that polls: a round of that work without blocking and without code of the program;
 * from inside only now and then, as most of what is polled for there needs none. False, also now
 * and then: the caller should say that there is nothing, so that the loop gets on.
 */
bool evd_loop_poll(void);

/* ---------------------------------------------------------------- only on the loop's thread */

/* Tasks are waiting: whoever works on for long should come to an end. */
bool evd_loop_has_tasks(const struct evd_loop *loop);

enum evd_io_event {
    EVD_IO_READ = POLLIN,
    EVD_IO_WRITE = POLLOUT,
    EVD_IO_CLOSED = POLLRDHUP /* the peer has ended its direction, seen without reading */
};

/*
 * Level triggered watch of one descriptor. Zeroed memory is an idle watch. It may be called without
 * reason: the handler tries and finds out.
 */
struct evd_io {
    struct event event;
    struct evd_loop *loop;
    void (*ready)(void *argument, unsigned events);
    void *argument;
    int fd;
    unsigned events;
    bool active;
    unsigned found; /* by evd_loop_wait: then it is in the loop's list of ready ones */
    struct base_link link, ready_link;
};

/* Starts, or changes, what is watched. False without memory. */
bool evd_io_watch(struct evd_io *io, struct evd_loop *loop, int fd, unsigned events,
                  void (*ready)(void *argument, unsigned events), void *argument);
void evd_io_unwatch(struct evd_io *io); /* idle: nothing happens */

/* One-shot timer. Zeroed memory is an idle timer. */
struct evd_timer {
    struct event event;
    struct evd_loop *loop;
    void (*expired)(void *argument);
    void *argument;
    uint64_t deadline_ns;
    bool active;
    struct base_link link;
};

bool evd_timer_start(struct evd_timer *timer, struct evd_loop *loop, uint64_t delay_ns,
                     void (*expired)(void *argument), void *argument);
void evd_timer_stop(struct evd_timer *timer);

#endif
