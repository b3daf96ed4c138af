/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/rdma.h"

#include <itx_api.h>

#include <stdlib.h>
#include <string.h>

/*
 * The region of messages: the first places are those of the receives, whose index is their cookie;
 * the last one holds the message to send.
 */
#define RECEIVES     4
#define OUTGOING     RECEIVES
#define PLACES       (RECEIVES + 1)
#define READ_DEPTH   8
#define EVENT_ROOM   (RDMA_DEPTH + RECEIVES)
#define CONNECT_ROOM 4

/* For a completion that is reported and wakes a waiting thread. */
static const it_dto_flags_t reported = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG;

static it_lmr_triplet_t place(const struct rdma *rdma, size_t index)
{
    return region_segment(&rdma->messages, index * MESSAGE_SIZE, MESSAGE_SIZE);
}

static bool post_receive(struct rdma *rdma, size_t index)
{
    it_lmr_triplet_t segment = place(rdma, index);

    return succeeded(it_post_recv(rdma->ep, &segment, 1, index, reported), "it_post_recv");
}

/* ---- Making and destroying ---------------------------------------------------------------- */

/* Adapters differ: asks for the port, and for the rights that the target of an RDMA Read needs. */
static bool ask_adapter(struct rdma *rdma)
{
    it_ia_info_t *info;

    if (!succeeded(it_ia_query(rdma->ia, &info), "it_ia_query"))
        return false;
    rdma->spigot = info->num_spigots > 0 ? info->spigot_info[0].spigot_id : 0;
    rdma->sink_privileges = IT_PRIV_LOCAL;
    if (info->rdma_read_requires_remote_write)
        rdma->sink_privileges |= IT_PRIV_REMOTE_WRITE;
    it_ia_info_free(info);
    return true;
}

static bool create_evd(struct rdma *rdma, it_event_type_t stream, size_t room, it_evd_handle_t *evd)
{
    return succeeded(it_evd_create(rdma->ia, stream, IT_EVD_OVERFLOW_DEFAULT, room,
                                   IT_THRESHOLD_DISABLE, NULL, evd, NULL),
                     "it_evd_create");
}

static bool create_endpoint(struct rdma *rdma)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_dto_payload_size = RDMA_CHUNK;
    attributes.max_request_dtos = RDMA_DEPTH;
    attributes.max_recv_dtos = RECEIVES;
    attributes.max_send_segments = 1;
    attributes.max_recv_segments = 1;
    attributes.srv.rc.rdma_read_enable = IT_TRUE;
    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_read_segments = 1;
    attributes.srv.rc.max_rdma_write_segments = 1;
    attributes.srv.rc.rdma_read_ird = READ_DEPTH;
    attributes.srv.rc.rdma_read_ord = READ_DEPTH;
    attributes.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return succeeded(it_ep_rc_create(rdma->pz, rdma->requests, rdma->receives, rdma->connection,
                                     IT_EP_NO_FLAG, &attributes, &rdma->ep),
                     "it_ep_rc_create");
}

static bool create_messages(struct rdma *rdma)
{
    unsigned char *memory = memory_allocate((size_t)PLACES * MESSAGE_SIZE);

    if (memory == NULL) {
        complain("out of memory");
        return false;
    }
    if (!region_create(&rdma->messages, rdma->pz, memory, (size_t)PLACES * MESSAGE_SIZE,
                       IT_PRIV_LOCAL)) {
        free(memory);
        return false;
    }
    for (size_t index = 0; index < RECEIVES; index++)
        if (!post_receive(rdma, index))
            return false;
    return true;
}

static bool create_objects(struct rdma *rdma)
{
    return ask_adapter(rdma) && succeeded(it_pz_create(rdma->ia, &rdma->pz), "it_pz_create") &&
           create_evd(rdma, IT_DTO_EVENT_STREAM, EVENT_ROOM, &rdma->requests) &&
           create_evd(rdma, IT_DTO_EVENT_STREAM, EVENT_ROOM, &rdma->receives) &&
           create_evd(rdma, IT_CM_MSG_EVENT_STREAM, CONNECT_ROOM, &rdma->connection) &&
           create_endpoint(rdma) && create_messages(rdma);
}

bool rdma_open(struct rdma *rdma, const char *ia_name)
{
    memset(rdma, 0, sizeof(*rdma));
    if (!succeeded(it_ia_create(ia_name, 2, 1, &rdma->ia), "it_ia_create"))
        return false;
    if (create_objects(rdma))
        return true;
    rdma_close(rdma);
    return false;
}

