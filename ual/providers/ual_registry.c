/* SPDX-License-Identifier: BSD-2-Clause */
/* The providers of this process, and the memory for their objects. */
#include "ual/providers/ual_providers.h"

#include "base/base_log.h"
#include "vp/uiwarp/provider/uiw_provider.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A provider is never removed, so readers need no lock: links are stored with release order. */
struct ual_registered {
    const struct vp_provider *provider;
    _Atomic(struct ual_registered *) next;
    struct base_pool pools[BASE_OBJECT_TYPES]; /* each with a lock of its own */
};

static _Atomic(struct ual_registered *) ual_registered_first;
static struct base_lock ual_registry_lock; /* held to add a provider */
static pthread_once_t ual_registry_once = PTHREAD_ONCE_INIT;
static pthread_once_t ual_registry_module_once = PTHREAD_ONCE_INIT;
/* Written once, under ual_registry_module_once. */
static struct itx_provider_info ual_registry_module_info;

static void ual_registry_init_pools(struct ual_registered *entry)
{
    const struct vp_provider *provider = entry->provider;
    const size_t sizes[BASE_OBJECT_TYPES] = {
        [IT_HANDLE_TYPE_IA] = sizeof(struct ual_ia) + provider->ia_area,
        [IT_HANDLE_TYPE_PZ] = sizeof(struct ual_pz) + provider->pz_area,
        [IT_HANDLE_TYPE_LMR] = sizeof(struct ual_lmr) + provider->lmr_area,
        [IT_HANDLE_TYPE_SRQ] = sizeof(struct ual_srq) + provider->srq_area,
        [IT_HANDLE_TYPE_RMR] = sizeof(struct ual_rmr) + provider->rmr_area,
        [IT_HANDLE_TYPE_EP] = sizeof(struct ual_ep) + provider->ep_area,
        [IT_HANDLE_TYPE_LISTEN] = sizeof(struct ual_listen) + provider->listen_area,
        [IT_HANDLE_TYPE_ADDR] = sizeof(struct ual_address) + provider->address_area,
        [IT_HANDLE_TYPE_UD_SVC_REQ] = sizeof(struct ual_ud_service) + provider->ud_service_area,
    };

    for (unsigned type = 0; type < BASE_OBJECT_TYPES; type++)
        if (sizes[type] > 0) /* the others are not the provider's */
            base_pool_init(&entry->pools[type], (it_handle_type_enum_t)type, sizes[type]);
}

static bool ual_registry_has_locked(const char *name)
{
    struct ual_registered *entry;

    base_lock_assert_held(&ual_registry_lock);
    entry = atomic_load_explicit(&ual_registered_first, memory_order_acquire);
    while (entry && strcmp(entry->provider->name, name) != 0)
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry != NULL;
}

/* Adds at the end, or directly after the built-in provider. */
static void ual_registry_link_locked(struct ual_registered *added, bool behind_first)
{
    _Atomic(struct ual_registered *) *link = &ual_registered_first;
    struct ual_registered *entry;

    base_lock_assert_held(&ual_registry_lock);
    while ((entry = atomic_load_explicit(link, memory_order_acquire)) != NULL) {
        if (behind_first && link != &ual_registered_first)
            break;
        link = &entry->next;
    }
    atomic_store_explicit(&added->next, entry, memory_order_relaxed);
    /* Pairs with the acquire loads of threads that walk the list. */
    atomic_store_explicit(link, added, memory_order_release);
}

/* The built-in provider needs no memory: a first call without any would leave none for good. */
static struct ual_registered *ual_registry_alloc(const struct vp_provider *provider)
{
    static struct ual_registered built_in;

    return provider == &uiw_provider ? &built_in : calloc(1, sizeof(struct ual_registered));
}

