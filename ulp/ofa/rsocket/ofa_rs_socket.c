/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and closing rsockets; their addresses. */
#include "rsocket/ofa_rsocket.h"
#include "support/ofa_log.h"
#include "support/ofa_port.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- Creating ------------------------------------------------------------------------------- */

static int open_stream(struct rsock *rs, int domain)
{
    rs->channel = rdma_create_event_channel();
    if (!rs->channel || rdma_create_id(rs->channel, &rs->id, rs, RDMA_PS_TCP) != 0)
        return errno;
    rs->id->route.addr.src_addr.sa_family = (sa_family_t)domain;
    rs->fd = rs->channel->fd;
    return 0;
}

static int open_datagram(struct rsock *rs, int domain)
{
    rs->fd = socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return rs->fd < 0 ? errno : 0;
}

static bool is_there(int domain, int type, int protocol)
{
    if (domain != AF_INET && domain != AF_INET6)
        return false;
    return (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) ||
           (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP));
}

int rsocket(int domain, int type, int protocol)
{
    int option[RS_OPTIONS];
    struct rsock *rs;
    int error;

    if (!is_there(domain, type, protocol)) {
        (void)ofa_absent("rsocket of this family, type or protocol", ENOTSUP);
        return -1;
    }
    rs_default_options(option);
    rs = rs_new(type, option);
    if (!rs)
        return fail(ENOMEM);
    error = type == SOCK_STREAM ? open_stream(rs, domain) : open_datagram(rs, domain);
    if (error == 0)
        error = rs_enter(rs);
    if (error == 0)
        return rs->fd;
    rs_delete(rs);
    return fail(error);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
    struct rsock *rs = rs_find(socket);
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    int result = -1;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return bind(socket, addr, addrlen);
    if (!addr || addrlen > sizeof(address) || addrlen < ofa_address_length(addr))
        return fail(EINVAL);
    memcpy(&address, addr, addrlen);
    (void)pthread_mutex_lock(&rs->lock);
    if (rs->state != RS_IDLE)
        errno = EINVAL;
    else
        result = rdma_bind_addr(rs->id, (struct sockaddr *)&address);
    if (result == 0)
        rs->state = RS_BOUND;
    (void)pthread_mutex_unlock(&rs->lock);
    return result;
}

int rlisten(int socket, int backlog)
{
    struct rsock *rs = rs_find(socket);
    int result = 0;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return fail(EOPNOTSUPP);
    (void)pthread_mutex_lock(&rs->lock);
    if (rs->state == RS_IDLE || rs->state == RS_BOUND) {
        result = rdma_listen(rs->id, backlog);
        if (result == 0)
            rs->state = RS_LISTENING;
    } else if (rs->state != RS_LISTENING) {
        result = fail(EINVAL);
    }
    (void)pthread_mutex_unlock(&rs->lock);
    return result;
}

/*
 * Copies one of the id's addresses, which another thread may just be setting. As in rdma-core, a
 * length of 0 asks for the length only.
 */
static int copy_name(struct rsock *rs, const struct sockaddr *from, struct sockaddr *to,
                     socklen_t *length)
{
    socklen_t whole;

    if (!length || (!to && *length > 0))
        return fail(EFAULT);
    (void)pthread_mutex_lock(&rs->lock);
    whole = ofa_address_length(from);
    if (*length > 0)
        memcpy(to, from, *length < whole ? *length : whole);
    (void)pthread_mutex_unlock(&rs->lock);
    *length = whole;
    return 0;
}

static enum rs_state state_of(struct rsock *rs)
{
    enum rs_state state;

    (void)pthread_mutex_lock(&rs->lock);
    state = rs->state;
    (void)pthread_mutex_unlock(&rs->lock);
    return state;
}

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    struct rsock *rs = rs_find(socket);

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return getpeername(socket, addr, addrlen);
    if (state_of(rs) < RS_CONNECTING)
        return fail(ENOTCONN);
    return copy_name(rs, &rs->id->route.addr.dst_addr, addr, addrlen);
}

int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    struct rsock *rs = rs_find(socket);

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return getsockname(socket, addr, addrlen);
    return copy_name(rs, &rs->id->route.addr.src_addr, addr, addrlen);
}

/* ---- The end -------------------------------------------------------------------------------- */

static bool is_settled(const struct rsock *rs)
{
    return rs->state != RS_ACCEPTING;
}

static bool has_control(const struct rsock *rs)
{
    return rs->controls_left > 0 || rs->state != RS_CONNECTED;
}

static bool is_all_sent(const struct rsock *rs)
{
    return (rs->controls_left == RS_CONTROLS &&
            rs->requests_left == (uint32_t)rs->option[RS_SQSIZE]) ||
           rs->state != RS_CONNECTED;
}

/*
 * Closes the directions. Sets *control to the message for the peer; returns false if none is due.
 */
static bool close_directions(struct rsock *rs, int how, enum rs_control *control)
{
    bool was_writable = rs->writable;

    if (how != SHUT_WR)
        rs->readable = false;
    if (how != SHUT_RD)
        rs->writable = false;
    *control = rs->readable ? RS_SHUTDOWN : RS_DISCONNECT;
    return !rs->writable && (was_writable || !rs->readable);
}

/* Shuts down in order: sends the data before, then tells the peer. Returns 0 or errno. */
static int shut_down(struct rsock *rs, int how)
{
    enum rs_control control;
    int error;

    rs->closing = true;
    (void)rs_await(rs, is_settled, false);
    if (rs->state != RS_CONNECTED)
        return rs->state == RS_OVER ? 0 : ENOTCONN;
    if (!close_directions(rs, how, &control))
        return 0;
    error = rs_await(rs, has_control, false);
    if (error == 0 && rs->state == RS_CONNECTED)
        error = rs_post_message(rs, rs_message(RS_CONTROL, control));
    if (error == 0)
        error = rs_await(rs, is_all_sent, false);
    if (error == 0 && control == RS_DISCONNECT) {
        rs->state = rs->state == RS_CONNECTED ? RS_OVER : rs->state;
        (void)rdma_disconnect(rs->id);
    }
    return error == 0 && rs->state == RS_FAILED ? rs->error : error;
}

int rshutdown(int socket, int how)
{
    struct rsock *rs = rs_find(socket);
    int error;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM)
        return shutdown(socket, how);
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return fail(EINVAL);
    (void)pthread_mutex_lock(&rs->lock);
    error = shut_down(rs, how);
    rs->closing = false;
    (void)pthread_mutex_unlock(&rs->lock);
    return error == 0 ? 0 : fail(error);
}

int rclose(int socket)
{
    struct rsock *rs = rs_find(socket);

    if (!rs)
        return -1;
    if (rs->type == SOCK_STREAM && state_of(rs) >= RS_ACCEPTING) {
        (void)pthread_mutex_lock(&rs->lock);
        (void)shut_down(rs, SHUT_RDWR);
        (void)pthread_mutex_unlock(&rs->lock);
    }
    rs_delete(rs);
    return 0;
}
