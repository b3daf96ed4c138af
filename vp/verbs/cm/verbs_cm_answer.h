/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_accept and rdma_reject, without the SIGPIPE that siw raises where the peer has gone away. */
#ifndef ITAPI_VP_VERBS_CM_VERBS_CM_ANSWER_H
#define ITAPI_VP_VERBS_CM_VERBS_CM_ANSWER_H

#include <rdma/rdma_cma.h>

int verbs_cm_answer_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int verbs_cm_answer_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length);

#endif
