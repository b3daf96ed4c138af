/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM *communicator,
                            DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd_handle,
                            DAT_CSP_HANDLE *csp_handle)
{
    (void)ia_handle;
    (void)communicator;
    (void)address;
    (void)evd_handle;
    (void)csp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param)
{
    (void)csp_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_csp_free(DAT_CSP_HANDLE csp_handle)
{
    (void)csp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
