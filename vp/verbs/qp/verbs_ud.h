/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs of datagrams. */
#ifndef ITAPI_VP_VERBS_QP_VERBS_UD_H
#define ITAPI_VP_VERBS_QP_VERBS_UD_H

#include "vp/verbs/device/verbs_ep.h"

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
