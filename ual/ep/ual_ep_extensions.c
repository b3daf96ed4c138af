/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of itx_api.h on connected EPs: startup frames, both ends, counters, flushing. */
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

static it_status_t ual_ep_answer(const char *call, const struct ual_ep *ep, it_status_t status)
{
    return base_refuse(status, call, "ep_handle %p in %s, of %s", (const void *)ep,
                       ual_ep_state_name(ep), ual_ia_of(&ep->object)->provider->name);
}

/*
 * Checks that the handle is an RC EP, and checks the caller's struct, which the log calls `name`.
 */
static it_status_t ual_ep_begin(const char *call, it_ep_handle_t ep_handle, const char *name,
                                const void *callers, size_t smallest)
{
    const struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep || ep->datagrams)
        return ual_ep_refuse(call, ep_handle);
    return ual_extension_check(call, name, callers, smallest);
}

static const struct vp_provider *ual_ep_provider(const struct ual_ep *ep)
{
    return ual_ia_of(&ep->object)->provider;
}

/* ---------------------------------------------------------------- startup frames */

#define UAL_RTR_TYPES (ITX_RTR_SEND | ITX_RTR_WRITE | ITX_RTR_READ)

/* Sizes of the first versions of the structs. */
#define UAL_MPA_PARAMS_MIN UAL_SIZE_UP_TO(struct itx_mpa_params, request_markers)
#define UAL_AIM_MAX        ((it_length_t)1 << 31)
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
    if (params->own_peer & ~(ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD | ITX_OWN_PEER_IMM))
        return base_refuse_bits(IT_ERR_INVALID_EP_ATTR, call, params->own_peer);
    return IT_SUCCESS;
}

it_status_t itx_ep_set_mpa_params(it_ep_handle_t ep_handle, const struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own), .release_us = ITX_RELEASE_US};
    it_status_t status = ual_ep_begin(__func__, ep_handle, "params", params, UAL_MPA_PARAMS_MIN);

    if (status != IT_SUCCESS)
        return status;
    ual_extension_read(&own, sizeof(own), params, params->size);
    status = ual_ep_check_mpa(&own);
    if (status != IT_SUCCESS)
        return status;
    if (ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        return ual_ep_refuse_state(__func__, ep);
    /* ep_set_mpa checks the state again, with the EP locked. */
    return ual_ep_answer(__func__, ep, ual_ep_provider(ep)->ep_set_mpa(ep, &own));
}

it_status_t itx_ep_get_mpa_params(it_ep_handle_t ep_handle, struct itx_mpa_params *params)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_params own = {.size = sizeof(own)};
    it_status_t status = ual_ep_begin(__func__, ep_handle, "params", params, UAL_MPA_PARAMS_MIN);

    if (status != IT_SUCCESS)
        return status;
    status = ual_ep_provider(ep)->ep_get_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(params, params->size, &own, sizeof(own));
    return ual_ep_answer(__func__, ep, status);
}

it_status_t itx_ep_query_mpa(it_ep_handle_t ep_handle, struct itx_mpa_info *info)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_mpa_info own = {.size = sizeof(own)};
    it_status_t status = ual_ep_begin(__func__, ep_handle, "info", info, UAL_MPA_INFO_MIN);

    if (status != IT_SUCCESS)
        return status;
    status = ual_ep_provider(ep)->ep_query_mpa(ep, &own);
    if (status == IT_SUCCESS)
        ual_extension_write(info, info->size, &own, sizeof(own));
    return ual_ep_answer(__func__, ep, status);
}

it_status_t itx_ep_limit_hold(it_ep_handle_t ep_handle, uint32_t tries, uint64_t try_us)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!VP_PROVIDER_HAS(ual_ep_provider(ep), ep_limit_hold))
        return ual_ep_answer(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (tries > ITX_HOLD_TRIES || try_us > ITX_HOLD_TRY_US)
        return base_refuse_number(IT_ERR_RANGE, __func__, tries);
    return ual_ep_provider(ep)->ep_limit_hold(ep, tries, try_us);
}

