/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds a Send that finds no receive in memory of its own. The stream goes on, since it also
 * carries Read Responses and acknowledgements, for which a program may wait before it posts
 * receives. Later Sends wait as well, to keep their order; Writes and Reads do not.
 *
 * The loop looks once a millisecond whether a receive was posted or the time is over
 * (lead/uiw_hold_sweep.c). So posting a receive costs nothing more.
 */
#include "vp/uiwarp/receive/uiw_hold.h"

#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/receive/uiw_receive.h"

static bool hold_is_solicited(const struct uiw_held *held)
{
    return held->opcode == IW_OP_SEND_SE || held->opcode == IW_OP_SEND_SE_INV ||
           held->opcode == IW_OP_IMMEDIATE_SE;
}

/* ---------------------------------------------------------------- waiting */

static struct uiw_held *hold_begin(struct uiw_ep *ep, enum iw_opcode opcode)
{
    struct uiw_held *held = uiw_held_add(ep);

    if (!held)
        return NULL;
    held->opcode = (uint8_t)opcode;
    uiw_own_set_waits(ep, true);
    if (uiw_agenda_claim(&ep->later.holding))
        uiw_agenda_push(&ep->ia->progress.holding, &ep->later.holding);
    return held;
}

enum iw_error uiw_hold_segment(struct uiw_ep *ep, const struct iw_segment *segment)
{
    struct uiw_held *held = uiw_hold_is_open(ep) ? ep->own.last : hold_begin(ep, segment->opcode);

    if (!held || !uiw_held_grow(ep, held, (uint64_t)segment->mo + segment->length))
        return IW_ERR_DDP_NO_BUFFER;
    return IW_OK;
}

uint8_t *uiw_hold_place(const struct uiw_ep *ep, const struct iw_segment *segment)
{
    return ep->own.last->octets + segment->mo;
}

void uiw_hold_done(struct uiw_ep *ep, const struct iw_segment *segment)
{
    struct uiw_held *held = ep->own.last;

    if (!segment->last)
        return;
    held->length = segment->mo + segment->length;
    held->stag = segment->stag;
    held->control = segment->control;
    held->whole = true;
}

enum iw_error uiw_hold_immediate(struct uiw_ep *ep, uint64_t value, bool solicited)
{
    struct uiw_held *held = hold_begin(ep, solicited ? IW_OP_IMMEDIATE_SE : IW_OP_IMMEDIATE);

    if (!held)
        return IW_ERR_DDP_NO_BUFFER;
    held->value = value;
    held->whole = true;
    return IW_OK;
}

/* ---------------------------------------------------------------- into receives */

static bool hold_has_receive(struct uiw_ep *ep)
{
    return uiw_queue_head(&ep->rq) != atomic_load_explicit(&ep->rq.tail, memory_order_acquire) ||
           (ep->ual->srq && uiw_srq_draw(ep));
}

/* Places the Send as if it arrived now in one segment. */
static enum iw_error hold_deliver(struct uiw_ep *ep, const struct uiw_held *held)
{
    const struct iw_segment whole = {.opcode = (enum iw_opcode)held->opcode,
                                     .last = true,
                                     .control = held->control,
                                     .length = held->length,
                                     .stag = held->stag,
                                     .qn = IW_QN_SEND};
    enum iw_error error;

    if (held->opcode == IW_OP_IMMEDIATE || held->opcode == IW_OP_IMMEDIATE_SE) {
        uiw_rq_complete_immediate(ep, 0, held->value, hold_is_solicited(held));
        return IW_OK;
    }
    error = uiw_place_whole(ep, &whole, held->octets);
    return error == IW_OK ? uiw_place_done(ep, &whole) : error;
}

enum iw_error uiw_hold_drain(struct uiw_ep *ep)
{
    const struct uiw_held *held;
    uint64_t behind;

    while ((held = ep->own.first) && held->whole && hold_has_receive(ep)) {
        enum iw_error error = hold_deliver(ep, held);

        if (error != IW_OK)
            return error;
        behind = held->behind;
        uiw_held_drop_first(ep);
        uiw_own_set_waits(ep, ep->own.first != NULL);
        if (behind > 0)
            uiw_own_took(ep, behind);
    }
    return IW_OK;
}
