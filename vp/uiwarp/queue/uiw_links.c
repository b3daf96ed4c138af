/* SPDX-License-Identifier: BSD-2-Clause */
/* RMR links and unlinks as requests in the send queue, and Reads into windows. */
#include "vp/uiwarp/queue/uiw_sq.h"

/* Returns a new STag for the window; 0: all are in use. */
static uint32_t links_drawn(struct uiw_ep *ep, const struct uiw_mr *window)
{
    return uiw_mr_new_stag(&ep->ia->memory.mrs, window);
}

/* Returns the key that the consumer chose as an STag; 0: the window does not own it. */
static uint32_t links_chosen(const struct uiw_mr *window, it_rmr_context_t key)
{
    return key <= UINT32_MAX && uiw_mr_is_kept(window, (uint32_t)key) ? (uint32_t)key : 0;
}

it_status_t uiw_links_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
                                  const struct vp_request *request)
{
    const struct vp_link *link = request->link;
    struct uiw_link *own = uiw_sqe_link(sqe);
    struct uiw_mr *window;

    base_lock_assert_held(&ep->ual->lock);
    if (request->opcode == VP_INVALIDATE) { /* unlinks the object with this STag */
        sqe->opcode = VP_RMR_UNLINK;
        *own = (struct uiw_link){.stag = sqe->remote_stag};
        return IT_SUCCESS;
    }
    window = uiw_rmr_of(link->rmr)->mr;
    *own = (struct uiw_link){.window = window, .serial = window->serial};
    if (request->opcode == VP_RMR_LINK) {
        if (!base_object_hold(&link->lmr->object))
            return IT_ERR_INVALID_LMR; /* another thread is freeing it */
        own->stag = link->key_chosen ? links_chosen(window, *link->key) : links_drawn(ep, window);
        if (own->stag == 0) {
            base_object_release(&link->lmr->object);
            return link->key_chosen ? IT_ERR_RANGE : IT_ERR_TOO_MANY_POSTS;
        }
        own->lmr = link->lmr;
        own->addr = link->addr;
        own->length = link->length;
        own->privs = (uint8_t)link->privs;
        own->relative = link->addr_mode == IT_ADDR_MODE_RELATIVE;
        own->narrow = link->rmr->type == IT_RMR_TYPE_NARROW;
        *link->key = own->stag;
    }
    atomic_store_explicit(&window->wanted, own->stag, memory_order_relaxed);
    return IT_SUCCESS;
}

/* The windows are looked up when the Read starts: links before it may still be in the queue. */
it_status_t uiw_links_fill_windows(struct uiw_sqe *sqe, const struct vp_request *request)
{
    sqe->opcode = VP_RDMA_READ;
    for (size_t i = 0; i < request->segment_count; i++) {
        const it_rmr_triplet_t *from = &request->windows[i];
        struct uiw_mr *window = uiw_rmr_of((struct ual_rmr *)(void *)from->rmr)->mr;

        if (atomic_load_explicit(&window->wanted, memory_order_relaxed) == 0)
            return IT_ERR_INVALID_RMR;
        sqe->segments[i] = (struct uiw_segment){
            .addr = from->addr.abs, /* or the offset: a union */
            .mr = window,
            .length = (uint32_t)from->length,
            .stag = window->serial,
        };
    }
    return IT_SUCCESS;
}

void uiw_links_drop(struct uiw_ep *ep)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);

    for (uint32_t index = uiw_queue_head(&ep->sq); index != tail; index++) {
        struct uiw_sqe *sqe = uiw_sqe_at(ep, index);
        struct uiw_link *link = uiw_sqe_link(sqe);

        if (!uiw_sqe_is_local(sqe) || sqe->started || !link->window)
            continue;
        uiw_window_want(link->window, link->stag,
                        atomic_load_explicit(&link->window->stag, memory_order_relaxed));
        uiw_mr_forget_stag(&ep->ia->memory.mrs, link->window, link->stag);
        if (link->lmr)
            base_object_release(&link->lmr->object);
        link->lmr = NULL;
    }
}
