/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/place.h"

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

it_path_t place_path(const struct fx_node *node, const char *to)
{
    it_net_addr_t address = fx_address_from(to);

    return fx_path_to(node, &address);
}
