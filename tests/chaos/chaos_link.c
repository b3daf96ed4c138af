/* SPDX-License-Identifier: BSD-2-Clause */
#include "chaos/chaos_link.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STREAMS 2048u
#define PIECE   16384u
/* No octet of the MPA Request and Reply is altered: no CRC protects them. */
#define STARTUP 2048u
/* The Request with a hello is longer. */
#define REQUEST 64u

/* Each server of LAYER_IT has a link, and each pair of an upper layer. */
#define LINKS (CHAOS_WORKERS + CHAOS_PAIRS)
/* What is altered comes behind this in a stream that begins with something else than MPA. */
#define REPLY "MPA ID Rep Frame"

struct link {
    int listener;
    unsigned server;
    bool is_of_pair;
    uint32_t pair;
};

struct way {
    unsigned char data[PIECE];
    size_t have, done;
    uint64_t total; /* octets that were forwarded */
    uint64_t held_until_us;
    bool ended;
};

struct stream {
    int fds[2];
    struct way ways[2]; /* from fds[i] to fds[1 - i] */
    enum link_fault fault;
    unsigned way;    /* the one with the fault */
    uint64_t octet;  /* before which it happens */
    uint64_t number; /* random */
    uint64_t altered_us;
    bool known;
    bool starts_late; /* octet counts from the Reply on */
    uint32_t pair, attempt;
};

const char *const link_fault_names[LINK_FAULTS] = {
    "clean", "delayed", "stalled", "reset", "cut", "altered", "split",
};
uint64_t link_counts[LINK_FAULTS];

static struct link links[LINKS];
static unsigned link_count;
static struct stream *streams[STREAMS];
static unsigned stream_count;
static struct pollfd polled[LINKS + 2 * STREAMS];

/* Returns the port. */
static uint16_t link_open(struct link link)
{
    struct sockaddr_in address = chaos_address_of(link.server, 0);
    socklen_t length = sizeof(address);

    link.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(link.listener, (struct sockaddr *)&address, length) != 0 ||
        listen(link.listener, 256) != 0 ||
        getsockname(link.listener, (struct sockaddr *)&address, &length) != 0) {
        perror("a link's own port");
        exit(2);
    }
    links[link_count++] = link;
    return address.sin_port;
}

static void links_open_of(const struct chaos_worker *client)
{
    for (uint32_t i = 0; i < client->pairs; i++) {
        struct link link = {
            .server = client->server, .is_of_pair = true, .pair = client->first_pair + i};

        atomic_store(&chaos->pairs[link.pair].link_port, link_open(link));
    }
}

void links_open(void)
{
    for (unsigned i = 0; i < chaos->workers_all && !chaos->on_devices; i++) {
        struct chaos_worker *worker = &chaos->workers[i];

        if (worker->layer == LAYER_IT && worker->is_server)
            atomic_store(&worker->link_port, link_open((struct link){.server = i}));
        else if (worker->layer != LAYER_SDP)
            links_open_of(worker);
    }
}

/* ---- One stream ------------------------------------------------------------------------------ */

