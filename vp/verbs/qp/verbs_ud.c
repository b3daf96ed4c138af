/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EPs of datagrams: their QPs, and what a datagram's header tells of its sender. The header takes the
 * first octets of each receive: a GRH, or behind octets that mean nothing an IPv4 header.
 */
#include "vp/verbs/qp/verbs_ud.h"

#include "vp/verbs/cm/verbs_cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UD_HEADER      40u
#define UD_IPV4_AT     20u
#define UD_IPV4_LENGTH 20u
#define UD_HOPS        64u
#define UD_PARTITION   0xffffu

#define UD_KEY_PRIVILEGED UINT32_C(0x80000000) /* means another key than it says when sending */

/* ---------------------------------------------------------------- limits */

size_t verbs_ud_max(const struct verbs_ia *ia, uint8_t port)
{
    struct ibv_port_attr attr;

    memset(&attr, 0, sizeof(attr));
    if (!ia->attributes.datagrams || ibv_query_port(ia->context, port, &attr) != 0 ||
        attr.active_mtu < IBV_MTU_256 || attr.active_mtu > IBV_MTU_4096)
        return 0;
    return (size_t)128 << attr.active_mtu;
}

it_status_t verbs_ud_check(const struct verbs_ia *ia, uint8_t port, const it_ep_attributes_t *attr)
{
    if (attr->srv.ud.ep_info.ud_ep_key & UD_KEY_PRIVILEGED)
        return IT_ERR_INVALID_EP_KEY;
    return attr->max_dto_payload_size > verbs_ud_max(ia, port) ? IT_ERR_PAYLOAD_SIZE : IT_SUCCESS;
}

/* ---------------------------------------------------------------- creation */

