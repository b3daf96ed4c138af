/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_... MEMORY WORKER: a server or client of stream sockets. A client has a thread for each of
 * its pairs, which makes one connection after the other; a server has one for each connection.
 * Requests and answers have octets that the plan decides, and the receiver checks each of them.
 */
#include "chaos/chaos_stream.h"
#include "support/adapter.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE       200000u
#define SMALL       4000u
#define PATIENCE_US (30000000ull * (unsigned)chaos->time_factor)
/* Only the program notices an altered length: octets are waited for that nobody sends. */
#define GIVE_UP_US 5000000u
#define STEP_US    500000u /* a longer step means that the process was stopped */

struct hello {
    uint64_t magic;
    uint32_t pair, attempt;
    uint32_t worker, incarnation;
};

struct request {
    uint32_t length, answer; /* octets behind this header, and of the answer */
    uint32_t seed;
};

/* One connection, as one of its ends knows it. */
struct talk {
    struct stream stream;
    struct hello hello;   /* magic is 0: not known yet */
    uint32_t incarnation; /* of the server, when the client began */
    uint32_t changes;     /* of the server's address, when this end began */
    unsigned rounds;
    unsigned char octets[sizeof(struct request) + LARGE];
};

static unsigned self;
static struct chaos_worker *worker;
static uint32_t incarnation; /* of this process */
static uint64_t over_us;     /* when it ends */

/* ---- Octets ---------------------------------------------------------------------------------- */

static void fill(unsigned char *octets, size_t length, uint32_t seed)
{
    for (size_t i = 0; i < length; i++)
        octets[i] = (unsigned char)(seed * 31 + i + i / 251);
}

static bool is_filled(const unsigned char *octets, size_t length, uint32_t seed)
{
    for (size_t i = 0; i < length; i++) {
        if (octets[i] != (unsigned char)(seed * 31 + i + i / 251))
            return false;
    }
    return true;
}

/* All connections end: the others may know that before the first one does. */
static void leave(void)
{
    chaos_leave(worker);
}

static bool is_over(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (!atomic_load(&chaos->stop) && chaos_now_us() < over_us)
        return false;
    return pthread_once(&once, leave) == 0;
}

/* ---- The end of a connection ----------------------------------------------------------------- */

static const struct chaos_worker *peer_of(const struct talk *talk)
{
    return &chaos->workers[worker->is_server ? talk->hello.worker : worker->server];
}

static bool was_removed(const struct talk *talk)
{
    return talk->changes % 2 || talk->changes != chaos_address_changes();
}

/*
 * Whether a fault explains the end. A lack of descriptors explains it at the beginning only. An
 * address that was removed explains it at the beginning, since the server gives up when the hello
 * is late; and later for a queue pair, which gives up after a time limit of its own, as on devices:
 * it may be 2 seconds.
 */
static bool may_end(const struct talk *talk)
{
    const struct chaos_worker *peer;

    if (!talk->hello.magic || chaos_is_harmed(talk->hello.pair, talk->hello.attempt) ||
        (was_removed(talk) && (talk->rounds == 0 || worker->layer == LAYER_RSOCKETS)))
        return true;
    peer = peer_of(talk);
    if (atomic_load(&peer->incarnation) !=
        (worker->is_server ? talk->hello.incarnation : talk->incarnation))
        return true;
    return talk->rounds == 0 && (atomic_load(&peer->lacks) || atomic_load(&worker->lacks));
}

static bool ended(const struct talk *talk)
{
    int error = errno;

    chaos_count(COUNT_BROKEN, 1);
    if (!is_over() && !may_end(talk))
        chaos_fail("worker %u: pair %u, attempt %u, round %u: %s, and nothing was wrong", self,
                   talk->hello.pair, talk->hello.attempt, talk->rounds,
                   error ? strerror(error) : "the end");
    return false;
}

/* Nothing has moved for this time. Returns whether to go on. */
static bool is_patient(const struct talk *talk, uint64_t waited_us)
{
    if (is_over())
        return false;
    if (waited_us > GIVE_UP_US && may_end(talk)) {
        chaos_count(COUNT_GIVEN_UP, 1);
        return false;
    }
    if (waited_us <= PATIENCE_US)
        return true;
    chaos_fail("worker %u: pair %u, attempt %u, round %u hangs", self, talk->hello.pair,
               talk->hello.attempt, talk->rounds);
    return false;
}

