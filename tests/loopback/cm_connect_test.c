/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side of connection startup against a raw TCP peer: every way an attempt can end. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "support/test_row.h"

#define ANY_TIME_US UINT64_C(20000000)

static struct {
    struct fx_node node;
    it_ep_handle_t ep;
    int listener;
    uint16_t port;
    struct raw_peer peer;
} t;

static void open_attempt(void)
{
    memset(&t, 0, sizeof(t));
    fx_node_open(&t.node);
    t.ep = fx_ep(&t.node, NULL);
    t.listener = raw_listen(&t.port);
    t.peer.fd = -1;
}

static void close_attempt(void)
{
    fx_empty(t.node.conn_evd);
    raw_close(&t.peer);
    (void)close(t.listener);
    CHECK_OK(it_ep_free(t.ep));
    fx_node_close(&t.node);
}

static it_status_t connect_with(uint64_t timeout_us, const void *pd, size_t len)
{
    it_path_t path = fx_path(&t.node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = t.port};

    path.timeout = timeout_us;
    return it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, pd, len);
}

static void set_revision(it_ep_handle_t ep, uint32_t revision)
{
    struct itx_mpa_params mpa = fx_mpa(ep);

    mpa.revision = revision;
    CHECK_OK(itx_ep_set_mpa_params(ep, &mpa));
}

/* Lets the peer accept the connection and receive the Request. */
static struct raw_mpa_frame take_request(void)
{
    struct raw_mpa_frame frame;

    raw_accept(&t.peer, t.listener);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &frame));
    CHECK(!frame.reply);
    return frame;
}

static void reply2(uint32_t word)
{
    RAW_BYTES(out);

    raw_mpa2(&out, true, RAW_MPA_C | RAW_MPA_S, word);
    CHECK(raw_send(&t.peer, &out));
}

static void rejected(it_conn_reject_code_t code)
{
    it_event_t event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    CHECK_EQ(code, event.conn.reject_reason_code);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
    CHECK_EQ(0, event.conn.cn_est_id);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(t.ep));
}

static void again(void)
{
    raw_close(&t.peer);
    CHECK_OK(it_ep_reset(t.ep));
}

static void ends(struct raw_peer *peer)
{
    enum raw_result result = raw_drain(peer);

    CHECK(result == RAW_EOF || result == RAW_RESET);
}

/* ---- Established --------------------------------------------------------------------------- */

Test(cm_connect, revision_2_on_the_wire)
{
    static const unsigned char head[20] = "MPA ID Req Frame\x50\x02\x00\x09";
    unsigned char octets[29];
    struct raw_segment *rtr = calloc(1, sizeof(*rtr));
    RAW_BYTES(pd);
    RAW_BYTES(out);
    it_event_t event;

    open_attempt();
    CHECK_OK(connect_with(0, "hello", 5));
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(t.ep));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, connect_with(0, NULL, 0));
    raw_accept(&t.peer, t.listener);
    CHECK_EQ(RAW_OK, raw_receive(&t.peer, octets, sizeof(octets), NULL));
    CHECK(memcmp(octets, head, sizeof(head)) == 0);
    CHECK_EQ(RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 8u << 16 | 8u, raw_be32(octets + 20));
    CHECK(memcmp(octets + 24, "hello", 5) == 0);

    raw_add_be32(&pd, RAW_ENH_A | RAW_ENH_C | 4u << 16 | 8u);
    raw_add(&pd, "welcome", 7);
    raw_mpa(&out, true, RAW_MPA_C | RAW_MPA_S, 2, pd.data, pd.len);
    CHECK(raw_send(&t.peer, &out));
    event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, "welcome\0", 8) == 0);
    CHECK_EQ(7, itx_event_private_data_length(&event));
    CHECK_EQ(8, event.conn.rdma_read_ird);
    CHECK_EQ(4, event.conn.rdma_read_ord);
    CHECK_EQ(IT_IP_VERS_IPV4, event.conn.dst_path.u.iwarp.ip_vers);
    CHECK_EQ(htonl(INADDR_LOOPBACK), event.conn.dst_path.u.iwarp.raddr.ipv4.s_addr);
    CHECK_EQ(htonl(INADDR_LOOPBACK), event.conn.dst_path.u.iwarp.laddr.ipv4.s_addr);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(t.ep));
    t.peer.crc = true;
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&t.peer, rtr));
    CHECK_EQ(RAW_WRITE, rtr->op);
    CHECK_EQ(0, rtr->len);
    raw_finish(&t.peer);
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    free(rtr);
    close_attempt();
}

