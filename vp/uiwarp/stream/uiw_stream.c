/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader: takes octets from the socket, has them placed, and acts on what ended the stream. */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_call.h"
#include "base/base_clock.h"
#include "evd/deliver/evd_deliver.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/lead/uiw_handover.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/send/uiw_tx.h"
#include "vp/uiwarp/stream/uiw_log.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Less payload than this goes through the staging buffer: a copy is cheaper than a scattered read. */
#define STREAM_DIRECT_MIN 8192u
/*
 * Behind directly read payload: trailer and the next header, and a small FPDU if one follows. All else
 * of it is payload that has to be copied, so neither is larger.
 */
#define STREAM_TAIL        256u
#define STREAM_HEADER_READ 256u
/*
 * A turn: what is read of one stream before the others have theirs, by octets and by FPDUs, of which small ones
 * cost as much as large ones. Both are looked at between two reads.
 */
#define STREAM_TURN_OCTETS        ((size_t)1 << 20)
#define STREAM_TURN_OCTETS_SHARED ((size_t)1 << 18)
#define STREAM_TURN_FPDUS         2048u
#define STREAM_TURN_FPDUS_SHARED  512u
/* FPDUs shorter than this on average are read fewer at a time: the least are of 20 octets. */
#define STREAM_TINY_FPDU 64u
#define STREAM_TINY_READ 16384u
/* From this MSS on the path is no Ethernet: FPDUs as large as they get, whole in few segments. */
#define STREAM_LARGE_MSS    16384u
#define STREAM_LARGE_ULPDU  65518u /* payload a multiple of 32 */
#define STREAM_MARKER_ULPDU 16384u

enum stream_state {
    STREAM_MORE,
    STREAM_DRAINED,
    STREAM_CLOSED,
    STREAM_LOST,
    STREAM_REFUSED
};

struct stream_read {
    enum stream_state state;
    enum iw_error error; /* with REFUSED */
    int lost;            /* with LOST: errno */
    size_t octets;
};

/* ---------------------------------------------------------------- one read */

static enum stream_state stream_state_of(struct stream_read *read, ssize_t got)
{
    if (got == 0)
        return STREAM_CLOSED;
    if (got > 0)
        return STREAM_MORE;
    read->lost = errno;
    return errno == EAGAIN || errno == EWOULDBLOCK ? STREAM_DRAINED : STREAM_LOST;
}

/* By the FPDUs that a full read held, not by where it happened to end. */
static enum uiw_expect stream_expect(const struct uiw_ep *ep, size_t got, uint64_t fpdus)
{
    if (ep->rx.ulpdu_length >= STREAM_DIRECT_MIN || got / (fpdus + 1) >= STREAM_DIRECT_MIN)
        return UIW_EXPECT_LARGE;
    return got / (fpdus + 1) < STREAM_TINY_FPDU ? UIW_EXPECT_TINY : UIW_EXPECT_ANY;
}

static size_t stream_staged_size(const struct uiw_ep *ep)
{
    static const size_t sizes[] = {[UIW_EXPECT_ANY] = UIW_STAGING_SIZE,
                                   [UIW_EXPECT_TINY] = STREAM_TINY_READ,
                                   [UIW_EXPECT_LARGE] = STREAM_HEADER_READ};

    return sizes[ep->expect];
}

