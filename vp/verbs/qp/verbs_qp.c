/* SPDX-License-Identifier: BSD-2-Clause */
/* The QP of an EP: its states, and their effect on posts. */
#include "vp/verbs/qp/verbs_qp.h"

#include "vp/verbs/complete/verbs_complete.h"
#include "vp/verbs/post/verbs_posting.h"

#include <string.h>

int verbs_qp_modify(struct verbs_ep *ep, struct ibv_qp_attr *attr, int mask)
{
    static const char *const names[] = {
        [IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR",
        [IBV_QPS_RTS] = "RTS",     [IBV_QPS_SQD] = "SQD",   [IBV_QPS_SQE] = "SQE",
        [IBV_QPS_ERR] = "ERR",
    };
    int error = ibv_modify_qp(ep->qp, attr, mask);

    if (error)
        verbs_log(VP_LOG_WARN, "%s: QP %u: %s: %s", verbs_host->ia_name(ep->ia->ual),
                  ep->qp->qp_num, mask & IBV_QP_STATE ? names[attr->qp_state] : "attributes",
                  strerror(error));
    return error;
}

unsigned verbs_qp_access_of(const it_rc_only_attributes_t *rc)
{
    unsigned access = 0;

    if (rc->rdma_read_enable)
        access |= IBV_ACCESS_REMOTE_READ;
    if (rc->rdma_write_enable)
        access |= IBV_ACCESS_REMOTE_WRITE;
    if (rc->atomics_enable)
        access |= IBV_ACCESS_REMOTE_ATOMIC;
    return access;
}

unsigned verbs_qp_access(const struct verbs_ep *ep)
{
    return verbs_qp_access_of(&verbs_host->ep_attributes(ep->ual)->srv.rc);
}

/* Moves the QP to INIT, so that receives can be posted. The port may change once it is known. */
int verbs_qp_init(const struct verbs_ep *ep, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = verbs_qp_access(ep),
    };

    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

void verbs_ep_open_locked(struct verbs_ep *ep)
{
    base_lock_take(&ep->sq.lock);
    ep->sq.may_read = !ep->ud && verbs_host->ep_attributes(ep->ual)->srv.rc.rdma_read_ord > 0;
    ep->sq.open = true;
    verbs_queue_refresh(&ep->sq);
    base_lock_drop(&ep->sq.lock);
}

/* From now on nothing reaches the device. Returns true if the device has unsignalled requests. */
bool verbs_qp_close_queue(struct verbs_queue *queue)
{
    bool quiet;

    base_lock_take(&queue->lock);
    if (!queue->local)
        queue->local_from = queue->tail;
    queue->local = true;
    queue->open = true; /* later posts are flushed */
    verbs_queue_refresh(queue);
    quiet = queue->quiet > 0;
    queue->quiet = 0;
    base_lock_drop(&queue->lock);
    return quiet;
}

/* Posts a last request. It is flushed like all others and shows when the earlier ones are done. */
static void ep_post_marker(struct verbs_ep *ep)
{
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)&ep->sq.marker,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad;
    int error;

    ep->sq.marker.number = ep->sq.local_from - 1;
    error = ep->sq.post.send(ep->qp, &wr, &bad);
    if (error)
        verbs_log(VP_LOG_INFO, "ep %p: no marker: %s", (void *)ep->ual, strerror(error));
}

void verbs_ep_break(struct verbs_ep *ep)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    bool lost = ep->ia->quirks.late_posts_lost ||
                atomic_load_explicit(&ep->ia->removed, memory_order_relaxed);
    bool quiet = verbs_qp_close_queue(&ep->sq);
    int error;

    (void)verbs_qp_close_queue(&ep->rq);
    error = ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
    if (error) /* it may already be in ERROR */
        verbs_log(VP_LOG_DEBUG, "ep %p: QP to ERROR: %s", (void *)ep->ual, strerror(error));
    if (quiet && !lost)
        ep_post_marker(ep);
    verbs_source_flush(ep, &ep->sq, lost);
    verbs_source_flush(ep, &ep->rq, lost);
}

void verbs_ep_report_established(struct verbs_ep *ep, const struct ual_conn_news *news)
{
    verbs_host->ep_report(ep->ual, news);
    /* The EP is still there: its destruction waits for this thread. */
    verbs_source_show_early(ep);
}

/* Returns true if the queue's completions go to the connect EVD and are not drained yet. */
static bool ep_awaits(const struct verbs_ep *ep, enum vp_queue side)
{
    const struct verbs_queue *queue = side == VP_REQUESTS ? &ep->sq : &ep->rq;
    bool awaits;

    if (!verbs_host->ep_is_mixed(ep->ual, side))
        return false;
    verbs_host->source_lock(ep->ual, side);
    awaits = (queue->special & VERBS_FLUSHES) && !queue->drained;
    verbs_host->source_unlock(ep->ual, side);
    return awaits;
}

void verbs_ep_report_kept(struct verbs_ep *ep)
{
    struct ual_conn_news news = {.private_data = NULL};

    if (ep_awaits(ep, VP_REQUESTS) || ep_awaits(ep, VP_RECEIVES))
        return;
    news.number = (it_event_type_t)atomic_exchange(&ep->ended, 0);
    if (news.number)
        verbs_host->ep_report(ep->ual, &news);
}

void verbs_ep_report_end(struct verbs_ep *ep, const struct ual_conn_news *news)
{
    if (!ep->drained || (news->number != IT_CM_MSG_CONN_DISCONNECT_EVENT &&
                         news->number != IT_CM_MSG_CONN_BROKEN_EVENT)) {
        verbs_host->ep_report(ep->ual, news);
        return;
    }
    /* Stored before the queues are checked: a thread that drains one of them later finds it. */
    atomic_store(&ep->ended, (unsigned)news->number);
    verbs_ep_report_kept(ep);
}
