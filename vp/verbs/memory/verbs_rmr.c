/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RMRs as memory windows. Windows of type 2 belong to the QP on which they are linked, and so are
 * narrow. Windows of type 1 belong to the PD, and are wide. Linking and unlinking are requests; the
 * RMR's state changes when they complete. Each such request has a note next to its slot.
 *
 * A narrow window is opened once per key. If it is open, the post that opens it again closes it
 * first; if it was opened on another QP, the RMR gets a new window. A wide window can be moved by
 * any QP, and the device chooses its key. After a failed request the window's key and state are
 * unknown, so the next link replaces the window, and an unlink drops it.
 */
#include "vp/verbs/memory/verbs_rmr.h"

#include <errno.h>
#include <string.h>

/* Process-wide, since the memory of an RMR may become that of another one. */
static _Atomic uint64_t rmr_serials;

/* ---------------------------------------------------------------- the window */

static struct ibv_mw *rmr_new_window(struct ual_rmr *ual)
{
    struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));
    struct vp_rmr_info info;
    struct ibv_mw *mw;

    verbs_host->rmr_info(ual, &info);
    mw = ibv_alloc_mw(verbs_pz_of(info.pz)->pd,
                      verbs_rmr_of(ual)->wide ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
    if (!mw)
        verbs_warn(ia, "no memory window", errno);
    return mw;
}

static void rmr_free_window(struct verbs_ia *ia, struct ibv_mw *mw)
{
    verbs_warn_unless_removed(ia, "a memory window cannot be freed", ibv_dealloc_mw(mw));
}

/* Called with the lock. The next link makes a new window. */
static void rmr_drop_window_locked(struct verbs_rmr *rmr)
{
    if (rmr->mw)
        rmr_free_window(rmr->ia, rmr->mw);
    rmr->mw = NULL;
    rmr->is_open = false;
    rmr->is_unsure = false;
}

void verbs_rmr_leave(struct verbs_ia *ia, uint32_t qp_num)
{
    (void)pthread_mutex_lock(&ia->rmr_lock);
    BASE_LIST_EACH(struct verbs_rmr, rmr, &ia->rmrs, link)
        if (!rmr->wide && rmr->qp_num == qp_num) /* requests may not have been executed */
            rmr_drop_window_locked(rmr);
    (void)pthread_mutex_unlock(&ia->rmr_lock);
}

/* Returns the type asked for; for the default, the narrow type if the device has it. */
static it_rmr_type_t rmr_type(const struct verbs_ia *ia, struct ual_rmr *ual)
{
    struct vp_rmr_info info;

    verbs_host->rmr_info(ual, &info);
    if (info.type != IT_RMR_TYPE_DEFAULT)
        return info.type;
    return ia->attributes.rmr_types & IT_RMR_TYPE_NARROW ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE;
}

/* Registers memory for closing a wide window: a link to length 0 of that memory closes it. */
static it_status_t rmr_open_ground(struct verbs_rmr *rmr, struct ual_rmr *ual)
{
    struct vp_rmr_info info;

    verbs_host->rmr_info(ual, &info);
    rmr->ground = ibv_reg_mr(verbs_pz_of(info.pz)->pd, &rmr->ground_octet,
                             sizeof(rmr->ground_octet), IBV_ACCESS_MW_BIND);
    return rmr->ground ? IT_SUCCESS : IT_ERR_RESOURCES;
}

it_status_t verbs_rmr_create(struct ual_rmr *ual)
{
    struct verbs_rmr *rmr = verbs_rmr_of(ual);
    struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));

    rmr->wide = rmr_type(ia, ual) == IT_RMR_TYPE_WIDE;
    if (rmr->wide && rmr_open_ground(rmr, ual) != IT_SUCCESS)
        return IT_ERR_RESOURCES;
    rmr->mw = rmr_new_window(ual);
    if (!rmr->mw)
        goto err_ground;
    rmr->ual = ual;
    rmr->ia = ia;
    rmr->serial = atomic_fetch_add_explicit(&rmr_serials, 1, memory_order_relaxed) + 1;
    rmr->last_key = rmr->mw->rkey;
    verbs_host->rmr_set_type(ual, rmr->wide ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
    (void)pthread_mutex_lock(&ia->rmr_lock);
    base_list_prepend(&ia->rmrs, &rmr->link);
    (void)pthread_mutex_unlock(&ia->rmr_lock);
    return IT_SUCCESS;

err_ground:
    if (rmr->ground)
        (void)ibv_dereg_mr(rmr->ground); /* nothing is linked to it */
    rmr->ground = NULL;
    return IT_ERR_RESOURCES;
}

