/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of an EVD: CQs. An EVD has one CQ, or several when more EPs join than the first has
 * room for, since devices need not be able to resize. Everything here runs with the EVD's lock
 * held.
 *
 * Polled completions wait in the stash of their CQ. Below them are those of early receives
 * (verbs_early.c). After them come completions that the provider makes for posts that the device
 * does not complete.
 */
#include "vp/verbs/complete/verbs_complete.h"

#include "vp/verbs/memory/verbs_rmr.h"

#include <string.h>

#define SOURCE_LIKELY(condition) __builtin_expect((condition), true)

/* One in this many polls that find nothing also does the other work that is due. */
#define SOURCE_LOOKS 16u

/* From here on a usual completion is zero: the status, IT_DTO_SUCCESS, and all members after it. */
#define SOURCE_CLEAR_FROM offsetof(it_all_dto_cmpl_event_t, dto_status)
#define SOURCE_CLEAR_HALF ((size_t)64)
#define SOURCE_CLEAR_END  (offsetof(it_all_dto_cmpl_event_t, src_path) + sizeof(it_path_t))
_Static_assert((int)IT_DTO_SUCCESS == 0 && (int)IBV_WC_SUCCESS == 0, "a usual completion is zero");

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

/*
 * Two devices use statuses of little meaning. rxe: the message is too long for its receive, or the
 * receive is unusable; the former is reported. siw: its stream was closed while a request was under
 * way; after a disconnect that is no failure.
 */
static it_dto_status_t __attribute__((noinline))
source_failure(const struct verbs_ep *ep, enum ibv_wc_status status, bool is_receive, bool parted)
{
    if (ep->ia->quirks.is_rxe && is_receive && status == IBV_WC_LOC_QP_OP_ERR)
        return IT_DTO_ERR_LOCAL_LENGTH;
    if (ep->ia->quirks.is_siw && parted &&
        (status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_GENERAL_ERR))
        return IT_DTO_ERR_FLUSHED;
    return source_status(status);
}

/* ---------------------------------------------------------------- completions made here */

/* Adds a completion to the stash. There is room, since each slot has at most one. */
static void source_stash_own(struct verbs_cq *cq, const struct verbs_slot *slot,
                             enum ibv_wc_status status)
{
    size_t left = (size_t)(cq->stash_end - cq->stash_first);

    if (cq->stash_first != cq->stash) {
        memmove(cq->stash, cq->stash_first, left * sizeof(*cq->stash));
        cq->stash_first = cq->stash;
        cq->stash_end = cq->stash + left;
    }
    *cq->stash_end++ = (struct ibv_wc){
        .wr_id = (uintptr_t)slot,
        .status = status,
    };
}

static enum ibv_wc_status source_own_status(const struct verbs_slot *slot)
{
    return slot->what & (VERBS_REFUSED | VERBS_DONE) ? verbs_slot_status(slot)
                                                     : IBV_WC_WR_FLUSH_ERR;
}

/* All completions of the device are in the stash or taken. */
void verbs_source_flush_rest(struct verbs_queue *queue)
{
    uint32_t end = atomic_load_explicit(&queue->published, memory_order_acquire);

    for (; queue->flushed != end; queue->flushed++) {
        const struct verbs_slot *slot = &queue->slots[queue->flushed & queue->mask];

        source_stash_own(queue->cq, slot, source_own_status(slot));
    }
    queue->ordered = end;
}

void verbs_source_drained(struct verbs_queue *queue)
{
    if (!queue->drained)
        queue->flushed = queue->device_tail;
    queue->drained = true;
    verbs_source_flush_rest(queue);
    if (queue->ep->drained)
        verbs_host->task_submit(queue->ep->drained);
}

/*
 * ---------------------------------------------------------------- what a completion says,
 * continued
 */

/*
 * Returns true if a flushed request is the only sign of a failure. That is so on a QP that
 * connection management has not touched: rxe flushes a request that fails locally and reports
 * nothing else. On iWARP the kernel moves the QP when the peer disconnects,
 * and reports that.
 */
static bool source_is_only_sign(const struct verbs_ep *ep, bool is_receive)
{
    return !ep->ia->is_iwarp && !((is_receive ? ep->rq.special : ep->sq.special) & VERBS_FLUSHES);
}

