/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that have become silent, since their host or the network is gone. TCP repeats its segments
 * for a quarter of an hour, and asks nothing while it waits for an answer of the peer's process. An
 * InfiniBand device fails a request when the retries that the program has set are over. So the
 * connections with unfinished requests are looked at once a second.
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
