/* SPDX-License-Identifier: BSD-2-Clause */
/* Providers as the library sees them: the provider interface, the objects, and the registry. */
#ifndef ITAPI_UAL_OBJECT_UAL_PROVIDER_H
#define ITAPI_UAL_OBJECT_UAL_PROVIDER_H

#include "ual/object/ual.h"
#include "ual/object/ual_request.h"
#include "ual/vp.h"

/* Allocates an it_ia_info_t and its arrays as one block; it_ia_info_free frees it. */
it_ia_info_t *ual_ia_info_alloc(size_t spigot_count, size_t address_count);

/* Returns the lowest number of a Spigot. */
size_t ual_spigot_first(const struct ual_ia *ia);
/*
 * Returns false if the IA has no such Spigot. A *spigot_id of 0 means the only Spigot and is
 * replaced by its number; with several Spigots 0 is refused.
 */
bool ual_spigot_find(const struct ual_ia *ia, size_t *spigot_id);

#endif
