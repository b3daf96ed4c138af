/* SPDX-License-Identifier: BSD-2-Clause */
/* Ending a connection: the state first, then the stream, the posted work and the events. */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "evd/deliver/evd_deliver.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_pollset.h"
#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/send/uiw_send.h"

static bool end_step(struct ual_ep *ual, const struct uiw_end *end)
{
    bool stepped;

    base_lock_take(&ual->lock);
    stepped = (end->generation == 0 || end->generation == uiw_ep_of(ual)->generation) &&
              ual_ep_step_locked(ual, end->step, NULL);
    base_lock_drop(&ual->lock);
    return stepped;
}

/* Queues the Terminate, behind the rest of an FPDU that was sent in part. */
static void end_add_terminate(struct uiw_ep *ep, const struct iw_terminate *terminate)
{
    uint8_t fpdu[IW_TERMINATE_FPDU_MAX];
    size_t length = iw_encode_terminate_fpdu(fpdu, terminate, false);

    if (uiw_out_prepend_fpdu(ep, fpdu, length - IW_CRC_FIELD))
        uiw_count(&ep->tx.terminates, 1);
}

/* Returns true if the peer may wait for acknowledgements, as far as this side knows. */
static bool end_is_awaited(const struct uiw_ep *ep)
{
    bool unanswered = ep->initiator && ep->rx.iw.fpdus == 0; /* the answer is the first FPDU */

    return ((unanswered ? ep->own.wanted : ep->own.agreed) & IW_OWN_ACKS) != 0;
}

/*
 * Queues a last acknowledgement. Without it the peer would treat its requests as lost, or as
 * received if TCP has acknowledged them. A foreign peer ignores a Write of no octets.
 */
static void end_add_acknowledgement(struct uiw_ep *ep)
{
    uint8_t fpdu[IW_LENGTH_FIELD + IW_TAGGED_HEADER];
    size_t length;

    if (!end_is_awaited(ep))
        return;
    length =
        iw_encode_tagged(fpdu, IW_OP_WRITE, true, IW_OWN_STAG, uiw_own_tell(ep) | IW_OWN_LAST, 0);
    (void)uiw_out_prepend_fpdu(ep, fpdu, length);
}

/*
 * Both tokens are held. Takes the descriptor from the EP. The descriptor is closed after the octets
 * that must still leave, or reset if they cannot.
 */
static void end_stream(struct uiw_ep *ep, const struct iw_terminate *terminate)
{
    struct uiw_image *image = &ep->tx.image;
    bool dead = atomic_exchange_explicit(&ep->tx.dead, true, memory_order_acq_rel);
    int fd = ep->fd;

    if (fd < 0)
        return;
    uiw_pollset_remove(ep->ia->ual, ep->ual, fd);
    if (!dead)
        end_add_acknowledgement(ep);
    if (terminate && !dead)
        end_add_terminate(ep, terminate);
    ep->fd = -1;
    uiw_own_end(ep);
    if (dead)
        uiw_reset_fd(fd);
    else
        uiw_linger(&ep->ia->cm.lingering, fd,
                   image->buffer ? image->buffer->octets + image->start : NULL,
                   image->end - image->start);
    uiw_out_reset(ep);
}

/* Drops the posted work without completions and frees its slots. */
static void end_discard_locked(struct uiw_ep *ep)
{
    uiw_links_drop(ep);
    uiw_queue_discard(&ep->sq);
    uiw_queue_discard(&ep->rq);
}

/* Both tokens are held. Flushes the posted work; later posts flush themselves. */
static void end_flush(struct ual_ep *ual, const struct uiw_end *end)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool wake_request = false;
    bool wake_recv = ep->rx.wake_recv;

    base_lock_take(&ual->lock);
    if (end->discard) {
        end_discard_locked(ep);
    } else {
        wake_request =
            uiw_sq_flush_locked(ep, end->has_failed_request, end->failed_index, end->failed_status);
        wake_recv |= uiw_rq_flush_locked(ep, end->recv_status);
    }
    ep->rx.wake_recv = false;
    ep->drained = true;
    base_lock_drop(&ual->lock);
    if (wake_request)
        evd_wake(ual->request_evd);
    if (wake_recv)
        evd_wake(ual->recv_evd);
}

/* Raises the event that says that no receive of the S-RQ completes for this EP any more. */
static void end_tell_last_recv(struct ual_ep *ual)
{
    if (ual->srq && atomic_load_explicit(&ual->tells_last_recv, memory_order_relaxed))
        evd_raise_affiliated_ep(&ual_ia_of(&ual->object)->evd, ITX_ASYNC_AFF_EP_LAST_RECV,
                                ual_ep_handle(ual));
}

bool uiw_ep_end(struct ual_ep *ual, const struct uiw_end *end, bool reader)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_conn_news news = {.number = end->step == UAL_EP_BROKEN
                                               ? IT_CM_MSG_CONN_BROKEN_EVENT
                                               : IT_CM_MSG_CONN_DISCONNECT_EVENT};

    if (!end_step(ual, end))
        return false;
    if (!reader)
        uiw_reader_take(ep);
    uiw_token_wait(ep);
    if (end->by_peer)
        uiw_own_conclude(ep);
    end_stream(ep, end->terminate);
    end_flush(ual, end);
    uiw_token_drop(ep);
    if (end->async)
        evd_raise_affiliated_ep(&ual_ia_of(&ual->object)->evd, end->async, ual_ep_handle(ual));
    end_tell_last_recv(ual);
    if (!end->silent)
        ual_ep_report(ual, &news);
    if (!reader)
        uiw_reader_drop(ep);
    return true;
}

static bool end_unconnected(struct ual_ep *ual, enum ual_ep_step step, bool discard)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool stepped;
    bool wake = false;

    base_lock_take(&ual->lock);
    stepped = ual_ep_state(ual) != IT_EP_STATE_CONNECTED && ual_ep_step_locked(ual, step, NULL);
    if (stepped && discard)
        end_discard_locked(ep);
    else if (stepped)
        wake = uiw_rq_flush_locked(ep, IT_DTO_ERR_FLUSHED);
    if (stepped)
        ep->drained = true;
    base_lock_drop(&ual->lock);
    if (wake)
        evd_wake(ual->recv_evd);
    if (stepped)
        end_tell_last_recv(ual);
    return stepped;
}

bool uiw_ep_end_attempt(struct ual_ep *ual, enum ual_ep_step step, const struct ual_conn_news *news)
{
    bool ended = end_unconnected(ual, step, false);

    if (ended)
        ual_ep_report(ual, news);
    return ended;
}

bool uiw_ep_end_unconnected(struct ual_ep *ual, bool discard)
{
    return end_unconnected(ual, UAL_EP_FLUSH, discard);
}

/* Resets the stream if octets have not left yet, so that the peer learns that they are missing. */
void uiw_ep_cut(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool unsent;

    uiw_reader_take(ep);
    uiw_token_wait(ep);
    unsent = ep->tx.cursor.sq != atomic_load_explicit(&ep->sq.tail, memory_order_relaxed) ||
             ep->tx.image.buffer != NULL;
    if (unsent)
        atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
    end_stream(ep, NULL);
    uiw_token_drop(ep);
    uiw_reader_drop(ep);
}