/*
 * siw may answer a Read of no octets with the length and data of its own last message, if it has to
 * wait for a message in transmission. The kernel on this side then ends the connection.
 */
static void source_log_empty_read(const struct verbs_ep *ep, const struct ibv_wc *wc)
{
    const struct verbs_slot *slot = (const struct verbs_slot *)(uintptr_t)wc->wr_id;

    if (ep->ia->quirks.is_siw && wc->status == IBV_WC_GENERAL_ERR && slot->length == 0 &&
        verbs_event_of(slot->what) == IT_DTO_RDMA_READ_CMPL_EVENT)
        verbs_log(VP_LOG_WARN,
                  "%s: a Read of no octets has failed: siw answers such with the length of another "
                  "message while it sends",
                  verbs_host->ia_name(ep->ia->ual));
}

/* Failures are rare. A flushed request mostly failed because of another request. */
static void __attribute__((noinline))
source_note_failure(struct verbs_ep *ep, const struct ibv_wc *wc, bool is_receive)
{
    if (wc->status == IBV_WC_WR_FLUSH_ERR && !source_is_only_sign(ep, is_receive))
        return;
    verbs_log(VP_LOG_INFO, "ep %p: %s failed: %s (vendor error %u)", (void *)ep->ual,
              is_receive ? "receive" : "request", ibv_wc_status_str(wc->status), wc->vendor_err);
    if (!is_receive)
        source_log_empty_read(ep, wc);
    verbs_host->task_submit(ep->failed);
}

static inline void source_tell_receive(const struct verbs_ep *ep, const struct ibv_wc *wc,
                                       struct evd_dto *dto)
{
    dto->length = wc->byte_len;
    if (wc->wc_flags & ep->ia->quirks.invalidated)
        dto->unlinked = verbs_rmr_invalidated(ep->ia, wc->invalidated_rkey);
    if ((wc->wc_flags & IBV_WC_WITH_IMM) && verbs_host->ep_immediate_bits(ep->ual)) {
        dto->has_immediate = true;
        dto->immediate = ntohl(wc->imm_data);
    }
}

/*
 * For posts that complete without an event: frees their slots if all earlier events have been
 * dequeued.
 */
static void source_reap_quietly(struct verbs_queue *queue, uint32_t end)
{
    if (atomic_load_explicit(&queue->retired, memory_order_relaxed) != queue->moved)
        return; /* verbs_source_reap does it later */
    queue->moved = end;
    atomic_store_explicit(&queue->retired, end, memory_order_release);
}

static bool source_is_quiet(const struct verbs_slot *slot, const struct ibv_wc *wc)
{
    if (wc->status == IBV_WC_SUCCESS)
        return (slot->what & VERBS_QUIET) != 0;
    return slot == &slot->queue->marker;
}

/* Completions of a connection before a reset say nothing about the one after it. */
static void __attribute__((noinline))
source_tell_failure(const struct verbs_slot *slot, const struct ibv_wc *wc, struct evd_dto *dto)
{
    struct verbs_ep *ep = slot->queue->ep;
    bool is_receive = (slot->what & VERBS_RECEIVE) != 0;
    bool is_left = (int32_t)(slot->number - slot->queue->renewed) < 0;
    bool parted =
        atomic_load_explicit(is_left ? &ep->parted_before : &ep->parted, memory_order_acquire);

    dto->status = source_failure(ep, wc->status, is_receive, parted);
    if ((slot->what & VERBS_LINKED) && dto->status != IT_DTO_ERR_FLUSHED)
        dto->status = IT_RMR_OPERATION_FAILED;
    if (!is_left)
        source_note_failure(ep, wc, is_receive);
}

