/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_free. */
#include "evd/deliver/evd_deliver.h"
#include "ual/ep/ual_ep.h"
#include "ual/object/ual_object.h"

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

it_status_t it_ep_free(it_ep_handle_t ep_handle)
{
    struct ual_ep *ep = ual_ep_from(ep_handle);

    if (!ep)
        return base_refuse_handle(IT_ERR_INVALID_EP, __func__, ep_handle);
    if (!base_object_claim_free(&ep->object))
        return base_refuse_handle(IT_ERR_EP_BUSY, __func__, ep_handle);
    ual_ep_stop(ep);
    ual_object_end(&ep->object);
    return IT_SUCCESS;
}
