/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_socket_request: a stream of the program becomes a connection request. */
#include <criterion/criterion.h>

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define WORD (RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 5u << 16 | 6u)

static struct {
    struct fx_node node;
    it_ep_handle_t ep;
    it_listen_handle_t listener;
    int door; /* the program's own port */
    uint16_t port;
} s;

static void open_door(void)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};

    fx_node_open(&s.node);
    s.ep = fx_ep(&s.node, NULL);
    s.door = raw_listen(&s.port);
    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd, ITX_LISTEN_SOCKETS,
                              &qual, &s.listener));
    CHECK_EQ(0, qual.conn_qual.port);
}

static void close_door(void)
{
    fx_empty(s.node.conn_evd);
    fx_empty(s.node.listen_evd);
    CHECK_OK(it_listen_free(s.listener));
    CHECK_OK(it_ep_free(s.ep));
    CHECK(close(s.door) == 0);
    fx_node_close(&s.node);
}

/* Accepts the next stream and passes it to the library. */
static void hand_over(void)
{
    int fd = accept(s.door, NULL, NULL);

    CHECK(fd >= 0);
    CHECK_OK(itx_socket_request(fd, s.listener));
    CHECK(close(fd) == 0);
}

static void add_request(struct raw_bytes *out, const char *data)
{
    RAW_BYTES(pd);

    raw_add_be32(&pd, WORD);
    raw_add(&pd, data, strlen(data));
    raw_mpa(out, false, RAW_MPA_C | RAW_MPA_S, 2, pd.data, pd.len);
}

static void check_request(const it_event_t *event)
{
    CHECK_EQ(IT_IANA_PORT, event->conn_req.conn_qual.type);
    CHECK_EQ(s.port, event->conn_req.conn_qual.conn_qual.port);
    CHECK_EQ(5, event->conn_req.rdma_read_ird);
    CHECK_EQ(6, event->conn_req.rdma_read_ord);
    CHECK(memcmp(event->conn_req.private_data, "knock\0", 6) == 0);
}

static void check_reply(struct raw_peer *peer, unsigned flags, const char *data)
{
    struct raw_mpa_frame reply;

    CHECK_EQ(RAW_OK, raw_receive_mpa(peer, &reply));
    CHECK(reply.reply);
    CHECK_EQ(flags, reply.flags);
    CHECK_EQ(4 + strlen(data), reply.pd_len);
    CHECK(memcmp(reply.pd + 4, data, strlen(data)) == 0);
}

/* All of the Request, or its first part, is in the socket before the library gets it. */
Test(cm_socket_request, accept, .init = open_door, .fini = close_door)
{
    for (size_t early = 0; early < 2; early++) {
        RAW_BYTES(out);
        struct raw_peer peer;
        it_event_t event;
        size_t first;

        add_request(&out, "knock");
        first = early ? out.len : 17;
        raw_connect(&peer, s.port);
        CHECK(raw_send_part(&peer, out.data, first));
        hand_over();
        CHECK(raw_send_part(&peer, out.data + first, out.len - first));
        (void)fx_request(&s.node, &event);
        check_request(&event);
        CHECK_OK(it_ep_accept(s.ep, event.conn_req.cn_est_id, (const unsigned char *)"in", 2));
        check_reply(&peer, RAW_MPA_C | RAW_MPA_S, "in");
        event = fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_EQ(5, event.conn.rdma_read_ord);
        raw_close(&peer);
        fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_OK(it_ep_reset(s.ep));
    }
}

Test(cm_socket_request, reject, .init = open_door, .fini = close_door)
{
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;

    add_request(&out, "knock");
    raw_connect(&peer, s.port);
    CHECK(raw_send(&peer, &out));
    hand_over();
    (void)fx_request(&s.node, &event);
    CHECK_OK(it_reject(event.conn_req.cn_est_id, (const unsigned char *)"no", 2));
    check_reply(&peer, RAW_MPA_C | RAW_MPA_S | RAW_MPA_R, "no");
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
    raw_close(&peer);
}

/* An endpoint of the library connects to the program's port, and data flows. */
Test(cm_socket_request, endpoint, .init = open_door, .fini = close_door)
{
    struct fx_node other;
    it_ep_handle_t ep;
    struct fx_buf from, to;
    it_event_t event;

    fx_node_open(&other);
    ep = fx_ep(&other, NULL);
    from = fx_node_buf(&other, 64);
    to = fx_node_buf(&s.node, 64);
    fx_fill(from.data, 64, 1);
    fx_recv(s.ep, &to, 0, 64, 7);
    fx_connect(&other, ep, s.port);
    hand_over();
    CHECK_OK(it_ep_accept(s.ep, fx_request(&s.node, &event), NULL, 0));
    fx_conn(other.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_send(ep, &from, 0, 64, 1, FX_SIGNAL);
    fx_next(s.node.recv_evd);
    fx_check_same(from.data, to.data, 64);
    CHECK_OK(it_ep_free(ep));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_node_close(&other);
}

/* The program may have set the socket to wake only for whole headers and to close with a reset. */
Test(cm_socket_request, options, .init = open_door, .fini = close_door)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    int lowat = 4096;
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;
    int fd;

    add_request(&out, "knock");
    raw_connect(&peer, s.port);
    fd = accept(s.door, NULL, NULL);
    CHECK(fd >= 0);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)) == 0);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)) == 0);
    CHECK_OK(itx_socket_request(fd, s.listener));
    CHECK(close(fd) == 0);
    CHECK(raw_send(&peer, &out));
    CHECK_OK(it_reject(fx_request(&s.node, &event), NULL, 0));
    check_reply(&peer, RAW_MPA_C | RAW_MPA_S | RAW_MPA_R, "");
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
    raw_close(&peer);
}

/*
 * After octets that are no Request, or the end of the listen point, the peer is reset and nothing
 * else happens.
 */
Test(cm_socket_request, nothing_comes_of_it, .init = open_door, .fini = close_door)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;

    raw_add_fill(&out, 'x', 64);
    raw_connect(&peer, s.port);
    CHECK(raw_send(&peer, &out));
    hand_over();
    CHECK_EQ(RAW_RESET, raw_drain(&peer));
    raw_close(&peer);
    raw_connect(&peer, s.port);
    hand_over();
    CHECK_OK(it_listen_free(s.listener));
    CHECK_EQ(RAW_RESET, raw_drain(&peer));
    raw_close(&peer);
    CHECK_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(s.node.listen_evd, &event));
    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd, ITX_LISTEN_SOCKETS,
                              &qual, &s.listener));
}

/*
 * A listen point with a port takes streams of the program, too. The request names the listen
 * point's qualifier.
 */
Test(cm_socket_request, listen_point_with_a_port, .init = open_door, .fini = close_door)
{
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;
    uint16_t port;

    CHECK_OK(it_listen_free(s.listener));
    s.listener = fx_listen(&s.node, &port);
    add_request(&out, "knock");
    raw_connect(&peer, s.port);
    CHECK(raw_send(&peer, &out));
    hand_over();
    CHECK_OK(it_reject(fx_request(&s.node, &event), NULL, 0));
    CHECK_EQ(port, event.conn_req.conn_qual.conn_qual.port);
    raw_close(&peer);
}
