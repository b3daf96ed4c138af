/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ia_create and it_ia_free. */
#include "base/base_log.h"
#include "evd/calls/evd_calls.h"
#include "evd/loop/evd_loop.h"
#include "evd/queue/evd_callback.h"
#include "ual/ep/ual_ep.h"
#include "ual/memory/ual_memory.h"
#include "ual/object/ual_request.h"
#include "ual/post/ual_post.h"
#include "ual/providers/ual_providers.h"
#include "ual/stats/ual_stats.h"

#include "itx_api.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define UAL_THREAD_NAME_SIZE 16 /* with NUL: more is refused by the kernel */

static it_status_t ual_ia_check_version(uint32_t major_version, uint32_t minor_version)
{
    uint32_t last = major_version == 2 ? 1 : 0;

    if (major_version != 1 && major_version != 2)
        return base_refuse(IT_ERR_INVALID_MAJOR_VERSION, "it_ia_create",
                           "major_version %u, 1 and 2 are known", major_version);
    if (minor_version > last)
        return base_refuse_above(IT_ERR_INVALID_MINOR_VERSION, "it_ia_create", minor_version, last);
    return IT_SUCCESS;
}

static it_status_t ual_ia_start_loop(struct ual_ia *ia)
{
    char thread_name[UAL_THREAD_NAME_SIZE];

    (void)snprintf(thread_name, sizeof(thread_name), "itapi:%.9s", ia->name); /* may be truncated */
    return evd_loop_start(&ia->evd.loop, thread_name);
}

/* Checks that the provider has the functions of each feature that the IA announces. */
static it_status_t ual_ia_check_features(struct ual_ia *ia)
{
    const struct vp_provider *provider = ia->provider;
    const struct vp_attributes *attributes = provider->ia_attributes(ia);

    if ((!attributes->srq || provider->srq_create) &&
        (!attributes->rmr_types || provider->rmr_create) &&
        (!attributes->datagrams || (provider->address_create && provider->ud_request)))
        return IT_SUCCESS;
    base_log(BASE_LOG_ERROR, "%s refused: provider %s has not the functions for its attributes",
             ia->name, provider->name);
    return IT_ERR_RESOURCES;
}

static it_status_t ual_ia_open(struct ual_ia *ia)
{
    it_status_t status = ual_ia_start_loop(ia);

    if (status != IT_SUCCESS)
        return status;
    status = ia->provider->ia_open(ia);
    if (status != IT_SUCCESS)
        goto err_stop;
    ia->max_message = ia->provider->ia_attributes(ia)->max_message;
    status = ual_ia_check_features(ia);
    if (status != IT_SUCCESS)
        goto err_close;
    return IT_SUCCESS;

err_close:
    ia->provider->ia_close(ia);
err_stop:
    evd_loop_stop(ia->evd.loop);
    return status;
}

it_status_t it_ia_create(const char *name, uint32_t major_version, uint32_t minor_version,
                         it_ia_handle_t *ia_handle)
{
    const struct vp_provider *provider;
    const char *interface_name;
    struct base_pool *pools;
    struct ual_ia *ia;
    it_status_t status;

    if (!ia_handle)
        return base_refuse_null(__func__, ia_handle);
    if (!name)
        return base_refuse(IT_ERR_INVALID_NAME, __func__, "name is NULL");
    if (strnlen(name, IT_INTERFACE_NAME_SIZE) == IT_INTERFACE_NAME_SIZE)
        return base_refuse(IT_ERR_INVALID_NAME, __func__, "name is longer than %d characters",
                           IT_INTERFACE_NAME_SIZE - 1);
    interface_name = ual_provider_interface(name);
    provider = ual_provider_find(interface_name);
    if (!provider)
        return ual_provider_refuse(__func__, name, interface_name);
    status = ual_ia_check_version(major_version, minor_version);
    if (status != IT_SUCCESS)
        return status;

    pools = ual_pools(provider);
    ia = base_pool_get(&pools[IT_HANDLE_TYPE_IA]);
    if (!ia)
        return IT_ERR_RESOURCES;
    ia->evd.object.ia = &ia->evd.object;
    base_lock_init(&ia->evd.lock);
    atomic_store_explicit(&ia->evd.spin_us, ITX_SPIN_DEFAULT, memory_order_relaxed);
    ia->evd.failed_entries = &ual_ep_entries;
    ia->evd.refuse_request = ual_request_refuse_id;
    ia->provider = provider;
    ia->pools = pools;
    memcpy(ia->name, interface_name, strlen(interface_name)); /* the rest is zero */
    status = ual_ia_open(ia);
    if (status != IT_SUCCESS)
        goto err_put;
    base_object_publish(&ia->evd.object, &ia->evd.object);
    ual_stats_join(ia);
    base_log(BASE_LOG_INFO, "ia %p: %s opened", (void *)ia, ia->name);
    *ia_handle = (it_ia_handle_t)(void *)ia;
    return IT_SUCCESS;

err_put:
    base_lock_destroy(&ia->evd.lock);
    base_pool_put(&pools[IT_HANDLE_TYPE_IA], ia);
    return base_refuse(status, __func__, "name %s: refused by %s", name, provider->name);
}