static bool ual_registry_insert(const struct vp_provider *provider, bool behind_first)
{
    struct ual_registered *entry;
    bool is_new;

    if (provider->abi != VP_ABI || provider->size < VP_PROVIDER_SIZE) {
        base_log(
            BASE_LOG_WARN,
            "provider of interface version %u with a table of %u octets refused: this library has "
            "version %u and needs %zu; build it anew with the headers of this library",
            provider->abi, provider->size, VP_ABI, VP_PROVIDER_SIZE);
        return false;
    }
    entry = ual_registry_alloc(provider);
    if (!entry) {
        base_log(BASE_LOG_ERROR, "provider %s refused: out of memory", provider->name);
        return false;
    }
    entry->provider = provider;
    ual_registry_init_pools(entry);
    base_lock_take(&ual_registry_lock);
    is_new = !ual_registry_has_locked(provider->name);
    if (is_new)
        ual_registry_link_locked(entry, behind_first);
    base_lock_drop(&ual_registry_lock);
    if (!is_new) {
        base_log(BASE_LOG_WARN, "provider %s refused: registered already", provider->name);
        free(entry);
    }
    return is_new;
}

static bool ual_registry_add(const struct vp_provider *provider)
{
    return ual_registry_insert(provider, false);
}

static bool ual_registry_add_module(const struct vp_provider *provider)
{
    return ual_registry_insert(provider, true);
}

static bool ual_registry_has(const char *name)
{
    bool has;

    base_lock_take(&ual_registry_lock);
    has = ual_registry_has_locked(name);
    base_lock_drop(&ual_registry_lock);
    return has;
}

/* Loads the module unless the configuration file has already named it, perhaps with options. */
static void ual_registry_setup_module(void)
{
    if (!ual_registry_has(UAL_MODULE_VERBS))
        ual_module_load(UAL_MODULE_VERBS, ual_registry_add_module, &ual_registry_module_info);
}

const struct itx_provider_info *ual_registry_module(void)
{
    return &ual_registry_module_info;
}

void ual_registry_renew(void)
{
    struct ual_registered *entry =
        atomic_load_explicit(&ual_registered_first, memory_order_acquire);

    base_lock_init(&ual_registry_lock);
    for (; entry; entry = atomic_load_explicit(&entry->next, memory_order_acquire))
        for (unsigned type = 0; type < BASE_OBJECT_TYPES; type++)
            base_pool_renew(&entry->pools[type]);
}

static void ual_registry_setup(void)
{
    base_log_setup();
    (void)ual_registry_add(&uiw_provider); /* the first one: cannot fail */
    ual_conf_load(ual_registry_add);
}

bool vp_register(const struct vp_provider *provider)
{
    (void)pthread_once(&ual_registry_once, ual_registry_setup); /* cannot fail */
    return ual_registry_add(provider);
}

static struct ual_registered *ual_registry_first(void)
{
    (void)pthread_once(&ual_registry_once, ual_registry_setup); /* cannot fail */
    return atomic_load_explicit(&ual_registered_first, memory_order_acquire);
}

static struct ual_registered *ual_registry_entry(const struct vp_provider *provider)
{
    struct ual_registered *entry = ual_registry_first();

    while (entry && entry->provider != provider)
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry;
}

/*
 * Loads the module when a call first searches beyond the built-in provider, because loading takes
 * time.
 */
const struct vp_provider *ual_provider_next(const struct vp_provider *provider)
{
    struct ual_registered *entry = provider ? ual_registry_entry(provider) : NULL;

    if (provider == &uiw_provider)
        (void)pthread_once(&ual_registry_module_once, ual_registry_setup_module); /* cannot fail */

    if (!provider)
        entry = ual_registry_first();
    else if (entry)
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry ? entry->provider : NULL;
}

const char *ual_provider_interface(const char *name)
{
    const char *interface_name = NULL;

    if (ual_registry_first()) /* makes sure that the configuration file has been read */
        interface_name = ual_alias_of(name);
    return interface_name ? interface_name : name;
}

const struct vp_provider *ual_provider_find(const char *interface_name)
{
    const struct vp_provider *provider = ual_provider_next(NULL);

    while (provider && !provider->has_interface(interface_name))
        provider = ual_provider_next(provider);
    return provider;
}

struct base_pool *ual_pools(const struct vp_provider *provider)
{
    /* Only called for a provider that ual_provider_find has returned. */
    return ual_registry_entry(provider)->pools;
}
