/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that the protocol code (iw_rx.h) calls when a segment arrives. They decide whether
 * it may be placed, and where, and complete the work that it ends. The reader runs them.
 */
#include "vp/uiwarp/receive/uiw_receive.h"

#include "tdi/iwarp/iw_atomic.h"
#include "tdi/iwarp/iw_octets.h"
#include "vp/uiwarp/queue/uiw_rq.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/receive/uiw_aim.h"

#include <string.h>

/* ---------------------------------------------------------------- checks */

static enum iw_error place_pin_write(struct uiw_ep *ep, const struct iw_segment *segment,
                                     uint32_t offset, uint32_t length, struct uiw_mr **mr,
                                     uint8_t **addr)
{
    if (!atomic_load_explicit(&ep->limits.write_enabled, memory_order_relaxed))
        return IW_ERR_RDMAP_ACCESS;
    return uiw_write_error(uiw_mr_pin_remote(&ep->ia->memory.mrs, segment->stag,
                                             segment->to + offset, length, IT_PRIV_REMOTE_WRITE,
                                             &ep->id, mr, addr));
}

static enum iw_error place_check_write(struct uiw_ep *ep, const struct iw_segment *segment)
{
    struct uiw_mr *mr;
    uint8_t *addr;
    enum iw_error error = place_pin_write(ep, segment, 0, segment->length, &mr, &addr);

    if (error == IW_OK)
        uiw_mr_unpin(mr);
    return error;
}

static enum iw_error place_check_response(struct uiw_ep *ep, const struct iw_segment *segment)
{
    const struct uiw_orq_entry *read = uiw_orq_oldest(&ep->reads);
    uint32_t left;

    if (!read || read->atomic)
        return IW_ERR_RDMAP_OPCODE;
    if (segment->stag != read->sink_stag)
        return IW_ERR_DDP_INVALID_STAG;
    left = read->length - read->received;
    if (segment->to != read->received || segment->length > left)
        return IW_ERR_DDP_BOUNDS;
    if (segment->last != (segment->length == left))
        return IW_ERR_DDP_BOUNDS;
    return IW_OK;
}

static enum iw_error place_check_send(struct uiw_ep *ep, const struct iw_segment *segment)
{
    uint32_t head = uiw_queue_head(&ep->rq);
    const struct uiw_rqe *rqe = uiw_rqe_at(ep, head);

    if (head == atomic_load_explicit(&ep->rq.tail, memory_order_acquire) &&
        (!ep->ual->srq || !uiw_srq_draw(ep)))
        return IW_ERR_DDP_NO_BUFFER;
    if (segment->mo > rqe->length || segment->length > rqe->length - segment->mo)
        return IW_ERR_DDP_TOO_LONG;
    return IW_OK;
}

/* The same for a segment with payload, which may begin a message. */
static enum iw_error place_admit_send(struct uiw_ep *ep, const struct iw_segment *segment)
{
    enum iw_error error = place_check_send(ep, segment);

    if (error == IW_OK && segment->mo == 0)
        uiw_aim_begin(&ep->rx.aim, segment->length);
    return error;
}

enum iw_error uiw_place_check(void *context, const struct iw_segment *segment)
{
    if (segment->opcode == IW_OP_WRITE)
        return place_check_write(context, segment);
    if (segment->opcode == IW_OP_READ_RESPONSE)
        return place_check_response(context, segment);
    return place_admit_send(context, segment);
}

/* ---------------------------------------------------------------- destination */

void uiw_place_unmap(void *context)
{
    struct uiw_ep *ep = context;

    while (ep->rx.pinned_count > 0)
        uiw_mr_unpin(ep->rx.pinned[--ep->rx.pinned_count]);
}

/* Adds octets [offset, offset + *length) of local segments to *iov. A full *iov lowers *length. */
static enum iw_error place_map_segments(struct uiw_ep *ep, const struct uiw_segment *segments,
                                        unsigned segment_count, uint32_t offset, uint32_t *length,
                                        struct iovec *iov, unsigned *count)
{
    uint32_t left = *length;

