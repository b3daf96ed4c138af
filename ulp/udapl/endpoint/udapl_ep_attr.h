/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of an EP: what 0 stands for, what the IA can do, and what they are for IT-API. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_ATTR_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_ATTR_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"

/* The attributes in force for those asked for; NULL asks for none. False: one is beyond the IA. */
bool udapl_ep_attr_settle(const struct udapl_ia *ia, const DAT_EP_ATTR *asked, DAT_EP_ATTR *attr);

/* What IT-API is asked for; the S-RQ, or NULL, is the EP's. */
void udapl_ep_attr_translate(const struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                             const struct udapl_srq *srq, it_ep_attributes_t *it);

/* Whether Reads have to be split, since the adapter takes fewer segments for one. */
bool udapl_ep_attr_splits(const struct udapl_ia *ia, const DAT_EP_ATTR *attr);

#endif