/* Called with the lock. Clears the RMR's state and releases what it holds. */
static void rmr_let_go_locked(struct verbs_rmr *rmr)
{
    if (!rmr->state.lmr)
        return;
    verbs_host->release(rmr->state.lmr);
    if (rmr->ep)
        verbs_host->release(rmr->ep->ual);
    rmr->state = (struct vp_rmr_state){.lmr = NULL};
    rmr->ep = NULL;
}

/* Pending requests compare the serial number, so they detect that the RMR was destroyed. */
void verbs_rmr_destroy(struct ual_rmr *ual)
{
    struct verbs_rmr *rmr = verbs_rmr_of(ual);
    struct verbs_ia *ia = rmr->ia;

    (void)pthread_mutex_lock(&ia->rmr_lock);
    rmr_drop_window_locked(rmr);
    base_list_remove(&ia->rmrs, &rmr->link);
    rmr->serial = 0;
    rmr_let_go_locked(rmr);
    (void)pthread_mutex_unlock(&ia->rmr_lock);
    if (rmr->ground)
        (void)ibv_dereg_mr(rmr->ground); /* fails if the device is gone, but frees it */
    rmr->ground = NULL;
}

void verbs_rmr_query(struct ual_rmr *ual, struct vp_rmr_state *state)
{
    struct verbs_rmr *rmr = verbs_rmr_of(ual);

    (void)pthread_mutex_lock(&rmr->ia->rmr_lock);
    *state = rmr->state;
    (void)pthread_mutex_unlock(&rmr->ia->rmr_lock);
}

it_handle_t verbs_rmr_invalidated(struct verbs_ia *ia, uint32_t key)
{
    it_handle_t handle = NULL;

    (void)pthread_mutex_lock(&ia->rmr_lock);
    BASE_LIST_EACH(struct verbs_rmr, rmr, &ia->rmrs, link) {
        if (!rmr->state.lmr || rmr->state.key != key)
            continue;
        rmr_let_go_locked(rmr);
        rmr->is_open = rmr->last_key != key; /* a later link may be pending */
        handle = (it_handle_t)rmr->ual;
        break;
    }
    (void)pthread_mutex_unlock(&ia->rmr_lock);
    return handle;
}

/* ---------------------------------------------------------------- requests */

static struct verbs_link *link_of_slot(const struct verbs_slot *slot)
{
    return &slot->queue->links[slot - slot->queue->slots];
}

/* Returns false if an object is being freed. A wide window holds no EP. */
static bool link_hold(struct verbs_ep *ep, struct ual_lmr *lmr, bool wide)
{
    if (!verbs_host->hold(lmr))
        return false;
    if (wide || verbs_host->hold(ep->ual))
        return true;
    verbs_host->release(lmr);
    return false;
}

static void link_release(struct verbs_ep *ep, struct ual_lmr *lmr, bool wide)
{
    verbs_host->release(lmr);
    if (!wide)
        verbs_host->release(ep->ual);
}

static unsigned link_access(it_mem_priv_t privs)
{
    unsigned access = 0;

    if (privs & IT_PRIV_REMOTE_READ)
        access |= IBV_ACCESS_REMOTE_READ;
    if (privs & IT_PRIV_REMOTE_WRITE)
        access |= IBV_ACCESS_REMOTE_WRITE;
    if (privs & IT_PRIV_ATOMIC)
        access |= IBV_ACCESS_REMOTE_ATOMIC;
    return access;
}

/* Called with the lock. Returns the RMR's window, or a new one for the link; NULL without one. */
static struct ibv_mw *link_window_locked(const struct verbs_ep *ep, const struct verbs_rmr *rmr)
{
    bool elsewhere = rmr->is_open && !rmr->wide && rmr->qp_num != ep->qp->qp_num;

    if (rmr->mw && !elsewhere && !rmr->is_unsure)
        return rmr->mw;
    return rmr_new_window(rmr->ual);
}

