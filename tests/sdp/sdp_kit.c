/* SPDX-License-Identifier: BSD-2-Clause */
#include "sdp_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void sdp_kit_tcp(int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0 &&
          listen(listener, 1) == 0 &&
          getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fds[0] >= 0 && connect(fds[0], (struct sockaddr *)&address, length) == 0);
    fds[1] = accept(listener, NULL, NULL);
    CHECK(fds[1] >= 0);
    (void)close(listener);
}

void sdp_kit_pair(struct sdp_connection *pair[2], const struct sdp_settings *settings)
{
    int fds[2];

    sdp_kit_tcp(fds);
    CHECK(sdp_connection_start(fds[0], SDP_ACTIVE, settings, NULL, &pair[0]) == 0);
    CHECK(sdp_connection_start(fds[1], SDP_PASSIVE, settings, NULL, &pair[1]) == 0);
}

unsigned char sdp_kit_octet(uint64_t position)
{
    return (unsigned char)((position * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

ssize_t sdp_kit_send(struct sdp_connection *connection, const void *octets, size_t count, int flags)
{
    const char *from = octets;
    size_t done = 0;
    ssize_t result = 0;

    do {
        const struct iovec part = {(void *)(uintptr_t)(from + done), count - done};

        result = sdp_send(connection, &part, 1, flags, NULL);
        done += result > 0 ? (size_t)result : 0;
    } while (done < count && (result > 0 || result == -EINTR) && !(flags & MSG_DONTWAIT));
    return done > 0 ? (ssize_t)done : result;
}

ssize_t sdp_kit_receive(struct sdp_connection *connection, void *octets, size_t count, int flags)
{
    const struct iovec part = {octets, count};
    ssize_t result;

    do
        result = sdp_receive(connection, &part, 1, flags, NULL);
    while (result == -EINTR);
    return result;
}

void sdp_kit_send_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                         size_t each)
{
    unsigned char *octets = malloc(each);

    CHECK(octets != NULL);
    while (count > 0) {
        size_t part = count < each ? count : each;

        for (size_t i = 0; i < part; i++)
            octets[i] = sdp_kit_octet(position + i);
        CHECK_EQ(part, sdp_kit_send(connection, octets, part, 0));
        position += part;
        count -= part;
    }
    free(octets);
}

void sdp_kit_check_stream(struct sdp_connection *connection, uint64_t position, size_t count,
                          size_t each)
{
    unsigned char *octets = malloc(each);

    CHECK(octets != NULL);
    while (count > 0) {
        ssize_t got = sdp_kit_receive(connection, octets, count < each ? count : each, 0);

        if (got <= 0)
            CHECK_FAIL("receive: %zd with %zu octets left", got, count);
        for (ssize_t i = 0; i < got; i++)
            if (octets[i] != sdp_kit_octet(position + (uint64_t)i))
                CHECK_FAIL("the octet at %zu is wrong", (size_t)position + (size_t)i);
        position += (uint64_t)got;
        count -= (size_t)got;
    }
    free(octets);
}

void sdp_kit_await(struct sdp_connection *connection, unsigned events)
{
    const struct timespec pause = {.tv_nsec = 200000};

    while ((sdp_events(connection) & events) != events)
        (void)nanosleep(&pause, NULL);
}
