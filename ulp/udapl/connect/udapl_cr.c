/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection requests. */
#include "connect/udapl_connect.h"

#include "connect/udapl_ep_hold.h"
#include "deliver/udapl_deliver.h"
#include "deliver/udapl_handoff.h"
#include "endpoint/udapl_endpoint.h"
#include "map/udapl_connection.h"
#include "object/udapl_ia.h"

static struct udapl_cr *cr_from(DAT_CR_HANDLE handle)
{
    return udapl_is(handle, DAT_HANDLE_TYPE_CR) ? handle : NULL;
}

static DAT_RETURN bad_cr(void)
{
    return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
}

/* Accepts any mask: programs use constants of other calls. */
DAT_RETURN udapl_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
    struct udapl_cr *cr = cr_from(cr_handle);

    (void)mask;
    if (!cr)
        return bad_cr();
    if (!param)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    param->remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->remote;
    param->remote_port_qual = cr->remote_port;
    param->private_data_size = cr->private_data_size;
    param->private_data = cr->private_data;
    param->local_ep_handle = cr->ep;
    return DAT_SUCCESS;
}

/* Finds the EP for the request, with a reference. */
static DAT_RETURN choose_ep(struct udapl_cr *cr, DAT_EP_HANDLE ep_handle, struct udapl_ep **out)
{
    struct udapl_ia *ia = cr->object.ia;
    struct udapl_ep *ep = cr->ep;
    DAT_RETURN result;

    if (!ep)
        ep = udapl_find(ia, ep_handle, DAT_HANDLE_TYPE_EP);
    else if (ep_handle != DAT_HANDLE_NULL && ep_handle != ep)
        ep = NULL;
    if (!ep)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    result = udapl_ep_check(ep, cr->ep ? UDAPL_CALL_ACCEPT_HELD : UDAPL_CALL_CONNECT);
    if (result == DAT_SUCCESS)
        result = udapl_ep_configured(ep);
    *out = ep;
    return result;
}

/* Sets the addresses before the connection is established. */
static void tell_addresses(struct udapl_ep *ep, const struct udapl_cr *cr)
{
    ep->connection.local = cr->object.ia->address;
    ep->connection.local_port = cr->conn_qual;
    ep->connection.remote = cr->remote;
    ep->connection.remote_port = cr->remote_port;
}

static DAT_RETURN accept_error(it_status_t status, const struct udapl_ep *ep)
{
    if (status == IT_ERR_INVALID_EP_STATE)
        return udapl_state_error(udapl_ep_state(ep));
    return udapl_return(status);
}

/* Accepts. If that fails, the EP of a service point stays with the request. */
static DAT_RETURN answer(struct udapl_cr *cr, struct udapl_ep *ep, DAT_COUNT size, const void *data)
{
    enum udapl_ep_hold hold = atomic_exchange(&ep->connection.hold, UDAPL_EP_FREE);
    bool accepting = atomic_exchange(&ep->connection.accepting, true);
    it_status_t status;

    tell_addresses(ep, cr);
    status = it_ep_accept(ep->it, cr->it, data, (size_t)size);
    if (status == IT_SUCCESS) {
        udapl_object_release(cr->ep);
        return DAT_SUCCESS;
    }
    atomic_store(&ep->connection.accepting, accepting);
    atomic_store(&ep->connection.hold, hold);
    return accept_error(status, ep);
}

/* Ends the CR: it was answered, or the peer has given up. */
static void end(struct udapl_cr *cr, bool returns_ep)
{
    if (returns_ep && cr->ep)
        udapl_hold_return(cr->ep, cr->made_ep);
    udapl_object_end(cr);
}

DAT_RETURN udapl_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                           DAT_COUNT private_data_size, const DAT_PVOID private_data)
{
    struct udapl_cr *cr = cr_from(cr_handle);
    struct udapl_ep *ep;
    DAT_RETURN result;

    if (!cr)
        return bad_cr();
    result =
        udapl_private_data_check(private_data_size, private_data,
                                 cr->object.ia->info->accept_private_data_len, DAT_INVALID_ARG3);
    if (result == DAT_SUCCESS)
        result = choose_ep(cr, ep_handle, &ep);
    if (result != DAT_SUCCESS)
        return result;
    if (!udapl_object_retire(cr))
        return bad_cr();
    result = answer(cr, ep, private_data_size, private_data);
    if (result == DAT_SUCCESS || result == bad_cr()) /* the peer has given up */
        end(cr, result != DAT_SUCCESS);
    else
        udapl_object_unretire(cr);
    return result;
}

/* Finishes a rejection or handoff of a retired CR. A peer that has given up counts as rejected. */
static DAT_RETURN finish(struct udapl_cr *cr, it_status_t status)
{
    if (status != IT_SUCCESS && status != IT_ERR_INVALID_CN_EST_ID) {
        udapl_object_unretire(cr);
        return status == IT_ERR_INVALID_CONN_QUAL
                   ? udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2)
                   : udapl_return(status);
    }
    end(cr, true);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                           const DAT_PVOID private_data)
{
    struct udapl_cr *cr = cr_from(cr_handle);
    DAT_RETURN result;

    if (!cr)
        return bad_cr();
    result =
        udapl_private_data_check(private_data_size, private_data,
                                 cr->object.ia->info->reject_private_data_len, DAT_INVALID_ARG2);
    if (result != DAT_SUCCESS)
        return result;
    if (!udapl_object_retire(cr))
        return bad_cr();
    return finish(cr, it_reject(cr->it, private_data, (size_t)private_data_size));
}

DAT_RETURN udapl_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL conn_qual)
{
    struct udapl_cr *cr = cr_from(cr_handle);
    struct udapl_ia *ia;
    it_conn_qual_t qual;
    it_status_t status;

    if (!cr)
        return bad_cr();
    if (!udapl_is_port(conn_qual))
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!udapl_object_retire(cr))
        return bad_cr();
    ia = cr->object.ia;
    if (!udapl_handoff_note(ia, cr, conn_qual))
        return finish(cr, IT_ERR_RESOURCES);
    qual = udapl_passive_qual(conn_qual);
    status = it_handoff(&qual, ia->info->spigot_info[0].spigot_id, cr->it);
    if (status != IT_SUCCESS)
        (void)udapl_handoff_take(ia, &cr->remote, 0);
    return finish(cr, status);
}

void udapl_cr_discard(struct udapl_cr *cr)
{
    (void)cr; /* an EP made for it is freed with the other EPs */
}
