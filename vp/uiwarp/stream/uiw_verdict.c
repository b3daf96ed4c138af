/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_counters.h"

#include <unistd.h>

static bool verdict_is_response(enum iw_opcode opcode)
{
    return opcode == IW_OP_READ_RESPONSE || opcode == IW_OP_ATOMIC_RESPONSE;
}

/* Returns the affiliated event for an error that this side has found. */
static it_event_type_t verdict_async_of_error(const struct uiw_ep *ep, enum iw_error error)
{
    enum iw_opcode opcode = ep->rx.iw.segment.opcode;
    bool request = opcode == IW_OP_READ_REQUEST || opcode == IW_OP_ATOMIC_REQUEST;

    if (IW_ERROR_LAYER(error) == 2)
        return IT_ASYNC_AFF_EP_L_LLP_ERROR;
    if (error == IW_ERR_RDMAP_OPCODE)
        return IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE;
    if (error == IW_ERR_RDMAP_CANNOT_INVALIDATE)
        return IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_LOCAL || error == IW_ERR_DDP_TOO_LONG)
        return verdict_is_response(opcode) ? IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION
                                           : IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_NO_BUFFER && request)
        return IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_NO_BUFFER && ep->ual->srq)
        return IT_ASYNC_AFF_EP_SRQ_ERROR;
    if (opcode == IW_OP_WRITE && (IW_ERROR_TYPE(error) == 1 && error != IW_ERR_DDP_TAGGED_VERSION))
        return IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION;
    if (request && IW_ERROR_LAYER(error) == 0 && IW_ERROR_TYPE(error) == 1)
        return opcode == IW_OP_READ_REQUEST ? IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION
                                            : IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
    return IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR;
}

/* Blames the oldest Read or atomic, if there is one: a bad response belongs to it. */
static void verdict_blame_read(struct uiw_ep *ep, struct uiw_end *end, it_dto_status_t status)
{
    const struct uiw_orq_entry *read = uiw_orq_oldest(&ep->reads);

    if (!read || read->rtr)
        return;
    end->has_failed_request = true;
    end->failed_index = read->sq_index;
    end->failed_status = status;
}

void uiw_verdict_refused(struct ual_ep *ual, enum iw_error error)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct iw_terminate terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .async = verdict_async_of_error(ep, error),
                          .terminate = &terminate,
                          .recv_status = IT_DTO_ERR_FLUSHED};
    bool response = verdict_is_response(ep->rx.iw.segment.opcode);

    iw_rx_fill_terminate(&ep->rx.iw, error, &terminate);
    if (error == IW_ERR_DDP_TOO_LONG)
        end.recv_status = IT_DTO_ERR_LOCAL_LENGTH;
    else if (error == IW_ERR_DDP_LOCAL && !response)
        end.recv_status = IT_DTO_ERR_LOCAL_PROTECTION;
    else if (response && IW_ERROR_LAYER(error) != 2)
        verdict_blame_read(ep, &end,
                           error == IW_ERR_DDP_LOCAL ? IT_DTO_ERR_LOCAL_PROTECTION
                                                     : IT_DTO_ERR_BAD_RESPONSE);
    if (error == IW_ERR_MPA_CRC)
        uiw_count(&ep->rx.crc_errors, 1);
    else
        uiw_count(&ep->rx.protocol_errors, 1);
    uiw_log_refused(ual, error);
    uiw_ep_end(ual, &end, true);
}

static it_event_type_t verdict_async_of_terminate(enum iw_error error)
{
    unsigned layer = IW_ERROR_LAYER(error);
    unsigned type = IW_ERROR_TYPE(error);

    if (layer <= 1 && type == 1)
        return IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_TOO_LONG)
        return IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR;
    if (error == IW_ERR_DDP_LOCAL)
        return IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION;
    return IT_ASYNC_AFF_EP_R_ERROR;
}

/* The Read or atomic of this side that a Terminate refers to. */
enum verdict_blame {
    VERDICT_BLAME_NONE,
    VERDICT_BLAME_OLDEST,
    VERDICT_BLAME_NAMED /* the Terminate has the Request's header, with its MSN */
};

