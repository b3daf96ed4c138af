/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers as the library itself sees them: the interface, the objects it is about, and the
 * registry.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_PROVIDER_H
#define ITAPI_UAL_OBJECT_UAL_PROVIDER_H

#include "ual/object/ual.h"
#include "ual/object/ual_request.h"
#include "ual/vp.h"

/* One block of memory for an it_ia_info_t with its arrays; it_ia_info_free gives it back. */
it_ia_info_t *ual_ia_info_alloc(size_t spigot_count, size_t address_count);

/* The Spigot with the lowest number. */
size_t ual_spigot_first(const struct ual_ia *ia);
/*
 * False: the IA has no such Spigot. 0 is the only Spigot, where there is one only, and becomes its
 * number.
 */
bool ual_spigot_find(const struct ual_ia *ia, size_t *spigot_id);

#endif
