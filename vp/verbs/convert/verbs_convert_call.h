/* SPDX-License-Identifier: BSD-2-Clause */
/* it_socket_convert. */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_CALL_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_CALL_H

#include "vp/verbs/device/verbs.h"
it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert);

#endif
