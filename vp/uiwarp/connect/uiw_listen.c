/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/base_clock.h"
#include "base/base_log.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"
#include "vp/uiwarp/net/uiw_net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTEN_BACKLOG       4096 /* the kernel lowers it to net.core.somaxconn */
#define LISTEN_ACCEPT_BUDGET 64   /* streams per wake-up, to leave time for other tasks */
#define LISTEN_PAUSE_NS      (100 * BASE_NS_PER_MS)
#define LISTEN_PORT_TRIES    32 /* to find a port that is free on all addresses */

/* ---------------------------------------------------------------- qualifiers */

struct ual_listen *uiw_listen_find(struct uiw_ia *ia, const it_conn_qual_t *qual, size_t spigot_id)
{
    struct evd_ia *evd_ia = &ia->ual->evd;
    struct ual_listen *found = NULL;
    it_conn_qual_t wanted = *qual;
    const uint16_t *port = base_net_listen_port(&wanted);

    if (!port)
        return NULL;
    base_lock_take(&evd_ia->lock);
    BASE_LIST_EACH(struct ual_listen, listen, &evd_ia->objects[IT_HANDLE_TYPE_LISTEN],
                   object.link) {
        /* A listen point with a listener stays valid: this thread has to stop it first. */
        if (uiw_listen_of(listen)->listener && listen->spigot_id == spigot_id &&
            *base_net_listen_port(&listen->conn_qual) == *port) {
            found = listen;
            break;
        }
    }
    base_lock_drop(&evd_ia->lock);
    return found;
}

/* ---------------------------------------------------------------- accepting */

static void listen_ready(void *argument, unsigned events);

static bool listen_watch(struct uiw_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        struct uiw_listen_socket *socket = &listener->sockets[i];

        if (!evd_io_watch(&socket->io, listener->ia->ual->evd.loop, socket->fd, EVD_IO_READ,
                          listen_ready, socket))
            return false;
    }
    return true;
}

static void listen_unwatch(struct uiw_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        evd_io_unwatch(&listener->sockets[i].io);
}

static void listen_resume(void *argument);

/* Stops accepting for a while. The sockets stay readable, so the loop would spin otherwise. */
static void listen_pause(struct uiw_listener *listener, int error)
{
    base_log(BASE_LOG_WARN, "accept: %s; pausing", strerror(error));
    if (evd_timer_start(&listener->resume, listener->ia->ual->evd.loop, LISTEN_PAUSE_NS,
                        listen_resume, listener))
        listen_unwatch(listener);
}

static void listen_resume(void *argument)
{
    struct uiw_listener *listener = argument;

    if (!listen_watch(listener))
        listen_pause(listener, ENOMEM);
}

/* Returns true for an error of a stream in the queue, not of the listener (accept(2)). */
static bool listen_error_is_harmless(int error)
{
    switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case EPERM:
        return true;
    default:
        return false;
    }
}

/*
 * While many streams are half-open, makes the kernel hold each new stream for up to a second, where
 * it needs no descriptor. At other times new streams are not held, because a held stream is not
 * told that its listener was closed.
 */
static void listen_defer(struct uiw_listen_socket *socket)
{
    bool wanted = uiw_accept_is_crowded(socket->listener->ia, socket->deferring);
    int seconds = wanted ? 1 : 0;

    if (wanted == socket->deferring)
        return;
    socket->deferring = wanted;
    /* After a failure, slow peers may be dropped sooner. */
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
}

