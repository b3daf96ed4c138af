/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: creating, resizing and destroying them. */
#include "memory/ofa_adapter.h"
#include "queue/ofa_event.h"
#include "queue/ofa_queue.h"
#include "queue/ofa_stash.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory --------------------------------------------------------------------------------- */

/*
 * Memory of destroyed CQs is kept for later CQs. Some programs (cmtime) create queue pairs with a
 * destroyed CQ. These are refused, as by a device, because its EVD no longer exists.
 */
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofa_cq *unused; /* guarded by unused_lock */

static struct ofa_cq *take_memory(void)
{
    struct ofa_cq *cq;

    (void)pthread_mutex_lock(&unused_lock);
    cq = unused;
    if (cq)
        unused = cq->next;
    (void)pthread_mutex_unlock(&unused_lock);
    if (!cq)
        return calloc(1, sizeof(*cq));
    memset(cq, 0, sizeof(*cq));
    return cq;
}

static void give_memory(struct ofa_cq *cq)
{
    free(cq->parked);
    free(cq->stash);
    (void)pthread_mutex_lock(&unused_lock);
    cq->next = unused;
    unused = cq;
    (void)pthread_mutex_unlock(&unused_lock);
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void look(struct ofa_timer *timer)
{
    ofa_cq_look((struct ofa_cq *)(void *)((char *)timer - offsetof(struct ofa_cq, look)));
}

static struct ofa_cq *create(struct ibv_context *base, uint32_t cqe, void *cq_context,
                             struct ibv_comp_channel *channel, uint32_t vector)
{
    struct ofa_context *context = ofa_context_of(base);
    it_context_t self;
    struct ofa_cq *cq;
    int error;

    if (cqe == 0 || cqe > OFA_MAX_CQE || vector >= (uint32_t)base->num_comp_vectors ||
        (channel && channel->context != base)) {
        errno = EINVAL;
        return NULL;
    }
    cq = take_memory();
    if (!cq)
        return NULL;
    error = ofa_adapter_open(context);
    if (error == 0)
        error = ofa_stash_reserve_locked(cq, cqe);
    if (error == 0)
        error = ofa_errno(it_evd_create(context->ia, IT_DTO_EVENT_STREAM, 0, cqe,
                                        IT_THRESHOLD_DISABLE, NULL, &cq->evd, NULL));
    if (error != 0) {
        give_memory(cq);
        errno = error;
        return NULL;
    }
    self.ptr = cq;
    (void)it_set_consumer_context(cq->evd, self); /* for the event of an overrun */
    if (channel)
        (void)itx_evd_arm(cq->evd, ITX_EVD_ARM_NONE); /* until its program asks for an event */
    cq->look.callback = look;
    cq->base.context = base;
    cq->base.channel = channel;
    cq->base.cq_context = cq_context;
    cq->base.cqe = (int)cqe;
    ofa_event_init_cq(cq);
    (void)pthread_mutex_init(&cq->base.mutex, NULL);
    (void)pthread_cond_init(&cq->base.cond, NULL);
    if (channel)
        ofa_channel_add(channel, cq);
    atomic_fetch_add_explicit(&context->children, 1, memory_order_relaxed);
    return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    struct ofa_cq *cq;

    if (cqe <= 0 || comp_vector < 0) {
        errno = EINVAL;
        return NULL;
    }
    cq = create(context, (uint32_t)cqe, cq_context, channel, (uint32_t)comp_vector);
    return cq ? &cq->base : NULL;
}

struct ibv_cq_ex *ofa_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    const uint32_t flags_known =
        IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    struct ofa_cq *cq;

    if (attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
        ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) && (attr->flags & ~flags_known))) {
        errno = EINVAL;
        return NULL;
    }
    if (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS) {
        (void)ofa_absent("a member of completions beyond the standard ones", EOPNOTSUPP);
        return NULL;
    }
    cq = create(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);
    if (!cq)
        return NULL;
    ofa_cq_ex_init(cq, attr->wc_flags);
    return &cq->ex;
}

static int reserve(struct ofa_cq *cq, uint32_t cqe)
{
    int error;

    ofa_spin_take(&cq->lock);
    error = ofa_stash_reserve_locked(cq, cqe);
    ofa_spin_drop(&cq->lock);
    return error;
}

int ibv_resize_cq(struct ibv_cq *base, int cqe)
{
    struct ofa_cq *cq = ofa_cq_of(base);
    it_evd_param_t param = {0};
    int error;

    if (cqe <= 0 || cqe > OFA_MAX_CQE)
        return EINVAL;
    if (ofa_cq_collect(cq) > (uint32_t)cqe)
        return EINVAL;
    error = reserve(cq, (uint32_t)cqe);
    if (error != 0)
        return error;
    param.sevd_queue_size = (size_t)cqe;
    error = ofa_errno(it_evd_modify(cq->evd, IT_EVD_PARAM_QUEUE_SIZE, &param));
    if (error == 0)
        base->cqe = cqe;
    return error;
}

static bool is_event(const struct ofa_fifo_item *item, const void *key)
{
    return item == key;
}

/* Drops unread events and waits until the others are acknowledged. */
static void wait_for_acknowledgements(struct ofa_cq *cq)
{
    struct ofa_channel *channel = (struct ofa_channel *)(void *)cq->base.channel;

    if (channel)
        while (ofa_fifo_remove(&channel->fifo, is_event, &cq->event)) {
        }
    (void)pthread_mutex_lock(&cq->base.mutex);
    /* Signed: some programs acknowledge more events than they have read. */
    while ((int32_t)(cq->base.comp_events_completed - cq->delivered) < 0)
        (void)pthread_cond_wait(&cq->base.cond, &cq->base.mutex);
    (void)pthread_mutex_unlock(&cq->base.mutex);
    ofa_event_drain(ofa_context_of(cq->base.context), &cq->base, &cq->base.mutex, &cq->base.cond,
                    &cq->base.async_events_completed, &cq->async_delivered);
}

int ibv_destroy_cq(struct ibv_cq *base)
{
    struct ofa_cq *cq = ofa_cq_of(base);
    struct ofa_context *context = ofa_context_of(base->context);
    int error;

    if (atomic_load_explicit(&cq->children, memory_order_acquire) > 0)
        return EBUSY;
    ofa_timer_cancel(&cq->look);
    if (cq->has_callback)
        (void)it_evd_callback_detach(cq->evd);
    error = ofa_errno(it_evd_free(cq->evd));
    if (error != 0)
        return error;
    if (base->channel)
        ofa_channel_remove(base->channel, cq);
    wait_for_acknowledgements(cq);
    atomic_fetch_sub_explicit(&context->children, 1, memory_order_relaxed);
    (void)pthread_cond_destroy(&base->cond);
    (void)pthread_mutex_destroy(&base->mutex);
    give_memory(cq);
    return 0;
}
