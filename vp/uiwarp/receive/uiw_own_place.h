/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that arrive from another end of this library: docs/acknowledgement.md. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_OWN_PLACE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_OWN_PLACE_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Replaces uiw_place_ops until it is known whether the peer uses this library. */
extern const struct iw_rx_ops uiw_own_greet_ops;

#endif
