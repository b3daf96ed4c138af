/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posting by ibv_wr_*: between ibv_wr_start and ibv_wr_complete the functions fill work requests,
 * which are then posted in one go. The batch keeps its memory, so a program that posts the same
 * again and again asks the heap for nothing.
 */
#include "post/ofa_post.h"
#include "qp/ofa_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    struct ibv_send_wr wr;
    struct slot *after;
    struct ibv_sge sge[OFA_MAX_SGE];
    unsigned char *inline_data; /* of cap.max_inline_data octets; NULL: not needed so far */
};

struct ofa_batch {
    struct slot *first; /* of those that were needed at once so far */
    struct slot *last;  /* of this batch; NULL: it is empty, or there was an error */
    int error;          /* the first; then nothing is posted */
};

static struct ofa_qp *qp_of(struct ibv_qp_ex *qp)
{
    return (struct ofa_qp *)(void *)qp;
}

/* What comes behind an error is filled in and not posted. */
static void fail(struct ofa_qp *qp, int error)
{
    if (qp->batch->error == 0)
        qp->batch->error = error;
    qp->batch->last = NULL;
}

/* ---- Slots ---------------------------------------------------------------------------------- */

/* One more than before; NULL: there is no memory. */
static __attribute__((noinline)) struct slot *make(struct ofa_qp *qp)
{
    struct ofa_batch *batch = qp->batch;
    struct slot *slot = calloc(1, sizeof(*slot));

    if (!slot) {
        fail(qp, ENOMEM);
        return NULL;
    }
    slot->wr.sg_list = slot->sge;
    *(batch->last ? &batch->last->after : &batch->first) = slot;
    return slot;
}

/* The next work request; NULL: there is no room. */
static inline struct ibv_send_wr *add(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    struct ofa_qp *qp = qp_of(ex);
    struct ofa_batch *batch = qp->batch;
    struct slot *slot = batch->last ? batch->last->after : batch->first;

    if (!slot)
        slot = make(qp);
    if (!slot)
        return NULL;
    batch->last = slot;
    slot->wr.wr_id = ex->wr_id;
    slot->wr.num_sge = 0;
    slot->wr.opcode = opcode;
    slot->wr.send_flags = ex->wr_flags;
    return &slot->wr;
}

static struct slot *last(const struct ofa_qp *qp)
{
    return qp->batch->last;
}

/* ---- Requests ------------------------------------------------------------------------------- */

static void wr_send(struct ibv_qp_ex *qp)
{
    (void)add(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_IMM);

    if (wr)
        wr->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_INV);

    if (wr)
        wr->invalidate_rkey = rkey;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
                           uint32_t remote_qkey)
{
    struct slot *slot = last(qp_of(ex));

    if (!slot)
        return;
    slot->wr.wr.ud.ah = ah;
    slot->wr.wr.ud.remote_qpn = remote_qpn;
    slot->wr.wr.ud.remote_qkey = remote_qkey;
}

static struct ibv_send_wr *add_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
                                    uint64_t remote_addr)
{
    struct ibv_send_wr *wr = add(qp, opcode);

    if (wr) {
        wr->wr.rdma.remote_addr = remote_addr;
        wr->wr.rdma.rkey = rkey;
    }
    return wr;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    (void)add_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    (void)add_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              __be32 imm_data)
{
    struct ibv_send_wr *wr = add_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

    if (wr)
        wr->imm_data = imm_data;
}

static void add_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
                       uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
    struct ibv_send_wr *wr = add(qp, opcode);

    if (!wr)
        return;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.compare_add = compare_add;
    wr->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              uint64_t compare, uint64_t swap)
{
    add_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                uint64_t addend)
{
    add_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, addend, 0);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *info)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_BIND_MW);

    if (!wr)
        return;
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = rkey;
    wr->bind_mw.bind_info = *info;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_LOCAL_INV);

    if (wr)
        wr->invalidate_rkey = rkey;
}

/* ---- Data ----------------------------------------------------------------------------------- */

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *list)
{
    struct ofa_qp *qp = qp_of(ex);
    struct slot *slot = last(qp);

    if (!slot)
        return;
    if (count > qp->cap.max_send_sge) {
        fail(qp, EINVAL);
        return;
    }
    slot->wr.num_sge = (int)count;
    if (count > 0)
        memcpy(slot->sge, list, count * sizeof(*list));
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
    struct slot *slot = last(qp_of(ex));

    if (!slot)
        return;
    slot->wr.num_sge = 1;
    slot->sge[0] = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
}

