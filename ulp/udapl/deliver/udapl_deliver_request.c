/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection requests: finding the service point, creating the CR and, if needed, the EP. */
#include "deliver/udapl_deliver.h"

#include "deliver/udapl_handoff.h"
#include "map/udapl_connection.h"
#include "map/udapl_limit.h"
#include "object/udapl_cr.h"
#include "object/udapl_sp.h"

#include "itx_api.h"

#include <string.h>

/* What a request gets from its service point. */
struct claim {
    struct sockaddr_storage remote; /* of the request */
    DAT_CONN_QUAL conn_qual;        /* of the service point */
    struct udapl_sp *sp;       /* only a handle: it may be freed at any time; NULL: it was freed */
    struct udapl_ep *ep;       /* reserved for the request */
    it_listen_handle_t listen; /* to be freed: it takes no further request */
    bool makes_ep;
    DAT_EP_ATTR attr; /* of the new EP */
    bool refuse;      /* the service point has had its only request */
};

static struct udapl_sp *find_locked(const struct udapl_ia *ia, DAT_HANDLE_TYPE type,
                                    DAT_CONN_QUAL conn_qual, bool listens)
{
    for (struct udapl_object *object = ia->objects[type]; object; object = object->next) {
        struct udapl_sp *sp = (struct udapl_sp *)object;

        if (udapl_port_of_qual(sp->conn_qual) == udapl_port_of_qual(conn_qual) &&
            sp->listens == listens)
            return sp;
    }
    return NULL;
}

static void claim_rsp_locked(struct udapl_sp *rsp, struct claim *claim)
{
    claim->sp = rsp;
    claim->listen = rsp->it;
    claim->ep = rsp->ep;
    rsp->listens = false;
    rsp->it = NULL;
    rsp->ep = NULL;
    atomic_store(&claim->ep->connection.hold, UDAPL_EP_PASSIVE);
}

static void claim_locked(struct udapl_ia *ia, struct claim *claim)
{
    struct udapl_sp *psp = find_locked(ia, DAT_HANDLE_TYPE_PSP, claim->conn_qual, true);
    struct udapl_sp *rsp = find_locked(ia, DAT_HANDLE_TYPE_RSP, claim->conn_qual, true);

    if (psp || rsp)
        claim->conn_qual = psp ? psp->conn_qual : rsp->conn_qual;
    if (psp) {
        claim->sp = psp;
        claim->makes_ep = psp->flags == DAT_PSP_PROVIDER_FLAG;
        claim->attr = psp->attr;
    } else if (rsp) {
        claim_rsp_locked(rsp, claim);
    } else {
        claim->refuse = find_locked(ia, DAT_HANDLE_TYPE_RSP, claim->conn_qual, false) != NULL;
    }
}

static void make_claim(struct udapl_ia *ia, const it_conn_request_event_t *request,
                       struct claim *claim)
{
    const it_conn_qual_t *qual = &request->conn_qual;

    memset(claim, 0, sizeof(*claim));
    udapl_sockaddr_of(&request->source_addr, udapl_port_qual_of(qual), &claim->remote);
    claim->conn_qual = udapl_handoff_take(ia, &claim->remote, udapl_conn_qual_of(qual));
    pthread_mutex_lock(&ia->lock);
    claim_locked(ia, claim);
    pthread_mutex_unlock(&ia->lock);
    if (claim->listen)
        (void)it_listen_free(claim->listen); /* cannot fail: no other thread has it */
}

/* Sets the Read depths to those of the requesting side, if known. */
static void fit_depths(const struct udapl_ia *ia, const it_conn_request_event_t *request,
                       DAT_EP_ATTR *attr)
{
    if (request->rdma_read_ord > 0 && request->rdma_read_ord <= ia->features.max_ird)
        attr->max_rdma_read_in = udapl_limit_count(request->rdma_read_ord);
    if (request->rdma_read_ird > 0 && request->rdma_read_ird <= ia->features.max_ord)
        attr->max_rdma_read_out = udapl_limit_count(request->rdma_read_ird);
}

struct udapl_ep *udapl_ep_provide(struct udapl_ia *ia, const DAT_EP_ATTR *attr,
                                  enum udapl_ep_hold hold)
{
    struct udapl_ep *ep = udapl_object_new(ia, DAT_HANDLE_TYPE_EP);

    if (!ep)
        return NULL;
    ep->attr = *attr;
    ep->connection.local = ia->address;
    (void)udapl_object_hold(ep); /* cannot fail: no other thread has it */
    atomic_store(&ep->connection.hold, hold);
    udapl_object_start(ep);
    return ep;
}

static struct udapl_cr *make_cr(struct udapl_ia *ia, const it_event_t *event, struct claim *claim)
{
    const it_conn_request_event_t *request = &event->conn_req;
    struct udapl_cr *cr = udapl_object_new(ia, DAT_HANDLE_TYPE_CR);

    if (!cr)
        return NULL;
    if (claim->makes_ep) {
        fit_depths(ia, request, &claim->attr);
        claim->ep = udapl_ep_provide(ia, &claim->attr, UDAPL_EP_TENTATIVE);
        if (!claim->ep) {
            udapl_object_discard(cr);
            return NULL;
        }
    }
    cr->it = request->cn_est_id;
    cr->ep = claim->ep;
    cr->made_ep = claim->makes_ep;
    cr->conn_qual = claim->conn_qual;
    cr->remote = claim->remote;
    cr->remote_port = udapl_port_qual_of(&request->conn_qual);
    cr->private_data_size = (DAT_COUNT)itx_event_private_data_length(event);
    memcpy(cr->private_data, request->private_data, (size_t)cr->private_data_size);
    udapl_object_start(cr);
    return cr;
}

static void refuse(const it_event_t *event, const struct claim *claim)
{
    if (claim->ep) {
        atomic_store(&claim->ep->connection.hold, UDAPL_EP_FREE);
        udapl_object_release(claim->ep);
    }
    (void)it_reject(event->conn_req.cn_est_id, NULL, 0); /* fails if the peer has gone */
}

bool udapl_deliver_request(struct udapl_ia *ia, const it_event_t *event, DAT_EVENT *out)
{
    DAT_CR_ARRIVAL_EVENT_DATA *data = &out->event_data.cr_arrival_event_data;
    struct udapl_cr *cr = NULL;
    struct claim claim;

    if (event->event_number != IT_CM_REQ_CONN_REQUEST_EVENT)
        return false; /* a request of the datagram service, which is not supported */
    make_claim(ia, &event->conn_req, &claim);
    if (!claim.refuse)
        cr = make_cr(ia, event, &claim);
    if (!cr) {
        refuse(event, &claim);
        return false;
    }
    out->event_number = DAT_CONNECTION_REQUEST_EVENT;
    data->sp_handle.psp_handle = claim.sp;
    /* The consumer may only read it; the type of the member is not const. */
    data->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)(uintptr_t)&ia->address;
    data->conn_qual = claim.conn_qual;
    data->cr_handle = cr;
    data->truncate_flag = DAT_FALSE;
    return true;
}
