/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection of a queue pair, by rdma_cm or by hand. Calls that use the IA's thread (connect,
 * accept, reject, listen) are made with no lock held.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_LINK_H
#define ITAPI_ULP_OFA_LINK_OFA_LINK_H

#include "object/ofa_door.h"
#include "object/ofa_object.h"

/* Creates the EVDs of a context's connections. Returns 0 or errno. */
int ofa_link_open(struct ofa_context *context);

/* Called before the adapter is closed. No callback runs afterwards. */
void ofa_link_close(struct ofa_context *context);

/*
 * Handles queued connection events. The owners' handlers have run when this returns.
 */
void ofa_link_dispatch(struct ofa_context *context);

/*
 * Called when the EP of a queue pair was freed or cleared, so that no event for it comes any more.
 * Tells the owner of its connection that it has ended, even if the program has disconnected and
 * that event was queued.
 */
void ofa_link_gone(struct ofa_qp *qp);

/* Called when the queue pair is destroyed. Tells the owner, by an event that is NULL. */
void ofa_link_forget(struct ofa_qp *qp);

/* ---- Functions of the door (object/ofa_door.h) ---------------------------------------------- */

int ofa_link_connect(struct ibv_qp *qp, const struct ofa_call *call);
int ofa_link_accept(struct ibv_qp *qp, it_cn_est_identifier_t request, const struct ofa_call *call);
int ofa_link_reject(it_cn_est_identifier_t request, const void *data, size_t length);
int ofa_link_disconnect(struct ibv_qp *qp);
void ofa_link_leave(struct ibv_context *context, uint32_t number);
void ofa_link_watch(struct ibv_qp *qp, ofa_link_handler handler, void *owner, bool moves);
int ofa_link_addresses(struct ibv_qp *qp, struct sockaddr_storage *local,
                       struct sockaddr_storage *peer);
int ofa_link_request_addresses(it_cn_est_identifier_t request, struct sockaddr_storage *local,
                               struct sockaddr_storage *peer);
int ofa_link_listen(struct ibv_context *context, const struct sockaddr *address, bool both,
                    ofa_request_handler handler, void *owner, struct ofa_listener **listener);
void ofa_link_unlisten(struct ofa_listener *listener);

/* ---- For the files of this folder ----------------------------------------------------------- */

/* Creates an EVD for this stream, whose callback gets `argument`. Returns 0 or errno. */
int ofa_link_evd(struct ofa_context *context, it_event_type_t stream, size_t room,
                 it_evd_callback_rtn_t callback, void *argument, it_evd_handle_t *evd);

/*
 * Sets how long Sends wait for a receive: those of this side by rnr_retry, which is known in RTS,
 * unless the connection moves the queue pair: then the peer's parameter limits them. Those of the
 * peer by min_rnr_timer.
 */
void ofa_link_limit_hold(struct ofa_qp *qp);

/* Sets the Read depths, while there is no connection. Returns 0 or errno. */
int ofa_link_set_depths(struct ofa_qp *qp, uint32_t ird, uint32_t ord);

/*
 * Makes attempts to a port without a listener go on until their time limit. By hand, the other end
 * may not be ready yet, and InfiniBand's retries would reach it later.
 */
void ofa_link_be_patient(it_ep_handle_t ep);

/* Calls it_ep_connect. Takes no lock, and changes no state. */
it_status_t ofa_link_attempt(it_ep_handle_t ep, const struct ofa_call *call);

/* With ofa_context.lock. The connection has ended or failed: completes posted work. */
void ofa_link_down_locked(struct ofa_qp *qp, enum ibv_wc_status status);

void ofa_link_up_locked(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_LINK_OFA_LINK_H */
