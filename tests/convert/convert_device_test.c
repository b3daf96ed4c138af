/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * convert_device_test DEVICE IPV4 [COMMAND]: conversion on a real device, through the public API.
 * COMMAND removes the device. In some cases both ends are on the device. In others the test itself
 * writes the frames of one end, with strangers that use the device directly. The test compares
 * every octet that the programs exchange before and after a conversion, successful or not. After a
 * failed conversion the same stream and endpoint can be converted again.
 */
#include "convert/device_kit.h"
#include "convert/stranger.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROWD 12

static size_t key_for(const uint8_t token[AGREE_TOKEN], uint8_t key[AGREE_OWN_MAX])
{
    return agree_frame_encode_key(token, key);
}

/* ---- Both ends convert ---------------------------------------------------------------------- */

/* Checks that both ends of the path have the test's address. */
static void leads_here(const it_path_t *path)
{
    const it_ib_gid_t *gid = &path->u.ib.remote_port_gid;

    if (kit_kind == AGREE_IWARP)
        CHECK_EQ(kit_address.sin_addr.s_addr, path->u.iwarp.raddr.ipv4.s_addr);
    else
        CHECK(memcmp(&gid->s6_addr[12], &kit_address.sin_addr, sizeof(kit_address.sin_addr)) == 0);
}

static void established(const struct kit_end *end, const char *private_data)
{
    it_event_t event = fx_conn(end->node.conn_evd, end->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);

    leads_here(&event.conn.dst_path);

    CHECK_EQ(IT_TRUE, event.conn.private_data_present);
    CHECK(memcmp(event.conn.private_data, private_data, strlen(private_data) + 1) == 0);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(end->ep));
}

static void convert_both(struct kit_end *near, struct kit_end *far)
{
    struct itx_convert_params params = {.size = sizeof(params),
                                        .private_data = (const unsigned char *)"ping",
                                        .private_data_length = 4};

    params.msg = (const unsigned char *)"now";
    params.msg_len = 3;
    CHECK_OK(itx_socket_convert(far->sd, far->ep, IT_SC_DEFAULT, &params));
    kit_hear(near->sd, "now");
    params.msg_len = 0;
    params.private_data = (const unsigned char *)"pong";
    CHECK_OK(itx_socket_convert(near->sd, near->ep, IT_SC_DEFAULT, &params));
    established(near, "ping");
    established(far, "pong");
}

