/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests and answers as FPDUs, octet by octet. Another program wrote the expected octets: RFC
 * 5040, 5041, 5044 and 7306 in forty lines of Python.
 */

#include "uiw_stream.h"
#include "vectors/iw_hex.h"
#include "vp/uiwarp/memory/uiw_memory.h"
#include "vp/uiwarp/send/uiw_send.h"

#include <criterion/criterion.h>

#include <string.h>
#include <unistd.h>

#define SMALL_ULPDU 64u
#define LARGE_ULPDU 65518u
#define ROOM        (1024u * 1024u)
#define TEXT        "hello, peer. hello, peer. hello, peer. hello, peer. hello, peer. "

static struct uiw_stream stream;
static struct uiw_batch batch;
static uint8_t wanted[ROOM];
static uint8_t found[ROOM];
static bool restless; /* the program changes the memory that is being sent */

static void open_with(uint32_t max_ulpdu)
{
    uiw_stream_open(&stream, true, max_ulpdu);
    memcpy(stream.buf.data, TEXT, sizeof(TEXT));
}

static void setup(void)
{
    open_with(SMALL_ULPDU);
}

static void setup_large(void)
{
    open_with(LARGE_ULPDU);
}

static void teardown(void)
{
    uiw_stream_close(&stream);
}

TestSuite(uiw_batch, .init = setup, .fini = teardown);
TestSuite(uiw_batch_large, .init = setup_large, .fini = teardown);

/* ---------------------------------------------------------------- octets of a batch */

static size_t copy_iov(const struct uiw_batch *from, uint8_t *to)
{
    size_t length = 0;

    for (unsigned i = 0; i < from->iov_count; i++) {
        memcpy(to + length, from->iov[i].iov_base, from->iov[i].iov_len);
        length += from->iov[i].iov_len;
    }
    cr_assert_eq(length, from->octets);
    return length;
}

/* Builds the next batch and moves the cursor as if the batch had been sent. */
static size_t next_batch(uint8_t *to)
{
    size_t length;

    uiw_batch_begin(&batch, &stream.ep->tx.cursor);
    uiw_batch_fill(stream.ep, &batch);
    stream.buf.data[0] ^= restless;
    if (batch.cut.iovs > 0)
        uiw_frame_sum_cut(stream.ep, &batch);
    length = copy_iov(&batch, to);
    stream.buf.data[0] ^= restless;
    uiw_batch_end(stream.ep, &batch);
    stream.ep->tx.cursor = batch.cursor;
    return length;
}

static void check_octets(const char *hex, size_t length, const char *what)
{
    size_t want = iw_hex(hex, wanted, sizeof(wanted));

    cr_assert_eq(length, want, "%s: %zu octets, not %zu", what, length, want);
    for (size_t i = 0; i < want; i++)
        cr_assert_eq(found[i], wanted[i], "%s: octet %zu is %02x, not %02x", what, i, found[i],
                     wanted[i]);
}

/* ---------------------------------------------------------------- requests */

