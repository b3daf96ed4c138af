/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child of the process has copies of all descriptors. They keep no port and no connection alive:
 * when the parent frees or disconnects, the peer sees the end although the child still runs.
 */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"
#include "support/fixture_node.h"

/*
 * ---- A process that only has copies
 * ----------------------------------------------------------------
 */

struct child {
    pid_t pid;
    int leash; /* closing it ends the child */
};

static struct child child_start(void)
{
    struct child child;
    int ends[2];

    CHECK(pipe(ends) == 0);
    child.pid = fork();
    CHECK(child.pid >= 0);
    if (child.pid == 0) {
        char octet;

        (void)close(ends[1]);
        _exit(read(ends[0], &octet, 1) == 0 ? 0 : 1);
    }
    (void)close(ends[0]);
    child.leash = ends[1];
    return child;
}

static void child_end(const struct child *child)
{
    int status = -1;

    CHECK_EQ(0, waitpid(child->pid, &status, WNOHANG)); /* the child is still running */
    (void)close(child->leash);
    CHECK_EQ(child->pid, waitpid(child->pid, &status, 0));
    CHECK_EQ(0, status);
}

/*
 * ---- What peers see
 * --------------------------------------------------------------------------------
 */

static void nobody_listens(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = port,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK_EQ(-1, connect(fd, (struct sockaddr *)&address, sizeof(address)));
    CHECK_EQ(ECONNREFUSED, errno);
    (void)close(fd);
}

static void has_ended(struct raw_peer *peer)
{
    enum raw_result result = raw_drain(peer);

    CHECK(result == RAW_EOF || result == RAW_RESET);
    raw_close(peer);
}

static void request(struct raw_bytes *out)
{
    raw_mpa2(out, false, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 8u << 16 | 8u);
}

/* Connects a peer and sends its Request. Returns the identifier. */
static it_cn_est_identifier_t come(uint16_t port, struct raw_peer *peer)
{
    RAW_BYTES(out);

    raw_connect(peer, port);
    request(&out);
    CHECK(raw_send(peer, &out));
    return fx_request(&node, NULL);
}

/*
 * ---- Listen points
 * ---------------------------------------------------------------------------------
 */

/*
 * No descriptor keeps a port that the library has picked. A chosen port can be listened on again.
 */
Test(cm_fork, listen_free, .init = node_init, .fini = node_fini)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    uint16_t port;
    it_listen_handle_t listener = fx_listen(&node, &port);

    qual.conn_qual.port = port;
    for (int round = 0; round < 2; round++) {
        struct child child = child_start();

        CHECK_OK(it_listen_free(listener));
        nobody_listens(port);
        CHECK_OK(it_listen_create(node.ia, node.spigot, node.listen_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                  &qual, &listener));
        child_end(&child);
    }
}

/*
 * The IA has everything that a peer may hold: a silent stream, half a Request, an undecided
 * request.
 */
Test(cm_fork, ia_free)
{
    RAW_BYTES(out);
    struct raw_peer peers[3];
    struct child child;
    uint16_t port;
    size_t before;

    fx_node_open(&node);
    (void)fx_listen(&node, &port);
    before = fx_fd_count();
    (void)come(port, &peers[2]);
    request(&out);
    raw_connect(&peers[0], port);
    raw_connect(&peers[1], port);
    CHECK(raw_send_part(&peers[1], out.data, 10));
    FX_WAIT_WHILE(fx_fd_count() < before + 6, "the streams");
    child = child_start();
    fx_node_close(&node);
    nobody_listens(port);
    for (int i = 0; i < 3; i++)
        has_ended(&peers[i]);
    child_end(&child);
}

Test(cm_fork, half_open_streams_of_a_freed_listen_point, .init = node_init, .fini = node_fini)
{
    struct raw_peer peer;
    struct child child;
    uint16_t port;
    it_listen_handle_t listener = fx_listen(&node, &port);
    size_t before = fx_fd_count();

    raw_connect(&peer, port);
    FX_WAIT_WHILE(fx_fd_count() < before + 2, "the stream");
    child = child_start();
    CHECK_OK(it_listen_free(listener));
    has_ended(&peer);
    child_end(&child);
}

