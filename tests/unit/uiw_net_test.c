/* SPDX-License-Identifier: BSD-2-Clause */
/* Which streams are taken off pacing, how one gets room; addresses in words. */
#include "vp/uiwarp/net/uiw_net.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A socket connected to one of the same process. */
struct stream {
    int listener;
    int fd;
    struct sockaddr_storage remote;
};

static void stream_open(struct stream *stream, const char *address)
{
    struct sockaddr_in *remote = (void *)&stream->remote;
    socklen_t length = sizeof(*remote);

    memset(stream, 0, sizeof(*stream));
    remote->sin_family = AF_INET;
    cr_assert_eq(inet_pton(AF_INET, address, &remote->sin_addr), 1);
    stream->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(stream->listener, (struct sockaddr *)remote, length), 0);
    cr_assert_eq(listen(stream->listener, 1), 0);
    cr_assert_eq(getsockname(stream->listener, (struct sockaddr *)remote, &length), 0);
    stream->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(stream->fd, (struct sockaddr *)remote, length), 0);
}

static void stream_close(struct stream *stream)
{
    (void)close(stream->fd);
    (void)close(stream->listener);
}

/* False where the kernel does not have it or keeps it for others. */
static bool stream_set_control(const struct stream *stream, const char *name)
{
    return setsockopt(stream->fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

static void stream_check_control(const struct stream *stream, const char *expected)
{
    char name[16] = "";
    socklen_t length = sizeof(name) - 1;

    cr_assert_eq(getsockopt(stream->fd, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
    cr_assert_str_eq(name, expected);
}

Test(uiw_net, takes_pacing_off_a_stream_within_the_host)
{
    struct stream stream;

    stream_open(&stream, "127.0.0.1");
    if (!stream_set_control(&stream, "bbr"))
        cr_skip_test("this system has no BBR to take off");
    uiw_net_unpace_local(stream.fd, &stream.remote);
    stream_check_control(&stream, "reno");
    stream_close(&stream);
}

/* To the kernel it is the same stream; only the address that is named decides. */
Test(uiw_net, leaves_pacing_on_a_stream_to_another_host)
{
    struct stream stream;
    struct sockaddr_storage elsewhere;

    stream_open(&stream, "127.0.0.1");
    if (!stream_set_control(&stream, "bbr"))
        cr_skip_test("this system has no BBR to leave");
    elsewhere = stream.remote;
    cr_assert_eq(inet_pton(AF_INET, "192.0.2.1", &((struct sockaddr_in *)&elsewhere)->sin_addr), 1);
    uiw_net_unpace_local(stream.fd, &elsewhere);
    stream_check_control(&stream, "bbr");
    stream_close(&stream);
}

Test(uiw_net, leaves_a_congestion_control_that_does_not_pace)
{
    static const char *const others[] = {"cubic", "dctcp", "vegas"};
    struct stream stream;
    unsigned tried = 0;

    stream_open(&stream, "127.0.0.1");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!stream_set_control(&stream, others[i]))
            continue;
        tried++;
        uiw_net_unpace_local(stream.fd, &stream.remote);
        stream_check_control(&stream, others[i]);
    }
    stream_close(&stream);
    if (tried == 0)
        cr_skip_test("this system lets nobody choose another one");
}

/* ---- Room ---- */

static int stream_option(const struct stream *stream, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);

    cr_assert_eq(getsockopt(stream->fd, SOL_SOCKET, option, &value, &length), 0);
    return value;
}

/* The watermark that makes the room is gone afterwards: a poll set tells of the first octet as before. */
Test(uiw_net, widens_the_receive_window)
{
    const int watermark = 7;
    struct stream stream;
    int before;

    stream_open(&stream, "127.0.0.1");
    before = stream_option(&stream, SO_RCVBUF);
    uiw_net_widen(stream.fd);
    cr_assert_gt(stream_option(&stream, SO_RCVBUF), before);
    cr_assert_eq(stream_option(&stream, SO_RCVLOWAT), 1);
    cr_assert_eq(setsockopt(stream.fd, SOL_SOCKET, SO_RCVLOWAT, &watermark, sizeof(watermark)), 0);
    uiw_net_widen(stream.fd);
    cr_assert_eq(stream_option(&stream, SO_RCVLOWAT), watermark);
    stream_close(&stream);
}

/* ---- Words ---- */

Test(uiw_net, addresses_for_the_log)
{
    struct sockaddr_storage address = {.ss_family = AF_INET};
    struct sockaddr_in *ipv4 = (void *)&address;
    struct sockaddr_in6 *ipv6 = (void *)&address;

    ipv4->sin_port = htons(4791);
    cr_assert_eq(inet_pton(AF_INET, "192.0.2.255", &ipv4->sin_addr), 1);
    cr_assert_str_eq(uiw_net_text(&address).chars, "192.0.2.255:4791");
    memset(&address, 0, sizeof(address));
    address.ss_family = AF_INET6;
    ipv6->sin6_port = htons(65535);
    cr_assert_eq(inet_pton(AF_INET6, "2001:db8:1111:2222:3333:4444:5555:6666", &ipv6->sin6_addr),
                 1);
    cr_assert_str_eq(uiw_net_text(&address).chars,
                     "[2001:db8:1111:2222:3333:4444:5555:6666]:65535");
    cr_assert_eq(inet_pton(AF_INET6, "::ffff:192.0.2.1", &ipv6->sin6_addr), 1);
    cr_assert_str_eq(uiw_net_text(&address).chars, "192.0.2.1:65535");
    address.ss_family = AF_UNIX;
    cr_assert_str_eq(uiw_net_text(&address).chars, "an unknown address");
}
