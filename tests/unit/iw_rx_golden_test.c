/* SPDX-License-Identifier: BSD-2-Clause */
/* Golden connections: checks what the receiver reports of their octets, however they are cut. */
#include "vectors/iw_golden.h"

#include "iw_rx_bed.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

static void run_golden(char connection, char from, const struct setup *setup, const char *expected)
{
    size_t length = iw_golden_stream(connection, from, stream, sizeof(stream));

    cr_assert_gt(length, 0);
    run_all_ways(setup, length);
    cr_assert_str_eq(want, expected);
}

Test(iw_rx, golden_a_at_responder)
{
    const struct setup setup = {.size = 128, .receives = 5, .crc = true, .ird = 1};

    run_golden('A', 'I', &setup,
               "3 1/0+33 ~0 =30add279\n"
               "0 11223344:10002000+15 =8dc1ed9f\n"
               "read 55667788:40+10 to aabbcc01:7f0000001000\n"
               "4 2/0+2a ~55667788 =efcd8ac5\n"
               "3- 3/0+40 ~0 =7b7d69c5\n"
               "3 3/40+24 ~0 =bc5be365\n"
               "0 0:0+0 =00000000\n"
               "0- 11223344:10002000+20 =0b2ae445\n"
               "0 11223344:10002020+8 =9be17165\n"
               "3 4/0+2f ~0 =1f163443\n"
               "end 1100 fpdus 10 boundary 1\n"
               "headers 1 1 0 length 30 =e54958e0 =f5cbf9f5\n");
}

Test(iw_rx, golden_a_at_initiator)
{
    const struct setup setup = {.size = 64,
                                .receives = 2,
                                .crc = true,
                                .ird = 1,
                                .read_posted = true,
                                .read_stag = SINK,
                                .read_to = 0x7f0000001000,
                                .read_length = 16};
    struct iw_model_region *sink;

    /*
     * A Send with Solicited Event and a Read Response. The model does not have the invalidated
     * STag.
     */
    run_golden('A', 'R', &setup,
               "5 1/0+28 ~0 =20a34e25\n"
               "2 aabbcc01:7f0000001000+10 =b209b501\n"
               "end 109 fpdus 2 boundary 1\n"
               "headers 1 1 0 length 60 =fd844c38 =f5cbf9f5\n");
    /* When the model has it, the Terminate behind it is reported. */
    start(&setup);
    sink = &model.regions[0];
    sink->stag = SINK;
    cr_assert_eq(iw_rx_consume(&rx, stream, iw_golden_stream('A', 'R', stream, ROOM)), IW_OK);
    cr_assert(strstr(model.log, "6 2/0+2a ~aabbcc01"));
    cr_assert(strstr(model.log, "terminate 1100\n"));
    cr_assert(rx.state == IW_RX_DEAD && rx.fpdus == 3 && sink->stag == 0);
}

Test(iw_rx, golden_b)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = true, .ird = 1};

    run_golden('B', 'I', &setup,
               "3 1/0+2c ~0 =0e3f4901\n"
               "end 100 fpdus 1 boundary 1\n"
               "headers 1 1 1 length 46 =09841287 =56ce23a1\n");
    run_golden('B', 'R', &setup,
               "3 1/0+2c ~0 =56be1eee\n"
               "terminate 102\n"
               "end 0 fpdus 1 boundary 1\n");
}

Test(iw_rx, golden_c)
{
    const struct setup responder = {.size = 64, .receives = 1, .crc = true, .ird = 1};
    const struct setup initiator = {.size = 64,
                                    .receives = 1,
                                    .crc = true,
                                    .read_posted = true,
                                    .read_stag = SINK,
                                    .read_length = 0};

    run_golden('C', 'I', &responder,
               "read 0:0+0 to 0:0\n"
               "end 0 fpdus 1 boundary 1\n");
    run_golden('C', 'R', &initiator,
               "2 0:0+0 =00000000\n"
               "3 1/0+2c ~0 =c9d501c8\n"
               "end 0 fpdus 2 boundary 1\n");
}

Test(iw_rx, golden_e_without_crc)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = false};

    run_golden('E', 'I', &setup,
               "3 1/0+2c ~0 =bd7b08d1\n"
               "end 0 fpdus 1 boundary 1\n");
}

Test(iw_rx, golden_g_at_responder)
{
    const struct setup setup = {
        .size = 128, .receives = 2, .crc = true, .ird = 2, .atomic_value = 0x1000};

    run_golden('G', 'I', &setup,
               "atomic 0 1010101 22334455:40 1000 to 1005\n"
               "atomic 2 1010102 22334455:40 1005 to 77\n"
               "immediate 1122334455667788\n"
               "immediate se 99aabbccddeeff00\n"
               "end 0 fpdus 4 boundary 1\n");
}

Test(iw_rx, golden_g_at_initiator)
{
    const struct setup setup = {
        .size = 64, .receives = 1, .crc = true, .atomics = 2, .atomic_id = 0x01010101};

    run_golden('G', 'R', &setup,
               "original 1010101 1000\n"
               "original 1010102 1005\n"
               "end 0 fpdus 2 boundary 1\n");
}

Test(iw_rx, golden_h_terminate_at_startup)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = true, .ird = 1};

    run_golden('H', 'I', &setup, "terminate 2006\nend 0 fpdus 0 boundary 1\n");
}

Test(iw_rx, golden_siw_terminate)
{
    const struct setup setup = {.size = 64, .receives = 1, .crc = false};
    size_t length;

    length = iw_golden_frame('s', 12, stream, sizeof(stream));
    run_all_ways(&setup, length);
    cr_assert_str_eq(want, "terminate 1202 siw\nend 0 fpdus 0 boundary 1\n");
}
