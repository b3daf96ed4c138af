/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endurance_test [CONNECTIONS]: makes connections one after the other between the same two
 * processes. Either side makes and ends them in turn, and each carries a message both ways. Neither
 * process may grow.
 */
#include <stdio.h>
#include <stdlib.h>

#include "interop/siw.h"
#include "interop/wire.h"

#define CONNECTIONS 1200u
#define WARM        400u /* by then caches and pools are filled */

/* Room for memory that an allocator keeps, once and for so many connections. */
#define GROWTH_KB        128u
#define CONNECTIONS_A_KB 25u

struct size {
    size_t near_kb, far_kb;
    size_t near_fds, far_fds;
};

static size_t resident_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    CHECK(file != NULL);
    CHECK_EQ(1, fscanf(file, "%*s %lu", &pages));
    (void)fclose(file);
    return pages * 4;
}

static struct size size_of(const struct wire *host)
{
    return (struct size){.near_kb = resident_kb(),
                         .far_kb = peer_resident_kb(host->peer),
                         .near_fds = fx_fd_count(),
                         .far_fds = peer_descriptors(host->peer)};
}

/*
 * Both sides listen all the time. Commands whose answers are not needed at once are sent together.
 */
struct bed {
    struct wire host; /* has the IA and the peer program */
    struct fx_buf ours;
    struct peer_mem theirs;
    it_listen_handle_t listener;
    uint16_t port;         /* of ours */
    unsigned far_listener; /* the peer's */
    uint16_t far_port;
};

static void open_bed(struct bed *bed)
{
    struct wire_setup setup = {.place = place_named("veth"), .role = WIRE_ACTIVE};
    struct peer_answer answer;

    wire_connect(&bed->host, &setup);
    bed->ours = fx_buf_make(bed->host.node, 32);
    bed->theirs = peer_mem_make(bed->host.peer, 32, NULL);
    bed->listener = wire_listen(&bed->host, &bed->port);
    peer_ask(bed->host.peer, &answer, "listen %s 0", setup.place->theirs);
    bed->far_listener = (unsigned)peer_number(&answer, "listen");
    bed->far_port = (uint16_t)peer_number(&answer, "port");
}

static void close_bed(struct bed *bed)
{
    CHECK_OK(it_listen_free(bed->listener));
    peer_ask(bed->host.peer, NULL, "destroy listen %u", bed->far_listener);
    fx_buf_free(&bed->ours);
    wire_part(&bed->host);
    wire_close(&bed->host);
}

static void hear(const struct bed *bed, unsigned answers)
{
    while (answers-- > 0)
        peer_hear(bed->host.peer, NULL);
}

static void prepare_far(const struct bed *bed, unsigned conn)
{
    peer_tell(bed->host.peer, "setup %u sq=4 rq=4", conn);
    peer_tell(bed->host.peer, "recv %u %u:0:16 id=2", conn, bed->theirs.id);
}

/* We call. */
static unsigned call(const struct bed *bed, it_ep_handle_t ep)
{
    struct wire wire = bed->host;
    unsigned conn;

    wire.ep = ep;
    wire_call(&wire, bed->far_port);
    conn = (unsigned)peer_ask_number(bed->host.peer, "conn", "request %u " PEER_WAIT,
                                     bed->far_listener);
    prepare_far(bed, conn);
    peer_tell(bed->host.peer, "accept %u " PEER_WAIT, conn);
    fx_conn(bed->host.node->conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    hear(bed, 3);
    return conn;
}

/* The peer connects. */
static unsigned answer(const struct bed *bed, it_ep_handle_t ep)
{
    unsigned conn = (unsigned)peer_ask_number(bed->host.peer, "conn", "resolve %s %u " PEER_WAIT,
                                              bed->host.setup.place->ours, bed->port);
    it_event_t request;

    prepare_far(bed, conn);
    peer_tell(bed->host.peer, "connect %u " PEER_WAIT, conn);
    CHECK_OK(it_ep_accept(ep, fx_request(bed->host.node, &request), NULL, 0));
    fx_conn(bed->host.node->conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    hear(bed, 3);
    return conn;
}

/* The peer's message comes first: siw as initiator must send first. */
static void exchange(const struct bed *bed, it_ep_handle_t ep, unsigned conn)
{
    const struct fx_node *node = bed->host.node;

    fx_recv(ep, &bed->ours, 0, 16, 1);
    peer_tell(bed->host.peer, "send %u %u:16:16 id=3", conn, bed->theirs.id);
    peer_tell(bed->host.peer, "done %u 2 " PEER_WAIT, conn);
    fx_done_len(node->recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 16);
    fx_send(ep, &bed->ours, 16, 16, 4, FX_SIGNAL);
    fx_done_len(node->request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 4, 16);
    hear(bed, 2);
}

static void one(const struct bed *bed, unsigned number)
{
    it_ep_handle_t ep = fx_ep(bed->host.node, NULL);
    unsigned conn = number % 2 ? answer(bed, ep) : call(bed, ep);

    exchange(bed, ep, conn);
    if (number / 2 % 2) {
        CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    } else {
        peer_tell(bed->host.peer, "disconnect %u", conn);
        hear(bed, 1);
    }
    peer_tell(bed->host.peer, "wait %u disconnected " PEER_WAIT, conn);
    peer_tell(bed->host.peer, "destroy %u", conn);
    fx_conn(bed->host.node->conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(ep));
    hear(bed, 2);
}

static void check_growth(const char *what, size_t before, size_t after, size_t allowed)
{
    if (after > before + allowed)
        CHECK_FAIL("%s grew from %zu to %zu", what, before, after);
}

int main(int argc, char **argv)
{
    static struct bed bed;
    unsigned connections = argc > 1 ? (unsigned)atoi(argv[1]) : CONNECTIONS;
    size_t growth_kb = GROWTH_KB + connections / CONNECTIONS_A_KB;
    struct size before = {0};
    struct size after;

    siw_begin();
    CHECK(connections > WARM);
    open_bed(&bed);
    for (unsigned i = 0; i < connections; i++) {
        if (i == WARM)
            before = size_of(&bed.host);
        one(&bed, i);
    }
    after = size_of(&bed.host);
    printf("ours %zu to %zu KiB, %zu to %zu descriptors; peer %zu to %zu KiB, %zu to %zu\n",
           before.near_kb, after.near_kb, before.near_fds, after.near_fds, before.far_kb,
           after.far_kb, before.far_fds, after.far_fds);
    check_growth("our memory, KiB,", before.near_kb, after.near_kb, growth_kb);
    check_growth("the peer's memory, KiB,", before.far_kb, after.far_kb, growth_kb);
    check_growth("the number of our descriptors", before.near_fds, after.near_fds, 2);
    check_growth("the number of the peer's descriptors", before.far_fds, after.far_fds, 0);
    wire_ping_from_here(&bed.host, 100);
    close_bed(&bed);
    return 0;
}
