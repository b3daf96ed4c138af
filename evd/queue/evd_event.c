/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of an event that IT-API has no members for: immediate, length of private data. */
#include "evd/evd_immediate.h"
#include "evd/evd_private_data.h"

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

static it_boolean_t private_data_is_present(const it_event_t *event)
{
    switch ((unsigned)event->event_number) {
    case IT_CM_REQ_CONN_REQUEST_EVENT:
        return event->conn_req.private_data_present;
    case IT_CM_REQ_UD_SERVICE_REQUEST_EVENT:
        return event->ud_svc_request.private_data_present;
    case IT_CM_MSG_UD_SERVICE_REPLY_EVENT:
        return event->ud_svc_reply.private_data_present;
    case IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT:
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
    case IT_CM_MSG_CONN_BROKEN_EVENT:
        return event->conn.private_data_present;
    default:
        return IT_FALSE;
    }
}

size_t itx_event_private_data_length(const it_event_t *event)
{
    uint16_t length;

    if (!event || private_data_is_present(event) != IT_TRUE)
        return 0;
    memcpy(&length, (const unsigned char *)event + evd_private_length_at(event), sizeof(length));
    return length > IT_MAX_PRIV_DATA ? IT_MAX_PRIV_DATA : length;
}
