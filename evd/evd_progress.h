/* SPDX-License-Identifier: BSD-2-Clause */
/* How consumers that poll or wait do a transport's work in their own threads. Installed. */
#ifndef ITAPI_EVD_EVD_PROGRESS_H
#define ITAPI_EVD_EVD_PROGRESS_H

#include <stdint.h>

struct evd_waiter;

struct evd_progress_ops {
    /* One non-blocking round of work, unless another thread does it just now. No lock is held. */
    void (*poll)(void *context);
    /* Sends what posts have deferred. No lock is held. NULL: nothing is ever left. */
    void (*flush)(void *context);
    /*
     * Blocks until the waiter is woken or CLOCK_MONOTONIC passes deadline_ns (UINT64_MAX: never),
     * and may do the transport's work. Returns 0, or EINTR when a signal handler ran.
     * A return without reason is allowed: the caller looks again.
     */
    int (*wait)(void *context, struct evd_waiter *waiter, uint64_t deadline_ns);
};

#endif
