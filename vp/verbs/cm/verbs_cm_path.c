/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths. A path of iWARP consists of IP addresses, and in effect one of RoCE does too: its GIDs are
 * addresses. On InfiniBand the subnet administrator knows the path to an address. rdma_cm connects
 * addresses, so the provider remembers from which addresses the GIDs of a path came.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ANY_PORT 9u /* no packet is sent there */

struct verbs_path_memo {
    struct verbs_path_memo *next;
    it_ib_gid_t local_gid, remote_gid;
    it_net_addr_t local, remote;
};

/* ---------------------------------------------------------------- addresses */

/* Returns the index of the port's network interface for a link-local address; otherwise 0. */
static uint32_t address_scope(const struct verbs_ia *ia, size_t spigot_id,
                              const it_net_addr_t *address)
{
    struct ifaddrs *entries = NULL;
    uint32_t scope = 0;

    if (address->addr_type != IT_IPV6 || !IN6_IS_ADDR_LINKLOCAL(&address->addr.ipv6) ||
        getifaddrs(&entries) != 0)
        return 0;
    for (const struct ifaddrs *entry = entries; entry && scope == 0; entry = entry->ifa_next)
        if (verbs_address_is_usable(entry) && verbs_port_of(ia, entry->ifa_addr) == spigot_id)
            scope = if_nametoindex(entry->ifa_name);
    freeifaddrs(entries);
    return scope;
}

static bool address_is_on_link(const struct ifaddrs *entry, const it_net_addr_t *to)
{
    const uint8_t *own, *mask, *peer;
    size_t length;

    if (!entry->ifa_netmask)
        return false;
    if (to->addr_type == IT_IPV4) {
        own = (const void *)&((const struct sockaddr_in *)(const void *)entry->ifa_addr)->sin_addr;
        mask = (const void *)&((const struct sockaddr_in *)(void *)entry->ifa_netmask)->sin_addr;
        peer = (const void *)&to->addr.ipv4;
        length = sizeof(to->addr.ipv4);
    } else {
        own = ((const struct sockaddr_in6 *)(const void *)entry->ifa_addr)->sin6_addr.s6_addr;
        mask = ((const struct sockaddr_in6 *)(void *)entry->ifa_netmask)->sin6_addr.s6_addr;
        peer = to->addr.ipv6.s6_addr;
        length = sizeof(to->addr.ipv6);
    }
    for (size_t i = 0; i < length; i++)
        if ((own[i] & mask[i]) != (peer[i] & mask[i]))
            return false;
    return true;
}

/*
 * The kernel sends to a subnet from one address only. Another port of the IA may be in that subnet
 * with an address of its own, which this function finds.
 */
static bool address_beside(const struct verbs_ia *ia, size_t spigot_id, const it_net_addr_t *to,
                           it_net_addr_t *from)
{
    sa_family_t family = to->addr_type == IT_IPV4 ? AF_INET : AF_INET6;
    struct ifaddrs *entries = NULL;
    bool found = false;

    if (getifaddrs(&entries) != 0)
        return false;
    for (const struct ifaddrs *entry = entries; entry && !found; entry = entry->ifa_next) {
        found = verbs_address_is_usable(entry) && entry->ifa_addr->sa_family == family &&
                address_is_on_link(entry, to) && verbs_port_of(ia, entry->ifa_addr) == spigot_id;
        if (found)
            (void)base_net_from_sockaddr(entry->ifa_addr, from);
    }
    freeifaddrs(entries);
    return found;
}

