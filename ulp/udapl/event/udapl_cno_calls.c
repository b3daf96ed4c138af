/* SPDX-License-Identifier: BSD-2-Clause */
/* Consumer Notification Objects. Each is an AEVD that returns a record for an EVD with events. */
#include "event/udapl_event.h"

#include "map/udapl_return.h"

#include "itx_api.h"

#include <sched.h>

#define CNO_FIELDS                                                                                 \
    ((unsigned)DAT_CNO_FIELD_IA_HANDLE | (unsigned)DAT_CNO_FIELD_PROXY |                           \
     (unsigned)DAT_CNO_FIELD_ALL)

/* ---------------------------------------------------------------- records */

/* Returns the EVD of a record, and notes that it is notified again after an event was taken. */
static struct udapl_evd *evd_of(const it_event_t *event)
{
    it_context_t context;
    struct udapl_evd *evd;

    if (it_get_consumer_context(event->aevd_notify.sevd, &context) != IT_SUCCESS)
        return NULL; /* the EVD was freed */
    evd = context.ptr;
    atomic_store_explicit(&evd->told, true, memory_order_relaxed);
    return evd;
}

/* Runs on the IA's thread, which calls it again while there are records. */
static void call_agent(it_evd_handle_t aevd, void *argument)
{
    const struct udapl_cno *cno = argument;
    it_event_t event;

    while (cno->agent.proxy_agent_func && it_evd_dequeue(aevd, &event) == IT_SUCCESS) {
        struct udapl_evd *evd = evd_of(&event);

        if (evd)
            cno->agent.proxy_agent_func(cno->agent.instance_data, evd);
    }
}

/* Attaches an agent. None is attached before. */
static it_status_t attach_agent(struct udapl_cno *cno, const DAT_OS_WAIT_PROXY_AGENT *agent)
{
    cno->agent = *agent;
    if (!agent->proxy_agent_func)
        return IT_SUCCESS;
    return it_evd_callback_attach(cno->it, call_agent, cno);
}

/* ---------------------------------------------------------------- life */

static DAT_RETURN create(struct udapl_ia *ia, const DAT_OS_WAIT_PROXY_AGENT *agent, bool has_fd,
                         struct udapl_cno **made)
{
    struct udapl_cno *cno = udapl_object_new(ia, DAT_HANDLE_TYPE_CNO);
    unsigned flags = IT_EVD_DEQUEUE_NOTIFICATIONS;
    it_status_t status;

    if (!cno)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    if (has_fd)
        flags |= IT_EVD_CREATE_FD;
    cno->has_fd = has_fd;
    status = it_evd_create(ia->it, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)flags, 0, 0,
                           NULL, &cno->it, &cno->fd);
    if (status != IT_SUCCESS)
        goto err;
    status = attach_agent(cno, agent);
    if (status != IT_SUCCESS)
        goto err_evd;
    udapl_object_start(cno);
    *made = cno;
    return DAT_SUCCESS;

err_evd:
    (void)it_evd_free(cno->it); /* it has no members */
err:
    udapl_object_discard(cno);
    return udapl_return(status);
}

DAT_RETURN udapl_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                            DAT_CNO_HANDLE *cno_handle)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_cno *cno;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!cno_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    result = create(ia, &agent, false, &cno);
    if (result == DAT_SUCCESS)
        *cno_handle = cno;
    return result;
}

DAT_RETURN udapl_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *fd, DAT_CNO_HANDLE *cno_handle)
{
    const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
    struct udapl_ia *ia = udapl_ia_from(ia_handle);
    struct udapl_cno *cno;
    DAT_RETURN result;

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!fd)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!cno_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    result = create(ia, &none, true, &cno);
    if (result != DAT_SUCCESS)
        return result;
    *fd = cno->fd;
    *cno_handle = cno;
    return DAT_SUCCESS;
}

/* Waits for threads in dat_cno_wait, which were woken and return soon. */
static void await_waiters(struct udapl_cno *cno)
{
    while (atomic_load(&cno->waiters) > 0)
        (void)sched_yield();
}

/* Frees a CNO. Threads that wait on it return with DAT_ABORT. */
DAT_RETURN udapl_cno_free(DAT_CNO_HANDLE cno_handle)
{
    struct udapl_cno *cno = cno_handle;

    if (!udapl_is(cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (!udapl_object_retire(cno))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    if (it_evd_free(cno->it) != IT_SUCCESS) { /* called by its agent */
        udapl_object_unretire(cno);
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    }
    await_waiters(cno);
    udapl_object_end(cno);
    return DAT_SUCCESS;
}

void udapl_cno_discard(struct udapl_cno *cno)
{
    await_waiters(cno);
}

/* ---------------------------------------------------------------- agent, query */

/* Refused for a CNO with a descriptor, which notifies by that. */
DAT_RETURN udapl_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
    struct udapl_cno *cno = cno_handle;

    if (!udapl_is(cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (cno->has_fd)
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
    (void)it_evd_callback_detach(cno->it); /* if any; returns when no callback runs */
    return udapl_return(attach_agent(cno, &agent));
}

DAT_RETURN udapl_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param)
{
    const struct udapl_cno *cno = cno_handle;

    if (!udapl_is(cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (((unsigned)mask & ~CNO_FIELDS) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->ia_handle = udapl_ia_handle(cno->object.ia);
    if (cno->has_fd) {
        param->proxy_type = DAT_PROXY_TYPE_FD;
        param->proxy.fd = cno->fd;
    } else if (cno->agent.proxy_agent_func) {
        param->proxy_type = DAT_PROXY_TYPE_AGENT;
        param->proxy.agent = cno->agent;
    } else {
        param->proxy_type = DAT_PROXY_TYPE_NONE;
        param->proxy.none = NULL;
    }
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- waiting */

/* Waits once. Sets *evd to NULL if the EVD was freed: the caller waits again. */
static DAT_RETURN wait_once(const struct udapl_cno *cno, uint64_t timeout_us, DAT_EVD_HANDLE *evd)
{
    it_event_t event;
    it_status_t status = it_evd_wait(cno->it, timeout_us, &event, NULL);

    if (status == IT_ERR_TIMEOUT_EXPIRED)
        return DAT_QUEUE_EMPTY; /* dat_cno_wait returns this on a timeout */
    if (status != IT_SUCCESS)
        return udapl_return(status);
    *evd = evd_of(&event);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
                          DAT_EVD_HANDLE *evd_handle)
{
    struct udapl_cno *cno = cno_handle;
    uint64_t timeout_us = timeout == DAT_TIMEOUT_INFINITE ? IT_TIMEOUT_INFINITE : timeout;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_RETURN result;

    if (!udapl_is(cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (!evd_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    atomic_fetch_add(&cno->waiters, 1);
    do
        result = wait_once(cno, timeout_us, &evd);
    while (result == DAT_SUCCESS && !evd);
    *evd_handle = evd;
    atomic_fetch_sub(&cno->waiters, 1); /* last: await_waiters waits for it */
    return result;
}

/* For programs that found the descriptor readable. */
DAT_RETURN udapl_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE *evd_handle)
{
    const struct udapl_cno *cno = cno_handle;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    it_status_t status = IT_SUCCESS;
    it_event_t event;

    if (!udapl_is(cno_handle, DAT_HANDLE_TYPE_CNO))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    if (!evd_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    while (status == IT_SUCCESS && !evd) {
        status = it_evd_dequeue(cno->it, &event);
        if (status == IT_SUCCESS)
            evd = evd_of(&event);
    }
    *evd_handle = evd;
    return udapl_return(status);
}
