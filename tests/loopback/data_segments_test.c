/* SPDX-License-Identifier: BSD-2-Clause */
/* Gather and scatter: several segments of several regions, including empty ones and odd lengths. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"

#define REGIONS  4u
#define SEGMENTS 64u
#define ROUNDS   120u
#define LONGEST  (SEGMENTS * 20000u)

/* Several regions of one node, some absolute and some relative. */
struct regions {
    struct fx_buf buf[REGIONS];
};

static void regions_make(struct regions *regions, const struct fx_node *node, uint32_t seed)
{
    for (uint32_t i = 0; i < REGIONS; i++) {
        regions->buf[i] =
            fx_buf_make_as(node->pz, LONGEST, FX_PRIVS_ALL,
                           i % 2 == 0 ? IT_ADDR_MODE_ABSOLUTE : IT_ADDR_MODE_RELATIVE);
        fx_fill(regions->buf[i].data, LONGEST, seed + i);
    }
}

static void regions_free(struct regions *regions)
{
    for (size_t i = 0; i < REGIONS; i++)
        fx_buf_free(&regions->buf[i]);
}

/* A list of places, as segments for a post and as memory for the test. */
struct list {
    it_lmr_triplet_t segments[SEGMENTS];
    unsigned char *memory[SEGMENTS];
    size_t length[SEGMENTS];
    size_t count;
    size_t total;
};

static size_t random_length(uint32_t *state)
{
    switch (fx_random(state) % 5) {
    case 0:
        return 0;
    case 1:
        return 1 + fx_random(state) % 8;
    case 2:
        return 1400 + fx_random(state) % 60;
    case 3:
        return fx_random(state) % 600;
    default:
        return fx_random(state) % 19000;
    }
}

/* Segments do not overlap: segment i lies in the i-th slice of its region. */
static void list_random(struct list *list, const struct regions *regions, uint32_t *state)
{
    memset(list, 0, sizeof(*list));
    list->count = fx_random(state) % (SEGMENTS + 1);
    for (size_t i = 0; i < list->count; i++) {
        const struct fx_buf *buf = &regions->buf[fx_random(state) % REGIONS];
        size_t at = i * (LONGEST / SEGMENTS) + fx_random(state) % 900;

        list->length[i] = random_length(state);
        list->segments[i] = fx_seg(buf, at, list->length[i]);
        list->memory[i] = buf->data + at;
        list->total += list->length[i];
    }
}

/* Makes a list of exactly this many octets, cut at other places. */
static void list_exact(struct list *list, const struct regions *regions, size_t total,
                       uint32_t *state)
{
    list_random(list, regions, state);
    for (size_t i = 0; i < list->count; i++) {
        size_t most = i + 1 < list->count ? list->length[i] : 19000;
        size_t part = total < most ? total : most;

        list->length[i] = part;
        list->segments[i].length = part;
        total -= part;
    }
    list->total = 0;
    for (size_t i = 0; i < list->count; i++)
        list->total += list->length[i];
}

static void list_copy(unsigned char *to, const struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memcpy(to, list->memory[i], list->length[i]);
        to += list->length[i];
    }
}

static struct {
    struct fx_pair pair;
    struct regions a;
    struct regions b;
    uint32_t random;
} bed;

static unsigned char want[LONGEST];
static unsigned char got[LONGEST];

static void pair_open(struct fx_pair *pair)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr};

    attr.max_send_segments = SEGMENTS;
    attr.max_recv_segments = SEGMENTS;
    attr.srv.rc.max_rdma_read_segments = SEGMENTS;
    attr.srv.rc.max_rdma_write_segments = SEGMENTS;
    fx_pair_open_as(pair, &setup);
}

static void bed_open(uint32_t seed)
{
    memset(&bed, 0, sizeof(bed));
    bed.random = seed;
    pair_open(&bed.pair);
    regions_make(&bed.a, &bed.pair.a, 1);
    regions_make(&bed.b, &bed.pair.b, 100);
}

static void bed_close(void)
{
    regions_free(&bed.a);
    regions_free(&bed.b);
    fx_pair_close(&bed.pair);
}

