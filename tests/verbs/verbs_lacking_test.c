/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that only uiwarp has say so on a device, and change nothing. */
#include "support/it_window.h"
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>

static void start(void)
{
    stub_start();
    stub.has_windows = true;
}

TestSuite(verbs_lacking, .init = start);

#define LACKS(call) CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, call)

Test(verbs_lacking, of_an_endpoint, .init = stub_pair, .fini = stub_close)
{
    static char octets[64];
    const struct itx_aim aim = {.size = sizeof(aim), .octets = octets, .length = sizeof(octets)};
    it_length_t used;
    size_t copied;

    LACKS(itx_ep_limit_hold(n.a, 1, 1));
    LACKS(itx_ep_aim(n.a, &aim, &used));
    LACKS(itx_ep_flush(n.a));
    LACKS(itx_ep_clear(n.a));
    LACKS(itx_ep_tell_last_recv(n.a, IT_TRUE));
    LACKS(itx_post_invalidate(n.a, 1, 0, FX_SIGNAL));
    LACKS(itx_post_send_from(n.a, NULL, 0, 0, FX_SIGNAL, octets, &copied));
    fx_write(n.a, &n.buf, 0, 8, &n.buf, 64, 1, FX_SIGNAL);
    fx_done(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, IT_DTO_SUCCESS);
}

Test(verbs_lacking, of_memory, .init = stub_pair, .fini = stub_close)
{
    it_rmr_handle_t rmr = fx_rmr(n.fx.pz, IT_RMR_TYPE_NARROW);
    it_lmr_handle_t lmr = NULL;
    it_rmr_context_t key;

    LACKS(itx_lmr_create_at(n.fx.pz, n.buf.data, 64, 0, IT_PRIV_LOCAL_READ, IT_LMR_FLAG_NONE, &lmr,
                            &key));
    CHECK(lmr == NULL);
    LACKS(itx_rmr_reset(rmr));
    LACKS(itx_rmr_key(rmr, &key));
    LACKS(itx_rmr_link_key(rmr, n.buf.lmr, n.buf.data, 64, IT_ADDR_MODE_ABSOLUTE,
                           IT_PRIV_REMOTE_READ, n.a, 0, FX_SIGNAL, 1));
    CHECK_OK(it_rmr_free(rmr));
}
