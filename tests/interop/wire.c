/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/wire.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/pattern.h"

const char *wire_name(const struct wire_setup *setup)
{
    static char name[64];

    (void)snprintf(name, sizeof(name), "%s, %s", setup->role == WIRE_ACTIVE ? "active" : "passive",
                   setup->place->name);
    return name;
}

static const char *or_nothing(const char *words)
{
    return words != NULL ? words : "";
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/*
 * Binds the device of this address: memory of the peer belongs to the device that was bound last.
 */
static void bind_device(struct peer *peer, const char *address)
{
    peer_ask(peer, NULL, "destroy listen %u",
             (unsigned)peer_ask_number(peer, "listen", "listen %s 0", address));
}

void wire_open(struct wire *wire, const struct wire_setup *setup)
{
    memset(wire, 0, sizeof(*wire));
    wire->setup = *setup;
    if (setup->beside != NULL) {
        setup->beside->others++;
        wire->node = setup->beside->node;
        wire->peer = setup->beside->peer;
    } else {
        wire->node = &wire->own_node;
        wire->peer = peer_start(setup->place->net_namespace);
        bind_device(wire->peer, setup->place->theirs);
        fx_node_open_sized(wire->node, setup->events != 0 ? setup->events : 512);
    }
    wire->ep = fx_ep(wire->node, setup->attr);
    if (setup->mpa != NULL)
        CHECK_OK(itx_ep_set_mpa_params(wire->ep, setup->mpa));
}

void wire_call(struct wire *wire, uint16_t port)
{
    it_path_t path = place_path(wire->node, wire->setup.place->theirs);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(port);
    CHECK_OK(it_ep_connect(wire->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, wire->setup.data,
                           wire->setup.data_length));
}

it_listen_handle_t wire_listen(struct wire *wire, uint16_t *port)
{
    it_listen_handle_t listener = fx_listen(wire->node, port);

    *port = ntohs(*port);
    return listener;
}

static void setup_far(struct wire *wire)
{
    peer_ask(wire->peer, NULL, "setup %u %s", wire->conn, or_nothing(wire->setup.peer_setup));
}

static void take_told(struct wire *wire, const struct peer_answer *answer)
{
    wire->told.ird = (unsigned)peer_number(answer, "ird");
    wire->told.ord = (unsigned)peer_number(answer, "ord");
    wire->told.data_length = peer_octets(answer, "pd", wire->told.data, sizeof(wire->told.data));
}

static void meet_actively(struct wire *wire)
{
    struct peer_answer answer;

    peer_ask(wire->peer, &answer, "listen %s 0", wire->setup.place->theirs);
    wire->listener = (unsigned)peer_number(&answer, "listen");
    wire_call(wire, (uint16_t)peer_number(&answer, "port"));
    peer_ask(wire->peer, &answer, "request %u " PEER_WAIT, wire->listener);
    wire->conn = (unsigned)peer_number(&answer, "conn");
    take_told(wire, &answer);
    setup_far(wire);
}

/*
 * Connects from the peer. Its connect command waits for the outcome, so its answer comes after the
 * library's accept.
 */
static void meet_passively(struct wire *wire)
{
    uint16_t port;
    it_listen_handle_t listener = wire_listen(wire, &port);

    wire->conn = (unsigned)peer_ask_number(wire->peer, "conn", "resolve %s %u " PEER_WAIT,
                                           wire->setup.place->ours, port);
    setup_far(wire);
    peer_tell(wire->peer, "connect %u " PEER_WAIT " %s", wire->conn,
              or_nothing(wire->setup.peer_answer));
    (void)fx_request(wire->node, &wire->request);
    CHECK_OK(it_listen_free(listener));
}

void wire_meet(struct wire *wire)
{
    if (wire->setup.role == WIRE_ACTIVE)
        meet_actively(wire);
    else
        meet_passively(wire);
}

static void await_established(struct wire *wire)
{
    wire->established = fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(wire->ep));
}

static void join_actively(struct wire *wire)
{
    peer_tell(wire->peer, "accept %u " PEER_WAIT " %s", wire->conn,
              or_nothing(wire->setup.peer_answer));
    await_established(wire);
    peer_hear(wire->peer, NULL);
    if (wire->listener != 0)
        peer_ask(wire->peer, NULL, "destroy listen %u", wire->listener);
    wire->listener = 0;
}

