/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/tcp.h"

#include "common/report.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 30000

static struct addrinfo *look_up(const char *host, const char *port, int flags)
{
    struct addrinfo hints;
    struct addrinfo *found = NULL;
    int error;

    memset(&hints, 0, sizeof(hints));
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    error = getaddrinfo(host, port, &hints, &found);
    if (error != 0)
        complain("%s port %s: %s", host != NULL ? host : "any address", port, gai_strerror(error));
    return error == 0 ? found : NULL;
}

static int listen_on(const struct addrinfo *address)
{
    int on = 1;
    int off = 0;
    int sd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (sd < 0)
        return -1;
    (void)setsockopt(sd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* One IPv6 socket serves IPv4 clients too, where the system lets it. */
    if (address->ai_family == AF_INET6)
        (void)setsockopt(sd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(sd, address->ai_addr, address->ai_addrlen) == 0 && listen(sd, SOMAXCONN) == 0)
        return sd;
    (void)close(sd);
    return -1;
}

int tcp_listen(const char *address, const char *port)
{
    struct addrinfo *list = look_up(address, port, AI_PASSIVE);
    int sd = -1;

    if (list == NULL)
        return -1;
    /* IPv6 first: its "all addresses" includes those of IPv4. */
    for (const struct addrinfo *entry = list; entry != NULL && sd < 0; entry = entry->ai_next)
        if (entry->ai_family == AF_INET6)
            sd = listen_on(entry);
    for (const struct addrinfo *entry = list; entry != NULL && sd < 0; entry = entry->ai_next)
        if (entry->ai_family != AF_INET6)
            sd = listen_on(entry);
    if (sd < 0)
        complain("cannot listen on port %s: %s", port, strerror(errno));
    freeaddrinfo(list);
    return sd;
}

static int connect_to(const struct addrinfo *address)
{
    int sd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (sd < 0)
        return -1;
    if (connect(sd, address->ai_addr, address->ai_addrlen) == 0)
        return sd;
    (void)close(sd);
    return -1;
}

int tcp_connect(const char *host, const char *port)
{
    struct addrinfo *list = look_up(host, port, 0);
    int sd = -1;

    if (list == NULL)
        return -1;
    for (const struct addrinfo *entry = list; entry != NULL && sd < 0; entry = entry->ai_next)
        sd = connect_to(entry);
    if (sd < 0)
        complain("cannot connect to %s port %s: %s", host, port, strerror(errno));
    freeaddrinfo(list);
    return sd;
}

bool tcp_no_delay(int sd)
{
    int on = 1;

    if (setsockopt(sd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0)
        return true;
    complain_errno("TCP_NODELAY");
    return false;
}

unsigned int tcp_local_port(int sd)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(address);
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (getsockname(sd, (struct sockaddr *)&address, &length) != 0)
        return 0;
    if (address.ss_family == AF_INET) {
        memcpy(&v4, &address, sizeof(v4));
        return ntohs(v4.sin_port);
    }
    if (address.ss_family == AF_INET6) {
        memcpy(&v6, &address, sizeof(v6));
        return ntohs(v6.sin6_port);
    }
    return 0;
}

bool tcp_send(int sd, const void *data, size_t length)
{
    const unsigned char *next = data;

    while (length > 0) {
        /* A write to a closed connection fails instead of raising a signal. */
        ssize_t count = send(sd, next, length, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        next += count;
        length -= (size_t)count;
    }
    return true;
}

bool tcp_receive(int sd, void *data, size_t length)
{
    unsigned char *next = data;

    while (length > 0) {
        ssize_t count = recv(sd, next, length, MSG_WAITALL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            errno = ECONNRESET;
        if (count <= 0)
            return false;
        next += count;
        length -= (size_t)count;
    }
    return true;
}

/* Shows what has arrived without taking it from the stream. Returns 0 after a message. */
static size_t peek(int sd, char *buffer, size_t room)
{
    struct pollfd entry = {.fd = sd, .events = POLLIN};
    ssize_t count;
    int ready;

    do {
        ready = poll(&entry, 1, PATIENCE_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        complain("the peer keeps silent");
        return 0;
    }
    count = recv(sd, buffer, room, MSG_PEEK);
    if (count < 0)
        complain_errno("cannot read from the peer");
    else if (count == 0)
        complain("the peer has closed the connection");
    return count > 0 ? (size_t)count : 0;
}

bool tcp_read_line(int sd, char *line)
{
    size_t length = 0;
    bool complete = false;

    while (!complete && length < TCP_LINE_MAX) {
        size_t count = peek(sd, line + length, TCP_LINE_MAX - length);
        const char *newline;

        if (count == 0)
            return false;
        newline = memchr(line + length, '\n', count);
        if (newline != NULL) {
            count = (size_t)(newline - (line + length)) + 1;
            complete = true;
        }
        if (!tcp_receive(sd, line + length, count)) {
            complain_errno("cannot read from the peer");
            return false;
        }
        length += count;
    }
    if (!complete) {
        complain("the peer's line is too long");
        return false;
    }
    line[length - 1] = '\0';
    return true;
}
