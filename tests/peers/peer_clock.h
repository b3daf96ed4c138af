/* SPDX-License-Identifier: BSD-2-Clause */
/* Deadlines, and waiting that ends with them. */
#ifndef PEERS_CLOCK_H
#define PEERS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The moment so many milliseconds from now, in nanoseconds of the monotonic clock. */
int64_t peer_clock_deadline(uint64_t timeout_ms);
bool peer_clock_over(int64_t deadline);

/* Sleeps for so long, or until the deadline if that is sooner. */
void peer_clock_sleep(int64_t duration_ns, int64_t deadline);

/* Waits until fd can be read. False: the deadline came first. */
bool peer_clock_readable(int fd, int64_t deadline);

/* The same of two; *first: the first of them can be. */
bool peer_clock_readable_either(int fd, int other, int64_t deadline, bool *first);

#endif