/* Moves all octets. Returns false if the connection is over. */
static bool move(struct talk *talk, bool sends, void *data, size_t length)
{
    unsigned char *at = data;
    uint64_t last = chaos_now_us(), waited = 0;

    while (length > 0) {
        ssize_t moved = sends ? stream_calls.send(&talk->stream, at, length)
                              : stream_calls.receive(&talk->stream, at, length);
        uint64_t now = chaos_now_us();

        if (moved < 0)
            return ended(talk);
        waited = moved > 0 ? 0 : waited + (now - last < STEP_US ? now - last : STEP_US);
        last = now;
        if (moved == 0 && !is_patient(talk, waited))
            return false;
        at += moved;
        length -= (size_t)moved;
    }
    return true;
}

static void check(const struct talk *talk, const unsigned char *octets, size_t length,
                  uint32_t seed)
{
    if (!is_filled(octets, length, seed))
        chaos_fail("worker %u: pair %u, attempt %u, round %u: wrong octets", self, talk->hello.pair,
                   talk->hello.attempt, talk->rounds);
    chaos_count(COUNT_OCTETS, length);
    (void)atomic_fetch_add(&chaos->octets[worker->layer], length);
}

static void talk_end(struct talk *talk)
{
    if (!stream_calls.close(&talk->stream))
        chaos_fail("worker %u: pair %u, attempt %u does not end", self, talk->hello.pair,
                   talk->hello.attempt);
}

/* ---- A server's end -------------------------------------------------------------------------- */

static bool answer(struct talk *talk)
{
    struct request request;

    if (!move(talk, false, &request, sizeof(request)))
        return false;
    if (request.length > LARGE || request.answer > LARGE) {
        chaos_fail("worker %u: pair %u, attempt %u: a wrong request", self, talk->hello.pair,
                   talk->hello.attempt);
        return false;
    }
    if (!move(talk, false, talk->octets, request.length))
        return false;
    check(talk, talk->octets, request.length, request.seed);
    fill(talk->octets, request.answer, request.seed + 1);
    return move(talk, true, talk->octets, request.answer);
}

static void *serve(void *argument)
{
    struct talk *talk = argument;
    struct hello hello;

    if (move(talk, false, &hello, sizeof(hello))) {
        if (hello.magic != CHAOS_MAGIC || hello.pair >= CHAOS_PAIRS ||
            hello.worker >= CHAOS_WORKERS)
            chaos_fail("worker %u: a connection without a hello", self);
        else
            talk->hello = hello;
        while (talk->hello.magic && answer(talk))
            talk->rounds++;
    }
    talk_end(talk);
    free(talk);
    return NULL;
}

static void serve_apart(const struct stream *stream)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    pthread_t thread;

    talk->stream = *stream;
    talk->changes = chaos_address_changes();
    if (pthread_create(&thread, NULL, serve, talk) != 0) {
        chaos_fail("worker %u: no thread", self);
        return;
    }
    (void)pthread_detach(thread);
}

/*
 * A call that lacks descriptors or its address is made again. Returns false if something else is
 * wrong. A device tells a lack of descriptors as one of memory, since IT_ERR_RESOURCES stands for
 * both.
 */
static bool lacks(const char *call)
{
    int error = errno;
    bool vague = error == ENOBUFS || error == ENOMEM;

    if (error == EMFILE || error == ENFILE || (vague && atomic_load(&worker->lacks))) {
        chaos_count(COUNT_LACKS, 1);
        if (!atomic_load(&worker->lacks))
            chaos_fail("worker %u: %s: %s", self, call, strerror(error));
    } else if (!chaos_address_may_miss(error)) {
        return false;
    }
    (void)usleep(STREAM_WAIT_MS * 1000); /* between two attempts */
    return true;
}

static int open_listener(void)
{
    uint16_t port;
    int listener;

    do
        listener = stream_calls.listen(&port);
    while (listener < 0 && lacks("listen") && !is_over());
    if (listener < 0 && !is_over())
        chaos_fail("worker %u: listen: %s", self, strerror(errno));
    else
        atomic_store(&worker->port, port);
    return listener;
}

static void run_server(void)
{
    int listener = open_listener();
    struct stream stream;

    while (listener >= 0 && !is_over()) {
        if (stream_calls.accept(listener, &stream))
            serve_apart(&stream);
        else if (errno != EAGAIN && errno != ECONNABORTED && errno != ECONNRESET &&
                 errno != ETIMEDOUT && errno != EPROTO && !lacks("accept"))
            chaos_fail("worker %u: accept: %s", self, strerror(errno));
    }
}

