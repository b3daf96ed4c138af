/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_connection.h"

#include "it_rping_text.h"

#include <itx_api.h>

#include <stdlib.h>
#include <string.h>

/*
 * The region of messages: the first places are those of the receives, whose index is their cookie;
 * the last one holds the message to send. The two sides take turns, so at most one message is under
 * way.
 */
#define RECEIVES      2
#define OUTGOING      RECEIVES
#define PLACES        (RECEIVES + 1)
#define REQUESTS      2
#define READS         1 /* outstanding at once, in both directions */
#define PROGRESS_ROOM 4

/* For a completion that is reported and wakes a waiting thread. */
static const it_dto_flags_t reported = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG;

static unsigned char *place(const struct connection *connection, size_t index)
{
    return connection->messages.memory + index * RPING_MESSAGE_SIZE;
}

static bool post_receive(struct connection *connection, size_t index)
{
    it_lmr_triplet_t segment =
        region_segment(&connection->messages, index * RPING_MESSAGE_SIZE, RPING_MESSAGE_SIZE);

    return succeeded(it_post_recv(connection->ep, &segment, 1, index, reported), "it_post_recv");
}

/* ---- Making and destroying ---------------------------------------------------------------- */

static bool create_evd(const struct adapter *adapter, it_event_type_t stream, size_t room,
                       it_evd_handle_t *evd)
{
    return succeeded(it_evd_create(adapter->ia, stream, IT_EVD_OVERFLOW_DEFAULT, room,
                                   IT_THRESHOLD_DISABLE, NULL, evd, NULL),
                     "it_evd_create");
}

static bool create_endpoint(struct connection *connection, const struct adapter *adapter)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_dto_payload_size = RPING_SIZE_MAX;
    attributes.max_request_dtos = REQUESTS;
    attributes.max_recv_dtos = RECEIVES;
    attributes.max_send_segments = 1;
    attributes.max_recv_segments = 1;
    attributes.srv.rc.rdma_read_enable = IT_TRUE;
    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_read_segments = 1;
    attributes.srv.rc.max_rdma_write_segments = 1;
    attributes.srv.rc.rdma_read_ird = READS;
    attributes.srv.rc.rdma_read_ord = READS;
    attributes.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return succeeded(it_ep_rc_create(adapter->pz, connection->requests, connection->receives,
                                     connection->progress, IT_EP_NO_FLAG, &attributes,
                                     &connection->ep),
                     "it_ep_rc_create");
}

static bool create_messages(struct connection *connection, const struct adapter *adapter)
{
    unsigned char *memory = memory_allocate(PLACES * RPING_MESSAGE_SIZE);

    if (memory == NULL) {
        complain("out of memory");
        return false;
    }
    if (!region_create(&connection->messages, adapter->pz, memory, PLACES * RPING_MESSAGE_SIZE,
                       IT_PRIV_LOCAL)) {
        free(memory);
        return false;
    }
    for (size_t index = 0; index < RECEIVES; index++)
        if (!post_receive(connection, index))
            return false;
    return true;
}

bool connection_open(struct connection *connection, const struct adapter *adapter)
{
    memset(connection, 0, sizeof(*connection));
    if (create_evd(adapter, IT_DTO_EVENT_STREAM, REQUESTS, &connection->requests) &&
        create_evd(adapter, IT_DTO_EVENT_STREAM, RECEIVES, &connection->receives) &&
        create_evd(adapter, IT_CM_MSG_EVENT_STREAM, PROGRESS_ROOM, &connection->progress) &&
        create_endpoint(connection, adapter) && create_messages(connection, adapter))
        return true;
    connection_close(connection);
    return false;
}

static void free_evd(it_evd_handle_t evd)
{
    if (evd != NULL)
        (void)succeeded(it_evd_free(evd), "it_evd_free");
}

void connection_close(struct connection *connection)
{
    unsigned char *memory = connection->messages.memory;

    if (connection->ep != NULL)
        (void)succeeded(it_ep_free(connection->ep), "it_ep_free");
    region_free(&connection->messages);
    free(memory);
    free_evd(connection->requests);
    free_evd(connection->receives);
    free_evd(connection->progress);
    memset(connection, 0, sizeof(*connection));
}

/* ---- The connection ----------------------------------------------------------------------- */

static const char *reject_reason(it_conn_reject_code_t code)
{
    switch (code) {
    case IT_CN_REJ_TIMEOUT:
        return "no answer in time";
    case IT_CN_REJ_BAD_PATH:
        return "the address cannot be reached";
    case IT_CN_REJ_BAD_ORD:
        return "read depths do not fit";
    case IT_CN_REJ_RESOURCES:
        return "out of resources";
    case IT_CN_REJ_BAD_CONN_PARMS:
        return "the peer does not understand, or speaks another protocol";
    default:
        return "nobody listens there, or the peer closed the connection";
    }
}

bool connection_wait_established(struct connection *connection)
{
    it_event_t event;

    if (!rdma_wait_event(connection->progress, &event))
        return false;
    if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
        trace("connected; %u RDMA Reads at once from here, %u from the peer",
              (unsigned int)event.conn.rdma_read_ord, (unsigned int)event.conn.rdma_read_ird);
        return true;
    }
    connection->over = true;
    if (event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT)
        complain("not connected: %s", reject_reason(event.conn.reject_reason_code));
    else
        complain("not connected: %s", itx_event_string(event.event_number));
    return false;
}

