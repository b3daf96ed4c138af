/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop's look at Sends that wait for a receive: see receive/uiw_hold.c. */
#include "vp/uiwarp/lead/uiw_leader.h"

#include "base/base_clock.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/receive/uiw_hold.h"
#include "vp/uiwarp/stream/uiw_stream.h"

/* Returns how long a Send may wait, in microseconds: the lower limit of both sides. */
static uint64_t hold_limit(const struct uiw_ep *ep)
{
    uint64_t limit = ep->own.limit == 0 ? IT_TIMEOUT_INFINITE
                                        : (ep->own.limit - 1) * atomic_load(&ep->hold_try_us);

    return limit < ep->mpa.hold_us ? limit : ep->mpa.hold_us;
}

static bool hold_is_over(const struct uiw_ep *ep)
{
    uint64_t hold_us = hold_limit(ep);

    return ep->own.first && hold_us <= BASE_NEVER / BASE_NS_PER_US &&
           base_now_ns() - ep->own.first->since_ns >= hold_us * BASE_NS_PER_US;
}

static void hold_look_again(struct uiw_ep *ep)
{
    if (uiw_agenda_claim(&ep->later.holding))
        uiw_agenda_push(&ep->ia->progress.holding, &ep->later.holding);
}

static void hold_look(struct uiw_agenda_entry *entry)
{
    struct uiw_ep *ep = BASE_STACK_ITEM(&entry->link, struct uiw_ep, later.holding.link);
    struct uiw_read read = {.state = UIW_READ_DRAINED};

    if (atomic_load(&ep->claim)) { /* after fork(2), not claimed yet */
        hold_look_again(ep);
        return;
    }
    uiw_reader_take(ep);
    if (ep->fd >= 0 && ep->own.first) {
        read.error = uiw_hold_drain(ep);
        if (read.error == IW_OK && hold_is_over(ep))
            read.error = IW_ERR_DDP_NO_BUFFER;
        if (read.error != IW_OK)
            read.state = UIW_READ_REFUSED;
        uiw_drive_act(ep->ual, &read, true);
    }
    if (ep->own.first)
        hold_look_again(ep);
    uiw_reader_drop(ep);
}

void uiw_hold_sweep(struct uiw_agenda *agenda)
{
    uiw_agenda_run(agenda, NULL, NULL, hold_look);
}
