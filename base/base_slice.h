/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a turn on the processor a thread asks for, and how soon. */
#ifndef ITAPI_BASE_SLICE_H
#define ITAPI_BASE_SLICE_H

#include <stdint.h>

/*
 * The calling thread will have short turns, and gets them sooner in return: from Linux 6.12 on, a
 * thread that wakes up takes the processor from one whose turns are longer, rather than to wait for
 * the end of its turn. Where the process may (CAP_SYS_NICE, RLIMIT_NICE) the thread also becomes
 * nicer by -nice, below 0, unless somebody has chosen a niceness; what it starts does not inherit
 * that. Without effect on threads that are no ordinary ones (real time, batch).
 */
void base_slice_shorten(uint64_t slice_ns, int nice);

#endif
