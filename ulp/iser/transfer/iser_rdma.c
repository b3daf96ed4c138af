/* SPDX-License-Identifier: BSD-2-Clause */
/* A link over RDMA: its events. */
#include "transfer/iser_rdma.h"

#include <stdlib.h>

#define RDMA_EVENTS 16u /* taken at once */
#define RDMA_ROUNDS 16u /* in one run, so that others get their turn; the library calls again */

/* ---------------------------------------------------------------- messages */

static void rdma_control(struct rdma *rdma, const uint8_t *octets, size_t length)
{
    struct iser_pdu pdu;

    if (!iser_pdu_decode(octets + ISER_HEADER, length - ISER_HEADER, &pdu) ||
        pdu.length > rdma->link.limits.receive_max) {
        iser_link_lost(&rdma->link, "a PDU is not as long as it says");
        return;
    }
    rdma->link.user_ops->pdu(rdma->link.user, &pdu);
}

static void rdma_hello(struct rdma *rdma)
{
    rdma->awaits_hello = false;
    rdma_answer_hello(rdma, &rdma->link.header);
}

static void rdma_message(struct rdma *rdma, const uint8_t *octets, size_t length)
{
    rdma->link.octets_in += length;
    if (!iser_header_decode(octets, length, &rdma->link.header))
        iser_link_lost(&rdma->link, "a message is none of iSER");
    else if (rdma->link.header.kind == ISER_HELLO)
        rdma_hello(rdma);
    else if (rdma->link.header.kind == ISER_HELLO_REPLY)
        iser_link_lost(&rdma->link, "a HelloReply of an initiator");
    else if (rdma->awaits_hello)
        iser_link_lost(&rdma->link, "a message before the Hello");
    else
        rdma_control(rdma, octets, length);
}

static void rdma_received(struct rdma *rdma, struct rdma_slot *slot, size_t length)
{
    if (!rdma->link.draining)
        rdma_message(rdma, slot->octets, length);
    if (!rdma->link.closed && !rdma->link.lost && !rdma->link.draining &&
        !rdma_post_receive(rdma, slot))
        iser_link_lost(&rdma->link, "no receive can be posted");
}

static void rdma_completion(struct rdma *rdma, const it_dto_cmpl_event_t *event)
{
    void *pointer = (void *)(uintptr_t)(event->cookie & ~(it_dto_cookie_t)(RDMA_COOKIES - 1));

    if (event->dto_status != IT_DTO_SUCCESS) {
        if (!rdma->disconnecting)
            iser_link_lost(&rdma->link, itx_dto_status_string(event->dto_status));
        return;
    }
    switch (event->cookie & (RDMA_COOKIES - 1)) {
    case RDMA_RECEIVE:
        rdma_received(rdma, pointer, event->transferred_length);
        break;
    case RDMA_SEND:
        rdma_sent(rdma, pointer);
        break;
    case RDMA_READ: {
        struct iser_transfer *transfer = pointer;

        rdma->link.octets_in += event->transferred_length;
        transfer->out_have = transfer->out_length;
        rdma->link.user_ops->solicited(rdma->link.user, transfer);
        break;
    }
    default:
        break;
    }
}

/* ---------------------------------------------------------------- the connection */

static void rdma_established(struct rdma *rdma)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};

    if (itx_ep_query_addresses(rdma->ep, &addresses) != IT_SUCCESS)
        return;
    rdma->link.local = addresses.local;
    rdma->link.remote = addresses.remote;
}

static void rdma_ended(struct rdma *rdma)
{
    if (rdma->link.draining)
        rdma->link.user_ops->drained(rdma->link.user);
    else
        iser_link_lost(&rdma->link, "the connection has ended");
}

static void rdma_event(struct rdma *rdma, const it_event_t *event)
{
    switch ((unsigned)event->event_number) {
    case IT_DTO_SEND_CMPL_EVENT:
    case IT_DTO_RC_RECV_CMPL_EVENT:
    case IT_DTO_RDMA_READ_CMPL_EVENT:
    case IT_DTO_RDMA_WRITE_CMPL_EVENT:
        rdma_completion(rdma, &event->dto_cmpl);
        break;
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        rdma_established(rdma);
        break;
    default:
        rdma_ended(rdma);
        break;
    }
}

/* Returns the number of events. */
static size_t rdma_take_events(struct rdma *rdma)
{
    it_event_t events[RDMA_EVENTS];
    size_t count = 0;

    if (itx_evd_dequeue_n(rdma->evd, RDMA_EVENTS, events, &count) != IT_SUCCESS)
        return 0;
    for (size_t i = 0; i < count && !rdma->link.closed && !rdma->link.lost; i++)
        rdma_event(rdma, &events[i]);
    return rdma->link.closed || rdma->link.lost ? 0 : count;
}

