/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/udapl_event.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT qlen, DAT_CNO_HANDLE cno_handle,
                            DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
    (void)ia_handle;
    (void)qlen;
    (void)cno_handle;
    (void)flags;
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
    (void)evd_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
    (void)evd_handle;
    (void)cno_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_enable(DAT_EVD_HANDLE evd_handle)
{
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_disable(DAT_EVD_HANDLE evd_handle)
{
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle)
{
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle)
{
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                          DAT_EVENT *event, DAT_COUNT *more)
{
    (void)evd_handle;
    (void)timeout;
    (void)threshold;
    (void)event;
    (void)more;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT qlen)
{
    (void)evd_handle;
    (void)qlen;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
    (void)evd_handle;
    (void)event;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event)
{
    (void)evd_handle;
    (void)event;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_free(DAT_EVD_HANDLE evd_handle)
{
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_evd_stream(struct udapl_evd *evd, it_event_type_t stream,
                            DAT_RETURN_SUBTYPE subtype, it_evd_handle_t *sevd)
{
    (void)evd;
    (void)stream;
    (void)sevd;
    return udapl_error(DAT_INVALID_HANDLE, subtype);
}

DAT_RETURN udapl_evd_create_async(struct udapl_ia *ia, DAT_COUNT qlen, struct udapl_evd **evd)
{
    (void)qlen;
    *evd = udapl_object_new(ia, DAT_HANDLE_TYPE_EVD);
    if (!*evd)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    (*evd)->flags = DAT_EVD_ASYNC_FLAG;
    udapl_object_start(*evd);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_evd_join_async(struct udapl_ia *ia, DAT_EVD_HANDLE handle)
{
    (void)ia;
    (void)handle;
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
}

void udapl_evd_discard(struct udapl_evd *evd)
{
    (void)evd;
}

void udapl_event_close(struct udapl_ia *ia)
{
    (void)ia;
}
