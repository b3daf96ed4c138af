/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An opened Interface Adapter and what all connections share: a protection zone, and the properties
 * in which adapters differ.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_ADAPTER_H
#define ITAPI_SAMPLES_IT_RPING_ADAPTER_H

#include "common/address.h"

struct adapter {
    const char *name;
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_ia_info_t *info;
    it_mem_priv_t sink_privileges; /* rights that the target of an own RDMA Read needs */
};

/* Opens the adapter with this name. Returns false after a message. */
bool adapter_open(struct adapter *adapter, const char *name);

/* Also destroys all objects created with it. */
void adapter_close(struct adapter *adapter);

/* Finds the Spigot (the port of the adapter) that has this address. */
bool adapter_find_spigot(const struct adapter *adapter, const it_net_addr_t *address,
                         size_t *spigot);

/* Returns the Spigot to use when no other one is asked for. */
size_t adapter_first_spigot(const struct adapter *adapter);

#endif
