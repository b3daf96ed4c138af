/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_rc_create, it_ep_ud_create. */
#include "ual/ep/ual_ep.h"
#include "ual/object/ual_object.h"

#define UAL_EP_FLAGS ((unsigned)IT_EP_REUSEADDR | (unsigned)IT_EP_SRQ)

struct ual_ep_spec {
    const char *call; /* the API call that creates the EP */
    struct ual_pz *pz;
    struct evd *request_evd;
    struct evd *recv_evd;
    struct evd *connect_evd; /* NULL: a UD endpoint */
    struct ual_srq *srq;     /* NULL: none */
    it_ep_rc_creation_flags_t flags;
    bool datagrams;
    size_t spigot_id; /* valid if datagrams */
};

static it_status_t ual_ep_find_evd(const struct ual_ep_spec *spec, it_evd_handle_t sevd_handle,
                                   it_event_type_t stream, it_status_t wrong, struct evd **evd_out)
{
    struct evd *evd = evd_from_handle(sevd_handle);

    if (!evd || evd_ia_of(evd) != &ual_ia_of(&spec->pz->object)->evd)
        return base_refuse_handle(wrong, spec->call, sevd_handle);
    if (evd_stream(evd) == IT_AEVD_NOTIFICATION_EVENT_STREAM)
        return base_refuse_handle(IT_ERR_AEVD_NOT_ALLOWED, spec->call, sevd_handle);
    if (!evd_carries(evd, stream))
        return base_refuse(wrong, spec->call, "sevd_handle %p of %s", (void *)sevd_handle,
                           itx_event_string(evd_stream(evd)));
    *evd_out = evd;
    return IT_SUCCESS;
}

static it_status_t ual_ep_find_parents(struct ual_ep_spec *spec, it_pz_handle_t pz_handle,
                                       it_evd_handle_t request, it_evd_handle_t recv,
                                       it_evd_handle_t connect)
{
    it_status_t status;

    spec->pz = ual_pz_from(pz_handle);
    if (!spec->pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, spec->call, pz_handle);
    status = ual_ep_find_evd(spec, request, IT_DTO_EVENT_STREAM, IT_ERR_INVALID_REQ_EVD,
                             &spec->request_evd);
    if (status == IT_SUCCESS)
        status = ual_ep_find_evd(spec, recv, IT_DTO_EVENT_STREAM, IT_ERR_INVALID_RECV_EVD,
                                 &spec->recv_evd);
    if (status == IT_SUCCESS && !spec->datagrams)
        status = ual_ep_find_evd(spec, connect, IT_CM_MSG_EVENT_STREAM, IT_ERR_INVALID_CONN_EVD,
                                 &spec->connect_evd);
    return status;
}

static it_status_t ual_ep_find_srq(struct ual_ep_spec *spec, it_srq_handle_t handle,
                                   const struct vp_attributes *attributes)
{
    struct ual_srq *srq = ual_srq_from(handle);

    if (!attributes->srq)
        return base_refuse(IT_ERR_SRQ_NOT_SUPPORTED, spec->call, "flags has IT_EP_SRQ");
    if (!srq || srq->pz != spec->pz)
        return base_refuse(IT_ERR_INVALID_SRQ, spec->call, "srq %p", (void *)handle);
    spec->srq = srq;
    return IT_SUCCESS;
}

static it_status_t ual_ep_check_evds(const struct ual_ep_spec *spec)
{
    if (evd_is_overflowed(spec->request_evd))
        return base_refuse(IT_ERR_INVALID_REQ_EVD_STATE, spec->call, "%p has overflowed",
                           (void *)spec->request_evd);
    if (evd_is_overflowed(spec->recv_evd))
        return base_refuse(IT_ERR_INVALID_RECV_EVD_STATE, spec->call, "%p has overflowed",
                           (void *)spec->recv_evd);
    return IT_SUCCESS;
}

