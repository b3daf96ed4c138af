/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint that is used again and again, in every role, and a local port that is used again. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/* ---- The same endpoint ---------------------------------------------------------------------- */

struct user {
    struct fx_pair pair; /* a_ep is the endpoint that is used again */
    struct fx_buf out;
    struct fx_buf in;
    unsigned round;
};

static void user_open(struct user *user)
{
    memset(user, 0, sizeof(*user));
    fx_pair_open(&user->pair);
    user->out = fx_node_buf(&user->pair.a, 4096);
    user->in = fx_node_buf(&user->pair.b, 4096);
}

static void user_close(struct user *user)
{
    fx_pair_close(&user->pair);
}

/* Resets both ends, which are NONOPERATIONAL. */
static void reset_both(struct user *user)
{
    CHECK_OK(it_ep_reset(user->pair.a_ep));
    CHECK_OK(it_ep_reset(user->pair.b_ep));
    CHECK_OK(it_ep_reset(user->pair.a_ep)); /* does nothing in UNCONNECTED */
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(user->pair.a_ep));
}

static void disconnect(struct user *user, bool by_us)
{
    CHECK_OK(it_ep_disconnect(by_us ? user->pair.a_ep : user->pair.b_ep, NULL, 0));
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(user->pair.b.conn_evd, user->pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* Moves data with every operation, in both directions. */
static void exchange(struct user *user)
{
    struct fx_pair *pair = &user->pair;

    user->round++;
    fx_fill(user->out.data, user->out.size, user->round);
    fx_pair_ping(pair);
    fx_write(pair->a_ep, &user->out, 0, 4096, &user->in, 0, 1, FX_SIGNAL);
    fx_done_len(pair->a.request_evd, pair->a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 4096);
    fx_read(pair->b_ep, &user->in, 0, 4096, &user->out, 0, 2, FX_SIGNAL);
    fx_done_len(pair->b.request_evd, pair->b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 4096);
    fx_check_same(user->out.data, user->in.data, 4096);
    fx_pair_ping(pair);
}

static void connect_by(struct user *user, bool actively)
{
    struct fx_pair *pair = &user->pair;

    if (actively)
        fx_join(&pair->a, pair->a_ep, &pair->b, pair->b_ep);
    else
        fx_join(&pair->b, pair->b_ep, &pair->a, pair->a_ep);
}

static void convert(struct user *user, bool initiator)
{
    struct fx_pair *pair = &user->pair;
    struct raw_peer other;
    int fd = -1;

    raw_socket_pair(&other, &fd);
    CHECK_OK(it_socket_convert(fd, pair->a_ep, initiator ? ITX_SC_INITIATOR : ITX_SC_RESPONDER,
                               NULL, 0));
    CHECK_OK(it_socket_convert(other.fd, pair->b_ep,
                               initiator ? ITX_SC_RESPONDER : ITX_SC_INITIATOR, NULL, 0));
    (void)close(fd);
    raw_close(&other);
    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

Test(cm_reuse, in_every_role)
{
    struct user user;

    user_open(&user);
    exchange(&user);
    for (unsigned i = 0; i < 40; i++) {
        disconnect(&user, i % 2 == 0);
        reset_both(&user);
        if (i % 4 < 2)
            connect_by(&user, i % 4 == 0);
        else
            convert(&user, i % 4 == 2);
        exchange(&user);
    }
    user_close(&user);
}

/*
 * ---- After attempts that came to nothing
 * -----------------------------------------------------------
 */

static void refused_attempt(struct user *user)
{
    uint16_t port = 0;
    int kept = raw_keep_port(&port);

    fx_connect(&user->pair.a, user->pair.a_ep, port);
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    (void)close(kept);
}

static void rejected_attempt(struct user *user)
{
    uint16_t port = 0;
    it_listen_handle_t listener = fx_listen(&user->pair.b, &port);

    fx_connect(&user->pair.a, user->pair.a_ep, port);
    CHECK_OK(it_reject(fx_request(&user->pair.b, NULL), NULL, 0));
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    CHECK_OK(it_listen_free(listener));
}

static void abandoned_attempt(struct user *user)
{
    uint16_t port = 0;
    int listener = raw_listen(&port);

    fx_connect(&user->pair.a, user->pair.a_ep, port);
    CHECK_OK(it_ep_disconnect(user->pair.a_ep, NULL, 0));
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    (void)close(listener);
}

static void abandoned_conversion(struct user *user)
{
    struct raw_peer peer;
    int fd = -1;

    raw_socket_pair(&peer, &fd);
    CHECK_OK(it_socket_convert(fd, user->pair.a_ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_ep_disconnect(user->pair.a_ep, NULL, 0));
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    (void)close(fd);
    raw_close(&peer);
}

static void broken_connection(struct user *user)
{
    connect_by(user, true);
    CHECK_OK(it_post_send(user->pair.a_ep, NULL, 0, 1, FX_QUIET)); /* no receive */
    fx_conn(user->pair.a.conn_evd, user->pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(user->pair.b.conn_evd, user->pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK_OK(it_ep_reset(user->pair.b_ep));
    (void)fx_next(user->pair.a.aff_evd);
    (void)fx_next(user->pair.b.aff_evd);
}

Test(cm_reuse, after_attempts_that_failed)
{
    static void (*const attempts[])(struct user *) = {refused_attempt, rejected_attempt,
                                                      abandoned_attempt, abandoned_conversion,
                                                      broken_connection};
    struct user user;

    user_open(&user);
    disconnect(&user, true);
    reset_both(&user);
    for (unsigned i = 0; i < 3 * sizeof(attempts) / sizeof(*attempts); i++) {
        /* A receive posted for the attempt is flushed with it. */
        CHECK_OK(it_post_recv(user.pair.a_ep, NULL, 0, i, FX_SIGNAL));
        attempts[i % (sizeof(attempts) / sizeof(*attempts))](&user);
        fx_done(user.pair.a.recv_evd, user.pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i,
                IT_DTO_ERR_FLUSHED);
        CHECK_OK(it_ep_reset(user.pair.a_ep));
        connect_by(&user, i % 2 == 0);
        exchange(&user);
        disconnect(&user, i % 3 == 0);
        reset_both(&user);
    }
    user_close(&user);
}

/* Completions queued before the reset stay. Dequeuing them releases their slots. */
Test(cm_reuse, completions_of_the_last_connection_stay)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair pair;

    attr.max_request_dtos = 4;
    attr.max_recv_dtos = 4;
    fx_pair_open_as(&pair, &(struct fx_pair_setup){.a_attr = &attr});
    for (unsigned i = 0; i < 4; i++)
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, i, FX_SIGNAL));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, i, FX_SIGNAL, 0, 0));
    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(pair.a_ep));
    CHECK_OK(it_ep_reset(pair.b_ep));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_recv(pair.a_ep, NULL, 0, 9, FX_SIGNAL));
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, 3, FX_SIGNAL, 0, 0));
    CHECK_STATUS(IT_ERR_TOO_MANY_POSTS, it_post_rdma_write(pair.a_ep, NULL, 0, 4, FX_SIGNAL, 0, 0));
    for (unsigned i = 0; i < 4; i++) {
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 10 + i, FX_SIGNAL));
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(i, fx_next(pair.a.request_evd).dto_cmpl.cookie);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_OK(it_post_send(pair.b_ep, NULL, 0, i, FX_QUIET));
        fx_done_len(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 10 + i, 0);
    }
    fx_pair_close(&pair);
}