Test(cm_connect, revision_1_on_the_wire, .init = open_attempt, .fini = close_attempt)
{
    RAW_BYTES(out);
    struct raw_mpa_frame frame;
    it_event_t event;

    set_revision(t.ep, 1);
    CHECK_OK(connect_with(0, NULL, 0));
    frame = take_request();
    CHECK_EQ(1, frame.revision);
    CHECK_EQ(RAW_MPA_C, frame.flags);
    CHECK_EQ(0, frame.pd_len);
    raw_mpa1(&out, true, RAW_MPA_C);
    CHECK(raw_send(&t.peer, &out));
    event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
}

/*
 * The peer closes or resets without having sent an octet. The endpoint tries again on a new
 * connection with revision 1.
 */
Test(cm_connect, falls_back_to_revision_1)
{
    for (int reset = 0; reset < 2; reset++) {
        struct itx_mpa_info info = {.size = sizeof(info)};
        RAW_BYTES(out);
        struct raw_mpa_frame frame;

        open_attempt();
        CHECK_OK(connect_with(0, "again", 5));
        frame = take_request();
        CHECK_EQ(2, frame.revision);
        if (reset)
            raw_close_with_reset(&t.peer);
        else
            raw_close(&t.peer);
        frame = take_request();
        CHECK_EQ(1, frame.revision);
        CHECK_EQ(5, frame.pd_len);
        CHECK(memcmp(frame.pd, "again", 5) == 0);
        raw_mpa1(&out, true, RAW_MPA_C);
        CHECK(raw_send(&t.peer, &out));
        fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_OK(itx_ep_query_mpa(t.ep, &info));
        CHECK_EQ(1, info.revision);
        close_attempt();
    }
}

Test(cm_connect, falls_back_once_only, .init = open_attempt, .fini = close_attempt)
{
    struct raw_peer third;

    CHECK_OK(connect_with(0, NULL, 0));
    (void)take_request();
    raw_close(&t.peer);
    CHECK_EQ(1, take_request().revision);
    raw_close(&t.peer);
    rejected(IT_CN_REJ_OTHER);
    CHECK(!raw_accept_within(&third, t.listener, 50));
}

Test(cm_connect, reply_in_single_octets_with_an_fpdu_behind, .init = open_attempt,
     .fini = close_attempt)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(out);
    struct fx_buf buf = fx_node_buf(&t.node, 64);

    fx_recv(t.ep, &buf, 0, 64, 7);
    CHECK_OK(connect_with(0, NULL, 0));
    (void)take_request();
    raw_mpa2(&out, true, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
    for (size_t i = 0; i + 1 < out.len; i++)
        CHECK(raw_send_part(&t.peer, out.data + i, 1));
    /* The last octet of the Reply and the first FPDU arrive together. */
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "at once", 7, true, 0);
    raw_fpdu(&out, &ulpdu, true);
    CHECK(raw_send_part(&t.peer, out.data + 23, out.len - 23));
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_done_len(t.node.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 7, 7);
    CHECK(memcmp(buf.data, "at once", 7) == 0);
    CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- Refused -------------------------------------------------------------------------------- */

Test(cm_connect, peer_reject_with_private_data, .init = open_attempt, .fini = close_attempt)
{
    RAW_BYTES(pd);
    RAW_BYTES(out);
    it_event_t event;

    CHECK_OK(connect_with(0, NULL, 0));
    (void)take_request();
    raw_add_be32(&pd, RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
    raw_add(&pd, "no", 2);
    raw_mpa(&out, true, RAW_MPA_C | RAW_MPA_S | RAW_MPA_R, 2, pd.data, pd.len);
    CHECK(raw_send(&t.peer, &out));
    event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, "no\0", 3) == 0);
    CHECK_EQ(2, itx_event_private_data_length(&event));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(t.ep));
    CHECK_EQ(RAW_EOF, raw_drain(&t.peer));
}

