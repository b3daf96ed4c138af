/* SPDX-License-Identifier: BSD-2-Clause */
/* status_run.h - declarations shared by the runner and its helpers. */
#ifndef ITAPI_TESTS_STATUS_STATUS_RUN_H
#define ITAPI_TESTS_STATUS_STATUS_RUN_H

#include "status/status_kit.h"

#define STATUS_CODES 256u

/* A resource that runs out from the nth request on (status_shortage.c). */
struct status_shortage {
    const char *what;
    bool drains;                 /* a pool of objects must be drained before it shows */
    void (*begin)(unsigned nth); /* NULL: not available in this build */
    bool (*end)(void);           /* returns whether a request was refused */
};

extern const struct status_shortage status_shortages[]; /* the last one has no .what */

#endif
