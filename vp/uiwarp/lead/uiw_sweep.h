/* SPDX-License-Identifier: BSD-2-Clause */
/* Work that EPs are noted down for is done. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_SWEEP_H
#define ITAPI_VP_UIWARP_LEAD_UIW_SWEEP_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* Any thread: sends what is deferred, all of it, or of EPs with this EVD, or by this thread. */
void uiw_sweep_deferred(void *ia);
void uiw_sweep_deferred_of(void *ia, const struct evd *evd);
void uiw_sweep_deferred_here(struct ual_ia *ia);

/* A thread is about to sleep on this EVD: held posts of EPs with it go out. NULL: of all EPs. */
void uiw_sweep_held_of(void *ia, const struct evd *evd);

void uiw_sweep_open(struct ual_ia *ia);
void uiw_sweep_stop(struct ual_ia *ia); /* loop thread */

/* uiw_srq_sweep.c */
void uiw_srq_sweep(struct uiw_agenda *agenda);

/* uiw_hold_sweep.c */
void uiw_hold_sweep(struct uiw_agenda *agenda);

#endif