Test(cm_connect, nobody_listens, .init = open_attempt, .fini = close_attempt)
{
    (void)close(t.listener);
    t.listener = raw_keep_port(&t.port);
    CHECK_OK(connect_with(0, NULL, 0));
    rejected(IT_CN_REJ_OTHER);
}

Test(cm_connect, no_way_there, .init = open_attempt, .fini = close_attempt)
{
    it_path_t path;
    it_conn_qual_t qual;

    path = fx_path(&t.node); /* from a loopback address to a documentation address */
    path.u.iwarp.raddr.ipv4.s_addr = htonl(0xc6336401u);
    qual = (it_conn_qual_t){.type = IT_IANA_PORT, .conn_qual.port = t.port};
    CHECK_OK(it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    rejected(IT_CN_REJ_BAD_PATH);
}

Test(cm_connect, every_octet_of_the_key_counts, .init = open_attempt, .fini = close_attempt)
{
    RAW_BYTES(out);

    for (size_t i = 0; i < 16; i++) {
        CHECK_OK(connect_with(ANY_TIME_US, NULL, 0));
        (void)take_request();
        raw_mpa2(&out, true, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
        out.data[i] ^= 0x20;
        CHECK(raw_send(&t.peer, &out));
        rejected(IT_CN_REJ_BAD_CONN_PARMS);
        ends(&t.peer);
        raw_reset(&out);
        again();
    }
}

Test(cm_connect, malformed_replies, .init = open_attempt, .fini = close_attempt)
{
    static const char *const bad[] = {
        "4d504120494420526570204672616d65 50 03 0004 00080008", /* revision 3 */
        "4d504120494420526570204672616d65 50 00 0004 00080008", /* revision 0 */
        "4d504120494420526570204672616d65 50 02 0000",          /* S without the enhanced word */
        "4d504120494420526570204672616d65 50 02 0201 00",       /* 513 octets of private data */
        "4d504120494420526571204672616d65 50 02 0004 00080008", /* a Request */
    };
    RAW_BYTES(out);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_context(bad[i]);
        CHECK_OK(connect_with(ANY_TIME_US, NULL, 0));
        (void)take_request();
        raw_add_hex(&out, bad[i]);
        CHECK(raw_send(&t.peer, &out));
        rejected(IT_CN_REJ_BAD_CONN_PARMS);
        ends(&t.peer);
        raw_reset(&out);
        again();
    }
}

/* A well-formed Reply with unacceptable parameters is answered with a Terminate. */
static void terminated(bool markers, uint32_t word, const char *payload, it_conn_reject_code_t code)
{
    RAW_BYTES(out);
    struct raw_segment *segment = calloc(1, sizeof(*segment));
    RAW_BYTES(want);

    open_attempt();
    CHECK_OK(connect_with(0, NULL, 0));
    (void)take_request();
    raw_mpa2(&out, true, RAW_MPA_C | RAW_MPA_S | (markers ? RAW_MPA_M : 0), word);
    CHECK(raw_send(&t.peer, &out));
    rejected(code);
    t.peer.crc = true;
    t.peer.markers = markers;
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&t.peer, segment));
    CHECK_EQ(markers ? 1 : 0, t.peer.markers_seen);
    CHECK_EQ(RAW_TERMINATE, segment->op);
    raw_add_hex(&want, payload);
    CHECK(segment->len >= want.len && memcmp(segment->payload, want.data, want.len) == 0);
    CHECK_EQ(RAW_EOF, raw_drain(&t.peer));
    free(segment);
    close_attempt();
}

TEST_ROW(cm_connect, read_depths_beyond_ours, terminated, false,
         RAW_ENH_A | RAW_ENH_C | 8u << 16 | 100u, "2006", IT_CN_REJ_BAD_ORD);
TEST_ROW(cm_connect, no_rtr_in_common, terminated, false, RAW_ENH_A | RAW_ENH_B | 8u << 16 | 8u,
         "2007", IT_CN_REJ_BAD_CONN_PARMS);
