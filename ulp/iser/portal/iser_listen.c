/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening sockets. */
#include "portal/iser_portal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#define LISTEN_BACKLOG 4096
#define LISTEN_BUDGET  64     /* connections of one turn */
#define LISTEN_PAUSE   100000 /* microseconds without descriptors */

static const struct timeval listen_pause = {.tv_usec = LISTEN_PAUSE};

static void listen_resume(evutil_socket_t fd, short what, void *argument)
{
    struct iser_portal *portal = argument;

    (void)fd;
    (void)what;
    (void)event_add(&portal->readable, NULL);
}

/* Returns true for errors of a connection that died in the queue (accept(2)). */
static bool listen_is_harmless(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
           error == EHOSTDOWN || error == EHOSTUNREACH || error == ENETUNREACH;
}

/* Returns false if there is no further connection for now. */
static bool listen_accept(struct iser_portal *portal)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(peer);
    int fd = accept4(portal->fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        iser_arrival_begin(portal, fd, &peer);
        return true;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return false;
    if (listen_is_harmless(errno))
        return true;
    if ((errno == EMFILE || errno == ENFILE) && iser_arrival_drop_oldest(portal->owner))
        return true;
    (void)event_del(&portal->readable); /* stays readable, so the loop would spin */
    (void)event_add(&portal->resume, &listen_pause);
    return false;
}

static void listen_ready(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    for (int i = 0; i < LISTEN_BUDGET && listen_accept(argument); i++) {
    }
}

static socklen_t listen_length(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

static int listen_bind(int fd, struct sockaddr_storage *address)
{
    socklen_t length = listen_length(address);
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
        return errno;
    /* Accepted connections inherit it; a failure only makes them slower. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (address->ss_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0)
        return errno;
    if (bind(fd, (const struct sockaddr *)address, length) != 0 || listen(fd, LISTEN_BACKLOG) != 0)
        return errno;
    return getsockname(fd, (struct sockaddr *)address, &length) == 0 ? 0 : errno;
}

int iser_portal_open(struct iser_portal *portal)
{
    struct event_base *base = portal->owner->service.base;
    int fd =
        socket(portal->config.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? errno : listen_bind(fd, &portal->config.address);

    if (error == 0 && (event_assign(&portal->readable, base, fd, EV_READ | EV_PERSIST, listen_ready,
                                    portal) != 0 ||
                       evtimer_assign(&portal->resume, base, listen_resume, portal) != 0 ||
                       event_add(&portal->readable, NULL) != 0))
        error = ENOMEM;
    if (error == 0)
        portal->fd = fd;
    else if (fd >= 0)
        (void)close(fd);
    return error;
}

void iser_portal_close(struct iser_portal *portal)
{
    if (portal->fd < 0)
        return;
    (void)event_del(&portal->readable);
    (void)event_del(&portal->resume);
    (void)close(portal->fd);
    portal->fd = -1;
}
