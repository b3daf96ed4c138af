/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIDR, by which UD endpoints find each other, over the UDP port space of rdma_cm. An answer of
 * rdma_cm has one status for all refusals and, with IP addresses, one key for all QPs. So the
 * provider appends the consumer's status and key to the private data. A peer that does not know
 * this addition uses what rdma_cm reports.
 *
 *     octet    0 ... 123 | 124 ... 127 | 128    | 129 ... 131 | 132 ... 135
 *     what     data      | "ITUD"      | status | 0           | key, big-endian
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "vp/verbs/device/verbs_query.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIDR_LIFE_NS UINT64_C(120000000000) /* of a request; the peer gives up long before */
#define SIDR_DATA    136u
#define SIDR_MAGIC   VERBS_SIDR_REPLY
#define SIDR_STATUS  128u
#define SIDR_KEY     132u

static const uint8_t sidr_magic[] = {'I', 'T', 'U', 'D'};

/* A request that waits for the consumer. */
struct verbs_asked {
    const struct verbs_cm_target *target;
    struct base_link link; /* in .cm.asked */
    struct verbs_cm *cm;
    struct rdma_cm_id *id; /* NULL: its device is gone */
    struct vp_timer *timer;
    struct ual_request request;
    uint8_t private_data[UINT8_MAX];
};

struct sidr_reply_call {
    struct verbs_asked *asked;
    const struct vp_ud_reply *reply;
};

static void sidr_log(const void *context, const struct verbs_cm_event *event)
{
    verbs_log(VP_LOG_DEBUG, "verbs: datagrams: %p: %s, status %d", context,
              rdma_event_str(event->type), event->status);
}

/* ---------------------------------------------------------------- asking: the answer */

static void service_close(struct verbs_service *service)
{
    if (service->id)
        (void)rdma_destroy_id(service->id); /* fails if the device is gone, but frees the id */
    service->id = NULL;
    verbs_host->timer_stop(service->timer);
}

static void service_finish(struct verbs_service *service, struct vp_ud_reply *reply)
{
    reply->path = service->info.path;
    if (reply->status == IT_UD_SVC_EP_INFO_VALID)
        verbs_path_fill(service->cm->ia, service->id, &reply->path);
    service_close(service); /* before the report: the consumer may ask again at once */
    verbs_host->ud_report(service->ual, reply);
}

/* No answer has come. */
static void service_fail(struct verbs_service *service)
{
    struct vp_ud_reply reply = {.status = IT_UD_SVC_REQ_REJECTED};

    verbs_log(VP_LOG_WARN, "%s: no answer to a request for an endpoint of datagrams",
              verbs_host->ia_name(service->cm->ual));
    service_finish(service, &reply);
}

static void service_expired(void *argument)
{
    struct verbs_service *service = argument;

    if (service->id)
        service_fail(service);
}

static it_ud_svc_req_status_t service_status(const struct verbs_cm_event *event)
{
    if (event->type == RDMA_CM_EVENT_ESTABLISHED)
        return IT_UD_SVC_EP_INFO_VALID;
    /* The statuses of SIDR have the same numbers. */
    if (event->status >= IT_UD_SVC_ID_NOT_SUPPORTED && event->status <= IT_UD_REQ_REDIRECTED)
        return (it_ud_svc_req_status_t)event->status;
    return IT_UD_SVC_REQ_REJECTED;
}

/* Reads the addition of the peer's provider, if it is this one. */
static void service_read_addition(const struct verbs_cm_event *event, struct vp_ud_reply *reply)
{
    const uint8_t *data = event->private_data;
    uint32_t key;

    if (event->private_length < SIDR_DATA ||
        memcmp(data + SIDR_MAGIC, sidr_magic, sizeof(sidr_magic)) != 0)
        return;
    reply->private_length = verbs_cm_strip(data, VERBS_SIDR_REPLY);
    if (reply->status == IT_UD_SVC_EP_INFO_VALID) {
        memcpy(&key, data + SIDR_KEY, sizeof(key));
        reply->ep_info.ud_ep_key = ntohl(key);
    } else if (data[SIDR_STATUS] >= IT_UD_SVC_ID_NOT_SUPPORTED &&
               data[SIDR_STATUS] <= IT_UD_REQ_REDIRECTED) {
        reply->status = (it_ud_svc_req_status_t)data[SIDR_STATUS];
    }
}

static void service_answered(struct verbs_service *service, const struct verbs_cm_event *event)
{
    struct vp_ud_reply reply = {
        .status = service_status(event),
        .ep_info = {.ud_ep_id = event->qp_num, .ud_ep_key = event->qkey},
        .private_data = event->private_data,
        .private_length = verbs_cm_strip(event->private_data, event->private_length),
    };

    service_read_addition(event, &reply);
    service_finish(service, &reply);
}

/* ---------------------------------------------------------------- asking: the question */