TEST_ROW(cm_connect, terminate_with_a_marker, terminated, true,
         RAW_ENH_A | RAW_ENH_C | 8u << 16 | 100u, "2006", IT_CN_REJ_BAD_ORD);

/* Cuts the Reply after each of its octets. */
static void cut(bool reset)
{
    RAW_BYTES(out);

    open_attempt();
    set_revision(t.ep, 1); /* so that there is no second attempt */
    raw_mpa(&out, true, RAW_MPA_C, 1, "bye", 3);
    for (size_t i = 0; i < out.len; i++) {
        CHECK_OK(connect_with(ANY_TIME_US, NULL, 0));
        (void)take_request();
        CHECK(raw_send_part(&t.peer, out.data, i));
        if (reset)
            raw_close_with_reset(&t.peer);
        else
            raw_finish(&t.peer);
        rejected(i > 0 && !reset ? IT_CN_REJ_BAD_CONN_PARMS : IT_CN_REJ_OTHER);
        again();
    }
    close_attempt();
}

TEST_ROW(cm_connect, reply_cut_by_fin, cut, false);
TEST_ROW(cm_connect, reply_cut_by_reset, cut, true);

/* ---- Time ----------------------------------------------------------------------------------- */

Test(cm_connect, silent_peer, .init = open_attempt, .fini = close_attempt)
{
    uint64_t start = fx_now_us();

    CHECK_OK(connect_with(200000, NULL, 0));
    (void)take_request();
    rejected(IT_CN_REJ_TIMEOUT);
    CHECK(fx_now_us() - start >= 200000);
    ends(&t.peer);
}

/*
 * The first connection ends without a Reply. Returns false if that came too late for a second
 * connection.
 */
static bool second_connection(uint64_t timeout_us)
{
    struct raw_mpa_frame frame;

    CHECK_OK(connect_with(timeout_us, NULL, 0));
    raw_accept(&t.peer, t.listener);
    (void)raw_receive_mpa(&t.peer, &frame);
    raw_close(&t.peer);
    rejected(IT_CN_REJ_TIMEOUT);
    return raw_accept_within(&t.peer, t.listener, 0);
}

/* The time limit is for the whole attempt: the second connection gets the rest of it. */
Test(cm_connect, time_is_not_given_twice, .init = open_attempt, .fini = close_attempt)
{
    uint64_t timeout_us = 150000;

    do {
        CHECK_OK(it_ep_reset(t.ep));
        timeout_us *= 2;
    } while (!second_connection(timeout_us));
    ends(&t.peer);
}

/* The peer's TCP does not answer because its accept queue is full. */
Test(cm_connect, tcp_does_not_answer, .init = open_attempt, .fini = close_attempt)
{
    struct raw_peer others[2];

    CHECK(listen(t.listener, 0) == 0);
    raw_connect(&others[0], t.port);
    CHECK_OK(connect_with(300000, NULL, 0));
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(t.ep));
    rejected(IT_CN_REJ_TIMEOUT);
    raw_close(&others[0]);
}

/* ---- Given up ------------------------------------------------------------------------------- */

Test(cm_connect, disconnect_while_pending, .init = open_attempt, .fini = close_attempt)
{
    for (int i = 0; i < 20; i++) {
        CHECK_OK(connect_with(0, NULL, 0));
        raw_accept(&t.peer, t.listener);
        if (i % 2)
            (void)poll(NULL, 0, 1);
        CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
        fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(t.ep, NULL, 0));
        ends(&t.peer);
        again();
    }
}

Test(cm_connect, free_while_pending_leaves_nothing, .init = open_attempt, .fini = close_attempt)
{
    size_t before = fx_fd_count();

    for (int i = 0; i < 20; i++) {
        CHECK_OK(connect_with(0, NULL, 0));
        if (i % 2) {
            (void)take_request();
            CHECK_OK(it_ep_free(t.ep));
            ends(&t.peer);
        } else {
            CHECK_OK(it_ep_free(t.ep));
            raw_accept(&t.peer, t.listener);
        }
        raw_close(&t.peer);
        t.ep = fx_ep(&t.node, NULL);
    }
    fx_fd_settle(before);
}

