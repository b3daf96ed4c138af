/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs every row of the table of bad FPDUs: each has its error and its Terminate, and delivers
 * nothing that it must not.
 */
#include "tdi/iwarp/iw_rx.h"
#include "tdi/iwarp/iw_wire.h"

#include "vectors/iw_hex.h"
#include "vectors/iw_model.h"
#include "vectors/iw_negative.h"

#include <criterion/criterion.h>

#define ROWS (sizeof(iw_negative) / sizeof(iw_negative[0]))
#define ROOM 512

static struct iw_model model;
static struct iw_rx rx;

static void start(bool crc)
{
    iw_model_init(&model, 64, 1);
    iw_rx_init(&rx, iw_model_ops(), &model, crc);
}

/* Returns what may be reported besides the error. */
static const char *expected_log(const struct iw_negative *row)
{
    if (strstr(row->what, "second Send"))
        return "3 1/0+10 ~0 =4d221c05\n";
    if (strstr(row->what, "two Reads"))
        return "read 55667788:0+8 to aabbcc01:0\n";
    if (strstr(row->what, "Write of 0"))
        return "0 deadbeef:5+0 =00000000\n";
    if (strstr(row->what, "Read of 0"))
        return "read deadbeef:9+0 to aabbcc01:0\n";
    if (strstr(row->what, "after the peer's Terminate"))
        return "terminate 1100\n";
    return "";
}

static void check(const struct iw_negative *row, enum iw_error error)
{
    struct iw_terminate terminate;

    cr_assert_eq(error, row->error, "%s: %x", row->what, (unsigned)error);
    cr_assert(iw_model_intact(&model), "%s", row->what);
    cr_assert_str_eq(model.log, expected_log(row), "%s", row->what);
    if (error == IW_OK)
        return;
    iw_rx_fill_terminate(&rx, error, &terminate);
    cr_assert_eq(terminate.error, row->error);
    cr_assert_eq(terminate.has_rdmap, row->rdmap_header, "%s", row->what);
    if (IW_ERROR_LAYER(error) == 1 && strncmp(row->what, "DDP version", 11) != 0)
        cr_assert(terminate.has_ddp && terminate.has_length, "%s", row->what);
    if (IW_ERROR_LAYER(error) == 2 || strncmp(row->what, "DDP version", 11) == 0)
        cr_assert(!terminate.has_ddp && !terminate.has_length, "%s", row->what);
}

Test(iw_rx_negative, table)
{
    cr_assert_eq(ROWS, 40);
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t octets[ROOM];
        size_t length = iw_hex(iw_negative[i].hex, octets, sizeof(octets));

        start(true);
        check(&iw_negative[i], iw_rx_consume(&rx, octets, length));
        for (size_t piece = 1; piece <= length; piece++) {
            start(true);
            check(&iw_negative[i], iw_model_feed(&rx, octets, length, piece, true, 3));
        }
        for (size_t cut = 1; cut < length; cut++) {
            enum iw_error error;

            start(true);
            error = iw_rx_consume(&rx, octets, cut);
            if (error == IW_OK)
                error = iw_rx_consume(&rx, octets + cut, length - cut);
            check(&iw_negative[i], error);
        }
    }
}

/* A good FPDU behind the error has no effect. */
Test(iw_rx_negative, nothing_after_the_error)
{
    uint8_t good[ROOM];
    size_t good_length = iw_hex("000ec140 00000000 00000000 00000000 a30572ab", good, ROOM);

    for (size_t i = 0; i < ROWS; i++) {
        uint8_t octets[ROOM];
        size_t length = iw_hex(iw_negative[i].hex, octets, sizeof(octets));

        if (iw_negative[i].error == IW_OK)
            continue;
        memcpy(octets + length, good, good_length);
        start(true);
        check(&iw_negative[i], iw_rx_consume(&rx, octets, length + good_length));
        cr_assert_eq(rx.state, IW_RX_DEAD);
        cr_assert_eq(iw_rx_consume(&rx, good, good_length), IW_OK);
        cr_assert_str_eq(model.log, expected_log(&iw_negative[i]));
    }
}

/* Without CRC the verdicts are the same except that of damaged payload. */
Test(iw_rx_negative, table_without_crc)
{
    for (size_t i = 1; i < ROWS; i++) {
        uint8_t octets[ROOM];
        size_t length = iw_hex(iw_negative[i].hex, octets, sizeof(octets));

        cr_assert_gt(length, IW_CRC_FIELD);
        memset(octets + length - IW_CRC_FIELD, 0, IW_CRC_FIELD);
        start(false);
        check(&iw_negative[i], iw_rx_consume(&rx, octets, length));
        start(false);
        check(&iw_negative[i], iw_model_feed(&rx, octets, length, 1, false, 3));
    }
}
