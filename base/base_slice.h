/* SPDX-License-Identifier: BSD-2-Clause */
/* The length of the turns on the processor that a thread asks for. */
#ifndef ITAPI_BASE_SLICE_H
#define ITAPI_BASE_SLICE_H

#include <stdint.h>

/*
 * The calling thread will have short turns, and gets them sooner in return: from Linux 6.12 on, a
 * thread that wakes up takes the processor from one whose turns are longer, rather than to wait for
 * the end of its turn. No privilege is needed, and no other thread is favoured less. Without effect
 * on threads that are no ordinary ones (real time, batch).
 */
void base_slice_shorten(uint64_t slice_ns);

#endif
