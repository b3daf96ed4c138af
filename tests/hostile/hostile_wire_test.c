/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's octets as a foreign peer sees them: sizes of FPDUs, segments of messages, opcodes,
 * the end of a connection in the middle of a message; and how it handles unusual but legal peers.
 */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hostile/fixture_kit.h"
#include "support/test_row.h"

static struct raw_segment segment;

/* ---- Segmentation --------------------------------------------------------------------------- */

/* Connects a raw peer with small TCP segments to the victim. */
static void small_segments(struct hk_victim *victim, unsigned flags)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = kit.port};
    RAW_BYTES(request);
    int mss = 1460;

    memset(victim, 0, sizeof(*victim));
    victim->kit = &kit;
    victim->role = HK_LISTEN;
    victim->ep = fx_ep(&kit.node, NULL);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    victim->peer.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(victim->peer.fd >= 0);
    CHECK(setsockopt(victim->peer.fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)) == 0);
    CHECK(connect(victim->peer.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    raw_mpa1(&request, false, flags);
    CHECK(raw_send(&victim->peer, &request));
    CHECK_OK(it_ep_accept(victim->ep, fx_request(&kit.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&victim->peer, &victim->theirs));
    fx_conn(kit.node.conn_evd, victim->ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    victim->peer.crc = true;
    victim->peer.markers = (flags & RAW_MPA_M) != 0;
    hk_wake(victim);
}

/* FPDUs fit a TCP segment, and all except the last of a message have the maximum size. */
static void whole_segments(unsigned flags)
{
    struct hk_victim victim;
    struct itx_mpa_info info;
    struct fx_buf out;
    const size_t size = 100000;
    size_t at = 0;
    size_t full = 0;

    hk_open(&kit);
    out = fx_node_buf(&kit.node, size);
    fx_fill(out.data, size, 4);
    small_segments(&victim, flags);
    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    CHECK_OK(itx_ep_query_mpa(victim.ep, &info));
    /* 1460, or 1448 with time stamps, less length, CRC and markers, at a multiple of 4. */
    EXPECT(info.max_ulpdu >= 1420 && info.max_ulpdu <= 1454);
    fx_send(victim.ep, &out, 0, size, 1, FX_SIGNAL);
    do {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_SEND, segment.op);
        CHECK_EQ(at, segment.mo);
        fx_check_same(out.data + at, segment.payload, segment.len);
        at += segment.len;
        EXPECT(segment.ulpdu_len <= info.max_ulpdu);
        if (full == 0)
            full = segment.ulpdu_len;
        EXPECT(segment.last || segment.ulpdu_len == full);
        EXPECT(segment.last || (2 + segment.ulpdu_len) % 4 == 0);
    } while (!segment.last);
    CHECK_EQ(size, at);
    EXPECT(full + 8 > info.max_ulpdu);
    fx_done_len(kit.node.request_evd, victim.ep, IT_DTO_SEND_CMPL_EVENT, 1, size);
    hk_part(&victim);
    hk_close(&kit);
    check_done();
}

TEST_ROW(hostile_wire, fpdus_fit_segments, whole_segments, RAW_MPA_C);
TEST_ROW(hostile_wire, fpdus_with_markers_fit_segments, whole_segments, RAW_MPA_C | RAW_MPA_M);

static uint64_t send_calls_of(it_ep_handle_t ep)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ep_stats(ep, &counters));
    return counters.send_calls;
}

/* Answers with CRC are copied. Being small, many still share one system call. */
Test(hostile_wire, answers_share_a_call, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    const size_t size = 16384;
    size_t at = 0;
    uint64_t calls;
    unsigned answers = 0;
    struct fx_buf out = fx_node_buf(&kit.node, size);

    fx_fill(out.data, size, 5);
    small_segments(&victim, RAW_MPA_C);
    calls = send_calls_of(victim.ep);
    raw_read_request(&ulpdu, 1, 0xbeef0003, 0x55, (uint32_t)size, (uint32_t)out.key,
                     fx_addr(&out, 0));
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    do {
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_READ_RESPONSE, segment.op);
        CHECK_EQ(0xbeef0003, segment.stag);
        CHECK_EQ(0x55 + at, segment.to);
        fx_check_same(out.data + at, segment.payload, segment.len);
        at += segment.len;
        answers++;
    } while (!segment.last);
    CHECK_EQ(size, at);
    EXPECT(answers >= 12);
    EXPECT(send_calls_of(victim.ep) - calls <= 2); /* one call unless the socket was full */
    hk_part(&victim);
    check_done();
}

/* ---- Opcodes and numbers -------------------------------------------------------------------- */