static void stream_read_staged(struct uiw_ep *ep, uint8_t *staging, struct stream_read *read)
{
    size_t size = stream_staged_size(ep);
    uint64_t fpdus = ep->rx.fpdus;
    ssize_t got;

    do {
        got = base_recv(ep->fd, staging, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    uiw_count(&ep->calls_in, 1);
    read->state = stream_state_of(read, got);
    if (got <= 0)
        return;
    read->octets += (size_t)got;
    read->error = iw_rx_consume(&ep->rx, staging, (size_t)got);
    if (read->error != IW_OK)
        read->state = STREAM_REFUSED;
    else if ((size_t)got < size)
        read->state = STREAM_DRAINED;
    else
        ep->expect = stream_expect(ep, size, ep->rx.fpdus - fpdus);
}

/* On a path of large segments, once there is bulk on it. */
static void stream_widen(struct uiw_ep *ep)
{
    ep->widened = true;
    if (ep->tx.max_ulpdu >= STREAM_MARKER_ULPDU)
        uiw_net_widen(ep->fd);
}

/* Straight into the destination, with a little room behind it. */
static void stream_read_direct(struct uiw_ep *ep, uint8_t *staging, uint32_t wanted,
                               struct stream_read *read)
{
    struct iovec iov[IW_RX_IOV_MAX + 1];
    struct msghdr message = {.msg_iov = iov};
    unsigned count;
    ssize_t got;
    uint32_t direct;

    if (!ep->widened)
        stream_widen(ep);
    read->error = iw_rx_direct_begin(&ep->rx, &wanted, iov, &count);
    if (read->error != IW_OK) {
        read->state = STREAM_REFUSED;
        return;
    }
    iov[count] = (struct iovec){staging, STREAM_TAIL};
    message.msg_iovlen = count + 1;
    do {
        got = base_recvmsg(ep->fd, &message, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    uiw_count(&ep->calls_in, 1);
    read->state = stream_state_of(read, got);
    direct = got <= 0 ? 0 : (size_t)got < wanted ? (uint32_t)got : wanted;
    read->error = iw_rx_direct_end(&ep->rx, direct);
    if (read->error == IW_OK && got > 0 && (size_t)got > wanted)
        read->error = iw_rx_consume(&ep->rx, staging, (size_t)got - wanted);
    if (read->error != IW_OK)
        read->state = STREAM_REFUSED;
    if (got <= 0)
        return;
    read->octets += (size_t)got;
    ep->expect = UIW_EXPECT_LARGE;
    if (read->state == STREAM_MORE && (size_t)got < wanted + STREAM_TAIL)
        read->state = STREAM_DRAINED;
}

/* Silence of the peer is told by it (uiw_silence.c), and a whole FPDU (uiw_progress.c). */
static void stream_count_fpdus(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->fpdus_in, ep->fpdus_before + ep->rx.fpdus, memory_order_relaxed);
}

/* Behind an FPDU that is not its message's last, too. */
static bool stream_is_unfinished(const struct uiw_ep *ep)
{
    return !iw_rx_at_boundary(&ep->rx) || (ep->rx.fpdus > 0 && !ep->rx.segment.last);
}

/* There is more to read. */
static bool stream_turn_goes_on(const struct uiw_ep *ep, const struct stream_read *read,
                                uint64_t fpdus, bool shared)
{
    return read->octets < (shared ? STREAM_TURN_OCTETS_SHARED : STREAM_TURN_OCTETS) &&
           fpdus < (shared ? STREAM_TURN_FPDUS_SHARED : STREAM_TURN_FPDUS) && !ep->rx_terminated;
}

static void stream_read_turn(struct uiw_ep *ep, uint8_t *staging, bool shared,
                             struct stream_read *read)
{
    uint64_t fpdus = ep->rx.fpdus;

    do {
        uint32_t wanted = iw_rx_direct_wanted(&ep->rx);

        if (wanted >= STREAM_DIRECT_MIN || (wanted > 0 && ep->expect == UIW_EXPECT_LARGE))
            stream_read_direct(ep, staging, wanted, read);
        else
            stream_read_staged(ep, staging, read);
    } while (read->state == STREAM_MORE &&
             stream_turn_goes_on(ep, read, ep->rx.fpdus - fpdus, shared));
    uiw_count(&ep->octets_in, read->octets);
    uiw_gather_note(&ep->gather, stream_is_unfinished(ep));
    stream_count_fpdus(ep);
}

/* ---------------------------------------------------------------- why a stream ends */

static bool stream_is_response(enum iw_opcode opcode)
{
    return opcode == IW_OP_READ_RESPONSE || opcode == IW_OP_ATOMIC_RESPONSE;
}

/* The affiliated event that tells the consumer of an error found here (events.md has the list). */
static it_event_type_t stream_async_of_error(const struct uiw_ep *ep, enum iw_error error)
{
    enum iw_opcode opcode = ep->rx.segment.opcode;
    bool request = opcode == IW_OP_READ_REQUEST || opcode == IW_OP_ATOMIC_REQUEST;

    if (IW_ERROR_LAYER(error) == 2)
        return IT_ASYNC_AFF_EP_L_LLP_ERROR;
    if (error == IW_ERR_RDMAP_OPCODE)
        return IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE;
    if (error == IW_ERR_RDMAP_CANNOT_INVALIDATE)
        return IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_LOCAL || error == IW_ERR_DDP_TOO_LONG)
        return stream_is_response(opcode) ? IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION
                                          : IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_NO_BUFFER && request)
        return IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_NO_BUFFER && ep->ual->srq)
        return IT_ASYNC_AFF_EP_SRQ_ERROR;
    if (opcode == IW_OP_WRITE && (IW_ERROR_TYPE(error) == 1 && error != IW_ERR_DDP_TAGGED_VERSION))
        return IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION;
    if (request && IW_ERROR_LAYER(error) == 0 && IW_ERROR_TYPE(error) == 1)
        return opcode == IW_OP_READ_REQUEST ? IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION
                                            : IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION;
    return IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR;
}

