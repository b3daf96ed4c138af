/* SPDX-License-Identifier: BSD-2-Clause */
/* Active streams that only the leader looks at; see uiw_detach.c. Leader only. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_DETACH_H
#define ITAPI_VP_UIWARP_LEAD_UIW_DETACH_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* A poll of the active stream has found something: it may leave the poll set. */
void uiw_detach_found(struct uiw_progress *progress, struct uiw_active *active);
/* The active stream enters the poll set again. May wait for the send token, held briefly. */
void uiw_detach_end(struct uiw_progress *progress, struct uiw_active *active);
void uiw_detach_end_all(struct uiw_progress *progress);

#endif
