/* SPDX-License-Identifier: BSD-2-Clause */
/* How calls wait: as the leader if possible, otherwise asleep until they are woken. */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H
#define ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H

#include "adapter/exs_lead.h"

#define EXS_TIME_NEVER UINT64_MAX

struct exs_wait {
    int kind;             /* EXS_WAIT_ */
    int cancel;           /* the caller's cancellation state, in force only while it waits */
    uint64_t deadline_ns; /* by exs_clock_ns, or EXS_TIME_NEVER */
};

uint64_t exs_clock_ns(void);

/*
 * Waits until done returns true. done is called often; with sleeps, it must make sure that the
 * sleeper is woken when the answer changes. A cancellation point. Returns 0, EINTR or ETIMEDOUT.
 */
int exs_wait_until(struct exs_sleeper *sleeper, const struct exs_wait *wait,
                   bool (*done)(void *argument, bool sleeps), void *argument);

#endif /* ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H */
