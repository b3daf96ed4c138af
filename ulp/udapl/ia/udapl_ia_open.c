/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ia_open. */
#include "ia/udapl_ia_calls.h"

#include "event/udapl_event.h"
#include "ia/udapl_sigpipe.h"
#include "object/udapl_ia.h"

#include <string.h>

static void set_address(struct sockaddr_storage *address, const it_net_addr_t *from)
{
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)address;

    if (from->addr_type == IT_IPV4) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_addr = from->addr.ipv4;
    } else {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_addr = from->addr_type == IT_IB_GID ? from->addr.gid : from->addr.ipv6;
    }
}

/*
 * Ranks addresses for peers: a routable one before those of this host alone, IPv4 before IPv6.
 */
static int address_worth(const it_net_addr_t *address)
{
    switch (address->addr_type) {
    case IT_IPV4:
        return ntohl(address->addr.ipv4.s_addr) >> 24 == IN_LOOPBACKNET ? 4 : 6;
    case IT_IPV6:
        if (IN6_IS_ADDR_LOOPBACK(&address->addr.ipv6))
            return 3;
        return IN6_IS_ADDR_LINKLOCAL(&address->addr.ipv6) ? 2 : 5;
    case IT_IB_GID:
        return 1;
    case IT_VIA_HOSTADDR:
        break;
    }
    return 0;
}

static void choose_address(struct udapl_ia *ia)
{
    int best = 0;

    ia->address.ss_family = AF_INET;
    for (size_t i = 0; i < ia->info->num_spigots; i++) {
        const it_spigot_info_t *spigot = &ia->info->spigot_info[i];

        for (size_t j = 0; j < spigot->num_net_addr; j++)
            if (address_worth(&spigot->net_addr[j]) > best) {
                best = address_worth(&spigot->net_addr[j]);
                set_address(&ia->address, &spigot->net_addr[j]);
            }
    }
}

static DAT_RETURN open_it(struct udapl_ia *ia)
{
    it_status_t status = it_ia_create(ia->provider->interface, 2, 1, &ia->it);

    if (status != IT_SUCCESS)
        return udapl_return(status);
    ia->features.size = sizeof(ia->features);
    status = itx_ia_query_features(ia->it, &ia->features);
    if (status == IT_SUCCESS)
        status = it_ia_query(ia->it, &ia->info);
    if (status != IT_SUCCESS) {
        (void)it_ia_free(ia->it); /* the IA is good: it cannot fail */
        return udapl_return(status);
    }
    choose_address(ia);
    return DAT_SUCCESS;
}

static DAT_RETURN open_async(struct udapl_ia *ia, DAT_COUNT qlen, DAT_EVD_HANDLE async_evd)
{
    if (async_evd == DAT_EVD_ASYNC_EXISTS)
        return DAT_SUCCESS;
    if (async_evd != DAT_HANDLE_NULL)
        return udapl_evd_join_async(ia, async_evd);
    if (qlen < 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return udapl_evd_create_async(ia, qlen, &ia->async_evd);
}

DAT_RETURN udapl_ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
                         DAT_IA_HANDLE *ia_handle)
{
    const struct udapl_provider *provider = name ? udapl_provider_of(name) : NULL;
    struct udapl_ia *ia;
    DAT_RETURN result;

    if (!provider)
        return udapl_error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    if (!async_evd)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!ia_handle)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    ia = udapl_ia_new(provider);
    if (!ia)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    result = open_it(ia);
    if (result != DAT_SUCCESS)
        goto err_object;
    result = open_async(ia, qlen, *async_evd);
    if (result != DAT_SUCCESS)
        goto err_it;
    udapl_sigpipe_begin(provider);
    udapl_ia_start(ia);
    if (*async_evd == DAT_HANDLE_NULL)
        *async_evd = ia->async_evd;
    *ia_handle = ia;
    return DAT_SUCCESS;

err_it:
    it_ia_info_free(ia->info);
    (void)it_ia_free(ia->it); /* the IA is good: it cannot fail */
err_object:
    udapl_ia_end(ia);
    return result;
}
