/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

bool udapl_deliver_request(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out)
{
    (void)ia;
    (void)event;
    (void)out;
    return false;
}

bool udapl_deliver_connection(const it_event_t *event, DAT_EVENT *out)
{
    (void)event;
    (void)out;
    return false;
}
