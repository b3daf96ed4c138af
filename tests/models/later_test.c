/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for posts that wait: held ones are let go when a thread sleeps on
 * an EVD of the EP, deferred ones are sent by a thread that polls it, and every message is
 * acknowledged. The send queue, the sender and the loop are stand-ins.
 */
#include "models/model.h"
#include "models/model_run.h"

#undef MODEL_FILE
#define MODEL_FILE -1
#include "base/base_list.h"
#undef MODEL_FILE
#define MODEL_FILE 1
#include "vp/uiwarp/queue/uiw_agenda.h"

#include "evd/calls/evd_calls.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/stream/uiw_stream.h"

static bool let_go(void);
static void send_all(void);

#define uiw_sq_let_go(ual)          ((void)(ual), let_go())
#define uiw_drive_send(ual, reader) ((void)(ual), send_all())
#define evd_loop_submit(loop, task) ((void)(loop), (void)(task), true)
#define evd_loop_is_current(loop)   ((void)(loop), false)

#undef MODEL_FILE
#define MODEL_FILE -1
#include "vp/uiwarp/queue/uiw_agenda.c"
#undef MODEL_FILE
#define MODEL_FILE 3
#include "vp/uiwarp/queue/uiw_later.c"
#undef MODEL_FILE
#define MODEL_FILE 4
#include "vp/uiwarp/lead/uiw_sweep.c"
#undef MODEL_FILE
#define MODEL_FILE 5
#include "evd/queue/evd_object.c"
#undef MODEL_FILE
#define MODEL_FILE 6
#include "evd/calls/evd_wait.c"
#undef MODEL_FILE
#define MODEL_FILE 7
#include "evd/calls/evd_dequeue.c"
#undef MODEL_FILE
#define MODEL_FILE           8
#define uiw_later_defer(ual) ((void)(ual))
#include "vp/uiwarp/queue/uiw_own.c"
#undef uiw_later_defer

#include "models/model_ia.h"

static struct ual_ep *ual_ep; /* with the uiw_ep behind it */
static struct uiw_ep *ep;
static struct evd own_evd, other_evd, aggregate;
static _Atomic bool held; /* posts are held, or deferred; without an order of its own */
static _Atomic bool waits;

static bool let_go(void)
{
    return model_change(&held, sizeof(bool), MODEL_EXCHANGE, false, memory_order_relaxed, 0) != 0;
}

static void send_all(void)
{
    model_store(&waits, sizeof(bool), false, memory_order_relaxed, 0);
}

static void evd_begin(struct evd *evd, it_event_type_t stream)
{
    memset(evd, 0, sizeof(*evd));
    evd->ia = &ual->evd;
    evd->stream = stream;
}

static void begin(void)
{
    static _Alignas(64) unsigned char octets[sizeof(struct ual_ep) + sizeof(struct uiw_ep)];

    ia_begin(UIW_LEADER_NONE);
    uiw_sweep_open(ual);
    atomic_init(&progress->held.sweeping, true);
    atomic_init(&progress->deferred.sweeping, true);
    ual->evd.flush_evd = uiw_sweep_deferred_of;
    ual->evd.progress_context = ual;
    evd_begin(&own_evd, IT_DTO_EVENT_STREAM);
    evd_begin(&other_evd, IT_DTO_EVENT_STREAM);
    evd_begin(&aggregate, IT_AEVD_NOTIFICATION_EVENT_STREAM);
    memset(octets, 0, sizeof(octets));
    ual_ep = (struct ual_ep *)(void *)octets;
    ual_ep->request_evd = ual_ep->recv_evd = ual_ep->connect_evd = &own_evd;
    ep = uiw_ep_of(ual_ep);
    ep->ual = ual_ep;
    ep->ia = uiw_ia_of(ual);
    atomic_init(&held, false);
    atomic_init(&waits, false);
}

static void list(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    atomic_init(&entry->state, UIW_AGENDA_LISTED);
    model_init(&agenda->stack.newest, sizeof(agenda->stack.newest),
               (uint64_t)(uintptr_t)&entry->link);
}

/* ---- Held posts and sleepers: no post is held while a thread sleeps ---- */

static void hold(void)
{
    model_store(&held, sizeof(bool), true, memory_order_relaxed, 0);
    uiw_later_hold(ual_ep);
}

/* The steps of a wait before the sleep. */
static void sleep_on(struct evd *evd)
{
    struct evd_wait wait = {.evd = evd, .slot = -1, .blocks = true};

    (void)evd_wait_enter_locked(&wait);
    uiw_sweep_held_of(ual, evd_is_aggregate(evd) ? NULL : evd);
}

