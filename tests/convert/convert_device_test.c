/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * convert_device_test DEVICE IPV4 [COMMAND]: conversion on a real device, by the public API. COMMAND takes the device away. Both ends on the device; and one
 * end against frames that the test writes, with strangers who use the device directly. Whether it succeeds or
 * not, every octet that the programs exchange before and after is compared, and after a failure the same
 * stream and the same endpoint can be converted again.
 */
#include "convert/stranger.h"

#include "support/it_fixture.h"
#include "tdi/agree/agree_frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAM   200000u /* octets of the plain dialogue, each way */
#define MESSAGE  3001u
#define MESSAGES 8u
#define AREA     100000u
#define CROWD    12

static const char *device;
static struct sockaddr_in address;
static uint8_t kind;

struct end {
    struct fx_node node;
    it_ep_handle_t ep;
    int sd;
    struct fx_buf out, in, area;
};

/* ---- Ends ----------------------------------------------------------------------------------- */

static void open_node(struct fx_node *node)
{
    memset(node, 0, sizeof(*node));
    CHECK_OK(it_ia_create(device, 2, 1, &node->ia));
    CHECK_OK(it_pz_create(node->ia, &node->pz));
    node->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 512, IT_THRESHOLD_DISABLE);
    node->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 512, IT_THRESHOLD_DISABLE);
    node->conn_evd = fx_evd(node, IT_CM_MSG_EVENT_STREAM, 64, IT_THRESHOLD_DISABLE);
}

static it_ep_handle_t open_ep(const struct fx_node *node)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_send_segments = attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.rdma_read_ird = attr.srv.rc.rdma_read_ord = 4;
    attr.max_request_dtos = attr.max_recv_dtos = MESSAGES + 2;
    return fx_ep(node, &attr);
}

static void open_end(struct end *end)
{
    open_node(&end->node);
    end->ep = open_ep(&end->node);
    end->out = fx_buf_make(&end->node, (size_t)MESSAGES * MESSAGE);
    end->in = fx_buf_make(&end->node, (size_t)MESSAGES * MESSAGE);
    end->area = fx_buf_make(&end->node, AREA);
}

static void close_end(struct end *end)
{
    fx_empty(end->node.conn_evd);
    CHECK_OK(it_ep_free(end->ep));
    fx_buf_free(&end->out);
    fx_buf_free(&end->in);
    fx_buf_free(&end->area);
    fx_node_close(&end->node);
    (void)close(end->sd);
}

static void tcp_pair(int *a, int *b)
{
    struct sockaddr_in at = address;
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_port = 0;
    CHECK(bind(listener, (struct sockaddr *)&at, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0);
    *a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*a, (struct sockaddr *)&at, length) == 0);
    *b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(*b >= 0);
    (void)close(listener);
}

/* ---- Plain octets --------------------------------------------------------------------------- */

static size_t moved(ssize_t result)
{
    if (result > 0)
        return (size_t)result;
    CHECK(result == -1 && (errno == EAGAIN || errno == EINTR));
    return 0;
}

/* From one to the other, and not one more than there are. */
static void talk_one_way(int from, int to, uint32_t seed)
{
    static unsigned char said[STREAM];
    static unsigned char heard[STREAM];
    struct fx_patience patience = fx_patience_start("the plain stream");
    size_t sent = 0;
    size_t received = 0;

    fx_fill(said, STREAM, seed);
    while (received < STREAM) {
        if (sent < STREAM)
            sent += moved(send(from, said + sent, STREAM - sent, MSG_DONTWAIT | MSG_NOSIGNAL));
        received += moved(recv(to, heard + received, STREAM - received, MSG_DONTWAIT));
        fx_patience_check(&patience);
    }
    fx_check_same(said, heard, STREAM);
}

static void talk(int a, int b, uint32_t seed)
{
    talk_one_way(a, b, seed);
    talk_one_way(b, a, seed + 1);
}

static void hear(int sd, const char *text)
{
    char got[64];
    size_t length = strlen(text);

    CHECK_EQ(length, recv(sd, got, length, MSG_WAITALL));
    CHECK(memcmp(got, text, length) == 0);
}

