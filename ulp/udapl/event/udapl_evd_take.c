/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking events from EVDs, and posting software events. */
#include "event/udapl_event.h"

#include "deliver/udapl_deliver.h"
#include "event/udapl_join.h"
#include "event/udapl_membership.h"
#include "map/udapl_return.h"

#include "itx_api.h"

#include <limits.h>
#include <time.h>

static bool deliver(struct udapl_evd *evd, const it_event_t *event, DAT_EVENT *out)
{
    out->evd_handle = evd;
    switch ((unsigned)event->event_number & IT_EVENT_STREAM_MASK) {
    case IT_DTO_EVENT_STREAM:
        return udapl_deliver_completion(evd, event, out);
    case IT_CM_REQ_EVENT_STREAM:
        return udapl_deliver_request(evd->object.ia, event, out);
    case IT_CM_MSG_EVENT_STREAM:
        return udapl_deliver_connection(event, out);
    case IT_SOFTWARE_EVENT_STREAM:
        if (udapl_is_srq_leave(event))
            return udapl_deliver_srq_leave(event, out);
        if (udapl_join_is_error(event)) {
            udapl_join_deliver(event, out);
            return true;
        }
        out->event_number = DAT_SOFTWARE_EVENT;
        out->event_data.software_event_data.pointer = event->sw.data;
        return true;
    default:
        return udapl_deliver_async(evd->object.ia, event, out);
    }
}

/*
 * Returns the code for a failed dequeue. IT-API has no event for a failed IA; each call reports it.
 * The consumer gets one event for it.
 */
static DAT_RETURN __attribute__((noinline))
refuse(struct udapl_evd *evd, it_status_t status, DAT_EVENT *event)
{
    const struct udapl_ia *ia = evd->object.ia;

    if (status != IT_ERR_IA_CATASTROPHE || ia->errors_evd != evd ||
        atomic_exchange(&evd->ended, true))
        return udapl_return(status);
    event->evd_handle = evd;
    udapl_deliver_failure(ia, event);
    return DAT_SUCCESS;
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
        if (status == IT_ERR_QUEUE_EMPTY)
            return DAT_QUEUE_EMPTY; /* as udapl_return does */
        if (__builtin_expect(status != IT_SUCCESS, 0))
            return refuse(evd, status, event);
    } while (!deliver(evd, &next, event));
    udapl_evd_taken(evd);
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- waiting */

struct wait {
    struct udapl_evd *evd;
    uint64_t end_us; /* CLOCK_MONOTONIC; IT_TIMEOUT_INFINITE: no limit */
    DAT_EVENT *event;
    size_t left; /* events left in the queue */
};

static uint64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Returns the time left, after an event that is not for the consumer. */
static uint64_t time_left(const struct wait *wait)
{
    uint64_t now;

    if (wait->end_us == IT_TIMEOUT_INFINITE)
        return IT_TIMEOUT_INFINITE;
    now = now_us();
    return wait->end_us > now ? wait->end_us - now : 0;
}

static it_status_t take(struct wait *wait, uint64_t timeout_us)
{
    it_event_t next;
    size_t count;
    it_status_t status = itx_evd_wait_n(wait->evd->it, timeout_us, 1, &next, &count, &wait->left);

    while (status == IT_SUCCESS && !deliver(wait->evd, &next, wait->event))
        status = itx_evd_wait_n(wait->evd->it, time_left(wait), 1, &next, &count, &wait->left);
    return status;
}

static it_status_t set_threshold(const struct udapl_evd *evd, DAT_COUNT threshold)
{
    it_evd_param_t param = {.sevd_threshold = (size_t)threshold};

    return it_evd_modify(evd->it, IT_EVD_PARAM_THRESHOLD, &param);
}

/* Waits with the threshold, which the EVD has only during this call. */
static it_status_t take_by_threshold(struct wait *wait, uint64_t timeout_us, DAT_COUNT threshold)
{
    it_status_t status = set_threshold(wait->evd, threshold);

    if (status != IT_SUCCESS)
        return status;
    status = take(wait, timeout_us);
    if (status != IT_ERR_ABORT)
        (void)set_threshold(wait->evd, IT_THRESHOLD_DISABLE); /* cannot fail: not too large */
    return status;
}

static DAT_RETURN wait_return(const struct wait *wait, it_status_t status)
{
    if (status == IT_SUCCESS)
        return DAT_SUCCESS;
    if (status == IT_ERR_INVALID_THRESHOLD)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (status == IT_ERR_INVALID_EVD_STATE)
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
    return refuse(wait->evd, status, wait->event);
}

DAT_RETURN udapl_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                          DAT_EVENT *event, DAT_COUNT *more)
{
    struct wait wait = {.evd = evd_handle, .end_us = IT_TIMEOUT_INFINITE, .event = event};
    uint64_t timeout_us = timeout == DAT_TIMEOUT_INFINITE ? IT_TIMEOUT_INFINITE : timeout;
    it_status_t status;
    DAT_RETURN result;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (threshold <= 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!event)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!more)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (!udapl_evd_wait_begin(wait.evd))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    if (timeout_us != IT_TIMEOUT_INFINITE)
        wait.end_us = timeout_us > 0 ? now_us() + timeout_us : 0;
    status =
        threshold > 1 ? take_by_threshold(&wait, timeout_us, threshold) : take(&wait, timeout_us);
    result = wait_return(&wait, status);
    if (result == DAT_SUCCESS || status == IT_ERR_TIMEOUT_EXPIRED)
        *more = wait.left > INT_MAX ? INT_MAX : (DAT_COUNT)wait.left;
    udapl_evd_wait_end(wait.evd, status != IT_ERR_ABORT); /* last: await_waiter waits for it */
    return result;
}

/* ---------------------------------------------------------------- software events */

DAT_RETURN udapl_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
    const struct udapl_evd *evd = evd_handle;

    if (!udapl_is(evd_handle, DAT_HANDLE_TYPE_EVD))
        return udapl_error(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
    if (!event || event->event_number != DAT_SOFTWARE_EVENT)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!((unsigned)evd->flags & (unsigned)DAT_EVD_SOFTWARE_FLAG))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    return udapl_return(it_evd_post_se(evd->it, event->event_data.software_event_data.pointer));
}
