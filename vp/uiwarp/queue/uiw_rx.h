/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's part of an EP. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_RX_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_RX_H

#include "tdi/iwarp/iw_rx.h"
#include "vp/uiwarp/memory/uiw_memory.h"
#include "vp/uiwarp/queue/uiw_pause.h"

/* Size of the FPDUs that are likely to come; decides the size of a read into staging. */
enum uiw_expect {
    UIW_EXPECT_ANY,
    UIW_EXPECT_TINY, /* read little: a small FPDU costs as much as a large one */
    UIW_EXPECT_LARGE /* read only a header: the payload is read directly */
};

/* A message that holds a receive of an S-RQ: see uiw_srq_watch.c. */
struct uiw_drawn {
    bool watched;     /* on the agenda, or just looked at by the loop */
    uint32_t message; /* index of its receive */
    uint32_t arrived; /* octets at the last look */
    uint64_t looked_ns;
    uint64_t age_ns;   /* time since the first look */
    uint64_t still_ns; /* time since the last octet arrived */
};

/* Memory for the payload of the next long Sends, in place of their receives: itx_ep_aim. */
struct uiw_aim {
    uint8_t *octets; /* NULL: none */
    uint32_t length;
    uint32_t used;  /* by messages that have completed */
    uint32_t skip;  /* octets of each message that go to its receive */
    uint32_t least; /* shorter segments begin no message that is aimed */
    bool current;   /* the message that arrives is aimed */
    it_dto_cookie_t mark;
};

/* Used with the token, unless a comment says otherwise. */
struct uiw_rx {
    _Atomic bool token;
    bool wake_recv, wake_request; /* EVDs to wake when no lock is held */
    bool kick;                    /* the sender has something new to do */
    bool tell_low, tell_high;     /* watermarks crossed, events due; see uiw_srq.h */
    bool has_drawn;               /* a receive was drawn from the S-RQ */
    bool terminated;              /* the peer's Terminate is in .terminate */
    enum uiw_expect expect;
    bool widened; /* the receive window was raised; see uiw_net.h */
    struct uiw_pause pause;
    uint32_t atomics; /* of the peer executed so far: MSN of the last response */
    struct uiw_drawn drawn;
    struct uiw_aim aim;
    unsigned pinned_count;
    struct uiw_mr *pinned[IW_RX_IOV_MAX]; /* pinned between map and unmap */
    struct iw_terminate terminate;
    _Atomic uint64_t octets_in, calls_in, fpdus_in; /* counters, read by any thread */
    _Atomic uint64_t heard;                         /* .fpdus_in without acknowledgements */
    uint64_t fpdus_before, octets_before;           /* at the start of the connection */
    _Atomic uint64_t crc_errors, protocol_errors, terminates_in; /* more counters */
    struct iw_rx iw;
};

#endif
