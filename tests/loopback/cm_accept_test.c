/* SPDX-License-Identifier: BSD-2-Clause */
/* The passive side of connection startup against raw TCP peers: requests and the decision. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
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
    uint16_t port;
} s;

static void open_service(void)
{
    fx_node_open(&s.node);
    s.ep = fx_ep(&s.node, NULL);
    s.listener = fx_listen(&s.node, &s.port);
}

static void close_service(void)
{
    fx_empty(s.node.conn_evd);
    fx_empty(s.node.listen_evd);
    CHECK_OK(it_listen_free(s.listener));
    CHECK_OK(it_ep_free(s.ep));
    fx_node_close(&s.node);
}

static void request2(struct raw_bytes *out, const char *data)
{
    RAW_BYTES(pd);

    raw_add_be32(&pd, WORD);
    raw_add(&pd, data, strlen(data));
    raw_mpa(out, false, RAW_MPA_C | RAW_MPA_S, 2, pd.data, pd.len);
}

/* Connects a peer that sends a good Request. Returns the identifier. */
static it_cn_est_identifier_t come(struct raw_peer *peer, const char *data)
{
    RAW_BYTES(out);
    it_event_t event;

    raw_connect(peer, s.port);
    request2(&out, data);
    CHECK(raw_send(peer, &out));
    (void)fx_request(&s.node, &event);
    CHECK_EQ(data[0] ? IT_TRUE : IT_FALSE, event.conn_req.private_data_present);
    CHECK(strcmp((const char *)event.conn_req.private_data, data) == 0);
    return event.conn_req.cn_est_id;
}

/* Waits until the library has seen the peer's end. */
static void gone(it_cn_est_identifier_t id, it_ep_handle_t ep)
{
    struct fx_patience patience = fx_patience_start("withdrawal of the request");
    it_status_t status;
    unsigned char pd = 0;

    do {
        /*
         * Private data that is too long is refused after the identifier was looked up, and changes
         * nothing.
         */
        fx_patience_check(&patience);
        status = it_ep_accept(ep, id, &pd, IT_MAX_PRIV_DATA + 1);
    } while (status == IT_ERR_INVALID_PDATA_LENGTH);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, status);
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, id, NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
}

/* ---- Accept --------------------------------------------------------------------------------- */