static const struct request_row {
    const char *what;
    enum vp_opcode opcode;
    unsigned flags;
    size_t length;
    uint32_t stag;
    it_rdma_addr_t to;
    uint64_t operand, compare;
    bool has_immediate;
    const char *octets;
} requests[] = {
    {"a Send that is solicited", VP_SEND, IT_SOLICITED_WAIT_FLAG, 11, 0, 0, 0, 0, false,
     "001d4145 00000000 00000000 00000001 00000000 68656c6c 6f2c2070 65657200 2638d0bf"},
    {"an RDMA Write", VP_RDMA_WRITE, 0, 5, 0x11223344, 0x10002000, 0, 0, false,
     "0013c140 11223344 00000000 10002000 68656c6c 6f000000 0c085002"},
    {"an RDMA Read of nothing", VP_RDMA_READ, 0, 0, 0x55667788, 0x20003000, 0, 0, false,
     "002e4141 00000000 00000001 00000001 00000000 00000001 00000000 00000000 00000000 55667788 "
     "00000000 20003000 78a47873"},
    {"FetchAdd", VP_FETCH_ADD, 0, 8, 0x55667788, 0x20003008, 5, 0, false,
     "0046414a 00000000 00000001 00000002 00000000 00000000 00000003 55667788 00000000 20003008 "
     "00000000 00000005 00000000 00000000 00000000 00000000 ffffffff ffffffff c90a32df"},
    {"CmpSwap", VP_CMP_SWAP, 0, 8, 0x55667788, 0x20003008, 7, 9, false,
     "0046414a 00000000 00000001 00000003 00000000 00000002 00000004 55667788 00000000 20003008 "
     "00000000 00000007 ffffffff ffffffff 00000000 00000009 ffffffff ffffffff 88fdfc08"},
    {"Swap", VP_SWAP, 0, 8, 0x55667788, 0x20003008, 11, 9, false,
     "0046414a 00000000 00000001 00000004 00000000 00000002 00000005 55667788 00000000 20003008 "
     "00000000 0000000b ffffffff ffffffff 00000000 00000000 00000000 00000000 0204c548"},
    {"a Send that invalidates", VP_SEND_UNLINK, 0, 5, 0x99aabbcc, 0, 0, 0, false,
     "00174144 99aabbcc 00000000 00000002 00000000 68656c6c 6f000000 698c40cc"},
    {"a Send of two segments", VP_SEND, 0, 60, 0, 0, 0, 0, false,
     "00400143 00000000 00000000 00000003 00000000 68656c6c 6f2c2070 6565722e 2068656c 6c6f2c20 "
     "70656572 2e206865 6c6c6f2c 20706565 722e2068 656c6c6f 2c200000 28a05bb2 "
     "00204143 00000000 00000000 00000003 0000002e 70656572 2e206865 6c6c6f2c 20700000 6a572939"},
    {"a Send, solicited, and its value", VP_SEND, IT_SOLICITED_WAIT_FLAG, 5, 0, 0, 0, 0, true,
     "00174143 00000000 00000000 00000004 00000000 68656c6c 6f000000 48492bff "
     "001a4149 00000000 00000000 00000005 00000000 01020304 05060708 0fe854e8"},
    {"a Send of nothing", VP_SEND, 0, 0, 0, 0, 0, 0, false,
     "00124143 00000000 00000000 00000006 00000000 1c759e6c"},
    {"an RDMA Write and its value", VP_RDMA_WRITE, 0, 5, 0x11223344, 0x10002000, 0, 0, true,
     "0013c140 11223344 00000000 10002000 68656c6c 6f000000 0c085002 "
     "001a4148 00000000 00000000 00000007 00000000 01020304 05060708 5853c4a7"},
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static void post_row(const struct request_row *row)
{
    it_lmr_triplet_t segment = fx_seg(&stream.buf, 0, row->length);
    struct vp_request request = {
        .opcode = row->opcode,
        .flags = (it_dto_flags_t)row->flags,
        .segments = &segment,
        .segment_count = row->length > 0 ? 1 : 0,
        .length = row->length,
        .operand = row->operand,
        .compare = row->compare,
        .has_immediate = row->has_immediate,
        .immediate = UINT64_C(0x0102030405060708),
    };

    request.rmr_context = row->stag;
    request.rdma_addr = row->to;
    uiw_stream_post_request(&stream, &request);
}

Test(uiw_batch, each_request_is_what_is_written_down)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        post_row(&requests[i]);
        check_octets(requests[i].octets, next_batch(found), requests[i].what);
    }
}

Test(uiw_batch, many_requests_share_a_batch)
{
    char all[4096] = "";

    for (size_t i = 0; i < REQUESTS; i++) {
        post_row(&requests[i]);
        strcat(all, requests[i].octets);
    }
    check_octets(all, next_batch(found), "all");
    cr_assert_eq(batch.iov_count, 1, "headers, short payload and trailers are one piece");
    cr_assert_eq(next_batch(found), 0);
}

