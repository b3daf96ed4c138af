/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections begin: two-way, three-way, private data, depths, refusals, handoff. */
#include "suite/suite.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Private data ---------------------------------------------------------------------------- */

#define DATA_LENGTHS 4

/* Returns the length of a round: none, one octet, some, the maximum. */
static size_t data_length(unsigned round, size_t limit)
{
    static const size_t lengths[DATA_LENGTHS] = {0, 1, 37, IT_MAX_PRIV_DATA};

    return lengths[round] < limit ? lengths[round] : limit;
}

/* Returns what both sides can send and receive. */
static size_t data_limit(struct suite_side *side, size_t own)
{
    size_t other = 0;

    suite_tell(side, &own, sizeof(own));
    suite_hear(side, &other, sizeof(other));
    return own < other ? own : other;
}

/* A transport may pad private data with zeros, so "present" does not show that there was any. */
static void data_check(const unsigned char *data, it_boolean_t present, size_t length,
                       uint32_t seed)
{
    if (length != 0)
        CHECK(present);
    CHECK(fx_is_filled(data, length, seed));
    CHECK(fx_is_byte(data + length, IT_MAX_PRIV_DATA - length, 0));
}

static void request_check(struct suite_side *side, const it_event_t *event, size_t length,
                          uint32_t seed)
{
    const it_net_addr_t *address = &event->conn_req.source_addr;

    CHECK_EQ(side->other_address.addr_type, address->addr_type);
    CHECK(memcmp(&side->other_address.addr, &address->addr,
                 address->addr_type == IT_IPV4 ? 4 : 16) == 0);
    CHECK_EQ(side->node.spigot, event->conn_req.spigot_id);
    CHECK(event->conn_req.evd == side->node.listen_evd);
    data_check(event->conn_req.private_data, event->conn_req.private_data_present, length, seed);
}

static void two_way_near(struct suite_side *side)
{
    size_t connect = data_limit(side, side->info->connect_private_data_len);
    size_t accept = data_limit(side, side->info->accept_private_data_len);
    unsigned char data[IT_MAX_PRIV_DATA];

    for (unsigned round = 0; round < DATA_LENGTHS; round++) {
        it_ep_handle_t ep = suite_ep(side);
        it_event_t event;

        fx_fill(data, sizeof(data), 10 + round);
        suite_connect(side, ep, data, data_length(round, connect));
        event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(ep));
        data_check(event.conn.private_data, event.conn.private_data_present,
                   data_length(round, accept), 20 + round);
        suite_ping(side, ep);
        suite_part(side, ep);
        CHECK_OK(it_ep_free(ep));
    }
    fx_empty(side->node.conn_evd);
}

static void two_way_far(struct suite_side *side)
{
    size_t connect = data_limit(side, side->info->connect_private_data_len);
    size_t accept = data_limit(side, side->info->accept_private_data_len);
    unsigned char data[IT_MAX_PRIV_DATA];

    for (unsigned round = 0; round < DATA_LENGTHS; round++) {
        it_listen_handle_t listener = suite_listen(side);
        it_ep_handle_t ep = suite_ep(side);
        it_cn_est_identifier_t id;
        it_event_t event;

        id = fx_request(&side->node, &event);
        request_check(side, &event, data_length(round, connect), 10 + round);
        fx_fill(data, sizeof(data), 20 + round);
        CHECK_OK(it_ep_accept(ep, id, data, data_length(round, accept)));
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
        event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(ep));
        CHECK(!event.conn.private_data_present);
        suite_ping(side, ep);
        suite_part(side, ep);
        CHECK_OK(it_ep_free(ep));
        CHECK_OK(it_listen_free(listener));
    }
    fx_empty(side->node.conn_evd);
}

/* One octet more than an Interface carries is refused and has no effect. */
static void data_too_long_near(struct suite_side *side)
{
    static const unsigned char data[IT_MAX_PRIV_DATA + 1];
    it_ep_handle_t ep = suite_ep(side);
    uint16_t port = 0;

    suite_hear(side, &port, sizeof(port));
    CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                 suite_connect_to(side, ep, port, IT_CONNECT_FLAG_TWO_WAY, data,
                                  side->info->connect_private_data_len + 1));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    CHECK_OK(suite_connect_to(side, ep, port, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_ping(side, ep);
    CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                 it_ep_disconnect(ep, data, side->info->disconnect_private_data_len + 1));
    suite_part(side, ep);
}

