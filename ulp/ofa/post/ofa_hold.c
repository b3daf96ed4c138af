/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Held requests: posted before there is a connection. ibv_modify_qp does not wait for the peer, so
 * a queue pair in RTS may not be connected yet.
 */
#include "post/ofa_post.h"

#include "datagram/ofa_datagram.h"
#include "queue/ofa_park.h"
#include "queue/ofa_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum ibv_wc_opcode opcode_of(enum ibv_wr_opcode opcode)
{
    switch ((int)opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
        return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_WC_FETCH_ADD;
    case IBV_WR_BIND_MW:
        return IBV_WC_BIND_MW;
    default:
        return IBV_WC_SEND;
    }
}

/*
 * Fails a request that was not posted to the EP. After the first of them the queue pair is in ERR.
 */
static void fail(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    enum ibv_wc_status status = qp->refuses;
    struct ofa_completion completion = {.qp = qp,
                                        .wc = {.wr_id = wr->wr_id,
                                               .status = status,
                                               .opcode = opcode_of(wr->opcode),
                                               .vendor_err = (uint32_t)status,
                                               .qp_num = qp->base.qp_num}};

    ofa_cq_fail(qp->send_cq, &completion);
    ofa_park_end(qp);
    qp->refuses = IBV_WC_WR_FLUSH_ERR;
}

static size_t inline_length(const struct ibv_send_wr *wr)
{
    size_t length = 0;

    if (wr->send_flags & IBV_SEND_INLINE)
        for (int i = 0; i < wr->num_sge; i++)
            length += wr->sg_list[i].length;
    return length;
}

/* Copies a request: its list and inline data belong to the caller when the call returns. */
static struct ofa_held *copy_of(const struct ibv_send_wr *wr, size_t length)
{
    size_t segments = (size_t)wr->num_sge * sizeof(struct ibv_sge);
    struct ofa_held *held = malloc(sizeof(*held) + segments + length);
    unsigned char *data;

    if (!held)
        return NULL;
    held->next = NULL;
    held->wr = *wr;
    held->wr.next = NULL;
    held->wr.sg_list = held->sge;
    if (segments > 0)
        memcpy(held->sge, wr->sg_list, segments);
    data = (unsigned char *)held->sge + segments;
    for (int i = 0; i < wr->num_sge && length > 0; i++) {
        memcpy(data, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        held->sge[i].addr = (uintptr_t)data;
        data += wr->sg_list[i].length;
    }
    return held;
}

/* ---- Connections after a fork ---------------------------------------------------------------- */

bool ofa_hold_suspend(struct ofa_qp *qp)
{
    bool suspended;

    ofa_spin_take(&qp->post_lock);
    suspended = qp->connected && !qp->suspended;
    qp->holding = true;
    qp->suspended |= suspended;
    ofa_spin_drop(&qp->post_lock);
    return suspended;
}

/* Claims the connection. If the other process has it, the EP reports its end. */
static void claim_locked(struct ofa_qp *qp)
{
    if (!qp->suspended)
        return;
    qp->suspended = false;
    (void)itx_ep_claim(qp->ep);
    if (qp->send_ep != qp->ep)
        (void)itx_ep_claim(qp->send_ep);
}

bool ofa_hold_is_suspended(struct ofa_qp *qp)
{
    bool suspended;

    ofa_spin_take(&qp->post_lock);
    suspended = qp->suspended;
    ofa_spin_drop(&qp->post_lock);
    return suspended;
}

void ofa_hold_claim(struct ofa_qp *qp)
{
    ofa_spin_take(&qp->post_lock);
    claim_locked(qp);
    ofa_spin_drop(&qp->post_lock);
}

/* ---- Holding -------------------------------------------------------------------------------- */

int ofa_hold_locked(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    int state = atomic_load_explicit(&qp->state, memory_order_relaxed);
    struct ofa_held *held;
    int error;

    if (state < qp->sends_from)
        return EINVAL;
    if (qp->connected && state != IBV_QPS_SQD) {
        claim_locked(qp);
        qp->holding = false;
        return ofa_request_locked(qp, wr);
    }
    if (qp->datagrams)
        return ofa_datagram_send(qp, wr);
    error = ofa_request_check(qp, wr);
    if (error != 0)
        return error;
    if (qp->refuses != IBV_WC_SUCCESS) {
        fail(qp, wr);
        return 0;
    }
    if (qp->held_count == qp->cap.max_send_wr)
        return ENOMEM;
    held = copy_of(wr, inline_length(wr));
    if (!held)
        return ENOMEM;
    ofa_window_told(wr);
    if (qp->held_last)
        qp->held_last->next = held;
    else
        qp->held_first = held;
    qp->held_last = held;
    qp->held_count++;
    if (qp->held_count == 1 && !qp->connected && qp->patience_ns != 0)
        ofa_timer_set(&qp->patience, ofa_clock_ns() + qp->patience_ns);
    return 0;
}

static struct ofa_held *take_locked(struct ofa_qp *qp)
{
    struct ofa_held *held = qp->held_first;