/* Handles events and sends the resulting output. Returns the number of events. */
static size_t rdma_turn(struct iser_link *link)
{
    struct rdma *rdma = rdma_of(link);
    size_t count = RDMA_EVENTS, all = 0;

    rdma_begin_turn(rdma);
    /* A further call without an event would cost a poll of the sockets. */
    for (unsigned i = 0; i < RDMA_ROUNDS && count == RDMA_EVENTS; i++) {
        count = rdma_take_events(rdma);
        all += count;
    }
    rdma_end_turn(rdma);
    return all;
}

static void rdma_events(it_evd_handle_t evd, void *argument)
{
    struct rdma *rdma = argument;

    (void)evd;
    if (rdma->link.closed)
        return; /* waits to be freed by iser_rdma_reap */
    iser_stay_learn(rdma->shared->stay);
    iser_link_enter(&rdma->link);
    (void)rdma_turn(&rdma->link);
    iser_stay(rdma->shared->stay, &rdma->link, rdma_turn);
    iser_link_leave(&rdma->link);
}

static void rdma_poll(struct iser_link *link)
{
    iser_link_enter(link);
    (void)rdma_turn(link);
    iser_link_leave(link);
}

/* ---------------------------------------------------------------- the beginning */

/* Turns off CRC; a device decides for itself. */
static void rdma_spare_crc(const struct rdma *rdma)
{
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};

    if (itx_ep_get_mpa_params(rdma->ep, &mpa) != IT_SUCCESS)
        return;
    mpa.crc = IT_FALSE;
    (void)itx_ep_set_mpa_params(rdma->ep, &mpa);
}

static bool rdma_make_ep(struct rdma *rdma)
{
    it_ep_attributes_t attributes = {
        .max_dto_payload_size = RDMA_SLOT,
        .max_request_dtos = RDMA_REQUESTS,
        .max_recv_dtos = RDMA_RECEIVES,
        .max_send_segments = 1,
        .max_recv_segments = 1,
        .srv.rc = {.max_rdma_read_segments = 1,
                   .max_rdma_write_segments = 1,
                   .rdma_read_ird = 1,
                   .rdma_read_ord = RDMA_DEPTH,
                   .hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE},
    };

    return itx_evd_create_mixed(rdma->shared->ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG,
                                IT_EVD_OVERFLOW_DEFAULT, RDMA_REQUESTS + RDMA_RECEIVES + 8,
                                IT_THRESHOLD_DISABLE, NULL, &rdma->evd, NULL) == IT_SUCCESS &&
           it_ep_rc_create(rdma->shared->pz, rdma->evd, rdma->evd, rdma->evd, IT_EP_NO_FLAG,
                           &attributes, &rdma->ep) == IT_SUCCESS &&
           it_evd_callback_attach(rdma->evd, rdma_events, rdma) == IT_SUCCESS;
}

static void rdma_reap(evutil_socket_t fd, short what, void *argument)
{
    struct rdma *rdma = argument;

    (void)fd;
    (void)what;
    iser_rdma_reap(rdma->shared);
}

static const struct iser_link_ops iser_rdma_ops = {
    .rdma = true,
    .send = rdma_send,
    .solicit = rdma_solicit,
    .respond = rdma_respond,
    .full_feature = rdma_full_feature,
    .drain = rdma_drain,
    .poll = rdma_poll,
    .discard = rdma_discard,
    .free = rdma_free,
};

struct iser_link *iser_rdma_new(struct iser_rdma_shared *shared, bool remote_invalidation)
{
    struct rdma *rdma = calloc(1, sizeof(*rdma));

    if (!rdma)
        return NULL;
    iser_link_init(&rdma->link, &iser_rdma_ops, shared->base);
    rdma->shared = shared;
    rdma->remote_invalidation = remote_invalidation;
    /* Cannot fail with valid arguments. */
    (void)event_assign(&rdma->reap, shared->base, -1, 0, rdma_reap, rdma);
    if (rdma_make_ep(rdma) &&
        rdma_region_make(rdma, &rdma->login, RDMA_LOGIN_RECEIVES, RDMA_LOGIN_SENDS)) {
        if (shared->no_crc)
            rdma_spare_crc(rdma);
        return &rdma->link;
    }
    rdma_discard(&rdma->link);
    rdma_free(&rdma->link);
    iser_rdma_reap(shared);
    return NULL;
}

it_ep_handle_t iser_rdma_endpoint(struct iser_link *link)
{
    return rdma_of(link)->ep;
}
