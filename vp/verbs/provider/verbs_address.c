/* SPDX-License-Identifier: BSD-2-Clause */
/* Destinations of datagrams: address handles of the device, from paths. */
#include "vp/verbs/provider/verbs_address.h"

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/device/verbs_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_HOPS 64u

static bool address_is_zero(const it_ib_gid_t *gid)
{
    return IN6_IS_ADDR_UNSPECIFIED(gid);
}

/*
 * Finds the index of the local GID, preferably that of RoCE version 2. Returns false if the port
 * does not have the GID.
 */
static bool address_find_index(const struct verbs_ia *ia, uint8_t port, const it_ib_gid_t *gid,
                               uint8_t *index)
{
    size_t count;
    struct ibv_gid_entry *entries = verbs_gid_table(ia, &count);
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (entries[i].port_num != port || memcmp(&entries[i].gid, gid, sizeof(*gid)) != 0 ||
            (found && entries[i].gid_type != IBV_GID_TYPE_ROCE_V2))
            continue;
        found = true;
        *index = (uint8_t)entries[i].gid_index;
    }
    free(entries);
    return found;
}

/* Fills in the GIDs; finds the local one if the path leaves it open. */
static it_status_t address_fill_route(const struct verbs_ia *ia, const it_path_t *path,
                                      struct ibv_ah_attr *attr)
{
    const it_ib_net_endpoint_t *ib = &path->remote.ib;
    it_ib_gid_t local = ib->local_port_gid;
    it_status_t status;

    if (address_is_zero(&ib->remote_port_gid) || IN6_IS_ADDR_MULTICAST(&ib->remote_port_gid))
        return IT_ERR_INVALID_ADDRESS;
    if (address_is_zero(&local)) {
        status = verbs_path_source(ia->cm, path, &local);
        if (status != IT_SUCCESS)
            return status;
    }
    if (!address_find_index(ia, attr->port_num, &local, &attr->grh.sgid_index))
        return IT_ERR_INVALID_SOURCE_PATH;
    attr->is_global = 1;
    memcpy(&attr->grh.dgid, &ib->remote_port_gid, sizeof(attr->grh.dgid));
    attr->grh.flow_label = ib->flow_label;
    attr->grh.traffic_class = ib->traffic_class;
    attr->grh.hop_limit = ib->hop_limit > 1 ? ib->hop_limit : ADDRESS_HOPS;
    return IT_SUCCESS;
}

static it_status_t address_fill(const struct verbs_ia *ia, const it_path_t *path,
                                struct ibv_ah_attr *attr)
{
    const it_ib_net_endpoint_t *ib = &path->remote.ib;
    bool on_ethernet = verbs_port_is_ethernet(ia, path->spigot_id);

    memset(attr, 0, sizeof(*attr));
    attr->port_num = (uint8_t)path->spigot_id;
    attr->sl = ib->sl;
    attr->static_rate = ib->packet_rate;
    attr->dlid = ib->remote_port_lid;
    if (!on_ethernet && attr->dlid == 0)
        return IT_ERR_INVALID_ADDRESS;
    return on_ethernet || !ib->subnet_local ? address_fill_route(ia, path, attr) : IT_SUCCESS;
}

/* May take time: the device may have to ask the network for the peer's link address. */
static it_status_t address_make(struct ual_address *ual, const it_path_t *path, struct ibv_ah **ah)
{
    const struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));
    struct verbs_pz *pz = verbs_pz_of(verbs_host->address_pz(ual));
    struct ibv_ah_attr attr;
    it_status_t status = address_fill(ia, path, &attr);
    int error;

    if (status != IT_SUCCESS)
        return status;
    *ah = ibv_create_ah(pz->pd, &attr);
    if (*ah)
        return IT_SUCCESS;
    error = errno;
    verbs_log(VP_LOG_INFO, "%s: no address handle: %s", verbs_host->ia_name(ia->ual),
              strerror(error));
    return error == ENOMEM || error == EMFILE || error == ENOSPC ? IT_ERR_RESOURCES
                                                                 : IT_ERR_INVALID_ADDRESS;
}

static void address_unmake(struct ibv_ah *ah)
{
    if (ibv_destroy_ah(ah) != 0)
        verbs_log(VP_LOG_INFO, "an address handle cannot be destroyed: its device may be gone");
}

it_status_t verbs_address_create(struct ual_address *ual, const it_path_t *path,
                                 it_ah_flags_t flags)
{
    (void)flags; /* IT_AH_PATH_COMPLETE only permits to skip a lookup, and there is none here */
    return address_make(ual, path, &verbs_address_of(ual)->ah);
}

it_status_t verbs_address_modify(struct ual_address *ual, const it_path_t *path)
{
    struct verbs_address *address = verbs_address_of(ual);
    struct ibv_ah *fresh;
    it_status_t status = address_make(ual, path, &fresh);

    if (status != IT_SUCCESS)
        return status;
    address_unmake(address->ah);
    address->ah = fresh;
    return IT_SUCCESS;
}

void verbs_address_destroy(struct ual_address *ual)
{
    address_unmake(verbs_address_of(ual)->ah);
}
