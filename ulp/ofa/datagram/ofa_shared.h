/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of an S-RQ that the adapter does not have: those for datagrams, and all until the first
 * queue pair of the S-RQ tells of which type they are. One type excludes the other.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H

#include "datagram/ofa_ring.h"
#include "object/ofa_object.h"

/* With ofa_context.datagram_lock. */
struct ofa_shared {
    struct ofa_ring receives; /* of struct ofa_datagram_recv */
    uint32_t limit;           /* 0: no event is asked for */
};

/* With the sizes of the S-RQ. 0 or errno. */
int ofa_shared_open(struct ofa_srq *srq);

void ofa_shared_close(struct ofa_srq *srq);

/* 0 or errno. EALREADY: the adapter has them all by now. */
int ofa_shared_post(struct ofa_srq *srq, const struct ibv_recv_wr *wr);

/* 0 or errno; what the mask does not name stays. */
int ofa_shared_modify(struct ofa_srq *srq, const struct ibv_srq_attr *attr, int mask);

/* A receive goes to such a queue, or to that of a queue pair. 0 or ENOMEM. */
int ofa_datagram_keep_recv(struct ofa_ring *receives, const struct ibv_recv_wr *wr);

/* A receive has gone, or the limit has changed: tells the program if they are few. */
void ofa_shared_check_locked(struct ofa_srq *srq);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_SHARED_H */
