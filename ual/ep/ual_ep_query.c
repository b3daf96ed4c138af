/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_query. */
#include "ual/ep/ual_ep.h"
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_object.h"

#define UAL_EP_PARAMS    (((unsigned)IT_EP_PARAM_PRIV_OPS_ENABLE << 1) - 1) /* all up to the last */
#define UAL_EP_UD_PARAMS ((unsigned)IT_EP_PARAM_EP_ID | (unsigned)IT_EP_PARAM_EP_KEY)
#define UAL_EP_RC_PARAMS                                                                           \
    ((unsigned)IT_EP_PARAM_PATH | (unsigned)IT_EP_PARAM_CONN_SEVD |                                \
     (unsigned)IT_EP_PARAM_RDMA_RD_ENABLE | (unsigned)IT_EP_PARAM_RDMA_WR_ENABLE |                 \
     (unsigned)IT_EP_PARAM_ATOMICS_ENABLE | (unsigned)IT_EP_PARAM_MAX_RDMA_READ_SEG |              \
     (unsigned)IT_EP_PARAM_MAX_RDMA_WRITE_SEG | (unsigned)IT_EP_PARAM_MAX_IRD |                    \
     (unsigned)IT_EP_PARAM_MAX_ORD | (unsigned)IT_EP_PARAM_SRQ |                                   \
     (unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK | (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK)

/* Copies values that are constant while the endpoint lives. */
static void ual_ep_read_fixed(struct ual_ep *ep, unsigned members, it_ep_param_t *params)
{
    if (members & IT_EP_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)ep->object.ia;
    if (members & IT_EP_PARAM_SERV_TYPE)
        params->service_type = ep->datagrams ? IT_UD_SERVICE : IT_RC_SERVICE;
    if (members & IT_EP_PARAM_PZ)
        params->pz = (it_pz_handle_t)(void *)ep->pz;
    if (members & IT_EP_PARAM_REQ_SEVD)
        params->request_sevd = evd_handle(ep->request_evd);
    if (members & IT_EP_PARAM_RECV_SEVD)
        params->recv_sevd = evd_handle(ep->recv_evd);
    if (ep->connect_evd && (members & IT_EP_PARAM_CONN_SEVD))
        params->connect_sevd = evd_handle(ep->connect_evd);
}

static void ual_ep_read_connection_locked(const struct ual_ep *ep, unsigned members,
                                          it_ep_param_t *params)
{
    base_lock_assert_held(&ep->lock);
    if (members & IT_EP_PARAM_SPIGOT)
        params->spigot_id = ep->dst_path.spigot_id;
    if (members & IT_EP_PARAM_STATE)
        params->ep_state.rc = ual_ep_state(ep);
    if (members & IT_EP_PARAM_PATH)
        params->dst_path = ep->dst_path;
}

static void ual_ep_read_ud_locked(const struct ual_ep *ep, unsigned members, it_ep_param_t *params)
{
    it_remote_ep_info_t *info = &params->attr.srv.ud.ep_info;

    base_lock_assert_held(&ep->lock);
    if (members & IT_EP_PARAM_SPIGOT)
        params->spigot_id = ep->spigot_id;
    if (members & IT_EP_PARAM_STATE)
        params->ep_state.ud = ual_ep_ud_state(ep);
    if (members & IT_EP_PARAM_EP_ID)
        info->ud_ep_id = ep->attr.srv.ud.ep_info.ud_ep_id;
    if (members & IT_EP_PARAM_EP_KEY)
        info->ud_ep_key = ep->attr.srv.ud.ep_info.ud_ep_key;
}

it_status_t it_ep_query(it_ep_handle_t ep_handle, it_ep_param_mask_t mask, it_ep_param_t *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    unsigned members = ual_object_members(mask);

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & (~UAL_EP_PARAMS | (ep->datagrams ? UAL_EP_RC_PARAMS : UAL_EP_UD_PARAMS)))
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    ual_ep_read_fixed(ep, members, params);
    base_lock_take(&ep->lock);
    ual_ep_attr_copy(members, ep->datagrams, &ep->attr, &params->attr);
    if (ep->datagrams)
        ual_ep_read_ud_locked(ep, members, params);
    else
        ual_ep_read_connection_locked(ep, members, params);
    base_lock_drop(&ep->lock);
    return IT_SUCCESS;
}
