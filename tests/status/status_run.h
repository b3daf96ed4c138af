/* SPDX-License-Identifier: BSD-2-Clause */
/* status_run.h - what the runner and its helpers share. */
#ifndef ITAPI_TESTS_STATUS_STATUS_RUN_H
#define ITAPI_TESTS_STATUS_STATUS_RUN_H

#include "status/status_kit.h"

#define STATUS_CODES 256u

/* Something the library can run out of, from the nth time on that it asks (status_shortage.c). */
struct status_shortage {
    const char *what;
    bool drains;                 /* a pool of objects has to be drained before it shows */
    void (*begin)(unsigned nth); /* NULL: not in this build */
    bool (*end)(void);           /* was something refused? */
};

extern const struct status_shortage status_shortages[]; /* the last one has no .what */

#endif
