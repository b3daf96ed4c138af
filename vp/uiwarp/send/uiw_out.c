/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/send/uiw_send.h"

#include "base/base_call.h"
#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_marker.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_pollset.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* ---------------------------------------------------------------- octets that leave first */

static void out_free_image(struct uiw_ep *ep)
{
    if (ep->tx.image.buffer)
        uiw_bounce_put(&ep->ia->memory, ep->tx.image.buffer);
    ep->tx.image.buffer = NULL;
    ep->tx.image.start = 0;
    ep->tx.image.end = 0;
}

static bool out_prepend(struct uiw_ep *ep, const void *octets, size_t length)
{
    struct uiw_image *image = &ep->tx.image;

    if (!image->buffer) {
        image->buffer = uiw_bounce_get(&ep->ia->memory);
        image->start = 0;
        image->end = 0;
    }
    if (!image->buffer || length > UIW_BOUNCE_SIZE - image->end)
        return false;
    memcpy(image->buffer->octets + image->end, octets, length);
    image->end += (uint32_t)length;
    return true;
}

bool uiw_out_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length)
{
    uint8_t wire[128 + 8 * 4 + IW_CRC_FIELD];
    const struct uiw_image *image = &ep->tx.image;
    uint32_t crc;

    if (ep->agreed.send_markers) {
        uint64_t position = ep->tx.position + (image->end - image->start);

        return out_prepend(ep, wire,
                           iw_marker_insert(position, fpdu, length, ep->agreed.crc, wire));
    }
    crc = ep->agreed.crc ? iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, length)) : 0;
    return out_prepend(ep, fpdu, length) && out_prepend(ep, wire, iw_encode_trailer(wire, 0, crc));
}

bool uiw_out_keep(struct uiw_ep *ep, const struct iovec *iov, unsigned count, uint32_t end,
                  uint32_t sent)
{
    uint32_t position = 0;

    for (unsigned i = 0; i < count && position < end; i++) {
        uint32_t length = (uint32_t)iov[i].iov_len;
        uint32_t from = sent > position ? sent - position : 0;
        uint32_t to = end - position < length ? end - position : length;

        if (from < to && !out_prepend(ep, (const uint8_t *)iov[i].iov_base + from, to - from)) {
            uiw_fail_stream(ep);
            uiw_out_kill(ep);
            return false;
        }
        position += length;
    }
    return true;
}

void uiw_out_reset(struct uiw_ep *ep)
{
    struct uiw_tx *tx = &ep->tx;

    out_free_image(ep);
    tx->cursor = (struct uiw_cursor){0};
    tx->cursor.sq = atomic_load_explicit(&ep->sq.tail, memory_order_relaxed);
    atomic_store_explicit(&ep->sq_ready, tx->cursor.sq, memory_order_relaxed);
    atomic_store_explicit(&tx->offered, tx->cursor.sq, memory_order_relaxed);
    tx->position = 0;
    tx->next_send_msn = 1;
    tx->next_read_msn = 1;
    tx->responses = 0;
    tx->failed_index = 0;
    uiw_failure_forget(ep);
    atomic_store_explicit(&tx->failed_stream, false, memory_order_relaxed);
    atomic_store_explicit(&tx->hold, false, memory_order_relaxed);
    atomic_store_explicit(&tx->blocked, false, memory_order_relaxed);
    atomic_store_explicit(&tx->dead, false, memory_order_relaxed);
}

/* ---------------------------------------------------------------- one system call */

static bool out_retry_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

/* The stream has ended. After any other error the stream itself may still work. */
static bool out_is_end_of_stream(int error)
{
    return error == EPIPE || error == ECONNRESET || error == ECONNABORTED || error == ENOTCONN ||
           error == ESHUTDOWN || error == ETIMEDOUT || error == EHOSTUNREACH ||
           error == ENETUNREACH;
}

/*
 * The reader ends the connection when it has read what is there, which may be a Terminate. The
 * reader may not get the error itself: with IP_RECVERR the kernel reports an error only once, and
 * the stream stays open.
 */
static void out_lose_stream(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
    (void)shutdown(ep->fd, SHUT_RD);
}

ssize_t uiw_out_write(struct uiw_ep *ep, struct iovec *iov, unsigned count)
{
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t sent;

    do {
        /* Small messages mostly have one piece, for which send(2) is the cheaper call. */
        sent = count == 1
                   ? base_send(ep->fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT | MSG_NOSIGNAL)
                   : base_sendmsg(ep->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    uiw_count(&ep->tx.calls, 1);
    if (sent < 0 && out_retry_later(errno))
        return 0;
    if (sent < 0) {
        if (out_is_end_of_stream(errno))
            out_lose_stream(ep);
        else
            uiw_fail_stream(ep);
        return -1;
    }
    ep->tx.position += (uint64_t)sent;
    uiw_count(&ep->tx.octets, (uint64_t)sent);
    return sent;
}

void uiw_out_block(struct uiw_ep *ep, bool blocked)
{
    if (atomic_load_explicit(&ep->tx.blocked, memory_order_relaxed) == blocked)
        return;
    atomic_store_explicit(&ep->tx.blocked, blocked, memory_order_relaxed);
    if (!uiw_pollset_want(ep->ia->ual, ep->ual, ep->fd, blocked))
        uiw_fail_stream(ep);
}

bool uiw_out_take_back(struct uiw_ep *ep)
{
    bool over;

    base_lock_take(&ep->ual->lock);
    atomic_store_explicit(&ep->tx.offered, ep->tx.cursor.sq, memory_order_relaxed);
    over = uiw_sq_is_over(ep, ep->tx.cursor.sq);
    base_lock_drop(&ep->ual->lock);
    if (over) {
        uiw_fail_stream(ep);
        uiw_out_kill(ep);
    }
    return !over;
}

void uiw_out_kill(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->tx.dead, true, memory_order_relaxed);
    out_free_image(ep);
}

enum uiw_out_state uiw_out_send_image(struct uiw_ep *ep)
{
    struct uiw_image *image = &ep->tx.image;

    while (image->start != image->end) {
        struct iovec iov = {image->buffer->octets + image->start, image->end - image->start};
        ssize_t sent = uiw_out_write(ep, &iov, 1);

        if (sent < 0) {
            uiw_out_kill(ep);
            return UIW_OUT_DEAD;
        }
        if (sent == 0)
            return UIW_OUT_FULL;
        image->start += (uint32_t)sent;
    }
    out_free_image(ep);
    return UIW_OUT_MORE;
}
