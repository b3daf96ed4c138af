/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second ready-to-receive message to peers that seem to have missed the first. Linux siw, as
 * responder, begins to listen for it only after its Reply has left, and when ours comes in between
 * it waits for the next octets before it looks: its program would not learn of the connection, and
 * if ours waits for that program to speak, nothing would ever move. A Write of length zero is legal at
 * any time and touches nothing (RFC 5041 section 5). Peers that have sent an FPDU need none.
 */
#include "ual/uiwarp/uiw_handover.h"

#include "base/base_clock.h"
#include "base/base_log.h"
#include "tdi/iwarp/iw_wire.h"

#define NUDGE_DELAY_NS (250 * BASE_NS_PER_MS)

static struct uiw_progress *nudge_progress(struct ual_ia *ia)
{
    return &uiw_ia_of(ia)->progress;
}

/* The delay is the same for all, so the list is in the order of time. */
static void nudge_append_locked(struct uiw_nudge *nudge, struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    ep->nudge.next = NULL;
    ep->nudge.previous = nudge->last;
    if (nudge->last)
        uiw_ep_of(nudge->last)->nudge.next = ual;
    else
        nudge->first = ual;
    nudge->last = ual;
    ep->nudge.listed = true;
}

static void nudge_unlink_locked(struct uiw_nudge *nudge, struct ual_ep *ual)
{
    struct uiw_nudge_entry *entry = &uiw_ep_of(ual)->nudge;

    if (!entry->listed)
        return;
    if (entry->previous)
        uiw_ep_of(entry->previous)->nudge.next = entry->next;
    else
        nudge->first = entry->next;
    if (entry->next)
        uiw_ep_of(entry->next)->nudge.previous = entry->previous;
    else
        nudge->last = entry->previous;
    entry->listed = false;
}

static void nudge_expired(void *argument);

/* Without memory for a timer the next connection starts it. */
static void nudge_wait(struct ual_ia *ia, uint64_t due_ns)
{
    uint64_t now = base_now_ns();

    (void)evd_timer_start(&nudge_progress(ia)->nudge.timer, ia->evd.loop,
                          due_ns > now ? due_ns - now : 0, nudge_expired, ia);
}

static void nudge_one(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    uint8_t fpdu[IW_LENGTH_FIELD + IW_TAGGED_HEADER];

    if (ual_ep_state(ual) != IT_EP_STATE_CONNECTED ||
        atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed) != ep->fpdus_before)
        return;
    base_log(BASE_LOG_INFO, "ep %p: peer silent since the ready-to-receive message, once more",
             (void *)ual);
    uiw_tx_nudge(ual, fpdu, iw_encode_tagged(fpdu, IW_OP_WRITE, true, 1, 0, 0));
}

/* The EP stays valid while .busy names it. */
static struct ual_ep *nudge_take_due(struct uiw_progress *progress, uint64_t *next_ns)
{
    struct uiw_nudge *nudge = &progress->nudge;
    struct ual_ep *ual;

    base_lock_take(&progress->lock);
    ual = nudge->first;
    *next_ns = ual ? uiw_ep_of(ual)->nudge.due_ns : 0;
    if (ual && base_is_over(*next_ns))
        nudge_unlink_locked(nudge, ual);
    else
        ual = NULL;
    nudge->busy = ual;
    base_lock_drop(&progress->lock);
    return ual;
}

static void nudge_expired(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = nudge_progress(ia);
    struct ual_ep *ual;
    uint64_t next_ns;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    while ((ual = nudge_take_due(progress, &next_ns)))
        nudge_one(ual);
    if (next_ns != 0)
        nudge_wait(ia, next_ns);
}

void uiw_nudge_later(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = nudge_progress(ia);
    uint64_t due_ns = base_deadline_ns(base_now_ns(), NUDGE_DELAY_NS);

    base_lock_take(&progress->lock);
    nudge_unlink_locked(&progress->nudge, ual);
    uiw_ep_of(ual)->nudge.due_ns = due_ns;
    nudge_append_locked(&progress->nudge, ual);
    base_lock_drop(&progress->lock);
    if (!progress->nudge.timer.active)
        nudge_wait(ia, due_ns);
}

void uiw_nudge_never(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = nudge_progress(ia);
    bool busy = true;

    while (busy) {
        base_lock_take(&progress->lock);
        nudge_unlink_locked(&progress->nudge, ual);
        busy = progress->nudge.busy == ual;
        base_lock_drop(&progress->lock);
        if (busy)
            sched_yield();
    }
}

void uiw_nudge_stop(struct ual_ia *ia)
{
    evd_timer_stop(&nudge_progress(ia)->nudge.timer);
}
