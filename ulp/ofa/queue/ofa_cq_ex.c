/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended polling: one completion at a time, with functions that return its members. A thread that
 * has started a poll has the CQ to itself until it ends the poll.
 */
#include "queue/ofa_queue.h"

#include <errno.h>

static const struct ibv_wc *current_of(struct ibv_cq_ex *cq)
{
    return &((const struct ofa_cq *)(const void *)cq)->current;
}

static int next_poll(struct ibv_cq_ex *base)
{
    struct ofa_cq *cq = (struct ofa_cq *)(void *)base;

    if (ofa_cq_take(cq, 1, &cq->current) == 0)
        return ENOENT;
    base->status = cq->current.status;
    base->wr_id = cq->current.wr_id;
    return 0;
}

static int start_poll(struct ibv_cq_ex *base, struct ibv_poll_cq_attr *attr)
{
    struct ofa_cq *cq = (struct ofa_cq *)(void *)base;
    int error;

    if (attr->comp_mask != 0)
        return EINVAL;
    ofa_spin_take(&cq->poll_lock);
    error = next_poll(base);
    if (error != 0)
        ofa_spin_drop(&cq->poll_lock);
    return error;
}

static void end_poll(struct ibv_cq_ex *base)
{
    ofa_spin_drop(&((struct ofa_cq *)(void *)base)->poll_lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
    return current_of(cq)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
    return current_of(cq)->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
    return current_of(cq)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
    return current_of(cq)->imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
    return current_of(cq)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
    return current_of(cq)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
    return current_of(cq)->wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
    return current_of(cq)->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
    return current_of(cq)->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
    return current_of(cq)->dlid_path_bits;
}

void ofa_cq_ex_init(struct ofa_cq *cq, uint64_t wc_flags)
{
    struct ibv_cq_ex *ex = &cq->ex;

    ex->start_poll = start_poll;
    ex->next_poll = next_poll;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_wc_flags = read_wc_flags;
    if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
        ex->read_byte_len = read_byte_len;
    if (wc_flags & IBV_WC_EX_WITH_IMM)
        ex->read_imm_data = read_imm_data;
    if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
        ex->read_qp_num = read_qp_num;
    if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
        ex->read_src_qp = read_src_qp;
    if (wc_flags & IBV_WC_EX_WITH_SLID)
        ex->read_slid = read_slid;
    if (wc_flags & IBV_WC_EX_WITH_SL)
        ex->read_sl = read_sl;
    if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
        ex->read_dlid_path_bits = read_dlid_path_bits;
}
