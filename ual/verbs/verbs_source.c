/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of an EVD: CQs. An EVD has one, or several if more EPs join than the first has room
 * for: devices need not be able to resize. All is done with the EVD's lock.
 *
 * What has been polled waits in the stash of its CQ, where it is followed by completions of our own
 * making for posts that the device does not complete.
 */
#include "ual/verbs/verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_BATCH    32u /* completions taken by one poll */
#define SOURCE_CQ_LEAST 64u

/* ---------------------------------------------------------------- what a completion says */

static it_dto_status_t __attribute__((noinline)) source_status(enum ibv_wc_status status)
{
    switch ((unsigned)status) {
    case IBV_WC_SUCCESS:
        return IT_DTO_SUCCESS;
    case IBV_WC_LOC_LEN_ERR:
        return IT_DTO_ERR_LOCAL_LENGTH;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
        return IT_DTO_ERR_LOCAL_PROTECTION;
    case IBV_WC_WR_FLUSH_ERR:
        return IT_DTO_ERR_FLUSHED;
    case IBV_WC_MW_BIND_ERR:
        return IT_RMR_OPERATION_FAILED;
    case IBV_WC_BAD_RESP_ERR:
        return IT_DTO_ERR_BAD_RESPONSE;
    case IBV_WC_REM_ACCESS_ERR:
        return IT_DTO_ERR_REMOTE_ACCESS;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
        return IT_DTO_ERR_REMOTE_RESPONDER;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return IT_DTO_ERR_TRANSPORT;
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return IT_DTO_ERR_RECEIVER_NOT_READY;
    default: /* a local failure of the device */
        return IT_DTO_ERR_LOCAL_EP;
    }
}

/* ---------------------------------------------------------------- what is flushed by us */

/* One slot has one completion at most: there is room. */
static void source_stash_own(struct vrb_cq *cq, const struct vrb_slot *slot,
                             enum ibv_wc_status status)
{
    uint32_t left = cq->stash_end - cq->stash_first;

    if (cq->stash_first > 0) {
        memmove(cq->stash, cq->stash + cq->stash_first, left * sizeof(*cq->stash));
        cq->stash_first = 0;
        cq->stash_end = left;
    }
    cq->stash[cq->stash_end++] = (struct ibv_wc){
        .wr_id = (uintptr_t)slot,
        .status = status,
    };
}

static enum ibv_wc_status source_own_status(const struct vrb_slot *slot)
{
    if (slot->refused)
        return IBV_WC_LOC_QP_OP_ERR;
    return slot->done ? (enum ibv_wc_status)slot->status : IBV_WC_WR_FLUSH_ERR;
}

/* What the device has completed of the queue is in the stash already, or taken. */
static void source_flush_rest(struct vrb_queue *queue)
{
    uint32_t end = atomic_load_explicit(&queue->published, memory_order_acquire);

    for (; queue->flushed != end; queue->flushed++) {
        const struct vrb_slot *slot = &queue->slots[queue->flushed & queue->mask];

        source_stash_own(queue->cq, slot, source_own_status(slot));
    }
    queue->ordered = end;
}

static void __attribute__((noinline)) source_drained(struct vrb_queue *queue)
{
    if (!queue->drained)
        queue->flushed = queue->device_tail;
    queue->drained = true;
    source_flush_rest(queue);
}

/* ---------------------------------------------------------------- what a completion says, on */

/* Failures are rare. What is flushed has failed because of something else. */
static void __attribute__((noinline))
source_note_failure(struct vrb_ep *ep, const struct ibv_wc *wc, bool is_receive)
{
    if (wc->status == IBV_WC_WR_FLUSH_ERR)
        return;
    vrb_log(VP_LOG_INFO, "ep %p: %s failed: %s (vendor error %u)", (void *)ep->ual,
            is_receive ? "receive" : "request", ibv_wc_status_str(wc->status), wc->vendor_err);
    vrb_host->task_submit(ep->failed);
}

static inline void source_tell_receive(const struct vrb_ep *ep, const struct ibv_wc *wc,
                                       struct evd_dto *dto)
{
    dto->length = wc->byte_len;
    if (wc->wc_flags & IBV_WC_WITH_INV)
        dto->unlinked = vrb_rmr_invalidated(ep->ia, wc->invalidated_rkey);
    if ((wc->wc_flags & IBV_WC_WITH_IMM) && vrb_host->ep_immediate_bits(ep->ual)) {
        dto->has_immediate = true;
        dto->immediate = ntohl(wc->imm_data);
    }
}

