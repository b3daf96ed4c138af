/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_connect.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                            DAT_PSP_HANDLE *psp_handle)
{
    (void)ia_handle;
    (void)conn_qual;
    (void)evd_handle;
    (void)flags;
    (void)psp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
                                DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                                DAT_PSP_HANDLE *psp_handle)
{
    (void)ia_handle;
    (void)conn_qual;
    (void)evd_handle;
    (void)flags;
    (void)psp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param)
{
    (void)psp_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_psp_free(DAT_PSP_HANDLE psp_handle)
{
    (void)psp_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

void udapl_sp_discard(struct udapl_sp *sp)
{
    (void)sp;
}
