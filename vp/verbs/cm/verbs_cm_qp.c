/* SPDX-License-Identifier: BSD-2-Clause */
/* The QP of a connection: depths and states. iWARP devices move their QPs themselves. */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/qp/verbs_qp.h"

#include <errno.h>
#include <string.h>

/* Retries of a QP on InfiniBand. 7 is the maximum, but rxe takes it as unlimited. */
#define QP_RETRIES     6
#define QP_RNR_RETRIES 7 /* unlimited, for a receiver that is not ready */
/* The code for 0.64 ms: when the peer retries after it found no receive. The default is 655 ms. */
#define QP_RNR_DELAY 12
/* rdma_cm counts in 8 bits, and all ones have a special meaning. */
#define QP_READS_MAX 254u
/* rdma_cm fills in more attributes, but old kernels give their bits another meaning. */
#define QP_INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define QP_RTR_MASK                                                                                \
    (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |                \
     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define QP_RTS_MASK                                                                                \
    (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |         \
     IBV_QP_MAX_QP_RD_ATOMIC)

static uint32_t qp_smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t verbs_qp_ord(const struct verbs_conn *conn)
{
    return qp_smaller(conn->ord, conn->peer_ird);
}

void verbs_qp_wanted(struct verbs_conn *conn, const struct verbs_ep *ep)
{
    const it_rc_only_attributes_t *rc = &verbs_host->ep_attributes(ep->ual)->srv.rc;

    verbs_host->ep_lock(ep->ual);
    conn->ird = qp_smaller(rc->rdma_read_ird, QP_READS_MAX);
    conn->ord = qp_smaller(rc->rdma_read_ord, QP_READS_MAX);
    verbs_host->ep_unlock(ep->ual);
}

/* siw answers as many Reads as the peer asks for, up to its maximum. */
static uint32_t qp_siw_ird(const struct verbs_conn *conn)
{
    uint32_t most = conn->cm->ia->attributes.max_ird;

    return conn->peer_ord > conn->ird && conn->peer_ord <= most ? conn->peer_ord : conn->ird;
}

void verbs_qp_fill_param(struct verbs_conn *conn, const struct verbs_ep *ep)
{
    uint32_t ird;
    uint32_t ord = conn->ord;

    if (conn->cm->ia->quirks.is_siw && !conn->role->active)
        conn->ird = qp_siw_ird(conn);
    ird = conn->ird;
    /* An answer may not exceed the request; for the peer this makes no difference. */
    if (!conn->role->active) {
        ord = verbs_qp_ord(conn);
        if (!conn->cm->ia->is_iwarp)
            ird = qp_smaller(ird, conn->peer_ord);
    }
    conn->param = (struct rdma_conn_param){
        .private_data = conn->private_data,
        .private_data_len = (uint8_t)conn->private_length,
        .responder_resources = (uint8_t)ird,
        .initiator_depth = (uint8_t)ord,
        .flow_control = 1,
        .retry_count = conn->has_retries ? conn->retries : QP_RETRIES,
        .rnr_retry_count = conn->has_retries ? conn->rnr_retries : QP_RNR_RETRIES,
        .srq = ep->srq != NULL,
        .qp_num = ep->qp->qp_num,
    };
}

/* Returns false also when the peer has given up. */
static bool qp_attributes(const struct verbs_conn *conn, enum ibv_qp_state state,
                          struct ibv_qp_attr *attributes)
{
    int mask = 0;

    memset(attributes, 0, sizeof(*attributes));
    attributes->qp_state = state;
    if (rdma_init_qp_attr(conn->id, attributes, &mask) == 0)
        return true;
    verbs_log(VP_LOG_INFO, "verbs: rdma_init_qp_attr: %s", strerror(errno));
    return false;
}

bool verbs_qp_is_wanted(const struct verbs_conn *conn)
{
    struct ibv_qp_attr attributes;

    return qp_attributes(conn, IBV_QPS_RTR, &attributes);
}

bool verbs_qp_connect(struct verbs_conn *conn)
{
    struct verbs_ep *ep = conn->ep;
    struct ibv_qp_attr attributes;

    /* Receives have been posted, so RESET, which would drop them, is not possible. */
    if (!qp_attributes(conn, IBV_QPS_INIT, &attributes))
        return false;
    attributes.qp_access_flags = verbs_qp_access(ep);
    if (verbs_qp_modify(ep, &attributes, QP_INIT_MASK) != 0)
        return false;
    if (!qp_attributes(conn, IBV_QPS_RTR, &attributes))
        return false;
    attributes.max_dest_rd_atomic = (uint8_t)conn->ird;
    attributes.min_rnr_timer = QP_RNR_DELAY;
    if (verbs_qp_modify(ep, &attributes, QP_RTR_MASK) != 0)
        return false;
    if (!qp_attributes(conn, IBV_QPS_RTS, &attributes))
        return false;
    attributes.max_rd_atomic = (uint8_t)verbs_qp_ord(conn);
    /* rdma_cm sets the peer's value; it has sent this side's value to the peer only. */
    if (conn->has_retries)
        attributes.rnr_retry = conn->rnr_retries;
    return verbs_qp_modify(ep, &attributes, QP_RTS_MASK) == 0;
}
