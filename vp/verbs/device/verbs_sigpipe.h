/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw writes to its socket in the thread that posts, accepts or rejects, without MSG_NOSIGNAL. If
 * the peer has just gone away, the kernel raises SIGPIPE in that thread, which may be the
 * program's. These calls keep the signal from the program and leave the process as it is:
 * disposition, mask, and a SIGPIPE that is already pending.
 */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

/* Returns true if the program ignores SIGPIPE: then the calls below are not needed. */
bool verbs_sigpipe_is_ignored(void);

/* The post_send of the QP's device, at the cost of three more system calls. */
int verbs_sigpipe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* rdma_accept and rdma_reject. */
int verbs_sigpipe_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int verbs_sigpipe_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length);

#endif
