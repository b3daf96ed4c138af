/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path for usual posts: one segment of memory of the EP's own PZ, no flag except
 * IT_COMPLETION_FLAG and IT_NOTIFY_FLAG, on a queue with room on which no other thread is posting,
 * and whose QP works. Any other post takes the general path (vp_host.entries) unchanged.
 *
 * A queue caches the LMR of its last post of one segment: the same handle with the same number
 * means the same LMR, still live.
 */
#include "vp/verbs/post/verbs_posting.h"

#include "vp/verbs/device/verbs_sigpipe.h"

/* A receive's segment may be longer, and is shortened. */
#define USUAL_RECEIVE_MAX   UINT32_C(0x7fffffff)
#define USUAL_RECEIVE_FLAGS ((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG)

#define USUAL_LIKELY(condition) __builtin_expect((condition), true)
#define USUAL_INLINE            static inline __attribute__((always_inline))
#define USUAL_COLD              static __attribute__((noinline, cold))

/* A kind of request. */
struct usual_kind {
    enum verbs_usual plain, inlined; /* equal if the data is never sent inline */
    it_event_type_t event;
};

enum usual_outcome {
    USUAL_POSTED,
    USUAL_GENERAL, /* take the general path */
    USUAL_LOCKED   /* the same, after dropping the lock */
};

/* The arguments of a post. */
struct usual_post {
    const it_lmr_triplet_t *segments;
    size_t count;
    it_dto_cookie_t cookie;
    it_dto_flags_t flags;
    it_rdma_addr_t rdma_addr;
    it_rmr_context_t rmr_context;
};

/* vp_layout.area[VP_EP], which every post reads. */
static size_t usual_area;

void verbs_usual_set_layout(const struct vp_layout *layout)
{
    usual_area = layout->area[VP_EP];
}

USUAL_INLINE struct verbs_ep *usual_ep(it_ep_handle_t handle)
{
    return (struct verbs_ep *)(void *)((unsigned char *)handle + usual_area);
}

/* ---------------------------------------------------------------- the LMR of the last post */

/* Sets a handle that no program has, so that the next post takes the general path. */
static void usual_forget_lmr(struct verbs_queue *queue)
{
    queue->lmr = (it_lmr_handle_t)(void *)queue;
}

void verbs_usual_set_limits(struct verbs_ep *ep)
{
    struct verbs_queue *queue = &ep->sq;

    queue->payload_max = verbs_host->ep_attributes(ep->ual)->max_dto_payload_size;
    queue->inline_max = ep->inline_max < queue->payload_max ? ep->inline_max : queue->payload_max;
    usual_forget_lmr(queue);
}

void verbs_usual_set_qp(struct verbs_ep *ep, struct ibv_qp *qp)
{
    bool guarded = ep->ia->quirks.is_siw && !verbs_sigpipe_is_ignored();

    ep->qp = qp;
    ep->sq.qp = qp;
    ep->sq.post.send = guarded ? verbs_sigpipe_post_send : qp->context->ops.post_send;
    verbs_usual_set_limits(ep);
    ep->rq.qp = qp;
    ep->rq.post.recv = qp->context->ops.post_recv;
    usual_forget_lmr(&ep->rq);
}

USUAL_INLINE bool usual_is_same_lmr(const struct verbs_queue *queue, it_lmr_handle_t lmr)
{
    return USUAL_LIKELY(lmr == queue->lmr) &&
           USUAL_LIKELY(atomic_load_explicit(queue->pass_at, memory_order_acquire) == queue->pass);
}

void verbs_usual_remember(struct verbs_queue *queue, it_lmr_handle_t handle)
{
    const struct verbs_lmr *lmr = verbs_lmr_of(handle);
    const _Atomic uint64_t *pass_at;
    uint64_t pass;

    if (usual_is_same_lmr(queue, handle))
        return;
    usual_forget_lmr(queue);
    pass_at = verbs_host->lmr_pass(handle);
    pass = pass_at ? atomic_load_explicit(pass_at, memory_order_acquire) : 0;
    if (pass == 0 || lmr->pd != queue->ep->pd)
        return;
    queue->lmr = handle;
    queue->pass_at = pass_at;
    queue->pass = pass;
    queue->sge.lkey = lmr->lkey;
    queue->region = lmr->addr;
    queue->region_inline = lmr->length < queue->inline_max ? lmr->length : queue->inline_max;
    queue->inline_end = lmr->length - queue->region_inline + 1;
}

/* ---------------------------------------------------------------- one post */