static void data_too_long_far(struct suite_side *side)
{
    static const unsigned char data[IT_MAX_PRIV_DATA + 1];
    it_ep_handle_t ep = suite_ep(side);
    it_cn_est_identifier_t id;

    (void)suite_listen(side);
    id = fx_request(&side->node, NULL);
    CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                 it_ep_accept(ep, id, data, side->info->accept_private_data_len + 1));
    CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                 it_reject(id, data, side->info->reject_private_data_len + 1));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    CHECK_OK(it_ep_accept(ep, id, NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_ping(side, ep);
    suite_part(side, ep);
}

/* ---- Three-way ------------------------------------------------------------------------------- */

static it_event_t arrival(struct suite_side *side, it_ep_handle_t ep, const void *data,
                          size_t length)
{
    uint16_t port = 0;
    it_event_t event;

    suite_hear(side, &port, sizeof(port));
    CHECK_OK(suite_connect_to(side, ep, port, IT_CONNECT_FLAG_THREE_WAY, data, length));
    event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT);
    CHECK(event.conn.cn_est_id != 0);
    CHECK_EQ(IT_EP_STATE_ACTIVE2_CONNECTION_PENDING, fx_ep_state(ep));
    return event;
}

static void three_way_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    unsigned char data[IT_MAX_PRIV_DATA];
    it_event_t event;

    fx_fill(data, sizeof(data), 1);
    event = arrival(side, ep, data, 20);
    data_check(event.conn.private_data, event.conn.private_data_present, 30, 2);
    fx_empty(side->node.conn_evd);
    CHECK_OK(it_ep_accept(ep, event.conn.cn_est_id, NULL, 0));
    event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK(!event.conn.private_data_present);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(ep));
    suite_ping(side, ep);
    suite_part(side, ep);
    CHECK_OK(it_ep_reset(ep));

    /* The request is rejected at the last moment. */
    event = arrival(side, ep, NULL, 0);
    CHECK_OK(it_reject(event.conn.cn_est_id, data, 10));
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, event.conn.cn_est_id, NULL, 0));
    suite_meet(side, "refused");
    fx_empty(side->node.conn_evd);
    CHECK_OK(it_ep_reset(ep));
    suite_join(side, ep);
}

static void three_way_far(struct suite_side *side)
{
    it_listen_handle_t listener = suite_listen(side);
    it_ep_handle_t ep = suite_ep(side);
    unsigned char data[IT_MAX_PRIV_DATA];
    it_event_t event;

    request_check(side, (fx_request(&side->node, &event), &event), 20, 1);
    fx_fill(data, sizeof(data), 2);
    CHECK_OK(it_ep_accept(ep, event.conn_req.cn_est_id, data, 30));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_ping(side, ep);
    suite_part(side, ep);
    CHECK_OK(it_ep_reset(ep));
    CHECK_OK(it_listen_free(listener));

    listener = suite_listen(side);
    CHECK_OK(it_ep_accept(ep, fx_request(&side->node, NULL), NULL, 0));
    event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    data_check(event.conn.private_data, event.conn.private_data_present, 10, 1);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    suite_meet(side, "refused");
    fx_empty(side->node.conn_evd);
    CHECK_OK(it_ep_reset(ep));
    CHECK_OK(it_listen_free(listener));
    suite_join(side, ep);
}

/* An Interface without three-way connecting refuses it, and the endpoint stays usable. */
static void no_three_way(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);

    if (side->near) {
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_FLAGS,
                     suite_connect_to(side, ep, 1, IT_CONNECT_FLAG_THREE_WAY, NULL, 0));
        CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    }
    suite_join(side, ep);
}

/* ---- Depths ---------------------------------------------------------------------------------- */

#define NEAR_IRD 3
#define NEAR_ORD 7
#define FAR_IRD  2
#define FAR_ORD  5

