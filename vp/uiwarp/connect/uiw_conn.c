/* SPDX-License-Identifier: BSD-2-Clause */
/* Cancelling attempts: by the EP and by the IA. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

static bool conn_is_pending(const struct ual_ep *ep)
{
    it_ep_state_rc_t state = ual_ep_state(ep);

    return state == IT_EP_STATE_ACTIVE1_CONNECTION_PENDING ||
           state == IT_EP_STATE_PASSIVE_CONNECTION_PENDING ||
           state == IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ;
}

static void conn_cancel_run(struct evd_task *task)
{
    struct uiw_conn *conn = BASE_ITEM(task, struct uiw_conn, cancel);

    uiw_conn_step(conn, UIW_ON_CANCEL);
    uiw_conn_drop(conn);
}

static void conn_cancel_now(void *argument)
{
    struct ual_ep *ep = argument;
    struct uiw_conn *conn;

    base_lock_take(&ep->lock);
    conn = uiw_ep_of(ep)->conn;
    base_lock_drop(&ep->lock);
    if (conn)
        uiw_conn_step(conn, UIW_ON_CANCEL);
}

void uiw_conn_cancel(struct ual_ep *ep, bool wait)
{
    struct evd_loop *loop = ual_ia_of(&ep->object)->evd.loop;
    struct uiw_conn *conn;

    if (wait) {
        /* Needed even without a conn: the loop may be about to report on the EP. */
        evd_loop_call(loop, conn_cancel_now, ep);
        return;
    }
    base_lock_take(&ep->lock);
    conn = uiw_ep_of(ep)->conn;
    /* If the EP is pending, it was reset, and this conn is its next attempt. */
    if (conn && (conn->cancel.run || conn_is_pending(ep)))
        conn = NULL;
    if (conn) {
        conn->cancel.run = conn_cancel_run; /* non-NULL: it is submitted only once */
        uiw_conn_hold(conn);
    }
    base_lock_drop(&ep->lock);
    if (conn)
        (void)evd_loop_submit(loop, &conn->cancel);
}

void uiw_cm_close(struct uiw_ia *ia)
{
    BASE_LIST_EACH_REMOVABLE(struct uiw_conn, conn, &ia->cm.connections, link) {
        bool announced = (1u << conn->state & UIW_CONN_UNDECIDED) != 0;

        /* A request that a call of the program has stays; ia_close tries again. */
        if (!announced || ual_request_withdraw(&conn->request))
            uiw_conn_step(conn, UIW_ON_CLOSE);
    }
    uiw_linger_close_all(&ia->cm.lingering);
}
