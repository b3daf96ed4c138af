/* SPDX-License-Identifier: BSD-2-Clause */
/* A consumer leads; opening and closing of what an IA reads its sockets with. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H

#include "evd/evd_progress.h"
#include "ual/object/ual.h"

bool uiw_lead_open(struct ual_ia *ia); /* starts the watch; the loop runs */
void uiw_lead_close(struct ual_ia *ia);

extern const struct evd_progress_ops uiw_lead_ops;

#endif
