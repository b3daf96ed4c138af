/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver/udapl_deliver.h"

bool udapl_deliver_async(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out)
{
    (void)ia;
    (void)event;
    (void)out;
    return false;
}
