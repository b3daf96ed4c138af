/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of live TCP sockets in both roles against a raw peer, and streams that the program
 * gets back.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "support/test_row.h"

#define WORD (RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 8u << 16 | 8u)

static struct {
    struct fx_node node;
    it_ep_handle_t ep;
    int sd; /* the program's socket */
    struct raw_peer peer;
    struct raw_bytes startup; /* what the peer sends at startup */
} t;

static void open_stream(bool reply)
{
    memset(&t, 0, sizeof(t));
    fx_node_open(&t.node);
    t.ep = fx_ep(&t.node, NULL);
    raw_socket_pair(&t.peer, &t.sd);
    raw_mpa2(&t.startup, reply, RAW_MPA_C | RAW_MPA_S, WORD);
}

static void close_stream(void)
{
    fx_empty(t.node.conn_evd);
    raw_close(&t.peer);
    if (t.sd >= 0)
        (void)close(t.sd);
    raw_free(&t.startup);
    CHECK_OK(it_ep_free(t.ep));
    fx_node_close(&t.node);
}

static it_event_t established(void)
{
    it_event_t event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);

    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(t.ep));
    CHECK_EQ(htonl(INADDR_LOOPBACK), event.conn.dst_path.u.iwarp.raddr.ipv4.s_addr);
    return event;
}

static void failed(it_conn_reject_code_t code)
{
    it_event_t event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);

    CHECK_EQ(code, event.conn.reject_reason_code);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(t.ep));
}

/* The peer's first FPDU fills a receive that was posted before. */
static void data_flows(void)
{
    struct fx_buf buf = fx_buf_make(&t.node, 16);
    RAW_BYTES(ulpdu);

    t.peer.crc = true;
    fx_recv(t.ep, &buf, 0, 16, 3);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "data", 4, true, 0);
    CHECK(raw_send_ulpdu(&t.peer, &ulpdu));
    fx_done_len(t.node.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, 4);
    CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_buf_free(&buf);
}

static void takes_message(const char *message)
{
    char text[64];
    size_t len = strlen(message);

    CHECK_EQ(RAW_OK, raw_receive(&t.peer, text, len, NULL));
    CHECK(memcmp(text, message, len) == 0);
}

static int option(int sd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    CHECK(getsockopt(sd, level, name, &value, &len) == 0);
    return value;
}

/* Checks that the program's socket is a plain stream again. */
static void is_a_stream(void)
{
    char text[8] = "";

    CHECK_EQ(5, send(t.sd, "plain", 5, MSG_NOSIGNAL));
    takes_message("plain");
    CHECK(raw_send_part(&t.peer, "still", 5));
    CHECK_EQ(5, recv(t.sd, text, 5, MSG_WAITALL));
    CHECK(memcmp(text, "still", 5) == 0);
}

/* ---- Initiator ------------------------------------------------------------------------------ */

static void initiator(int mode)
{
    struct raw_mpa_frame request;

    open_stream(true);
    CHECK(fcntl(t.sd, F_SETFL, mode) == 0);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &request));
    CHECK(!request.reply);
    CHECK_EQ(2, request.revision);
    CHECK_EQ(4, request.pd_len);
    CHECK_EQ(IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, fx_ep_state(t.ep));
    CHECK(raw_send(&t.peer, &t.startup));
    CHECK_EQ(IT_FALSE, established().conn.private_data_present);
    CHECK_EQ(mode, fcntl(t.sd, F_GETFL) & O_NONBLOCK);
    CHECK_EQ(1, option(t.sd, IPPROTO_TCP, TCP_NODELAY));
    (void)close(t.sd); /* the library has a descriptor of its own */
    t.sd = -1;
    data_flows();
    close_stream();
}

TEST_ROW(cm_convert, initiator_blocking, initiator, 0);
TEST_ROW(cm_convert, initiator_non_blocking, initiator, O_NONBLOCK);

static bool has_notes(void)
{
    struct pollfd poll_fd = {.fd = t.sd};

    return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLERR) != 0;
}

/*
 * The program has asked for a time stamp of each segment that leaves. The stamps fill the error
 * queue of the socket, which must not keep the leader awake.
 */
Test(cm_convert, initiator_with_time_stamps, .fini = close_stream)
{
    int stamps = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    struct raw_mpa_frame request;

    open_stream(true);
    CHECK(setsockopt(t.sd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) == 0);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &request));
    CHECK(has_notes());
    CHECK(raw_send(&t.peer, &t.startup));
    (void)established();
    FX_WAIT_WHILE(has_notes(), "removal of the time stamps");
    data_flows();
}

