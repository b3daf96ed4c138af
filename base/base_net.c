/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_net.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

void base_net_copy(struct sockaddr_storage *to, const void *sockaddr)
{
    memset(to, 0, sizeof(*to));
    memcpy(to, sockaddr, base_net_length(sockaddr));
}

socklen_t base_net_to_sockaddr(const it_net_addr_t *address, uint16_t port, uint32_t scope,
                               struct sockaddr_storage *sockaddr)
{
    struct sockaddr_in *ipv4 = (void *)sockaddr;
    struct sockaddr_in6 *ipv6 = (void *)sockaddr;

    memset(sockaddr, 0, sizeof(*sockaddr));
    if (address->addr_type == IT_IPV4) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = port;
        ipv4->sin_addr = address->addr.ipv4;
        return sizeof(*ipv4);
    }
    if (address->addr_type == IT_IPV6) {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = port;
        ipv6->sin6_addr = address->addr.ipv6;
        ipv6->sin6_scope_id = scope;
        return sizeof(*ipv6);
    }
    return 0;
}

bool base_net_from_sockaddr(const void *sockaddr, it_net_addr_t *address)
{
    const struct sockaddr *any = sockaddr;

    memset(address, 0, sizeof(*address));
    if (any->sa_family == AF_INET) {
        address->addr_type = IT_IPV4;
        address->addr.ipv4 = ((const struct sockaddr_in *)sockaddr)->sin_addr;
    } else if (any->sa_family == AF_INET6) {
        address->addr_type = IT_IPV6;
        address->addr.ipv6 = ((const struct sockaddr_in6 *)sockaddr)->sin6_addr;
        base_net_unmap(address);
    } else {
        return false;
    }
    return true;
}

