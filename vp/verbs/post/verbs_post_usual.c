/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The posts that nearly all are, in few instructions: one segment of memory of the EP's own PZ, requests with
 * IT_COMPLETION_FLAG and nothing else but IT_NOTIFY_FLAG, on a queue that nobody else posts on just now, with room,
 * and whose QP works. What is not usual goes the way of all others (vp_host.entries) as if it had not been here.
 *
 * A queue keeps the LMR of its last post: the same handle with the same number is the same LMR, and live.
 */
#include "vp/verbs/post/verbs_post.h"

#include "vp/verbs/device/verbs_sigpipe.h"

/* Longer segments of receives are legal, and shortened. */
#define USUAL_RECEIVE_MAX   UINT32_C(0x7fffffff)
#define USUAL_RECEIVE_FLAGS ((unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG)

#define USUAL_LIKELY(condition) __builtin_expect((condition), true)
#define USUAL_INLINE            static inline __attribute__((always_inline))
#define USUAL_COLD              static __attribute__((noinline, cold))
#define USUAL_RARE              static __attribute__((noinline))
/* The same arguments go on to another function. Left to itself clang calls it, and has a frame for that in all cases. */
#ifdef __has_attribute
#if __has_attribute(musttail) && (defined(__x86_64__) || defined(__aarch64__))
#define USUAL_GO_ON __attribute__((musttail)) return
#endif
#endif
#ifndef USUAL_GO_ON
#define USUAL_GO_ON return
#endif
/* Of a member, in one instruction: clang may make two of it. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define USUAL_ADDRESS(to, member) __asm__("leaq %1, %0" : "=r"(to) : "m"(member))
#else
#define USUAL_ADDRESS(to, member) ((to) = &(member))
#endif
/* Between two tests: together they would be more instructions. */
#define USUAL_APART() __asm__ volatile("")

USUAL_INLINE struct verbs_ep *usual_ep(it_ep_handle_t handle)
{
    return (struct verbs_ep *)(void *)((unsigned char *)handle + VP_EP_AREA);
}

/* The address of a queue in one register: that saves instructions. */
USUAL_INLINE struct verbs_queue *usual_requests(it_ep_handle_t handle)
{
    struct verbs_queue *queue = &usual_ep(handle)->sq;

    __asm__("" : "+r"(queue));
    return queue;
}

USUAL_INLINE struct verbs_queue *usual_receives(it_handle_t handle)
{
    struct verbs_queue *queue = &usual_ep((it_ep_handle_t)handle)->rq;

    __asm__("" : "+r"(queue));
    return queue;
}

USUAL_COLD it_status_t usual_wake(struct verbs_queue *queue)
{
    base_lock_wake(&queue->lock);
    return IT_SUCCESS;
}

/* Compilers that know what it means if not would make a zero of their own. */
USUAL_INLINE bool usual_has_failed(int error)
{
    bool failed;

#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    __asm__("testl %1, %1" : "=@ccnz"(failed) : "r"(error));
#else
    failed = error != 0;
#endif
    return !USUAL_LIKELY(!failed);
}

/* With the lock, which is dropped; posted, unless error. The zero of the device is ours, and lies where it is returned. */
USUAL_INLINE it_status_t usual_end(struct verbs_queue *queue, int error)
{
    _Static_assert(IT_SUCCESS == 0, "as that of the device");
    if (usual_has_failed(error))
        return verbs_queue_finish(queue, error);
    queue->tail++;
    if (base_lock_leave(&queue->lock))
        return usual_wake(queue);
    return (it_status_t)error;
}

/* In a register of its own: what is written to a slot might be the queue's, for all that compilers know. */
USUAL_INLINE uint32_t usual_tail(const struct verbs_queue *queue)
{
    uint32_t tail = queue->tail;

    __asm__("" : "+r"(tail));
    return tail;
}

USUAL_INLINE struct verbs_slot *usual_slot(const struct verbs_queue *queue, uint32_t number)
{
    struct verbs_slot *slot = &queue->slots[number & queue->mask];

    __asm__("" : "+r"(slot));
    return slot;
}