/* Done without an event. Its slots are free when all events before it have been dequeued. */
static void source_reap_quietly(struct vrb_queue *queue, uint32_t end)
{
    if (atomic_load_explicit(&queue->retired, memory_order_relaxed) != queue->moved)
        return; /* vrb_source_reap comes back to it */
    queue->moved = end;
    atomic_store_explicit(&queue->retired, end, memory_order_release);
}

static bool source_is_quiet(const struct vrb_slot *slot, const struct ibv_wc *wc)
{
    if (wc->status == IBV_WC_SUCCESS)
        return !(slot->flags & IT_COMPLETION_FLAG);
    return slot == &slot->queue->marker;
}

static inline __attribute__((always_inline)) void
source_tell(const struct vrb_slot *slot, const struct ibv_wc *wc, struct evd_dto *dto)
{
    struct vrb_queue *queue = slot->queue;

    dto->event_number = (it_event_type_t)slot->event;
    dto->status = IT_DTO_SUCCESS;
    dto->ep = queue->ep->handle;
    dto->cookie = slot->cookie;
    dto->unlinked = NULL;
    dto->length = slot->length;
    dto->notify = (slot->flags & IT_NOTIFY_FLAG) != 0;
    dto->has_immediate = false;
    dto->retire_value = queue->moved;
    dto->retire = &queue->retired;
    if (slot->is_receive)
        source_tell_receive(queue->ep, wc, dto);
    if (__builtin_expect(wc->status != IBV_WC_SUCCESS, false)) {
        dto->status = source_status(wc->status);
        if (slot->is_link && dto->status != IT_DTO_ERR_FLUSHED)
            dto->status = IT_RMR_OPERATION_FAILED;
        source_note_failure(queue->ep, wc, slot->is_receive);
    }
}

/* ---------------------------------------------------------------- receives of an S-RQ */

static struct vrb_ep **source_by_qp(struct vrb_source *source, uint32_t number)
{
    return &source->by_qp[number & (VRB_BY_QP - 1)];
}

/* Whose it is is told by the QP alone. The receive is the EP's from now on: its slot is free. */
static bool __attribute__((noinline))
source_reap_shared(struct vrb_source *source, const struct ibv_wc *wc, struct evd_dto *dto)
{
    struct vrb_srq_slot *slot = (struct vrb_srq_slot *)(uintptr_t)(wc->wr_id & ~VRB_SRQ_MARK);
    struct vrb_ep *ep = *source_by_qp(source, wc->qp_num);

    while (ep && ep->qp_num != wc->qp_num)
        ep = ep->next_by_qp;
    if (ep)
        *dto = (struct evd_dto){
            .event_number = IT_DTO_RC_RECV_CMPL_EVENT,
            .ep = ep->handle,
            .cookie = slot->cookie,
            .notify = true,
        };
    vrb_srq_return(slot);
    if (!ep)
        return false; /* freed meanwhile */
    source_tell_receive(ep, wc, dto);
    if (wc->status != IBV_WC_SUCCESS) {
        dto->status = source_status(wc->status);
        source_note_failure(ep, wc, true);
    }
    return true;
}

/*
 * Takes note of the oldest completion of the stash; fills in *dto and returns true if the consumer is
 * to have an event.
 */
static inline __attribute__((always_inline)) bool source_reap_own(const struct ibv_wc *wc,
                                                                  struct evd_dto *dto)
{
    struct vrb_slot *slot = (struct vrb_slot *)(uintptr_t)wc->wr_id;
    struct vrb_queue *queue = slot->queue;
    uint32_t end = slot->number + 1;
    bool quiet = source_is_quiet(slot, wc);

    if (__builtin_expect((int32_t)(end - queue->reaped) <= 0, false))
        return false; /* late: it has been flushed */
    queue->reaped = end;
    if (__builtin_expect(slot->is_link, false))
        vrb_link_done(slot, wc->status == IBV_WC_SUCCESS);
    if (quiet) {
        source_reap_quietly(queue, end);
    } else {
        queue->moved = end;
        source_tell(slot, wc, dto);
    }
    if (__builtin_expect(queue->flushes, false) && !queue->drained &&
        (int32_t)(end - queue->device_tail) >= 0)
        source_drained(queue);
    return !quiet;
}

