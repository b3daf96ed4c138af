/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: listening, connecting and answering. */
#include "loop.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* An undecided connect. The thread that has taken its request out of the table frees it. */
struct loop_attempt {
    struct ual_request request; /* the first member */
    struct loop_ep *active;     /* NULL: it has given up */
    it_path_t path;
    size_t length;
    unsigned char private_data[IT_MAX_PRIV_DATA];
};

static struct loop_listen *loop_listens;
static uint16_t loop_next_port = 20000;

/* ---- Listening ------------------------------------------------------------------------------ */

static struct loop_listen *loop_find_listen(uint16_t port, size_t spigot_id)
{
    struct loop_listen *listen;
    struct vp_listen_info info;

    for (listen = loop_listens; listen; listen = listen->next) {
        loop_host->listen_info(listen->ual, &info);
        if (info.conn_qual->conn_qual.port == port && info.spigot_id == spigot_id)
            return listen;
    }
    return NULL;
}

it_status_t loop_listen_start(struct ual_listen *ual)
{
    struct loop_listen *listen = vp_area(loop_host, VP_LISTEN, ual);
    it_status_t status = IT_SUCCESS;
    struct vp_listen_info info;

    loop_host->listen_info(ual, &info);
    pthread_mutex_lock(&loop_lock);
    if (!(info.flags & IT_LISTEN_CONN_QUAL_INPUT))
        do
            info.conn_qual->conn_qual.port = htons(++loop_next_port);
        while (loop_find_listen(info.conn_qual->conn_qual.port, info.spigot_id));
    else if (loop_find_listen(info.conn_qual->conn_qual.port, info.spigot_id))
        status = IT_ERR_CONN_QUAL_BUSY;
    if (status == IT_SUCCESS) {
        listen->ual = ual;
        listen->next = loop_listens;
        loop_listens = listen;
    }
    pthread_mutex_unlock(&loop_lock);
    return status;
}

void loop_listen_stop(struct ual_listen *ual)
{
    struct loop_listen **link = &loop_listens;

    pthread_mutex_lock(&loop_lock);
    while ((*link)->ual != ual)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&loop_lock);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void loop_fail(struct loop_later *later, struct loop_ep *ep, struct ual_conn_news *news)
{
    ep->attempt = NULL;
    if (!loop_step(ep, UAL_EP_ATTEMPT_FAILED))
        return;
    loop_flush(later, ep, IT_DTO_ERR_FLUSHED);
    loop_report(later, ep, news);
}

static struct loop_attempt *loop_new_attempt(struct loop_ep *ep, struct loop_listen *listen,
                                             const it_path_t *path, const it_conn_qual_t *qual,
                                             const void *private_data, size_t length)
{
    it_rc_only_attributes_t rc = loop_rc(ep);
    struct loop_attempt *attempt = calloc(1, sizeof(*attempt));
    struct vp_listen_info info;

    if (!attempt)
        return NULL;
    loop_host->listen_info(listen->ual, &info);
    attempt->active = ep;
    attempt->path = *path;
    attempt->length = length;
    if (length > 0)
        memcpy(attempt->private_data, private_data, length);
    attempt->request.ia = loop_host->ia_of(listen->ual);
    attempt->request.connect_evd = info.connect_evd;
    attempt->request.spigot_id = info.spigot_id;
    attempt->request.conn_qual = *qual;
    attempt->request.source_addr.addr_type = IT_IPV4;
    attempt->request.source_addr.addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
    attempt->request.peer_ird = rc.rdma_read_ird;
    attempt->request.peer_ord = rc.rdma_read_ord;
    attempt->request.private_data = attempt->private_data;
    attempt->request.private_length = length;
    return attempt;
}

/* Called without the lock. If a request cannot be announced, its attempt has failed. */
static void loop_announce(struct loop_attempt *attempt)
{
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT,
                                 .reject_code = IT_CN_REJ_RESOURCES};
    struct ual_request *request = &attempt->request;
    struct loop_later later;

    loop_host->request_add(request);
    /* If it was announced, a thread that answers or gives up may have freed it by now. */
    if (loop_host->request_announce(request) || !loop_host->request_withdraw(request))
        return;
    loop_begin(&later);
    if (attempt->active)
        loop_fail(&later, attempt->active, &news);
    loop_end(&later);
    free(attempt);
}

static bool loop_step_to_connect(struct loop_ep *ep, const it_path_t *path)
{
    bool stepped;

    loop_host->ep_lock(ep->ual);
    stepped = loop_host->ep_step_locked(ep->ual, UAL_EP_CONNECT);
    if (stepped)
        loop_host->ep_set_path_locked(ep->ual, path);
    loop_host->ep_unlock(ep->ual);
    return stepped;
}

it_status_t loop_connect(struct ual_ep *ual, const it_path_t *path,
                         const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                         it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_NONPEER_REJECT_EVENT};
    struct loop_ep *ep = loop_ep_of(ual);
    struct loop_attempt *attempt = NULL;
    struct loop_listen *listen;
    struct loop_later later;

    (void)flags, (void)attributes;
    loop_begin(&later);
    if (!loop_step_to_connect(ep, path)) {
        loop_end(&later);
        return IT_ERR_INVALID_EP_STATE;
    }
    listen = loop_find_listen(qual->conn_qual.port, path->spigot_id);
    if (listen)
        attempt = loop_new_attempt(ep, listen, path, qual, private_data, length);
    ep->attempt = attempt;
    if (!attempt)
        loop_fail(&later, ep, &news);
    loop_end(&later);
    if (attempt)
        loop_announce(attempt);
    return IT_SUCCESS;
}