/* ---------------------------------------------------------------- what they have in common */

/* What no program has for a handle: the first usual post looks closer, also at none. */
static void usual_forget_lmr(struct verbs_queue *queue)
{
    queue->lmr = (it_lmr_handle_t)(void *)queue;
}

void verbs_usual_set_limits(struct verbs_ep *ep)
{
    struct verbs_queue *queue = &ep->sq;

    queue->payload_max = verbs_host->ep_attributes(ep->ual)->max_dto_payload_size;
    queue->inline_max = ep->inline_max < queue->payload_max ? ep->inline_max : queue->payload_max;
    usual_forget_lmr(queue); /* what is known of it goes by the limits */
}

void verbs_usual_set_qp(struct verbs_ep *ep, struct ibv_qp *qp)
{
    ep->qp = qp;
    ep->sq.qp = qp;
    ep->sq.post.send = ep->ia->quirks.is_siw ? verbs_sigpipe_post_send : qp->context->ops.post_send;
    verbs_usual_set_limits(ep);
    ep->rq.qp = qp;
    ep->rq.post.recv = qp->context->ops.post_recv;
    usual_forget_lmr(&ep->rq);
}

/* ---------------------------------------------------------------- the LMR */

USUAL_INLINE uint64_t usual_pass(it_lmr_handle_t lmr)
{
    const unsigned char *object = (const unsigned char *)lmr;

    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)(object + VP_LMR_PASS),
                                memory_order_acquire);
}

/* With the lock. */
USUAL_INLINE bool usual_is_same_lmr(const struct verbs_queue *queue, it_lmr_handle_t lmr)
{
    if (!USUAL_LIKELY(lmr == queue->lmr))
        return false;
    USUAL_APART();
    return USUAL_LIKELY(usual_pass(lmr) == queue->pass);
}

/* With the lock. False: it is none, or not of the EP's PZ. */
static bool usual_remember(struct verbs_queue *queue, it_lmr_handle_t handle)
{
    const struct verbs_lmr *lmr;
    uint64_t pass;

    if (!handle || ((uintptr_t)handle & (_Alignof(uint64_t) - 1)) != 0)
        return false;
    pass = usual_pass(handle);
    lmr = verbs_lmr_of(handle);
    if (pass == 0 || lmr->pd != queue->ep->pd)
        return false;
    queue->lmr = handle;
    queue->pass = pass;
    queue->sge.lkey = lmr->lkey;
    queue->region = lmr->addr;
    queue->region_length = lmr->length;
    queue->inline_end = lmr->length >= queue->inline_max ? lmr->length - queue->inline_max + 1 : 0;
    return true;
}

/* With the lock: what the usual post did not find may be right now. */
static bool usual_prepare(struct verbs_queue *queue, it_lmr_handle_t lmr, uint32_t *number)
{
    if (queue->tail == queue->room_end)
        verbs_queue_refresh(queue);
    *number = queue->tail;
    return queue->tail != queue->room_end &&
           (usual_is_same_lmr(queue, lmr) || usual_remember(queue, lmr));
}

/* ---------------------------------------------------------------- requests */

/*
 * One of which all is checked, with the address in place. With the lock, which is dropped. Members are written one by one: compilers would
 * put some together in more instructions.
 */
USUAL_INLINE it_status_t usual_send(struct verbs_queue *queue, uint32_t number,
                                    enum verbs_usual usual, uint32_t length, it_dto_cookie_t cookie,
                                    it_dto_flags_t flags, it_event_type_t event,
                                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct verbs_slot *slot = usual_slot(queue, number);
    struct ibv_send_wr *wr, **bad;

    USUAL_ADDRESS(wr, queue->usual_wr.send[usual]);
    slot->cookie = cookie;
    slot->number = number;
    USUAL_APART();
    slot->what = (unsigned)flags | verbs_event_bits(event);
    USUAL_APART();
    slot->length = length;
    queue->sge.length = length;
    wr->wr_id = (uintptr_t)slot;
    if (event != IT_DTO_SEND_CMPL_EVENT) {
        wr->wr.rdma.remote_addr = rdma_addr;
        wr->wr.rdma.rkey = (uint32_t)rmr_context;
    }
    USUAL_ADDRESS(bad, queue->bad.send);
    return usual_end(queue, queue->post.send(queue->qp, wr, bad));
}

