/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - the veth pair between this process and the peer: its MTU, and whether the kernel cuts
 * large segments late (segmentation offload) or TCP does so at once. Both ends are set. When the
 * test ends, successful or not, all settings are restored.
 */
#ifndef ITAPI_TESTS_INTEROP_LINK_H
#define ITAPI_TESTS_INTEROP_LINK_H

#include <stdbool.h>

/* mtu: at most 65535. */
void link_set_mtu(int mtu);
void link_set_offload(bool on);
/*
 * Delays each packet of either direction by this time and loses this percentage of packets. Returns
 * false if the kernel has no netem.
 */
bool link_impair(unsigned delay_ms, unsigned loss_percent);
/* Limits the speed of each direction. Returns false if the kernel has no netem. */
bool link_slow(unsigned megabits);

/* Moves the calling process to the far end for good. The process must have one thread only. */
void link_go_far(void);

#endif /* ITAPI_TESTS_INTEROP_LINK_H */
