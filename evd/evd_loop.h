/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IA's own thread: one libevent base, created without locks and touched by no other thread.
 * Others hand it tasks. It carries what is not data path: listeners, connection startup, timers.
 */
#ifndef ITAPI_EVD_EVD_LOOP_H
#define ITAPI_EVD_EVD_LOOP_H

#include "it_api.h"

#include <event2/event_struct.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct evd_loop;

/* A task is memory of its submitter; it runs once per successful submit, on the loop's thread. */
struct evd_task {
    struct evd_task *next;
    void (*run)(struct evd_task *task);
    _Atomic bool queued;
};

/* IT_ERR_RESOURCES when there is no memory, descriptor or thread. */
it_status_t evd_loop_start(struct evd_loop **loop_out, const char *thread_name);

/* Runs the tasks queued so far, ends the thread, frees the loop. Not from its own thread. */
void evd_loop_stop(struct evd_loop *loop);

bool evd_loop_is_current(const struct evd_loop *loop);

/* Any thread. False when the task is queued already (it will run after this call in any case). */
bool evd_loop_submit(struct evd_loop *loop, struct evd_task *task);

/* Runs function(argument) on the loop's thread and returns when it is done. */
void evd_loop_call(struct evd_loop *loop, void (*function)(void *argument), void *argument);

/* ---------------------------------------------------------------- only on the loop's thread */

enum evd_io_event {
    EVD_IO_READ = 1,
    EVD_IO_WRITE = 2,
    EVD_IO_CLOSED = 4 /* peer has ended its direction (EPOLLRDHUP), seen without reading */
};

/* Level triggered watch of one descriptor. Zeroed memory is an idle watch. */
struct evd_io {
    struct event event;
    void (*ready)(void *argument, unsigned events);
    void *argument;
    bool active;
};

/* Starts, or changes, what is watched. False without memory. */
bool evd_io_watch(struct evd_io *io, struct evd_loop *loop, int fd, unsigned events,
                  void (*ready)(void *argument, unsigned events), void *argument);
void evd_io_unwatch(struct evd_io *io); /* idle: nothing happens */

/* One-shot timer. Zeroed memory is an idle timer. */
struct evd_timer {
    struct event event;
    void (*expired)(void *argument);
    void *argument;
    bool active;
};

bool evd_timer_start(struct evd_timer *timer, struct evd_loop *loop, uint64_t delay_ns,
                     void (*expired)(void *argument), void *argument);
void evd_timer_stop(struct evd_timer *timer);

#endif