Test(data_segments, send, .fini = bed_close)
{
    struct list from;
    struct list to;

    bed_open(4711);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        list_random(&to, &bed.b, &bed.random);
        list_exact(&from, &bed.a, fx_random(&bed.random) % (to.total + 1), &bed.random);
        list_copy(want, &from);
        CHECK_OK(it_post_recv(bed.pair.b_ep, to.segments, to.count, i, FX_SIGNAL));
        CHECK_OK(it_post_send(bed.pair.a_ep, from.segments, from.count, i, FX_SIGNAL));
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, from.total);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, from.total);
        list_copy(got, &to);
        fx_check_same(want, got, from.total);
    }
}

Test(data_segments, write, .fini = bed_close)
{
    struct list from;

    bed_open(815);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct fx_buf *sink = &bed.b.buf[i % REGIONS];
        size_t at = fx_random(&bed.random) % 7;

        list_random(&from, &bed.a, &bed.random);
        if (from.total + at > LONGEST)
            continue;
        list_copy(want, &from);
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, i, FX_SIGNAL));
        CHECK_OK(it_post_rdma_write(bed.pair.a_ep, from.segments, from.count, i, FX_SIGNAL,
                                    fx_addr(sink, at), sink->key));
        CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, i, FX_QUIET));
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
        fx_check_same(want, sink->data + at, from.total);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i,
                    from.total);
    }
}

Test(data_segments, read, .fini = bed_close)
{
    struct list to;

    bed_open(1234567);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct fx_buf *source = &bed.b.buf[i % REGIONS];
        size_t at = fx_random(&bed.random) % 7;

        list_random(&to, &bed.a, &bed.random);
        if (to.total + at > LONGEST)
            continue;
        fx_fill(source->data, at + to.total, (uint32_t)i + 9000);
        CHECK_OK(it_post_rdma_read(bed.pair.a_ep, to.segments, to.count, i, FX_SIGNAL,
                                   fx_addr(source, at), source->key));
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i,
                    to.total);
        list_copy(got, &to);
        fx_check_same(source->data + at, got, to.total);
    }
}

/* A Send may name the same memory more than once. */
Test(data_segments, send_repeats_memory)
{
    struct fx_pair pair;
    struct fx_buf out;
    struct fx_buf in;
    it_lmr_triplet_t segments[SEGMENTS];

    pair_open(&pair);
    out = fx_node_buf(&pair.a, 100);
    in = fx_node_buf(&pair.b, 100 * SEGMENTS);
    fx_fill(out.data, out.size, 3);
    for (size_t i = 0; i < SEGMENTS; i++)
        segments[i] = fx_seg(&out, 0, 100);
    fx_recv(pair.b_ep, &in, 0, in.size, 1);
    CHECK_OK(it_post_send(pair.a_ep, segments, SEGMENTS, 2, FX_SIGNAL));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 100 * SEGMENTS);
    for (size_t i = 0; i < SEGMENTS; i++)
        fx_check_same(out.data, in.data + 100 * i, 100);
    fx_pair_close(&pair);
}

/* The caller may change the segment array as soon as the call returns (P5). */
Test(data_segments, array_is_copied)
{
    struct fx_pair pair;
    struct fx_buf out;
    struct fx_buf in;
    it_lmr_triplet_t segment;

    fx_pair_open(&pair);
    out = fx_node_buf(&pair.a, 64);
    in = fx_node_buf(&pair.b, 64);
    fx_fill(out.data, out.size, 3);
    segment = fx_seg(&in, 0, 64);
    CHECK_OK(it_post_recv(pair.b_ep, &segment, 1, 1, FX_SIGNAL));
    memset(&segment, 0xff, sizeof(segment));
    segment = fx_seg(&out, 0, 64);
    CHECK_OK(it_post_send(pair.a_ep, &segment, 1, 2, FX_SIGNAL));
    memset(&segment, 0xff, sizeof(segment));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 64);
    fx_check_same(out.data, in.data, 64);
    fx_pair_close(&pair);
}
