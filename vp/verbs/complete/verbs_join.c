/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates sources and their CQs, and manages room on them. An EP reserves as much of a CQ as it may
 * have completions, so no CQ ever overflows. The IA's attach lock is held.
 */

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/device/verbs_descriptor.h"
#include "vp/verbs/memory/verbs_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_CQ_LEAST 64u

static void source_free_cq(struct verbs_cq *cq)
{
    if (cq->cq && ibv_destroy_cq(cq->cq) != 0)
        verbs_log(VP_LOG_WARN, "a completion queue is still in use");
    free(cq->held);
    free(cq);
}

static void source_close(void *context)
{
    struct verbs_source *source = context;
    struct verbs_cq *cq;

    verbs_source_disarm(source);
    while ((cq = source->cqs) != NULL) {
        source->cqs = cq->next;
        source_free_cq(cq);
    }
    if (source->channel)
        (void)ibv_destroy_comp_channel(source->channel); /* nothing uses it */
    free(source);
}

const struct evd_source_ops verbs_source_ops = {
    .take = verbs_source_take,
    .drain = verbs_source_drain,
    .arm = verbs_source_arm,
    .disarm = verbs_source_disarm,
    .close = source_close,
    .dequeue = verbs_source_dequeue,
};

/* ---------------------------------------------------------------- joining */

static struct verbs_cq *source_make_cq(struct verbs_source *source, uint32_t capacity)
{
    struct verbs_cq *cq = calloc(1, sizeof(*cq));
    uint32_t room = capacity > VERBS_SOURCE_BATCH ? capacity : VERBS_SOURCE_BATCH;
    char limit[VERBS_LIMIT_TEXT];
    int error = ENOMEM;

    if (!cq)
        goto err_log;
    cq->capacity = capacity;
    cq->held = calloc((size_t)room + (size_t)2 * VERBS_SOURCE_BATCH, sizeof(*cq->held));
    cq->stash = cq->held;
    cq->stash_first = cq->stash;
    cq->stash_end = cq->stash;
    if (cq->stash && source->ia->quirks.reads_overtaken)
        cq->unsorted = cq->stash + room + VERBS_SOURCE_BATCH;
    if (cq->stash) {
        cq->cq = ibv_create_cq(source->ia->context, (int)capacity, source, source->channel, 0);
        error = errno;
    }
    if (cq->cq)
        return cq;
    source_free_cq(cq);

err_log:
    verbs_log(VP_LOG_WARN, "%s: no completion queue for %u: %s%s",
              verbs_host->ia_name(source->ia->ual), capacity, strerror(error),
              verbs_limit_text(error, limit));
    return NULL;
}

static struct verbs_source *source_make(struct verbs_ia *ia, it_evd_handle_t evd)
{
    struct verbs_source *source = calloc(1, sizeof(*source));
    int flags;

    if (!source)
        return NULL;
    source->ia = ia;
    source->evd = evd;
    source->channel = ibv_create_comp_channel(ia->context);
    if (!source->channel) {
        verbs_warn(ia, "no completion channel", errno);
        free(source);
        return NULL;
    }
    verbs_descriptor_renumber(&source->channel->fd);
    flags = fcntl(source->channel->fd, F_GETFL);
    if (flags >= 0 && fcntl(source->channel->fd, F_SETFL, flags | O_NONBLOCK) == 0)
        return source;
    source_close(source);
    return NULL;
}

/*
 * Finds the source of that queue's EVD; creates and attaches one if there is none. The attach lock
 * is held.
 */
static it_status_t source_find(struct verbs_ep *ep, enum vp_queue queue,
                               struct verbs_source **source_out)
{
    struct verbs_source *source = verbs_host->source_get(ep->ual, queue, &verbs_source_ops);
    it_status_t status;
    size_t size;

    if (!source) {
        source = source_make(ep->ia, verbs_host->source_evd(ep->ual, queue, &size));
        if (!source)
            return IT_ERR_RESOURCES;
        status = verbs_host->source_attach(ep->ual, queue, &verbs_source_ops, source,
                                           source->channel->fd);
        if (status != IT_SUCCESS) {
            source_close(source);
            return status;
        }
    }
    *source_out = source;
    return IT_SUCCESS;
}

