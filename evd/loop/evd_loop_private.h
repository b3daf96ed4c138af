/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the loop. */
#ifndef ITAPI_EVD_LOOP_EVD_LOOP_PRIVATE_H
#define ITAPI_EVD_LOOP_EVD_LOOP_PRIVATE_H

#include "evd/loop/evd_loop.h"

#include <pthread.h>
#include <stddef.h>

#define LOOP_NAME_BYTES 16 /* the kernel's limit, with the NUL */
#define LOOP_POLLS      16 /* room without an allocation */

/* The loops of one thread, and room to poll all their descriptors. Only that thread uses it. */
struct loop_thread {
    struct base_list loops; /* evd_loop.link */
    size_t descriptors;     /* of all loops: each one's wake-up, and what it watches */
    struct pollfd *polls;
    size_t capacity; /* of .polls; 0: .few is used */
    struct pollfd few[LOOP_POLLS];
    unsigned depth; /* nesting of what these loops run */
    unsigned asked; /* count of evd_loop_poll from inside */
    bool quiet;     /* tasks that run code of the program wait */
};

struct loop_call;

struct evd_loop {
    /*
     * Tasks submitted and not yet taken: any thread pushes, the loop's thread takes. A push that
     * finds the stack empty writes the eventfd, no other does. A push from inside the loop writes
     * none: loop_leave looks at the stack after everything that the loop runs.
     */
    struct base_stack tasks;
    int wake_fd;                         /* immutable after start */
    _Atomic(struct loop_thread *) owner; /* the loop's thread; adoption changes it */
    _Atomic bool adopting;
    _Atomic bool lent; /* the base is the program's; adoption sets it */
    pthread_t thread;  /* valid until adoption; for the threads that start, adopt and stop */
    char name[LOOP_NAME_BYTES]; /* immutable after start */

    /* Loop's thread only. */
    struct base_link link; /* in loop_thread.loops */
    struct event_base *base;
    unsigned depth; /* nesting of what this loop runs */
    struct event wake_event;
    struct base_list pending; /* tasks taken, oldest first */
    size_t pending_count;
    struct evd_task *last; /* runs at the end of loop_leave, as the last use of the loop */
    struct base_list ios;
    size_t io_count;
    struct base_list timers;
    struct base_list ready; /* ios found by evd_loop_wait */
    bool woken;             /* evd_loop_wait found .wake_fd readable */
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
 * Every poll looks at it. initial-exec saves a call each time, and takes from the small space that
 * a program has for such variables of libraries it loads late.
 */
extern _Thread_local struct loop_thread loop_here __attribute__((tls_model("initial-exec")));

/* Returns the thread's first loop. Needs evd_loop_is_here(). */
static inline struct evd_loop *loop_first_here(void)
{
    return BASE_LIST_FIRST(&loop_here.loops, struct evd_loop, link);
}

/* Enclose everything that the loop runs. The loop may be gone after loop_leave. */
void loop_enter(struct evd_loop *loop);
void loop_leave(struct evd_loop *loop);

/* Runs the tasks submitted so far. A task that submits itself again runs in the next turn. */
void loop_run_tasks(struct evd_loop *loop);

/* Returns true when there are tasks that may run now. */
bool loop_has_runnable(const struct evd_loop *loop);

/* Makes the loop look at its tasks. */
void loop_arm(struct evd_loop *loop);

/* Handles a readable .wake_fd. The loop may be gone afterwards. */
void loop_woken(struct evd_loop *loop);

/*
 * evd_loop_call.c: evd_loop_call with a task of its own: run is loop_call_note, or that of
 * evd_loop_call. With holds, the function may use data of the calling thread, which does nothing
 * while it runs.
 */
void loop_call(struct evd_loop *loop, void (*run)(struct evd_task *task),
               void (*function)(void *argument), void *argument, bool holds);
/* Puts the function off until nothing on the loop's thread uses the loop. */
void loop_call_note(struct evd_task *task);

/* evd_loop_thread.c */
/*
 * Makes room to poll that many more descriptors. Any thread may call it while the thread of here is
 * blocked.
 */
bool loop_thread_reserve(struct loop_thread *here, size_t more);
void loop_thread_release(struct loop_thread *here);

/*
 * evd_loop_wait.c: does this thread's loops' work while it waits for a call on another loop.
 * Returns after the first thing that happened, a write to a .wake_fd included.
 */
void loop_serve(void);

/* evd_loop_watch.c */
void loop_io_forget(struct evd_io *io); /* drops what evd_loop_wait found */
void loop_timer_fire(struct evd_timer *timer);
/* Moves all watches and timers of the loop to another base; all or none. */
bool loop_move_watches(struct evd_loop *loop, struct event_base *base);

#endif