/* Finds the local address. *found false: no route leads through this port of the device. */
static it_status_t address_source(const struct verbs_ia *ia, size_t spigot_id,
                                  const it_net_addr_t *to, it_net_addr_t *from, bool *found)
{
    struct sockaddr_storage remote;
    struct sockaddr_storage local;
    uint8_t port;
    int error;

    *found = false;
    if (!base_net_is_peer(to))
        return IT_SUCCESS;
    (void)base_net_to_sockaddr(to, htons(PATH_ANY_PORT), address_scope(ia, spigot_id, to), &remote);
    error = base_net_source(&remote, &local);
    if (error != 0) /* any error but a shortage means that there is no such address, or no route */
        return base_net_is_shortage(error) ? IT_ERR_RESOURCES : IT_SUCCESS;
    (void)base_net_from_sockaddr(&local, from);
    port = verbs_port_of(ia, (const struct sockaddr *)&local);
    if (port == 0 && base_net_is_shortage(errno))
        return IT_ERR_RESOURCES;
    *found = port == spigot_id || address_beside(ia, spigot_id, to, from);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- GIDs */

static void gid_from_address(const it_net_addr_t *address, it_ib_gid_t *gid)
{
    struct in6_addr ipv6 = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    if (address->addr_type == IT_IPV4)
        memcpy(&ipv6.s6_addr[12], &address->addr.ipv4, sizeof(address->addr.ipv4));
    else
        ipv6 = address->addr.ipv6;
    memcpy(gid, &ipv6, sizeof(*gid));
}

static void gid_to_address(const it_ib_gid_t *gid, it_net_addr_t *address)
{
    memset(address, 0, sizeof(*address));
    address->addr_type = IT_IPV6;
    memcpy(&address->addr.ipv6, gid, sizeof(address->addr.ipv6));
    base_net_unmap(address);
}

/* --------------------------------------------------------------- addresses of InfiniBand paths */

static struct verbs_path_memo *memo_find_locked(const struct verbs_cm *cm,
                                                const it_ib_net_endpoint_t *ib)
{
    static const it_ib_gid_t any;
    struct verbs_path_memo *memo = cm->memos;

    while (memo &&
           (memcmp(&memo->remote_gid, &ib->remote_port_gid, sizeof(memo->remote_gid)) != 0 ||
            (memcmp(&memo->local_gid, &ib->local_port_gid, sizeof(memo->local_gid)) != 0 &&
             memcmp(&any, &ib->local_port_gid, sizeof(any)) != 0)))
        memo = memo->next;
    return memo;
}

static bool memo_keep(struct verbs_cm *cm, const it_ib_net_endpoint_t *ib,
                      const it_net_addr_t *local, const it_net_addr_t *remote)
{
    struct verbs_path_memo *memo;

    (void)pthread_mutex_lock(&cm->lock);
    memo = memo_find_locked(cm, ib);
    if (!memo) {
        memo = calloc(1, sizeof(*memo));
        if (memo) {
            memo->next = cm->memos;
            cm->memos = memo;
        }
    }
    if (memo) {
        memo->local_gid = ib->local_port_gid;
        memo->remote_gid = ib->remote_port_gid;
        memo->local = *local;
        memo->remote = *remote;
    }
    (void)pthread_mutex_unlock(&cm->lock);
    return memo != NULL;
}

static bool memo_recall(struct verbs_cm *cm, const it_ib_net_endpoint_t *ib, it_net_addr_t *local,
                        it_net_addr_t *remote)
{
    const struct verbs_path_memo *memo;

    (void)pthread_mutex_lock(&cm->lock);
    memo = memo_find_locked(cm, ib);
    if (memo) {
        *local = memo->local;
        *remote = memo->remote;
    }
    (void)pthread_mutex_unlock(&cm->lock);
    return memo != NULL;
}

void verbs_path_forget(struct verbs_cm *cm)
{
    while (cm->memos) {
        struct verbs_path_memo *memo = cm->memos;

        cm->memos = memo->next;
        free(memo);
    }
}

/* ---------------------------------------------------------------- from an id to a path */

static void path_fill_record(const struct ibv_sa_path_rec *record, it_ib_net_endpoint_t *ib)
{
    ib->partition_key = ntohs(record->pkey);
    ib->path_mtu = record->mtu & 0xfu;
    ib->packet_lifetime = record->packet_life_time & 0x3fu;
    ib->local_port_lid = ntohs(record->slid);
    ib->remote_port_lid = ntohs(record->dlid);
    memcpy(&ib->local_port_gid, &record->sgid, sizeof(ib->local_port_gid));
    memcpy(&ib->remote_port_gid, &record->dgid, sizeof(ib->remote_port_gid));
    ib->packet_rate = record->rate & 0x3fu;
    ib->sl = record->sl & 0xfu;
    ib->flow_label = ntohl(record->flow_label) & 0xfffffu;
    ib->traffic_class = record->traffic_class;
    ib->hop_limit = record->hop_limit;
    ib->subnet_local = record->hop_limit <= 1;
}

/* The passive side has no path record, so the path is read from the attributes for its QP. */
static void path_fill_attributes(struct rdma_cm_id *id, it_ib_net_endpoint_t *ib)
{
    const struct rdma_ib_addr *address = &id->route.addr.addr.ibaddr;
    struct ibv_qp_attr attributes;
    int mask = 0;

    memcpy(&ib->local_port_gid, &address->sgid, sizeof(ib->local_port_gid));
    memcpy(&ib->remote_port_gid, &address->dgid, sizeof(ib->remote_port_gid));
    ib->partition_key = ntohs(address->pkey);
    memset(&attributes, 0, sizeof(attributes));
    attributes.qp_state = IBV_QPS_RTR;
    if (rdma_init_qp_attr(id, &attributes, &mask) != 0)
        return;
    ib->path_mtu = attributes.path_mtu & 0xfu;
    ib->remote_port_lid = attributes.ah_attr.dlid;
    ib->packet_rate = attributes.ah_attr.static_rate & 0x3fu;
    ib->sl = attributes.ah_attr.sl & 0xfu;
    ib->flow_label = attributes.ah_attr.grh.flow_label & 0xfffffu;
    ib->traffic_class = attributes.ah_attr.grh.traffic_class;
    ib->hop_limit = attributes.ah_attr.grh.hop_limit;
    ib->subnet_local = ib->hop_limit <= 1;
}

void verbs_path_fill(const struct verbs_ia *ia, struct rdma_cm_id *id, it_path_t *path)
{
    it_net_addr_t local, remote;

    (void)base_net_from_sockaddr(rdma_get_local_addr(id), &local);
    (void)base_net_from_sockaddr(rdma_get_peer_addr(id), &remote);
    memset(&path->remote, 0, sizeof(path->remote));
    if (ia->is_iwarp)
        base_net_into_path(&local, &remote, path);
    else if (id->route.num_paths > 0)
        path_fill_record(&id->route.path_rec[0], &path->remote.ib);
    else
        path_fill_attributes(id, &path->remote.ib);
}

void verbs_path_of_id(const struct verbs_conn *conn, it_path_t *path)
{
    verbs_path_fill(conn->cm->ia, conn->id, path);
}

/* ---------------------------------------------------------------- it_get_pathinfo */

static void path_fill_roce(const struct verbs_ia *ia, size_t spigot_id, const it_net_addr_t *local,
                           const it_net_addr_t *remote, it_ib_net_endpoint_t *ib)
{
    struct ibv_port_attr port;

    gid_from_address(local, &ib->local_port_gid);
    gid_from_address(remote, &ib->remote_port_gid);
    ib->partition_key = 0xffff;
    (void)verbs_query_port(ia, spigot_id, &port); /* 0 if unknown */
    ib->path_mtu = port.active_mtu & 0xfu;
}

/* Asks the subnet, which takes time. Returns false if there is no path. */
static bool path_resolve(struct verbs_cm *cm, const it_net_addr_t *local,
                         const it_net_addr_t *remote, it_path_t *path)
{
    struct rdma_cm_id *id = NULL;
    struct sockaddr_storage from;
    struct sockaddr_storage to;
    bool found;

    if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) != 0)
        return false;
    (void)base_net_to_sockaddr(local, 0, 0, &from);
    (void)base_net_to_sockaddr(remote, 0, address_scope(cm->ia, path->spigot_id, remote), &to);
    found = rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to,
                              VERBS_CM_RESOLVE_MS) == 0 &&
            rdma_resolve_route(id, VERBS_CM_RESOLVE_MS) == 0 && verbs_device_is_own(cm->ia, id);
    if (found) {
        verbs_path_fill(cm->ia, id, path);
        found = memo_keep(cm, &path->remote.ib, local, remote);
    }
    (void)rdma_destroy_id(id); /* used here only: no event is pending */
    return found;
}

