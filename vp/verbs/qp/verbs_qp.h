/* SPDX-License-Identifier: BSD-2-Clause */
/* The QP of an EP: its states, and their effect on posts. */
#ifndef ITAPI_VP_VERBS_QP_VERBS_QP_H
#define ITAPI_VP_VERBS_QP_VERBS_QP_H

#include "vp/verbs/device/verbs_ep.h"

unsigned verbs_qp_access_of(const it_rc_only_attributes_t *rc);
int verbs_qp_init(const struct verbs_ep *ep, struct ibv_qp *qp);
bool verbs_qp_close_queue(struct verbs_queue *queue);

/*
 * The QP, for connection management. An EP has a QP, in INIT, from ep_create on, and only these
 * functions change its state. No lock is needed, and the EP's lock may be held.
 */
/* Calls ibv_modify_qp and logs a failure. Returns 0 or errno. */
int verbs_qp_modify(struct verbs_ep *ep, struct ibv_qp_attr *attr, int mask);

/* Returns the access flags for INIT, by the EP's enables. */
unsigned verbs_qp_access(const struct verbs_ep *ep);

/*
 * Called with the EP's lock, just before the step UAL_EP_ESTABLISHED: from now on requests may be
 * posted and reach the device.
 */
void verbs_ep_open_locked(struct verbs_ep *ep);

/*
 * Called on the IA's thread after the step UAL_EP_ESTABLISHED. Reports the connection, then shows
 * the receives that have completed already. No lock is held.
 */
void verbs_ep_report_established(struct verbs_ep *ep, const struct ual_conn_news *news);

/*
 * Called when the connection is over, or was never made, for any reason and any number of times. No
 * lock is held. The state is NONOPERATIONAL and the event has not been reported yet. Moves the QP
 * to ERROR and flushes, in order, all posts, including those to come.
 */
void verbs_ep_break(struct verbs_ep *ep);

/*
 * Called after verbs_ep_break to report the end of a connection. If completions go to the same EVD,
 * the report waits until the device has completed all its requests. No lock is held.
 */
void verbs_ep_report_end(struct verbs_ep *ep, const struct ual_conn_news *news);

/* Reports what verbs_ep_report_end has deferred, if it is time. No lock is held. */
void verbs_ep_report_kept(struct verbs_ep *ep);

/* ---------------------------------------------------------------- UD endpoints (verbs_ud.c) */

/* Checks the attributes whose limits only this provider knows. */
it_status_t verbs_ud_check(const struct verbs_ia *ia, uint8_t port, const it_ep_attributes_t *attr);
/* Sets ep->ud once the queues exist. Returns false if memory runs out. */
bool verbs_ud_make(struct verbs_ep *ep, uint8_t port);
void verbs_ud_free(struct verbs_ep *ep);
/* Moves the QP from RESET to RTS. Returns 0 or errno. */
int verbs_ud_start_qp(const struct verbs_ep *ep, struct ibv_qp *qp);
/*
 * The QP is ready: publishes its number and lets requests in. Called with the EP's lock, once other
 * threads can see the EP.
 */
void verbs_ud_open_locked(struct verbs_ep *ep);
/* Called on the IA's thread when something has failed, perhaps the whole QP. */
void verbs_ud_failed(struct verbs_ep *ep);
it_status_t verbs_ud_modify_locked(struct verbs_ep *ep, unsigned mask,
                                   const it_ep_attributes_t *attr);

#endif
