/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_clock.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_pollset.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/receive/uiw_own_place.h"
#include "vp/uiwarp/receive/uiw_receive.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* A path with an MSS from here on is no Ethernet, and gets FPDUs of the largest size. */
#define START_LARGE_MSS   16384u
#define START_LARGE_ULPDU 65518u /* payload a multiple of 32 */

/* ---------------------------------------------------------------- start */

/* Returns the MULPDU: an FPDU fills a TCP segment, or, with a large MSS, is as large as can be. */
static uint32_t start_max_ulpdu(int fd, bool markers)
{
    int mss = 0;
    socklen_t size = sizeof(mss);

    if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size) != 0 || mss <= 0)
        mss = 536;
    if ((uint32_t)mss >= START_LARGE_MSS)
        return markers ? UIW_LARGE_PATH_ULPDU : START_LARGE_ULPDU;
    return iw_mulpdu((uint32_t)mss, markers);
}

/* Queues the ready-to-receive message of RFC 6581, the Initiator's first FPDU. */
static bool start_prepare_rtr(struct uiw_ep *ep)
{
    /* Only a peer with this library looks at the offset of a Read of length zero. */
    const struct iw_read_request nothing = {
        .sink_stag = 1,
        .source_stag = 1,
        .source_to = ep->own.wanted ? iw_own_greeting(ep->own.wanted) : 0};
    uint8_t fpdu[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER + IW_READ_REQUEST_HEADER];
    size_t length = 0;

    switch ((enum iw_mpa_rtr)ep->agreed.rtr) {
    case IW_RTR_WRITE:
        length = iw_encode_tagged(fpdu, IW_OP_WRITE, true, 1, 0, 0);
        break;
    case IW_RTR_SEND:
        length =
            iw_encode_untagged(fpdu, IW_OP_SEND, true, 0, IW_QN_SEND, ep->tx.next_send_msn++, 0, 0);
        break;
    case IW_RTR_READ:
        uiw_orq_enter(&ep->reads, &(struct uiw_orq_entry){.sink_stag = 1, .rtr = true});
        length = iw_encode_untagged(fpdu, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST,
                                    ep->tx.next_read_msn++, 0, IW_READ_REQUEST_HEADER);
        length += iw_encode_read_request(fpdu + length, &nothing);
        break;
    }
    return uiw_out_prepend_fpdu(ep, fpdu, length);
}

/*
 * Returns uiw_ep.release_ns. With the peer-to-peer model the Initiator always sends an RTR. A
 * program that converts a socket has agreed with its peer which side sends first.
 */
static uint64_t start_release_ns(const struct uiw_ep *ep, bool converted)
{
    if (ep->initiator || converted || ep->agreed.peer_to_peer ||
        ep->mpa.release_us > BASE_NEVER / BASE_NS_PER_US)
        return 0;
    return ep->mpa.release_us * BASE_NS_PER_US;
}

/* Both tokens are held, so no other thread uses these fields. */
static bool start_prepare(struct uiw_ep *ep, int fd, bool initiator, bool converted,
                          const struct iw_mpa_result *result)
{
    ep->agreed = *result;
    ep->initiator = initiator;
    ep->release_ns = start_release_ns(ep, converted);
    ep->id.number = atomic_fetch_add_explicit(&ep->ia->streams, 1, memory_order_relaxed) + 1;
    atomic_store_explicit(&ep->lost_event, false, memory_order_relaxed);
    atomic_store_explicit(&ep->limits.ord, result->ord, memory_order_relaxed);
    uiw_reads_reset(&ep->reads);
    uiw_out_reset(ep);
    ep->tx.max_ulpdu = start_max_ulpdu(fd, result->send_markers);
    uiw_reader_begin(ep, result->crc);
    uiw_own_begin(ep, result->rtr == IW_RTR_READ ? ep->mpa.own_peer : 0);
    if (ep->own.wanted)
        ep->rx.iw.ops = &uiw_own_greet_ops;
    atomic_store_explicit(&ep->tx.hold, !initiator, memory_order_relaxed);
    if (initiator && result->rtr != 0)
        return start_prepare_rtr(ep);
    return true;
}

