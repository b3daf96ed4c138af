/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting requests. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_POST_H
#define ITAPI_VP_UIWARP_STREAM_UIW_POST_H

#include "vp/uiwarp/queue/uiw_sq.h"
it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request);

#endif
