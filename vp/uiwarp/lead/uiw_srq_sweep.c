/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop looks at messages that hold a receive of an S-RQ: queue/uiw_srq_watch.c has the list of their EPs.
 */
#include "vp/uiwarp/lead/uiw_handover.h"

#include "base/base_clock.h"
#include "base/base_log.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_end.h"

#define WATCH_PERIOD_NS BASE_NS_PER_S

static void watch_expired(void *argument);

/* Without memory for a timer the next EP that enters the list starts it. */
static void watch_wait(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    uint64_t period = atomic_load_explicit(&progress->srq_watch.period_ns, memory_order_relaxed);

    if (evd_timer_start(&progress->srq_watch.timer, ia->evd.loop, period, watch_expired, ia))
        return;
    base_lock_take(&progress->lock);
    progress->srq_watch.running = false;
    base_lock_drop(&progress->lock);
}

static void watch_start(struct evd_task *task)
{
    struct uiw_srq_watch *watch =
        (struct uiw_srq_watch *)(void *)((char *)task - offsetof(struct uiw_srq_watch, start));

    watch_wait(watch->ia);
}

/*
 * Where nothing has run for a while, the peer may have gone on and nobody has read it yet: such a time
 * counts as two periods.
 */
static uint64_t watch_elapsed(struct uiw_drawn *drawn, uint64_t period_ns)
{
    uint64_t now = base_now_ns();
    uint64_t elapsed = now - drawn->looked_ns;

    drawn->looked_ns = now;
    return elapsed < 2 * period_ns ? elapsed : 2 * period_ns;
}

/* Reader. No FPDU of the peer is to blame. */
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

static void watch_look(struct ual_ep *ual, uint64_t period_ns)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_drawn *drawn = &ep->rx.drawn;

    uiw_reader_take(ep);
    drawn->watched = ep->fd >= 0 && uiw_srq_is_unfinished(ep);
    if (drawn->watched &&
        uiw_drawn_is_over(
            drawn, uiw_queue_head(&ep->rq), iw_rx_arrived(&ep->rx.iw),
            watch_elapsed(drawn, period_ns),
            atomic_load_explicit(&uiw_srq_of(ual->srq)->limit_ns, memory_order_relaxed))) {
        drawn->watched = false;
        watch_end(ual);
    }
    if (drawn->watched)
        uiw_srq_watch_enter(ep);
    uiw_reader_drop(ep);
}

static void watch_expired(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct uiw_srq_watch *watch = &progress->srq_watch;
    uint64_t period = atomic_load_explicit(&watch->period_ns, memory_order_relaxed);
    struct ual_ep *ual;
    struct ual_ep *next;
    bool again;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    base_lock_take(&progress->lock);
    ual = watch->first;
    for (struct ual_ep *one = ual; one; one = uiw_ep_of(one)->rx.drawn.next)
        uiw_ep_of(one)->rx.drawn.listed = false;
    watch->first = NULL;
    watch->looking = true;
    base_lock_drop(&progress->lock);
    for (; ual; ual = next) {
        next = uiw_ep_of(ual)->rx.drawn.next;
        watch_look(ual, period);
    }
    base_lock_take(&progress->lock);
    watch->looking = false;
    again = watch->first != NULL;
    watch->running = again;
    base_lock_drop(&progress->lock);
    if (again)
        watch_wait(ia);
}

void uiw_srq_watch_init(struct ual_ia *ia)
{
    struct uiw_srq_watch *watch = &uiw_progress_of(ia)->srq_watch;

    watch->ia = ia;
    watch->start.run = watch_start;
    atomic_init(&watch->period_ns, WATCH_PERIOD_NS);
}

void uiw_srq_watch_stop(struct ual_ia *ia)
{
    evd_timer_stop(&uiw_progress_of(ia)->srq_watch.timer);
}