static inline const struct ibv_wc *source_next(struct vrb_cq *cq)
{
    return &cq->stash[cq->stash_first++];
}

static inline bool source_is_shared(const struct ibv_wc *wc)
{
    return __builtin_expect((wc->wr_id & VRB_SRQ_MARK) != 0, false);
}

static bool source_reap(struct vrb_source *source, struct vrb_cq *cq, struct evd_dto *dto)
{
    const struct ibv_wc *wc = source_next(cq);

    return source_is_shared(wc) ? source_reap_shared(source, wc, dto) : source_reap_own(wc, dto);
}

static bool __attribute__((noinline))
source_take_shared(struct vrb_source *source, const struct ibv_wc *wc, it_event_t *event)
{
    struct evd_dto dto;

    if (!source_reap_shared(source, wc, &dto))
        return false;
    evd_dto_tell(source->evd, &dto, event);
    return true;
}

/* The same without a record in between. */
static inline __attribute__((always_inline)) bool
source_take_one(struct vrb_source *source, struct vrb_cq *cq, it_event_t *event)
{
    const struct ibv_wc *wc = source_next(cq);
    struct evd_dto dto;

    if (source_is_shared(wc))
        return source_take_shared(source, wc, event);
    if (!source_reap_own(wc, &dto))
        return false;
    evd_dto_tell(source->evd, &dto, event);
    return true;
}

/* ---------------------------------------------------------------- the functions of the source */

/* Where Reads are overtaken: what is done and has nothing before it that is not goes up. */
static void source_put_in_order(struct vrb_queue *queue)
{
    uint32_t end = atomic_load_explicit(&queue->published, memory_order_acquire);

    for (; queue->ordered != end; queue->ordered++) {
        const struct vrb_slot *slot = &queue->slots[queue->ordered & queue->mask];
        bool quiet = slot->event != IT_DTO_RDMA_READ_CMPL_EVENT &&
                     (int32_t)(queue->overtaking - queue->ordered) > 0;

        if (slot->done)
            source_stash_own(queue->cq, slot, (enum ibv_wc_status)slot->status);
        else if (!quiet)
            break;
    }
}

static void source_sort(struct vrb_cq *cq, const struct ibv_wc *wc)
{
    struct vrb_slot *slot = (struct vrb_slot *)(uintptr_t)wc->wr_id;
    struct vrb_queue *queue;

    if ((wc->wr_id & VRB_SRQ_MARK) || slot->is_receive) {
        cq->stash[cq->stash_end++] = *wc;
        return;
    }
    queue = slot->queue;
    slot->done = true;
    slot->status = (uint8_t)wc->status;
    if (slot->event != IT_DTO_RDMA_READ_CMPL_EVENT &&
        (int32_t)(slot->number + 1 - queue->overtaking) > 0)
        queue->overtaking = slot->number + 1;
    source_put_in_order(queue);
}

/* At most that many; they go behind what is in the stash. Returns how many the device had. */
static uint32_t source_poll_batch(struct vrb_source *source, struct vrb_cq *cq)
{
    struct ibv_wc batch[SOURCE_BATCH];
    bool sorts = source->ia->quirks.reads_overtaken;
    int count = ibv_poll_cq(cq->cq, (int)SOURCE_BATCH, sorts ? batch : cq->stash + cq->stash_end);

    if (count <= 0)
        return 0;
    if (!sorts)
        cq->stash_end += (uint32_t)count;
    else
        for (int i = 0; i < count; i++)
            source_sort(cq, &batch[i]);
    return (uint32_t)count;
}

/* False: there is nothing. */
static inline bool source_poll(struct vrb_source *source, struct vrb_cq *cq)
{
    if (cq->stash_first != cq->stash_end)
        return true;
    cq->stash_first = 0;
    cq->stash_end = 0;
    while (source_poll_batch(source, cq) > 0)
        if (cq->stash_end > 0)
            return true;
    return false;
}

