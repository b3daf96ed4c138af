/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_connection.h"

#include "peer_answer.h"
#include "peer_names.h"
#include "peer_table.h"
#include "peer_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_DEFAULT 64u
#define QUEUE_MAX     65536u
#define SGE_DEFAULT   4u
#define INLINE_MAX    65536u

static struct peer_table peer_connections;

static struct peer_connection *peer_connection_named(struct peer_args *args, const char *name)
{
    struct peer_connection *connection = NULL;
    uint64_t number;

    if (peer_args_to_number(name, 1, UINT32_MAX, &number))
        connection = peer_table_find(&peer_connections, number);
    if (connection == NULL)
        peer_args_refuse(args, "no connection %.40s", name);
    return connection;
}

struct peer_connection *peer_connection_at(struct peer_args *args, unsigned i)
{
    return peer_connection_named(args, args->position[i]);
}

struct peer_connection *peer_connection_option(struct peer_args *args)
{
    const char *name = peer_args_text(args, "conn");

    return name != NULL ? peer_connection_named(args, name) : NULL;
}

struct peer_connection *peer_connection_with_qp(struct peer_args *args, unsigned i)
{
    struct peer_connection *connection = peer_connection_at(args, i);

    if (connection == NULL || connection->id->qp != NULL)
        return connection;
    peer_args_refuse(args, "connection %u has no queue pair", connection->number);
    return NULL;
}

struct peer_device *peer_connection_pick_device(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_option(args);

    if (connection != NULL && peer_args_text(args, "dev") != NULL)
        peer_args_refuse(args, "conn and dev together");
    return connection != NULL ? connection->device : peer_device_pick(args);
}

struct peer_connection *peer_connection_add(struct rdma_cm_id *id, struct peer_event_queue *events,
                                            bool passive)
{
    struct peer_connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        peer_die("no memory");
    connection->id = id;
    connection->events = events;
    connection->device = peer_device_of(id->verbs);
    connection->passive = passive;
    peer_device_make_current(connection->device);
    connection->number = peer_table_add(&peer_connections, connection);
    return connection;
}

/* ---- Queue pair ----------------------------------------------------------------------------- */

static int peer_connection_destroy_queues(struct peer_connection *connection)
{
    int first = 0;
    int error;

    if (connection->cq != NULL) {
        first = peer_tally_gone(PEER_CQ, "ibv_destroy_cq", ibv_destroy_cq(connection->cq));
        connection->cq = NULL;
    }
    if (connection->channel != NULL) {
        error = peer_tally_gone(PEER_CHANNEL, "ibv_destroy_comp_channel",
                                ibv_destroy_comp_channel(connection->channel));
        first = first != 0 ? first : error;
        connection->channel = NULL;
    }
    return first;
}

/*
 * Makes one completion queue for both directions, with room for sizes that the provider rounds up.
 */
static bool peer_connection_create_queues(struct peer_connection *connection,
                                          const struct ibv_qp_cap *cap)
{
    struct ibv_context *context = connection->device->context;
    uint32_t entries = 2 * (cap->max_send_wr + cap->max_recv_wr) + 1;

    connection->channel = ibv_create_comp_channel(context);
    if (connection->channel == NULL) {
        peer_answer_errno("ibv_create_comp_channel", errno);
        return false;
    }
    peer_tally_made(PEER_CHANNEL);
    connection->cq = ibv_create_cq(context, (int)entries, connection, connection->channel, 0);
    if (connection->cq == NULL) {
        peer_answer_errno("ibv_create_cq", errno);
        return false;
    }
    peer_tally_made(PEER_CQ);
    return true;
}

static bool peer_connection_create_qp(struct peer_connection *connection,
                                      const struct ibv_qp_cap *cap)
{
    struct ibv_pd *pd = peer_device_pd(connection->device);
    struct ibv_qp_init_attr attributes;

    if (pd == NULL || !peer_connection_create_queues(connection, cap))
        return false;
    memset(&attributes, 0, sizeof(attributes));
    attributes.send_cq = connection->cq;
    attributes.recv_cq = connection->cq;
    attributes.cap = *cap;
    attributes.qp_type = IBV_QPT_RC;
    if (rdma_create_qp(connection->id, pd, &attributes) != 0) {
        peer_answer_errno("rdma_create_qp", errno);
        return false;
    }
    peer_tally_made(PEER_QP);
    connection->cap = *cap;
    return true;
}