static enum verdict_blame verdict_blame_of(const struct uiw_ep *ep)
{
    const struct iw_terminate *terminate = &ep->rx.terminate;
    const struct uiw_orq_entry *oldest = uiw_orq_oldest(&ep->reads);

    if (terminate->has_rdmap) /* only of a Read Request */
        return IW_ERROR_TYPE(terminate->error) == 1 ? VERDICT_BLAME_NAMED : VERDICT_BLAME_NONE;
    if (terminate->has_ddp)
        return terminate->ddp_length == IW_UNTAGGED_HEADER &&
                       (terminate->ddp[1] & 0x0fu) == IW_OP_ATOMIC_REQUEST
                   ? VERDICT_BLAME_NAMED
                   : VERDICT_BLAME_NONE;
    /* Linux siw knows no atomics, and its Terminate has no header then. */
    return terminate->error == IW_ERR_RDMAP_OPCODE && oldest && oldest->atomic
               ? VERDICT_BLAME_OLDEST
               : VERDICT_BLAME_NONE;
}

/*
 * Returns true if the Terminate refers to a Send or Write of this side: to one of its segments, or
 * to a Send that has waited too long for a receive.
 */
static bool verdict_names_message(const struct iw_terminate *terminate)
{
    unsigned opcode = terminate->has_ddp ? terminate->ddp[1] & 0x0fu : IW_OP_NONE;

    if (!terminate->has_ddp)
        return terminate->error == IW_ERR_DDP_NO_BUFFER;
    return opcode == IW_OP_WRITE || opcode == IW_OP_IMMEDIATE || opcode == IW_OP_IMMEDIATE_SE ||
           (opcode >= IW_OP_SEND && opcode <= IW_OP_SEND_SE_INV);
}

static it_dto_status_t verdict_status_of_terminate(enum iw_error error)
{
    if (error == IW_ERR_DDP_NO_BUFFER)
        return IT_DTO_ERR_RECEIVER_NOT_READY;
    return IW_ERROR_TYPE(error) == 1 ? IT_DTO_ERR_REMOTE_ACCESS : IT_DTO_ERR_REMOTE_RESPONDER;
}

/*
 * Blames the oldest unacknowledged Send or Write: the peer has acknowledged all before it. Returns
 * false if the peer does not acknowledge, or the Terminate refers to something else.
 */
static bool verdict_blame_unacknowledged(struct uiw_ep *ep, struct uiw_end *end)
{
    if (!(ep->own.agreed & IW_OWN_ACKS) || !verdict_names_message(&ep->rx.terminate))
        return false;
    base_lock_take(&ep->ual->lock);
    end->has_failed_request = uiw_own_oldest_locked(ep, &end->failed_index);
    base_lock_drop(&ep->ual->lock);
    end->failed_status = verdict_status_of_terminate(ep->rx.terminate.error);
    return end->has_failed_request;
}

/* If no request is to blame yet, blames the oldest one, which the peer has not acknowledged. */
static void verdict_blame_transport(struct uiw_ep *ep, struct uiw_end *end)
{
    if (!(ep->own.agreed & IW_OWN_ACKS) || end->has_failed_request)
        return;
    end->has_failed_request = true;
    end->failed_index = uiw_queue_head(&ep->sq); /* if there is one */
    end->failed_status = IT_DTO_ERR_TRANSPORT;
}

static void verdict_blame_refused(struct uiw_ep *ep, struct uiw_end *end)
{
    const uint8_t *ddp = ep->rx.terminate.ddp;
    enum verdict_blame blame = verdict_blame_of(ep);
    uint32_t msn = (uint32_t)ddp[10] << 24 | (uint32_t)ddp[11] << 16 | (uint32_t)ddp[12] << 8 |
                   (uint32_t)ddp[13];
    uint32_t tail = atomic_load_explicit(&ep->reads.orq_tail, memory_order_acquire);
    uint32_t index = atomic_load_explicit(&ep->reads.orq_head, memory_order_relaxed);

    if (blame == VERDICT_BLAME_NONE)
        return;
    verdict_blame_read(ep, end,
                       IW_ERROR_TYPE(ep->rx.terminate.error) == 1 ? IT_DTO_ERR_REMOTE_ACCESS
                                                                  : IT_DTO_ERR_REMOTE_RESPONDER);
    if (blame == VERDICT_BLAME_OLDEST || ep->rx.terminate.little_endian_nibbles)
        return; /* siw has the size of the Read in place of its MSN */
    for (; index != tail; index++) {
        const struct uiw_orq_entry *read = uiw_orq_at(&ep->reads, index);

        if (!read->rtr && uiw_sqe_at(ep, read->sq_index)->msn == msn)
            end->failed_index = read->sq_index;
    }
}

