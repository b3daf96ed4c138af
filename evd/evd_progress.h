/* SPDX-License-Identifier: BSD-2-Clause */
/* How a consumer's thread does a transport's work while it polls or waits. An installed header. */
#ifndef ITAPI_EVD_EVD_PROGRESS_H
#define ITAPI_EVD_EVD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct evd_waiter;

struct evd_progress_ops {
    /* Does one round of work without blocking, or nothing if another thread does it. No lock is
     * held. */
    void (*poll)(void *context);
    /* Sends deferred posts. No lock is held. NULL: posts are never deferred. */
    void (*flush)(void *context);
    /*
     * Blocks until the waiter is woken or CLOCK_MONOTONIC passes deadline_ns (UINT64_MAX: never),
     * and may do the transport's work. Returns 0, or EINTR when a signal handler ran.
     * It may return without a reason: the caller looks again.
     */
    int (*wait)(void *context, struct evd_waiter *waiter, uint64_t deadline_ns);
    /*
     * lead_begin gives the calling thread the role of a waiter. The thread then sleeps elsewhere,
     * until *fd is readable or for another reason, and calls lead_end, which does the transport's
     * work if there is some. lead_begin returns false if another thread has the role. Both are NULL
     * if no thread can have it.
     */
    bool (*lead_begin)(void *context, int *fd);
    void (*lead_end)(void *context, bool work);
};

#endif