    for (unsigned i = 0; i < segment_count && left > 0 && *count < IW_RX_IOV_MAX; i++) {
        uint32_t piece = segments[i].length;

        if (offset >= piece) {
            offset -= piece;
            continue;
        }
        piece = piece - offset < left ? piece - offset : left;
        /* The whole posted segment must lie in its region, not only the part that is used. */
        if (!uiw_mr_pin_local(segments[i].mr, segments[i].stag, segments[i].addr,
                              segments[i].length, IT_PRIV_LOCAL_WRITE, ep->pz)) {
            uiw_place_unmap(ep);
            return IW_ERR_DDP_LOCAL;
        }
        ep->rx.pinned[ep->rx.pinned_count++] = segments[i].mr;
        iov[(*count)++] = (struct iovec){segments[i].addr + offset, piece};
        offset = 0;
        left -= piece;
    }
    *length -= left;
    return IW_OK;
}

/* The same for a receive of which a part is aimed elsewhere. */
static enum iw_error place_map_aimed(struct uiw_ep *ep, const struct uiw_rqe *rqe, uint32_t offset,
                                     uint32_t *length, struct iovec *iov, unsigned *count)
{
    const struct uiw_aim *aim = &ep->rx.aim;
    uint32_t end = offset + *length;
    uint32_t at = offset;

    while (at < end && *count < IW_RX_IOV_MAX) {
        bool aimed;
        uint32_t part = uiw_aim_part(aim, at, end, &aimed);
        enum iw_error error = IW_OK;

        if (aimed)
            iov[(*count)++] = (struct iovec){uiw_aim_place(aim, at), part};
        else
            error =
                place_map_segments(ep, rqe->segments, rqe->segment_count, at, &part, iov, count);
        if (error != IW_OK)
            return error;
        at += part;
    }
    *length = at - offset;
    return IW_OK;
}

static enum iw_error place_map_write(struct uiw_ep *ep, const struct iw_segment *segment,
                                     uint32_t offset, uint32_t length, struct iovec *iov,
                                     unsigned *count)
{
    struct uiw_mr *mr;
    uint8_t *addr;
    enum iw_error error = place_pin_write(ep, segment, offset, length, &mr, &addr);

    if (error != IW_OK)
        return error;
    ep->rx.pinned[ep->rx.pinned_count++] = mr;
    iov[0] = (struct iovec){addr, length};
    *count = 1;
    return IW_OK;
}

enum iw_error uiw_place_map(void *context, const struct iw_segment *segment, uint32_t offset,
                            uint32_t *length, struct iovec *iov, unsigned *count)
{
    struct uiw_ep *ep = context;

    if (segment->opcode == IW_OP_WRITE)
        return place_map_write(ep, segment, offset, *length, iov, count);
    *count = 0;
    if (segment->opcode == IW_OP_READ_RESPONSE) {
        const struct uiw_orq_entry *read = uiw_orq_oldest(&ep->reads);
        const struct uiw_sqe *sqe = uiw_sqe_at(ep, read->sq_index);

        return place_map_segments(ep, sqe->segments, sqe->segment_count, read->received + offset,
                                  length, iov, count);
    } else {
        const struct uiw_rqe *rqe = uiw_rqe_at(ep, uiw_queue_head(&ep->rq));

        if (__builtin_expect(ep->rx.aim.current, false))
            return place_map_aimed(ep, rqe, segment->mo + offset, length, iov, count);
        return place_map_segments(ep, rqe->segments, rqe->segment_count, segment->mo + offset,
                                  length, iov, count);
    }
}

/* ---------------------------------------------------------------- a whole segment at once */

/*
 * Copies to a receive of one segment, in which the octets fit. Returns false if its memory is no
 * longer registered.
 */