/*
 * The same by length. inlined is VERBS_USUALS where nothing goes with the request itself. False: it is
 * too long, or, unless exactly, it takes a closer look whether that may be read now: whether it lies in its region.
 */
USUAL_INLINE bool usual_send_by_length(struct verbs_queue *queue, uint32_t number,
                                       enum verbs_usual plain, enum verbs_usual inlined,
                                       const it_lmr_triplet_t *segment, it_dto_cookie_t cookie,
                                       it_dto_flags_t flags, it_event_type_t event,
                                       it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context,
                                       bool exactly, it_status_t *status)
{
    uintptr_t addr = (uintptr_t)segment->addr.abs;
    uint64_t length = segment->length;

    queue->sge.addr = addr;
    USUAL_APART();
    if (inlined != VERBS_USUALS && length <= queue->inline_max) {
        uintptr_t offset = addr - queue->region;

        if (USUAL_LIKELY(offset < queue->inline_end) ||
            (exactly && offset <= queue->region_length &&
             length <= queue->region_length - offset)) {
            *status = usual_send(queue, number, inlined, (uint32_t)length, cookie, flags, event,
                                 rdma_addr, rmr_context);
            return true;
        }
        if (!exactly)
            return false;
    }
    if (!USUAL_LIKELY(length <= queue->payload_max))
        return false;
    *status = usual_send(queue, number, plain, (uint32_t)length, cookie, flags, event, rdma_addr,
                         rmr_context);
    return true;
}

/* No flag, and no bit above the 32 of a device's key. gcc would copy and shift what lies in memory already. */
USUAL_INLINE bool usual_has_none(unsigned flags, const it_rmr_context_t *key)
{
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__clang__)
    bool none;

    __asm__("orl %2, %1"
            : "=@ccz"(none), "+r"(flags)
            : "m"(((const uint32_t *)(const void *)key)[1]));
    return none;
#else
    if (!USUAL_LIKELY(*key >> 32 == 0))
        return false;
    USUAL_APART();
    return flags == 0;
#endif
}

/* key: NULL for a Send. */
USUAL_INLINE bool usual_is_request(const it_lmr_triplet_t *segments, size_t count,
                                   it_dto_flags_t flags, const it_rmr_context_t *key)
{
    unsigned others = ((unsigned)flags - (unsigned)IT_COMPLETION_FLAG) & ~(unsigned)IT_NOTIFY_FLAG;

    if (!USUAL_LIKELY(key ? usual_has_none(others, key) : others == 0))
        return false;
    USUAL_APART();
    if (!USUAL_LIKELY(count == 1))
        return false;
    USUAL_APART();
    return USUAL_LIKELY(segments != NULL);
}

/* *number: of the post. */
USUAL_INLINE bool usual_is_ready(const struct verbs_queue *queue, it_lmr_handle_t lmr,
                                 uint32_t *number)
{
    if (!usual_is_same_lmr(queue, lmr))
        return false;
    USUAL_APART();
    *number = usual_tail(queue);
    return USUAL_LIKELY(*number != queue->room_end);
}

/* ---------------------------------------------------------------- Send */

USUAL_COLD it_status_t usual_give_up_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags)
{
    base_lock_drop(&usual_ep(handle)->sq.lock);
    return verbs_host->entries->post_send(handle, segments, count, cookie, flags);
}

#define USUAL_SEND(queue, exactly)                                                                 \
    usual_send_by_length((queue), number, VERBS_USUAL_SEND, VERBS_USUAL_SEND_INLINE, segments,     \
                         cookie, flags, IT_DTO_SEND_CMPL_EVENT, 0, 0, (exactly), &status)

