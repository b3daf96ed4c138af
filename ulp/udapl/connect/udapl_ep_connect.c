/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                            DAT_CONN_QUAL conn_qual, DAT_TIMEOUT timeout,
                            DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos,
                            DAT_CONNECT_FLAGS flags)
{
    (void)ep_handle;
    (void)address;
    (void)conn_qual;
    (void)timeout;
    (void)private_data_size;
    (void)private_data;
    (void)qos;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                                   DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                   const DAT_PVOID private_data)
{
    (void)ep_handle;
    (void)address;
    (void)timeout;
    (void)private_data_size;
    (void)private_data;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                const DAT_PVOID private_data, DAT_QOS qos)
{
    (void)ep_handle;
    (void)ep_dup_handle;
    (void)timeout;
    (void)private_data_size;
    (void)private_data;
    (void)qos;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags)
{
    (void)ep_handle;
    (void)flags;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_ep_reset(DAT_EP_HANDLE ep_handle)
{
    (void)ep_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
