/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A nudge for siw. A siw responder may leave octets unread that arrive while it still establishes
 * the connection, until more octets arrive. If the initiator then waits for an answer, its first
 * message stays there for ever. So an initiator sends a little more: an RDMA Write of no octets.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/complete/verbs_complete.h"

#include <string.h>

/* After the establishment, or after the previous nudge. A busy responder needs a long time. */
static const uint64_t nudge_delays_ns[VERBS_NUDGES] = {10000000, 100000000, 1000000000};

static void nudge_post(struct verbs_ep *ep)
{
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)&ep->sq.marker,
        .opcode = IBV_WR_RDMA_WRITE,
    };
    struct ibv_send_wr *bad;
    int error = 0;

    base_lock_take(&ep->sq.lock);
    if (ep->sq.open && !ep->sq.local) {
        ep->sq.marker.number = ep->sq.tail - 1;
        ep->nudged = true;
        error = ep->sq.post.send(ep->qp, &wr, &bad);
    }
    base_lock_drop(&ep->sq.lock);
    if (error)
        verbs_log(VP_LOG_INFO, "ep %p: no nudge: %s", (void *)ep->ual, strerror(error));
}

bool verbs_nudge_may_have_failed(struct verbs_ep *ep)
{
    bool last;

    base_lock_take(&ep->sq.lock);
    last = ep->nudged && ep->sq.marker.number + 1 == ep->sq.tail;
    base_lock_drop(&ep->sq.lock);
    /* If a request of the consumer has failed, that one is the cause. */
    return last && !verbs_source_request_failed(ep);
}

static void nudge_wait(const struct verbs_conn *conn)
{
    if (!verbs_host->timer_start(conn->timer, nudge_delays_ns[conn->nudges]))
        verbs_log(VP_LOG_WARN, "ep %p: no memory for a nudge", (void *)conn->ep->ual);
}

void verbs_nudge_begin(struct verbs_conn *conn)
{
    if (conn->role->active && conn->cm->ia->quirks.is_siw)
        nudge_wait(conn);
}

void verbs_nudge_go_on(struct verbs_conn *conn)
{
    nudge_post(conn->ep);
    if (++conn->nudges < VERBS_NUDGES)
        nudge_wait(conn);
}
