/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define LARGE   (300u * 1024)
#define TURN_MS 20
#define LOOK_US 100000u

/* What manual pages name, as far as a fault of the system or a lost connection explains it. */
static const struct find_result documented[] = {
    {NULL, {ENOMEM, ENOBUFS, 0}},
    {"socket", {EMFILE, ENFILE, 0}},
    {"bind", {EADDRINUSE, EMFILE, 0}}, /* EMFILE: rsockets open what they need late */
    {"listen", {EADDRINUSE, EMFILE, 0}},
    {"connect",
     {ECONNREFUSED, ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EADDRINUSE, ECONNRESET,
      EINTR, EMFILE, EAGAIN, 0}},
    {"accept", {EMFILE, ENFILE, ECONNABORTED, EINTR, ECONNRESET, ETIMEDOUT, 0}},
    {"send", {ECONNRESET, EPIPE, ENOTCONN, ETIMEDOUT, EINTR, 0}},
    {"receive", {ECONNRESET, ENOTCONN, ETIMEDOUT, EINTR, 0}},
    {"poll", {EINTR, 0}},
    {"shutdown", {ENOTCONN, ECONNRESET, EPIPE, 0}},
    {"close", {EINTR, EIO, 0}}, /* the descriptor is closed */
    {NULL, {0}},
};

static const struct socket_calls *calls;
static const char *stage = "";
static bool strict;
static unsigned seed;

void sockets_begin(const struct socket_calls *with, bool is_strict)
{
    calls = with;
    strict = is_strict;
}

void sockets_stage(const char *next)
{
    stage = next;
}

const char *sockets_get_stage(void)
{
    return stage;
}

static bool good(const char *call, long result)
{
    if (result >= 0)
        return true;
    find_failure(call, errno, strerror(errno), documented, strict);
    return false;
}

static bool is_over(uint64_t end_us, const char *what)
{
    if (find_now_us() < end_us)
        return false;
    find_say("never: %s", what);
    return true;
}

static uint64_t end_of_step(void)
{
    return find_now_us() + find_limit_us();
}

