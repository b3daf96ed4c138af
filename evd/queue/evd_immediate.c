/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_event_immediate. */
#include "evd/evd_immediate.h"

#include "itx_api.h"

it_boolean_t itx_event_immediate(const it_event_t *event, uint64_t *value)
{
    if (!event || !value)
        return IT_FALSE;
    if (event->event_number != IT_DTO_RC_RECV_CMPL_EVENT ||
        event->dto_cmpl.dto_status != IT_DTO_SUCCESS ||
        !((unsigned)event->all_dto_cmpl.flags & EVD_IMMEDIATE_PRESENT))
        return IT_FALSE;
    memcpy(value, &event->all_dto_cmpl.src_path, sizeof(*value));
    return IT_TRUE;
}
