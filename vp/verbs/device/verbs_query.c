/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it_ia_query reports: the device's ports are the Spigots, with the addresses of their network
 * interfaces. The kernel is asked each time, since addresses come and go.
 */
#include "vp/verbs/device/verbs_query.h"

#include <rdma/rdma_cma.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

bool verbs_query_port(const struct verbs_ia *ia, size_t port, struct ibv_port_attr *attr)
{
    memset(attr, 0, sizeof(*attr));
    return ibv_query_port(ia->context, (uint8_t)port, attr) == 0;
}

bool verbs_port_is_ethernet(const struct verbs_ia *ia, size_t port)
{
    struct ibv_port_attr attr;

    return verbs_query_port(ia, port, &attr) && attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* ---------------------------------------------------------------- addresses */

/* A device's GIDs show its network interfaces; those of InfiniBand show none. */
struct query_gids {
    struct ibv_gid_entry *entries;
    size_t count;
    bool has_interfaces;
};

struct ibv_gid_entry *verbs_gid_table(const struct verbs_ia *ia, size_t *count)
{
    struct ibv_gid_entry *entries = NULL;
    struct ibv_port_attr port;
    size_t room = 0;
    ssize_t found;

    *count = 0;
    for (uint8_t number = 1; number <= ia->ports; number++) {
        if (verbs_query_port(ia, number, &port) && port.gid_tbl_len > 0)
            room += (size_t)port.gid_tbl_len;
    }
    if (room > 0)
        entries = calloc(room, sizeof(*entries));
    if (!entries)
        return NULL;
    found = ibv_query_gid_table(ia->context, entries, room, 0);
    *count = found > 0 ? (size_t)found : 0;
    return entries;
}

/* Reads the GID table. The table is empty if memory is short or the kernel cannot provide it. */
static void query_gids(const struct verbs_ia *ia, struct query_gids *gids)
{
    *gids = (struct query_gids){.entries = NULL};
    gids->entries = verbs_gid_table(ia, &gids->count);
    for (size_t i = 0; i < gids->count; i++)
        gids->has_interfaces |= gids->entries[i].ndev_ifindex != 0;
}

/* Returns the port on that network interface; 0 if there is none. */
static uint8_t query_port_on(const struct query_gids *gids, const char *interface)
{
    unsigned index = if_nametoindex(interface);

    for (size_t i = 0; index != 0 && i < gids->count; i++)
        if (gids->entries[i].ndev_ifindex == index)
            return (uint8_t)gids->entries[i].port_num;
    return 0;
}

uint8_t verbs_port_of(const struct verbs_ia *ia, const struct sockaddr *address)
{
    struct rdma_cm_id *id = NULL;
    struct sockaddr_storage local;
    uint8_t port = 0;
    int error;

    base_net_copy(&local, address);
    base_net_set_port(&local, 0);
    if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) != 0)
        return 0;
    error = rdma_bind_addr(id, (struct sockaddr *)&local) == 0 ? 0 : errno;
    if (error == 0 && verbs_device_is_own(ia, id))
        port = id->port_num;
    (void)rdma_destroy_id(id);
    errno = error != 0 ? error : ENODEV;
    return port;
}

bool verbs_address_is_usable(const struct ifaddrs *entry)
{
    return entry->ifa_addr && (entry->ifa_flags & IFF_UP) &&
           (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);
}

struct query_address {
    uint8_t port;
    it_net_addr_t address;
};

/* Finds the port; 0: the address is another device's. Returns false if a shortage hides it. */
static bool query_port_at(const struct verbs_ia *ia, const struct query_gids *gids,
                          const struct ifaddrs *entry, uint8_t *port)
{
    errno = 0;
    *port = gids->has_interfaces ? query_port_on(gids, entry->ifa_name)
                                 : verbs_port_of(ia, entry->ifa_addr);
    return *port != 0 || !base_net_is_shortage(errno);
}

/*
 * Gets the addresses of the device, in memory that the caller frees. Returns false if memory
 * or descriptors run out.
 */
static bool query_addresses(const struct verbs_ia *ia, struct query_address **list_out,
                            size_t *count)
{
    struct ifaddrs *entries = NULL;
    struct query_address *list;
    struct query_gids gids;
    bool complete = true;
    size_t room = 0;

    *count = 0;
    if (getifaddrs(&entries) != 0)
        return false;
    query_gids(ia, &gids);
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        room += verbs_address_is_usable(entry);
    list = calloc(room + 1, sizeof(*list));
    for (const struct ifaddrs *entry = entries; list && complete && entry;
         entry = entry->ifa_next) {
        uint8_t port;

        if (!verbs_address_is_usable(entry))
            continue;
        complete = query_port_at(ia, &gids, entry, &port);
        if (port == 0)
            continue;
        list[*count].port = port;
        (void)base_net_from_sockaddr(entry->ifa_addr, &list[*count].address);
        (*count)++;
    }
    free(gids.entries);
    freeifaddrs(entries);
    if (list && complete) {
        *list_out = list;
        return true;
    }
    free(list);
    return false;
}