static void held_run(unsigned thread)
{
    if (thread == 0)
        hold();
    else
        sleep_on(&own_evd);
}

static void held_run_aggregate(unsigned thread)
{
    if (thread == 0)
        hold();
    else
        sleep_on(&aggregate);
}

/* Another post is held already. */
static void held_begin_again(void)
{
    begin();
    list(&progress->held, &ep->later.held);
    atomic_init(&held, true);
}

/* A thread that is to sleep on another EVD takes the stack, and pushes the entry again. */
static void held_run_beside_other(unsigned thread)
{
    sleep_on(thread == 0 ? &other_evd : &own_evd);
}

static void held_end(void)
{
    MODEL_REQUIRE(!*(volatile bool *)(void *)&held);
}

/* ---- Polling for deferred posts: they are sent, or the next poll finds them ---- */

static void defer(void)
{
    model_store(&waits, sizeof(bool), true, memory_order_relaxed, 0);
    uiw_later_defer(ual_ep);
}

/* What evd_make_progress does. */
static void poll_evd(struct evd *evd)
{
    if (atomic_load_explicit(&evd->unsent, memory_order_relaxed))
        evd_flush_posts(evd);
}

static void deferred_run(unsigned thread)
{
    if (thread == 0)
        defer();
    else
        poll_evd(&own_evd);
}

static void deferred_begin_again(void)
{
    begin();
    list(&progress->deferred, &ep->later.deferred);
    atomic_init(&waits, true);
    atomic_init(&own_evd.unsent, true);
    atomic_init(&other_evd.unsent, true);
}

static void deferred_run_beside_other(unsigned thread)
{
    poll_evd(thread == 0 ? &other_evd : &own_evd);
}

static void deferred_end(void)
{
    bool is_listed = *(volatile uintptr_t *)(void *)&progress->deferred.stack.newest != 0;

    MODEL_REQUIRE(!*(volatile bool *)(void *)&waits ||
                  (is_listed && *(volatile bool *)(void *)&own_evd.unsent));
}

/* ---- Acknowledging: each message is, or the next batch does ---- */

static void own_begin(void)
{
    begin();
    ep->own.agreed = IW_OWN_ACKS;
}

static void own_run(unsigned thread)
{
    if (thread == 0) {
        uiw_own_took(ep, 1);
        uiw_own_took(ep, 1);
    } else if (atomic_load_explicit(&ep->own.ack_is_due, memory_order_relaxed)) {
        (void)uiw_own_tell(ep);
    }
}

/* The first acknowledgement was not sent after all. */
static void own_run_untell(unsigned thread)
{
    if (thread == 0) {
        uiw_own_took(ep, 1);
    } else if (atomic_load_explicit(&ep->own.ack_is_due, memory_order_relaxed)) {
        (void)uiw_own_tell(ep);
        uiw_own_untell(ep);
        (void)uiw_own_tell(ep);
    }
}

static void own_begin_untell(void)
{
    own_begin();
    atomic_init(&ep->own.ack_is_due, true);
}

static void own_end(void)
{
    MODEL_REQUIRE(ep->own.told == ep->own.taken || *(volatile bool *)(void *)&ep->own.ack_is_due);
}

static const struct model models[] = {
    {"post that is held, thread that sleeps", 2, begin, held_run, held_end},
    {"post that is held, thread that sleeps on an AEVD", 2, begin, held_run_aggregate, held_end},
    {"post that is held once more", 2, held_begin_again, held_run, held_end},
    {"held post that another thread pushes back", 2, held_begin_again, held_run_beside_other,
     held_end},
    {"post that is deferred, thread that polls", 2, begin, deferred_run, deferred_end},
    {"post that is deferred once more", 2, deferred_begin_again, deferred_run, deferred_end},
    {"deferred post that another thread pushes back", 2, deferred_begin_again,
     deferred_run_beside_other, deferred_end},
    {"acknowledgement", 2, own_begin, own_run, own_end},
    {"acknowledgement that is not sent", 2, own_begin_untell, own_run_untell, own_end},
};

int main(void)
{
    /*
     * Sequentially consistent are, for held posts, the registering of a waiter (two operations),
     * the look for one (two) and the look at the stack; for acknowledgements the store and the load
     * of the number. Eight operations need no order here: that of agenda_test.c, the marks of EVDs
     * and of acknowledgements beside sequentially consistent operations on the stack and the
     * number, and what an acknowledgement says besides.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 7, 8);
}
