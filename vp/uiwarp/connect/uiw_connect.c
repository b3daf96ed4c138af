/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side: TCP connect, and a second try with revision 1. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- addresses */

/*
 * Gets both addresses, of one IP version. The local one is the IA's, or any if the IA has all
 * interfaces.
 */
static it_status_t connect_addresses(const struct uiw_ia *ia, const it_path_t *path,
                                     it_net_addr_t *local, it_net_addr_t *remote)
{
    bool good = true;
    it_status_t status = IT_SUCCESS;

    if (!base_net_from_path(path, local, remote))
        return IT_ERR_INVALID_ADDRESS;
    base_net_unmap(local);
    base_net_unmap(remote);
    if (!base_net_is_peer(remote))
        return IT_ERR_INVALID_ADDRESS;
    if (base_net_is_any(local))
        *local = (it_net_addr_t){.addr_type = remote->addr_type};
    if (local->addr_type != remote->addr_type)
        return IT_ERR_INVALID_SOURCE_PATH;
    /* A local address in the path was checked: has_address. */
    if (base_net_is_any(local) && ia->interface[0] != '\0')
        /* The route may lead through another interface. */
        status = uiw_net_source(ia->interface, remote, local, &good);
    if (status != IT_SUCCESS)
        return status;
    return good ? IT_SUCCESS : IT_ERR_INVALID_SOURCE_PATH;
}

/* Gets the scopes. A link-local peer is on the link of the local address, if that has a scope. */
static it_status_t connect_scopes(const struct uiw_ia *ia, const it_net_addr_t *local,
                                  const it_net_addr_t *remote, uint32_t *local_scope,
                                  uint32_t *remote_scope)
{
    it_status_t status = uiw_net_scope(ia->interface, local, local_scope);

    *remote_scope = *local_scope;
    if (status == IT_SUCCESS && *local_scope == 0)
        status = uiw_net_scope(ia->interface, remote, remote_scope);
    else if (status == IT_SUCCESS && !IN6_IS_ADDR_LINKLOCAL(&remote->addr.ipv6))
        *remote_scope = 0;
    return status;
}

