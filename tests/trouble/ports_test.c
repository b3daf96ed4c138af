/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ports_test FIRST LAST: how it_ep_connect, it_socket_convert and it_listen_create behave when
 * sockets use most of the ephemeral ports, FIRST to LAST; and with addresses that the device does
 * not have.
 */
#include "support/it_fixture.h"
#include "trouble/said.h"
#include "trouble/small.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS    6
#define KEPT_FREE 4u /* for listen point, initiator, and connections that are closing */
#define SOCKETS   64
#define ASIDE     1000u /* ports outside the kernel's range */

static unsigned first, last;
static int sockets[SOCKETS];
static unsigned socket_count;

/* Returns -1 if the port is in use. */
static int bind_port(unsigned port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int sd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(sd >= 0);
    own.sin_addr = (struct in_addr){fx_address().addr.ipv4.s_addr};
    if (bind(sd, (struct sockaddr *)&own, sizeof(own)) == 0)
        return sd;
    (void)close(sd);
    return -1;
}

static int take_port(unsigned port)
{
    int sd = bind_port(port);

    if (sd < 0 || listen(sd, 1) == 0)
        return sd;
    (void)close(sd);
    return -1;
}

static void crowd_the_ports(void)
{
    for (unsigned port = first; port + KEPT_FREE <= last; port++) {
        int sd = take_port(port);

        CHECK(socket_count < SOCKETS);
        if (sd >= 0)
            sockets[socket_count++] = sd;
    }
    CHECK(socket_count > (last - first) / 2);
}

static void leave_the_ports(void)
{
    while (socket_count > 0)
        (void)close(sockets[--socket_count]);
}

/* The kernel chooses the ports of both ends. */
static void connect_in_a_crowd(struct fx_node *node)
{
    for (int i = 0; i < ROUNDS; i++) {
        it_ep_handle_t near = small_ep(node);
        it_ep_handle_t far = small_ep(node);

        fx_join(node, near, node, far);
        CHECK_OK(it_ep_free(near));
        CHECK_OK(it_ep_free(far));
        fx_drain(node->conn_evd);
    }
}

/* Makes a socket at a port above the ephemeral ones. */
static int bound_socket(void)
{
    static unsigned used;
    int sd;

    do {
        CHECK(++used <= ASIDE);
        sd = bind_port(last + used);
    } while (sd < 0);
    return sd;
}

static void stream_open(int sds[2])
{
    struct sockaddr_in at;
    socklen_t length = sizeof(at);
    int listener = bound_socket();

    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0);
    sds[0] = bound_socket();
    CHECK(connect(sds[0], (struct sockaddr *)&at, length) == 0);
    sds[1] = accept(listener, NULL, NULL);
    CHECK(sds[1] >= 0);
    (void)close(listener);
}

/* The same for the connections that replace converted streams. */
static void convert_in_a_crowd(struct fx_node *node)
{
    for (int i = 0; i < ROUNDS; i++) {
        it_ep_handle_t near = small_ep(node);
        it_ep_handle_t far = small_ep(node);
        int sds[2];

        stream_open(sds);
        CHECK_OK(it_socket_convert(sds[0], near, ITX_SC_INITIATOR, NULL, 0));
        CHECK_OK(it_socket_convert(sds[1], far, ITX_SC_RESPONDER, NULL, 0));
        for (int k = 0; k < 2; k++)
            CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, fx_next(node->conn_evd).event_number);
        (void)close(sds[0]);
        (void)close(sds[1]);
        CHECK_OK(it_ep_free(near));
        CHECK_OK(it_ep_free(far));
        fx_drain(node->conn_evd);
    }
}

static it_conn_qual_t qual_of(unsigned port)
{
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons((uint16_t)port);
    return qual;
}

static it_status_t listen_on(struct fx_node *node, unsigned port, it_listen_handle_t *listener)
{
    it_conn_qual_t qual = qual_of(port);

    return it_listen_create(node->ia, node->spigot, node->listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                            &qual, listener);
}

/*
 * The program wants ports that a socket has. iWARP and plain TCP share ports, so they are busy. On
 * other transports each is free, since the library keeps no port that nobody has asked for.
 */
static void listen_where_a_socket_is(struct fx_node *node, bool shared)
{
    it_listen_handle_t listener = NULL;

    if (shared) {
        CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, listen_on(node, first, &listener));
        said_once("cannot listen");
        return;
    }
    for (unsigned port = first; port <= last; port++) {
        CHECK_OK(listen_on(node, port, &listener));
        CHECK_OK(it_listen_free(listener));
    }
}

/* An address of this machine, and one of no machine, as the source of a path. */
static void connect_from_elsewhere(struct fx_node *node, bool iwarp)
{
    static const char *const addresses[] = {"127.0.0.1", "192.0.2.1"};

    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        it_net_addr_t from = fx_address_from(addresses[i]);
        it_ep_handle_t ep = small_ep(node);
        it_conn_qual_t qual = qual_of(first);
        it_path_t path = fx_path(node);

        if (iwarp)
            path.u.iwarp.laddr.ipv4 = from.addr.ipv4;
        else
            memcpy(&path.u.ib.local_port_gid.s6_addr[12], &from.addr.ipv4, sizeof(from.addr.ipv4));
        CHECK_STATUS(IT_ERR_INVALID_SOURCE_PATH,
                     it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
        if (iwarp)
            said_nothing(); /* a refused value is logged at debug only */
        else
            said_once(""); /* by rdma_cm */
        CHECK_OK(it_ep_free(ep));
    }
}

static bool is_iwarp(const struct fx_node *node)
{
    it_ia_info_t *info = NULL;
    bool iwarp;

    CHECK_OK(it_ia_query(node->ia, &info));
    iwarp = info->transport_type == IT_IWARP_TCP_TRANSPORT;
    it_ia_info_free(info);
    return iwarp;
}

int main(int argc, char **argv)
{
    struct fx_node node;
    bool iwarp;

    CHECK(argc == 3);
    first = (unsigned)atoi(argv[1]);
    last = (unsigned)atoi(argv[2]);
    CHECK(first > 0 && first + KEPT_FREE < last && last - first < SOCKETS);
    said_begin();
    fx_node_open(&node);
    iwarp = is_iwarp(&node);
    crowd_the_ports();
    connect_in_a_crowd(&node);
    convert_in_a_crowd(&node);
    said_nothing();
    listen_where_a_socket_is(&node, iwarp);
    connect_from_elsewhere(&node, iwarp);
    leave_the_ports();
    fx_node_close(&node);
    return 0;
}