static inline __attribute__((always_inline)) void
source_tell(const struct verbs_slot *slot, const struct ibv_wc *wc, struct evd_dto *dto)
{
    struct verbs_queue *queue = slot->queue;
    bool is_receive = (slot->what & VERBS_RECEIVE) != 0;

    dto->event_number = verbs_event_of(slot->what);
    dto->status = IT_DTO_SUCCESS;
    dto->ep = queue->ep->handle;
    dto->cookie = slot->cookie;
    dto->unlinked = NULL;
    dto->length = slot->length;
    dto->notify = (slot->what & IT_NOTIFY_FLAG) != 0;
    dto->has_immediate = false;
    dto->retire_value = queue->moved;
    dto->retire = &queue->retired;
    if (is_receive && __builtin_expect(queue->ep->ud != NULL, false))
        verbs_ud_tell(queue->ep, slot, wc, dto);
    else if (is_receive)
        source_tell_receive(queue->ep, wc, dto);
    if (__builtin_expect(wc->status != IBV_WC_SUCCESS, false)) {
        source_tell_failure(slot, wc, dto);
    }
}

/* ---------------------------------------------------------------- receives of an S-RQ */

static void __attribute__((noinline))
source_tell_shared_failure(struct verbs_ep *ep, const struct ibv_wc *wc, struct evd_dto *dto)
{
    bool is_left = (wc->wr_id & VERBS_SRQ_LEFT) != 0;
    bool parted =
        atomic_load_explicit(is_left ? &ep->parted_before : &ep->parted, memory_order_acquire);

    dto->status = source_failure(ep, wc->status, true, parted);
    if (!is_left)
        source_note_failure(ep, wc, true);
}

/* Only the QP number identifies the EP. The S-RQ's slot becomes free here. */
static bool __attribute__((noinline))
source_reap_shared(struct verbs_source *source, const struct ibv_wc *wc, struct evd_dto *dto)
{
    struct verbs_srq_slot *slot = verbs_srq_slot_of(wc);
    struct verbs_ep *ep = *verbs_source_by_qp(source, wc->qp_num);

    while (ep && ep->qp_num != wc->qp_num)
        ep = ep->next_by_qp;
    if (ep && verbs_source_is_early(ep, wc)) {
        verbs_source_hold(ep, wc);
        return false;
    }
    if (ep)
        *dto = (struct evd_dto){
            .event_number = IT_DTO_RC_RECV_CMPL_EVENT,
            .ep = ep->handle,
            .cookie = slot->cookie,
            .notify = true,
        };
    verbs_srq_return(slot);
    if (!ep)
        return false; /* the EP has been freed */
    source_tell_receive(ep, wc, dto);
    if (wc->status != IBV_WC_SUCCESS)
        source_tell_shared_failure(ep, wc, dto);
    return true;
}

static inline void source_check_drained(struct verbs_queue *queue, uint32_t end)
{
    if (__builtin_expect(queue->special & VERBS_FLUSHES, false) && !queue->drained &&
        (int32_t)(end - queue->device_tail) >= 0)
        verbs_source_drained(queue);
}

/*
 * Processes the oldest completion of the stash. Fills in *dto and returns true if the consumer gets
 * an event.
 */
static inline __attribute__((always_inline)) bool source_reap_own(const struct ibv_wc *wc,
                                                                  struct evd_dto *dto)
{
    struct verbs_slot *slot = (struct verbs_slot *)(uintptr_t)wc->wr_id;
    struct verbs_queue *queue = slot->queue;
    uint32_t end = slot->number + 1;
    bool quiet = source_is_quiet(slot, wc);

    if (__builtin_expect((int32_t)(end - queue->reaped) <= 0, false))
        return false; /* late: its post has been flushed already */
    if (__builtin_expect(queue->special & VERBS_EARLY, false) &&
        verbs_source_is_early(queue->ep, wc)) {
        verbs_source_hold(queue->ep, wc);
        return false;
    }
    queue->reaped = end;
    if (__builtin_expect((slot->what & VERBS_LINKED) != 0, false))
        verbs_link_done(slot, wc->status == IBV_WC_SUCCESS);
    if (quiet) {
        source_reap_quietly(queue, end);
        source_check_drained(queue, end);
        return false;
    }
    queue->moved = end;
    source_tell(slot, wc, dto);
    source_check_drained(queue, end); /* may move the stash: wc is no longer valid */
    return true;
}

static inline const struct ibv_wc *source_next(struct verbs_cq *cq)
{
    return cq->stash_first++;
}

static inline bool source_is_shared(const struct ibv_wc *wc)
{
    return __builtin_expect((wc->wr_id & VERBS_SRQ_MARK) != 0, false);
}

