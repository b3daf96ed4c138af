/* SPDX-License-Identifier: BSD-2-Clause */
/* it_handoff: moves an undecided request to another listen point. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

/* Announces the request under a new id. Returns false if the new EVD has no room. */
static bool handoff_announce(struct uiw_conn *conn, const struct ual_listen *listen)
{
    struct ual_request *request = &conn->request;

    request->connect_evd = listen->connect_evd; /* no other thread uses it now */
    ual_request_add(request);
    return ual_request_announce_unless_full(request) || !ual_request_withdraw(request);
}

struct handoff_call {
    struct ual_request *request;
    const it_conn_qual_t *qual;
    size_t spigot_id;
};

static it_status_t handoff_run(void *argument)
{
    const struct handoff_call *call = argument;
    struct uiw_conn *conn = uiw_accept_conn_of(call->request);
    struct ual_listen *listen = uiw_listen_find(conn->ia, call->qual, call->spigot_id);

    if (!uiw_accept_peer_is_there(conn))
        return IT_ERR_INVALID_CN_EST_ID;
    if (!listen)
        return IT_ERR_INVALID_CONN_QUAL;
    if (!handoff_announce(conn, listen))
        return IT_ERR_RESOURCES;
    conn->mpa.config.suppress_depths = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
    return IT_SUCCESS;
}

it_status_t uiw_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct handoff_call call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    if (spigot_id != 1)
        return IT_ERR_INVALID_SPIGOT;
    return evd_loop_run(request->ia->evd.loop, handoff_run, &call);
}
