/* SPDX-License-Identifier: BSD-2-Clause */
/* Posts messages and receives. */
#include "connection/sdp_object.h"

#include <sys/mman.h>
#include <unistd.h>

static unsigned char *head_of(const struct sdp_connection *connection, uint32_t number)
{
    return connection->memory + (size_t)(number % SDP_HEADS) * SDP_HEAD_STRIDE;
}

unsigned char *sdp_slot(const struct sdp_connection *connection, uint32_t slot)
{
    return connection->receives + (size_t)slot * connection->stride;
}

bool sdp_post_room(const struct sdp_connection *connection)
{
    return connection->tx_posted - connection->tx_done < SDP_HEADS;
}

/* Looks at what flags_of looks at, for all messages of the call. */
bool sdp_post_completes(const struct sdp_connection *connection, size_t octets)
{
    return connection->tx_posted + 1 - connection->tx_signal >= SDP_SIGNAL_EACH ||
           connection->tx_posted + 1 - connection->tx_done >= SDP_HEADS / 2 ||
           sdp_ring_used(connection) + octets >= connection->send_buffer / 2;
}

/* A completion that only frees heads raises no notification, unless heads run out. */
static it_dto_flags_t flags_of(struct sdp_connection *connection, const struct sdp_message *message)
{
    bool last = message->mid == SDP_DISCONN || message->mid == SDP_ABORT_CONN ||
                message->mid == SDP_RDMA_WR_COMPL || message->mid == SDP_SRC_AVAIL;
    bool short_of_heads = connection->tx_posted - connection->tx_done >= SDP_HEADS / 2;
    bool short_of_ring = sdp_ring_used(connection) >= connection->send_buffer / 2;

    if (!last && !short_of_ring && !short_of_heads &&
        connection->tx_posted - connection->tx_signal < SDP_SIGNAL_EACH)
        return (it_dto_flags_t)0;
    connection->tx_signal = connection->tx_posted;
    return last || short_of_heads || short_of_ring
               ? (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)
               : IT_COMPLETION_FLAG;
}

/* What it_post_send takes. */
struct request {
    it_lmr_triplet_t segments[2]; /* head and payload */
    size_t count;
    it_dto_flags_t flags;
};

static struct request request_of(struct sdp_connection *connection, size_t head_octets,
                                 it_lmr_handle_t lmr, const unsigned char *from, uint32_t octets,
                                 it_dto_flags_t flags)
{
    connection->counters.messages_sent++;
    /* On a device this would wake its thread too, while another thread waits. */
    if (!sdp_adapter_get()->device)
        flags = (it_dto_flags_t)(flags | IT_SOLICITED_WAIT_FLAG);
    return (struct request){
        .segments = {{.lmr = connection->lmr,
                      .addr.abs = head_of(connection, connection->tx_posted),
                      .length = head_octets},
                     {.lmr = lmr, .addr.abs = (void *)(uintptr_t)from, .length = octets}},
        .count = octets > 0 ? 2 : 1,
        .flags = flags};
}

static void post(struct sdp_connection *connection, const struct request *request)
{
    if (it_post_send(connection->ep, request->segments, request->count, connection->tx_posted,
                     request->flags) != IT_SUCCESS)
        connection->post_failed = true;
}

static struct request message_of(struct sdp_connection *connection,
                                 const struct sdp_message *message, it_lmr_handle_t lmr,
                                 const unsigned char *from)
{
    unsigned char *head = head_of(connection, ++connection->tx_posted);
    size_t head_octets = sdp_message_put(head, message);

    connection->freed_by[connection->tx_posted % SDP_HEADS] = connection->tx_sent;
    if (message->mid == SDP_DISCONN || message->mid == SDP_ABORT_CONN)
        connection->tx_end = connection->tx_posted;
    return request_of(connection, head_octets, lmr, from, message->payload_octets,
                      flags_of(connection, message));
}

void sdp_post(struct sdp_connection *connection, const struct sdp_message *message,
              it_lmr_handle_t lmr, const unsigned char *from)
{
    const struct request request = message_of(connection, message, lmr, from);

    post(connection, &request);
}

void sdp_post_lent(struct sdp_connection *connection, const struct sdp_message *message,
                   const unsigned char *place)
{
    const struct request request = message_of(connection, message, connection->lmr, place);
    size_t copied = 0;

    if (itx_post_send_from(connection->ep, request.segments, request.count, connection->tx_posted,
                           request.flags, connection->lent, &copied) != IT_SUCCESS)
        connection->post_failed = true;
    connection->lent = NULL;
    connection->counters.direct_sent += message->payload_octets - copied;
}

void sdp_post_greeting(struct sdp_connection *connection)
{
    unsigned char *head = head_of(connection, ++connection->tx_posted);
    struct request request;
    size_t octets;

    connection->freed_by[connection->tx_posted % SDP_HEADS] = connection->tx_sent;
    octets = sdp_machine_greet(&connection->machine, &connection->own, head);
    request = request_of(connection, octets, NULL, NULL, 0, (it_dto_flags_t)0);
    post(connection, &request);
}

void sdp_post_receive(struct sdp_connection *connection, uint32_t slot)
{
    it_lmr_triplet_t segment = {.lmr = connection->lmr,
                                .addr.abs = sdp_slot(connection, slot),
                                .length = sdp_machine_post_size(&connection->machine)};

    if (it_post_recv(connection->ep, &segment, 1, slot,
                     (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG)) != IT_SUCCESS)
        connection->post_failed = true;
}

void sdp_forget_greeting(struct sdp_connection *connection, uint32_t slot)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    /*
     * It arrives in the first slot, the only one that surely begins with a page. A device would
     * still write to the old page.
     */
    if (slot == 0 && connection->stride >= page && !sdp_adapter_get()->device)
        (void)madvise(connection->receives, page, MADV_DONTNEED);
}
