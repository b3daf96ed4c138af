/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the payload: in many pieces, read into directly, and invalidated. */
#include "iw_rx_bed.h"

#include <criterion/criterion.h>

Test(iw_rx, memory_goes_away)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count = 1;
    uint32_t wanted = 50;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    for (unsigned maps = 0; maps < 3; maps++) {
        start(&mix_setup);
        model.maps_left = maps;
        cr_assert_eq(iw_model_feed(&rx, stream, builder.length, 20, false, maps), IW_ERR_DDP_LOCAL);
        cr_assert(rx.state == IW_RX_DEAD && model.log_length == 0 && iw_model_intact(&model));
    }
    start(&mix_setup);
    model.maps_left = 1;
    cr_assert_eq(iw_rx_consume(&rx, stream, 100), IW_OK);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_ERR_DDP_LOCAL);
    cr_assert_eq(count, 0);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
}

Test(iw_rx, direct_reads)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count = 7;
    uint32_t wanted = 10;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    start(&mix_setup);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert(count == 0 && wanted == 0 && !model.mapped);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_consume(&rx, stream, 16), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 500);
    /* The first direct read receives nothing. The second one asks for more than the FPDU has. */
    wanted = 10;
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert(model.mapped && count == 3 && wanted == 10);
    cr_assert_eq(iw_rx_direct_end(&rx, 0), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 500);
    wanted = UINT32_MAX;
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert_eq(wanted, 500);
    cr_assert_eq(iov[0].iov_len + iov[1].iov_len + iov[2].iov_len, 500);
    memcpy(iov[0].iov_base, stream + 16, 500); /* the model's pieces lie side by side */
    cr_assert_eq(iw_rx_direct_end(&rx, UINT32_MAX), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 0);
    cr_assert_eq(rx.state, IW_RX_TRAILER);
    cr_assert_eq(rx.fpdus, 0);
    cr_assert_eq(iw_rx_consume(&rx, stream + 516, builder.length - 516), IW_OK);
    cr_assert_eq(rx.fpdus, 1);
}

/* Memory in more pieces than fit into one map is mapped in several steps. */
Test(iw_rx, short_maps)
{
    struct builder builder = {.crc = true, .msn = 1};
    struct iovec iov[IW_RX_IOV_MAX];
    unsigned count;
    uint32_t wanted = 500;

    build_tagged(&builder, IW_OP_WRITE, true, 0x11223344, 0x10002000, 500);
    for (uint32_t most = 1; most <= 501; most += 50) {
        for (unsigned direct = 0; direct < 2; direct++) {
            for (size_t longest = 1; longest <= builder.length; longest += 97) {
                start(&mix_setup);
                model.map_most = most;
                cr_assert_eq(iw_model_feed(&rx, stream, builder.length, longest, direct, most),
                             IW_OK);
                cr_assert(rx.fpdus == 1 && iw_model_intact(&model));
                cr_assert_eq(
                    memcmp(model.regions[0].buffer.octets + IW_MODEL_CANARY, stream + 16, 500), 0);
            }
        }
    }
    start(&mix_setup);
    model.map_most = 99;
    cr_assert_eq(iw_rx_consume(&rx, stream, 16), IW_OK);
    cr_assert_eq(iw_rx_direct_begin(&rx, &wanted, iov, &count), IW_OK);
    cr_assert_eq(wanted, 99);
    cr_assert_eq(iw_rx_direct_end(&rx, 500), IW_OK);
    cr_assert_eq(iw_rx_direct_wanted(&rx), 401);
}