struct start_ends {
    struct sockaddr_in6 local, remote; /* or struct sockaddr_in */
};

/* Reads both addresses. The peer's stays zero if the stream was reset already. */
static void start_look_at_ends(int fd, struct start_ends *ends)
{
    socklen_t length = sizeof(ends->local);

    memset(ends, 0, sizeof(*ends));
    (void)getsockname(fd, (struct sockaddr *)&ends->local, &length);
    length = sizeof(ends->remote);
    (void)getpeername(fd, (struct sockaddr *)&ends->remote, &length);
}

/* Fills in the answers of itx_ep_query_mpa and itx_ep_query_addresses. */
static void start_show(struct uiw_ep *ep, const struct start_ends *ends)
{
    ep->negotiated = true;
    ep->local = ends->local;
    ep->remote = ends->remote;
    ep->info = (struct itx_mpa_info){
        .size = sizeof(ep->info),
        .revision = ep->agreed.revision,
        .initiator = ep->initiator,
        .crc = ep->agreed.crc,
        .send_markers = ep->agreed.send_markers,
        .rtr_type = ep->agreed.rtr,
        .ird = ep->agreed.ird,
        .ord = ep->agreed.ord,
        .peer_ird = ep->agreed.peer_ird,
        .peer_ord = ep->agreed.peer_ord,
        .max_ulpdu = ep->tx.max_ulpdu,
    };
}

/* Steps to CONNECTED and sets the descriptor under one lock, so both become visible together. */
static bool start_establish(struct ual_ep *ual, int fd)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct start_ends ends;
    bool stepped;

    start_look_at_ends(fd, &ends);
    base_lock_take(&ual->lock);
    stepped = ual_ep_step_locked(ual, UAL_EP_ESTABLISHED, NULL);
    if (stepped) {
        ep->fd = fd;
        if (++ep->generation == 0)
            ep->generation = 1;
        start_show(ep, &ends);
        ual->attr.srv.rc.rdma_read_ird = ep->agreed.ird;
        ual->attr.srv.rc.rdma_read_ord = ep->agreed.ord;
    }
    base_lock_drop(&ual->lock);
    return stepped;
}

static void start_feed_early(struct ual_ep *ual, const uint8_t *early, size_t length)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct uiw_read read = {.state = UIW_READ_DRAINED};

    if (length == 0)
        return;
    read.error = iw_rx_consume(&ep->rx.iw, early, length);
    uiw_reader_count_fpdus(ep);
    if (read.error != IW_OK)
        read.state = UIW_READ_REFUSED;
    uiw_drive_act(ual, &read, true);
}

/*
 * Both tokens are held from before the EP is CONNECTED until the stream is in the poll set. A
 * consumer that posts or disconnects at once waits for them, and so does a leader that sees the
 * first octets.
 */
bool uiw_start_stream(struct ual_ep *ual, int fd, bool initiator, bool converted,
                      const struct iw_mpa_result *result, const uint8_t *early, size_t early_length,
                      struct ual_conn_news *news)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ual_ia_of(&ual->object);
    bool started;
    bool watched = false;

    uiw_reader_take(ep);
    uiw_token_wait(ep);
    started = start_prepare(ep, fd, initiator, converted, result) && start_establish(ual, fd);
    if (started) {
        news->number = IT_CM_MSG_CONN_ESTABLISHED_EVENT;
        news->ird = ep->agreed.ird;
        news->ord = ep->agreed.ord;
        ual_ep_report(ual, news);
        watched = uiw_pollset_add(ia, ual, fd);
        if (!watched)
            atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
        uiw_silence_watch(ia, ual);
    } else {
        uiw_out_reset(ep);
    }
    uiw_token_drop(ep);
    if (started) {
        uiw_drive_send(ual, true);
        start_feed_early(ual, early, early_length);
        if (atomic_load_explicit(&ep->tx.dead, memory_order_relaxed))
            uiw_verdict_closed(ual, UIW_READ_LOST, watched ? ECONNRESET : ENOMEM);
    }
    uiw_reader_drop(ep);
    return started;
}
