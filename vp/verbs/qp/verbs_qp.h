/* SPDX-License-Identifier: BSD-2-Clause */
/* The QP of an EP: its states, and what that means for posts. */
#ifndef ITAPI_VP_VERBS_QP_VERBS_QP_H
#define ITAPI_VP_VERBS_QP_VERBS_QP_H

#include "vp/verbs/device/verbs_ep.h"

unsigned verbs_qp_access_of(const it_rc_only_attributes_t *rc);
int verbs_qp_init(const struct verbs_ep *ep, struct ibv_qp *qp);
bool verbs_qp_close_queue(struct verbs_queue *queue);

/*
 * The QP, for connection management. An EP has its QP, in INIT, from ep_create on; nobody else
 * changes its state. No lock is needed, and the EP's lock may be held.
 */
/* ibv_modify_qp with a line in the log if it fails: 0 or errno. */
int verbs_qp_modify(struct verbs_ep *ep, struct ibv_qp_attr *attr, int mask);

/* The access flags by the EP's enables: for INIT. */
unsigned verbs_qp_access(const struct verbs_ep *ep);

/*
 * The EP is about to be CONNECTED: requests may be posted from now on, to the device. With the EP's
 * lock, just before the step UAL_EP_ESTABLISHED.
 */
void verbs_ep_open_locked(struct verbs_ep *ep);

/*
 * The connection is over, or was never made; for whatever reason, any number of times. With no lock
 * held, just after the step to NONOPERATIONAL and before the event is reported: the QP goes to
 * ERROR, what is posted is flushed in order, as is what is posted from now on.
 */
void verbs_ep_break(struct verbs_ep *ep);

/*
 * Reports the end of a connection, after verbs_ep_break. Where completions go to the same EVD, that
 * is when the device has given back all that it got. No lock is held.
 */
void verbs_ep_report_end(struct verbs_ep *ep, const struct ual_conn_news *news);

/* Reports what verbs_ep_report_end has kept, if it is time. No lock is held. */
void verbs_ep_report_kept(struct verbs_ep *ep);

/* ---------------------------------------------------------------- EPs (verbs_ud.c) */

/* Checks the attributes that only this provider knows. */
it_status_t verbs_ud_check(const struct verbs_ia *ia, uint8_t port, const it_ep_attributes_t *attr);
/* Sets ep->ud; the queues are made. False without memory. */
bool verbs_ud_make(struct verbs_ep *ep, uint8_t port);
void verbs_ud_free(struct verbs_ep *ep);
/* From RESET to RTS: 0 or errno. */
int verbs_ud_start_qp(const struct verbs_ep *ep, struct ibv_qp *qp);
/* The QP is ready: tells its number, lets requests in. With the EP's lock once the EP is known. */
void verbs_ud_open_locked(struct verbs_ep *ep);
/* On the IA's thread: something has failed, perhaps the QP as a whole. */
void verbs_ud_failed(struct verbs_ep *ep);
it_status_t verbs_ud_modify_locked(struct verbs_ep *ep, unsigned mask,
                                   const it_ep_attributes_t *attr);

#endif
