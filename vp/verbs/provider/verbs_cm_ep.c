/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management for the rest of the provider: opened and closed with the IA, and called for
 * each EP.
 */
#include "vp/verbs/provider/verbs_cm_ep.h"

#include "vp/verbs/cm/verbs_cm.h"
#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/convert/verbs_convert.h"
#include "vp/verbs/provider/verbs_provider.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void cm_leave(void *argument)
{
    struct verbs_ep *ep = argument;

    if (ep->convert)
        verbs_convert_abandon(ep->convert);
    if (ep->conn)
        verbs_conn_abandon(ep->conn);
}

void verbs_cm_ep_end(struct verbs_ep *ep)
{
    /* Called without a connection too, since the IA's thread may be about to report on the EP. */
    verbs_host->ia_call(ep->ia->ual, cm_leave, ep);
    verbs_thread_wait(ep->ia->cm, ep);
}

void verbs_cm_ep_forget(struct verbs_ep *ep)
{
    it_rc_only_attributes_t *rc = &verbs_host->ep_attributes(ep->ual)->srv.rc;

    verbs_host->ia_call(ep->ia->ual, cm_leave, ep);
    /* A failed QP of siw produces nothing more, so this need not wait until its id is destroyed. */
    if (!ep->ia->quirks.late_posts_lost)
        verbs_thread_wait(ep->ia->cm, ep);
    verbs_host->ep_lock(ep->ual);
    if (ep->agreed) {
        rc->rdma_read_ird = ep->wanted_ird;
        rc->rdma_read_ord = ep->wanted_ord;
    }
    ep->agreed = false;
    verbs_host->ep_unlock(ep->ual);
}

bool verbs_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses)
{
    const struct verbs_ep *ep = verbs_ep_of(ual);

    if (!ep->agreed)
        return false;
    memcpy(&addresses->local, &ep->local, sizeof(ep->local));
    memcpy(&addresses->remote, &ep->remote, sizeof(ep->remote));
    return true;
}

bool verbs_cm_keeps_qp(struct verbs_ep *ep, struct ibv_qp *qp)
{
    return verbs_thread_take_qp(ep->ia->cm, qp);
}

static it_status_t cm_disconnect(void *argument)
{
    static const struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    const struct verbs_ep *ep = argument;

    if (ep->convert)
        return verbs_convert_disconnect(ep->convert);
    return ep->conn && verbs_conn_end(ep->conn, UAL_EP_DISCONNECT, &news) ? IT_SUCCESS
                                                                          : IT_ERR_INVALID_EP_STATE;
}

it_status_t verbs_disconnect(struct ual_ep *ual)
{
    return verbs_run(verbs_host->ia_of(ual), cm_disconnect, verbs_ep_of(ual));
}

/* ---------------------------------------------------------------- limits, counters */

/*
 * Octets of private data that rdma_cm carries over InfiniBand after its own header; for iWARP the
 * limit of siw's MPA.
 */
#define CM_IB_REQUEST 56
#define CM_IB_REPLY   196
#define CM_IB_REJECT  148
#define CM_IB_ASK     180 /* SIDR */
#define CM_IWARP      251

static void cm_fill_attributes(const struct verbs_ia *ia, struct vp_attributes *attributes)
{
    attributes->socket_conversion = IT_TRUE;
    attributes->connect_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REQUEST;
    attributes->accept_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REPLY;
    attributes->reject_pdata = ia->is_iwarp ? CM_IWARP : CM_IB_REJECT;
    attributes->ud_request_pdata = attributes->datagrams ? CM_IB_ASK : 0;
    attributes->ud_reply_pdata = attributes->datagrams ? VERBS_SIDR_REPLY : 0;
    attributes->default_connect_timeout_us = VERBS_CM_ATTEMPT_US;
}

