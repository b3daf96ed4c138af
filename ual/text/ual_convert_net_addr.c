/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion between kinds of network address. A GID has the form of an IPv6 address; an IPv4
 * address appears in either as ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2).
 */
#include "base/base_refuse.h"

#include <string.h>

static const unsigned char v4_mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct in6_addr map_ipv4(const struct in_addr *ipv4)
{
    struct in6_addr mapped;

    memcpy(mapped.s6_addr, v4_mapped_prefix, sizeof v4_mapped_prefix);
    memcpy(mapped.s6_addr + sizeof v4_mapped_prefix, ipv4, 4);
    return mapped;
}

static it_boolean_t unmap_ipv4(const struct in6_addr *ipv6, struct in_addr *ipv4)
{
    if (memcmp(ipv6->s6_addr, v4_mapped_prefix, sizeof v4_mapped_prefix) != 0)
        return IT_FALSE;
    memcpy(ipv4, ipv6->s6_addr + sizeof v4_mapped_prefix, 4);
    return IT_TRUE;
}

/* Converts between the three IP-like kinds, through the IPv6 form. */
static it_status_t convert_ip(const it_net_addr_t *source, it_net_addr_type_t type,
                              it_net_addr_t *result)
{
    struct in6_addr ipv6;

    switch (source->addr_type) {
    case IT_IPV4:
        ipv6 = map_ipv4(&source->addr.ipv4);
        break;
    case IT_IPV6:
        ipv6 = source->addr.ipv6;
        break;
    case IT_IB_GID:
        ipv6 = source->addr.gid;
        break;
    case IT_VIA_HOSTADDR:
    default:
        return IT_ERR_INVALID_CONVERSION;
    }

    switch (type) {
    case IT_IPV4:
        return unmap_ipv4(&ipv6, &result->addr.ipv4) ? IT_SUCCESS : IT_ERR_INVALID_CONVERSION;
    case IT_IPV6:
        result->addr.ipv6 = ipv6;
        return IT_SUCCESS;
    case IT_IB_GID:
        result->addr.gid = ipv6;
        return IT_SUCCESS;
    case IT_VIA_HOSTADDR:
    default:
        return IT_ERR_INVALID_CONVERSION;
    }
}

it_status_t it_convert_net_addr(const it_net_addr_t *source_addr, it_net_addr_type_t addr_type,
                                it_net_addr_t *destination_addr)
{
    it_net_addr_t result;
    it_status_t status;

    if (source_addr == NULL || destination_addr == NULL)
        return base_refuse_null2(__func__, source_addr, destination_addr);

    switch (source_addr->addr_type) {
    case IT_IPV4:
    case IT_IPV6:
    case IT_IB_GID:
        break;
    case IT_VIA_HOSTADDR:
        if (source_addr->addr.via.len > IT_MAX_VIA_ADDR_LEN)
            return base_refuse_above(IT_ERR_INVALID_NETADDR, __func__, source_addr->addr.via.len,
                                     IT_MAX_VIA_ADDR_LEN);
        break;
    default:
        return base_refuse_number(IT_ERR_INVALID_NETADDR, __func__, source_addr->addr_type);
    }

    memset(&result, 0, sizeof result);
    result.addr_type = addr_type;
    if (addr_type == IT_VIA_HOSTADDR && source_addr->addr_type == IT_VIA_HOSTADDR) {
        result.addr.via.len = source_addr->addr.via.len;
        memcpy(result.addr.via.hostaddr, source_addr->addr.via.hostaddr, result.addr.via.len);
    } else {
        status = convert_ip(source_addr, addr_type, &result);
        if (status != IT_SUCCESS)
            return base_refuse(status, __func__, "source_addr->addr_type %d, addr_type %d",
                               (int)source_addr->addr_type, (int)addr_type);
    }
    *destination_addr = result;
    return IT_SUCCESS;
}