static bool service_ask(struct verbs_service *service)
{
    struct rdma_conn_param param = {
        .private_data = service->info.private_data,
        .private_data_len = (uint8_t)service->info.private_length,
    };

    return rdma_connect(service->id, &param) == 0;
}

/* Resolving has its own time limit; the timer may end it earlier. */
static void service_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    struct verbs_service *service = context;
    bool goes_on = false;

    sidr_log(context, event);
    (void)id;
    if (!service->id)
        return;
    switch ((unsigned)event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        goes_on = verbs_device_is_own(service->cm->ia, service->id) &&
                  rdma_resolve_route(service->id, VERBS_CM_RESOLVE_MS) == 0;
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        goes_on = service_ask(service);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_UNREACHABLE:
        service_answered(service, event);
        return;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        break;
    default:
        return; /* no answer: the timer reports when it is too late */
    }
    if (!goes_on)
        service_fail(service);
}

static it_status_t service_ends(struct verbs_service *service, struct sockaddr_storage *local,
                                struct sockaddr_storage *remote)
{
    struct verbs_ports ports = verbs_ports_of(&service->info.conn_qual);
    it_status_t status = verbs_path_ends(service->cm, &service->info.path, local, remote);

    if (status != IT_SUCCESS)
        return status;
    if (verbs_port_of(service->cm->ia, (const struct sockaddr *)local) !=
        service->info.path.spigot_id)
        return IT_ERR_INVALID_SOURCE_PATH;
    base_net_set_port(local, ports.local);
    base_net_set_port(remote, ports.remote);
    return IT_SUCCESS;
}

/* From here on an event reports the outcome. */
static it_status_t service_start(void *argument)
{
    struct verbs_service *service = argument;
    uint64_t limit = service->info.path.timeout ? service->info.path.timeout : VERBS_CM_ATTEMPT_US;
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    it_status_t status;

    if (service->id)
        return IT_ERR_RESOURCES; /* one request at a time */
    if (rdma_create_id(service->cm->channel, &service->id, service, RDMA_PS_UDP) != 0) {
        verbs_warn(service->cm->ia, "no request for an endpoint of datagrams: rdma_create_id",
                   errno);
        service->id = NULL;
        return IT_ERR_RESOURCES;
    }
    if (!verbs_host->timer_start(service->timer, base_ns_of_us(limit))) {
        service_close(service);
        return IT_ERR_RESOURCES;
    }
    status = service_ends(service, &local, &remote); /* addresses may have changed */
    if (status != IT_SUCCESS ||
        rdma_resolve_addr(service->id, (struct sockaddr *)&local, (struct sockaddr *)&remote,
                          VERBS_CM_RESOLVE_MS) != 0)
        service_fail(service);
    return IT_SUCCESS;
}

it_status_t verbs_ud_request(struct ual_ud_service *ual)
{
    return verbs_run(verbs_host->ia_of(ual), service_start,
                     vp_area(verbs_host, VP_UD_SERVICE, ual));
}

/* ---------------------------------------------------------------- asking: the object */

static const struct verbs_cm_target service_target = {.told = service_told};

it_status_t verbs_ud_service_create(struct ual_ud_service *ual)
{
    struct verbs_service *service = vp_area(verbs_host, VP_UD_SERVICE, ual);
    struct verbs_ia *ia = verbs_ia_of(verbs_host->ia_of(ual));
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    it_status_t status;

    service->target = &service_target;
    service->cm = ia->cm;
    service->ual = ual;
    verbs_host->ud_service_info(ual, &service->info);
    status = service_ends(service, &local, &remote);
    if (status != IT_SUCCESS)
        return status;
    service->timer = verbs_host->timer_new(ia->ual, service_expired, service);
    return service->timer ? IT_SUCCESS : IT_ERR_RESOURCES;
}

static void service_end_run(void *argument)
{
    struct verbs_service *service = argument;

    service_close(service);
    verbs_host->timer_free(service->timer);
}

void verbs_ud_service_destroy(struct ual_ud_service *ual)
{
    verbs_host->ia_call(verbs_host->ia_of(ual), service_end_run,
                        vp_area(verbs_host, VP_UD_SERVICE, ual));
}

/* ---------------------------------------------------------------- being asked */

static struct verbs_asked *asked_of(struct ual_request *request)
{
    return BASE_ITEM(request, struct verbs_asked, request);
}

/* Frees the request. Destroying an id that was not answered refuses it. */
static void asked_free(struct verbs_asked *asked)
{
    base_list_remove(&asked->cm->asked, &asked->link);
    asked->cm->undecided--;
    if (asked->id)
        (void)rdma_destroy_id(asked->id); /* fails if the device is gone, but frees the id */
    verbs_host->timer_free(asked->timer);
    free(asked);
}

/* The peer no longer waits for an answer. */
static void asked_expired(void *argument)
{
    struct verbs_asked *asked = argument;

    if (verbs_host->request_withdraw(&asked->request))
        asked_free(asked);
    else /* a call of the consumer holds it; if memory runs out, it stays until the IA closes */
        (void)verbs_host->timer_start(asked->timer, VERBS_CM_WITHDRAW_NS);
}

