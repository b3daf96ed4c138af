/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The patterns of busy over plain TCP: threads that poll their own sockets, and one waiting thread
 * that serves them all. It shows what the machine can do, so there is no limit. A message begins
 * with a header that says how many octets follow and how many are wanted back.
 */
#include "scenario.h"

#include "common/tcp.h"
#include "scale.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS_MAX      16u
#define SOCKETS_THREADS  2u
#define SOCKETS_READS    8u /* open on each socket, as in busy */
#define SOCKETS_SIZE     65536u
#define SOCKETS_PATTERNS 3u
#define SOCKETS_TURNS    16u /* between two reads of a clock */

struct header {
    uint64_t follow;
    uint64_t wanted;
};

struct pattern {
    const char *name;
    bool read;
    uint32_t size;
};

static const struct pattern patterns[SOCKETS_PATTERNS] = {{"Writes, 64 KiB", false, SOCKETS_SIZE},
                                                          {"Writes, 64 B", false, 64},
                                                          {"Reads, 64 KiB", true, SOCKETS_SIZE}};

/* A socket of the client. */
struct client {
    int sd;
    size_t sent;       /* octets sent of the current message */
    uint64_t messages; /* done */
    uint64_t asked;    /* octets that are on their way here */
    uint64_t got;      /* octets received of the current answer */
    uint64_t until_end;
};

/* A socket of the server. */
struct served {
    int sd;
    struct header header;
    size_t header_got;
    uint64_t follow; /* octets to come after the header */
    uint64_t owed;   /* octets to send */
    bool blocked;
};

struct sockets {
    struct scenario *scenario;
    int channel;
    struct client clients[SOCKETS_MAX];
};

struct worker {
    struct sockets *sockets;
    const struct pattern *pattern;
    unsigned first, step, count;
    double end;
    bool good;
    unsigned char buffer[SOCKETS_SIZE];
};

/*
 * Returns the octets moved, or 0 if there are none now. Returns a negative number after a message
 * if the stream is over.
 */
static ssize_t moved(ssize_t count, bool receiving)
{
    if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)))
        return count > 0 ? count : 0;
    if (count == 0 && receiving)
        complain("TCP: the peer has closed a connection");
    else
        complain_errno("TCP");
    return -1;
}

/* Does as the library does between two ends of one host: no congestion control that paces. */
static bool sockets_tune(int sd)
{
    static const char control[] = "reno";

    (void)setsockopt(sd, IPPROTO_TCP, TCP_CONGESTION, control, sizeof(control) - 1);
    return tcp_no_delay(sd);
}

/* ---- The client ------------------------------------------------------------------------------ */

/* Makes at most one call. The message is in the buffer. */
static bool client_send(struct worker *worker, struct client *client, size_t size)
{
    ssize_t count = moved(send(client->sd, worker->buffer + client->sent, size - client->sent,
                               MSG_DONTWAIT | MSG_NOSIGNAL),
                          false);

    if (count < 0)
        return false;
    client->sent += (size_t)count;
    if (client->sent == size) {
        client->sent = 0;
        client->messages++;
    }
    return true;
}

static bool client_ask(struct client *client, uint64_t size)
{
    struct header header = {.wanted = size};

    client->asked += size;
    return tcp_send(client->sd, &header, sizeof(header));
}

static bool client_receive(struct worker *worker, struct client *client)
{
    ssize_t count = client->asked == 0
                        ? 0
                        : moved(recv(client->sd, worker->buffer, SOCKETS_SIZE, MSG_DONTWAIT), true);

    if (count < 0)
        return false;
    client->asked -= (uint64_t)count;
    client->got += (uint64_t)count;
    client->messages += client->got / SOCKETS_SIZE;
    client->got %= SOCKETS_SIZE;
    return true;
}

static bool client_turn(struct worker *worker, struct client *client)
{
    const struct pattern *pattern = worker->pattern;

    if (!pattern->read)
        return client_send(worker, client, pattern->size);
    while (client->asked + SOCKETS_SIZE <= (uint64_t)SOCKETS_READS * SOCKETS_SIZE)
        if (!client_ask(client, SOCKETS_SIZE))
            return false;
    return client_receive(worker, client);
}

