/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_establish.h"

#include "peer_address.h"
#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_connection.h"
#include "peer_event.h"

#include <errno.h>
#include <string.h>

/* The number of Reads each way unless the command says one or the device can do less. */
#define READS_DEFAULT 16

/* The parameters of a connection with their private data. */
struct peer_establish {
    struct rdma_conn_param parameters;
    uint8_t private_data[UINT8_MAX];
};

static void peer_establish_parse(struct peer_args *args, uint8_t ird, uint8_t ord,
                                 struct peer_establish *establish)
{
    struct rdma_conn_param *parameters = &establish->parameters;

    memset(parameters, 0, sizeof(*parameters));
    parameters->private_data = establish->private_data;
    parameters->private_data_len = (uint8_t)peer_args_hex(args, "pd", establish->private_data,
                                                          sizeof(establish->private_data));
    parameters->responder_resources = (uint8_t)peer_args_option(args, "ird", ird, 0, UINT8_MAX);
    parameters->initiator_depth = (uint8_t)peer_args_option(args, "ord", ord, 0, UINT8_MAX);
    /* Where these have a meaning, 7 asks for the maximum. */
    parameters->retry_count = 7;
    parameters->rnr_retry_count = 7;
}

static struct peer_connection *peer_establish_connection(struct peer_args *args, bool passive)
{
    struct peer_connection *connection = peer_connection_at(args, 0);

    if (connection == NULL || connection->passive == passive)
        return connection;
    peer_args_refuse(args, "connection %u is %s", connection->number,
                     passive ? "not from a request" : "from a request");
    return NULL;
}

/* ---- Active --------------------------------------------------------------------------------- */

/* Waits for the event that ends a step of resolution. Returns false after an answer. */
static bool peer_establish_step(struct peer_event_queue *events, enum rdma_cm_event_type type,
                                int64_t deadline)
{
    struct peer_event *event = peer_event_wait(events, deadline);
    bool done = event != NULL && event->type == type;

    if (!done)
        peer_event_answer_other(event);
    peer_event_free(event);
    return done;
}

static bool peer_establish_resolve(struct rdma_cm_id *id, struct peer_event_queue *events,
                                   struct sockaddr *from, struct sockaddr *to, int timeout_ms)
{
    int64_t deadline = peer_clock_deadline((uint64_t)timeout_ms);

    if (rdma_resolve_addr(id, from, to, timeout_ms) != 0) {
        peer_answer_errno("rdma_resolve_addr", errno);
        return false;
    }
    if (!peer_establish_step(events, RDMA_CM_EVENT_ADDR_RESOLVED, deadline))
        return false;
    if (rdma_resolve_route(id, timeout_ms) != 0) {
        peer_answer_errno("rdma_resolve_route", errno);
        return false;
    }
    return peer_establish_step(events, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline);
}

/* resolve ADDRESS PORT [from=ADDRESS] [timeout=MS] */
void peer_establish_resolve_command(struct peer_args *args)
{
    uint64_t port = peer_args_number(args, 1, 1, UINT16_MAX);
    int timeout_ms =
        (int)peer_args_option(args, "timeout", PEER_TIMEOUT_DEFAULT_MS, 0, PEER_TIMEOUT_MAX_MS);
    const char *from_text = peer_args_text(args, "from");
    struct sockaddr *from = NULL;
    struct sockaddr_storage from_address;
    struct sockaddr_storage to;
    struct peer_event_queue *events;
    struct rdma_cm_id *id;

    peer_address_parse(args, args->position[0], port, &to);
    if (from_text != NULL) {
        peer_address_parse(args, from_text, 0, &from_address);
        from = (struct sockaddr *)&from_address;
    }
    if (peer_args_refused(args))
        return;
    id = peer_event_create_id(&events);
    if (id == NULL)
        return;
    if (peer_establish_resolve(id, events, from, (struct sockaddr *)&to, timeout_ms))
        peer_answer("ok conn=%u", peer_connection_add(id, events, false)->number);
    else
        (void)peer_event_destroy_id(id, events);
}

static uint8_t peer_establish_default(int device_max)
{
    return (uint8_t)(device_max < READS_DEFAULT ? device_max : READS_DEFAULT);
}

static void peer_establish_answer_outcome(const struct peer_event *event)
{
    if (event != NULL && event->type == RDMA_CM_EVENT_ESTABLISHED) {
        peer_answer("ok ird=%u ord=%u pd=", event->ird, event->ord);
        peer_event_answer_private_data(event);
        return;
    }
    peer_event_answer_other(event);
    if (event != NULL && event->type == RDMA_CM_EVENT_REJECTED) {
        peer_answer(" pd=");
        peer_event_answer_private_data(event);
    }
}

/* connect C [ird=N] [ord=N] [pd=HEX] [timeout=MS] */
void peer_establish_connect_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_establish_connection(args, false);
    int64_t deadline = peer_args_deadline(args);
    struct ibv_device_attr device;
    struct peer_establish establish;
    struct peer_event *event;

    memset(&device, 0, sizeof(device));
    if (connection != NULL)
        (void)ibv_query_device(connection->device->context, &device);
    peer_establish_parse(args, peer_establish_default(device.max_qp_rd_atom),
                         peer_establish_default(device.max_qp_init_rd_atom), &establish);
    if (peer_args_refused(args) || !peer_connection_ensure_qp(connection))
        return;
    if (rdma_connect(connection->id, &establish.parameters) != 0) {
        peer_answer_errno("rdma_connect", errno);
        return;
    }
    event = peer_event_wait(connection->events, deadline);
    peer_establish_answer_outcome(event);
    peer_event_free(event);
}

/* ---- Passive -------------------------------------------------------------------------------- */

/* accept C [ird=N] [ord=N] [pd=HEX] [timeout=MS] */
void peer_establish_accept_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_establish_connection(args, true);
    int64_t deadline = peer_args_deadline(args);
    struct peer_establish establish;

    peer_establish_parse(args, connection != NULL ? connection->request_ird : 0,
                         connection != NULL ? connection->request_ord : 0, &establish);
    if (peer_args_refused(args) || !peer_connection_ensure_qp(connection))
        return;
    if (rdma_accept(connection->id, &establish.parameters) != 0) {
        peer_answer_errno("rdma_accept", errno);
        return;
    }
    if (peer_establish_step(connection->events, RDMA_CM_EVENT_ESTABLISHED, deadline))
        peer_answer("ok");
}

/* reject C [pd=HEX] */
void peer_establish_reject_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_establish_connection(args, true);
    uint8_t private_data[UINT8_MAX];
    uint8_t len = (uint8_t)peer_args_hex(args, "pd", private_data, sizeof(private_data));

    if (peer_args_refused(args))
        return;
    if (rdma_reject(connection->id, private_data, len) != 0)
        peer_answer_errno("rdma_reject", errno);
    else
        peer_answer("ok");
}