static void stream_free(unsigned index, bool reset)
{
    struct stream *stream = streams[index];
    struct linger linger = {.l_onoff = reset, .l_linger = 0};

    for (unsigned i = 0; i < 2; i++) {
        (void)setsockopt(stream->fds[i], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        (void)close(stream->fds[i]);
    }
    free(stream);
    streams[index] = streams[--stream_count];
}

/* Gets the fault of this attempt. */
static void plan(struct stream *stream, uint32_t pair, uint32_t attempt)
{
    static const enum link_fault faults[16] = {
        LINK_DELAY, LINK_STALL, LINK_STALL, LINK_RESET, LINK_RESET,
        LINK_CUT,   LINK_ALTER, LINK_ALTER, LINK_ALTER, LINK_SPLIT,
    };

    stream->known = true;
    stream->pair = pair;
    stream->attempt = attempt;
    stream->number = chaos_number(1, pair, attempt);
    stream->fault = faults[stream->number % 16];
    stream->way = stream->number >> 4 & 1;
    stream->octet = (stream->number >> 8) % ((stream->number >> 5 & 7) ? 200000 : 600);
    if (stream->fault == LINK_ALTER)
        stream->octet += STARTUP;
    if (stream->fault == LINK_DELAY || stream->fault == LINK_SPLIT)
        link_counts[stream->fault]++;
}

/* Finds the hello in the MPA Request. */
static void find_plan(struct stream *stream)
{
    const struct way *way = &stream->ways[0];
    uint64_t magic = CHAOS_MAGIC;
    const unsigned char *at = memmem(way->data, way->have, &magic, sizeof(magic));
    struct chaos_hello hello;

    stream->known = true;
    if (!at || (size_t)(way->data + way->have - at) < sizeof(hello))
        return;
    memcpy(&hello, at, sizeof(hello));
    plan(stream, hello.pair, hello.attempt);
}

/* From the Reply on a CRC protects what comes behind it. */
static void find_reply(struct stream *stream)
{
    const struct way *way = &stream->ways[1];

    if (!stream->starts_late || !memmem(way->data, way->have, REPLY, strlen(REPLY)))
        return;
    stream->starts_late = false;
    if (stream->fault == LINK_ALTER)
        stream->octet += stream->ways[stream->way].total + stream->ways[stream->way].have;
}

static void stream_open(const struct link *link, int fd)
{
    struct sockaddr_in address =
        chaos_address_of(link->server, atomic_load(&chaos->workers[link->server].port));
    struct stream *stream = calloc(1, sizeof(*stream));
    int one = 1;

    stream->fds[0] = fd;
    stream->fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    for (unsigned i = 0; i < 2; i++)
        (void)setsockopt(stream->fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (link->is_of_pair)
        plan(stream, link->pair, atomic_load(&chaos->pairs[link->pair].attempt));
    stream->starts_late = link->is_of_pair;
    streams[stream_count++] = stream;
    if (stream_count == STREAMS ||
        (connect(stream->fds[1], (struct sockaddr *)&address, sizeof(address)) != 0 &&
         errno != EINPROGRESS))
        stream_free(stream_count - 1, true);
}

/* Lets the fault happen before the piece goes on. Returns false if the stream is over. */
static bool run_fault(struct stream *stream, struct way *way, unsigned index, uint64_t now)
{
    uint64_t at = stream->octet - way->total;

    if (stream->fault == LINK_DELAY)
        way->held_until_us = now + stream->number % 20000;
    if (way != &stream->ways[stream->way] || stream->octet < way->total || at >= way->have ||
        (stream->fault == LINK_ALTER && stream->starts_late))
        return true;
    switch (stream->fault) {
    case LINK_STALL:
        way->held_until_us = now + 100000 + stream->number % 1900000;
        break;
    case LINK_RESET:
    case LINK_CUT:
        chaos_harm(stream->pair, stream->attempt);
        link_counts[stream->fault]++;
        if (stream->fault == LINK_CUT)
            (void)send(stream->fds[1 - stream->way], way->data, at, MSG_NOSIGNAL);
        stream_free(index, stream->fault == LINK_RESET);
        return false;
    case LINK_ALTER:
        chaos_harm(stream->pair, stream->attempt);
        way->data[at] ^= (unsigned char)(1 + (stream->number >> 40) % 255);
        stream->altered_us = now;
        break;
    default:
        return true;
    }
    link_counts[stream->fault]++;
    stream->fault = LINK_CLEAN;
    return true;
}

static bool is_gone(ssize_t result)
{
    return result < 0 && errno != EAGAIN && errno != EINTR;
}

/* Takes the next piece. Returns false if the stream is over. */
static bool take(struct stream *stream, unsigned from, unsigned index, uint64_t now)
{
    struct way *way = &stream->ways[from];
    ssize_t got = recv(stream->fds[from], way->data + way->have, PIECE - way->have, 0);

    if (is_gone(got)) {
        stream_free(index, true);
        return false;
    }
    if (got == 0) {
        way->ended = true;
        (void)shutdown(stream->fds[1 - from], SHUT_WR);
        if (stream->ways[1 - from].ended || !stream->known) {
            stream_free(index, false);
            return false;
        }
        return true;
    }
    if (got < 0)
        return true;
    way->have += (size_t)got;
    if (from == 0 && !stream->known) {
        if (way->have < REQUEST)
            return true;
        find_plan(stream);
    }
    if (from == 1)
        find_reply(stream);
    return run_fault(stream, way, index, now);
}

static bool give(struct stream *stream, unsigned from, unsigned index)
{
    struct way *way = &stream->ways[from];
    size_t length = way->have - way->done;
    ssize_t put;

    if (stream->fault == LINK_SPLIT && length > 1)
        length = 1 + (stream->number ^ way->total * 0x9e3779b97f4a7c15u) % length;
    put = send(stream->fds[1 - from], way->data + way->done, length, MSG_NOSIGNAL);
    if (is_gone(put)) {
        stream_free(index, true);
        return false;
    }
    if (put > 0) {
        way->done += (size_t)put;
        way->total += (size_t)put;
    }
    if (way->done == way->have)
        way->done = way->have = 0;
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool waits_to_give(const struct stream *stream, unsigned from)
{
    return stream->ways[from].have != 0 && stream->known;
}

static struct pollfd poll_of(const struct stream *stream, unsigned side, uint64_t now)
{
    const struct way *in = &stream->ways[side];
    const struct way *out = &stream->ways[1 - side];
    struct pollfd entry = {.fd = stream->fds[side]};

    if (!in->ended && !waits_to_give(stream, side) && now >= in->held_until_us)
        entry.events |= POLLIN;
    if (waits_to_give(stream, 1 - side) && now >= out->held_until_us)
        entry.events |= POLLOUT;
    if (!entry.events)
        entry.fd = -1;
    return entry;
}

static void stream_run(unsigned index, const struct pollfd entries[2], uint64_t now)
{
    struct stream *stream = streams[index];

    for (unsigned side = 0; side < 2; side++) {
        short events = entries[side].events & POLLIN ? entries[side].revents : 0;

        if ((events & (POLLIN | POLLHUP | POLLERR)) && !take(stream, side, index, now))
            return;
        events = entries[side].events & POLLOUT ? entries[side].revents : 0;
        if ((events & (POLLOUT | POLLHUP | POLLERR)) && !give(stream, 1 - side, index))
            return;
    }
    if (stream->altered_us && now > stream->altered_us + 20000000u * (unsigned)chaos->time_factor) {
        chaos_fail("an altered octet went unnoticed: pair %u, attempt %u", stream->pair,
                   stream->attempt);
        stream->altered_us = 0;
    }
}

static void accept_all(void)
{
    for (unsigned i = 0; i < link_count; i++) {
        int fd;

        while (polled[i].revents &&
               (fd = accept4(links[i].listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
            stream_open(&links[i], fd);
    }
}

void links_run(void)
{
    uint64_t now = chaos_now_us();

    for (unsigned i = 0; i < link_count; i++)
        polled[i] = (struct pollfd){.fd = links[i].listener, .events = POLLIN};
    for (unsigned i = 0; i < stream_count; i++) {
        for (unsigned side = 0; side < 2; side++)
            polled[link_count + 2 * i + side] = poll_of(streams[i], side, now);
    }
    if (poll(polled, link_count + 2 * stream_count, 2) <= 0)
        return;
    now = chaos_now_us();
    /* From the end, since the last one takes the place of one that is freed. */
    for (unsigned i = stream_count; i-- > 0;)
        stream_run(i, &polled[link_count + 2 * i], now);
    accept_all();
}

void links_close(void)
{
    while (stream_count > 0)
        stream_free(stream_count - 1, true);
    for (unsigned i = 0; i < link_count; i++)
        (void)close(links[i].listener);
}
