/* SPDX-License-Identifier: BSD-2-Clause */
/* Query and states of EVDs. */
#include "event/udapl_event.h"

#include "event/udapl_membership.h"
#include "map/udapl_return.h"

#include "itx_api.h"

#include <limits.h>

static DAT_EVD_STATE state_of(struct udapl_evd *evd)
{
    unsigned state = DAT_EVD_STATE_CONFIG_NOTIFY;

    pthread_mutex_lock(&evd->lock);
    state |= evd->disabled ? DAT_EVD_STATE_DISABLED : DAT_EVD_STATE_ENABLED;
    pthread_mutex_unlock(&evd->lock);
    state |= atomic_load(&evd->unwaitable) ? DAT_EVD_STATE_UNWAITABLE : DAT_EVD_STATE_WAITABLE;
    return (DAT_EVD_STATE)state;
}

DAT_RETURN udapl_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
    struct udapl_evd *evd = evd_handle;
    it_evd_param_t now;
    it_status_t status;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (((unsigned)mask & ~(unsigned)DAT_EVD_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    status = it_evd_query(evd->it, IT_EVD_PARAM_QUEUE_SIZE, &now);
    if (status != IT_SUCCESS)
        return udapl_return(status);
    param->ia_handle = udapl_ia_handle(evd->object.ia);
    param->evd_qlen = now.sevd_queue_size > INT_MAX ? INT_MAX : (DAT_COUNT)now.sevd_queue_size;
    param->evd_state = state_of(evd);
    param->cno_handle = atomic_load(&evd->cno);
    param->evd_flags = evd->flags;
    return DAT_SUCCESS;
}

/* Queued events stay, in order. */
DAT_RETURN udapl_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT qlen)
{
    const struct udapl_evd *evd = evd_handle;
    it_evd_param_t param = {.sevd_queue_size = (size_t)qlen};
    it_status_t status;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (qlen <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    status = it_evd_modify(evd->it, IT_EVD_PARAM_QUEUE_SIZE, &param);
    /* The EVD has more events, or a larger threshold, than the new size. */
    if (status == IT_ERR_INVALID_QUEUE_SIZE || status == IT_ERR_INVALID_THRESHOLD)
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
    if (status == IT_ERR_RESOURCES)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
    return udapl_return(status);
}

/* ---------------------------------------------------------------- the CNO */

DAT_RETURN udapl_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
    struct udapl_evd *evd = evd_handle;
    struct udapl_cno *cno = NULL;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (cno_handle != DAT_HANDLE_NULL) {
        cno = udapl_find(evd->object.ia, cno_handle, DAT_HANDLE_TYPE_CNO);
        if (!cno || !udapl_object_hold(cno))
            return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    }
    return udapl_return(udapl_evd_set_cno(evd, cno));
}

/* Enabling and disabling only affects notifications of the CNO. */
DAT_RETURN udapl_evd_enable(DAT_EVD_HANDLE evd_handle)
{
    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    return udapl_return(udapl_evd_set_enabled(evd_handle, true));
}

DAT_RETURN udapl_evd_disable(DAT_EVD_HANDLE evd_handle)
{
    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    return udapl_return(udapl_evd_set_enabled(evd_handle, false));
}

/* ---------------------------------------------------------------- waits */

static DAT_RETURN set_waitable(DAT_EVD_HANDLE evd_handle, bool waitable)
{
    struct udapl_evd *evd = evd_handle;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    atomic_store(&evd->unwaitable, !waitable);
    return udapl_return(itx_evd_set_waitable(evd->it, waitable ? IT_TRUE : IT_FALSE));
}

DAT_RETURN udapl_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle)
{
    return set_waitable(evd_handle, false);
}

DAT_RETURN udapl_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle)
{
    return set_waitable(evd_handle, true);
}
