/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs poll for the last octet of an RDMA Write, though no standard promises that this works:
 * when that octet is there, all octets before it are. Here one thread places the octets and another
 * one polls.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>

#include "support/fixture_pair.h"

#define SIZE   2048
#define ROUNDS 3000

TestSuite(data_last_octet, .init = pair_init, .fini = pair_fini);

/* Spins, since the poll must meet the copy. */
static void await_octet(const struct fx_buf *buf, size_t place, unsigned char value)
{
    struct fx_patience patience = fx_patience_start("the last octet of a Write");
    volatile const unsigned char *octet = &buf->data[place];

    for (unsigned spin = 1; *octet != value; spin++)
        if (spin % 100000 == 0)
            fx_patience_check(&patience);
    atomic_thread_fence(memory_order_acquire);
}

static bool is_all(const unsigned char *data, size_t length, unsigned char value)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] != value)
            return false;
    return true;
}

Test(data_last_octet, is_placed_last)
{
    struct fx_buf from = fx_node_buf(&pair.a, SIZE), to = fx_node_buf(&pair.b, SIZE);
    uint32_t dice = 1;

    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t length = 1 + fx_random(&dice) % SIZE;
        unsigned char value = (unsigned char)(1 + round % 255);
        it_lmr_triplet_t segment;

        memset(from.data, value, length);
        segment = fx_seg(&from, 0, length);
        CHECK_OK(
            it_post_rdma_write(pair.a_ep, &segment, 1, round, FX_SIGNAL, fx_addr(&to, 0), to.key));
        await_octet(&to, length - 1, value);
        CHECK(is_all(to.data, length, value));
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, round, IT_DTO_SUCCESS);
        memset(to.data, 0, SIZE);
    }
}
