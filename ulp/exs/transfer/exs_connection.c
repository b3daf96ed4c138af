/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and freeing connections. */
#include "transfer/exs_connection.h"

#include "adapter/exs_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOT_MEMORY ((size_t)2 * EXS_SLOTS * EXS_SLOT_OCTETS)
/* Completions of receives and Sends, failed Writes, and connection events. */
#define EVENTS (EXS_SLOTS + 2 * EXS_SLOTS + 8)

/* ---- Memory --------------------------------------------------------------------------------- */

static void *map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/*
 * On a device the ring is registered when the peer asks for it. Packets are never written into it.
 */
static bool make_ring(struct exs_connection *connection, size_t size)
{
    connection->ring_size = size < EXS_RING_MAX ? size : EXS_RING_MAX;
    if (size == 0)
        return true;
    connection->ring = map(connection->ring_size);
    if (!connection->ring)
        return false;
    return exs_adapter_get()->pins || !exs_is_stream(connection) || exs_ring_register(connection);
}

static bool make_slots(struct exs_connection *connection)
{
    connection->slots = map(SLOT_MEMORY);
    return connection->slots &&
           it_lmr_create(exs_adapter_get()->pz, connection->slots, NULL, SLOT_MEMORY,
                         IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                         &connection->slots_lmr, NULL) == IT_SUCCESS;
}

/* ---- The endpoint --------------------------------------------------------------------------- */

static bool make_endpoint(struct exs_connection *connection)
{
    struct exs_adapter *adapter = exs_adapter_get();
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};
    it_ep_attributes_t attributes = {.max_dto_payload_size = EXS_SLOT_OCTETS,
                                     .max_request_dtos = (size_t)2 * EXS_SLOTS,
                                     .max_recv_dtos = EXS_SLOTS,
                                     .max_send_segments = 1,
                                     .max_recv_segments = 1};

    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_write_segments = 1;
    if (itx_evd_create_mixed(adapter->ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG, (it_evd_flags_t)0,
                             EVENTS, IT_THRESHOLD_DISABLE, adapter->aevd, &connection->evd,
                             NULL) != IT_SUCCESS ||
        it_set_consumer_context((it_handle_t)connection->evd,
                                (it_context_t){.ptr = &connection->source}) != IT_SUCCESS ||
        it_ep_rc_create(adapter->pz, connection->evd, connection->evd, connection->evd,
                        IT_EP_NO_FLAG, &attributes, &connection->ep) != IT_SUCCESS)
        return false;
    if (adapter->no_crc && itx_ep_get_mpa_params(connection->ep, &mpa) == IT_SUCCESS) {
        mpa.crc = IT_FALSE;
        (void)itx_ep_set_mpa_params(connection->ep, &mpa);
    }
    for (size_t i = 0; i < EXS_SLOTS; i++)
        exs_post_receive(connection, i);
    return !connection->failed;
}

static void ask(struct exs_errand *errand)
{
    struct exs_connection *connection =
        (struct exs_connection *)(void *)((char *)errand - offsetof(struct exs_connection, ask));
    struct exs_socket *socket = connection->socket;

    exs_socket_enter(socket);
    connection->ask_due = false;
    connection->may_ask = true;
    exs_connection_push(connection);
    connection->may_ask = false;
    connection->sends_level = connection->sends_open;
    exs_stream_in_settle(&connection->in);
    exs_socket_leave(socket);
}

static void *free_connection(void *argument)
{
    struct exs_connection *connection = argument;
    struct exs_socket *socket = connection->socket;

    exs_connection_free(connection);
    exs_socket_put(socket);
    return NULL;
}

/*
 * A device keeps the endpoint of an attempt that was given up until the peer has answered, and a
 * peer may take its time: a thread waits for it, so that the leader does not.
 */
static void reap(struct exs_errand *over)
{
    struct exs_connection *connection =
        (struct exs_connection *)(void *)((char *)over - offsetof(struct exs_connection, over));
    struct exs_socket *socket = connection->socket;

    exs_lock_take(&socket->lock);
    if (socket->connection == connection)
        socket->connection = NULL;
    exs_lock_drop(&socket->lock);
    exs_lead_forget_evd(connection->evd);
    if (connection->established || exs_thread_start(NULL, free_connection, connection) != 0)
        (void)free_connection(connection);
}

