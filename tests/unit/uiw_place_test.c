/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FPDUs of the peer, octet by octet: where they are placed, what they complete, and every reason to
 * refuse one.
 */
#include "vp/uiwarp/receive/uiw_receive.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"
#include "uiw_stream.h"
#include "vp/uiwarp/queue/uiw_rq.h"

#include <criterion/criterion.h>

#include <string.h>

#define ROOM 4096u
#define TO   UINT64_C(0x1000) /* offset in the buffer that the peer writes to and reads from */

static struct uiw_stream stream;
static uint8_t octets[ROOM];
static size_t octet_count;
static uint32_t send_msn;
static uint32_t read_msn;

static void setup(void)
{
    uiw_stream_open(&stream, true, 1460);
    octet_count = 0;
    send_msn = 1;
    read_msn = 1;
}

static void teardown(void)
{
    uiw_stream_close(&stream);
}

TestSuite(uiw_place, .init = setup, .fini = teardown);

/* ---------------------------------------------------------------- FPDUs of the peer */

/* Adds payload and trailer to a header of `header` octets that is in place. */
static void end_fpdu(size_t header, const void *payload, size_t length)
{
    uint8_t *fpdu = octets + octet_count;
    unsigned pad = iw_pad((uint32_t)(header - IW_LENGTH_FIELD + length));

    if (length)
        memcpy(fpdu + header, payload, length);
    memset(fpdu + header + length, 0, pad);
    octet_count += header + length;
    octet_count +=
        iw_encode_trailer(octets + octet_count, pad,
                          iw_crc_final(iw_crc_update(IW_CRC_INIT, fpdu, header + length + pad)));
    cr_assert_leq(octet_count, ROOM);
}

static void add_untagged(enum iw_opcode opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
                         const void *payload, size_t length)
{
    end_fpdu(
        iw_encode_untagged(octets + octet_count, opcode, last, 0, qn, msn, mo, (uint32_t)length),
        payload, length);
}

static void add_send(enum iw_opcode opcode, const char *text)
{
    add_untagged(opcode, true, IW_QN_SEND, send_msn++, 0, text, strlen(text));
}

static void add_tagged(enum iw_opcode opcode, uint32_t stag, uint64_t to, const char *text)
{
    end_fpdu(iw_encode_tagged(octets + octet_count, opcode, true, stag, to, (uint32_t)strlen(text)),
             text, strlen(text));
}

static uint64_t peer_address(uint64_t offset)
{
    return (uint64_t)(uintptr_t)stream.buf.data + offset;
}

static void add_read_request(uint32_t stag, uint64_t to, uint32_t length)
{
    const struct iw_read_request request = {
        .sink_stag = 1, .length = length, .source_stag = stag, .source_to = to};
    uint8_t body[IW_READ_REQUEST_HEADER];

    add_untagged(IW_OP_READ_REQUEST, true, IW_QN_READ_REQUEST, read_msn++, 0, body,
                 iw_encode_read_request(body, &request));
}

static void add_fetch_add(uint32_t stag, uint64_t to, uint64_t operand)
{
    const struct iw_atomic_request request = {.code = IW_ATOMIC_FETCH_ADD,
                                              .id = 7,
                                              .stag = stag,
                                              .to = to,
                                              .operand = operand,
                                              .compare_mask = UINT64_MAX};
    uint8_t body[IW_ATOMIC_REQUEST_HEADER];

    add_untagged(IW_OP_ATOMIC_REQUEST, true, IW_QN_READ_REQUEST, read_msn++, 0, body,
                 iw_encode_atomic_request(body, &request));
}

/* Feeds all octets that were added, in pieces of at most `piece` octets. */
static enum iw_error feed(size_t piece)
{
    enum iw_error error = IW_OK;

    for (size_t at = 0; at < octet_count && error == IW_OK; at += piece)
        error = iw_rx_consume(&stream.ep->rx.iw, octets + at,
                              octet_count - at < piece ? octet_count - at : piece);
    octet_count = 0;
    cr_assert_eq(stream.ep->rx.pinned_count, 0);
    return error;
}

static void check_error(enum iw_error want)
{
    enum iw_error got = feed(ROOM);

    cr_assert_eq(got, want, "%05x, not %05x", (unsigned)got, (unsigned)want);
}

/* ---------------------------------------------------------------- Sends and Writes */

static void check_receive(it_dto_cookie_t cookie, const char *text, size_t offset)
{
    it_dto_cmpl_event_t completion;

    cr_assert(uiw_stream_completion(stream.node.recv_evd, &completion));
    cr_assert_eq(completion.cookie, cookie);
    cr_assert_eq(completion.dto_status, IT_DTO_SUCCESS);
    cr_assert_eq(completion.transferred_length, strlen(text));
    cr_assert_eq(memcmp(stream.buf.data + offset, text, strlen(text)), 0);
}