Test(cm_convert, initiator_with_message_and_private_data, .fini = close_stream)
{
    struct itx_convert_params params = {
        .size = sizeof(params),
        .msg = (const unsigned char *)"go\n",
        .msg_len = 3,
        .private_data = (const unsigned char *)"hello",
        .private_data_length = 5,
    };
    struct raw_mpa_frame request;
    RAW_BYTES(pd);
    it_event_t event;

    open_stream(true);
    CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_INITIATOR, &params));
    takes_message("go\n");
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &request));
    CHECK_EQ(9, request.pd_len);
    CHECK(memcmp(request.pd + 4, "hello", 5) == 0);
    raw_add_be32(&pd, WORD);
    raw_add(&pd, "hi", 2);
    raw_reset(&t.startup);
    raw_mpa(&t.startup, true, RAW_MPA_C | RAW_MPA_S, 2, pd.data, pd.len);
    CHECK(raw_send(&t.peer, &t.startup));
    event = established();
    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, "hi\0", 3) == 0);
    data_flows();
}

Test(cm_convert, initiator_rejected, .fini = close_stream)
{
    struct raw_mpa_frame request;
    RAW_BYTES(pd);
    it_event_t event;

    open_stream(true);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &request));
    raw_add_be32(&pd, WORD);
    raw_add(&pd, "no", 2);
    raw_reset(&t.startup);
    raw_mpa(&t.startup, true, RAW_MPA_C | RAW_MPA_S | RAW_MPA_R, 2, pd.data, pd.len);
    CHECK(raw_send(&t.peer, &t.startup));
    event = fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK(memcmp(event.conn.private_data, "no\0", 3) == 0);
    CHECK_EQ(RAW_EOF, raw_drain(&t.peer)); /* ended, although the program's copy is open */
}

/* There is no second attempt with revision 1, since there is no new connection. */
Test(cm_convert, initiator_left_alone, .fini = close_stream)
{
    struct raw_mpa_frame request;

    open_stream(true);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &request));
    raw_finish(&t.peer);
    failed(IT_CN_REJ_OTHER);
    CHECK_EQ(RAW_EOF, raw_drain(&t.peer));
}

Test(cm_convert, both_initiators, .fini = close_stream)
{
    open_stream(false); /* the peer sends a Request in place of a Reply */
    CHECK(raw_send(&t.peer, &t.startup));
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, NULL, 0));
    failed(IT_CN_REJ_BAD_CONN_PARMS);
}

/* ---- Responder ------------------------------------------------------------------------------ */

static void responder(int mode)
{
    struct raw_mpa_frame reply;

    open_stream(false);
    CHECK(fcntl(t.sd, F_SETFL, mode) == 0);
    CHECK_OK(
        it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, (const unsigned char *)"your turn\n", 10));
    CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fx_ep_state(t.ep));
    takes_message("your turn\n");
    for (size_t i = 0; i < t.startup.len; i++)
        CHECK(raw_send_part(&t.peer, t.startup.data + i, 1));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &reply));
    CHECK(reply.reply);
    CHECK_EQ(RAW_MPA_C | RAW_MPA_S, reply.flags);
    (void)established();
    CHECK_EQ(mode, fcntl(t.sd, F_GETFL) & O_NONBLOCK);
    data_flows();
    close_stream();
}

TEST_ROW(cm_convert, responder_blocking, responder, 0);
TEST_ROW(cm_convert, responder_non_blocking, responder, O_NONBLOCK);

Test(cm_convert, responder_private_data_both_ways, .fini = close_stream)
{
    struct itx_convert_params params = {
        .size = sizeof(params),
        .private_data = (const unsigned char *)"granted",
        .private_data_length = 7,
    };
    struct raw_mpa_frame reply;
    it_event_t event;

    open_stream(false);
    raw_reset(&t.startup);
    raw_mpa(&t.startup, false, 0, 1, "please", 6);
    CHECK(raw_send(&t.peer, &t.startup)); /* arrives before the conversion begins */
    CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &reply));
    CHECK_EQ(1, reply.revision);
    CHECK_EQ(7, reply.pd_len);
    CHECK(memcmp(reply.pd, "granted", 7) == 0);
    event = established();
    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, "please\0", 7) == 0);
    data_flows();
}

