/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the loop. */
#ifndef ITAPI_EVD_LOOP_EVD_LOOP_PRIVATE_H
#define ITAPI_EVD_LOOP_EVD_LOOP_PRIVATE_H

#include "evd/loop/evd_loop.h"

#include <pthread.h>
#include <stddef.h>

#define LOOP_NAME_BYTES 16 /* limit of the kernel, NUL included */
#define LOOP_POLLS      16 /* room that is always there */

/* The loops of one thread, and room to poll all their descriptors. Used by that thread alone. */
struct loop_thread {
    struct base_list loops; /* evd_loop.link */
    size_t descriptors;     /* of all of them: one for wake-ups each, and the watched ones */
    struct pollfd *polls;
    size_t capacity; /* of .polls; 0: .few */
    struct pollfd few[LOOP_POLLS];
    unsigned depth; /* how deep we are in what the loops run */
    unsigned asked; /* polls by calls from inside */
    bool quiet;     /* no code of the program is run */
};

struct loop_call;

struct evd_loop {
    /*
     * Tasks handed over and not yet taken: any thread pushes, only the loop's thread takes. The
     * wake-up is armed exactly while the stack is not empty: the push that finds it empty writes
     * the eventfd, no other does. What the loop pushes itself needs no wake-up: it looks at the
     * stack whenever it has run something (loop_leave).
     */
    struct base_stack tasks;
    int wake_fd;                         /* immutable after start */
    _Atomic(struct loop_thread *) owner; /* whose thread is the loop's; changes by adoption only */
    _Atomic bool adopting;
    _Atomic bool lent; /* the base is the program's; changes by adoption only */
    pthread_t thread;  /* valid while the base is our own; by the threads that start, adopt, stop */
    char name[LOOP_NAME_BYTES]; /* immutable after start */

    /* Loop's thread only. */
    struct base_link link; /* in loop_thread.loops */
    struct event_base *base;
    unsigned depth; /* how deep we are in what the loop runs */
    struct event wake_event;
    struct base_list pending; /* tasks taken, oldest first */
    size_t pending_count;
    struct evd_task *last; /* runs when the loop is left, as the last use of it */
    struct base_list ios;
    size_t io_count;
    struct base_list timers;
    struct base_list ready; /* ios found by evd_loop_wait */
    bool woken;             /* likewise: .wake_fd */
    struct evd_task stop;
    struct evd_task rest;
    _Atomic uint32_t resting; /* enum loop_resting; a futex word */
};

enum loop_resting {
    LOOP_RUNS,
    LOOP_REST_ASKED,
    LOOP_AT_REST
};

/* evd_loop_thread.c, for evd_loop_rest.c. */
void *loop_main(void *argument);
void loop_rest_set(struct evd_loop *loop, enum loop_resting resting);
void loop_rest_await_change(struct evd_loop *loop, enum loop_resting resting);

/*
 * Looked at by every poll: found without a call, at the price of room that a program has for few
 * libraries.
 */
extern _Thread_local struct loop_thread loop_here __attribute__((tls_model("initial-exec")));

/* The thread has one: evd_loop_is_here(). */
static inline struct evd_loop *loop_first_here(void)
{
    return BASE_LIST_FIRST(&loop_here.loops, struct evd_loop, link);
}

/* Around everything that the loop runs. The loop may be gone after loop_leave. */
void loop_enter(struct evd_loop *loop);
void loop_leave(struct evd_loop *loop);

/* Runs the tasks submitted so far. A task that submits itself again runs in the next turn. */
void loop_run_tasks(struct evd_loop *loop);

/* There are tasks that may be run now. */
bool loop_has_runnable(const struct evd_loop *loop);

/* Has the loop look at its tasks. */
void loop_arm(struct evd_loop *loop);

/* .wake_fd is readable. The loop may be gone afterwards. */
void loop_woken(struct evd_loop *loop);

/*
 * evd_loop_call.c. run: one of the two tasks below. holds: the function touches what belongs to the
 * calling thread, which does nothing until then.
 */
void loop_call(struct evd_loop *loop, void (*run)(struct evd_task *task),
               void (*function)(void *argument), void *argument, bool holds);
/* The function runs when nothing on the loop's thread uses the loop any more. */
void loop_call_note(struct evd_task *task);

/* evd_loop_thread.c */
/* Room to poll that many descriptors more. Any thread while the one of here is blocked. */
bool loop_thread_reserve(struct loop_thread *here, size_t more);
void loop_thread_release(struct loop_thread *here);

/*
 * evd_loop_wait.c: for a thread that waits for a call on another loop. Returns when something has
 * happened, a write to one of the .wake_fd included.
 */
void loop_serve(void);

/* evd_loop_watch.c */
void loop_io_forget(struct evd_io *io); /* what evd_loop_wait has found */
void loop_timer_fire(struct evd_timer *timer);
/* All watches and timers of the loop to another base. All or nothing. */
bool loop_move_watches(struct evd_loop *loop, struct event_base *base);

#endif