Test(uiw_place, messages_arrive_however_they_are_cut)
{
    for (size_t piece = 1; piece < 130; piece++) {
        memset(stream.buf.data, 0, 2 * TO);
        uiw_stream_post_recv(&stream, 0, 64);
        uiw_stream_post_recv(&stream, 100, 64);
        add_send(IW_OP_SEND, "the first");
        add_tagged(IW_OP_WRITE, uiw_stream_stag(&stream), peer_address(TO), "written");
        add_untagged(IW_OP_SEND_SE, false, IW_QN_SEND, send_msn, 0, "two seg", 7);
        add_untagged(IW_OP_SEND_SE, true, IW_QN_SEND, send_msn++, 7, "ments", 5);
        cr_assert_eq(feed(piece), IW_OK, "pieces of %zu", piece);
        check_receive(2 * piece - 1, "the first", 0);
        check_receive(2 * piece, "two segments", 100);
        cr_assert_eq(memcmp(stream.buf.data + TO, "written", 8), 0);
    }
}

/* The message fills a receive of three segments, one of them empty. */
Test(uiw_place, a_message_is_scattered)
{
    it_lmr_triplet_t segments[] = {fx_seg(&stream.buf, 0, 3), fx_seg(&stream.buf, 50, 0),
                                   fx_seg(&stream.buf, 100, 20)};
    it_dto_cmpl_event_t completion;

    for (size_t piece = 1; piece < 70; piece++) {
        memset(stream.buf.data, 0, 200);
        CHECK_OK(uiw_rq_post(stream.ual, segments, 3, 1, FX_SIGNAL));
        add_send(IW_OP_SEND, "abcdefgh");
        cr_assert_eq(feed(piece), IW_OK);
        cr_assert(uiw_stream_completion(stream.node.recv_evd, &completion));
        cr_assert_eq(completion.transferred_length, 8);
        cr_assert_eq(memcmp(stream.buf.data, "abc", 4), 0);
        cr_assert_eq(memcmp(stream.buf.data + 100, "defgh", 6), 0);
    }
}

Test(uiw_place, a_send_without_a_receive)
{
    add_send(IW_OP_SEND, "x");
    check_error(IW_ERR_DDP_NO_BUFFER);
}

Test(uiw_place, a_send_that_is_too_long)
{
    uiw_stream_post_recv(&stream, 0, 4);
    add_send(IW_OP_SEND, "12345");
    check_error(IW_ERR_DDP_TOO_LONG);
}

Test(uiw_place, a_second_segment_that_is_too_long)
{
    uiw_stream_post_recv(&stream, 0, 6);
    add_untagged(IW_OP_SEND, false, IW_QN_SEND, 1, 0, "1234", 4);
    add_untagged(IW_OP_SEND, true, IW_QN_SEND, 1, 4, "567", 3);
    check_error(IW_ERR_DDP_TOO_LONG);
}

Test(uiw_place, a_receive_whose_memory_is_gone)
{
    struct fx_buf gone = fx_buf_make(&stream.node, 64);
    it_lmr_triplet_t segment = fx_seg(&gone, 0, 64);

    CHECK_OK(uiw_rq_post(stream.ual, &segment, 1, 1, FX_SIGNAL));
    fx_buf_free(&gone);
    add_send(IW_OP_SEND, "x");
    check_error(IW_ERR_DDP_LOCAL);
}

Test(uiw_place, a_value_that_was_not_agreed_upon)
{
    static const uint8_t value[IW_IMMEDIATE_DATA];

    uiw_stream_post_recv(&stream, 0, 4);
    add_untagged(IW_OP_IMMEDIATE, true, IW_QN_SEND, 1, 0, value, sizeof(value));
    check_error(IW_ERR_RDMAP_OPCODE);
}

Test(uiw_place, a_damaged_fpdu_leaves_no_trace)
{
    it_dto_cmpl_event_t completion;

    uiw_stream_post_recv(&stream, 0, 64);
    memset(stream.buf.data, 0, 64);
    add_send(IW_OP_SEND, "damaged");
    octets[IW_LENGTH_FIELD + IW_UNTAGGED_HEADER] ^= 1;
    check_error(IW_ERR_MPA_CRC);
    cr_assert(fx_is_byte(stream.buf.data, 64, 0));
    cr_assert_not(uiw_stream_completion(stream.node.recv_evd, &completion));
}

/* ---------------------------------------------------------------- keys */

enum access {
    ACCESS_WRITE,
    ACCESS_READ,
    ACCESS_ATOMIC
};

