/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time limit of messages that hold a receive of an S-RQ. No other connection can use that
 * receive until the message is complete. A connection ends when no octet of its message has arrived
 * for the S-RQ's time limit. The same limit also runs from the first octet, extended for each octet
 * by the time it takes at the slowest rate allowed. So a peer gains nothing by sending an octet now
 * and then.
 *
 * An EP enters the agenda (uiw_later.h) when a turn of its stream ends within such a message. The
 * loop looks at it periodically (lead/uiw_srq_sweep.c). Messages that arrive in one turn cost
 * nothing.
 */
#include "vp/uiwarp/queue/uiw_srq.h"

#include "base/base_clock.h"

#define WATCH_LEAST_NS BASE_NS_PER_MS
/* The time between two looks is this part of the limit, and at most a second. */
#define WATCH_PART 8u
/* The slowest rate allowed: 4000 octets a second. */
#define WATCH_NS_PER_OCTET (250 * BASE_NS_PER_US)

/* ---------------------------------------------------------------- the limit */

it_status_t uiw_srq_set_message_timeout(struct ual_srq *ual, uint64_t timeout_us)
{
    struct uiw_agenda *agenda = &uiw_progress_of(ual_ia_of(&ual->object))->drawn;
    uint64_t limit = base_ns_of_us(timeout_us);
    uint64_t period;

    if (limit < WATCH_LEAST_NS)
        limit = WATCH_LEAST_NS;
    atomic_store_explicit(&uiw_srq_of(ual)->limit_ns, limit, memory_order_relaxed);
    period = atomic_load_explicit(&agenda->period_ns, memory_order_relaxed);
    while (limit / WATCH_PART < period &&
           !atomic_compare_exchange_weak_explicit(&agenda->period_ns, &period, limit / WATCH_PART,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- one connection */

bool uiw_srq_is_unfinished(const struct uiw_ep *ep)
{
    return uiw_queue_head(&ep->rq) != atomic_load_explicit(&ep->rq.tail, memory_order_relaxed);
}

void uiw_srq_watch_enter(struct uiw_ep *ep)
{
    if (uiw_agenda_claim(&ep->later.drawn))
        uiw_agenda_push(&ep->ia->progress.drawn, &ep->later.drawn);
}

void uiw_srq_watch(struct uiw_ep *ep)
{
    struct uiw_drawn *drawn = &ep->rx.drawn;

    if (drawn->watched || !uiw_srq_is_unfinished(ep))
        return;
    drawn->watched = true;
    drawn->message = uiw_queue_head(&ep->rq);
    drawn->arrived = iw_rx_arrived(&ep->rx.iw);
    drawn->looked_ns = base_now_ns();
    drawn->age_ns = 0;
    drawn->still_ns = 0;
    uiw_srq_watch_enter(ep);
}

bool uiw_srq_watch_is_over(struct uiw_drawn *drawn, uint32_t message, uint32_t arrived,
                           uint64_t elapsed_ns, uint64_t limit_ns)
{
    bool same = message == drawn->message;

    drawn->age_ns = same ? drawn->age_ns + elapsed_ns : 0;
    drawn->still_ns = same && arrived == drawn->arrived ? drawn->still_ns + elapsed_ns : 0;
    drawn->message = message;
    drawn->arrived = arrived;
    return drawn->still_ns >= limit_ns ||
           drawn->age_ns >= base_deadline_ns(limit_ns, arrived * WATCH_NS_PER_OCTET);
}