/* The program has read the first octets of the Request: any number of them, even all. */
Test(cm_convert, early_data_of_the_request, .fini = close_stream)
{
    open_stream(false);
    for (size_t i = 0; i <= t.startup.len; i++) {
        struct itx_convert_params params = {
            .size = sizeof(params),
            .early_data = t.startup.data,
            .early_len = i,
        };
        struct raw_mpa_frame reply;

        CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
        CHECK(raw_send_part(&t.peer, t.startup.data + i, t.startup.len - i));
        CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &reply));
        (void)established();
        data_flows();
        raw_close(&t.peer);
        (void)close(t.sd);
        CHECK_OK(it_ep_reset(t.ep));
        raw_socket_pair(&t.peer, &t.sd);
    }
}

/* Octets behind the Request are the start of the FPDU stream. */
Test(cm_convert, early_data_beyond_the_request, .fini = close_stream)
{
    RAW_BYTES(ulpdu);
    RAW_BYTES(fpdu);

    open_stream(false);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "early", 5, true, 0);
    raw_fpdu(&fpdu, &ulpdu, true);
    for (size_t i = 0; i <= fpdu.len; i++) {
        struct fx_buf buf = fx_buf_make(&t.node, 16);
        RAW_BYTES(early);
        struct itx_convert_params params = {.size = sizeof(params)};
        struct raw_mpa_frame reply;

        raw_add(&early, t.startup.data, t.startup.len);
        raw_add(&early, fpdu.data, i);
        params.early_data = early.data;
        params.early_len = early.len;
        fx_recv(t.ep, &buf, 0, 16, 9);
        CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
        CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &reply));
        (void)established();
        CHECK(raw_send_part(&t.peer, fpdu.data + i, fpdu.len - i));
        fx_done_len(t.node.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 9, 5);
        raw_close(&t.peer);
        fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        (void)close(t.sd);
        fx_buf_free(&buf);
        CHECK_OK(it_ep_reset(t.ep));
        raw_socket_pair(&t.peer, &t.sd);
    }
}

/* The last streaming message does not fit into the socket at once. */
Test(cm_convert, long_message, .fini = close_stream)
{
    static unsigned char message[65536];
    static unsigned char before[1 << 16];
    static unsigned char got[1 << 16];
    struct raw_mpa_frame reply;
    size_t filled = 0;
    ssize_t sent;
    int small = 4096;

    open_stream(false);
    fx_fill(message, sizeof(message), 4);
    CHECK(setsockopt(t.sd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) == 0);
    while ((sent = send(t.sd, before, sizeof(before), MSG_DONTWAIT)) > 0)
        filled += (size_t)sent;
    CHECK(errno == EAGAIN);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_DEFAULT, message, sizeof(message)));
    memset(message, 0, sizeof(message)); /* the library has its own copy */
    while (filled > 0) {
        size_t part = filled < sizeof(got) ? filled : sizeof(got);

        CHECK_EQ(RAW_OK, raw_receive(&t.peer, got, part, NULL));
        filled -= part;
    }
    CHECK_EQ(RAW_OK, raw_receive(&t.peer, got, sizeof(message), NULL));
    CHECK(fx_is_filled(got, sizeof(message), 4));
    CHECK(raw_send(&t.peer, &t.startup));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.peer, &reply));
    (void)established();
    data_flows();
}

/* ---- Handed back ---------------------------------------------------------------------------- */

Test(cm_convert, handed_back_after_silence)
{
    for (int mode = 0; mode <= O_NONBLOCK; mode += O_NONBLOCK) {
        struct itx_convert_params params = {.size = sizeof(params), .timeout_us = 100000};
        struct linger linger = {.l_onoff = 1, .l_linger = 7};
        socklen_t len = sizeof(linger);
        int lowat = 3;
        size_t before;

        open_stream(false);
        CHECK(fcntl(t.sd, F_SETFL, mode) == 0);
        CHECK(setsockopt(t.sd, SOL_SOCKET, SO_LINGER, &linger, len) == 0);
        CHECK(setsockopt(t.sd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)) == 0);
        before = fx_fd_count();
        CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
        failed(IT_CN_REJ_TIMEOUT);
        CHECK_EQ(before, fx_fd_count());
        CHECK_EQ(0, option(t.sd, IPPROTO_TCP, TCP_NODELAY));
        CHECK_EQ(lowat, option(t.sd, SOL_SOCKET, SO_RCVLOWAT));
        CHECK(getsockopt(t.sd, SOL_SOCKET, SO_LINGER, &linger, &len) == 0);
        CHECK(linger.l_onoff == 1 && linger.l_linger == 7);
        CHECK_EQ(mode, fcntl(t.sd, F_GETFL) & O_NONBLOCK);
        is_a_stream();
        /* The socket can be converted again. */
        CHECK_OK(it_ep_reset(t.ep));
        params.timeout_us = 0;
        CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
        CHECK(raw_send(&t.peer, &t.startup));
        (void)established();
        close_stream();
    }
}