/* The Read or atomic that a bad response belongs to, if any. */
static void stream_blame_read(struct uiw_ep *ep, struct uiw_end *end, it_dto_status_t status)
{
    uint32_t head = atomic_load_explicit(&ep->orq_head, memory_order_relaxed);
    const struct uiw_orq_entry *read = &ep->orq[head & ep->orq_mask];

    if (head == atomic_load_explicit(&ep->orq_tail, memory_order_acquire) || read->rtr)
        return;
    end->has_failed_request = true;
    end->failed_index = read->sq_index;
    end->failed_status = status;
}

static void stream_end_refused(struct ual_ep *ual, enum iw_error error)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct iw_terminate terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .async = stream_async_of_error(ep, error),
                          .terminate = &terminate,
                          .recv_status = IT_DTO_ERR_FLUSHED};
    bool response = stream_is_response(ep->rx.segment.opcode);

    iw_rx_fill_terminate(&ep->rx, error, &terminate);
    if (error == IW_ERR_DDP_TOO_LONG)
        end.recv_status = IT_DTO_ERR_LOCAL_LENGTH;
    else if (error == IW_ERR_DDP_LOCAL && !response)
        end.recv_status = IT_DTO_ERR_LOCAL_PROTECTION;
    else if (response && IW_ERROR_LAYER(error) != 2)
        stream_blame_read(ep, &end,
                          error == IW_ERR_DDP_LOCAL ? IT_DTO_ERR_LOCAL_PROTECTION
                                                    : IT_DTO_ERR_BAD_RESPONSE);
    if (error == IW_ERR_MPA_CRC)
        uiw_count(&ep->crc_errors, 1);
    else
        uiw_count(&ep->protocol_errors, 1);
    uiw_log_refused(ual, error);
    uiw_ep_end(ual, &end, true);
}

static it_event_type_t stream_async_of_terminate(enum iw_error error)
{
    unsigned layer = IW_ERROR_LAYER(error);
    unsigned type = IW_ERROR_TYPE(error);

    if (layer <= 1 && type == 1)
        return IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION;
    if (error == IW_ERR_DDP_TOO_LONG)
        return IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR;
    if (error == IW_ERR_DDP_LOCAL)
        return IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION;
    return IT_ASYNC_AFF_EP_R_ERROR;
}

/* Which of our Reads and atomics a Terminate is about. */
enum stream_blame {
    STREAM_BLAME_NONE,
    STREAM_BLAME_OLDEST,
    STREAM_BLAME_NAMED /* the Request's header with its MSN is in the Terminate */
};

