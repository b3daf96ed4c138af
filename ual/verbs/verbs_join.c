/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making sources and their CQs, and room on them: an EP takes as much of a CQ as it may have
 * completions, so no CQ ever overflows. With the IA's attach lock.
 */
#include "ual/verbs/verbs_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_CQ_LEAST 64u

static void source_free_cq(struct vrb_cq *cq)
{
    if (cq->cq && ibv_destroy_cq(cq->cq) != 0)
        vrb_log(VP_LOG_WARN, "a completion queue is still in use");
    free(cq->stash);
    free(cq);
}

void vrb_source_close(void *context)
{
    struct vrb_source *source = context;
    struct vrb_cq *cq;

    vrb_source_disarm(source);
    while ((cq = source->cqs) != NULL) {
        source->cqs = cq->next;
        source_free_cq(cq);
    }
    if (source->channel)
        (void)ibv_destroy_comp_channel(source->channel); /* nothing uses it */
    free(source);
}

/* ---------------------------------------------------------------- joining */

static struct vrb_cq *source_make_cq(struct vrb_source *source, uint32_t capacity)
{
    struct vrb_cq *cq = calloc(1, sizeof(*cq));
    uint32_t room = capacity > VRB_SOURCE_BATCH ? capacity : VRB_SOURCE_BATCH;
    int error = ENOMEM;

    if (!cq)
        goto err_log;
    cq->capacity = capacity;
    cq->stash = calloc((size_t)room + VRB_SOURCE_BATCH, sizeof(*cq->stash));
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
    vrb_source_close(source);
    return NULL;
}

/* The one of that queue's EVD; made and attached if there is none. The attach lock is held. */
static it_status_t source_find(struct vrb_ep *ep, enum vp_queue queue,
                               struct vrb_source **source_out)
{
    struct vrb_source *source = vrb_host->source_get(ep->ual, queue, &vrb_source_ops);
    it_status_t status;
    size_t size;

    if (!source) {
        source = source_make(ep->ia, vrb_host->source_evd(ep->ual, queue, &size));
        if (!source)
            return IT_ERR_RESOURCES;
        status =
            vrb_host->source_attach(ep->ual, queue, &vrb_source_ops, source, source->channel->fd);
        if (status != IT_SUCCESS) {
            vrb_source_close(source);
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
    vrb_source_arm(source, false); /* whoever relies on it has armed the others */
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

/* One more for the marker. A link that fails may have two: see verbs_rmr.c. */
static uint32_t source_request_need(const struct vrb_ep *ep)
{
    return (ep->sq.links ? 2 * ep->sq.depth : ep->sq.depth) + 1 +
           (ep->ia->quirks.is_siw ? VRB_NUDGES : 0);
}

static uint32_t source_receive_need(const struct vrb_ep *ep)
{
    return ep->srq ? vrb_srq_of(ep->srq)->depth : ep->rq.depth;
}

static it_status_t source_take_places(struct vrb_ep *ep)
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

it_status_t vrb_source_join(struct vrb_ep *ep)
{
    it_status_t status = source_take_places(ep);

    if (status != IT_SUCCESS)
        return status;
    /* Without the attach lock: these wait for the IA's thread, which may be about to take it. */
    if (vrb_host->source_start(ep->ual, VP_REQUESTS) &&
        vrb_host->source_start(ep->ual, VP_RECEIVES))
        return IT_SUCCESS;
    vrb_source_give_room(ep);
    return IT_ERR_RESOURCES;
}

void vrb_source_give_room(struct vrb_ep *ep)
{
    (void)pthread_mutex_lock(&ep->ia->attach_lock);
    source_give_room(ep->sq.cq, NULL, source_request_need(ep));
    source_give_room(ep->rq.cq, ep->srq, source_receive_need(ep));
    (void)pthread_mutex_unlock(&ep->ia->attach_lock);
}
