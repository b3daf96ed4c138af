/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers, which run on a thread of this layer that exists while a timer is set. They serve failures
 * that are reported after a time, as with InfiniBand, and datagrams.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct ofa_timer {
    struct ofa_timer *next; /* in the list of set timers */
    bool set;
    uint64_t at_ns;
    void (*callback)(struct ofa_timer *timer);
};

uint64_t ofa_clock_ns(void); /* monotonic */

/* Sets a timer. A set timer keeps the earlier of both times. */
void ofa_timer_set(struct ofa_timer *timer, uint64_t at_ns);

/* The callback does not run for the time that was set, unless it has begun already. */
void ofa_timer_unset(struct ofa_timer *timer);

/* Called before pthread_atfork handlers that set timers are registered. */
void ofa_timer_survive_fork(void);

/* The callback does not run afterwards. Not to be called by a callback. */
void ofa_timer_cancel(struct ofa_timer *timer);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H */