Test(uiw_batch, without_crc_the_field_is_zero)
{
    stream.ep->agreed.crc = false;
    post_row(&requests[0]);
    check_octets("001d4145 00000000 00000000 00000001 00000000 68656c6c 6f2c2070 65657200 00000000",
                 next_batch(found), "no CRC");
}

Test(uiw_batch, with_markers_an_fpdu_is_alone)
{
    stream.ep->agreed.send_markers = true;
    post_row(&requests[0]);
    post_row(&requests[1]);
    check_octets("00000000 001d4145 00000000 00000000 00000001 00000000 68656c6c 6f2c2070 65657200 "
                 "5e2867cf",
                 next_batch(found), "markers");
    cr_assert_eq(stream.ep->tx.cursor.sq, 1);
}

/* ---------------------------------------------------------------- a request that may not go */

Test(uiw_batch, a_fence_waits_for_reads)
{
    uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 0, 1, 0);
    uiw_stream_post(&stream, VP_SEND, IT_BARRIER_FENCE_FLAG, 0, 5, 0, 0);
    cr_assert_gt(next_batch(found), 0);
    cr_assert_eq(stream.ep->tx.cursor.sq, 1);
    cr_assert_eq(next_batch(found), 0);
    atomic_store(&stream.ep->reads.orq_head, 1);
    cr_assert_gt(next_batch(found), 0);
    cr_assert_eq(stream.ep->tx.cursor.sq, 2);
    cr_assert_not(uiw_has_failed(stream.ep));
}

Test(uiw_batch, reads_wait_for_the_ord)
{
    atomic_store(&stream.ep->limits.ord, 2);
    for (unsigned i = 0; i < 3; i++)
        uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 0, 1, 0);
    (void)next_batch(found);
    cr_assert_eq(stream.ep->tx.cursor.sq, 2);
    atomic_store(&stream.ep->reads.orq_head, 1);
    (void)next_batch(found);
    cr_assert_eq(stream.ep->tx.cursor.sq, 3);
}

static void check_failure(uint32_t index, it_dto_status_t status)
{
    struct uiw_failure failure;

    cr_assert(uiw_has_failed(stream.ep));
    uiw_sender_note_failure(stream.ep, &failure);
    cr_assert_eq(failure.index, index);
    cr_assert_eq(failure.status, status);
    cr_assert_eq(stream.ep->tx.cursor.sq, index);
    uiw_failure_forget(stream.ep);
    cr_assert_not(uiw_has_failed(stream.ep));
}

Test(uiw_batch, a_read_without_ord_fails)
{
    atomic_store(&stream.ep->limits.ord, 0);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 0, 1, 0);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    cr_assert_gt(next_batch(found), 0);
    check_failure(1, IT_DTO_ERR_LOCAL_EP);
}

Test(uiw_batch, memory_that_is_gone_fails)
{
    static const size_t lengths[] = {5, 60}; /* one FPDU, more than one */

    for (size_t i = 0; i < 2; i++) {
        struct fx_buf gone = fx_buf_make(&stream.node, 64);
        it_lmr_triplet_t segment = fx_seg(&gone, 0, lengths[i]);
        struct vp_request request = {
            .opcode = VP_SEND, .segments = &segment, .segment_count = 1, .length = lengths[i]};

        uiw_stream_post_request(&stream, &request);
        fx_buf_free(&gone);
        cr_assert_eq(next_batch(found), 0);
        check_failure((uint32_t)i, IT_DTO_ERR_LOCAL_PROTECTION);
        stream.ep->tx.cursor.sq++;
    }
}

/* ---------------------------------------------------------------- responses */

static void enter_irq(struct uiw_irq_entry entry)
{
    uint32_t tail = atomic_load(&stream.ep->reads.irq_tail);

    stream.ep->reads.irq[tail & stream.ep->reads.irq_mask] = entry;
    atomic_store(&stream.ep->reads.irq_tail, tail + 1);
}