static enum stream_blame stream_blame_of(const struct uiw_ep *ep)
{
    const struct iw_terminate *terminate = &ep->rx_terminate;
    uint32_t head = atomic_load_explicit(&ep->orq_head, memory_order_relaxed);
    bool open = head != atomic_load_explicit(&ep->orq_tail, memory_order_acquire);

    if (terminate->has_rdmap) /* a Read's */
        return IW_ERROR_TYPE(terminate->error) == 1 ? STREAM_BLAME_NAMED : STREAM_BLAME_NONE;
    if (terminate->has_ddp)
        return terminate->ddp_length == IW_UNTAGGED_HEADER &&
                       (terminate->ddp[1] & 0x0fu) == IW_OP_ATOMIC_REQUEST
                   ? STREAM_BLAME_NAMED
                   : STREAM_BLAME_NONE;
    /* Linux siw knows no atomics and names no header then. */
    return terminate->error == IW_ERR_RDMAP_OPCODE && open && ep->orq[head & ep->orq_mask].atomic
               ? STREAM_BLAME_OLDEST
               : STREAM_BLAME_NONE;
}

static void stream_blame_refused(struct uiw_ep *ep, struct uiw_end *end)
{
    const uint8_t *ddp = ep->rx_terminate.ddp;
    enum stream_blame blame = stream_blame_of(ep);
    uint32_t msn = (uint32_t)ddp[10] << 24 | (uint32_t)ddp[11] << 16 | (uint32_t)ddp[12] << 8 |
                   (uint32_t)ddp[13];
    uint32_t tail = atomic_load_explicit(&ep->orq_tail, memory_order_acquire);
    uint32_t index = atomic_load_explicit(&ep->orq_head, memory_order_relaxed);

    if (blame == STREAM_BLAME_NONE)
        return;
    stream_blame_read(ep, end,
                      IW_ERROR_TYPE(ep->rx_terminate.error) == 1 ? IT_DTO_ERR_REMOTE_ACCESS
                                                                 : IT_DTO_ERR_REMOTE_RESPONDER);
    if (blame == STREAM_BLAME_OLDEST || ep->rx_terminate.little_endian_nibbles)
        return; /* siw puts the size of the Read where its MSN was */
    for (; index != tail; index++) {
        const struct uiw_orq_entry *read = &ep->orq[index & ep->orq_mask];

        if (!read->rtr && uiw_sqe_at(ep, read->sq_index)->msn == msn)
            end->failed_index = read->sq_index;
    }
}

static void stream_end_terminated(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    const struct iw_terminate *terminate = &ep->rx_terminate;
    struct uiw_end end = {.step = UAL_EP_BROKEN,
                          .async = stream_async_of_terminate(terminate->error),
                          .recv_status = IT_DTO_ERR_FLUSHED};

    stream_blame_refused(ep, &end);
    uiw_count(&ep->terminates_in, 1);
    uiw_log_terminated(ual, terminate);
    uiw_ep_end(ual, &end, true);
}

static void stream_end_closed(struct ual_ep *ual, enum stream_state state, int lost)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool graceful = state == STREAM_CLOSED && iw_rx_at_boundary(&ep->rx) &&
                    !atomic_load_explicit(&ep->tx.dead, memory_order_relaxed);
    struct uiw_end end = {.step = graceful ? UAL_EP_CLOSED : UAL_EP_BROKEN,
                          .async = graceful ? (it_event_type_t)0 : IT_ASYNC_AFF_EP_L_LLP_ERROR,
                          .recv_status = IT_DTO_ERR_FLUSHED};

    if (!graceful)
        uiw_log_lost(ual, state == STREAM_LOST ? lost : 0);
    uiw_ep_end(ual, &end, true);
}

/* ---------------------------------------------------------------- after reading */