void verbs_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    const struct verbs_cm *cm = verbs_ia_of(ual)->cm;

    counters->connections_accepted += __atomic_load_n(&cm->accepted, __ATOMIC_RELAXED);
    counters->connections_initiated += __atomic_load_n(&cm->initiated, __ATOMIC_RELAXED);
    counters->half_open_refused += __atomic_load_n(&cm->refused, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- opening and closing */

static void cm_ready(void *argument)
{
    verbs_cm_take_events(argument);
}

#define CM_NODE "/dev/infiniband/rdma_cm"

/* librdmacm looks for the node in other places too, and returns the error of those. */
static int cm_node_error(int error)
{
    return faccessat(AT_FDCWD, CM_NODE, R_OK | W_OK, AT_EACCESS) == 0 ? error : errno;
}

static it_status_t cm_open_channel(struct verbs_cm *cm)
{
    int error;

    cm->channel = rdma_create_event_channel();
    if (!cm->channel) {
        error = cm_node_error(errno);
        verbs_warn(cm->ia, CM_NODE " cannot be opened", error);
        return error == EACCES || error == EPERM ? IT_ERR_NO_PERMISSION : IT_ERR_RESOURCES;
    }
    /* rdma_get_cm_event would block if the event that made the channel readable was dropped. */
    if (fcntl(cm->channel->fd, F_SETFL, O_NONBLOCK) != 0)
        return IT_ERR_RESOURCES;
    cm->watch = verbs_host->watch_start(cm->ual, cm->channel->fd, cm_ready, cm);
    return cm->watch ? IT_SUCCESS : IT_ERR_RESOURCES;
}

static void cm_free(struct verbs_cm *cm)
{
    if (cm->watch)
        verbs_host->watch_stop(cm->watch);
    if (cm->channel)
        rdma_destroy_event_channel(cm->channel);
    verbs_path_forget(cm);
    (void)pthread_cond_destroy(&cm->destroyed);
    (void)pthread_mutex_destroy(&cm->lock);
    free(cm);
}

/* Runs on the IA's thread: an event of the device or of rdma_cm sees all of it or nothing. */
static it_status_t cm_open(void *argument)
{
    struct verbs_cm *cm = argument;
    it_status_t status = cm_open_channel(cm);

    if (status != IT_SUCCESS)
        return status;
    verbs_guard_open(cm);
    cm->ia->cm = cm;
    cm_fill_attributes(cm->ia, &cm->ia->attributes);
    return IT_SUCCESS;
}

static const struct verbs_cm_ops cm_ops = {
    .take_async = verbs_async_take,
    .device_gone = verbs_device_gone,
    .convert_connected = verbs_convert_connected,
    .convert_unconnected = verbs_convert_unconnected,
};

it_status_t verbs_cm_open(struct verbs_ia *ia)
{
    struct verbs_cm *cm = calloc(1, sizeof(*cm));
    it_status_t status;

    if (!cm)
        return IT_ERR_RESOURCES;
    cm->ual = ia->ual;
    cm->ia = ia;
    cm->ops = &cm_ops;
    (void)pthread_mutex_init(&cm->lock, NULL); /* neither can fail */
    (void)pthread_cond_init(&cm->destroyed, NULL);
    status = verbs_run(ia->ual, cm_open, cm);
    if (status != IT_SUCCESS)
        cm_free(cm);
    return status;
}

struct cm_close_call {
    struct verbs_cm *cm;
    bool left;
};

static void cm_close(void *argument)
{
    struct cm_close_call *call = argument;

    verbs_guard_close(call->cm);
    verbs_convert_close(call->cm->ia);
    BASE_LIST_EACH_REMOVABLE(struct verbs_conn, conn, &call->cm->connections, link)
        verbs_conn_abandon(conn);
    call->left = !verbs_sidr_close(call->cm) || !base_list_is_empty(&call->cm->connections);
}

void verbs_cm_close(struct verbs_ia *ia)
{
    struct cm_close_call call = {.cm = ia->cm};

    if (!call.cm)
        return;
    /* Repeats while connections are still ending, have a thread, or are held by a call. */
    do {
        verbs_host->ia_call(ia->ual, cm_close, &call);
        verbs_thread_wait(call.cm, NULL);
    } while (call.left);
    cm_free(call.cm);
    ia->cm = NULL;
}