Test(cm_accept, revision_2, .init = open_service, .fini = close_service)
{
    struct raw_mpa_frame reply;
    struct sockaddr_in own;
    socklen_t len = sizeof(own);
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;

    raw_connect(&peer, s.port);
    CHECK(getsockname(peer.fd, (struct sockaddr *)&own, &len) == 0);
    request2(&out, "knock");
    CHECK(raw_send(&peer, &out));
    (void)fx_request(&s.node, &event);
    CHECK_EQ(IT_IANA_PORT, event.conn_req.conn_qual.type);
    CHECK_EQ(s.port, event.conn_req.conn_qual.conn_qual.port);
    CHECK_EQ(IT_IPV4, event.conn_req.source_addr.addr_type);
    CHECK_EQ(own.sin_addr.s_addr, event.conn_req.source_addr.addr.ipv4.s_addr);
    CHECK_EQ(s.node.spigot, event.conn_req.spigot_id);
    CHECK_EQ(5, event.conn_req.rdma_read_ird);
    CHECK_EQ(6, event.conn_req.rdma_read_ord);
    CHECK_EQ(0, event.conn_req.max_message_size);
    CHECK(memcmp(event.conn_req.private_data, "knock\0", 6) == 0);
    CHECK_OK(it_ep_accept(s.ep, event.conn_req.cn_est_id, (const unsigned char *)"in", 2));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(event.conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    CHECK(reply.reply);
    CHECK_EQ(2, reply.revision);
    CHECK_EQ(RAW_MPA_C | RAW_MPA_S, reply.flags);
    CHECK_EQ(RAW_ENH_A | RAW_ENH_D | 8u << 16 | 5u, reply.word);
    CHECK_EQ(6, reply.pd_len);
    CHECK(memcmp(reply.pd + 4, "in", 2) == 0);
    event = fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(5, event.conn.rdma_read_ord);
    CHECK_EQ(8, event.conn.rdma_read_ird);
    CHECK_EQ(IT_FALSE, event.conn.private_data_present);
    CHECK_EQ(own.sin_addr.s_addr, event.conn.dst_path.u.iwarp.raddr.ipv4.s_addr);
    raw_close(&peer);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* Requests of revision 1, and of revision 2 without S, are answered with the same revision. */
Test(cm_accept, plain_requests)
{
    static const unsigned revisions[] = {1, 2};

    for (size_t i = 0; i < 2; i++) {
        struct raw_mpa_frame reply;
        RAW_BYTES(out);
        struct raw_peer peer;
        it_event_t event;

        open_service();
        raw_connect(&peer, s.port);
        raw_mpa(&out, false, 0, revisions[i], "old", 3);
        CHECK(raw_send(&peer, &out));
        (void)fx_request(&s.node, &event);
        CHECK_EQ(0, event.conn_req.rdma_read_ird);
        CHECK_EQ(0, event.conn_req.rdma_read_ord);
        CHECK(memcmp(event.conn_req.private_data, "old\0", 4) == 0);
        CHECK_OK(it_ep_accept(s.ep, event.conn_req.cn_est_id, (const unsigned char *)"ok", 2));
        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
        CHECK_EQ(revisions[i], reply.revision);
        CHECK_EQ(RAW_MPA_C, reply.flags);
        CHECK_EQ(2, reply.pd_len);
        event = fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        CHECK_EQ(8, event.conn.rdma_read_ord);
        CHECK_EQ(8, event.conn.rdma_read_ird);
        raw_close(&peer);
        fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        close_service();
    }
}

/*
 * An EP of revision 1 resets the stream of a revision 2 peer. Such a peer tries again with revision
 * 1.
 */
Test(cm_accept, endpoint_of_revision_1, .init = open_service, .fini = close_service)
{
    struct raw_peer peer;
    it_event_t event;
    struct itx_mpa_params mpa = fx_mpa(s.ep);

    mpa.revision = 1;
    CHECK_OK(itx_ep_set_mpa_params(s.ep, &mpa));
    CHECK_OK(it_ep_accept(s.ep, come(&peer, ""), NULL, 0));
    CHECK_EQ(RAW_RESET, raw_drain(&peer));
    event = fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(IT_CN_REJ_BAD_CONN_PARMS, event.conn.reject_reason_code);
    raw_close(&peer);
}

Test(cm_accept, wrong_state_keeps_the_request, .init = open_service, .fini = close_service)
{
    it_cn_est_identifier_t second;
    struct raw_mpa_frame reply;
    struct raw_peer peers[2];
    it_ep_handle_t other;

    CHECK_OK(it_ep_accept(s.ep, come(&peers[0], "a"), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peers[0], &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    second = come(&peers[1], "b");
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_accept(s.ep, second, NULL, 0));
    other = fx_ep(&s.node, NULL);
    CHECK_OK(it_ep_accept(other, second, NULL, 0));
    fx_conn(s.node.conn_evd, other, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peers[1], &reply));
    CHECK_OK(it_ep_free(other));
    raw_close(&peers[1]);
    raw_close(&peers[0]);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

Test(cm_accept, request_of_another_ia, .init = open_service, .fini = close_service)
{
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct fx_node other;
    it_ep_handle_t ep;
    it_cn_est_identifier_t id;

    fx_node_open(&other);
    ep = fx_ep(&other, NULL);
    id = come(&peer, "a");
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(ep, id, NULL, 0));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    CHECK_OK(it_ep_accept(s.ep, id, NULL, 0)); /* the request is still there */
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    CHECK_OK(it_ep_free(ep));
    fx_node_close(&other);
    raw_close(&peer);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- Reject --------------------------------------------------------------------------------- */

Test(cm_accept, reject_with_private_data, .init = open_service, .fini = close_service)
{
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    size_t before = fx_fd_count();
    it_cn_est_identifier_t id = come(&peer, "");

    CHECK_OK(it_reject(id, (const unsigned char *)"full up", 7));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(s.ep, id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    CHECK_EQ(RAW_MPA_C | RAW_MPA_S | RAW_MPA_R, reply.flags);
    CHECK_EQ(11, reply.pd_len);
    CHECK(memcmp(reply.pd + 4, "full up", 7) == 0);
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
    raw_close(&peer);
    fx_fd_settle(before);
}

/* ---- Handoff -------------------------------------------------------------------------------- */

Test(cm_accept, handoff, .init = open_service, .fini = close_service)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_cn_est_identifier_t id;
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    it_listen_handle_t second;
    it_event_t event;
    it_evd_handle_t second_evd = fx_evd(&s.node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);

    CHECK_OK(
        it_listen_create(s.node.ia, s.node.spigot, second_evd, IT_LISTEN_NO_FLAG, &qual, &second));
    id = come(&peer, "pass on");
    CHECK_OK(it_handoff(&qual, s.node.spigot, id));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_ep_accept(s.ep, id, NULL, 0));
    event = fx_next(second_evd);
    CHECK_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    CHECK(event.conn_req.cn_est_id != id && event.conn_req.cn_est_id != 0);
    CHECK(strcmp((const char *)event.conn_req.private_data, "pass on") == 0);
    CHECK_EQ(htonl(INADDR_LOOPBACK), event.conn_req.source_addr.addr.ipv4.s_addr);
    CHECK_OK(it_ep_accept(s.ep, event.conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_close(&peer);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_listen_free(second));
}

Test(cm_accept, handoff_refused_keeps_the_request, .init = open_service, .fini = close_service)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_conn_qual_t nobody = {.type = IT_IANA_PORT, .conn_qual.port = htons(1)};
    it_cn_est_identifier_t ids[2];
    struct raw_mpa_frame reply;
    struct raw_peer peers[2];
    it_evd_param_t param;
    it_listen_handle_t second;
    it_evd_handle_t second_evd = fx_evd(&s.node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);

    CHECK_OK(
        it_listen_create(s.node.ia, s.node.spigot, second_evd, IT_LISTEN_NO_FLAG, &qual, &second));
    ids[0] = come(&peers[0], "first");
    ids[1] = come(&peers[1], "second");
    CHECK_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&nobody, s.node.spigot, ids[0]));
    CHECK_STATUS(IT_ERR_INVALID_SPIGOT, it_handoff(&qual, 77, ids[0]));
    CHECK_OK(it_handoff(&qual, s.node.spigot, ids[0]));
    CHECK_STATUS(IT_ERR_RESOURCES, it_handoff(&qual, s.node.spigot, ids[1]));
    for (uint64_t id = ids[1] + 2; id < ids[1] + 8;
         id++) /* larger than the identifier of the request that moved */
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(id, NULL, 0));
    CHECK_OK(it_evd_query(second_evd, IT_EVD_PARAM_ALL, &param));
    CHECK_EQ(IT_FALSE, param.evd_overflowed);
    CHECK_OK(it_ep_accept(s.ep, ids[1], NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peers[1], &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_close(&peers[1]);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_reject(fx_next(second_evd).conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peers[0], &reply));
    raw_close(&peers[0]);
    CHECK_OK(it_listen_free(second));
}

