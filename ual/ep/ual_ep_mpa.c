/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_set_mpa_params, itx_ep_get_mpa_params, itx_ep_query_mpa. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#define UAL_RTR_TYPES (ITX_RTR_SEND | ITX_RTR_WRITE | ITX_RTR_READ)

/* The first versions. */
#define UAL_MPA_PARAMS_MIN UAL_SIZE_UP_TO(struct itx_mpa_params, request_markers)
#define UAL_MPA_INFO_MIN   UAL_SIZE_UP_TO(struct itx_mpa_info, max_ulpdu)

static it_status_t ual_ep_check_mpa(const struct itx_mpa_params *params)
{
    static const char call[] = "itx_ep_set_mpa_params";

    if (params->revision != 1 && params->revision != 2)
        return base_refuse_number(IT_ERR_INVALID_EP_ATTR, call, params->revision);
    if ((params->rtr_types & ~UAL_RTR_TYPES) || (params->peer_to_peer && params->rtr_types == 0))
        return base_refuse_bits(IT_ERR_INVALID_EP_ATTR, call, params->rtr_types);
    if (params->request_markers)
        return base_refuse_number(IT_ERR_INVALID_EP_ATTR, call, params->request_markers);
    if (params->own_peer & ~(ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD))
        return base_refuse_bits(IT_ERR_INVALID_EP_ATTR, call, params->own_peer);
    return IT_SUCCESS;
}

static it_status_t ual_ep_mpa_answer(const char *call, const struct ual_ep *ep, it_status_t status)
{
    return base_refuse(status, call, "ep_handle %p in %s, of %s", (const void *)ep,
                       ual_ep_state_name(ep), ual_ia_of(&ep->object)->provider->name);
}

it_status_t itx_ep_set_mpa_params(it_ep_handle_t ep_handle, const struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own), .release_us = ITX_RELEASE_US};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if (params->size < UAL_MPA_PARAMS_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, params->size, UAL_MPA_PARAMS_MIN);
    ual_extension_read(&own, sizeof(own), params, params->size);
    status = ual_ep_check_mpa(&own);
    if (status != IT_SUCCESS)
        return status;
    if (ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        return ual_ep_refuse_state(__func__, ep);
    /* The state is looked at again, with the EP locked. */
    status = ual_ia_of(&ep->object)->provider->ep_set_mpa(ep, &own);
    return ual_ep_mpa_answer(__func__, ep, status);
}

it_status_t itx_ep_get_mpa_params(it_ep_handle_t ep_handle, struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own)};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if (params->size < UAL_MPA_PARAMS_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, params->size, UAL_MPA_PARAMS_MIN);
    status = ual_ia_of(&ep->object)->provider->ep_get_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(params, params->size, &own, sizeof(own));
    return ual_ep_mpa_answer(__func__, ep, status);
}

it_status_t itx_ep_query_mpa(it_ep_handle_t ep_handle, struct itx_mpa_info *info)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_info own = {.size = sizeof(own)};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!info)
        return base_refuse_null(__func__, info);
    if (info->size < UAL_MPA_INFO_MIN)
        return base_refuse_below(IT_ERR_INVALID_LENGTH, __func__, info->size, UAL_MPA_INFO_MIN);
    status = ual_ia_of(&ep->object)->provider->ep_query_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(info, info->size, &own, sizeof(own));
    return ual_ep_mpa_answer(__func__, ep, status);
}
