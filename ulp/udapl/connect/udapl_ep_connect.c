/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side. */
#include "connect/udapl_connect.h"

#include "connect/udapl_ep_hold.h"
#include "deliver/udapl_deliver.h"
#include "endpoint/udapl_endpoint.h"
#include "map/udapl_connection.h"
#include "object/udapl_ia.h"

#include <string.h>

static struct udapl_ep *ep_from(DAT_EP_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_EP) ? handle : NULL;
}

static DAT_RETURN bad_ep(void)
{
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
}

/* Multiple paths may be requested, but not required. */
static DAT_RETURN check_model(DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    unsigned known = (unsigned)DAT_CONNECT_MULTIPATH_REQUESTED_FLAG |
                     (unsigned)DAT_CONNECT_MULTIPATH_REQUIRED_FLAG;

    if ((unsigned)flags & ~known)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
    if (qos != DAT_QOS_BEST_EFFORT ||
        ((unsigned)flags & (unsigned)DAT_CONNECT_MULTIPATH_REQUIRED_FLAG))
        return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    return DAT_SUCCESS;
}

/* Finds a path from any Spigot of the IA. */
static DAT_RETURN find_path(const struct udapl_ia *ia, const struct sockaddr *address,
                            it_path_t *path)
{
    it_net_addr_t remote;

    if (!udapl_address_of(address, &remote))
        return udapl_error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    for (size_t i = 0; i < ia->info->num_spigots; i++) {
        size_t capacity = 1;
        size_t total = 0;
        it_status_t status = it_get_pathinfo(ia->it, ia->info->spigot_info[i].spigot_id, &remote,
                                             &capacity, &total, path);

        if (status != IT_SUCCESS)
            return udapl_return(status);
        if (total > 0)
            return DAT_SUCCESS;
    }
    return udapl_error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
}

static DAT_RETURN connect_error(it_status_t status, const struct udapl_ep *ep)
{
    if (status == IT_ERR_INVALID_EP_STATE)
        return udapl_state_error(udapl_ep_state(ep));
    if (status == IT_ERR_CONN_QUAL_BUSY) /* no local port is free */
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    return udapl_return(status);
}

static void tell_addresses(struct udapl_ep *ep, const struct sockaddr *address,
                           DAT_CONN_QUAL conn_qual)
{
    struct udapl_connection *connection = &ep->connection;

    connection->local = ep->object.ia->address;
    connection->local_port = 0;
    memset(&connection->remote, 0, sizeof(connection->remote));
    memcpy(&connection->remote, address,
           address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                         : sizeof(struct sockaddr_in6));
    connection->remote_port = conn_qual;
    atomic_store(&connection->accepting, false);
}

/* Connects; the arguments were checked. */
static DAT_RETURN begin(struct udapl_ep *ep, const struct sockaddr *address,
                        DAT_CONN_QUAL conn_qual, DAT_TIMEOUT timeout, DAT_COUNT size,
                        const void *data)
{
    it_conn_qual_t qual = udapl_active_qual(conn_qual);
    DAT_RETURN result;
    it_path_t path;
    it_status_t status;

    result = udapl_ep_check(ep, UDAPL_CALL_CONNECT);
    if (result == DAT_SUCCESS)
        result = udapl_ep_configured(ep);
    if (result == DAT_SUCCESS)
        result = find_path(ep->object.ia, address, &path);
    if (result != DAT_SUCCESS)
        return result;
    path.timeout = udapl_timeout_of(timeout);
    tell_addresses(ep, address, conn_qual);
    status = it_ep_connect(ep->it, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, data, (size_t)size);
    return status == IT_SUCCESS ? DAT_SUCCESS : connect_error(status, ep);
}

DAT_RETURN udapl_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                            DAT_CONN_QUAL conn_qual, DAT_TIMEOUT timeout,
                            DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos,
                            DAT_CONNECT_FLAGS flags)
{
    struct udapl_ep *ep = ep_from(ep_handle);
    DAT_RETURN result;

    if (!ep)
        return bad_ep();
    if (!address)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!udapl_is_port(conn_qual))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (timeout == 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    result =
        udapl_private_data_check(private_data_size, private_data,
                                 ep->object.ia->info->connect_private_data_len, DAT_INVALID_ARG5);
    if (result == DAT_SUCCESS)
        result = check_model(qos, flags);
    if (result != DAT_SUCCESS)
        return result;
    return begin(ep, address, conn_qual, timeout, private_data_size, private_data);
}

DAT_RETURN udapl_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                const DAT_PVOID private_data, DAT_QOS qos)
{
    struct udapl_ep *ep = ep_from(ep_handle);
    struct sockaddr_storage remote;
    struct udapl_ep *dup;
    DAT_RETURN result;

    if (!ep)
        return bad_ep();
    dup = udapl_find(ep->object.ia, ep_dup_handle, DAT_HANDLE_TYPE_EP);
    if (!dup)
        return bad_ep();
    if (timeout == 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    result =
        udapl_private_data_check(private_data_size, private_data,
                                 ep->object.ia->info->connect_private_data_len, DAT_INVALID_ARG4);
    if (result == DAT_SUCCESS)
        result = check_model(qos, DAT_CONNECT_DEFAULT_FLAG);
    if (result == DAT_SUCCESS)
        result = udapl_ep_check(dup, UDAPL_CALL_DUPLICATE);
    if (result != DAT_SUCCESS)
        return result;
    remote = dup->connection.remote;
    return begin(ep, (const struct sockaddr *)&remote, dup->connection.remote_port, timeout,
                 private_data_size, private_data);
}

/* Not supported: connection qualifiers are ports already. */
DAT_RETURN udapl_ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR address,
                                   DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                   const DAT_PVOID private_data)
{
    (void)timeout;
    (void)private_data_size;
    (void)private_data;
    if (!ep_from(ep_handle))
        return bad_ep();
    if (!address)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return udapl_error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}
