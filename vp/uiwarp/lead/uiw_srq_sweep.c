/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop's look at messages that hold a receive of an S-RQ: see queue/uiw_srq_watch.c. */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_clock.h"
#include "base/base_log.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_stream.h"

/*
 * Returns the time since the last look, two periods at most: a process that was stopped has not
 * read what arrived.
 */
static uint64_t watch_elapsed(struct uiw_drawn *drawn, uint64_t period_ns)
{
    uint64_t now = base_now_ns();
    uint64_t elapsed = now - drawn->looked_ns;

    drawn->looked_ns = now;
    return elapsed < 2 * period_ns ? elapsed : 2 * period_ns;
}

/* Reader. Ends the connection. The Terminate names no FPDU of the peer. */
static void watch_end(struct ual_ep *ual)
{
    struct iw_terminate terminate;
    const struct uiw_end end = {.step = UAL_EP_BROKEN,
                                .async = IT_ASYNC_AFF_EP_SRQ_ERROR,
                                .terminate = &terminate,
                                .recv_status = IT_DTO_ERR_FLUSHED};

    iw_terminate_fill(&terminate, IW_ERR_RDMAP_STREAM, NULL, 0, 0);
    base_log_limited(BASE_LOG_WARN,
                     "ep %p: a message that holds a receive of the S-RQ does not go on",
                     (void *)ual);
    (void)uiw_ep_end(ual, &end, true);
}

static void watch_look(struct uiw_agenda_entry *entry)
{
    struct uiw_ep *ep = BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.drawn.link);
    struct uiw_drawn *drawn = &ep->rx.drawn;
    uint64_t elapsed_ns;
    uint64_t limit_ns;

    if (atomic_load(&ep->claim)) { /* after fork(2), not claimed yet */
        uiw_srq_watch_enter(ep);
        return;
    }
    uiw_reader_take(ep);
    drawn->watched = ep->fd >= 0 && uiw_srq_is_unfinished(ep);
    if (drawn->watched) {
        elapsed_ns = watch_elapsed(
            drawn, atomic_load_explicit(&ep->ia->progress.drawn.period_ns, memory_order_relaxed));
        limit_ns = atomic_load_explicit(&uiw_srq_of(ep->ual->srq)->limit_ns, memory_order_relaxed);
        drawn->watched = !uiw_srq_watch_is_over(drawn, uiw_queue_head(&ep->rq),
                                                iw_rx_arrived(&ep->rx.iw), elapsed_ns, limit_ns);
        if (drawn->watched)
            uiw_srq_watch_enter(ep);
        else
            watch_end(ep->ual);
    }
    uiw_reader_drop(ep);
}

void uiw_srq_sweep(struct uiw_agenda *agenda)
{
    uiw_agenda_run(agenda, NULL, NULL, watch_look);
}