/* Chooses a size that seldom makes another CQ necessary: the EVD's plus the present capacity. */
static uint32_t source_capacity(struct verbs_ep *ep, enum vp_queue queue, size_t there,
                                uint32_t need)
{
    uint32_t limit = (uint32_t)ep->ia->device.orig_attr.max_cqe;
    size_t capacity;

    (void)verbs_host->source_evd(ep->ual, queue, &capacity);
    capacity += there;
    if (capacity < SOURCE_CQ_LEAST)
        capacity = SOURCE_CQ_LEAST;
    if (capacity > limit)
        capacity = limit;
    return capacity > need ? (uint32_t)capacity : need;
}

static struct verbs_share *source_share_on(const struct verbs_cq *cq, const struct ual_srq *srq)
{
    struct verbs_share *share = srq ? cq->shares : NULL;

    while (share && share->srq != srq)
        share = share->next;
    return share;
}

static struct verbs_cq *source_find_room(struct verbs_ep *ep, enum vp_queue queue,
                                         const struct verbs_source *source, uint32_t need,
                                         size_t *there)
{
    const struct ual_srq *srq = queue == VP_RECEIVES ? ep->srq : NULL;
    struct verbs_cq *found = NULL;

    *there = 0;
    verbs_host->source_lock(ep->ual, queue);
    for (struct verbs_cq *cq = source->cqs; cq; cq = cq->next) {
        bool fits = cq->capacity - cq->used >= need;

        *there += cq->capacity;
        if (source_share_on(cq, srq) || (fits && !(found && source_share_on(found, srq))))
            found = cq;
    }
    verbs_host->source_unlock(ep->ual, queue);
    return found;
}

static struct verbs_cq *source_add_cq(struct verbs_ep *ep, enum vp_queue queue,
                                      struct verbs_source *source, uint32_t capacity)
{
    struct verbs_cq *cq = source_make_cq(source, capacity);

    if (!cq)
        return NULL;
    verbs_host->source_lock(ep->ual, queue);
    cq->next = source->cqs;
    source->cqs = cq;
    verbs_source_arm(source, false); /* the other CQs are armed if a consumer needs it */
    verbs_host->source_unlock(ep->ual, queue);
    return cq;
}

/* Returns false if memory runs out. */
static bool source_take_room(struct verbs_cq *cq, const struct ual_srq *srq, uint32_t need)
{
    struct verbs_share *share = source_share_on(cq, srq);

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

static void source_give_room(struct verbs_cq *cq, const struct ual_srq *srq, uint32_t need)
{
    struct verbs_share *share = source_share_on(cq, srq);
    struct verbs_share **link = &cq->shares;

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

/* Reserves room on a CQ of the source. The attach lock is held: it guards the room. */
static struct verbs_cq *source_reserve(struct verbs_ep *ep, enum vp_queue queue,
                                       struct verbs_source *source, uint32_t need)
{
    size_t there;
    struct verbs_cq *cq = source_find_room(ep, queue, source, need, &there);

    if (!cq)
        cq = source_add_cq(ep, queue, source, source_capacity(ep, queue, there, need));
    if (!cq || !source_take_room(cq, queue == VP_RECEIVES ? ep->srq : NULL, need))
        return NULL;
    return cq;
}

/* One more for the marker. A failed link may have two completions: see verbs_rmr.c. */
static uint32_t source_request_need(const struct verbs_ep *ep)
{
    return (ep->sq.links ? 2 * ep->sq.depth : ep->sq.depth) + 1 +
           (ep->ia->quirks.is_siw ? VERBS_NUDGES : 0);
}

static uint32_t source_receive_need(const struct verbs_ep *ep)
{
    return ep->srq ? verbs_srq_of(ep->srq)->depth : ep->rq.depth;
}

static it_status_t source_take_places(struct verbs_ep *ep)
{
    struct verbs_ia *ia = ep->ia;
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

it_status_t verbs_source_join(struct verbs_ep *ep)
{
    it_status_t status = source_take_places(ep);

    if (status != IT_SUCCESS)
        return status;
    /*
     * Called without the attach lock: these calls wait for the IA's thread, which may be about to
     * take it.
     */
    if (verbs_host->source_start(ep->ual, VP_REQUESTS) &&
        verbs_host->source_start(ep->ual, VP_RECEIVES))
        return IT_SUCCESS;
    verbs_source_give_room(ep);
    return IT_ERR_RESOURCES;
}

void verbs_source_give_room(struct verbs_ep *ep)
{
    (void)pthread_mutex_lock(&ep->ia->attach_lock);
    source_give_room(ep->sq.cq, NULL, source_request_need(ep));
    source_give_room(ep->rq.cq, ep->srq, source_receive_need(ep));
    (void)pthread_mutex_unlock(&ep->ia->attach_lock);
}
