/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection of a queue pair, whoever makes it. Calls that reach the IA's thread (all that
 * connect, accept, reject, listen) are made with no lock held.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_LINK_H
#define ITAPI_ULP_OFA_LINK_OFA_LINK_H

#include "object/ofa_door.h"
#include "object/ofa_object.h"

/* The EVDs of a context's connections. 0 or errno. */
int ofa_link_open(struct ofa_context *context);

/* Before the adapter goes: no callback runs afterwards. */
void ofa_link_close(struct ofa_context *context);

/*
 * Looks at what has happened to connections. The owners' handlers hear of it before this returns.
 */
void ofa_link_dispatch(struct ofa_context *context);

/*
 * The EP of a queue pair is freed or cleared, and no event about it is on its way any more. A
 * connection that was there has ended with it: its owner hears of that now, even if its program has
 * disconnected before and the event was on its way.
 */
void ofa_link_gone(struct ofa_qp *qp);

/* The queue pair is gone for good: its owner hears of that, by an event that is NULL. */
void ofa_link_forget(struct ofa_qp *qp);

/* ---- What the door offers (object/ofa_door.h) ----------------------------------------------- */

int ofa_link_connect(struct ibv_qp *qp, const struct ofa_call *call);
int ofa_link_accept(struct ibv_qp *qp, it_cn_est_identifier_t request, const struct ofa_call *call);
int ofa_link_reject(it_cn_est_identifier_t request, const void *data, size_t length);
int ofa_link_disconnect(struct ibv_qp *qp);
void ofa_link_watch(struct ibv_qp *qp, ofa_link_handler handler, void *owner, bool moves);
int ofa_link_addresses(struct ibv_qp *qp, struct sockaddr_storage *local,
                       struct sockaddr_storage *peer);
int ofa_link_listen(struct ibv_context *context, const struct sockaddr *address, bool both,
                    ofa_request_handler handler, void *owner, struct ofa_listener **listener);
void ofa_link_unlisten(struct ofa_listener *listener);

/* ---- For the files of this folder ----------------------------------------------------------- */

/* An EVD of this stream whose callback gets "argument". 0 or errno. */
int ofa_link_evd(struct ofa_context *context, it_event_type_t stream, size_t room,
                 it_evd_callback_rtn_t callback, void *argument, it_evd_handle_t *evd);

/*
 * How long Sends wait for a receive: ours by rnr_retry, which is known in RTS, those of the peer by
 * min_rnr_timer.
 */
void ofa_link_limit_hold(struct ofa_qp *qp);

/* Of RDMA Reads, while there is no connection. 0 or errno. */
int ofa_link_set_depths(struct ofa_qp *qp, uint32_t ird, uint32_t ord);

/*
 * While nobody listens there, the attempt goes on as long as its time limit allows: by hand, the
 * other end may not have come so far, and InfiniBand's retries would find it when it has.
 */
void ofa_link_be_patient(it_ep_handle_t ep);

/* it_ep_connect: takes no lock, and changes no state. */
it_status_t ofa_link_attempt(it_ep_handle_t ep, const struct ofa_call *call);

/* The connection is over, or never came about: what is posted completes. With ofa_context.lock. */
void ofa_link_down_locked(struct ofa_qp *qp, enum ibv_wc_status status);

void ofa_link_up_locked(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_LINK_OFA_LINK_H */
