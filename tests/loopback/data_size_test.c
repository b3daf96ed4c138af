/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of every size at which something changes: none, less than a word, around one TCP
 * segment, around the largest FPDU, and large ones, by Send, RDMA Write and RDMA Read, at odd
 * addresses.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_pair.h"
#include "support/test_row.h"

#define GUARD   64u
#define EDGE_LO 65479u
#define EDGE_HI 65537u
#define ROOM    (EDGE_HI + 2 * GUARD)

static const size_t small_sizes[] = {0,    1,    2,    3,    4,    5,    7,    8,
                                     31,   63,   64,   65,   1423, 1424, 1425, 1426,
                                     1427, 1428, 1429, 1430, 4095, 4096, 4097, 9000};

static struct {
    struct fx_pair pair;
    struct fx_buf out; /* on a */
    struct fx_buf in;  /* on b */
    uint64_t cookie;
} bed;

static void bed_open(size_t room)
{
    fx_pair_open(&bed.pair);
    bed.out = fx_node_buf(&bed.pair.a, room + 2 * GUARD);
    bed.in = fx_node_buf(&bed.pair.b, room + 2 * GUARD);
    fx_fill(bed.out.data, bed.out.size, 77);
}

static void bed_close(void)
{
    fx_empty(bed.pair.a.request_evd);
    fx_empty(bed.pair.b.recv_evd);
    fx_empty(bed.pair.a.aff_evd);
    fx_empty(bed.pair.b.aff_evd);
    fx_pair_close(&bed.pair);
}

/* Checks that the octets just before and behind the received data are unchanged. */
static void guards_untouched(const struct fx_buf *buf, size_t at, size_t size)
{
    CHECK(at >= 8 && at + size + 8 <= buf->size);
    CHECK(fx_is_byte(buf->data + at - 8, 8, 0xee));
    CHECK(fx_is_byte(buf->data + at + size, 8, 0xee));
}

static size_t odd(uint64_t n, size_t modulus)
{
    return GUARD / 2 + (size_t)(n % modulus);
}

static void one_send(size_t size)
{
    uint64_t cookie = ++bed.cookie;
    size_t from = odd(cookie, 7);
    size_t to = odd(cookie, 5);

    memset(bed.in.data, 0xee, size + 2 * GUARD);
    fx_recv(bed.pair.b_ep, &bed.in, to, size, cookie);
    fx_send(bed.pair.a_ep, &bed.out, from, size, cookie, FX_SIGNAL);
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, size);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, cookie, size);
    fx_check_same(bed.out.data + from, bed.in.data + to, size);
    guards_untouched(&bed.in, to, size);
}

/* Posts a Write followed by an empty Send. When the Send is received, the data must be in place. */
static void one_write(size_t size)
{
    uint64_t cookie = ++bed.cookie;
    size_t from = odd(cookie, 7);
    size_t to = odd(cookie, 5);

    memset(bed.in.data, 0xee, size + 2 * GUARD);
    CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, cookie, FX_SIGNAL));
    fx_write(bed.pair.a_ep, &bed.out, from, size, &bed.in, to, cookie, FX_SIGNAL);
    CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, cookie, FX_QUIET));
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, 0);
    fx_check_same(bed.out.data + from, bed.in.data + to, size);
    guards_untouched(&bed.in, to, size);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, cookie, size);
}

/* b reads from a: the source is "out", the sink "in". */
static void one_read(size_t size)
{
    uint64_t cookie = ++bed.cookie;
    size_t from = odd(cookie, 7);
    size_t to = odd(cookie, 5);

    memset(bed.in.data, 0xee, size + 2 * GUARD);
    fx_read(bed.pair.b_ep, &bed.in, to, size, &bed.out, from, cookie, FX_SIGNAL);
    fx_done_len(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, cookie, size);
    fx_check_same(bed.out.data + from, bed.in.data + to, size);
    guards_untouched(&bed.in, to, size);
}

static void all_small(void (*one)(size_t))
{
    bed_open(ROOM);
    for (size_t i = 0; i < sizeof(small_sizes) / sizeof(small_sizes[0]); i++)
        one(small_sizes[i]);
    for (size_t size = EDGE_LO; size <= EDGE_HI; size++)
        one(size);
    bed_close();
}

static void one_large(void (*one)(size_t), size_t size)
{
    bed_open(size);
    one(size);
    one(1);
    bed_close();
}

TEST_ROW(data_size, send, all_small, one_send);
TEST_ROW(data_size, write, all_small, one_write);
TEST_ROW(data_size, read, all_small, one_read);
TEST_ROW(data_size, send_a_megabyte, one_large, one_send, (1u << 20) + 1);
TEST_ROW(data_size, write_a_megabyte, one_large, one_write, (1u << 20) + 1);
TEST_ROW(data_size, read_a_megabyte, one_large, one_read, (1u << 20) + 1);
TEST_ROW(data_size, send_16_megabytes, one_large, one_send, 16u << 20);
TEST_ROW(data_size, write_16_megabytes, one_large, one_write, 16u << 20);
TEST_ROW(data_size, read_16_megabytes, one_large, one_read, 16u << 20);

/* Posts several operations without length and without segments in a row. */
Test(data_size, nothing_at_all, .init = pair_init, .fini = pair_fini)
{
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
        /* STag and offset of an operation without length are not checked. */
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, 100 + i, FX_SIGNAL, 0x1234, 0xdeadbeef));
        CHECK_OK(it_post_rdma_read(pair.a_ep, NULL, 0, 200 + i, FX_SIGNAL, 0x1234, 0xdeadbeef));
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 300 + i, FX_SIGNAL));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 100 + i, 0);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 200 + i, 0);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 300 + i, 0);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
    }
}