/*
 * Returns true if there is room. A program that keeps its queue full has room for one post after
 * each completion, so the number of free slots is read again here.
 */
USUAL_INLINE bool usual_has_room(struct verbs_queue *queue)
{
    if (USUAL_LIKELY(queue->tail != queue->room_end))
        return true;
    if (!USUAL_LIKELY(queue->usual))
        return false;
    queue->room_end = atomic_load_explicit(&queue->retired, memory_order_acquire) + queue->depth;
    return USUAL_LIKELY(queue->tail != queue->room_end);
}

/* Drops the lock. Returns the functions to go on with. */
USUAL_COLD const struct base_entries *usual_give_up(struct verbs_queue *queue)
{
    base_lock_drop(&queue->lock);
    return verbs_host->entries;
}

USUAL_COLD it_status_t usual_wake(struct verbs_queue *queue)
{
    base_lock_wake(&queue->lock);
    return IT_SUCCESS;
}

/* Drops the lock. The request has been posted unless error is set. */
USUAL_INLINE it_status_t usual_end(struct verbs_queue *queue, int error)
{
    if (!USUAL_LIKELY(error == 0))
        return verbs_queue_finish(queue, error);
    queue->tail++;
    return base_lock_leave(&queue->lock) ? usual_wake(queue) : IT_SUCCESS;
}

/*
 * Chooses the prepared request by length. Returns NULL if the length is too long, or if the general
 * path must check whether inline data lies in its region.
 */
USUAL_INLINE struct ibv_send_wr *usual_choose(struct verbs_queue *queue, struct usual_kind kind,
                                              uintptr_t addr, uint64_t length)
{
    if (kind.inlined != kind.plain && USUAL_LIKELY(length <= queue->region_inline))
        return USUAL_LIKELY(addr - queue->region < queue->inline_end)
                   ? &queue->usual_wr.send[kind.inlined]
                   : NULL;
    return USUAL_LIKELY(length <= queue->payload_max) ? &queue->usual_wr.send[kind.plain] : NULL;
}

/* Posts and sets *status, or returns that the request is not a usual one. */
USUAL_INLINE enum usual_outcome usual_request(struct verbs_queue *queue, struct usual_kind kind,
                                              struct usual_post post, it_status_t *status)
{
    struct ibv_send_wr *wr, *bad;
    struct verbs_slot *slot;
    uint64_t length;
    uint32_t number;

    /* Passes only one segment, no other flag, and a key of 32 bits. */
    if (post.rmr_context >> 32 | (post.count - 1) |
        (((unsigned)post.flags - (unsigned)IT_COMPLETION_FLAG) & ~(unsigned)IT_NOTIFY_FLAG))
        return USUAL_GENERAL;
    if (!USUAL_LIKELY(post.segments != NULL) || !base_lock_try(&queue->lock))
        return USUAL_GENERAL;
    /* Without an ORD a Read might wait for ever. */
    if (!usual_is_same_lmr(queue, post.segments->lmr) || !usual_has_room(queue) ||
        (kind.event == IT_DTO_RDMA_READ_CMPL_EVENT && !USUAL_LIKELY(queue->may_read)))
        return USUAL_LOCKED;
    number = queue->tail;
    length = post.segments->length;
    queue->sge.addr = (uintptr_t)post.segments->addr.abs;
    queue->sge.length = (uint32_t)length;
    wr = usual_choose(queue, kind, queue->sge.addr, length);
    if (!USUAL_LIKELY(wr != NULL))
        return USUAL_LOCKED;
    /* The order of these stores keeps the compiler from merging them. */
    slot = &queue->slots[number & queue->mask];
    slot->number = number;
    slot->cookie = post.cookie;
    slot->length = (uint32_t)length;
    wr->wr_id = (uintptr_t)slot;
    slot->what = (unsigned)post.flags | verbs_event_bits(kind.event);
    if (kind.event != IT_DTO_SEND_CMPL_EVENT) {
        wr->wr.rdma.remote_addr = post.rdma_addr;
        wr->wr.rdma.rkey = (uint32_t)post.rmr_context;
    }
    *status = usual_end(queue, queue->post.send(queue->qp, wr, &bad));
    return USUAL_POSTED;
}

/* ---------------------------------------------------------------- the posts */

