/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects peers whose host or network is lost. TCP retransmits for a quarter of an hour, and sends
 * no probes while it waits for an answer of the peer's process. An InfiniBand device fails a
 * request after the retries that the program has set. So a timer checks connections with unfinished
 * requests once a second.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_SILENCE_H
#define ITAPI_ULP_OFA_LINK_OFA_SILENCE_H

#include "object/ofa_object.h"

void ofa_silence_init(struct ofa_context *context);

/* With any lock. The queue pair is connected, or has got a time limit: looks begin. */
void ofa_silence_watch(struct ofa_qp *qp);

/* Called before the context is freed. */
void ofa_silence_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_SILENCE_H */