static void peer_reads(uint32_t length)
{
    enter_irq(
        (struct uiw_irq_entry){.request = {.sink_stag = length ? 0xaabbcc01 : 0xaabbcc02,
                                           .sink_to = length ? UINT64_C(0x7f0000001000) : 0,
                                           .length = length,
                                           .source_stag = uiw_stream_stag(&stream),
                                           .source_to = (uint64_t)(uintptr_t)stream.buf.data}});
}

#define READ_60                                                                                    \
    "00408142 aabbcc01 00007f00 00001000 68656c6c 6f2c2070 6565722e 2068656c 6c6f2c20 70656572 "   \
    "2e206865 6c6c6f2c 20706565 722e2068 656c6c6f 2c207065 65720000 addedb1d "                     \
    "0018c142 aabbcc01 00007f00 00001032 2e206865 6c6c6f2c 20700000 df3e6186"
#define READ_0  "000ec142 aabbcc02 00000000 00000000 f72ad003"
#define ATOMIC  "001e414b 00000000 00000003 00000001 00000000 0000004d 11223344 55667788 27bee96c"
#define SEND_11 "001d4145 00000000 00000000 00000001 00000000 68656c6c 6f2c2070 65657200 2638d0bf"

Test(uiw_batch, each_response_is_what_is_written_down)
{
    peer_reads(60);
    peer_reads(0);
    enter_irq(
        (struct uiw_irq_entry){.is_atomic = true,
                               .msn = 1,
                               .atomic = {.id = 77, .original = UINT64_C(0x1122334455667788)}});
    check_octets(READ_60 READ_0 ATOMIC, next_batch(found), "responses");
    cr_assert_eq(stream.ep->tx.cursor.irq, 3);
}

/* After four FPDUs of responses in a row comes a request. */
Test(uiw_batch, responses_and_requests_take_turns)
{
    for (unsigned i = 0; i < 6; i++)
        peer_reads(0);
    post_row(&requests[0]);
    check_octets(READ_0 READ_0 READ_0 READ_0 SEND_11 READ_0 READ_0, next_batch(found), "turns");
}

/* A Write that has begun is finished before a response starts, and a response before a Write. */
Test(uiw_batch, two_tagged_messages_do_not_mix)
{
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, 60, 1, 0);
    peer_reads(60);
    stream.ep->tx.responses = 4;
    (void)next_batch(found);
    cr_assert_eq(batch.fpdu_count, 4);
    cr_assert_eq(batch.fpdus[1].ends_request, true);
    cr_assert_eq(batch.fpdus[1].after.irq_offset, 0);
}

Test(uiw_batch, a_fence_lets_responses_pass)
{
    atomic_store(&stream.ep->reads.orq_tail, 1); /* a Read is open */
    uiw_stream_post(&stream, VP_SEND, IT_BARRIER_FENCE_FLAG, 0, 5, 0, 0);
    peer_reads(0);
    stream.ep->tx.responses = 4; /* it is a request's turn */
    check_octets(READ_0, next_batch(found), "response");
    cr_assert_eq(stream.ep->tx.cursor.sq, 0);
}

Test(uiw_batch, a_source_that_is_gone_fails)
{
    struct uiw_failure failure;

    peer_reads(0);
    enter_irq((struct uiw_irq_entry){.request = {.length = 1, .source_stag = 0x12345678}});
    check_octets(READ_0, next_batch(found), "the one before");
    cr_assert(uiw_has_failed(stream.ep));
    uiw_sender_note_failure(stream.ep, &failure);
    cr_assert_eq(failure.error, IW_ERR_RDMAP_INVALID_STAG);
    cr_assert_eq(failure.entry.request.length, 1);
}

/* ---------------------------------------------------------------- large messages */

/* Writes all batches of the posted requests one after the other. */
static size_t all_batches(uint8_t *to, unsigned *count, unsigned *cuts)
{
    size_t length = 0;
    size_t more;

    *count = 0;
    *cuts = 0;
    while ((more = next_batch(to + length)) > 0) {
        length += more;
        (*count)++;
        *cuts += batch.cut.iovs > 0;
    }
    return length;
}