/* Checks limits and features before the state of the EVDs. */
static it_status_t ual_ep_check(const struct ual_ep_spec *spec, const it_ep_attributes_t *attr,
                                const struct vp_attributes *attributes)
{
    unsigned checked = UAL_EP_ATTR_ALL;
    it_status_t status;

    if (spec->srq) /* receives are those of the S-RQ: the EP's own limits are ignored */
        checked &= ~((unsigned)IT_EP_PARAM_MAX_RECV_DTO | (unsigned)IT_EP_PARAM_MAX_RECV_SEG);
    status = ual_ep_attr_check(spec->call, checked, attr, attributes);
    if (status == IT_SUCCESS && spec->srq)
        status = ual_ep_attr_check_watermarks(spec->call, UAL_EP_WATERMARKS, spec->srq,
                                              &attr->srv.rc, attributes);
    if (status != IT_SUCCESS)
        return status;
    if (attr->priv_ops_enable)
        return base_refuse_number(IT_ERR_PRIV_OPS_UNAVAILABLE, spec->call, attr->priv_ops_enable);
    return ual_ep_check_evds(spec);
}

/* Holds PZ, EVDs and S-RQ. Fails when one of them is being freed. */
static it_status_t ual_ep_hold_parents(const struct ual_ep_spec *spec)
{
    it_status_t status;

    if (!base_object_hold(&spec->pz->object))
        return IT_ERR_INVALID_PZ;
    status = IT_ERR_INVALID_REQ_EVD;
    if (!evd_hold(spec->request_evd))
        goto err_release_pz;
    status = IT_ERR_INVALID_RECV_EVD;
    if (!evd_hold(spec->recv_evd))
        goto err_release_request;
    status = IT_ERR_INVALID_CONN_EVD;
    if (spec->connect_evd && !evd_hold(spec->connect_evd))
        goto err_release_recv;
    status = IT_ERR_INVALID_SRQ;
    if (spec->srq && !base_object_hold(&spec->srq->object))
        goto err_release_connect;
    return IT_SUCCESS;

err_release_connect:
    if (spec->connect_evd)
        evd_release(spec->connect_evd);
err_release_recv:
    evd_release(spec->recv_evd);
err_release_request:
    evd_release(spec->request_evd);
err_release_pz:
    base_object_release(&spec->pz->object);
    return status;
}

static void ual_ep_release_parents(const struct ual_ep_spec *spec)
{
    if (spec->srq)
        base_object_release(&spec->srq->object);
    if (spec->connect_evd)
        evd_release(spec->connect_evd);
    evd_release(spec->recv_evd);
    evd_release(spec->request_evd);
    base_object_release(&spec->pz->object);
}

/* Clears the attributes that are ignored, so that a query does not show them. */
static void ual_ep_clear_ignored(struct ual_ep *ep)
{
    if (ep->datagrams)
        return;
    if (ep->srq) {
        ep->attr.max_recv_dtos = 0;
        ep->attr.max_recv_segments = 0;
    } else {
        ep->attr.srv.rc.srq = NULL;
        ep->attr.srv.rc.soft_hi_watermark = 0;
        ep->attr.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    }
}

static void ual_ep_fill(struct ual_ep *ep, const struct ual_ep_spec *spec,
                        const it_ep_attributes_t *attr)
{
    ep->pz = spec->pz;
    ep->request_evd = spec->request_evd;
    ep->recv_evd = spec->recv_evd;
    ep->connect_evd = spec->connect_evd;
    ep->srq = spec->srq;
    ep->flags = spec->flags;
    ep->datagrams = spec->datagrams;
    ep->spigot_id = spec->spigot_id;
    base_lock_init(&ep->lock);
    atomic_store_explicit(&ep->state,
                          spec->datagrams ? (int)IT_EP_STATE_UD_OPERATIONAL
                                          : (int)IT_EP_STATE_UNCONNECTED,
                          memory_order_relaxed);
    ep->attr = *attr;
    ual_ep_clear_ignored(ep);
}

