/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_call.h"
#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <unistd.h>

/*
 * Budgets of one call, in batches: a batch costs one, and one more for each 128 KiB. So a call
 * sends for a millisecond at most, or for a quarter of that while other streams wait for their
 * turn.
 */
#define DRIVE_BUDGET        32u
#define DRIVE_BUDGET_SHARED 8u
/* Notes of the kernel that one call removes. */
#define DRIVE_NOTES 64u

static void drive_run(struct ual_ep *ual, bool reader, bool writable, unsigned budget)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_failure failure;
    bool failed;

    if (!uiw_token_try_or_mark(ep))
        return;
    do {
        uiw_sender_run(ep, writable, &budget);
        failed = uiw_has_failed(ep) || atomic_load_explicit(&ep->lost_event, memory_order_acquire);
        if (failed)
            uiw_sender_note_failure(ep, &failure);
    } while (!uiw_token_drop_unless_marked(ep));
    if (failed)
        uiw_verdict_unsendable(ual, &failure, reader);
}

void uiw_drive_send(struct ual_ep *ual, bool reader)
{
    drive_run(ual, reader, false, DRIVE_BUDGET);
}

void uiw_drive_turn(struct ual_ep *ual, bool reader, bool writable, bool shared)
{
    drive_run(ual, reader, writable, shared ? DRIVE_BUDGET_SHARED : DRIVE_BUDGET);
}

void uiw_drive_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (!uiw_token_try_or_mark(ep))
        return;
    /* A nudge must not come between two FPDUs of a message. */
    if (uiw_sender_may_send(ep) && ep->tx.image.start == ep->tx.image.end &&
        !uiw_sender_has_work(ep) && uiw_out_prepend_fpdu(ep, fpdu, length))
        uiw_count(&ep->tx.nudges, 1);
    uiw_token_drop(ep);
    uiw_drive_send(ual, false);
}

/* Does the work that the reader left until no lock is held: events, wake-ups, sending. */
static void drive_settle(struct ual_ep *ual, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    uiw_srq_tell(ep);
    if (ep->rx.wake_recv) {
        ep->rx.wake_recv = false;
        evd_wake(ual->recv_evd);
    }
    if (ep->rx.wake_request) {
        ep->rx.wake_request = false;
        evd_wake(ual->request_evd);
    }
    if (atomic_load_explicit(&ep->tx.hold, memory_order_relaxed) && ep->rx.iw.fpdus > 0) {
        /* The peer's first FPDU is here, so this side may send (RFC 5044 7.1.2). */
        atomic_store_explicit(&ep->tx.hold, false, memory_order_release);
        ep->rx.kick = true;
    }
    if (ep->rx.kick || atomic_load_explicit(&ep->lost_event, memory_order_relaxed)) {
        ep->rx.kick = false;
        uiw_drive_turn(ual, true, false, shared);
    }
}

void uiw_drive_act(struct ual_ep *ual, const struct uiw_read *read, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    drive_settle(ual, shared);
    if (ep->rx.terminated)
        uiw_verdict_terminated(ual);
    else if (read->state == UIW_READ_REFUSED)
        uiw_verdict_refused(ual, read->error);
    else if (read->state == UIW_READ_CLOSED || read->state == UIW_READ_LOST)
        uiw_verdict_closed(ual, read->state, read->lost);
}

size_t uiw_drive_receive(struct ual_ep *ual, uint8_t *staging, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_read read = {.state = UIW_READ_MORE};

    if (!uiw_reader_try(ep))
        return 0;
    if (ep->fd >= 0) {
        uiw_reader_read(ep, staging, shared, &read);
        if (read.octets > 0 || read.state != UIW_READ_DRAINED)
            uiw_drive_act(ual, &read, shared);
    }
    uiw_reader_drop(ep);
    return read.octets;
}

void uiw_drive_clear_notes(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    char octet;

    if (!uiw_reader_try(ep))
        return;
    for (unsigned i = 0; ep->fd >= 0 && i < DRIVE_NOTES; i++) {
        if (base_recv(ep->fd, &octet, sizeof(octet), MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            break;
    }
    uiw_reader_drop(ep);
}
