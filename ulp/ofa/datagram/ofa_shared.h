/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of an S-RQ that are not in the adapter: those for datagrams, and all receives until the
 * first queue pair of the S-RQ decides its type. The queue pairs of an S-RQ have one type.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H

#include "datagram/ofa_ring.h"
#include "object/ofa_object.h"

/* Guarded by ofa_context.datagram_lock. */
struct ofa_shared {
    struct ofa_ring receives; /* of struct ofa_datagram_recv */
    uint32_t limit;           /* 0: no event is armed */
};

/* Opens the ring with the sizes of the S-RQ. Returns 0 or errno. */
int ofa_shared_open(struct ofa_srq *srq);

void ofa_shared_close(struct ofa_srq *srq);

/* Posts a receive. Returns 0 or errno; EALREADY: the S-RQ's receives are in the adapter. */
int ofa_shared_post(struct ofa_srq *srq, const struct ibv_recv_wr *wr);

/* Changes the attributes in the mask. Returns 0 or errno. */
int ofa_shared_modify(struct ofa_srq *srq, const struct ibv_srq_attr *attr, int mask);

/* Adds a receive to the ring of an S-RQ or queue pair. Returns 0 or ENOMEM. */
int ofa_datagram_keep_recv(struct ofa_ring *receives, const struct ibv_recv_wr *wr);

/* Raises the limit event if it is due. Called after a receive was taken or the limit set. */
void ofa_shared_check_locked(struct ofa_srq *srq);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H */