int exs_connection_new(struct exs_socket *socket,
                       void (*take)(struct exs_source *source, const it_event_t *events,
                                    size_t count),
                       struct exs_connection **result)
{
    struct exs_connection *connection = calloc(1, sizeof(*connection));

    if (!connection)
        return ENOMEM;
    connection->socket = socket;
    connection->source.take = take;
    connection->over.run = reap;
    connection->ask.run = ask;
    connection->tx_posted = connection->tx_done = connection->tx_signal = EXS_TX_FIRST;
    exs_flow_start(&connection->flow, EXS_SLOTS, EXS_CREDIT_DUE);
    if (!make_slots(connection) || !make_ring(connection, socket->options.stream_buffer) ||
        !make_endpoint(connection)) {
        exs_connection_free(connection);
        return ENOMEM;
    }
    exs_socket_hold(socket);
    *result = connection;
    return 0;
}

void exs_connection_free(struct exs_connection *connection)
{
    if (connection->ep)
        (void)it_ep_free(connection->ep);
    if (connection->evd)
        (void)it_evd_free(connection->evd);
    if (connection->slots_lmr)
        (void)it_lmr_free(connection->slots_lmr);
    if (connection->ring_lmr)
        (void)it_lmr_free(connection->ring_lmr);
    if (connection->slots)
        (void)munmap(connection->slots, SLOT_MEMORY);
    if (connection->ring)
        (void)munmap(connection->ring, connection->ring_size);
    free(connection->arrays[0]);
    free(connection->arrays[1]);
    free(connection);
}

/* ---- What both sides agree on --------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

void exs_connection_offer(const struct exs_connection *connection, struct exs_setup *setup)
{
    const struct exs_options *options = &connection->socket->options;

    *setup =
        (struct exs_setup){.packets = !exs_is_stream(connection),
                           .send_credits = (uint16_t)least(options->send_credits, EXS_CREDITS_MAX),
                           .recv_credits = (uint16_t)least(options->recv_credits, EXS_CREDITS_MAX),
                           .packet_copy_max = (uint32_t)options->packet_copy_max,
                           .ring = {.length = connection->ring_size,
                                    .addr = (uintptr_t)connection->ring,
                                    .stag = (uint32_t)connection->ring_key}};
}

static bool start_protocol(struct exs_connection *connection, const struct exs_setup *peer)
{
    uint32_t sends = (uint32_t)connection->send_credits;
    uint32_t receives = (uint32_t)connection->recv_credits;
    bool stream = exs_is_stream(connection);

    connection->arrays[0] =
        calloc(sends, stream ? sizeof(struct exs_advert) : sizeof(struct exs_packet_advert));
    connection->arrays[1] =
        calloc(receives, stream ? sizeof(struct exs_receive) : sizeof(struct exs_packet_receive));
    if (!connection->arrays[0] || !connection->arrays[1])
        return false;
    if (stream) {
        exs_stream_out_start(&connection->out, peer->ring.length, peer->ring.stag != 0, EXS_ASK_MIN,
                             connection->arrays[0], sends);
        exs_stream_in_start(&connection->in, connection->ring_size, EXS_ADVERT_MIN,
                            connection->arrays[1], receives);
    } else {
        exs_packet_out_start(&connection->packet_out, peer->ring.length, connection->arrays[0],
                             sends);
        exs_packet_in_start(&connection->packet_in, connection->ring_size,
                            EXS_INLINE_MAX - EXS_PACKET_HEAD + 1, connection->arrays[1], receives);
    }
    return true;
}

int exs_connection_agree(struct exs_connection *connection, const struct exs_setup *peer)
{
    struct exs_options *options = &connection->socket->options;

    if (peer->packets == exs_is_stream(connection) || peer->ring.length > EXS_RING_MAX)
        return EPROTO;
    options->stream_buffer = connection->ring_size;
    options->send_credits = least(options->send_credits, peer->recv_credits);
    options->recv_credits = least(options->recv_credits, peer->send_credits);
    options->packet_copy_max =
        least(options->packet_copy_max, (int)(peer->packet_copy_max & INT32_MAX));
    connection->send_credits = options->send_credits;
    connection->recv_credits = options->recv_credits;
    connection->peer_ring = peer->ring;
    return start_protocol(connection, peer) ? 0 : ENOMEM;
}
