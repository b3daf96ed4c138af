/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA: the Interface Adapter, its requests (way B) and streams that become connections (way A). */
#include "portal/iser_portal.h"

#include "transfer/iser_rdma.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FABRIC_REQUESTS   1024
#define FABRIC_CONVERT_US 10000000 /* until the initiator has sent its MPA Request */

/* Octet 0 of Linux's private data: features that the sender lacks. */
#define PRIVATE_NO_ZERO_BASED 0x80u
#define PRIVATE_NO_INVALIDATE 0x40u
#define PRIVATE_LENGTH        4u

struct iser_fabric {
    struct itiser *owner;
    struct iser_rdma_shared shared;
    it_evd_handle_t requests;
    it_listen_handle_t listen; /* for accepted streams; NULL: a device with its own ports */
};

/* In network byte order. */
static uint16_t fabric_port(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET
               ? ((const struct sockaddr_in *)(const void *)address)->sin_port
               : ((const struct sockaddr_in6 *)(const void *)address)->sin6_port;
}

/* ---------------------------------------------------------------- way (B) */

/*
 * Returns true if the initiator accepts remote invalidation. Only private data, as Linux sends it,
 * announces that.
 */
static bool request_takes_invalidation(const it_event_t *event)
{
    return itx_event_private_data_length(event) >= PRIVATE_LENGTH &&
           !(event->conn_req.private_data[0] & PRIVATE_NO_INVALIDATE);
}

static struct iser_portal *request_portal(struct itiser *target, const it_event_t *event)
{
    for (size_t i = 0; i < target->portal_count; i++) {
        const struct itiser_portal_config *config = &target->portals[i].config;

        if (fabric_port(&config->address) == event->conn_req.conn_qual.conn_qual.port &&
            config->kinds & ITISER_RDMA)
            return &target->portals[i];
    }
    return NULL;
}

static void request_fill_peer(const it_net_addr_t *from, struct sockaddr_storage *to)
{
    memset(to, 0, sizeof(*to));
    if (from->addr_type == IT_IPV4) {
        to->ss_family = AF_INET;
        ((struct sockaddr_in *)(void *)to)->sin_addr = from->addr.ipv4;
    } else {
        to->ss_family = AF_INET6;
        ((struct sockaddr_in6 *)(void *)to)->sin6_addr = from->addr.ipv6;
    }
}

static void request_accept(struct iser_fabric *fabric, struct iser_portal *portal,
                           const it_event_t *event)
{
    bool invalidation = request_takes_invalidation(event);
    uint8_t answer[PRIVATE_LENGTH] = {PRIVATE_NO_ZERO_BASED};
    struct iser_link *link = iser_rdma_new(&fabric->shared, invalidation);
    it_ep_handle_t ep = link ? iser_rdma_endpoint(link) : NULL;

    if (!link) {
        (void)it_reject(event->conn_req.cn_est_id, NULL, 0);
        return;
    }
    if (!invalidation)
        answer[0] |= PRIVATE_NO_INVALIDATE;
    request_fill_peer(&event->conn_req.source_addr, &link->remote);
    if (it_ep_accept(ep, event->conn_req.cn_est_id, answer, sizeof(answer)) != IT_SUCCESS)
        iser_link_close(link); /* the initiator has disconnected */
    else
        (void)iser_arrival_begin_rdma(portal, link);
}

static void fabric_requests(it_evd_handle_t evd, void *argument)
{
    struct iser_fabric *fabric = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        struct iser_portal *portal;

        if (event.event_number != IT_CM_REQ_CONN_REQUEST_EVENT)
            continue;
        portal = request_portal(fabric->owner, &event);
        if (portal)
            request_accept(fabric, portal, &event);
        else
            (void)it_reject(event.conn_req.cn_est_id, NULL, 0);
    }
}

/* If this fails, the stream is closed; the peer gets no message. */
static void fabric_request(struct itiser *target, int fd)
{
    (void)itx_socket_request(fd, target->fabric->listen);
}

/* ---------------------------------------------------------------- way (A) */

