/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs and S-RQs, between the calls on them. */
#ifndef ITAPI_UAL_EP_UAL_EP_H
#define ITAPI_UAL_EP_UAL_EP_H

#include "ual/object/ual_object.h"
#include "ual/object/ual_provider.h"

void ual_srq_destroy(struct base_object *object);

/* Does all but ual_object_end: the object's memory stays for windows that still refer to it. */
void ual_ep_stop(struct ual_ep *ep);

/* ---------------------------------------------------------------- ual_ep_attr.c */

/*
 * All attributes of an RC endpoint, except watermarks and privileged operations: it_ep_modify may
 * name them.
 */
#define UAL_EP_ATTR_ALL                                                                            \
    ((unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_REQ_DTO |                       \
     (unsigned)IT_EP_PARAM_MAX_RECV_DTO | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                     \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG | (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG |                \
     (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG | (unsigned)IT_EP_PARAM_MAX_IRD |                    \
     (unsigned)IT_EP_PARAM_MAX_ORD | (unsigned)IT_EP_PARAM_RDMA_RD_ENABLE |                        \
     (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE | (unsigned)IT_EP_PARAM_ATOMICS_ENABLE |                 \
     (unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK | (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK)

/* The attributes of a UD endpoint that have limits. */
#define UAL_EP_ATTR_UD                                                                             \
    ((unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_REQ_DTO |                       \
     (unsigned)IT_EP_PARAM_MAX_RECV_DTO | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                     \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG)

#define UAL_EP_WATERMARKS                                                                          \
    ((unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK | (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK)

/*
 * Copies the attributes that the mask selects; for a UD endpoint only those that both kinds of EP
 * have. Each is written in one store, since posting threads read limits without the lock.
 */
void ual_ep_attr_copy(unsigned mask, bool datagrams, const it_ep_attributes_t *from,
                      it_ep_attributes_t *to);

/*
 * Checks the attributes that the mask selects, except watermarks, against the limits. call: the
 * name of the API call, for the log. For a UD endpoint the mask is a subset of UAL_EP_ATTR_UD.
 */
it_status_t ual_ep_attr_check(const char *call, unsigned mask, const it_ep_attributes_t *attr,
                              const struct vp_attributes *attributes);

/* The same for the watermarks of an EP that uses an S-RQ. */
it_status_t ual_ep_attr_check_watermarks(const char *call, unsigned mask, struct ual_srq *srq,
                                         const it_rc_only_attributes_t *rc,
                                         const struct vp_attributes *attributes);

/*
 * Lets posts on the EP go straight to the provider if it allows that; otherwise through all checks
 * (ual_ep_entries). The limits do not change during the call.
 */
void ual_ep_set_entries(struct ual_ep *ep);

#endif
