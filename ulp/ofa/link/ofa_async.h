/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events of a context. */
#ifndef ITAPI_ULP_OFA_LINK_OFA_ASYNC_H
#define ITAPI_ULP_OFA_LINK_OFA_ASYNC_H

#include "object/ofa_object.h"

/* Turns errors and changes of the adapter into events. Returns 0 or errno. */
int ofa_async_open(struct ofa_context *context);

/* Handles the events of queue pairs that are queued, as the IA's thread does. Without a lock. */
void ofa_async_dispatch(struct ofa_context *context);

/* Called before the adapter is closed. No callback runs afterwards. */
void ofa_async_close(struct ofa_context *context);

#endif /* ITAPI_ULP_OFA_LINK_OFA_ASYNC_H */
