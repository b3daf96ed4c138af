/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses the library is killed with SIGKILL while it sends. The kernel's side learns
 * at once that the connection has ended, and accepts the next one. The dying program is a process
 * of its own.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interop/place.h"
#include "interop/peer.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define MESSAGE ((size_t)3000)
#define ENOUGH  64u /* after so many messages it is in the middle of its work */

struct victim {
    pid_t pid;
    int from; /* pipe: its port if it listens, then an octet when it is busy */
};

/* ---- The process that dies ------------------------------------------------------------------ */

/* Waits for the peer's message, since siw as initiator must send first, then sends for ever. */
static void send_for_ever(const struct fx_node *node, it_ep_handle_t ep, int to)
{
    struct fx_buf buf = fx_buf_make(node, MESSAGE);

    fx_done_len(node->recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 77, 0);
    for (unsigned i = 0;; i++) {
        if (i >= 32)
            (void)fx_next(node->request_evd);
        if (i == ENOUGH)
            CHECK_EQ(1, write(to, "b", 1));
        fx_send(ep, &buf, 0, MESSAGE, i, FX_SIGNAL);
    }
}

static void call_and_die(const struct place *place, uint16_t port, int to)
{
    struct wire wire;
    struct fx_node node;

    fx_node_open(&node);
    memset(&wire, 0, sizeof(wire));
    wire.node = &node;
    wire.setup.place = place;
    wire.ep = fx_ep(&node, NULL);
    CHECK_OK(it_post_recv(wire.ep, NULL, 0, 77, FX_SIGNAL));
    wire_call(&wire, port);
    fx_conn(node.conn_evd, wire.ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    send_for_ever(&node, wire.ep, to);
}

static void listen_and_die(int to)
{
    struct fx_node node;
    it_event_t event;
    it_ep_handle_t ep;
    uint16_t port;

    fx_node_open(&node);
    (void)fx_listen(&node, &port);
    CHECK_EQ(sizeof(port), write(to, &port, sizeof(port)));
    ep = fx_ep(&node, NULL);
    CHECK_OK(it_post_recv(ep, NULL, 0, 77, FX_SIGNAL));
    CHECK_OK(it_ep_accept(ep, fx_request(&node, &event), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    send_for_ever(&node, ep, to);
}

/* ---- The observer --------------------------------------------------------------------------- */

static struct victim start_victim(const struct place *place, enum wire_role role, uint16_t port)
{
    struct victim victim;
    int pipes[2];

    CHECK_EQ(0, pipe(pipes));
    victim.pid = fork();
    CHECK(victim.pid != -1);
    if (victim.pid == 0) {
        if (role == WIRE_ACTIVE)
            call_and_die(place, port, pipes[1]);
        else
            listen_and_die(pipes[1]);
        _exit(1);
    }
    (void)close(pipes[1]);
    victim.from = pipes[0];
    return victim;
}

static unsigned connect_peer(struct peer *peer, const struct place *place, enum wire_role role,
                             struct victim *victim)
{
    struct peer_answer answer;
    unsigned listener;
    unsigned conn;
    uint16_t port;

    if (role == WIRE_PASSIVE) {
        *victim = start_victim(place, role, 0);
        CHECK_EQ(sizeof(port), read(victim->from, &port, sizeof(port)));
        conn = (unsigned)peer_ask_number(peer, "conn", "resolve %s %u " PEER_WAIT, place->ours,
                                         ntohs(port));
        peer_ask(peer, NULL, "setup %u", conn);
        peer_ask(peer, NULL, "connect %u " PEER_WAIT, conn);
        return conn;
    }
    peer_ask(peer, &answer, "listen %s 0", place->theirs);
    listener = (unsigned)peer_number(&answer, "listen");
    *victim = start_victim(place, role, (uint16_t)peer_number(&answer, "port"));
    conn = (unsigned)peer_ask_number(peer, "conn", "request %u " PEER_WAIT, listener);
    peer_ask(peer, NULL, "setup %u", conn);
    return conn;
}

static void one_death(struct peer *peer, enum wire_role role)
{
    const struct place *place = place_named("veth");
    struct victim victim;
    struct peer_answer answer;
    struct peer_mem mem;
    unsigned conn = connect_peer(peer, place, role, &victim);
    int status = 0;
    char busy;

    mem = peer_mem_make(peer, 32 * MESSAGE, NULL);
    if (role == WIRE_ACTIVE)
        peer_ask(peer, NULL, "accept %u " PEER_WAIT, conn);
    peer_ask(peer, NULL, "prepare %u sink 1000000 %u %zu", conn, mem.id, MESSAGE);
    peer_ask(peer, NULL, "send %u %u:0:0 id=1", conn, mem.id);
    peer_ask(peer, NULL, "done %u 1 " PEER_WAIT, conn);
    peer_tell(peer, "sink %u 1000000 %u %zu timeout=80000", conn, mem.id, MESSAGE);
    CHECK_EQ(1, read(victim.from, &busy, 1));
    CHECK_EQ(0, kill(victim.pid, SIGKILL));
    CHECK_EQ(victim.pid, waitpid(victim.pid, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)close(victim.from);
    CHECK(!peer_hear_either(peer, &answer));
    peer_ask(peer, NULL, "wait %u disconnected " PEER_WAIT, conn);
    peer_ask(peer, NULL, "destroy %u", conn);
    peer_ask(peer, NULL, "free %u", mem.id);
}

int main(void)
{
    struct peer *peer;

    siw_begin();
    peer = peer_start(place_named("veth")->net_namespace);
    for (int i = 0; i < 3; i++) {
        one_death(peer, WIRE_ACTIVE);
        one_death(peer, WIRE_PASSIVE);
    }
    peer_end(peer);
    check_done();
    return 0;
}
