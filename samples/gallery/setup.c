/* SPDX-License-Identifier: BSD-2-Clause */
#include "setup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

void check(it_status_t status, const char *call)
{
    if (status != IT_SUCCESS)
        fail(call, itx_status_string(status));
}

/* ---- Objects ------------------------------------------------------------------------------ */

void adapter_open(struct adapter *adapter)
{
    uint32_t streams = ITX_STREAM_DTO | ITX_STREAM_CM_MSG | ITX_STREAM_CM_REQ;

    check(it_ia_create("uiwarp", 2, 1, &adapter->ia), "it_ia_create");
    check(it_pz_create(adapter->ia, &adapter->pz), "it_pz_create");
    check(itx_evd_create_mixed(adapter->ia, streams, IT_EVD_CREATE_FD, 1024, 0, NULL,
                               &adapter->events, &adapter->fd),
          "itx_evd_create_mixed");
}

it_lmr_handle_t memory_register(const struct adapter *adapter, void *start, size_t length,
                                it_mem_priv_t privileges, struct place *place)
{
    it_lmr_handle_t lmr;
    it_rmr_context_t key;

    check(it_lmr_create(adapter->pz, start, NULL, length, IT_ADDR_MODE_ABSOLUTE, privileges,
                        IT_LMR_FLAG_NONE, 0, &lmr, &key),
          "it_lmr_create");
    if (place != NULL)
        *place = (struct place){.address = (uintptr_t)start, .key = key, .length = length};
    return lmr;
}

it_lmr_triplet_t piece_of(it_lmr_handle_t lmr, void *start, size_t length)
{
    it_lmr_triplet_t piece = {.lmr = lmr, .addr.abs = start, .length = length};

    return piece;
}

it_ep_handle_t endpoint_make(const struct adapter *adapter)
{
    const it_ep_attributes_t attributes = {
        .max_dto_payload_size = 4096,
        .max_request_dtos = 16,
        .max_recv_dtos = 2,
        .max_send_segments = 1,
        .max_recv_segments = 1,
        .srv.rc = {.rdma_read_enable = IT_TRUE,
                   .rdma_write_enable = IT_TRUE,
                   .atomics_enable = IT_TRUE,
                   .max_rdma_read_segments = 1,
                   .max_rdma_write_segments = 1,
                   .rdma_read_ird = READS_MAX,
                   .rdma_read_ord = READS_MAX},
    };
    it_ep_handle_t ep;

    check(it_ep_rc_create(adapter->pz, adapter->events, adapter->events, adapter->events,
                          IT_EP_NO_FLAG, &attributes, &ep),
          "it_ep_rc_create");
    return ep;
}

/* ---- Connections -------------------------------------------------------------------------- */

void listen_at(const struct adapter *adapter, it_evd_handle_t requests, const char *port)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    int number = atoi(port);
    it_listen_handle_t listener;

    qualifier.conn_qual.port = htons((in_port_t)number);
    check(it_listen_create(adapter->ia, 0, requests,
                           number != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG, &qualifier,
                           &listener),
          "it_listen_create");
    printf("listening on port %d\n", ntohs(qualifier.conn_qual.port));
    fflush(stdout);
}

bool accept_with(it_ep_handle_t ep, const it_event_t *request, const struct place *place)
{
    struct place told = {0};
    it_status_t status;

    if (place != NULL)
        told = (struct place){it_hton64(place->address), it_hton64(place->key),
                              it_hton64(place->length)};
    status = it_ep_accept(ep, request->conn_req.cn_est_id, (const unsigned char *)&told,
                          place != NULL ? sizeof(told) : 0);
    if (status != IT_SUCCESS)
        check(it_ep_free(ep), "it_ep_free");
    return status == IT_SUCCESS;
}

static it_path_t path_to(const struct adapter *adapter, const char *host)
{
    struct addrinfo hints = {.ai_family = AF_INET};
    it_net_addr_t address = {.addr_type = IT_IPV4};
    size_t count = 1, total;
    struct addrinfo *found;
    it_path_t path;
    int error = getaddrinfo(host, NULL, &hints, &found);

    if (error != 0)
        fail(host, gai_strerror(error));
    address.addr.ipv4 = ((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr;
    freeaddrinfo(found);
    check(it_get_pathinfo(adapter->ia, 0, &address, &count, &total, &path), "it_get_pathinfo");
    if (count == 0)
        fail(host, "no path leads there");
    return path;
}

it_ep_handle_t connect_to(const struct adapter *adapter, const char *host, const char *port,
                          struct place *place)
{
    it_path_t path = path_to(adapter, host);
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_ep_handle_t ep = endpoint_make(adapter);
    struct place told;
    it_event_t event;

    qualifier.conn_qual.port = htons((in_port_t)atoi(port));
    check(it_ep_connect(ep, &path, NULL, &qualifier, IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
          "it_ep_connect");
    event = wait_for(adapter, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    if (place == NULL)
        return ep;
    if (itx_event_private_data_length(&event) != sizeof(told))
        fail(host, "this is not the server of this sample");
    memcpy(&told, event.conn.private_data, sizeof(told));
    *place = (struct place){it_ntoh64(told.address), it_ntoh64(told.key), it_ntoh64(told.length)};
    return ep;
}

void disconnect(const struct adapter *adapter, it_ep_handle_t ep)
{
    check(it_ep_disconnect(ep, NULL, 0), "it_ep_disconnect");
    (void)wait_for(adapter, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    check(it_ia_free(adapter->ia), "it_ia_free"); /* also frees all objects made in it */
}

/* ---- Events ------------------------------------------------------------------------------- */

it_event_t wait_for(const struct adapter *adapter, it_event_type_t number)
{
    it_event_t event;

    check(it_evd_wait(adapter->events, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");
    if (event.event_number != number)
        fail("connection", itx_event_string(event.event_number));
    return event;
}

void completed(const it_event_t *event)
{
    if (event->dto_cmpl.dto_status != IT_DTO_SUCCESS)
        fail(itx_event_string(event->event_number),
             itx_dto_status_string(event->dto_cmpl.dto_status));
}

bool is_end(const it_event_t *event)
{
    return event->event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
           event->event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
           event->event_number == IT_CM_MSG_CONN_PEER_REJECT_EVENT ||
           event->event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT;
}

void serve_place(const struct adapter *adapter, const struct place *place)
{
    it_event_t event;

    while (it_evd_dequeue(adapter->events, &event) == IT_SUCCESS) {
        if (event.event_number == IT_CM_REQ_CONN_REQUEST_EVENT)
            (void)accept_with(endpoint_make(adapter), &event, place);
        else if (is_end(&event))
            check(it_ep_free(event.conn.ep), "it_ep_free");
    }
}
