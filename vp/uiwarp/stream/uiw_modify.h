/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes and MPA settings of an EP. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_MODIFY_H
#define ITAPI_VP_UIWARP_STREAM_UIW_MODIFY_H

#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_EP_ALL (~0u) /* a mask of it_ep_param_mask_t bits */

void uiw_ep_halt(struct ual_ep *ual);
void uiw_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed);
it_status_t uiw_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 it_ep_attributes_t *attr);
void uiw_ep_set_enables(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);
void uiw_ep_set_watermarks(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);
it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params);
it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params);
it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info);
bool uiw_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses);

/* The contents of our startup frames, by the EP's attributes and itx settings. */
void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config);

#endif
