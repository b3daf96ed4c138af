/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs of the type UD. Each message is one datagram of UDP, to the port in the peer's
 * number. A queue pair has queues of its own, since IT-API has none for this; its completions go to
 * the CQ as those of the layer do.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H

#include "datagram/ofa_ring.h"
#include "datagram/ofa_socket.h"
#include "object/ofa_object.h"

/* Makes a port of numbers one of datagrams, too. 0 or errno; EADDRINUSE: it is somebody else's. */
int ofa_datagram_add_port(struct ofa_context *context, uint16_t port);

/* Before the context goes: no thread comes afterwards. */
void ofa_datagram_close_ports(struct ofa_context *context);

/* The queues of a queue pair, whose number is on such a port. 0 or errno. */
int ofa_datagram_open(struct ofa_qp *qp);

/* Whatever is posted is gone; nothing of it completes any more. 0. */
int ofa_datagram_close(struct ofa_qp *qp);

/* The queue pair has come to this state, and has the attributes that go with it. */
void ofa_datagram_enter(struct ofa_qp *qp, enum ibv_qp_state state);

/* 0 or errno. The first with ofa_qp.post_lock. */
int ofa_datagram_send(struct ofa_qp *qp, const struct ibv_send_wr *wr);
int ofa_datagram_recv(struct ofa_qp *qp, const struct ibv_recv_wr *wr);

/* ---- For the files of this folder ----------------------------------------------------------- */

struct ofa_datagram_send {
    uint64_t wr_id;
    bool signaled;
    bool is_inline;
    uint32_t count; /* segments, or octets of inline data */
    size_t length;  /* of the payload */
    struct ofa_path path;
    struct ofa_wire wire;
    struct ibv_sge sge[]; /* or inline data */
};

struct ofa_datagram_recv {
    uint64_t wr_id;
    uint32_t count;
    struct ibv_sge sge[];
};

/* With ofa_context.datagram_lock. */
struct ofa_datagrams {
    struct ofa_socket *socket;
    uint32_t qkey;
    bool told_last;           /* that no receive of the S-RQ will come any more */
    struct ofa_ring sends;    /* of struct ofa_datagram_send, while they cannot go out */
    struct ofa_ring receives; /* of struct ofa_datagram_recv */
};

/* Sends what may go out now. */
void ofa_datagram_push_locked(struct ofa_qp *qp);

/* What has arrived goes to the queue pair that it is for, or nowhere. */
void ofa_datagram_deliver_locked(struct ofa_socket *socket, const struct ofa_path *path,
                                 size_t length);

/* Completes all that is posted. */
void ofa_datagram_flush_sends_locked(struct ofa_qp *qp);
void ofa_datagram_flush_receives_locked(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H */