void rdma_close(struct rdma *rdma)
{
    unsigned char *memory = rdma->messages.memory;

    /* Also destroys the endpoint, the dispatchers, the region and the zone. */
    if (rdma->ia != NULL)
        (void)succeeded(it_ia_free(rdma->ia), "it_ia_free");
    free(memory);
    memset(rdma, 0, sizeof(*rdma));
}

/* ---- Events ------------------------------------------------------------------------------- */

bool rdma_wait_event(it_evd_handle_t evd, it_event_t *event)
{
    it_status_t status;

    do {
        status = it_evd_wait(evd, IT_TIMEOUT_INFINITE, event, NULL);
    } while (status == IT_ERR_INTERRUPT);
    return succeeded(status, "it_evd_wait");
}

/* Prints that a completion has failed, and why the connection ended if that is already known. */
static void explain_failure(struct rdma *rdma, const it_event_t *event)
{
    it_event_t reason;

    complain("%s: %s", itx_event_string(event->event_number),
             itx_dto_status_string(event->dto_cmpl.dto_status));
    if (it_evd_dequeue(rdma->connection, &reason) == IT_SUCCESS)
        complain("the connection has ended: %s", itx_event_string(reason.event_number));
}

static bool wait_completion(struct rdma *rdma, it_evd_handle_t evd, it_event_t *event)
{
    if (!rdma_wait_event(evd, event))
        return false;
    if (event->dto_cmpl.dto_status == IT_DTO_SUCCESS)
        return true;
    explain_failure(rdma, event);
    return false;
}

bool rdma_wait_request(struct rdma *rdma)
{
    it_event_t event;

    return wait_completion(rdma, rdma->requests, &event);
}

static bool wait_connection_event(struct rdma *rdma, it_event_type_t wanted)
{
    it_event_t event;

    if (!rdma_wait_event(rdma->connection, &event))
        return false;
    if (event.event_number == wanted)
        return true;
    if (event.event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT)
        complain("not connected: %s, code %d", itx_event_string(event.event_number),
                 (int)event.conn.reject_reason_code);
    else
        complain("unexpected: %s", itx_event_string(event.event_number));
    return false;
}

bool rdma_wait_connected(struct rdma *rdma)
{
    return wait_connection_event(rdma, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

bool rdma_wait_disconnected(struct rdma *rdma)
{
    return wait_connection_event(rdma, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

bool rdma_disconnect(struct rdma *rdma)
{
    it_status_t status = it_ep_disconnect(rdma->ep, NULL, 0);

    /* The peer may have disconnected first; the event is the same. */
    if (status != IT_ERR_INVALID_EP_STATE && !succeeded(status, "it_ep_disconnect"))
        return false;
    return rdma_wait_disconnected(rdma);
}

/* ---- Messages ----------------------------------------------------------------------------- */

bool rdma_send(struct rdma *rdma, const struct message *message)
{
    it_lmr_triplet_t segment = place(rdma, OUTGOING);

    message_encode(message, rdma->messages.memory + (size_t)OUTGOING * MESSAGE_SIZE);
    if (!succeeded(it_post_send(rdma->ep, &segment, 1, OUTGOING, reported), "it_post_send"))
        return false;
    /* Only now may the bytes change again. */
    return rdma_wait_request(rdma);
}

bool rdma_receive(struct rdma *rdma, enum message_kind kind, struct message *message)
{
    it_event_t event;
    size_t index;

    if (!wait_completion(rdma, rdma->receives, &event))
        return false;
    index = (size_t)event.dto_cmpl.cookie;
    if (event.dto_cmpl.transferred_length != MESSAGE_SIZE) {
        complain("the peer sent a message of %u bytes",
                 (unsigned int)event.dto_cmpl.transferred_length);
        return false;
    }
    message_decode(rdma->messages.memory + index * MESSAGE_SIZE, message);
    if (message->kind != kind) {
        complain("the peer sent \"%s\" in place of \"%s\"", message_name(message->kind),
                 message_name(kind));
        return false;
    }
    return post_receive(rdma, index);
}

bool rdma_advertise(struct rdma *rdma, const struct region *region, size_t length)
{
    struct message message = {
        .kind = MESSAGE_BUFFER,
        .key = region->key,
        .address = it_make_rdma_addr_absolute(region->memory),
        .length = length,
    };

    return rdma_send(rdma, &message);
}
