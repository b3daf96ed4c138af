/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of UD queue pairs. */
#include "datagram/ofa_ah.h"
#include "datagram/ofa_datagram.h"
#include "memory/ofa_range.h"
#include "queue/ofa_queue.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <string.h>

#define QKEY_OF_QP 0x80000000u /* a Q_Key with this bit in a request means the queue pair's Q_Key */
#define WAITS      ((enum ibv_wc_status) - 1)

/* ---- Completing ----------------------------------------------------------------------------- */

static void complete(struct ofa_qp *qp, const struct ofa_datagram_send *send,
                     enum ibv_wc_status status)
{
    struct ofa_completion completion = {.qp = qp,
                                        .wc = {.wr_id = send->wr_id,
                                               .status = status,
                                               .opcode = IBV_WC_SEND,
                                               .vendor_err = (uint32_t)status,
                                               .qp_num = qp->base.qp_num}};

    if (send->signaled || status != IBV_WC_SUCCESS)
        ofa_cq_complete(qp->send_cq, &completion, false);
}

static void complete_first_locked(struct ofa_qp *qp, enum ibv_wc_status status)
{
    struct ofa_datagrams *datagrams = qp->datagrams;

    complete(qp, ofa_ring_first(&datagrams->sends), status);
    ofa_ring_drop_first(&datagrams->sends);
    datagrams->socket->waiting_sends--;
}

