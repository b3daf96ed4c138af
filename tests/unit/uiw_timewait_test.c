/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks whether a pair of addresses is in time-wait. */
#include "vp/uiwarp/net/uiw_net.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

struct stream {
    int ours, theirs;
    struct sockaddr_storage local, remote;
};

static void stream_open(struct stream *stream, sa_family_t family)
{
    socklen_t length = sizeof(stream->remote);
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(stream, 0, sizeof(*stream));
    stream->remote.ss_family = family;
    if (family == AF_INET)
        ((struct sockaddr_in *)(void *)&stream->remote)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)(void *)&stream->remote)->sin6_addr = in6addr_loopback;
    if (bind(listener, (struct sockaddr *)&stream->remote, length) != 0)
        cr_skip_test("no address of this family");
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&stream->remote, &length), 0);
    stream->ours = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(stream->ours, (struct sockaddr *)&stream->remote, length), 0);
    length = sizeof(stream->local);
    cr_assert_eq(getsockname(stream->ours, (struct sockaddr *)&stream->local, &length), 0);
    stream->theirs = accept(listener, NULL, NULL);
    (void)close(listener);
}

/* Closes the stream. The side that closes first enters time-wait. */
static void stream_end(struct stream *stream)
{
    char octet;

    cr_assert_eq(shutdown(stream->ours, SHUT_WR), 0);
    cr_assert_eq(read(stream->theirs, &octet, 1), 0);
    (void)close(stream->theirs);
    cr_assert_eq(read(stream->ours, &octet, 1), 0);
    (void)close(stream->ours);
}

static void check_family(sa_family_t family)
{
    struct stream stream;
    struct sockaddr_storage other;

    stream_open(&stream, family);
    cr_assert_not(uiw_net_in_timewait(&stream.local, &stream.remote), "it is connected");
    stream_end(&stream);
    cr_assert(uiw_net_in_timewait(&stream.local, &stream.remote));
    other = stream.local;
    ((struct sockaddr_in *)(void *)&other)->sin_port ^= htons(1);
    cr_assert_not(uiw_net_in_timewait(&other, &stream.remote));
    cr_assert_not(uiw_net_in_timewait(&stream.remote, &stream.local), "the other end is gone");
}

TEST_ROW(uiw_timewait, ipv4, check_family, AF_INET);
TEST_ROW(uiw_timewait, ipv6, check_family, AF_INET6);
