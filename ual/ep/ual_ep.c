/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_free, it_ep_reset. */
#include "ual/ep/ual_ep.h"

#include "evd/deliver/evd_deliver.h"
#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_object.h"
#include "ual/object/ual_provider.h"

void ual_ep_stop(struct ual_ep *ep)
{
    base_object_unpublish(&ep->object);
    ual_ia_of(&ep->object)->provider->ep_destroy(ep);
    /* Completions that stay queued must not free slots of a queue that is gone. */
    evd_disown_dto(ep->request_evd, ual_ep_handle(ep));
    evd_disown_dto(ep->recv_evd, ual_ep_handle(ep));
    if (ep->srq)
        base_object_release(&ep->srq->object);
    if (ep->connect_evd)
        evd_release(ep->connect_evd);
    evd_release(ep->recv_evd);
    evd_release(ep->request_evd);
    base_object_release(&ep->pz->object);
    base_lock_destroy(&ep->lock);
}

static void ual_ep_destroy(struct base_object *object)
{
    ual_ep_stop((struct ual_ep *)(void *)object);
    ual_object_end(object);
}

it_status_t it_ep_free(it_ep_handle_t ep_handle)
{
    return ual_object_free(__func__, "ep_handle", ep_handle, IT_HANDLE_TYPE_EP, IT_ERR_INVALID_EP,
                           IT_ERR_EP_BUSY, ual_ep_destroy);
}

/* The provider checks the state again, with the EP locked. */
static it_status_t ual_ep_reset(struct ual_ep *ep)
{
    return base_refuse(ual_ia_of(&ep->object)->provider->ep_reset(ep), "it_ep_reset",
                       "ep_handle %p in %s", (void *)ep, ual_ep_state_name(ep));
}

it_status_t it_ep_reset(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);
    struct ual_ia *ia;
    it_ep_state_rc_t state;

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    ia = ual_ia_of(&ep->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (ep->datagrams)
        return ual_ep_ud_state(ep) == IT_EP_STATE_UD_OPERATIONAL ? IT_SUCCESS : ual_ep_reset(ep);
    state = ual_ep_state(ep);
    if (state == IT_EP_STATE_UNCONNECTED)
        return IT_SUCCESS;
    if (state != IT_EP_STATE_NONOPERATIONAL)
        return ual_ep_refuse_state(__func__, ep);
    return ual_ep_reset(ep);
}
