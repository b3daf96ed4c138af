/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks which streams are taken off pacing, how the receive window is widened, and addresses as
 * text.
 */
#include "vp/uiwarp/net/uiw_net.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A socket connected to another one of this process. */
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

/* Returns false if the kernel lacks this congestion control or does not allow it. */
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

/* This stream stays on the host. Only the address that is passed decides. */
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

/*
 * The watermark that widens the window is restored afterwards, so a poll set still reports the
 * first octet.
 */
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

/* ---------------------------------------------------------------- forms of an address */

static it_net_addr_t address_of(const char *text)
{
    it_net_addr_t address = {.addr_type = strchr(text, ':') ? IT_IPV6 : IT_IPV4};
    int family = address.addr_type == IT_IPV6 ? AF_INET6 : AF_INET;

    cr_assert_eq(inet_pton(family, text, &address.addr), 1);
    return address;
}

static bool address_is(const it_net_addr_t *address, const char *text)
{
    it_net_addr_t wanted = address_of(text);

    return address->addr_type == wanted.addr_type &&
           (wanted.addr_type == IT_IPV4
                ? address->addr.ipv4.s_addr == wanted.addr.ipv4.s_addr
                : memcmp(&address->addr.ipv6, &wanted.addr.ipv6, sizeof(struct in6_addr)) == 0);
}

Test(uiw_net, an_address_goes_into_a_sockaddr_and_back)
{
    static const char *const texts[][2] = {
        {"192.0.2.1", "192.0.2.1"},
        {"2001:db8::1", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"}, /* IPv4-mapped */
    };
    struct sockaddr_storage sockaddr;
    it_net_addr_t address;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        address = address_of(texts[i][0]);
        cr_assert_gt(base_net_to_sockaddr(&address, htons(7), 3, &sockaddr), 0);
        cr_assert(base_net_from_sockaddr(&sockaddr, &address));
        cr_assert(address_is(&address, texts[i][1]), "%s", texts[i][0]);
        cr_assert_eq(base_net_port(&sockaddr), htons(7));
        address = address_of(texts[i][0]);
        base_net_unmap(&address);
        cr_assert(address_is(&address, texts[i][1]), "%s", texts[i][0]);
    }
    address.addr_type = (it_net_addr_type_t)99;
    cr_assert_eq(base_net_to_sockaddr(&address, 0, 0, &sockaddr), 0);
    sockaddr.ss_family = AF_UNIX;
    cr_assert_not(base_net_from_sockaddr(&sockaddr, &address));
}

Test(uiw_net, knows_the_address_that_is_none)
{
    static const char *const any[] = {"0.0.0.0", "::"};
    static const char *const others[] = {"127.0.0.1", "::1", "0.0.0.1"};

    for (size_t i = 0; i < 2; i++) {
        it_net_addr_t address = address_of(any[i]);

        cr_assert(base_net_is_any(&address));
    }
    for (size_t i = 0; i < 3; i++) {
        it_net_addr_t address = address_of(others[i]);

        cr_assert_not(base_net_is_any(&address));
    }
}

/* The last four pairs are not those of a connection. */
Test(uiw_net, two_addresses_go_into_a_path_and_back)
{
    static const char *const pairs[][2] = {
        {"192.0.2.1", "192.0.2.2"}, {"2001:db8::1", "2001:db8::2"},
        {"192.0.2.1", "224.0.0.1"}, {"192.0.2.1", "255.255.255.255"},
        {"192.0.2.1", "0.0.0.0"},   {"2001:db8::1", "ff02::1"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        it_net_addr_t local = address_of(pairs[i][0]);
        it_net_addr_t remote = address_of(pairs[i][1]);
        it_path_t path = {.spigot_id = 1};

        base_net_into_path(&local, &remote, &path);
        memset(&local, 0xff, sizeof(local));
        memset(&remote, 0xff, sizeof(remote));
        cr_assert(base_net_from_path(&path, &local, &remote));
        cr_assert(address_is(&local, pairs[i][0]) && address_is(&remote, pairs[i][1]));
        cr_assert_eq(base_net_is_peer(&remote), i < 2);
    }
}

Test(uiw_net, tells_both_ends_of_a_stream)
{
    struct stream stream;
    it_path_t path;
    it_net_addr_t local;
    it_net_addr_t remote;

    stream_open(&stream, "127.0.0.1");
    cr_assert(uiw_net_path_of(stream.fd, &path));
    cr_assert(base_net_from_path(&path, &local, &remote));
    cr_assert(address_is(&local, "127.0.0.1") && address_is(&remote, "127.0.0.1"));
    cr_assert_not(uiw_net_path_of(stream.listener, &path), "it has one end");
    cr_assert_not(uiw_net_path_of(-1, &path));
    stream_close(&stream);
}

/* ---------------------------------------------------------------- own addresses */

Test(uiw_net, finds_an_address_of_the_host)
{
    it_net_addr_t own = address_of("127.0.0.1");
    it_net_addr_t mapped = address_of("::ffff:127.0.0.1");
    it_net_addr_t other = address_of("192.0.2.1"); /* an address for documentation */
    it_net_addr_t from;
    bool has;

    for (int again = 0; again < 2; again++) { /* the second time from memory */
        cr_assert_eq(uiw_net_has("", &own, &has), IT_SUCCESS);
        cr_assert(has);
    }
    cr_assert_eq(uiw_net_has("lo", &mapped, &has), IT_SUCCESS);
    cr_assert(has);
    cr_assert_eq(uiw_net_has("no such one", &own, &has), IT_SUCCESS);
    cr_assert_not(has);
    cr_assert_eq(uiw_net_has("", &other, &has), IT_SUCCESS);
    cr_assert_not(has);
    cr_assert_eq(uiw_net_source("", &own, &from, &has), IT_SUCCESS);
    cr_assert(has && address_is(&from, "127.0.0.1"));
}