    if (!held)
        return NULL;
    qp->held_first = held->next;
    if (!held->next)
        qp->held_last = NULL;
    qp->held_count--;
    return held;
}

/* Returns the status of a request that was checked, but cannot be posted. */
static enum ibv_wc_status status_of(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_LOCAL_INV ? IBV_WC_MW_BIND_ERR
                                                                  : IBV_WC_LOC_QP_OP_ERR;
}

/*
 * Posts the first held requests. They were checked; one that fails nevertheless fails the others.
 */
static void post_held_locked(struct ofa_qp *qp, uint32_t count)
{
    qp->held_due = 0;
    for (; count > 0; count--) {
        struct ofa_held *held = take_locked(qp);

        if (qp->refuses == IBV_WC_SUCCESS && ofa_request_held_locked(qp, &held->wr) != 0)
            qp->refuses = status_of(held->wr.opcode);
        if (qp->refuses != IBV_WC_SUCCESS)
            fail(qp, &held->wr);
        free(held);
    }
}

void ofa_hold_release(struct ofa_qp *qp)
{
    int state = atomic_load_explicit(&qp->state, memory_order_relaxed);

    ofa_spin_take(&qp->post_lock);
    qp->connected = true;
    qp->holding = state < qp->sends_from || state == IBV_QPS_SQD;
    post_held_locked(qp, state == IBV_QPS_SQD ? qp->held_due : qp->held_count);
    ofa_spin_drop(&qp->post_lock);
    ofa_timer_unset(&qp->patience);
}

void ofa_hold_pause(struct ofa_qp *qp)
{
    ofa_spin_take(&qp->post_lock);
    if (!qp->holding || !qp->connected)
        qp->held_due = qp->held_count;
    qp->holding = true;
    ofa_spin_drop(&qp->post_lock);
}

bool ofa_hold_waits(struct ofa_qp *qp)
{
    bool waits;

    ofa_spin_take(&qp->post_lock);
    waits = qp->held_count > 0 && !qp->connected;
    ofa_spin_drop(&qp->post_lock);
    return waits;
}

bool ofa_hold_is_due(struct ofa_qp *qp)
{
    bool due;

    ofa_spin_take(&qp->post_lock);
    due = qp->held_due > 0;
    ofa_spin_drop(&qp->post_lock);
    return due;
}

void ofa_hold_resume(struct ofa_qp *qp)
{
    ofa_spin_take(&qp->post_lock);
    if (qp->connected) {
        claim_locked(qp);
        post_held_locked(qp, qp->held_count);
        qp->holding = false;
    }
    ofa_spin_drop(&qp->post_lock);
}

void ofa_hold_flush(struct ofa_qp *qp, enum ibv_wc_status status)
{
    struct ofa_held *held;

    ofa_spin_take(&qp->post_lock);
    qp->refuses = status;
    qp->held_due = 0;
    while ((held = take_locked(qp)) != NULL) {
        fail(qp, &held->wr);
        free(held);
    }
    ofa_spin_drop(&qp->post_lock);
}

void ofa_hold_drop(struct ofa_qp *qp)
{
    struct ofa_held *held;

    ofa_spin_take(&qp->post_lock);
    while ((held = take_locked(qp)) != NULL)
        free(held);
    qp->holding = true;
    qp->held_due = 0;
    qp->connected = qp->suspended = false;
    qp->patience_ns = 0;
    qp->inline_place = qp->inline_room;
    qp->refuses = IBV_WC_SUCCESS;
    ofa_spin_drop(&qp->post_lock);
    ofa_timer_unset(&qp->patience);
}
