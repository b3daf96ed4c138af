/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message that holds a receive of an S-RQ and does not go on keeps it from all others: its
 * connection ends when the S-RQ's time limit is over. The limit runs from the last octet of the
 * message that has come. It runs from the first as well, and there each octet adds what it takes at
 * the slowest rate that is put up with: a peer that sends one now and then gains nothing.
 *
 * An EP enters the list when a turn of its stream ends within such a message. While there are any, the
 * loop looks at them once in a while. Messages that come in one turn cost nothing.
 */
#include "vp/uiwarp/queue/uiw_srq.h"

#include "base/base_clock.h"
#include "base/base_log.h"
#include "tdi/iwarp/iw_wire.h"

#define WATCH_DEFAULT_NS (30 * BASE_NS_PER_S)
#define WATCH_LEAST_NS   BASE_NS_PER_MS
/* Between two looks: a part of the limit, and at most a second. */
#define WATCH_PART      8u
#define WATCH_PERIOD_NS BASE_NS_PER_S
/* The slowest message that is put up with: 4000 octets a second. */
#define WATCH_NS_PER_OCTET (250 * BASE_NS_PER_US)

static struct uiw_progress *watch_progress(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

/* ---------------------------------------------------------------- the limit */

void uiw_srq_watch_begin(struct uiw_srq *srq)
{
    atomic_init(&srq->limit_ns, WATCH_DEFAULT_NS);
}

it_status_t uiw_srq_set_message_timeout(struct ual_srq *ual, uint64_t timeout_us)
{
    struct uiw_srq_watch *watch = &watch_progress(ual_ia_of(&ual->object))->srq_watch;
    uint64_t limit =
        timeout_us > BASE_NEVER / BASE_NS_PER_US ? BASE_NEVER : timeout_us * BASE_NS_PER_US;
    uint64_t period;

    if (limit < WATCH_LEAST_NS)
        limit = WATCH_LEAST_NS;
    atomic_store_explicit(&uiw_srq_of(ual)->limit_ns, limit, memory_order_relaxed);
    period = atomic_load_explicit(&watch->period_ns, memory_order_relaxed);
    while (limit / WATCH_PART < period &&
           !atomic_compare_exchange_weak_explicit(&watch->period_ns, &period, limit / WATCH_PART,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- the list */

static void watch_expired(void *argument);

/* Without memory for a timer the next EP that enters the list starts it. */
static void watch_wait(struct ual_ia *ia)
{
    struct uiw_progress *progress = watch_progress(ia);
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

static void watch_enter(struct uiw_ep *ep)
{
    struct ual_ia *ia = ep->ia->ual;
    struct uiw_progress *progress = watch_progress(ia);
    struct uiw_srq_watch *watch = &progress->srq_watch;
    bool start;

    base_lock_take(&progress->lock);
    if (!ep->drawn.listed) {
        ep->drawn.listed = true;
        ep->drawn.next = watch->first;
        watch->first = ep->ual;
    }
    start = !watch->running;
    watch->running = true;
    base_lock_drop(&progress->lock);
    if (start)
        (void)evd_loop_submit(ia->evd.loop, &watch->start);
}

void uiw_srq_watch_leave(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = watch_progress(ia);
    struct uiw_srq_watch *watch = &progress->srq_watch;
    bool used = ual->srq != NULL;

    while (used) {
        struct ual_ep **link = &watch->first;

        base_lock_take(&progress->lock);
        while (*link && *link != ual)
            link = &uiw_ep_of(*link)->drawn.next;
        if (*link)
            *link = uiw_ep_of(ual)->drawn.next;
        uiw_ep_of(ual)->drawn.listed = false;
        used = watch->looking;
        base_lock_drop(&progress->lock);
        if (used)
            sched_yield();
    }
}

/* ---------------------------------------------------------------- one connection */

static bool watch_is_unfinished(const struct uiw_ep *ep)
{
    return uiw_queue_head(&ep->rq) != atomic_load_explicit(&ep->rq.tail, memory_order_relaxed);
}

void uiw_srq_watch(struct uiw_ep *ep)
{
    struct uiw_drawn *drawn = &ep->drawn;

    if (drawn->watched || !watch_is_unfinished(ep))
        return;
    drawn->watched = true;
    drawn->message = uiw_queue_head(&ep->rq);
    drawn->arrived = iw_rx_arrived(&ep->rx);
    drawn->looked_ns = base_now_ns();
    drawn->age_ns = 0;
    drawn->still_ns = 0;
    watch_enter(ep);
}

bool uiw_drawn_is_over(struct uiw_drawn *drawn, uint32_t message, uint32_t arrived,
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
    struct uiw_drawn *drawn = &ep->drawn;

    uiw_reader_take(ep);
    drawn->watched = ep->fd >= 0 && watch_is_unfinished(ep);
    if (drawn->watched &&
        uiw_drawn_is_over(
            drawn, uiw_queue_head(&ep->rq), iw_rx_arrived(&ep->rx), watch_elapsed(drawn, period_ns),
            atomic_load_explicit(&uiw_srq_of(ual->srq)->limit_ns, memory_order_relaxed))) {
        drawn->watched = false;
        watch_end(ual);
    }
    if (drawn->watched)
        watch_enter(ep);
    uiw_reader_drop(ep);
}

/* ---------------------------------------------------------------- all of them: loop thread */

static void watch_expired(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = watch_progress(ia);
    struct uiw_srq_watch *watch = &progress->srq_watch;
    uint64_t period = atomic_load_explicit(&watch->period_ns, memory_order_relaxed);
    struct ual_ep *ual;
    struct ual_ep *next;
    bool again;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    base_lock_take(&progress->lock);
    ual = watch->first;
    for (struct ual_ep *one = ual; one; one = uiw_ep_of(one)->drawn.next)
        uiw_ep_of(one)->drawn.listed = false;
    watch->first = NULL;
    watch->looking = true;
    base_lock_drop(&progress->lock);
    for (; ual; ual = next) {
        next = uiw_ep_of(ual)->drawn.next;
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
    struct uiw_srq_watch *watch = &watch_progress(ia)->srq_watch;

    watch->ia = ia;
    watch->start.run = watch_start;
    atomic_init(&watch->period_ns, WATCH_PERIOD_NS);
}

void uiw_srq_watch_stop(struct ual_ia *ia)
{
    evd_timer_stop(&watch_progress(ia)->srq_watch.timer);
}