/* Waits a short time for one of two sockets. */
static void turn(int one, short one_events, int other, short other_events)
{
    struct pollfd fds[2] = {{one, one_events, 0}, {other, other_events, 0}};

    (void)good("poll", calls->poll(fds, 2, TURN_MS));
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool listen_open(struct socket_pair *pair, struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pair->listener = calls->socket(AF_INET, SOCK_STREAM, 0);
    return good("socket", pair->listener) &&
           good("bind", calls->bind(pair->listener, (struct sockaddr *)address, length)) &&
           good("listen", calls->listen(pair->listener, 4)) &&
           good("getsockname", calls->name(pair->listener, (struct sockaddr *)address, &length)) &&
           good("fcntl", calls->set_waiting(pair->listener, false));
}

static bool begin_connect(int fd, const struct sockaddr_in *address)
{
    if (!good("fcntl", calls->set_waiting(fd, false)))
        return false;
    if (calls->connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
        return true;
    return errno == EINPROGRESS || good("connect", -1);
}

/*
 * Returns 1 if the socket is connected, 0 if it is not yet, or -1 after a failure. Both ends take
 * part, since those of SDP agree when they are used.
 */
static int is_connected(int fd, int server)
{
    struct pollfd fds[2] = {{server, POLLIN, 0}, {fd, POLLOUT, 0}};
    const struct pollfd *entry = &fds[1];
    int error = 0;
    socklen_t length = sizeof(error);

    if (calls->poll(fds, 2, 0) <= 0 || !(entry->revents & (POLLOUT | POLLERR | POLLHUP)))
        return 0;
    if (!good("getsockopt", calls->get_option(fd, SOL_SOCKET, SO_ERROR, &error, &length)))
        return -1;
    errno = error ? error : ECONNREFUSED;
    if (error == 0 && !(entry->revents & (POLLERR | POLLHUP)))
        return 1;
    (void)good("connect", -1);
    return -1;
}

/* Returns false if accepting fails for good. A connection that was lost is none. */
static bool try_accept(struct socket_pair *pair)
{
    int fd = calls->accept(pair->listener, NULL, NULL);

    if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return true;
    if (!good("accept", fd))
        return true;       /* once more: a fault happens once */
    if (pair->server >= 0) /* its client has connected anew */
        (void)good("close", calls->close(pair->server));
    pair->server = fd;
    return good("fcntl", calls->set_waiting(fd, false));
}

/*
 * The client is looked at when the server has its end, or when that takes long: a look at an SDP
 * socket may wait a short time for the other end, which this thread has.
 */
static bool connect_both(struct socket_pair *pair)
{
    uint64_t end_us = end_of_step(), look_us = find_now_us() + LOOK_US;
    int connected = 0;

    while (connected == 0 || pair->server < 0) {
        if (!try_accept(pair))
            return false;
        if (connected == 0 && (pair->server >= 0 || find_now_us() > look_us))
            connected = is_connected(pair->client, pair->server);
        if (connected < 0)
            return false;
        if (connected && pair->server < 0 && !strict && find_now_us() > end_us)
            return false; /* the accepted one was lost, and its client knows soon */
        if (is_over(end_us, connected ? "an accepted socket" : "a connected socket"))
            return false;
        if (connected == 0 || pair->server < 0)
            turn(pair->server < 0 ? pair->listener : -1, POLLIN,
                 pair->server < 0 ? -1 : pair->client, POLLOUT);
    }
    return true;
}

bool sockets_open(struct socket_pair *pair)
{
    struct sockaddr_in address;

    *pair = (struct socket_pair){-1, -1, -1};
    if (!listen_open(pair, &address))
        return false;
    pair->client = calls->socket(AF_INET, SOCK_STREAM, 0);
    return good("socket", pair->client) && begin_connect(pair->client, &address) &&
           connect_both(pair);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)good("close", calls->close(*fd));
    *fd = -1;
}

void sockets_close(struct socket_pair *pair)
{
    close_one(&pair->client);
    close_one(&pair->server);
    close_one(&pair->listener);
}

void sockets_refused(void)
{
    struct sockaddr_in nobody = {
        .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = calls->socket(AF_INET, SOCK_STREAM, 0);
    uint64_t end_us = end_of_step();
    bool was_strict = strict;

    if (!good("socket", fd))
        return;
    strict = false;
    if (begin_connect(fd, &nobody)) {
        while (is_connected(fd, -1) == 0 && !is_over(end_us, "the refusal"))
            turn(fd, POLLOUT, -1, 0);
    }
    strict = was_strict;
    (void)good("close", calls->close(fd));
}

/* ---- Traffic --------------------------------------------------------------------------------- */

static unsigned char from[LARGE], to[LARGE];

/* Returns false after a failure. */
static bool push(int fd, size_t length, size_t *sent)
{
    ssize_t result = calls->send(fd, from + *sent, length - *sent, MSG_NOSIGNAL);

    if (result >= 0)
        *sent += (size_t)result;
    return result >= 0 || errno == EAGAIN || errno == EINTR || good("send", result);
}

static bool pull(int fd, size_t length, size_t *received)
{
    ssize_t result = calls->receive(fd, to + *received, length - *received, 0);

    if (result > 0)
        *received += (size_t)result;
    if (result == 0 && strict)
        find_say("the stream ends early");
    return result > 0 || (result < 0 && (errno == EAGAIN || errno == EINTR)) ||
           (result < 0 && good("receive", result));
}

static bool move(int source, int sink, size_t length)
{
    uint64_t end_us = end_of_step();
    size_t sent = 0, received = 0;
    bool alive = true;

    find_fill(from, length, ++seed);
    while (alive && received < length && !is_over(end_us, "data")) {
        if (sent < length)
            alive = push(source, length, &sent);
        if (alive)
            alive = pull(sink, length, &received);
        if (alive && received < length)
            turn(sink, POLLIN, sent < length ? source : -1, POLLOUT);
    }
    if (!find_is_filled(to, received, seed))
        find_say("%zu octets are not what was sent", received);
    return received == length;
}

struct sender {
    int fd;
    bool sent;
};

/* A thread, without findings of its own: the receiver sees what it has done. */
static void *send_all(void *argument)
{
    struct sender *sender = argument;
    size_t sent = 0;

    while (sent < LARGE) {
        ssize_t result = calls->send(sender->fd, from + sent, LARGE - sent, MSG_NOSIGNAL);

        if (result < 0 && errno != EINTR)
            break;
        sent += result > 0 ? (size_t)result : 0;
    }
    sender->sent = sent == LARGE;
    if (sent < LARGE)
        (void)calls->shutdown(sender->fd, SHUT_WR);
    return NULL;
}

static bool set_limits(const struct socket_pair *pair)
{
    struct timeval limit = {(time_t)(find_limit_us() / 1000000u), 0};

    if (calls->set_option &&
        (!good("setsockopt",
               calls->set_option(pair->client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit))) ||
         !good("setsockopt",
               calls->set_option(pair->server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))))
        return false;
    return good("fcntl", calls->set_waiting(pair->client, true)) &&
           good("fcntl", calls->set_waiting(pair->server, true));
}

/* A failed sender shuts its direction down; if that fails, too, the receiver's limit ends it. */
static bool receive_all(int fd, size_t *received)
{
    while (*received < LARGE) {
        ssize_t result = calls->receive(fd, to + *received, LARGE - *received, 0);

        if (result > 0)
            *received += (size_t)result;
        else if (result == 0 || errno != EINTR)
            return result == 0 || errno == EAGAIN || good("receive", result);
    }
    return true;
}

/* Both ends wait in their calls, so long data may go from memory to memory. */
static bool move_waiting(const struct socket_pair *pair)
{
    struct sender sender = {pair->client, false};
    size_t received = 0;
    pthread_t thread;

    if (!set_limits(pair))
        return false;
    find_fill(from, LARGE, ++seed);
    if (pthread_create(&thread, NULL, send_all, &sender) != 0) {
        find_say("the scenario's own thread fails");
        return false;
    }
    (void)receive_all(pair->server, &received);
    if (received < LARGE)
        (void)calls->shutdown(pair->server, SHUT_RDWR); /* so that the sender ends */
    (void)pthread_join(thread, NULL);
    if (!find_is_filled(to, received, seed))
        find_say("%zu octets are not what was sent", received);
    if (sender.sent && received < LARGE && strict)
        find_say("%zu octets of %u have come", received, LARGE);
    return received == LARGE && good("fcntl", calls->set_waiting(pair->client, false)) &&
           good("fcntl", calls->set_waiting(pair->server, false));
}

static bool end_stream(const struct socket_pair *pair)
{
    uint64_t end_us = end_of_step();
    ssize_t result = -1;
    unsigned char octet;

    if (!good("shutdown", calls->shutdown(pair->client, SHUT_WR)))
        return false;
    do {
        turn(pair->server, POLLIN, -1, 0);
        result = calls->receive(pair->server, &octet, 1, 0);
        if (result > 0)
            find_say("data behind the end of the stream");
        if (result == 0 || (errno != EAGAIN && errno != EINTR))
            return good("receive", result);
    } while (!is_over(end_us, "the end of the stream"));
    return false;
}

void sockets_traffic(const struct socket_pair *pair)
{
    bool up = move(pair->client, pair->server, 100) && move(pair->server, pair->client, 1) &&
              move(pair->server, pair->client, LARGE) && move_waiting(pair) &&
              move(pair->client, pair->server, 5000) && end_stream(pair);

    if (strict && !up)
        find_say("the traffic has ended early");
}

/* ---- The bystander --------------------------------------------------------------------------- */

static bool may_try_again(bool last)
{
    return errno == EAGAIN || errno == EINTR || (!last && (errno == ENOMEM || errno == ENOBUFS));
}

void sockets_ping(const struct socket_pair *pair, bool last)
{
    unsigned char out[500], in[500];
    uint64_t end_us = find_now_us() + find_limit_us() / (last ? 1 : 10);
    size_t sent = 0, received = 0;

    find_fill(out, sizeof(out), 9);
    while (received < sizeof(in)) {
        ssize_t result = 0;

        if (sent < sizeof(out))
            result = calls->send(pair->client, out + sent, sizeof(out) - sent, MSG_NOSIGNAL);
        if (result < 0 && !may_try_again(last))
            break;
        sent += result > 0 ? (size_t)result : 0;
        if (sent == 0 && !last && find_now_us() > end_us)
            return; /* there is no memory for ever */
        result = calls->receive(pair->server, in + received, sizeof(in) - received, 0);
        if (result == 0 || (result < 0 && !may_try_again(last)))
            break;
        received += result > 0 ? (size_t)result : 0;
        if (find_now_us() > end_us + find_limit_us())
            break;
        if (received < sizeof(in)) {
            struct pollfd entry = {pair->server, POLLIN, 0};

            (void)calls->poll(&entry, 1, 1);
        }
    }
    if (received < sizeof(in))
        find_say("the bystander fails: %s", strerror(errno));
    else if (!find_is_filled(in, sizeof(in), 9))
        find_say("the bystander's data is wrong");
}