Test(cm_connect, ia_free_while_pending_leaves_nothing)
{
    size_t before = fx_fd_count();

    open_attempt();
    CHECK_OK(connect_with(0, NULL, 0));
    (void)take_request();
    fx_node_close(&t.node);
    ends(&t.peer);
    raw_close(&t.peer);
    (void)close(t.listener);
    fx_fd_settle(before);
}

/* ---- Local ports ---------------------------------------------------------------------------- */

static it_status_t connect_from(uint16_t local, uint16_t remote)
{
    it_path_t path = fx_path(&t.node);
    it_conn_qual_t qual = {.type = IT_IANA_LR_PORT};

    qual.conn_qual.lr_port.local = local;
    qual.conn_qual.lr_port.remote = remote;
    return it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

static uint16_t peer_port(const struct raw_peer *peer)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);

    CHECK(getpeername(peer->fd, (struct sockaddr *)&address, &len) == 0);
    return address.sin_port;
}

Test(cm_connect, chosen_local_port)
{
    uint16_t local;
    int kept = raw_keep_port(&local);

    open_attempt();
    CHECK_OK(connect_from(local, t.port));
    (void)take_request();
    CHECK_EQ(local, peer_port(&t.peer));
    raw_close_with_reset(&t.peer);
    CHECK_EQ(1, take_request().revision); /* the second connection uses the same port */
    CHECK_EQ(local, peer_port(&t.peer));
    raw_close(&t.peer);
    rejected(IT_CN_REJ_OTHER);
    close_attempt();
    (void)close(kept);
}

Test(cm_connect, local_port_is_taken, .init = open_attempt, .fini = close_attempt)
{
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, connect_from(t.port, t.port));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(t.ep));
    CHECK_OK(connect_from(0, t.port));
    (void)take_request();
    CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* TCP can connect a socket to itself. The library does not accept that as a peer. */
Test(cm_connect, not_to_itself)
{
    uint16_t port;
    int kept = raw_keep_port(&port);

    open_attempt();
    CHECK_OK(connect_from(port, port));
    rejected(IT_CN_REJ_OTHER);
    close_attempt();
    (void)close(kept);
}

/* ---- Both ends are the library -------------------------------------------------------------- */

static const void *ip_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET
               ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
               : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ((const struct sockaddr_in *)(const void *)address)->sin_port;
}

