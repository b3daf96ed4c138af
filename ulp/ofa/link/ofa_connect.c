/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and ending connections, for rdma_cm and by hand. */
#include "link/ofa_link.h"

#include "datagram/ofa_datagram.h"
#include "link/ofa_number.h"
#include "memory/ofa_adapter.h"
#include "post/ofa_post.h"
#include "queue/ofa_event.h"
#include "queue/ofa_park.h"
#include "queue/ofa_queue.h"
#include "support/ofa_log.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <string.h>

static bool is_mapped(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void copy_ip(it_in_addr_t *ip, const struct sockaddr *address)
{
    const struct sockaddr_in6 *six = (const void *)address;

    if (is_mapped(address))
        memcpy(&ip->ipv4, &six->sin6_addr.s6_addr[12], sizeof(ip->ipv4));
    else if (address->sa_family == AF_INET6)
        ip->ipv6 = six->sin6_addr;
    else
        ip->ipv4 = ((const struct sockaddr_in *)(const void *)address)->sin_addr;
}

static void fill_path(it_path_t *path, const struct ofa_call *call)
{
    bool four = call->peer->sa_family == AF_INET || is_mapped(call->peer);

    memset(path, 0, sizeof(*path));
    path->timeout = call->timeout_us;
    path->remote.iwarp.ip_vers = four ? IT_IP_VERS_IPV4 : IT_IP_VERS_IPV6;
    copy_ip(&path->remote.iwarp.raddr, call->peer);
    if (call->local)
        copy_ip(&path->remote.iwarp.laddr, call->local);
}

#define DEPTHS ((it_ep_param_mask_t)(IT_EP_PARAM_MAX_IRD | IT_EP_PARAM_MAX_ORD))

int ofa_link_set_depths(struct ofa_qp *qp, uint32_t ird, uint32_t ord)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srv.rc.rdma_read_ird = ird;
    attributes.srv.rc.rdma_read_ord = ord;
    if (qp->send_ep != qp->ep)
        (void)it_ep_modify(qp->send_ep, DEPTHS, &attributes);
    return ofa_errno(it_ep_modify(qp->ep, DEPTHS, &attributes));
}

/* Steps to CONNECTING. Returns the former state, to go back to if the call fails. */
static enum ofa_link_state begin(struct ofa_qp *qp)
{
    enum ofa_link_state before;

    (void)pthread_mutex_lock(&qp->context->lock);
    before = qp->link.state;
    qp->link.state = OFA_LINK_CONNECTING;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return before;
}

static int end(struct ofa_qp *qp, enum ofa_link_state before, it_status_t status)
{
    if (status == IT_SUCCESS)
        return 0;
    ofa_log("a connection: %s", itx_status_string(status));
    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.state == OFA_LINK_CONNECTING)
        qp->link.state = before;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return ofa_errno(status);
}

void ofa_link_be_patient(it_ep_handle_t ep)
{
    struct itx_mpa_params params = {.size = sizeof(params)};

    if (itx_ep_get_mpa_params(ep, &params) != IT_SUCCESS)
        return;
    params.patience_us = IT_TIMEOUT_INFINITE;
    (void)itx_ep_set_mpa_params(ep, &params);
}

it_status_t ofa_link_attempt(it_ep_handle_t ep, const struct ofa_call *call)
{
    uint16_t local = call->local ? ofa_port_of(call->local) : 0;
    it_conn_qual_t qual = {.type = local ? IT_IANA_LR_PORT : IT_IANA_PORT};
    it_path_t path;

    if (local) {
        qual.conn_qual.lr_port.local = htons(local);
        qual.conn_qual.lr_port.remote = htons(ofa_port_of(call->peer));
    } else {
        qual.conn_qual.port = htons(ofa_port_of(call->peer));
    }
    fill_path(&path, call);
    return it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, call->data, call->length);
}

/* RNR timers in microseconds, by code: InfiniBand 1.2, table 45. */
static const uint32_t rnr_timers[32] = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,    320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

void ofa_link_limit_hold(struct ofa_qp *qp)
{
    bool sends = atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_RTS;
    bool limited = sends && qp->base.qp_type == IBV_QPT_RC && !qp->link.moves;
    uint32_t tries = limited ? qp->attr.rnr_retry : ITX_HOLD_TRIES;
    uint64_t try_us = rnr_timers[qp->attr.min_rnr_timer & 31];

    (void)itx_ep_limit_hold(qp->ep, tries, try_us);
    if (qp->send_ep != qp->ep)
        (void)itx_ep_limit_hold(qp->send_ep, tries, try_us);
}

/*
 * Sets how long the peer's Sends wait: with rdma_cm, rnr_retry_count is for those. A device fails
 * them at once if it is 0. Here adapter and program share the processors, and the program may have
 * to wait for one, so 0 counts as 1.
 */
static void limit_peer(const struct ofa_qp *qp, uint8_t retries)
{
    struct itx_mpa_params params = {.size = sizeof(params)};
    uint64_t try_us = rnr_timers[qp->attr.min_rnr_timer & 31];

    if (itx_ep_get_mpa_params(qp->ep, &params) != IT_SUCCESS)
        return;
    params.hold_us =
        retries < ITX_HOLD_TRIES ? (retries > 0 ? retries : 1) * try_us : IT_TIMEOUT_INFINITE;
    (void)itx_ep_set_mpa_params(qp->ep, &params);
}

