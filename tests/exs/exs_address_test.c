/* SPDX-License-Identifier: BSD-2-Clause */
/* A listening socket bound to one address of either family; the addresses of both ends. */
#include "exs_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static int listen_on(const struct sockaddr *address, socklen_t length, int *port)
{
    struct sockaddr_storage here;
    socklen_t size = sizeof(here);
    int fd = exs_socket(address->sa_family, SOCK_STREAM, 0);

    CHECK(fd >= 0);
    CHECK_STARTS(exs_bind(fd, address, length));
    CHECK_STARTS(exs_listen(fd, 4));
    CHECK_STARTS(exs_getsockname(fd, (struct sockaddr *)&here, &size));
    *port = ntohs(((struct sockaddr_in *)&here)->sin_port);
    return fd;
}

static int connect_to(const char *text, int port)
{
    struct sockaddr_in there = exs_kit_address(port);
    int fd = exs_socket(PF_INET, SOCK_STREAM, 0);

    CHECK(fd >= 0);
    CHECK(inet_pton(AF_INET, text, &there.sin_addr) == 1);
    if (exs_blocking_connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0)
        return fd;
    CHECK_STARTS(exs_blocking_close(fd));
    return -1;
}

/* A peer that connects to another address is not accepted. The accept waits for the next one. */
static void one_address(void)
{
    struct sockaddr_in here = exs_kit_address(0);
    struct sockaddr_in peer;
    exs_qhandle_t queue = exs_qcreate(4);
    exs_acceptaddr_t element = {.exs_addr = (struct sockaddr *)&peer, .exs_addrlen = sizeof(peer)};
    exs_event_t event;
    char octet;
    int port;
    int listener;
    int other;
    int client;
    int server;

    CHECK(inet_pton(AF_INET, "127.0.0.2", &here.sin_addr) == 1);
    listener = listen_on((struct sockaddr *)&here, sizeof(here), &port);
    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    other = connect_to("127.0.0.1", port);
    if (other >= 0) {
        CHECK(exs_read(other, &octet, 1) == -1 && errno == ECONNRESET);
        CHECK_STARTS(exs_blocking_close(other));
    }
    exs_kit_empty(queue);
    client = connect_to("127.0.0.2", port);
    CHECK(client >= 0);
    event = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0);
    server = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    CHECK_RESULT(1, exs_write(client, "x", 1));
    CHECK_RESULT(1, exs_read(server, &octet, 1));
    CHECK_STARTS(exs_blocking_close(client));
    CHECK_STARTS(exs_blocking_close(server));
    CHECK_STARTS(exs_blocking_close(listener));
    CHECK_STARTS(exs_qdelete(queue));
}

/* An IPv6 listener accepts both families and reports an IPv4 peer as a mapped address. */
static void both_families(void)
{
    struct sockaddr_in6 here = {.sin6_family = AF_INET6};
    struct sockaddr_in6 peer;
    socklen_t length = sizeof(peer);
    exs_qhandle_t queue = exs_qcreate(4);
    exs_acceptaddr_t element = {.exs_addr = (struct sockaddr *)&peer, .exs_addrlen = sizeof(peer)};
    exs_event_t event;
    int port;
    int listener = listen_on((struct sockaddr *)&here, sizeof(here), &port);
    int client;
    int server;

    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    client = connect_to("127.0.0.1", port);
    CHECK(client >= 0);
    event = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0);
    server = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    CHECK(peer.sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr));
    CHECK_STARTS(exs_getsockname(server, (struct sockaddr *)&here, &length));
    CHECK(here.sin6_family == AF_INET6 && ntohs(here.sin6_port) == port);
    CHECK_STARTS(exs_blocking_close(client));
    CHECK_STARTS(exs_blocking_close(server));
    CHECK_STARTS(exs_blocking_close(listener));
    CHECK_STARTS(exs_qdelete(queue));
}

int main(void)
{
    CHECK_STARTS(exs_init(EXS_VERSION1));
    one_address();
    both_families();
    return 0;
}
