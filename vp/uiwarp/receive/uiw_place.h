/* SPDX-License-Identifier: BSD-2-Clause */
/* Arriving segments go to memory and complete requests. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_PLACE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_PLACE_H

#include "vp/uiwarp/queue/uiw_ep.h"

extern const struct iw_rx_ops uiw_place_ops; /* context: struct uiw_ep */

/*
 * uiw_atomic.c. Reader. Executes the operation if it is allowed, in one step for all threads of
 * this machine, and stores the former contents in *original.
 */
enum iw_error uiw_atomic_execute(struct uiw_ep *ep, const struct iw_atomic_request *request,
                                 uint64_t *original);

#endif