static void hears_end(int sd)
{
    struct timeval limit = {.tv_sec = FX_PATIENCE_MS / 1000};
    char octet;

    CHECK(setsockopt(sd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
    CHECK_EQ(0, recv(sd, &octet, 1, 0));
}

/* ---- Frames --------------------------------------------------------------------------------- */

static void say(int sd, const void *octets, size_t length)
{
    CHECK_EQ(length, send(sd, octets, length, MSG_NOSIGNAL));
}

static struct agree_terms our_terms(uint16_t port)
{
    struct agree_terms terms = {
        .kind = kind, .family = 4, .port = ntohs(port), .token = "a token of tests"};

    memcpy(terms.address, &address.sin_addr, sizeof(address.sin_addr));
    return terms;
}

static void say_terms(int sd, enum agree_type type, const struct agree_terms *terms)
{
    uint8_t octets[AGREE_OWN_MAX];

    say(sd, octets, agree_frame_encode_terms(type, terms, octets));
}

static void say_end(int sd, enum agree_type type, enum agree_reason reason)
{
    uint8_t octets[AGREE_OWN_MAX];

    say(sd, octets, agree_frame_encode_end(type, reason, octets));
}

static struct agree_frame hear_frame(int sd, enum agree_type type)
{
    uint8_t octets[AGREE_FRAME_MAX];
    struct agree_frame frame;
    size_t wanted = AGREE_HEADER;

    CHECK_EQ(AGREE_HEADER, recv(sd, octets, AGREE_HEADER, MSG_WAITALL));
    if (agree_frame_find(octets, AGREE_HEADER, &frame, &wanted) == AGREE_MORE) {
        CHECK_EQ(wanted - AGREE_HEADER,
                 recv(sd, octets + AGREE_HEADER, wanted - AGREE_HEADER, MSG_WAITALL));
        CHECK_EQ(AGREE_WHOLE, agree_frame_find(octets, wanted, &frame, &wanted));
    }
    CHECK_EQ(type, frame.type);
    return frame;
}

static void hear_last(int sd, enum agree_type type, enum agree_reason reason)
{
    CHECK_EQ(reason, hear_frame(sd, type).reason);
}

static size_t key_for(const uint8_t token[AGREE_TOKEN], uint8_t key[AGREE_OWN_MAX])
{
    return agree_frame_encode_key(token, key);
}

/* ---- RDMA ----------------------------------------------------------------------------------- */

static void post_receives(const struct end *end)
{
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_recv(end->ep, &end->in, (size_t)i * MESSAGE, MESSAGE, i);
}

static void send_messages(const struct end *from, const struct end *to, uint32_t seed)
{
    fx_fill(from->out.data, from->out.size, seed);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_send(from->ep, &from->out, (size_t)i * MESSAGE, MESSAGE, 100 + i, FX_SIGNAL);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_done_len(from->node.request_evd, from->ep, IT_DTO_SEND_CMPL_EVENT, 100 + i, MESSAGE);
    for (unsigned i = 0; i < MESSAGES; i++)
        fx_done_len(to->node.recv_evd, to->ep, IT_DTO_RC_RECV_CMPL_EVENT, i, MESSAGE);
    fx_check_same(from->out.data, to->in.data, from->out.size);
}

static void write_and_read(const struct end *near, const struct end *far)
{
    it_lmr_triplet_t segment = fx_seg(&near->area, 0, AREA);

    fx_fill(near->area.data, AREA, 77);
    CHECK_OK(it_post_rdma_write(near->ep, &segment, 1, 200, FX_SIGNAL, fx_addr(&far->area, 0),
                                far->area.key));
    fx_done_len(near->node.request_evd, near->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 200, AREA);
    memset(near->area.data, 0, AREA);
    CHECK_OK(it_post_rdma_read(near->ep, &segment, 1, 201, FX_SIGNAL, fx_addr(&far->area, 0),
                               far->area.key));
    fx_done_len(near->node.request_evd, near->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 201, AREA);
    CHECK(fx_is_filled(near->area.data, AREA, 77));
}

/* ---- Both ends convert ---------------------------------------------------------------------- */

/* Both ends have the address of the test. */
static void leads_here(const it_path_t *path)
{
    const it_ib_gid_t *gid = &path->u.ib.remote_port_gid;

    if (kind == AGREE_IWARP)
        CHECK_EQ(address.sin_addr.s_addr, path->u.iwarp.raddr.ipv4.s_addr);
    else
        CHECK(memcmp(&gid->s6_addr[12], &address.sin_addr, sizeof(address.sin_addr)) == 0);
}

static void established(const struct end *end, const char *private_data)
{
    it_event_t event = fx_conn(end->node.conn_evd, end->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);

    leads_here(&event.conn.dst_path);

    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, private_data, strlen(private_data) + 1) == 0);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(end->ep));
}