USUAL_RARE it_status_t usual_prepare_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (usual_prepare(queue, segments->lmr, &number) && USUAL_SEND(queue, true))
        return status;
    return usual_give_up_send(handle, segments, count, cookie, flags);
}

static it_status_t usual_post_send(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (!usual_is_request(segments, count, flags, NULL) || !base_lock_try(&queue->lock))
        USUAL_GO_ON verbs_host->entries->post_send(handle, segments, count, cookie, flags);
    if (usual_is_ready(queue, segments->lmr, &number) && USUAL_SEND(queue, false))
        return status;
    USUAL_GO_ON usual_prepare_send(queue->handle, segments, count, cookie, flags);
}

/* ---------------------------------------------------------------- RDMA Write */

USUAL_COLD it_status_t usual_give_up_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                           size_t count, it_dto_cookie_t cookie,
                                           it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                                           it_rmr_context_t rmr_context)
{
    base_lock_drop(&usual_ep(handle)->sq.lock);
    return verbs_host->entries->post_rdma_write(handle, segments, count, cookie, flags, rdma_addr,
                                                rmr_context);
}

#define USUAL_WRITE(queue, exactly)                                                                \
    usual_send_by_length((queue), number, VERBS_USUAL_WRITE, VERBS_USUAL_WRITE_INLINE, segments,   \
                         cookie, flags, IT_DTO_RDMA_WRITE_CMPL_EVENT, rdma_addr, rmr_context,      \
                         (exactly), &status)

USUAL_RARE it_status_t usual_prepare_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                           size_t count, it_dto_cookie_t cookie,
                                           it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                                           it_rmr_context_t rmr_context)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (usual_prepare(queue, segments->lmr, &number) && USUAL_WRITE(queue, true))
        return status;
    return usual_give_up_write(handle, segments, count, cookie, flags, rdma_addr, rmr_context);
}

static it_status_t usual_post_write(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                    size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (!usual_is_request(segments, count, flags, &rmr_context) || !base_lock_try(&queue->lock))
        USUAL_GO_ON verbs_host->entries->post_rdma_write(handle, segments, count, cookie, flags,
                                                         rdma_addr, rmr_context);
    if (usual_is_ready(queue, segments->lmr, &number) && USUAL_WRITE(queue, false))
        return status;
    USUAL_GO_ON usual_prepare_write(queue->handle, segments, count, cookie, flags, rdma_addr,
                                    rmr_context);
}

/* ---------------------------------------------------------------- RDMA Read */

USUAL_COLD it_status_t usual_give_up_read(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                                          it_rmr_context_t rmr_context)
{
    base_lock_drop(&usual_ep(handle)->sq.lock);
    return verbs_host->entries->post_rdma_read(handle, segments, count, cookie, flags, rdma_addr,
                                               rmr_context);
}

/* Without an ORD devices may wait for ever. */
#define USUAL_READ(queue, exactly)                                                                 \
    (USUAL_LIKELY((queue)->may_read) &&                                                            \
     usual_send_by_length((queue), number, VERBS_USUAL_READ, VERBS_USUALS, segments, cookie,       \
                          flags, IT_DTO_RDMA_READ_CMPL_EVENT, rdma_addr, rmr_context, (exactly),   \
                          &status))

USUAL_RARE it_status_t usual_prepare_read(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                                          it_rmr_context_t rmr_context)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (usual_prepare(queue, segments->lmr, &number) && USUAL_READ(queue, true))
        return status;
    return usual_give_up_read(handle, segments, count, cookie, flags, rdma_addr, rmr_context);
}

static it_status_t usual_post_read(it_ep_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags,
                                   it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    struct verbs_queue *queue = usual_requests(handle);
    it_status_t status;
    uint32_t number;

    if (!usual_is_request(segments, count, flags, &rmr_context) || !base_lock_try(&queue->lock))
        USUAL_GO_ON verbs_host->entries->post_rdma_read(handle, segments, count, cookie, flags,
                                                        rdma_addr, rmr_context);
    if (usual_is_ready(queue, segments->lmr, &number) && USUAL_READ(queue, false))
        return status;
    USUAL_GO_ON usual_prepare_read(queue->handle, segments, count, cookie, flags, rdma_addr,
                                   rmr_context);
}

