/* SPDX-License-Identifier: BSD-2-Clause */
/* Posts that wait: deferred ones to share a system call, held ones for another post. */
#include "vp/uiwarp/queue/uiw_later.h"

#include "vp/uiwarp/queue/uiw_sq.h"

_Thread_local const struct uiw_progress *uiw_later_here;

/* ---------------------------------------------------------------- deferred posts */

/*
 * Marks the EVDs after each push. A thread that clears a mark runs the agenda; it finds the EP
 * there, or another thread has taken it, which sends for it or pushes it again and comes here.
 */
void uiw_later_deferred(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    struct ual_ep *ual = BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.deferred.link)->ual;

    (void)agenda;
    evd_mark_unsent(ual->request_evd);
    evd_mark_unsent(ual->recv_evd);
}

void uiw_later_defer(struct ual_ep *ual)
{
    struct uiw_later *later = &uiw_ep_of(ual)->later;
    struct uiw_progress *progress = &uiw_ep_of(ual)->ia->progress;

    if (!uiw_agenda_claim(&later->deferred))
        return;
    later->deferred_met = false;
    later->deferred_by = &uiw_later_here;
    uiw_later_here = progress;
    uiw_agenda_push(&progress->deferred, &later->deferred);
}

/* ---------------------------------------------------------------- held posts */

static bool later_is_awaited(const struct ual_ep *ual)
{
    return evd_is_awaited(ual->request_evd) || evd_is_awaited(ual->recv_evd) ||
           evd_is_awaited(ual->connect_evd);
}

void uiw_later_held(struct uiw_agenda *agenda, struct uiw_agenda_entry *entry)
{
    struct ual_ep *ual = BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.held.link)->ual;

    /*
     * Pairs with a waiter, which registers and then runs the agenda: it finds the entry, or this
     * thread finds the waiter.
     */
    if (later_is_awaited(ual) && uiw_agenda_remove(agenda, entry) && uiw_sq_let_go(ual))
        uiw_later_defer(ual);
}

void uiw_later_hold(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (uiw_agenda_claim(&ep->later.held))
        uiw_agenda_push(&ep->ia->progress.held, &ep->later.held);
}

void uiw_later_leave(struct ual_ep *ual)
{
    struct uiw_progress *progress = &uiw_ep_of(ual)->ia->progress;
    struct uiw_later *later = &uiw_ep_of(ual)->later;

    uiw_agenda_leave(&progress->drawn, &later->drawn);
    uiw_agenda_leave(&progress->holding, &later->holding);
    uiw_agenda_leave(&progress->held, &later->held);
    uiw_agenda_leave(&progress->deferred, &later->deferred); /* last: held posts may be deferred */
}
