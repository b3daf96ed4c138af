/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of programs may change while it is sent, so large messages are copied. The memory of
 * rsockets does not, and is sent without a copy.
 */
#include "verbs_kit.h"

#include "memory/ofa_memory.h"

static it_lmr_flag_t seen;

it_status_t __real_itx_lmr_create_at(it_pz_handle_t pz, void *addr, it_length_t length,
                                     it_rdma_addr_t base, it_mem_priv_t privs, it_lmr_flag_t flags,
                                     it_lmr_handle_t *lmr, it_rmr_context_t *rmr_context);
it_status_t __wrap_itx_lmr_create_at(it_pz_handle_t pz, void *addr, it_length_t length,
                                     it_rdma_addr_t base, it_mem_priv_t privs, it_lmr_flag_t flags,
                                     it_lmr_handle_t *lmr, it_rmr_context_t *rmr_context);

it_status_t __wrap_itx_lmr_create_at(it_pz_handle_t pz, void *addr, it_length_t length,
                                     it_rdma_addr_t base, it_mem_priv_t privs, it_lmr_flag_t flags,
                                     it_lmr_handle_t *lmr, it_rmr_context_t *rmr_context)
{
    seen = flags;
    return __real_itx_lmr_create_at(pz, addr, length, base, privs, flags, lmr, rmr_context);
}

static char memory[2][64];

/* Gives the region other memory, which is like the first. */
static void check(struct ibv_mr *mr, it_lmr_flag_t flags)
{
    CHECK(mr != NULL);
    CHECK_EQ(flags, seen);
    seen = (it_lmr_flag_t)0x1000;
    CHECK_EQ(0, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory[1],
                             sizeof(memory[1]), 0));
    CHECK_EQ(flags, seen);
    CHECK_EQ(0, ibv_dereg_mr(mr));
}

int main(void)
{
    verbs_kit_open();
    check(ibv_reg_mr(verbs_kit.pd, memory[0], sizeof(memory[0]), 0), ITX_LMR_RESTLESS);
    check(ofa_register_still(verbs_kit.pd, memory[0], sizeof(memory[0]), 0), IT_LMR_FLAG_NONE);
    verbs_kit_close();
    check_done();
    return 0;
}
