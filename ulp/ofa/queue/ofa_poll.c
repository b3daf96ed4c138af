/* SPDX-License-Identifier: BSD-2-Clause */
/* Polling a CQ, and its events. */
#include "memory/ofa_adapter.h"
#include "queue/ofa_completion.h"
#include "queue/ofa_event.h"
#include "queue/ofa_park.h"
#include "queue/ofa_queue.h"
#include "queue/ofa_stash.h"

#include <errno.h>
#include <sched.h>

#define IDLE_POLLS  512 /* empty polls before a yield: some 50 microseconds */
#define IDLE_PERIOD 8
#define BATCH       16 /* completions dequeued from the SEVD at once */

/* ---- Taking completions --------------------------------------------------------------------- */

/*
 * Converts an event. Returns its queue pair; NULL: it was destroyed, or the completion is parked.
 */
static inline struct ofa_qp *translate_locked(struct ofa_cq *cq, const it_event_t *event,
                                              struct ibv_wc *wc)
{
    struct ofa_qp *qp = ofa_completion_of(event, wc);

    if (!qp || wc->status == IBV_WC_SUCCESS || !ofa_park_wants(wc, qp))
        return qp;
    ofa_park_locked(cq, &(struct ofa_completion){.wc = *wc, .qp = qp});
    return NULL;
}

/* Takes at most BATCH completions from the SEVD. */
static OFA_INLINE uint32_t take_batch_locked(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc)
{
    it_event_t events[BATCH];
    const it_event_t *event = events;
    uint32_t taken = 0;
    size_t count;

    if (itx_evd_dequeue_n(cq->evd, room < BATCH ? room : BATCH, events, &count) != IT_SUCCESS)
        return 0;
    do {
        taken += translate_locked(cq, event++, &wc[taken]) != NULL;
    } while (--count > 0);
    return taken;
}

static __attribute__((noinline)) uint32_t take_more_locked(struct ofa_cq *cq, uint32_t room,
                                                           struct ibv_wc *wc)
{
    uint32_t taken = 0;
    uint32_t more;

    do {
        more = take_batch_locked(cq, room - taken, wc + taken);
        taken += more;
    } while (more == BATCH && taken < room);
    return taken;
}

/* Takes completions that this layer keeps. */
static __attribute__((noinline)) uint32_t take_kept_locked(struct ofa_cq *cq, uint32_t room,
                                                           struct ibv_wc *wc)
{
    if (cq->parked_count > 0)
        (void)ofa_unpark_locked(cq);
    return cq->stash_count > 0 ? ofa_stash_pop_locked(cq, room, wc) : 0;
}

/*
 * With ofa_cq.lock. Returns true if the thread should yield: after many empty polls, since on a
 * small machine the peer may need the same processor.
 */
static bool is_idle_locked(struct ofa_cq *cq, uint32_t taken)
{
    if (taken > 0) {
        cq->idle = 0;
        return false;
    }
    cq->idle++;
    return cq->idle >= IDLE_POLLS && cq->idle % IDLE_PERIOD == 0;
}

static OFA_INLINE uint32_t take(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc)
{
    uint32_t taken = 0;
    uint32_t fresh = 0;
    bool idle;

    ofa_spin_take(&cq->lock);
    if ((cq->parked_count | cq->stash_count) > 0)
        taken = take_kept_locked(cq, room, wc);
    if (taken < room)
        fresh = take_batch_locked(cq, room - taken, wc + taken);
    cq->taken |= fresh > 0;
    taken += fresh;
    if (taken >= BATCH && taken < room)
        taken += take_more_locked(cq, room - taken, wc + taken);
    idle = is_idle_locked(cq, taken);
    ofa_spin_drop(&cq->lock);
    if (idle)
        (void)sched_yield();
    return taken;
}

static __attribute__((noinline)) uint32_t take_after(ofa_progress progress, struct ofa_cq *cq,
                                                     uint32_t room, struct ibv_wc *wc)
{
    progress(cq, false);
    return take(cq, room, wc);
}

uint32_t ofa_cq_take(struct ofa_cq *cq, uint32_t room, struct ibv_wc *wc)
{
    uint32_t taken = take(cq, room, wc);
    ofa_progress progress;

    if (taken > 0)
        return taken;
    progress = atomic_load_explicit(&cq->progress, memory_order_relaxed);
    return progress ? take_after(progress, cq, room, wc) : 0;
}

int ofa_poll_cq(struct ibv_cq *base, int num_entries, struct ibv_wc *wc)
{
    return num_entries > 0 ? (int)ofa_cq_take(ofa_cq_of(base), (uint32_t)num_entries, wc) : 0;
}

/*
 * Moves completions from the SEVD to the stash. Returns true if the program waits for one of them.
 * Only the SEVD knows which successes are solicited: its callback reports those.
 */
static bool collect_locked(struct ofa_cq *cq)
{
    it_event_t event;
    struct ofa_completion completion;
    bool any = false;

    while (ofa_stash_has_room_locked(cq) && it_evd_dequeue(cq->evd, &event) == IT_SUCCESS) {
        completion.qp = translate_locked(cq, &event, &completion.wc);
        if (!completion.qp || !ofa_stash_push_locked(cq, &completion))
            continue;
        cq->taken = true;
        any |= cq->armed == OFA_ARMED || completion.wc.status != IBV_WC_SUCCESS;
    }
    return any;
}

