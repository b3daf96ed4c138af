/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who reads the sockets of an IA: opened and closed with it, and the ways in which a consumer leads.
 */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H

#include "evd/evd_progress.h"
#include "ual/object/ual.h"

bool uiw_progress_open(struct ual_ia *ia); /* starts the watch; the loop runs */

void uiw_progress_close(struct ual_ia *ia);

/* Returns when no leader holds a pointer to an EP that was removed before the call. */
void uiw_progress_quiesce(struct ual_ia *ia);
/* What is deferred of EPs with this EVD goes out now. */
void uiw_progress_flush_evd(void *ia, const struct evd *evd);

extern const struct evd_progress_ops uiw_progress_ops;

#endif