Test(cm_fork, reject, .init = node_init, .fini = node_fini)
{
    it_cn_est_identifier_t id;
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct child child;
    uint16_t port;

    (void)fx_listen(&node, &port);
    id = come(port, &peer);
    child = child_start();
    CHECK_OK(it_reject(id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    has_ended(&peer);
    child_end(&child);
}

/*
 * ---- Endpoints
 * -------------------------------------------------------------------------------------
 */

enum let_go {
    DISCONNECT,
    FREE,
    LET_GO
};

static void let_go(it_ep_handle_t ep, enum let_go how)
{
    if (how == DISCONNECT) {
        CHECK_OK(it_ep_disconnect(ep, NULL, 0));
        fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    } else {
        CHECK_OK(it_ep_free(ep));
    }
}

static void connected(bool passive, enum let_go how)
{
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct child child;
    it_ep_handle_t ep;
    uint16_t port;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    if (passive) {
        (void)fx_listen(&node, &port);
        CHECK_OK(it_ep_accept(ep, come(port, &peer), NULL, 0));
        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    } else {
        RAW_BYTES(out);
        int listener = raw_listen(&port);

        fx_connect(&node, ep, port);
        raw_accept(&peer, listener);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
        raw_mpa2(&out, true, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | 8u << 16 | 8u);
        CHECK(raw_send(&peer, &out));
        (void)close(listener);
    }
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    child = child_start();
    let_go(ep, how);
    has_ended(&peer);
    child_end(&child);
    fx_node_close(&node);
}

Test(cm_fork, connected_endpoints)
{
    for (enum let_go how = DISCONNECT; how < LET_GO; how++) {
        connected(true, how);
        connected(false, how);
    }
}

/* The peer has not answered the Request yet. */
Test(cm_fork, endpoints_that_connect)
{
    for (enum let_go how = DISCONNECT; how < LET_GO; how++) {
        struct raw_mpa_frame frame;
        struct raw_peer peer;
        struct child child;
        it_ep_handle_t ep;
        uint16_t port;
        int listener = raw_listen(&port);

        fx_node_open(&node);
        ep = fx_ep(&node, NULL);
        fx_connect(&node, ep, port);
        raw_accept(&peer, listener);
        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &frame));
        child = child_start();
        let_go(ep, how);
        has_ended(&peer);
        child_end(&child);
        (void)close(listener);
        fx_node_close(&node);
    }
}

/* The program's own descriptor ends with the endpoint. */
Test(cm_fork, converted_endpoints)
{
    for (enum let_go how = DISCONNECT; how < LET_GO; how++) {
        RAW_BYTES(out);
        struct raw_mpa_frame reply;
        struct raw_peer peer;
        struct child child;
        it_ep_handle_t ep;
        int fd = -1;

        fx_node_open(&node);
        ep = fx_ep(&node, NULL);
        raw_socket_pair(&peer, &fd);
        CHECK_OK(it_socket_convert(fd, ep, ITX_SC_RESPONDER, NULL, 0));
        request(&out);
        CHECK(raw_send(&peer, &out));
        CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
        fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        child = child_start();
        let_go(ep, how);
        has_ended(&peer);
        child_end(&child);
        (void)close(fd);
        fx_node_close(&node);
    }
}

/* When the IA is freed, a stream is being closed whose peer keeps its end open. */
Test(cm_fork, streams_that_are_being_closed)
{
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    struct child child;
    it_ep_handle_t ep;
    uint16_t port;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    (void)fx_listen(&node, &port);
    CHECK_OK(it_ep_accept(ep, come(port, &peer), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    CHECK_EQ(RAW_EOF, raw_drain(&peer));
    child = child_start();
    fx_node_close(&node);
    /* Neither end is half open any more: an octet that is sent now meets a closed stream. */
    CHECK(raw_send_part(&peer, "x", 1));
    CHECK(raw_drain(&peer) != RAW_TIMEOUT);
    raw_close(&peer);
    child_end(&child);
}
