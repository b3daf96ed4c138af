/* SPDX-License-Identifier: BSD-2-Clause */
/* Deadlines, and waits that end with them. */
#ifndef PEERS_CLOCK_H
#define PEERS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the time so many milliseconds from now, in nanoseconds of the monotonic clock. */
int64_t peer_clock_deadline(uint64_t timeout_ms);
bool peer_clock_over(int64_t deadline);

/* Sleeps for this duration, or until the deadline if that is earlier. */
void peer_clock_sleep(int64_t duration_ns, int64_t deadline);

/* Waits until fd is readable. Returns false if the deadline came first. */
bool peer_clock_readable(int fd, int64_t deadline);

/* Does the same for two descriptors. *first: the first one is readable. */
bool peer_clock_readable_either(int fd, int other, int64_t deadline, bool *first);

#endif
