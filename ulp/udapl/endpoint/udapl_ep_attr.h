/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of an EP: defaults, limits of the IA, and conversion to IT-API. */
#ifndef ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_ATTR_H
#define ITAPI_ULP_UDAPL_ENDPOINT_UDAPL_EP_ATTR_H

#include "object/udapl_ep.h"
#include "object/udapl_ia.h"

/*
 * Fills in the attributes in force. asked: the requested ones, or NULL. Returns false if one
 * exceeds the limits of the IA.
 */
bool udapl_ep_attr_settle(const struct udapl_ia *ia, const DAT_EP_ATTR *asked, DAT_EP_ATTR *attr);

/* Converts the attributes to IT-API. srq: the EP's, or NULL. */
void udapl_ep_attr_translate(const struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                             const struct udapl_srq *srq, it_ep_attributes_t *it);

/* Returns true if Reads must be split, since the adapter takes fewer segments. */
bool udapl_ep_attr_splits(const struct udapl_ia *ia, const DAT_EP_ATTR *attr);

#endif
