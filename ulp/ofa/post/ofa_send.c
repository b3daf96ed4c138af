/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting requests: converts a work request of verbs to a call of IT-API. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"
#include "post/ofa_post.h"
#include "queue/ofa_immediate.h"
#include "support/ofa_kinds.h"
#include "support/ofa_log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A request, converted to IT-API. */
struct request {
    it_lmr_triplet_t segments[OFA_MAX_SGE];
    size_t count;
    uint64_t length;
    it_dto_flags_t flags;
};

/* ---- Inline data ---------------------------------------------------------------------------- */

/*
 * One place more than requests fit into the EP's queue. The EP accepts a request only when the one
 * that many requests earlier is done, so the next place is always free.
 */
int ofa_inline_open_locked(struct ofa_qp *qp)
{
    size_t bytes = (size_t)qp->inline_places * qp->cap.max_inline_data;
    int error;

    if (qp->inline_room || bytes == 0)
        return 0;
    qp->inline_room = malloc(bytes);
    if (!qp->inline_room)
        return ENOMEM;
    error =
        ofa_errno(it_lmr_create21(qp->pd->pz, qp->inline_room, NULL, bytes, IT_ADDR_MODE_ABSOLUTE,
                                  IT_PRIV_LOCAL_READ, IT_LMR_FLAG_NONE, 0, &qp->inline_lmr, NULL));
    if (error != 0) {
        free(qp->inline_room);
        qp->inline_room = NULL;
        return error;
    }
    qp->inline_place = qp->inline_room;
    qp->inline_end = qp->inline_room + bytes;
    return 0;
}

void ofa_inline_close(struct ofa_qp *qp)
{
    if (qp->inline_room)
        (void)it_lmr_free(qp->inline_lmr);
    free(qp->inline_room);
    qp->inline_room = qp->inline_place = NULL;
}

static int copy_inline(struct ofa_qp *qp, const struct ibv_send_wr *wr, struct request *request)
{
    size_t length = 0;
    unsigned char *place;
    int error;

    if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_send_sge)
        return EINVAL;
    for (int i = 0; i < wr->num_sge; i++) {
        if (wr->sg_list[i].length > qp->cap.max_inline_data - length)
            return EINVAL;
        length += wr->sg_list[i].length;
    }
    request->count = length > 0;
    request->length = length;
    if (length == 0)
        return 0;
    error = ofa_inline_open_locked(qp);
    if (error != 0)
        return error;
    place = qp->inline_place;
    ofa_inline_segment(qp, place, length, &request->segments[0]);
    for (int i = 0; i < wr->num_sge; i++) {
        memcpy(place, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        place += wr->sg_list[i].length;
    }
    return 0;
}

/* ---- One request ---------------------------------------------------------------------------- */

static it_dto_flags_t flags_of(const struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    unsigned int flags = 0;

    if ((qp->every_flags | wr->send_flags) & IBV_SEND_SIGNALED)
        flags = IT_COMPLETION_FLAG;
    if (wr->send_flags & IBV_SEND_FENCE)
        flags |= IT_BARRIER_FENCE_FLAG;
    return (it_dto_flags_t)flags;
}

static it_dto_flags_t solicited(it_dto_flags_t flags, const struct ibv_send_wr *wr)
{
    return wr->send_flags & IBV_SEND_SOLICITED ? (it_dto_flags_t)(flags | IT_SOLICITED_WAIT_FLAG)
                                               : flags;
}

static int gather(struct ofa_qp *qp, const struct ibv_send_wr *wr, struct request *request)
{
    int error;

    request->flags = flags_of(qp, wr);
    if (wr->send_flags & IBV_SEND_INLINE)
        return copy_inline(qp, wr, request);
    error = ofa_segments(qp->context, wr->sg_list, wr->num_sge, (int)qp->cap.max_send_sge,
                         request->segments, &request->count);
    request->length = 0;
    for (size_t i = 0; i < request->count && error == 0; i++)
        request->length += request->segments[i].length;
    return request->length > OFA_MAX_MESSAGE ? EINVAL : error;
}

static it_status_t post_write_imm(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                                  const struct request *request)
{
    uint64_t value = ofa_immediate_of_write(ntohl(wr->imm_data), (uint32_t)request->length);

    return itx_post_rdma_write_imm(qp->send_ep, request->segments, request->count, wr->wr_id,
                                   solicited(request->flags, wr), wr->wr.rdma.remote_addr,
                                   wr->wr.rdma.rkey, value);
}