Test(hostile_wire, opcodes_and_sequence_numbers, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    struct fx_buf out = fx_node_buf(&kit.node, 64);
    it_lmr_triplet_t local = fx_seg(&out, 0, 10);

    hk_victim(&kit, &victim, HK_CONNECT, &hk_plain);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_OK(it_post_send(victim.ep, &local, 1, i, i == 2 ? IT_SOLICITED_WAIT_FLAG : FX_QUIET));
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(i == 2 ? RAW_SEND_SE : RAW_SEND, segment.op);
        CHECK_EQ(i, segment.msn);
        CHECK_EQ(0, segment.qn);
        CHECK_EQ(0, segment.stag);
        CHECK(segment.last && segment.len == 10);
        CHECK_OK(it_post_rdma_read(victim.ep, &local, 1, i, FX_QUIET, 7, 9));
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_READ_REQUEST, segment.op);
        CHECK_EQ(i, segment.msn);
        CHECK_EQ(1, segment.qn);
        CHECK_EQ(10, raw_be32(segment.payload + 12));
        CHECK_EQ(9, raw_be32(segment.payload + 16));
        CHECK_EQ(7, raw_be64(segment.payload + 20));
        CHECK_OK(it_post_rdma_write(victim.ep, &local, 1, i, FX_QUIET, UINT64_MAX - 9, 0xfedcba98));
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
        CHECK_EQ(RAW_WRITE, segment.op);
        CHECK_EQ(0xfedcba98, segment.stag);
        CHECK_EQ(UINT64_MAX - 9, segment.to);
        CHECK(segment.last && segment.len == 10);
    }
    CHECK_OK(it_ep_free(victim.ep));
    raw_close(&victim.peer);
}

/* ---- The end in the middle of a message ----------------------------------------------------- */

/* The FPDU in progress is completed, then the FIN follows: no reset, no incomplete frame. */
Test(hostile_wire, disconnect_inside_a_message, .init = kit_init, .fini = kit_fini)
{
    struct fx_buf big = fx_node_buf(&kit.node, 16u << 20);

    for (unsigned i = 0; i < 6; i++) {
        struct hk_victim victim;
        enum raw_result result;
        size_t at = 0;
        it_event_t event;

        hk_victim(&kit, &victim, (enum hk_role)(i % HK_ROLES), &hk_plain);
        hk_wake(&victim);
        fx_send(victim.ep, &big, 0, big.size, 1, FX_SIGNAL);
        for (unsigned k = 0; k <= i; k++) {
            CHECK_EQ(RAW_OK, raw_receive_fpdu(&victim.peer, &segment));
            at += segment.len;
        }
        CHECK_OK(it_ep_disconnect(victim.ep, NULL, 0));
        hk_ended(&victim, IT_CM_MSG_CONN_DISCONNECT_EVENT);
        event = fx_next(kit.node.request_evd);
        CHECK_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        while ((result = raw_receive_fpdu(&victim.peer, &segment)) == RAW_OK) {
            CHECK_EQ(RAW_SEND, segment.op);
            CHECK_EQ(at, segment.mo);
            CHECK(!segment.last);
            at += segment.len;
        }
        if (result != RAW_EOF)
            check_note(__FILE__, __LINE__, "%s instead of a FIN at a boundary",
                       raw_result_name(result));
        hk_victim_close(&victim);
    }
    check_done();
}

/* ---- Unusual but legal ---------------------------------------------------------------------- */

