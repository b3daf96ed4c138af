/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that stay silent at the start of a connection. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_SILENCE_H
#define ITAPI_VP_UIWARP_STREAM_UIW_SILENCE_H

#include "vp/uiwarp/queue/uiw_ep.h"

void uiw_silence_watch(struct ual_ia *ia,
                       struct ual_ep *ual); /* loop thread: it is connected now */

void uiw_silence_forget(struct ual_ia *ia,
                        struct ual_ep *ual); /* not the loop; before it is freed */

void uiw_silence_stop(struct ual_ia *ia); /* loop thread */

#endif
