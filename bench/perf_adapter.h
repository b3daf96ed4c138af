/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of an Interface Adapter that matters: how the server is reached from it. */
#ifndef ITAPI_BENCH_PERF_ADAPTER_H
#define ITAPI_BENCH_PERF_ADAPTER_H

#include "common/address.h"
#include "perf.h"

#include <it_api.h>

#include <sys/socket.h>

#define PERF_ADAPTER_ADDRESSES 16

struct perf_adapter {
    size_t spigot;
    /* Addresses of the Spigot, IPv4 first. */
    it_net_addr_t addresses[PERF_ADAPTER_ADDRESSES];
    size_t address_count;
};

/*
 * Sets a carrier for each Interface that is not part of another one, at most room. Returns their
 * number.
 */
unsigned int perf_adapter_list(struct perf_carrier *carriers, unsigned int room);
/* Both return false after a message. */
bool perf_adapter_ask(struct perf_adapter *adapter, it_ia_handle_t ia);
/* Finds the path to a server whose control connection leads to that address. */
bool perf_adapter_find_path(const struct perf_adapter *adapter, it_ia_handle_t ia,
                            const struct sockaddr_storage *address, it_path_t *path);

#endif