static void stream_options_are_kept(it_ep_handle_t ep)
{
    const int on = 1;
    const int idle_s = 77;
    const unsigned user_timeout_ms = 4321;
    unsigned value = 0;
    socklen_t length = sizeof(value);

    CHECK_OK(itx_ep_set_stream_option(ep, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
    CHECK_OK(itx_ep_set_stream_option(ep, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s)));
    CHECK_OK(itx_ep_set_stream_option(ep, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms,
                                      sizeof(user_timeout_ms)));
    CHECK_OK(itx_ep_get_stream_option(ep, SOL_SOCKET, SO_KEEPALIVE, &value, &length));
    CHECK_EQ(1, value);
    CHECK_OK(itx_ep_get_stream_option(ep, IPPROTO_TCP, TCP_KEEPIDLE, &value, &length));
    CHECK_EQ(77, value);
    CHECK_OK(itx_ep_get_stream_option(ep, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length));
    CHECK_EQ(4321, value);
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                 itx_ep_set_stream_option(ep, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
}

/*
 * Checks that both ends and the request report the same two addresses, those of the path, and the
 * listener's port.
 */
static void addresses_agree(it_ep_handle_t active, it_ep_handle_t passive,
                            const struct itx_ep_addresses *request, const it_path_t *path,
                            const it_conn_qual_t *qual)
{
    struct itx_ep_addresses a = {.size = sizeof(a)};
    struct itx_ep_addresses b = {.size = sizeof(b)};
    bool ipv4 = path->u.iwarp.ip_vers == IT_IP_VERS_IPV4;

    CHECK_OK(itx_ep_query_addresses(active, &a));
    CHECK_OK(itx_ep_query_addresses(passive, &b));
    CHECK_EQ(ipv4 ? AF_INET : AF_INET6, a.remote.ss_family);
    CHECK(memcmp(ip_of(&a.remote), &path->u.iwarp.raddr, ipv4 ? 4 : 16) == 0);
    CHECK_EQ(qual->conn_qual.port, port_of(&a.remote));
    CHECK(port_of(&a.local) != 0);
    CHECK(memcmp(&a.local, &b.remote, sizeof(a.local)) == 0);
    CHECK(memcmp(&a.remote, &b.local, sizeof(a.remote)) == 0);
    CHECK(memcmp(request, &b, sizeof(b)) == 0);
    stream_options_are_kept(active);
    CHECK_OK(it_ep_disconnect(active, NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, itx_ep_set_stream_option(active, SOL_SOCKET, SO_KEEPALIVE,
                                                                   &(int){1}, sizeof(int)));
    CHECK_OK(itx_ep_query_addresses(active, &b));
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    CHECK_OK(it_ep_reset(active));
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, itx_ep_query_addresses(active, &b));
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
}

/* A program may ask for private data with any event, or with none. */
Test(cm_connect, no_private_data_in_other_events)
{
    it_event_t event;

    memset(&event, 0xff, sizeof(event));
    CHECK_EQ(0, itx_event_private_data_length(NULL));
    CHECK_EQ(0, itx_event_private_data_length(&event));
    event.event_number = IT_DTO_RC_RECV_CMPL_EVENT;
    CHECK_EQ(0, itx_event_private_data_length(&event));
    event.event_number = IT_CM_MSG_CONN_ESTABLISHED_EVENT;
    event.conn.private_data_present = IT_FALSE;
    CHECK_EQ(0, itx_event_private_data_length(&event));
    event.conn.private_data_present = IT_TRUE;
    CHECK_EQ(IT_MAX_PRIV_DATA, itx_event_private_data_length(&event));
}

static void pair_over(const it_path_t *path, it_cn_est_flags_t flags,
                      it_listen_flags_t listen_flags, uint32_t active_ord)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    unsigned char data[IT_MAX_PRIV_DATA];
    it_listen_handle_t listener;
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    struct itx_ep_addresses request = {.size = sizeof(request)};
    it_event_t event;

    fx_node_open(&a);
    fx_node_open(&b);
    attr.srv.rc.rdma_read_ird = 3;
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, &attr);
    fx_fill(data, sizeof(data), 1);
    CHECK_OK(it_listen_create(b.ia, b.spigot, b.listen_evd, listen_flags, &qual, &listener));
    CHECK_OK(it_ep_connect(a_ep, path, NULL, &qual, flags, data, sizeof(data)));
    (void)fx_request(&b, &event);
    CHECK(memcmp(event.conn_req.private_data, data, sizeof(data)) == 0);
    CHECK_EQ(sizeof(data), itx_event_private_data_length(&event));
    fx_fill(data, sizeof(data), 2);
    CHECK_OK(itx_request_query_addresses(event.conn_req.cn_est_id, &request));
    CHECK_OK(it_ep_accept(b_ep, event.conn_req.cn_est_id, data, sizeof(data)));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK(memcmp(event.conn.private_data, data, sizeof(data)) == 0);
    CHECK_EQ(active_ord, event.conn.rdma_read_ord);
    CHECK(memcmp(&event.conn.dst_path.u.iwarp.raddr, &path->u.iwarp.raddr, 4) == 0);
    event = fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
    CHECK_EQ(0, itx_event_private_data_length(&event));
    CHECK_EQ(path->u.iwarp.ip_vers, event.conn.dst_path.u.iwarp.ip_vers);
    addresses_agree(a_ep, b_ep, &request, path, &qual);
    fx_node_close(&a);
    fx_node_close(&b);
}

static it_path_t path_to(const it_net_addr_t *to)
{
    struct fx_node node;
    it_path_t path;
    size_t count = 1;
    size_t total;

    fx_node_open(&node);
    CHECK_OK(it_get_pathinfo(node.ia, node.spigot, to, &count, &total, &path));
    CHECK_EQ(1, count);
    fx_node_close(&node);
    return path;
}