it_status_t itx_ep_aim(it_ep_handle_t ep_handle, const struct itx_aim *aim, it_length_t *used)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_aim own = {.size = sizeof(own)};
    it_length_t ignored;
    it_status_t status;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!VP_PROVIDER_HAS(ual_ep_provider(ep), ep_aim))
        return ual_ep_answer(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (!used)
        used = &ignored;
    if (!aim)
        return ual_ep_answer(__func__, ep, ual_ep_provider(ep)->ep_aim(ep, NULL, used));
    status = ual_extension_check(__func__, "aim", aim, sizeof(own));
    if (status != IT_SUCCESS)
        return status;
    ual_extension_read(&own, sizeof(own), aim, aim->size);
    if (!own.octets)
        return base_refuse(IT_ERR_FAULT, __func__, "aim->octets is NULL");
    if (own.length == 0 || own.length > UAL_AIM_MAX)
        return base_refuse_number(IT_ERR_INVALID_LENGTH, __func__, own.length);
    return ual_ep_answer(__func__, ep, ual_ep_provider(ep)->ep_aim(ep, &own, used));
}

/* ---------------------------------------------------------------- both ends */

static bool ual_ep_read_addresses(struct ual_ep *ep, struct itx_ep_addresses *addresses)
{
    it_ep_state_rc_t state;
    bool known = false;

    base_lock_take(&ep->lock);
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_CONNECTED || state == IT_EP_STATE_NONOPERATIONAL)
        known = ual_ep_provider(ep)->ep_addresses_locked(ep, addresses);
    base_lock_drop(&ep->lock);
    return known;
}

it_status_t itx_ep_query_addresses(it_ep_handle_t ep_handle, struct itx_ep_addresses *addresses)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_ep_addresses own = {.size = sizeof(own)};
    it_status_t status =
        ual_ep_begin(__func__, ep_handle, "addresses", addresses, UAL_EP_ADDRESSES_MIN);

    if (status != IT_SUCCESS)
        return status;
    if (!VP_PROVIDER_HAS(ual_ep_provider(ep), ep_addresses_locked))
        return IT_ERR_OP_NOT_SUPPORTED;
    if (!ual_ep_read_addresses(ep, &own))
        return ual_ep_refuse_state(__func__, ep);
    ual_extension_write(addresses, addresses->size, &own, sizeof(own));
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- counters */

#define UAL_EP_COUNTERS_MIN UAL_SIZE_UP_TO(struct itx_ep_counters, nudges) /* first version */

it_status_t itx_ep_stats(it_ep_handle_t ep_handle, struct itx_ep_counters *counters)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct itx_ep_counters own = {.size = sizeof(own)};
    it_status_t status;

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    status = ual_extension_check(__func__, "counters", counters, UAL_EP_COUNTERS_MIN);
    if (status != IT_SUCCESS)
        return status;
    if (!VP_PROVIDER_HAS(ual_ep_provider(ep), ep_counters))
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s counts nothing",
                           ual_ep_provider(ep)->name);
    ual_ep_provider(ep)->ep_counters(ep, &own);
    ual_extension_write(counters, counters->size, &own, sizeof(own));
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- flushing */

it_status_t itx_ep_flush(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_provider *provider;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    provider = ual_ep_provider(ep);
    if (!VP_PROVIDER_HAS(provider, ep_flush))
        return ual_ep_answer(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    return ual_ep_answer(__func__, ep, provider->ep_flush(ep));
}

it_status_t itx_ep_clear(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    const struct vp_provider *provider;

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    provider = ual_ep_provider(ep);
    if (!VP_PROVIDER_HAS(provider, ep_clear))
        return ual_ep_answer(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    if (ual_ia_failed(ual_ia_of(&ep->object)))
        return IT_ERR_IA_CATASTROPHE;
    return ual_ep_answer(__func__, ep, provider->ep_clear(ep));
}

it_status_t itx_ep_tell_last_recv(it_ep_handle_t ep_handle, it_boolean_t tell)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep || ep->datagrams)
        return ual_ep_refuse(__func__, ep_handle);
    if (!VP_PROVIDER_HAS(ual_ep_provider(ep), ep_flush))
        return ual_ep_answer(__func__, ep, IT_ERR_OP_NOT_SUPPORTED);
    atomic_store_explicit(&ep->tells_last_recv, tell != IT_FALSE, memory_order_relaxed);
    return IT_SUCCESS;
}
