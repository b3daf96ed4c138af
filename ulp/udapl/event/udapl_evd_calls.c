/* SPDX-License-Identifier: BSD-2-Clause */
/* Event Dispatchers: each is one EVD of IT-API, which keeps the order of its streams. */
#include "event/udapl_event.h"

#include "deliver/udapl_deliver.h"
#include "map/udapl_return.h"

#include "itx_api.h"

#include <limits.h>

#define ALL_FLAGS ((unsigned)DAT_EVD_SOFTWARE_FLAG | (unsigned)DAT_EVD_DEFAULT_FLAG)

/* ---------------------------------------------------------------- streams */

static const struct {
    DAT_EVD_FLAGS flag;
    it_event_type_t stream;
    itx_stream_t bit;
} streams[] = {
    {DAT_EVD_DTO_FLAG, IT_DTO_EVENT_STREAM, ITX_STREAM_DTO},
    {DAT_EVD_RMR_BIND_FLAG, IT_DTO_EVENT_STREAM, ITX_STREAM_DTO},
    {DAT_EVD_CR_FLAG, IT_CM_REQ_EVENT_STREAM, ITX_STREAM_CM_REQ},
    {DAT_EVD_CONNECTION_FLAG, IT_CM_MSG_EVENT_STREAM, ITX_STREAM_CM_MSG},
    {DAT_EVD_ASYNC_FLAG, IT_ASYNC_AFF_EVENT_STREAM, ITX_STREAM_ASYNC_AFF},
    {DAT_EVD_ASYNC_FLAG, IT_ASYNC_UNAFF_EVENT_STREAM, ITX_STREAM_ASYNC_UNAFF},
    {DAT_EVD_SOFTWARE_FLAG, IT_SOFTWARE_EVENT_STREAM, ITX_STREAM_SOFTWARE},
};

#define STREAMS (sizeof(streams) / sizeof(*streams))

static uint32_t stream_bits(DAT_EVD_FLAGS flags)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < STREAMS; i++)
        if ((unsigned)flags & (unsigned)streams[i].flag)
            bits |= (uint32_t)streams[i].bit;
    return bits;
}

DAT_RETURN udapl_evd_stream(struct udapl_evd *evd, it_event_type_t stream,
                            DAT_RETURN_SUBTYPE subtype, it_evd_handle_t *sevd)
{
    for (size_t i = 0; i < STREAMS; i++)
        if (streams[i].stream == stream && ((unsigned)evd->flags & (unsigned)streams[i].flag)) {
            *sevd = evd->it;
            return DAT_SUCCESS;
        }
    return udapl_error(DAT_INVALID_HANDLE, subtype);
}

/* ---------------------------------------------------------------- creation */

static it_status_t make(struct udapl_evd *evd, DAT_COUNT qlen)
{
    it_context_t context = {.ptr = evd};
    it_status_t status;

    if (stream_bits(evd->flags) == ITX_STREAM_DTO)
        status = it_evd_create(evd->object.ia->it, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0,
                               (size_t)qlen, 1, NULL, &evd->it, NULL);
    else
        status = itx_evd_create_mixed(evd->object.ia->it, stream_bits(evd->flags),
                                      (it_evd_flags_t)0, (size_t)qlen, 1, NULL, &evd->it, NULL);
    return status == IT_SUCCESS ? it_set_consumer_context(evd->it, context) : status;
}

static DAT_RETURN create(struct udapl_ia *ia, DAT_COUNT qlen, DAT_EVD_FLAGS flags,
                         struct udapl_evd **made)
{
    struct udapl_evd *evd = udapl_object_new(ia, DAT_HANDLE_TYPE_EVD);
    it_status_t status;

