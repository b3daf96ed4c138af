/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA Reads with a bad peer: Responses that lie, more Requests than the IRD allows, and the
 * library's own ORD.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <sys/socket.h>

#include "hostile/fixture_kit.h"
#include "support/test_row.h"

#define GRACE_MS 30
#define SINK     64u

static bool says_nothing(struct hk_victim *victim)
{
    struct pollfd wait = {victim->peer.fd, POLLIN, 0};

    return poll(&wait, 1, GRACE_MS) == 0;
}

/* The content of the victim's last Read Request. */
struct asked {
    uint32_t sink_stag;
    uint64_t sink_to;
    uint32_t size;
    uint32_t msn;
};

static struct asked take_request(struct hk_victim *victim)
{
    static struct raw_segment segment;
    struct asked asked;
    enum raw_result result = raw_receive_fpdu(&victim->peer, &segment);

    if (result != RAW_OK)
        CHECK_FAIL("no Read Request: %s %s", raw_result_name(result), victim->peer.error);
    CHECK_EQ(RAW_READ_REQUEST, segment.op);
    CHECK_EQ(1, segment.qn);
    CHECK_EQ(0, segment.mo);
    CHECK_EQ(28, segment.len);
    CHECK(segment.last);
    asked.sink_stag = raw_be32(segment.payload);
    asked.sink_to = raw_be64(segment.payload + 4);
    asked.size = raw_be32(segment.payload + 12);
    asked.msn = segment.msn;
    return asked;
}

static void respond(struct hk_victim *victim, uint32_t stag, uint64_t to, const void *data,
                    size_t len, bool last)
{
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_READ_RESPONSE, stag, to, data, len, last);
    (void)raw_send_ulpdu(&victim->peer, &ulpdu);
}

static const unsigned char lies[128] =
    "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
    "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllll";

/* ---- Responses that lie --------------------------------------------------------------------- */

static void wrong_stag(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag ^ 0x100, asked->sink_to, lies, asked->size, true);
}

static void stag_of_another_region(struct hk_victim *victim, const struct asked *asked)
{
    /* The peer does not know this STag, but an attacker would try the one next to the sink's. */
    respond(victim, asked->sink_stag + 1, asked->sink_to, lies, asked->size, true);
}

static void below(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to - 8, lies, asked->size, true);
}

static void above(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to + 8, lies, asked->size, true);
}

static void far_away(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to + 0x100000000ull, lies, asked->size, true);
}

static void too_long(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, lies, asked->size + 1, true);
}

static void too_long_in_two(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, lies, asked->size, false);
    respond(victim, asked->sink_stag, asked->sink_to + asked->size, lies, 1, true);
}

static void too_short(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, lies, asked->size - 1, true);
}

static void of_nothing(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, NULL, 0, true);
}

static void with_a_gap(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, lies, 4, false);
    respond(victim, asked->sink_stag, asked->sink_to + 8, lies, asked->size - 8, true);
}

static void repeated(struct hk_victim *victim, const struct asked *asked)
{
    respond(victim, asked->sink_stag, asked->sink_to, lies, 4, false);
    respond(victim, asked->sink_stag, asked->sink_to, lies, asked->size, true);
}

struct lie {
    const char *name;
    void (*tell)(struct hk_victim *victim, const struct asked *asked);
};

static const struct lie all_lies[] = {
    {"wrong STag", wrong_stag},
    {"next STag", stag_of_another_region},
    {"below the sink", below},
    {"shifted", above},
    {"far away", far_away},
    {"too long", too_long},
    {"too long in two", too_long_in_two},
    {"too short", too_short},
    {"of nothing", of_nothing},
    {"with a gap", with_a_gap},
    {"repeated", repeated},
};