void loop_give_up(struct loop_ep *ep)
{
    struct loop_attempt *attempt = ep->attempt;

    if (!attempt)
        return;
    ep->attempt = NULL;
    attempt->active = NULL;
    /*
     * If a call has the request, or it is about to be announced, that call finds the attempt given
     * up.
     */
    if (attempt->request.id != 0 && loop_host->request_withdraw(&attempt->request))
        free(attempt);
}

/* ---- Answering ------------------------------------------------------------------------------ */

/* Limits one side's ORD to the other's IRD. */
static void loop_agree(struct loop_ep *ep, struct loop_ep *peer)
{
    uint32_t ird = loop_rc(peer).rdma_read_ird;
    it_rc_only_attributes_t *rc;

    loop_host->ep_lock(ep->ual);
    rc = &loop_host->ep_attributes(ep->ual)->srv.rc;
    if (rc->rdma_read_ord > ird)
        rc->rdma_read_ord = ird;
    loop_host->ep_unlock(ep->ual);
}

static void loop_established(struct loop_later *later, struct loop_ep *ep, struct loop_ep *peer,
                             const void *private_data, size_t length)
{
    it_rc_only_attributes_t rc = loop_rc(ep);
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_ESTABLISHED_EVENT,
                                 .ird = rc.rdma_read_ird,
                                 .ord = rc.rdma_read_ord,
                                 .private_data = private_data,
                                 .private_length = length};

    ep->peer = peer;
    ep->attempt = NULL;
    ep->lost = false;
    (void)loop_step(ep,
                    UAL_EP_ESTABLISHED); /* nobody has changed its state, since the lock is held */
    loop_report(later, ep, &news);
}

static it_status_t loop_accept_locked(struct loop_later *later, struct loop_ep *ep,
                                      struct loop_attempt *attempt, const void *private_data,
                                      size_t length)
{
    struct loop_ep *active = attempt->active;
    bool stepped;

    if (!active)
        return IT_ERR_INVALID_CN_EST_ID;
    loop_host->ep_lock(ep->ual);
    stepped = loop_host->ep_step_locked(ep->ual, UAL_EP_ACCEPT);
    if (stepped)
        loop_host->ep_set_path_locked(ep->ual, &attempt->path);
    loop_host->ep_unlock(ep->ual);
    if (!stepped)
        return IT_ERR_INVALID_EP_STATE;
    loop_agree(ep, active);
    loop_agree(active, ep);
    loop_established(later, ep, active, NULL, 0);
    loop_established(later, active, ep, private_data, length);
    return IT_SUCCESS;
}

it_status_t loop_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                        size_t length)
{
    struct loop_attempt *attempt = (struct loop_attempt *)request;
    struct loop_later later;
    it_status_t status;

    loop_begin(&later);
    status = loop_accept_locked(&later, loop_ep_of(ual), attempt, private_data, length);
    loop_end(&later);
    if (status == IT_SUCCESS)
        free(attempt);
    return status;
}

it_status_t loop_reject(struct ual_request *request, const void *private_data, size_t length)
{
    struct loop_attempt *attempt = (struct loop_attempt *)request;
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_PEER_REJECT_EVENT,
                                 .private_data = private_data,
                                 .private_length = length};
    struct loop_later later;

    loop_begin(&later);
    if (attempt->active)
        loop_fail(&later, attempt->active, &news);
    loop_end(&later);
    free(attempt);
    return IT_SUCCESS;
}

it_status_t loop_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct loop_listen *listen;
    struct vp_listen_info info;

    pthread_mutex_lock(&loop_lock);
    listen = loop_find_listen(qual->conn_qual.port, spigot_id);
    if (listen)
        loop_host->listen_info(listen->ual, &info);
    pthread_mutex_unlock(&loop_lock);
    if (!listen)
        return IT_ERR_INVALID_CONN_QUAL;
    request->connect_evd = info.connect_evd;
    request->conn_qual = *qual;
    loop_host->request_add(request);
    if (loop_host->request_announce(request) || !loop_host->request_withdraw(request))
        return IT_SUCCESS;
    return IT_ERR_RESOURCES;
}

it_status_t loop_disconnect(struct ual_ep *ual)
{
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_DISCONNECT_EVENT};
    it_status_t status = IT_SUCCESS;
    struct loop_ep *ep = loop_ep_of(ual);
    struct loop_later later;

    loop_begin(&later);
    if (ep->peer) {
        loop_part(&later, ep, UAL_EP_DISCONNECT, UAL_EP_CLOSED);
    } else if (loop_step(ep, UAL_EP_DISCONNECT)) {
        loop_give_up(ep);
        loop_flush(&later, ep, IT_DTO_ERR_FLUSHED);
        loop_report(&later, ep, &news);
    } else {
        status = IT_ERR_INVALID_EP_STATE;
    }
    loop_end(&later);
    return status;
}