static bool convert_stream(struct iser_session *session, struct iser_link *link, const uint8_t *bhs,
                           const struct iser_text *text)
{
    uint8_t message[ISER_BHS + ISER_TEXT_MAX + 4] = {0};
    struct itx_convert_params params = {
        .size = sizeof(params), .msg = message, .timeout_us = FABRIC_CONVERT_US};
    it_status_t status;
    int fd;

    memcpy(message, bhs, ISER_BHS);
    iser_put24(message + ISER_AT_LENGTH, (uint32_t)text->length);
    iser_link_stamp(link, message);
    memcpy(message + ISER_BHS, text->octets, text->length);
    params.msg_len = ISER_BHS + text->length + iser_padding((uint32_t)text->length);
    fd = iser_plain_release(session->link, &params.early_data, &params.early_len);
    status = itx_socket_convert(fd, iser_rdma_endpoint(link), ITX_SC_RESPONDER, &params);
    (void)close(fd);
    return status == IT_SUCCESS;
}

static bool fabric_convert(struct iser_session *session, const uint8_t *bhs,
                           const struct iser_text *text)
{
    const struct itiser *target = session->service->portal;
    /* The initiator has not announced invalidation, so the link does not use it. */
    struct iser_link *link = iser_rdma_new(&target->fabric->shared, false);
    bool converted;

    if (!link)
        return false;
    link->limits = session->link->limits;
    link->numbers = &session->numbers;
    converted = link->ops->full_feature(link) && convert_stream(session, link, bhs, text);
    iser_session_take_link(session, link);
    return converted;
}

/* ---------------------------------------------------------------- the IA */

static bool fabric_make(struct iser_fabric *fabric, const char *interface, it_status_t *status)
{
    struct iser_rdma_shared *shared = &fabric->shared;
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    *status = it_ia_create(interface ? interface : "uiwarp", 2, 1, &shared->ia);
    if (*status == IT_SUCCESS)
        *status = itx_ia_set_event_base(shared->ia, shared->base);
    if (*status == IT_SUCCESS)
        *status = it_pz_create(shared->ia, &shared->pz);
    if (*status == IT_SUCCESS)
        *status =
            it_evd_create(shared->ia, IT_CM_REQ_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT,
                          FABRIC_REQUESTS, IT_THRESHOLD_DISABLE, NULL, &fabric->requests, NULL);
    if (*status == IT_SUCCESS)
        *status = it_evd_callback_attach(fabric->requests, fabric_requests, fabric);
    if (*status == IT_SUCCESS)
        *status = it_listen_create(shared->ia, 0, fabric->requests, ITX_LISTEN_SOCKETS, &qual,
                                   &fabric->listen);
    if (*status == IT_ERR_INVALID_FLAGS)
        *status = IT_SUCCESS;
    return *status == IT_SUCCESS;
}

bool iser_fabric_has_ports(const struct iser_fabric *fabric)
{
    return !fabric->listen;
}

bool iser_fabric_listen(struct iser_fabric *fabric, struct iser_portal *portal, const char **why)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT,
                           .conn_qual.port = fabric_port(&portal->config.address)};
    it_status_t status = it_listen_create(fabric->shared.ia, 0, fabric->requests,
                                          IT_LISTEN_CONN_QUAL_INPUT, &qual, &portal->listen);

    *why = itx_status_string(status);
    return status == IT_SUCCESS;
}

void iser_fabric_unlisten(struct iser_portal *portal)
{
    if (portal->listen)
        (void)it_listen_free(portal->listen);
    portal->listen = NULL;
}

bool iser_fabric_open(struct itiser *target, const struct itiser_config *config, char error[256])
{
    const char *interface = config->interface;
    struct iser_fabric *fabric = calloc(1, sizeof(*fabric));
    it_status_t status = IT_ERR_RESOURCES;

    target->fabric = fabric;
    if (fabric) {
        fabric->owner = target;
        fabric->shared.base = target->service.base;
        fabric->shared.no_crc = config->no_crc;
        fabric->shared.stay = &target->stay;
        if (fabric_make(fabric, interface, &status)) {
            fabric->shared.is_device = iser_fabric_has_ports(fabric);
            target->service.rdma_buffers.pz = fabric->shared.pz;
            target->service.rdma_buffers.privs = IT_PRIV_LOCAL;
            target->service.convert = fabric_convert;
            target->request = fabric_request;
            return true;
        }
    }
    if (error)
        (void)snprintf(error, 256, "RDMA on %s: %s", interface ? interface : "uiwarp",
                       itx_status_string(status));
    return false;
}

void iser_fabric_close(struct itiser *target)
{
    struct iser_fabric *fabric = target->fabric;

    if (!fabric)
        return;
    iser_rdma_reap(&fabric->shared);
    iser_buffers_fini(&target->service.rdma_buffers);
    if (fabric->shared.ia)
        (void)it_ia_free(fabric->shared.ia); /* with all its objects */
    free(fabric);
    target->fabric = NULL;
}