static bool source_reap(struct verbs_source *source, struct verbs_cq *cq, struct evd_dto *dto)
{
    const struct ibv_wc *wc = source_next(cq);

    return source_is_shared(wc) ? source_reap_shared(source, wc, dto) : source_reap_own(wc, dto);
}

static bool __attribute__((noinline))
source_take_shared(struct verbs_source *source, const struct ibv_wc *wc, it_event_t *event)
{
    struct evd_dto dto;

    if (!source_reap_shared(source, wc, &dto))
        return false;
    evd_dto_tell(source->evd, &dto, event);
    return true;
}

/*
 * Takes the usual completion in fewer instructions: a successful one, with an event, of a queue
 * whose QP works and whose connection is known, with nothing attached. Returns false, and has done
 * nothing, for any other completion.
 */
static inline __attribute__((always_inline)) bool
source_take_usual(it_evd_handle_t evd, const struct ibv_wc *wc, it_event_t *event)
{
    struct verbs_slot *slot = (struct verbs_slot *)(uintptr_t)wc->wr_id;
    it_all_dto_cmpl_event_t *cmpl = &event->all_dto_cmpl;
    struct verbs_queue *queue;
    uint32_t what, number, length;

    if (source_is_shared(wc))
        return false;
    what = slot->what;
    if (!SOURCE_LIKELY((what & (VERBS_QUIET | VERBS_LINKED | VERBS_DATAGRAM)) == 0))
        return false;
    if (!SOURCE_LIKELY(wc->status == IBV_WC_SUCCESS))
        return false;
    queue = slot->queue;
    number = slot->number;
    if (!SOURCE_LIKELY(!queue->special))
        return false;
    if (!SOURCE_LIKELY((int32_t)(number - queue->reaped) >= 0))
        return false;
    length = slot->length;
    if (what & VERBS_RECEIVE) {
        if (!SOURCE_LIKELY((wc->wc_flags & ~(unsigned)IBV_WC_GRH) == 0))
            return false;
        length = wc->byte_len;
    }
    /* Clears the members in between too: that takes fewer stores. */
    memset((unsigned char *)cmpl + SOURCE_CLEAR_FROM, 0, SOURCE_CLEAR_HALF);
    memset((unsigned char *)cmpl + SOURCE_CLEAR_FROM + SOURCE_CLEAR_HALF, 0,
           SOURCE_CLEAR_END - SOURCE_CLEAR_FROM - SOURCE_CLEAR_HALF);
    cmpl->event_number = verbs_event_of(what);
    cmpl->evd = evd;
    cmpl->ep = queue->handle;
    cmpl->cookie = slot->cookie;
    cmpl->transferred_length = length;
    number++;
    queue->reaped = number;
    queue->moved = number;
    atomic_store_explicit(&queue->retired, number, memory_order_release);
    return true;
}

/* Takes the usual completions at the head of the stash. */
static inline it_event_t *source_take_all_usual(const struct verbs_source *source,
                                                struct verbs_cq *cq, it_event_t *event,
                                                const it_event_t *end)
{
    struct ibv_wc *wc = cq->stash_first;
    const struct ibv_wc *wc_end = cq->stash_end;
    it_evd_handle_t evd = source->evd;

    while (event != end && wc != wc_end && source_take_usual(evd, wc, event)) {
        event++;
        wc++;
    }
    cq->stash_first = wc;
    return event;
}

/* The same, without an evd_dto in between. */
static bool __attribute__((noinline))
source_take_one(struct verbs_source *source, struct verbs_cq *cq, it_event_t *event)
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

/*
 * For devices whose other requests overtake Reads: moves completed requests to the stash, up to the
 * first one that is not done.
 */
static void source_put_in_order(struct verbs_queue *queue, uint32_t end)
{
    for (; queue->ordered != end; queue->ordered++) {
        const struct verbs_slot *slot = &queue->slots[queue->ordered & queue->mask];
        bool quiet = verbs_event_of(slot->what) != IT_DTO_RDMA_READ_CMPL_EVENT &&
                     (int32_t)(queue->overtaking - queue->ordered) > 0;

        if (slot->what & VERBS_DONE)
            source_stash_own(queue->cq, slot, verbs_slot_status(slot));
        else if (!quiet)
            break;
    }
}

