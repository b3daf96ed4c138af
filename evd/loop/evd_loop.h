/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IA's loop runs all that is not data path: listeners, connection startup, timers, callbacks.
 * It has one libevent base, which a single thread uses; other threads submit tasks. Base and thread
 * are the IA's own until the program lends a base (evd_loop_adopt); from then on the loop belongs
 * to the thread that lent it.
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

/* A task. Its memory is the submitter's. It runs on the loop's thread, once for each submit. */
struct evd_task {
    struct base_stack_link handed_over;
    struct base_link pending;
    void (*run)(struct evd_task *task);
    _Atomic bool queued;
    bool calls_out; /* runs the program's code: never inside a call that only polls */
};

/* Starts a loop with a thread of its own. IT_ERR_RESOURCES: no memory, descriptor or thread. */
it_status_t evd_loop_start(struct evd_loop **loop_out, const char *thread_name);

/*
 * Runs the tasks submitted so far and ends the loop, with its thread if that is its own. Not to be
 * called from inside the loop.
 */
void evd_loop_stop(struct evd_loop *loop);

/*
 * Moves the loop to a base of the program and to the calling thread; a thread of its own ends. Not
 * to be called from inside the loop. IT_ERR_RESOURCES: nothing has changed. IT_ERR_EVD_BUSY:
 * another thread is moving it.
 */
it_status_t evd_loop_adopt(struct evd_loop *loop, struct event_base *base);

/*
 * evd_loop_rest.c. Brings the loop's own thread to rest, outside of everything that it runs, so
 * that the process can fork. Returns false when the base is the program's, or the caller is the
 * loop's thread.
 */
bool evd_loop_rest(struct evd_loop *loop);
/* Ends the rest, in the parent. */
void evd_loop_go_on(struct evd_loop *loop);
/*
 * Ends the rest in the child of fork(2), which has no such thread yet. Of the loop's descriptors
 * only keep_fd, which is the child's own, reports anything from now on. Returns false if
 * descriptors or threads run out.
 */
bool evd_loop_go_on_in_copy(struct evd_loop *loop, int keep_fd);
/*
 * Replaces the descriptor by a new eventfd with this count, which the child does not share with its
 * parent. Returns false if descriptors run out.
 */
bool evd_loop_renew_eventfd(int fd, unsigned count);

/* Returns true on the loop's thread. */
bool evd_loop_is_current(const struct evd_loop *loop);

/* Returns true when the loop called the caller: in a task, handler, timer or callback. */
bool evd_loop_is_inside(const struct evd_loop *loop);

/* Returns true when the loop has a base of the program. */
bool evd_loop_is_lent(const struct evd_loop *loop);

/* Returns true on the thread of any loop. While it waits, no other thread does that loop's work. */
bool evd_loop_is_here(void);

/* Submits a task; any thread. False: the task is queued already, and runs after this call. */
bool evd_loop_submit(struct evd_loop *loop, struct evd_task *task);

/*
 * Runs function(argument) on the loop's thread and returns afterwards. While it waits, the calling
 * thread does the work of its own loops, except callbacks, so that two loops can call each other.
 */
void evd_loop_call(struct evd_loop *loop, void (*function)(void *argument), void *argument);
/* The same for a function with a result. */
it_status_t evd_loop_run(struct evd_loop *loop, it_status_t (*function)(void *argument),
                         void *argument);

/* ---------------------------------------------------------------- only where evd_loop_is_here() */

/*
 * Does the work of this thread's loops, without their bases, until the waiter is woken or
 * CLOCK_MONOTONIC passes deadline_ns. Returns 0, or EINTR when a signal handler ran. It may return
 * without a reason.
 */
int evd_loop_wait(struct evd_waiter *waiter, uint64_t deadline_ns);

/*
 * Does one round of that work for a call that polls: without blocking, and without code of the
 * program. Inside the loop it does so in one call of LOOP_POLLS_INSIDE, since most polls there need
 * none. In another one of them it returns false: the caller then reports an empty queue, so that a
 * callback that polls until then comes to an end.
 */
bool evd_loop_poll(void);

/* ---------------------------------------------------------------- only on the loop's thread */

/* Returns true when tasks are waiting. Long work on the loop should then end soon. */
bool evd_loop_has_tasks(const struct evd_loop *loop);

enum evd_io_event {
    EVD_IO_READ = POLLIN,
    EVD_IO_WRITE = POLLOUT,
    EVD_IO_CLOSED = POLLRDHUP /* the peer shut down its direction; found without a read */
};

/*
 * A level-triggered watch of one descriptor. Zeroed memory is an idle watch. The handler may be
 * called without a reason, so it must not block.
 */
struct evd_io {
    struct event event;
    struct evd_loop *loop;
    void (*ready)(void *argument, unsigned events);
    void *argument;
    int fd;
    unsigned events;
    bool active;
    unsigned found; /* by evd_loop_wait; if not 0, the watch is on the loop's list .ready */
    struct base_link link, ready_link;
};

/* Starts a watch or changes its events. Returns false if memory runs out. */
bool evd_io_watch(struct evd_io *io, struct evd_loop *loop, int fd, unsigned events,
                  void (*ready)(void *argument, unsigned events), void *argument);
void evd_io_unwatch(struct evd_io *io); /* does nothing to an idle watch */

/* A one-shot timer. Zeroed memory is an idle timer. */
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