/* ---------------------------------------------------------------- receives */

USUAL_COLD it_status_t usual_give_up_recv(it_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags)
{
    base_lock_drop(&usual_ep((it_ep_handle_t)handle)->rq.lock);
    return verbs_host->entries->post_recv(handle, segments, count, cookie, flags);
}

/* All is checked. With the lock, which is dropped. */
USUAL_INLINE it_status_t usual_recv(struct verbs_queue *queue, uint32_t number,
                                    const it_lmr_triplet_t *segment, it_dto_cookie_t cookie,
                                    it_dto_flags_t flags)
{
    struct verbs_slot *slot = usual_slot(queue, number);
    uintptr_t addr = (uintptr_t)segment->addr.abs;
    uint32_t length = (uint32_t)segment->length;
    struct ibv_recv_wr *wr, **bad;

    slot->cookie = cookie;
    slot->number = number;
    USUAL_APART();
    /* A peer may have solicited the event: the completion does not tell. */
    slot->what = (unsigned)flags | IT_NOTIFY_FLAG | VERBS_RECEIVE |
                 verbs_event_bits(IT_DTO_RC_RECV_CMPL_EVENT);
    queue->sge.addr = addr;
    queue->sge.length = length;
    queue->usual_wr.recv.wr_id = (uintptr_t)slot;
    USUAL_ADDRESS(wr, queue->usual_wr.recv);
    USUAL_ADDRESS(bad, queue->bad.recv);
    return usual_end(queue, queue->post.recv(queue->qp, wr, bad));
}

USUAL_RARE it_status_t usual_prepare_recv(it_handle_t handle, const it_lmr_triplet_t *segments,
                                          size_t count, it_dto_cookie_t cookie,
                                          it_dto_flags_t flags)
{
    struct verbs_queue *queue = usual_receives(handle);
    uint32_t number;

    if (!usual_prepare(queue, segments->lmr, &number))
        return usual_give_up_recv(handle, segments, count, cookie, flags);
    return usual_recv(queue, number, segments, cookie, flags);
}

USUAL_INLINE bool usual_is_receive(const it_lmr_triplet_t *segments, size_t count,
                                   it_dto_flags_t flags)
{
    if (!USUAL_LIKELY(count == 1))
        return false;
    USUAL_APART();
    if (!USUAL_LIKELY(segments != NULL))
        return false;
    USUAL_APART();
    if (!USUAL_LIKELY(((unsigned)flags & ~USUAL_RECEIVE_FLAGS) == 0))
        return false;
    USUAL_APART();
    return USUAL_LIKELY(segments->length <= USUAL_RECEIVE_MAX);
}

static it_status_t usual_post_recv(it_handle_t handle, const it_lmr_triplet_t *segments,
                                   size_t count, it_dto_cookie_t cookie, it_dto_flags_t flags)
{
    struct verbs_queue *queue = usual_receives(handle);
    uint32_t number;

    if (!usual_is_receive(segments, count, flags) || !base_lock_try(&queue->lock))
        USUAL_GO_ON verbs_host->entries->post_recv(handle, segments, count, cookie, flags);
    if (!usual_is_ready(queue, segments->lmr, &number))
        USUAL_GO_ON usual_prepare_recv((it_handle_t)queue->handle, segments, count, cookie, flags);
    return usual_recv(queue, number, segments, cookie, flags);
}

/* ---------------------------------------------------------------- the table */

static it_status_t usual_no_dequeue(it_evd_handle_t evd, it_event_t *event)
{
    return verbs_host->entries->dequeue(evd, event); /* an EP is none */
}

const struct base_entries verbs_ep_entries = {
    .post_send = usual_post_send,
    .post_rdma_write = usual_post_write,
    .post_rdma_read = usual_post_read,
    .post_recv = usual_post_recv,
    .dequeue = usual_no_dequeue,
};
