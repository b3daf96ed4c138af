/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posting by ibv_wr_*: between ibv_wr_start and ibv_wr_complete the functions fill work requests,
 * which ibv_wr_complete posts together. The batch keeps its memory, so a program that posts batches
 * of the same size causes no heap calls.
 */
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"
#include "qp/ofa_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ofa_slot {
    struct ibv_send_wr wr;
    int (*post)(struct ofa_qp *qp, const struct ofa_slot *slot);
    it_lmr_triplet_t segment; /* the only segment, converted; length 0: see wr.sg_list */
    struct ofa_slot *after;
    unsigned char *inline_data; /* of cap.max_inline_data octets; NULL: not needed so far */
    struct ibv_sge sge[OFA_MAX_SGE];
};

static struct ofa_qp *qp_of(struct ibv_qp_ex *qp)
{
    return (struct ofa_qp *)(void *)qp;
}

/* Notes the first error; then nothing is posted. */
static void note(struct ofa_qp *qp, int error)
{
    if (qp->batch.error == 0)
        qp->batch.error = error;
}

/* ---- Posting -------------------------------------------------------------------------------- */

/* The slow path. Returns 0, a status of IT-API, or -errno. */
static __attribute__((noinline)) int post_long(struct ofa_qp *qp, const struct ofa_slot *slot)
{
    return -(slot->segment.length > 0 ? ofa_request_segment_locked(qp, &slot->wr, &slot->segment)
                                      : ofa_post_locked(qp, &slot->wr));
}

/* Returns true for the fast path, as in post/ofa_post.c: one segment, and the usual flags. */
static inline bool is_usual(const struct ofa_slot *slot, uint32_t flags, uint32_t unusual)
{
    return slot->segment.length > 0 && (flags & unusual) == 0;
}

static inline uint32_t flags_of(const struct ofa_qp *qp, const struct ofa_slot *slot)
{
    return slot->wr.send_flags | qp->every_flags;
}

static int post_send(struct ofa_qp *qp, const struct ofa_slot *slot)
{
    uint32_t flags = flags_of(qp, slot);

    if (!is_usual(slot, flags, OFA_UNUSUAL_SEND))
        return post_long(qp, slot);
    return (int)it_post_send(qp->send_ep, &slot->segment, 1, slot->wr.wr_id, ofa_dto_flags(flags));
}

static int post_write(struct ofa_qp *qp, const struct ofa_slot *slot)
{
    uint32_t flags = flags_of(qp, slot);

    if (!is_usual(slot, flags, OFA_UNUSUAL_WRITE))
        return post_long(qp, slot);
    return (int)it_post_rdma_write(qp->send_ep, &slot->segment, 1, slot->wr.wr_id,
                                   ofa_dto_flags(flags & IBV_SEND_SIGNALED),
                                   slot->wr.wr.rdma.remote_addr, slot->wr.wr.rdma.rkey);
}

static int post_read(struct ofa_qp *qp, const struct ofa_slot *slot)
{
    uint32_t flags = flags_of(qp, slot);

    if (!is_usual(slot, flags, OFA_UNUSUAL_READ))
        return post_long(qp, slot);
    return (int)it_post_rdma_read(qp->send_ep, &slot->segment, 1, slot->wr.wr_id,
                                  ofa_dto_flags(flags & IBV_SEND_SIGNALED),
                                  slot->wr.wr.rdma.remote_addr, slot->wr.wr.rdma.rkey);
}

/* ---- Slots ---------------------------------------------------------------------------------- */

static struct ofa_slot *make(void)
{
    struct ofa_slot *slot = calloc(1, sizeof(*slot));

    if (slot)
        slot->wr.sg_list = slot->sge;
    return slot;
}

/* Adds a slot to the batch. Returns false if memory runs out. */
static bool grow(struct ibv_qp_ex *ex)
{
    struct ofa_qp *qp = qp_of(ex);

    qp->batch.last->after = make();
    if (!qp->batch.last->after)
        note(qp, ENOMEM);
    return qp->batch.last->after != NULL;
}

/* Takes the next slot; NULL: the batch has none left. */
static inline struct ofa_slot *take(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode,
                                    int (*post)(struct ofa_qp *qp, const struct ofa_slot *slot))
{
    struct ofa_qp *qp = qp_of(ex);
    struct ofa_slot *slot = qp->batch.last->after;

    if (!slot)
        return NULL;
    qp->batch.last = slot;
    slot->post = post;
    slot->segment.length = 0;
    slot->wr.wr_id = ex->wr_id;
    slot->wr.num_sge = 0;
    slot->wr.opcode = opcode;
    slot->wr.send_flags = ex->wr_flags;
    return slot;
}

