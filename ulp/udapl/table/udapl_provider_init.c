/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two entry points of the module. The registry calls init once for each name of dat.conf that a
 * program opens, and fini when the last IA of that name is closed; then it unloads the module,
 * unless other names hold it.
 */
#include "object/udapl_provider.h"
#include "table/udapl_params.h"
#include "table/udapl_table.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params);
EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info);

/* Like the library, the module is silent unless ITAPI_LOG is set. */
static void complain(const DAT_PROVIDER_INFO *info, const char *problem)
{
    const char *level = getenv("ITAPI_LOG");

    if (level && *level)
        fprintf(stderr, "itapi: dat.conf: %.*s: %s\n", DAT_NAME_MAX_LENGTH, info->ia_name, problem);
}

void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params)
{
    struct udapl_provider *provider = udapl_provider_new();
    const char *problem = "there is no memory";

    if (!provider || !udapl_params_read(ia_params, provider, &problem)) {
        complain(info, problem);
        udapl_provider_drop(provider);
        return;
    }
    provider->info = *info;
    provider->table = udapl_table;
    provider->table.device_name = provider->info.ia_name;
    if (dat_registry_add_provider(&provider->table, info) != DAT_SUCCESS) {
        complain(info, "the registry refuses the provider");
        udapl_provider_drop(provider);
        return;
    }
    udapl_provider_add(provider);
}

void dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
    const struct udapl_provider *provider = udapl_provider_of(info->ia_name);

    if (provider)
        (void)dat_registry_remove_provider(&provider->table, info); /* removes it anyway */
    udapl_provider_remove(info->ia_name);
}