/* The Read fails, the connection breaks with a Terminate, and nothing outside the sink changes. */
static void lied_to(const struct lie *lie, enum hk_role role)
{
    struct hk_victim victim;
    struct asked asked;
    struct fx_buf sink = fx_buf_make(&kit.node, 3 * SINK);
    it_lmr_triplet_t local = fx_seg(&sink, SINK, SINK);
    it_event_t event;
    unsigned code;

    check_context(lie->name);
    hk_victim(&kit, &victim, role, &hk_plain);
    if (!hk_victim_initiates(role))
        hk_wake(&victim);
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 1, FX_QUIET, 0x1000, 0x99));
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 2, FX_SIGNAL, 0x1000, 0x99));
    asked = take_request(&victim);
    CHECK_EQ(SINK, asked.size);
    lie->tell(&victim, &asked);
    code = hk_terminated(&victim, NULL);
    EXPECT(code >> 12 <= 1 && code != 0);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    (void)fx_next(kit.node.aff_evd);
    event = fx_next(kit.node.request_evd);
    EXPECT_EQ(1, event.dto_cmpl.cookie);
    EXPECT(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    EXPECT(fx_is_byte(sink.data, SINK, 0));
    EXPECT(fx_is_byte(sink.data + 2 * SINK, SINK, 0));
    hk_healthy(&kit);
    hk_quiet(&kit);
    hk_victim_close(&victim);
    fx_buf_free(&sink);
    check_context(NULL);
}

Test(hostile_read, responses_that_lie, .init = kit_init, .fini = kit_fini)
{
    for (size_t i = 0; i < sizeof(all_lies) / sizeof(all_lies[0]); i++) {
        for (int role = 0; role < HK_ROLES; role += 1 + (int)(i % 2))
            lied_to(&all_lies[i], (enum hk_role)role);
    }
    check_done();
}

/*
 * The sink has several segments: a Response that is too long must not reach the memory behind the
 * last one.
 */
Test(hostile_read, scattered_sink, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    struct asked asked;
    struct fx_buf sink;
    it_lmr_triplet_t local[3];

    for (unsigned i = 0; i < 2; i++) {
        sink = fx_buf_make(&kit.node, 256);
        local[0] = fx_seg(&sink, 10, 5);
        local[1] = fx_seg(&sink, 100, 0);
        local[2] = fx_seg(&sink, 50, 20);
        hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
        CHECK_OK(it_post_rdma_read(victim.ep, local, 3, 1, FX_SIGNAL, 0, 0x99));
        asked = take_request(&victim);
        CHECK_EQ(25, asked.size);
        if (i == 0) {
            respond(&victim, asked.sink_stag, asked.sink_to, lies, 3, false);
            respond(&victim, asked.sink_stag, asked.sink_to + 3, lies, 22, true);
            fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 25);
            CHECK(fx_is_byte(sink.data + 10, 5, 'l') && fx_is_byte(sink.data + 50, 20, 'l'));
            raw_finish(&victim.peer);
            hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        } else {
            respond(&victim, asked.sink_stag, asked.sink_to, lies, 26, true);
            CHECK(hk_terminated(&victim, NULL) != 0);
            hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
            (void)fx_next(kit.node.aff_evd);
            CHECK(fx_next(kit.node.request_evd).dto_cmpl.dto_status != IT_DTO_SUCCESS);
        }
        CHECK(fx_is_byte(sink.data, 10, 0) && fx_is_byte(sink.data + 15, 35, 0));
        CHECK(fx_is_byte(sink.data + 70, 256 - 70, 0));
        hk_victim_close(&victim);
        fx_buf_free(&sink);
    }
}

/* The peer may not write to the sink with an ordinary Write unless it has that right. */
Test(hostile_read, write_to_the_sink, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    struct asked asked;
    RAW_BYTES(ulpdu);
    unsigned code;
    struct fx_buf sink = fx_buf_make_as(kit.node.pz, SINK, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    it_lmr_triplet_t local = fx_seg(&sink, 0, SINK);

    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 1, FX_SIGNAL, 0, 0x99));
    asked = take_request(&victim);
    raw_tagged(&ulpdu, RAW_WRITE, asked.sink_stag, asked.sink_to, lies, SINK, true);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    code = hk_terminated(&victim, NULL);
    CHECK(code == 0x0102 || code == 0x1100);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    (void)fx_next(kit.node.aff_evd);
    fx_done(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    CHECK(fx_is_byte(sink.data, SINK, 0));
    hk_victim_close(&victim);
    fx_buf_free(&sink);
    check_done();
}

/* ---- ORD ------------------------------------------------------------------------------------ */

#define DEEPEST 256u