/* Adds a work request; NULL: no memory. */
static struct ibv_send_wr *add(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    struct ofa_slot *slot = take(ex, opcode, post_long);

    if (!slot && grow(ex))
        slot = take(ex, opcode, post_long);
    return slot ? &slot->wr : NULL;
}

/* Returns the current slot; before the first request, one that is never posted. */
static struct ofa_slot *last(const struct ofa_qp *qp)
{
    return qp->batch.last;
}

/* ---- Requests ------------------------------------------------------------------------------- */

static __attribute__((noinline)) void grow_send(struct ibv_qp_ex *ex)
{
    if (grow(ex))
        (void)take(ex, IBV_WR_SEND, post_send);
}

static void wr_send(struct ibv_qp_ex *ex)
{
    if (!take(ex, IBV_WR_SEND, post_send))
        grow_send(ex);
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
    struct ofa_slot *slot = last(qp_of(ex));

    slot->wr.wr.ud.ah = ah;
    slot->wr.wr.ud.remote_qpn = remote_qpn;
    slot->wr.wr.ud.remote_qkey = remote_qkey;
}

static __attribute__((noinline)) void grow_rdma(struct ibv_qp_ex *ex,
                                                void (*again)(struct ibv_qp_ex *ex, uint32_t rkey,
                                                              uint64_t remote_addr),
                                                uint32_t rkey, uint64_t remote_addr)
{
    if (grow(ex))
        again(ex, rkey, remote_addr);
}

static inline void set_remote(struct ibv_send_wr *wr, uint32_t rkey, uint64_t remote_addr)
{
    wr->wr.rdma.remote_addr = remote_addr;
    wr->wr.rdma.rkey = rkey;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    struct ofa_slot *slot = take(ex, IBV_WR_RDMA_READ, post_read);

    if (slot)
        set_remote(&slot->wr, rkey, remote_addr);
    else
        grow_rdma(ex, wr_rdma_read, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    struct ofa_slot *slot = take(ex, IBV_WR_RDMA_WRITE, post_write);

    if (slot)
        set_remote(&slot->wr, rkey, remote_addr);
    else
        grow_rdma(ex, wr_rdma_write, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              __be32 imm_data)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_RDMA_WRITE_WITH_IMM);

    if (!wr)
        return;
    set_remote(wr, rkey, remote_addr);
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
    struct ofa_slot *slot = last(qp);

    if (count > qp->cap.max_send_sge) {
        note(qp, EINVAL);
        return;
    }
    slot->segment.length = 0;
    slot->wr.num_sge = (int)count;
    if (count > 0)
        memcpy(slot->sge, list, count * sizeof(*list));
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
    struct ofa_qp *qp = qp_of(ex);
    struct ofa_slot *slot = last(qp);
    const struct ofa_key *key = ofa_key_find(qp->context, lkey);

    if (key && (int32_t)length > 0 && !qp->holding) {
        ofa_segment_of(key, &sge, &slot->segment);
        return;
    }
    slot->segment.length = 0;
    slot->wr.num_sge = 1;
    slot->sge[0] = sge;
}

/* Returns the slot's own room for inline data. NULL: no memory, or too long. */
static __attribute__((noinline)) unsigned char *inline_room(struct ofa_qp *qp, size_t length)
{
    struct ofa_slot *slot = last(qp);

    if (length > qp->cap.max_inline_data) {
        note(qp, EINVAL);
        return NULL;
    }
    if (!slot->inline_data)
        slot->inline_data = malloc(qp->cap.max_inline_data);
    if (!slot->inline_data)
        note(qp, ENOMEM);
    slot->segment.length = 0;
    slot->wr.send_flags |= IBV_SEND_INLINE;
    slot->wr.num_sge = 1;
    slot->sge[0] =
        (struct ibv_sge){.addr = (uintptr_t)slot->inline_data, .length = (uint32_t)length};
    return slot->inline_data;
}

static __attribute__((noinline)) void copy_inline(struct ofa_qp *qp, const void *data,
                                                  size_t length)
{
    unsigned char *room = inline_room(qp, length);

    if (room && length > 0)
        memcpy(room, data, length);
}

/*
 * Sets inline data. Only the next place in the queue pair's memory is free, so the data of the
 * first request is copied there now, and that of further requests when they are posted.
 */
