/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open contexts, one per device for all ids of the process: programs compare their addresses.
 * Handlers ask for them with locks of a context held, which the first opening takes behind its own
 * lock. So what has been opened is found without a lock; it stays until the process ends.
 */
#include "cm/ofa_cm.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;          /* one thread opens */
    struct ibv_context **contexts; /* ends with NULL; the first is for all addresses */
    int count;
    _Atomic(struct ibv_context *) first; /* once all are open, and the two above do not change */
    _Atomic(struct ibv_pd *) pd;
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void close_locked(void)
{
    while (devices.count > 0)
        (void)ibv_close_device(devices.contexts[--devices.count]);
    free(devices.contexts);
    devices.contexts = NULL;
}

/* Opens those of ours. Without one of them the places of the others would be wrong. */
static int open_listed_locked(struct ibv_device **list)
{
    for (; *list; list++) {
        struct ibv_context *context;

        if (!ofa_door_of(*list))
            continue;
        context = ibv_open_device(*list);
        if (!context)
            return errno;
        devices.contexts[devices.count++] = context;
    }
    return devices.count > 0 ? 0 : ENODEV;
}

static int open_locked(void)
{
    struct ibv_device **list;
    int count;
    int error = ENOMEM;

    if (devices.contexts)
        return 0;
    list = ibv_get_device_list(&count);
    if (!list)
        return errno;
    devices.contexts = calloc((size_t)count + 1, sizeof(struct ibv_context *));
    if (devices.contexts)
        error = open_listed_locked(list);
    ibv_free_device_list(list);
    if (error != 0)
        close_locked();
    else
        atomic_store_explicit(&devices.first, devices.contexts[0], memory_order_release);
    return error;
}

struct ibv_context *cm_context(void)
{
    struct ibv_context *context = atomic_load_explicit(&devices.first, memory_order_acquire);
    int error;

    if (context)
        return context;
    (void)pthread_mutex_lock(&devices.lock);
    error = open_locked();
    (void)pthread_mutex_unlock(&devices.lock);
    if (error == 0)
        return devices.contexts[0];
    errno = error;
    return NULL;
}

struct ibv_pd *cm_default_pd(void)
{
    struct ibv_pd *pd = atomic_load_explicit(&devices.pd, memory_order_acquire);
    struct ibv_context *context = pd ? NULL : cm_context();

    if (!context)
        return pd;
    (void)pthread_mutex_lock(&devices.lock);
    pd = atomic_load_explicit(&devices.pd, memory_order_relaxed);
    if (!pd)
        pd = ibv_alloc_pd(context);
    atomic_store_explicit(&devices.pd, pd, memory_order_release);
    (void)pthread_mutex_unlock(&devices.lock);
    return pd;
}

const struct ofa_door *cm_door(void)
{
    return ofa_door_of(cm_context()->device);
}

void cm_disconnect(struct ibv_qp *qp)
{
    (void)cm_door()->disconnect(qp);
    cm_door()->show_state(qp->context, qp->qp_num);
}

bool cm_is_iwarp(void)
{
    return cm_context()->device->transport_type == IBV_TRANSPORT_IWARP;
}

int cm_check_data(size_t length, size_t room)
{
    return length > room && !cm_is_iwarp() ? EINVAL : 0;
}

int cm_attach_device(struct cm_id *id)
{
    struct ibv_pd *pd = cm_default_pd();

    if (!pd)
        return errno;
    id->base.verbs = cm_context();
    id->base.pd = pd;
    id->base.port_num = 1;
    return 0;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
    struct ibv_context **copy;

    if (!cm_context())
        return NULL;
    copy = calloc((size_t)devices.count + 1, sizeof(struct ibv_context *));
    if (!copy)
        return NULL;
    for (int i = 0; i < devices.count; i++)
        copy[i] = devices.contexts[i];
    if (num_devices)
        *num_devices = devices.count;
    return copy;
}

void rdma_free_devices(struct ibv_context **list)
{
    free(list);
}
