/* SPDX-License-Identifier: BSD-2-Clause */
/* it_interface_list, which lists the Interfaces of all providers; itx_provider_query. */
#include "ual/object/ual_extension.h"
#include "ual/object/ual_object.h"
#include "ual/providers/ual_providers.h"

#include <stdio.h>

void it_interface_list(it_interface_t *interfaces, size_t *num_interfaces, size_t *total_interfaces)
{
    size_t capacity = interfaces && num_interfaces ? *num_interfaces : 0;
    size_t filled = 0, total = 0;
    const struct vp_provider *provider = NULL;

    while ((provider = ual_provider_next(provider)) != NULL) {
        size_t room = capacity - filled;
        size_t count = provider->interfaces(room ? interfaces + filled : NULL, room);

        filled += count < room ? count : room;
        total += count;
    }
    if (num_interfaces)
        *num_interfaces = filled;
    if (total_interfaces)
        *total_interfaces = total;
}

#define UAL_PROVIDER_INFO_MIN UAL_SIZE_UP_TO(struct itx_provider_info, detail) /* first version */

static void provider_describe(const struct vp_provider *provider, struct itx_provider_info *info)
{
    (void)snprintf(info->name, sizeof(info->name), "%s", provider->name); /* may be truncated */
    info->interfaces = provider->interfaces(NULL, 0);
    if (VP_PROVIDER_HAS(provider, obstacle))
        provider->obstacle(info);
}

/* Returns false if the module was not tried, or is registered. */
static bool provider_describe_module(struct itx_provider_info *info)
{
    const struct itx_provider_info *module = ual_registry_module();

    if (module->obstacle == ITX_OBSTACLE_NONE)
        return false;
    ual_extension_read(info, sizeof(*info), module, sizeof(*module));
    return true;
}

it_status_t itx_provider_query(size_t index, struct itx_provider_info *info)
{
    struct itx_provider_info own = {.size = sizeof(own)};
    const struct vp_provider *provider = NULL;
    size_t at = 0;
    it_status_t status = ual_extension_check(__func__, "info", info, UAL_PROVIDER_INFO_MIN);

    if (status != IT_SUCCESS)
        return status;
    while ((provider = ual_provider_next(provider)) != NULL && at < index)
        at++;
    if (provider)
        provider_describe(provider, &own);
    else if (at != index || !provider_describe_module(&own))
        return base_refuse_number(IT_ERR_RANGE, __func__, index);
    ual_extension_write(info, info->size, &own, sizeof(own));
    return IT_SUCCESS;
}
