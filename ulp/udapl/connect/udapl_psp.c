/* SPDX-License-Identifier: BSD-2-Clause */
/* Public service points. */
#include "connect/udapl_connect.h"

#include "connect/udapl_sp.h"
#include "endpoint/udapl_ep_attr.h"
#include "map/udapl_connection.h"

static struct udapl_sp *psp_from(DAT_PSP_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_PSP) ? handle : NULL;
}

static DAT_RETURN check(const struct udapl_ia *ia, DAT_PSP_FLAGS flags, const void *psp_handle)
{
    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (flags != DAT_PSP_CONSUMER_FLAG && flags != DAT_PSP_PROVIDER_FLAG)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!psp_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    return DAT_SUCCESS;
}

/* Creates a PSP. conn_qual 0: any free one. */
static DAT_RETURN create(struct udapl_ia *ia, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd_handle,
                         DAT_PSP_FLAGS flags, struct udapl_sp **psp)
{
    DAT_RETURN result = udapl_sp_make(ia, DAT_HANDLE_TYPE_PSP, evd_handle, psp);

    if (result != DAT_SUCCESS)
        return result;
    (*psp)->conn_qual = conn_qual;
    (*psp)->flags = flags;
    (void)udapl_ep_attr_settle(ia, NULL, &(*psp)->attr); /* cannot fail: defaults */
    return udapl_sp_listen(*psp);
}

DAT_RETURN udapl_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                            DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                            DAT_PSP_HANDLE *psp_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    DAT_RETURN result = check(ia, flags, psp_handle);
    struct udapl_sp *psp;

    if (result == DAT_SUCCESS && !udapl_is_port(conn_qual))
        result = udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (result == DAT_SUCCESS)
        result = create(ia, conn_qual, evd_handle, flags, &psp);
    if (result == DAT_SUCCESS)
        *psp_handle = psp;
    return result;
}

DAT_RETURN udapl_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
                                DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                                DAT_PSP_HANDLE *psp_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    DAT_RETURN result = check(ia, flags, psp_handle);
    struct udapl_sp *psp;

    if (result == DAT_SUCCESS && !conn_qual)
        result = udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (result == DAT_SUCCESS)
        result = create(ia, 0, evd_handle, flags, &psp);
    if (DAT_GET_TYPE(result) == DAT_CONN_QUAL_IN_USE)
        return udapl_error(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE);
    if (result != DAT_SUCCESS)
        return result;
    *conn_qual = psp->conn_qual;
    *psp_handle = psp;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param)
{
    struct udapl_sp *psp = psp_from(psp_handle);

    if (!psp)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
    if ((unsigned)mask & ~(unsigned)DAT_PSP_FIELD_ALL)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(psp->object.ia);
    param->conn_qual = psp->conn_qual;
    param->evd_handle = psp->evd;
    param->psp_flags = psp->flags;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_psp_free(DAT_PSP_HANDLE psp_handle)
{
    struct udapl_sp *psp = psp_from(psp_handle);

    if (!psp || !udapl_object_retire(psp))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
    (void)udapl_sp_close(psp);
    udapl_sp_end(psp);
    return DAT_SUCCESS;
}
