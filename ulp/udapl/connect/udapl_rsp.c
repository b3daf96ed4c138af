/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                            DAT_RSP_HANDLE *rsp_handle)
{
    (void)ia_handle;
    (void)conn_qual;
    (void)ep_handle;
    (void)evd_handle;
    (void)rsp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
    (void)rsp_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_rsp_free(DAT_RSP_HANDLE rsp_handle)
{
    (void)rsp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
