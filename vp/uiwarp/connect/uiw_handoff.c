/* SPDX-License-Identifier: BSD-2-Clause */
/* it_handoff: an undecided request goes to another listen point. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

/* The same request under a new id. False: the new EVD has no room. */
static bool handoff_announce(struct uiw_conn *conn, const struct ual_listen *listen)
{
    struct ual_request *request = &conn->request;

    request->connect_evd = listen->connect_evd; /* no other thread reads it now */
    ual_request_add(request);
    return ual_request_announce_unless_full(request) || !ual_request_withdraw(request);
}

static void handoff_run(void *argument)
{
    struct uiw_decision *call = argument;
    struct uiw_conn *conn = uiw_accept_conn_of(call->request);
    struct ual_listen *listen = uiw_listen_find(conn->ia, call->qual, call->spigot_id);

    if (!uiw_accept_peer_is_there(conn)) {
        call->status = IT_ERR_INVALID_CN_EST_ID;
    } else if (!listen) {
        call->status = IT_ERR_INVALID_CONN_QUAL;
    } else if (!handoff_announce(conn, listen)) {
        call->status = IT_ERR_RESOURCES;
    } else {
        conn->mpa.config.suppress_depths = (listen->flags & IT_LISTEN_SUPPRESS_IRD_ORD) != 0;
        call->status = IT_SUCCESS;
    }
}

it_status_t uiw_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct uiw_decision call = {
        .request = request,
        .qual = qual,
        .spigot_id = spigot_id,
    };

    if (spigot_id != 1)
        return IT_ERR_INVALID_SPIGOT;
    evd_loop_call(request->ia->evd.loop, handoff_run, &call);
    return call.status;
}
