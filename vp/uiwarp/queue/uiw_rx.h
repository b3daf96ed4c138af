/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's part of an EP. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_RX_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_RX_H

#include "tdi/iwarp/iw_rx.h"
#include "vp/uiwarp/memory/uiw_memory.h"
#include "vp/uiwarp/queue/uiw_pause.h"

/* FPDUs that are likely to come: how much is read at a time where they are not read directly. */
enum uiw_expect {
    UIW_EXPECT_ANY,
    UIW_EXPECT_TINY, /* few, for they cost as much as others */
    UIW_EXPECT_LARGE /* not much past a header */
};

/* A message that holds a receive of an S-RQ. See uiw_srq_watch.c. */
struct uiw_drawn {
    bool watched;     /* noted down, or in the hand of the loop that looks at it */
    uint32_t message; /* index of its receive */
    uint32_t arrived; /* octets, when it was looked at */
    uint64_t looked_ns;
    uint64_t age_ns;   /* since it was met */
    uint64_t still_ns; /* since the last octet */
};

/* With the token, but for what says otherwise. */
struct uiw_rx {
    _Atomic bool token;
    bool wake_recv, wake_request; /* EVDs to wake when no lock is held */
    bool kick;                    /* the sender has something new to do */
    bool tell_low, tell_high;     /* watermarks that were crossed; see uiw_srq.h */
    bool has_drawn;               /* a receive, from the S-RQ */
    bool terminated;              /* the peer's Terminate is in .terminate */
    enum uiw_expect expect;
    bool widened; /* the receive window; see uiw_net.h */
    struct uiw_pause pause;
    uint32_t atomics; /* of the peer, executed: MSN of the last response */
    struct uiw_drawn drawn;
    unsigned pinned_count;
    struct uiw_mr *pinned[IW_RX_IOV_MAX]; /* between map and unmap */
    struct iw_terminate terminate;
    _Atomic uint64_t octets_in, calls_in, fpdus_in;              /* counters, read by anybody */
    uint64_t fpdus_before, octets_before;                        /* of earlier connections */
    _Atomic uint64_t crc_errors, protocol_errors, terminates_in; /* counters, too */
    struct iw_rx iw;
};

#endif
