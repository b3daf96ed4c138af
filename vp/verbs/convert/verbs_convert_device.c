/* SPDX-License-Identifier: BSD-2-Clause */
/* The RDMA connection of a conversion: between the addresses of the stream, for one peer only. */
#include "vp/verbs/convert/verbs_convert_private.h"

#include "vp/verbs/device/verbs_query.h"
#include "vp/verbs/device/verbs_sigpipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* Strangers cannot keep the right peer away: they are refused at once. */
#define CONVERT_BACKLOG 16

/* ---------------------------------------------------------------- properties of the device */

static uint8_t convert_port(const struct verbs_convert *convert)
{
    uint8_t port = verbs_port_of(convert->ia, (const struct sockaddr *)&convert->local);

    return port != 0 ? port : 1; /* the address is gone */
}

enum agree_kind verbs_convert_kind(const struct verbs_convert *convert)
{
    if (convert->ia->is_iwarp)
        return AGREE_IWARP;
    return verbs_port_is_ethernet(convert->ia, convert_port(convert)) ? AGREE_ROCE
                                                                      : AGREE_INFINIBAND;
}

void verbs_convert_tell_path(const struct verbs_convert *convert)
{
    it_net_addr_t remote;
    it_path_t path;
    size_t total = 0;

    /* The connection itself finds InfiniBand's path, by asking the subnet. */
    if (convert->agree.own.kind != AGREE_ROCE)
        return;
    (void)base_net_from_sockaddr(&convert->remote, &remote);
    if (verbs_paths(convert->ia->ual, convert_port(convert), &remote, 1, &path, &total) ==
            IT_SUCCESS &&
        total > 0)
        verbs_ep_set_path(convert->ep, &path);
}

/* ---------------------------------------------------------------- listening */

/*
 * Binds an id to the stream's own address, which the device must have. Returns NULL if that fails.
 */
static struct rdma_cm_id *convert_bind(struct verbs_convert *convert)
{
    struct sockaddr_storage local = convert->local;
    struct rdma_cm_id *id;
    int error;

    if (rdma_create_id(convert->ia->cm->channel, &id, convert, RDMA_PS_TCP) != 0) {
        convert->code = verbs_reason_of_errno(errno);
        return NULL;
    }
    base_net_set_port(&local, 0);
    error = rdma_bind_addr(id, (struct sockaddr *)&local) == 0 ? 0 : errno;
    if (error == 0 && !verbs_device_is_own(convert->ia, id))
        error = EADDRNOTAVAIL; /* another device has the address too, and rdma_cm prefers it */
    if (error == 0)
        return id;
    verbs_warn(convert->ia, "conversion: rdma_bind_addr", error);
    convert->code = verbs_reason_of_errno(error);
    (void)rdma_destroy_id(id); /* only bound: no event is pending */
    return NULL;
}

/* Returns 0 or errno. */
static int convert_listen_once(struct verbs_convert *convert)
{
    struct rdma_cm_id *id = convert_bind(convert);
    int error;

    if (!id)
        return EADDRNOTAVAIL;
    if (rdma_listen(id, CONVERT_BACKLOG) == 0) {
        convert->listener = id;
        return 0;
    }
    error = errno;
    (void)rdma_destroy_id(id); /* only bound: no event is pending */
    return error;
}

uint16_t verbs_convert_listen(struct verbs_convert *convert)
{
    unsigned tries = VERBS_PORT_TRIES;
    int error;

    /* rdma_cm chooses a port without asking TCP, but siw's ports are TCP ports too. */
    do {
        error = convert_listen_once(convert);
    } while (error == EADDRINUSE && --tries > 0);
    if (error == 0)
        return ntohs(rdma_get_src_port(convert->listener));
    verbs_warn(convert->ia, "conversion: cannot listen", error);
    return 0;
}

static void convert_stop_listening(struct verbs_convert *convert)
{
    if (convert->listener)
        (void)rdma_destroy_id(convert->listener); /* fails if the device is gone, but frees */
    convert->listener = NULL;
}

/* ---------------------------------------------------------------- the connection */

/*
 * Creates the connection; its events come to the conversion. Returns NULL if memory runs out: then
 * the caller keeps the id.
 */
static struct verbs_conn *convert_conn(struct verbs_convert *convert, struct rdma_cm_id *id,
                                       const struct verbs_conn_role *role)
{
    struct verbs_conn *conn = verbs_conn_new(convert->ia->cm, role);

    convert->code = IT_CN_REJ_RESOURCES;
    if (!conn)
        return NULL;
    verbs_conn_own(conn, id);
    conn->convert = convert;
    conn->ep = convert->ep;
    conn->ep->conn = conn;
    convert->conn = conn;
    conn->path = (it_path_t){.spigot_id = id->port_num, .timeout = VERBS_CM_ATTEMPT_US};
    conn->private_length = agree_key(&convert->agree, conn->private_data);
    verbs_qp_wanted(conn, convert->ep);
    return conn;
}

bool verbs_convert_connect(struct verbs_convert *convert)
{
    struct rdma_cm_id *id = convert_bind(convert);
    struct sockaddr_storage remote = convert->remote;
    struct verbs_conn *conn;

    if (!id)
        return false;
    conn = convert_conn(convert, id, &verbs_initiator);
    if (!conn) {
        (void)rdma_destroy_id(id); /* only bound: no event is pending */
        return false;
    }
    conn->any_port = true;
    base_net_set_port(&remote, htons(convert->agree.peer.port));
    convert->busy = true;
    verbs_connect_launch(conn, &remote);
    convert->busy = false;
    return convert->conn != NULL;
}

bool verbs_convert_accept(struct verbs_convert *convert)
{
    const struct verbs_cm_event *event = &convert->requested;
    struct rdma_cm_id *id = convert->request;
    struct verbs_conn *conn = convert_conn(convert, id, &verbs_responder);

    if (!conn)
        return false; /* verbs_convert_drop ends the request */
    convert->request = NULL;
    convert_stop_listening(convert);
    conn->peer_ird = event->initiator_depth;
    conn->peer_ord = event->responder_resources;
    verbs_path_of_id(conn, &conn->path);
    verbs_ep_set_path(convert->ep, &conn->path);
    verbs_qp_fill_param(conn, convert->ep);
    convert->busy = true;
    verbs_accept_answer(conn);
    convert->busy = false;
    return convert->conn != NULL;
}

void verbs_convert_drop(struct verbs_convert *convert)
{
    struct verbs_conn *conn = convert->conn;

    convert_stop_listening(convert);
    if (convert->request) {
        (void)verbs_sigpipe_reject(convert->request, NULL, 0); /* otherwise the next call rejects */
        (void)rdma_destroy_id(convert->request);
    }
    convert->request = NULL;
    convert->conn = NULL;
    if (!conn)
        return;
    conn->convert = NULL;
    verbs_conn_abandon(conn);
}
