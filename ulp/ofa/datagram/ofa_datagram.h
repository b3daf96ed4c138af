/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UD queue pairs. Each message is one UDP datagram to the port in the peer's number. IT-API has no
 * queues for this, so a UD queue pair has its own; its completions go to the stash of the CQ.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H

#include "datagram/ofa_ring.h"
#include "datagram/ofa_socket.h"
#include "object/ofa_object.h"

/* Binds a UDP socket to a port of numbers. Returns 0 or errno; EADDRINUSE: the port is in use. */
int ofa_datagram_add_port(struct ofa_context *context, uint16_t port);

/* Called before the context is closed. No thread uses the ports afterwards. */
void ofa_datagram_close_ports(struct ofa_context *context);

/*
 * Called in the child of a fork: its parent goes on with the ports. Queue pairs of the parent send
 * and receive nothing in the child.
 */
void ofa_datagram_leave_ports_locked(struct ofa_context *context);

/* Opens the queues of a queue pair whose number belongs to a bound port. Returns 0 or errno. */
int ofa_datagram_open(struct ofa_qp *qp);

/* Drops all posted work without completions. Returns 0. */
int ofa_datagram_close(struct ofa_qp *qp);

/* Called when the queue pair has entered the state and has its attributes. */
void ofa_datagram_enter(struct ofa_qp *qp, enum ibv_qp_state state);

/* Post a request or a receive. Return 0 or errno. ofa_datagram_send needs ofa_qp.post_lock. */
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

/* Guarded by ofa_context.datagram_lock. */
struct ofa_datagrams {
    struct ofa_socket *socket;
    uint32_t qkey;
    bool told_last;           /* the program has IBV_EVENT_QP_LAST_WQE_REACHED */
    struct ofa_ring sends;    /* of struct ofa_datagram_send that cannot be sent yet */
    struct ofa_ring receives; /* of struct ofa_datagram_recv */
};

/* Sends the requests that can be sent now. */
void ofa_datagram_push_locked(struct ofa_qp *qp);

/* Delivers the datagram in the socket's .packet to its queue pair, or drops it. */
void ofa_datagram_deliver_locked(struct ofa_socket *socket, const struct ofa_path *path,
                                 size_t length);

/* Flush posted requests, or receives. */
void ofa_datagram_flush_sends_locked(struct ofa_qp *qp);
void ofa_datagram_flush_receives_locked(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_DATAGRAM_H */
