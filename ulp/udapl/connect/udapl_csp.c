/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common service points are not supported, since connection qualifiers are ports already. So no
 * handle of one exists.
 */
#include "connect/udapl_connect.h"

#include "object/udapl_ia.h"

DAT_RETURN udapl_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM *communicator,
                            DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd_handle,
                            DAT_CSP_HANDLE *csp_handle)
{
    (void)communicator;
    (void)address;
    (void)evd_handle;
    (void)csp_handle;
    if (!udapl_ia_from(ia_handle))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param)
{
    (void)csp_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
}

DAT_RETURN udapl_csp_free(DAT_CSP_HANDLE csp_handle)
{
    (void)csp_handle;
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
}
