/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/object/ual_provider.h"

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
            return false; /* which one is meant? */
    *spigot_id = first;
    return first < UAL_SPIGOTS;
}
