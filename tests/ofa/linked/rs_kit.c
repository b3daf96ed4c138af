/* SPDX-License-Identifier: BSD-2-Clause */
#include "rs_kit.h"

#include <fcntl.h>

#define PATIENCE_MS 10000

int rs_kit_listen(struct sockaddr_in *address, void (*options)(int rs))
{
    int listener = rsocket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof(*address);

    CHECK(listener >= 0);
    if (options)
        options(listener);
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK_EQ(0, rbind(listener, (struct sockaddr *)address, length));
    CHECK_EQ(0, rlisten(listener, 8));
    CHECK_EQ(0, rgetsockname(listener, (struct sockaddr *)address, &length));
    CHECK(address->sin_port != 0);
    return listener;
}

short rs_kit_poll(int rs, short events)
{
    struct pollfd fd = {.fd = rs, .events = events};

    CHECK_EQ(1, rpoll(&fd, 1, PATIENCE_MS));
    return fd.revents;
}

void rs_kit_pair(int ends[2], void (*options)(int rs))
{
    struct sockaddr_in address;
    int listener = rs_kit_listen(&address, options);

    ends[0] = rsocket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    CHECK(ends[0] >= 0);
    if (options)
        options(ends[0]);
    CHECK_EQ(0, rfcntl(ends[0], F_SETFL, O_NONBLOCK));
    if (rconnect(ends[0], (struct sockaddr *)&address, sizeof(address)) != 0)
        CHECK_EQ(EINPROGRESS, errno);
    ends[1] = raccept(listener, NULL, NULL);
    CHECK(ends[1] >= 0);
    CHECK_EQ(POLLOUT, rs_kit_poll(ends[0], POLLOUT));
    CHECK_EQ(0, rs_kit_get(ends[0], SOL_SOCKET, SO_ERROR));
    CHECK_EQ(0, rfcntl(ends[0], F_SETFL, 0));
    CHECK_EQ(0, rclose(listener));
}

void rs_kit_close(const int ends[2])
{
    CHECK_EQ(0, rclose(ends[0]));
    CHECK_EQ(0, rclose(ends[1]));
}

void rs_kit_set(int rs, int level, int name, int value)
{
    CHECK_EQ(0, rsetsockopt(rs, level, name, &value, sizeof(value)));
}

int rs_kit_get(int rs, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);

    CHECK_EQ(0, rgetsockopt(rs, level, name, &value, &length));
    CHECK_EQ(sizeof(value), length);
    return value;
}

static unsigned char byte_at(uint64_t place)
{
    return (unsigned char)(place ^ place >> 8 ^ place >> 16);
}

void rs_kit_fill(unsigned char *bytes, size_t length, uint64_t place)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = byte_at(place + i);
}

void rs_kit_verify(const unsigned char *bytes, size_t length, uint64_t place)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != byte_at(place + i))
            CHECK_FAIL("byte %llu of the stream is wrong", (unsigned long long)(place + i));
    }
}