/* Waits for the single event that reports how a connection has ended. */
static bool wait_end(struct connection *connection, it_event_t *event)
{
    connection->over = true;
    return rdma_wait_event(connection->progress, event);
}

bool connection_disconnect(struct connection *connection)
{
    it_status_t status;
    it_event_t event;

    if (connection->over)
        return true;
    status = it_ep_disconnect(connection->ep, NULL, 0);
    /* The peer may have disconnected first; the event is the same. */
    if (status != IT_ERR_INVALID_EP_STATE && !succeeded(status, "it_ep_disconnect"))
        return false;
    if (!wait_end(connection, &event))
        return false;
    trace("the connection has ended: %s", itx_event_string(event.event_number));
    if (event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT)
        return true;
    complain("unexpected: %s", itx_event_string(event.event_number));
    return false;
}

/*
 * A completion has failed, so the connection is over: prints the reason, unless the peer has
 * disconnected.
 */
static enum connection_news explain_failure(struct connection *connection, const it_event_t *failed)
{
    it_event_t event;

    if (!wait_end(connection, &event))
        return CONNECTION_FAILED;
    trace("the connection has ended: %s", itx_event_string(event.event_number));
    if (event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT &&
        failed->dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED)
        return CONNECTION_DISCONNECTED;
    complain("%s: %s; the connection has ended: %s", itx_event_string(failed->event_number),
             itx_dto_status_string(failed->dto_cmpl.dto_status),
             itx_event_string(event.event_number));
    return CONNECTION_FAILED;
}

/* ---- Messages and data -------------------------------------------------------------------- */

enum connection_news connection_receive(struct connection *connection, struct rping_buffer *said)
{
    it_event_t event;
    size_t index;

    if (!rdma_wait_event(connection->receives, &event))
        return CONNECTION_FAILED;
    if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
        return explain_failure(connection, &event);
    if (event.dto_cmpl.transferred_length != RPING_MESSAGE_SIZE) {
        complain("the peer sent a message of %u bytes; rping's have %zu",
                 (unsigned int)event.dto_cmpl.transferred_length, RPING_MESSAGE_SIZE);
        return CONNECTION_FAILED;
    }
    index = (size_t)event.dto_cmpl.cookie;
    rping_message_decode(place(connection, index), said);
    trace("received: address 0x%llx, key 0x%lx, length %lu", (unsigned long long)said->address,
          (unsigned long)said->key, (unsigned long)said->length);
    return post_receive(connection, index) ? CONNECTION_MESSAGE : CONNECTION_FAILED;
}

/* Waits for the completion of the request: CONNECTION_MESSAGE if it is a success. */
static enum connection_news wait_request(struct connection *connection)
{
    it_event_t event;

    if (!rdma_wait_event(connection->requests, &event))
        return CONNECTION_FAILED;
    if (event.dto_cmpl.dto_status == IT_DTO_SUCCESS)
        return CONNECTION_MESSAGE;
    return explain_failure(connection, &event);
}

static bool is_complete(enum connection_news news)
{
    if (news == CONNECTION_DISCONNECTED)
        complain("the peer disconnected in the middle of a ping");
    return news == CONNECTION_MESSAGE;
}

static enum connection_news send_message(struct connection *connection,
                                         const struct rping_buffer *said)
{
    it_lmr_triplet_t segment =
        region_segment(&connection->messages, OUTGOING * RPING_MESSAGE_SIZE, RPING_MESSAGE_SIZE);

    rping_message_encode(said, place(connection, OUTGOING));
    if (!succeeded(it_post_send(connection->ep, &segment, 1, OUTGOING, reported), "it_post_send"))
        return CONNECTION_FAILED;
    trace("sent: address 0x%llx, key 0x%lx, length %lu", (unsigned long long)said->address,
          (unsigned long)said->key, (unsigned long)said->length);
    /* Only after that may the bytes change again. */
    return wait_request(connection);
}

bool connection_send(struct connection *connection, const struct rping_buffer *said)
{
    return is_complete(send_message(connection, said));
}

bool connection_read(struct connection *connection, const struct region *region,
                     const struct rping_buffer *from)
{
    it_lmr_triplet_t segment = region_segment(region, 0, from->length);

    if (!succeeded(
            it_post_rdma_read(connection->ep, &segment, 1, 0, reported, from->address, from->key),
            "it_post_rdma_read") ||
        !is_complete(wait_request(connection)))
        return false;
    trace("read %lu bytes", (unsigned long)from->length);
    return true;
}

enum connection_news connection_write_and_send(struct connection *connection,
                                               const struct region *region, size_t length,
                                               const struct rping_buffer *to,
                                               const struct rping_buffer *said)
{
    it_lmr_triplet_t segment = region_segment(region, 0, length);

    /*
     * The Write needs no wait: the message arrives after it. It has no completion when it succeeds;
     * if it fails, its completion comes in place of the Send's.
     */
    if (!succeeded(it_post_rdma_write(connection->ep, &segment, 1, 0, 0, to->address, to->key),
                   "it_post_rdma_write"))
        return CONNECTION_FAILED;
    trace("writing %zu bytes", length);
    return send_message(connection, said);
}
