/* SPDX-License-Identifier: BSD-2-Clause */
/* A posting thread that reads the answer before it returns: see queue/uiw_stay.h. */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/receive/uiw_receive.h"

#define STAY_MAX_NS UINT64_C(200000)

/* Returns true when a message has arrived completely. An acknowledgement is no message. */
static bool stay_is_over(struct uiw_ep *ep, uint64_t heard)
{
    bool over;

    if (atomic_load_explicit(&ep->rx.heard, memory_order_relaxed) == heard || !uiw_reader_try(ep))
        return false;
    over = !uiw_reader_is_unfinished(ep);
    uiw_reader_drop(ep);
    return over;
}

/* Returns how long a post may stay: as long as a wait may poll. */
static uint64_t stay_limit_ns(const struct ual_ia *ia)
{
    uint64_t limit_ns = evd_ia_spin_ns(&ia->evd, STAY_MAX_NS);

    return limit_ns < STAY_MAX_NS ? limit_ns : STAY_MAX_NS;
}

/*
 * Reads until the answer has come; the caller leads. Returns false if none came in time, or another
 * stream had something to read.
 */
static bool stay_read(struct uiw_progress *progress, struct uiw_ep *ep, uint64_t heard,
                      uint64_t limit_ns)
{
    uint64_t end = base_now_ns() + limit_ns;

    do {
        uint64_t before = atomic_load_explicit(&ep->rx.octets_in, memory_order_relaxed);
        size_t octets = uiw_round_run(progress, false);

        if (stay_is_over(ep, heard))
            return true;
        if (octets > atomic_load_explicit(&ep->rx.octets_in, memory_order_relaxed) - before)
            return false;
    } while (base_now_ns() < end);
    return false;
}

static void stay_here(struct ual_ep *ual, uint64_t heard)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ep->ia->ual;
    struct uiw_progress *progress = uiw_progress_of(ia);
    uint64_t limit_ns = stay_limit_ns(ia);
    bool answered;

    if (limit_ns == 0 || evd_loop_is_here() ||
        atomic_load_explicit(&ia->evd.reliant, memory_order_relaxed) != 0 ||
        !uiw_leader_claim(progress, UIW_LEADER_CONSUMER))
        return;
    answered = stay_read(progress, ep, heard, limit_ns);
    if (answered)
        atomic_store_explicit(&progress->taken, base_rough_ticks(), memory_order_relaxed);
    uiw_leader_release(ia);
    if (answered)
        return;
    base_lock_take(&ual->lock);
    uiw_stay_doubt(&ep->stay);
    base_lock_drop(&ual->lock);
    uiw_handover_at_once(ia);
}

void uiw_stay_here(struct ual_ep *ual, uint64_t heard, enum uiw_stay_order order)
{
    if (order == UIW_STAY)
        stay_here(ual, heard);
    else
        uiw_handover_at_once(uiw_ep_of(ual)->ia->ual);
}