/* Those that have nothing waiting step back: no CQ keeps the others off. */
static void source_rotate(struct vrb_source *source)
{
    struct vrb_cq *first = source->cqs;
    struct vrb_cq *last = first;

    if (!first || !first->next || first->stash_first != first->stash_end)
        return;
    while (last->next)
        last = last->next;
    source->cqs = first->next;
    first->next = NULL;
    last->next = first;
}

static size_t source_take(void *context, it_event_t *events, size_t max)
{
    struct vrb_source *source = context;
    size_t count = 0;

    source_rotate(source);
    for (struct vrb_cq *cq = source->cqs; cq; cq = cq->next)
        while (count < max && source_poll(source, cq))
            count += source_take_one(source, cq, &events[count]);
    return count;
}

static size_t source_drain(void *context, struct evd_dto *dtos, size_t max)
{
    struct vrb_source *source = context;
    size_t count = 0;

    source_rotate(source);
    for (struct vrb_cq *cq = source->cqs; cq; cq = cq->next)
        while (count < max && source_poll(source, cq))
            count += source_reap(source, cq, &dtos[count]);
    return count;
}

static void source_arm(void *context)
{
    const struct vrb_source *source = context;

    for (const struct vrb_cq *cq = source->cqs; cq; cq = cq->next) {
        int error = ibv_req_notify_cq(cq->cq, 0);

        if (error && !atomic_load_explicit(&source->ia->removed, memory_order_relaxed))
            vrb_log(VP_LOG_WARN, "a completion queue cannot be armed: %s", strerror(error));
    }
}

static void source_disarm(void *context)
{
    struct vrb_source *source = context;
    struct ibv_cq *cq;
    void *ignored;

    while (ibv_get_cq_event(source->channel, &cq, &ignored) == 0)
        ibv_ack_cq_events(cq, 1);
}

static void source_free_cq(struct vrb_cq *cq)
{
    if (cq->cq && ibv_destroy_cq(cq->cq) != 0)
        vrb_log(VP_LOG_WARN, "a completion queue is still in use");
    free(cq->stash);
    free(cq);
}

static void source_close(void *context)
{
    struct vrb_source *source = context;
    struct vrb_cq *cq;

    source_disarm(source);
    while ((cq = source->cqs) != NULL) {
        source->cqs = cq->next;
        source_free_cq(cq);
    }
    if (source->channel)
        (void)ibv_destroy_comp_channel(source->channel); /* nothing uses it */
    free(source);
}

static const struct evd_source_ops source_ops = {
    .take = source_take,
    .drain = source_drain,
    .arm = source_arm,
    .disarm = source_disarm,
    .close = source_close,
};

/* ---------------------------------------------------------------- joining */

static struct vrb_cq *source_make_cq(struct vrb_source *source, uint32_t capacity)
{
    struct vrb_cq *cq = calloc(1, sizeof(*cq));
    uint32_t room = capacity > SOURCE_BATCH ? capacity : SOURCE_BATCH;
    int error = ENOMEM;

    if (!cq)
        goto err_log;
    cq->capacity = capacity;
    cq->stash = calloc((size_t)room + SOURCE_BATCH, sizeof(*cq->stash));
    if (cq->stash) {
        cq->cq = ibv_create_cq(source->ia->context, (int)capacity, source, source->channel, 0);
        error = errno;
    }
    if (cq->cq)
        return cq;
    source_free_cq(cq);

err_log:
    vrb_log(VP_LOG_WARN, "%s: no completion queue for %u: %s", vrb_host->ia_name(source->ia->ual),
            capacity, strerror(error));
    return NULL;
}

static struct vrb_source *source_make(struct vrb_ia *ia, it_evd_handle_t evd)
{
    struct vrb_source *source = calloc(1, sizeof(*source));
    int flags;

    if (!source)
        return NULL;
    source->ia = ia;
    source->evd = evd;
    source->channel = ibv_create_comp_channel(ia->context);
    if (!source->channel) {
        vrb_log(VP_LOG_WARN, "%s: no completion channel: %s", vrb_host->ia_name(ia->ual),
                strerror(errno));
        free(source);
        return NULL;
    }
    flags = fcntl(source->channel->fd, F_GETFL);
    if (flags >= 0 && fcntl(source->channel->fd, F_SETFL, flags | O_NONBLOCK) == 0)
        return source;
    source_close(source);
    return NULL;
}