static bool ud_is_ethernet(const struct verbs_ia *ia, uint8_t port)
{
    struct ibv_port_attr attr;

    memset(&attr, 0, sizeof(attr));
    return ibv_query_port(ia->context, port, &attr) == 0 &&
           attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

bool verbs_ud_make(struct verbs_ep *ep, uint8_t port)
{
    size_t segments = verbs_host->ep_attributes(ep->ual)->max_recv_segments;
    size_t slots = (size_t)ep->rq.mask + 1;
    struct verbs_ud *ud = calloc(1, sizeof(*ud));

    if (!ud)
        return false;
    ep->ud = ud;
    ud->port = port;
    ud->on_ethernet = ud_is_ethernet(ep->ia, port);
    ud->piece_count = segments < 1 ? 1 : segments < UD_HEADER ? segments : UD_HEADER;
    ud->pieces = calloc(slots * ud->piece_count, sizeof(*ud->pieces));
    ud->datagrams = calloc(slots, sizeof(*ud->datagrams));
    if (!ud->pieces || !ud->datagrams) {
        verbs_ud_free(ep);
        return false;
    }
    ep->sq.signal_every = 1; /* no marker can follow: it would have to go somewhere */
    return true;
}

void verbs_ud_free(struct verbs_ep *ep)
{
    if (!ep->ud)
        return;
    free(ep->ud->datagrams);
    free(ep->ud->pieces);
    free(ep->ud);
    ep->ud = NULL;
}

int verbs_ud_start_qp(const struct verbs_ep *ep, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = ep->ud->port,
        .qkey = verbs_host->ep_attributes(ep->ual)->srv.ud.ep_info.ud_ep_key,
    };
    int error =
        ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

    if (error)
        return error;
    attr.qp_state = IBV_QPS_RTR;
    error = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
    if (error)
        return error;
    attr.qp_state = IBV_QPS_RTS;
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

void verbs_ud_open_locked(struct verbs_ep *ep)
{
    it_remote_ep_info_t *info = &verbs_host->ep_attributes(ep->ual)->srv.ud.ep_info;
    struct ibv_qp_attr key = {.qkey = info->ud_ep_key}; /* may have been changed meanwhile */

    info->ud_ep_id = ep->qp->qp_num;
    if (ibv_modify_qp(ep->qp, &key, IBV_QP_QKEY) != 0)
        verbs_log(VP_LOG_WARN, "ep %p: no new key", (void *)ep->ual);
    verbs_ep_open_locked(ep);
}

/* ---------------------------------------------------------------- where a datagram has come from */

void verbs_ud_note(struct verbs_queue *queue, const struct verbs_slot *slot,
                   const it_lmr_triplet_t *segments, size_t count)
{
    const struct verbs_ud *ud = queue->ep->ud;
    struct verbs_ud_piece *pieces = &ud->pieces[(size_t)(slot - queue->slots) * ud->piece_count];

    for (size_t i = 0; i < ud->piece_count; i++) {
        pieces[i].length = 0;
        if (i >= count)
            continue;
        pieces[i].addr = segments[i].addr.abs;
        pieces[i].length = segments[i].length < UD_HEADER ? segments[i].length : UD_HEADER;
    }
}

/* The device has written all of it. */
static bool ud_gather(const struct verbs_ud *ud, size_t index, unsigned char header[UD_HEADER])
{
    const struct verbs_ud_piece *pieces = &ud->pieces[index * ud->piece_count];
    size_t done = 0;

    for (size_t i = 0; i < ud->piece_count && done < UD_HEADER; i++) {
        size_t part = pieces[i].length;

        if (part > UD_HEADER - done)
            part = UD_HEADER - done;
        if (part > 0)
            memcpy(header + done, pieces[i].addr, part);
        done += part;
    }
    return done == UD_HEADER;
}

static bool ud_has_checksum(const unsigned char *ip)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < UD_IPV4_LENGTH; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

/* The octets before an IPv4 header are anything, and may look like the beginning of a GRH. */
static bool ud_is_ipv4(const unsigned char *header)
{
    const unsigned char *ip = header + UD_IPV4_AT;

    if (header[0] >> 4 != 6)
        return ip[0] >> 4 == 4;
    return ip[0] == 0x45 && ud_has_checksum(ip);
}

static void ud_map_ipv4(const unsigned char *address, it_ib_gid_t *gid)
{
    memset(gid, 0, sizeof(*gid));
    gid->s6_addr[10] = 0xff;
    gid->s6_addr[11] = 0xff;
    memcpy(&gid->s6_addr[12], address, 4);
}

static void ud_read_ipv4(const unsigned char *ip, it_ib_net_endpoint_t *ib)
{
    ib->traffic_class = ip[1];
    ud_map_ipv4(ip + 12, &ib->remote_port_gid);
    ud_map_ipv4(ip + 16, &ib->local_port_gid);
}

static void ud_read_grh(const unsigned char *grh, it_ib_net_endpoint_t *ib)
{
    uint32_t first =
        (uint32_t)grh[0] << 24 | (uint32_t)grh[1] << 16 | (uint32_t)grh[2] << 8 | grh[3];

    ib->traffic_class = first >> 20 & 0xffu;
    ib->flow_label = first & 0xfffffu;
    memcpy(&ib->remote_port_gid, grh + 8, sizeof(ib->remote_port_gid));
    memcpy(&ib->local_port_gid, grh + 24, sizeof(ib->local_port_gid));
}

/* On Ethernet a GRH may be an IPv4 header. */
static void ud_read_header(const unsigned char *header, bool on_ethernet, it_ib_net_endpoint_t *ib)
{
    if (on_ethernet && ud_is_ipv4(header))
        ud_read_ipv4(header + UD_IPV4_AT, ib);
    else
        ud_read_grh(header, ib);
    ib->hop_limit = UD_HOPS;
}

static void ud_tell_path(const struct verbs_ep *ep, const unsigned char *header,
                         const struct ibv_wc *wc, it_path_t *path)
{
    const struct verbs_ud *ud = ep->ud;
    it_ib_net_endpoint_t *ib = &path->remote.ib;

    path->spigot_id = ud->port;
    ib->partition_key = UD_PARTITION;
    ib->remote_port_lid = wc->slid;
    ib->sl = wc->sl & 0xfu;
    ib->subnet_local = header == NULL;
    if (header)
        ud_read_header(header, ud->on_ethernet, ib);
}

void verbs_ud_tell(struct verbs_ep *ep, const struct verbs_slot *slot, const struct ibv_wc *wc,
                   struct evd_dto *dto)
{
    const struct verbs_ud *ud = ep->ud;
    size_t index = (size_t)(slot - ep->rq.slots);
    struct evd_datagram *datagram = &ud->datagrams[index];
    unsigned char header[UD_HEADER];
    bool present = ud->on_ethernet || (wc->wc_flags & IBV_WC_GRH);

    dto->datagram = NULL;
    if (wc->status != IBV_WC_SUCCESS)
        return;
    dto->length = wc->byte_len > UD_HEADER ? wc->byte_len - UD_HEADER : 0;
    memset(datagram, 0, sizeof(*datagram));
    present = present && ud_gather(ud, index, header);
    datagram->flags = present ? IT_UD_IB_GRH_PRESENT : (it_dto_ud_flags_t)0;
    datagram->ep_id = wc->src_qp;
    ud_tell_path(ep, present ? header : NULL, wc, &datagram->path);
    dto->datagram = datagram;
}

/* ---------------------------------------------------------------- failure, modify */

static bool ud_queue_works(struct verbs_queue *queue)
{
    bool local;

    base_lock_take(&queue->lock);
    local = queue->local;
    base_lock_drop(&queue->lock);
    return !local;
}

static bool ud_works(struct verbs_ep *ep)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    memset(&attr, 0, sizeof(attr));
    return ud_queue_works(&ep->sq) && ud_queue_works(&ep->rq) &&
           ibv_query_qp(ep->qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_RTS;
}

/* A reset, which exchanges the QP, waits for this thread, and is not legal before the state is set. */
void verbs_ud_failed(struct verbs_ep *ep)
{
    bool over;

    if (verbs_host->ep_ud_state(ep->ual) != IT_EP_STATE_UD_OPERATIONAL || ud_works(ep))
        return;
    verbs_host->ep_lock(ep->ual);
    over = verbs_host->ep_set_ud_state_locked(ep->ual, IT_EP_STATE_UD_NONOPERATIONAL);
    verbs_host->ep_unlock(ep->ual);
    if (!over)
        return;
    verbs_ep_break(ep);
    verbs_host->ep_raise(ep->ual, IT_ASYNC_AFF_EP_FAILURE);
}

it_status_t verbs_ud_modify_locked(struct verbs_ep *ep, unsigned mask,
                                   const it_ep_attributes_t *attr)
{
    struct ibv_qp_attr change = {.qkey = attr->srv.ud.ep_info.ud_ep_key};
    int error;

    if (!(mask & IT_EP_PARAM_EP_KEY))
        return IT_SUCCESS;
    if (change.qkey & UD_KEY_PRIVILEGED)
        return IT_ERR_INVALID_EP_KEY;
    /* A QP that has failed is made anew by a reset, with the key as it is then. */
    if (verbs_host->ep_ud_state(ep->ual) != IT_EP_STATE_UD_OPERATIONAL)
        return IT_SUCCESS;
    error = ibv_modify_qp(ep->qp, &change, IBV_QP_QKEY);
    if (!error)
        return IT_SUCCESS;
    verbs_log(VP_LOG_WARN, "ep %p: key: %s", (void *)ep->ual, strerror(error));
    return error == EPERM ? IT_ERR_INVALID_EP_KEY : IT_ERR_RESOURCES;
}
