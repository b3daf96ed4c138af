/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of the posting calls: flags, segment counts, payload size. Also segments whose errors
 * are found only when the operation runs: outside their region, without the right, of another zone.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture_pair.h"

#define ALL_BITS 0x7fu

enum op {
    OP_SEND,
    OP_RECV,
    OP_WRITE,
    OP_READ,
    OPS
};

static const char *const names[] = {"send", "recv", "write", "read"};

static it_status_t post(enum op op, it_ep_handle_t ep, const it_lmr_triplet_t *segments,
                        size_t count, uint64_t cookie, unsigned flags, const struct fx_buf *remote)
{
    it_dto_flags_t f = (it_dto_flags_t)flags;
    it_rdma_addr_t address = remote != NULL ? fx_addr(remote, 0) : 0;
    it_rmr_context_t key = remote != NULL ? remote->key : 0;

    switch (op) {
    case OP_SEND:
        return it_post_send(ep, segments, count, cookie, f);
    case OP_RECV:
        return it_post_recv(ep, segments, count, cookie, f);
    case OP_WRITE:
        return it_post_rdma_write(ep, segments, count, cookie, f, address, key);
    case OP_READ:
        return it_post_rdma_read(ep, segments, count, cookie, f, address, key);
    case OPS:
    default:
        return IT_SUCCESS;
    }
}

static it_event_type_t event_of(enum op op)
{
    static const it_event_type_t events[] = {IT_DTO_SEND_CMPL_EVENT, IT_DTO_RC_RECV_CMPL_EVENT,
                                             IT_DTO_RDMA_WRITE_CMPL_EVENT,
                                             IT_DTO_RDMA_READ_CMPL_EVENT};

    return events[op];
}

static it_evd_handle_t evd_of(const struct fx_node *node, enum op op)
{
    return op == OP_RECV ? node->recv_evd : node->request_evd;
}

/* Returns whether the standard allows these flags with this operation. */
static bool allowed(enum op op, unsigned flags, bool local_extensions)
{
    unsigned mask = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_COALESCE_WR_FLAG;

    if (op == OP_SEND)
        mask |= IT_SOLICITED_WAIT_FLAG | IT_BARRIER_FENCE_FLAG;
    if (op == OP_WRITE || op == OP_READ)
        mask |= IT_BARRIER_FENCE_FLAG;
    if (op == OP_READ && local_extensions)
        mask |= IT_UNLINK_LOCAL_SINK;
    return (flags & ~mask) == 0;
}

static bool local_extensions(const struct fx_node *node)
{
    it_ia_info_t *info = NULL;
    bool answer;

    CHECK_OK(it_ia_query(node->ia, &info));
    answer = info->rdma_read_local_extensions == IT_TRUE;
    it_ia_info_free(info);
    return answer;
}

/*
 * Tries all 128 combinations with every operation, in state NONOPERATIONAL, where all posts
 * complete.
 */
Test(api_posts, flags, .init = pair_init, .fini = pair_fini)
{
    bool extensions = local_extensions(&pair.a);
    struct fx_buf buf = fx_buf_make(&pair.a, 8);
    it_lmr_triplet_t segment = fx_seg(&buf, 0, 8);

    CHECK_OK(it_ep_disconnect(pair.a_ep, NULL, 0));
    for (int op = 0; op < OPS; op++) {
        check_context(names[op]);
        for (unsigned flags = 0; flags <= ALL_BITS; flags++) {
            bool ok = allowed((enum op)op, flags, extensions);
            it_status_t status = post((enum op)op, pair.a_ep, &segment, 1, flags, flags, &buf);

            EXPECT_STATUS(ok ? IT_SUCCESS : IT_ERR_INVALID_DTO_FLAGS, status);
            if (status == IT_SUCCESS)
                fx_done(evd_of(&pair.a, (enum op)op), pair.a_ep, event_of((enum op)op), flags,
                        IT_DTO_ERR_FLUSHED);
        }
        for (unsigned bit = 7; bit < 32; bit++)
            EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                          post((enum op)op, pair.a_ep, &segment, 1, 0, 1u << bit, &buf));
    }
    check_context(NULL);
    fx_empty(pair.a.request_evd);
    fx_empty(pair.a.recv_evd);
    fx_buf_free(&buf);
    check_done();
}

/* Posts NOTIFY without COMPLETION, and COALESCE_WR, on a live connection. */
Test(api_posts, flags_that_work, .init = pair_init, .fini = pair_fini)
{
    for (unsigned i = 0; i < 20; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, IT_COALESCE_WR_FLAG));
    for (unsigned i = 0; i < 19; i++)
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, i,
                              (it_dto_flags_t)(IT_NOTIFY_FLAG | IT_COALESCE_WR_FLAG)));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 19, FX_SIGNAL));
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 19, 0);
    for (unsigned i = 0; i < 20; i++)
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 0);
    fx_empty(pair.a.request_evd);
}

