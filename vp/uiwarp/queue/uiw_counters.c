/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each counter of an EP has one writer, the holder of a token, and is in the struct of that token
 * (uiw_tx, uiw_rx). An IA's sums are computed when a query asks for them.
 */
#include "vp/uiwarp/queue/uiw_counters.h"

static uint64_t counters_load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void counters_add_queue(const struct uiw_queue *queue, uint64_t *posted, uint64_t *done)
{
    /* The computation of uiw_queue_in_use without the tail: the number never goes down. */
    uint64_t over = atomic_load_explicit(&queue->over, memory_order_acquire);
    uint32_t retired = atomic_load_explicit(&queue->retired, memory_order_acquire);

    *posted += atomic_load_explicit(&queue->tail, memory_order_relaxed);
    *done += (uint32_t)(over >> 32) - ((uint32_t)over - retired);
}

void uiw_ep_counters(struct ual_ep *ual, struct itx_ep_counters *counters)
{
    const struct uiw_ep *ep = uiw_ep_of(ual);

    counters_add_queue(&ep->sq, &counters->requests_posted, &counters->requests_done);
    counters->requests_ended += uiw_queue_head(&ep->sq);
    counters_add_queue(&ep->rq, &counters->receives_posted, &counters->receives_done);
    counters->bytes_sent += counters_load(&ep->tx.octets);
    counters->bytes_received += counters_load(&ep->rx.octets_in);
    counters->fpdus_sent += counters_load(&ep->tx.fpdus);
    counters->fpdus_received += counters_load(&ep->rx.fpdus_in);
    counters->send_calls += counters_load(&ep->tx.calls);
    counters->receive_calls += counters_load(&ep->rx.calls_in);
    counters->send_retries += counters_load(&ep->tx.retries);
    counters->crc_errors += counters_load(&ep->rx.crc_errors);
    counters->protocol_errors += counters_load(&ep->rx.protocol_errors);
    counters->terminates_sent += counters_load(&ep->tx.terminates);
    counters->terminates_received += counters_load(&ep->rx.terminates_in);
    counters->nudges += counters_load(&ep->tx.nudges);
}

static void counters_add(struct itx_counters *sum, const struct itx_ep_counters *ep)
{
    sum->bytes_sent += ep->bytes_sent;
    sum->bytes_received += ep->bytes_received;
    sum->fpdus_sent += ep->fpdus_sent;
    sum->fpdus_received += ep->fpdus_received;
    sum->send_calls += ep->send_calls;
    sum->receive_calls += ep->receive_calls;
    sum->send_retries += ep->send_retries;
    sum->crc_errors += ep->crc_errors;
    sum->protocol_errors += ep->protocol_errors;
    sum->terminates_sent += ep->terminates_sent;
    sum->terminates_received += ep->terminates_received;
    sum->nudges += ep->nudges;
}

/* The EP is still in the IA's list: .counters_retired keeps the sums from counting it twice. */
void uiw_ep_retire_counters(struct uiw_ep *ep)
{
    base_lock_take(&ep->ia->retired_lock);
    uiw_ep_counters(ep->ual, &ep->ia->retired);
    ep->counters_retired = true;
    base_lock_drop(&ep->ia->retired_lock);
}

void uiw_ia_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    struct uiw_ia *ia = uiw_ia_of(ual);
    struct itx_ep_counters sum;

    base_lock_take(&ual->evd.lock);
    base_lock_take(&ia->retired_lock);
    sum = ia->retired;
    BASE_LIST_EACH(struct ual_ep, ep, &ual->evd.objects[IT_HANDLE_TYPE_EP], object.link) {
        if (!uiw_ep_of(ep)->counters_retired)
            uiw_ep_counters(ep, &sum);
    }
    base_lock_drop(&ia->retired_lock);
    base_lock_drop(&ual->evd.lock);
    counters_add(counters, &sum);
    counters->thread_wakeups += counters_load(&ia->progress.thread_wakeups);
    counters->leader_changes += counters_load(&ia->progress.leader_changes);
}
