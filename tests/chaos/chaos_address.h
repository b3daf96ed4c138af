/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_address.h - the addresses of the servers, which are removed for up to three seconds, and
 * the MTU of lo, by the plan of the seed. On the host both are those of a network of the run's own.
 */
#ifndef ITAPI_TESTS_CHAOS_CHAOS_ADDRESS_H
#define ITAPI_TESTS_CHAOS_CHAOS_ADDRESS_H

#include "chaos/chaos.h"

extern unsigned address_removals, mtu_changes;

/*
 * Gives each server its address; before the first process starts. Without a network of its own all
 * have 127.0.0.1, and no address is ever removed.
 */
void addresses_open(void);
void addresses_run(uint64_t now);
/* All addresses are there again. */
void addresses_close(void);

#endif
