/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/exs_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static const struct sockaddr_in *four(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in *)(const void *)address;
}

static const struct sockaddr_in6 *six(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in6 *)(const void *)address;
}

static bool is_mapped(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six(address)->sin6_addr);
}

int exs_address_check(int domain, const struct sockaddr *address, socklen_t length)
{
    if (length < sizeof(address->sa_family))
        return EINVAL;
    if (address->sa_family != domain)
        return EAFNOSUPPORT;
    return length < (domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6))
               ? EINVAL
               : 0;
}

/* The port is at the same offset in both kinds of address. */
uint16_t exs_address_port(const struct sockaddr_storage *address)
{
    return four(address)->sin_port;
}

void exs_address_set_port(struct sockaddr_storage *address, uint16_t port)
{
    ((struct sockaddr_in *)(void *)address)->sin_port = port;
}

static void copy_ip(it_in_addr_t *ip, const struct sockaddr_storage *address)
{
    if (is_mapped(address))
        memcpy(&ip->ipv4, &six(address)->sin6_addr.s6_addr[12], sizeof(ip->ipv4));
    else if (address->ss_family == AF_INET6)
        ip->ipv6 = six(address)->sin6_addr;
    else if (address->ss_family == AF_INET)
        ip->ipv4 = four(address)->sin_addr;
}

void exs_address_path(const struct sockaddr_storage *local, const struct sockaddr_storage *peer,
                      it_path_t *path)
{
    bool is_four = peer->ss_family == AF_INET || is_mapped(peer);

    memset(path, 0, sizeof(*path));
    path->remote.iwarp.ip_vers = is_four ? IT_IP_VERS_IPV4 : IT_IP_VERS_IPV6;
    copy_ip(&path->remote.iwarp.laddr, local);
    copy_ip(&path->remote.iwarp.raddr, peer);
}

void exs_address_convert(int domain, struct sockaddr_storage *address)
{
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    struct sockaddr_in plain = {.sin_family = AF_INET};

    if (domain == AF_INET6 && address->ss_family == AF_INET) {
        mapped.sin6_port = four(address)->sin_port;
        memset(&mapped.sin6_addr.s6_addr[10], 0xff, 2);
        memcpy(&mapped.sin6_addr.s6_addr[12], &four(address)->sin_addr, 4);
        memcpy(address, &mapped, sizeof(mapped));
    } else if (domain == AF_INET && is_mapped(address)) {
        plain.sin_port = six(address)->sin6_port;
        memcpy(&plain.sin_addr, &six(address)->sin6_addr.s6_addr[12], 4);
        memcpy(address, &plain, sizeof(plain));
    }
}

bool exs_address_covers(const struct sockaddr_storage *wanted,
                        const struct sockaddr_storage *address)
{
    static const struct in6_addr any;

    if (wanted->ss_family == AF_INET)
        return four(wanted)->sin_addr.s_addr == INADDR_ANY ||
               (address->ss_family == AF_INET &&
                four(wanted)->sin_addr.s_addr == four(address)->sin_addr.s_addr);
    if (wanted->ss_family != AF_INET6 || memcmp(&six(wanted)->sin6_addr, &any, sizeof(any)) == 0)
        return true;
    return address->ss_family == AF_INET6 &&
           memcmp(&six(wanted)->sin6_addr, &six(address)->sin6_addr, sizeof(any)) == 0;
}

void exs_address_give(const struct sockaddr_storage *address, struct sockaddr *to,
                      socklen_t *length)
{
    socklen_t size =
        address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

    if (!to || !length)
        return;
    memcpy(to, address, size < *length ? size : *length);
    *length = size;
}