/* Event and endpoint report the depths in force. All Reads complete, however many there are. */
static void depths(struct suite_side *side)
{
    it_ep_attributes_t attr = suite_attr();
    struct fx_buf buf = fx_buf_make(&side->node, 4096);
    it_listen_handle_t listener = NULL;
    struct suite_region region;
    it_ep_param_t param;
    it_event_t event;
    it_ep_handle_t ep;
    uint32_t ird;

    attr.srv.rc.rdma_read_ird = side->near ? NEAR_IRD : FAR_IRD;
    attr.srv.rc.rdma_read_ord = side->near ? NEAR_ORD : FAR_ORD;
    ep = fx_ep(&side->node, &attr);
    if (side->near) {
        suite_connect(side, ep, NULL, 0);
    } else {
        listener = suite_listen(side);
        CHECK_OK(it_ep_accept(ep, fx_request(&side->node, &event), NULL, 0));
        CHECK_EQ(NEAR_IRD, event.conn_req.rdma_read_ird);
        CHECK_EQ(NEAR_ORD, event.conn_req.rdma_read_ord);
    }
    event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_MAX_IRD | IT_EP_PARAM_MAX_ORD, &param));
    CHECK_EQ(event.conn.rdma_read_ird, param.attr.srv.rc.rdma_read_ird);
    CHECK_EQ(event.conn.rdma_read_ord, param.attr.srv.rc.rdma_read_ord);
    suite_tell(side, &param.attr.srv.rc.rdma_read_ird, sizeof(ird));
    suite_hear(side, &ird, sizeof(ird));
    if (param.attr.srv.rc.rdma_read_ord < 1 || param.attr.srv.rc.rdma_read_ord > ird)
        CHECK_FAIL("an ORD of %u to a peer with an IRD of %u", param.attr.srv.rc.rdma_read_ord,
                   ird);
    suite_ping(side, ep);

    fx_fill(buf.data, 2048, side->near);
    suite_tell_region(side, &buf);
    region = suite_hear_region(side);
    for (unsigned i = 0; i < 32; i++)
        suite_read(ep, &buf, 2048 + (size_t)i * 64, 64, &region, (size_t)i * 64, i, FX_SIGNAL);
    for (unsigned i = 0; i < 32; i++)
        fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 64);
    CHECK(fx_is_filled(buf.data + 2048, 2048, !side->near));
    suite_part(side, ep);
    if (listener != NULL)
        CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_ep_free(ep));
    fx_buf_free(&buf);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void reject_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    size_t length = 0;
    it_event_t event;

    suite_hear(side, &length, sizeof(length));
    for (unsigned round = 0; round < 2; round++) {
        CHECK_OK(it_post_recv(ep, NULL, 0, 5, FX_SIGNAL));
        suite_connect(side, ep, NULL, 0);
        event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
        data_check(event.conn.private_data, event.conn.private_data_present, round ? length : 0, 8);
        CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
        fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 5, IT_DTO_ERR_FLUSHED);
        CHECK_OK(it_ep_reset(ep));
    }
    fx_empty(side->node.conn_evd);
    suite_join(side, ep);
}

static void reject_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    unsigned char data[IT_MAX_PRIV_DATA];
    size_t length = side->info->reject_private_data_len;

    if (length > 100)
        length = 100;
    suite_tell(side, &length, sizeof(length));
    fx_fill(data, sizeof(data), 8);
    for (unsigned round = 0; round < 2; round++) {
        it_listen_handle_t listener = suite_listen(side);
        it_cn_est_identifier_t id = fx_request(&side->node, NULL);

        CHECK_OK(it_reject(id, data, round ? length : 0));
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, id, NULL, 0));
        CHECK_OK(it_listen_free(listener));
    }
    suite_join(side, ep);
}

static void nobody_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    it_event_t event;

    suite_connect(side, ep, NULL, 0);
    event = fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_CN_REJ_OTHER, event.conn.reject_reason_code);
    CHECK(!event.conn.private_data_present);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    CHECK_OK(it_ep_reset(ep));
    fx_empty(side->node.conn_evd);
    suite_join(side, ep);
}

/* Makes a socket that keeps the port without listening. Returns -1 if the port is in use. */
static int keep_port(uint16_t port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = port};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    own.sin_addr.s_addr = fx_address().addr.ipv4.s_addr;
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* There was a listen point at this port before. */
static void nobody_far(struct suite_side *side)
{
    struct fx_patience patience = fx_patience_start("a port that nobody else takes");
    uint16_t port = 0;
    int kept;

    do {
        fx_patience_check(&patience);
        CHECK_OK(it_listen_free(fx_listen(&side->node, &port)));
        kept = keep_port(port);
    } while (kept < 0);
    suite_tell(side, &port, sizeof(port));
    (void)suite_joined(side);
    fx_empty(side->node.listen_evd);
    (void)close(kept);
}

