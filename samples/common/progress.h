/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bar that grows while bytes move, and the speed at the end. The bar is drawn only on a terminal.
 */
#ifndef ITAPI_SAMPLES_COMMON_PROGRESS_H
#define ITAPI_SAMPLES_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;       /* e.g. "written by RDMA Write" */
    uint64_t total;         /* bytes */
    double started;         /* seconds, by clock_seconds */
    unsigned int last_mark; /* length of the bar on the screen */
    bool terminal;
};

/* Returns the seconds of a monotonic clock. */
double clock_seconds(void);

/* Starts the clock. */
void progress_start(struct progress *progress, const char *what, uint64_t total);

/* Redraws the bar if it has grown. */
void progress_show(struct progress *progress, uint64_t done);

/* Erases the bar and prints one line: bytes, what, seconds, speed. */
void progress_finish(struct progress *progress);

#endif