static bool peer_connection_setup(struct peer_connection *connection, const struct ibv_qp_cap *cap)
{
    if (peer_connection_create_qp(connection, cap))
        return true;
    (void)peer_connection_destroy_queues(connection);
    return false;
}

bool peer_connection_ensure_qp(struct peer_connection *connection)
{
    const struct ibv_qp_cap cap = {QUEUE_DEFAULT, QUEUE_DEFAULT, SGE_DEFAULT, SGE_DEFAULT, 0};

    return connection->id->qp != NULL || peer_connection_setup(connection, &cap);
}

/* ---- End ------------------------------------------------------------------------------------ */

int peer_connection_destroy(struct peer_connection *connection)
{
    int first;
    int error;

    peer_complete_free(&connection->complete);
    if (connection->id->qp != NULL) {
        /* This call reports no error. If it fails, the completion queue cannot be destroyed. */
        rdma_destroy_qp(connection->id);
        (void)peer_tally_gone(PEER_QP, "rdma_destroy_qp", 0);
    }
    first = peer_connection_destroy_queues(connection);
    error = peer_event_destroy_id(connection->id, connection->events);
    peer_table_remove(&peer_connections, connection->number);
    free(connection);
    return first != 0 ? first : error;
}

void peer_connection_destroy_all(void)
{
    for (unsigned number = 1; number <= peer_connections.room; number++) {
        struct peer_connection *connection = peer_table_find(&peer_connections, number);

        if (connection != NULL)
            (void)peer_connection_destroy(connection);
    }
    peer_table_free(&peer_connections);
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* setup C [sq=N] [rq=N] [sge=N] [inline=N] */
void peer_connection_setup_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_at(args, 0);
    struct ibv_qp_cap cap;

    cap.max_send_wr = (uint32_t)peer_args_option(args, "sq", QUEUE_DEFAULT, 1, QUEUE_MAX);
    cap.max_recv_wr = (uint32_t)peer_args_option(args, "rq", QUEUE_DEFAULT, 1, QUEUE_MAX);
    cap.max_send_sge = (uint32_t)peer_args_option(args, "sge", SGE_DEFAULT, 1, UINT16_MAX);
    cap.max_recv_sge = cap.max_send_sge;
    cap.max_inline_data = (uint32_t)peer_args_option(args, "inline", 0, 0, INLINE_MAX);
    if (connection != NULL && connection->id->qp != NULL)
        peer_args_refuse(args, "connection %u has a queue pair", connection->number);
    if (!peer_args_refused(args) && peer_connection_setup(connection, &cap))
        peer_answer("ok");
}

/* wait C EVENT timeout=MS */
void peer_connection_wait_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_at(args, 0);
    int64_t deadline = peer_args_deadline(args);
    enum rdma_cm_event_type type = RDMA_CM_EVENT_DISCONNECTED;
    struct peer_event *event;

    if (!peer_name_is_event(args->position[1], &type))
        peer_args_refuse(args, "no event %.40s", args->position[1]);
    if (peer_args_refused(args))
        return;
    event = peer_event_wait(connection->events, deadline);
    if (event != NULL && event->type == type)
        peer_answer("ok status=%d", event->status);
    else
        peer_event_answer_other(event);
    peer_event_free(event);
}

/* disconnect C */
void peer_connection_disconnect_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_at(args, 0);

    if (peer_args_refused(args))
        return;
    if (rdma_disconnect(connection->id) != 0)
        peer_answer_errno("rdma_disconnect", errno);
    else
        peer_answer("ok");
}

/* state C */
void peer_connection_state_command(struct peer_args *args)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr init_attributes;
    int error;

    if (peer_args_refused(args))
        return;
    memset(&attributes, 0, sizeof(attributes));
    error = ibv_query_qp(connection->id->qp, &attributes, IBV_QP_STATE, &init_attributes);
    if (error != 0)
        peer_answer_errno("ibv_query_qp", error);
    else
        peer_answer("ok state=%s", peer_name_state(attributes.qp_state));
}