/* Called with the lock. The request has been posted for that window. */
static void link_take_window_locked(struct verbs_ep *ep, struct verbs_rmr *rmr, struct ibv_mw *mw)
{
    if (mw != rmr->mw)
        rmr_drop_window_locked(rmr);
    rmr->mw = mw;
    rmr->last_key = mw->rkey;
    rmr->is_open = true;
    rmr->qp_num = ep->qp->qp_num;
}

/* Closes the window first if it is open. */
static int narrow_post(struct verbs_ep *ep, struct verbs_slot *slot, struct verbs_rmr *rmr,
                       struct ibv_mw *mw, struct ibv_mw_bind_info info, unsigned flags)
{
    bool closes = mw == rmr->mw && rmr->is_open;
    uint32_t key = ibv_inc_rkey(mw->rkey);
    struct ibv_send_wr open = {
        .wr_id = (uintptr_t)slot,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = flags | IBV_SEND_SIGNALED,
        .bind_mw = {.mw = mw, .rkey = key, .bind_info = info},
    };
    struct ibv_send_wr close = {
        .next = &open,
        .opcode = IBV_WR_LOCAL_INV,
        .send_flags = flags,
        .invalidate_rkey = mw->rkey,
        .wr_id = (uintptr_t)slot, /* reported only if it fails; the other one is then flushed */
    };
    struct ibv_send_wr *bad;
    int error = ep->sq.post.send(ep->qp, closes ? &close : &open, &bad);

    if (error == 0)
        mw->rkey = key; /* the key that the next post uses */
    else if (closes && bad == &open)
        rmr->is_unsure = true; /* the close was posted, but the new link was not */
    return error;
}

/* Links the window to part of an LMR; with length 0, to nothing. */
static int wide_post(struct verbs_ep *ep, struct verbs_slot *slot, struct ibv_mw *mw,
                     struct ibv_mw_bind_info info, unsigned flags)
{
    struct ibv_mw_bind bind = {
        .wr_id = (uintptr_t)slot, .send_flags = flags | IBV_SEND_SIGNALED, .bind_info = info};

    return ibv_bind_mw(ep->qp, mw, &bind);
}

/* Called with the lock. A post that fails leaves the RMR unchanged. */
static it_status_t link_post_locked(struct verbs_ep *ep, struct verbs_slot *slot,
                                    struct verbs_rmr *rmr, const struct vp_link *link,
                                    unsigned flags, int *error)
{
    struct ibv_mw *mw = link_window_locked(ep, rmr);
    struct ibv_mw_bind_info info = {.mr = verbs_lmr_of((it_lmr_handle_t)(void *)link->lmr)->mr,
                                    .addr = (uintptr_t)link->addr,
                                    .length = link->length,
                                    .mw_access_flags = link_access(link->privs)};

    if (!mw)
        return IT_ERR_RESOURCES;
    *error = rmr->wide ? wide_post(ep, slot, mw, info, flags)
                       : narrow_post(ep, slot, rmr, mw, info, flags);
    if (*error == 0)
        link_take_window_locked(ep, rmr, mw);
    else if (mw != rmr->mw)
        rmr_free_window(rmr->ia, mw);
    *link->key = rmr->last_key;
    return IT_SUCCESS;
}

/* Posts an empty request, so that the call completes in order. */
static int nothing_post(struct verbs_ep *ep, struct verbs_slot *slot, unsigned flags)
{
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)slot,
        .opcode = IBV_WR_RDMA_WRITE, /* of no octets */
        .send_flags = flags | IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad;

    return ep->sq.post.send(ep->qp, &wr, &bad);
}

/* Called with the lock. A post that fails leaves the RMR unchanged. */
static int unlink_post_locked(struct verbs_ep *ep, struct verbs_slot *slot, struct verbs_rmr *rmr,
                              unsigned flags)
{
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)slot,
        .opcode = IBV_WR_LOCAL_INV,
        .send_flags = flags | IBV_SEND_SIGNALED,
        .invalidate_rkey = rmr->last_key,
    };
    struct ibv_mw_bind_info ground = {.mr = rmr->ground, .addr = (uintptr_t)&rmr->ground_octet};
    struct ibv_send_wr *bad;
    int error;

    /* It is closed already, perhaps by a peer, which is legal; or dropping the window closes it. */
    if (rmr->is_unsure || !rmr->is_open || (!rmr->wide && rmr->qp_num != ep->qp->qp_num)) {
        error = nothing_post(ep, slot, flags);
        if (error == 0 && (rmr->is_unsure || rmr->is_open))
            rmr_drop_window_locked(rmr);
        return error;
    }
    error = rmr->wide ? wide_post(ep, slot, rmr->mw, ground, flags)
                      : ep->sq.post.send(ep->qp, &wr, &bad);
    if (error == 0) {
        rmr->last_key = rmr->mw->rkey;
        rmr->is_open = false;
        rmr->qp_num = ep->qp->qp_num;
    }
    return error;
}