/* ---- A client's end -------------------------------------------------------------------------- */

static uint32_t length_of(uint64_t number)
{
    return 1 + (uint32_t)((number >> 8) % (number & 7 ? SMALL : LARGE));
}

/* Request, answer. */
static bool ask(struct talk *talk)
{
    uint64_t number = chaos_number(100 + talk->rounds, talk->hello.pair, talk->hello.attempt);
    struct request request = {length_of(number), length_of(number >> 32),
                              (uint32_t)number ^ talk->hello.attempt};

    memcpy(talk->octets, &request, sizeof(request));
    fill(talk->octets + sizeof(request), request.length, request.seed);
    if (!move(talk, true, talk->octets, sizeof(request) + request.length) ||
        !move(talk, false, talk->octets, request.answer))
        return false;
    check(talk, talk->octets, request.answer, request.seed + 1);
    talk->rounds++;
    (void)usleep((useconds_t)(number % 50000));
    return true;
}

static uint16_t port_to(uint32_t pair)
{
    uint16_t port = atomic_load(&chaos->pairs[pair].link_port);

    return port ? port : atomic_load(&chaos->workers[worker->server].port);
}

/* Begins the next attempt of the pair. */
static bool join(struct talk *talk, uint32_t pair)
{
    talk->hello = (struct hello){.magic = CHAOS_MAGIC,
                                 .pair = pair,
                                 .attempt = atomic_fetch_add(&chaos->pairs[pair].attempt, 1) + 1,
                                 .worker = self,
                                 .incarnation = incarnation};
    talk->incarnation = atomic_load(&chaos->workers[worker->server].incarnation);
    talk->changes = chaos_address_changes();
    talk->rounds = 0;
    if (stream_calls.connect(port_to(pair), &talk->stream)) {
        chaos_count(COUNT_CONNECTED, 1);
        return true;
    }
    chaos_count(COUNT_REFUSED, 1);
    if (errno == EMFILE || errno == ENFILE)
        (void)lacks("connect");
    return false;
}

static void *call(void *argument)
{
    uint32_t pair = (uint32_t)(uintptr_t)argument;
    struct talk *talk = calloc(1, sizeof(*talk));

    while (!is_over()) {
        uint64_t number;

        if (join(talk, pair)) {
            unsigned rounds = 1 + (unsigned)(chaos_number(2, pair, talk->hello.attempt) % 60);

            if (move(talk, true, &talk->hello, sizeof(talk->hello)))
                while (talk->rounds < rounds && ask(talk))
                    ;
            if (talk->rounds == rounds)
                chaos_count(COUNT_ENDED, 1);
            chaos_harm(pair, talk->hello.attempt);
            talk_end(talk);
        }
        number = chaos_number(5, pair, talk->hello.attempt);
        (void)usleep((useconds_t)(20000 + number % 200000));
    }
    free(talk);
    return NULL;
}

static void run_client(void)
{
    pthread_t threads[16];
    uint32_t count = worker->pairs < 16 ? worker->pairs : 16;

    for (uint32_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, call, (void *)(uintptr_t)(worker->first_pair + i)) !=
            0)
            exit(2);
    }
    for (uint32_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

/* ---- The process ----------------------------------------------------------------------------- */

static void run(void)
{
    if (!stream_calls.start(worker->is_server)) {
        if (!lacks("start"))
            chaos_fail("worker %u: it does not start: %s", self, strerror(errno));
    } else if (worker->is_server) {
        run_server();
    } else {
        run_client();
    }
}

/* Ends with connections open, in order or at once. */
int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    self = (unsigned)atoi(argv[2]);
    chaos_attach(atoi(argv[1]), self);
    worker = &chaos->workers[self];
    incarnation = atomic_load(&worker->incarnation);
    over_us = chaos_now_us() + 4000000 + chaos_number(8, self, incarnation) % 15000000;
    (void)signal(SIGPIPE, SIG_IGN);
    run();
    if (worker->layer == LAYER_SDP && adapter_is_open())
        chaos_count(COUNT_CONVERTED, 1);
    chaos_count(COUNT_GENERATIONS, 1);
    over_us = 0;
    (void)is_over();
    if (incarnation % 2)
        _exit(0);
    return 0;
}
