/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP's work queues and stream. Fields are grouped by the thread that may use them:
 *   sender   holds tx.token, and never waits while it does
 *   reader   holds rx.token; it may wait for the send token, never the other way round
 *   locked   holds ual_ep.lock
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_EP_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_EP_H

#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/queue/uiw_later.h"
#include "vp/uiwarp/queue/uiw_own.h"
#include "vp/uiwarp/queue/uiw_pacing.h"
#include "vp/uiwarp/queue/uiw_queue.h"
#include "vp/uiwarp/queue/uiw_reads.h"
#include "vp/uiwarp/queue/uiw_rx.h"
#include "vp/uiwarp/queue/uiw_stay.h"
#include "vp/uiwarp/queue/uiw_tx.h"

/* Rights of peers, depths and watermarks. it_ep_modify sets them at any time. */
struct uiw_limits {
    _Atomic bool read_enabled;    /* peers may use RDMA Read through this EP */
    _Atomic bool write_enabled;   /* the same for RDMA Write */
    _Atomic bool atomics_enabled; /* the same for atomics */
    _Atomic uint32_t ord;         /* in force: agreed at startup, or set by it_ep_modify */
    /*
     * Watermarks for the receives of the S-RQ that the EP holds. It holds one from the first octet
     * of the message until the completion is dequeued.
     */
    _Atomic uint32_t soft; /* armed soft watermark; 0: off, or its event was raised */
    _Atomic uint32_t hard; /* UINT32_MAX: none */
};

struct uiw_ep {
    struct ual_ep *ual;
    struct uiw_ia *ia;

    /* Immutable while connected. */
    int fd; /* -1: no stream */
    struct iw_mpa_result agreed;
    bool initiator;
    uint64_t release_ns;   /* responder: silence of the peer after which it sends first; 0: never */
    uint32_t generation;   /* counts the connections of this EP; never 0 */
    bool counters_retired; /* added to uiw_ia.retired; guarded by retired_lock */
    const void *pz;
    struct uiw_stream_id id; /* of the connection; decides which memory the peer may use */

    struct uiw_limits limits;

    /* Locked. */
    bool negotiated;                   /* .info is filled */
    struct itx_mpa_info info;          /* of this connection, or of the last one before a reset */
    struct sockaddr_in6 local, remote; /* with .negotiated; hold a sockaddr_in or _in6 */
    uint32_t wanted_ird, wanted_ord;   /* requested; ual_ep.attr has those in force */
    bool drained; /* NONOPERATIONAL and flushed: later posts flush themselves */
    struct uiw_queue sq;
    /*
     * End of the requests that the sender may send; it reads this with acquire. Written locked.
     * Requests from here on wait for a post without IT_COALESCE_WR_FLAG.
     */
    _Atomic uint32_t sq_ready;
    uint8_t sent_is; /* enum uiw_done that a request gets when its last octet has left */
    bool hold_met;   /* a sweep has met the held posts once; see uiw_sweep.c */
    struct uiw_pacing pacing;
    struct uiw_stay stay;

    _Alignas(64) struct uiw_tx tx;
    _Alignas(64) struct uiw_rx rx;
    struct uiw_queue rq; /* with an S-RQ: one slot, for the receive drawn from it */
    struct uiw_reads reads;
    struct uiw_own own;
    _Atomic unsigned hold_limit;  /* for Sends that wait at the peer: see iw_own.h */
    _Atomic uint64_t hold_try_us; /* length of one try of a peer's Send that waits here */
    _Atomic bool lost_event;      /* a completion did not fit the EVD: the connection must break */

    /*
     * Not NULL after fork(2), until a process claims the connection: both tokens are then taken.
     * See lead/uiw_fork.c.
     */
    struct uiw_fork_claim *_Atomic claim;

    /* Locked: connection management. */
    struct uiw_conn *conn; /* the attempt, from the step out of UNCONNECTED until its end */
    struct itx_mpa_params mpa;
    struct uiw_later later;
};

static inline struct uiw_ep *uiw_ep_of(struct ual_ep *ual)
{
    return (struct uiw_ep *)(void *)ual->area;
}

static inline struct uiw_sqe *uiw_sqe_at(const struct uiw_ep *ep, uint32_t index)
{
    return (void *)(ep->sq.slots + (size_t)(index & ep->sq.mask) * ep->sq.stride);
}

static inline struct uiw_rqe *uiw_rqe_at(const struct uiw_ep *ep, uint32_t index)
{
    return (void *)(ep->rq.slots + (size_t)(index & ep->rq.mask) * ep->rq.stride);
}

#endif
