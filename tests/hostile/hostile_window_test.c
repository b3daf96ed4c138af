/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows under attack: keys used after their end, beyond their window, on the wrong stream, or
 * against their rights; invalidation of memory that is not the peer's; windows unlinked under
 * traffic.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "hostile/hostile_kit.h"
#include "hostile/hostile_writer.h"
#include "support/it_window.h"

#define SIZE 4096u

/* Only the initiator can do without CRC: the library's Replies ask for it. */
static const struct hk_startup no_crc = {1, 0, 0};

/* A victim with a window on the middle of its memory, which has no remote rights itself. */
static struct {
    struct hk kit;
    struct hk_victim victim;
    struct fx_buf memory;
    struct fx_buf in;
    struct fx_part part;
    it_rmr_handle_t rmr;
    uint32_t key;
    uint32_t msn; /* MSN of the peer's Sends */
} bed;

static void bed_link(void)
{
    bed.key = (uint32_t)fx_linked(bed.kit.node.request_evd, bed.victim.ep, bed.rmr, &bed.part);
}

static void bed_open_as(it_rmr_type_t type, it_mem_priv_t privs, const struct hk_startup *startup)
{
    memset(&bed, 0, sizeof(bed));
    hk_open(&bed.kit);
    bed.memory = fx_buf_make_as(bed.kit.node.pz, SIZE, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    bed.in = fx_node_buf(&bed.kit.node, 64);
    bed.part = (struct fx_part){&bed.memory, 1000, 1000, IT_ADDR_MODE_ABSOLUTE, privs};
    bed.rmr = fx_rmr(bed.kit.node.pz, type);
    hk_victim(&bed.kit, &bed.victim, startup == &no_crc ? HK_CONNECT : HK_LISTEN, startup);
    bed_link();
}

static void bed_open(it_rmr_type_t type, it_mem_priv_t privs)
{
    bed_open_as(type, privs, &hk_plain);
}

static void bed_close(void)
{
    CHECK_OK(it_rmr_free(bed.rmr));
    hk_victim_close(&bed.victim);
    fx_drain(bed.kit.node.recv_evd);
    fx_buf_free(&bed.memory);
    hk_close(&bed.kit);
    check_done();
}

static void next_victim(void)
{
    CHECK_OK(it_rmr_free(bed.rmr)); /* a narrow window keeps its endpoint busy */
    bed.rmr = fx_rmr(bed.kit.node.pz, IT_RMR_TYPE_NARROW);
    hk_victim_close(&bed.victim);
    hk_victim(&bed.kit, &bed.victim, HK_LISTEN, &hk_plain);
    bed_link();
}

/* Sends one FPDU that ends the connection with this code. No octet may change. */
static void refused(const struct raw_bytes *ulpdu, unsigned code, it_event_type_t async)
{
    CHECK(raw_send_ulpdu(&bed.victim.peer, ulpdu));
    CHECK_EQ(code, hk_terminated(&bed.victim, ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, async, async);
    CHECK(fx_is_byte(bed.memory.data, SIZE, 0));
}

static void write_is_refused(uint32_t stag, uint64_t to, size_t length, unsigned code)
{
    static const unsigned char payload[SIZE] = {'x'};
    RAW_BYTES(ulpdu);

    raw_tagged(&ulpdu, RAW_WRITE, stag, to, payload, length, true);
    refused(&ulpdu, code, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
}

static void read_is_refused(uint32_t stag, uint64_t to, uint32_t length, unsigned code)
{
    RAW_BYTES(ulpdu);

    raw_read_request(&ulpdu, 1, 1, 0, length, stag, to);
    refused(&ulpdu, code, IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION);
}

static void invalidate_is_refused(uint32_t stag)
{
    RAW_BYTES(ulpdu);

    fx_recv(bed.victim.ep, &bed.in, 0, 64, 1);
    raw_untagged(&ulpdu, RAW_SEND_INV, 0, 1, 0, "bye", 3, true, stag);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    fx_done(bed.kit.node.recv_evd, bed.victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    CHECK_EQ(0x0109, hk_terminated(&bed.victim, &ulpdu));
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&bed.victim, IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION);
}

/* ---- Range and rights ----------------------------------------------------------------------- */

Test(hostile_window, beyond_the_window, .fini = bed_close)
{
    uint64_t start;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    start = fx_part_addr(&bed.part, 0);
    write_is_refused(bed.key, start, 1001, 0x1101);
    next_victim();
    write_is_refused(bed.key, start - 1, 2, 0x1101);
    next_victim();
    write_is_refused(bed.key, start + 1000, 1, 0x1101);
    next_victim();
    write_is_refused(bed.key, UINT64_MAX, 2, 0x1103);
    next_victim();
    read_is_refused(bed.key, start + 999, 2, 0x0101);
    next_victim();
    read_is_refused(bed.key, start - 1, 1, 0x0101);
    next_victim();
    read_is_refused(bed.key, UINT64_MAX - 1, 3, 0x0104);
}

Test(hostile_window, against_its_rights, .fini = bed_close)
{
    uint64_t start;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE_READ);
    start = fx_part_addr(&bed.part, 0);
    write_is_refused(bed.key, start, 1, 0x0102);
    bed.part.privs = IT_PRIV_REMOTE_WRITE;
    next_victim();
    read_is_refused(bed.key, start, 1, 0x0102);
}

/* ---- The wrong stream, the wrong time ------------------------------------------------------- */

/*
 * The peer uses the healthy connection's narrow window on the victim's connection: same zone, same
 * IA.
 */
Test(hostile_window, another_endpoints_window, .fini = bed_close)
{
    uint64_t start;
    it_rmr_handle_t theirs;
    uint32_t key;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    start = fx_part_addr(&bed.part, 0);
    theirs = fx_rmr(bed.kit.node.pz, IT_RMR_TYPE_NARROW);
    key = (uint32_t)fx_linked(bed.kit.node.request_evd, bed.kit.good.a_ep, theirs, &bed.part);
    write_is_refused(key, start, 1, 0x1102);
    next_victim();
    read_is_refused(key, start, 1, 0x0103);
    next_victim();
    invalidate_is_refused(key);
    CHECK(fx_is_linked(theirs));
    CHECK_OK(it_rmr_free(theirs));
}

Test(hostile_window, after_unlink, .fini = bed_close)
{
    uint64_t start;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    start = fx_part_addr(&bed.part, 0);
    fx_unlinked(bed.kit.node.request_evd, bed.victim.ep, bed.rmr);
    write_is_refused(bed.key, start, 1, 0x1100);
    next_victim();
    fx_unlinked(bed.kit.node.request_evd, bed.victim.ep, bed.rmr);
    read_is_refused(bed.key, start, 1, 0x0100);
    next_victim();
    fx_unlinked(bed.kit.node.request_evd, bed.victim.ep, bed.rmr);
    invalidate_is_refused(bed.key);
}

Test(hostile_window, after_a_new_link_and_after_free, .fini = bed_close)
{
    uint64_t start;
    uint32_t old;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    start = fx_part_addr(&bed.part, 0);
    old = bed.key;
    for (unsigned i = 0; i < 300; i++)
        bed_link();
    CHECK(old != bed.key);
    write_is_refused(old, start, 1, 0x1100);
    next_victim();
    old = bed.key;
    CHECK_OK(it_rmr_free(bed.rmr));
    bed.rmr = fx_rmr(bed.kit.node.pz, IT_RMR_TYPE_NARROW);
    write_is_refused(old, start, 1, 0x1100);
}

/* The connection has ended. The endpoint's next peer knows the key. */
Test(hostile_window, key_of_the_connection_before, .fini = bed_close)
{
    uint64_t start;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    start = fx_part_addr(&bed.part, 0);
    raw_close_with_reset(&bed.victim.peer);
    hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    (void)fx_next(bed.kit.node.aff_evd);
    CHECK_OK(it_ep_reset(bed.victim.ep));
    hk_victim_of(&bed.kit, &bed.victim, bed.victim.ep, HK_LISTEN, &hk_plain);
    CHECK(fx_is_linked(bed.rmr));
    write_is_refused(bed.key, start, 1, 0x1102);
}

/* ---- Invalidation --------------------------------------------------------------------------- */

/* A peer may invalidate its own window: the receive reports it, and the key no longer works. */
Test(hostile_window, own_window, .fini = bed_close)
{
    static const enum raw_op ops[] = {RAW_SEND_INV, RAW_SEND_SE_INV};
    RAW_BYTES(ulpdu);

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    for (unsigned i = 0; i < 2; i++) {
        fx_recv(bed.victim.ep, &bed.in, 0, 64, 1);
        raw_untagged(&ulpdu, ops[i], 0, 1, 0, "bye", 3, true, bed.key);
        CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
        fx_done_unlinked(bed.kit.node.recv_evd, bed.victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
                         bed.rmr);
        CHECK(!fx_is_linked(bed.rmr));
        write_is_refused(bed.key, fx_part_addr(&bed.part, 0), 1, 0x1100);
        if (i == 0)
            next_victim();
    }
}

/* The message has several segments. Its invalidation happens once, when it is complete. */
Test(hostile_window, invalidation_in_pieces, .fini = bed_close)
{
    RAW_BYTES(ulpdu);

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    fx_recv(bed.victim.ep, &bed.in, 0, 64, 1);
    raw_untagged(&ulpdu, RAW_SEND_INV, 0, 1, 0, "good", 4, false, bed.key);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    raw_tagged(&ulpdu, RAW_WRITE, bed.key, fx_part_addr(&bed.part, 0), "\0", 1, true);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    hk_healthy(&bed.kit);
    CHECK(fx_is_linked(bed.rmr));
    raw_untagged(&ulpdu, RAW_SEND_INV, 0, 1, 4, "bye", 3, true, bed.key);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    fx_done_unlinked(bed.kit.node.recv_evd, bed.victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, bed.rmr);
    write_is_refused(bed.key, fx_part_addr(&bed.part, 0), 1, 0x1100);
}

/*
 * The healthy endpoint is in the zone, too, so one peer may not invalidate wide windows and
 * regions.
 */
Test(hostile_window, what_others_may_use, .fini = bed_close)
{
    RAW_BYTES(ulpdu);

    bed_open(IT_RMR_TYPE_WIDE, IT_PRIV_REMOTE);
    invalidate_is_refused(bed.key);
    CHECK(fx_is_linked(bed.rmr));
    hk_victim_close(&bed.victim);
    hk_victim(&bed.kit, &bed.victim, HK_LISTEN, &hk_plain);
    invalidate_is_refused((uint32_t)bed.in.key);
    CHECK(fx_lmr_is_linked(bed.in.lmr));
    hk_victim_close(&bed.victim);
    hk_victim(&bed.kit, &bed.victim, HK_LISTEN, &hk_plain);
    /* The window still works. */
    raw_tagged(&ulpdu, RAW_WRITE, bed.key, fx_part_addr(&bed.part, 0), "\0", 1, true);
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    write_is_refused(bed.key ^ 1u, fx_part_addr(&bed.part, 0), 1, 0x1100);
}

/*
 * The STag that the victim's Read gives the peer as its sink gives no access: not for Writes, Reads
 * or invalidation.
 */
static uint32_t told_by_a_read(void)
{
    static struct raw_segment segment;

    hk_wake(&bed.victim);
    fx_read(bed.victim.ep, &bed.in, 0, 8, &bed.in, 0, 2, FX_QUIET);
    CHECK_EQ(RAW_OK, raw_receive_fpdu(&bed.victim.peer, &segment));
    CHECK_EQ(RAW_READ_REQUEST, segment.op);
    return raw_be32(segment.payload);
}

static void flushed_read(void)
{
    fx_done(bed.kit.node.request_evd, bed.victim.ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2,
            IT_DTO_ERR_FLUSHED);
}

Test(hostile_window, the_sink_of_a_read, .fini = bed_close)
{
    uint32_t stag;

    bed_open(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE);
    stag = told_by_a_read();
    CHECK(stag != (uint32_t)bed.in.key);
    write_is_refused(stag, fx_addr(&bed.in, 0), 1, 0x0102);
    flushed_read();
    next_victim();
    stag = told_by_a_read();
    read_is_refused(stag, fx_addr(&bed.in, 0), 1, 0x0102);
    flushed_read();
    next_victim();
    stag = told_by_a_read();
    invalidate_is_refused(stag);
    flushed_read();
    CHECK(fx_is_byte(bed.in.data + 3, 61, 0)); /* behind the refused message */
}

/* ---- Unlinked while it is answered ---------------------------------------------------------- */

/*
 * A Read of the peer, and a Write and an unlink of the victim, all at once. They may share one
 * system call, which then uses the window's memory. The answer is complete or refused, and the
 * unlink completes.
 */
static bool answered(uint32_t msn)
{
    static struct raw_segment segment;
    RAW_BYTES(ulpdu);
    it_lmr_triplet_t out = fx_seg(&bed.in, 0, 1);
    bool response = false;

    fx_fill(bed.memory.data + 1000, 1000, msn);
    raw_read_request(&ulpdu, msn, 1, 0, 1000, bed.key, fx_part_addr(&bed.part, 0));
    CHECK_OK(it_post_rdma_write(bed.victim.ep, &out, 1, 1, IT_COALESCE_WR_FLAG, 0, 1));
    CHECK_OK(it_rmr_unlink(bed.rmr, bed.victim.ep, 2, FX_SIGNAL));
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_RMR_LINK_CMPL_EVENT, 2, 0);
    memset(bed.memory.data, 0, SIZE);
    /* The Write, and the answer before or after it. */
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&bed.victim.peer, &segment));
        if (segment.op == RAW_READ_RESPONSE) {
            response = true;
            CHECK_EQ(1000, segment.len);
            CHECK(fx_is_filled(segment.payload, 1000, msn));
        } else if (segment.op == RAW_TERMINATE) {
            CHECK_EQ(0x0100, hk_code(&segment));
        } else {
            CHECK_EQ(RAW_WRITE, segment.op);
        }
    }
    return response;
}

