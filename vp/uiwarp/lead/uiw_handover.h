/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the progress engine share: the leader's round, the loop's part, deferral. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H

#include "vp/uiwarp/queue/uiw_ep.h"

/* uiw_progress.c */
bool uiw_progress_claim(struct uiw_progress *progress, enum uiw_leader who);
void uiw_progress_release(struct ual_ia *ia);
/* Leader: one non-blocking look at the sockets. Octets read. */
size_t uiw_progress_round(struct uiw_progress *progress, bool ask_epoll);

/* uiw_handover.c */
bool uiw_handover_open(struct ual_ia *ia);
void uiw_handover_close(struct ual_ia *ia);
/* A leader has left; any thread. */
void uiw_handover_leave(struct ual_ia *ia);

/* uiw_defer.c */
/* Any thread: sends what was deferred, all of it, or of EPs with this EVD, or by this thread. */
void uiw_defer_flush(struct ual_ia *ia);
void uiw_defer_flush_evd(struct ual_ia *ia, const struct evd *evd);
void uiw_defer_flush_own(struct ual_ia *ia);
void uiw_defer_init(struct ual_ia *ia);
void uiw_defer_stop(struct ual_ia *ia); /* loop thread */
void uiw_hold_init(struct ual_ia *ia);
void uiw_hold_stop(struct ual_ia *ia); /* loop thread */
/* Takes the EP off the held list; nobody who has found it there uses it any more. */
void uiw_hold_leave(struct ual_ia *ia, struct ual_ep *ual);

/* uiw_silence.c */
void uiw_silence_watch(struct ual_ia *ia,
                       struct ual_ep *ual); /* loop thread: it is connected now */
void uiw_silence_forget(struct ual_ia *ia,
                        struct ual_ep *ual); /* not the loop; before it is freed */
void uiw_silence_stop(struct ual_ia *ia);    /* loop thread */

#endif