static it_status_t post_atomic(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                               const struct request *request)
{
    bool swap = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;

    if (request->count != 1 || request->length != 8 || wr->wr.atomic.remote_addr % 8 != 0 ||
        (uintptr_t)request->segments[0].addr.abs % 8 != 0 || (wr->send_flags & IBV_SEND_INLINE) ||
        qp->base.qp_type == IBV_QPT_UC)
        return IT_ERR_INVALID_LENGTH;
    return it_post_atomic(qp->send_ep, swap ? IT_COMPARE_AND_SWAP : IT_FETCH_AND_ADD,
                          swap ? wr->wr.atomic.swap : wr->wr.atomic.compare_add,
                          swap ? wr->wr.atomic.compare_add : 0, request->segments, wr->wr_id,
                          request->flags, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
}

/* A window grants only remote rights. Local rights are those of the region. */
static it_mem_priv_t window_privileges(unsigned int access)
{
    return (it_mem_priv_t)(ofa_privileges(access) & (IT_PRIV_REMOTE | IT_PRIV_ATOMIC));
}

/*
 * Returns true if the window is bound to another queue pair, so that the bind will fail: the window
 * remains one of that queue pair.
 */
static bool is_bound_elsewhere(const struct ofa_mw *mw, const struct ofa_qp *qp)
{
    const struct ofa_qp *owner = atomic_load_explicit(&mw->qp, memory_order_relaxed);
    it_rmr_param_t params;

    return owner && owner != qp &&
           it_rmr_query(mw->rmr, IT_RMR_PARAM_LINKED, &params) == IT_SUCCESS && params.linked;
}

/*
 * Windows of type 2 are bound to the EP that the peer's requests come to: for a queue pair that is
 * its own peer this is not the EP of its requests.
 */
static it_status_t post_bind(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                             const struct request *request)
{
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
    struct ofa_mw *mw = (struct ofa_mw *)(void *)wr->bind_mw.mw;
    bool taken = mw->base.type == IBV_MW_TYPE_2 && is_bound_elsewhere(mw, qp);
    struct ofa_mr *mr = ofa_mr_of(info->mr);
    it_status_t status;

    if (ofa_bind_unlinks(info))
        return it_rmr_unlink(mw->rmr, qp->ep, wr->wr_id, request->flags);
    if (!ofa_bind_fits(info))
        return IT_ERR_INVALID_LMR;
    status = itx_rmr_link_key(mw->rmr, mr->lmr,
                              (void *)(uintptr_t)(info->addr - mr->iova + (uintptr_t)mr->base.addr),
                              info->length,
                              info->mw_access_flags & IBV_ACCESS_ZERO_BASED ? IT_ADDR_MODE_RELATIVE
                                                                            : IT_ADDR_MODE_ABSOLUTE,
                              window_privileges(info->mw_access_flags), qp->ep, wr->wr_id,
                              request->flags, wr->bind_mw.rkey);
    if (status != IT_SUCCESS)
        return status;
    if (wr->bind_mw.rkey)
        ofa_remember_key(mw->rmr, wr->bind_mw.rkey);
    if (mw->base.type == IBV_MW_TYPE_2 && !taken)
        atomic_store_explicit(&mw->qp, qp, memory_order_relaxed);
    return status;
}

static it_status_t post(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                        const struct request *request)
{
    switch ((int)wr->opcode) {
    case IBV_WR_SEND:
        return it_post_send(qp->send_ep, request->segments, request->count, wr->wr_id,
                            solicited(request->flags, wr));
    case IBV_WR_SEND_WITH_IMM:
        return itx_post_send_imm(qp->send_ep, request->segments, request->count, wr->wr_id,
                                 solicited(request->flags, wr), ntohl(wr->imm_data));
    case IBV_WR_SEND_WITH_INV:
        return it_post_send_and_unlink(qp->send_ep, request->segments, request->count, wr->wr_id,
                                       solicited(request->flags, wr), wr->invalidate_rkey);
    case IBV_WR_RDMA_WRITE:
        return it_post_rdma_write(qp->send_ep, request->segments, request->count, wr->wr_id,
                                  request->flags, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return post_write_imm(qp, wr, request);
    case IBV_WR_RDMA_READ:
        if ((wr->send_flags & IBV_SEND_INLINE) || qp->base.qp_type == IBV_QPT_UC)
            return IT_ERR_INVALID_DTO_FLAGS;
        return it_post_rdma_read(qp->send_ep, request->segments, request->count, wr->wr_id,
                                 request->flags, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return post_atomic(qp, wr, request);
    case IBV_WR_BIND_MW:
        return post_bind(qp, wr, request);
    case IBV_WR_LOCAL_INV:
        return itx_post_invalidate(qp->ep, wr->invalidate_rkey, wr->wr_id, request->flags);
    default:
        ofa_log("requests with the opcode %d are not supported", (int)wr->opcode);
        return IT_ERR_OP_NOT_SUPPORTED;
    }
}

/* Returns true for the requests that IT-API completes with one event type: support/ofa_kinds.h. */
static bool is_of_memory(const struct ibv_send_wr *wr)
{
    return wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV;
}

static int post_gathered(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                         const struct request *request)
{
    it_status_t status;

    if (is_of_memory(wr) && request->flags & IT_COMPLETION_FLAG &&
        !ofa_kinds_push(&qp->kinds, wr->wr_id, wr->opcode == IBV_WR_LOCAL_INV))
        return ENOMEM;
    status = post(qp, wr, request);
    if (status != IT_SUCCESS && is_of_memory(wr) && request->flags & IT_COMPLETION_FLAG)
        ofa_kinds_unpush(&qp->kinds);
    if (status != IT_SUCCESS)
        return status == IT_ERR_OP_NOT_SUPPORTED ? EINVAL : ofa_errno(status);
    return 0;
}

int ofa_request_held_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    struct request request;
    int error = gather(qp, wr, &request);

    if (error == 0)
        error = post_gathered(qp, wr, &request);
    if (error != 0)
        return error;
    if (request.count == 1 && request.segments[0].lmr == qp->inline_lmr && qp->inline_lmr)
        ofa_inline_advance_locked(qp);
    return 0;
}

int ofa_request_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    int error = ofa_request_held_locked(qp, wr);

    if (error == 0)
        ofa_window_told(wr);
    return error;
}

int ofa_request_segment_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr,
                               const it_lmr_triplet_t *segment)
{
    struct request request;

    request.segments[0] = *segment;
    request.count = 1;
    request.length = segment->length;
    request.flags = flags_of(qp, wr);
    return post_gathered(qp, wr, &request);
}
