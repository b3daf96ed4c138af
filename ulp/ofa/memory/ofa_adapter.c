/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/ofa_adapter.h"

#include "memory/ofa_key.h"
#include "support/ofa_log.h"

#include <errno.h>

int ofa_errno(it_status_t status)
{
    switch ((int)status) {
    case IT_SUCCESS:
        return 0;
    case IT_ERR_RESOURCES:
    case IT_ERR_TOO_MANY_POSTS:
    case IT_ERR_RESOURCE_LMR_LENGTH:
    case IT_ERR_RESOURCE_QUEUE_SIZE:
    case IT_ERR_RESOURCE_RECV_DTO:
    case IT_ERR_RESOURCE_REQ_DTO:
        return ENOMEM;
    case IT_ERR_OP_NOT_SUPPORTED:
    case IT_ERR_SRQ_NOT_SUPPORTED:
        return EOPNOTSUPP;
    case IT_ERR_EP_BUSY:
    case IT_ERR_EVD_BUSY:
    case IT_ERR_LMR_BUSY:
    case IT_ERR_PZ_BUSY:
    case IT_ERR_SRQ_BUSY:
        return EBUSY;
    case IT_ERR_CONN_QUAL_BUSY:
        return EADDRINUSE;
    case IT_ERR_INVALID_NETADDR:
        return EADDRNOTAVAIL;
    case IT_ERR_NO_PERMISSION:
        return EACCES;
    case IT_ERR_ACCESS:
    case IT_ERR_ADDRESS:
    case IT_ERR_FAULT:
        return EFAULT;
    case IT_ERR_IA_CATASTROPHE:
    case IT_ERR_INVALID_NAME:
        return ENODEV;
    default:
        return EINVAL;
    }
}

/* Creates a region in a protection zone of its own, which replaces unknown keys. */
static it_status_t add_nobody(struct ofa_context *context, it_ia_handle_t ia)
{
    static unsigned char nothing;
    it_status_t status = it_pz_create(ia, &context->nobody_pz);

    if (status != IT_SUCCESS)
        return status;
    return it_lmr_create21(context->nobody_pz, &nothing, NULL, sizeof(nothing),
                           IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL_READ, IT_LMR_FLAG_NONE, 0,
                           &context->nobody_lmr, NULL);
}

static int open_locked(struct ofa_context *context)
{
    it_ia_handle_t ia;
    it_status_t status = it_ia_create(context->device->interface, 2, 1, &ia);
    int error;

    if (status != IT_SUCCESS) {
        ofa_log("interface %s: %s", context->device->interface, itx_status_string(status));
        return ofa_errno(status);
    }
    context->features.size = sizeof(context->features);
    status = itx_ia_query_features(ia, &context->features);
    if (status == IT_SUCCESS)
        status = add_nobody(context, ia);
    error = status == IT_SUCCESS ? ofa_key_open(context) : ofa_errno(status);
    if (error != 0) {
        (void)it_ia_free(ia);
        return error;
    }
    atomic_store_explicit(&context->ia, ia, memory_order_release);
    return 0;
}

int ofa_adapter_open(struct ofa_context *context)
{
    int error = 0;

    if (atomic_load_explicit(&context->ia, memory_order_acquire))
        return 0;
    (void)pthread_mutex_lock(&context->open_lock);
    if (!atomic_load_explicit(&context->ia, memory_order_relaxed))
        error = open_locked(context);
    (void)pthread_mutex_unlock(&context->open_lock);
    return error;
}

void ofa_adapter_close(struct ofa_context *context)
{
    it_ia_handle_t ia = atomic_load_explicit(&context->ia, memory_order_acquire);

    if (ia)
        (void)it_ia_free(ia);
    ofa_key_close(context);
}
