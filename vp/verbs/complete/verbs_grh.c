/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the source of a datagram from the header in front of its data. */
#include "vp/verbs/complete/verbs_complete.h"

#include <string.h>

#define UD_IPV4_AT 20u

#define UD_IPV4_LENGTH 20u

#define UD_HOPS 64u

#define UD_PARTITION 0xffffu

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

/* Gathers the header, which the device has written completely. */
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

/* The octets before an IPv4 header are undefined, and may look like the beginning of a GRH. */
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

/* On Ethernet an IPv4 header may take the place of the GRH. */
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