static void convert_both(struct end *near, struct end *far)
{
    struct itx_convert_params params = {.size = sizeof(params),
                                        .private_data = (const unsigned char *)"ping",
                                        .private_data_length = 4};

    params.msg = (const unsigned char *)"now";
    params.msg_len = 3;
    CHECK_OK(itx_socket_convert(far->sd, far->ep, IT_SC_DEFAULT, &params));
    hear(near->sd, "now");
    params.msg_len = 0;
    params.private_data = (const unsigned char *)"pong";
    CHECK_OK(itx_socket_convert(near->sd, near->ep, IT_SC_DEFAULT, &params));
    established(near, "ping");
    established(far, "pong");
}

static void use_and_part(struct end *near, struct end *far)
{
    hears_end(near->sd); /* although the programs have not closed theirs */
    hears_end(far->sd);
    send_messages(near, far, 5);
    send_messages(far, near, 6);
    write_and_read(near, far);
    CHECK_OK(it_ep_disconnect(near->ep, NULL, 0));
    fx_conn(near->node.conn_evd, near->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(far->node.conn_evd, far->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

static void both_ends(void)
{
    size_t before = 0;

    for (unsigned round = 0; round < 4; round++) {
        struct end near;
        struct end far;

        if (round == 1)
            before = fx_fd_count(); /* librdmacm has opened what it keeps */

        open_end(&near);
        open_end(&far);
        post_receives(&near);
        post_receives(&far);
        tcp_pair(&near.sd, &far.sd);
        talk(near.sd, far.sd, round);
        convert_both(&near, &far);
        use_and_part(&near, &far);
        close_end(&near);
        close_end(&far);
    }
    fx_fd_settle(before);
}

/* Many streams of one IA at the same time. */
static void crowd(void)
{
    struct fx_node node;
    it_ep_handle_t eps[CROWD][2];
    int sds[CROWD][2];

    open_node(&node);
    for (unsigned i = 0; i < CROWD; i++) {
        tcp_pair(&sds[i][0], &sds[i][1]);
        eps[i][0] = open_ep(&node);
        eps[i][1] = open_ep(&node);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        CHECK_OK(it_socket_convert(sds[i][0], eps[i][0], ITX_SC_INITIATOR, NULL, 0));
        CHECK_OK(it_socket_convert(sds[i][1], eps[i][1], ITX_SC_RESPONDER, NULL, 0));
    }
    for (unsigned i = 0; i < 2 * CROWD; i++)
        CHECK_EQ(IT_CM_MSG_CONN_ESTABLISHED_EVENT, fx_next(node.conn_evd).event_number);
    for (unsigned i = 0; i < CROWD; i++) {
        CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(eps[i][0]));
        CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(eps[i][1]));
        hears_end(sds[i][0]);
        (void)close(sds[i][0]);
        (void)close(sds[i][1]);
    }
    fx_node_close(&node);
}

/* ---- It fails, and the stream goes on ------------------------------------------------------- */

static void open_against_test(struct end *end, int *peer)
{
    open_end(end);
    tcp_pair(&end->sd, peer);
    talk(end->sd, *peer, 30);
}

/*
 * The end of every conversion that fails here: the stream is plain at the right octet, and a second
 * conversion of the same stream and endpoint succeeds.
 */
static void goes_on(struct end *end, int peer, it_event_type_t number)
{
    it_event_t event = fx_conn(end->node.conn_evd, end->ep, number);
    struct end other;

    leads_here(&event.conn.dst_path);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(end->ep));
    talk(end->sd, peer, 40);
    CHECK_OK(it_ep_reset(end->ep));
    open_end(&other);
    other.sd = peer;
    post_receives(end);
    post_receives(&other);
    convert_both(end, &other);
    use_and_part(end, &other);
    close_end(&other);
    close_end(end);
}

static void refused(void)
{
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(kind, hear_frame(peer, AGREE_OFFER).terms.kind);
    say_end(peer, AGREE_REFUSE, AGREE_NO_RESOURCES);
    hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
}

