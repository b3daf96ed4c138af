/* SPDX-License-Identifier: BSD-2-Clause */
#include "endpoint/udapl_ep_make.h"

#include "endpoint/udapl_endpoint.h"
#include "endpoint/udapl_ep_attr.h"
#include "endpoint/udapl_quiet.h"
#include "event/udapl_event.h"
#include "map/udapl_flags.h"

#include <stdlib.h>
#include <string.h>

#define MAKE_PATIENCE_US UINT64_C(300000)

static DAT_RETURN find_evd(const struct udapl_ia *ia, DAT_EVD_HANDLE handle, DAT_EVD_FLAGS stream,
                           DAT_RETURN_SUBTYPE subtype, struct udapl_evd **evd)
{
    *evd = NULL;
    if (handle == DAT_HANDLE_NULL)
        return DAT_SUCCESS;
    *evd = udapl_find(ia, handle, DAT_HANDLE_TYPE_EVD);
    if (!*evd || !((unsigned)(*evd)->flags & (unsigned)stream))
        return udapl_error(DAT_INVALID_HANDLE, subtype);
    return DAT_SUCCESS;
}

DAT_RETURN udapl_ep_parts_find(const struct udapl_ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                               DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                               struct udapl_ep_parts *parts)
{
    DAT_RETURN result;

    memset(parts, 0, sizeof(*parts));
    if (pz != DAT_HANDLE_NULL) {
        parts->pz = udapl_find(ia, pz, DAT_HANDLE_TYPE_PZ);
        if (!parts->pz)
            return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    }
    result =
        find_evd(ia, recv_evd, DAT_EVD_DTO_FLAG, DAT_INVALID_HANDLE_EVD_RECV, &parts->recv_evd);
    if (result == DAT_SUCCESS)
        result = find_evd(ia, request_evd, DAT_EVD_DTO_FLAG, DAT_INVALID_HANDLE_EVD_REQUEST,
                          &parts->request_evd);
    if (result == DAT_SUCCESS)
        result = find_evd(ia, connect_evd, DAT_EVD_CONNECTION_FLAG, DAT_INVALID_HANDLE_EVD_CONN,
                          &parts->connect_evd);
    return result;
}

void udapl_ep_parts_of(const struct udapl_ep *ep, struct udapl_ep_parts *parts)
{
    parts->pz = ep->pz;
    parts->recv_evd = ep->recv_evd;
    parts->request_evd = ep->request_evd;
    parts->connect_evd = ep->connect_evd;
    parts->srq = ep->srq;
}

/* ---------------------------------------------------------------- references */

static void release_parts(const struct udapl_ep_parts *parts)
{
    udapl_object_release(parts->pz);
    udapl_object_release(parts->recv_evd);
    udapl_object_release(parts->request_evd);
    udapl_object_release(parts->connect_evd);
    udapl_object_release(parts->srq);
}

