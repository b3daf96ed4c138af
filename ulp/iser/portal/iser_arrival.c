/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that have not logged in. Their time, their number and their number per address are
 * limited. The oldest makes room, so a new one is never refused. Those whose initiators have
 * authenticated are dropped last, so initiators without a secret cannot displace them. Discovery
 * sessions without authentication stay here until they end; only their time is not limited.
 */
#include "portal/iser_portal.h"

#include "pdu/iser_stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ARRIVAL_PEEK     16 /* octets that show the kind of connection */
#define ARRIVAL_LOOK_US  250000
#define ARRIVAL_REQUESTS 8 /* requests of way (B) accepted in a turn of the loop */
#define ARRIVAL_PREFIX_6 8 /* octets of an IPv6 address that identify a source */

static const struct timeval arrival_interval = {.tv_usec = ARRIVAL_LOOK_US};

uint64_t iser_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- the list */

static void arrival_link(struct iser_arrival *arrival)
{
    struct itiser *target = arrival->owner;

    arrival->older = target->youngest;
    if (target->youngest)
        target->youngest->younger = arrival;
    else
        target->oldest = arrival;
    target->youngest = arrival;
    if (target->half_logins++ == 0)
        (void)event_add(&target->login_timer, &arrival_interval);
}

static void arrival_unlink(struct iser_arrival *arrival)
{
    struct itiser *target = arrival->owner;

    if (arrival->older)
        arrival->older->younger = arrival->younger;
    else
        target->oldest = arrival->younger;
    if (arrival->younger)
        arrival->younger->older = arrival->older;
    else
        target->youngest = arrival->older;
    if (--target->half_logins == 0)
        (void)event_del(&target->login_timer);
}

static void arrival_free(struct iser_arrival *arrival)
{
    arrival_unlink(arrival);
    if (arrival->fd >= 0) {
        (void)event_del(&arrival->readable);
        (void)close(arrival->fd);
    }
    free(arrival);
}

static void arrival_drop(struct iser_arrival *arrival)
{
    if (arrival->session)
        iser_session_end(arrival->session, "it has not logged in"); /* calls iser_arrival_settled */
    else
        arrival_free(arrival);
}

void iser_arrival_settled(struct iser_session *session)
{
    struct iser_arrival *arrival = session->arrival;

    session->arrival = NULL;
    if (arrival)
        arrival_free(arrival);
}

/* ---------------------------------------------------------------- bounds */

static bool arrival_is_from(const struct iser_arrival *arrival, const struct sockaddr_storage *peer)
{
    if (arrival->peer.ss_family != peer->ss_family)
        return false;
    if (peer->ss_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)&arrival->peer)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)peer)->sin_addr.s_addr;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)&arrival->peer)->sin6_addr,
                  &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr,
                  ARRIVAL_PREFIX_6) == 0;
}

/* Returns the one that makes room; peer: among those from this address; NULL: among all. */
static struct iser_arrival *arrival_choose(const struct itiser *target,
                                           const struct sockaddr_storage *peer)
{
    struct iser_arrival *proven = NULL;

    for (struct iser_arrival *at = target->oldest; at != target->youngest; at = at->younger) {
        if (peer && !arrival_is_from(at, peer))
            continue;
        if (!at->session || !iser_login_is_proven(at->session))
            return at;
        if (!proven)
            proven = at;
    }
    return proven ? proven : target->youngest;
}

bool iser_arrival_drop_oldest(struct itiser *target)
{
    if (!target->oldest)
        return false;
    target->half_refused++;
    arrival_drop(arrival_choose(target, NULL));
    return true;
}

static void arrival_make_room(struct itiser *target, const struct sockaddr_storage *peer)
{
    unsigned count = 0;

    for (struct iser_arrival *at = target->youngest; at; at = at->older)
        count += arrival_is_from(at, peer);
    if (count > target->half_share) {
        target->half_refused++;
        arrival_drop(arrival_choose(target, peer));
    }
    if (target->half_logins > target->half_max)
        (void)iser_arrival_drop_oldest(target);
}

/* Returns false for a discovery session. */
static bool arrival_is_half(const struct iser_arrival *arrival)
{
    return !arrival->session || arrival->session->phase == ISER_LOGGING_IN;
}

void iser_arrivals_cut(struct itiser *target)
{
    for (struct iser_arrival *next, *at = target->oldest; at; at = next) {
        next = at->younger;
        if (arrival_is_half(at))
            arrival_drop(at);
    }
}

void iser_arrivals_begin_anew(struct itiser *target)
{
    struct iser_arrival *at = target->oldest;

    while (at) {
        struct iser_arrival *next = at->younger;

        if (at->session && at->session->login)
            arrival_drop(at);
        at = next;
    }
}

void iser_arrivals_look(struct itiser *target)
{
    uint64_t now = iser_now_ms();

    for (struct iser_arrival *next, *at = target->oldest; at; at = next) {
        next = at->younger;
        if (arrival_is_half(at) && now - at->born_ms >= target->login_timeout_ms)
            arrival_drop(at);
        else if (at->fd >= 0)
            (void)event_add(&at->readable, NULL); /* if this fails, the next look repeats it */
    }
}

/* ---------------------------------------------------------------- the first octets */

