/* SPDX-License-Identifier: BSD-2-Clause */
#include "datagram/ofa_ah.h"

#include "datagram/ofa_wire.h"
#include "port/ofa_gid.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOP_LIMIT 0xff

/* Returns 0 or errno. */
static int resolve(const struct ofa_device *device, struct ofa_ah *ah)
{
    const struct ibv_ah_attr *attr = &ah->attr;
    struct ofa_gid table[OFA_MAX_GIDS];
    int count = ofa_gid_table(device, table);
    int index = attr->is_global ? attr->grh.sgid_index : 0;
    struct sockaddr_in6 peer;

    /* As on Ethernet, a peer needs a GID, or the LID that is derived from one. */
    if (attr->port_num != 1 || (!attr->is_global && attr->dlid == 0) || index >= count ||
        !ofa_gid_address(device, attr, 0, &peer))
        return EINVAL;
    if (IN6_IS_ADDR_LINKLOCAL(&peer.sin6_addr)) /* which needs such an address as source */
        return ofa_absent("an address handle with a link-local GID", EINVAL);
    memcpy(&ah->from, &table[index].gid, sizeof(ah->from));
    ah->to = peer.sin6_addr;
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *base, struct ibv_ah_attr *attr)
{
    struct ofa_ah *ah = calloc(1, sizeof(*ah));
    int error;

    if (!ah)
        return NULL;
    ah->base.context = base->context;
    ah->base.pd = base;
    ah->attr = *attr;
    error = resolve(ofa_context_of(base->context)->device, ah);
    if (error != 0) {
        free(ah);
        errno = error;
        return NULL;
    }
    atomic_fetch_add_explicit(&ofa_pd_of(base)->children, 1, memory_order_relaxed);
    return &ah->base;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    atomic_fetch_sub_explicit(&ofa_pd_of(ah->pd)->children, 1, memory_order_release);
    free(ah);
    return 0;
}

/* ---- From completions ----------------------------------------------------------------------- */

/* Returns the index of a local address in the table; 0 if it is not there, as 127.0.0.2. */
static uint8_t index_of(const struct ofa_device *device, const struct in6_addr *address)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    int index = ofa_gid_table(device, table);

    while (--index > 0 && memcmp(&table[index].gid, address, sizeof(*address)) != 0) {
    }
    return index > 0 ? (uint8_t)index : 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
                        struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    struct ofa_route route;

    memset(attr, 0, sizeof(*attr));
    attr->dlid = wc->slid;
    attr->sl = wc->sl;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port_num;
    if (!(wc->wc_flags & IBV_WC_GRH))
        return 0;
    if (!ofa_grh_decode((const unsigned char *)grh, &route)) {
        errno = EPROTONOSUPPORT;
        return -1;
    }
    attr->is_global = 1;
    memcpy(&attr->grh.dgid, &route.from, sizeof(route.from));
    attr->grh.sgid_index = index_of(ofa_context_of(context)->device, &route.to);
    attr->grh.hop_limit = HOP_LIMIT;
    attr->grh.traffic_class = route.traffic_class;
    return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port_num)
{
    struct ibv_ah_attr attr;

    if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0)
        return NULL;
    return ibv_create_ah(pd, &attr);
}
