/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/base_call.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/receive/uiw_receive.h"

#include <errno.h>
#include <sys/socket.h>

/* Shorter payload goes through the staging buffer: a copy is cheaper than a scatter read. */
#define READER_DIRECT_MIN 8192u

/*
 * A direct read has this much room behind the payload, for the trailer, the next header and perhaps
 * a small FPDU. Payload that arrives there must be copied, so the room is not larger.
 */
#define READER_TAIL 256u

#define READER_HEADER_READ 256u

/* FPDUs of fewer octets on average are read in smaller pieces: the shortest have 20. */
#define READER_TINY_FPDU 64u
#define READER_TINY_READ 16384u

/*
 * Limits of a stream's turn, in octets and in FPDUs, since a small FPDU costs as much as a large
 * one. Both are checked between two reads.
 */
#define READER_TURN_OCTETS        ((size_t)1 << 20)
#define READER_TURN_OCTETS_SHARED ((size_t)1 << 18)
#define READER_TURN_OCTETS_TOLD   ((size_t)1 << 17) /* a receive has completed for the consumer */
#define READER_TURN_FPDUS         2048u
#define READER_TURN_FPDUS_SHARED  512u

void uiw_reader_begin(struct uiw_ep *ep, bool crc)
{
    struct uiw_rx *rx = &ep->rx;

    rx->wake_recv = false;
    rx->wake_request = false;
    rx->kick = false;
    rx->tell_low = false;
    rx->tell_high = false;
    rx->has_drawn = false;
    rx->terminated = false;
    rx->expect = UIW_EXPECT_ANY;
    rx->widened = false;
    rx->atomics = 0;
    rx->aim.current = false;
    rx->fpdus_before = atomic_load_explicit(&rx->fpdus_in, memory_order_relaxed);
    rx->octets_before = atomic_load_explicit(&rx->octets_in, memory_order_relaxed);
    uiw_pause_begin(&rx->pause, ep->tx.max_ulpdu < UIW_LARGE_PATH_ULPDU);
    iw_rx_init(&rx->iw, &uiw_place_ops, ep, crc);
}

static enum uiw_read_state reader_state_of(struct uiw_read *read, ssize_t got)
{
    if (got == 0)
        return UIW_READ_CLOSED;
    if (got > 0)
        return UIW_READ_MORE;
    read->lost = errno;
    return errno == EAGAIN || errno == EWOULDBLOCK ? UIW_READ_DRAINED : UIW_READ_LOST;
}

/* Judges by the FPDUs in a full read, wherever the read has ended. */
static enum uiw_expect reader_expect(const struct uiw_ep *ep, size_t got, uint64_t fpdus)
{
    if (ep->rx.iw.ulpdu_length >= READER_DIRECT_MIN || got / (fpdus + 1) >= READER_DIRECT_MIN)
        return UIW_EXPECT_LARGE;
    return got / (fpdus + 1) < READER_TINY_FPDU ? UIW_EXPECT_TINY : UIW_EXPECT_ANY;
}

static size_t reader_staged_size(const struct uiw_ep *ep)
{
    static const size_t sizes[] = {[UIW_EXPECT_ANY] = UIW_STAGING_SIZE,
                                   [UIW_EXPECT_TINY] = READER_TINY_READ,
                                   [UIW_EXPECT_LARGE] = READER_HEADER_READ};

    return sizes[ep->rx.expect];
}

