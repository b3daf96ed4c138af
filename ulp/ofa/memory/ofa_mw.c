/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. */
#include "memory/ofa_adapter.h"
#include "memory/ofa_memory.h"

#include <errno.h>
#include <stdlib.h>

/* ---- The windows of a context ---------------------------------------------------------------- */

static void list_add(struct ofa_context *context, struct ofa_mw *mw)
{
    (void)pthread_mutex_lock(&context->window_lock);
    mw->next = context->windows;
    context->windows = mw;
    (void)pthread_mutex_unlock(&context->window_lock);
}

static void list_remove(struct ofa_context *context, const struct ofa_mw *mw)
{
    struct ofa_mw **link;

    (void)pthread_mutex_lock(&context->window_lock);
    for (link = &context->windows; *link != mw; link = &(*link)->next) {
    }
    *link = mw->next;
    (void)pthread_mutex_unlock(&context->window_lock);
}

/* ---- Life ----------------------------------------------------------------------------------- */

void ofa_remember_key(it_handle_t memory, uint32_t rkey)
{
    it_context_t key = {.index = rkey};

    (void)it_set_consumer_context(memory, key);
}

/* Creates the RMR of a window. Returns 0 or errno. */
static int create_rmr(struct ofa_mw *mw)
{
    bool wide = mw->base.type == IBV_MW_TYPE_1;
    it_rmr_context_t rkey;
    it_rmr_handle_t rmr;
    int error = ofa_errno(it_rmr_create20(ofa_pd_of(mw->base.pd)->pz,
                                          wide ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW, &rmr));

    if (error != 0)
        return error;
    error = ofa_errno(itx_rmr_key(rmr, &rkey));
    if (error != 0) {
        (void)it_rmr_free(rmr);
        return error;
    }
    mw->rmr = rmr;
    ofa_remember_key(rmr, (uint32_t)rkey);
    mw->base.rkey = (uint32_t)rkey;
    return 0;
}

struct ibv_mw *ofa_alloc_mw(struct ibv_pd *base, enum ibv_mw_type type)
{
    struct ofa_mw *mw;
    int error;

    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
        errno = EINVAL;
        return NULL;
    }
    mw = calloc(1, sizeof(*mw));
    if (!mw)
        return NULL;
    mw->base.context = base->context;
    mw->base.pd = base;
    mw->base.type = type;
    error = create_rmr(mw);
    if (error != 0) {
        free(mw);
        errno = error;
        return NULL;
    }
    list_add(ofa_context_of(base->context), mw);
    atomic_fetch_add_explicit(&ofa_pd_of(base)->children, 1, memory_order_relaxed);
    return &mw->base;
}

int ofa_dealloc_mw(struct ibv_mw *base)
{
    struct ofa_mw *mw = (struct ofa_mw *)(void *)base;
    int error = ofa_errno(it_rmr_free(mw->rmr));

    if (error != 0)
        return error;
    list_remove(ofa_context_of(base->context), mw);
    atomic_fetch_sub_explicit(&ofa_pd_of(base->pd)->children, 1, memory_order_release);
    free(mw);
    return 0;
}

/* ---- Windows of a queue pair ----------------------------------------------------------------- */

/* An RMR is unlinked by a request of its EP, which is at its end here; so it gets another one. */
void ofa_mw_unbind(const struct ofa_qp *qp)
{
    (void)pthread_mutex_lock(&qp->context->window_lock);
    for (struct ofa_mw *mw = qp->context->windows; mw; mw = mw->next) {
        it_rmr_handle_t bound = mw->rmr;

        if (atomic_load_explicit(&mw->qp, memory_order_relaxed) == qp && create_rmr(mw) == 0)
            (void)it_rmr_free(bound);
    }
    (void)pthread_mutex_unlock(&qp->context->window_lock);
}

void ofa_mw_forget(const struct ofa_qp *qp)
{
    (void)pthread_mutex_lock(&qp->context->window_lock);
    for (struct ofa_mw *mw = qp->context->windows; mw; mw = mw->next)
        if (atomic_load_explicit(&mw->qp, memory_order_relaxed) == qp)
            atomic_store_explicit(&mw->qp, NULL, memory_order_relaxed);
    (void)pthread_mutex_unlock(&qp->context->window_lock);
}