/* Finishes everything that has begun, and waits for an octet that follows it. */
static bool client_finish(struct worker *worker, struct client *client)
{
    client->until_end = client->messages;
    while (client->sent > 0)
        if (!client_send(worker, client, worker->pattern->size))
            return false;
    if (!client_ask(client, 1))
        return false;
    while (client->asked > 0)
        if (!client_receive(worker, client))
            return false;
    client->got = 0;
    return true;
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    struct header header = {.follow = worker->pattern->size - sizeof(header)};
    unsigned turns = 0;

    memcpy(worker->buffer, &header, sizeof(header));
    worker->good = true;
    while (worker->good && (++turns % SOCKETS_TURNS != 0 || scale_clock() < worker->end))
        for (unsigned i = worker->first; worker->good && i < worker->count; i += worker->step)
            worker->good = client_turn(worker, &worker->sockets->clients[i]);
    for (unsigned i = worker->first; worker->good && i < worker->count; i += worker->step)
        worker->good = client_finish(worker, &worker->sockets->clients[i]);
    return NULL;
}

/*
 * Gives the messages a second of all, and the share of the slowest socket relative to a fair one.
 */
static bool sockets_run(struct sockets *sockets, const struct pattern *pattern, unsigned count,
                        unsigned threads, double *rate, double *share)
{
    static struct worker workers[SOCKETS_THREADS];
    pthread_t ids[SOCKETS_THREADS];
    double start = scale_clock();
    double total = 0;
    double in_time = 0;
    double least = 0;
    bool good = true;

    for (unsigned i = 0; i < count; i++)
        sockets->clients[i] = (struct client){.sd = sockets->clients[i].sd};
    for (unsigned t = 0; t < threads; t++) {
        workers[t].sockets = sockets;
        workers[t].pattern = pattern;
        workers[t].first = t;
        workers[t].step = threads;
        workers[t].count = count;
        workers[t].end = start + sockets->scenario->seconds;
        if (t > 0 && pthread_create(&ids[t], NULL, worker_run, &workers[t]) != 0) {
            complain("no thread");
            return false;
        }
    }
    (void)worker_run(&workers[0]);
    for (unsigned t = 0; t < threads; t++) {
        if (t > 0)
            (void)pthread_join(ids[t], NULL);
        good &= workers[t].good;
    }
    for (unsigned i = 0; i < count; i++) {
        double done = (double)sockets->clients[i].until_end;

        total += (double)sockets->clients[i].messages;
        in_time += done;
        least = i == 0 || done < least ? done : least;
    }
    *rate = total / (scale_clock() - start);
    *share = in_time > 0 ? least * count / in_time : 1;
    return good;
}

static void sockets_report(struct sockets *sockets, const struct pattern *pattern, const char *name,
                           struct figures figures[3])
{
    bool small = pattern->size < 1024;
    double scale = small ? 1e6 : 1e6 / pattern->size;
    struct scenario_row row = {.scenario = "sockets",
                               .name = name,
                               .unit = small ? "M/s" : "MB/s",
                               .value = figures_quantile(&figures[1], 0.5) / scale,
                               .reference = figures_quantile(&figures[0], 0.5) / scale};
    struct scenario_row fair = {.scenario = "sockets",
                                .name = "... the least share of a socket, compared with a fair one",
                                .unit = "",
                                .value = figures_quantile(&figures[2], 0.5)};

    scenario_report(sockets->scenario, &row);
    scenario_report(sockets->scenario, &fair);
}

static bool sockets_compare(struct sockets *sockets, const struct pattern *pattern, unsigned count,
                            unsigned threads)
{
    struct figures figures[3] = {{.values = NULL}};
    unsigned runs = sockets->scenario->runs;
    char name[64];
    bool good;

    (void)snprintf(name, sizeof(name), "%s, %u sockets, %u thread%s (one)", pattern->name, count,
                   threads, threads == 1 ? "" : "s");
    if (sockets->scenario->match != NULL && strstr(name, sockets->scenario->match) == NULL)
        return true;
    good = figures_open(&figures[0], runs) && figures_open(&figures[1], runs) &&
           figures_open(&figures[2], runs);
    for (unsigned run = 0; good && run < runs; run++) {
        double one = 0;
        double all = 0;
        double share = 0;

        good = sockets_run(sockets, pattern, 1, 1, &one, &share) &&
               sockets_run(sockets, pattern, count, threads, &all, &share);
        figures_add(&figures[0], one);
        figures_add(&figures[1], all);
        figures_add(&figures[2], share);
    }
    if (good)
        sockets_report(sockets, pattern, name, figures);
    for (unsigned i = 0; i < 3; i++)
        figures_close(&figures[i]);
    return good;
}

