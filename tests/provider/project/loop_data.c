/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting. */
#include "loop.h"

#include <string.h>

/* ---- Completions ---------------------------------------------------------------------------- */

static void loop_complete(struct loop_later *later, struct loop_ep *ep, enum vp_queue queue,
                          struct vp_completion *completion)
{
    bool requests = queue == VP_REQUESTS;
    uint32_t *reported = requests ? &ep->request_reported : &ep->recv_reported;
    enum vp_completed result;

    if (completion->status != IT_DTO_SUCCESS) {
        completion->length = 0;
        completion->notify = true;
    }
    completion->retire = requests ? &ep->request_retired : &ep->recv_retired;
    completion->retire_value = *reported + 1;
    result = loop_host->complete(ep->ual, queue, completion);
    if (result != VP_COMPLETION_LOST)
        ++*reported;
    else
        ep->lost = true;
    if (result != VP_COMPLETED)
        loop_wake(later, ep, queue);
}

static void loop_complete_receive(struct loop_later *later, struct loop_ep *ep,
                                  struct vp_completion *completion)
{
    const struct loop_receive *receive = &ep->receives[ep->recv_head % ep->recv_depth];

    completion->event_number = IT_DTO_RC_RECV_CMPL_EVENT;
    completion->cookie = receive->cookie;
    completion->notify |= (receive->flags & IT_NOTIFY_FLAG) != 0;
    ep->recv_head++;
    loop_complete(later, ep, VP_RECEIVES, completion);
}

void loop_flush(struct loop_later *later, struct loop_ep *ep, it_dto_status_t first)
{
    while (ep->recv_head != ep->recv_tail) {
        struct vp_completion completion = {.status = first};

        loop_complete_receive(later, ep, &completion);
        first = IT_DTO_ERR_FLUSHED;
    }
}

/* ---- What requests do ----------------------------------------------------------------------- */

/* The outcome of a request, and what both sides are told if it failed. */
struct loop_outcome {
    it_dto_status_t status;
    it_dto_status_t peer_recv; /* of the peer's oldest receive */
    it_event_type_t ours, theirs;
};

static const struct loop_outcome loop_good = {.status = IT_DTO_SUCCESS};
static const struct loop_outcome loop_bad_segment = {
    IT_DTO_ERR_LOCAL_PROTECTION, IT_DTO_ERR_FLUSHED, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION,
    IT_ASYNC_AFF_EP_R_ERROR};

static struct loop_outcome loop_refused(it_event_type_t theirs)
{
    return (struct loop_outcome){IT_DTO_ERR_REMOTE_ACCESS, IT_DTO_ERR_FLUSHED,
                                 IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION, theirs};
}

/* Sends data, and perhaps a value: as on InfiniBand both use the same receive. */
static struct loop_outcome loop_send(struct loop_later *later, struct loop_ep *ep,
                                     const struct vp_request *request,
                                     const struct loop_segment *segments)
{
    struct loop_ep *peer = ep->peer;
    const struct loop_receive *receive = &peer->receives[peer->recv_head % peer->recv_depth];
    struct vp_completion completion = {
        .length = (uint32_t)request->length,
        .notify = (request->flags & IT_SOLICITED_WAIT_FLAG) != 0,
        .has_immediate = request->has_immediate,
        .immediate = request->immediate,
    };

    if (peer->recv_head == peer->recv_tail)
        return (struct loop_outcome){IT_DTO_ERR_RECEIVER_NOT_READY, IT_DTO_ERR_FLUSHED,
                                     IT_ASYNC_AFF_EP_R_ERROR, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR};
    if (request->length > loop_length(receive->segments, receive->count))
        return (struct loop_outcome){IT_DTO_ERR_REMOTE_RESPONDER, IT_DTO_ERR_LOCAL_LENGTH,
                                     IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR,
                                     IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION};
    if (!loop_is_allowed(receive->segments, request->length ? receive->count : 0,
                         IT_PRIV_LOCAL_WRITE, peer->pz))
        return (struct loop_outcome){IT_DTO_ERR_REMOTE_RESPONDER, IT_DTO_ERR_LOCAL_PROTECTION,
                                     IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION,
                                     IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION};
    loop_copy(receive->segments, receive->count, segments, request->segment_count);
    loop_complete_receive(later, peer, &completion);
    return loop_good;
}