static bool place_copy_send(struct uiw_ep *ep, const struct uiw_rqe *rqe, uint32_t offset,
                            const uint8_t *payload, uint32_t length)
{
    const struct uiw_segment *sink = &rqe->segments[0];

    if (!uiw_mr_pin_local(sink->mr, sink->stag, sink->addr, sink->length, IT_PRIV_LOCAL_WRITE,
                          ep->pz))
        return false;
    memcpy(sink->addr + offset, payload, length);
    uiw_mr_unpin(sink->mr);
    return true;
}

static enum iw_error place_copy_write(struct uiw_ep *ep, const struct iw_segment *segment,
                                      const uint8_t *payload)
{
    struct uiw_mr *mr;
    uint8_t *addr;
    enum iw_error error = place_pin_write(ep, segment, 0, segment->length, &mr, &addr);

    if (error != IW_OK)
        return error;
    if (segment->length > 0)
        iw_copy_payload(addr, payload, segment->length);
    uiw_mr_unpin(mr);
    return IW_OK;
}

static enum iw_error place_copy(struct uiw_ep *ep, const struct iw_segment *segment,
                                const uint8_t *payload)
{
    struct iovec iov[IW_RX_IOV_MAX];

    for (uint32_t offset = 0; offset < segment->length;) {
        uint32_t mapped = segment->length - offset;
        unsigned count = 0;
        enum iw_error error = uiw_place_map(ep, segment, offset, &mapped, iov, &count);

        if (error != IW_OK)
            return error;
        for (unsigned i = 0; i < count; i++) {
            memcpy(iov[i].iov_base, payload, iov[i].iov_len);
            payload += iov[i].iov_len;
        }
        uiw_place_unmap(ep);
        offset += mapped;
    }
    return IW_OK;
}

enum iw_error uiw_place_whole(void *context, const struct iw_segment *segment,
                              const uint8_t *payload)
{
    struct uiw_ep *ep = context;
    bool response = segment->opcode == IW_OP_READ_RESPONSE;
    const struct uiw_rqe *rqe;
    enum iw_error error;

    if (segment->opcode == IW_OP_WRITE)
        return place_copy_write(ep, segment, payload);
    error = response ? place_check_response(ep, segment) : place_admit_send(ep, segment);
    if (error != IW_OK || segment->length == 0)
        return error;
    if (response)
        return place_copy(ep, segment, payload);
    rqe = uiw_rqe_at(ep, uiw_queue_head(&ep->rq));
    if (rqe->segment_count != 1 || ep->rx.aim.current)
        return place_copy(ep, segment, payload);
    return place_copy_send(ep, rqe, segment->mo, payload, segment->length) ? IW_OK
                                                                           : IW_ERR_DDP_LOCAL;
}

/*
 * The short way for a message of one segment. When it returns false, uiw_place_whole finds the
 * reason, or draws a receive from the S-RQ.
 */
bool uiw_place_take(void *context, const uint8_t *payload, uint32_t length, bool solicited)
{
    struct uiw_ep *ep = context;
    uint32_t head = uiw_queue_head(&ep->rq);
    const struct uiw_rqe *rqe = uiw_rqe_at(ep, head);

    if (head == atomic_load_explicit(&ep->rq.tail, memory_order_acquire) ||
        rqe->segment_count != 1 || length > rqe->length || uiw_aim_wants(&ep->rx.aim, length) ||
        !place_copy_send(ep, rqe, 0, payload, length))
        return false;
    uiw_rq_complete(ep, length, solicited, NULL);
    return true;
}

/* ---------------------------------------------------------------- completion */

/* Completes the oldest Read or atomic of this side. */
static void place_answered(struct uiw_ep *ep)
{
    const struct uiw_orq_entry *entry = uiw_orq_oldest(&ep->reads);

    if (!entry->rtr) {
        struct uiw_sqe *sqe = uiw_sqe_at(ep, entry->sq_index);

        if (sqe->flags & IT_UNLINK_LOCAL_SINK)
            sqe->unlinked =
                uiw_sink_unlink(&ep->ia->memory.mrs, &sqe->segments[0], sqe->to_windows);
        base_lock_take(&ep->ual->lock);
        sqe->done = UIW_DONE;
        ep->rx.wake_request |= uiw_sq_complete_locked(ep);
        base_lock_drop(&ep->ual->lock);
    }
    uiw_orq_leave(&ep->reads);
    ep->rx.kick = true; /* ORD and fences may let another request start */
}

