/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of ids: binding, resolving, ports. */
#include "cm/ofa_cm.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/sa.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cm_is_any(const struct sockaddr *address)
{
    const struct sockaddr_in6 *six = (const void *)address;

    if (address->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == INADDR_ANY;
    return IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}

static void copy_address(struct sockaddr_storage *to, const struct sockaddr *from)
{
    memset(to, 0, sizeof(*to));
    memcpy(to, from, ofa_address_length(from));
}

/* ---- Binding -------------------------------------------------------------------------------- */

/* Returns true for addresses that no interface has, though a socket can be bound to them. */
static bool is_group(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    in_addr_t ip = address->sa_family == AF_INET ? ntohl(four->sin_addr.s_addr) : 0;

    return IN_MULTICAST(ip) || ip == INADDR_BROADCAST;
}

/* Binds and reserves the port, so that the program can publish it. Returns 0 or errno. */
static int bind_id(struct cm_id *id, const struct sockaddr *address)
{
    struct sockaddr_storage bound;
    int error = 0;

    if (ofa_address_length(address) == 0)
        return EINVAL;
    if (cm_id_state(id) != CM_IDLE)
        return EINVAL;
    if (is_group(address))
        return EADDRNOTAVAIL;
    copy_address(&bound, address);
    error = ofa_port_keep(&bound, id->base.qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM,
                          id->reuse_address, id->family_only, &id->port_socket);
    if (error == 0 && !cm_is_any(address))
        error = cm_attach_device(id);
    if (error != 0) {
        cm_release_port(id);
        return error;
    }
    id->base.route.addr.src_storage = bound;
    id->chosen_port = ofa_port_of(address) != 0;
    cm_id_set_state(id, CM_BOUND);
    return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    return cm_result(bind_id(cm_id_of(id), address));
}

/* ---- Resolving ------------------------------------------------------------------------------ */

static int connect_udp(int fd, const struct sockaddr *peer, socklen_t length)
{
    int result;

    do {
        result = connect(fd, peer, length);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* Returns the link-local address of an interface that is up; NULL: it is another address. */
static const struct sockaddr_in6 *link_local(const struct ifaddrs *interface)
{
    const struct sockaddr_in6 *six = (const void *)interface->ifa_addr;

    return six && six->sin6_family == AF_INET6 && (interface->ifa_flags & IFF_UP) &&
                   IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)
               ? six
               : NULL;
}

/* Returns the interface with this address, or else the first one with a link-local address. */
static uint32_t scope_of(const struct sockaddr_in6 *peer)
{
    struct ifaddrs *list;
    uint32_t first = 0;
    uint32_t own = 0;

    if (getifaddrs(&list) != 0)
        return 0;
    for (const struct ifaddrs *one = list; one; one = one->ifa_next) {
        const struct sockaddr_in6 *six = link_local(one);

        if (six && first == 0)
            first = six->sin6_scope_id;
        if (six && own == 0 && IN6_ARE_ADDR_EQUAL(&six->sin6_addr, &peer->sin6_addr))
            own = six->sin6_scope_id;
    }
    freeifaddrs(list);
    return own != 0 ? own : first;
}

/*
 * Linux's rdma_cm finds a route to a link-local address without a scope, where a socket refuses to
 * connect, unless the local address has a scope. Returns 0 or errno.
 */
static int complete_scope(struct sockaddr_storage *peer, const struct sockaddr_storage *local)
{
    const struct sockaddr_in6 *from = (const void *)local;
    struct sockaddr_in6 *six = (void *)peer;

    if (peer->ss_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ||
        six->sin6_scope_id != 0 || (from->sin6_family == AF_INET6 && from->sin6_scope_id != 0))
        return 0;
    six->sin6_scope_id = scope_of(six);
    return six->sin6_scope_id == 0 ? ENETUNREACH : 0;
}

/* Sets *local to the local address on the route to the peer; keeps its port. Returns 0 or errno. */
static int find_route(const struct sockaddr *peer, struct sockaddr_storage *local)
{
    int fd = socket(peer->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint16_t port = ofa_port_of((const struct sockaddr *)local);
    struct sockaddr_storage found = *local;
    struct sockaddr_storage with_port;
    socklen_t length = ofa_address_length(peer);
    int error;

    if (fd < 0)
        return errno;
    /* Connecting a UDP socket sends nothing; it looks up the route. It needs a port. */
    copy_address(&with_port, peer);
    error = complete_scope(&with_port, local);
    if (ofa_port_of(peer) == 0)
        ofa_port_set((struct sockaddr *)&with_port, 9);
    ofa_port_set((struct sockaddr *)&found, 0);
    if (error == 0 && found.ss_family == peer->sa_family &&
        bind(fd, (const struct sockaddr *)&found, length) != 0)
        error = errno;
    if (error == 0 && (connect_udp(fd, (const struct sockaddr *)&with_port, length) != 0 ||
                       getsockname(fd, (struct sockaddr *)&found, &length) != 0))
        error = errno;
    (void)close(fd);
    if (error != 0)
        return error;
    ofa_port_set((struct sockaddr *)&found, port);
    *local = found;
    return 0;
}

/* Reserves a local port, which the program may publish and the peer sees. Returns 0 or errno. */
static int keep_port(struct cm_id *id)
{
    int type = id->base.qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;

    if (id->port_socket >= 0)
        return 0;
    return ofa_port_keep(&id->base.route.addr.src_storage, type, false, false, &id->port_socket);
}

static int resolve(struct cm_id *id, const struct sockaddr *peer)
{
    int error = find_route(peer, &id->base.route.addr.src_storage);

    if (error == 0)
        error = keep_port(id);
    if (error == 0)
        error = cm_attach_device(id);
    if (error != 0)
        return error;
    copy_address(&id->base.route.addr.dst_storage, peer);
    cm_id_set_state(id, CM_ADDR_RESOLVED);
    return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *base, struct sockaddr *source, struct sockaddr *peer,
                      int timeout_ms)
{
    struct cm_id *id = cm_id_of(base);
    struct cm_event *event;
    int error = 0;

    (void)timeout_ms;
    if (ofa_address_length(peer) == 0 ||
        (cm_id_state(id) != CM_IDLE && cm_id_state(id) != CM_BOUND))
        return cm_result(EINVAL);
    if (source && cm_id_state(id) == CM_IDLE)
        error = bind_id(id, source);
    if (error == 0 && cm_id_state(id) == CM_BOUND &&
        base->route.addr.src_addr.sa_family != peer->sa_family)
        error = EINVAL;
    if (error != 0)
        return cm_result(error);
    event = cm_event_new(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    error = event ? resolve(id, peer) : ENOMEM;
    if (error != 0) {
        free(event);
        return cm_result(error); /* as Linux, which looks the route up at once, too */
    }
    cm_event_post(event);
    return cm_complete(id);
}

int rdma_resolve_route(struct rdma_cm_id *base, int timeout_ms)
{
    struct cm_id *id = cm_id_of(base);
    struct cm_event *event;

    (void)timeout_ms;
    if (cm_id_state(id) != CM_ADDR_RESOLVED)
        return cm_result(EINVAL);
    if (!base->route.path_rec) {
        base->route.path_rec = calloc(1, sizeof(*base->route.path_rec));
        if (!base->route.path_rec)
            return cm_result(ENOMEM);
        base->route.path_rec->mtu = IBV_MTU_4096;
        base->route.path_rec->pkey = htobe16(0xffff);
        base->route.path_rec->reversible = 1;
        base->route.path_rec->numb_path = 1;
    }
    event = cm_event_new(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    if (!event)
        return cm_result(ENOMEM);
    base->route.num_paths = 1;
    cm_id_set_state(id, CM_ROUTE_RESOLVED);
    cm_event_post(event);
    return cm_complete(id);
}

/* ---- Ports ---------------------------------------------------------------------------------- */

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return htobe16(ofa_port_of(&id->route.addr.src_addr));
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return htobe16(ofa_port_of(&id->route.addr.dst_addr));
}
