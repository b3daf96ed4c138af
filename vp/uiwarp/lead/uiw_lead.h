/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways in which a consumer leads; what an IA reads its sockets with is opened and closed here. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H
#define ITAPI_VP_UIWARP_LEAD_UIW_LEAD_H

#include "evd/evd_progress.h"
#include "ual/object/ual.h"

bool uiw_lead_open(struct ual_ia *ia); /* starts the watch; the loop runs */
void uiw_lead_close(struct ual_ia *ia);

extern const struct evd_progress_ops uiw_lead_ops;

#endif