static enum iw_error place_done_response(struct uiw_ep *ep, const struct iw_segment *segment)
{
    uiw_orq_oldest(&ep->reads)->received += segment->length;
    if (segment->last)
        place_answered(ep);
    return IW_OK;
}

enum iw_error uiw_place_atomic_response(void *context, const struct iw_atomic_response *response)
{
    struct uiw_ep *ep = context;
    const struct uiw_orq_entry *entry = uiw_orq_oldest(&ep->reads);
    const struct uiw_segment *result;

    if (!entry || !entry->atomic)
        return IW_ERR_RDMAP_OPCODE;
    if (response->id != entry->sq_index)
        return IW_ERR_RDMAP_UNSPECIFIED;
    result = &uiw_sqe_at(ep, entry->sq_index)->segments[0];
    if (!uiw_mr_pin_local(result->mr, result->stag, result->addr, result->length,
                          IT_PRIV_LOCAL_WRITE, ep->pz))
        return IW_ERR_DDP_LOCAL;
    memcpy(result->addr, &response->original, sizeof(response->original));
    uiw_mr_unpin(result->mr);
    place_answered(ep);
    return IW_OK;
}

static enum iw_error place_done_send(struct uiw_ep *ep, const struct iw_segment *segment)
{
    bool solicited = segment->opcode == IW_OP_SEND_SE || segment->opcode == IW_OP_SEND_SE_INV;
    it_handle_t unlinked = NULL;

    if (!segment->last)
        return IW_OK;
    if (segment->opcode == IW_OP_SEND_INV || segment->opcode == IW_OP_SEND_SE_INV) {
        enum iw_error error = uiw_region_invalidate(&ep->ia->memory.mrs, uiw_pz_of(ep->ual->pz),
                                                    &ep->id, segment->stag, &unlinked);

        if (error != IW_OK)
            return error;
    }
    if (__builtin_expect(ep->rx.aim.current, false))
        uiw_rqe_at(ep, uiw_queue_head(&ep->rq))->cookie |= ep->rx.aim.mark;
    if ((segment->control & IW_OWN_VALUE) && (ep->own.agreed & IW_OWN_IMM))
        uiw_rq_complete_immediate(ep, segment->mo + segment->length, segment->stag, solicited);
    else
        uiw_rq_complete(ep, segment->mo + segment->length, solicited, unlinked);
    uiw_aim_end(&ep->rx.aim, segment->mo + segment->length);
    return IW_OK;
}

/*
 * Immediate Data takes a receive as an empty Send does, but only if the consumer said that both
 * sides have agreed on it. To another consumer such a completion makes no sense.
 */
enum iw_error uiw_place_immediate(void *context, uint64_t value, bool solicited)
{
    struct uiw_ep *ep = context;
    struct iw_segment empty = ep->rx.iw.segment;
    enum iw_error error;

    empty.length = 0;
    if (atomic_load_explicit(&ep->ual->immediate_bits, memory_order_relaxed) == 0)
        return IW_ERR_RDMAP_OPCODE;
    error = place_check_send(ep, &empty);
    if (error == IW_OK)
        uiw_rq_complete_immediate(ep, 0, value, solicited);
    return error;
}

enum iw_error uiw_place_done(void *context, const struct iw_segment *segment)
{
    if (segment->opcode == IW_OP_WRITE)
        return IW_OK;
    if (segment->opcode == IW_OP_READ_RESPONSE)
        return place_done_response(context, segment);
    return place_done_send(context, segment);
}

/* ---------------------------------------------------------------- Reads and atomics of the peer */