/* What the calls of the protocol code left to be done when no lock is held. */
static void stream_settle(struct ual_ep *ual, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    uiw_srq_tell(ep);
    if (ep->rx_wake_recv) {
        ep->rx_wake_recv = false;
        evd_wake(ual->recv_evd);
    }
    if (ep->rx_wake_request) {
        ep->rx_wake_request = false;
        evd_wake(ual->request_evd);
    }
    if (atomic_load_explicit(&ep->tx.hold, memory_order_relaxed) && ep->rx.fpdus > 0) {
        /* The peer has spoken: our FPDUs may go (RFC 5044 7.1.2). */
        atomic_store_explicit(&ep->tx.hold, false, memory_order_release);
        ep->rx_kick = true;
    }
    if (ep->rx_kick || atomic_load_explicit(&ep->lost_event, memory_order_relaxed)) {
        ep->rx_kick = false;
        uiw_tx_turn(ual, true, false, shared);
    }
}

static void stream_act(struct ual_ep *ual, const struct stream_read *read, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    stream_settle(ual, shared);
    if (ep->rx_terminated)
        stream_end_terminated(ual);
    else if (read->state == STREAM_REFUSED)
        stream_end_refused(ual, read->error);
    else if (read->state == STREAM_CLOSED || read->state == STREAM_LOST)
        stream_end_closed(ual, read->state, read->lost);
}

size_t uiw_stream_receive(struct ual_ep *ual, uint8_t *staging, bool shared)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct stream_read read = {.state = STREAM_MORE};

    if (!uiw_reader_try(ep))
        return 0;
    if (ep->fd >= 0) {
        stream_read_turn(ep, staging, shared, &read);
        if (read.octets > 0 || read.state != STREAM_DRAINED)
            stream_act(ual, &read, shared);
    }
    uiw_reader_drop(ep);
    return read.octets;
}

/* ---------------------------------------------------------------- start */

/* Full segments toward an ordinary network; on a path without small segments, large FPDUs. */
static uint32_t stream_max_ulpdu(int fd, bool markers)
{
    int mss = 0;
    socklen_t size = sizeof(mss);

    if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size) != 0 || mss <= 0)
        mss = 536;
    if ((uint32_t)mss >= STREAM_LARGE_MSS)
        return markers ? STREAM_MARKER_ULPDU : STREAM_LARGE_ULPDU;
    return iw_mulpdu((uint32_t)mss, markers);
}

/* The ready-to-receive message of RFC 6581: the initiator's first FPDU. */
static bool stream_prepare_rtr(struct uiw_ep *ep)
{
    static const struct iw_read_request nothing = {.sink_stag = 1, .source_stag = 1};
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
        ep->orq[0] = (struct uiw_orq_entry){.sink_stag = 1, .rtr = true};
        atomic_store_explicit(&ep->orq_tail, 1, memory_order_relaxed);
        length = iw_encode_untagged(fpdu, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST,
                                    ep->tx.next_read_msn++, 0, IW_READ_REQUEST_HEADER);
        length += iw_encode_read_request(fpdu + length, &nothing);
        break;
    }
    return uiw_tx_prepend_fpdu(ep, fpdu, length);
}

/*
 * With the peer-to-peer model the Initiator's RTR comes in any case. Who converts a socket has agreed with
 * the peer on who speaks first.
 */
static uint64_t stream_release_ns(const struct uiw_ep *ep, bool converted)
{
    if (ep->initiator || converted || ep->agreed.peer_to_peer ||
        ep->mpa.release_us > BASE_NEVER / BASE_NS_PER_US)
        return 0;
    return ep->mpa.release_us * BASE_NS_PER_US;
}