/* A request with IT_COALESCE_WR_FLAG is sent even if no other request follows. */
Test(api_posts, coalesced_and_alone, .init = pair_init, .fini = pair_fini)
{
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(
        it_post_send(pair.a_ep, NULL, 0, 2, (it_dto_flags_t)(FX_SIGNAL | IT_COALESCE_WR_FLAG)));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, 0);
}

static size_t segments_of(it_ep_handle_t ep, enum op op)
{
    it_ep_param_t p;

    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &p));
    switch (op) {
    case OP_SEND:
        return p.attr.max_send_segments;
    case OP_RECV:
        return p.attr.max_recv_segments;
    case OP_WRITE:
        return p.attr.srv.rc.max_rdma_write_segments;
    case OP_READ:
        return p.attr.srv.rc.max_rdma_read_segments;
    case OPS:
    default:
        return 0;
    }
}

Test(api_posts, too_many_segments, .init = pair_init, .fini = pair_fini)
{
    it_lmr_triplet_t *segments;
    struct fx_buf buf = fx_buf_make(&pair.a, 8);

    for (int op = 0; op < OPS; op++) {
        size_t most = segments_of(pair.a_ep, (enum op)op);

        check_context(names[op]);
        CHECK(most >= 8 && most < 10000);
        segments = calloc(most + 1, sizeof(*segments));
        CHECK(segments != NULL);
        for (size_t i = 0; i <= most; i++)
            segments[i] = fx_seg(&buf, 0, 0);
        EXPECT_STATUS(IT_ERR_INVALID_NUM_SEGMENTS,
                      post((enum op)op, pair.a_ep, segments, most + 1, 1, FX_SIGNAL, NULL));
        EXPECT_STATUS(IT_ERR_FAULT, post((enum op)op, pair.a_ep, NULL, 1, 1, FX_SIGNAL, NULL));
        free(segments);
    }
    check_context(NULL);
    fx_empty(pair.a.request_evd);
    fx_empty(pair.a.recv_evd);
    fx_pair_ping(&pair);
    fx_buf_free(&buf);
    check_done();
}

/* A huge count is refused before the array is read. */
Test(api_posts, absurd_count, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_buf_make(&pair.a, 8);
    it_lmr_triplet_t segment = fx_seg(&buf, 0, 8);

    for (int op = 0; op < OPS; op++)
        EXPECT_STATUS(IT_ERR_INVALID_NUM_SEGMENTS,
                      post((enum op)op, pair.a_ep, &segment, SIZE_MAX, 1, FX_SIGNAL, NULL));
    fx_buf_free(&buf);
    check_done();
}

/*
 * Returns whether the operation needs no receive of the peer: max_dto_payload_size does not limit
 * it.
 */
static bool one_sided(enum op op)
{
    return op == OP_WRITE || op == OP_READ;
}

/* Payloads above max_dto_payload_size or above the IA's limit, and lengths whose sum overflows. */
Test(api_posts, payload_size)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr};
    struct fx_buf buf;
    it_ep_param_t p;
    it_lmr_triplet_t segments[4];
    uint64_t most;

    attr.max_dto_payload_size = 1000;
    fx_pair_open_as(&pair, &setup);
    CHECK_OK(it_ep_query(pair.a_ep, IT_EP_PARAM_ALL, &p));
    CHECK(p.attr.max_dto_payload_size >= 1000);
    buf = fx_node_buf(&pair.a, 64);
    for (size_t i = 0; i < 4; i++)
        segments[i] = fx_seg(&buf, 0, 0);
    for (int op = 0; op < OPS; op++) {
        if (op == OP_RECV)
            continue;
        check_context(names[op]);
        most = one_sided((enum op)op) ? UINT32_MAX : p.attr.max_dto_payload_size;
        segments[0].length = most + 1;
        EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE,
                      post((enum op)op, pair.a_ep, segments, 1, 1, FX_SIGNAL, NULL));
        segments[0].length = most;
        segments[1].length = 1;
        EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE,
                      post((enum op)op, pair.a_ep, segments, 2, 1, FX_SIGNAL, NULL));
        segments[0].length = UINT64_MAX;
        segments[1].length = 2;
        EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE,
                      post((enum op)op, pair.a_ep, segments, 2, 1, FX_SIGNAL, NULL));
        for (size_t i = 0; i < 4; i++)
            segments[i].length = 1ull << 62;
        EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE,
                      post((enum op)op, pair.a_ep, segments, 4, 1, FX_SIGNAL, NULL));
        for (size_t i = 0; i < 4; i++)
            segments[i].length = 0;
    }
    check_context(NULL);
    fx_empty(pair.a.request_evd);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    check_done();
}

