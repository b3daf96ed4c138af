/* SPDX-License-Identifier: BSD-2-Clause */
/* Acknowledgements: of this side's requests by the peer, and of the peer's messages. */
#include "vp/uiwarp/queue/uiw_own.h"

#include "vp/uiwarp/queue/uiw_sq.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

void uiw_own_begin(struct uiw_ep *ep, unsigned wanted)
{
    struct uiw_own *own = &ep->own;

    *own = (struct uiw_own){.wanted = wanted};
    if (wanted & IW_OWN_IMM)
        atomic_store_explicit(&own->values, UIW_VALUES_UNKNOWN, memory_order_relaxed);
    /*
     * A Responder sends nothing before it knows the answer. An Initiator may, and its requests must
     * not complete before it does.
     */
    base_lock_take(&ep->ual->lock);
    ep->sent_is = ep->initiator && (wanted & IW_OWN_ACKS) ? UIW_DONE_SENT : UIW_DONE;
    base_lock_drop(&ep->ual->lock);
}

void uiw_own_end(struct uiw_ep *ep)
{
    while (ep->own.first)
        uiw_held_drop_first(ep);
}

/* ---------------------------------------------------------------- this side's requests */

void uiw_own_agree(struct uiw_ep *ep, unsigned bits)
{
    bool acks = (bits & IW_OWN_ACKS) != 0;

    ep->own.agreed = bits;
    atomic_store_explicit(&ep->own.values, bits & IW_OWN_IMM ? UIW_VALUES_INSIDE : UIW_VALUES_APART,
                          memory_order_relaxed);
    base_lock_take(&ep->ual->lock);
    ep->info.own_peer = bits;
    ep->sent_is = acks ? UIW_DONE_SENT : UIW_DONE;
    if (!acks) { /* requests that have been sent are done */
        ep->own.heard = UINT64_MAX;
        ep->rx.wake_request |= uiw_sq_complete_locked(ep);
    }
    base_lock_drop(&ep->ual->lock);
    if (acks && atomic_load(&ep->hold_limit) != 0)
        uiw_own_took(ep, 0); /* sends the limit */
}

/* Returns true if the oldest request is a local one: its fence waits for completions. */
static bool own_fence_waits_locked(const struct uiw_ep *ep)
{
    uint32_t head = uiw_queue_head(&ep->sq);

    return head != atomic_load_explicit(&ep->sq.tail, memory_order_relaxed) &&
           uiw_sqe_is_local(uiw_sqe_at(ep, head));
}

void uiw_own_heard(struct uiw_ep *ep, const struct iw_segment *ack)
{
    uint64_t messages = iw_own_acknowledged(ack);

    ep->own.acks++;
    ep->own.limit = iw_own_limit(ack);
    ep->own.peer_waits = (ack->to & IW_OWN_WAITS) != 0;
    ep->own.heard_last |= (ack->to & IW_OWN_LAST) != 0;
    base_lock_take(&ep->ual->lock);
    if (messages > ep->own.heard) {
        ep->own.heard = messages;
        ep->rx.wake_request |= uiw_sq_complete_locked(ep);
        ep->rx.kick |= own_fence_waits_locked(ep);
    }
    base_lock_drop(&ep->ual->lock);
}

bool uiw_own_oldest_locked(const struct uiw_ep *ep, uint32_t *index)
{
    uint64_t left = ep->own.heard - ep->own.matched;
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);

    base_lock_assert_held(&ep->ual->lock);
    for (*index = uiw_queue_head(&ep->sq); *index != tail; (*index)++) {
        uint32_t messages = uiw_sq_messages(ep, uiw_sqe_at(ep, *index));

        if (messages > left)
            return true;
        left -= messages;
    }
    return false;
}

/* ---------------------------------------------------------------- messages of the peer */

/*
 * Counts messages. The acknowledgement is deferred until the program posts or polls. While the loop
 * reads, the program may do neither soon, so the acknowledgement leaves at the end of this turn.
 */
void uiw_own_took(struct uiw_ep *ep, uint64_t messages)
{
    struct uiw_own *own = &ep->own;

    if (!(own->agreed & IW_OWN_ACKS))
        return;
    own->taken += messages;
    /* Pairs with uiw_own_tell: that sees the number, or this thread finds the mark cleared. */
    atomic_store(&own->due, own->taken);
    if (atomic_exchange(&own->ack_is_due, true))
        return;
    if (evd_loop_is_current(ep->ia->ual->evd.loop))
        ep->rx.kick = true;
    else
        uiw_later_defer(ep->ual);
}

/*
 * Tells the peer at once, unlike acknowledgements: this process may end before the next one, and
 * the peer must know then that a Send was not received.
 */
void uiw_own_set_waits(struct uiw_ep *ep, bool waits)
{
    if (atomic_load(&ep->own.waits) == waits)
        return;
    atomic_store(&ep->own.waits, waits);
    if (!(ep->own.agreed & IW_OWN_ACKS))
        return;
    atomic_store(&ep->own.ack_is_due, true);
    ep->rx.kick = true;
}

static uint64_t own_ack(const struct uiw_ep *ep, uint64_t messages)
{
    return iw_own_ack(messages, atomic_load(&ep->hold_limit)) |
           (atomic_load(&ep->own.waits) ? IW_OWN_WAITS : 0);
}

uint64_t uiw_own_tell(struct uiw_ep *ep)
{
    (void)atomic_exchange(&ep->own.ack_is_due, false);
    ep->own.told = atomic_load(&ep->own.due);
    return own_ack(ep, ep->own.told);
}

uint64_t uiw_own_tell_limit(const struct uiw_ep *ep)
{
    return own_ack(ep, 0);
}

/*
 * When a process ends, the kernel closes its sockets: in order if it had read all octets, with a
 * reset otherwise. So after an orderly end, all that TCP has acknowledged was read, and went to
 * receives unless the peer said that a Send waits.
 */
void uiw_own_conclude(struct uiw_ep *ep)
{
    int unacknowledged;

    if (!(ep->own.agreed & IW_OWN_ACKS) || ep->own.heard_last || ep->own.peer_waits ||
        ioctl(ep->fd, SIOCOUTQ, &unacknowledged) != 0 || unacknowledged != 0)
        return;
    base_lock_take(&ep->ual->lock);
    ep->own.heard = UINT64_MAX; /* all that was sent counts as acknowledged */
    base_lock_drop(&ep->ual->lock);
}

it_status_t uiw_own_limit_hold(struct ual_ep *ual, unsigned tries, uint64_t try_us)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    unsigned limit = tries >= IW_OWN_LIMIT ? 0 : tries + 1;
    bool tell;

    atomic_store(&ep->hold_try_us, try_us);
    base_lock_take(&ual->lock);
    tell = atomic_exchange(&ep->hold_limit, limit) != limit &&
           ual_ep_state(ual) == IT_EP_STATE_CONNECTED && (ep->info.own_peer & IW_OWN_ACKS);
    base_lock_drop(&ual->lock);
    if (tell && !atomic_exchange(&ep->own.ack_is_due, true))
        uiw_later_defer(ual);
    return IT_SUCCESS;
}

void uiw_own_untell(struct uiw_ep *ep)
{
    atomic_store(&ep->own.ack_is_due, true);
}
