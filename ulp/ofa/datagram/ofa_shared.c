/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_shared.h"

#include "datagram/ofa_datagram.h"
#include "queue/ofa_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_ring(const struct ofa_srq *srq, struct ofa_ring *ring, uint32_t room)
{
    return ofa_ring_open(ring, room,
                         sizeof(struct ofa_datagram_recv) + srq->max_sge * sizeof(struct ibv_sge));
}

int ofa_shared_open(struct ofa_srq *srq)
{
    struct ofa_shared *shared = calloc(1, sizeof(*shared));
    int error = shared ? open_ring(srq, &shared->receives, srq->max_wr) : ENOMEM;

    if (error != 0) {
        free(shared);
        return error;
    }
    srq->shared = shared;
    return 0;
}

void ofa_shared_close(struct ofa_srq *srq)
{
    free(srq->shared->receives.places);
    free(srq->shared);
}

int ofa_datagram_keep_recv(struct ofa_ring *receives, const struct ibv_recv_wr *wr)
{
    struct ofa_datagram_recv *receive = ofa_ring_add(receives);

    if (!receive)
        return ENOMEM;
    receive->wr_id = wr->wr_id;
    receive->count = (uint32_t)wr->num_sge;
    if (wr->num_sge > 0)
        memcpy(receive->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
    return 0;
}

int ofa_shared_post(struct ofa_srq *srq, const struct ibv_recv_wr *wr)
{
    struct ofa_context *context = ofa_context_of(srq->base.context);
    int error;

    if (wr->num_sge < 0 || wr->num_sge > (int)srq->max_sge)
        return EINVAL;
    (void)pthread_mutex_lock(&context->datagram_lock);
    error = atomic_load_explicit(&srq->use, memory_order_relaxed) == OFA_SRQ_STREAMS
                ? EALREADY
                : ofa_datagram_keep_recv(&srq->shared->receives, wr);
    (void)pthread_mutex_unlock(&context->datagram_lock);
    return error;
}

static int resize(const struct ofa_srq *srq, uint32_t room)
{
    struct ofa_ring *receives = &srq->shared->receives;
    struct ofa_ring next = {.count = 0};
    int error;

    if (room < receives->count)
        return EINVAL;
    error = open_ring(srq, &next, room);
    if (error != 0)
        return error;
    while (receives->count > 0) {
        memcpy(ofa_ring_add(&next), ofa_ring_first(receives), next.size);
        ofa_ring_drop_first(receives);
    }
    free(receives->places);
    *receives = next;
    return 0;
}

int ofa_shared_modify(struct ofa_srq *srq, const struct ibv_srq_attr *attr, int mask)
{
    int error = 0;

    if (mask & IBV_SRQ_MAX_WR)
        error = resize(srq, attr->max_wr);
    if (error != 0 || !(mask & IBV_SRQ_LIMIT))
        return error;
    srq->shared->limit = attr->srq_limit;
    ofa_shared_check_locked(srq);
    return 0;
}

void ofa_shared_check_locked(struct ofa_srq *srq)
{
    struct ofa_shared *shared = srq->shared;

    if (shared->receives.count >= shared->limit)
        return;
    shared->limit = 0;
    ofa_srq_limit_reached(srq);
}