static void join_passively(struct wire *wire)
{
    struct peer_answer answer;

    CHECK_OK(it_ep_accept(wire->ep, wire->request.conn_req.cn_est_id, wire->setup.data,
                          wire->setup.data_length));
    await_established(wire);
    peer_hear(wire->peer, &answer);
    take_told(wire, &answer);
}

void wire_join(struct wire *wire)
{
    if (wire->setup.role == WIRE_ACTIVE)
        join_actively(wire);
    else
        join_passively(wire);
}

void wire_connect(struct wire *wire, const struct wire_setup *setup)
{
    wire_open(wire, setup);
    wire_meet(wire);
    wire_join(wire);
}

/* Checks the end of a connection on both sides. */
static void parted(struct wire *wire)
{
    fx_conn(wire->node->conn_evd, wire->ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire->ep));
    peer_ask(wire->peer, NULL, "wait %u disconnected " PEER_WAIT, wire->conn);
}

void wire_part(struct wire *wire)
{
    CHECK_OK(it_ep_disconnect(wire->ep, NULL, 0));
    parted(wire);
}

void wire_part_from_there(struct wire *wire)
{
    peer_ask(wire->peer, NULL, "disconnect %u", wire->conn);
    parted(wire);
}

static void check_nothing_left(const struct fx_node *node)
{
    fx_empty(node->request_evd);
    fx_empty(node->recv_evd);
    fx_empty(node->conn_evd);
    fx_empty(node->listen_evd);
    fx_empty(node->aff_evd);
}

static void close_ends(struct wire *wire)
{
    CHECK_OK(it_ep_free(wire->ep));
    if (peer_is_there(wire->peer) && wire->conn != 0)
        peer_ask(wire->peer, NULL, "destroy %u", wire->conn);
    if (peer_is_there(wire->peer) && wire->listener != 0)
        peer_ask(wire->peer, NULL, "destroy listen %u", wire->listener);
}

void wire_close(struct wire *wire)
{
    struct wire *beside = wire->setup.beside;

    CHECK_EQ(0, wire->others);
    if (beside == NULL || beside->others == 1)
        check_nothing_left(wire->node);
    close_ends(wire);
    if (beside != NULL) {
        beside->others--;
    } else {
        fx_node_close(wire->node);
        peer_end(wire->peer);
    }
    memset(wire, 0, sizeof(*wire));
}

struct itx_mpa_info wire_mpa(const struct wire *wire)
{
    struct itx_mpa_info info;

    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(wire->ep, &info));
    return info;
}

/* ---- Data ----------------------------------------------------------------------------------- */

it_rdma_addr_t wire_address(const struct peer_mem *mem, size_t offset)
{
    CHECK(offset <= mem->size);
    return it_make_rdma_addr_absolute((void *)(uintptr_t)(mem->address + offset));
}

void wire_write(const struct wire *wire, const struct fx_buf *from, size_t offset, size_t length,
                const struct peer_mem *to, size_t to_offset, it_dto_cookie_t cookie,
                it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(from, offset, length);

    CHECK_OK(it_post_rdma_write(wire->ep, &segment, 1, cookie, flags, wire_address(to, to_offset),
                                to->rkey));
}

void wire_read(const struct wire *wire, const struct fx_buf *to, size_t offset, size_t length,
               const struct peer_mem *from, size_t from_offset, it_dto_cookie_t cookie,
               it_dto_flags_t flags)
{
    it_lmr_triplet_t segment = fx_seg(to, offset, length);

    CHECK_OK(it_post_rdma_read(wire->ep, &segment, 1, cookie, flags,
                               wire_address(from, from_offset), from->rkey));
}

static void post_there(const struct wire *wire, const char *operation, const struct peer_mem *mem,
                       size_t offset, size_t length, const char *preposition,
                       const struct fx_buf *buf, size_t our_offset, uint64_t id)
{
    peer_ask(wire->peer, NULL, "%s %u %u:%zu:%zu %s=0x%" PRIx64 " rkey=0x%" PRIx64 " id=%" PRIu64,
             operation, wire->conn, mem->id, offset, length, preposition, fx_addr(buf, our_offset),
             buf->key, id);
}