static enum iw_error place_check_source(struct uiw_ep *ep, const struct iw_read_request *request)
{
    struct uiw_mr *mr;
    uint8_t *addr;
    enum uiw_mr_verdict verdict;

    if (request->length == 0)
        return IW_OK;
    if (!atomic_load_explicit(&ep->limits.read_enabled, memory_order_relaxed))
        return IW_ERR_RDMAP_ACCESS;
    verdict = uiw_mr_pin_remote(&ep->ia->memory.mrs, request->source_stag, request->source_to,
                                request->length, IT_PRIV_REMOTE_READ, &ep->id, &mr, &addr);
    if (verdict == UIW_MR_OK)
        uiw_mr_unpin(mr);
    return uiw_read_error(verdict);
}

/*
 * Returns how many Reads and atomics the peer may have open: the IRD rounded up to a power of two,
 * which is half of the ring. Linux siw rounds up the ORD that it gets, and uses all of it.
 */
static uint32_t place_irq_depth(const struct uiw_ep *ep)
{
    return ep->agreed.ird == 0 ? 0 : (ep->reads.irq_mask + 1) / 2;
}

static bool place_has_irq_room(const struct uiw_ep *ep)
{
    uint32_t tail = atomic_load_explicit(&ep->reads.irq_tail, memory_order_relaxed);
    uint32_t open = tail - atomic_load_explicit(&ep->reads.irq_sent, memory_order_acquire);
    uint32_t kept = tail - atomic_load_explicit(&ep->reads.irq_head, memory_order_acquire);

    return open < place_irq_depth(ep) && kept <= ep->reads.irq_mask;
}

static void place_enter_irq(struct uiw_ep *ep, const struct uiw_irq_entry *entry)
{
    uiw_irq_enter(&ep->reads, entry);
    ep->rx.kick = true;
}

/*
 * Queues the Request. It is answered when all octets of this read are parsed. So a peer that sends
 * more Requests than the IRD without waiting for answers is caught, and short answers share a
 * system call.
 */
enum iw_error uiw_place_read_request(void *context, const struct iw_read_request *request)
{
    struct uiw_ep *ep = context;
    enum iw_error error;

    if (!place_has_irq_room(ep))
        return IW_ERR_DDP_NO_BUFFER;
    error = place_check_source(ep, request);
    if (error != IW_OK)
        return error;
    place_enter_irq(ep, &(struct uiw_irq_entry){.request = *request, .msn = ep->rx.iw.segment.msn});
    return IW_OK;
}

/* Executes the atomic at once, so that it keeps its order among Writes and Sends. */
enum iw_error uiw_place_atomic_request(void *context, const struct iw_atomic_request *request)
{
    struct uiw_ep *ep = context;
    struct uiw_irq_entry entry = {.is_atomic = true, .atomic.id = request->id};
    enum iw_error error;

    if (!iw_atomic_is_known(request))
        return IW_ERR_RDMAP_OPCODE;
    if (!place_has_irq_room(ep))
        return IW_ERR_DDP_NO_BUFFER;
    error = uiw_atomic_execute(ep, request, &entry.atomic.original);
    if (error != IW_OK)
        return error;
    entry.msn = ++ep->rx.atomics;
    place_enter_irq(ep, &entry);
    return IW_OK;
}

void uiw_place_terminate(void *context, const struct iw_terminate *terminate)
{
    struct uiw_ep *ep = context;

    ep->rx.terminate = *terminate;
    ep->rx.terminated = true;
}

const struct iw_rx_ops uiw_place_ops = {
    .check = uiw_place_check,
    .map = uiw_place_map,
    .unmap = uiw_place_unmap,
    .place = uiw_place_whole,
    .take = uiw_place_take,
    .done = uiw_place_done,
    .read_request = uiw_place_read_request,
    .atomic_request = uiw_place_atomic_request,
    .atomic_response = uiw_place_atomic_response,
    .immediate = uiw_place_immediate,
    .terminate = uiw_place_terminate,
};
