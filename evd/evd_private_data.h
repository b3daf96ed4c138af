/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of the private data's length in an it_event_t. In a connection request it is a part of
 * conn_qual that only a VIA uses; in other events it lies behind their members. Programs ask
 * itx_event_private_data_length.
 */
#ifndef ITAPI_EVD_EVD_PRIVATE_DATA_H
#define ITAPI_EVD_EVD_PRIVATE_DATA_H

#include "it_api.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EVD_PRIVATE_LENGTH sizeof(uint16_t)
#define EVD_PRIVATE_ENDS(type)                                                                     \
    (offsetof(type, private_data_present) + sizeof(it_boolean_t) + EVD_PRIVATE_LENGTH <=           \
     sizeof(it_event_t))

_Static_assert(EVD_PRIVATE_ENDS(it_connection_event_t) &&
                   EVD_PRIVATE_ENDS(it_ud_svc_request_event_t) &&
                   EVD_PRIVATE_ENDS(it_ud_svc_reply_event_t),
               "room for the length");

/* Needs the event number. */
static inline size_t evd_private_length_at(const it_event_t *event)
{
    if (event->event_number == IT_CM_REQ_CONN_REQUEST_EVENT)
        return offsetof(it_event_t, conn_req.conn_qual) + sizeof(event->conn_req.conn_qual) -
               EVD_PRIVATE_LENGTH;
    return sizeof(*event) - EVD_PRIVATE_LENGTH;
}

/*
 * Copies at most IT_MAX_PRIV_DATA octets of the data to private_data, and sets *present; both are
 * members of event. The caller has zeroed the rest of the event.
 */
static inline void evd_private_data_put(it_event_t *event, unsigned char *private_data,
                                        it_boolean_t *present, const void *data, size_t length)
{
    uint16_t kept = (uint16_t)(length > IT_MAX_PRIV_DATA ? IT_MAX_PRIV_DATA : length);

    if (kept == 0)
        return;
    memcpy(private_data, data, kept);
    *present = IT_TRUE;
    memcpy((unsigned char *)event + evd_private_length_at(event), &kept, sizeof(kept));
}

#endif