/* The one of that queue's EVD; made and attached if there is none. The attach lock is held. */
static it_status_t source_find(struct vrb_ep *ep, enum vp_queue queue,
                               struct vrb_source **source_out)
{
    struct vrb_source *source = vrb_host->source_get(ep->ual, queue, &source_ops);
    it_status_t status;
    size_t size;

    if (!source) {
        source = source_make(ep->ia, vrb_host->source_evd(ep->ual, queue, &size));
        if (!source)
            return IT_ERR_RESOURCES;
        status = vrb_host->source_attach(ep->ual, queue, &source_ops, source, source->channel->fd);
        if (status != IT_SUCCESS) {
            source_close(source);
            return status;
        }
    }
    *source_out = source;
    return IT_SUCCESS;
}

/* So large that a second one is seldom needed: as the EVD, and as much again as there is. */
static uint32_t source_capacity(struct vrb_ep *ep, enum vp_queue queue, size_t there, uint32_t need)
{
    uint32_t limit = (uint32_t)ep->ia->device.orig_attr.max_cqe;
    size_t capacity;

    (void)vrb_host->source_evd(ep->ual, queue, &capacity);
    capacity += there;
    if (capacity < SOURCE_CQ_LEAST)
        capacity = SOURCE_CQ_LEAST;
    if (capacity > limit)
        capacity = limit;
    return capacity > need ? (uint32_t)capacity : need;
}

static struct vrb_share *source_share_on(const struct vrb_cq *cq, const struct ual_srq *srq)
{
    struct vrb_share *share = srq ? cq->shares : NULL;

    while (share && share->srq != srq)
        share = share->next;
    return share;
}

static struct vrb_cq *source_find_room(struct vrb_ep *ep, enum vp_queue queue,
                                       const struct vrb_source *source, uint32_t need,
                                       size_t *there)
{
    const struct ual_srq *srq = queue == VP_RECEIVES ? ep->srq : NULL;
    struct vrb_cq *found = NULL;

    *there = 0;
    vrb_host->source_lock(ep->ual, queue);
    for (struct vrb_cq *cq = source->cqs; cq; cq = cq->next) {
        bool fits = cq->capacity - cq->used >= need;

        *there += cq->capacity;
        if (source_share_on(cq, srq) || (fits && !(found && source_share_on(found, srq))))
            found = cq;
    }
    vrb_host->source_unlock(ep->ual, queue);
    return found;
}

static struct vrb_cq *source_add_cq(struct vrb_ep *ep, enum vp_queue queue,
                                    struct vrb_source *source, uint32_t capacity)
{
    struct vrb_cq *cq = source_make_cq(source, capacity);

    if (!cq)
        return NULL;
    vrb_host->source_lock(ep->ual, queue);
    cq->next = source->cqs;
    source->cqs = cq;
    source_arm(source); /* whoever relies on it has armed the others */
    vrb_host->source_unlock(ep->ual, queue);
    return cq;
}

/* False without memory. */
static bool source_take_room(struct vrb_cq *cq, const struct ual_srq *srq, uint32_t need)
{
    struct vrb_share *share = source_share_on(cq, srq);

    if (!share) {
        if (srq) {
            share = calloc(1, sizeof(*share));
            if (!share)
                return false;
            share->srq = srq;
            share->next = cq->shares;
            cq->shares = share;
        }
        cq->used += need;
    }
    if (share)
        share->eps++;
    return true;
}

static void source_give_room(struct vrb_cq *cq, const struct ual_srq *srq, uint32_t need)
{
    struct vrb_share *share = source_share_on(cq, srq);
    struct vrb_share **link = &cq->shares;

    if (share && --share->eps > 0)
        return;
    cq->used -= need;
    if (!share)
        return;
    while (*link != share)
        link = &(*link)->next;
    *link = share->next;
    free(share);
}

/* Takes so much room on a CQ of the source. The attach lock is held: it guards the room. */
static struct vrb_cq *source_reserve(struct vrb_ep *ep, enum vp_queue queue,
                                     struct vrb_source *source, uint32_t need)
{
    size_t there;
    struct vrb_cq *cq = source_find_room(ep, queue, source, need, &there);

