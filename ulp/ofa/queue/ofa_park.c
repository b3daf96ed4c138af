/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_park.h"

#include "queue/ofa_event.h"
#include "queue/ofa_stash.h"

#include <stdlib.h>

#define PARK_ROOM_FIRST 16

/* ---- Time limits ---------------------------------------------------------------------------- */

/* The time limit of InfiniBand: 4.096 us << timeout for each try. */
void ofa_park_limit(struct ofa_qp *qp, uint8_t timeout, uint8_t retries)
{
    uint64_t limit = timeout == 0 ? 0 : (UINT64_C(4096) << (timeout & 31)) * (retries + 1u);

    atomic_store_explicit(&qp->retry_ns, limit, memory_order_relaxed);
}

static bool is_request(const struct ofa_completion *completion)
{
    return completion->wc.opcode != IBV_WC_RECV;
}

/* Starts the time limit of a queue pair with its first parked request. */
static void start_clock(struct ofa_qp *qp)
{
    uint64_t limit = atomic_load_explicit(&qp->retry_ns, memory_order_relaxed);
    uint64_t at;

    if (limit == 0 || atomic_load_explicit(&qp->give_up_ns, memory_order_relaxed) != 0)
        return;
    at = ofa_clock_ns() + limit;
    atomic_store_explicit(&qp->give_up_ns, at, memory_order_relaxed);
    ofa_timer_set(&qp->send_cq->look, at);
    if (qp->recv_cq != qp->send_cq)
        ofa_timer_set(&qp->recv_cq->look, at + 1000000);
}

static bool is_over(const struct ofa_completion *completion)
{
    uint64_t at = atomic_load_explicit(&completion->qp->give_up_ns, memory_order_relaxed);

    return is_request(completion) && at != 0 && ofa_clock_ns() >= at;
}

void ofa_park_end(struct ofa_qp *qp)
{
    if (qp->recv_cq != qp->send_cq)
        ofa_timer_set(&qp->recv_cq->look, ofa_clock_ns());
}

/*
 * Looks at the send CQ for a failed request that the program does not poll for: it may flush
 * receives.
 */
static void ask_for_failure(struct ofa_qp *qp)
{
    if (qp->recv_cq != qp->send_cq)
        ofa_timer_set(&qp->send_cq->look, ofa_clock_ns());
}

/* ---- Parking -------------------------------------------------------------------------------- */

void ofa_park_locked(struct ofa_cq *cq, const struct ofa_completion *completion)
{
    if (is_request(completion))
        start_clock(completion->qp);
    else
        ask_for_failure(completion->qp);
    if (cq->parked_count == cq->parked_room) {
        uint32_t room = cq->parked_room ? cq->parked_room * 2 : PARK_ROOM_FIRST;
        struct ofa_completion *parked = realloc(cq->parked, room * sizeof(*parked));

        if (!parked) {
            /* If memory runs out, the completion is reported too early. */
            (void)ofa_stash_push_locked(cq, completion);
            return;
        }
        cq->parked = parked;
        cq->parked_room = room;
    }
    cq->parked[cq->parked_count++] = *completion;
}

/* Fails requests whose time is over, and moves their queue pairs to ERR. */
static void fail_those_that_are_over(struct ofa_cq *cq)
{
    for (uint32_t i = 0; i < cq->parked_count; i++) {
        struct ofa_completion *parked = &cq->parked[i];

        if (!ofa_park_wants(&parked->wc, parked->qp) || !is_over(parked))
            continue;
        parked->wc.status = IBV_WC_RETRY_EXC_ERR;
        ofa_event_enter_error(parked->qp);
    }
}

/* Unparks the completions of one kind that need not wait any more. */
static bool unpark_kind(struct ofa_cq *cq, bool requests)
{
    uint32_t kept = 0;
    bool any = false;

    for (uint32_t i = 0; i < cq->parked_count; i++) {
        struct ofa_completion *parked = &cq->parked[i];

        if (is_request(parked) != requests || ofa_park_wants(&parked->wc, parked->qp))
            cq->parked[kept++] = *parked;
        else
            any |= ofa_stash_push_locked(cq, parked);
    }
    cq->parked_count = kept;
    return any;
}

/* Unparks requests first: the failed one completes before the work that it flushes. */
bool ofa_unpark_locked(struct ofa_cq *cq)
{
    bool any;

    if (cq->parked_count == 0)
        return false;
    fail_those_that_are_over(cq);
    any = unpark_kind(cq, true);
    return unpark_kind(cq, false) || any;
}

void ofa_park_forget_locked(struct ofa_cq *cq, const struct ofa_qp *qp)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cq->parked_count; i++)
        if (cq->parked[i].qp != qp)
            cq->parked[kept++] = cq->parked[i];
    cq->parked_count = kept;
}