Test(hostile_window, unlinked_while_answered, .fini = bed_close)
{
    uint32_t msn = 0;

    bed_open_as(IT_RMR_TYPE_WIDE, IT_PRIV_REMOTE, &no_crc);
    hk_wake(&bed.victim);
    for (unsigned i = 0; i < 100; i++) {
        bed_link();
        if (answered(++msn))
            continue;
        hk_ended(&bed.victim, IT_CM_MSG_CONN_BROKEN_EVENT);
        (void)fx_next(bed.kit.node.aff_evd);
        hk_victim_close(&bed.victim);
        hk_victim(&bed.kit, &bed.victim, HK_CONNECT, &no_crc);
        hk_wake(&bed.victim);
        msn = 0;
    }
    write_is_refused(bed.key, fx_part_addr(&bed.part, 0), 1, 0x1100);
}

/*
 * The same with a full socket at first. Then one system call would take the end of a long Write,
 * the answer, a short Write and the unlink, but the unlink must wait for the answer.
 */
Test(hostile_window, unlinked_behind_its_answer, .fini = bed_close)
{
    static struct raw_segment segment;
    const size_t much = 16u << 20;
    struct fx_buf out;
    RAW_BYTES(ulpdu);
    size_t written = 0;
    bool response = false;

    bed_open_as(IT_RMR_TYPE_NARROW, IT_PRIV_REMOTE, &no_crc);
    hk_wake(&bed.victim);
    out = fx_buf_make(&bed.kit.node, much);
    fx_fill(bed.memory.data + 1000, 1000, 8);
    fx_write(bed.victim.ep, &out, 0, much, &out, 0, 1, FX_QUIET);
    raw_read_request(&ulpdu, 1, 1, 0, 1000, bed.key, fx_part_addr(&bed.part, 0));
    CHECK(raw_send_ulpdu(&bed.victim.peer, &ulpdu));
    hk_healthy(&bed.kit); /* the peer reads in the meantime */
    fx_write(bed.victim.ep, &out, 0, 1, &out, 0, 1, FX_QUIET);
    CHECK_OK(it_rmr_unlink(bed.rmr, bed.victim.ep, 2, FX_SIGNAL));
    fx_empty(bed.kit.node.request_evd);
    while (written < much + 1 || !response) {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&bed.victim.peer, &segment));
        if (segment.op == RAW_READ_RESPONSE) {
            CHECK_EQ(much, written);
            CHECK(fx_is_filled(segment.payload, 1000, 8));
            response = true;
        } else {
            CHECK_EQ(RAW_WRITE, segment.op);
            written += segment.len;
        }
    }
    fx_done_len(bed.kit.node.request_evd, bed.victim.ep, IT_RMR_LINK_CMPL_EVENT, 2, 0);
    memset(bed.memory.data, 0, SIZE);
    write_is_refused(bed.key, fx_part_addr(&bed.part, 0), 1, 0x1100);
    fx_buf_free(&out);
}