/* Returns whether octets are under way: sent, but not acknowledged. */
static bool is_under_way(int sd)
{
    int queued = 0;
    int unsent = 0;

    CHECK(ioctl(sd, SIOCOUTQ, &queued) == 0);
    CHECK(ioctl(sd, SIOCOUTQNSD, &unsent) == 0);
    return queued != unsent;
}

/* Sends until the socket takes no more: their acknowledgements make room for the last time. */
static size_t fill_stream(unsigned char *octets, size_t size)
{
    size_t filled = 0;
    bool under_way;

    do {
        ssize_t sent;

        under_way = is_under_way(t.sd);
        while ((sent = send(t.sd, octets, size, MSG_DONTWAIT)) > 0) {
            filled += (size_t)sent;
            under_way = true;
        }
    } while (under_way);
    return filled;
}

/* The initiator's Request has never left, since the socket was full all the time. */
Test(cm_convert, handed_back_unsent, .fini = close_stream)
{
    static unsigned char octets[1 << 16];
    struct itx_convert_params params = {.size = sizeof(params), .timeout_us = 100000};
    size_t filled;

    open_stream(true);
    filled = fill_stream(octets, sizeof(octets));
    CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_INITIATOR, &params));
    failed(IT_CN_REJ_TIMEOUT);
    CHECK_EQ(0, option(t.sd, IPPROTO_TCP, TCP_NODELAY));
    while (filled > 0) {
        size_t part = filled < sizeof(octets) ? filled : sizeof(octets);

        CHECK_EQ(RAW_OK, raw_receive(&t.peer, octets, part, NULL));
        filled -= part;
    }
    is_a_stream();
}

Test(cm_convert, handed_back_with_the_peers_fin, .fini = close_stream)
{
    char octet;

    open_stream(false);
    CHECK_OK(it_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, NULL, 0));
    raw_finish(&t.peer);
    failed(IT_CN_REJ_OTHER);
    CHECK_EQ(0, recv(t.sd, &octet, 1, 0));
    CHECK_EQ(5, send(t.sd, "plain", 5, MSG_NOSIGNAL)); /* the other direction still works */
    takes_message("plain");
}

/* After the first octet of MPA the program cannot get the stream back. */
Test(cm_convert, cut_after_each_octet, .fini = close_stream)
{
    struct itx_convert_params params = {.size = sizeof(params)};

    open_stream(false);
    for (size_t i = 1; i < t.startup.len; i++) {
        CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
        CHECK(raw_send_part(&t.peer, t.startup.data, i));
        raw_finish(&t.peer);
        failed(IT_CN_REJ_BAD_CONN_PARMS);
        CHECK_EQ(RAW_EOF, raw_drain(&t.peer));
        raw_close(&t.peer);
        (void)close(t.sd);
        CHECK_OK(it_ep_reset(t.ep));
        raw_socket_pair(&t.peer, &t.sd);
    }
}

Test(cm_convert, half_a_request_in_time, .fini = close_stream)
{
    struct itx_convert_params params = {.size = sizeof(params), .timeout_us = 100000};

    open_stream(false);
    CHECK(raw_send_part(&t.peer, t.startup.data, 5));
    CHECK_OK(itx_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, &params));
    failed(IT_CN_REJ_TIMEOUT);
    CHECK_EQ(RAW_RESET, raw_drain(&t.peer));
}