static void refuses(void)
{
    struct agree_terms terms = our_terms(0);
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    terms.kind = kind == AGREE_IWARP ? AGREE_ROCE : AGREE_IWARP;
    say_terms(peer, AGREE_OFFER, &terms);
    hear_last(peer, AGREE_REFUSE, AGREE_BAD_KIND);
    say_end(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
}

static void plain_peer(void)
{
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    say(peer, "no frame", 8);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    hear(end.sd, "no frame");
    CHECK_OK(it_ep_reset(end.ep));
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    say(peer, "n", 1);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    hear(end.sd, "n");
    CHECK_OK(it_ep_reset(end.ep));
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_INITIATOR, NULL, 0));
    (void)hear_frame(peer, AGREE_OFFER);
    say_end(peer, AGREE_REFUSE, AGREE_BAD_ROLE);
    hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
}

/* Nobody listens at the port that the answer names; somebody refuses; somebody accepts without the key. */
static void answers_that_lead_nowhere(void)
{
    for (int i = 0; i < 3; i++) {
        struct stranger stranger = {0};
        struct agree_terms terms;
        struct agree_frame offer;
        struct end end;
        int peer;

        open_against_test(&end, &peer);
        terms = our_terms(stranger_listen(&stranger, &address));
        if (i == 0)
            stranger_close(&stranger);
        CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
        offer = hear_frame(peer, AGREE_OFFER);
        say_terms(peer, AGREE_ANSWER, &terms);
        if (i > 0) {
            uint8_t key[AGREE_OWN_MAX];

            stranger_takes_request(&stranger);
            CHECK(stranger.private_length >= AGREE_KEY_FRAME);
            (void)key_for(terms.token, key);
            CHECK(memcmp(key, stranger.private_data, AGREE_KEY_FRAME) == 0);
        }
        if (i == 1)
            stranger_rejects(&stranger);
        if (i == 2) {
            uint8_t key[AGREE_OWN_MAX];
            size_t length = key_for(offer.terms.token, key);

            key[AGREE_HEADER + 15] ^= 1;
            stranger_accepts(&stranger, key, length);
        }
        hear_last(peer, AGREE_ABORT, AGREE_NO_CONNECTION);
        if (i == 2)
            stranger_sees_end(&stranger);
        say_end(peer, AGREE_ABORT, AGREE_NO_REASON);
        goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        stranger_close(&stranger);
    }
}

static bool knocks(uint16_t port, const void *private_data, size_t length)
{
    struct stranger stranger = {0};
    bool connected = stranger_connect(&stranger, &address, htons(port), private_data, length);

    stranger_close(&stranger);
    return connected;
}

/* Strangers at the Responder's port do no harm; the right token opens it, once. */
static void strangers(void)
{
    struct agree_terms terms = our_terms(0);
    struct stranger right = {0};
    uint8_t key[AGREE_OWN_MAX];
    uint8_t wrong[AGREE_OWN_MAX];
    size_t length;
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    say_terms(peer, AGREE_OFFER, &terms);
    terms = hear_frame(peer, AGREE_ANSWER).terms;
    length = key_for(terms.token, key);
    memcpy(wrong, key, length);
    wrong[length - 1] ^= 1;
    CHECK(!knocks(terms.port, NULL, 0));
    CHECK(!knocks(terms.port, "open, please", 12));
    CHECK(!knocks(terms.port, wrong, length));
    CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fx_ep_state(end.ep));
    fx_empty(end.node.conn_evd);
    CHECK(stranger_connect(&right, &address, htons(terms.port), key, length));
    CHECK(!knocks(terms.port, key, length));
    say_end(peer, AGREE_ABORT, AGREE_NO_CONNECTION);
    hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    stranger_sees_end(&right);
    goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    stranger_close(&right);
}

/* ---- The peer dies in the middle ------------------------------------------------------------ */

/* As Responder; step 2: with the RDMA connection made, and the Initiator's ready heard. */
static void responder_dies(int step)
{
    struct stranger stranger = {0};
    struct agree_terms terms;
    struct agree_frame offer;
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    terms = our_terms(stranger_listen(&stranger, &address));
    CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
    offer = hear_frame(peer, AGREE_OFFER);
    if (step > 0) {
        say_terms(peer, AGREE_ANSWER, &terms);
        stranger_takes_request(&stranger);
    }
    if (step > 1) {
        uint8_t key[AGREE_OWN_MAX];

        stranger_accepts(&stranger, key, key_for(offer.terms.token, key));
        (void)hear_frame(peer, AGREE_READY);
    }
    (void)close(peer);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    hears_end(end.sd);
    stranger_close(&stranger);
    close_end(&end);
}

