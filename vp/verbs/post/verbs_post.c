/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posting on an EP. Each queue has its own lock, which keeps slots and the device's queue in the
 * same order. A post shares no other state, allocates nothing and looks up no object.
 */
#include "vp/verbs/post/verbs_posting.h"

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/memory/verbs_rmr.h"

#include <errno.h>

/* A receive's segment may be longer, but no message fills more of it. */
#define POST_SEGMENT_MAX UINT32_C(0x7fffffff)

/* ---------------------------------------------------------------- segments */

static inline void post_segment(struct ibv_sge *sge, const it_lmr_triplet_t *from)
{
    const struct verbs_lmr *lmr = verbs_lmr_of(from->lmr);

    sge->addr = (uintptr_t)from->addr.abs;
    sge->length = from->length > POST_SEGMENT_MAX ? POST_SEGMENT_MAX : (uint32_t)from->length;
    sge->lkey = lmr->lkey;
}

/*
 * Leaves empty segments out. Some devices take a length of 0 as the largest, and siw's kernel
 * dereferences a null pointer if a Send or Write has an empty segment among others.
 */
static inline int post_segments(struct ibv_sge *sges, const it_lmr_triplet_t *from, size_t count)
{
    int used = 0;

    for (size_t i = 0; i < count; i++)
        if (from[i].length > 0)
            post_segment(&sges[used++], &from[i]);
    if (used == 0 && count > 0)
        post_segment(&sges[used++], &from[0]);
    return used;
}

