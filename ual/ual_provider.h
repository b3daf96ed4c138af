/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers as the library itself sees them: the interface, the objects it is about, and the
 * registry.
 */
#ifndef ITAPI_UAL_UAL_PROVIDER_H
#define ITAPI_UAL_UAL_PROVIDER_H

#include "ual/ual.h"
#include "ual/ual_request.h"
#include "ual/vp.h"

/* Adds a provider; refuses another ABI or a smaller table with a log line (ual_registry.c). */
bool vp_register(const struct vp_provider *provider);

/* One block of memory for an it_ia_info_t with its arrays; it_ia_info_free gives it back. */
it_ia_info_t *ual_ia_info_alloc(size_t spigot_count, size_t address_count);

/* The embedded default. */
extern const struct vp_provider uiw_provider;

#endif