static const struct key_row {
    const char *what;
    enum access access;
    uint32_t stag_change; /* by exclusive or */
    uint64_t offset;
    bool disabled; /* the EP's attributes disable it */
    enum iw_error error;
} keys[] = {
    {"a Write", ACCESS_WRITE, 0, TO, false, IW_OK},
    {"a Write with another key", ACCESS_WRITE, 1, TO, false, IW_ERR_DDP_INVALID_STAG},
    {"a Write in front of the region", ACCESS_WRITE, 0, (uint64_t)-1, false, IW_ERR_DDP_BOUNDS},
    {"a Write behind the region", ACCESS_WRITE, 0, STREAM_MEMORY - 7, false, IW_ERR_DDP_BOUNDS},
    {"a Write that may not be", ACCESS_WRITE, 0, TO, true, IW_ERR_RDMAP_ACCESS},
    {"a Read", ACCESS_READ, 0, TO, false, IW_OK},
    {"a Read with another key", ACCESS_READ, 1, TO, false, IW_ERR_RDMAP_INVALID_STAG},
    {"a Read behind the region", ACCESS_READ, 0, STREAM_MEMORY - 7, false, IW_ERR_RDMAP_BOUNDS},
    {"a Read that may not be", ACCESS_READ, 0, TO, true, IW_ERR_RDMAP_ACCESS},
    {"an atomic", ACCESS_ATOMIC, 0, TO, false, IW_OK},
    {"an atomic with another key", ACCESS_ATOMIC, 1, TO, false, IW_ERR_RDMAP_INVALID_STAG},
    {"an atomic between two words", ACCESS_ATOMIC, 0, TO + 4, false, IW_ERR_RDMAP_STREAM},
    {"an atomic behind the region", ACCESS_ATOMIC, 0, STREAM_MEMORY, false, IW_ERR_RDMAP_BOUNDS},
    {"an atomic that may not be", ACCESS_ATOMIC, 0, TO, true, IW_ERR_RDMAP_ACCESS},
};

static void try_key(const struct key_row *row)
{
    uint32_t stag = uiw_stream_stag(&stream) ^ row->stag_change;
    uint64_t to = peer_address(row->offset);
    struct uiw_limits *limits = &stream.ep->limits;
    enum iw_error error;

    iw_rx_init(&stream.ep->rx.iw, &uiw_place_ops, stream.ep, true);
    read_msn = 1;
    atomic_store(&limits->write_enabled, !row->disabled);
    atomic_store(&limits->read_enabled, !row->disabled);
    atomic_store(&limits->atomics_enabled, !row->disabled);
    if (row->access == ACCESS_WRITE)
        add_tagged(IW_OP_WRITE, stag, to, "12345678");
    else if (row->access == ACCESS_READ)
        add_read_request(stag, to, 8);
    else
        add_fetch_add(stag, to, 1);
    error = feed(ROOM);
    cr_assert_eq(error, row->error, "%s: %05x, not %05x", row->what, (unsigned)error,
                 (unsigned)row->error);
}

Test(uiw_place, what_a_key_gives_access_to)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        try_key(&keys[i]);
}

/* ---------------------------------------------------------------- Reads and atomics of the peer */

static uint32_t irq_open(void)
{
    return atomic_load(&stream.ep->reads.irq_tail) - atomic_load(&stream.ep->reads.irq_head);
}

Test(uiw_place, a_read_waits_for_the_sender)
{
    const struct uiw_irq_entry *entry = &stream.ep->reads.irq[0];

    add_read_request(uiw_stream_stag(&stream), peer_address(TO), 100);
    check_error(IW_OK);
    cr_assert_eq(irq_open(), 1);
    cr_assert(stream.ep->rx.kick);
    cr_assert_eq(entry->request.length, 100);
    cr_assert_eq(entry->request.source_to, peer_address(TO));
    cr_assert_not(entry->is_atomic);
}

Test(uiw_place, more_reads_than_the_ird)
{
    for (unsigned i = 0; i < 8; i++)
        add_read_request(uiw_stream_stag(&stream), peer_address(TO), 1);
    check_error(IW_OK);
    cr_assert_eq(irq_open(), 8);
    add_read_request(uiw_stream_stag(&stream), peer_address(TO), 1);
    check_error(IW_ERR_DDP_NO_BUFFER);
    cr_assert_eq(irq_open(), 8);
}

/* The peer may send the next Read as soon as it has the last octet of a response. */
Test(uiw_place, a_read_behind_an_answer)
{
    for (unsigned i = 0; i < 8; i++)
        add_read_request(uiw_stream_stag(&stream), peer_address(TO), 1);
    check_error(IW_OK);
    atomic_store(&stream.ep->reads.irq_sent, 1);
    add_read_request(uiw_stream_stag(&stream), peer_address(TO), 1);
    check_error(IW_OK);
    cr_assert_eq(irq_open(), 9);
}