static void peer_speaks(void)
{
    atomic_fetch_add(&stream.ep->rx.fpdus_in, 1);
}

/* With and without parts the octets are the same except the MSN, which a Write does not have. */
static void check_parts(size_t message, bool crc, unsigned wanted_cuts)
{
    unsigned count, cuts;
    size_t whole, parts;

    stream.ep->agreed.crc = crc;
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, message, 1, 0);
    whole = all_batches(wanted, &count, &cuts);
    cr_assert_eq(cuts, 0, "the peer has not spoken");
    peer_speaks();
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, message, 1, 0);
    parts = all_batches(found, &count, &cuts);
    cr_assert_eq(cuts, wanted_cuts, "%zu octets: %u", message, cuts);
    cr_assert_eq(parts, whole);
    cr_assert_eq(memcmp(found, wanted, whole), 0);
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, message, 1, 0);
    (void)all_batches(found, &count, &cuts);
    cr_assert_eq(cuts, 0, "the peer has not spoken since");
    peer_speaks();
    peer_speaks();
    stream.ep->tx.fpdus_in_seen = atomic_load(&stream.ep->rx.fpdus_in);
}

Test(uiw_batch_large, a_message_that_the_peer_waits_for_goes_in_parts)
{
    static const struct {
        size_t length;
        unsigned cuts;
    } rows[] = {{49151, 0},  {49152, 1},  {65504, 1}, {65536, 1},
                {100000, 1}, {131072, 2}, {131073, 0}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_parts(rows[i].length, true, rows[i].cuts);
        check_parts(rows[i].length, false, rows[i].cuts);
    }
}

/* With CRC the program's memory is copied before it is summed, and only once. */
Test(uiw_batch_large, memory_that_changes_is_sent_as_it_was_summed)
{
    struct ual_lmr *lmr = (struct ual_lmr *)(void *)stream.buf.lmr;

    restless = uiw_lmr_of(lmr)->local->region.restless = true;
    check_parts(49151, true, 0);
    check_parts(65504, true, 1);
    check_parts(131072, true, 2);
    restless = false;
}

/* Copies fill the buffers of a batch. Then no response gets between the segments of a Write. */
Test(uiw_batch_large, a_write_from_restless_memory_stays_in_one_piece)
{
    struct ual_lmr *lmr = (struct ual_lmr *)(void *)stream.buf.lmr;
    uint32_t irq = stream.ep->tx.cursor.irq;

    uiw_lmr_of(lmr)->local->region.restless = true;
    stream.ep->tx.max_ulpdu = 40000;
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, STREAM_MEMORY, 1, 0);
    stream.ep->tx.responses = UINT32_MAX; /* the Write's turn */
    peer_reads(100);
    (void)next_batch(found);
    cr_assert_eq(stream.ep->tx.cursor.sq_offset, 4 * (40000 - 14));
    cr_assert_eq(stream.ep->tx.cursor.irq, irq, "the response waits");
    (void)next_batch(found);
    cr_assert_eq(stream.ep->tx.cursor.sq, 1);
    cr_assert_eq(stream.ep->tx.cursor.irq, irq + 1);
}

Test(uiw_batch_large, a_message_with_another_behind_it_goes_at_once)
{
    unsigned count, cuts;

    peer_speaks();
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, 60000, 1, 0);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    (void)all_batches(found, &count, &cuts);
    cr_assert_eq(cuts, 0);
}

Test(uiw_batch_large, a_batch_with_crc_stays_in_the_cache)
{
    unsigned count, cuts;

    for (unsigned i = 0; i < 8; i++)
        uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, 65504, 1, 0);
    (void)next_batch(found);
    cr_assert_eq(stream.ep->tx.cursor.sq, 5, "the FPDU that reaches 256 KiB is the last");
    stream.ep->agreed.crc = false;
    (void)all_batches(found, &count, &cuts);
    cr_assert_eq(count, 1, "1 MiB");
}