    if (!cq)
        cq = source_add_cq(ep, queue, source, source_capacity(ep, queue, there, need));
    if (!cq || !source_take_room(cq, queue == VP_RECEIVES ? ep->srq : NULL, need))
        return NULL;
    return cq;
}

static uint32_t source_request_need(const struct vrb_ep *ep)
{
    return ep->sq.depth + 1; /* the marker */
}

static uint32_t source_receive_need(const struct vrb_ep *ep)
{
    return ep->srq ? vrb_srq_of(ep->srq)->depth : ep->rq.depth;
}

it_status_t vrb_source_join(struct vrb_ep *ep)
{
    struct vrb_ia *ia = ep->ia;
    it_status_t status;

    (void)pthread_mutex_lock(&ia->attach_lock);
    status = source_find(ep, VP_REQUESTS, &ep->request_source);
    if (status == IT_SUCCESS)
        status = source_find(ep, VP_RECEIVES, &ep->recv_source);
    if (status != IT_SUCCESS)
        goto out;
    status = IT_ERR_RESOURCES;
    ep->sq.cq = source_reserve(ep, VP_REQUESTS, ep->request_source, source_request_need(ep));
    if (!ep->sq.cq)
        goto out;
    ep->rq.cq = source_reserve(ep, VP_RECEIVES, ep->recv_source, source_receive_need(ep));
    if (ep->rq.cq)
        status = IT_SUCCESS;
    else
        source_give_room(ep->sq.cq, NULL, source_request_need(ep));
out:
    (void)pthread_mutex_unlock(&ia->attach_lock);
    return status;
}

/* ---------------------------------------------------------------- flushing */

static enum vp_queue source_side(const struct vrb_queue *queue)
{
    return queue->is_receive ? VP_RECEIVES : VP_REQUESTS;
}

static struct vrb_source *source_of(const struct vrb_queue *queue)
{
    return queue->is_receive ? queue->ep->recv_source : queue->ep->request_source;
}

static bool source_is_of(const struct ibv_wc *wc, const struct vrb_queue *queue)
{
    if (wc->wr_id & VRB_SRQ_MARK)
        return false;
    return ((const struct vrb_slot *)(uintptr_t)wc->wr_id)->queue == queue;
}

/* Polls all that is there, behind what has been polled before. The stash has room for it. */
static void source_poll_all(struct vrb_source *source, struct vrb_cq *cq)
{
    uint32_t left = cq->stash_end - cq->stash_first;

    memmove(cq->stash, cq->stash + cq->stash_first, left * sizeof(*cq->stash));
    cq->stash_first = 0;
    cq->stash_end = left;
    while (cq->stash_end < cq->capacity && source_poll_batch(source, cq) > 0)
        continue;
}

/* Behind the newest post of which there is a completion. */
static uint32_t source_completed(struct vrb_queue *queue)
{
    struct vrb_cq *cq = queue->cq;
    uint32_t end = queue->reaped;

    source_poll_all(source_of(queue), cq);
    for (uint32_t i = cq->stash_first; i != cq->stash_end; i++)
        if (source_is_of(&cq->stash[i], queue))
            end = ((const struct vrb_slot *)(uintptr_t)cq->stash[i].wr_id)->number + 1;
    return end;
}

static void source_move(struct vrb_ep *ep, struct vrb_queue *queue)
{
    if (vrb_host->source_move(ep->ual, source_side(queue)))
        vrb_host->wake(ep->ual, source_side(queue));
}

void vrb_source_flush(struct vrb_ep *ep, struct vrb_queue *queue, bool lost)
{
    vrb_host->source_lock(ep->ual, source_side(queue));
    if (!queue->flushes)
        queue->device_tail = queue->local_from;
    queue->flushes = true;
    if (lost && !queue->drained)
        queue->device_tail = source_completed(queue);
    if (lost || (int32_t)(queue->reaped - queue->device_tail) >= 0)
        source_drained(queue);
    vrb_host->source_unlock(ep->ual, source_side(queue));
    source_move(ep, queue);
}

void vrb_source_renew(struct vrb_ep *ep, struct vrb_queue *queue)
{
    vrb_host->source_lock(ep->ual, source_side(queue));
    if (queue->drained)
        source_flush_rest(queue);
    queue->flushes = false;
    queue->drained = false;
    vrb_host->source_unlock(ep->ual, source_side(queue));
}

