/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/udapl_event.h"

#include "map/udapl_return.h"

DAT_RETURN udapl_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                            DAT_CNO_HANDLE *cno_handle)
{
    (void)ia_handle;
    (void)agent;
    (void)cno_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *fd, DAT_CNO_HANDLE *cno_handle)
{
    (void)ia_handle;
    (void)fd;
    (void)cno_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
    (void)cno_handle;
    (void)agent;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param)
{
    (void)cno_handle;
    (void)mask;
    (void)param;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE *evd_handle)
{
    (void)cno_handle;
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
                          DAT_EVD_HANDLE *evd_handle)
{
    (void)cno_handle;
    (void)timeout;
    (void)evd_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN udapl_cno_free(DAT_CNO_HANDLE cno_handle)
{
    (void)cno_handle;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

void udapl_cno_discard(struct udapl_cno *cno)
{
    (void)cno;
}