/* Both tokens are held: nobody else looks at these. */
static bool stream_prepare(struct uiw_ep *ep, int fd, bool initiator, bool converted,
                           const struct iw_mpa_result *result)
{
    ep->agreed = *result;
    ep->initiator = initiator;
    ep->release_ns = stream_release_ns(ep, converted);
    ep->id.number = atomic_fetch_add_explicit(&ep->ia->streams, 1, memory_order_relaxed) + 1;
    ep->rx_wake_recv = false;
    ep->rx_wake_request = false;
    ep->rx_kick = false;
    ep->rx_tell_low = false;
    ep->rx_tell_high = false;
    ep->rx_drawn = false;
    ep->rx_terminated = false;
    ep->expect = UIW_EXPECT_ANY;
    ep->widened = false;
    ep->rx_atomics = 0;
    ep->fpdus_before = atomic_load_explicit(&ep->fpdus_in, memory_order_relaxed);
    ep->octets_before = atomic_load_explicit(&ep->octets_in, memory_order_relaxed);
    atomic_store_explicit(&ep->lost_event, false, memory_order_relaxed);
    atomic_store_explicit(&ep->ord_limit, result->ord, memory_order_relaxed);
    atomic_store_explicit(&ep->orq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&ep->orq_tail, 0, memory_order_relaxed);
    atomic_store_explicit(&ep->irq_head, 0, memory_order_relaxed);
    atomic_store_explicit(&ep->irq_sent, 0, memory_order_relaxed);
    atomic_store_explicit(&ep->irq_tail, 0, memory_order_relaxed);
    iw_rx_init(&ep->rx, &uiw_rx_ops, ep, result->crc);
    uiw_tx_reset(ep);
    ep->tx.max_ulpdu = stream_max_ulpdu(fd, result->send_markers);
    uiw_gather_begin(&ep->gather, ep->tx.max_ulpdu < STREAM_MARKER_ULPDU);
    atomic_store_explicit(&ep->tx.hold, !initiator, memory_order_relaxed);
    if (initiator && result->rtr != 0)
        return stream_prepare_rtr(ep);
    return true;
}

/* What itx_ep_query_mpa tells from now on. */
static void stream_show(struct uiw_ep *ep)
{
    ep->negotiated = true;
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

/* The step and the descriptor become visible together. */
static bool stream_establish(struct ual_ep *ual, int fd)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    bool stepped;

    base_lock_take(&ual->lock);
    stepped = ual_ep_step_locked(ual, UAL_EP_ESTABLISHED, NULL);
    if (stepped) {
        ep->fd = fd;
        if (++ep->generation == 0)
            ep->generation = 1;
        stream_show(ep);
        ual->attr.srv.rc.rdma_read_ird = ep->agreed.ird;
        ual->attr.srv.rc.rdma_read_ord = ep->agreed.ord;
    }
    base_lock_drop(&ual->lock);
    return stepped;
}

static void stream_feed_early(struct ual_ep *ual, const uint8_t *early, size_t length)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct stream_read read = {.state = STREAM_DRAINED};

    if (length == 0)
        return;
    read.error = iw_rx_consume(&ep->rx, early, length);
    stream_count_fpdus(ep);
    if (read.error != IW_OK)
        read.state = STREAM_REFUSED;
    stream_act(ual, &read, true);
}

/*
 * Both tokens are held from before the EP is CONNECTED until the stream is in the poll set, so that
 * a consumer who posts or disconnects at once, and a leader who sees the first octets, wait for it.
 */
bool uiw_stream_start(struct ual_ep *ual, int fd, bool initiator, bool converted,
                      const struct iw_mpa_result *result, const uint8_t *early, size_t early_length,
                      struct ual_conn_news *news)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    struct ual_ia *ia = ual_ia_of(&ual->object);
    bool started;

    uiw_reader_take(ep);
    uiw_tx_take(ep);
    started = stream_prepare(ep, fd, initiator, converted, result) && stream_establish(ual, fd);
    if (started) {
        news->number = IT_CM_MSG_CONN_ESTABLISHED_EVENT;
        news->ird = ep->agreed.ird;
        news->ord = ep->agreed.ord;
        ual_ep_report(ual, news);
        if (!uiw_progress_add(ia, ual, fd))
            atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
        uiw_silence_watch(ia, ual);
    } else {
        uiw_tx_reset(ep);
    }
    uiw_tx_drop(ep);
    if (started) {
        uiw_tx_kick(ual, true);
        stream_feed_early(ual, early, early_length);
        if (atomic_load_explicit(&ep->tx.dead, memory_order_relaxed))
            stream_end_closed(ual, STREAM_LOST, ENOMEM);
    }
    uiw_reader_drop(ep);
    return started;
}
