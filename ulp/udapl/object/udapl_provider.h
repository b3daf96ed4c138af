/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider of a name in dat.conf: the table of its calls, and the settings of its line. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_PROVIDER_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_PROVIDER_H

#include "it_api.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include <stdbool.h>

/* Immutable once registered, except .registered and .next. */
struct udapl_provider {
    DAT_PROVIDER table;     /* first: objects point here */
    DAT_PROVIDER_INFO info; /* from the registry */
    char interface[IT_INTERFACE_NAME_SIZE];
    DAT_EXTENSION extension; /* offered to consumers */
    bool ignores_sigpipe;    /* ia/udapl_sigpipe.h */
    bool registered;         /* false after dat_provider_fini: stale handles still point here */
    struct udapl_provider *next;
};

/* Returns the provider of a registered name, or NULL. */
const struct udapl_provider *udapl_provider_of(const char *name);

/*
 * Returns a zeroed provider. If memory runs out, returns the spare one, or NULL if that is in use.
 */
struct udapl_provider *udapl_provider_new(void);
/* Gives up a provider that is not registered; it may be NULL. */
void udapl_provider_drop(struct udapl_provider *provider);

/* Registers a provider, and takes it over. */
void udapl_provider_add(struct udapl_provider *provider);

/*
 * Called when the registry releases the name. With the last name, frees all providers and slabs:
 * the module is not in use any more.
 */
void udapl_provider_remove(const char *name);

#endif