/*
 * ---- The same local port
 * ---------------------------------------------------------------------------
 */

static it_ep_handle_t ep_with(const struct fx_node *node, it_ep_rc_creation_flags_t flags)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_ep_rc_create(node->pz, node->request_evd, node->recv_evd, node->conn_evd, flags,
                             &attr, &ep));
    return ep;
}

static it_status_t connect_from(const struct fx_node *node, it_ep_handle_t ep, uint16_t local,
                                uint16_t remote)
{
    it_path_t path = fx_path(node);
    it_conn_qual_t qual = {.type = IT_IANA_LR_PORT};

    qual.conn_qual.lr_port.local = local;
    qual.conn_qual.lr_port.remote = remote;
    return it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

/*
 * Connects until the kernel gives the pair of addresses away, which takes at most a second. Until
 * then attempts fail.
 */
static it_cn_est_identifier_t insist(const struct fx_node *a, it_ep_handle_t ep, uint16_t local,
                                     const struct fx_node *b, uint16_t remote)
{
    struct fx_patience patience = fx_patience_start("a pair in time-wait is given away");
    it_event_t event;

    CHECK_OK(connect_from(a, ep, local, remote));
    while (it_evd_dequeue(b->listen_evd, &event) != IT_SUCCESS) {
        fx_patience_check(&patience);
        if (it_evd_dequeue(a->conn_evd, &event) != IT_SUCCESS)
            continue;
        CHECK_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
        CHECK_OK(it_ep_reset(ep));
        CHECK_OK(connect_from(a, ep, local, remote));
    }
    return event.conn_req.cn_est_id;
}

/* Connects from a free port. If another process takes the port first, tries another one. */
static uint16_t connect_from_any(const struct fx_node *node, it_ep_handle_t ep, uint16_t remote)
{
    struct fx_patience patience = fx_patience_start("a free port");
    uint16_t local = 0;
    it_status_t status;

    do {
        fx_patience_check(&patience);
        (void)close(raw_keep_port(&local));
        status = connect_from(node, ep, local, remote);
    } while (status == IT_ERR_CONN_QUAL_BUSY);
    CHECK_OK(status);
    return local;
}

/*
 * The side that ends a TCP connection first keeps the pair of addresses in time-wait. Without
 * IT_EP_REUSEADDR an endpoint does not get the pair and is told why. With it the connection is
 * made.
 */
Test(cm_reuse, a_port_in_time_wait)
{
    struct fx_patience patience = fx_patience_start("time-wait");
    it_status_t status = IT_ERR_CONN_QUAL_BUSY;
    it_ep_handle_t plain;
    it_ep_handle_t eager;
    it_ep_handle_t server;
    struct fx_node a;
    struct fx_node b;
    uint16_t local;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    (void)fx_listen(&b, &port);
    plain = ep_with(&a, IT_EP_NO_FLAG);
    eager = ep_with(&a, IT_EP_REUSEADDR);
    server = fx_ep(&b, NULL);
    local = connect_from_any(&a, plain, port);
    CHECK_OK(it_ep_accept(server, fx_request(&b, NULL), NULL, 0));
    fx_conn(a.conn_evd, plain, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(b.conn_evd, server, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, connect_from(&a, ep_with(&a, IT_EP_NO_FLAG), local, port));
    CHECK_OK(it_ep_disconnect(plain, NULL, 0));
    fx_conn(a.conn_evd, plain, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(b.conn_evd, server, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(plain));
    CHECK_OK(it_ep_reset(server));
    /* The connection is still being closed, then it is in time-wait. */
    while (status == IT_ERR_CONN_QUAL_BUSY) {
        fx_patience_check(&patience);
        status = connect_from(&a, plain, local, port);
    }
    CHECK_STATUS(IT_ERR_EP_TIMEWAIT, status);
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(plain));
    /* For another destination the port is in use, not in time-wait. */
    CHECK_STATUS(IT_ERR_CONN_QUAL_BUSY, connect_from(&a, plain, local, htons(1)));
    CHECK_OK(it_ep_accept(server, insist(&a, eager, local, &b, port), NULL, 0));
    fx_conn(a.conn_evd, eager, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_conn(b.conn_evd, server, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_node_close(&a);
    fx_node_close(&b);
}
