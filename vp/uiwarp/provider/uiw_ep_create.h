/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of an EP. */
#ifndef ITAPI_VP_UIWARP_PROVIDER_UIW_EP_CREATE_H
#define ITAPI_VP_UIWARP_PROVIDER_UIW_EP_CREATE_H

#include "vp/uiwarp/queue/uiw_ep.h"

it_status_t uiw_ep_create(struct ual_ep *ual);

void uiw_ep_destroy(struct ual_ep *ual);

it_status_t uiw_ep_reset(struct ual_ep *ual);

it_status_t uiw_ep_disconnect(struct ual_ep *ual);

/* Claims the EP if a fork has frozen it, then halts it (uiw_ep_halt). */
void uiw_ep_claim_and_halt(struct ual_ep *ual);

it_status_t uiw_ep_flush(struct ual_ep *ual);

it_status_t uiw_ep_clear(struct ual_ep *ual);

#endif
