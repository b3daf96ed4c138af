/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Polling before sleeping: the thread does the work of the library itself meanwhile, which saves a
 * change of threads. How long it is worth while is learnt.
 */
#ifndef ITAPI_ULP_EXS_QUEUE_EXS_SPIN_H
#define ITAPI_ULP_EXS_QUEUE_EXS_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXS_TIME_NEVER UINT64_MAX

struct exs_wait {
    int kind;             /* EXS_WAIT_ */
    int cancel;           /* cancellation state of the caller: in force while it waits, only then */
    uint64_t deadline_ns; /* of exs_clock_ns, or EXS_TIME_NEVER */
};

/* Racy on purpose: a lost update changes the length of a poll. */
struct exs_spin {
    _Atomic uint32_t length_ns;
};

#define EXS_SPIN_INITIALIZER                                                                       \
    {                                                                                              \
        20000                                                                                      \
    }

uint64_t exs_clock_ns(void);

/*
 * Polls as long as the kind of wait says and the deadline allows, until done answers true. Returns
 * whether it did. A cancellation point.
 */
bool exs_spin(struct exs_spin *spin, const struct exs_wait *wait, bool (*done)(void *),
              void *argument);

#endif /* ITAPI_ULP_EXS_QUEUE_EXS_SPIN_H */
