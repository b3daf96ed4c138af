/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/ofa_event.h"

#include <stdlib.h>

void ofa_event_raise(struct ofa_context *context, struct ibv_async_event event)
{
    struct ibv_async_event *copy = malloc(sizeof(*copy));

    if (!copy)
        return;
    *copy = event;
    if (ofa_fifo_push(&context->async, copy) != 0)
        free(copy);
}
