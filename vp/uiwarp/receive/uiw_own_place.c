/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two tables of functions between the protocol code and uiw_place.c. uiw_own_greet_ops finds out,
 * by the Read that opens the connection, whether the peer uses this library, and is then replaced
 * by own_ops or uiw_place_ops. own_ops counts the Writes that are placed, handles
 * acknowledgements, and lets Sends wait for a receive. So connections to other peers pay for none
 * of it.
 */
#include "vp/uiwarp/receive/uiw_own_place.h"

#include "vp/uiwarp/receive/uiw_hold.h"
#include "vp/uiwarp/receive/uiw_receive.h"

#include <string.h>

static bool own_is_send(const struct iw_segment *segment)
{
    return !segment->tagged;
}

/* Counts a message that is no Send. It is acknowledged after the Sends before it. */
static void own_took_other(struct uiw_ep *ep)
{
    if (ep->own.last)
        ep->own.last->behind++;
    else
        uiw_own_took(ep, 1);
}

/* ---------------------------------------------------------------- Sends */

/* Checks that there is a receive, or makes room to wait for one. */
static enum iw_error own_check_send(struct uiw_ep *ep, const struct iw_segment *segment)
{
    enum iw_error error = IW_OK;

    if (segment->mo == 0)
        error = uiw_hold_drain(ep);
    if (error == IW_OK && !ep->own.first) {
        error = uiw_place_check(ep, segment);
        if (error != IW_ERR_DDP_NO_BUFFER || !(ep->own.agreed & IW_OWN_HOLD))
            return error;
        error = IW_OK;
    }
    return error == IW_OK ? uiw_hold_segment(ep, segment) : error;
}

static enum iw_error own_check(void *context, const struct iw_segment *segment)
{
    return own_is_send(segment) ? own_check_send(context, segment)
                                : uiw_place_check(context, segment);
}

static enum iw_error own_map(void *context, const struct iw_segment *segment, uint32_t offset,
                             uint32_t *length, struct iovec *iov, unsigned *count)
{
    if (!own_is_send(segment) || !uiw_hold_is_open(context))
        return uiw_place_map(context, segment, offset, length, iov, count);
    iov[0] = (struct iovec){uiw_hold_place(context, segment) + offset, *length};
    *count = 1;
    return IW_OK;
}

static enum iw_error own_place(void *context, const struct iw_segment *segment,
                               const uint8_t *payload)
{
    enum iw_error error;

    if (!own_is_send(segment))
        return uiw_place_whole(context, segment, payload);
    error = own_check_send(context, segment);
    if (error != IW_OK)
        return error;
    if (!uiw_hold_is_open(context))
        return uiw_place_whole(context, segment, payload);
    if (segment->length > 0)
        memcpy(uiw_hold_place(context, segment), payload, segment->length);
    return IW_OK;
}

static bool own_take(void *context, const uint8_t *payload, uint32_t length, bool solicited)
{
    struct uiw_ep *ep = context;

    return !ep->own.first && uiw_place_take(context, payload, length, solicited);
}

static enum iw_error own_done_send(struct uiw_ep *ep, const struct iw_segment *segment)
{
    if (!uiw_hold_is_open(ep))
        return uiw_place_done(ep, segment);
    uiw_hold_done(ep, segment);
    return IW_OK;
}

/* ---------------------------------------------------------------- other messages */

static enum iw_error own_done(void *context, const struct iw_segment *segment)
{
    if (own_is_send(segment))
        return own_done_send(context, segment);
    if (segment->opcode != IW_OP_WRITE)
        return uiw_place_done(context, segment);
    if (iw_own_is_ack(segment))
        uiw_own_heard(context, segment);
    else if (segment->last)
        own_took_other(context);
    return IW_OK;
}

static enum iw_error own_immediate(void *context, uint64_t value, bool solicited)
{
    struct uiw_ep *ep = context;
    enum iw_error error = uiw_hold_drain(ep);

