/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/place.h"

#include <arpa/inet.h>
#include <string.h>

const struct place places[] = {
    {"same", NULL, "10.77.0.1", "10.77.0.1", "10.77.0.99"},
    {"veth", "far", "10.77.1.1", "10.77.1.2", "10.77.1.99"},
    {"same6", NULL, "fd77:0::1", "fd77:0::1", "fd77:0::99"},
    {"veth6", "far", "fd77:1::1", "fd77:1::2", "fd77:1::99"},
    {0},
};

const struct place *place_named(const char *name)
{
    for (const struct place *place = places; place->name != NULL; place++) {
        if (strcmp(place->name, name) == 0)
            return place;
    }
    CHECK_FAIL("no place is named %s", name);
}

it_net_addr_t place_address(const char *text)
{
    it_net_addr_t address;

    memset(&address, 0, sizeof(address));
    if (inet_pton(AF_INET, text, &address.addr.ipv4) == 1)
        address.addr_type = IT_IPV4;
    else if (inet_pton(AF_INET6, text, &address.addr.ipv6) == 1)
        address.addr_type = IT_IPV6;
    else
        CHECK_FAIL("%s is not an address", text);
    return address;
}

it_path_t place_path(const struct fx_node *node, const char *to)
{
    it_net_addr_t address = place_address(to);
    it_path_t path;
    size_t count = 1;
    size_t total = 0;

    memset(&path, 0, sizeof(path));
    CHECK_OK(it_get_pathinfo(node->ia, node->spigot, &address, &count, &total, &path));
    if (count != 1)
        CHECK_FAIL("no path to %s", to);
    return path;
}