static void arrival_set_low_water(int fd, int octets)
{
    /* If this fails, the target looks at a slow connection every ARRIVAL_LOOK_US. */
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &octets, sizeof(octets));
}

static void arrival_fill_addresses(const struct iser_arrival *arrival, int fd,
                                   struct iser_link *link)
{
    socklen_t length = sizeof(link->local);

    (void)getsockname(fd, (struct sockaddr *)&link->local, &length);
    link->remote = arrival->peer;
}

/* Returns false if memory runs out: link and arrival are freed then. */
static bool arrival_make_session(struct iser_arrival *arrival, struct iser_link *link)
{
    link->user_ops = &iser_session_link_user;
    arrival->session =
        iser_session_new(&arrival->owner->service, link, arrival->portal->config.tag);
    if (!arrival->session) {
        arrival_free(arrival);
        return false;
    }
    arrival->session->arrival = arrival;
    arrival->session->convertible =
        !link->ops->rdma && (arrival->portal->config.kinds & ITISER_CONVERT) != 0;
    return true;
}

/* Plain iSCSI: the arrival gets a session. */
static void arrival_become_session(struct iser_arrival *arrival)
{
    struct itiser *target = arrival->owner;
    struct iser_link *link = iser_plain_new(target->service.base, &target->stay, arrival->fd);

    if (!link) {
        arrival_free(arrival);
        return;
    }
    arrival_fill_addresses(arrival, arrival->fd, link);
    arrival->fd = -1;
    (void)arrival_make_session(arrival, link);
}

/*
 * Creating an endpoint takes as long as accepting ten connections. So only a few are created in a
 * turn of the loop: others need not wait for thousands of them, most of which would be dropped
 * anyway.
 */
static bool arrival_may_request(struct itiser *target)
{
    struct timeval now;

    (void)event_base_gettimeofday_cached(target->service.base,
                                         &now); /* the same throughout a turn */
    if (timercmp(&now, &target->turn, !=))
        target->requests = 0;
    target->turn = now;
    return target->requests++ < ARRIVAL_REQUESTS;
}

/*
 * Fewer octets than needed: TCP ignores the low water mark if it is short of memory. Returns true
 * if the others may still come.
 */
static bool arrival_may_go_on(int fd, ssize_t got)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return got > 0 && poll(&end, 1, 0) == 0;
}

static void arrival_readable(evutil_socket_t fd, short what, void *argument)
{
    struct iser_arrival *arrival = argument;
    uint8_t octets[ARRIVAL_PEEK];
    ssize_t got = recv(fd, octets, sizeof(octets), MSG_PEEK | MSG_DONTWAIT);
    bool rdma;

    (void)what;
    if (got < (ssize_t)sizeof(octets)) {
        if (arrival_may_go_on(fd, got))
            (void)event_del(&arrival->readable); /* until iser_arrivals_look */
        else
            arrival_free(arrival);
        return;
    }
    rdma = memcmp(octets, "MPA ID Req Frame", sizeof(octets)) == 0;
    if (rdma && !arrival_may_request(arrival->owner))
        return;
    (void)event_del(&arrival->readable);
    arrival_set_low_water(fd, 1);
    iser_stream_unpace(fd);
    if (rdma) {
        if (arrival->portal->config.kinds & ITISER_RDMA)
            arrival->owner->request(arrival->owner, fd);
        arrival_free(arrival);
    } else if (arrival->portal->config.kinds & (ITISER_PLAIN | ITISER_CONVERT)) {
        arrival_become_session(arrival);
    } else {
        arrival_free(arrival);
    }
}

/* Adds a connection to the list of those that have not logged in. NULL: memory has run out. */
static struct iser_arrival *arrival_new(struct iser_portal *portal,
                                        const struct sockaddr_storage *peer)
{
    struct iser_arrival *arrival = calloc(1, sizeof(*arrival));

    if (!arrival)
        return NULL;
    arrival->owner = portal->owner;
    arrival->portal = portal;
    arrival->peer = *peer;
    arrival->fd = -1;
    arrival->born_ms = iser_now_ms();
    arrival_link(arrival);
    return arrival;
}

void iser_arrival_begin(struct iser_portal *portal, int fd, const struct sockaddr_storage *peer)
{
    struct iser_arrival *arrival = arrival_new(portal, peer);

    if (!arrival) {
        (void)close(fd);
        return;
    }
    arrival->fd = fd;
    /* Cannot fail with valid arguments. */
    (void)event_assign(&arrival->readable, portal->owner->service.base, fd, EV_READ | EV_PERSIST,
                       arrival_readable, arrival);
    if (event_add(&arrival->readable, NULL) != 0) {
        arrival_free(arrival);
        return;
    }
    arrival_set_low_water(fd, ARRIVAL_PEEK);
    arrival_make_room(portal->owner, peer);
}

bool iser_arrival_begin_rdma(struct iser_portal *portal, struct iser_link *link)
{
    struct iser_arrival *arrival = arrival_new(portal, &link->remote);

    if (!arrival) {
        iser_link_close(link);
        return false;
    }
    if (!arrival_make_session(arrival, link))
        return false;
    arrival_make_room(portal->owner, &arrival->peer);
    return true;
}