static bool sockets_drive(struct sockets *sockets)
{
    char text[16];
    uint64_t port;

    if (!scale_hear(sockets->channel, &port))
        return false;
    (void)snprintf(text, sizeof(text), "%u", (unsigned)port);
    for (unsigned i = 0; i < SOCKETS_MAX; i++) {
        sockets->clients[i].sd = tcp_connect("127.0.0.1", text);
        if (sockets->clients[i].sd < 0 || !sockets_tune(sockets->clients[i].sd))
            return false;
    }
    for (unsigned p = 0; p < SOCKETS_PATTERNS; p++)
        for (unsigned threads = 1; threads <= SOCKETS_THREADS; threads++)
            for (unsigned count = 2; count <= SOCKETS_MAX; count *= 2)
                if (!sockets_compare(sockets, &patterns[p], count, threads))
                    return false;
    for (unsigned i = 0; i < SOCKETS_MAX; i++)
        (void)close(sockets->clients[i].sd);
    return true;
}

/* ---- The server ------------------------------------------------------------------------------ */

static void served_parse(struct served *served, const unsigned char *octets, size_t length)
{
    while (length > 0) {
        size_t part;

        if (served->follow > 0) {
            part = served->follow < length ? (size_t)served->follow : length;
            served->follow -= part;
        } else {
            part = sizeof(served->header) - served->header_got;
            part = part < length ? part : length;
            memcpy((unsigned char *)&served->header + served->header_got, octets, part);
            served->header_got += part;
        }
        octets += part;
        length -= part;
        if (served->header_got == sizeof(served->header)) {
            served->header_got = 0;
            served->follow = served->header.follow;
            served->owed += served->header.wanted;
        }
    }
}

/* Returns false if the stream is over, with a message unless the client is done. */
static bool served_turn(struct served *served, unsigned char *buffer, int set, unsigned index)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    ssize_t count = recv(served->sd, buffer, SOCKETS_SIZE, MSG_DONTWAIT);

    if (count == 0)
        return false;
    count = moved(count, true);
    if (count < 0)
        return false;
    served_parse(served, buffer, (size_t)count);
    for (count = 1; count > 0 && served->owed > 0;) {
        size_t length = served->owed < SOCKETS_SIZE ? (size_t)served->owed : SOCKETS_SIZE;

        count = moved(send(served->sd, buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL), false);
        if (count < 0)
            return false;
        served->owed -= (uint64_t)count;
    }
    if (served->blocked == (served->owed > 0))
        return true;
    served->blocked = served->owed > 0;
    if (served->blocked)
        event.events |= EPOLLOUT;
    return epoll_ctl(set, EPOLL_CTL_MOD, served->sd, &event) == 0;
}

static bool sockets_accept(int channel, int set, struct served served[SOCKETS_MAX])
{
    int listener = tcp_listen("127.0.0.1", "0");
    bool good = listener >= 0 && scale_tell(channel, tcp_local_port(listener));

    for (unsigned i = 0; good && i < SOCKETS_MAX; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};

        served[i] = (struct served){.sd = accept(listener, NULL, NULL)};
        good = served[i].sd >= 0 && sockets_tune(served[i].sd) &&
               epoll_ctl(set, EPOLL_CTL_ADD, served[i].sd, &event) == 0;
        if (!good)
            complain_errno("accepting a connection");
    }
    (void)close(listener);
    return good;
}

/* Serves until the client closes. */
static bool sockets_serve(int channel)
{
    static unsigned char buffer[SOCKETS_SIZE];
    struct served served[SOCKETS_MAX];
    struct epoll_event events[SOCKETS_MAX];
    int set = epoll_create1(EPOLL_CLOEXEC);
    bool more = set >= 0 && sockets_accept(channel, set, served);
    bool good = more;

    while (more) {
        int count = epoll_wait(set, events, SOCKETS_MAX, -1);

        for (int i = 0; more && i < count; i++)
            more = served_turn(&served[events[i].data.u32], buffer, set, events[i].data.u32);
    }
    for (unsigned i = 0; good && i < SOCKETS_MAX; i++)
        (void)close(served[i].sd);
    (void)close(set);
    return good;
}

bool scenario_sockets(struct scenario *scenario)
{
    static struct sockets sockets;

    sockets.scenario = scenario;
    sockets.channel = scenario->channel;
    return (scenario->server ? sockets_serve(scenario->channel) : sockets_drive(&sockets)) &&
           scale_meet(scenario->channel);
}