/* This process already uses the port. */
static void port_in_use(struct suite_side *side)
{
    uint16_t port = 0;
    it_listen_handle_t listener = fx_listen(&side->node, &port);
    it_listen_handle_t second = NULL;
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = port;
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY,
                 it_listen_create(side->node.ia, side->node.spigot, side->node.listen_evd,
                                  IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_listen_create(side->node.ia, side->node.spigot, side->node.listen_evd,
                              IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    CHECK_OK(it_listen_free(second));
}

/* ---- Handoff --------------------------------------------------------------------------------- */

static void handoff_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    unsigned char data[IT_MAX_PRIV_DATA];

    fx_fill(data, sizeof(data), 3);
    suite_connect(side, ep, data, 25);
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_ping(side, ep);
    suite_part(side, ep);
}

static void handoff_far(struct suite_side *side)
{
    it_listen_handle_t first = suite_listen(side);
    it_evd_handle_t evd = fx_evd(&side->node, IT_CM_REQ_EVENT_STREAM, 8, 0);
    it_listen_handle_t second = NULL;
    it_ep_handle_t ep = suite_ep(side);
    it_cn_est_identifier_t id;
    it_conn_qual_t qual;
    it_event_t event;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    CHECK_OK(
        it_listen_create(side->node.ia, side->node.spigot, evd, IT_LISTEN_NO_FLAG, &qual, &second));
    id = fx_request(&side->node, NULL);
    CHECK_OK(it_handoff(&qual, side->node.spigot, id));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, id, NULL, 0));
    event = fx_next(evd);
    CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    CHECK(event.conn_req.cn_est_id != id);
    data_check(event.conn_req.private_data, event.conn_req.private_data_present, 25, 3);
    CHECK_OK(it_ep_accept(ep, event.conn_req.cn_est_id, NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_empty(side->node.listen_evd);
    suite_ping(side, ep);
    suite_part(side, ep);
    CHECK_OK(it_listen_free(first));
    CHECK_OK(it_listen_free(second));
}

/* ---- Receives before the connection ---------------------------------------------------------- */

#define EARLY 8

/* Receives are posted before the connection, and messages fill them in this order. */
static void early_receives(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);
    struct fx_buf buf = fx_buf_make(&side->node, EARLY * 64);

    if (side->near) {
        fx_fill(buf.data, buf.size, 4);
        suite_join_quietly(side, ep);
        for (unsigned i = 0; i < EARLY; i++)
            fx_send(ep, &buf, (size_t)i * 64, 64, i, FX_SIGNAL);
        for (unsigned i = 0; i < EARLY; i++)
            fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, i, 64);
    } else {
        for (unsigned i = 0; i < EARLY; i++)
            fx_recv(ep, &buf, (size_t)i * 64, 64, i);
        CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_post_send(ep, NULL, 0, 0, FX_SIGNAL));
        suite_join_quietly(side, ep);
        for (unsigned i = 0; i < EARLY; i++)
            fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 64);
        CHECK(fx_is_filled(buf.data, buf.size, 4));
    }
    suite_part(side, ep);
}

/* InfiniBand: the number of retries if the receiver is not ready. */
static void attributes_near(struct suite_side *side)
{
    it_path_t path = fx_path_to(&side->node, &side->other_address);
    it_conn_attributes_t attributes = {
        .ib = {.retry_count = 3, .rnr_retry_count = 0, .local_ack_timeout = 14}};
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_ep_handle_t ep = suite_ep(side);
    it_event_t event;

    suite_hear(side, &qual.conn_qual.port, sizeof(qual.conn_qual.port));
    CHECK_OK(it_ep_connect(ep, &path, &attributes, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_post_send(ep, NULL, 0, 1, FX_SIGNAL));
    event = fx_next(side->node.request_evd);
    CHECK_EQ(IT_DTO_ERR_RECEIVER_NOT_READY, event.dto_cmpl.dto_status);
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}

static void attributes_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_ep(side);

    (void)suite_listen(side);
    CHECK_OK(it_ep_accept(ep, fx_request(&side->node, NULL), NULL, 0));
    fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    suite_ended(side, ep);
}

const struct suite_case suite_connect_cases[] = {
    {.name = "connect_two_way",
     .near = two_way_near,
     .far = two_way_far,
     .needs = SUITE_PRIVATE_DATA},
    {.name = "connect_data_too_long", .near = data_too_long_near, .far = data_too_long_far},
    {.name = "connect_three_way",
     .near = three_way_near,
     .far = three_way_far,
     .needs = SUITE_THREE_WAY},
    {.name = "connect_no_three_way",
     .near = no_three_way,
     .far = no_three_way,
     .near_needs = SUITE_TWO_WAY_ONLY},
    {.name = "connect_attributes",
     .near = attributes_near,
     .far = attributes_far,
     .needs = SUITE_THREE_WAY},
    {.name = "connect_depths", .near = depths, .far = depths, .needs = SUITE_DEPTHS},
    {.name = "connect_reject", .near = reject_near, .far = reject_far},
    {.name = "connect_nobody", .near = nobody_near, .far = nobody_far},
    {.name = "connect_port_in_use", .near = port_in_use, .far = port_in_use},
    {.name = "connect_handoff",
     .near = handoff_near,
     .far = handoff_far,
     .needs = SUITE_PRIVATE_DATA},
    {.name = "connect_early_receives", .near = early_receives, .far = early_receives},
    {0},
};