/* Sets both ends from path and qualifier. *bound: the caller wants a local end. */
static it_status_t connect_ends(const struct uiw_ia *ia, const it_path_t *path,
                                const it_conn_qual_t *qual, struct uiw_conn *conn, bool *bound)
{
    uint16_t local_port = 0;
    uint16_t remote_port = qual->conn_qual.port;
    it_net_addr_t local;
    it_net_addr_t remote;
    uint32_t local_scope;
    uint32_t remote_scope;
    it_status_t status;

    if (qual->type == IT_IANA_LR_PORT) {
        local_port = qual->conn_qual.lr_port.local;
        remote_port = qual->conn_qual.lr_port.remote;
    }
    status = connect_addresses(ia, path, &local, &remote);
    if (status == IT_SUCCESS)
        status = connect_scopes(ia, &local, &remote, &local_scope, &remote_scope);
    if (status != IT_SUCCESS)
        return status;
    /* Cannot fail: IP addresses. */
    conn->address_length = base_net_to_sockaddr(&local, local_port, local_scope, &conn->local);
    (void)base_net_to_sockaddr(&remote, remote_port, remote_scope, &conn->remote);
    *bound = local_port != 0 || !base_net_is_any(&local);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- TCP */

/* Opens a socket at the local end. Returns 0 or errno. */
static int connect_open(struct uiw_conn *conn, bool reuse)
{
    int on = 1;
    int off = 0;
    int fd = socket(conn->remote.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;

    if (fd < 0)
        return errno;
    /* Without these options, connecting is slower, or a port may seem to be in use. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    /* The Request follows at once: it also carries the acknowledgement that ends the handshake. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof(off));
    if (conn->remote.ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (conn->address_length > 0 && base_net_port(&conn->local) == 0)
        (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (reuse)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (conn->address_length > 0 &&
        bind(fd, (const struct sockaddr *)&conn->local, conn->address_length) != 0) {
        error = errno;
        (void)close(fd);
        return error;
    }
    /* Lets a later EP with IT_EP_REUSEADDR have the port while this connection is in time-wait. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    conn->fd = fd;
    return 0;
}

/* Without a local address, asks about the one that the kernel would choose. */
static bool connect_is_in_timewait(const struct uiw_conn *conn)
{
    struct sockaddr_storage local = conn->local;
    it_net_addr_t remote;
    it_net_addr_t own;
    bool found = true;

    if (!base_net_from_sockaddr(&conn->local, &own) ||
        !base_net_from_sockaddr(&conn->remote, &remote))
        return false;
    if (base_net_is_any(&own) &&
        uiw_net_source(conn->ia->interface, &remote, &own, &found) == IT_SUCCESS && found)
        (void)base_net_to_sockaddr(&own, base_net_port(&conn->local), 0,
                                   &local); /* cannot fail: an IP address */
    return found && uiw_net_in_timewait(&local, &conn->remote);
}

static it_status_t connect_take_port(struct uiw_conn *conn, bool reuse)
{
    int error = connect_open(conn, reuse);

    if (error == EADDRINUSE && !reuse && connect_is_in_timewait(conn))
        return IT_ERR_EP_TIMEWAIT;
    return base_net_bind_status(error);
}

/* Starts connect(2). Returns 0 or errno. */
static int connect_start(const struct uiw_conn *conn)
{
    if (connect(conn->fd, (const struct sockaddr *)&conn->remote, base_net_length(&conn->remote)) !=
            0 &&
        errno != EINPROGRESS && errno != EINTR)
        return errno;
    return 0;
}

/*
 * Fills the path; the kernel has chosen the local end by now. Returns false if both ends are the
 * same: TCP connects a socket to itself if the local port it chooses is the one it connects to.
 */
static bool connect_tell_path(const struct uiw_conn *conn, it_path_t *path)
{
    struct sockaddr_storage local;

    if (!base_net_local(conn->fd, &local))
        return true;
    (void)uiw_net_path_between(&local, &conn->remote, path); /* cannot fail: IP addresses */
    return memcmp(&local, &conn->remote, sizeof(local)) != 0;
}

static void connect_leave_socket(struct uiw_conn *conn)
{
    evd_io_unwatch(&conn->io);
    uiw_reset_fd(conn->fd); /* a close would keep the local port in use */
    conn->fd = -1;
}

/* Connects a new socket. Returns 0 or errno. */
static int connect_anew(struct uiw_conn *conn)
{
    int error = connect_open(conn, true);

    return error != 0 ? error : connect_start(conn);
}

/* The peer has closed without an octet of a Reply: it may know only revision 1. */
static bool connect_retry(struct uiw_conn *conn)
{
    struct iw_mpa_config config = conn->mpa.config;

    if (config.revision > 1) {
        connect_leave_socket(conn);
        config.revision = 1;
        iw_mpa_init(&conn->mpa, true, &config);
        uiw_conn_send_request(conn);
        if (connect_anew(conn) == 0) {
            conn->error = 0;
            return true;
        }
    }
    (void)uiw_act_close.run(conn);
    return false;
}

static bool connect_refused(struct uiw_conn *conn)
{
    uint64_t next_ns = base_now_ns() + UIW_REFUSED_NS;

    if (conn->error == ECONNREFUSED && next_ns < conn->patience_ns && next_ns < conn->end_ns &&
        uiw_conn_limit(conn, UIW_REFUSED_NS)) {
        connect_leave_socket(conn);
        return true;
    }
    (void)uiw_act_fail.run(conn);
    return false;
}

/* Always succeeds: the next state finds conn->error. */
static bool connect_again(struct uiw_conn *conn)
{
    uint64_t now_ns = base_now_ns();
    it_path_t path;

    conn->error = connect_anew(conn);
    if (conn->error == 0 && !connect_tell_path(conn, &path))
        conn->error = ECONNREFUSED; /* connected to itself */
    if (conn->error == 0 &&
        !uiw_conn_limit(conn, now_ns < conn->end_ns ? conn->end_ns - now_ns : 0))
        conn->error = ENOMEM;
    return true;
}

#define CONNECT_BEGUN (UIW_IN(REQUEST) | UIW_IN(WAIT_REPLY) | UIW_IN(READ_REPLY))

static const struct uiw_conn_act connect_retry_act = {
    "connects anew with revision 1; failed, or done before: closes the stream, reports the failure",
    connect_retry,
};

static const struct uiw_conn_act connect_refused_act = {
    "refused, and there is patience: closes the socket, starts the timer; else resets the stream, "
    "reports the failure",
    connect_refused,
};

static const struct uiw_conn_act connect_again_act = {"connects anew", connect_again};

static const struct uiw_conn_row connect_rows[] = {
    UIW_ROW(UIW_IN(CONNECTING), UIW_ON(MOVED), NULL, REQUEST),
    UIW_ROW(UIW_IN(REQUEST) | UIW_IN(READ_REPLY), UIW_ON(MOVED), NULL, SAME),
    UIW_ROW(UIW_IN(REQUEST), UIW_ON(SENT), NULL, WAIT_REPLY),
    UIW_ROW(UIW_IN(WAIT_REPLY), UIW_ON(MOVED), NULL, READ_REPLY),
    UIW_ROW_OR(UIW_IN(WAIT_REPLY), UIW_ON(LOST), &connect_retry_act, CONNECTING, OVER),
    UIW_ROWS_OF_REPLY,
    UIW_ROW(UIW_IN(READ_REPLY), UIW_ON(LOST), &uiw_act_close, OVER),
    UIW_ROW_OR(UIW_IN(CONNECTING), UIW_ON(LOST), &connect_refused_act, REFUSED, OVER),
    UIW_ROW(UIW_IN(REFUSED), UIW_ON(EXPIRED), &connect_again_act, CONNECTING),
    UIW_ROW(UIW_IN(REQUEST), UIW_ON(LOST), &uiw_act_fail, OVER),
    UIW_ROW(UIW_IN(CONNECTING) | CONNECT_BEGUN, UIW_FAILURES, &uiw_act_fail, OVER),
    UIW_ROW(UIW_IN(CONNECTING) | UIW_IN(REFUSED), UIW_GIVEN_UP, &uiw_act_drop, OVER),
    UIW_ROW(CONNECT_BEGUN, UIW_GIVEN_UP, &uiw_act_leave, OVER),
};

const struct uiw_conn_role uiw_connect_role = {
    .first = UIW_CONN_CONNECTING,
    UIW_ROWS(connect_rows),
};

/* ---------------------------------------------------------------- it_ep_connect */

/* Runs on the loop's thread. The EP is pending, and an event reports the outcome. */
static void connect_go(struct evd_task *task)
{
    struct uiw_conn *conn = uiw_conn_arrive(task);
    struct iw_mpa_config config;
    uint64_t now_ns = base_now_ns();

    if (!conn)
        return;
    uiw_ep_mpa_config(conn->ep, conn->mpa.config.suppress_depths, &config);
    iw_mpa_init(&conn->mpa, true, &config);
    uiw_conn_send_request(conn);
    conn->end_ns = base_deadline_ns(now_ns, conn->limit_ns);
    conn->patience_ns = base_deadline_ns(now_ns, uiw_ep_patience_ns(conn->ep));
    uiw_conn_step(conn, uiw_conn_limit(conn, conn->limit_ns) ? UIW_ON_NOTHING : UIW_ON_NO_MEMORY);
}

static void connect_keep_arguments(struct uiw_conn *conn, const it_path_t *path,
                                   it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    conn->limit_ns = uiw_conn_attempt_ns(path->timeout);
    conn->mpa.config.suppress_depths = (flags & IT_CONNECT_SUPPRESS_IRD_ORD) != 0;
    if (length > 0)
        memcpy(conn->private_data, private_data, length);
    conn->private_length = length;
}

/* Runs in the caller's thread up to the EP's step: the caller need not wait for the loop. */
it_status_t uiw_connect(struct ual_ep *ep, const it_path_t *path,
                        const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                        it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    struct uiw_ia *ia = uiw_ia_of(ual_ia_of(&ep->object));
    struct uiw_conn *conn;
    it_path_t whole = *path;
    bool bound = false;
    it_status_t status;

    (void)attributes; /* iWARP has none */
    conn = uiw_conn_alloc(ia, -1, &uiw_connect_role);
    if (!conn)
        return IT_ERR_RESOURCES;
    status = connect_ends(ia, path, qual, conn, &bound);
    if (status != IT_SUCCESS)
        goto err_discard;
    if (!bound)
        conn->address_length = 0;
    /* Checked here for the right error, before a port in use is found; the hand-over decides. */
    status = IT_ERR_INVALID_EP_STATE;
    if (ual_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        goto err_discard;
    status = connect_take_port(conn, (ep->flags & IT_EP_REUSEADDR) != 0);
    if (status != IT_SUCCESS)
        goto err_discard;
    connect_keep_arguments(conn, path, flags, private_data, length);
    conn->error = connect_start(conn);
    if (conn->error == 0 && !connect_tell_path(conn, &whole))
        conn->error = ECONNREFUSED; /* connected to itself */
    if (uiw_conn_hand_over(conn, ep, UAL_EP_CONNECT, &whole, connect_go))
        return IT_SUCCESS;
    status = IT_ERR_INVALID_EP_STATE;
    uiw_reset_fd(conn->fd);
err_discard:
    uiw_conn_end(conn);
    return status;
}
