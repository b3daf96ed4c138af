/* SPDX-License-Identifier: BSD-2-Clause */
/* it_post_send, it_post_recv, it_post_rdma_write, it_post_rdma_read, down to the provider. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>

TestSuite(ual_post, .init = world_init, .fini = world_fini);

enum {
    SEND,
    RECV,
    WRITE,
    READ,
    OPERATIONS
};

/* The limits of fake_world's endpoint. */
static const size_t max_segments[] = {1, 2, 4, 3};

static it_status_t post(int operation, it_ep_handle_t ep, const it_lmr_triplet_t *segments,
                        size_t count, unsigned flags)
{
    it_dto_flags_t dto_flags = (it_dto_flags_t)flags;

    switch (operation) {
    case SEND:
        return it_post_send(ep, segments, count, 77, dto_flags);
    case RECV:
        return it_post_recv(ep, segments, count, 77, dto_flags);
    case WRITE:
        return it_post_rdma_write(ep, segments, count, 77, dto_flags, 88, 99);
    default:
        return it_post_rdma_read(ep, segments, count, 77, dto_flags, 88, 99);
    }
}

static it_lmr_triplet_t segment(it_length_t length)
{
    return (it_lmr_triplet_t){.lmr = world.lmr, .addr.abs = world.memory, .length = length};
}

static unsigned calls(void)
{
    return fake.calls.post_request + fake.calls.post_recv;
}

Test(ual_post, bad_handles)
{
    for (int i = 0; i < OPERATIONS; i++) {
        it_status_t status = i == RECV ? IT_ERR_INVALID_HANDLE : IT_ERR_INVALID_EP;

        cr_assert_eq(post(i, NULL, NULL, 0, 0), status);
        cr_assert_eq(post(i, (it_ep_handle_t)(void *)world.pz, NULL, 0, 0), status);
    }
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    for (int i = 0; i < OPERATIONS; i++)
        cr_assert_eq(post(i, world.ep, NULL, 0, 0),
                     i == RECV ? IT_ERR_INVALID_HANDLE : IT_ERR_INVALID_EP, "a stale handle");
    cr_assert_eq(calls(), 0);
}

Test(ual_post, segments)
{
    struct fake_world other;
    it_lmr_handle_t stale;

    fake_world_open(&other);
    cr_assert_eq(it_lmr_create10(world.pz, world.memory, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                                 &stale, NULL),
                 IT_SUCCESS);
    cr_assert_eq(it_lmr_free(stale), IT_SUCCESS);
    for (int i = 0; i < OPERATIONS; i++) {
        it_lmr_triplet_t segments[5];

        for (size_t k = 0; k < 5; k++)
            segments[k] = segment(1);
        cr_assert_eq(post(i, world.ep, NULL, 1, 0), IT_ERR_FAULT);
        cr_assert_eq(post(i, world.ep, segments, max_segments[i] + 1, 0),
                     IT_ERR_INVALID_NUM_SEGMENTS);
        cr_assert_eq(post(i, world.ep, segments, SIZE_MAX, 0), IT_ERR_INVALID_NUM_SEGMENTS);
        segments[max_segments[i] - 1].lmr = NULL;
        cr_assert_eq(post(i, world.ep, segments, max_segments[i], 0), IT_ERR_INVALID_LMR);
        segments[max_segments[i] - 1].lmr = stale;
        cr_assert_eq(post(i, world.ep, segments, max_segments[i], 0), IT_ERR_INVALID_LMR);
        segments[max_segments[i] - 1].lmr = other.lmr;
        cr_assert_eq(post(i, world.ep, segments, max_segments[i], 0), IT_ERR_INVALID_LMR);
        segments[max_segments[i] - 1].lmr = world.lmr;
        cr_assert_eq(calls(), 2 * (unsigned)i);
        cr_assert_eq(post(i, world.ep, segments, max_segments[i], 0), IT_SUCCESS);
        cr_assert_eq(fake.request.segment_count, max_segments[i]);
        cr_assert_eq(post(i, world.ep, NULL, 0, 0), IT_SUCCESS, "empty");
    }
    fake_world_close(&other);
}

Test(ual_post, length)
{
    it_lmr_triplet_t segments[3] = {segment(1), segment(1), segment(1)};

    for (int i = 0; i < OPERATIONS; i++) {
        /*
         * A Send has the endpoint's limit. Operations that need no receive have the IA's. A receive
         * has none.
         */
        uint64_t limit = i == SEND ? 1000 : i == RECV ? UINT64_MAX : fake.attributes.max_message;

        segments[0].length = limit;
        cr_assert_eq(post(i, world.ep, segments, 1, 0), IT_SUCCESS);
        segments[0].length++;
        cr_assert_eq(post(i, world.ep, segments, 1, 0),
                     i == RECV ? IT_SUCCESS : IT_ERR_PAYLOAD_SIZE);
    }
    segments[0].length = segments[1].length = segments[2].length = UINT64_MAX / 2 + 1;
    cr_assert_eq(post(READ, world.ep, segments, 2, 0), IT_ERR_PAYLOAD_SIZE, "a sum of 0");
    cr_assert_eq(post(READ, world.ep, segments, 3, 0), IT_ERR_PAYLOAD_SIZE);
    segments[0].length = 600;
    segments[1].length = 400;
    cr_assert_eq(post(READ, world.ep, segments, 2, 0), IT_SUCCESS);
    cr_assert_eq(fake.request.length, 1000);
}

Test(ual_post, flags)
{
    static const unsigned allowed[] = {
        [SEND] = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_SOLICITED_WAIT_FLAG |
                 IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG,
        [RECV] = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_COALESCE_WR_FLAG,
        [WRITE] = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG,
        [READ] = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG,
    };

    for (int i = 0; i < OPERATIONS; i++) {
        for (unsigned flags = 0; flags < 0x100; flags++) {
            bool legal = (flags & ~allowed[i]) == 0;

            cr_assert_eq(post(i, world.ep, NULL, 0, flags),
                         legal ? IT_SUCCESS : IT_ERR_INVALID_DTO_FLAGS, "operation %d flags %x", i,
                         flags);
            if (legal)
                cr_assert_eq((unsigned)fake.request.flags, flags);
        }
    }
}

Test(ual_post, the_provider_gets_everything_and_decides)
{
    static const enum vp_opcode opcodes[] = {
        [SEND] = VP_SEND, [WRITE] = VP_RDMA_WRITE, [READ] = VP_RDMA_READ};
    it_lmr_triplet_t one = segment(5);

    for (int i = 0; i < OPERATIONS; i++) {
        cr_assert_eq(post(i, world.ep, &one, 1, IT_COMPLETION_FLAG), IT_SUCCESS);
        cr_assert_eq(fake.request.cookie, 77);
        cr_assert_eq(fake.request.segments, &one);
        if (i != RECV) {
            cr_assert_eq(fake.request.opcode, opcodes[i]);
            cr_assert_eq(fake.request.length, 5);
        }
        if (i == WRITE || i == READ) {
            cr_assert_eq(fake.request.rdma_addr, 88);
            cr_assert_eq(fake.request.rmr_context, 99);
        }
        fake.answer = IT_ERR_TOO_MANY_POSTS;
        cr_assert_eq(post(i, world.ep, &one, 1, 0), IT_ERR_TOO_MANY_POSTS);
        fake.answer = IT_SUCCESS;
    }
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    for (int i = 0; i < OPERATIONS; i++)
        cr_assert_eq(post(i, world.ep, &one, 1, 0), IT_ERR_IA_CATASTROPHE);
}