Test(uiw_place, an_atomic_is_executed_at_once)
{
    uint64_t *word = (uint64_t *)(void *)(stream.buf.data + TO);

    *word = 40;
    atomic_store(&stream.ep->limits.atomics_enabled, true);
    add_fetch_add(uiw_stream_stag(&stream), peer_address(TO), 2);
    add_fetch_add(uiw_stream_stag(&stream), peer_address(TO), 3);
    check_error(IW_OK);
    cr_assert_eq(*word, 45);
    for (uint32_t i = 0; i < 2; i++) {
        const struct uiw_irq_entry *entry = &stream.ep->reads.irq[i];

        cr_assert(entry->is_atomic);
        cr_assert_eq(entry->msn, i + 1);
        cr_assert_eq(entry->atomic.id, 7);
        cr_assert_eq(entry->atomic.original, i == 0 ? 40 : 42);
    }
}

/* ---------------------------------------------------------------- answers to ours */

/* Makes a Read of 10 octets into offset 0 look as if it had been sent. */
static void read_is_open(void)
{
    uint32_t tail = atomic_load(&stream.ep->reads.orq_tail);

    uiw_stream_post(&stream, VP_RDMA_READ, 0, 0, 10, 0x55, 0);
    stream.ep->reads.orq[tail] = (struct uiw_orq_entry){
        .sq_index = tail, .length = 10, .sink_stag = uiw_sqe_at(stream.ep, tail)->segments[0].stag};
    atomic_store(&stream.ep->reads.orq_tail, tail + 1);
}

static void add_response(bool last, uint32_t stag_change, uint64_t to, const char *text)
{
    uint32_t stag = stream.ep->reads.orq[0].sink_stag ^ stag_change;

    end_fpdu(iw_encode_tagged(octets + octet_count, IW_OP_READ_RESPONSE, last, stag, to,
                              (uint32_t)strlen(text)),
             text, strlen(text));
}

Test(uiw_place, a_response_completes_the_read)
{
    it_dto_cmpl_event_t completion;

    read_is_open();
    add_response(false, 0, 0, "012345");
    check_error(IW_OK);
    cr_assert_not(uiw_stream_completion(stream.node.request_evd, &completion));
    add_response(true, 0, 6, "6789");
    check_error(IW_OK);
    cr_assert(uiw_stream_completion(stream.node.request_evd, &completion));
    cr_assert_eq(completion.transferred_length, 10);
    cr_assert_eq(memcmp(stream.buf.data, "0123456789", 10), 0);
    cr_assert_eq(atomic_load(&stream.ep->reads.orq_head), 1);
}

Test(uiw_place, responses_that_are_not_what_was_asked)
{
    static const struct {
        const char *what, *text;
        bool last;
        uint32_t stag_change;
        uint64_t to;
        enum iw_error error;
    } rows[] = {
        {"another STag", "0123456789", true, 1, 0, IW_ERR_DDP_INVALID_STAG},
        {"another place", "0123456789", true, 0, 1, IW_ERR_DDP_BOUNDS},
        {"too many octets", "0123456789a", true, 0, 0, IW_ERR_DDP_BOUNDS},
        {"too few", "012345678", true, 0, 0, IW_ERR_DDP_BOUNDS},
        {"all, but not the last", "0123456789", false, 0, 0, IW_ERR_DDP_BOUNDS},
    };

    read_is_open();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        iw_rx_init(&stream.ep->rx.iw, &uiw_place_ops, stream.ep, true);
        add_response(rows[i].last, rows[i].stag_change, rows[i].to, rows[i].text);
        cr_assert_eq(feed(ROOM), rows[i].error, "%s", rows[i].what);
    }
    cr_assert(fx_is_filled(stream.buf.data, 10, 1));
}

Test(uiw_place, a_response_to_nothing)
{
    add_tagged(IW_OP_READ_RESPONSE, 1, 0, "x");
    check_error(IW_ERR_RDMAP_OPCODE);
}

Test(uiw_place, an_atomic_response_to_a_read)
{
    uint8_t body[IW_ATOMIC_RESPONSE_HEADER] = {0};

    read_is_open();
    add_untagged(IW_OP_ATOMIC_RESPONSE, true, IW_QN_ATOMIC, 1, 0, body, sizeof(body));
    check_error(IW_ERR_RDMAP_OPCODE);
}

/* ---------------------------------------------------------------- Terminate */

Test(uiw_place, a_terminate_is_kept)
{
    struct iw_terminate terminate;

    iw_terminate_fill(&terminate, IW_ERR_DDP_NO_BUFFER, NULL, 0, 0);
    octet_count = iw_encode_terminate_fpdu(octets, &terminate, true);
    check_error(IW_OK);
    cr_assert(stream.ep->rx.terminated);
    cr_assert_eq(stream.ep->rx.terminate.error, IW_ERR_DDP_NO_BUFFER);
}
