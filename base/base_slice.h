/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's time slice of a thread. */
#ifndef ITAPI_BASE_SLICE_H
#define ITAPI_BASE_SLICE_H

#include <stdint.h>

/*
 * Asks for short time slices for the calling thread. In return it runs sooner: from Linux 6.12 on,
 * a thread that wakes up preempts one with a longer slice and need not wait for the end of that
 * slice. This needs no privilege and takes no share from other threads. Does nothing for a thread
 * with another policy than SCHED_OTHER.
 */
void base_slice_shorten(uint64_t slice_ns);

#endif
