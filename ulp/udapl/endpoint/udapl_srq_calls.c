/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_endpoint.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr,
                            DAT_SRQ_HANDLE *srq_handle)
{
    (void)ia_handle;
    (void)pz_handle;
    (void)attr;
    (void)srq_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
    (void)srq_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT qlen)
{
    (void)srq_handle;
    (void)qlen;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark)
{
    (void)srq_handle;
    (void)low_watermark;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                               DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie)
{
    (void)srq_handle;
    (void)num_segments;
    (void)segments;
    (void)cookie;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_srq_free(DAT_SRQ_HANDLE srq_handle)
{
    (void)srq_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