/* Sets attributes that a program sets by ibv_modify_qp if it moves its queue pair itself. */
static void set_attributes(struct ofa_qp *qp, const struct ofa_call *call)
{
    struct ibv_qp_attr *attr = &qp->attr;

    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.moves) {
        attr->port_num = attr->ah_attr.port_num = 1;
        attr->ah_attr.is_global = 1;
        attr->path_mtu = IBV_MTU_4096;
        attr->max_dest_rd_atomic = (uint8_t)call->ird;
        attr->max_rd_atomic = (uint8_t)call->ord;
        attr->timeout = call->timeout;
        attr->retry_cnt = call->retry_cnt;
        attr->rnr_retry = ITX_HOLD_TRIES; /* call->rnr_retry is for the peer's Sends */
        attr->qp_access_flags =
            IBV_ACCESS_REMOTE_WRITE |
            (call->ird > 0 ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0);
        ofa_park_limit(qp, call->timeout, call->retry_cnt);
    }
    (void)pthread_mutex_unlock(&qp->context->lock);
    if (!qp->link.moves)
        return;
    ofa_link_limit_hold(qp);
    limit_peer(qp, call->rnr_retry);
}

int ofa_link_connect(struct ibv_qp *base, const struct ofa_call *call)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    enum ofa_link_state before;
    int error = ofa_link_set_depths(qp, call->ird, call->ord);

    if (error != 0)
        return error;
    set_attributes(qp, call);
    before = begin(qp);
    return end(qp, before, ofa_link_attempt(qp->ep, call));
}

int ofa_link_accept(struct ibv_qp *base, it_cn_est_identifier_t request,
                    const struct ofa_call *call)
{
    struct ofa_qp *qp = ofa_qp_of(base);
    enum ofa_link_state before;
    int error = ofa_link_set_depths(qp, call->ird, call->ord);

    if (error != 0)
        return error;
    set_attributes(qp, call);
    before = begin(qp);
    return end(qp, before, it_ep_accept(qp->ep, request, call->data, call->length));
}

int ofa_link_reject(it_cn_est_identifier_t request, const void *data, size_t length)
{
    return ofa_errno(it_reject(request, data, length));
}

/* Disconnects, with an event for rdma_cm. Without a connection, flushes posted work. */
static void end_ep(it_ep_handle_t ep)
{
    if (it_ep_disconnect(ep, NULL, 0) != IT_SUCCESS)
        (void)itx_ep_flush(ep);
}

void ofa_link_leave(struct ibv_context *base, uint32_t number)
{
    struct ofa_context *context = ofa_context_of(base);
    struct ofa_qp *qp;

    (void)pthread_mutex_lock(&context->lock);
    qp = ofa_number_find_locked(context, number);
    if (qp && qp->ep)
        (void)it_ep_disconnect(qp->ep, NULL, 0);
    (void)pthread_mutex_unlock(&context->lock);
}

int ofa_link_disconnect(struct ibv_qp *base)
{
    struct ofa_qp *qp = ofa_qp_of(base);

    ofa_event_enter_error(qp);
    if (qp->datagrams) {
        ofa_datagram_enter(qp, IBV_QPS_ERR);
        return 0;
    }
    end_ep(qp->ep);
    if (qp->send_ep != qp->ep)
        end_ep(qp->send_ep);
    ofa_hold_flush(qp, IBV_WC_WR_FLUSH_ERR);
    ofa_cq_look(qp->send_cq);
    ofa_cq_look(qp->recv_cq);
    return 0;
}

static int tell_addresses(it_status_t status, const struct itx_ep_addresses *addresses,
                          struct sockaddr_storage *local, struct sockaddr_storage *peer)
{
    if (status == IT_SUCCESS) {
        *local = addresses->local;
        *peer = addresses->remote;
    }
    return ofa_errno(status);
}

int ofa_link_addresses(struct ibv_qp *base, struct sockaddr_storage *local,
                       struct sockaddr_storage *peer)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};
    it_status_t status = itx_ep_query_addresses(ofa_qp_of(base)->ep, &addresses);

    return tell_addresses(status, &addresses, local, peer);
}

int ofa_link_request_addresses(it_cn_est_identifier_t request, struct sockaddr_storage *local,
                               struct sockaddr_storage *peer)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};
    it_status_t status = itx_request_query_addresses(request, &addresses);

    return tell_addresses(status, &addresses, local, peer);
}

void ofa_link_watch(struct ibv_qp *base, ofa_link_handler handler, void *owner, bool moves)
{
    struct ofa_qp *qp = ofa_qp_of(base);

    (void)pthread_mutex_lock(&qp->context->lock);
    qp->link.handler = handler;
    qp->link.owner = owner;
    qp->link.moves = moves;
    qp->by_cm = handler != NULL;
    (void)pthread_mutex_unlock(&qp->context->lock);
}