/* The room for inline data of the last request; NULL: none, or it is too long. */
static unsigned char *inline_room(struct ofa_qp *qp, size_t length)
{
    struct slot *slot = last(qp);

    if (!slot)
        return NULL;
    if (length > qp->cap.max_inline_data) {
        fail(qp, EINVAL);
        return NULL;
    }
    if (!slot->inline_data)
        slot->inline_data = malloc(qp->cap.max_inline_data ? qp->cap.max_inline_data : 1);
    if (!slot->inline_data) {
        fail(qp, ENOMEM);
        return NULL;
    }
    slot->wr.send_flags |= IBV_SEND_INLINE;
    slot->wr.num_sge = 1;
    slot->sge[0] =
        (struct ibv_sge){.addr = (uintptr_t)slot->inline_data, .length = (uint32_t)length};
    return slot->inline_data;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
    unsigned char *room = inline_room(qp_of(ex), length);

    if (room && length > 0)
        memcpy(room, addr, length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
                                    const struct ibv_data_buf *list)
{
    struct ofa_qp *qp = qp_of(ex);
    size_t length = 0;
    unsigned char *room;

    for (size_t i = 0; i < count; i++) {
        if (list[i].length > qp->cap.max_inline_data - length) {
            fail(qp, EINVAL);
            return;
        }
        length += list[i].length;
    }
    room = inline_room(qp, length);
    for (size_t i = 0; i < count && room; i++) {
        memcpy(room, list[i].addr, list[i].length);
        room += list[i].length;
    }
}

/* ---- From start to end ---------------------------------------------------------------------- */

static void wr_start(struct ibv_qp_ex *ex)
{
    struct ofa_qp *qp = qp_of(ex);

    ofa_spin_take(&qp->post_lock);
    qp->batch->last = NULL;
    qp->batch->error = 0;
}

/*
 * All or nothing, as far as it can be told beforehand; what the queue has no room for is told, too.
 */
static int wr_complete(struct ibv_qp_ex *ex)
{
    struct ofa_qp *qp = qp_of(ex);
    struct ofa_batch *batch = qp->batch;
    const struct slot *slot = batch->first;
    int error = batch->error;

    if (error == 0 && batch->last) {
        while ((error = ofa_post_locked(qp, &slot->wr)) == 0 && slot != batch->last)
            slot = slot->after;
    }
    ofa_spin_drop(&qp->post_lock);
    return error;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    ofa_spin_drop(&qp_of(ex)->post_lock);
}

/* ---- Life ----------------------------------------------------------------------------------- */

void ofa_wr_init(struct ofa_qp *qp, uint64_t operations)
{
    struct ibv_qp_ex *ex = &qp->ex;

    qp->batch = calloc(1, sizeof(*qp->batch));
    if (!qp->batch)
        return;
    qp->has_ex = true;
    ex->comp_mask = 0;
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    if (qp->datagrams)
        ex->wr_set_ud_addr = wr_set_ud_addr;
    if (operations & IBV_QP_EX_WITH_SEND)
        ex->wr_send = wr_send;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM)
        ex->wr_send_imm = wr_send_imm;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_INV)
        ex->wr_send_inv = wr_send_inv;
    if (operations & IBV_QP_EX_WITH_RDMA_READ)
        ex->wr_rdma_read = wr_rdma_read;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE)
        ex->wr_rdma_write = wr_rdma_write;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
        ex->wr_rdma_write_imm = wr_rdma_write_imm;
    if (operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
        ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    if (operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
        ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    if (operations & IBV_QP_EX_WITH_BIND_MW)
        ex->wr_bind_mw = wr_bind_mw;
    if (operations & IBV_QP_EX_WITH_LOCAL_INV)
        ex->wr_local_inv = wr_local_inv;
}

void ofa_wr_close(struct ofa_qp *qp)
{
    struct ofa_batch *batch = qp->batch;

    if (!batch)
        return;
    while (batch->first) {
        struct slot *slot = batch->first;

        batch->first = slot->after;
        free(slot->inline_data);
        free(slot);
    }
    free(batch);
}