/* Returns true if the data lies in its regions: for inline data the post itself reads it. */
static bool post_may_inline(const struct verbs_ep *ep, const struct vp_request *request)
{
    for (size_t i = 0; i < request->segment_count; i++) {
        const it_lmr_triplet_t *segment = &request->segments[i];
        const struct verbs_lmr *lmr = verbs_lmr_of(segment->lmr);
        uint64_t offset = (uintptr_t)segment->addr.abs - lmr->addr;

        if (lmr->pd != ep->pd || offset > lmr->length || segment->length > lmr->length - offset)
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- requests */

static const struct {
    enum ibv_wr_opcode opcode;
    it_event_type_t event;
} post_kinds[] = {
    [VP_SEND] = {IBV_WR_SEND, IT_DTO_SEND_CMPL_EVENT},
    [VP_RDMA_WRITE] = {IBV_WR_RDMA_WRITE, IT_DTO_RDMA_WRITE_CMPL_EVENT},
    [VP_RDMA_READ] = {IBV_WR_RDMA_READ, IT_DTO_RDMA_READ_CMPL_EVENT},
    [VP_SEND_UNLINK] = {IBV_WR_SEND_WITH_INV, IT_DTO_SEND_CMPL_EVENT},
    [VP_RMR_LINK] = {IBV_WR_BIND_MW, IT_RMR_LINK_CMPL_EVENT},
    [VP_RMR_UNLINK] = {IBV_WR_LOCAL_INV, IT_RMR_LINK_CMPL_EVENT},
    [VP_FETCH_ADD] = {IBV_WR_ATOMIC_FETCH_AND_ADD, IT_DTO_FETCH_ADD_CMPL_EVENT},
    [VP_CMP_SWAP] = {IBV_WR_ATOMIC_CMP_AND_SWP, IT_DTO_CMP_SWAP_CMPL_EVENT},
    [VP_SWAP] = {IBV_WR_SEND, (it_event_type_t)0}, /* not supported */
    [VP_SENDTO] = {IBV_WR_SEND, IT_DTO_SEND_CMPL_EVENT},
};

static bool post_is_known(const struct verbs_ep *ep, enum vp_opcode opcode)
{
    if ((unsigned)opcode >= sizeof(post_kinds) / sizeof(post_kinds[0]) ||
        post_kinds[opcode].event == 0)
        return false;
    if (opcode == VP_SEND_UNLINK)
        return ep->ia->attributes.send_unlink;
    if (opcode == VP_RMR_LINK || opcode == VP_RMR_UNLINK)
        return ep->ia->attributes.rmr_types != 0;
    return (opcode != VP_FETCH_ADD && opcode != VP_CMP_SWAP) || ep->ia->attributes.atomics;
}

static void post_fill_rdma(struct ibv_send_wr *wr, const struct vp_request *request)
{
    wr->wr.rdma.remote_addr = request->rdma_addr;
    wr->wr.rdma.rkey = (uint32_t)request->rmr_context;
}

static void post_fill_atomic(struct ibv_send_wr *wr, const struct vp_request *request)
{
    bool adds = request->opcode == VP_FETCH_ADD;

    wr->wr.atomic.remote_addr = request->rdma_addr;
    wr->wr.atomic.rkey = (uint32_t)request->rmr_context;
    wr->wr.atomic.compare_add = adds ? request->operand : request->compare;
    wr->wr.atomic.swap = adds ? 0 : request->operand;
}

static inline void post_fill(const struct verbs_ep *ep, struct ibv_send_wr *wr,
                             const struct vp_request *request)
{
    switch (request->opcode) {
    case VP_SEND:
        if (request->has_immediate) {
            wr->opcode = IBV_WR_SEND_WITH_IMM;
            wr->imm_data = htonl((uint32_t)request->immediate);
        }
        break;
    case VP_RDMA_WRITE:
        post_fill_rdma(wr, request);
        if (request->has_immediate) {
            wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
            wr->imm_data = htonl((uint32_t)request->immediate);
        }
        break;
    case VP_RDMA_READ:
        post_fill_rdma(wr, request);
        /* siw answers Reads in order, and has no fence for them. */
        if (ep->ia->quirks.is_siw)
            wr->send_flags &= ~(unsigned)IBV_SEND_FENCE;
        break;
    case VP_SEND_UNLINK:
        wr->invalidate_rkey = (uint32_t)request->rmr_context;
        wr->wr.rdma.rkey = (uint32_t)request->rmr_context; /* libsiw reads the key here */
        break;
    case VP_FETCH_ADD:
    case VP_CMP_SWAP:
        post_fill_atomic(wr, request);
        break;
    case VP_SENDTO:
        wr->wr.ud.ah = verbs_address_of(request->address)->ah;
        wr->wr.ud.remote_qpn = request->to.ud_ep_id;
        wr->wr.ud.remote_qkey = request->to.ud_ep_key;
        break;
    case VP_RDMA_READ_TO_RMR:
    case VP_RMR_LINK:
    case VP_RMR_UNLINK:
    case VP_SWAP:
    case VP_INVALIDATE:
        break; /* not supported, or posted by verbs_rmr.c */
    }
}

static inline unsigned post_flags(const struct verbs_ep *ep, const struct vp_request *request)
{
    unsigned flags = 0;

    if (request->flags & IT_BARRIER_FENCE_FLAG)
        flags |= IBV_SEND_FENCE;
    if (request->flags & IT_SOLICITED_WAIT_FLAG)
        flags |= IBV_SEND_SOLICITED;
    if (request->length <= ep->sq.inline_max && request->length > 0 &&
        (request->opcode <= VP_RDMA_WRITE || request->opcode == VP_SENDTO) &&
        post_may_inline(ep, request))
        flags |= IBV_SEND_INLINE;
    return flags;
}

/* One of every signal_every requests is signalled: then all earlier ones are done too. */
static inline bool post_signals(struct verbs_queue *queue, const struct vp_request *request)
{
    bool overtaken = queue->ep->ia->quirks.reads_overtaken && request->opcode == VP_RDMA_READ;

    if (!(request->flags & IT_COMPLETION_FLAG) && !overtaken &&
        ++queue->quiet < queue->signal_every)
        return false;
    queue->quiet = 0;
    return true;
}

static int post_to_device(struct verbs_ep *ep, struct verbs_slot *slot,
                          const struct vp_request *request)
{
    struct ibv_sge sges[VERBS_MAX_SEGMENTS];
    struct ibv_send_wr wr;
    struct ibv_send_wr *bad;

    wr.wr_id = (uintptr_t)slot;
    wr.next = NULL;
    wr.sg_list = sges;
    wr.num_sge = post_segments(sges, request->segments, request->segment_count);
    wr.opcode = post_kinds[request->opcode].opcode;
    wr.send_flags = post_flags(ep, request);
    post_fill(ep, &wr, request);
    if (post_signals(&ep->sq, request))
        wr.send_flags |= IBV_SEND_SIGNALED;
    return ep->sq.post.send(ep->qp, &wr, &bad);
}

/*
 * Returns the error of a request that must not reach the device. Without an ORD it might wait for
 * ever, and of a long key the device would use only 32 bits.
 */
static enum ibv_wc_status post_refused(const struct verbs_ep *ep, const struct vp_request *request)
{
    if (!ep->sq.may_read && (request->opcode == VP_RDMA_READ || request->opcode == VP_FETCH_ADD ||
                             request->opcode == VP_CMP_SWAP))
        return IBV_WC_LOC_QP_OP_ERR;
    if (vp_request_has_bad_key(request))
        return IBV_WC_REM_ACCESS_ERR;
    return IBV_WC_SUCCESS;
}

static inline int post_execute(struct verbs_ep *ep, struct verbs_slot *slot,
                               const struct vp_request *request)
{
    enum ibv_wc_status refused;

    if (__builtin_expect(ep->sq.local, false))
        return 0;
    refused = post_refused(ep, request);
    if (__builtin_expect(refused != IBV_WC_SUCCESS, false)) {
        slot->what |= VERBS_REFUSED | (uint32_t)refused << VERBS_STATUS_SHIFT;
        return refused == IBV_WC_REM_ACCESS_ERR ? EACCES : EPERM;
    }
    return post_to_device(ep, slot, request);
}

static uint32_t post_what(const struct vp_request *request)
{
    uint32_t what = verbs_event_bits(post_kinds[request->opcode].event);

    what |= (unsigned)request->flags & VERBS_FLAGS;
    if (!(request->flags & IT_COMPLETION_FLAG))
        what |= VERBS_QUIET;
    return request->link ? what | VERBS_LINKED : what;
}

static it_status_t post_request(struct ual_ep *ual, const struct vp_request *request)
{
    struct verbs_ep *ep = verbs_ep_of(ual);
    struct verbs_queue *queue = &ep->sq;
    it_status_t status = IT_ERR_INVALID_EP_STATE;
    struct verbs_slot *slot;

    if (!post_is_known(ep, request->opcode))
        return IT_ERR_OP_NOT_SUPPORTED;
    base_lock_take(&queue->lock);
    if (!queue->open)
        goto out;
    status = IT_ERR_TOO_MANY_POSTS;
    if (__builtin_expect(verbs_queue_is_full(queue), false) && !verbs_queue_make_room(queue))
        goto out;
    slot = &queue->slots[queue->tail & queue->mask];
    slot->cookie = request->cookie;
    slot->number = queue->tail;
    slot->length = (uint32_t)request->length;
    slot->what = post_what(request);
    if (request->segment_count == 1)
        verbs_usual_remember(queue, request->segments[0].lmr);
    if (request->link) {
        int error = 0;

        status = verbs_link_request(ep, slot, request, &error);
        if (status != IT_SUCCESS)
            goto out;
        queue->quiet = 0;
        return verbs_queue_finish(queue, error);
    }
    return verbs_queue_finish(queue, post_execute(ep, slot, request));

out:
    base_lock_drop(&queue->lock);
    return status;
}

/* ---------------------------------------------------------------- receives */

static int post_recv_to_device(struct verbs_ep *ep, struct verbs_slot *slot,
                               const it_lmr_triplet_t *segments, size_t count)
{
    struct ibv_sge sges[VERBS_MAX_SEGMENTS];
    struct ibv_recv_wr wr = {.wr_id = (uintptr_t)slot, .sg_list = sges};
    struct ibv_recv_wr *bad;

    wr.num_sge = post_segments(sges, segments, count);
    if (count == 0 && ep->ia->quirks.zero_segments) {
        sges[0] = (struct ibv_sge){.addr = ep->empty_addr, .lkey = ep->empty_lkey};
        wr.num_sge = 1;
    }
    return ibv_post_recv(ep->qp, &wr, &bad);
}

int verbs_segments(struct ibv_sge *sges, const it_lmr_triplet_t *from, size_t count)
{
    return post_segments(sges, from, count);
}

static inline __attribute__((always_inline)) it_status_t
post_recv_kind(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
               it_dto_cookie_t cookie, it_dto_flags_t flags, bool datagram)
{
    struct verbs_ep *ep = verbs_ep_of(ual);
    struct verbs_queue *queue = &ep->rq;
    struct verbs_slot *slot;

    base_lock_take(&queue->lock);
    if (__builtin_expect(verbs_queue_is_full(queue), false)) {
        base_lock_drop(&queue->lock);
        return IT_ERR_TOO_MANY_POSTS;
    }
    slot = &queue->slots[queue->tail & queue->mask];
    slot->cookie = cookie;
    slot->number = queue->tail;
    /* A peer may have solicited the event, but the completion does not show that. */
    slot->what = ((unsigned)flags & VERBS_FLAGS) | IT_NOTIFY_FLAG | VERBS_RECEIVE;
    slot->what |= datagram ? VERBS_DATAGRAM | verbs_event_bits(IT_DTO_UD_RECV_CMPL_EVENT)
                           : verbs_event_bits(IT_DTO_RC_RECV_CMPL_EVENT);
    if (datagram)
        verbs_ud_note(queue, slot, segments, count);
    if (count == 1)
        verbs_usual_remember(queue, segments->lmr);
    return verbs_queue_finish(queue,
                              queue->local ? 0 : post_recv_to_device(ep, slot, segments, count));
}

static it_status_t post_recv(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    return post_recv_kind(ual, segments, count, cookie, flags, false);
}

static it_status_t post_recvfrom(struct ual_ep *ual, const it_lmr_triplet_t *segments, size_t count,
                                 it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    return post_recv_kind(ual, segments, count, cookie, flags, true);
}

const struct vp_ep_ops verbs_ud_ops = {
    .post_request = post_request,
    .post_recv = post_recvfrom,
};

const struct vp_ep_ops verbs_ep_ops = {
    .post_request = post_request,
    .post_recv = post_recv,
    .entries = &verbs_ep_entries,
};
