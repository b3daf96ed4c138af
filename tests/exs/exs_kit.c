/* SPDX-License-Identifier: BSD-2-Clause */
#include "exs_kit.h"

#include "support/time_limit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MS 20000

void exs_kit_errno(const char *file, int line, const char *call, int error, long result)
{
    int got = errno;

    if (result != -1)
        check_fail(file, line, "%s: %ld, not a failure with %s", call, result, strerror(error));
    if (got != error)
        check_fail(file, line, "%s: errno \"%s\", not \"%s\"", call, strerror(got),
                   strerror(error));
}

void exs_kit_result(const char *file, int line, const char *call, long want, long result)
{
    int got = errno;

    if (result == -1 && want != -1)
        check_fail(file, line, "%s: %s", call, strerror(got));
    if (result != want)
        check_fail(file, line, "%s: %ld, not %ld", call, result, want);
}

/* ---- Sockets -------------------------------------------------------------------------------- */

bool exs_kit_slow(void)
{
    return getenv("EXS_TEST_ADDRESS") != NULL;
}

struct sockaddr_in exs_kit_address(int port)
{
    const char *host = getenv("EXS_TEST_ADDRESS"); /* address of a device */

    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = inet_addr(host ? host : "127.0.0.1")};
}

static int listen_with(int type, int *port, void (*set)(int fd))
{
    struct sockaddr_in address = exs_kit_address(0);
    socklen_t length = sizeof(address);
    int fd;

    CHECK_STARTS(exs_init(EXS_VERSION1));
    fd = exs_socket(PF_INET, type, 0);
    CHECK(fd >= 0);
    if (set)
        set(fd);
    CHECK_STARTS(exs_bind(fd, (struct sockaddr *)&address, sizeof(address)));
    CHECK_STARTS(exs_listen(fd, 16));
    CHECK_STARTS(exs_getsockname(fd, (struct sockaddr *)&address, &length));
    CHECK(address.sin_port != 0);
    *port = ntohs(address.sin_port);
    return fd;
}

int exs_kit_listen(int type, int *port)
{
    return listen_with(type, port, NULL);
}

static void *accept_one(void *argument)
{
    struct exs_pair *pair = argument;

    pair->server = exs_blocking_accept(pair->listener, NULL, NULL);
    return NULL;
}

void exs_pair_open_with(struct exs_pair *pair, int type, void (*set)(int fd))
{
    struct sockaddr_in address;
    pthread_t thread;
    int port;

    pair->listener = listen_with(type, &port, set);
    address = exs_kit_address(port);
    pair->client = exs_socket(PF_INET, type, 0);
    CHECK(pair->client >= 0);
    if (set)
        set(pair->client);
    CHECK_EQ(0, pthread_create(&thread, NULL, accept_one, pair));
    CHECK_STARTS(exs_blocking_connect(pair->client, (struct sockaddr *)&address, sizeof(address)));
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK(pair->server >= 0);
}

void exs_pair_open(struct exs_pair *pair, int type)
{
    exs_pair_open_with(pair, type, NULL);
}

void exs_pair_close(struct exs_pair *pair)
{
    CHECK_STARTS(exs_close(pair->client, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_close(pair->server, EXS_BLOCK | EXS_DONTLINGER, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_blocking_close(pair->listener));
}

/* ---- Events --------------------------------------------------------------------------------- */

exs_event_t exs_kit_event(exs_qhandle_t queue)
{
    int limit_ms = time_limit_ms(LIMIT_MS);
    struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
    exs_event_t event;

    CHECK_RESULT(1, exs_qdequeue(queue, &event, 1, &limit));
    return event;
}

exs_event_t exs_kit_expect(exs_qhandle_t queue, int type, int error)
{
    exs_event_t event = exs_kit_event(queue);

    if (event.exs_evt_type != type || event.exs_evt_errno != error)
        CHECK_FAIL("event %d with \"%s\", not %d with \"%s\"", event.exs_evt_type,
                   strerror(event.exs_evt_errno), type, strerror(error));
    return event;
}

void exs_kit_empty(exs_qhandle_t queue)
{
    int count = -1;

    CHECK_STARTS(exs_qstatus(queue, EXS_QATTR_EVENTS, &count));
    CHECK_EQ(0, count);
}

/* ---- Octets --------------------------------------------------------------------------------- */

static unsigned char octet_at(size_t place)
{
    return (unsigned char)(place * 7 + (place >> 8) * 13 + (place >> 16));
}

void exs_kit_fill(void *memory, size_t length, size_t place)
{
    unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++)
        octets[i] = octet_at(place + i);
}

void exs_kit_compare(const void *memory, size_t length, size_t place)
{
    const unsigned char *octets = memory;

    for (size_t i = 0; i < length; i++)
        if (octets[i] != octet_at(place + i))
            CHECK_FAIL("octet %zu of the stream is %u, not %u", place + i, octets[i],
                       octet_at(place + i));
}
