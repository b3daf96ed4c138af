/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows (RMRs): links and unlinks, which are requests that run when it is their turn in the send
 * queue; Reads into windows; and what takes access away from peers: Send with Invalidate, Reads
 * with IT_UNLINK_LOCAL_SINK.
 *
 * A request names the entry of its window and the entry's serial number, never the RMR: when that
 * has been freed meanwhile the serial number is another one.
 */
#include "vp/uiwarp/queue/uiw_ep.h"

enum window_result {
    WINDOW_DONE,
    WINDOW_LATER,
    WINDOW_REFUSED
};

void uiw_window_let_go(struct uiw_mr *window)
{
    if (window->lmr)
        base_object_release(&window->lmr->object);
    if (window->ep)
        base_object_release(&window->ep->object);
    window->lmr = NULL;
    window->ep = NULL;
}

/* Unless something else has been posted meanwhile. */
static void window_want(struct uiw_mr *window, uint32_t from, uint32_t to)
{
    (void)atomic_compare_exchange_strong_explicit(&window->wanted, &from, to, memory_order_relaxed,
                                                  memory_order_relaxed);
}

/* ---------------------------------------------------------------- posting */

it_status_t uiw_link_fill_locked(struct uiw_ep *ep, struct uiw_sqe *sqe,
                                 const struct vp_request *request)
{
    const struct vp_link *link = request->link;
    struct uiw_mr *window = uiw_rmr_of(link->rmr)->mr;
    struct uiw_link *own = uiw_sqe_link(sqe);

    base_lock_assert_held(&ep->ual->lock);
    *own = (struct uiw_link){.window = window, .serial = window->serial};
    if (request->opcode == VP_RMR_LINK) {
        if (!base_object_hold(&link->lmr->object))
            return IT_ERR_INVALID_LMR; /* it is just being freed */
        own->stag = uiw_mr_new_stag(&ep->ia->mrs, window);
        if (own->stag == 0) {
            base_object_release(&link->lmr->object);
            return IT_ERR_TOO_MANY_POSTS; /* for more than there are keys */
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

/* Which memory it is, is known when the Read starts: links may be under way. */
it_status_t uiw_windows_fill(struct uiw_sqe *sqe, const struct vp_request *request)
{
    sqe->opcode = VP_RDMA_READ;
    for (size_t i = 0; i < request->segment_count; i++) {
        const it_rmr_triplet_t *from = &request->windows[i];
        struct uiw_mr *window = uiw_rmr_of((struct ual_rmr *)(void *)from->rmr)->mr;

        if (atomic_load_explicit(&window->wanted, memory_order_relaxed) == 0)
            return IT_ERR_INVALID_RMR;
        sqe->segments[i] = (struct uiw_segment){
            .addr = from->addr.abs, /* or the offset: the same octets */
            .mr = window,
            .length = (uint32_t)from->length,
            .stag = window->serial,
        };
    }
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- execution */

static bool window_fenced(const struct uiw_ep *ep, uint32_t index, const struct uiw_sqe *sqe)
{
    if ((sqe->flags & IT_BARRIER_FENCE_FLAG) &&
        atomic_load_explicit(&ep->orq_head, memory_order_acquire) !=
            atomic_load_explicit(&ep->orq_tail, memory_order_relaxed))
        return true;
    return (sqe->flags & IT_UNLINK_FENCE_FLAG) && uiw_queue_head(&ep->sq) != index;
}

static void window_open(struct uiw_ep *ep, struct uiw_link *link)
{
    struct uiw_mr *window = link->window;
    unsigned privs = link->privs;
    struct uiw_region region = {
        .addr = link->addr,
        .length = link->length,
        .to_base = link->relative ? 0 : (uintptr_t)link->addr,
        .pz = ep->pz,
        .stream = link->narrow ? ep->id.number : 0,
        .handle = window->region.handle,
    };

    if (privs & IT_PRIV_REMOTE_WRITE) /* what our own Reads place is written by the peer, too */
        privs |= IT_PRIV_LOCAL_WRITE;
    region.privs = (it_mem_priv_t)privs;
    uiw_window_let_go(window);
    window->lmr = link->lmr; /* its hold passes to the window */
    window->ep = link->narrow ? ep->ual : NULL;
    link->lmr = NULL;
    uiw_mr_open(window, &region, link->stag);
}

/* With the token. */
static enum window_result window_run_locked(struct uiw_ep *ep, struct uiw_link *link, bool may_wait)
{
    struct uiw_mr *window = link->window;
    bool hold = link->lmr && link->narrow;

    if (window->serial != link->serial) /* what is freed is unlinked */
        return link->lmr ? WINDOW_REFUSED : WINDOW_DONE;
    if (hold && !base_object_hold(&ep->ual->object))
        return WINDOW_LATER; /* the EP is going, and its requests with it */
    if (!uiw_mr_close(&ep->ia->mrs, window, may_wait)) {
        if (hold)
            base_object_release(&ep->ual->object);
        return WINDOW_LATER;
    }
    if (link->lmr)
        window_open(ep, link);
    else
        uiw_window_let_go(window);
    return WINDOW_DONE;
}

static enum window_result window_run(struct uiw_ep *ep, struct uiw_link *link, bool may_wait)
{
    enum window_result result;

    if (may_wait)
        uiw_mr_take(link->window);
    else if (!uiw_mr_try(link->window))
        return WINDOW_LATER;
    result = window_run_locked(ep, link, may_wait);
    uiw_mr_drop(link->window);
    return result;
}

/* False: not now, or never (then ep->tx says so). */
static bool local_start(struct uiw_ep *ep, uint32_t index, struct uiw_sqe *sqe, bool may_wait)
{
    enum window_result result;

    if (window_fenced(ep, index, sqe))
        return false;
    result = window_run(ep, uiw_sqe_link(sqe), may_wait);
    if (result == WINDOW_REFUSED) {
        ep->tx.failed_index = index;
        atomic_store_explicit(&ep->tx.failed_status, IT_RMR_OPERATION_FAILED, memory_order_release);
    }
    sqe->started = result == WINDOW_DONE;
    return sqe->started;
}

bool uiw_local_run(struct uiw_ep *ep, struct uiw_cursor *cursor, bool may_wait)
{
    uint32_t first = cursor->sq;

    while (uiw_at_local(ep, cursor)) {
        struct uiw_sqe *sqe = uiw_sqe_at(ep, cursor->sq);

        if (!sqe->started && !local_start(ep, cursor->sq, sqe, may_wait))
            break;
        cursor->sq++;
    }
    return cursor->sq != first;
}

void uiw_links_drop(struct uiw_ep *ep)
{
    uint32_t tail = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);

    for (uint32_t index = uiw_queue_head(&ep->sq); index != tail; index++) {
        struct uiw_sqe *sqe = uiw_sqe_at(ep, index);
        struct uiw_link *link = uiw_sqe_link(sqe);

        if ((sqe->opcode != VP_RMR_LINK && sqe->opcode != VP_RMR_UNLINK) || sqe->started)
            continue;
        window_want(link->window, link->stag,
                    atomic_load_explicit(&link->window->stag, memory_order_relaxed));
        uiw_mr_forget_stag(&ep->ia->mrs, link->window, link->stag);
        if (link->lmr)
            base_object_release(&link->lmr->object);
        link->lmr = NULL;
    }
}

/* ---------------------------------------------------------------- Reads into windows */

static bool window_resolve(const struct uiw_ep *ep, struct uiw_segment *segment)
{
    struct uiw_mr *window = segment->mr;
    const struct uiw_region *region = &window->region;
    uint32_t stag = atomic_load_explicit(&window->stag, memory_order_relaxed);
    bool good;

    if (stag == 0 || !uiw_mr_pin_entry(window, stag))
        return false;
    good =
        window->serial == segment->stag && (region->stream == 0 || region->stream == ep->id.number);
    if (good) {
        if (region->to_base == 0)
            segment->addr = (uint8_t *)((uintptr_t)region->addr + (uintptr_t)segment->addr);
        segment->stag = stag;
    }
    uiw_mr_unpin(window);
    return good;
}

bool uiw_windows_resolve(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    for (unsigned i = 0; i < sqe->segment_count; i++) {
        struct uiw_segment *segment = &sqe->segments[i];

        if (window_resolve(ep, segment))
            continue;
        if (segment->length > 0)
            return false;
        segment->stag = 0; /* nothing is placed: not looked at more closely */
    }
    sqe->resolved = true;
    return true;
}

/* ---------------------------------------------------------------- IT_UNLINK_LOCAL_SINK */

/* A region with windows on it stays linked. */
bool uiw_sink_may_unlink(const struct uiw_sqe *sqe)
{
    const struct uiw_segment *sink = &sqe->segments[0];
    const struct ual_lmr *lmr;
    bool may;

    if (sqe->to_windows || sink->stag == 0 || !uiw_mr_pin_entry(sink->mr, sink->stag))
        return true; /* a region that is gone is found out soon */
    lmr = sink->mr->region.handle;
    may = atomic_load_explicit(&lmr->object.children, memory_order_acquire) == 0;
    uiw_mr_unpin(sink->mr);
    return may;
}

/* With the token of the region's own entry, so that it stays. */
static void sink_close_lmr(struct uiw_mr_table *table, struct ual_lmr *lmr)
{
    struct uiw_mr *remote = uiw_lmr_of(lmr)->remote;

    uiw_mr_take(remote);
    (void)uiw_mr_close(table, remote, true);
    uiw_mr_drop(remote);
    atomic_store_explicit(&lmr->linked, false, memory_order_relaxed);
}

void uiw_sink_unlink(struct uiw_ep *ep, struct uiw_sqe *sqe)
{
    struct uiw_mr_table *table = &ep->ia->mrs;
    const struct uiw_segment *sink = &sqe->segments[0];
    struct uiw_mr *mr = sink->mr;

    sqe->unlinked = NULL;
    uiw_mr_take(mr);
    if (sink->stag != 0 && atomic_load_explicit(&mr->stag, memory_order_relaxed) == sink->stag) {
        sqe->unlinked = mr->region.handle;
        if (sqe->to_windows) {
            (void)uiw_mr_close(table, mr, true);
            uiw_window_let_go(mr);
            window_want(mr, sink->stag, 0);
        } else {
            sink_close_lmr(table, sqe->unlinked);
        }
    }
    uiw_mr_drop(mr);
}

/* ---------------------------------------------------------------- Send with Invalidate */

static bool region_is_window(const struct uiw_mr *mr)
{
    const struct base_object *object = mr->region.handle;

    return object->type == IT_HANDLE_TYPE_RMR;
}

static bool region_has_windows(const struct uiw_mr *mr)
{
    const struct ual_lmr *lmr = mr->region.handle;

    return !region_is_window(mr) &&
           atomic_load_explicit(&lmr->object.children, memory_order_acquire) != 0;
}

/* With the token. */
static void region_close(struct uiw_mr_table *table, struct uiw_mr *mr, uint32_t stag)
{
    bool window = region_is_window(mr);

    (void)uiw_mr_close(table, mr, true);
    if (window) {
        uiw_window_let_go(mr);
        window_want(mr, stag, 0);
    } else {
        struct ual_lmr *lmr = mr->region.handle;

        atomic_store_explicit(&lmr->linked, false, memory_order_relaxed);
    }
}

enum iw_error uiw_region_invalidate(struct uiw_ep *ep, uint32_t stag, it_handle_t *handle)
{
    struct uiw_mr *mr = uiw_mr_find(&ep->ia->mrs, stag);
    const struct uiw_pz *pz = uiw_pz_of(ep->ual->pz);
    bool alone = atomic_load_explicit(&pz->eps, memory_order_relaxed) == 1;
    bool may;

    if (!mr)
        return IW_ERR_RDMAP_CANNOT_INVALIDATE;
    uiw_mr_take(mr);
    may = uiw_mr_may_invalidate(mr, stag, &ep->id, alone) && !region_has_windows(mr);
    if (may) {
        *handle = mr->region.handle;
        region_close(&ep->ia->mrs, mr, stag);
    }
    uiw_mr_drop(mr);
    return may ? IW_OK : IW_ERR_RDMAP_CANNOT_INVALIDATE;
}