/* Makes an endpoint with this depth both ways. Its raw peer announces the same. */
static void deep_victim(struct hk_victim *victim, enum hk_role role, uint32_t depth)
{
    const struct hk_startup startup = {2, RAW_MPA_C, depth << 16 | depth};
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = depth + 4;
    attr.srv.rc.rdma_read_ird = depth;
    attr.srv.rc.rdma_read_ord = depth;
    hk_victim_of(&kit, victim, fx_ep(&kit.node, &attr), role,
                 role == HK_CONNECT ? &startup : &hk_plain);
}

/* At most as many Requests as the peer's IRD are open. An answer lets the next one leave. */
static void no_more_than(uint32_t ord)
{
    const uint32_t count = ord + 4;
    struct hk_victim victim;
    struct fx_buf sink;
    struct asked asked[DEEPEST + 4];

    hk_open(&kit);
    sink = fx_node_buf(&kit.node, count * SINK);
    deep_victim(&victim, HK_CONNECT, ord);
    for (uint64_t i = 0; i < count; i++) {
        it_lmr_triplet_t local = fx_seg(&sink, i * SINK, SINK);

        CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, i, FX_SIGNAL, i * 1000, 0x99));
    }
    for (unsigned i = 0; i < ord; i++)
        asked[i] = take_request(&victim);
    CHECK(says_nothing(&victim));
    for (unsigned i = 0; i < count; i++) {
        CHECK_EQ(i + 1, asked[i].msn);
        respond(&victim, asked[i].sink_stag, asked[i].sink_to, lies, SINK, true);
        fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, SINK);
        if (i + ord < count)
            asked[i + ord] = take_request(&victim);
        CHECK(i > 4 || i % 2 != 0 || says_nothing(&victim));
    }
    CHECK(fx_is_byte(sink.data, sink.size, 'l'));
    hk_part(&victim);
    hk_close(&kit);
}

TEST_ROW(hostile_read, no_more_than_ord, no_more_than, 2);
TEST_ROW(hostile_read, no_more_than_the_deepest_ord, no_more_than, DEEPEST);

/* A fenced request leaves only when earlier Reads were answered. */
Test(hostile_read, fence_on_the_wire, .init = kit_init, .fini = kit_fini)
{
    static struct raw_segment segment;
    struct hk_victim victim;
    struct asked asked;
    struct fx_buf sink = fx_node_buf(&kit.node, SINK);
    it_lmr_triplet_t local = fx_seg(&sink, 0, SINK);

    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 1, FX_SIGNAL, 0, 0x99));
    CHECK_OK(
        it_post_send(victim.ep, NULL, 0, 2, (it_dto_flags_t)(FX_SIGNAL | IT_BARRIER_FENCE_FLAG)));
    CHECK_OK(it_post_rdma_write(victim.ep, NULL, 0, 3, FX_SIGNAL, 0, 0));
    asked = take_request(&victim);
    CHECK(says_nothing(&victim));
    respond(&victim, asked.sink_stag, asked.sink_to, lies, SINK, true);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_SEND, segment.op);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_WRITE, segment.op);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, SINK);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, 0);
    hk_part(&victim);
}

/* Completions keep the order of posting, though the Send behind the Read left before. */
Test(hostile_read, send_waits_for_the_read_before_it, .init = kit_init, .fini = kit_fini)
{
    static struct raw_segment segment;
    struct hk_victim victim;
    struct asked asked;
    struct fx_buf sink = fx_node_buf(&kit.node, SINK);
    it_lmr_triplet_t local = fx_seg(&sink, 0, SINK);

    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, 1, FX_SIGNAL, 0, 0x99));
    CHECK_OK(it_post_send(victim.ep, NULL, 0, 2, FX_SIGNAL));
    asked = take_request(&victim);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
    CHECK_EQ(RAW_SEND, segment.op);
    hk_healthy(&kit);
    fx_empty(kit.node.request_evd);
    respond(&victim, asked.sink_stag, asked.sink_to, lies, SINK, true);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, SINK);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
    hk_part(&victim);
}

/* ---- IRD ------------------------------------------------------------------------------------ */

/*
 * The peer asks for far more Reads than the IRD and reads no answer: it is terminated, and the cost
 * is bounded.
 */
