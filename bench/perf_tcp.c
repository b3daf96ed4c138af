/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_tcp.h"

#include "common/tcp.h"
#include "tdi/iwarp/iw_crc.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The smallest buffer of a stream's receiver, and the request for one message. */
#define STREAM_ROOM  ((size_t)64 * 1024)
#define REQUEST_SIZE ((size_t)16)
/* The piece whose CRC is computed before it is sent. */
#define SUM_ROOM ((size_t)256 * 1024)

/* Sets the congestion control that the user names, or leaves the system's. */
static bool set_congestion(int sd, const char *name)
{
    if (name[0] == '\0' ||
        setsockopt(sd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0)
        return true;
    complain("congestion control \"%s\": %s", name, strerror(errno));
    return false;
}

bool reference_open(struct perf_tcp *tcp, int sd, const struct perf_params *params)
{
    memset(tcp, 0, sizeof(*tcp));
    tcp->sd = sd;
    tcp->params = params;
    tcp->room = params->size > STREAM_ROOM ? (size_t)params->size : STREAM_ROOM;
    tcp->buffer = malloc(tcp->room);
    if (tcp->buffer == NULL) {
        complain("out of memory");
        reference_close(tcp);
        return false;
    }
    memset(tcp->buffer, 1, tcp->room);
    if (tcp_no_delay(sd) && set_congestion(sd, params->congestion))
        return true;
    reference_close(tcp);
    return false;
}

void reference_close(struct perf_tcp *tcp)
{
    if (tcp->sd >= 0)
        (void)close(tcp->sd);
    free(tcp->buffer);
    tcp->buffer = NULL;
    tcp->sd = -1;
}

/*
 * With MSG_DONTWAIT, EAGAIN means that a poll found nothing. Streams block in either mode: TCP is
 * fastest so, and that is what the library is compared with.
 */
static int call_flags(const struct perf_tcp *tcp)
{
    bool poll = tcp->params->mode == PERF_POLL && tcp->params->measure == PERF_LAT;

    return poll ? MSG_DONTWAIT | MSG_NOSIGNAL : MSG_NOSIGNAL;
}

static bool send_part(struct perf_tcp *tcp, const unsigned char *bytes, size_t length)
{
    const int flags = call_flags(tcp);
    size_t sent = 0;

    while (sent < length) {
        ssize_t count = send(tcp->sd, bytes + sent, length - sent, flags);

        if (count >= 0) {
            sent += (size_t)count;
        } else if (errno != EAGAIN && errno != EINTR) {
            complain_errno("TCP reference: send");
            return false;
        }
    }
    return true;
}

static bool send_bytes(struct perf_tcp *tcp, size_t length)
{
    for (size_t sent = 0; tcp->params->sums && sent < length; sent += SUM_ROOM) {
        size_t part = length - sent < SUM_ROOM ? length - sent : SUM_ROOM;

        tcp->sum = iw_crc_update(tcp->sum, tcp->buffer + sent, part);
        if (!send_part(tcp, tcp->buffer + sent, part))
            return false;
    }
    return tcp->params->sums || send_part(tcp, tcp->buffer, length);
}

/* Receives at most as much as there is room for. Returns 0 after a message. */
static size_t receive_some(struct perf_tcp *tcp, size_t room)
{
    const int flags = call_flags(tcp);
    ssize_t count;

    do {
        count = recv(tcp->sd, tcp->buffer, room, flags);
    } while (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (count < 0)
        complain_errno("TCP reference: recv");
    else if (count == 0)
        complain("TCP reference: the peer has closed the connection");
    else if (tcp->params->sums)
        tcp->sum = iw_crc_update(tcp->sum, tcp->buffer, (size_t)count);
    return count > 0 ? (size_t)count : 0;
}

/* Receives exactly this many bytes, in pieces as large as possible. */
static bool receive_bytes(struct perf_tcp *tcp, uint64_t length)
{
    while (length > 0) {
        size_t count = receive_some(tcp, length < tcp->room ? (size_t)length : tcp->room);

        if (count == 0)
            return false;
        length -= count;
    }
    return true;
}

/* Ping-pong: sends a number of bytes and receives another number. */
static bool ask_one_by_one(struct perf_tcp *tcp, uint64_t iters, size_t there, size_t back)
{
    perf_sampler_start(&tcp->sampler);
    for (uint64_t i = 0; i < iters; i++) {
        if (!send_bytes(tcp, there) || !receive_bytes(tcp, back))
            return false;
        perf_sampler_tick(&tcp->sampler);
    }
    return true;
}

static bool answer_one_by_one(struct perf_tcp *tcp, uint64_t iters, size_t there, size_t back)
{
    for (uint64_t i = 0; i < iters; i++)
        if (!receive_bytes(tcp, there) || !send_bytes(tcp, back))
            return false;
    return true;
}

static bool stream_out(struct perf_tcp *tcp, uint64_t iters)
{
    for (uint64_t i = 0; i < iters; i++)
        if (!send_bytes(tcp, (size_t)tcp->params->size))
            return false;
    return receive_bytes(tcp, 1);
}

static bool stream_in(struct perf_tcp *tcp, uint64_t iters)
{
    return receive_bytes(tcp, iters * tcp->params->size) && send_bytes(tcp, 1);
}

/* Keeps depth requests open: each complete message is followed by a new request. */
static bool ask_in_advance(struct perf_tcp *tcp, uint64_t iters)
{
    uint64_t ahead = iters < tcp->params->depth ? iters : tcp->params->depth;

    for (uint64_t i = 0; i < ahead; i++)
        if (!send_bytes(tcp, REQUEST_SIZE))
            return false;
    for (uint64_t i = 0; i < iters; i++) {
        if (!receive_bytes(tcp, tcp->params->size))
            return false;
        if (i + ahead < iters && !send_bytes(tcp, REQUEST_SIZE))
            return false;
    }
    return true;
}

/* Takes as many requests as have arrived with one call. */
static bool answer_in_advance(struct perf_tcp *tcp, uint64_t iters)
{
    uint64_t bytes = 0;
    uint64_t answered = 0;

    while (answered < iters) {
        size_t count = receive_some(tcp, tcp->room);

        if (count == 0)
            return false;
        bytes += count;
        for (; answered < bytes / REQUEST_SIZE; answered++)
            if (!send_bytes(tcp, (size_t)tcp->params->size))
                return false;
    }
    return true;
}

bool reference_client(struct perf_tcp *tcp, uint64_t iters)
{
    size_t size = (size_t)tcp->params->size;
    bool read = tcp->params->op == PERF_READ;

    if (tcp->params->measure == PERF_LAT)
        return ask_one_by_one(tcp, iters, read ? REQUEST_SIZE : size, size);
    return read ? ask_in_advance(tcp, iters) : stream_out(tcp, iters);
}

bool reference_server(struct perf_tcp *tcp, uint64_t iters)
{
    size_t size = (size_t)tcp->params->size;
    bool read = tcp->params->op == PERF_READ;

    if (tcp->params->measure == PERF_LAT)
        return answer_one_by_one(tcp, iters, read ? REQUEST_SIZE : size, size);
    return read ? answer_in_advance(tcp, iters) : stream_in(tcp, iters);
}
