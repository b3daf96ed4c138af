/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests posted with IT_COALESCE_WR_FLAG wait for one without it. A program that sleeps on an EVD of the EP posts none:
 * who is about to sleep lets go what is held, and a post that finds somebody asleep is deferred instead of held. One that
 * is elsewhere is forgiven: the loop looks at such EPs once a second and lets go what it meets twice.
 */
#include "vp/uiwarp/lead/uiw_handover.h"

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_agenda.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/stream/uiw_drive.h"

#define HOLD_SWEEP_NS (1000 * BASE_NS_PER_MS)

/* Bounded: an EP that enters the list meanwhile is its poster's. */
void uiw_progress_release_evd(void *context, const struct evd *evd)
{
    struct ual_ia *ia = context;
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;
    struct ual_ep *ual;

    if (!atomic_load_explicit(&progress->holding, memory_order_seq_cst))
        return;
    for (unsigned count = uiw_hold_count(progress); count > 0; count--) {
        ual = uiw_hold_take(progress, evd);
        if (!ual)
            break;
        if (uiw_sq_let_go(ual))
            uiw_tx_kick(ual, false);
        uiw_hold_done(progress);
    }
}

static void hold_sweep(void *argument);

/* Without memory for a timer the next post that is held tries again. */
static void hold_next_sweep(struct ual_ia *ia)
{
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;

    if (!evd_timer_start(&progress->hold, ia->evd.loop, HOLD_SWEEP_NS, hold_sweep, ia))
        atomic_store_explicit(&progress->holding, false, memory_order_seq_cst);
}

static void hold_look_at(struct ual_ia *ia, struct ual_ep *ual)
{
    switch (uiw_sq_age_hold(ual)) {
    case UIW_HOLD_NONE:
        break;
    case UIW_HOLD_YOUNG:
        uiw_progress_hold(ia, ual);
        break;
    case UIW_HOLD_OVER:
        uiw_tx_kick(ual, false);
        break;
    }
}

static void hold_sweep(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = &uiw_ia_of(ia)->progress;
    struct ual_ep *ual;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    /* Bounded: an EP that enters the list meanwhile has its turn next time. */
    for (unsigned count = uiw_hold_count(progress); count > 0; count--) {
        ual = uiw_hold_take(progress, NULL);
        if (!ual)
            break;
        hold_look_at(ia, ual);
        uiw_hold_done(progress);
    }
    if (uiw_hold_count(progress) == 0) {
        atomic_store_explicit(&progress->holding, false, memory_order_seq_cst);
        /* A post that came in between saw .holding set: it counts on us. */
        if (uiw_hold_count(progress) == 0 ||
            atomic_exchange_explicit(&progress->holding, true, memory_order_seq_cst))
            return;
    }
    hold_next_sweep(ia);
}

static void hold_start(struct evd_task *task)
{
    struct uiw_progress *progress =
        (struct uiw_progress *)(void *)((char *)task - offsetof(struct uiw_progress, hold_start));
    struct uiw_ia *ia =
        (struct uiw_ia *)(void *)((char *)progress - offsetof(struct uiw_ia, progress));

    hold_next_sweep(ia->ual);
}

void uiw_hold_init(struct ual_ia *ia)
{
    uiw_ia_of(ia)->progress.hold_start.run = hold_start;
}

void uiw_hold_stop(struct ual_ia *ia)
{
    evd_timer_stop(&uiw_ia_of(ia)->progress.hold);
}
