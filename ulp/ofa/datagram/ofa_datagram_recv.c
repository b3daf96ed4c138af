/* SPDX-License-Identifier: BSD-2-Clause */
/* Arriving datagrams, and receives. */
#include "datagram/ofa_datagram.h"
#include "datagram/ofa_shared.h"
#include "memory/ofa_range.h"
#include "queue/ofa_event.h"
#include "queue/ofa_queue.h"

#include <errno.h>
#include <string.h>

/* ---- Completing ----------------------------------------------------------------------------- */

static struct ofa_ring *receives_of(const struct ofa_qp *qp)
{
    return qp->srq ? &qp->srq->shared->receives : &qp->datagrams->receives;
}

static void complete_first_locked(struct ofa_qp *qp, const struct ibv_wc *wc, bool solicited)
{
    const struct ofa_datagram_recv *receive = ofa_ring_first(receives_of(qp));
    struct ofa_completion completion = {.qp = qp, .wc = *wc};

    completion.wc.wr_id = receive->wr_id;
    completion.wc.opcode = IBV_WC_RECV;
    completion.wc.vendor_err = (uint32_t)wc->status;
    completion.wc.qp_num = qp->base.qp_num;
    ofa_ring_drop_first(receives_of(qp));
    if (qp->srq)
        ofa_shared_check_locked(qp->srq);
    ofa_cq_complete(qp->recv_cq, &completion, solicited);
}

/* Flushes the queue pair's receives. Those of an S-RQ stay there for other queue pairs. */
void ofa_datagram_flush_receives_locked(struct ofa_qp *qp)
{
    if (qp->srq && !qp->datagrams->told_last) {
        qp->datagrams->told_last = true;
        ofa_event_raise_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    }
    while (qp->datagrams->receives.count > 0)
        complete_first_locked(qp, &(struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR}, false);
}

/* Fails the first receive, which cannot take a datagram, and moves the queue pair to ERR. */
static void fail_locked(struct ofa_qp *qp, enum ibv_wc_status status)
{
    atomic_store_explicit(&qp->state, IBV_QPS_ERR, memory_order_relaxed);
    complete_first_locked(qp, &(struct ibv_wc){.status = status}, false);
    ofa_datagram_flush_sends_locked(qp);
    ofa_datagram_flush_receives_locked(qp);
}

/* ---- Scattering ----------------------------------------------------------------------------- */

/* The memory of a receive, filled piece by piece. */
struct scatter {
    struct iovec pieces[OFA_MAX_SGE];
    size_t count;
    size_t next;
};

static enum ibv_wc_status open_scatter(struct ofa_qp *qp, struct scatter *scatter, size_t length)
{
    const struct ofa_datagram_recv *receive = ofa_ring_first(receives_of(qp));
    const struct ofa_pd *pd = qp->srq ? qp->srq->pd : qp->pd;
    size_t room = 0;

    scatter->count = scatter->next = 0;
    for (uint32_t i = 0; i < receive->count && room < length; i++) {
        if (receive->sge[i].length == 0)
            continue;
        if (!ofa_range_find(qp->context, pd, &receive->sge[i], true,
                            &scatter->pieces[scatter->count++]))
            return IBV_WC_LOC_PROT_ERR;
        room += receive->sge[i].length;
    }
    return room < length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

static void fill(struct scatter *scatter, const unsigned char *bytes, size_t length)
{
    while (length > 0) {
        struct iovec *piece = &scatter->pieces[scatter->next];
        size_t part = length < piece->iov_len ? length : piece->iov_len;

        memcpy(piece->iov_base, bytes, part);
        piece->iov_base = (char *)piece->iov_base + part;
        piece->iov_len -= part;
        bytes += part;
        length -= part;
        scatter->next += piece->iov_len == 0;
    }
}

/* ---- Arriving ------------------------------------------------------------------------------- */

/*
 * Returns the service level of a completion. On Ethernet it says, as with cards, which header the
 * receive begins with: bit 3 means UDP, bits 0 to 2 are 1 for IPv6 and 2 for IPv4. UCX needs it.
 */
static uint8_t level_of(const struct ofa_route *route)
{
    return IN6_IS_ADDR_V4MAPPED(&route->from) ? 8 | 2 : 8 | 1;
}

static void take_locked(struct ofa_qp *qp, const struct ofa_path *path, const struct ofa_wire *wire,
                        const unsigned char *payload, size_t length)
{
    struct ofa_route route = {
        .from = path->peer, .to = path->local, .traffic_class = wire->traffic_class};
    unsigned char header[OFA_GRH_BYTES];
    struct scatter scatter;
    enum ibv_wc_status status = open_scatter(qp, &scatter, sizeof(header) + length);
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS,
                        .byte_len = (uint32_t)(sizeof(header) + length),
                        .src_qp = wire->from_number,
                        .wc_flags = IBV_WC_GRH,
                        .sl = level_of(&route)};

