/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of it_ia_query, which the provider fills in; it_ia_info_free; the Spigots of an IA. */
#include "ual/object/ual_provider.h"

#include <stdlib.h>

/* Allocates the record, its arrays and the name as one block, ordered by alignment. */
it_ia_info_t *ual_ia_info_alloc(size_t spigot_count, size_t address_count)
{
    size_t spigot_bytes = spigot_count * sizeof(it_spigot_info_t);
    size_t address_bytes = address_count * sizeof(it_net_addr_t);
    unsigned char *block =
        calloc(1, sizeof(it_ia_info_t) + spigot_bytes + address_bytes + IT_INTERFACE_NAME_SIZE);
    it_ia_info_t *info = (void *)block;

    if (!block)
        return NULL;
    info->num_spigots = spigot_count;
    info->spigot_info = (void *)(block + sizeof(it_ia_info_t));
    if (spigot_count > 0) /* the provider divides the array among its Spigots */
        info->spigot_info[0].net_addr = (void *)(block + sizeof(it_ia_info_t) + spigot_bytes);
    info->ia_name = (char *)(block + sizeof(it_ia_info_t) + spigot_bytes + address_bytes);
    return info;
}

void it_ia_info_free(it_ia_info_t *ia_info)
{
    free(ia_info);
}

#define UAL_SPIGOTS 64u /* numbers are small */

size_t ual_spigot_first(const struct ual_ia *ia)
{
    size_t id = 0;

    while (id < UAL_SPIGOTS && !ia->provider->has_spigot(ia, id))
        id++;
    return id;
}

bool ual_spigot_find(const struct ual_ia *ia, size_t *spigot_id)
{
    size_t first;

    if (ia->provider->has_spigot(ia, *spigot_id))
        return true;
    if (*spigot_id != 0)
        return false;
    first = ual_spigot_first(ia);
    for (size_t id = first + 1; id < UAL_SPIGOTS; id++)
        if (ia->provider->has_spigot(ia, id))
            return false; /* ambiguous */
    *spigot_id = first;
    return first < UAL_SPIGOTS;
}
