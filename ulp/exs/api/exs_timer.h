/* SPDX-License-Identifier: BSD-2-Clause */
/* Time limits. A single thread serves all timers and runs while there are any. */
#ifndef ITAPI_ULP_EXS_API_EXS_TIMER_H
#define ITAPI_ULP_EXS_API_EXS_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct exs_socket;

/* A timer may be stopped, and its memory reused, at any moment; so fire gets copies. */
struct exs_timer {
    uint64_t at_ns; /* by exs_clock_ns */
    void (*fire)(struct exs_socket *socket, uint64_t serial);
    struct exs_socket *socket; /* of the call; NULL: none */
    uint64_t serial;
    bool set;
    struct exs_timer *next;
    struct exs_timer *previous;
};

/* Returns 0, or errno if there is no thread. */
int exs_timer_start(struct exs_timer *timer);
/* The timer may be firing already, so fire must check whether its call still exists. */
void exs_timer_stop(struct exs_timer *timer);

/* In the child after fork. */
void exs_timers_forget(void);

#endif /* ITAPI_ULP_EXS_API_EXS_TIMER_H */
