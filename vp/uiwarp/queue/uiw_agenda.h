/* SPDX-License-Identifier: BSD-2-Clause */
/* EPs with something to do later: who enters them, and who takes them out. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_AGENDA_H

#include "vp/uiwarp/queue/uiw_ep.h"

#define UIW_DEFER_LISTED UINT32_C(1)

#define UIW_DEFER_USER UINT32_C(2) /* counts threads */

typedef bool uiw_defer_match(struct ual_ep *ual, const void *key);

/* Where this thread has deferred last, unless it has flushed there since. Its address names the thread. */
extern _Thread_local const struct uiw_progress *uiw_defer_here
    __attribute__((tls_model("initial-exec")));

/* Takes those that match off the list, the oldest first. They remain marked as listed. */
struct ual_ep *uiw_defer_take(struct ual_ia *ia, uiw_defer_match *match, const void *key);
struct ual_ep *uiw_hold_take(struct uiw_progress *progress, const struct evd *evd);
void uiw_hold_done(struct uiw_progress *progress);
unsigned uiw_hold_count(struct uiw_progress *progress);

/* Takes the EP off the held list; nobody who has found it there uses it any more. */
void uiw_hold_leave(struct ual_ia *ia, struct ual_ep *ual);

/*
 * Posted work of this EP may wait until this thread polls, or anybody an EVD of the EP, or somebody waits, or
 * half a millisecond is over; one while a consumer polls other EVDs.
 */
void uiw_progress_defer(struct ual_ia *ia, struct ual_ep *ual);

/*
 * Posted work of this EP waits for another post, a second or two at the most, and for no longer than a deferred one while
 * somebody sleeps on an EVD of the EP.
 */
void uiw_progress_hold(struct ual_ia *ia, struct ual_ep *ual);

/* Takes the EP off both lists; nobody who has found it there uses it any more. */
void uiw_progress_undefer(struct ual_ia *ia, struct ual_ep *ual);

#endif
