/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ep_set_mpa_params, itx_ep_get_mpa_params, itx_ep_query_mpa. */
#include "ual/ual_ep_state.h"
#include "ual/ual_extension.h"
#include "ual/ual_provider.h"

#define UAL_RTR_TYPES (ITX_RTR_SEND | ITX_RTR_WRITE | ITX_RTR_READ)

/* The first versions. */
#define UAL_MPA_PARAMS_MIN UAL_SIZE_UP_TO(struct itx_mpa_params, request_markers)
#define UAL_MPA_INFO_MIN   UAL_SIZE_UP_TO(struct itx_mpa_info, max_ulpdu)

static it_status_t ual_ep_check_mpa(const struct itx_mpa_params *params)
{
    if (params->revision != 1 && params->revision != 2)
        return IT_ERR_INVALID_EP_ATTR;
    if (params->rtr_types & ~UAL_RTR_TYPES)
        return IT_ERR_INVALID_EP_ATTR;
    if (params->peer_to_peer && params->rtr_types == 0)
        return IT_ERR_INVALID_EP_ATTR;
    if (params->request_markers)
        return IT_ERR_INVALID_EP_ATTR;
    return IT_SUCCESS;
}

it_status_t itx_ep_set_mpa_params(it_ep_handle_t ep_handle, const struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own), .release_us = ITX_RELEASE_US};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(ep);
    if (!params)
        return IT_ERR_FAULT;
    if (params->size < UAL_MPA_PARAMS_MIN)
        return IT_ERR_INVALID_LENGTH;
    ual_extension_read(&own, sizeof(own), params, params->size);
    status = ual_ep_check_mpa(&own);
    if (status != IT_SUCCESS)
        return status;
    if (ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        return IT_ERR_INVALID_EP_STATE;
    /* The state is looked at again, with the EP locked. */
    return ual_ia_of(&ep->object)->provider->ep_set_mpa(ep, &own);
}

it_status_t itx_ep_get_mpa_params(it_ep_handle_t ep_handle, struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own)};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(ep);
    if (!params)
        return IT_ERR_FAULT;
    if (params->size < UAL_MPA_PARAMS_MIN)
        return IT_ERR_INVALID_LENGTH;
    status = ual_ia_of(&ep->object)->provider->ep_get_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(params, params->size, &own, sizeof(own));
    return status;
}

it_status_t itx_ep_query_mpa(it_ep_handle_t ep_handle, struct itx_mpa_info *info)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_info own = {.size = sizeof(own)};
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(ep);
    if (!info)
        return IT_ERR_FAULT;
    if (info->size < UAL_MPA_INFO_MIN)
        return IT_ERR_INVALID_LENGTH;
    status = ual_ia_of(&ep->object)->provider->ep_query_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(info, info->size, &own, sizeof(own));
    return status;
}