    if (error != IW_OK)
        return error;
    if (!ep->own.first) {
        error = uiw_place_immediate(ep, value, solicited);
        if (error != IW_ERR_DDP_NO_BUFFER || !(ep->own.agreed & IW_OWN_HOLD))
            return error;
    }
    return uiw_hold_immediate(ep, value, solicited);
}

static const struct iw_rx_ops own_ops = {
    .check = own_check,
    .map = own_map,
    .unmap = uiw_place_unmap,
    .place = own_place,
    .take = own_take,
    .done = own_done,
    .read_request = uiw_place_read_request,
    .atomic_request = uiw_place_atomic_request,
    .atomic_response = uiw_place_atomic_response,
    .immediate = own_immediate,
    .terminate = uiw_place_terminate,
};

/* ---------------------------------------------------------------- the greeting */

/* The peer has answered: sets the agreed extensions and the table for them. */
static void own_know(struct uiw_ep *ep, unsigned bits)
{
    uiw_own_agree(ep, bits & ep->own.wanted);
    ep->rx.iw.ops = ep->own.agreed ? &own_ops : &uiw_place_ops;
}

/*
 * Responder. Recognizes the greeting in the first FPDU. Only a peer with this library gets an
 * answer with another offset than it asked for.
 */
static enum iw_error greet_read_request(void *context, const struct iw_read_request *request)
{
    struct uiw_ep *ep = context;
    struct iw_read_request answered = *request;

    if (ep->initiator || ep->rx.iw.fpdus > 0)
        return uiw_place_read_request(ep, request);
    own_know(ep, request->length == 0 ? iw_own_bits(request->source_to) : 0);
    if (ep->own.agreed)
        answered.sink_to = iw_own_greeting(ep->own.agreed);
    return uiw_place_read_request(ep, &answered);
}

/* Initiator. Returns true for the response to its opening Read. */
static bool greet_is_answer(const struct uiw_ep *ep, const struct iw_segment *segment)
{
    const struct uiw_orq_entry *oldest = uiw_orq_oldest(&ep->reads);

    return segment->opcode == IW_OP_READ_RESPONSE && oldest && oldest->rtr;
}

/* Returns the segment without the greeting, as uiw_place.c expects it. */
static struct iw_segment greet_strip(const struct iw_segment *segment)
{
    struct iw_segment plain = *segment;

    if (iw_own_bits(segment->to) != 0)
        plain.to = 0;
    return plain;
}

static enum iw_error greet_check(void *context, const struct iw_segment *segment)
{
    struct iw_segment plain = greet_strip(segment);

    return uiw_place_check(context, greet_is_answer(context, segment) ? &plain : segment);
}

static enum iw_error greet_place(void *context, const struct iw_segment *segment,
                                 const uint8_t *payload)
{
    struct iw_segment plain = greet_strip(segment);

    return uiw_place_whole(context, greet_is_answer(context, segment) ? &plain : segment, payload);
}

static enum iw_error greet_done(void *context, const struct iw_segment *segment)
{
    struct uiw_ep *ep = context;
    bool answer = greet_is_answer(ep, segment);
    enum iw_error error = uiw_place_done(ep, segment);

    if (iw_own_is_ack(segment)) /* one may arrive just before the answer */
        uiw_own_heard(ep, segment);
    if (error == IW_OK && answer)
        own_know(ep, iw_own_bits(segment->to));
    return error;
}

const struct iw_rx_ops uiw_own_greet_ops = {
    .check = greet_check,
    .map = uiw_place_map,
    .unmap = uiw_place_unmap,
    .place = greet_place,
    .take = uiw_place_take,
    .done = greet_done,
    .read_request = greet_read_request,
    .atomic_request = uiw_place_atomic_request,
    .atomic_response = uiw_place_atomic_response,
    .immediate = uiw_place_immediate,
    .terminate = uiw_place_terminate,
};
