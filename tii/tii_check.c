/* SPDX-License-Identifier: BSD-2-Clause */
#include "tii/tii_check.h"

#include "base/base_net.h"

/* ---------------------------------------------------------------- private data */

it_status_t tii_check_pdata_pointer(const char *call, const void *private_data, size_t length)
{
    return length == 0 || private_data ? IT_SUCCESS : base_refuse_null(call, private_data);
}

it_status_t tii_check_pdata_length(const char *call, const struct vp_attributes *attributes,
                                   size_t private_data_length, size_t limit)
{
    if (private_data_length == 0)
        return IT_SUCCESS;
    if (attributes->connect_pdata == 0 && attributes->accept_pdata == 0 &&
        attributes->reject_pdata == 0 && attributes->disconnect_pdata == 0)
        return base_refuse_above(IT_ERR_PDATA_NOT_SUPPORTED, call, private_data_length, 0);
    if (private_data_length > limit)
        return base_refuse_above(IT_ERR_INVALID_PDATA_LENGTH, call, private_data_length, limit);
    return IT_SUCCESS;
}

it_status_t tii_check_pdata(const char *call, const struct ual_ia *ia, const void *private_data,
                            size_t length, size_t limit)
{
    it_status_t status = tii_check_pdata_pointer(call, private_data, length);

    if (status != IT_SUCCESS)
        return status;
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    return tii_check_pdata_length(call, ia->provider->ia_attributes(ia), length, limit);
}

/* ---------------------------------------------------------------- connection qualifiers */

/* The type must be a single bit, to select one member of the union. */
static bool tii_accepts_type(const it_conn_qual_t *qual, it_conn_qual_type_t accepted)
{
    unsigned type = (unsigned)qual->type;

    return type != 0 && (type & (type - 1)) == 0 && (type & (unsigned)accepted) != 0;
}

it_status_t tii_check_qual(const char *call, const struct vp_attributes *attributes,
                           const it_conn_qual_t *conn_qual, bool active)
{
    it_conn_qual_type_t accepted = active ? attributes->active_quals : attributes->passive_quals;
    const it_conn_qual_t *qual = conn_qual;
    uint16_t port = 1;

    if (!tii_accepts_type(qual, accepted))
        return base_refuse(IT_ERR_INVALID_CONN_QUAL, call,
                           "conn_qual->type %#x, one of %#x is good", (unsigned)qual->type,
                           (unsigned)accepted);
    if (qual->type == IT_IANA_PORT)
        port = qual->conn_qual.port;
    else if (qual->type == IT_IANA_LR_PORT)
        port = active ? qual->conn_qual.lr_port.remote : qual->conn_qual.lr_port.local;
    return port ? IT_SUCCESS
                : base_refuse(IT_ERR_INVALID_CONN_QUAL, call, "conn_qual->conn_qual is port 0");
}

/* ---------------------------------------------------------------- paths */

static it_status_t tii_refuse_address(it_status_t status, const char *call, const char *what,
                                      const it_net_addr_t *address)
{
    char text[INET6_ADDRSTRLEN];

    base_net_text(address, text);
    return base_refuse(status, call, "path->remote.iwarp.%s %s", what, text);
}

static it_status_t tii_check_iwarp(const char *call, const struct ual_ia *ia, const it_path_t *path)
{
    it_net_addr_t local, remote;
    it_status_t status = IT_SUCCESS;

    if (!base_net_from_path(path, &local, &remote))
        return base_refuse(IT_ERR_INVALID_SOURCE_PATH, call, "path->remote.iwarp.ip_vers %d",
                           (int)path->remote.iwarp.ip_vers);
    if (!base_net_is_any(&local))
        status = ia->provider->has_address(ia, &local);
    if (status == IT_ERR_RESOURCES)
        return status;
    if (status != IT_SUCCESS)
        return tii_refuse_address(IT_ERR_INVALID_SOURCE_PATH, call, "laddr", &local);
    if (!base_net_is_peer(&remote))
        return tii_refuse_address(IT_ERR_INVALID_ADDRESS, call, "raddr", &remote);
    return IT_SUCCESS;
}

it_status_t tii_check_path(const char *call, const struct ual_ia *ia, it_path_t *path,
                           it_status_t bad_spigot)
{
    if (!ual_spigot_find(ia, &path->spigot_id))
        return base_refuse_number(bad_spigot, call, path->spigot_id);
    if (ia->provider->ia_attributes(ia)->transport_type != IT_IWARP_TCP_TRANSPORT)
        return IT_SUCCESS; /* only the provider can check it */
    return tii_check_iwarp(call, ia, path);
}

/* ---------------------------------------------------------------- requests */

it_status_t tii_refuse_request(const char *call, it_cn_est_identifier_t cn_est_id)
{
    return base_refuse_number(IT_ERR_INVALID_CN_EST_ID, call, cn_est_id);
}
