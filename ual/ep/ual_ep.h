/* SPDX-License-Identifier: BSD-2-Clause */
/* The ends of EPs and S-RQs. */
#ifndef ITAPI_UAL_EP_UAL_EP_H
#define ITAPI_UAL_EP_UAL_EP_H

#include "ual/object/ual_object.h"

void ual_srq_destroy(struct base_object *object);

/* All but ual_object_end: the object stays for what still names it. */
void ual_ep_stop(struct ual_ep *ep);

#endif
