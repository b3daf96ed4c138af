/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/udapl_membership.h"

/* Joins or leaves the AEVD. Only joining can fail, if memory runs out. */
static it_status_t settle_locked(struct udapl_evd *evd)
{
    const struct udapl_cno *cno = atomic_load(&evd->cno);
    bool joins = cno && !evd->disabled && !atomic_load(&evd->waits);
    it_evd_param_t param = {.aevd = joins ? cno->it : NULL};
    it_status_t status = IT_SUCCESS;

    if (param.aevd == evd->aevd)
        return IT_SUCCESS;
    status = it_evd_modify(evd->it, IT_EVD_PARAM_AEVD_HANDLE, &param);
    if (status == IT_SUCCESS)
        evd->aevd = param.aevd;
    /* A new member with events always causes a notification. */
    atomic_store_explicit(&evd->told, false, memory_order_relaxed);
    return status;
}

static it_status_t settle(struct udapl_evd *evd)
{
    it_status_t status;

    pthread_mutex_lock(&evd->lock);
    status = settle_locked(evd);
    pthread_mutex_unlock(&evd->lock);
    return status;
}

/*
 * Sets .waits and then reads .cno; udapl_evd_set_cno sets .cno and then reads .waits. So at least
 * one of the two threads sees both values. udapl_evd_wait_end does the same.
 */
bool udapl_evd_wait_begin(struct udapl_evd *evd)
{
    if (atomic_exchange(&evd->waits, true))
        return false;
    if (atomic_load(&evd->cno))
        (void)settle(evd);
    return true;
}

void udapl_evd_wait_end(struct udapl_evd *evd, bool alive)
{
    atomic_store(&evd->waits, false);
    if (alive && atomic_load(&evd->cno))
        (void)settle(evd); /* if memory runs out, it joins at the next change */
}

it_status_t udapl_evd_set_cno(struct udapl_evd *evd, struct udapl_cno *cno)
{
    struct udapl_cno *before;
    it_status_t status;

    pthread_mutex_lock(&evd->lock);
    before = atomic_exchange(&evd->cno, cno);
    status = settle_locked(evd);
    if (status != IT_SUCCESS)
        atomic_store(&evd->cno, before);
    pthread_mutex_unlock(&evd->lock);
    udapl_object_release(status == IT_SUCCESS ? before : cno);
    return status;
}

it_status_t udapl_evd_set_enabled(struct udapl_evd *evd, bool enabled)
{
    it_status_t status;

    pthread_mutex_lock(&evd->lock);
    evd->disabled = !enabled;
    status = settle_locked(evd);
    pthread_mutex_unlock(&evd->lock);
    return status;
}
