/* SPDX-License-Identifier: BSD-2-Clause */
/* A name of dat.conf: the table that the registry calls through, and what its line says. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_PROVIDER_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_PROVIDER_H

#include "it_api.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include <stdbool.h>

/* Immutable once it is registered. */
struct udapl_provider {
    DAT_PROVIDER table;     /* first: handles lead here */
    DAT_PROVIDER_INFO info; /* as the registry has given it */
    char interface[IT_INTERFACE_NAME_SIZE];
    DAT_EXTENSION extension; /* that is announced */
    bool ignores_sigpipe;    /* ia/udapl_sigpipe.h */
    bool registered;         /* not since dat_provider_fini: stale handles still lead here */
    struct udapl_provider *next;
};

/* The provider of a registered name, or NULL. */
const struct udapl_provider *udapl_provider_of(const char *name);

/* Takes a provider made with calloc; it is registered from now on. */
void udapl_provider_add(struct udapl_provider *provider);

/*
 * The registry has let go of the name. When none is left the providers and all slabs are given
 * back: nothing of the module is in use.
 */
void udapl_provider_remove(const char *name);

#endif
