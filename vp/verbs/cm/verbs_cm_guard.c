/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects the removal of the device. Many devices report it only to ids of rdma_cm, and then wait
 * until their users have destroyed them. So each IA has an id for this purpose alone. Its port is
 * from a port space in which nobody listens by IP address, so it takes none from a listen point. A
 * device without an address when the IA is opened has no guard.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"

#include <ifaddrs.h>

static bool guard_bind(struct verbs_cm *cm, const struct sockaddr *address)
{
    struct sockaddr_storage local;
    struct rdma_cm_id *id;

    base_net_copy(&local, address);
    base_net_set_port(&local, 0);
    if (rdma_create_id(cm->channel, &id, &cm->guard, RDMA_PS_IB) != 0)
        return false;
    if (rdma_bind_addr(id, (struct sockaddr *)&local) == 0 && verbs_device_is_own(cm->ia, id)) {
        cm->guard.id = id;
        return true;
    }
    (void)rdma_destroy_id(id); /* only bound: no event is pending */
    return false;
}

static void guard_close(struct verbs_guard *guard)
{
    if (guard->id)
        (void)rdma_destroy_id(guard->id); /* fails if the device is gone, but frees the id */
    guard->id = NULL;
}

/* The removal waits in the kernel until the id is destroyed. */
static void guard_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    struct verbs_guard *guard = context;

    (void)id;
    if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        guard_close(guard);
}

static const struct verbs_cm_target guard_target = {.told = guard_told};

void verbs_guard_open(struct verbs_cm *cm)
{
    struct ifaddrs *entries = NULL;

    cm->guard.target = &guard_target;
    if (getifaddrs(&entries) != 0)
        return;
    for (const struct ifaddrs *entry = entries; entry; entry = entry->ifa_next)
        if (verbs_address_is_usable(entry) && guard_bind(cm, entry->ifa_addr))
            break;
    freeifaddrs(entries);
}

void verbs_guard_close(struct verbs_cm *cm)
{
    guard_close(&cm->guard);
}
