/* SPDX-License-Identifier: BSD-2-Clause */
/* Time limits. One thread serves all, as long as there are any. */
#ifndef ITAPI_ULP_EXS_API_EXS_TIMER_H
#define ITAPI_ULP_EXS_API_EXS_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* It may be stopped, and its memory used anew, at any moment: fire gets copies. */
struct exs_timer {
    uint64_t at_ns; /* of exs_clock_ns */
    void (*fire)(int fd, uint64_t serial);
    int fd;
    uint64_t serial;
    bool set;
    struct exs_timer *next;
    struct exs_timer *previous;
};

/* 0 or errno: there is no thread. */
int exs_timer_start(struct exs_timer *timer);
/* It may be firing already, so fire has to see whether its call is still there. */
void exs_timer_stop(struct exs_timer *timer);

/* In the child after fork. */
void exs_timers_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_TIMER_H */
