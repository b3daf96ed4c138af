/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions: checks of their memory, and the three bindings. */
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/fixture_node.h"
#include "support/fixture_pair.h"

static it_status_t make_lmr(void *addr, size_t length, unsigned mode, unsigned privs,
                            unsigned flags)
{
    it_lmr_handle_t lmr = NULL;
    it_rmr_context_t key = 0;
    it_status_t status = it_lmr_create21(node.pz, addr, NULL, length, (it_addr_mode_t)mode,
                                         (it_mem_priv_t)privs, (it_lmr_flag_t)flags, 0, &lmr, &key);

    EXPECT((status == IT_SUCCESS) == (lmr != NULL));
    if (lmr != NULL)
        EXPECT_OK(it_lmr_free(lmr));
    return status;
}

/* Every page is checked, from the first octet to the last. */
Test(api_memory, pages, .init = node_init, .fini = node_fini)
{
    static unsigned char memory[64];
    unsigned char *readonly;
    unsigned char *hole;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    readonly = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(readonly != MAP_FAILED);
    EXPECT_OK(make_lmr(readonly, page, 0, IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ, 1));
    EXPECT_STATUS(IT_ERR_ACCESS, make_lmr(readonly, page, 0, IT_PRIV_LOCAL, 1));
    EXPECT_STATUS(IT_ERR_ACCESS, make_lmr(readonly + page, 2, 0, IT_PRIV_LOCAL_WRITE, 1));
    hole = readonly + page;
    CHECK(munmap(hole, page) == 0);
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(hole, page, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(hole - 1, 2, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_STATUS(IT_ERR_FAULT, make_lmr(readonly, 3 * page, 0, IT_PRIV_LOCAL_READ, 1));
    EXPECT_OK(make_lmr(hole - 1, 1, 0, IT_PRIV_LOCAL_READ, 1));
    /* This region wraps around the end of the address space. */
    {
        it_status_t status = make_lmr(memory, SIZE_MAX, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, 1);

        EXPECT(status == IT_ERR_RESOURCE_LMR_LENGTH || status == IT_ERR_FAULT);
    }
    (void)munmap(readonly, page);
    (void)munmap(readonly + 2 * page, page);
}

/* The three bindings make the same kind of region. */
Test(api_memory, lmr_bindings, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf sink;
    static unsigned char memory[3][64];
    it_lmr_handle_t lmr[3];
    it_rmr_context_t key[3];

    sink = fx_node_buf(&pair.a, 64);
    for (uint32_t i = 0; i < 3; i++)
        fx_fill(memory[i], 64, i);
    CHECK_OK(it_lmr_create10(pair.b.pz, memory[0], 64, FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &lmr[0],
                             &key[0]));
    CHECK_OK(it_lmr_create20(pair.b.pz, memory[1], 64, IT_ADDR_MODE_RELATIVE, FX_PRIVS_ALL,
                             IT_LMR_FLAG_NONE, 0, &lmr[1], &key[1]));
    CHECK_OK(it_lmr_create21(pair.b.pz, memory[2], NULL, 64, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL,
                             IT_LMR_FLAG_NONE, 0, &lmr[2], &key[2]));
    for (uint32_t i = 0; i < 3; i++) {
        it_lmr_triplet_t segment = fx_seg(&sink, 0, 64);
        it_rdma_addr_t address =
            i == 1 ? it_make_rdma_addr_relative(0) : it_make_rdma_addr_absolute(memory[i]);

        CHECK_OK(it_post_rdma_read(pair.a_ep, &segment, 1, i, FX_SIGNAL, address, key[i]));
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 64);
        fx_check_same(memory[i], sink.data, 64);
        CHECK_OK(it_lmr_free(lmr[i]));
    }
}