/* Upper layers tell by such a Send that the Write is there. */
Test(uiw_batch_large, a_short_send_leaves_with_the_write_before_it)
{
    static const struct {
        enum vp_opcode opcode;
        uint32_t length;
        uint32_t together; /* requests in the first batch */
    } rows[] = {{VP_SEND, 44, 2},
                {VP_SEND, UIW_INLINE_MAX, 2},
                {VP_SEND, UIW_INLINE_MAX + 1, 1},
                {VP_RDMA_WRITE, 44, 1}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t first = stream.ep->tx.cursor.sq;

        uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, 262144, 1, 0);
        uiw_stream_post(&stream, rows[i].opcode, 0, 0, rows[i].length, 1, 0);
        uiw_stream_post(&stream, VP_SEND, 0, 0, 44, 0, 0);
        (void)next_batch(found);
        cr_assert_eq(stream.ep->tx.cursor.sq - first, rows[i].together, "row %zu", i);
        while (next_batch(found) > 0) {
        }
    }
}

/* The source of a Read may change while it is sent. With CRC the response sends a copy. */
Test(uiw_batch_large, a_response_with_crc_is_a_copy)
{
    for (unsigned crc = 0; crc < 2; crc++) {
        const uint8_t *source = stream.buf.data;

        stream.ep->agreed.crc = crc;
        peer_reads(4096);
        uiw_batch_begin(&batch, &stream.ep->tx.cursor);
        uiw_batch_fill(stream.ep, &batch);
        cr_assert_eq(batch.iov_count, 3);
        cr_assert_eq(batch.iov[1].iov_len, 4096);
        cr_assert_eq(batch.iov[1].iov_base == source, crc == 0);
        cr_assert_eq(memcmp(batch.iov[1].iov_base, source, 4096), 0);
        uiw_batch_end(stream.ep, &batch);
        stream.ep->tx.cursor = batch.cursor;
    }
}

/* ---------------------------------------------------------------- a message that is alone */

static size_t sent_octets(void)
{
    ssize_t length = recv(stream.peer, found, sizeof(found), MSG_DONTWAIT);

    return length > 0 ? (size_t)length : 0;
}

/* Builds the batch for the same request with the same MSN. Returns its length. */
static size_t batch_of_last(const struct uiw_cursor *cursor, uint32_t msn)
{
    size_t length;

    uiw_sqe_at(stream.ep, cursor->sq)->started = false;
    stream.ep->tx.next_send_msn = msn;
    uiw_batch_begin(&batch, cursor);
    uiw_batch_fill(stream.ep, &batch);
    length = copy_iov(&batch, wanted);
    uiw_batch_end(stream.ep, &batch);
    return length;
}

/* Posts a message of several segments, each of which begins elsewhere. */
static void post_pieces(enum vp_opcode opcode, unsigned pieces, size_t length)
{
    it_lmr_triplet_t segments[UIW_MAX_SEGMENTS];
    struct vp_request request = {.opcode = opcode,
                                 .flags = IT_COMPLETION_FLAG,
                                 .segments = segments,
                                 .segment_count = pieces,
                                 .length = length};

    for (unsigned i = 0; i < pieces; i++) {
        size_t octets = i + 1 < pieces ? length / pieces : length - i * (length / pieces);

        segments[i] = fx_seg(&stream.buf, 7 * i, octets);
    }
    request.rmr_context = 7;
    request.rdma_addr = 9;
    uiw_stream_post_request(&stream, &request);
}

/* The last post leaves alone, with the same octets as in a batch. */
static void check_alone(size_t length)
{
    struct uiw_cursor cursor = stream.ep->tx.cursor;
    uint32_t msn = stream.ep->tx.next_send_msn;
    it_dto_cmpl_event_t completion;
    size_t sent;

    cr_assert(uiw_single_is_next(stream.ep));
    cr_assert_eq(uiw_single_send(stream.ep), UIW_OUT_IDLE);
    cr_assert_eq(stream.ep->tx.cursor.sq, cursor.sq + 1);
    sent = sent_octets();
    cr_assert_eq(sent, batch_of_last(&cursor, msn));
    cr_assert_eq(memcmp(found, wanted, sent), 0, "%zu octets", length);
    cr_assert(uiw_stream_completion(stream.node.request_evd, &completion));
    cr_assert_eq(completion.dto_status, IT_DTO_SUCCESS);
    cr_assert_eq(completion.transferred_length, length);
}