Test(cm_connect, both_ends_and_suppression)
{
    it_net_addr_t to = {.addr_type = IT_IPV4, .addr.ipv4.s_addr = htonl(INADDR_LOOPBACK)};
    it_path_t path = path_to(&to);
    it_cn_est_flags_t suppress =
        (it_cn_est_flags_t)(IT_CONNECT_FLAG_TWO_WAY | IT_CONNECT_SUPPRESS_IRD_ORD);

    pair_over(&path, IT_CONNECT_FLAG_TWO_WAY, IT_LISTEN_NO_FLAG, 3);
    pair_over(&path, suppress, IT_LISTEN_NO_FLAG, 8);
    pair_over(&path, IT_CONNECT_FLAG_TWO_WAY, IT_LISTEN_SUPPRESS_IRD_ORD, 8);
    memset(&path.u.iwarp.laddr, 0, sizeof(path.u.iwarp.laddr)); /* any */
    pair_over(&path, IT_CONNECT_FLAG_TWO_WAY, IT_LISTEN_NO_FLAG, 3);
}

Test(cm_connect, both_ends_over_ipv6)
{
    it_net_addr_t to = {.addr_type = IT_IPV6, .addr.ipv6 = IN6ADDR_LOOPBACK_INIT};
    it_path_t path = path_to(&to);

    CHECK_EQ(IT_IP_VERS_IPV6, path.u.iwarp.ip_vers);
    pair_over(&path, IT_CONNECT_FLAG_TWO_WAY, IT_LISTEN_NO_FLAG, 3);
}

/* For a peer with an IPv4-mapped address either any-address works, on every kind of IA. */
Test(cm_connect, ipv4_in_ipv6_form)
{
    static const char *const names[] = {"uiwarp", "uiwarp:lo"};
    static const char *const locals[] = {"::", "::ffff:127.0.0.1"};

    for (size_t i = 0; i < 4; i++) {
        it_path_t path;
        it_conn_qual_t qual = {.type = IT_IANA_PORT};
        it_event_t event;

        open_attempt();
        CHECK_OK(it_ia_free(t.node.ia));
        CHECK_OK(it_ia_create(names[i / 2], 2, 1, &t.node.ia));
        CHECK_OK(it_pz_create(t.node.ia, &t.node.pz));
        t.node.request_evd = t.node.recv_evd = fx_evd(&t.node, IT_DTO_EVENT_STREAM, 512, 0);
        t.node.conn_evd = fx_evd(&t.node, IT_CM_MSG_EVENT_STREAM, 16, 0);
        t.ep = fx_ep(&t.node, NULL);
        memset(&path, 0, sizeof(path));
        path.spigot_id = 1;
        path.u.iwarp.ip_vers = IT_IP_VERS_IPV6;
        CHECK(inet_pton(AF_INET6, locals[i % 2], &path.u.iwarp.laddr.ipv6) == 1);
        CHECK(inet_pton(AF_INET6, "::ffff:127.0.0.1", &path.u.iwarp.raddr.ipv6) == 1);
        qual.conn_qual.port = t.port;
        CHECK_OK(it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
        (void)take_request();
        reply2(RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
        event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_EQ(IT_IP_VERS_IPV4, event.conn.dst_path.u.iwarp.ip_vers);
        close_attempt();
    }
}

Test(cm_connect, wrong_arguments, .init = open_attempt, .fini = close_attempt)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = t.port};
    it_path_t path = fx_path(&t.node);

    path.u.iwarp.laddr.ipv4.s_addr = htonl(0xc6336401u);
    CHECK_STATUS(IT_ERR_INVALID_SOURCE_PATH,
                 it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    path = fx_path(&t.node);
    path.u.iwarp.raddr.ipv4.s_addr = 0;
    CHECK_STATUS(IT_ERR_INVALID_ADDRESS,
                 it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    path = fx_path(&t.node);
    path.spigot_id = 77;
    CHECK_STATUS(IT_ERR_INVALID_SPIGOT,
                 it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    path = fx_path(&t.node);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_FLAGS,
                 it_ep_connect(t.ep, &path, NULL, &qual, IT_CONNECT_FLAG_THREE_WAY, NULL, 0));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(t.ep));
}