static void listen_ready(void *argument, unsigned events)
{
    struct uiw_listen_socket *socket = argument;
    struct uiw_listener *listener = socket->listener;
    bool dropped = false;

    (void)events;
    listen_defer(socket);
    for (int i = 0; i < LISTEN_ACCEPT_BUDGET; i++) {
        struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
        socklen_t length = sizeof(peer);
        int fd =
            accept4(socket->fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        int error;

        if (fd >= 0) {
            dropped = false;
            uiw_accept_begin(listener->ia, listener, fd, &peer);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        if (listen_error_is_harmless(errno))
            continue;
        error = errno;
        /* Drops one for each new stream, so that others keep some time for their Request. */
        if (!dropped && (error == EMFILE || error == ENFILE) &&
            uiw_accept_drop_oldest(listener->ia)) {
            dropped = true;
            continue;
        }
        listen_pause(listener, error);
        return;
    }
}

/* ---------------------------------------------------------------- opening */

/* Opens a socket that listens. Returns 0 or errno. */
static int listen_open(const struct sockaddr_storage *address, socklen_t length, bool dual,
                       int *fd_out)
{
    int only = dual ? 0 : 1;
    int on = 1;
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
        goto err_close;
    /* Accepted streams inherit it. Without it they are slower. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (address->ss_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) != 0)
        goto err_close;
    if (bind(fd, (const struct sockaddr *)address, length) != 0 || listen(fd, LISTEN_BACKLOG) != 0)
        goto err_close;
    *fd_out = fd;
    return 0;

err_close:
    error = errno;
    (void)close(fd);
    return error;
}

static int listen_add(struct uiw_listener *listener, const struct sockaddr_storage *address,
                      socklen_t length, bool dual)
{
    struct uiw_listen_socket *socket = &listener->sockets[listener->count];
    int error = listen_open(address, length, dual, &socket->fd);

    if (error == 0) {
        socket->listener = listener;
        listener->count++;
    }
    return error;
}

static void listen_close(struct uiw_listener *listener)
{
    listen_unwatch(listener);
    evd_timer_stop(&listener->resume);
    for (size_t i = 0; i < listener->count; i++) {
        /* Stops listening even if a child process has a copy of the descriptor. */
        (void)shutdown(listener->sockets[i].fd, SHUT_RDWR);
        (void)close(listener->sockets[i].fd);
    }
    listener->count = 0;
}

/* Opens one socket for both families if the host has IPv6, so that both have the same port. */
static int listen_open_any(struct uiw_listener *listener, uint16_t port)
{
    it_net_addr_t any = {.addr_type = IT_IPV6};
    struct sockaddr_storage address;
    socklen_t length = base_net_to_sockaddr(&any, port, 0, &address);
    int error = listen_add(listener, &address, length, true);

    if (error != EAFNOSUPPORT && error != EADDRNOTAVAIL)
        return error;
    any.addr_type = IT_IPV4;
    length = base_net_to_sockaddr(&any, port, 0, &address);
    return listen_add(listener, &address, length, false);
}

static uint16_t listen_bound_port(const struct uiw_listener *listener)
{
    struct sockaddr_storage address;

    (void)base_net_local(listener->sockets[0].fd, &address); /* cannot fail: it listens */
    return base_net_port(&address);
}

/* Port 0: the kernel chooses a port for the first socket, and the others take the same. */
static int listen_open_locals(struct uiw_listener *listener, const struct uiw_net_local *locals,
                              size_t count, uint16_t port)
{
    int error = count > 0 ? 0 : EADDRNOTAVAIL;

    for (size_t i = 0; i < count && error == 0; i++) {
        struct sockaddr_storage address;
        socklen_t length =
            base_net_to_sockaddr(&locals[i].address, port, locals[i].scope, &address);

        error = listen_add(listener, &address, length, false);
        if (error == 0 && port == 0)
            port = listen_bound_port(listener);
    }
    return error;
}

static int listen_open_interface(struct uiw_listener *listener, const struct uiw_net_local *locals,
                                 size_t count, uint16_t port)
{
    int tries = port == 0 ? LISTEN_PORT_TRIES : 1;
    int error;

    do {
        error = listen_open_locals(listener, locals, count, port);
        if (error != 0)
            listen_close(listener);
    } while (error == EADDRINUSE && --tries > 0);
    return error;
}

/* A link-local address of the IA needs no scope: its network interface is known. */
static int listen_complete_scope(const struct uiw_ia *ia, const it_net_addr_t *ip,
                                 struct sockaddr_storage *address)
{
    struct sockaddr_in6 *ipv6 = (void *)address;

    if (ip->addr_type != IT_IPV6 || ipv6->sin6_scope_id != 0)
        return 0;
    return uiw_net_scope(ia->interface, ip, &ipv6->sin6_scope_id) == IT_SUCCESS ? 0 : ENOMEM;
}

/* An IA with a network interface listens only on addresses of that interface. */
static int listen_open_one(struct uiw_listener *listener, const struct sockaddr_storage *at,
                           uint16_t port)
{
    struct sockaddr_storage address = *at;
    const struct uiw_ia *ia = listener->ia;
    it_net_addr_t ip;
    bool has = true;
    int error;

    (void)base_net_from_sockaddr(&address, &ip);
    if (ia->interface[0] != '\0' && uiw_net_has(ia->interface, &ip, &has) != IT_SUCCESS)
        return ENOMEM;
    if (!has || (!base_net_is_any(&ip) && !base_net_is_peer(&ip)))
        return EADDRNOTAVAIL;
    error = listen_complete_scope(ia, &ip, &address);
    if (error != 0)
        return error;
    base_net_set_port(&address, port);
    return listen_add(listener, &address, base_net_length(&address), false);
}

/* Returns true for one address, false for all addresses or all of one IP version. */
static bool listen_is_on_one(const struct sockaddr_storage *at)
{
    it_net_addr_t ip;

    return at && base_net_from_sockaddr(at, &ip) && !base_net_is_any(&ip);
}

/* Gets the addresses of the IA's network interface. at: only those of its IP version, or NULL. */
static bool listen_locals(const struct uiw_ia *ia, const struct sockaddr_storage *at,
                          struct uiw_net_local **locals, size_t *count)
{
    it_net_addr_t wildcard = {.addr_type = IT_IPV4};
    size_t all;

    if (!uiw_net_locals(ia->interface, locals, &all))
        return false;
    if (at)
        (void)base_net_from_sockaddr(at, &wildcard);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (!at || (*locals)[i].address.addr_type == wildcard.addr_type)
            (*locals)[(*count)++] = (*locals)[i];
    return true;
}

static it_status_t listen_status(int error, const struct sockaddr_storage *at)
{
    /* The last two: a link-local address of no network interface, or of one that is not there. */
    if (at && (error == EADDRNOTAVAIL || error == EINVAL || error == ENODEV))
        return IT_ERR_INVALID_NETADDR;
    return base_net_listen_status(error);
}

/* at: the only address, the wildcard of one IP version, or NULL. */
static it_status_t listen_create(struct uiw_ia *ia, struct ual_listen *listen,
                                 const struct sockaddr_storage *at, uint16_t port,
                                 struct uiw_listener **listener_out)
{
    bool by_interface = ia->interface[0] != '\0' && !listen_is_on_one(at);
    struct uiw_net_local *locals = NULL;
    struct uiw_listener *listener;
    size_t count = 1;
    int error;

    if (by_interface && !listen_locals(ia, at, &locals, &count))
        return IT_ERR_RESOURCES;
    listener = calloc(1, sizeof(*listener) + count * sizeof(listener->sockets[0]));
    if (!listener) {
        free(locals);
        return IT_ERR_RESOURCES;
    }
    listener->ia = ia;
    listener->listen = listen;
    if (listen->flags & ITX_LISTEN_SOCKETS)
        error = 0;
    else if (by_interface)
        error = listen_open_interface(listener, locals, count, port);
    else if (at)
        error = listen_open_one(listener, at, port);
    else
        error = listen_open_any(listener, port);
    free(locals);
    if (error == 0 && !listen_watch(listener))
        error = ENOMEM;
    if (error != 0) {
        listen_close(listener);
        free(listener);
        return listen_status(error, at);
    }
    *listener_out = listener;
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- provider table */

struct listen_start {
    struct ual_listen *listen;
    const struct sockaddr_storage *at;
};

static it_status_t listen_start_run(void *argument)
{
    const struct listen_start *start = argument;
    struct ual_listen *listen = start->listen;
    struct uiw_listen *area = uiw_listen_of(listen);
    uint16_t *port = base_net_listen_port(&listen->conn_qual);
    it_status_t status;

    if (!port)
        return IT_ERR_INVALID_CONN_QUAL;
    area->ual = listen;
    status = listen_create(uiw_ia_of(ual_ia_of(&listen->object)), listen, start->at,
                           listen->flags & IT_LISTEN_CONN_QUAL_INPUT ? *port : 0, &area->listener);
    if (status == IT_SUCCESS)
        *port = area->listener->count > 0 ? listen_bound_port(area->listener) : 0;
    return status;
}

it_status_t uiw_listen_start_at(struct ual_listen *listen, const struct sockaddr_storage *address)
{
    struct listen_start start = {.listen = listen, .at = address};

    return evd_loop_run(ual_ia_of(&listen->object)->evd.loop, listen_start_run, &start);
}

it_status_t uiw_listen_start(struct ual_listen *listen)
{
    return uiw_listen_start_at(listen, NULL);
}

static void listen_stop_run(void *argument)
{
    struct uiw_listen *area = uiw_listen_of(argument);
    struct uiw_listener *listener = area->listener;

    area->listener = NULL;
    uiw_accept_abort(listener->ia, listener);
    listen_close(listener);
    free(listener);
}

void uiw_listen_stop(struct ual_listen *listen)
{
    evd_loop_call(ual_ia_of(&listen->object)->evd.loop, listen_stop_run, listen);
}

/* ---------------------------------------------------------------- itx_socket_request */

struct listen_request {
    struct ual_listen *listen;
    int fd;
    struct sockaddr_storage peer;
};

static it_status_t listen_request_run(void *argument)
{
    struct listen_request *request = argument;
    struct uiw_listener *listener = uiw_listen_of(request->listen)->listener;
    int one = 1;

    if (!listener)
        return IT_ERR_INVALID_LISTEN;
    uiw_options_change(request->fd);
    /* Otherwise a short Request would not wake the loop. */
    (void)setsockopt(request->fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
    uiw_accept_begin(listener->ia, listener, request->fd, &request->peer);
    return IT_SUCCESS;
}

it_status_t uiw_socket_request(struct ual_listen *listen, int fd)
{
    struct listen_request request = {.listen = listen, .fd = fd};
    socklen_t length = sizeof(request.peer);

    if (getpeername(fd, (struct sockaddr *)&request.peer, &length) != 0)
        return IT_ERR_INVALID_CONVERSION;
    return evd_loop_run(ual_ia_of(&listen->object)->evd.loop, listen_request_run, &request);
}