static struct loop_outcome loop_write(struct loop_later *later, struct loop_ep *ep,
                                      const struct vp_request *request,
                                      const struct loop_segment *segments)
{
    it_rc_only_attributes_t rc = loop_rc(ep->peer);
    struct vp_request value = *request;

    if (request->length > 0) {
        uint8_t *to = rc.rdma_write_enable
                          ? loop_remote(ep->peer, request->rmr_context, request->rdma_addr,
                                        request->length, IT_PRIV_REMOTE_WRITE)
                          : NULL;

        if (!to)
            return loop_refused(IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
        loop_gather(to, segments, request->segment_count);
    }
    if (!request->has_immediate)
        return loop_good;
    value.length = 0;
    value.segment_count = 0;
    return loop_send(later, ep, &value, NULL);
}

static struct loop_outcome loop_read(struct loop_ep *ep, const struct vp_request *request,
                                     const struct loop_segment *segments)
{
    it_rc_only_attributes_t rc = loop_rc(ep->peer);
    const uint8_t *from;

    if (request->length == 0)
        return loop_good;
    from = rc.rdma_read_enable ? loop_remote(ep->peer, request->rmr_context, request->rdma_addr,
                                             request->length, IT_PRIV_REMOTE_READ)
                               : NULL;
    if (!from)
        return loop_refused(IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION);
    loop_scatter(segments, request->segment_count, from, request->length);
    return loop_good;
}

static struct loop_outcome loop_atomic(struct loop_ep *ep, const struct vp_request *request,
                                       const struct loop_segment *segments)
{
    it_rc_only_attributes_t rc = loop_rc(ep->peer);
    uint64_t original = request->compare;
    uint8_t *at;

    at = rc.atomics_enable ? loop_remote(ep->peer, request->rmr_context, request->rdma_addr,
                                         sizeof(original), IT_PRIV_ATOMIC)
                           : NULL;
    if (!at)
        return loop_refused(IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION);
    if ((uintptr_t)at % sizeof(original) != 0)
        return (struct loop_outcome){IT_DTO_ERR_REMOTE_RESPONDER, IT_DTO_ERR_FLUSHED,
                                     IT_ASYNC_AFF_EP_R_ERROR, IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR};
    if (request->opcode == VP_FETCH_ADD)
        original = __atomic_fetch_add((uint64_t *)(void *)at, request->operand, __ATOMIC_SEQ_CST);
    else if (request->opcode == VP_SWAP)
        original = __atomic_exchange_n((uint64_t *)(void *)at, request->operand, __ATOMIC_SEQ_CST);
    else /* a failure sets original to the value found; on success it is that value */
        (void)__atomic_compare_exchange_n((uint64_t *)(void *)at, &original, request->operand,
                                          false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    memcpy(segments[0].addr, &original, sizeof(original));
    return loop_good;
}

static struct loop_outcome loop_run(struct loop_later *later, struct loop_ep *ep,
                                    const struct vp_request *request)
{
    struct loop_segment segments[LOOP_SEGMENTS];
    bool reads = request->opcode == VP_SEND || request->opcode == VP_RDMA_WRITE;
    it_mem_priv_t right = reads ? IT_PRIV_LOCAL_READ : IT_PRIV_LOCAL_WRITE;

    if (!reads && loop_rc(ep).rdma_read_ord == 0)
        return (struct loop_outcome){IT_DTO_ERR_LOCAL_EP, IT_DTO_ERR_FLUSHED,
                                     IT_ASYNC_AFF_EP_FAILURE, IT_ASYNC_AFF_EP_R_ERROR};
    loop_segments(segments, request->segments, request->segment_count);
    if (!loop_is_allowed(segments, request->segment_count, right, ep->pz))
        return loop_bad_segment;
    switch (request->opcode) {
    case VP_SEND:
        return loop_send(later, ep, request, segments);
    case VP_RDMA_WRITE:
        return loop_write(later, ep, request, segments);
    case VP_RDMA_READ:
        return loop_read(ep, request, segments);
    default:
        return loop_atomic(ep, request, segments);
    }
}

/* ---- The two calls -------------------------------------------------------------------------- */

/* Returns 0 for an unknown operation. */
static it_event_type_t loop_event_number(const struct vp_request *request)
{
    static const it_event_type_t numbers[] = {
        [VP_SEND] = IT_DTO_SEND_CMPL_EVENT,
        [VP_RDMA_WRITE] = IT_DTO_RDMA_WRITE_CMPL_EVENT,
        [VP_RDMA_READ] = IT_DTO_RDMA_READ_CMPL_EVENT,
        [VP_FETCH_ADD] = IT_DTO_FETCH_ADD_CMPL_EVENT,
        [VP_CMP_SWAP] = IT_DTO_CMP_SWAP_CMPL_EVENT,
        [VP_SWAP] = IT_DTO_CMP_SWAP_CMPL_EVENT,
    };

    return (size_t)request->opcode < sizeof(numbers) / sizeof(numbers[0]) ? numbers[request->opcode]
                                                                          : (it_event_type_t)0;
}

static void loop_complete_request(struct loop_later *later, struct loop_ep *ep,
                                  const struct vp_request *request, it_dto_status_t status)
{
    struct vp_completion completion = {
        .event_number = loop_event_number(request),
        .status = status,
        .cookie = request->cookie,
        .length = (uint32_t)request->length,
        .notify = (request->flags & IT_NOTIFY_FLAG) != 0,
    };

    if (status != IT_DTO_SUCCESS || (request->flags & IT_COMPLETION_FLAG))
        loop_complete(later, ep, VP_REQUESTS, &completion);
}

static void loop_break(struct loop_later *later, struct loop_ep *ep,
                       const struct loop_outcome *outcome)
{
    struct loop_ep *peer = ep->peer;

    if (outcome->status != IT_DTO_SUCCESS) {
        loop_flush(later, peer, outcome->peer_recv);
        loop_raise(later, ep, outcome->ours);
        loop_raise(later, peer, outcome->theirs);
    }
    loop_part(later, ep, UAL_EP_BROKEN, UAL_EP_BROKEN);
}

static it_status_t loop_post_request_locked(struct loop_later *later, struct loop_ep *ep,
                                            const struct vp_request *request)
{
    it_ep_state_rc_t state = loop_host->ep_state(ep->ual);
    uint32_t retired = atomic_load(&ep->request_retired);
    struct loop_outcome outcome;

    if (state != IT_EP_STATE_CONNECTED && state != IT_EP_STATE_NONOPERATIONAL)
        return IT_ERR_INVALID_EP_STATE;
    if (ep->request_reported - retired >= ep->request_depth)
        return IT_ERR_TOO_MANY_POSTS;
    if (state == IT_EP_STATE_NONOPERATIONAL) {
        loop_complete_request(later, ep, request, IT_DTO_ERR_FLUSHED);
        return IT_SUCCESS;
    }
    outcome = loop_run(later, ep, request);
    loop_complete_request(later, ep, request, outcome.status);
    if (outcome.status != IT_DTO_SUCCESS || ep->lost || ep->peer->lost)
        loop_break(later, ep, &outcome);
    return IT_SUCCESS;
}

static it_status_t loop_post_request(struct ual_ep *ual, const struct vp_request *request)
{
    struct loop_later later;
    it_status_t status;

    if (loop_event_number(request) == 0)
        return IT_ERR_OP_NOT_SUPPORTED;
    loop_begin(&later);
    status = loop_post_request_locked(&later, loop_ep_of(ual), request);
    loop_end(&later);
    return status;
}

static it_status_t loop_post_recv(struct ual_ep *ual, const it_lmr_triplet_t *segments,
                                  size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct loop_ep *ep = loop_ep_of(ual);
    struct loop_receive *receive;
    struct loop_later later;

    loop_begin(&later);
    if (ep->recv_tail - ep->recv_head + (ep->recv_reported - atomic_load(&ep->recv_retired)) >=
        ep->recv_depth) {
        loop_end(&later);
        return IT_ERR_TOO_MANY_POSTS;
    }
    receive = &ep->receives[ep->recv_tail++ % ep->recv_depth];
    receive->cookie = cookie;
    receive->flags = (unsigned)flags;
    receive->count = count;
    loop_segments(receive->segments, segments, count);
    if (loop_host->ep_state(ual) == IT_EP_STATE_NONOPERATIONAL)
        loop_flush(&later, ep, IT_DTO_ERR_FLUSHED);
    loop_end(&later);
    return IT_SUCCESS;
}

const struct vp_ep_ops loop_ep_ops = {
    .post_request = loop_post_request,
    .post_recv = loop_post_recv,
};