void vrb_source_post_local(struct vrb_ep *ep, struct vrb_queue *queue)
{
    vrb_host->source_lock(ep->ual, source_side(queue));
    if (queue->drained)
        source_flush_rest(queue);
    vrb_host->source_unlock(ep->ual, source_side(queue));
    source_move(ep, queue);
}

void vrb_source_reap(struct vrb_ep *ep, struct vrb_queue *queue)
{
    source_move(ep, queue);
    /* What was done without an event while events before it were still queued. */
    vrb_host->source_lock(ep->ual, source_side(queue));
    if (atomic_load_explicit(&queue->retired, memory_order_acquire) == queue->moved &&
        queue->moved != queue->reaped) {
        queue->moved = queue->reaped;
        atomic_store_explicit(&queue->retired, queue->reaped, memory_order_release);
    }
    vrb_host->source_unlock(ep->ual, source_side(queue));
}

/* ---------------------------------------------------------------- names, leaving */

static void source_unname_locked(struct vrb_ep *ep)
{
    struct vrb_ep **link = source_by_qp(ep->recv_source, ep->qp_num);

    while (*link != ep)
        link = &(*link)->next_by_qp;
    *link = ep->next_by_qp;
}

/* What the old QP has completed and nobody has taken goes on as the new one's. */
static void source_rename_locked(struct vrb_ep *ep, uint32_t number)
{
    struct vrb_cq *cq = ep->rq.cq;

    source_poll_all(ep->recv_source, cq);
    for (uint32_t i = cq->stash_first; i != cq->stash_end; i++)
        if ((cq->stash[i].wr_id & VRB_SRQ_MARK) && cq->stash[i].qp_num == ep->qp_num)
            cq->stash[i].qp_num = number;
}

void vrb_source_name(struct vrb_ep *ep, const struct ibv_qp *qp)
{
    struct vrb_ep **link;

    if (!ep->srq)
        return;
    vrb_host->source_lock(ep->ual, VP_RECEIVES);
    if (ep->qp_num != 0) {
        source_unname_locked(ep);
        if (qp)
            source_rename_locked(ep, qp->qp_num);
    }
    ep->qp_num = qp ? qp->qp_num : 0;
    if (qp) {
        link = source_by_qp(ep->recv_source, ep->qp_num);
        ep->next_by_qp = *link;
        *link = ep;
    }
    vrb_host->source_unlock(ep->ual, VP_RECEIVES);
}

/* A receive of an S-RQ that only this EP would have been told of. */
static bool source_drop_shared(const struct ibv_wc *wc, const struct vrb_queue *queue)
{
    if (!(wc->wr_id & VRB_SRQ_MARK) || !queue->is_receive || wc->qp_num != queue->ep->qp_num)
        return false;
    vrb_srq_return((struct vrb_srq_slot *)(uintptr_t)(wc->wr_id & ~VRB_SRQ_MARK));
    return true;
}

/* What nobody has taken so far is dropped: the slots go. */
static void source_forget(struct vrb_ep *ep, struct vrb_queue *queue)
{
    struct vrb_cq *cq = queue->cq;
    uint32_t kept = 0;

    vrb_host->source_lock(ep->ual, source_side(queue));
    source_poll_all(source_of(queue), cq);
    for (uint32_t i = 0; i != cq->stash_end; i++)
        if (!source_is_of(&cq->stash[i], queue) && !source_drop_shared(&cq->stash[i], queue))
            cq->stash[kept++] = cq->stash[i];
    cq->stash_end = kept;
    vrb_host->source_unlock(ep->ual, source_side(queue));
}

void vrb_source_leave(struct vrb_ep *ep)
{
    source_forget(ep, &ep->sq);
    source_forget(ep, &ep->rq);
    vrb_link_drop_all(&ep->sq);
    vrb_source_name(ep, NULL);
    (void)pthread_mutex_lock(&ep->ia->attach_lock);
    source_give_room(ep->sq.cq, NULL, source_request_need(ep));
    source_give_room(ep->rq.cq, ep->srq, source_receive_need(ep));
    (void)pthread_mutex_unlock(&ep->ia->attach_lock);
}