/*
 * Moves a request from listen point to listen point and back, and frees the listen points that it
 * has left.
 */
Test(cm_accept, handoff_again_and_again, .init = open_service, .fini = close_service)
{
    it_conn_qual_t quals[3];
    it_listen_handle_t listeners[3];
    it_evd_handle_t evds[3];
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    it_event_t event;
    it_cn_est_identifier_t id = come(&peer, "round trip");

    for (unsigned i = 0; i < 3; i++) {
        quals[i] = (it_conn_qual_t){.type = IT_IANA_PORT};
        evds[i] = fx_evd(&s.node, IT_CM_REQ_EVENT_STREAM, 4, IT_THRESHOLD_DISABLE);
        CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, evds[i], IT_LISTEN_NO_FLAG, &quals[i],
                                  &listeners[i]));
    }
    for (unsigned i = 0; i < 30; i++) {
        it_cn_est_identifier_t old = id;

        /* Every fifth handoff goes to the listen point where the request already is. */
        CHECK_OK(it_handoff(&quals[i % 5 == 4 ? (i + 2) % 3 : i % 3], s.node.spigot, id));
        event = fx_next(evds[i % 5 == 4 ? (i + 2) % 3 : i % 3]);
        id = event.conn_req.cn_est_id;
        CHECK(id != old);
        CHECK_EQ(
            s.port,
            event.conn_req.conn_qual.conn_qual.port); /* the port that the peer has connected to */
        CHECK(strcmp((const char *)event.conn_req.private_data, "round trip") == 0);
        CHECK_EQ(5, event.conn_req.rdma_read_ird);
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(old, NULL, 0));
        CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_handoff(&quals[0], s.node.spigot, old));
    }
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(it_listen_free(listeners[i]));
        CHECK_OK(it_evd_free(evds[i]));
        CHECK_STATUS(IT_ERR_INVALID_CONN_QUAL, it_handoff(&quals[i], s.node.spigot, id));
    }
    CHECK_OK(it_ep_accept(s.ep, id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_close(&peer);
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- Peers that give up --------------------------------------------------------------------- */

Test(cm_accept, peer_gives_up, .init = open_service, .fini = close_service)
{
    struct raw_peer peer;
    size_t before = fx_fd_count();
    it_cn_est_identifier_t id = come(&peer, "");

    raw_close(&peer);
    gone(id, s.ep);
    id = come(&peer, "");
    raw_close_with_reset(&peer);
    gone(id, s.ep);
    /* An octet before the Reply violates MPA. */
    id = come(&peer, "");
    CHECK(raw_send_part(&peer, "x", 1));
    gone(id, s.ep);
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
    fx_fd_settle(before);
}

Test(cm_accept, no_room_in_the_evd, .init = open_service, .fini = close_service)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct raw_mpa_frame reply;
    struct raw_peer peers[2];
    it_listen_handle_t listener;
    uint16_t port = s.port;
    it_evd_handle_t evd = fx_evd(&s.node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);

    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    for (int i = 0; i < 2; i++) {
        RAW_BYTES(out);

        raw_connect(&peers[i], qual.conn_qual.port);
        request2(&out, "");
        CHECK(raw_send(&peers[i], &out));
        if (i == 0) { /* the first request must arrive before the second */
            s.port = port;
            CHECK_OK(it_reject(come(&peers[1], ""), NULL, 0));
            CHECK_EQ(RAW_OK, raw_receive_mpa(&peers[1], &reply));
            raw_close(&peers[1]);
        }
    }
    /* The peer gets no Reply, since the consumer has rejected nothing. */
    CHECK_EQ(RAW_RESET, raw_receive_mpa(&peers[1], &reply));
    CHECK_OK(it_reject(fx_next(evd).conn_req.cn_est_id, NULL, 0));
    raw_close(&peers[0]);
    raw_close(&peers[1]);
    CHECK_OK(it_listen_free(listener));
}

/* ---- Ends of the listen point --------------------------------------------------------------- */

Test(cm_accept, delivered_requests_outlive_the_listener)
{
    RAW_BYTES(out);
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct raw_peer half;
    it_cn_est_identifier_t id;

    open_service();
    request2(&out, "");
    raw_connect(&half, s.port);
    CHECK(raw_send_part(&half, out.data, 10));
    id = come(&peer, "");
    CHECK_OK(it_listen_free(s.listener));
    CHECK(raw_drain(&half) != RAW_TIMEOUT);
    CHECK_OK(it_ep_accept(s.ep, id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_close(&half);
    fx_node_close(&s.node);
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
}

Test(cm_accept, ia_free_ends_everything)
{
    size_t before = fx_fd_count();
    RAW_BYTES(out);
    struct raw_peer peers[3];

    open_service();
    request2(&out, "");
    raw_connect(&peers[0], s.port); /* silent */
    raw_connect(&peers[1], s.port);
    CHECK(raw_send_part(&peers[1], out.data, out.len - 1));
    (void)come(&peers[2], ""); /* undecided */
    fx_node_close(&s.node);
    for (int i = 0; i < 3; i++) {
        CHECK(raw_drain(&peers[i]) != RAW_TIMEOUT);
        raw_close(&peers[i]);
    }
    fx_fd_settle(before);
}

/* A request that is queued but not dequeued counts as delivered. */
Test(cm_accept, queued_requests_outlive_the_listener)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct pollfd queued = {.events = POLLIN};
    RAW_BYTES(out);
    struct raw_mpa_frame reply;
    it_listen_handle_t listener;
    struct raw_peer peer;
    it_evd_handle_t evd;

    open_service();
    CHECK_OK(it_evd_create(s.node.ia, IT_CM_REQ_EVENT_STREAM, IT_EVD_CREATE_FD, 1, 0, NULL, &evd,
                           &queued.fd));
    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, evd, IT_LISTEN_NO_FLAG, &qual, &listener));
    request2(&out, "");
    raw_connect(&peer, qual.conn_qual.port);
    CHECK(raw_send(&peer, &out));
    CHECK_EQ(1, poll(&queued, 1, FX_PATIENCE_MS));
    CHECK_OK(it_listen_free(listener));
    CHECK_OK(it_ep_accept(s.ep, fx_next(evd).conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    fx_conn(s.node.conn_evd, s.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    raw_close(&peer);
    fx_node_close(&s.node);
}

/* No program has decided, so the initiator is not told of a rejection. */
Test(cm_accept, ia_free_rejects_nothing)
{
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct fx_node a;
    it_ep_handle_t ep;

    open_service();
    fx_node_open(&a);
    ep = fx_ep(&a, NULL);
    fx_connect(&a, ep, s.port);
    (void)fx_request(&s.node, NULL);
    (void)come(&peer, "");
    fx_node_close(&s.node);
    fx_conn(a.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    CHECK_EQ(RAW_RESET, raw_receive_mpa(&peer, &reply));
    raw_close(&peer);
    fx_node_close(&a);
}

Test(cm_accept, disconnect_after_accept, .init = open_service, .fini = close_service)
{
    struct raw_peer peer;

    for (int i = 0; i < 20; i++) {
        CHECK_OK(it_ep_accept(s.ep, come(&peer, ""), NULL, 0));
        CHECK_OK(it_ep_disconnect(s.ep, NULL, 0));
        /*
         * The connection may have been established before or not. The last event is the disconnect.
         */
        while (fx_next(s.node.conn_evd).event_number != IT_CM_MSG_CONN_DISCONNECT_EVENT)
            ;
        CHECK(raw_drain(&peer) != RAW_TIMEOUT);
        raw_close(&peer);
        CHECK_OK(it_ep_reset(s.ep));
    }
}

/* ---- Where it listens ----------------------------------------------------------------------- */

Test(cm_accept, qualifier_in_use, .init = open_service, .fini = close_service)
{
    it_listen_handle_t second;
    uint16_t port;
    int taken;
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = s.port};

    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY,
                 it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd,
                                  IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    taken = raw_listen(&port);
    qual.conn_qual.port = port;
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY,
                 it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd,
                                  IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    (void)close(taken);
    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd,
                              IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    CHECK_OK(it_listen_free(second));
}

Test(cm_accept, port_pair)
{
    it_conn_qual_t qual = {.type = IT_IANA_LR_PORT};
    struct sockaddr_in own;
    socklen_t len = sizeof(own);
    it_listen_handle_t second;
    RAW_BYTES(out);
    struct raw_peer peer;
    it_event_t event;
    uint16_t port;
    int kept = raw_keep_port(&port);

    open_service();
    qual.conn_qual.lr_port.local = port;
    CHECK_OK(it_listen_create(s.node.ia, s.node.spigot, s.node.listen_evd,
                              IT_LISTEN_CONN_QUAL_INPUT, &qual, &second));
    raw_connect(&peer, port);
    request2(&out, "");
    CHECK(raw_send(&peer, &out));
    (void)fx_request(&s.node, &event);
    CHECK(getsockname(peer.fd, (struct sockaddr *)&own, &len) == 0);
    CHECK_EQ(IT_IANA_LR_PORT, event.conn_req.conn_qual.type);
    CHECK_EQ(port, event.conn_req.conn_qual.conn_qual.lr_port.local);
    CHECK_EQ(own.sin_port, event.conn_req.conn_qual.conn_qual.lr_port.remote);
    CHECK_OK(it_reject(event.conn_req.cn_est_id, NULL, 0));
    raw_close(&peer);
    CHECK_OK(it_listen_free(second));
    close_service();
    (void)close(kept);
}
