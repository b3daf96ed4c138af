/* SPDX-License-Identifier: BSD-2-Clause */
/* How calls wait: in the lead if they can have it, otherwise asleep until somebody wakes them. */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H
#define ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H

#include "adapter/exs_lead.h"

#define EXS_TIME_NEVER UINT64_MAX

struct exs_wait {
    int kind;             /* EXS_WAIT_ */
    int cancel;           /* cancellation state of the caller: in force while it waits, only then */
    uint64_t deadline_ns; /* of exs_clock_ns, or EXS_TIME_NEVER */
};

uint64_t exs_clock_ns(void);

/*
 * Waits until done answers true. It is asked often; with sleeps, it has to see to it that the
 * sleeper is woken when the answer changes. A cancellation point. 0, EINTR or ETIMEDOUT.
 */
int exs_wait_until(struct exs_sleeper *sleeper, const struct exs_wait *wait,
                   bool (*done)(void *argument, bool sleeps), void *argument);

#endif /* ITAPI_ULP_EXS_QUEUE_EXS_WAIT_H */
