/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_extension_op: operations of the extension that the line in dat.conf selects. */
#include "connect/udapl_connect.h"

#include "connect/udapl_ssp.h"
#include "endpoint/udapl_endpoint.h"
#include "object/udapl_provider.h"

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_iw_extensions.h>

static DAT_RETURN not_implemented(void)
{
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

/* ---------------------------------------------------------------- InfiniBand */

static DAT_RETURN fetch_and_add(DAT_HANDLE ep, va_list arguments)
{
    DAT_UINT64 add = va_arg(arguments, DAT_UINT64);
    DAT_LMR_TRIPLET *result = va_arg(arguments, DAT_LMR_TRIPLET *);
    DAT_DTO_COOKIE cookie = va_arg(arguments, DAT_DTO_COOKIE);
    const DAT_RMR_TRIPLET *remote = va_arg(arguments, DAT_RMR_TRIPLET *);
    DAT_COMPLETION_FLAGS flags = va_arg(arguments, DAT_COMPLETION_FLAGS);

    return udapl_ep_post_fetch_and_add(ep, add, result, cookie, remote, flags);
}

static DAT_RETURN cmp_and_swap(DAT_HANDLE ep, va_list arguments)
{
    DAT_UINT64 compare = va_arg(arguments, DAT_UINT64);
    DAT_UINT64 swap = va_arg(arguments, DAT_UINT64);
    DAT_LMR_TRIPLET *result = va_arg(arguments, DAT_LMR_TRIPLET *);
    DAT_DTO_COOKIE cookie = va_arg(arguments, DAT_DTO_COOKIE);
    const DAT_RMR_TRIPLET *remote = va_arg(arguments, DAT_RMR_TRIPLET *);
    DAT_COMPLETION_FLAGS flags = va_arg(arguments, DAT_COMPLETION_FLAGS);

    return udapl_ep_post_cmp_and_swap(ep, compare, swap, result, cookie, remote, flags);
}

static DAT_RETURN write_immed(DAT_HANDLE ep, va_list arguments)
{
    DAT_COUNT count = va_arg(arguments, DAT_COUNT);
    DAT_LMR_TRIPLET *segments = va_arg(arguments, DAT_LMR_TRIPLET *);
    DAT_DTO_COOKIE cookie = va_arg(arguments, DAT_DTO_COOKIE);
    const DAT_RMR_TRIPLET *remote = va_arg(arguments, DAT_RMR_TRIPLET *);
    DAT_UINT32 immediate = va_arg(arguments, DAT_UINT32);
    DAT_COMPLETION_FLAGS flags = va_arg(arguments, DAT_COMPLETION_FLAGS);

    return udapl_ep_post_write_immed(ep, count, segments, cookie, remote, immediate, flags);
}

static DAT_RETURN ib_operation(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments)
{
    switch (operation) {
    case DAT_IB_FETCH_AND_ADD_OP:
        return fetch_and_add(handle, arguments);
    case DAT_IB_CMP_AND_SWAP_OP:
        return cmp_and_swap(handle, arguments);
    case DAT_IB_RDMA_WRITE_IMMED_OP:
        return write_immed(handle, arguments);
    default: /* datagrams, counters, collectives */
        return not_implemented();
    }
}

/* ---------------------------------------------------------------- iWARP */

static DAT_RETURN ssp_create(DAT_HANDLE ia, va_list arguments)
{
    DAT_IA_HANDLE again = va_arg(arguments, DAT_IA_HANDLE); /* the draft passes it twice */
    DAT_IW_SOCKET socket = va_arg(arguments, DAT_IW_SOCKET);
    DAT_EP_HANDLE ep = va_arg(arguments, DAT_EP_HANDLE);
    DAT_EVD_HANDLE evd = va_arg(arguments, DAT_EVD_HANDLE);
    const void *message = va_arg(arguments, const void *);
    DAT_COUNT length = va_arg(arguments, DAT_COUNT);
    DAT_IW_SSP_HANDLE *ssp = va_arg(arguments, DAT_IW_SSP_HANDLE *);

    (void)again;
    return udapl_ssp_create(ia, socket, ep, evd, message, length, ssp);
}

static DAT_RETURN ssp_query(DAT_HANDLE ssp, va_list arguments)
{
    DAT_IW_SSP_PARAM_MASK mask = va_arg(arguments, DAT_IW_SSP_PARAM_MASK);
    DAT_IW_SSP_PARAM *param = va_arg(arguments, DAT_IW_SSP_PARAM *);

    return udapl_ssp_query(ssp, mask, param);
}

static DAT_RETURN socket_connect(DAT_HANDLE ep, va_list arguments)
{
    DAT_IW_SOCKET socket = va_arg(arguments, DAT_IW_SOCKET);
    DAT_TIMEOUT timeout = va_arg(arguments, DAT_TIMEOUT);
    DAT_COUNT size = va_arg(arguments, DAT_COUNT);
    const void *data = va_arg(arguments, const void *);

    return udapl_socket_connect(ep, socket, timeout, size, data);
}

static DAT_RETURN iw_operation(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments)
{
    switch (operation) {
    case DAT_IW_SSP_CREATE_OP:
        return ssp_create(handle, arguments);
    case DAT_IW_SSP_FREE_OP:
        return udapl_ssp_free(handle);
    case DAT_IW_SSP_QUERY_OP:
        return ssp_query(handle, arguments);
    case DAT_IW_SOCKET_CONNECT_OP:
        return socket_connect(handle, arguments);
    default:
        return not_implemented();
    }
}

/* The registry has dereferenced the handle: its first word points to the provider. */
DAT_RETURN udapl_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments)
{
    const struct udapl_provider *provider;

    if (!handle)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    provider = *(const struct udapl_provider *const *)handle;
    switch (provider->extension) {
    case DAT_EXTENSION_IB:
        return ib_operation(handle, operation, arguments);
    case DAT_EXTENSION_IW:
        return iw_operation(handle, operation, arguments);
    case DAT_EXTENSION_NONE:
        break;
    }
    return not_implemented();
}
