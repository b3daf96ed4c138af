/* SPDX-License-Identifier: BSD-2-Clause */
/* Event Dispatchers: creation and end. Each is one EVD of IT-API. */
#include "event/udapl_event.h"

#include "event/udapl_join.h"
#include "event/udapl_membership.h"
#include "map/udapl_return.h"

#include "itx_api.h"

#include <dat2/dat_ib_extensions.h>

#include <sched.h>

#define ALL_FLAGS                                                                                  \
    ((unsigned)DAT_EVD_SOFTWARE_FLAG | (unsigned)DAT_EVD_DEFAULT_FLAG |                            \
     (unsigned)DAT_IB_EVD_EXTENSION_FLAG)

/* ---------------------------------------------------------------- streams */

#define ASYNC_STREAMS ((uint32_t)ITX_STREAM_ASYNC_AFF | (uint32_t)ITX_STREAM_ASYNC_UNAFF)

static const struct {
    DAT_EVD_FLAGS flag;
    it_event_type_t stream;
    uint32_t bits;
} streams[] = {
    {DAT_EVD_DTO_FLAG, IT_DTO_EVENT_STREAM, ITX_STREAM_DTO},
    {DAT_EVD_RMR_BIND_FLAG, IT_DTO_EVENT_STREAM, ITX_STREAM_DTO},
    {DAT_EVD_CR_FLAG, IT_CM_REQ_EVENT_STREAM, ITX_STREAM_CM_REQ},
    {DAT_EVD_CONNECTION_FLAG, IT_CM_MSG_EVENT_STREAM, ITX_STREAM_CM_MSG},
    {DAT_EVD_SOFTWARE_FLAG, IT_SOFTWARE_EVENT_STREAM, ITX_STREAM_SOFTWARE},
    /* Software events carry errors of other IAs, and are the only stream if errors go elsewhere. */
    {DAT_EVD_ASYNC_FLAG, IT_ASYNC_AFF_EVENT_STREAM, ASYNC_STREAMS | ITX_STREAM_SOFTWARE},
};

#define STREAMS (sizeof(streams) / sizeof(*streams))

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

/* Returns the streams of the EVD. Errors go to the first EVD created for them. */
static uint32_t claim_streams(struct udapl_evd *evd)
{
    struct udapl_ia *ia = evd->object.ia;
    uint32_t bits = 0;

    for (size_t i = 0; i < STREAMS; i++)
        if ((unsigned)evd->flags & (unsigned)streams[i].flag)
            bits |= streams[i].bits;
    if (!(bits & ASYNC_STREAMS))
        return bits;
    pthread_mutex_lock(&ia->lock);
    if (ia->errors_evd)
        bits &= ~ASYNC_STREAMS;
    else
        ia->errors_evd = evd;
    pthread_mutex_unlock(&ia->lock);
    return bits;
}

static void give_streams_back(struct udapl_evd *evd)
{
    struct udapl_ia *ia = evd->object.ia;

    pthread_mutex_lock(&ia->lock);
    if (ia->errors_evd == evd)
        ia->errors_evd = NULL;
    if (ia->async_evd == evd)
        ia->async_evd = NULL;
    pthread_mutex_unlock(&ia->lock);
}

/* ---------------------------------------------------------------- creation */

/* Creates the EVD of IT-API: an SEVD for completions alone, otherwise one queue for all streams. */
static it_status_t make(struct udapl_evd *evd, DAT_COUNT qlen)
{
    it_ia_handle_t ia = evd->object.ia->it;
    uint32_t bits = claim_streams(evd);
    it_context_t context = {.ptr = evd};
    it_status_t status;

    if (bits == ITX_STREAM_DTO)
        status = it_evd_create(ia, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, (size_t)qlen,
                               IT_THRESHOLD_DISABLE, NULL, &evd->it, NULL);
    else
        status = itx_evd_create_mixed(ia, bits, (it_evd_flags_t)0, (size_t)qlen,
                                      IT_THRESHOLD_DISABLE, NULL, &evd->it, NULL);
    if (status == IT_SUCCESS)
        (void)it_set_consumer_context(evd->it, context); /* cannot fail: the handle is valid */
    else
        give_streams_back(evd);
    return status;
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
    pthread_mutex_init(&evd->lock, NULL);
    *made = evd;
    return DAT_SUCCESS;
}

/* Frees an EVD that no other thread knows. */
static void drop(struct udapl_evd *evd)
{
    (void)it_evd_free(evd->it); /* cannot fail: no object uses it */
    give_streams_back(evd);
    pthread_mutex_destroy(&evd->lock);
}

DAT_RETURN udapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT qlen, DAT_CNO_HANDLE cno_handle,
                            DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_cno *cno = NULL;
    struct udapl_evd *evd;
    it_status_t status;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (qlen <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (cno_handle != DAT_HANDLE_NULL)
        cno = udapl_find(ia, cno_handle, DAT_HANDLE_TYPE_CNO);
    if (cno_handle != DAT_HANDLE_NULL && !cno)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (flags == 0 || ((unsigned)flags & ~ALL_FLAGS) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!evd_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    result = create(ia, qlen, flags, &evd);
    if (result != DAT_SUCCESS)
        return result;
    if (!udapl_object_hold(cno)) {
        result = udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
        goto err;
    }
    status = udapl_evd_set_cno(evd, cno);
    if (status != IT_SUCCESS) {
        result = udapl_return(status);
        goto err;
    }
    udapl_object_start(evd);
    *evd_handle = evd;
    return DAT_SUCCESS;

err:
    drop(evd);
    udapl_object_discard(evd);
    return result;
}

DAT_RETURN udapl_evd_create_async(struct udapl_ia *ia, DAT_COUNT qlen, struct udapl_evd **evd)
{
    DAT_RETURN result = create(ia, qlen, DAT_EVD_ASYNC_FLAG, evd);

    if (result == DAT_SUCCESS)
        udapl_object_start(*evd);
    return result;
}

/* ---------------------------------------------------------------- end */

/* Waits for a thread in dat_evd_wait, which was woken and returns soon. */
static void await_waiter(struct udapl_evd *evd)
{
    while (atomic_load(&evd->waits))
        (void)sched_yield();
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
    await_waiter(evd);
    give_streams_back(evd);
    udapl_object_release(atomic_load(&evd->cno));
    pthread_mutex_destroy(&evd->lock);
    udapl_object_end(evd);
    return DAT_SUCCESS;
}

void udapl_evd_discard(struct udapl_evd *evd)
{
    await_waiter(evd);
    pthread_mutex_destroy(&evd->lock);
}

void udapl_event_close(struct udapl_ia *ia)
{
    udapl_join_end(ia);
}