/* Adds references to all parts, or to none. */
static DAT_RETURN hold_parts(const struct udapl_ep_parts *parts)
{
    const struct {
        void *object;
        DAT_RETURN_SUBTYPE subtype;
    } each[] = {
        {parts->pz, DAT_INVALID_HANDLE_PZ},
        {parts->recv_evd, DAT_INVALID_HANDLE_EVD_RECV},
        {parts->request_evd, DAT_INVALID_HANDLE_EVD_REQUEST},
        {parts->connect_evd, DAT_INVALID_HANDLE_EVD_CONN},
        {parts->srq, DAT_INVALID_HANDLE_SRQ},
    };

    for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
        if (!udapl_object_hold(each[i].object)) {
            DAT_RETURN_SUBTYPE subtype = each[i].subtype;

            while (i-- > 0)
                udapl_object_release(each[i].object);
            return udapl_error(DAT_INVALID_HANDLE, subtype);
        }
    return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- the EP of IT-API */

/* Gets the SEVD of a stream: that of the consumer's EVD, or a private one. */
static DAT_RETURN find_sevd(const struct udapl_ia *ia, struct udapl_evd *evd,
                            it_event_type_t stream, DAT_RETURN_SUBTYPE subtype, size_t events,
                            it_evd_handle_t *own, it_evd_handle_t *sevd)
{
    it_status_t status;

    if (evd)
        return udapl_evd_stream(evd, stream, subtype, sevd);
    status = udapl_quiet_create(ia, stream, events, own);
    *sevd = *own;
    return udapl_return(status);
}

/* Returns true with ext=ib, if the adapter supports immediates. */
static bool takes_immediates(const struct udapl_ia *ia)
{
    return ia->provider->extension == DAT_EXTENSION_IB && ia->features.immediate_bits >= 32;
}

/* Returns the maximum number of receive completions in the queue. */
static size_t most_receives(const struct udapl_ep *ep, const it_ep_attributes_t *attr)
{
    it_srq_param_t param = {.max_recv_dtos = 0};

    if (ep->srq && it_srq_query(ep->srq->it, IT_SRQ_PARAM_MAX_RECV_DTO, &param) == IT_SUCCESS)
        return param.max_recv_dtos;
    return attr->max_recv_dtos;
}

/* Makes attempts patient: servers like dtest's publish their qualifier before they listen. */
static void make_patient(it_ep_handle_t ep)
{
    struct itx_mpa_params params = {.size = sizeof(params)};

    if (itx_ep_get_mpa_params(ep, &params) != IT_SUCCESS)
        return;
    params.patience_us = MAKE_PATIENCE_US;
    (void)itx_ep_set_mpa_params(ep, &params);
}

static DAT_RETURN make_it(struct udapl_ep *ep, const it_ep_attributes_t *attr)
{
    const struct udapl_ia *ia = ep->object.ia;
    it_evd_handle_t recv, request, connect;
    it_context_t context = {.ptr = ep};
    it_ep_handle_t it;
    it_status_t status;
    DAT_RETURN result =
        find_sevd(ia, ep->recv_evd, IT_DTO_EVENT_STREAM, DAT_INVALID_HANDLE_EVD_RECV,
                  most_receives(ep, attr), &ep->own_recv, &recv);

    if (result == DAT_SUCCESS)
        result = find_sevd(ia, ep->request_evd, IT_DTO_EVENT_STREAM, DAT_INVALID_HANDLE_EVD_REQUEST,
                           attr->max_request_dtos, &ep->own_request, &request);
    if (result == DAT_SUCCESS)
        result = find_sevd(ia, ep->connect_evd, IT_CM_MSG_EVENT_STREAM, DAT_INVALID_HANDLE_EVD_CONN,
                           4, &ep->own_connect, &connect);
    if (result != DAT_SUCCESS)
        return result;
    status = it_ep_rc_create(ep->pz->it, request, recv, connect,
                             ep->srq ? IT_EP_SRQ : IT_EP_NO_FLAG, attr, &it);
    if (status == IT_ERR_RESOURCES)
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    if (status != IT_SUCCESS)
        return udapl_return(status);
    (void)it_set_consumer_context(it, context); /* cannot fail: the handle is valid */
    make_patient(it);
    if (ep->immediates)
        (void)itx_ep_enable_immediate(it, IT_TRUE); /* cannot fail: the adapter supports them */
    ep->it = it;
    return DAT_SUCCESS;
}

/* Allocates twice as many records as requests fit into the queue. */
static bool make_records(struct udapl_records *records, size_t requests)
{
    size_t count = 1;

    while (count < 2 * requests)
        count *= 2;
    records->record = calloc(count, sizeof(*records->record));
    if (!records->record)
        return false;
    records->count = (uint32_t)count;
    return true;
}

static void free_records(struct udapl_ep *ep)
{
    free(ep->records.record);
    memset(&ep->records, 0, sizeof(ep->records));
}

static void unmake_rest(struct udapl_ep *ep)
{
    udapl_quiet_free(ep->own_recv);
    udapl_quiet_free(ep->own_request);
    udapl_quiet_free(ep->own_connect);
    ep->own_recv = ep->own_request = ep->own_connect = NULL;
    free_records(ep);
}

static void set_parts(struct udapl_ep *ep, const struct udapl_ep_parts *parts)
{
    ep->pz = parts->pz;
    ep->recv_evd = parts->recv_evd;
    ep->request_evd = parts->request_evd;
    ep->connect_evd = parts->connect_evd;
    ep->srq = parts->srq;
}

static DAT_RETURN configure(struct udapl_ep *ep)
{
    const struct udapl_ia *ia = ep->object.ia;
    it_ep_attributes_t it_attr;

    ep->recv_flags = udapl_flags_recv(ep->attr.recv_completion_flags, DAT_COMPLETION_DEFAULT_FLAG);
    if (!ep->pz)
        return DAT_SUCCESS;
    udapl_ep_attr_translate(ia, &ep->attr, ep->srq, &it_attr);
    ep->extended = ia->provider->extension == DAT_EXTENSION_IB;
    ep->read_segments = it_attr.srv.rc.max_rdma_read_segments;
    ep->splits = udapl_ep_attr_splits(ia, &ep->attr);
    ep->immediates = takes_immediates(ia);
    if ((ep->splits || ep->immediates || ia->info->rmr_types_supported) &&
        !make_records(&ep->records, (size_t)ep->attr.max_request_dtos))
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    return make_it(ep, &it_attr);
}

DAT_RETURN udapl_ep_make(struct udapl_ep *ep, const struct udapl_ep_parts *parts,
                         const DAT_EP_ATTR *attr)
{
    static const struct udapl_ep_parts none;
    DAT_RETURN result = hold_parts(parts);

    if (result != DAT_SUCCESS)
        return result;
    set_parts(ep, parts);
    ep->attr = *attr;
    result = configure(ep);
    if (result == DAT_SUCCESS)
        return DAT_SUCCESS;
    unmake_rest(ep);
    set_parts(ep, &none);
    release_parts(parts);
    return result;
}

DAT_RETURN udapl_ep_unmake(struct udapl_ep *ep)
{
    static const struct udapl_ep_parts none;
    struct udapl_ep_parts parts;
    it_status_t status = ep->it ? it_ep_free(ep->it) : IT_SUCCESS;

    if (status != IT_SUCCESS)
        return udapl_return(status);
    ep->it = NULL;
    unmake_rest(ep);
    udapl_ep_parts_of(ep, &parts);
    set_parts(ep, &none);
    release_parts(&parts);
    return DAT_SUCCESS;
}

void udapl_ep_discard(struct udapl_ep *ep)
{
    free_records(ep);
}

DAT_RETURN udapl_ep_configured(const struct udapl_ep *ep)
{
    return ep->it ? DAT_SUCCESS : udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFIGURED);
}