/* ---- Closed under traffic ------------------------------------------------------------------- */

#define REGION WRITER_REGION

enum way {
    WAY_UNLINK,
    WAY_LINK,
    WAY_FREE,
    WAYS
};

static void close_window(struct hk *kit, struct hk_victim *victim, it_rmr_handle_t rmr,
                         const struct fx_buf *elsewhere, enum way way)
{
    struct fx_part part = fx_whole(elsewhere);

    if (way == WAY_UNLINK)
        fx_unlinked(kit->node.request_evd, victim->ep, rmr);
    else if (way == WAY_LINK)
        (void)fx_linked(kit->node.request_evd, victim->ep, rmr, &part);
    else
        CHECK_OK(it_rmr_free(rmr));
}

static void closed_under_writes(const struct hk_startup *startup, enum way way, unsigned seed)
{
    static unsigned char now[REGION];
    struct hk kit;
    struct hk_victim victim;
    struct fx_buf region;
    struct fx_buf elsewhere;
    struct fx_part part;
    struct writer writer;
    it_rmr_handle_t rmr;

    hk_open(&kit);
    region = fx_buf_make_as(kit.node.pz, REGION, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    elsewhere = fx_node_buf(&kit.node, 64);
    part = fx_whole(&region);
    rmr = fx_rmr(kit.node.pz, seed % 2 ? IT_RMR_TYPE_NARROW : IT_RMR_TYPE_WIDE);
    hk_victim(&kit, &victim, HK_CONNECT, startup);
    writer_start(&writer, &victim.peer,
                 (uint32_t)fx_linked(kit.node.request_evd, victim.ep, rmr, &part),
                 fx_part_addr(&part, 0));
    writer_await(&writer, 2 + seed);
    close_window(&kit, &victim, rmr, &elsewhere, way);
    memcpy(now, region.data, REGION);
    stays(region.data, now, 20000);
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    hk_affiliated(&victim, IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION,
                  IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION);
    stays(region.data, now, 1000);
    raw_finish(&victim.peer);
    CHECK(pthread_join(writer.thread, NULL) == 0);
    CHECK(fx_is_byte(elsewhere.data, 64, 0));
    if (way != WAY_FREE)
        CHECK_OK(it_rmr_free(rmr));
    hk_victim_close(&victim);
    fx_buf_free(&region);
    hk_close(&kit);
    check_done();
}

Test(hostile_window, closed_under_writes)
{
    for (unsigned seed = 0; seed < 4; seed++) {
        for (int way = 0; way < WAYS; way++)
            closed_under_writes(seed < 2 ? &hk_plain : &no_crc, (enum way)way, seed);
    }
}