/* ---------------------------------------------------------------- it_ia_free */

/* Returns the newest object of that type, or NULL. */
static struct base_object *ual_ia_pick(struct ual_ia *ia, it_handle_type_enum_t type)
{
    struct base_object *object;

    base_lock_take(&ia->evd.lock);
    object = BASE_LIST_FIRST(&ia->evd.objects[type], struct base_object, link);
    base_lock_drop(&ia->evd.lock);
    return object;
}

static void ual_ia_destroy_all(struct ual_ia *ia, it_handle_type_enum_t type,
                               void (*destroy)(struct base_object *object))
{
    struct base_object *object;

    while ((object = ual_ia_pick(ia, type)) != NULL) {
        /*
         * This fails only if the program frees an object while it frees the IA, which is wrong use:
         * the object's children are gone already.
         */
        (void)base_object_claim_free(object);
        destroy(object);
    }
}

/*
 * EPs use RMRs, and narrow RMRs hold EPs. So all EPs stop first, then the RMRs go, then the memory
 * of the EPs.
 */
static void ual_ia_destroy_eps_and_rmrs(struct ual_ia *ia)
{
    struct base_list stopped = {NULL, NULL};
    struct base_object *object;

    while ((object = ual_ia_pick(ia, IT_HANDLE_TYPE_EP)) != NULL) {
        (void)base_object_claim_free(object); /* fails when RMRs hold it */
        ual_ep_stop((struct ual_ep *)(void *)object);
        evd_ia_unlink(&ia->evd, object);
        base_list_prepend(&stopped, &object->link);
    }
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_RMR, ual_rmr_destroy);
    while ((object = BASE_LIST_ITEM(base_list_take(&stopped), struct base_object, link)) != NULL)
        ual_object_discard(object);
}

it_status_t it_ia_free(it_ia_handle_t ia_handle)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (evd_loop_is_inside(ia->evd.loop) || evd_callback_is_inside(&ia->evd) ||
        evd_wait_is_inside(&ia->evd))
        return base_refuse(IT_ERR_EVD_BUSY, __func__,
                           "ia_handle %p from a callback, which would have to end first, or the "
                           "wait that runs it",
                           (void *)ia);
    if (!base_object_claim_free(&ia->evd.object))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    base_object_unpublish(&ia->evd.object);
    ual_stats_leave(ia);
    evd_ia_stop(&ia->evd);
    /* First stop the sources of new work, then destroy users before what they use. */
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_LISTEN, ual_listen_destroy);
    ual_request_refuse_all(ia);
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_UD_SVC_REQ, ual_ud_service_destroy);
    ual_ia_destroy_eps_and_rmrs(ia);
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_SRQ, ual_srq_destroy);
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_LMR, ual_lmr_destroy);
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_ADDR, ual_address_destroy);
    ual_ia_destroy_all(ia, IT_HANDLE_TYPE_PZ, ual_pz_destroy);
    evd_ia_free_all(&ia->evd); /* waits until blocked waiters have returned */
    ia->provider->ia_close(ia);
    evd_loop_stop(ia->evd.loop);
    base_log(BASE_LOG_INFO, "ia %p: %s closed", (void *)ia, ia->name);
    base_lock_destroy(&ia->evd.lock);
    base_pool_put(&ia->pools[IT_HANDLE_TYPE_IA], ia);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- fork */

/* Runs in the child of fork(2): threads that are not there may have held these locks. */
static void ual_ia_renew_locks(void)
{
    ual_registry_renew();
    evd_pool_renew();
    ual_requests_forget();
    ual_stats_renew();
}

/*
 * Handlers of fork run in the order of their registration, and those of upper layers start the
 * threads of thawed IAs in the child. So this one comes before theirs, which no call of the library
 * may precede. It is here since this file is part of every program that has an IA.
 */
__attribute__((constructor(1000))) static void ual_ia_watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, ual_ia_renew_locks); /* if it fails, locks are not renewed */
}