/* RDMA Reads and Writes may be longer than max_dto_payload_size. */
Test(api_posts, one_sided_beyond_payload_size)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr};
    const size_t length = 300000;
    struct fx_buf local;
    struct fx_buf remote;

    attr.max_dto_payload_size = 1000;
    fx_pair_open_as(&pair, &setup);
    local = fx_node_buf(&pair.a, length);
    remote = fx_node_buf(&pair.b, length);
    fx_fill(local.data, length, 1);
    fx_write(pair.a_ep, &local, 0, length, &remote, 0, 1, FX_SIGNAL);
    fx_read(pair.a_ep, &local, 0, length, &remote, 0, 2, FX_SIGNAL);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, length);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, length);
    EXPECT(fx_is_filled(remote.data, length, 1));
    EXPECT(fx_is_filled(local.data, length, 1));
    fx_pair_close(&pair);
    check_done();
}

/* ---- Found when it runs --------------------------------------------------------------------- */

/*
 * The operation on side a completes with LOCAL_PROTECTION, later ones are flushed, and the
 * connection breaks on both sides.
 */
static void local_protection(enum op op, const it_lmr_triplet_t *segments, size_t count,
                             const struct fx_buf *remote)
{
    struct fx_buf out = fx_buf_make(&pair.b, 64);

    if (op == OP_RECV) {
        CHECK_OK(it_post_recv(pair.a_ep, segments, count, 1, FX_SIGNAL));
        CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 2, FX_SIGNAL));
        fx_send(pair.b_ep, &out, 0, 16, 3, FX_QUIET);
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1,
                IT_DTO_ERR_LOCAL_PROTECTION);
        fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    } else {
        it_event_t event;

        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 9, FX_SIGNAL));
        CHECK_OK(post(op, pair.a_ep, segments, count, 1, FX_QUIET, remote));
        fx_done(pair.a.request_evd, pair.a_ep, event_of(op), 1, IT_DTO_ERR_LOCAL_PROTECTION);
        event = fx_next(pair.b.recv_evd);
        EXPECT_EQ(IT_DTO_ERR_FLUSHED, event.dto_cmpl.dto_status);
        CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 2, FX_QUIET));
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_ERR_FLUSHED);
    }
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.a_ep));
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.b_ep));
    fx_empty(pair.a.conn_evd);
    fx_empty(pair.b.conn_evd);
    fx_drain(pair.b.request_evd);
    fx_buf_free(&out);
    fx_pair_rejoin(&pair);
}

static void on_every_operation(const it_lmr_triplet_t *segments, size_t count,
                               const struct fx_buf *remote)
{
    for (int op = 0; op < OPS; op++) {
        check_context(names[op]);
        local_protection((enum op)op, segments, count, remote);
    }
    check_context(NULL);
}

Test(api_posts, segment_outside_its_region, .init = pair_init, .fini = pair_fini)
{
    it_lmr_triplet_t segments[3];
    struct fx_buf buf = fx_buf_make(&pair.a, 64);
    struct fx_buf rel = fx_buf_make_as(pair.a.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);
    struct fx_buf remote = fx_node_buf(&pair.b, 256);

    segments[0] = fx_seg(&buf, 0, 65);
    on_every_operation(segments, 1, &remote);
    segments[0] = fx_seg(&buf, 64, 16);
    on_every_operation(segments, 1, &remote);
    segments[0] = fx_seg(&buf, 0, 16);
    segments[0].addr.abs = buf.data - 1;
    on_every_operation(segments, 1, &remote);
    segments[0].addr.abs = (void *)(UINTPTR_MAX - 3);
    on_every_operation(segments, 1, &remote);
    segments[0] = fx_seg(&rel, 63, 16);
    on_every_operation(segments, 1, &remote);
    segments[0].addr.rel = UINT64_MAX;
    on_every_operation(segments, 1, &remote);
    /* The last of several segments is bad. */
    segments[0] = fx_seg(&buf, 0, 4);
    segments[1] = fx_seg(&rel, 0, 4);
    segments[2] = fx_seg(&rel, 60, 8);
    on_every_operation(segments, 3, &remote);
    CHECK(fx_is_byte(remote.data, remote.size, 0));
    fx_buf_free(&buf);
    fx_buf_free(&rel);
    check_done();
}

