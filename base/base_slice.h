/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a turn on the processor a thread asks for. */
#ifndef ITAPI_BASE_SLICE_H
#define ITAPI_BASE_SLICE_H

#include <stdint.h>

/*
 * The calling thread will have short turns, and gets them sooner in return: from Linux 6.12 on, a
 * thread that wakes up takes the processor from one whose turns are longer, rather than to wait for
 * the end of its turn. Without effect on older kernels, and on threads that are no ordinary ones
 * (real time, batch). Its share of the processor is what it was.
 */
void base_slice_shorten(uint64_t slice_ns);

#endif