static void reader_read_staged(struct uiw_ep *ep, uint8_t *staging, struct uiw_read *read)
{
    size_t size = reader_staged_size(ep);
    uint64_t fpdus = ep->rx.iw.fpdus;
    ssize_t got;

    do {
        got = base_recv(ep->fd, staging, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    uiw_count(&ep->rx.calls_in, 1);
    read->state = reader_state_of(read, got);
    if (got <= 0)
        return;
    read->octets += (size_t)got;
    read->error = iw_rx_consume(&ep->rx.iw, staging, (size_t)got);
    if (read->error != IW_OK)
        read->state = UIW_READ_REFUSED;
    else if ((size_t)got < size)
        read->state = UIW_READ_DRAINED;
    else
        ep->rx.expect = reader_expect(ep, size, ep->rx.iw.fpdus - fpdus);
}

/* Raises the receive window on a path with large segments, at the first large transfer. */
static void reader_widen(struct uiw_ep *ep)
{
    ep->rx.widened = true;
    if (ep->tx.max_ulpdu >= UIW_LARGE_PATH_ULPDU)
        uiw_net_widen(ep->fd);
}

/* Reads into the destination, and up to READER_TAIL octets more into `staging`. */
static void reader_read_direct(struct uiw_ep *ep, uint8_t *staging, uint32_t wanted,
                               struct uiw_read *read)
{
    struct iovec iov[IW_RX_IOV_MAX + 1];
    struct msghdr message = {.msg_iov = iov};
    unsigned count;
    ssize_t got;
    uint32_t direct;

    if (!ep->rx.widened)
        reader_widen(ep);
    read->error = iw_rx_direct_begin(&ep->rx.iw, &wanted, iov, &count);
    if (read->error != IW_OK) {
        read->state = UIW_READ_REFUSED;
        return;
    }
    iov[count] = (struct iovec){staging, READER_TAIL};
    message.msg_iovlen = count + 1;
    do {
        got = base_recvmsg(ep->fd, &message, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    uiw_count(&ep->rx.calls_in, 1);
    read->state = reader_state_of(read, got);
    direct = got <= 0 ? 0 : (size_t)got < wanted ? (uint32_t)got : wanted;
    read->error = iw_rx_direct_end(&ep->rx.iw, direct);
    if (read->error == IW_OK && got > 0 && (size_t)got > wanted)
        read->error = iw_rx_consume(&ep->rx.iw, staging, (size_t)got - wanted);
    if (read->error != IW_OK)
        read->state = UIW_READ_REFUSED;
    if (got <= 0)
        return;
    read->octets += (size_t)got;
    ep->rx.expect = UIW_EXPECT_LARGE;
    if (read->state == UIW_READ_MORE && (size_t)got < wanted + READER_TAIL)
        read->state = UIW_READ_DRAINED;
}

void uiw_reader_count_fpdus(struct uiw_ep *ep)
{
    uint64_t fpdus = ep->rx.fpdus_before + ep->rx.iw.fpdus;

    atomic_store_explicit(&ep->rx.fpdus_in, fpdus, memory_order_relaxed);
    atomic_store_explicit(&ep->rx.heard, fpdus - ep->own.acks, memory_order_relaxed);
}

bool uiw_reader_is_unfinished(const struct uiw_ep *ep)
{
    return !iw_rx_at_boundary(&ep->rx.iw) || (ep->rx.iw.fpdus > 0 && !ep->rx.iw.segment.last);
}

/* Returns true if the turn may go on; there is more to read. */
static bool reader_turn_goes_on(const struct uiw_ep *ep, const struct uiw_read *read,
                                uint64_t fpdus, uint32_t reported, bool shared)
{
    size_t octets = uiw_queue_reported(&ep->rq) != reported ? READER_TURN_OCTETS_TOLD
                    : shared                                ? READER_TURN_OCTETS_SHARED
                                                            : READER_TURN_OCTETS;

    return read->octets < octets &&
           fpdus < (shared ? READER_TURN_FPDUS_SHARED : READER_TURN_FPDUS) && !ep->rx.terminated;
}

void uiw_reader_read(struct uiw_ep *ep, uint8_t *staging, bool shared, struct uiw_read *read)
{
    uint64_t fpdus = ep->rx.iw.fpdus;
    uint32_t reported = uiw_queue_reported(&ep->rq);

    do {
        uint32_t wanted = iw_rx_direct_wanted(&ep->rx.iw);

        if (wanted >= READER_DIRECT_MIN || (wanted > 0 && ep->rx.expect == UIW_EXPECT_LARGE))
            reader_read_direct(ep, staging, wanted, read);
        else
            reader_read_staged(ep, staging, read);
    } while (read->state == UIW_READ_MORE &&
             reader_turn_goes_on(ep, read, ep->rx.iw.fpdus - fpdus, reported, shared));
    uiw_count(&ep->rx.octets_in, read->octets);
    uiw_pause_note(&ep->rx.pause, uiw_reader_is_unfinished(ep));
    uiw_reader_count_fpdus(ep);
}