/* siw: notes that a request of the consumer has failed, other than by a flush. */
static void __attribute__((noinline, cold))
source_note_request(const struct verbs_slot *slot, enum ibv_wc_status status)
{
    struct verbs_queue *queue = slot->queue;

    if (status != IBV_WC_WR_FLUSH_ERR && slot != &queue->marker)
        atomic_store_explicit(&queue->ep->request_failed, true, memory_order_relaxed);
}

static void source_sort(struct verbs_cq *cq, const struct ibv_wc *wc)
{
    struct verbs_slot *slot = (struct verbs_slot *)(uintptr_t)wc->wr_id;
    struct verbs_queue *queue;

    if ((wc->wr_id & VERBS_SRQ_MARK) || (slot->what & VERBS_RECEIVE)) {
        *cq->stash_end++ = *wc;
        return;
    }
    queue = slot->queue;
    if (__builtin_expect(wc->status != IBV_WC_SUCCESS, false))
        source_note_request(slot, wc->status);
    slot->what |= VERBS_DONE | (uint32_t)wc->status << VERBS_STATUS_SHIFT;
    /* This holds for a Read too: its response arrives after all earlier requests have been sent. */
    if ((int32_t)(slot->number + 1 - queue->overtaking) > 0)
        queue->overtaking = slot->number + 1;
    if ((int32_t)(queue->overtaking - queue->ordered) > 0)
        source_put_in_order(queue, queue->overtaking);
}

static void __attribute__((noinline)) source_sort_all(struct verbs_cq *cq, int count)
{
    for (int i = 0; i < count; i++)
        source_sort(cq, &cq->unsorted[i]);
}

static inline __attribute__((always_inline)) uint32_t source_poll_batch(struct verbs_cq *cq)
{
    int count =
        ibv_poll_cq(cq->cq, (int)VERBS_SOURCE_BATCH, cq->unsorted ? cq->unsorted : cq->stash_end);

    if (count <= 0)
        return 0;
    if (!cq->unsorted)
        cq->stash_end += count;
    else
        source_sort_all(cq, count);
    return (uint32_t)count;
}

/* Polls at most a batch into the stash, after its completions. Returns how many the device had. */
uint32_t verbs_source_poll_batch(struct verbs_cq *cq)
{
    return source_poll_batch(cq);
}

/* Returns false if there is no completion. */
static inline bool source_poll(struct verbs_cq *cq)
{
    if (cq->stash_first != cq->stash_end)
        return true;
    cq->stash_first = cq->stash;
    cq->stash_end = cq->stash;
    while (verbs_source_poll_batch(cq) > 0)
        if (cq->stash_end != cq->stash)
            return true;
    return false;
}

/* Moves an empty CQ to the end of the list, so that no CQ starves the others. */
static void source_rotate(struct verbs_source *source)
{
    struct verbs_cq *first = source->cqs;
    struct verbs_cq *last = first;

    if (!first || !first->next || first->stash_first != first->stash_end)
        return;
    while (last->next)
        last = last->next;
    source->cqs = first->next;
    first->next = NULL;
    last->next = first;
}

size_t verbs_source_take(void *context, it_event_t *events, size_t max)
{
    struct verbs_source *source = context;
    const it_event_t *end = events + max;
    it_event_t *event = events;

    source_rotate(source);
    for (struct verbs_cq *cq = source->cqs; cq; cq = cq->next)
        while (event != end && source_poll(cq)) {
            event = source_take_all_usual(source, cq, event, end);
            if (event != end && cq->stash_first != cq->stash_end)
                event += source_take_one(source, cq, event);
        }
    return (size_t)(event - events);
}

/* Called with the lock; drops it. */
static it_status_t __attribute__((noinline))
source_dequeue_any(struct verbs_source *source, it_event_t *event)
{
    if (verbs_source_take(source, event, 1) == 0)
        return verbs_host->evd_found_nothing(source->evd);
    source_rotate(source); /* the next call takes what has been polled */
    base_lock_drop(source->view.lock);
    return IT_SUCCESS;
}

