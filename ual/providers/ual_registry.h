/* SPDX-License-Identifier: BSD-2-Clause */
/* The providers of this process, and the memory their objects come from. */
#ifndef ITAPI_UAL_PROVIDERS_UAL_REGISTRY_H
#define ITAPI_UAL_PROVIDERS_UAL_REGISTRY_H

#include "ual/object/ual_provider.h"

/* The pools of the provider's objects, one for each type. They live for ever. */
struct base_pool *ual_pools(const struct vp_provider *provider);

/* Adds a provider; refuses another ABI or a smaller table with a log line (ual_registry.c). */
bool vp_register(const struct vp_provider *provider);

/* The Interface that is meant: that of an alias, or that of this name (ual_registry.c). */
const char *ual_provider_interface(const char *name);

/* The registered provider that has an Interface of that name, or NULL (ual_registry.c). */
const struct vp_provider *ual_provider_find(const char *interface_name);

/*
 * IT_ERR_INVALID_NAME, with a line at error that says which there are: nobody has the Interface
 * that the name of the program means (ual_unknown.c).
 */
it_status_t ual_provider_refuse(const char *call, const char *name, const char *interface_name);

/* The registered providers, in order: NULL gives the first (ual_registry.c). */
const struct vp_provider *ual_provider_next(const struct vp_provider *provider);

#endif
