/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends the posts on the agendas.
 *
 * Deferred posts share a system call. They are sent by the next poll of the thread that posted, by
 * the next poll of one of the EP's EVDs or of an AEVD, or by the next wait. For consumers that do
 * neither, the loop sweeps every half millisecond. While a consumer leads, it is likely to send
 * them, and cheaper; then the loop leaves a post that it meets for the first time.
 *
 * Held posts wait for a post without IT_COALESCE_WR_FLAG. A program that sleeps on an EVD of the EP
 * posts none. So a thread that is about to sleep releases the held posts, and a post that finds a
 * thread asleep is deferred instead of held. For a program that does something else, the loop
 * sweeps once a second and releases a post that it meets for the second time.
 */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#define SWEEP_DEFERRED_NS (BASE_NS_PER_MS / 2)
#define SWEEP_HOLDING_NS  BASE_NS_PER_MS
#define SWEEP_SLOW_NS     BASE_NS_PER_S

/* ---------------------------------------------------------------- deferred posts */

static struct uiw_ep *sweep_deferred_ep(const struct uiw_agenda_entry *entry)
{
    return BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.deferred.link);
}

static bool sweep_has_evd(const struct uiw_agenda_entry *entry, const void *evd)
{
    const struct ual_ep *ual = sweep_deferred_ep(entry)->ual;

    return ual->request_evd == evd || ual->recv_evd == evd;
}

static bool sweep_is_by(const struct uiw_agenda_entry *entry, const void *thread)
{
    return sweep_deferred_ep(entry)->later.deferred_by == thread;
}

static bool sweep_is_old(const struct uiw_agenda_entry *entry, const void *key)
{
    struct uiw_later *later = &sweep_deferred_ep(entry)->later;
    bool met = later->deferred_met;

    (void)key;
    later->deferred_met = true;
    return met;
}

static void sweep_send(struct uiw_agenda_entry *entry)
{
    uiw_drive_send(sweep_deferred_ep(entry)->ual, false);
}

static void sweep_run_deferred(struct ual_ia *ia, uiw_agenda_match *match, const void *key)
{
    struct uiw_agenda *agenda = &uiw_progress_of(ia)->deferred;

    if (!uiw_agenda_is_empty(agenda))
        uiw_agenda_run(agenda, match, key, sweep_send);
}

void uiw_sweep_deferred(void *ia)
{
    sweep_run_deferred(ia, NULL, NULL);
}

void uiw_sweep_deferred_of(void *ia, const struct evd *evd)
{
    sweep_run_deferred(ia, sweep_has_evd, evd);
}

void uiw_sweep_deferred_here(struct ual_ia *ia)
{
    if (uiw_later_here != uiw_progress_of(ia))
        return;
    uiw_later_here = NULL;
    sweep_run_deferred(ia, sweep_is_by, &uiw_later_here);
}

static struct uiw_progress *sweep_progress(struct uiw_agenda *deferred)
{
    return BASE_ITEM(deferred, struct uiw_progress, deferred);
}

static void sweep_begin(struct uiw_agenda *agenda)
{
    struct uiw_progress *progress = sweep_progress(agenda);

    progress->stints_swept = atomic_load_explicit(&progress->stints, memory_order_relaxed);
}

static void sweep_look_deferred(struct uiw_agenda *agenda)
{
    struct uiw_progress *progress = sweep_progress(agenda);
    uint32_t stints = atomic_load_explicit(&progress->stints, memory_order_relaxed);
    bool led = stints != progress->stints_swept; /* by a consumer, since the last sweep */

    progress->stints_swept = stints;
    uiw_agenda_run(agenda, led ? sweep_is_old : NULL, NULL, sweep_send);
}

/* ---------------------------------------------------------------- held posts */

static struct ual_ep *sweep_held_ep(const struct uiw_agenda_entry *entry)
{
    return BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.held.link)->ual;
}

static bool sweep_concerns(const struct uiw_agenda_entry *entry, const void *evd)
{
    const struct ual_ep *ual = sweep_held_ep(entry);

    return ual->request_evd == evd || ual->recv_evd == evd || ual->connect_evd == evd;
}

static void sweep_let_go(struct uiw_agenda_entry *entry)
{
    if (uiw_sq_let_go(sweep_held_ep(entry)))
        uiw_drive_send(sweep_held_ep(entry), false);
}

void uiw_sweep_held_of(void *ia, const struct evd *evd)
{
    struct uiw_agenda *agenda = &uiw_progress_of(ia)->held;

    if (!uiw_agenda_is_empty(agenda))
        uiw_agenda_run(agenda, evd ? sweep_concerns : NULL, evd, sweep_let_go);
}

static void sweep_age(struct uiw_agenda_entry *entry)
{
    struct ual_ep *ual = sweep_held_ep(entry);

    switch (uiw_sq_age_hold(ual)) {
    case UIW_HOLD_NONE:
        break;
    case UIW_HOLD_YOUNG:
        uiw_later_hold(ual);
        break;
    case UIW_HOLD_OVER:
        uiw_drive_send(ual, false);
        break;
    }
}

static void sweep_look_held(struct uiw_agenda *agenda)
{
    uiw_agenda_run(agenda, NULL, NULL, sweep_age);
}

/* ---------------------------------------------------------------- open and close */

static const struct uiw_agenda_ops sweep_deferred_ops = {
    .period_ns = SWEEP_DEFERRED_NS,
    .entered = uiw_later_deferred,
    .begin = sweep_begin,
    .look = sweep_look_deferred,
};

static const struct uiw_agenda_ops sweep_held_ops = {
    .period_ns = SWEEP_SLOW_NS,
    .entered = uiw_later_held,
    .look = sweep_look_held,
};

static const struct uiw_agenda_ops sweep_drawn_ops = {
    .period_ns = SWEEP_SLOW_NS, /* or less: see uiw_srq_set_message_timeout */
    .look = uiw_srq_sweep,
};

static const struct uiw_agenda_ops sweep_holding_ops = {
    .period_ns = SWEEP_HOLDING_NS,
    .look = uiw_hold_sweep,
};

void uiw_sweep_open(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    _Atomic uint64_t *wakeups = &progress->thread_wakeups;

    uiw_agenda_open(&progress->deferred, &sweep_deferred_ops, ia->evd.loop, wakeups);
    uiw_agenda_open(&progress->held, &sweep_held_ops, ia->evd.loop, wakeups);
    uiw_agenda_open(&progress->drawn, &sweep_drawn_ops, ia->evd.loop, wakeups);
    uiw_agenda_open(&progress->holding, &sweep_holding_ops, ia->evd.loop, wakeups);
}

void uiw_sweep_stop(struct ual_ia *ia)
{
    struct uiw_progress *progress = uiw_progress_of(ia);

    uiw_agenda_stop(&progress->deferred);
    uiw_agenda_stop(&progress->held);
    uiw_agenda_stop(&progress->drawn);
    uiw_agenda_stop(&progress->holding);
}
