/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic operations and immediate values, down to the provider. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>

TestSuite(ual_post_atomic, .init = world_init, .fini = world_fini);

static it_lmr_triplet_t word(size_t offset, it_length_t length)
{
    unsigned char *aligned = world.memory + (0u - (uintptr_t)world.memory) % 8;

    return (it_lmr_triplet_t){.lmr = world.lmr, .addr.abs = aligned + offset, .length = length};
}

Test(ual_post_atomic, the_provider_gets_everything_and_decides)
{
    static const struct {
        it_atomic_op_t op;
        enum vp_opcode opcode;
    } rows[] = {{IT_FETCH_AND_ADD, VP_FETCH_ADD}, {IT_COMPARE_AND_SWAP, VP_CMP_SWAP}};
    it_lmr_triplet_t result = word(8, 8);

    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(
            it_post_atomic(world.ep, rows[i].op, 3, 4, &result, 77, IT_COMPLETION_FLAG, 88, 99),
            IT_SUCCESS);
        cr_assert_eq(fake.request.opcode, rows[i].opcode);
        cr_assert(fake.request.operand == 3 && fake.request.compare == 4);
        cr_assert(fake.request.cookie == 77 && fake.request.flags == IT_COMPLETION_FLAG);
        cr_assert(fake.request.rdma_addr == 88 && fake.request.rmr_context == 99);
        cr_assert(fake.request.segments == &result && fake.request.segment_count == 1);
        cr_assert_eq(fake.request.length, 8);
        cr_assert(!fake.request.has_immediate);
    }
    cr_assert_eq(itx_post_atomic_swap(world.ep, 5, &result, 77, (it_dto_flags_t)0, 88, 99),
                 IT_SUCCESS);
    cr_assert(fake.request.opcode == VP_SWAP && fake.request.operand == 5);
    fake.answer = IT_ERR_OP_NOT_SUPPORTED; /* of a provider without atomics */
    cr_assert_eq(
        it_post_atomic(world.ep, IT_FETCH_AND_ADD, 3, 4, &result, 77, (it_dto_flags_t)0, 88, 99),
        IT_ERR_OP_NOT_SUPPORTED);
}

Test(ual_post_atomic, flags)
{
    const unsigned allowed =
        IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG;
    it_lmr_triplet_t result = word(0, 8);

    for (unsigned flags = 0; flags < 0x100; flags++)
        cr_assert_eq(it_post_atomic(world.ep, IT_FETCH_AND_ADD, 1, 0, &result, 0,
                                    (it_dto_flags_t)flags, 8, 1),
                     flags & ~allowed ? IT_ERR_INVALID_DTO_FLAGS : IT_SUCCESS, "%x", flags);
}

/* If several arguments are wrong, the first in the order of the API's rules decides the status. */
Test(ual_post_atomic, order_of_checks)
{
    it_lmr_triplet_t bad = {.lmr = NULL, .length = 7};
    const it_atomic_op_t no_op = (it_atomic_op_t)9;
    const it_dto_flags_t no_flags = (it_dto_flags_t)0x8000;

#define POST(ep, op, result, flags)                                                                \
    it_post_atomic((ep), (op), 1, 0, (result), 0, (it_dto_flags_t)(flags), 3, 1)
    cr_assert_eq(POST(NULL, no_op, NULL, no_flags), IT_ERR_INVALID_EP);
    cr_assert_eq(POST(world.ep, no_op, NULL, no_flags), IT_ERR_FAULT);
    cr_assert_eq(POST(world.ep, no_op, &bad, no_flags), IT_ERR_INVALID_DTO_FLAGS);
    cr_assert_eq(POST(world.ep, no_op, &bad, 0), IT_ERR_INVALID_ATOMIC_OP);
    cr_assert_eq(POST(world.ep, IT_FETCH_AND_ADD, &bad, 0), IT_ERR_INVALID_LMR);
    bad = word(4, 7);
    cr_assert_eq(POST(world.ep, IT_FETCH_AND_ADD, &bad, 0), IT_ERR_INVALID_LENGTH);
    bad = word(4, 8);
    cr_assert_eq(POST(world.ep, IT_FETCH_AND_ADD, &bad, 0), IT_ERR_ADDRESS);
    bad = word(8, 8);
    cr_assert_eq(POST(world.ep, IT_FETCH_AND_ADD, &bad, 0), IT_ERR_ADDRESS);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(POST(world.ep, no_op, &bad, no_flags), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(itx_ep_enable_immediate(world.ep, IT_TRUE), IT_ERR_IA_CATASTROPHE);
#undef POST
    cr_assert_eq(fake.calls.post_request, 0);
}

static it_status_t send_imm(uint64_t value)
{
    return itx_post_send_imm(world.ep, NULL, 0, 5, (it_dto_flags_t)0, value);
}

static it_status_t write_imm(uint64_t value)
{
    return itx_post_rdma_write_imm(world.ep, NULL, 0, 5, (it_dto_flags_t)0, 88, 99, value);
}

/* An immediate value with more bits than the transport has is refused, never truncated. */
Test(ual_post_atomic, immediate_of_the_transport)
{
    static const struct {
        uint32_t bits;
        uint64_t most;
    } rows[] = {{32, UINT32_MAX}, {64, UINT64_MAX}};

    cr_assert_eq(itx_ep_enable_immediate(world.ep, IT_TRUE), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(send_imm(1), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(write_imm(1), IT_ERR_OP_NOT_SUPPORTED);
    for (size_t i = 0; i < 2; i++) {
        fake.attributes.immediate_bits = rows[i].bits;
        cr_assert_eq(itx_ep_enable_immediate(world.ep, IT_TRUE), IT_SUCCESS);
        cr_assert_eq(send_imm(rows[i].most), IT_SUCCESS);
        cr_assert(fake.request.opcode == VP_SEND && fake.request.has_immediate);
        cr_assert_eq(fake.request.immediate, rows[i].most);
        cr_assert_eq(write_imm(rows[i].most), IT_SUCCESS);
        cr_assert(fake.request.opcode == VP_RDMA_WRITE && fake.request.rdma_addr == 88);
        if (rows[i].bits == 32) {
            cr_assert_eq(send_imm(rows[i].most + 1), IT_ERR_PAYLOAD_SIZE);
            cr_assert_eq(write_imm(UINT64_MAX), IT_ERR_PAYLOAD_SIZE);
        }
    }
    cr_assert_eq(itx_ep_enable_immediate(world.ep, IT_FALSE), IT_SUCCESS);
    cr_assert_eq(send_imm(1), IT_ERR_OP_NOT_SUPPORTED);
}
