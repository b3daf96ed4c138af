/* SPDX-License-Identifier: BSD-2-Clause */
/* Conversion of sockets: not there yet. */
#include "ual/verbs/verbs_cm.h"

it_status_t vrb_convert(struct ual_ep *ual, const struct vp_convert *convert)
{
    (void)ual, (void)convert;
    return IT_ERR_OP_NOT_SUPPORTED;
}
