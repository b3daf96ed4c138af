/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP's work queues and stream. Fields are grouped by who may touch them:
 *   sender   holds tx.token; never waits for anything while it does
 *   reader   holds rx_token; may wait for the send token, never the other way round
 *   locked   ual_ep.lock
 */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_EP_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_EP_H

#include "vp/uiwarp/queue/uiw.h"
#include "vp/uiwarp/queue/uiw_gather.h"

#include <sched.h>
#include "vp/uiwarp/queue/uiw_pacing.h"
#include "vp/uiwarp/queue/uiw_reads.h"
#include "vp/uiwarp/queue/uiw_later.h"
#include "vp/uiwarp/queue/uiw_queue.h"
#include "vp/uiwarp/queue/uiw_tx.h"

/* What FPDUs are likely to come: how much is read at a time where they are not read directly. */
enum uiw_expect {
    UIW_EXPECT_ANY,
    UIW_EXPECT_TINY, /* few, for they cost as much as others */
    UIW_EXPECT_LARGE /* not much past a header */
};

/* A message that holds a receive of an S-RQ; reader. See uiw_srq_watch.c. */
struct uiw_drawn {
    struct ual_ep *next; /* by progress.lock */
    bool listed;         /* by progress.lock */
    bool watched;        /* in the list, or in the hand of the loop that looks at it */
    uint32_t message;    /* index of its receive */
    uint32_t arrived;    /* octets, when it was looked at */
    uint64_t looked_ns;
    uint64_t age_ns;   /* since it was met */
    uint64_t still_ns; /* since the last octet */
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

    _Atomic bool read_enabled; /* peers may RDMA Read, Write through this EP */
    _Atomic bool write_enabled;
    _Atomic bool atomics_enabled; /* the same for its atomics */
    _Atomic uint32_t ord_limit;   /* in force: as agreed, or as it_ep_modify has changed it */
    /*
     * Of receives drawn from the S-RQ: how many the EP may hold, that is, from the first octet of
     * the message until its completion is dequeued.
     */
    _Atomic uint32_t soft_limit; /* armed soft watermark; 0: off, or told */
    _Atomic uint32_t hard_limit; /* UINT32_MAX: none */

    /* Locked. */
    bool negotiated;                 /* .info is filled */
    struct itx_mpa_info info;        /* of this connection, or the last before a reset */
    uint32_t wanted_ird, wanted_ord; /* asked for; ual_ep.attr shows those in force */
    bool drained;                    /* NONOPERATIONAL and flushed: later posts flush themselves */
    struct uiw_queue sq;
    /*
     * Up to here the sender goes, and reads it with acquire; written locked. What is posted behind it
     * waits for a post without IT_COALESCE_WR_FLAG.
     */
    _Atomic uint32_t sq_ready;
    bool hold_met; /* what is held was met by a sweep; see uiw_hold.c */
    struct uiw_pacing pacing;

    _Alignas(64) struct uiw_tx tx;

    /* Reader, with rx_token. */
    _Alignas(64) _Atomic bool rx_token;
    bool rx_wake_recv, rx_wake_request; /* EVDs to wake when no lock is held */
    bool rx_kick;                       /* the sender has something new to do */
    bool rx_tell_low, rx_tell_high;     /* watermarks that were crossed; see uiw_srq.h */
    bool rx_drawn;                      /* a receive, from the S-RQ */
    bool rx_terminated;                 /* the peer's Terminate is in rx_terminate */
    enum uiw_expect expect;
    bool widened; /* the receive window; see uiw_net.h */
    struct uiw_gather gather;
    uint32_t rx_atomics; /* of the peer, executed: MSN of the last response */
    struct uiw_drawn drawn;
    unsigned pinned_count;
    struct uiw_mr *pinned[IW_RX_IOV_MAX]; /* between map and unmap */
    struct iw_terminate rx_terminate;
    _Atomic uint64_t octets_in, calls_in, fpdus_in; /* counters, read by anybody */
    uint64_t fpdus_before, octets_before;           /* of earlier connections */
    struct uiw_queue rq; /* with an S-RQ: what the EP has drawn from it, one slot */
    struct iw_rx rx;
    _Atomic uint64_t crc_errors, protocol_errors, terminates_in; /* counters, too */

    struct uiw_reads reads;
    _Atomic bool lost_event; /* a completion did not fit its EVD: the connection must break */

    /* Connection management. */
    struct uiw_conn *conn;     /* locked; see uiw_start.h */
    struct itx_mpa_params mpa; /* locked */
    struct uiw_later later;
};

#define UIW_EP_AREA sizeof(struct uiw_ep)

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

/* ---------------------------------------------------------------- between the files of the engine */

/* uiw_modify.c: what the mask (it_ep_param_mask_t bits) says. Watermarks are armed. */
#define UIW_EP_ALL (~0u)

#endif