/* Stores the error for itx_ep_query_mpa. */
static void verdict_show_terminate(struct uiw_ep *ep)
{
    base_lock_take(&ep->ual->lock);
    ep->info.terminate = (uint32_t)ep->rx.terminate.error;
    base_lock_drop(&ep->ual->lock);
}

void uiw_verdict_terminated(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    const struct iw_terminate *terminate = &ep->rx.terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .async = verdict_async_of_terminate(terminate->error),
                          .recv_status = IT_DTO_ERR_FLUSHED};

    if (!verdict_blame_unacknowledged(ep, &end))
        verdict_blame_refused(ep, &end);
    verdict_blame_transport(ep, &end);
    verdict_show_terminate(ep);
    uiw_count(&ep->rx.terminates_in, 1);
    uiw_log_terminated(ual, terminate);
    uiw_ep_end(ual, &end, true);
}

void uiw_verdict_closed(struct ual_ep *ual, enum uiw_read_state state, int lost)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool graceful = state == UIW_READ_CLOSED && iw_rx_at_boundary(&ep->rx.iw) &&
                    !atomic_load_explicit(&ep->tx.dead, memory_order_relaxed);
    struct uiw_end end = {.step = graceful ? UAL_EP_CLOSED : UAL_EP_BROKEN,
                          .async = graceful ? (it_event_type_t)0 : IT_ASYNC_AFF_EP_L_LLP_ERROR,
                          .recv_status = IT_DTO_ERR_FLUSHED,
                          .by_peer = graceful};

    if (!graceful) {
        verdict_blame_transport(ep, &end);
        uiw_log_lost(ual, state == UIW_READ_LOST ? lost : 0);
    }
    uiw_ep_end(ual, &end, true);
}

static it_event_type_t verdict_async_of_request(it_dto_status_t status)
{
    if (status == IT_DTO_ERR_LOCAL_EP)
        return IT_ASYNC_AFF_EP_FAILURE;
    /* The only remote error found here is a key that no peer can have. */
    return status == IT_DTO_ERR_REMOTE_ACCESS ? IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION
                                              : IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
}

/* Fills a Terminate that names the unanswered rest of a Read of the peer (RFC 5040 4.8). */
static void verdict_fill_unanswered(struct iw_terminate *terminate,
                                    const struct uiw_failure *failure)
{
    struct iw_read_request rest = failure->entry.request;
    uint8_t header[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + IW_READ_REQUEST_HEADER];
    size_t length;

    rest.sink_to += failure->answered;
    rest.source_to += failure->answered;
    rest.length -= failure->answered;
    length = iw_encode_untagged(header, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST,
                                failure->entry.msn, 0, IW_READ_REQUEST_HEADER);
    length += iw_encode_read_request(header + length, &rest);
    length -= IW_LENGTH_FIELD;
    iw_terminate_fill(terminate, failure->error, header + IW_LENGTH_FIELD, length,
                      (uint32_t)length);
}

void uiw_verdict_unsendable(struct ual_ep *ual, const struct uiw_failure *failure, bool reader)
{
    struct iw_terminate terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .generation = failure->generation,
                          .async = IT_ASYNC_AFF_EP_FAILURE,
                          .terminate = &terminate,
                          .recv_status = IT_DTO_ERR_FLUSHED};

    iw_terminate_fill(&terminate, IW_ERR_RDMAP_LOCAL, NULL, 0, 0);
    if (failure->status != IT_DTO_SUCCESS) {
        end.async = verdict_async_of_request(failure->status);
        end.has_failed_request = true;
        end.failed_index = failure->index;
        end.failed_status = failure->status;
    } else if (failure->error != IW_OK) {
        uiw_log_gone(ual, failure->error);
        end.async = IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION;
        verdict_fill_unanswered(&terminate, failure);
    }
    uiw_ep_end(ual, &end, reader);
}