static void use_and_part(struct kit_end *near, struct kit_end *far)
{
    kit_hears_end(near->sd); /* although the programs have not closed theirs */
    kit_hears_end(far->sd);
    kit_send_messages(near, far, 5);
    kit_send_messages(far, near, 6);
    kit_write_and_read(near, far);
    CHECK_OK(it_ep_disconnect(near->ep, NULL, 0));
    fx_conn(near->node.conn_evd, near->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(far->node.conn_evd, far->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

static void both_ends(void)
{
    size_t before = 0;

    for (unsigned round = 0; round < 4; round++) {
        struct kit_end near;
        struct kit_end far;

        if (round == 1)
            before = fx_fd_count(); /* librdmacm has opened its own descriptors */

        kit_open_end(&near);
        kit_open_end(&far);
        kit_post_receives(&near);
        kit_post_receives(&far);
        kit_tcp_pair(&near.sd, &far.sd);
        kit_talk(near.sd, far.sd, round);
        convert_both(&near, &far);
        use_and_part(&near, &far);
        kit_close_end(&near);
        kit_close_end(&far);
    }
    fx_fd_settle(before);
}

/* Converts many streams of one IA at the same time. */
static void crowd(void)
{
    struct fx_node node;
    it_ep_handle_t eps[CROWD][2];
    int sds[CROWD][2];

    kit_open_node(&node);
    for (unsigned i = 0; i < CROWD; i++) {
        kit_tcp_pair(&sds[i][0], &sds[i][1]);
        eps[i][0] = kit_open_ep(&node);
        eps[i][1] = kit_open_ep(&node);
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
        kit_hears_end(sds[i][0]);
        (void)close(sds[i][0]);
        (void)close(sds[i][1]);
    }
    fx_node_close(&node);
}

/* ---- It fails, and the stream goes on ------------------------------------------------------- */

static void open_against_test(struct kit_end *end, int *peer)
{
    kit_open_end(end);
    kit_tcp_pair(&end->sd, peer);
    kit_talk(end->sd, *peer, 30);
}

/*
 * Checks the end of every conversion that fails here: the stream is plain at the right octet, and a
 * second conversion of the same stream and endpoint succeeds.
 */
static void goes_on(struct kit_end *end, int peer, it_event_type_t number)
{
    it_event_t event = fx_conn(end->node.conn_evd, end->ep, number);
    struct kit_end other;

    leads_here(&event.conn.dst_path);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(end->ep));
    kit_talk(end->sd, peer, 40);
    CHECK_OK(it_ep_reset(end->ep));
    kit_open_end(&other);
    other.sd = peer;
    kit_post_receives(end);
    kit_post_receives(&other);
    convert_both(end, &other);
    use_and_part(end, &other);
    kit_close_end(&other);
    kit_close_end(end);
}

static void refused(void)
{
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
    CHECK_EQ(kit_kind, kit_hear_frame(peer, AGREE_OFFER).terms.kind);
    kit_say_end(peer, AGREE_REFUSE, AGREE_NO_RESOURCES);
    kit_hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
}

static void refuses(void)
{
    struct agree_terms terms = kit_terms(0);
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    terms.kind = kit_kind == AGREE_IWARP ? AGREE_ROCE : AGREE_IWARP;
    kit_say_terms(peer, AGREE_OFFER, &terms);
    kit_hear_last(peer, AGREE_REFUSE, AGREE_BAD_KIND);
    kit_say_end(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
}

static void plain_peer(void)
{
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    kit_say(peer, "no frame", 8);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    kit_hear(end.sd, "no frame");
    CHECK_OK(it_ep_reset(end.ep));
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    kit_say(peer, "n", 1);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    kit_hear(end.sd, "n");
    CHECK_OK(it_ep_reset(end.ep));
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_INITIATOR, NULL, 0));
    (void)kit_hear_frame(peer, AGREE_OFFER);
    kit_say_end(peer, AGREE_REFUSE, AGREE_BAD_ROLE);
    kit_hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    goes_on(&end, peer, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
}

/*
 * The answer names a port where nobody listens, where somebody refuses, or where somebody accepts
 * without the key.
 */
static void answers_that_lead_nowhere(void)
{
    for (int i = 0; i < 3; i++) {
        struct stranger stranger = {0};
        struct agree_terms terms;
        struct agree_frame offer;
        struct kit_end end;
        int peer;

        open_against_test(&end, &peer);
        terms = kit_terms(stranger_listen(&stranger, &kit_address));
        if (i == 0)
            stranger_close(&stranger);
        CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
        offer = kit_hear_frame(peer, AGREE_OFFER);
        kit_say_terms(peer, AGREE_ANSWER, &terms);
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
        kit_hear_last(peer, AGREE_ABORT, AGREE_NO_CONNECTION);
        if (i == 2)
            stranger_sees_end(&stranger);
        kit_say_end(peer, AGREE_ABORT, AGREE_NO_REASON);
        goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
        stranger_close(&stranger);
    }
}

static bool knocks(uint16_t port, const void *private_data, size_t length)
{
    struct stranger stranger = {0};
    bool connected = stranger_connect(&stranger, &kit_address, htons(port), private_data, length);

    stranger_close(&stranger);
    return connected;
}

/* Strangers at the responder's port do no harm. Only the right token opens it, once. */
static void strangers(void)
{
    struct agree_terms terms = kit_terms(0);
    struct stranger right = {0};
    uint8_t key[AGREE_OWN_MAX];
    uint8_t wrong[AGREE_OWN_MAX];
    size_t length;
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    kit_say_terms(peer, AGREE_OFFER, &terms);
    terms = kit_hear_frame(peer, AGREE_ANSWER).terms;
    length = key_for(terms.token, key);
    memcpy(wrong, key, length);
    wrong[length - 1] ^= 1;
    CHECK(!knocks(terms.port, NULL, 0));
    CHECK(!knocks(terms.port, "open, please", 12));
    CHECK(!knocks(terms.port, wrong, length));
    CHECK_EQ(IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, fx_ep_state(end.ep));
    fx_empty(end.node.conn_evd);
    CHECK(stranger_connect(&right, &kit_address, htons(terms.port), key, length));
    CHECK(!knocks(terms.port, key, length));
    kit_say_end(peer, AGREE_ABORT, AGREE_NO_CONNECTION);
    kit_hear_last(peer, AGREE_ABORT, AGREE_NO_REASON);
    stranger_sees_end(&right);
    goes_on(&end, peer, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    stranger_close(&right);
}

/* ---- The peer dies in the middle ------------------------------------------------------------ */

/*
 * The test plays the responder and dies. In step 2 the RDMA connection exists and the test has read
 * the initiator's READY.
 */
static void responder_dies(int step)
{
    struct stranger stranger = {0};
    struct agree_terms terms;
    struct agree_frame offer;
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    terms = kit_terms(stranger_listen(&stranger, &kit_address));
    CHECK_OK(it_socket_convert(end.sd, end.ep, IT_SC_DEFAULT, NULL, 0));
    offer = kit_hear_frame(peer, AGREE_OFFER);
    if (step > 0) {
        kit_say_terms(peer, AGREE_ANSWER, &terms);
        stranger_takes_request(&stranger);
    }
    if (step > 1) {
        uint8_t key[AGREE_OWN_MAX];

        stranger_accepts(&stranger, key, key_for(offer.terms.token, key));
        (void)kit_hear_frame(peer, AGREE_READY);
    }
    (void)close(peer);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    kit_hears_end(end.sd);
    stranger_close(&stranger);
    kit_close_end(&end);
}

static void initiator_dies(int step)
{
    struct agree_terms terms = kit_terms(0);
    struct stranger stranger = {0};
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    if (step > 0) {
        kit_say_terms(peer, AGREE_OFFER, &terms);
        terms = kit_hear_frame(peer, AGREE_ANSWER).terms;
    }
    if (step > 1) {
        uint8_t key[AGREE_OWN_MAX];

        CHECK(stranger_connect(&stranger, &kit_address, htons(terms.port), key,
                               key_for(terms.token, key)));
    }
    (void)close(peer);
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    kit_hears_end(end.sd);
    stranger_close(&stranger);
    kit_close_end(&end);
}

static void peer_dies(void)
{
    for (int step = 0; step < 3; step++) {
        responder_dies(step);
        initiator_dies(step);
    }
}

/* Starts a process that converts its end and is killed later. A pipe tells that it has begun. */
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

        kit_open_node(&node);
        CHECK_OK(it_socket_convert(sd, kit_open_ep(&node), ITX_SC_RESPONDER, NULL, 0));
        CHECK_EQ(1, write(ends[1], &octet, 1));
        (void)pause();
        _exit(1);
    }
    (void)close(ends[1]);
    *begun = ends[0];
    return child;
}

/*
 * Whenever the process is killed, the conversion has one outcome. After a failure the stream is at
 * its end. After a success the connection breaks.
 */
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

        kit_tcp_pair(&sd, &peer);
        child = start_victim(peer, &begun);
        (void)close(peer);
        kit_open_node(&node);
        ep = kit_open_ep(&node);
        CHECK_EQ(1, read(begun, &octet, 1));
        CHECK_OK(it_socket_convert(sd, ep, ITX_SC_INITIATOR, NULL, 0));
        (void)poll(NULL, 0, delay_ms); /* another moment in each round */
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
        struct agree_terms terms = kit_terms(0);
        struct fx_node node;
        it_ep_handle_t ep;
        int sd;
        int peer;

        kit_open_node(&node);
        ep = kit_open_ep(&node);
        kit_tcp_pair(&sd, &peer);
        CHECK_OK(it_socket_convert(sd, ep, i & 1 ? ITX_SC_INITIATOR : ITX_SC_RESPONDER, NULL, 0));
        if (i & 1) {
            (void)kit_hear_frame(peer, AGREE_OFFER);
        } else {
            kit_say_terms(peer, AGREE_OFFER, &terms);
            (void)kit_hear_frame(peer, AGREE_ANSWER);
        }
        if (i < 4) {
            CHECK_OK(it_ep_disconnect(ep, NULL, 0));
            fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
            CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(ep, NULL, 0));
        } else if (i < 6) {
            CHECK_OK(it_ep_free(ep));
        }
        if (i < 6)
            kit_hears_end(peer); /* although the program's own descriptor is open */
        fx_node_close(&node);
        kit_hears_end(peer);
        (void)close(sd);
        (void)close(peer);
    }
    fx_fd_settle(before);
}

