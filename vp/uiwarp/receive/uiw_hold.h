/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends that find no receive wait for one, if both ends have agreed to that:
 * docs/acknowledgement.md. Only the reader calls these functions.
 */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_HOLD_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_HOLD_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Returns true if the Send that is arriving is one of those. */
static inline bool uiw_hold_is_open(const struct uiw_ep *ep)
{
    return ep->own.last && !ep->own.last->whole;
}

/* Makes room for a segment of a Send that finds no receive, or is behind Sends that wait. */
enum iw_error uiw_hold_segment(struct uiw_ep *ep, const struct iw_segment *segment);
/* Returns where the octets of that segment go. */
uint8_t *uiw_hold_place(const struct uiw_ep *ep, const struct iw_segment *segment);
/* Called when the octets of the segment are there. */
void uiw_hold_done(struct uiw_ep *ep, const struct iw_segment *segment);
/* The same for Immediate Data. */
enum iw_error uiw_hold_immediate(struct uiw_ep *ep, uint64_t value, bool solicited);

/* Delivers Sends that wait to the posted receives. An error ends the connection. */
enum iw_error uiw_hold_drain(struct uiw_ep *ep);

#endif
