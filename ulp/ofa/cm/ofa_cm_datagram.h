/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of the port space UDP. They make no connection: one end learns the number of the other end's
 * queue pair. The functions return 0 or an errno.
 */
#ifndef ITAPI_ULP_OFA_CM_OFA_CM_DATAGRAM_H
#define ITAPI_ULP_OFA_CM_OFA_CM_DATAGRAM_H

#include "cm/ofa_cm.h"
#include "cm/ofa_sidr.h"

/* Asks the peer repeatedly until it answers or the time is over. */
int cm_datagram_connect(struct cm_id *id, const struct rdma_conn_param *param);

int cm_datagram_listen(struct cm_id *id);
int cm_datagram_accept(struct cm_id *id, const struct rdma_conn_param *param);
int cm_datagram_reject(struct cm_id *id, const void *data, uint8_t length);

/* Rejects a request that waits. Afterwards no message is handled for the id. */
void cm_datagram_close(struct cm_id *id);

#endif /* ITAPI_ULP_OFA_CM_OFA_CM_DATAGRAM_H */