static void flood(uint32_t ird, unsigned requests)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct hk_victim victim;
    struct fx_buf source;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    const size_t size = 16u << 20;
    unsigned code;

    hk_open(&kit);
    attr.srv.rc.rdma_read_ird = ird;
    source = fx_buf_make(&kit.node, size);
    hk_victim_of(&kit, &victim, fx_ep(&kit.node, &attr), HK_LISTEN, &hk_plain);
    CHECK_OK(it_post_recv(victim.ep, NULL, 0, 1, FX_SIGNAL));
    for (unsigned i = 0; i < requests; i++) {
        raw_read_request(&ulpdu, i + 1, 1, 0, (uint32_t)size, (uint32_t)source.key,
                         fx_addr(&source, 0));
        raw_fpdu(&stream, &ulpdu, true);
    }
    CHECK(raw_send(&victim.peer, &stream));
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION);
    fx_done(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    hk_healthy(&kit);
    code = hk_terminated(&victim, NULL);
    EXPECT(code == 0x1202 || code == 0x0207);
    hk_victim_close(&victim);
    fx_buf_free(&source);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_read, flood_beyond_ird_1, flood, 1, 3);

/* No request can be fully answered, so the first one beyond the IRD is one too many. */
TEST_ROW(hostile_read, one_beyond_ird_1, flood, 1, 2);
TEST_ROW(hostile_read, one_beyond_ird_8, flood, 8, 9);
TEST_ROW(hostile_read, one_beyond_the_deepest_ird, flood, DEEPEST, DEEPEST + 1);

/* Some peers round the depth up to a power of two. They get that, but no more. */
TEST_ROW(hostile_read, one_beyond_ird_5, flood, 5, 9);
TEST_ROW(hostile_read, flood_beyond_ird_8, flood, 8, 1000);

/* As many Reads as the IRD allows, all at once, are answered in order. */
static void as_many_as(uint32_t ird, uint32_t rounds)
{
    static struct raw_segment segment;
    struct hk_victim victim;
    struct fx_buf source;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);

    hk_open(&kit);
    source = fx_buf_make(&kit.node, ird * SINK);
    fx_fill(source.data, source.size, 3);
    deep_victim(&victim, HK_LISTEN, ird);
    for (uint32_t round = 0; round < rounds; round++) {
        raw_reset(&stream);
        for (uint32_t i = 0; i < ird; i++) {
            raw_read_request(&ulpdu, ird * round + i + 1, 100 + i, 7, SINK, (uint32_t)source.key,
                             fx_addr(&source, i * SINK));
            raw_fpdu(&stream, &ulpdu, true);
        }
        CHECK(raw_send(&victim.peer, &stream));
        for (uint32_t i = 0; i < ird; i++) {
            CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
            CHECK_EQ(RAW_READ_RESPONSE, segment.op);
            CHECK_EQ(100 + i, segment.stag);
            CHECK_EQ(SINK, segment.len);
            fx_check_same(source.data + i * SINK, segment.payload, SINK);
        }
    }
    hk_part(&victim);
    fx_buf_free(&source);
    hk_close(&kit);
}

TEST_ROW(hostile_read, as_many_as_ird, as_many_as, 8, 10);
TEST_ROW(hostile_read, as_many_as_the_deepest_ird, as_many_as, DEEPEST, 3);

/* Sends as much as fits. */
static void send_what_fits(struct raw_peer *peer, const struct raw_bytes *bytes)
{
    size_t at = 0;

    while (at < bytes->len) {
        ssize_t sent =
            send(peer->fd, bytes->data + at, bytes->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent <= 0)
            return;
        at += (size_t)sent;
    }
}

/* A flood of Reads of 0 octets, whose answers nobody reads, does no harm. */
Test(hostile_read, flood_of_nothing, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);

    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    for (uint32_t i = 0; i < 20000; i++) {
        raw_read_request(&ulpdu, i + 1, 1, 0, 0, 0, 0);
        raw_fpdu(&stream, &ulpdu, true);
    }
    /* The answers fill the connection: the peer never reads. */
    send_what_fits(&victim.peer, &stream);
    hk_healthy(&kit);
    CHECK_OK(it_ep_free(victim.ep));
    raw_close(&victim.peer);
    fx_drain(kit.node.conn_evd);
    fx_drain(kit.node.aff_evd);
}
