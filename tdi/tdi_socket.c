/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SO_ERROR is not asked for: reading it would take the error away from the caller. A stream with a
 * pending error is not in state ESTABLISHED any more.
 */
#include "tdi/tdi_socket.h"

#include "base/base_net.h"

#include <netinet/tcp.h>
#include <string.h>

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

static bool tdi_socket_addresses(int sd, it_net_addr_t *local, it_net_addr_t *remote)
{
    struct sockaddr_storage own, peer;

    return base_net_ends(sd, &own, &peer) && base_net_from_sockaddr(&own, local) &&
           base_net_from_sockaddr(&peer, remote);
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
    memset(&stream->path, 0, sizeof(stream->path));
    base_net_into_path(&stream->local, &remote, &stream->path);
    return true;
}
