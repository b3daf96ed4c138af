/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Membership of an EVD in its CNO's AEVD. The EVD is a member while it has a CNO, is enabled, and
 * no thread waits on it. IT-API allows no wait on a member, and in DAT a waiter has precedence over
 * the CNO.
 */
#ifndef ITAPI_ULP_UDAPL_EVENT_UDAPL_MEMBERSHIP_H
#define ITAPI_ULP_UDAPL_EVENT_UDAPL_MEMBERSHIP_H

#include "object/udapl_cno.h"
#include "object/udapl_evd.h"

#include "itx_api.h"

/* Makes the calling thread the waiter, until _wait_end. Returns false if there is one already. */
bool udapl_evd_wait_begin(struct udapl_evd *evd);
/* alive: the EVD was not freed during the wait. */
void udapl_evd_wait_end(struct udapl_evd *evd, bool alive);

/* Sets the EVD's CNO, to which the caller has a reference, or NULL. */
it_status_t udapl_evd_set_cno(struct udapl_evd *evd, struct udapl_cno *cno);

it_status_t udapl_evd_set_enabled(struct udapl_evd *evd, bool enabled);

/* Called when an event was taken. Lets the CNO notify of those that are left, and of later ones. */
static inline void udapl_evd_taken(struct udapl_evd *evd)
{
    if (__builtin_expect(atomic_load_explicit(&evd->told, memory_order_relaxed), 0)) {
        atomic_store_explicit(&evd->told, false, memory_order_relaxed);
        (void)itx_evd_arm(evd->it, ITX_EVD_ARM_OFF); /* cannot fail: a valid EVD */
    }
}

#endif