static it_status_t ual_ep_new(const struct ual_ep_spec *spec, const it_ep_attributes_t *attr,
                              it_ep_handle_t *ep_handle)
{
    struct ual_ia *ia = ual_ia_of(&spec->pz->object);
    struct ual_ep *ep;
    it_status_t status;

    status = ual_ep_hold_parents(spec);
    if (status != IT_SUCCESS)
        return base_refuse(status, spec->call, "it is just being freed");
    status = IT_ERR_RESOURCES;
    ep = ual_object_new(ia, IT_HANDLE_TYPE_EP);
    if (!ep)
        goto err_release_parents;
    ual_ep_fill(ep, spec, attr);
    status = ia->provider->ep_create(ep);
    if (status != IT_SUCCESS)
        goto err_discard;
    ual_object_start(&ep->object);
    ual_ep_set_entries(ep);
    *ep_handle = ual_ep_handle(ep);
    return IT_SUCCESS;

err_discard:
    base_lock_destroy(&ep->lock);
    ual_object_discard(&ep->object);
err_release_parents:
    ual_ep_release_parents(spec);
    return base_refuse(status, spec->call, "refused by %s", ia->provider->name);
}

it_status_t it_ep_rc_create(it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                            it_evd_handle_t recv_sevd_handle, it_evd_handle_t connect_sevd_handle,
                            it_ep_rc_creation_flags_t flags, const it_ep_attributes_t *ep_attr,
                            it_ep_handle_t *ep_handle)
{
    struct ual_ep_spec spec = {.call = __func__, .flags = flags};
    const struct vp_attributes *attributes;
    struct ual_ia *ia;
    it_status_t status = ual_ep_find_parents(&spec, pz_handle, request_sevd_handle,
                                             recv_sevd_handle, connect_sevd_handle);

    if (status != IT_SUCCESS)
        return status;
    if (!ep_attr || !ep_handle)
        return base_refuse_null2(__func__, ep_attr, ep_handle);
    ia = ual_ia_of(&spec.pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)flags & ~UAL_EP_FLAGS)
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, __func__, flags);
    attributes = ia->provider->ia_attributes(ia);
    if (flags & IT_EP_SRQ)
        status = ual_ep_find_srq(&spec, ep_attr->srv.rc.srq, attributes);
    if (status == IT_SUCCESS)
        status = ual_ep_check(&spec, ep_attr, attributes);
    return status == IT_SUCCESS ? ual_ep_new(&spec, ep_attr, ep_handle) : status;
}

/* ---------------------------------------------------------------- datagrams */

static it_status_t ual_ep_check_ud(const struct ual_ep_spec *spec, const it_ep_attributes_t *attr,
                                   const struct vp_attributes *attributes)
{
    it_status_t status = ual_ep_attr_check(spec->call, UAL_EP_ATTR_UD, attr, attributes);

    if (status != IT_SUCCESS)
        return status;
    if (attr->priv_ops_enable)
        return base_refuse_number(IT_ERR_INVALID_EP_ATTR, spec->call, attr->priv_ops_enable);
    return ual_ep_check_evds(spec);
}

it_status_t it_ep_ud_create(it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                            it_evd_handle_t recv_sevd_handle, const it_ep_attributes_t *ep_attr,
                            size_t spigot_id, it_ep_handle_t *ep_handle)
{
    struct ual_ep_spec spec = {.call = __func__, .datagrams = true, .spigot_id = spigot_id};
    const struct vp_attributes *attributes;
    struct ual_ia *ia;
    it_status_t status =
        ual_ep_find_parents(&spec, pz_handle, request_sevd_handle, recv_sevd_handle, NULL);

    if (status != IT_SUCCESS)
        return status;
    if (!ep_attr || !ep_handle)
        return base_refuse_null2(__func__, ep_attr, ep_handle);
    ia = ual_ia_of(&spec.pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!ual_spigot_find(ia, &spec.spigot_id))
        return base_refuse_number(IT_ERR_INVALID_SPIGOT, __func__, spigot_id);
    attributes = ia->provider->ia_attributes(ia);
    if (!attributes->datagrams)
        return base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s has no datagrams", ia->name);
    status = ual_ep_check_ud(&spec, ep_attr, attributes);
    return status == IT_SUCCESS ? ual_ep_new(&spec, ep_attr, ep_handle) : status;
}