/* ---- One side cannot ------------------------------------------------------------------------ */

/*
 * The stream uses an address that the device does not have: nothing is sent, and nothing changes.
 */
static void wrong_address(void)
{
    struct sockaddr_in real = kit_address;
    struct fx_node node;
    it_ep_handle_t ep;
    int sd;
    int peer;

    kit_open_node(&node);
    ep = kit_open_ep(&node);
    kit_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    kit_tcp_pair(&sd, &peer);
    kit_address = real;
    CHECK_STATUS(IT_ERR_INVALID_CONVERSION,
                 it_socket_convert(sd, ep, IT_SC_DEFAULT, (const unsigned char *)"hi", 2));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    kit_talk(sd, peer, 50);
    (void)close(sd);
    (void)close(peer);
    fx_node_close(&node);
}

/* The other side has no device and converts on uiwarp. Neither side understands the other. */
static void other_side_without_device(void)
{
    struct kit_end end;
    struct fx_node node;
    it_ep_handle_t ep;
    int peer;

    open_against_test(&end, &peer);
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    CHECK_OK(it_socket_convert(end.sd, end.ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_socket_convert(peer, ep, ITX_SC_INITIATOR, NULL, 0));
    fx_conn(end.node.conn_evd, end.ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    kit_close_end(&end); /* its program gives up, too */
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    (void)close(peer);
    fx_node_close(&node);
}

static void flags(void)
{
    struct kit_end end;
    int peer;

    open_against_test(&end, &peer);
    CHECK_STATUS(IT_ERR_INVALID_FLAGS,
                 it_socket_convert(end.sd, end.ep, IT_SC_NO_REQ_REP, NULL, 0));
    kit_talk(end.sd, peer, 60);
    (void)close(peer);
    kit_close_end(&end);
}

/* ---- The device goes away ------------------------------------------------------------------- */

/* Waits until the library has read all that the peer has sent. */
static void wait_until_read(int sd)
{
    struct fx_patience patience = fx_patience_start("the last frame");
    int unread;

    do {
        CHECK_EQ(0, ioctl(sd, FIONREAD, &unread));
        fx_patience_check(&patience);
    } while (unread > 0);
}

/* Events of a failed IA cannot be read, so the test checks the streams. */
static void device_goes_away(const char *command)
{
    struct agree_terms terms = kit_terms(0);
    struct kit_end listening;
    struct kit_end waiting;
    int peers[2];

    open_against_test(&listening, &peers[0]);
    open_against_test(&waiting, &peers[1]);
    CHECK_OK(it_socket_convert(listening.sd, listening.ep, ITX_SC_RESPONDER, NULL, 0));
    CHECK_OK(it_socket_convert(waiting.sd, waiting.ep, ITX_SC_RESPONDER, NULL, 0));
    kit_say_terms(peers[0], AGREE_OFFER, &terms);
    (void)kit_hear_frame(peers[0], AGREE_ANSWER);
    CHECK_EQ(0, system(command));
    kit_hear_last(peers[0], AGREE_ABORT, AGREE_NO_CONNECTION);
    kit_say_end(peers[0], AGREE_ABORT, AGREE_NO_REASON);
    wait_until_read(listening.sd);
    kit_talk(listening.sd, peers[0], 70);
    /* Neither side had sent a frame, so the stream is plain again at once. */
    fx_ep_wait_state(waiting.ep, IT_EP_STATE_NONOPERATIONAL);
    kit_talk(waiting.sd, peers[1], 80);
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

    kit_open_node(&node);
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
    kit_device = argv[1];
    kit_address.sin_family = AF_INET;
    CHECK_EQ(1, inet_pton(AF_INET, argv[2], &kit_address.sin_addr));
    kit_kind = device_kind();
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