static void initiator_dies(int step)
{
    struct agree_terms terms = our_terms(0);
    struct stranger stranger = {0};
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    if (step > 0) {
        say_terms(peer, AGREE_OFFER, &terms);
        terms = hear_frame(peer, AGREE_ANSWER).terms;
    }
    if (step > 1) {
        uint8_t key[AGREE_OWN_MAX];

        CHECK(stranger_connect(&stranger, &address, htons(terms.port), key,
                               key_for(terms.token, key)));
    }
    (void)close(peer);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    hears_end(end.sd);
    stranger_close(&stranger);
    close_end(&end);
}

static void peer_dies(void)
{
    for (int step = 0; step < 3; step++) {
        responder_dies(step);
        initiator_dies(step);
    }
}

/* A process that converts its end, and is killed some time after; a pipe says that it has begun. */
static pid_t start_victim(int sd, int *begun)
{
    char octet = 0;
    pid_t child;
    int ends[2];

    CHECK_EQ(0, pipe(ends));
    child = fork();
    CHECK(child != -1);
    if (child == 0) {
        struct fx_node node;

        open_node(&node);
        CHECK_OK(it_socket_convert(sd, open_ep(&node), ITX_SC_RESPONDER, NULL, 0));
        CHECK_EQ(1, write(ends[1], &octet, 1));
        (void)pause();
        _exit(1);
    }
    (void)close(ends[1]);
    *begun = ends[0];
    return child;
}

/* Whenever it is: one outcome; if that is a failure the stream is at its end, else the connection breaks. */
static void process_is_killed(void)
{
    for (int delay_ms = 0; delay_ms < 60; delay_ms += 4) {
        struct fx_node node;
        it_event_t event;
        it_ep_handle_t ep;
        char octet;
        int begun;
        int peer;
        int sd;
        pid_t child;

        tcp_pair(&sd, &peer);
        child = start_victim(peer, &begun);
        (void)close(peer);
        open_node(&node);
        ep = open_ep(&node);
        CHECK_EQ(1, read(begun, &octet, 1));
        CHECK_OK(it_socket_convert(sd, ep, ITX_SC_INITIATOR, NULL, 0));
        (void)poll(NULL, 0, delay_ms); /* another moment each time */
        CHECK_EQ(0, kill(child, SIGKILL));
        CHECK_EQ(child, waitpid(child, NULL, 0));
        event = fx_next(node.conn_evd);
        if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
            event = fx_next(node.conn_evd);
            CHECK(event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT ||
                  event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT);
        } else {
            CHECK_EQ(IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, event.event_number);
        }
        CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
        CHECK(recv(sd, &octet, 1, 0) <= 0);
        (void)close(begun);
        (void)close(sd);
        CHECK_OK(it_ep_free(ep));
        fx_node_close(&node);
    }
}

/* ---- The program ends it -------------------------------------------------------------------- */

static void ended_by_the_program(void)
{
    size_t before = fx_fd_count();

    for (int i = 0; i < 8; i++) {
        struct agree_terms terms = our_terms(0);
        struct fx_node node;
        it_ep_handle_t ep;
        int sd;
        int peer;

        open_node(&node);
        ep = open_ep(&node);
        tcp_pair(&sd, &peer);
        CHECK_OK(it_socket_convert(sd, ep, i & 1 ? ITX_SC_INITIATOR : ITX_SC_RESPONDER, NULL, 0));
        if (i & 1) {
            (void)hear_frame(peer, AGREE_OFFER);
        } else {
            say_terms(peer, AGREE_OFFER, &terms);
            (void)hear_frame(peer, AGREE_ANSWER);
        }
        if (i < 4) {
            CHECK_OK(it_ep_disconnect(ep, NULL, 0));
            fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
            CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(ep, NULL, 0));
        } else if (i < 6) {
            CHECK_OK(it_ep_free(ep));
        }
        if (i < 6)
            hears_end(peer); /* although the program has its own open */
        fx_node_close(&node);
        hears_end(peer);
        (void)close(sd);
        (void)close(peer);
    }
    fx_fd_settle(before);
}

/* ---- One side cannot ------------------------------------------------------------------------ */

/* A stream over an address that the device does not have: nothing is said, nothing is changed. */
static void wrong_address(void)
{
    struct sockaddr_in real = address;
    struct fx_node node;
    it_ep_handle_t ep;
    int sd;
    int peer;

    open_node(&node);
    ep = open_ep(&node);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    tcp_pair(&sd, &peer);
    address = real;
    CHECK_STATUS(IT_ERR_INVALID_CONVERSION,
                 it_socket_convert(sd, ep, IT_SC_DEFAULT, (const unsigned char *)"hi", 2));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    talk(sd, peer, 50);
    (void)close(sd);
    (void)close(peer);
    fx_node_close(&node);
}

