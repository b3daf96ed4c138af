/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP's work queues and stream. Fields are grouped by who may touch them:
 *   sender   holds tx.token; never waits for anything while it does
 *   reader   holds rx.token; may wait for the send token, never the other way round
 *   locked   ual_ep.lock
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

/* Rights of peers, depths and watermarks; set by it_ep_modify at any time. */
struct uiw_limits {
    _Atomic bool read_enabled; /* peers may RDMA Read, Write through this EP */
    _Atomic bool write_enabled;
    _Atomic bool atomics_enabled; /* the same for its atomics */
    _Atomic uint32_t ord;         /* in force: as agreed, or as it_ep_modify has changed it */
    /*
     * Of receives drawn from the S-RQ: how many the EP may hold, that is, from the first octet of
     * the message until its completion is dequeued.
     */
    _Atomic uint32_t soft; /* armed soft watermark; 0: off, or told */
    _Atomic uint32_t hard; /* UINT32_MAX: none */
};

struct uiw_ep {
    struct ual_ep *ual;
    struct uiw_ia *ia;

    /* Immutable while connected. */
    int fd; /* -1: no stream */
    struct iw_mpa_result agreed;
    bool initiator;
    uint64_t release_ns;   /* responder: silence after which it may speak first; 0: never */
    uint32_t generation;   /* counts the connections of this EP; never 0 */
    bool counters_retired; /* they are in uiw_ia.retired now; by retired_lock */
    const void *pz;
    struct uiw_stream_id id; /* of the connection: what peers may reach through it */

    struct uiw_limits limits;

    /* Locked. */
    bool negotiated;                   /* .info is filled */
    struct itx_mpa_info info;          /* of this connection, or the last before a reset */
    struct sockaddr_in6 local, remote; /* with .negotiated: its ends; or struct sockaddr_in */
    uint32_t wanted_ird, wanted_ord;   /* asked for; ual_ep.attr shows those in force */
    bool drained; /* NONOPERATIONAL and flushed: later posts flush themselves */
    struct uiw_queue sq;
    /*
     * The sender goes up to here, and reads it with acquire; written locked. Requests behind it
     * wait for a post without IT_COALESCE_WR_FLAG.
     */
    _Atomic uint32_t sq_ready;
    uint8_t sent_is; /* enum uiw_done of a request whose last octet has left */
    bool hold_met;   /* what is held was met by a sweep; see uiw_sweep.c */
    struct uiw_pacing pacing;
    struct uiw_stay stay;

    _Alignas(64) struct uiw_tx tx;
    _Alignas(64) struct uiw_rx rx;
    struct uiw_queue rq; /* with an S-RQ: what the EP has drawn from it, one slot */
    struct uiw_reads reads;
    struct uiw_own own;
    _Atomic unsigned hold_limit;  /* of our Sends that wait there: see iw_own.h */
    _Atomic uint64_t hold_try_us; /* one try of a Send of the peer that waits here */
    _Atomic bool lost_event;      /* a completion did not fit its EVD: the connection must break */

    /*
     * Not NULL: the connection is nobody's, or another process's, and both tokens are held in its
     * name; see lead/uiw_fork.c.
     */
    struct uiw_fork_claim *_Atomic claim;

    /* Locked: connection management. */
    struct uiw_conn *conn; /* the attempt, from the step out of UNCONNECTED until it lets go */
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