static void asked_told(void *context, struct rdma_cm_id *id, const struct verbs_cm_event *event)
{
    struct verbs_asked *asked = context;

    sidr_log(context, event);
    if (event->type != RDMA_CM_EVENT_DEVICE_REMOVAL || !asked->id)
        return;
    (void)rdma_destroy_id(id); /* the kernel waits for this */
    asked->id = NULL;
    asked_expired(asked);
}

static const struct verbs_cm_target asked_target = {.told = asked_told};

static struct verbs_asked *asked_new(struct verbs_cm *cm, struct rdma_cm_id *id)
{
    struct verbs_asked *asked = calloc(1, sizeof(*asked));

    if (!asked)
        return NULL;
    asked->timer = verbs_host->timer_new(cm->ual, asked_expired, asked);
    if (!asked->timer) {
        free(asked);
        return NULL;
    }
    asked->target = &asked_target;
    asked->cm = cm;
    asked->id = id;
    base_list_prepend(&cm->asked, &asked->link);
    cm->undecided++;
    id->context = asked;
    return asked;
}

static void asked_fill_request(struct verbs_asked *asked, const struct verbs_listener *listener,
                               const struct verbs_cm_event *event)
{
    struct ual_request *request = &asked->request;

    request->datagram = true;
    verbs_listener_fill(listener, asked->id, request);
    memcpy(asked->private_data, event->private_data, event->private_length);
    request->private_data = asked->private_data;
    request->private_length = verbs_cm_strip(event->private_data, event->private_length);
}

/* Returns false if the request cannot be announced. */
static bool asked_announce(struct verbs_asked *asked)
{
    if (!verbs_host->timer_start(asked->timer, SIDR_LIFE_NS))
        return false;
    verbs_host->request_add(&asked->request);
    /* A call that takes the request now waits for this thread: asked is still valid afterwards. */
    return verbs_host->request_announce(&asked->request) ||
           !verbs_host->request_withdraw(&asked->request);
}

void verbs_sidr_asked(struct verbs_listener *listener, struct rdma_cm_id *id,
                      const struct verbs_cm_event *event)
{
    struct verbs_cm *cm = listener->cm;
    struct verbs_asked *asked = cm->undecided < VERBS_CM_UNDECIDED_MAX ? asked_new(cm, id) : NULL;

    if (!asked) {
        verbs_cm_count(&cm->refused);
        (void)rdma_destroy_id(id);
        return;
    }
    asked_fill_request(asked, listener, event);
    if (asked_announce(asked))
        return;
    verbs_cm_count(&cm->refused);
    asked_free(asked);
}

/* ---------------------------------------------------------------- answering */

static void reply_fill(const struct vp_ud_reply *reply, uint8_t data[SIDR_DATA])
{
    uint32_t key = htonl(reply->ep_info.ud_ep_key);

    memset(data, 0, SIDR_DATA);
    if (reply->private_length > 0)
        memcpy(data, reply->private_data, reply->private_length);
    memcpy(data + SIDR_MAGIC, sidr_magic, sizeof(sidr_magic));
    data[SIDR_STATUS] = (uint8_t)reply->status;
    if (reply->status == IT_UD_SVC_EP_INFO_VALID)
        memcpy(data + SIDR_KEY, &key, sizeof(key));
}

static bool reply_send(struct rdma_cm_id *id, const struct vp_ud_reply *reply)
{
    uint8_t data[SIDR_DATA];
    struct rdma_conn_param param = {
        .private_data = data,
        .private_data_len = SIDR_DATA,
        .qp_num = reply->ep_info.ud_ep_id,
    };
    int result;

    reply_fill(reply, data);
    if (reply->status == IT_UD_SVC_EP_INFO_VALID)
        result = rdma_accept(id, &param);
    else
        result = rdma_reject(id, data, SIDR_DATA);
    if (result != 0)
        verbs_log(VP_LOG_WARN, "verbs: no answer to a service request: %s", strerror(errno));
    return result == 0;
}

static it_status_t reply_run(void *argument)
{
    const struct sidr_reply_call *call = argument;

    if (!call->asked->id)
        return IT_ERR_INVALID_UD_SVC_REQ_ID;
    if (!reply_send(call->asked->id, call->reply))
        return IT_ERR_RESOURCES;
    asked_free(call->asked);
    return IT_SUCCESS;
}

it_status_t verbs_ud_reply(struct ual_request *request, const struct vp_ud_reply *reply)
{
    struct sidr_reply_call call = {.asked = asked_of(request), .reply = reply};

    return verbs_run(request->ia, reply_run, &call);
}

bool verbs_sidr_close(struct verbs_cm *cm)
{
    BASE_LIST_EACH_REMOVABLE(struct verbs_asked, asked, &cm->asked, link)
        if (verbs_host->request_withdraw(&asked->request))
            asked_free(asked);
    return base_list_is_empty(&cm->asked);
}