Test(cm_convert, streaming_data_instead_of_a_request, .fini = close_stream)
{
    open_stream(false);
    CHECK_OK(it_socket_convert(t.sd, t.ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK(raw_send_part(&t.peer, "hello", 5));
    failed(IT_CN_REJ_BAD_CONN_PARMS);
    CHECK(raw_drain(&t.peer) != RAW_TIMEOUT);
}

Test(cm_convert, disconnect_while_pending)
{
    for (int i = 0; i < 2; i++) {
        open_stream(false);
        CHECK_OK(it_socket_convert(t.sd, t.ep, i ? ITX_SC_INITIATOR : ITX_SC_RESPONDER, NULL, 0));
        CHECK_OK(it_ep_disconnect(t.ep, NULL, 0));
        fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        CHECK_EQ(RAW_EOF, raw_drain(&t.peer)); /* ended, although the program's copy is open */
        close_stream();
    }
}

Test(cm_convert, free_while_pending_leaves_nothing)
{
    size_t before = fx_fd_count();

    for (int i = 0; i < 4; i++) {
        open_stream(false);
        CHECK_OK(
            it_socket_convert(t.sd, t.ep, i % 2 ? ITX_SC_INITIATOR : ITX_SC_RESPONDER, NULL, 0));
        if (i < 2) {
            CHECK_OK(it_ep_free(t.ep));
            CHECK_EQ(RAW_EOF, raw_drain(&t.peer));
        }
        fx_node_close(&t.node);
        CHECK(raw_drain(&t.peer) != RAW_TIMEOUT);
        raw_close(&t.peer);
        (void)close(t.sd);
        raw_free(&t.startup);
    }
    fx_fd_settle(before);
}

/* ---- Without Request and Reply -------------------------------------------------------------- */

Test(cm_convert, no_request_reply_initiator, .fini = close_stream)
{
    struct itx_mpa_info info = {.size = sizeof(info)};
    it_event_t event;

    open_stream(true);
    CHECK_OK(it_socket_convert(t.sd, t.ep, IT_SC_NO_REQ_REP, NULL, 0));
    event = established();
    CHECK_EQ(8, event.conn.rdma_read_ird);
    CHECK_EQ(8, event.conn.rdma_read_ord);
    CHECK_OK(itx_ep_query_mpa(t.ep, &info));
    CHECK_EQ(0, info.revision);
    CHECK_EQ(IT_TRUE, info.crc);
    data_flows();
}

Test(cm_convert, no_request_reply_responder_with_early_data, .fini = close_stream)
{
    struct itx_convert_params params = {
        .size = sizeof(params),
        .msg = (const unsigned char *)"now\n",
        .msg_len = 4,
    };
    RAW_BYTES(ulpdu);
    RAW_BYTES(fpdu);
    struct fx_buf buf;

    open_stream(true);
    buf = fx_buf_make(&t.node, 16);
    fx_recv(t.ep, &buf, 0, 16, 9);
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, 0, "early", 5, true, 0);
    raw_fpdu(&fpdu, &ulpdu, true);
    params.early_data = fpdu.data;
    params.early_len = 9;
    CHECK_OK(itx_socket_convert(t.sd, t.ep, IT_SC_NO_REQ_REP, &params));
    takes_message("now\n");
    (void)established();
    CHECK(raw_send_part(&t.peer, fpdu.data + 9, fpdu.len - 9));
    fx_done_len(t.node.recv_evd, t.ep, IT_DTO_RC_RECV_CMPL_EVENT, 9, 5);
    raw_close(&t.peer);
    fx_conn(t.node.conn_evd, t.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_buf_free(&buf);
}

/* ---- Both ends are the library -------------------------------------------------------------- */

static void tcp_pair(int family, int *a, int *b)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = family == AF_INET6 ? sizeof(address) : sizeof(struct sockaddr_in);
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (family == AF_INET) {
        struct sockaddr_in *ipv4 = (struct sockaddr_in *)(void *)&address;

        memset(&address, 0, sizeof(address));
        ipv4->sin_family = AF_INET;
        ipv4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    CHECK(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &len) == 0);
    *a = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*a, (struct sockaddr *)&address, len) == 0);
    *b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(*b >= 0);
    (void)close(listener);
}

static void both(int family, it_sc_flags_t flags, bool message)
{
    struct fx_pair pair = {0};
    int a;
    int b;

    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, NULL);
    tcp_pair(family, &a, &b);
    if (message) {
        char text[3];

        CHECK_OK(it_socket_convert(b, pair.b_ep, flags, (const unsigned char *)"rdy", 3));
        CHECK_EQ(3, recv(a, text, 3, MSG_WAITALL));
    } else {
        CHECK_OK(
            it_socket_convert(b, pair.b_ep, (it_sc_flags_t)(flags | ITX_SC_RESPONDER), NULL, 0));
    }
    CHECK_OK(it_socket_convert(a, pair.a_ep, flags, NULL, 0));
    (void)close(a);
    (void)close(b);
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
}

Test(cm_convert, both_ends)
{
    both(AF_INET, IT_SC_DEFAULT, true);
    both(AF_INET6, IT_SC_DEFAULT, true);
    both(AF_INET6, IT_SC_DEFAULT, false);
    both(AF_INET, IT_SC_NO_REQ_REP, true);
    both(AF_INET6, IT_SC_NO_REQ_REP, false);
}
