/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels. */
#include "queue/ofa_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ofa_channel *channel = calloc(1, sizeof(*channel));
    int error;

    if (!channel)
        return NULL;
    error = ofa_fifo_open(&channel->fifo);
    if (error != 0) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.context = context;
    channel->base.fd = channel->fifo.fd;
    return &channel->base;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)base;
    struct ibv_context *context = base->context;
    bool busy;

    (void)pthread_mutex_lock(&context->mutex);
    busy = base->refcnt > 0;
    (void)pthread_mutex_unlock(&context->mutex);
    if (busy)
        return EBUSY;
    ofa_fifo_close(&channel->fifo);
    free(channel);
    return 0;
}

/* ---- CQs ------------------------------------------------------------------------------------ */

void ofa_channel_add(struct ibv_comp_channel *base, struct ofa_cq *cq)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)base;

    (void)pthread_mutex_lock(&base->context->mutex);
    base->refcnt++;
    cq->next = channel->cqs;
    channel->cqs = cq;
    (void)pthread_mutex_unlock(&base->context->mutex);
}

void ofa_channel_remove(struct ibv_comp_channel *base, struct ofa_cq *cq)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)base;
    struct ofa_cq **link;

    (void)pthread_mutex_lock(&base->context->mutex);
    base->refcnt--;
    for (link = &channel->cqs; *link != cq; link = &(*link)->next) {
    }
    *link = cq->next;
    (void)pthread_mutex_unlock(&base->context->mutex);
}

/* ---- Events --------------------------------------------------------------------------------- */

/*
 * Called before a thread sleeps. Cards that programs are written for (ConnectX) report completions
 * that arming finds, and some programs rely on that: perftest with -e polls 16 completions for each
 * event. So a thread does not sleep while such completions are left. Programs that poll the channel
 * get events of new completions only.
 */
static void report_left(struct ofa_channel *channel)
{
    pthread_mutex_t *mutex = &channel->base.context->mutex;
    struct ofa_cq *cq;

    if (!ofa_fifo_is_empty(&channel->fifo) || (fcntl(channel->fifo.fd, F_GETFL) & O_NONBLOCK))
        return;
    (void)pthread_mutex_lock(mutex);
    for (cq = channel->cqs; cq && !ofa_cq_report_left(cq); cq = cq->next) {
    }
    (void)pthread_mutex_unlock(mutex);
}

static struct ofa_cq *cq_of(struct ofa_fifo_item *event)
{
    return (struct ofa_cq *)(void *)((char *)event - offsetof(struct ofa_cq, event));
}

static void count(struct ofa_fifo_item *event)
{
    cq_of(event)->delivered++;
}

int ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **cq, void **cq_context)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)base;
    struct ofa_fifo_item *event;
    struct ofa_cq *found;
    int error;

    report_left(channel);
    error = ofa_fifo_pop(&channel->fifo, count, &event);
    if (error != 0) {
        errno = error;
        return -1;
    }
    found = cq_of(event);
    *cq = &found->base;
    *cq_context = found->base.cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
    (void)pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += nevents;
    (void)pthread_cond_signal(&cq->cond);
    (void)pthread_mutex_unlock(&cq->mutex);
}