it_status_t verbs_has_address(const struct ual_ia *ual, const it_net_addr_t *address)
{
    struct query_address *list = NULL;
    bool found = false;
    size_t count;

    if (!query_addresses(verbs_ia_of(ual), &list, &count))
        return IT_ERR_RESOURCES;
    for (size_t i = 0; i < count && !found; i++)
        found = base_net_is_same(&list[i].address, address);
    free(list);
    return found ? IT_SUCCESS : IT_ERR_INVALID_ADDRESS;
}

/* ---------------------------------------------------------------- it_ia_query */

bool verbs_has_spigot(const struct ual_ia *ual, size_t spigot_id)
{
    return spigot_id >= 1 && spigot_id <= verbs_ia_of(ual)->ports;
}

static void query_fill_vendor(const struct verbs_ia *ia, it_ia_info_t *info)
{
    const struct ibv_device_attr *device = &ia->device.orig_attr;

    if (!ia->is_iwarp) {
        info->vendor.ib.vendor = device->vendor_id & 0xffffffu;
        info->vendor.ib.device = (uint16_t)device->vendor_part_id;
        info->vendor.ib.revision = device->hw_ver;
        return;
    }
    info->vendor.iwarp.valid_vid = IT_TRUE;
    for (size_t i = 0; i < 3; i++) /* most significant octet first */
        info->vendor.iwarp.vid[i] = (unsigned char)(device->vendor_id >> (16 - 8 * i));
}

/* The Spigots share one array of addresses. Returns the unused rest of it. */
static it_net_addr_t *query_fill_spigot(const struct verbs_ia *ia, it_spigot_info_t *spigot,
                                        uint8_t number, const struct query_address *list,
                                        size_t count, it_net_addr_t *room)
{
    struct ibv_port_attr port;

    spigot->spigot_id = number;
    spigot->max_rc_send_len = ia->attributes.max_message;
    spigot->max_rc_rdma_len = ia->attributes.max_message;
    spigot->max_ud_send_len = verbs_ud_max(ia, number);
    spigot->net_addr = room;
    if (verbs_query_port(ia, number, &port) && port.state == IBV_PORT_ACTIVE)
        spigot->spigot_online = IT_TRUE;
    for (size_t i = 0; i < count; i++)
        if (list[i].port == number)
            room[spigot->num_net_addr++] = list[i].address;
    return room + spigot->num_net_addr;
}

it_status_t verbs_ia_query(struct ual_ia *ual, it_ia_info_t **info_out)
{
    const struct verbs_ia *ia = verbs_ia_of(ual);
    struct query_address *list = NULL;
    it_net_addr_t *room;
    it_ia_info_t *info;
    size_t count;

    if (!query_addresses(ia, &list, &count))
        return IT_ERR_RESOURCES;
    info = verbs_host->ia_info_alloc(ia->ports, count);
    if (!info) {
        free(list);
        return IT_ERR_RESOURCES;
    }
    /* A member not set here stays zero: not offered. The access layer sets the attributes. */
    query_fill_vendor(ia, info);
    info->dto_alignment_hint = 64; /* a cache line */
    info->ird_ord_ia_support = IT_TRUE;
    info->spigot_online_support = IT_TRUE;
    info->spigot_offline_support = IT_TRUE;
    info->rdma_read_requires_remote_write = ia->is_iwarp && !ia->quirks.is_siw ? IT_TRUE : IT_FALSE;
    room = info->spigot_info[0].net_addr;
    for (uint8_t number = 1; number <= ia->ports; number++)
        room = query_fill_spigot(ia, &info->spigot_info[number - 1], number, list, count, room);
    free(list);
    *info_out = info;
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- counters */

static void query_count(struct verbs_queue *queue, uint64_t *posted, uint64_t *done)
{
    uint32_t retired = atomic_load_explicit(&queue->retired, memory_order_acquire);
    uint32_t tail;

    base_lock_take(&queue->lock);
    tail = queue->tail;
    base_lock_drop(&queue->lock);
    *posted += tail - VERBS_FIRST;
    *done += retired - VERBS_FIRST;
}

/*
 * Derived from numbers that the queues have anyway: the device moves the data, and polls are not
 * counted.
 */
void verbs_ep_counters(struct ual_ep *ual, struct itx_ep_counters *counters)
{
    struct verbs_ep *ep = verbs_ep_of(ual);

    query_count(&ep->sq, &counters->requests_posted, &counters->requests_done);
    query_count(&ep->rq, &counters->receives_posted, &counters->receives_done);
    counters->requests_ended = counters->requests_done; /* unknown until it is polled */
}

bool verbs_device_is_own(const struct verbs_ia *ia, const struct rdma_cm_id *id)
{
    /* librdmacm opens devices itself: another context, and perhaps another device list. */
    return id->verbs && strcmp(ibv_get_device_name(id->verbs->device),
                               ibv_get_device_name(ia->context->device)) == 0;
}

size_t verbs_ud_max(const struct verbs_ia *ia, uint8_t port)
{
    struct ibv_port_attr attr;

    if (!ia->attributes.datagrams || !verbs_query_port(ia, port, &attr) ||
        attr.active_mtu < IBV_MTU_256 || attr.active_mtu > IBV_MTU_4096)
        return 0;
    return (size_t)128 << attr.active_mtu;
}
