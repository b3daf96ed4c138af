/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/udapl_provider.h"

#include "object/udapl_object.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static struct udapl_provider *providers;
/* For a lack of memory: the registry never asks again for a name that is missing once. */
static struct udapl_provider spare;
static bool spare_is_used;

/* With the lock held. */
static struct udapl_provider *find(const char *name)
{
    struct udapl_provider *provider = providers;

    while (provider && !(provider->registered && strcmp(provider->info.ia_name, name) == 0))
        provider = provider->next;
    return provider;
}

/* With the lock held. */
static bool any_registered(void)
{
    for (struct udapl_provider *provider = providers; provider; provider = provider->next)
        if (provider->registered)
            return true;
    return false;
}

/* With the lock held. */
static void let_go(struct udapl_provider *provider)
{
    if (provider == &spare)
        spare_is_used = false;
    else
        free(provider);
}

struct udapl_provider *udapl_provider_new(void)
{
    struct udapl_provider *provider = calloc(1, sizeof(*provider));

    if (provider)
        return provider;
    pthread_mutex_lock(&lock);
    if (!spare_is_used) {
        spare_is_used = true;
        spare = (struct udapl_provider){.next = NULL};
        provider = &spare;
    }
    pthread_mutex_unlock(&lock);
    return provider;
}

void udapl_provider_drop(struct udapl_provider *provider)
{
    pthread_mutex_lock(&lock);
    let_go(provider);
    pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static void give_back(void)
{
    struct udapl_provider *next;

    for (size_t type = 0; type < UDAPL_TYPES; type++)
        udapl_slab_clear(&udapl_slabs[type]);
    for (; providers; providers = next) {
        next = providers->next;
        let_go(providers);
    }
}

const struct udapl_provider *udapl_provider_of(const char *name)
{
    const struct udapl_provider *provider;

    pthread_mutex_lock(&lock);
    provider = find(name);
    pthread_mutex_unlock(&lock);
    return provider;
}

void udapl_provider_add(struct udapl_provider *provider)
{
    pthread_mutex_lock(&lock);
    provider->registered = true;
    provider->next = providers;
    providers = provider;
    pthread_mutex_unlock(&lock);
}

void udapl_provider_remove(const char *name)
{
    struct udapl_provider *provider;

    pthread_mutex_lock(&lock);
    provider = find(name);
    if (provider)
        provider->registered = false;
    if (!any_registered())
        give_back();
    pthread_mutex_unlock(&lock);
}