    if (status != IBV_WC_SUCCESS) {
        fail_locked(qp, status);
        return;
    }
    ofa_grh_encode(&route, length, header);
    fill(&scatter, header, sizeof(header));
    fill(&scatter, payload, length);
    if (wire->has_immediate) {
        wc.wc_flags |= IBV_WC_WITH_IMM;
        wc.imm_data = htobe32(wire->immediate);
    }
    complete_first_locked(qp, &wc, wire->solicited);
}

static bool accepts(const struct ofa_qp *qp, const struct ofa_wire *wire)
{
    int state = atomic_load_explicit(&qp->state, memory_order_relaxed);

    return qp->base.qp_num == wire->to_number && qp->datagrams->qkey == wire->qkey &&
           state >= IBV_QPS_RTR && state != IBV_QPS_ERR && receives_of(qp)->count > 0;
}

/* Acknowledges a datagram, also without a queue pair or receive: the socket has room again. */
static void acknowledge(const struct ofa_socket *socket, const struct ofa_path *path,
                        const struct ofa_wire *wire)
{
    struct ofa_wire ack = {.kind = OFA_WIRE_ACK,
                           .to_number = wire->from_number,
                           .from_number = wire->to_number,
                           .sequence = wire->sequence};
    unsigned char bytes[OFA_WIRE_HEADER];
    struct iovec piece = {.iov_base = bytes, .iov_len = sizeof(bytes)};

    ofa_wire_encode(&ack, bytes);
    (void)ofa_socket_send(socket, path, &piece, 1);
}

void ofa_datagram_deliver_locked(struct ofa_socket *socket, const struct ofa_path *path,
                                 size_t length)
{
    struct ofa_wire wire;
    struct ofa_qp *qp;

    if (!ofa_wire_decode(socket->packet, length, &wire))
        return;
    if (wire.kind == OFA_WIRE_ACK) {
        ofa_flow_acknowledged(socket->flows, &path->peer, path->peer_port, wire.sequence);
        return;
    }
    /* The numbers must belong to the sockets, so that no socket can send for another one. */
    if (wire.to_number >> 8 != socket->port || wire.from_number >> 8 != path->peer_port)
        return;
    if (wire.wants_ack)
        acknowledge(socket, path, &wire);
    qp = socket->qps[wire.to_number % OFA_NUMBERS_PER_PORT];
    if (qp && accepts(qp, &wire))
        take_locked(qp, path, &wire, socket->packet + OFA_WIRE_HEADER, length - OFA_WIRE_HEADER);
}

/* ---- Posting -------------------------------------------------------------------------------- */

int ofa_datagram_recv(struct ofa_qp *qp, const struct ibv_recv_wr *wr)
{
    int error;

    if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_recv_sge)
        return EINVAL;
    (void)pthread_mutex_lock(&qp->context->datagram_lock);
    error = ofa_datagram_keep_recv(&qp->datagrams->receives, wr);
    if (error == 0 && atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_ERR)
        ofa_datagram_flush_receives_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->datagram_lock);
    return error;
}