    if (!evd)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    evd->flags = flags;
    status = make(evd, qlen ? qlen : 1);
    if (status != IT_SUCCESS) {
        udapl_object_discard(evd);
        return status == IT_ERR_RESOURCES
                   ? udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD)
                   : udapl_return(status);
    }
    udapl_object_start(evd);
    *made = evd;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT qlen, DAT_CNO_HANDLE cno_handle,
                            DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_evd *evd;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (qlen <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (cno_handle != DAT_HANDLE_NULL && !udapl_find(ia, cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (flags == 0 || ((unsigned)flags & ~ALL_FLAGS) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!evd_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    result = create(ia, qlen, flags, &evd);
    if (result == DAT_SUCCESS)
        *evd_handle = evd;
    return result;
}

DAT_RETURN udapl_evd_create_async(struct udapl_ia *ia, DAT_COUNT qlen, struct udapl_evd **evd)
{
    return create(ia, qlen, DAT_EVD_ASYNC_FLAG, evd);
}

DAT_RETURN udapl_evd_join_async(struct udapl_ia *ia, DAT_EVD_HANDLE handle)
{
    (void)ia;
    (void)handle;
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
}

DAT_RETURN udapl_evd_free(DAT_EVD_HANDLE evd_handle)
{
    struct udapl_evd *evd = evd_handle;
    it_status_t status;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (!udapl_object_retire(evd))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
    status = it_evd_free(evd->it);
    if (status != IT_SUCCESS) {
        udapl_object_unretire(evd);
        return udapl_return(status);
    }
    udapl_object_end(evd);
    return DAT_SUCCESS;
}

void udapl_evd_discard(struct udapl_evd *evd)
{
    (void)evd;
}

void udapl_event_close(struct udapl_ia *ia)
{
    (void)ia;
}

/* ---------------------------------------------------------------- events */

static bool deliver(struct udapl_evd *evd, const it_event_t *event, DAT_EVENT *out)
{
    out->evd_handle = evd;
    switch ((unsigned)event->event_number & IT_EVENT_STREAM_MASK) {
    case IT_DTO_EVENT_STREAM:
        return udapl_deliver_completion(event, out);
    case IT_CM_REQ_EVENT_STREAM:
        return udapl_deliver_request(evd->object.ia, event, out);
    case IT_CM_MSG_EVENT_STREAM:
        return udapl_deliver_connection(event, out);
    case IT_SOFTWARE_EVENT_STREAM:
        out->event_number = DAT_SOFTWARE_EVENT;
        out->event_data.software_event_data.pointer = event->sw.data;
        return true;
    default:
        return udapl_deliver_async(evd->object.ia, event, out);
    }
}

DAT_RETURN udapl_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event)
{
    struct udapl_evd *evd = evd_handle;
    it_event_t next;
    it_status_t status;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (!event)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    do {
        status = it_evd_dequeue(evd->it, &next);
        if (status != IT_SUCCESS)
            return udapl_return(status);
    } while (!deliver(evd, &next, event));
    return DAT_SUCCESS;
}

DAT_RETURN udapl_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                          DAT_EVENT *event, DAT_COUNT *more)
{
    struct udapl_evd *evd = evd_handle;
    uint64_t limit = timeout == DAT_TIMEOUT_INFINITE ? IT_TIMEOUT_INFINITE : timeout;
    it_event_t next;
    it_status_t status;
    size_t rest;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (threshold <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!event)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!more)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    do {
        status = it_evd_wait(evd->it, limit, &next, &rest);
        if (status != IT_SUCCESS)
            return udapl_return(status);
    } while (!deliver(evd, &next, event));
    *more = rest > INT_MAX ? INT_MAX : (DAT_COUNT)rest;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
    const struct udapl_evd *evd = evd_handle;
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
    param->evd_state =
        (DAT_EVD_STATE)((unsigned)DAT_EVD_STATE_ENABLED | (unsigned)DAT_EVD_STATE_WAITABLE |
                        (unsigned)DAT_EVD_STATE_CONFIG_NOTIFY);
    param->cno_handle = evd->cno;
    param->evd_flags = evd->flags;
    return DAT_SUCCESS;
}

DAT_RETURN udapl_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
    const struct udapl_evd *evd = evd_handle;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (!event || event->event_number != DAT_SOFTWARE_EVENT)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return udapl_return(it_evd_post_se(evd->it, event->event_data.software_event_data.pointer));
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

DAT_RETURN udapl_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT qlen)
{
    (void)evd_handle;
    (void)qlen;
    return udapl_error(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}