Test(uiw_batch_large, alone_or_in_a_batch_a_message_is_the_same)
{
    static const size_t lengths[] = {0, 1, 2, 3, 4, 64, 191, 192, 193, 511, 512, 513, 4095, 4096};

    for (unsigned crc = 0; crc < 2; crc++) {
        stream.ep->agreed.crc = crc;
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            uiw_stream_post(&stream, VP_SEND, 0, 3, lengths[i], 7, 9);
            check_alone(lengths[i]);
            uiw_stream_post(&stream, VP_SEND, IT_SOLICITED_WAIT_FLAG, 3, lengths[i], 7, 9);
            check_alone(lengths[i]);
            uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 3, lengths[i], 7, 9);
            check_alone(lengths[i]);
            for (unsigned pieces = 2; pieces <= 4; pieces++) {
                post_pieces(VP_SEND, pieces, lengths[i]);
                check_alone(lengths[i]);
                post_pieces(VP_RDMA_WRITE, pieces, lengths[i]);
                check_alone(lengths[i]);
            }
        }
    }
}

/* A batch finds out which of the segments may not be read, and nothing of the message has left. */
Test(uiw_batch_large, a_segment_that_is_gone_is_for_the_batch)
{
    struct fx_buf gone = fx_buf_make(&stream.node, 64);
    it_lmr_triplet_t segments[2] = {fx_seg(&stream.buf, 0, 5), fx_seg(&gone, 0, 5)};
    struct vp_request request = {
        .opcode = VP_SEND, .segments = segments, .segment_count = 2, .length = 10};
    uint32_t msn = stream.ep->tx.next_send_msn;

    uiw_stream_post_request(&stream, &request);
    fx_buf_free(&gone);
    cr_assert(uiw_single_is_next(stream.ep));
    cr_assert_eq(uiw_single_send(stream.ep), UIW_OUT_MORE);
    cr_assert_eq(sent_octets(), 0);
    cr_assert_eq(stream.ep->tx.next_send_msn, msn);
    cr_assert_eq(next_batch(found), 0);
    check_failure(0, IT_DTO_ERR_LOCAL_PROTECTION);
}

Test(uiw_batch_large, other_messages_are_for_the_batch)
{
    static const struct {
        enum vp_opcode opcode;
        unsigned flags;
        size_t length;
    } rows[] = {{VP_SEND, 0, 4097},
                {VP_SEND, IT_BARRIER_FENCE_FLAG, 5},
                {VP_SEND_UNLINK, 0, 5},
                {VP_RDMA_READ, 0, 5},
                {VP_FETCH_ADD, 0, 8}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uiw_stream_post(&stream, rows[i].opcode, rows[i].flags, 0, rows[i].length, 1, 0);
        cr_assert_not(uiw_single_is_next(stream.ep), "row %zu", i);
        stream.ep->tx.cursor.sq++;
    }
    post_pieces(VP_SEND, 5, 10);
    cr_assert_not(uiw_single_is_next(stream.ep), "five segments");
    stream.ep->tx.cursor.sq++;
    post_row(&requests[8]);
    cr_assert_not(uiw_single_is_next(stream.ep), "with a value behind it");
    stream.ep->tx.cursor.sq++;
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    cr_assert(uiw_single_is_next(stream.ep));
    peer_reads(0);
    cr_assert_not(uiw_single_is_next(stream.ep), "with a response beside it");
    stream.ep->tx.cursor.irq++;
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    cr_assert_not(uiw_single_is_next(stream.ep), "with another behind it");
}

