/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_adapter.h"

#include <itx_api.h>

#include <string.h>

bool adapter_open(struct adapter *adapter, const char *name)
{
    it_status_t status;

    memset(adapter, 0, sizeof(*adapter));
    adapter->name = name;
    status = it_ia_create(name, 2, 1, &adapter->ia);
    if (status != IT_SUCCESS) {
        complain("interface %s: %s", name, itx_status_string(status));
        return false;
    }
    if (!succeeded(it_ia_query(adapter->ia, &adapter->info), "it_ia_query") ||
        !succeeded(it_pz_create(adapter->ia, &adapter->pz), "it_pz_create")) {
        adapter_close(adapter);
        return false;
    }
    adapter->sink_privileges = IT_PRIV_LOCAL;
    if (adapter->info->rdma_read_requires_remote_write)
        adapter->sink_privileges |= IT_PRIV_REMOTE_WRITE;
    return true;
}

void adapter_close(struct adapter *adapter)
{
    if (adapter->info != NULL)
        it_ia_info_free(adapter->info);
    if (adapter->ia != NULL)
        (void)succeeded(it_ia_free(adapter->ia), "it_ia_free");
    memset(adapter, 0, sizeof(*adapter));
}

bool adapter_find_spigot(const struct adapter *adapter, const it_net_addr_t *address,
                         size_t *spigot)
{
    for (size_t i = 0; i < adapter->info->num_spigots; i++) {
        const it_spigot_info_t *info = &adapter->info->spigot_info[i];

        for (size_t k = 0; k < info->num_net_addr; k++) {
            if (address_is_same(&info->net_addr[k], address)) {
                *spigot = info->spigot_id;
                return true;
            }
        }
    }
    return false;
}

size_t adapter_first_spigot(const struct adapter *adapter)
{
    return adapter->info->num_spigots > 0 ? adapter->info->spigot_info[0].spigot_id : 0;
}