/* The Request has the most private data that MPA carries. The event has as much as fits. */
Test(hostile_wire, long_private_data, .init = kit_init, .fini = kit_fini)
{
    unsigned char data[512];
    RAW_BYTES(request);
    struct raw_mpa_frame reply;
    struct raw_peer peer;
    it_event_t event;

    fx_fill(data, sizeof(data), 6);
    raw_connect(&peer, kit.port);
    raw_mpa(&request, false, RAW_MPA_C, 1, data, sizeof(data));
    CHECK(raw_send(&peer, &request));
    (void)fx_request(&kit.node, &event);
    CHECK_EQ(IT_TRUE, event.conn_req.private_data_present);
    fx_check_same(data, event.conn_req.private_data, IT_MAX_PRIV_DATA);
    CHECK_EQ(0, event.conn_req.rdma_read_ird);
    CHECK_EQ(0, event.conn_req.rdma_read_ord);
    CHECK_OK(it_reject(event.conn_req.cn_est_id, NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(&peer, &reply));
    CHECK_EQ(RAW_MPA_R, reply.flags & RAW_MPA_R);
    raw_close(&peer);
}

/*
 * Send with Invalidate of a region of this zone that does not belong to the connection: either it
 * is refused and the key still works, or the key becomes invalid and the completion names the
 * region.
 */
Test(hostile_wire, invalidate_a_region, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    RAW_BYTES(ulpdu);
    it_event_t event;
    struct fx_buf in = fx_buf_make(&kit.node, 64);
    struct fx_buf region = fx_buf_make(&kit.node, 64);

    hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
    fx_recv(victim.ep, &in, 0, 64, 1);
    raw_untagged(&ulpdu, RAW_SEND_INV, 0, 1, 0, "bye", 3, true, (uint32_t)region.key);
    CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
    event = fx_next(kit.node.recv_evd);
    CHECK_EQ(1, event.dto_cmpl.cookie);
    if (event.dto_cmpl.dto_status == IT_DTO_SUCCESS) {
        CHECK(event.dto_cmpl.unlinked_mr_handle == (it_handle_t)region.lmr);
        raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)region.key, fx_addr(&region, 0), "x", 1, true);
        CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
        CHECK_EQ(0x1100, hk_terminated(&victim, &ulpdu));
    } else {
        CHECK_EQ(0x0109, hk_terminated(&victim, &ulpdu));
    }
    hk_ended(&victim, IT_CM_MSG_CONN_BROKEN_EVENT);
    (void)fx_next(kit.node.aff_evd);
    CHECK(fx_is_byte(region.data, 64, 0));
    hk_victim_close(&victim);
    if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        /* Others may still use the key (RFC 5042: one peer cannot invalidate a shared key). */
        hk_victim(&kit, &victim, HK_LISTEN, &hk_plain);
        raw_tagged(&ulpdu, RAW_WRITE, (uint32_t)region.key, fx_addr(&region, 0), "x", 1, true);
        CHECK(raw_send_ulpdu(&victim.peer, &ulpdu));
        hk_part(&victim);
        CHECK_EQ('x', region.data[0]);
    }
    fx_buf_free(&in);
    fx_buf_free(&region);
    check_done();
}

/* A message in many small segments, some of them empty, with other messages in between. */
Test(hostile_wire, message_in_many_segments, .init = kit_init, .fini = kit_fini)
{
    struct hk_victim victim;
    struct fx_buf in;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);
    static unsigned char payload[3000];
    uint32_t mo = 0;

    fx_fill(payload, sizeof(payload), 8);
    in = fx_buf_make(&kit.node, sizeof(payload));
    hk_victim(&kit, &victim, HK_CONVERT_RESPONDER, &hk_plain);
    fx_recv(victim.ep, &in, 0, in.size, 1);
    while (mo < sizeof(payload)) {
        uint32_t len = (mo * 7 + 3) % 40 + 1;

        if (len > sizeof(payload) - mo)
            len = (uint32_t)sizeof(payload) - mo;
        raw_untagged(&ulpdu, RAW_SEND, 0, 1, mo, payload + mo, len, false, 0);
        raw_fpdu(&stream, &ulpdu, true);
        raw_tagged(&ulpdu, RAW_WRITE, 1, 0, NULL, 0, true);
        raw_fpdu(&stream, &ulpdu, true);
        mo += len;
    }
    /* The last segment is empty. */
    raw_untagged(&ulpdu, RAW_SEND, 0, 1, mo, NULL, 0, true, 0);
    raw_fpdu(&stream, &ulpdu, true);
    CHECK(raw_send(&victim.peer, &stream));
    fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, sizeof(payload));
    fx_check_same(payload, in.data, sizeof(payload));
    hk_part(&victim);
    fx_buf_free(&in);
}

/* Thousands of tiny messages at once, scattered over small buffers. */
Test(hostile_wire, flood_of_small_messages, .init = kit_init, .fini = kit_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct hk_victim victim;
    struct fx_buf in;
    RAW_BYTES(ulpdu);
    RAW_BYTES(stream);

    attr.max_recv_dtos = 512;
    in = fx_buf_make(&kit.node, 512 * 4);
    hk_victim_of(&kit, &victim, fx_ep(&kit.node, &attr), HK_LISTEN, &hk_plain);
    for (uint32_t round = 0; round < 4; round++) {
        raw_reset(&stream);
        for (uint32_t i = 0; i < 500; i++) {
            uint32_t msn = round * 500 + i + 1;

            fx_recv(victim.ep, &in, i * 4, 4, i);
            raw_untagged(&ulpdu, RAW_SEND, 0, msn, 0, &msn, i % 5, true, 0);
            raw_fpdu(&stream, &ulpdu, true);
        }
        CHECK(raw_send(&victim.peer, &stream));
        for (uint32_t i = 0; i < 500; i++) {
            uint32_t msn = round * 500 + i + 1;

            fx_done_len(kit.node.recv_evd, victim.ep, IT_DTO_RC_RECV_CMPL_EVENT, i, i % 5);
            CHECK(memcmp(in.data + i * 4, &msn, i % 5) == 0);
        }
    }
    hk_part(&victim);
    fx_buf_free(&in);
}