/* The other side has no device: it converts on uiwarp, and neither understands the other. */
static void other_side_without_device(void)
{
    struct end end;
    struct fx_node node;
    it_ep_handle_t ep;
    int peer;

    open_against_test(&end, &peer);
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_socket_convert(peer, ep, ITX_SC_INITIATOR, NULL, 0));
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    close_end(&end); /* its program gives up too */
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    (void)close(peer);
    fx_node_close(&node);
}

static void flags(void)
{
    struct end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_STATUS(IT_ERR_INVALID_FLAGS,
                 it_socket_convert(end.sd, end.ep, IT_SC_NO_REQ_REP, NULL, 0));
    talk(end.sd, peer, 60);
    (void)close(peer);
    close_end(&end);
}

/* ---- The device goes away ------------------------------------------------------------------- */

/* The library has read what the peer has said. */
static void wait_until_read(int sd)
{
    struct fx_patience patience = fx_patience_start("the last frame");
    int unread;

    do {
        CHECK_EQ(0, ioctl(sd, FIONREAD, &unread));
        fx_patience_check(&patience);
    } while (unread > 0);
}

/* Events of an IA that has failed are not for reading: the streams are what there is to see. */
static void device_goes_away(const char *command)
{
    struct agree_terms terms = our_terms(0);
    struct end listening;
    struct end waiting;
    int peers[2];

    open_against_test(&listening, &peers[0]);
    open_against_test(&waiting, &peers[1]);
    CHECK_OK(it_socket_convert(listening.sd, listening.ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_socket_convert(waiting.sd, waiting.ep, ITX_SC_RESPONDER, NULL, 0));
    say_terms(peers[0], AGREE_OFFER, &terms);
    (void)hear_frame(peers[0], AGREE_ANSWER);
    CHECK_EQ(0, system(command));
    hear_last(peers[0], AGREE_ABORT, AGREE_NO_CONNECTION);
    say_end(peers[0], AGREE_ABORT, AGREE_NO_REASON);
    wait_until_read(listening.sd);
    talk(listening.sd, peers[0], 70);
    say_terms(peers[1], AGREE_OFFER, &terms);
    (void)hear_frame(peers[1], AGREE_REFUSE);
    say_end(peers[1], AGREE_ABORT, AGREE_NO_REASON);
    wait_until_read(waiting.sd);
    talk(waiting.sd, peers[1], 80);
    (void)close(peers[0]);
    (void)close(peers[1]);
    CHECK_OK(it_ia_free(listening.node.ia));
    CHECK_OK(it_ia_free(waiting.node.ia));
}

/* ---- */

static uint8_t device_kind(void)
{
    it_ia_info_t *info = NULL;
    struct fx_node node;
    uint8_t found;

    open_node(&node);
    CHECK_OK(it_ia_query(node.ia, &info));
    CHECK_EQ(IT_TRUE, info->socket_conversion_support);
    found = info->transport_type == IT_IWARP_TCP_TRANSPORT ? AGREE_IWARP : AGREE_ROCE;
    it_ia_info_free(info);
    fx_node_close(&node);
    return found;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"both ends", both_ends},
        {"crowd", crowd},
        {"refused", refused},
        {"refuses", refuses},
        {"plain peer", plain_peer},
        {"answers that lead nowhere", answers_that_lead_nowhere},
        {"strangers", strangers},
        {"peer dies", peer_dies},
        {"process is killed", process_is_killed},
        {"ended by the program", ended_by_the_program},
        {"wrong address", wrong_address},
        {"other side without device", other_side_without_device},
        {"flags", flags},
    };

    CHECK(argc == 3 || argc == 4);
    device = argv[1];
    address.sin_family = AF_INET;
    CHECK_EQ(1, inet_pton(AF_INET, argv[2], &address.sin_addr));
    kind = device_kind();
    if (argc == 4) {
        check_context("device goes away");
        device_goes_away(argv[3]);
        check_done();
        return 0;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_context(cases[i].name);
        cases[i].run();
        (void)printf("%s\n", cases[i].name);
        (void)fflush(stdout);
    }
    check_done();
    return 0;
}
