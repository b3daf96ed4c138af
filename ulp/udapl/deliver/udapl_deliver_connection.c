/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection events. */
#include "deliver/udapl_deliver.h"

#include "map/udapl_connection.h"

#include "itx_api.h"

#include <string.h>

/* Stores both addresses for dat_ep_query. */
static void keep_addresses(struct udapl_ep *ep)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};

    if (itx_ep_query_addresses(ep->it, &addresses) != IT_SUCCESS)
        return; /* the connection has ended: keeps the addresses known before */
    ep->connection.local = addresses.local;
    ep->connection.remote = addresses.remote;
    ep->connection.local_port = udapl_port_of(&addresses.local);
    ep->connection.remote_port = udapl_port_of(&addresses.remote);
}

static void keep_private_data(struct udapl_ep *ep, const it_event_t *event,
                              DAT_CONNECTION_EVENT_DATA *data)
{
    size_t length = itx_event_private_data_length(event);

    memcpy(ep->connection.private_data, event->conn.private_data, length);
    data->private_data_size = (DAT_COUNT)length;
    data->private_data = length > 0 ? ep->connection.private_data : NULL;
}

bool udapl_deliver_connection(const it_event_t *event, DAT_EVENT *out)
{
    DAT_CONNECTION_EVENT_DATA *data = &out->event_data.connect_event_data;
    it_context_t context;
    struct udapl_ep *ep;

    if (it_get_consumer_context(event->conn.ep, &context) != IT_SUCCESS)
        return false;
    ep = context.ptr;
    out->event_number = udapl_connection_number(event->event_number, event->conn.reject_reason_code,
                                                atomic_load(&ep->connection.accepting));
    if (!out->event_number)
        return false;
    data->ep_handle = ep;
    keep_private_data(ep, event, data);
    if (out->event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
        keep_addresses(ep);
    if (ep->srq && (out->event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                    out->event_number == DAT_CONNECTION_EVENT_BROKEN))
        udapl_srq_leave(ep);
    return true;
}