/* A message that finds the socket full keeps its MSN. */
Test(uiw_batch_large, a_full_socket_leaves_it_to_the_batch)
{
    int least = 1;
    size_t length;

    cr_assert_eq(setsockopt(stream.ep->fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)), 0);
    while (send(stream.ep->fd, TEXT, 16, MSG_DONTWAIT) > 0) {
    }
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    cr_assert_eq(uiw_single_send(stream.ep), UIW_OUT_FULL);
    cr_assert_not(uiw_single_is_next(stream.ep));
    cr_assert_eq(stream.ep->tx.cursor.sq, 0);
    length = next_batch(found);
    check_octets("00174143 00000000 00000000 00000001 00000000 68656c6c 6f000000 b990b10c", length,
                 "MSN 1");
}

/* ---------------------------------------------------------------- the rest of an FPDU */

Test(uiw_batch, the_rest_of_an_fpdu_is_kept)
{
    uint8_t octets[40];
    struct iovec iov[] = {{octets, 7}, {octets + 7, 1}, {octets + 8, 20}, {octets + 28, 12}};
    struct uiw_image *image = &stream.ep->tx.image;

    for (uint8_t i = 0; i < sizeof(octets); i++)
        octets[i] = i;
    for (uint32_t end = 1; end <= sizeof(octets); end++) {
        for (uint32_t sent = 0; sent < end; sent++) {
            cr_assert(uiw_out_keep(stream.ep, iov, 4, end, sent));
            cr_assert_eq(image->end - image->start, end - sent);
            cr_assert_eq(memcmp(image->buffer->octets + image->start, octets + sent, end - sent),
                         0);
            cr_assert_eq(uiw_out_send_image(stream.ep), UIW_OUT_MORE);
            cr_assert_eq(sent_octets(), end - sent);
            cr_assert_eq(memcmp(found, octets + sent, end - sent), 0);
            cr_assert_null(image->buffer);
        }
    }
}

Test(uiw_batch, a_rest_that_does_not_fit_ends_the_stream)
{
    static uint8_t octets[UIW_BOUNCE_SIZE];
    struct iovec iov[] = {{octets, sizeof(octets)}, {octets, 1}};

    cr_assert(uiw_out_keep(stream.ep, iov, 1, sizeof(octets), 0));
    cr_assert_not(uiw_out_keep(stream.ep, iov, 2, sizeof(octets) + 1, sizeof(octets)));
    cr_assert(uiw_has_failed(stream.ep));
    cr_assert(atomic_load(&stream.ep->tx.dead));
    cr_assert_null(stream.ep->tx.image.buffer);
}

Test(uiw_batch, an_fpdu_in_front_has_its_crc)
{
    static const uint8_t empty_write[] = {0, 14, 0xc1, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};

    cr_assert(uiw_out_prepend_fpdu(stream.ep, empty_write, sizeof(empty_write)));
    cr_assert_eq(uiw_out_send_image(stream.ep), UIW_OUT_MORE);
    check_octets("000ec140 00000001 00000000 00000000 ebd34c5f", sent_octets(), "empty Write");
}

/* ---------------------------------------------------------------- the sender */

Test(uiw_batch, the_sender_sends_all_and_completes_it)
{
    unsigned budget = 32;
    it_dto_cmpl_event_t completion;

    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    uiw_sender_run(stream.ep, false, &budget);
    check_octets("00174143 00000000 00000000 00000001 00000000 68656c6c 6f000000 b990b10c "
                 "00174143 00000000 00000000 00000002 00000000 68656c6c 6f000000 16d8c75d",
                 sent_octets(), "two Sends");
    cr_assert_eq(budget, 31, "one batch");
    for (uint64_t i = 1; i <= 2; i++) {
        cr_assert(uiw_stream_completion(stream.node.request_evd, &completion));
        cr_assert_eq(completion.cookie, i);
        cr_assert_eq(completion.dto_status, IT_DTO_SUCCESS);
    }
    cr_assert_not(uiw_stream_completion(stream.node.request_evd, &completion));
}
