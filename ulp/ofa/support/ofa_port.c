/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ofa_port.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

socklen_t ofa_address_length(const struct sockaddr *address)
{
    switch (address ? address->sa_family : AF_UNSPEC) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    default:
        return 0;
    }
}

/* Returns the port, which has the same offset in both families. */
static in_port_t *port_in(const struct sockaddr *address)
{
    return &((struct sockaddr_in *)(uintptr_t)address)->sin_port;
}

uint16_t ofa_port_of(const struct sockaddr *address)
{
    return ofa_address_length(address) ? ntohs(*port_in(address)) : 0;
}

void ofa_port_set(struct sockaddr *address, uint16_t port)
{
    if (ofa_address_length(address))
        *port_in(address) = htons(port);
}

void ofa_port_any(struct sockaddr_storage *address, uint16_t port)
{
    int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(address, 0, sizeof(*address));
    address->ss_family = probe >= 0 ? AF_INET6 : AF_INET;
    if (probe >= 0)
        (void)close(probe);
    ofa_port_set((struct sockaddr *)address, port);
}

/* Returns 0 or errno: that of bind, also if the port cannot be shared. */
static int bind_kept(int fd, const struct sockaddr *address, socklen_t length, bool shared)
{
    const int on = 1;
    const int off = 0;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, shared ? &on : &off, sizeof(on));
    return bind(fd, address, length) == 0 ? 0 : errno;
}

int ofa_port_keep(struct sockaddr_storage *address, int type, bool shared, bool only, int *fd)
{
    struct sockaddr *plain = (struct sockaddr *)address;
    socklen_t length = ofa_address_length(plain);
    const int off = 0;
    const int v6_only = only;
    bool stream = type == SOCK_STREAM;
    int error;
    int kept;

    if (length == 0)
        return EAFNOSUPPORT;
    kept = socket(address->ss_family, type | SOCK_CLOEXEC, 0);
    if (kept < 0)
        return errno;
    if (address->ss_family == AF_INET6)
        (void)setsockopt(kept, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
    /* A UDP port is never shared: one socket would get the other's datagrams. */
    error = bind_kept(kept, plain, length, stream && shared);
    /* Ended streams (TIME_WAIT) occupy a TCP port, but not a port of rdma_cm. */
    if (error == EADDRINUSE && stream && !shared) {
        error = bind_kept(kept, plain, length, true);
        (void)setsockopt(kept, SOL_SOCKET, SO_REUSEADDR, &off, sizeof(off));
    }
    if (error == 0 && getsockname(kept, plain, &length) != 0)
        error = errno;
    if (error != 0)
        (void)close(kept);
    else
        *fd = kept;
    return error;
}

void ofa_port_share(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}