static it_status_t __attribute__((noinline, cold))
source_dequeue_queued(struct verbs_source *source, it_event_t *event)
{
    base_lock_drop(source->view.lock);
    return verbs_host->evd_dequeue(source->evd, event);
}

/* Polls all CQs. Returns true if none has a completion. */
static inline __attribute__((always_inline)) bool source_is_empty(const struct verbs_source *source)
{
    for (struct verbs_cq *cq = source->cqs; cq; cq = cq->next) {
        if (!SOURCE_LIKELY(cq->stash_first == cq->stash_end))
            return false;
        cq->stash_first = cq->stash;
        cq->stash_end = cq->stash;
        if (!SOURCE_LIKELY(source_poll_batch(cq) == 0))
            return false;
    }
    return true;
}

/* A poll has found completions: takes one, a usual one of the first CQ in fewer instructions. */
static inline it_status_t source_dequeue_found(struct verbs_source *source, it_event_t *event)
{
    struct verbs_cq *cq = source->cqs;

    if (cq->stash_first == cq->stash_end ||
        !SOURCE_LIKELY(source_take_usual(source->evd, cq->stash_first, event)))
        return source_dequeue_any(source, event);
    cq->stash_first++;
    source_rotate(source);
    base_lock_drop(source->view.lock);
    return IT_SUCCESS;
}

/*
 * Called when all polled completions have been taken. Most calls of a polling thread end here,
 * without a completion. To keep them short, only one in SOURCE_LOOKS does the other work that the
 * library wants done between polls.
 */
static it_status_t __attribute__((noinline))
source_dequeue_polled(struct verbs_source *source, it_event_t *event)
{
    if (!SOURCE_LIKELY(source_is_empty(source)))
        return source_dequeue_found(source, event);
    if (!SOURCE_LIKELY(++source->empty_looks % SOURCE_LOOKS != 0))
        return source_dequeue_any(source, event);
    atomic_store_explicit(source->view.notified, false, memory_order_relaxed);
    base_lock_drop(source->view.lock);
    return IT_ERR_QUEUE_EMPTY;
}

/* Takes from the CQ that was polled last; the other CQs get their turn when it is empty. */
it_status_t verbs_source_dequeue(it_evd_handle_t evd, it_event_t *event)
{
    struct verbs_source *source =
        *(struct verbs_source **)(void *)((unsigned char *)evd + verbs_host->layout.source_context);
    struct verbs_cq *cq;

    if (!SOURCE_LIKELY(event != NULL) || !base_lock_try(source->view.lock))
        return verbs_host->evd_dequeue(evd, event);
    if (!SOURCE_LIKELY(atomic_load_explicit(source->view.queued, memory_order_relaxed) == 0))
        return source_dequeue_queued(source, event);
    cq = source->cqs;
    if (!SOURCE_LIKELY(cq != NULL))
        return source_dequeue_any(source, event);
    if (!SOURCE_LIKELY(cq->stash_first != cq->stash_end))
        return source_dequeue_polled(source, event);
    if (!SOURCE_LIKELY(source_take_usual(evd, cq->stash_first, event)))
        return source_dequeue_any(source, event);
    cq->stash_first++;
    base_lock_drop(source->view.lock);
    return IT_SUCCESS;
}

size_t verbs_source_drain(void *context, struct evd_dto *dtos, size_t max)
{
    struct verbs_source *source = context;
    size_t count = 0;

    source_rotate(source);
    for (struct verbs_cq *cq = source->cqs; cq; cq = cq->next)
        while (count < max && source_poll(cq))
            count += source_reap(source, cq, &dtos[count]);
    return count;
}

void verbs_source_arm(void *context, bool failures_only)
{
    const struct verbs_source *source = context;

    for (const struct verbs_cq *cq = source->cqs; cq; cq = cq->next)
        verbs_warn_unless_removed(source->ia, "a completion queue cannot be armed",
                                  ibv_req_notify_cq(cq->cq, failures_only));
}

void verbs_source_disarm(void *context)
{
    struct verbs_source *source = context;
    struct ibv_cq *cq;
    void *ignored;

    while (ibv_get_cq_event(source->channel, &cq, &ignored) == 0)
        ibv_ack_cq_events(cq, 1);
}