/* Connecting a datagram socket sends nothing. */
int base_net_source(const struct sockaddr_storage *remote, struct sockaddr_storage *local)
{
    int fd = socket(remote->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = 0;

    memset(local, 0, sizeof(*local));
    if (fd < 0)
        return errno;
    if (connect(fd, (const struct sockaddr *)remote, base_net_length(remote)) != 0 ||
        !base_net_local(fd, local))
        error = errno;
    (void)close(fd);
    return error;
}

bool base_net_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

bool base_net_local(int fd, struct sockaddr_storage *local)
{
    socklen_t length = sizeof(*local);

    memset(local, 0, sizeof(*local));
    return getsockname(fd, (struct sockaddr *)local, &length) == 0;
}

bool base_net_ends(int fd, struct sockaddr_storage *local, struct sockaddr_storage *remote)
{
    socklen_t length = sizeof(*remote);

    memset(remote, 0, sizeof(*remote));
    return base_net_local(fd, local) && getpeername(fd, (struct sockaddr *)remote, &length) == 0;
}

/* ---------------------------------------------------------------- errors of sockets and ids */

it_status_t base_net_listen_status(int error)
{
    switch (error) {
    case 0:
        return IT_SUCCESS;
    case EADDRINUSE:
        return IT_ERR_CONN_QUAL_BUSY;
    case EACCES:
    case EPERM:
        return IT_ERR_NO_PERMISSION;
    default:
        return IT_ERR_RESOURCES;
    }
}

it_status_t base_net_bind_status(int error)
{
    switch (error) {
    case 0:
        return IT_SUCCESS;
    case EADDRINUSE:
    case EACCES: /* a privileged port, which the consumer cannot have */
        return IT_ERR_CONN_QUAL_BUSY;
    case EADDRNOTAVAIL:
    case ENODEV:
    case EINVAL:
        return IT_ERR_INVALID_SOURCE_PATH;
    default:
        return IT_ERR_RESOURCES;
    }
}

it_conn_reject_code_t base_net_reject_code(int error)
{
    if (base_net_is_shortage(error))
        return IT_CN_REJ_RESOURCES;
    switch (error) {
    case ETIMEDOUT:
        return IT_CN_REJ_TIMEOUT;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case EADDRNOTAVAIL:
    case ENODEV:
    case EACCES: /* a firewall rule, or a broadcast address */
    case EPERM:
        return IT_CN_REJ_BAD_PATH;
    default:
        return IT_CN_REJ_OTHER;
    }
}

/* ---------------------------------------------------------------- options of a TCP socket */

static void net_get_option(int fd, int level, int option, int *value)
{
    socklen_t length = sizeof(*value);

    *value = 0;
    (void)getsockopt(fd, level, option, value, &length); /* cannot fail: a TCP socket */
}

void base_net_get_options(int fd, struct base_net_options *options)
{
    socklen_t length = sizeof(options->linger);

    net_get_option(fd, IPPROTO_TCP, TCP_NODELAY, &options->nodelay);
    net_get_option(fd, IPPROTO_TCP, TCP_CORK, &options->cork);
    net_get_option(fd, SOL_SOCKET, SO_RCVLOWAT, &options->lowat);
    (void)getsockopt(fd, SOL_SOCKET, SO_LINGER, &options->linger, &length);
}

void base_net_set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

void base_net_drop_linger(int fd)
{
    const struct linger none = {.l_onoff = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

/* ---------------------------------------------------------------- addresses of the API */

void base_net_unmap(it_net_addr_t *address)
{
    struct in_addr ipv4;

    if (address->addr_type != IT_IPV6 || !IN6_IS_ADDR_V4MAPPED(&address->addr.ipv6))
        return;
    memcpy(&ipv4, &address->addr.ipv6.s6_addr[12], sizeof(ipv4));
    memset(address, 0, sizeof(*address));
    address->addr_type = IT_IPV4;
    address->addr.ipv4 = ipv4;
}

bool base_net_is_any(const it_net_addr_t *address)
{
    if (address->addr_type == IT_IPV4)
        return address->addr.ipv4.s_addr == htonl(INADDR_ANY);
    return address->addr_type == IT_IPV6 && IN6_IS_ADDR_UNSPECIFIED(&address->addr.ipv6);
}

bool base_net_is_peer(const it_net_addr_t *address)
{
    if (base_net_is_any(address))
        return false;
    if (address->addr_type == IT_IPV4)
        return !IN_MULTICAST(ntohl(address->addr.ipv4.s_addr)) &&
               address->addr.ipv4.s_addr != htonl(INADDR_BROADCAST);
    return address->addr_type == IT_IPV6 && !IN6_IS_ADDR_MULTICAST(&address->addr.ipv6);
}

bool base_net_is_same(const it_net_addr_t *a, const it_net_addr_t *b)
{
    if (a->addr_type != b->addr_type)
        return false;
    if (a->addr_type == IT_IPV4)
        return a->addr.ipv4.s_addr == b->addr.ipv4.s_addr;
    return a->addr_type == IT_IPV6 &&
           memcmp(&a->addr.ipv6, &b->addr.ipv6, sizeof(a->addr.ipv6)) == 0;
}

void base_net_text(const it_net_addr_t *address, char text[INET6_ADDRSTRLEN])
{
    text[0] = '\0';
    /* cannot fail: text has room for any address */
    (void)inet_ntop(address->addr_type == IT_IPV4 ? AF_INET : AF_INET6, &address->addr, text,
                    INET6_ADDRSTRLEN);
}

void base_net_into_path(const it_net_addr_t *local, const it_net_addr_t *remote, it_path_t *path)
{
    it_iwarp_net_endpoint_t *end = &path->remote.iwarp;

    memset(&path->remote, 0, sizeof(path->remote));
    if (remote->addr_type == IT_IPV4) {
        end->ip_vers = IT_IP_VERS_IPV4;
        end->laddr.ipv4 = local->addr.ipv4;
        end->raddr.ipv4 = remote->addr.ipv4;
    } else {
        end->ip_vers = IT_IP_VERS_IPV6;
        end->laddr.ipv6 = local->addr.ipv6;
        end->raddr.ipv6 = remote->addr.ipv6;
    }
}

bool base_net_from_path(const it_path_t *path, it_net_addr_t *local, it_net_addr_t *remote)
{
    const it_iwarp_net_endpoint_t *end = &path->remote.iwarp;

    memset(local, 0, sizeof(*local));
    memset(remote, 0, sizeof(*remote));
    if (end->ip_vers == IT_IP_VERS_IPV4) {
        local->addr_type = remote->addr_type = IT_IPV4;
        local->addr.ipv4 = end->laddr.ipv4;
        remote->addr.ipv4 = end->raddr.ipv4;
    } else if (end->ip_vers == IT_IP_VERS_IPV6) {
        local->addr_type = remote->addr_type = IT_IPV6;
        local->addr.ipv6 = end->laddr.ipv6;
        remote->addr.ipv6 = end->raddr.ipv6;
    } else {
        return false;
    }
    return true;
}
