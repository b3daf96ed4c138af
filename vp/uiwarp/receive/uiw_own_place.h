/* SPDX-License-Identifier: BSD-2-Clause */
/* Arriving segments between two ends of this library: docs/acknowledgement.md. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_OWN_PLACE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_OWN_PLACE_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* In place of uiw_place_ops until it is known whether the peer is one of ours. */
extern const struct iw_rx_ops uiw_own_greet_ops;

#endif