void wire_write_from_there(const struct wire *wire, const struct peer_mem *from, size_t offset,
                           size_t length, const struct fx_buf *to, size_t to_offset, uint64_t id)
{
    post_there(wire, "write", from, offset, length, "to", to, to_offset, id);
}

void wire_read_from_there(const struct wire *wire, const struct peer_mem *to, size_t offset,
                          size_t length, const struct fx_buf *from, size_t from_offset, uint64_t id)
{
    post_there(wire, "read", to, offset, length, "from", from, from_offset, id);
}

/* Returns a seed that differs for each message. */
static uint32_t next_seed(void)
{
    static uint32_t seed = 0x5eed;

    return seed++;
}

void wire_ping_from_there(const struct wire *wire, size_t length)
{
    struct peer_mem mem = peer_mem_make(wire->peer, length, NULL);
    struct fx_buf buf = fx_buf_make(wire->node, length);
    uint32_t seed = next_seed();

    fx_recv(wire->ep, &buf, 0, length, seed);
    peer_ask(wire->peer, NULL, "fill %u 0 %zu %u", mem.id, length, seed);
    peer_ask(wire->peer, NULL, "send %u %u:0:%zu id=%u", wire->conn, mem.id, length, seed);
    fx_done_len(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, seed, length);
    pattern_check(buf.data, length, 0, seed);
    wire_far_done(wire, seed, "SUCCESS");
    peer_ask(wire->peer, NULL, "free %u", mem.id);
    fx_buf_free(&buf);
}

void wire_ping_from_here(const struct wire *wire, size_t length)
{
    struct peer_mem mem = peer_mem_make(wire->peer, length, NULL);
    struct fx_buf buf = fx_buf_make(wire->node, length);
    uint32_t seed = next_seed();

    peer_ask(wire->peer, NULL, "recv %u %u:0:%zu id=%u", wire->conn, mem.id, length, seed);
    pattern_fill(buf.data, length, 0, seed);
    fx_send(wire->ep, &buf, 0, length, seed, FX_SIGNAL);
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_SEND_CMPL_EVENT, seed, length);
    wire_far_done(wire, seed, "SUCCESS");
    peer_ask(wire->peer, NULL, "check %u 0 %zu %u", mem.id, length, seed);
    peer_ask(wire->peer, NULL, "free %u", mem.id);
    fx_buf_free(&buf);
}

void wire_far_done(const struct wire *wire, uint64_t id, const char *status)
{
    struct peer_answer answer;
    char want[64];

    peer_ask(wire->peer, &answer, "done %u 1 " PEER_WAIT, wire->conn);
    (void)snprintf(want, sizeof(want), "ok n=1 %" PRIu64 ":%s:", id, status);
    if (strncmp(answer.text, want, strlen(want)) != 0)
        CHECK_FAIL("the peer says \"%s\" instead of \"%s...\"", answer.text, want);
}

void wire_check_held_back(const struct wire *wire)
{
    struct peer_mem mem = peer_mem_make(wire->peer, 64, NULL);
    struct fx_buf buf = fx_buf_make(wire->node, 64);
    struct peer_answer answer;

    pattern_fill(buf.data, 64, 0, 5);
    fx_recv(wire->ep, &buf, 0, 0, 8);
    peer_ask(wire->peer, NULL, "recv %u %u:0:64 id=9", wire->conn, mem.id);
    fx_send(wire->ep, &buf, 0, 64, 9, FX_SIGNAL);
    peer_ask_error(wire->peer, NULL, "timeout", "done %u 1 timeout=300", wire->conn);
    fx_empty(wire->node->request_evd);
    peer_ask(wire->peer, NULL, "send %u - id=10", wire->conn);
    fx_done_len(wire->node->recv_evd, wire->ep, IT_DTO_RC_RECV_CMPL_EVENT, 8, 0);
    fx_done_len(wire->node->request_evd, wire->ep, IT_DTO_SEND_CMPL_EVENT, 9, 64);
    peer_ask(wire->peer, &answer, "done %u 2 " PEER_WAIT, wire->conn);
    CHECK(strstr(answer.text, " 9:SUCCESS:recv:64") != NULL);
    CHECK(strstr(answer.text, " 10:SUCCESS:send:") != NULL);
    peer_ask(wire->peer, NULL, "check %u 0 64 5", mem.id);
    peer_ask(wire->peer, NULL, "free %u", mem.id);
    fx_buf_free(&buf);
}
