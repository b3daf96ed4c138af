/* SPDX-License-Identifier: BSD-2-Clause */
/* it_get_pathinfo. */
#include "ual/object/ual_provider.h"

static it_status_t tii_check_destination(const struct ual_ia *ia, const it_net_addr_t *net_addr)
{
    bool is_ip = net_addr->addr_type == IT_IPV4 || net_addr->addr_type == IT_IPV6;

    if (is_ip)
        return IT_SUCCESS;
    if ((net_addr->addr_type != IT_IB_GID && net_addr->addr_type != IT_VIA_HOSTADDR) ||
        ia->provider->ia_attributes(ia)->transport_type == IT_IWARP_TCP_TRANSPORT)
        return base_refuse_number(IT_ERR_INVALID_NETADDR, "it_get_pathinfo", net_addr->addr_type);
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
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!net_addr || !num_paths || !total_paths || (!paths && *num_paths > 0))
        return base_refuse(
            IT_ERR_FAULT, __func__, "net_addr %p, num_paths %p, total_paths %p, paths %p",
            (const void *)net_addr, (void *)num_paths, (void *)total_paths, (void *)paths);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if (!ual_spigot_find(ia, &spigot_id))
        return base_refuse_number(IT_ERR_INVALID_SPIGOT, __func__, spigot_id);
    status = tii_check_destination(ia, net_addr);
    if (status != IT_SUCCESS)
        return status;
    status = ia->provider->paths(ia, spigot_id, net_addr, *num_paths, paths, &total);
    if (status != IT_SUCCESS)
        return base_refuse(status, __func__, "net_addr of type %d: refused by %s",
                           (int)net_addr->addr_type, ia->provider->name);
    if (*num_paths > total)
        *num_paths = total;
    *total_paths = total;
    return IT_SUCCESS;
}
