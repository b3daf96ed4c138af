/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets from a socket: with which calls they are read, and how a read ends. */
#include "vp/uiwarp/receive/uiw_receive.h"

#include "tdi/iwarp/iw_crc.h"
#include "tdi/iwarp/iw_wire.h"
#include "uiw_stream.h"
#include "vp/uiwarp/queue/uiw_progress.h"

#include <criterion/criterion.h>

#include <string.h>

#define LARGE 60000u

static struct uiw_stream stream;
static uint8_t staging[UIW_STAGING_SIZE];
static uint8_t octets[LARGE + 64];
static uint8_t payload[LARGE];

static void setup(void)
{
    uiw_stream_open(&stream, true, 65518);
    fx_fill(payload, LARGE, 2);
}

static void teardown(void)
{
    uiw_stream_close(&stream);
}

TestSuite(uiw_reader, .init = setup, .fini = teardown);

/* Encodes an RDMA Write to the buffer. Returns the length of its FPDU. */
static size_t encode_write(uint32_t length)
{
    size_t header = iw_encode_tagged(octets, IW_OP_WRITE, true, uiw_stream_stag(&stream),
                                     (uint64_t)(uintptr_t)stream.buf.data, length);
    unsigned pad = iw_pad((uint32_t)header - IW_LENGTH_FIELD + length);
    size_t end = header + length;

    memcpy(octets + header, payload, length);
    memset(octets + end, 0, pad);
    return end + iw_encode_trailer(octets + end, pad,
                                   iw_crc_final(iw_crc_update(IW_CRC_INIT, octets, end + pad)));
}

static void peer_sends(size_t from, size_t to)
{
    cr_assert_eq(send(stream.peer, octets + from, to - from, 0), (ssize_t)(to - from));
}

static struct uiw_read look(void)
{
    struct uiw_read read = {.state = UIW_READ_MORE};

    uiw_reader_read(stream.ep, staging, false, &read);
    return read;
}

Test(uiw_reader, nothing_is_there)
{
    struct uiw_read read = look();

    cr_assert_eq(read.state, UIW_READ_DRAINED);
    cr_assert_eq(read.octets, 0);
}

Test(uiw_reader, small_fpdus_come_in_one_call)
{
    size_t length = encode_write(64);
    struct uiw_read read;

    for (unsigned i = 0; i < 10; i++)
        peer_sends(0, length);
    read = look();
    cr_assert_eq(read.state, UIW_READ_DRAINED);
    cr_assert_eq(read.octets, 10 * length);
    cr_assert_eq(atomic_load(&stream.ep->rx.calls_in), 1);
    cr_assert_eq(atomic_load(&stream.ep->rx.fpdus_in), 10);
    cr_assert_eq(atomic_load(&stream.ep->rx.octets_in), 10 * length);
    cr_assert_eq(memcmp(stream.buf.data, payload, 64), 0);
}

/*
 * After the octets of the first call the payload is read straight into place, past the staging
 * buffer.
 */
Test(uiw_reader, large_payload_is_read_directly)
{
    size_t length = encode_write(LARGE);
    struct uiw_read read;

    peer_sends(0, 100);
    cr_assert_eq(look().octets, 100);
    memset(staging, 0, sizeof(staging));
    peer_sends(100, length);
    read = look();
    cr_assert_eq(read.state, UIW_READ_DRAINED);
    cr_assert_eq(read.octets, length - 100);
    cr_assert_eq(memcmp(stream.buf.data, payload, LARGE), 0);
    cr_assert(fx_is_byte(staging + 256, sizeof(staging) - 256, 0),
              "the trailer fits the first 256");
    cr_assert_eq(stream.ep->rx.expect, UIW_EXPECT_LARGE);
    cr_assert(stream.ep->rx.widened);
    cr_assert_eq(atomic_load(&stream.ep->rx.fpdus_in), 1);
}

Test(uiw_reader, after_a_large_fpdu_only_its_header_is_staged)
{
    size_t length = encode_write(LARGE);

    stream.ep->rx.expect = UIW_EXPECT_LARGE;
    peer_sends(0, length);
    cr_assert_eq(look().octets, length);
    cr_assert_eq(atomic_load(&stream.ep->rx.calls_in), 2);
    cr_assert_eq(memcmp(stream.buf.data, payload, LARGE), 0);
}

/* The read returns the octets together with the error. */
Test(uiw_reader, a_damaged_fpdu_is_refused)
{
    size_t length = encode_write(64);
    struct uiw_read read;

    octets[20] ^= 1;
    peer_sends(0, length);
    read = look();
    cr_assert_eq(read.state, UIW_READ_REFUSED);
    cr_assert_eq(read.error, IW_ERR_MPA_CRC);
    cr_assert_eq(read.octets, length);
}

Test(uiw_reader, a_key_that_dies_within_a_large_message)
{
    size_t length = encode_write(LARGE);
    static uint8_t before[STREAM_MEMORY];
    struct uiw_read read;

    peer_sends(0, 100);
    (void)look();
    memcpy(before, stream.buf.data, STREAM_MEMORY);
    atomic_store(&stream.ep->limits.write_enabled, false);
    peer_sends(100, length);
    read = look();
    cr_assert_eq(read.state, UIW_READ_REFUSED);
    cr_assert_eq(read.error, IW_ERR_RDMAP_ACCESS);
    cr_assert_eq(memcmp(stream.buf.data, before, STREAM_MEMORY), 0);
    cr_assert_eq(stream.ep->rx.pinned_count, 0);
}

Test(uiw_reader, the_peer_closes)
{
    cr_assert_eq(shutdown(stream.peer, SHUT_WR), 0);
    cr_assert_eq(look().state, UIW_READ_CLOSED);
}

/* Tiny FPDUs are read 16 KiB at a time. A turn of a shared thread ends after 512 of them. */
Test(uiw_reader, a_turn_ends)
{
    static uint8_t many[1000 * 40];
    size_t length = encode_write(20);
    struct uiw_read read = {.state = UIW_READ_MORE};

    cr_assert_eq(length, 40);
    for (unsigned i = 0; i < 1000; i++)
        memcpy(many + i * length, octets, length);
    cr_assert_eq(send(stream.peer, many, sizeof(many), 0), (ssize_t)sizeof(many));
    stream.ep->rx.expect = UIW_EXPECT_TINY;
    uiw_reader_read(stream.ep, staging, true, &read);
    cr_assert_eq(read.state, UIW_READ_MORE);
    cr_assert_eq(read.octets, 2 * 16384);
    read = look();
    cr_assert_eq(read.state, UIW_READ_DRAINED);
    cr_assert_eq(atomic_load(&stream.ep->rx.fpdus_in), 1000);
}

Test(uiw_reader, an_unfinished_message_of_small_segments_makes_a_pause)
{
    size_t length = encode_write(1000);

    uiw_pause_begin(&stream.ep->rx.pause, true);
    peer_sends(0, 500);
    (void)look();
    cr_assert_neq(stream.ep->rx.pause.since_ns, 0);
    peer_sends(500, length);
    (void)look();
    cr_assert_eq(stream.ep->rx.pause.since_ns, 0);
}