/*
 * Fills the note of a slot. The caller holds the lock. .mw is NULL if the request was not posted to
 * the device.
 */
static void link_note(struct verbs_slot *slot, const struct vp_link *link, struct ibv_mw *mw)
{
    struct verbs_link *note = link_of_slot(slot);
    struct verbs_rmr *rmr = verbs_rmr_of(link->rmr);

    *note = (struct verbs_link){.rmr = rmr, .serial = rmr->serial, .wide = rmr->wide, .mw = mw};
    if (link->lmr)
        note->state = (struct vp_rmr_state){
            .lmr = link->lmr,
            .addr = link->addr,
            .length = link->length,
            .addr_mode = link->addr_mode,
            .privs = link->privs,
            .key = *link->key,
        };
}

/* Called with the lock. */
static it_status_t link_request_locked(struct verbs_ep *ep, struct verbs_slot *slot,
                                       const struct vp_request *request, int *error)
{
    const struct vp_link *link = request->link;
    struct verbs_rmr *rmr = verbs_rmr_of(link->rmr);
    unsigned flags = request->flags & IT_BARRIER_FENCE_FLAG ? IBV_SEND_FENCE : 0;
    it_status_t status = IT_SUCCESS;

    *error = 0;
    if (request->opcode == VP_RMR_LINK)
        *link->key = rmr->last_key;
    if (!ep->sq.local && request->opcode == VP_RMR_LINK)
        status = link_post_locked(ep, slot, rmr, link, flags, error);
    else if (!ep->sq.local)
        *error = unlink_post_locked(ep, slot, rmr, flags);
    if (status == IT_SUCCESS && *error != ENOMEM)
        link_note(slot, link, ep->sq.local || *error ? NULL : rmr->mw);
    return status;
}

it_status_t verbs_link_request(struct verbs_ep *ep, struct verbs_slot *slot,
                               const struct vp_request *request, int *error)
{
    struct ual_lmr *lmr = request->link->lmr;
    bool wide = verbs_rmr_of(request->link->rmr)->wide;
    it_status_t status;

    if (lmr && !link_hold(ep, lmr, wide))
        return IT_ERR_INVALID_LMR;
    if (lmr && !verbs_lmr_of((it_lmr_handle_t)(void *)lmr)->has_windows) {
        link_release(ep, lmr, wide);
        return IT_ERR_ACCESS;
    }
    (void)pthread_mutex_lock(&ep->ia->rmr_lock);
    status = link_request_locked(ep, slot, request, error);
    (void)pthread_mutex_unlock(&ep->ia->rmr_lock);
    if ((status != IT_SUCCESS || *error == ENOMEM) && lmr)
        link_release(ep, lmr, wide);
    return status;
}

/* A failed link releases what it would have held. */
void verbs_link_done(struct verbs_slot *slot, bool executed)
{
    struct verbs_link *note = link_of_slot(slot);
    struct verbs_ep *ep = slot->queue->ep;
    struct verbs_rmr *rmr;

    /*
     * The device may complete the request before the posting thread has written the note, which it
     * does under this lock.
     */
    (void)pthread_mutex_lock(&ep->ia->rmr_lock);
    rmr = note->rmr;
    if (!rmr)
        goto out;
    if (executed && note->serial == rmr->serial) {
        rmr_let_go_locked(rmr);
        rmr->state = note->state;
        rmr->ep = note->state.lmr && !rmr->wide ? ep : NULL;
    } else if (note->state.lmr) {
        link_release(ep, note->state.lmr, note->wide);
    }
    if (!executed && note->serial == rmr->serial && note->mw == rmr->mw)
        rmr->is_unsure = true;
    note->rmr = NULL;
out:
    (void)pthread_mutex_unlock(&ep->ia->rmr_lock);
}

void verbs_link_drop_all(struct verbs_queue *queue)
{
    for (uint32_t i = 0; queue->links && i <= queue->mask; i++)
        verbs_link_done(&queue->slots[i], false);
}
