/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_adapter.h"

#include "common/report.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

/* ---- Listing ------------------------------------------------------------------------------ */

unsigned int perf_adapter_list(struct perf_carrier *carriers, unsigned int room)
{
    it_interface_t interfaces[64];
    size_t found = sizeof(interfaces) / sizeof(interfaces[0]);
    size_t total = 0;
    unsigned int count = 0;

    it_interface_list(interfaces, &found, &total);
    for (size_t i = 0; i < found && count < room; i++) {
        struct perf_carrier *carrier = &carriers[count];
        size_t length = strnlen(interfaces[i].name, sizeof(interfaces[i].name));

        /* uiwarp:eth0 is part of uiwarp. */
        if (length >= sizeof(carrier->ia) || memchr(interfaces[i].name, ':', length) != NULL)
            continue;
        memset(carrier, 0, sizeof(*carrier));
        carrier->transport = PERF_ITAPI;
        memcpy(carrier->ia, interfaces[i].name, length);
        count++;
    }
    return count;
}

/* ---- Asking ------------------------------------------------------------------------------- */

static void take_addresses(struct perf_adapter *adapter, const it_spigot_info_t *spigot,
                           it_net_addr_type_t type)
{
    for (size_t i = 0; i < spigot->num_net_addr; i++)
        if (spigot->net_addr[i].addr_type == type &&
            adapter->address_count < PERF_ADAPTER_ADDRESSES)
            adapter->addresses[adapter->address_count++] = spigot->net_addr[i];
}

bool perf_adapter_ask(struct perf_adapter *adapter, it_ia_handle_t ia)
{
    it_ia_info_t *info;

    memset(adapter, 0, sizeof(*adapter));
    if (!succeeded(it_ia_query(ia, &info), "it_ia_query"))
        return false;
    if (info->num_spigots > 0) {
        adapter->spigot = info->spigot_info[0].spigot_id;
        take_addresses(adapter, &info->spigot_info[0], IT_IPV4);
        take_addresses(adapter, &info->spigot_info[0], IT_IPV6);
    }
    it_ia_info_free(info);
    return true;
}

/* ---- The path ----------------------------------------------------------------------------- */

static bool get_net_addr(const struct sockaddr_storage *from, it_net_addr_t *to)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    memset(to, 0, sizeof(*to));
    if (from->ss_family == AF_INET) {
        memcpy(&v4, from, sizeof(v4));
        to->addr_type = IT_IPV4;
        to->addr.ipv4 = v4.sin_addr;
        return true;
    }
    if (from->ss_family == AF_INET6) {
        memcpy(&v6, from, sizeof(v6));
        to->addr_type = IT_IPV6;
        to->addr.ipv6 = v6.sin6_addr;
        return true;
    }
    return false;
}

static bool is_loopback(const it_net_addr_t *address)
{
    if (address->addr_type == IT_IPV4)
        return ntohl(address->addr.ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&address->addr.ipv6);
}

static bool has_address(const struct perf_adapter *adapter, const it_net_addr_t *address)
{
    for (size_t i = 0; i < adapter->address_count; i++)
        if (address_is_same(&adapter->addresses[i], address))
            return true;
    return false;
}

bool perf_adapter_find_path(const struct perf_adapter *adapter, it_ia_handle_t ia,
                            const struct sockaddr_storage *address, it_path_t *path)
{
    it_net_addr_t server;
    size_t count = 1;
    size_t total = 0;

    if (!get_net_addr(address, &server)) {
        complain("the server has no IP address");
        return false;
    }
    /*
     * A device is on no loopback interface, so a server on this machine is at the device's address.
     */
    if (is_loopback(&server) && adapter->address_count > 0 && !has_address(adapter, &server))
        server = adapter->addresses[0];
    if (!succeeded(it_get_pathinfo(ia, adapter->spigot, &server, &count, &total, path),
                   "it_get_pathinfo"))
        return false;
    if (total > 0)
        return true;
    complain("no RDMA path leads to the server");
    return false;
}
