/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_modify. */
#include "ual/ep/ual_ep.h"
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_object.h"

#define UAL_EP_MODIFY "it_ep_modify"

#define UAL_EP_IN_A2 ((unsigned)IT_EP_PARAM_MAX_IRD | UAL_EP_IN_C)
#define UAL_EP_IN_C                                                                                \
    ((unsigned)IT_EP_PARAM_RDMA_RD_ENABLE | (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |                 \
     (unsigned)IT_EP_PARAM_ATOMICS_ENABLE | (unsigned)IT_EP_PARAM_MAX_ORD |                        \
     (unsigned)IT_EP_PARAM_MAX_REQ_DTO | (unsigned)IT_EP_PARAM_MAX_RECV_DTO |                      \
     (unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK | (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK)
#define UAL_EP_UD ((unsigned)IT_EP_PARAM_EP_KEY)
#define UAL_EP_ENABLES                                                                             \
    ((unsigned)IT_EP_PARAM_RDMA_RD_ENABLE | (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |                 \
     (unsigned)IT_EP_PARAM_ATOMICS_ENABLE)
#define UAL_EP_DEPTHS ((unsigned)IT_EP_PARAM_MAX_REQ_DTO | (unsigned)IT_EP_PARAM_MAX_RECV_DTO)
/* Attributes of the EP's own receive queue. */
#define UAL_EP_RECEIVES ((unsigned)IT_EP_PARAM_MAX_RECV_DTO | (unsigned)IT_EP_PARAM_MAX_RECV_SEG)

/* The attributes that may change in each state; none in a state that is not named. */
static const unsigned ual_ep_modifiable[] = {
    [IT_EP_STATE_UNCONNECTED] = UAL_EP_ATTR_ALL,
    [IT_EP_STATE_ACTIVE2_CONNECTION_PENDING] = UAL_EP_IN_A2,
    [IT_EP_STATE_CONNECTED] = UAL_EP_IN_C,
    [IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ] = 0, /* the last state: makes the array complete */
};

/* The attributes of a UD endpoint that never change. */
#define UAL_EP_UD_NEVER                                                                            \
    ((unsigned)IT_EP_PARAM_MAX_PAYLOAD | (unsigned)IT_EP_PARAM_MAX_SEND_SEG |                      \
     (unsigned)IT_EP_PARAM_MAX_RECV_SEG)

static it_status_t ual_ep_check_mask(const struct ual_ep *ep, unsigned mask)
{
    unsigned others = ep->datagrams ? ~(UAL_EP_UD | UAL_EP_DEPTHS) : UAL_EP_UD;

    if ((mask & ~(UAL_EP_ATTR_ALL | UAL_EP_UD)) || (ep->datagrams && (mask & UAL_EP_UD_NEVER)))
        return base_refuse_bits(IT_ERR_INVALID_MASK, UAL_EP_MODIFY, mask);
    if (mask & others)
        return base_refuse_bits(IT_ERR_INVALID_EP_TYPE, UAL_EP_MODIFY, mask);
    return IT_SUCCESS;
}

/* An EP with an S-RQ has no receive queue of its own. */
static it_status_t ual_ep_check_receives(const struct ual_ep *ep, unsigned mask,
                                         const it_ep_attributes_t *attr,
                                         const struct vp_attributes *attributes)
{
    if (!ep->srq)
        return IT_SUCCESS;
    if (mask & UAL_EP_RECEIVES)
        return base_refuse_bits(IT_ERR_OP_NOT_SUPPORTED, UAL_EP_MODIFY, mask);
    if (!(mask & UAL_EP_WATERMARKS))
        return IT_SUCCESS;
    return ual_ep_attr_check_watermarks(UAL_EP_MODIFY, mask, ep->srq, &attr->srv.rc, attributes);
}

/*
 * Refuses changes that no EP of this IA can make. Whether ORD may grow is left to the provider,
 * which compares it with the present value.
 */
static it_status_t ual_ep_check_features(unsigned mask, const struct vp_attributes *attributes)
{
    if (((mask & UAL_EP_ENABLES) && !attributes->enables_modifiable) ||
        ((mask & UAL_EP_DEPTHS) && !attributes->queues_resizable) ||
        ((mask & IT_EP_PARAM_MAX_IRD) && !attributes->ird_modifiable))
        return base_refuse_bits(IT_ERR_OP_NOT_SUPPORTED, UAL_EP_MODIFY, mask);
    return IT_SUCCESS;
}

static it_status_t ual_ep_modify(struct ual_ep *ep, it_ep_param_mask_t mask,
                                 const it_ep_attributes_t *attr)
{
    const struct vp_provider *provider = ual_ia_of(&ep->object)->provider;
    it_ep_attributes_t in_force = *attr;
    it_status_t status = IT_ERR_INVALID_EP_STATE;

    provider->ep_halt(ep);
    base_lock_take(&ep->lock);
    if (ep->datagrams || !((unsigned)mask & ~ual_ep_modifiable[ual_ep_state(ep)]))
        status = provider->ep_modify_locked(ep, mask, &in_force);
    if (status == IT_SUCCESS) {
        ual_ep_attr_copy((unsigned)mask, ep->datagrams, &in_force, &ep->attr);
        if (mask & IT_EP_PARAM_EP_KEY)
            ep->attr.srv.ud.ep_info.ud_ep_key = in_force.srv.ud.ep_info.ud_ep_key;
        ual_ep_set_entries(ep);
    }
    base_lock_drop(&ep->lock);
    provider->ep_proceed(ep, status == IT_SUCCESS ? mask : (it_ep_param_mask_t)0);
    return status;
}

it_status_t it_ep_modify(it_ep_handle_t ep_handle, it_ep_param_mask_t mask,
                         const it_ep_attributes_t *ep_attr)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_attributes *attributes;
    struct ual_ia *ia;
    it_status_t status;

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    if (!ep_attr)
        return base_refuse_null(__func__, ep_attr);
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    status = ual_ep_check_mask(ep, (unsigned)mask);
    if (!ep->srq)
        mask &= ~(it_ep_param_mask_t)UAL_EP_WATERMARKS; /* as at creation */
    if (status != IT_SUCCESS || mask == 0)
        return status;
    attributes = ia->provider->ia_attributes(ia);
    status = ual_ep_attr_check(__func__, (unsigned)mask, ep_attr, attributes);
    if (status == IT_SUCCESS && !ep->datagrams)
        status = ual_ep_check_receives(ep, (unsigned)mask, ep_attr, attributes);
    if (status == IT_SUCCESS)
        status = ual_ep_check_features((unsigned)mask, attributes);
    if (status != IT_SUCCESS)
        return status;
    return base_refuse(ual_ep_modify(ep, mask, ep_attr), __func__, "mask %#x, ep_handle %p in %s",
                       (unsigned)mask, (void *)ep, ual_ep_state_name(ep));
}
