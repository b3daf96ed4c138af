/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SO_ERROR is not asked for: reading it would take the error away from the caller. A stream with a
 * pending error is not in state ESTABLISHED any more.
 */
#include "tdi/tdi_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

static bool tdi_socket_option_is(int sd, int option, int expected)
{
    int value = 0;
    socklen_t length = sizeof(value);

    return getsockopt(sd, SOL_SOCKET, option, &value, &length) == 0 && value == expected;
}

/* A listening socket, or one with a direction shut down, is in another state. */
static bool tdi_socket_is_established(int sd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    memset(&info, 0, sizeof(info));
    return getsockopt(sd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

static bool tdi_address_from(const struct sockaddr_storage *from, it_net_addr_t *to)
{
    memset(to, 0, sizeof(*to));
    if (from->ss_family == AF_INET) {
        to->addr_type = IT_IPV4;
        memcpy(&to->addr.ipv4, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
               sizeof(to->addr.ipv4));
        return true;
    }
    if (from->ss_family == AF_INET6) {
        const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;

        if (IN6_IS_ADDR_V4MAPPED(ipv6)) {
            to->addr_type = IT_IPV4;
            memcpy(&to->addr.ipv4, &ipv6->s6_addr[12], sizeof(to->addr.ipv4));
        } else {
            to->addr_type = IT_IPV6;
            to->addr.ipv6 = *ipv6;
        }
        return true;
    }
    return false;
}

static bool tdi_socket_addresses(int sd, it_net_addr_t *local, it_net_addr_t *remote)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(address);

    if (getsockname(sd, (struct sockaddr *)&address, &length) != 0 ||
        !tdi_address_from(&address, local))
        return false;
    length = sizeof(address);
    return getpeername(sd, (struct sockaddr *)&address, &length) == 0 &&
           tdi_address_from(&address, remote);
}

static void tdi_fill_path(const it_net_addr_t *local, const it_net_addr_t *remote, it_path_t *path)
{
    it_iwarp_net_endpoint_t *pair = &path->remote.iwarp;

    memset(path, 0, sizeof(*path));
    if (local->addr_type == IT_IPV4) {
        pair->ip_vers = IT_IP_VERS_IPV4;
        pair->laddr.ipv4 = local->addr.ipv4;
        pair->raddr.ipv4 = remote->addr.ipv4;
    } else {
        pair->ip_vers = IT_IP_VERS_IPV6;
        pair->laddr.ipv6 = local->addr.ipv6;
        pair->raddr.ipv6 = remote->addr.ipv6;
    }
}

bool tdi_socket_examine(int sd, struct tdi_socket *stream)
{
    it_net_addr_t remote;

    if (!tdi_socket_option_is(sd, SO_TYPE, SOCK_STREAM) ||
        !tdi_socket_option_is(sd, SO_PROTOCOL, IPPROTO_TCP))
        return false;
    if (!tdi_socket_option_is(sd, SO_DOMAIN, AF_INET) &&
        !tdi_socket_option_is(sd, SO_DOMAIN, AF_INET6))
        return false;
    if (!tdi_socket_is_established(sd))
        return false;
    if (!tdi_socket_addresses(sd, &stream->local, &remote) ||
        stream->local.addr_type != remote.addr_type)
        return false;
    tdi_fill_path(&stream->local, &remote, &stream->path);
    return true;
}
