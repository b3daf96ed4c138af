/* SPDX-License-Identifier: BSD-2-Clause */
/* it_get_pathinfo. */
#include "ual/ual_provider.h"

static it_status_t tii_check_destination(const struct ual_ia *ia, const it_net_addr_t *net_addr)
{
    bool is_ip = net_addr->addr_type == IT_IPV4 || net_addr->addr_type == IT_IPV6;

    if (!is_ip && net_addr->addr_type != IT_IB_GID && net_addr->addr_type != IT_VIA_HOSTADDR)
        return IT_ERR_INVALID_NETADDR;
    if (!is_ip && ia->provider->ia_attributes(ia)->transport_type == IT_IWARP_TCP_TRANSPORT)
        return IT_ERR_INVALID_NETADDR;
    return IT_SUCCESS;
}

it_status_t it_get_pathinfo(it_ia_handle_t ia_handle, size_t spigot_id,
                            const it_net_addr_t *net_addr, size_t *num_paths, size_t *total_paths,
                            it_path_t *paths)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    size_t total = 0;
    it_status_t status;

    if (!ia)
        return IT_ERR_INVALID_IA;
    if (!net_addr || !num_paths || !total_paths || (!paths && *num_paths > 0))
        return IT_ERR_FAULT;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!ual_spigot_find(ia, &spigot_id))
        return IT_ERR_INVALID_SPIGOT;
    status = tii_check_destination(ia, net_addr);
    if (status == IT_SUCCESS)
        status = ia->provider->paths(ia, spigot_id, net_addr, *num_paths, paths, &total);
    if (status != IT_SUCCESS)
        return status;
    if (*num_paths > total)
        *num_paths = total;
    *total_paths = total;
    return IT_SUCCESS;
}