uint32_t ofa_cq_collect(struct ofa_cq *cq)
{
    uint32_t count;

    ofa_spin_take(&cq->lock);
    (void)collect_locked(cq);
    count = cq->stash_count;
    ofa_spin_drop(&cq->lock);
    return count;
}

/* The same for those that are parked, too. */
static bool gather_locked(struct ofa_cq *cq)
{
    bool any = collect_locked(cq);

    return ofa_unpark_locked(cq) || any;
}

/* ---- Events --------------------------------------------------------------------------------- */

static void raise_locked(struct ofa_cq *cq)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)cq->base.channel;

    if (cq->armed == OFA_DISARMED)
        return;
    cq->armed = OFA_DISARMED;
    ofa_fifo_push(&channel->fifo, &cq->event);
}

static int arm(const struct ofa_cq *cq, enum ofa_arming armed)
{
    return ofa_errno(
        itx_evd_arm(cq->evd, armed == OFA_ARMED ? ITX_EVD_ARM_ANY : ITX_EVD_ARM_NOTIFICATION));
}

/*
 * Runs on the IA's thread when the armed SEVD has a completion. The program gets an event even if
 * it has polled the completion already, but not if it is parked, or its queue pair is destroyed:
 * then the SEVD is armed again.
 */
static void on_completion(it_evd_handle_t evd, void *argument)
{
    struct ofa_cq *cq = argument;
    enum ofa_arming armed;
    uint32_t stashed;

    (void)evd;
    ofa_spin_take(&cq->lock);
    stashed = cq->stash_count;
    if (cq->armed != OFA_DISARMED)
        (void)gather_locked(cq);
    if (cq->taken || cq->stash_count > stashed)
        raise_locked(cq);
    armed = cq->armed;
    ofa_spin_drop(&cq->lock);
    if (armed != OFA_DISARMED)
        (void)arm(cq, armed);
}

void ofa_cq_complete(struct ofa_cq *cq, const struct ofa_completion *completion, bool solicited)
{
    ofa_spin_take(&cq->lock);
    (void)gather_locked(cq);
    if (ofa_stash_push_locked(cq, completion) &&
        (solicited || cq->armed == OFA_ARMED || completion->wc.status != IBV_WC_SUCCESS))
        raise_locked(cq);
    ofa_spin_drop(&cq->lock);
}

void ofa_cq_fail(struct ofa_cq *cq, const struct ofa_completion *completion)
{
    bool any;

    ofa_spin_take(&cq->lock);
    any = collect_locked(cq);
    any |= ofa_stash_push_locked(cq, completion);
    ofa_event_enter_error(completion->qp);
    if (ofa_unpark_locked(cq) || any)
        raise_locked(cq);
    ofa_spin_drop(&cq->lock);
}

bool ofa_cq_report_left(struct ofa_cq *cq)
{
    bool left;

    ofa_spin_take(&cq->lock);
    left = cq->armed == OFA_ARMED && cq->stash_count > 0;
    if (left)
        raise_locked(cq);
    ofa_spin_drop(&cq->lock);
    return left;
}

bool ofa_cq_is_armed(struct ofa_cq *cq)
{
    bool armed;

    ofa_spin_take(&cq->lock);
    armed = cq->armed != OFA_DISARMED;
    ofa_spin_drop(&cq->lock);
    return armed;
}

void ofa_cq_look(struct ofa_cq *cq)
{
    ofa_spin_take(&cq->lock);
    if (gather_locked(cq))
        raise_locked(cq);
    ofa_spin_drop(&cq->lock);
}

/* Returns 0 or errno. After a failure the next call tries again. */
static int attach_callback(struct ofa_cq *cq)
{
    int error = ofa_errno(it_evd_callback_attach(cq->evd, on_completion, cq));

    if (error != 0) {
        ofa_spin_take(&cq->lock);
        cq->has_callback = false;
        ofa_spin_drop(&cq->lock);
    }
    return error;
}

int ofa_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
    struct ofa_cq *cq = ofa_cq_of(base);
    enum ofa_arming armed;
    ofa_progress progress = atomic_load_explicit(&cq->progress, memory_order_relaxed);
    bool attach;
    int error = 0;

    if (!base->channel)
        return 0; /* as a device: the event reaches nobody */
    ofa_spin_take(&cq->lock);
    (void)gather_locked(cq);
    if (!solicited_only)
        cq->armed = OFA_ARMED;
    else if (cq->armed == OFA_DISARMED)
        cq->armed = OFA_ARMED_SOLICITED;
    armed = cq->armed;
    cq->taken = false;
    attach = !cq->has_callback;
    cq->has_callback = true;
    ofa_spin_drop(&cq->lock);
    if (attach)
        error = attach_callback(cq);
    if (error == 0)
        error = arm(cq, armed);
    if (progress)
        progress(cq, true);
    return error;
}

void ofa_cq_forget(struct ofa_cq *cq, const struct ofa_qp *qp)
{
    bool taken;
    uint32_t others;

    ofa_spin_take(&cq->lock);
    taken = cq->taken;
    ofa_stash_forget_locked(cq, qp);
    others = cq->stash_count;
    (void)gather_locked(cq);
    ofa_stash_forget_locked(cq, qp);
    cq->taken = taken || cq->stash_count > others;
    ofa_park_forget_locked(cq, qp);
    ofa_spin_drop(&cq->lock);
}
