/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends that find no receive wait for one, if both ends have agreed to it: docs/acknowledgement.md.
 * Reader, all of it.
 */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_HOLD_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_HOLD_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* The Send that is coming in just now is one of those. */
static inline bool uiw_hold_is_open(const struct uiw_ep *ep)
{
    return ep->own.last && !ep->own.last->whole;
}

/* A segment of a Send arrives that finds no receive, or comes behind Sends that found none. */
enum iw_error uiw_hold_segment(struct uiw_ep *ep, const struct iw_segment *segment);
/* Where its octets go. */
uint8_t *uiw_hold_place(const struct uiw_ep *ep, const struct iw_segment *segment);
/* It is complete. */
void uiw_hold_done(struct uiw_ep *ep, const struct iw_segment *segment);
/* Immediate Data in place of a Send. */
enum iw_error uiw_hold_immediate(struct uiw_ep *ep, uint64_t value, bool solicited);

/* What waits goes to the receives that there are. An error ends the connection. */
enum iw_error uiw_hold_drain(struct uiw_ep *ep);

#endif
