/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a conn, its references, and its hand-over to the loop. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- memory */

struct uiw_conn *uiw_conn_alloc(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role)
{
    struct uiw_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    conn->ia = ia;
    conn->role = role;
    conn->state = role->first;
    conn->fd = fd;
    conn->holders = 1;
    return conn;
}

struct uiw_conn *uiw_conn_new(struct uiw_ia *ia, int fd, const struct uiw_conn_role *role)
{
    struct uiw_conn *conn = uiw_conn_alloc(ia, fd, role);

    if (conn)
        base_list_prepend(&ia->cm.connections, &conn->link);
    return conn;
}

void uiw_conn_hold(struct uiw_conn *conn)
{
    atomic_fetch_add_explicit(&conn->holders, 1, memory_order_relaxed);
}

void uiw_conn_drop(struct uiw_conn *conn)
{
    if (atomic_fetch_sub_explicit(&conn->holders, 1, memory_order_acq_rel) != 1)
        return;
    free(conn->buffer);
    free(conn);
}

/* Returns false before the loop has taken over the conn. */
static bool conn_is_listed(const struct uiw_conn *conn)
{
    return conn->link.prev || conn->link.next || conn->ia->cm.connections.first == &conn->link;
}

void uiw_conn_end(struct uiw_conn *conn)
{
    uiw_half_open_remove(&conn->ia->cm.half_open, &conn->half_open);
    if (conn_is_listed(conn))
        base_list_remove(&conn->ia->cm.connections, &conn->link);
    conn->state = UIW_CONN_OVER;
    uiw_conn_drop(conn);
}

/* ---------------------------------------------------------------- the EP */

bool uiw_conn_attach(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                     const it_path_t *path)
{
    struct uiw_conn **slot = &uiw_ep_of(ep)->conn;
    bool stepped;

    base_lock_take(&ep->lock);
    /* An UNCONNECTED EP has no conn: a reset waits until the loop has detached it. */
    stepped = *slot == NULL && ual_ep_step_locked(ep, step, NULL);
    if (stepped) {
        *slot = conn;
        conn->ep = ep;
        ep->dst_path = *path;
    }
    base_lock_drop(&ep->lock);
    return stepped;
}

struct ual_ep *uiw_conn_detach(struct uiw_conn *conn)
{
    struct ual_ep *ep = conn->ep;

    if (!ep)
        return NULL;
    base_lock_take(&ep->lock);
    uiw_ep_of(ep)->conn = NULL;
    base_lock_drop(&ep->lock);
    conn->ep = NULL;
    return ep;
}

/* ---------------------------------------------------------------- from a caller to the loop */

bool uiw_conn_hand_over(struct uiw_conn *conn, struct ual_ep *ep, enum ual_ep_step step,
                        const it_path_t *path, void (*go)(struct evd_task *task))
{
    struct evd_loop *loop = conn->ia->ual->evd.loop;

    conn->go.run = go;
    uiw_conn_hold(conn); /* after the step, a cancel may run before the task */
    if (!uiw_conn_attach(conn, ep, step, path)) {
        uiw_conn_drop(conn);
        return false;
    }
    (void)evd_loop_submit(loop, &conn->go); /* a new task is never queued already */
    return true;
}

struct uiw_conn *uiw_conn_arrive(struct evd_task *task)
{
    struct uiw_conn *conn = BASE_ITEM(task, struct uiw_conn, go);

    if (conn->state == UIW_CONN_OVER) {
        uiw_conn_drop(conn);
        return NULL;
    }
    if (!conn_is_listed(conn))
        base_list_prepend(&conn->ia->cm.connections, &conn->link);
    uiw_conn_drop(conn);
    return conn;
}
