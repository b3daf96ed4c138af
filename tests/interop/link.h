/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - the veth pair between us and the peer: its MTU, and whether the kernel cuts large
 * segments late (segmentation offload) or TCP does it at once. Both ends are set; all is put back
 * when the test ends, well or not.
 */
#ifndef ITAPI_TESTS_INTEROP_LINK_H
#define ITAPI_TESTS_INTEROP_LINK_H

#include <stdbool.h>

/* At most 65535. */
void link_set_mtu(int mtu);
void link_set_offload(bool on);
/*
 * Each packet, of either direction, is so late, and of so many hundred one is lost. False if the
 * kernel has no netem.
 */
bool link_impair(unsigned delay_ms, unsigned loss_percent);
/* Each direction takes so many Mbit/s. False as above. */
bool link_slow(unsigned megabits);

/* Moves the calling process to the far end for good; it must have one thread only. */
void link_go_far(void);

#endif /* ITAPI_TESTS_INTEROP_LINK_H */