Test(api_posts, segment_without_the_right, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf readable =
        fx_buf_make_as(pair.a.pz, 64, IT_PRIV_LOCAL_READ, IT_ADDR_MODE_ABSOLUTE);
    struct fx_buf writable =
        fx_buf_make_as(pair.a.pz, 64, IT_PRIV_LOCAL_WRITE, IT_ADDR_MODE_ABSOLUTE);
    struct fx_buf none = fx_buf_make_as(pair.a.pz, 64, IT_PRIV_NONE, IT_ADDR_MODE_ABSOLUTE);
    struct fx_buf remote = fx_node_buf(&pair.b, 64);
    it_lmr_triplet_t segment = fx_seg(&readable, 0, 16);

    local_protection(OP_RECV, &segment, 1, &remote);
    local_protection(OP_READ, &segment, 1, &remote);
    segment = fx_seg(&writable, 0, 16);
    local_protection(OP_SEND, &segment, 1, &remote);
    local_protection(OP_WRITE, &segment, 1, &remote);
    segment = fx_seg(&none, 0, 16);
    on_every_operation(&segment, 1, &remote);
    CHECK(fx_is_byte(readable.data, 64, 0) && fx_is_byte(none.data, 64, 0));
    /* With local rights both operations work: the sink of a Read needs no remote right. */
    fx_read(pair.a_ep, &writable, 0, 16, &remote, 0, 1, FX_SIGNAL);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, 16);
    fx_write(pair.a_ep, &readable, 0, 16, &remote, 0, 1, FX_SIGNAL);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 16);
    fx_buf_free(&readable);
    fx_buf_free(&writable);
    fx_buf_free(&none);
    check_done();
}

Test(api_posts, segment_of_another_zone, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf other;
    struct fx_buf remote;
    it_pz_handle_t pz = NULL;
    it_lmr_triplet_t segment;

    CHECK_OK(it_pz_create(pair.a.ia, &pz));
    other = fx_buf_make_as(pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    remote = fx_buf_make(&pair.b, 64);
    segment = fx_seg(&other, 0, 16);
    on_every_operation(&segment, 1, &remote);
    CHECK(fx_is_byte(remote.data, 64, 0) && fx_is_byte(other.data, 64, 0));
    fx_buf_free(&other);
    fx_buf_free(&remote);
    CHECK_OK(it_pz_free(pz));
    check_done();
}

/* A region of another IA is refused at once or when the operation runs. It is never used. */
Test(api_posts, segment_of_another_ia, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf remote;
    it_lmr_triplet_t segment;
    struct fx_buf foreign = fx_node_buf(&pair.b, 64);

    memset(foreign.data, 0x42, 64);
    remote = fx_node_buf(&pair.b, 64);
    segment = fx_seg(&foreign, 0, 16);
    for (int op = 0; op < OPS; op++) {
        it_status_t status;

        check_context(names[op]);
        if (op == OP_RECV) {
            status = it_post_recv(pair.a_ep, &segment, 1, 1, FX_SIGNAL);
            EXPECT_STATUS(IT_ERR_INVALID_LMR, status);
            continue;
        }
        status = post((enum op)op, pair.a_ep, &segment, 1, 1, FX_SIGNAL, &remote);
        EXPECT_STATUS(IT_ERR_INVALID_LMR, status);
    }
    check_context(NULL);
    EXPECT(fx_is_byte(foreign.data, 64, 0x42));
    EXPECT(fx_is_byte(remote.data, 64, 0));
    check_done();
}

/* Of an empty segment only the handle is checked. */
Test(api_posts, empty_segment_anywhere, .init = pair_init, .fini = pair_fini)
{
    it_lmr_triplet_t segments[2];
    struct fx_buf buf = fx_buf_make(&pair.a, 64);
    struct fx_buf in = fx_node_buf(&pair.b, 64);

    fx_fill(buf.data, 64, 1);
    fx_recv(pair.b_ep, &in, 0, 64, 1);
    segments[0] = fx_seg(&buf, 64, 0);
    segments[1] = fx_seg(&buf, 0, 64);
    CHECK_OK(it_post_send(pair.a_ep, segments, 2, 2, FX_SIGNAL));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 64);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, 64);
    fx_check_same(buf.data, in.data, 64);
    fx_buf_free(&buf);
}

/*
 * The region is freed after the post: the operation ends with a protection error when it runs, or
 * before.
 */
Test(api_posts, region_freed_after_posting, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf buf = fx_buf_make(&pair.a, 64);
    struct fx_buf out = fx_node_buf(&pair.b, 64);

    memset(out.data, 0x66, 64);
    fx_recv(pair.a_ep, &buf, 0, 64, 1);
    CHECK_OK(it_lmr_free(buf.lmr));
    fx_send(pair.b_ep, &out, 0, 64, 2, FX_SIGNAL);
    fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_PROTECTION);
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK(fx_is_byte(buf.data, 64, 0));
    buf.lmr = NULL;
    fx_buf_free(&buf);
}