static void wr_set_inline_data(struct ibv_qp_ex *ex, void *data, size_t length)
{
    struct ofa_qp *qp = qp_of(ex);
    struct ofa_slot *slot = last(qp);

    unsigned char *place = qp->inline_place;

    if (length - 1 >= qp->cap.max_inline_data || !place || qp->holding ||
        slot != qp->batch.start->after || slot->segment.length > 0) {
        copy_inline(qp, data, length);
        return;
    }
    ofa_inline_advance_locked(qp);
    ofa_inline_segment(qp, place, length, &slot->segment);
    qp->batch.placed = 1;
    memcpy(place, data, length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
                                    const struct ibv_data_buf *list)
{
    struct ofa_qp *qp = qp_of(ex);
    size_t length = 0;
    unsigned char *room;

    for (size_t i = 0; i < count; i++) {
        if (list[i].length > qp->cap.max_inline_data - length) {
            note(qp, EINVAL);
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

static inline void begin_locked(struct ofa_qp *qp)
{
    qp->batch.last = qp->batch.start;
    qp->batch.error = 0;
    qp->batch.placed = 0;
}

static __attribute__((noinline)) void wait_and_begin(struct ofa_qp *qp)
{
    ofa_spin_wait(&qp->post_lock);
    begin_locked(qp);
}

static void wr_start(struct ibv_qp_ex *ex)
{
    struct ofa_qp *qp = qp_of(ex);

    if (__builtin_expect(ofa_spin_try(&qp->post_lock), 1))
        begin_locked(qp);
    else
        wait_and_begin(qp);
}

static inline int end_locked(struct ofa_qp *qp, int error)
{
    ofa_spin_drop(&qp->post_lock);
    return error;
}

/* Ends a batch of which no request was posted. */
static __attribute__((noinline)) int undo_locked(struct ofa_qp *qp, int error)
{
    if (qp->batch.placed)
        ofa_inline_retreat_locked(qp);
    return end_locked(qp, error);
}

/* Ends a batch after a failure; result: of the request in `slot`. */
static __attribute__((noinline)) int fail_locked(struct ofa_qp *qp, const struct ofa_slot *slot,
                                                 int result)
{
    int error = result < 0 ? -result : ofa_errno((it_status_t)result);

    return slot == qp->batch.start->after ? undo_locked(qp, error) : end_locked(qp, error);
}

/* Returns true if the send queue has room for the whole batch. */
static bool has_room_locked(struct ofa_qp *qp)
{
    const struct ofa_slot *slot = qp->batch.start;
    uint32_t count = 0;

    for (; slot != qp->batch.last; slot = slot->after)
        count++;
    return count <= ofa_room_locked(qp);
}

/* Posts all requests, or none if there is no room for all. */
static __attribute__((noinline)) int complete_many_locked(struct ofa_qp *qp)
{
    const struct ofa_slot *slot = qp->batch.start;

    if (!has_room_locked(qp))
        return undo_locked(qp, ENOMEM);
    while (slot != qp->batch.last) {
        int result;

        slot = slot->after;
        result = slot->post(qp, slot);
        if (result != 0)
            return fail_locked(qp, slot, result);
    }
    return end_locked(qp, 0);
}

/*
 * Posts all requests, or none if an error is known before. Returns the first error of posting, too:
 * the requests before it were posted.
 */
static int wr_complete(struct ibv_qp_ex *ex)
{
    struct ofa_qp *qp = qp_of(ex);
    const struct ofa_slot *slot = qp->batch.start->after;
    int result;

    if (__builtin_expect(qp->batch.error != 0, 0))
        return undo_locked(qp, qp->batch.error);
    if (__builtin_expect(slot != qp->batch.last, 0))
        return complete_many_locked(qp);
    result = slot->post(qp, slot);
    return __builtin_expect(result == 0, 1) ? end_locked(qp, 0) : fail_locked(qp, slot, result);
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    (void)undo_locked(qp_of(ex), 0);
}

/* ---- Life ----------------------------------------------------------------------------------- */

void ofa_wr_init(struct ofa_qp *qp, uint64_t operations)
{
    struct ibv_qp_ex *ex = &qp->ex;

    qp->batch.start = make();
    if (!qp->batch.start)
        return;
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
    while (qp->batch.start) {
        struct ofa_slot *slot = qp->batch.start;

        qp->batch.start = slot->after;
        free(slot->inline_data);
        free(slot);
    }
}