static it_status_t path_destination(const struct verbs_ia *ia, size_t spigot_id,
                                    const it_net_addr_t *to, it_net_addr_t *remote)
{
    *remote = *to;
    if (to->addr_type == IT_IB_GID && !ia->is_iwarp && verbs_port_is_ethernet(ia, spigot_id))
        gid_to_address(&to->addr.gid, remote);
    else if (to->addr_type != IT_IPV4 && to->addr_type != IT_IPV6)
        return IT_ERR_INVALID_NETADDR;
    base_net_unmap(remote);
    return IT_SUCCESS;
}

it_status_t verbs_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                        size_t capacity, it_path_t *paths, size_t *total)
{
    const struct verbs_ia *ia = verbs_ia_of(ual);
    it_path_t path = {.spigot_id = spigot_id, .timeout = VERBS_CM_ATTEMPT_US};
    it_net_addr_t local, remote;
    bool found = false;
    it_status_t status;

    *total = 0;
    status = path_destination(ia, spigot_id, to, &remote);
    if (status == IT_SUCCESS)
        status = address_source(ia, spigot_id, &remote, &local, &found);
    if (status != IT_SUCCESS || !found)
        return status;
    if (ia->is_iwarp)
        base_net_into_path(&local, &remote, &path);
    else if (verbs_port_is_ethernet(ia, spigot_id))
        path_fill_roce(ia, spigot_id, &local, &remote, &path.remote.ib);
    else if (!path_resolve(ia->cm, &local, &remote, &path))
        return IT_SUCCESS;
    *total = 1; /* the kernel chooses one */
    if (capacity > 0)
        *paths = path;
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- the ends of a path */

static bool path_split(struct verbs_cm *cm, const it_path_t *path, it_net_addr_t *local,
                       it_net_addr_t *remote)
{
    const it_ib_net_endpoint_t *ib = &path->remote.ib;

    memset(local, 0, sizeof(*local));
    memset(remote, 0, sizeof(*remote));
    if (cm->ia->is_iwarp) {
        if (!base_net_from_path(path, local, remote))
            return false;
        base_net_unmap(local);
        base_net_unmap(remote);
        return true;
    }
    if (!verbs_port_is_ethernet(cm->ia, path->spigot_id))
        return memo_recall(cm, ib, local, remote);
    gid_to_address(&ib->local_port_gid, local);
    gid_to_address(&ib->remote_port_gid, remote);
    return true;
}

it_status_t verbs_path_ends(struct verbs_cm *cm, const it_path_t *path,
                            struct sockaddr_storage *local, struct sockaddr_storage *remote)
{
    it_net_addr_t from, to;
    bool found = true;
    it_status_t status = IT_SUCCESS;

    if (!path_split(cm, path, &from, &to) || !base_net_is_peer(&to))
        return IT_ERR_INVALID_ADDRESS;
    if (base_net_is_any(&from))
        status = address_source(cm->ia, path->spigot_id, &to, &from, &found);
    if (status != IT_SUCCESS)
        return status;
    if (!found || from.addr_type != to.addr_type)
        return IT_ERR_INVALID_SOURCE_PATH;
    (void)base_net_to_sockaddr(&from, 0, address_scope(cm->ia, path->spigot_id, &from), local);
    (void)base_net_to_sockaddr(&to, 0, address_scope(cm->ia, path->spigot_id, &to), remote);
    return IT_SUCCESS;
}

it_status_t verbs_path_source(struct verbs_cm *cm, const it_path_t *path, it_ib_gid_t *gid)
{
    struct sockaddr_storage local, remote;
    it_net_addr_t address;
    it_status_t status = verbs_path_ends(cm, path, &local, &remote);

    if (status != IT_SUCCESS)
        return status;
    (void)base_net_from_sockaddr(&local, &address);
    gid_from_address(&address, gid);
    return IT_SUCCESS;
}
