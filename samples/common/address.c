/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

static bool address_convert(const struct sockaddr *from, it_net_addr_t *to)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    memset(to, 0, sizeof(*to));
    if (from->sa_family == AF_INET) {
        memcpy(&v4, from, sizeof(v4));
        to->addr_type = IT_IPV4;
        to->addr.ipv4 = v4.sin_addr;
        return true;
    }
    if (from->sa_family == AF_INET6) {
        memcpy(&v6, from, sizeof(v6));
        to->addr_type = IT_IPV6;
        to->addr.ipv6 = v6.sin6_addr;
        return true;
    }
    return false;
}

bool address_look_up(const char *host, it_net_addr_t list[ADDRESS_ROOM], size_t *count)
{
    struct addrinfo hints;
    struct addrinfo *found = NULL;
    int error;

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    error = getaddrinfo(host, NULL, &hints, &found);
    if (error != 0) {
        complain("%s: %s", host, gai_strerror(error));
        return false;
    }
    *count = 0;
    for (const struct addrinfo *at = found; at != NULL && *count < ADDRESS_ROOM; at = at->ai_next)
        if (address_convert(at->ai_addr, &list[*count]))
            (*count)++;
    freeaddrinfo(found);
    if (*count == 0)
        complain("%s: no IP address", host);
    return *count > 0;
}

bool address_is_any(const it_net_addr_t *address)
{
    if (address->addr_type == IT_IPV4)
        return address->addr.ipv4.s_addr == htonl(INADDR_ANY);
    return address->addr_type == IT_IPV6 && IN6_IS_ADDR_UNSPECIFIED(&address->addr.ipv6);
}

bool address_is_same(const it_net_addr_t *one, const it_net_addr_t *other)
{
    if (one->addr_type != other->addr_type)
        return false;
    if (one->addr_type == IT_IPV4)
        return one->addr.ipv4.s_addr == other->addr.ipv4.s_addr;
    return one->addr_type == IT_IPV6 && IN6_ARE_ADDR_EQUAL(&one->addr.ipv6, &other->addr.ipv6);
}

void address_text(const it_net_addr_t *address, char text[ADDRESS_TEXT_SIZE])
{
    const void *bytes = &address->addr.ipv6;
    int family = AF_INET6;

    if (address->addr_type == IT_IPV4) {
        bytes = &address->addr.ipv4;
        family = AF_INET;
    }
    if ((address->addr_type != IT_IPV4 && address->addr_type != IT_IPV6) ||
        inet_ntop(family, bytes, text, ADDRESS_TEXT_SIZE) == NULL)
        (void)snprintf(text, ADDRESS_TEXT_SIZE, "an address that is not of IP");
}
