/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state SQD: requests that were posted before go on, later ones are held. When the earlier ones
 * have ended, the program gets an event if it has asked for one.
 */
#ifndef ITAPI_ULP_OFA_QP_OFA_DRAIN_H
#define ITAPI_ULP_OFA_QP_OFA_DRAIN_H

#include "object/ofa_object.h"

/* Called when the queue pair is created. */
void ofa_drain_init(struct ofa_qp *qp);

/* Called in SQD. notify: the program wants the event. */
void ofa_drain_begin(struct ofa_qp *qp, bool notify);

/* Called when the queue pair has gone from SQD to RTS. */
void ofa_drain_end(struct ofa_qp *qp);

/* Called before the EP is freed. */
void ofa_drain_close(struct ofa_qp *qp);

#endif /* ITAPI_ULP_OFA_QP_OFA_DRAIN_H */
