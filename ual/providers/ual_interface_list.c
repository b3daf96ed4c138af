/* SPDX-License-Identifier: BSD-2-Clause */
/* it_interface_list: the Interfaces of all providers. */
#include "ual/object/ual_object.h"
#include "ual/providers/ual_registry.h"

void it_interface_list(it_interface_t *interfaces, size_t *num_interfaces, size_t *total_interfaces)
{
    size_t capacity = interfaces && num_interfaces ? *num_interfaces : 0;
    size_t filled = 0, total = 0;
    const struct vp_provider *provider = NULL;

    while ((provider = ual_provider_next(provider)) != NULL) {
        size_t room = capacity - filled;
        size_t count = provider->interfaces(room ? interfaces + filled : NULL, room);

        filled += count < room ? count : room;
        total += count;
    }
    if (num_interfaces)
        *num_interfaces = filled;
    if (total_interfaces)
        *total_interfaces = total;
}
