/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an EVD is a member of its CNO's AEVD: when it has one, is enabled, and no thread waits on
 * the EVD itself. IT-API lets nobody wait on a member, and DAT has a waiter come before the CNO.
 */
#ifndef ITAPI_ULP_UDAPL_EVENT_UDAPL_MEMBERSHIP_H
#define ITAPI_ULP_UDAPL_EVENT_UDAPL_MEMBERSHIP_H

#include "object/udapl_cno.h"
#include "object/udapl_evd.h"

#include "itx_api.h"

/* The calling thread is the one that waits, if it is the only one. It ends with _wait_end. */
bool udapl_evd_wait_begin(struct udapl_evd *evd);
/* alive: the EVD has not been freed meanwhile. */
void udapl_evd_wait_end(struct udapl_evd *evd, bool alive);

/* The CNO that tells of the EVD from now on, which is held by the caller, or NULL. */
it_status_t udapl_evd_set_cno(struct udapl_evd *evd, struct udapl_cno *cno);

it_status_t udapl_evd_set_enabled(struct udapl_evd *evd, bool enabled);

/* An event was taken: the CNO tells of those that are left, and of the next ones. */
static inline void udapl_evd_taken(struct udapl_evd *evd)
{
    if (__builtin_expect(atomic_load_explicit(&evd->told, memory_order_relaxed), 0)) {
        atomic_store_explicit(&evd->told, false, memory_order_relaxed);
        (void)itx_evd_arm(evd->it, ITX_EVD_ARM_OFF); /* the EVD is good */
    }
}

#endif
