/* SPDX-License-Identifier: BSD-2-Clause */
#include "objects.h"

#include "sockets.h"

#include <stdio.h>
#include <stdlib.h>

void check(it_status_t status, const char *call)
{
    if (status != IT_SUCCESS)
        fail(call, itx_status_string(status));
}

static void make_queues(struct rdma *rdma)
{
    check(it_evd_create(rdma->ia, IT_DTO_EVENT_STREAM, 0, 4, 0, NULL, &rdma->requests, NULL),
          "it_evd_create");
    check(it_evd_create(rdma->ia, IT_DTO_EVENT_STREAM, 0, 4, 0, NULL, &rdma->receives, NULL),
          "it_evd_create");
    check(it_evd_create(rdma->ia, IT_CM_MSG_EVENT_STREAM, 0, 4, 0, NULL, &rdma->connection, NULL),
          "it_evd_create");
}

static void make_endpoint(struct rdma *rdma)
{
    const it_ep_attributes_t attributes = {
        .max_dto_payload_size = LINE_SIZE,
        .max_request_dtos = 4,
        .max_recv_dtos = 1,
        .max_send_segments = 1,
        .max_recv_segments = 1,
        .srv.rc = {.rdma_read_enable = IT_TRUE,
                   .rdma_write_enable = IT_TRUE,
                   .max_rdma_read_segments = 1,
                   .max_rdma_write_segments = 1,
                   .rdma_read_ird = 1,
                   .rdma_read_ord = 1},
    };

    check(it_ep_rc_create(rdma->pz, rdma->requests, rdma->receives, rdma->connection, IT_EP_NO_FLAG,
                          &attributes, &rdma->ep),
          "it_ep_rc_create");
}

void rdma_open(struct rdma *rdma)
{
    rdma->memory = calloc(1, MEMORY_SIZE);
    if (rdma->memory == NULL)
        fail("calloc", "no memory");
    check(it_ia_create("uiwarp", 2, 1, &rdma->ia), "it_ia_create");
    check(it_pz_create(rdma->ia, &rdma->pz), "it_pz_create");
    check(it_lmr_create(rdma->pz, rdma->memory, NULL, MEMORY_SIZE, IT_ADDR_MODE_ABSOLUTE,
                        IT_PRIV_LOCAL | IT_PRIV_REMOTE, IT_LMR_FLAG_NONE, 0, &rdma->lmr,
                        &rdma->key),
          "it_lmr_create");
    make_queues(rdma);
    make_endpoint(rdma);
    rdma_post_receive(rdma);
}

void rdma_close(struct rdma *rdma)
{
    check(it_ia_free(rdma->ia), "it_ia_free"); /* also frees all objects made in it */
    free(rdma->memory);
}

it_lmr_triplet_t rdma_piece(const struct rdma *rdma, size_t at, size_t length)
{
    it_lmr_triplet_t piece = {.lmr = rdma->lmr, .addr.abs = rdma->memory + at, .length = length};

    return piece;
}

void rdma_post_receive(struct rdma *rdma)
{
    it_lmr_triplet_t piece = rdma_piece(rdma, IN_AT, LINE_SIZE);

    check(it_post_recv(rdma->ep, &piece, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG),
          "it_post_recv");
}

bool rdma_completed(it_evd_handle_t evd, uint32_t *length)
{
    it_event_t event;

    check(it_evd_wait(evd, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");
    if (length != NULL)
        *length = event.dto_cmpl.transferred_length;
    return event.dto_cmpl.dto_status == IT_DTO_SUCCESS;
}

void rdma_wait_connection(struct rdma *rdma, it_event_type_t wanted)
{
    it_event_t event;

    check(it_evd_wait(rdma->connection, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");
    if (event.event_number != wanted)
        fail("connection", itx_event_string(event.event_number));
}
