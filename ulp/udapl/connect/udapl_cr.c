/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
    (void)cr_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                           DAT_COUNT private_data_size, const DAT_PVOID private_data)
{
    (void)cr_handle;
    (void)ep_handle;
    (void)private_data_size;
    (void)private_data;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                           const DAT_PVOID private_data)
{
    (void)cr_handle;
    (void)private_data_size;
    (void)private_data;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL conn_qual)
{
    (void)cr_handle;
    (void)conn_qual;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

void udapl_cr_discard(struct udapl_cr *cr)
{
    (void)cr;
}