void ofa_datagram_flush_sends_locked(struct ofa_qp *qp)
{
    while (qp->datagrams->sends.count > 0)
        complete_first_locked(qp, IBV_WC_WR_FLUSH_ERR);
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* Gathers the pieces of the payload. */
static enum ibv_wc_status gather(struct ofa_qp *qp, struct ofa_datagram_send *send,
                                 struct iovec *pieces, size_t *count)
{
    if (send->length > OFA_WIRE_PAYLOAD)
        return IBV_WC_LOC_LEN_ERR;
    if (send->is_inline) {
        pieces[(*count)++] = (struct iovec){.iov_base = send->sge, .iov_len = send->length};
        return IBV_WC_SUCCESS;
    }
    for (uint32_t i = 0; i < send->count; i++)
        if (send->sge[i].length > 0 &&
            !ofa_range_find(qp->context, qp->pd, &send->sge[i], false, &pieces[(*count)++]))
            return IBV_WC_LOC_PROT_ERR;
    return IBV_WC_SUCCESS;
}

/* Returns the status of a send. A datagram without a route is lost, and completes with success. */
static enum ibv_wc_status status_of(int error)
{
    switch (error) {
    case EAGAIN:
        return WAITS;
    case EFAULT:
        return IBV_WC_LOC_PROT_ERR;
    case 0:
        return IBV_WC_SUCCESS;
    default:
        ofa_log("a datagram is lost: %s", strerror(error));
        return IBV_WC_SUCCESS;
    }
}

static enum ibv_wc_status transmit_locked(struct ofa_qp *qp, struct ofa_datagram_send *send)
{
    struct ofa_socket *socket = qp->datagrams->socket;
    unsigned char header[OFA_WIRE_HEADER];
    struct iovec pieces[1 + OFA_MAX_SGE] = {{.iov_base = header, .iov_len = sizeof(header)}};
    size_t count = 1;
    struct ofa_flow *flow = ofa_flow_find(socket->flows, &send->path.peer, send->path.peer_port);
    enum ibv_wc_status status = gather(qp, send, pieces, &count);
    int error;

    if (status != IBV_WC_SUCCESS)
        return status;
    if (!ofa_flow_admits(flow))
        return WAITS;
    send->wire.sequence = ofa_flow_next(flow, &send->wire.wants_ack);
    ofa_wire_encode(&send->wire, header);
    error = ofa_socket_send(socket, &send->path, pieces, count);
    if (error == 0)
        ofa_flow_sent(flow);
    return status_of(error);
}

/* After a failure the other requests are flushed; receives are not. */
void ofa_datagram_push_locked(struct ofa_qp *qp)
{
    struct ofa_datagrams *datagrams = qp->datagrams;
    struct ofa_datagram_send *send;

    while ((send = ofa_ring_first(&datagrams->sends)) != NULL) {
        enum ibv_wc_status status = transmit_locked(qp, send);

        if (status == WAITS) {
            ofa_timer_set(&datagrams->socket->timer, ofa_clock_ns() + OFA_SOCKET_PERIOD_NS);
            return;
        }
        if (status != IBV_WC_SUCCESS)
            atomic_store_explicit(&qp->state, IBV_QPS_SQE, memory_order_relaxed);
        complete_first_locked(qp, status);
        if (status != IBV_WC_SUCCESS)
            ofa_datagram_flush_sends_locked(qp);
    }
}

/* ---- Posting -------------------------------------------------------------------------------- */

static size_t length_of(const struct ibv_send_wr *wr)
{
    size_t length = 0;

    for (int i = 0; i < wr->num_sge; i++)
        length += wr->sg_list[i].length;
    return length;
}

/* Returns 0 or errno. */
static int check(const struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
        return EINVAL;
    if (!wr->wr.ud.ah || wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_send_sge)
        return EINVAL;
    if (wr->send_flags & IBV_SEND_INLINE)
        return length_of(wr) > qp->cap.max_inline_data ? EINVAL : 0;
    return 0;
}

static void copy_inline(struct ofa_datagram_send *send, const struct ibv_send_wr *wr)
{
    unsigned char *place = (unsigned char *)send->sge;

    for (int i = 0; i < wr->num_sge; i++) {
        memcpy(place, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        place += wr->sg_list[i].length;
    }
}

static void fill(const struct ofa_qp *qp, struct ofa_datagram_send *send,
                 const struct ibv_send_wr *wr)
{
    const struct ofa_ah *ah = (const struct ofa_ah *)(const void *)wr->wr.ud.ah;
    uint32_t qkey = wr->wr.ud.remote_qkey;

    send->wr_id = wr->wr_id;
    send->signaled = ((qp->every_flags | wr->send_flags) & IBV_SEND_SIGNALED) != 0;
    send->is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
    send->count = (uint32_t)wr->num_sge;
    send->length = length_of(wr);
    send->path = (struct ofa_path){
        .local = ah->from, .peer = ah->to, .peer_port = (uint16_t)(wr->wr.ud.remote_qpn >> 8)};
    send->wire = (struct ofa_wire){.kind = OFA_WIRE_DATA,
                                   .has_immediate = wr->opcode == IBV_WR_SEND_WITH_IMM,
                                   .solicited = (wr->send_flags & IBV_SEND_SOLICITED) != 0,
                                   .traffic_class = ah->attr.grh.traffic_class,
                                   .to_number = wr->wr.ud.remote_qpn & 0xffffff,
                                   .from_number = qp->base.qp_num,
                                   .qkey = qkey & QKEY_OF_QP ? qp->datagrams->qkey : qkey};
    if (send->wire.has_immediate)
        send->wire.immediate = be32toh(wr->imm_data);
    if (send->is_inline)
        copy_inline(send, wr);
    else if (wr->num_sge > 0)
        memcpy(send->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
}

int ofa_datagram_send(struct ofa_qp *qp, const struct ibv_send_wr *wr)
{
    struct ofa_datagram_send *send;
    int error = check(qp, wr);

    if (error != 0)
        return error;
    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    send = ofa_ring_add(&qp->datagrams->sends);
    if (send) {
        fill(qp, send, wr);
        qp->datagrams->socket->waiting_sends++;
        if (atomic_load_explicit(&qp->state, memory_order_relaxed) >= IBV_QPS_SQE)
            ofa_datagram_flush_sends_locked(qp);
        else
            ofa_datagram_push_locked(qp);
    }
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
    return send ? 0 : ENOMEM;
}