/* Calls the function of the API that has this event. */
USUAL_INLINE it_status_t usual_go_on(const struct base_entries *entries, it_ep_handle_t handle,
                                     it_event_type_t event, struct usual_post post)
{
    if (event == IT_DTO_SEND_CMPL_EVENT)
        return entries->post_send(handle, post.segments, post.count, post.cookie, post.flags);
    if (event == IT_DTO_RDMA_WRITE_CMPL_EVENT)
        return entries->post_rdma_write(handle, post.segments, post.count, post.cookie, post.flags,
                                        post.rdma_addr, post.rmr_context);
    return entries->post_rdma_read(handle, post.segments, post.count, post.cookie, post.flags,
                                   post.rdma_addr, post.rmr_context);
}

USUAL_COLD it_status_t usual_give_up_request(struct verbs_queue *queue, it_event_type_t event,
                                             struct usual_post post)
{
    return usual_go_on(usual_give_up(queue), queue->handle, event, post);
}

USUAL_INLINE it_status_t usual_post(it_ep_handle_t handle, struct usual_kind kind,
                                    struct usual_post post)
{
    struct verbs_queue *queue = &usual_ep(handle)->sq;
    it_status_t status = IT_SUCCESS;

    switch (usual_request(queue, kind, post, &status)) {
    case USUAL_POSTED:
        return status;
    case USUAL_LOCKED:
        return usual_give_up_request(queue, kind.event, post);
    case USUAL_GENERAL:
    default:
        return usual_go_on(verbs_host->entries, handle, kind.event, post);
    }
}

static it_status_t usual_post_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    const struct usual_kind kind = {VERBS_USUAL_SEND, VERBS_USUAL_SEND_INLINE,
                                    IT_DTO_SEND_CMPL_EVENT};
    const struct usual_post post = {segments, count, cookie, flags, 0, 0};

    return usual_post(handle, kind, post);
}

static it_status_t usual_post_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                    size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    const struct usual_kind kind = {VERBS_USUAL_WRITE, VERBS_USUAL_WRITE_INLINE,
                                    IT_DTO_RDMA_WRITE_CMPL_EVENT};
    const struct usual_post post = {segments, count, cookie, flags, rdma_addr, rmr_context};

    return usual_post(handle, kind, post);
}

static it_status_t usual_post_read(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                   it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    const struct usual_kind kind = {VERBS_USUAL_READ, VERBS_USUAL_READ,
                                    IT_DTO_RDMA_READ_CMPL_EVENT};
    const struct usual_post post = {segments, count, cookie, flags, rdma_addr, rmr_context};

    return usual_post(handle, kind, post);
}

USUAL_COLD it_status_t usual_give_up_recv(it_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags)
{
    return usual_give_up(&usual_ep((it_ep_handle_t)handle)->rq)
        ->post_recv(handle, segments, count, cookie, flags);
}

static it_status_t usual_post_recv(it_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct verbs_queue *queue = &usual_ep((it_ep_handle_t)handle)->rq;
    struct verbs_slot *slot;
    struct ibv_recv_wr *bad;

    if (((unsigned)flags & ~USUAL_RECEIVE_FLAGS) | (count - 1) || !USUAL_LIKELY(segments != NULL) ||
        !USUAL_LIKELY(segments->length <= USUAL_RECEIVE_MAX) || !base_lock_try(&queue->lock))
        return verbs_host->entries->post_recv(handle, segments, count, cookie, flags);
    if (!usual_is_same_lmr(queue, segments->lmr) || !usual_has_room(queue))
        return usual_give_up_recv(handle, segments, count, cookie, flags);
    slot = &queue->slots[queue->tail & queue->mask];
    slot->cookie = cookie;
    slot->number = queue->tail;
    /* A peer may have solicited the event, but the completion does not show that. */
    slot->what = (unsigned)flags | IT_NOTIFY_FLAG | VERBS_RECEIVE |
                 verbs_event_bits(IT_DTO_RC_RECV_CMPL_EVENT);
    queue->sge.addr = (uintptr_t)segments->addr.abs;
    queue->sge.length = (uint32_t)segments->length;
    queue->usual_wr.recv.wr_id = (uintptr_t)slot;
    return usual_end(queue, queue->post.recv(queue->qp, &queue->usual_wr.recv, &bad));
}

static it_status_t usual_no_dequeue(it_evd_handle_t evd, it_event_t *event)
{
    return verbs_host->entries->dequeue(evd, event); /* an EP is no EVD */
}

const struct base_entries verbs_ep_entries = {
    .post_send = usual_post_send,
    .post_rdma_write = usual_post_write,
    .post_rdma_read = usual_post_read,
    .post_recv = usual_post_recv,
    .dequeue = usual_no_dequeue,
};
