/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns messages and Writes into posts; the ring. */
#include "transfer/exs_connection.h"

#include "include/exs.h"
#include "memory/exs_memory.h"

#include <string.h>

static unsigned char *tx_slot(const struct exs_connection *connection)
{
    return connection->slots +
           (size_t)(EXS_SLOTS + connection->tx_posted % EXS_SLOTS) * EXS_SLOT_OCTETS;
}

void exs_connection_fail(struct exs_connection *connection)
{
    connection->failed = true;
    if (connection->ep)
        (void)it_ep_disconnect(connection->ep, NULL, 0);
}

bool exs_post_room(const struct exs_connection *connection)
{
    return !connection->failed && connection->tx_posted - connection->tx_done < EXS_SLOTS - 1 &&
           exs_flow_room(&connection->flow) > 0;
}

unsigned char *exs_post_payload(const struct exs_connection *connection)
{
    return tx_slot(connection) + EXS_HEAD_OCTETS;
}

/* Returns the octets freed in this side's ring so far; every message carries the number. */
static uint32_t tell_freed(struct exs_connection *connection)
{
    return exs_is_stream(connection) ? exs_stream_in_tell(&connection->in)
                                     : exs_packet_in_tell(&connection->packet_in);
}

/*
 * Some Sends are signaled: every EXS_SIGNAL_EACH-th, and the one after the last octets of a Write.
 */
static bool is_signalled(const struct exs_connection *connection, const struct exs_message *message)
{
    return connection->tx_posted + 1 - connection->tx_signal >= EXS_SIGNAL_EACH ||
           (message->type == EXS_MESSAGE_DATA && !(message->flags & EXS_MESSAGE_INLINE));
}

/* A completion that only frees slots raises no notification, unless slots run out. */
static it_dto_flags_t completion_flags(const struct exs_connection *connection,
                                       const struct exs_message *message)
{
    bool written = message->type == EXS_MESSAGE_DATA && !(message->flags & EXS_MESSAGE_INLINE);

    if (written || connection->tx_posted - connection->tx_done >= EXS_SLOTS / 2)
        return (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG);
    return IT_COMPLETION_FLAG;
}

void exs_post_last(struct exs_connection *connection, it_dto_flags_t flag)
{
    if (!connection->last_waits)
        return;
    connection->last_waits = false;
    if (it_post_send(connection->ep, &connection->last_send, 1, connection->tx_posted,
                     (it_dto_flags_t)(connection->last_flags | flag)) != IT_SUCCESS)
        exs_connection_fail(connection);
}

/* Each Send is deferred until the next one, so that all but the last of a push are coalesced. */
void exs_post(struct exs_connection *connection, struct exs_message *message)
{
    unsigned char *slot = tx_slot(connection);
    bool signalled = is_signalled(connection, message);
    it_lmr_triplet_t segment = {.lmr = connection->slots_lmr, .addr.abs = slot};

    message->posted = exs_flow_send(&connection->flow);
    message->freed = tell_freed(connection);
    segment.length = exs_message_put(slot, message);
    if (message->flags & EXS_MESSAGE_INLINE)
        segment.length += message->count;
    segment.length += message->tail + (size_t)message->more * EXS_PLACE_OCTETS;
    exs_post_last(connection, IT_COALESCE_WR_FLAG);
    connection->tx_posted++;
    if (signalled)
        connection->tx_signal = connection->tx_posted;
    connection->last_send = segment;
    connection->last_flags = signalled ? completion_flags(connection, message) : (it_dto_flags_t)0;
    connection->last_waits = true;
}

/*
 * For unsignalled requests siw sends the pages themselves, and TCP may read them again even after
 * later requests have completed. So Writes on a device are signalled. Completions come in order, so
 * a Write's also covers earlier Sends.
 */
static it_dto_flags_t write_flags(void)
{
    return exs_adapter_get()->pins ? IT_COMPLETION_FLAG : IT_COALESCE_WR_FLAG;
}

bool exs_post_write(struct exs_connection *connection, struct exs_request *request,
                    const void *octets, size_t count, const struct exs_place *place)
{
    it_lmr_triplet_t segment = {.addr.abs = (void *)(uintptr_t)octets, .length = count};
    it_rmr_context_t key;

    exs_post_last(connection, IT_COALESCE_WR_FLAG);
    if (exs_memory_lmr(request->memory, &segment.lmr, &key) != 0 ||
        it_post_rdma_write(connection->ep, &segment, 1, connection->tx_posted, write_flags(),
                           place->addr, place->stag) != IT_SUCCESS) {
        exs_connection_fail(connection);
        return false;
    }
    request->busy = true;
    request->last_tx = connection->tx_posted + 1;
    return true;
}

void exs_post_receive(struct exs_connection *connection, size_t slot)
{
    it_lmr_triplet_t segment = {.lmr = connection->slots_lmr,
                                .addr.abs = connection->slots + slot * EXS_SLOT_OCTETS,
                                .length = EXS_SLOT_OCTETS};

    if (it_post_recv(connection->ep, &segment, 1, slot,
                     (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)) != IT_SUCCESS)
        exs_connection_fail(connection);
}

/* Receives complete in the order in which they are posted: slot after slot. */
void exs_post_spent(struct exs_connection *connection)
{
    struct exs_flow *flow = &connection->flow;

    for (uint32_t i = 0; i < flow->spent; i++)
        exs_post_receive(connection, (flow->posted + i) % EXS_SLOTS);
    exs_flow_restock(flow);
}

void exs_post_all(struct exs_connection *connection)
{
    if (!connection->last_waits)
        return;
    exs_post_last(connection, (it_dto_flags_t)0);
    exs_post_spent(connection);
}

void exs_connection_push_later(struct exs_connection *connection)
{
    if (connection->ask_due)
        return;
    connection->ask_due = true;
    exs_lead_errand(&connection->ask);
}

bool exs_connection_waits(struct exs_connection *connection)
{
    if (connection->may_ask || exs_lead_sleeps() ||
        (connection->socket->options.fd_flags & EXS_FD_NODELAY))
        return false;
    exs_connection_push_later(connection);
    return true;
}

bool exs_connection_may_ask(struct exs_connection *connection)
{
    if (!connection->may_ask)
        exs_connection_push_later(connection);
    return connection->may_ask;
}

/* ---- The ring ------------------------------------------------------------------------------- */

void exs_ring_put(struct exs_connection *connection, uint64_t position, const void *octets,
                  size_t count)
{
    size_t at = position % connection->ring_size;
    size_t first = connection->ring_size - at < count ? connection->ring_size - at : count;

    memcpy(connection->ring + at, octets, first);
    memcpy(connection->ring, (const char *)octets + first, count - first);
}

void exs_ring_get(const struct exs_connection *connection, uint64_t position, void *octets,
                  size_t count)
{
    size_t at = position % connection->ring_size;
    size_t first = connection->ring_size - at < count ? connection->ring_size - at : count;

    memcpy(octets, connection->ring + at, first);
    memcpy((char *)octets + first, connection->ring, count - first);
}

bool exs_ring_register(struct exs_connection *connection)
{
    struct exs_adapter *adapter = exs_adapter_get();

    return it_lmr_create(adapter->pz, connection->ring, NULL, connection->ring_size,
                         IT_ADDR_MODE_ABSOLUTE,
                         (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE), IT_LMR_FLAG_NONE, 0,
                         &connection->ring_lmr, &connection->ring_key) == IT_SUCCESS;
}
