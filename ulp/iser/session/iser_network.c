/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/iser_network.h"

#include "pdu/iser_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct network {
    uint8_t prefix[16];
    unsigned all, bits; /* of an address; of the prefix */
};

static bool network_parse(const char *text, struct network *network)
{
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    char address[INET6_ADDRSTRLEN];
    uint64_t bits;

    if (length >= sizeof(address))
        return false;
    (void)snprintf(address, sizeof(address), "%.*s", (int)length, text);
    network->all = inet_pton(AF_INET, address, network->prefix) == 1 ? 32 : 128;
    if (network->all == 128 && inet_pton(AF_INET6, address, network->prefix) != 1)
        return false;
    network->bits = network->all;
    if (!slash)
        return true;
    if (!iser_text_number(slash + 1, network->all, &bits))
        return false;
    network->bits = (unsigned)bits;
    return true;
}

bool iser_network_is_legal(const char *network)
{
    struct network parsed;

    return network_parse(network, &parsed);
}

static const uint8_t *address_octets(const struct sockaddr_storage *address, unsigned *bits)
{
    const struct sockaddr_in6 *ipv6 = (const void *)address;

    *bits = 32;
    if (address->ss_family == AF_INET)
        return (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
        return &ipv6->sin6_addr.s6_addr[12];
    *bits = 128;
    return ipv6->sin6_addr.s6_addr;
}

bool iser_network_has(const char *network, const struct sockaddr_storage *address)
{
    unsigned all, whole, rest;
    const uint8_t *octets = address_octets(address, &all);
    struct network parsed;

    if (!network_parse(network, &parsed) || parsed.all != all)
        return false;
    whole = parsed.bits / 8;
    rest = parsed.bits % 8;
    return memcmp(parsed.prefix, octets, whole) == 0 &&
           (rest == 0 || (parsed.prefix[whole] ^ octets[whole]) >> (8 - rest) == 0);
}
