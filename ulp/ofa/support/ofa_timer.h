/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to be looked at later, on a thread of this layer that exists while there is any. For
 * failures that programs are told of only after a time, as InfiniBand has it; nothing else waits
 * for a clock here.
 */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct ofa_timer {
    struct ofa_timer *next; /* in the list of those that are set */
    bool set;
    uint64_t at_ns;
    void (*callback)(struct ofa_timer *timer);
};

uint64_t ofa_clock_ns(void); /* monotonic */

/* Sets a timer, or leaves it at the earlier of both times. */
void ofa_timer_set(struct ofa_timer *timer, uint64_t at_ns);

/* Before handlers of fork are registered that set timers. */
void ofa_timer_survive_fork(void);

/* The callback does not run afterwards. Not to be called by a callback. */
void ofa_timer_cancel(struct ofa_timer *timer);

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_TIMER_H */
