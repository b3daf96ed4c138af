/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siw writes to its socket in the thread that posts, accepts or rejects, without MSG_NOSIGNAL.
 * Where the peer has just gone away, the kernel raises SIGPIPE in that thread, which may be the
 * program's. These calls keep the signal away from it and leave the process as it is: disposition,
 * mask and a SIGPIPE that is pending already.
 */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_SIGPIPE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

/* Of a program that ignores it the signal needs no keeping away. */
bool verbs_sigpipe_is_ignored(void);

/* The post_send of the QP's device with three system calls more. */
int verbs_sigpipe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* rdma_accept and rdma_reject. */
int verbs_sigpipe_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int verbs_sigpipe_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length);

#endif
