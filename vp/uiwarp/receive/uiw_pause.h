/* SPDX-License-Identifier: BSD-2-Clause */
/* When to look at a stream whose messages come in many small segments; see uiw_gather.c. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_PAUSE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_PAUSE_H

#include "vp/uiwarp/queue/uiw_gather.h"

void uiw_gather_begin(struct uiw_gather *gather, bool small_segments);

/* A look at the stream is over, whether it has found something or not. */
void uiw_gather_note(struct uiw_gather *gather, bool unfinished);

/* Any thread. Too early to look again? */
bool uiw_gather_waits(const struct uiw_gather *gather);

#endif
