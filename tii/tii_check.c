/* SPDX-License-Identifier: BSD-2-Clause */
#include "tii/tii_check.h"

#include "base/base_log.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* ---------------------------------------------------------------- private data */

it_status_t tii_check_pdata_length(const struct vp_attributes *attributes, size_t length,
                                   size_t limit)
{
    if (length == 0)
        return IT_SUCCESS;
    if (attributes->connect_pdata == 0 && attributes->accept_pdata == 0 &&
        attributes->reject_pdata == 0 && attributes->disconnect_pdata == 0)
        return IT_ERR_PDATA_NOT_SUPPORTED;
    return length > limit ? IT_ERR_INVALID_PDATA_LENGTH : IT_SUCCESS;
}

/* ---------------------------------------------------------------- connection qualifiers */

/* The type has to be one bit, so that it names one member of the union. */
static bool tii_accepts_type(const it_conn_qual_t *qual, it_conn_qual_type_t accepted)
{
    unsigned type = (unsigned)qual->type;

    return type != 0 && (type & (type - 1)) == 0 && (type & (unsigned)accepted) != 0;
}

it_status_t tii_check_active_qual(const it_conn_qual_t *qual, it_conn_qual_type_t accepted)
{
    if (!tii_accepts_type(qual, accepted))
        return IT_ERR_INVALID_CONN_QUAL;
    if (qual->type == IT_IANA_PORT && qual->conn_qual.port == 0)
        return IT_ERR_INVALID_CONN_QUAL;
    if (qual->type == IT_IANA_LR_PORT && qual->conn_qual.lr_port.remote == 0)
        return IT_ERR_INVALID_CONN_QUAL;
    return IT_SUCCESS;
}

it_status_t tii_check_passive_qual(const it_conn_qual_t *qual, it_conn_qual_type_t accepted)
{
    if (!tii_accepts_type(qual, accepted))
        return IT_ERR_INVALID_CONN_QUAL;
    if (qual->type == IT_IANA_PORT && qual->conn_qual.port == 0)
        return IT_ERR_INVALID_CONN_QUAL;
    if (qual->type == IT_IANA_LR_PORT && qual->conn_qual.lr_port.local == 0)
        return IT_ERR_INVALID_CONN_QUAL;
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- paths */

static bool tii_is_any(const it_net_addr_t *address)
{
    if (address->addr_type == IT_IPV4)
        return address->addr.ipv4.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&address->addr.ipv6);
}

static bool tii_is_destination(const it_net_addr_t *address)
{
    uint32_t ipv4;

    if (tii_is_any(address))
        return false;
    if (address->addr_type == IT_IPV6)
        return !IN6_IS_ADDR_MULTICAST(&address->addr.ipv6);
    ipv4 = ntohl(address->addr.ipv4.s_addr);
    return !IN_MULTICAST(ipv4) && ipv4 != INADDR_BROADCAST;
}

static it_net_addr_t tii_ip_address(it_ip_vers_t version, const it_in_addr_t *ip)
{
    it_net_addr_t address = {.addr_type = version == IT_IP_VERS_IPV4 ? IT_IPV4 : IT_IPV6};

    if (version == IT_IP_VERS_IPV4)
        address.addr.ipv4 = ip->ipv4;
    else
        address.addr.ipv6 = ip->ipv6;
    return address;
}

static it_status_t tii_check_iwarp(const struct ual_ia *ia, const it_iwarp_net_endpoint_t *pair)
{
    it_net_addr_t local, remote;
    it_status_t status = IT_SUCCESS;

    if (pair->ip_vers != IT_IP_VERS_IPV4 && pair->ip_vers != IT_IP_VERS_IPV6)
        return IT_ERR_INVALID_SOURCE_PATH;
    local = tii_ip_address(pair->ip_vers, &pair->laddr);
    if (!tii_is_any(&local))
        status = ia->provider->has_address(ia, &local);
    if (status == IT_ERR_RESOURCES)
        return status;
    if (status != IT_SUCCESS) {
        base_log(BASE_LOG_WARN, "%s: a path begins at an address that it has not", ia->name);
        return IT_ERR_INVALID_SOURCE_PATH;
    }
    remote = tii_ip_address(pair->ip_vers, &pair->raddr);
    return tii_is_destination(&remote) ? IT_SUCCESS : IT_ERR_INVALID_ADDRESS;
}

it_status_t tii_check_path(const struct ual_ia *ia, it_path_t *path)
{
    if (!ual_spigot_find(ia, &path->spigot_id))
        return IT_ERR_INVALID_SPIGOT;
    if (ia->provider->ia_attributes(ia)->transport_type != IT_IWARP_TCP_TRANSPORT)
        return IT_SUCCESS; /* only the provider understands it */
    return tii_check_iwarp(ia, &path->remote.iwarp);
}
