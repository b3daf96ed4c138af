/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of disks: what they do, which are refused and how, residuals, sense. */
#include "iser_scsi_kit.h"
#include "support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct scsi_bed bed;

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void check_residual(uint32_t residual, bool overflow)
{
    bool over;

    CHECK_EQ(residual, iser_scsi_residual(&bed.command, &over));
    CHECK(over == overflow || residual == 0);
}

/* ---- What is refused ----------------------------------------------------------------- */

static void check_refusals(void)
{
    static const struct {
        uint32_t sense;
        const char *cdb;
        uint32_t out, in;
    } rows[] = {
        {0x052000, "ff", 0, 0},                                    /* no such command */
        {0x052000, "48 01", 0, 0},                                 /* SANITIZE */
        {0x052000, "83", 0, 0},                                    /* EXTENDED COPY */
        {0x052400, "9e 11", 0, 512},                               /* service action */
        {0x052400, "5e 04 0000000000 00ff", 0, 255},               /* the same */
        {0x052400, "00 0000000004", 0, 0},                         /* NACA */
        {0x052400, "28 20 00000000 00 0001", 0, 512},              /* RDPROTECT */
        {0x052400, "2a e0 00000000 00 0001", 512, 0},              /* WRPROTECT */
        {0x052400, "2f 06 00000000 00 0001", 512, 0},              /* BYTCHK 3 */
        {0x052400, "25 00 00000000 0000 01", 0, 8},                /* PMI */
        {0x052100, "28 00 00003fff 00 0002", 0, 1024},             /* behind the end */
        {0x052100, "28 00 00004001 00 0000", 0, 0},                /* 0 blocks beyond the end */
        {0x052100, "88 00 ffffffffffffffff 00000001", 0, 512},     /* the sum wraps */
        {0x052100, "88 00 8000000000000000 00000001", 0, 512},     /*   */
        {0x052100, "8a 00 0000000000003fff ffffffff", 512, 0},     /*   */
        {0x052100, "34 00 00004000 00 0001", 0, 0},                /* PREFETCH */
        {0x052100, "35 00 00004000 00 0001", 0, 0},                /* SYNCHRONIZE CACHE */
        {0x052100, "9e 12 0000000000004000 00000018", 0, 24},      /* GET LBA STATUS */
        {0x052400, "88 00 0000000000000000 00002001", 0, 512},     /* more than 4 MiB */
        {0x052400, "93 00 0000000000000000 00000000", 512, 0},     /* WRITE SAME of no blocks */
        {0x052400, "93 10 0000000000000000 00000001", 512, 0},     /* ANCHOR */
        {0x050e03, "93 00 0000000000000000 00000001", 1024, 0},    /* not one block of data */
        {0x052400, "89 00 0000000000000000 00 00 00 01", 512, 0},  /* COMPARE AND WRITE */
        {0x052400, "89 00 0000000000000000 00 00 00 01", 2048, 0}, /* too much data */
        {0x050e03, "2a 00 00000000 00 0001", 200, 0},              /* half a block */
        {0x050e03, "55 10 0000000000 0040", 8, 0},                 /* parameters are missing */
        {0x051a00, "42 0000000000 00 0007", 7, 0},                 /* UNMAP list without a header */
        {0x051a00, "5f 00 00 0000 00000017", 23, 0},               /* PERSISTENT RESERVE OUT */
        {0x053900, "1a 00 ca 00 ff", 0, 255},                      /* saved mode parameters */
        {0x052400, "1a 00 05 00 ff", 0, 255},                      /* no such mode page */
        {0x052400, "15 00 00 00 04", 4, 0},                        /* MODE SELECT without PF */
        {0x052400, "12 01 b9 00ff", 0, 255},                       /* no such VPD page */
        {0x052400, "12 00 80 00ff", 0, 255},                       /* a page without EVPD */
        {0x052400, "a0 00 00 000000 0000000f", 0, 15},             /* REPORT LUNS, too small */
        {0x052400, "a0 00 03 000000 00000100", 0, 256},            /* select report */
        {0x052400, "1b 00 00 00 02", 0, 0},                        /* LOEJ */
        {0x052400, "4d 00 51 00 00 0000 00ff", 0, 255},            /* no such log page */
        {0x052400, "a3 0c 01 9e 0010 00000100", 0, 256},           /* has service actions */
        {0x052400, "a3 0c 02 28 0000 00000100", 0, 256},           /* has none */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        scsi_bad(&bed, rows[i].sense, rows[i].cdb, rows[i].out, rows[i].in);
}

/* A LUN without a unit reports that, and answers INQUIRY and REPORT LUNS. */
static void check_absent(void)
{
    bed.lun = 7;
    CHECK_EQ(96, scsi_good(&bed, "12 00 00 00ff", 0, 255));
    CHECK_EQ(0x7f, bed.data[0]);
    CHECK_EQ(18, scsi_good(&bed, "03 00 00 00 ff", 0, 255));
    CHECK_EQ(0x25, bed.data[12]);
    CHECK_EQ(16, scsi_good(&bed, "a0 00 00 000000 00000100", 0, 256));
    scsi_bad(&bed, 0x052500, "00", 0, 0);
    scsi_bad(&bed, 0x052500, "28 00 00000000 00 0001", 0, 512);
    bed.lun = 0x4000; /* flat space */
    scsi_good(&bed, "00", 0, 0);
    bed.lun = 0x8000;
    scsi_bad(&bed, 0x052500, "00", 0, 0);
    bed.lun = 0;
}

/* ---- What is told -------------------------------------------------------------------- */

static void check_inquiry(void)
{
    static const uint8_t pages[] = {0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2};

    CHECK_EQ(96, scsi_good(&bed, "12 00 00 0104", 0, 260));
    CHECK_EQ(0, bed.data[0]);
    CHECK_EQ(91, bed.data[4]);
    CHECK_EQ(5, scsi_good(&bed, "12 00 00 0005", 0, 5));
    CHECK_EQ(10, scsi_good(&bed, "12 01 00 00ff", 0, 255));
    CHECK(memcmp(bed.data + 4, pages, sizeof(pages)) == 0);
    for (size_t i = 0; i < sizeof(pages); i++) {
        char cdb[] = "12 01 00 00ff";
        uint32_t length;

        cdb[6] = "0123456789abcdef"[pages[i] >> 4];
        cdb[7] = "0123456789abcdef"[pages[i] & 15];
        length = scsi_good(&bed, cdb, 0, 255);
        CHECK_EQ(pages[i], bed.data[1]);
        CHECK_EQ(length, 4u + (uint32_t)bed.data[2] * 256 + bed.data[3]);
    }
    scsi_good(&bed, "12 01 80 00ff", 0, 255);
    CHECK(memcmp(bed.data + 4, "memory-0", 8) == 0);
}

static void check_capacity(void)
{
    CHECK_EQ(8, scsi_good(&bed, "25", 0, 8));
    CHECK_EQ(SCSI_BLOCKS - 1, get32(bed.data));
    CHECK_EQ(512, get32(bed.data + 4));
    CHECK_EQ(32, scsi_good(&bed, "9e 10 0000000000000000 000000ff", 0, 255));
    CHECK_EQ(SCSI_BLOCKS - 1, get32(bed.data + 4));
    CHECK_EQ(0, bed.data[13]);
    CHECK_EQ(0xc0, bed.data[14]);
    CHECK_EQ(12, scsi_good(&bed, "9e 10 0000000000000000 0000000c", 0, 255));
    check_residual(243, false);
    CHECK_EQ(0, scsi_good(&bed, "9e 10 0000000000000000 00000000", 0, 0));
}

static void check_opcodes(void)
{
    uint32_t length = scsi_good(&bed, "a3 0c 80 00 0000 0000ffff", 0, 65535);

    CHECK_EQ(length, 4 + get32(bed.data));
    CHECK_EQ(0, (length - 4) % 20);
    CHECK_EQ(14, scsi_good(&bed, "a3 0c 01 28 0000 0000ffff", 0, 65535));
    CHECK_EQ(3, bed.data[1]);
    CHECK_EQ(0x28, bed.data[4]);
    CHECK_EQ(0x18, bed.data[5] & 0x18);
    CHECK_EQ(4, scsi_good(&bed, "a3 0c 01 48 0000 0000ffff", 0, 65535));
    CHECK_EQ(1, bed.data[1]);
    CHECK_EQ(20, scsi_good(&bed, "a3 0c 02 9e 0010 0000ffff", 0, 65535));
    CHECK_EQ(4, scsi_good(&bed, "a3 0c 03 9e 0011 0000ffff", 0, 65535));
    CHECK_EQ(10, scsi_good(&bed, "a3 0c 03 1b 0000 0000ffff", 0, 65535));
    CHECK_EQ(0xf5, bed.data[8]); /* no LOEJ: nothing can be ejected */
    CHECK_EQ(14, scsi_good(&bed, "a3 0c 03 41 0000 0000ffff", 0, 65535));
    CHECK_EQ(0x08, bed.data[5]); /* UNMAP */
    CHECK_EQ(20, scsi_good(&bed, "a3 0c 03 93 0000 0000ffff", 0, 65535));
    CHECK_EQ(0x09, bed.data[5]); /* UNMAP, NDOB */
}

/* A unit that is not thin does not report UNMAP, nor each command twice. */
static void check_thick_opcodes(void)
{
    static const unsigned char not_there[2] = {0x42, 0x01}, there[2] = {0x41, 0x93};
    static bool seen[256];
    uint32_t length = scsi_good(&bed, "a3 0c 00 00 0000 0000ffff", 0, 65535);

    memset(seen, 0, sizeof(seen));
    for (uint32_t at = 4; at < length; at += 8) {
        CHECK(!seen[bed.data[at]] || bed.data[at + 5] == 1); /* SERVACTV */
        seen[bed.data[at]] = true;
    }
    CHECK(seen[there[0]] && seen[there[1]] && !seen[not_there[0]] && !seen[not_there[1]]);
    CHECK_EQ(14, scsi_good(&bed, "a3 0c 03 41 0000 0000ffff", 0, 65535));
    CHECK_EQ(0, bed.data[5]);
    CHECK_EQ(20, scsi_good(&bed, "a3 0c 03 93 0000 0000ffff", 0, 65535));
    CHECK_EQ(0x01, bed.data[5]);
    scsi_bad(&bed, 0x052400, "41 08 00000000 00 0001", 512, 0);
    scsi_bad(&bed, 0x052400, "93 08 0000000000000000 00000001", 512, 0);
    scsi_good(&bed, "93 01 0000000000000000 00000001", 0, 0);
}

/* SWP and D_SENSE can be changed, by whole pages only. Other initiators are told. */
static void check_modes(void)
{
    uint8_t page[4 + 12];

    CHECK_EQ(24, scsi_good(&bed, "1a 00 0a 00 ff", 0, 255));
    CHECK_EQ(23, bed.data[0]);
    CHECK_EQ(0x10, bed.data[2]);
    CHECK_EQ(4, scsi_good(&bed, "1a 00 3f 00 04", 0, 4));
    check_residual(0, false);
    scsi_good(&bed, "5a 18 3f 00 000000 00ff", 0, 255);
    scsi_good(&bed, "1a 08 4a 00 ff", 0, 255); /* changeable */
    CHECK_EQ(0x04, bed.data[4 + 2]);
    CHECK_EQ(0x08, bed.data[4 + 4]);

    scsi_good(&bed, "1a 08 0a 00 ff", 0, 255);
    memcpy(page, bed.data, sizeof(page));
    page[0] = page[2] = 0;
    page[4 + 3] ^= 0x20; /* not changeable */
    memcpy(bed.data, page, sizeof(page));
    scsi_bad(&bed, 0x052600, "15 10 00 00 10", 16, 0);
    page[4 + 3] ^= 0x20;
    page[4 + 4] |= 0x08;
    memcpy(bed.data, page, sizeof(page));
    scsi_good(&bed, "15 10 00 00 10", 16, 0);
    scsi_good(&bed, "1a 08 0a 00 ff", 0, 255);
    CHECK_EQ(0x90, bed.data[2]);
    scsi_bad(&bed, 0x072700, "2a 00 00000000 00 0001", 512, 0);
    scsi_bad(&bed, 0x072700, "42 0000000000 00 0018", 24, 0);
    scsi_good(&bed, "28 00 00000000 00 0001", 0, 512);
    bed.nexus = bed.two;
    scsi_bad(&bed, 0x062a01, "00", 0, 0);
    bed.nexus = bed.one;

    page[4 + 4] &= (uint8_t)~0x08;
    page[4 + 2] |= 0x04;
    memcpy(bed.data, page, sizeof(page));
    scsi_good(&bed, "15 10 00 00 10", 16, 0);
    scsi_bad(&bed, 0x052100, "88 00 00ffffffffffffff 00000001", 0, 512);
    CHECK_EQ(0x72, bed.command.sense[0]);
    CHECK_EQ(20, bed.command.sense_length);
    iser_scsi_target_reset(bed.target);
    bed.nexus = bed.two;
    scsi_bad(&bed, 0x062903, "00", 0, 0);
    scsi_bad(&bed, 0x062a01, "00", 0, 0);
    bed.nexus = bed.one;
    scsi_bad(&bed, 0x062903, "00", 0, 0);
    scsi_bad(&bed, 0x052100, "88 00 00ffffffffffffff 00000001", 0, 512);
    CHECK_EQ(0x70, bed.command.sense[0]);
}

/* ---- Data ------------------------------------------------------------------------------ */

static void fill(uint8_t value, uint32_t length)
{
    memset(bed.data, value, length);
}

static void check_block(uint32_t lba, uint8_t value)
{
    char cdb[] = "28 00 00000000 00 0001";

    for (int i = 0; i < 8; i++)
        cdb[6 + i] = "0123456789abcdef"[lba >> (28 - 4 * i) & 15];
    CHECK_EQ(512, scsi_good(&bed, cdb, 0, 512));
    for (int i = 0; i < 512; i++)
        CHECK_EQ(value, bed.data[i]);
}

static void check_read_write(void)
{
    static const char *const writes[] = {"0a 000010 01",
                                         "2a 08 00000010 00 0001",
                                         "aa 10 00000010 00000001",
                                         "8a 18 0000000000000010 00000001",
                                         "2e 02 00000010 00 0001",
                                         "ae 00 00000010 00000001",
                                         "8e 00 0000000000000010 00000001"};
    static const char *const reads[] = {"08 000010 01", "a8 00 00000010 00000001",
                                        "88 00 0000000000000010 00000001"};

    for (uint8_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
        fill((uint8_t)(i + 1), 512);
        scsi_good(&bed, writes[i], 512, 0);
        check_block(16, (uint8_t)(i + 1));
        CHECK_EQ(512, scsi_good(&bed, reads[i % 3], 0, 512));
        CHECK_EQ(i + 1, bed.data[511]);
    }
    scsi_good(&bed, "08 000000 00", 0, 256 * 512); /* 0 is 256 */
    CHECK_EQ(256 * 512, bed.command.in_actual);
}

static void check_residuals(void)
{
    CHECK_EQ(0, scsi_good(&bed, "28 00 00000000 00 0001", 0, 0));
    check_residual(512, true);
    CHECK_EQ(200, scsi_good(&bed, "28 00 00000000 00 0001", 0, 200));
    check_residual(312, true);
    CHECK_EQ(512, scsi_good(&bed, "28 00 00000000 00 0001", 0, 10000));
    check_residual(9488, false);
    fill('a', 1024);
    scsi_good(&bed, "2a 00 00000000 00 0002", 1024, 0);
    fill('b', 1024);
    scsi_good(&bed, "2a 00 00000000 00 0001", 1024, 0);
    check_residual(512, false);
    check_block(1, 'a');
    fill('c', 1024);
    scsi_good(&bed, "2a 00 00000000 00 0002", 512, 0);
    check_residual(512, true);
    check_block(0, 'c');
    check_block(1, 'a');
    scsi_good(&bed, "2a 00 00000000 00 0001", 0, 0);
    check_residual(512, true);
    scsi_good(&bed, "00", 0, 100);
    check_residual(100, false);
    scsi_bad(&bed, 0x052000, "ff", 0, 100);
    check_residual(100, false);
}

static void check_verify(void)
{
    fill('v', 1024);
    scsi_good(&bed, "2a 00 00000020 00 0002", 1024, 0);
    fill('v', 1024);
    scsi_good(&bed, "2f 02 00000020 00 0002", 1024, 0);
    bed.data[700] = 'w';
    scsi_bad(&bed, 0x0e1d00, "2f 02 00000020 00 0002", 1024, 0);
    CHECK_EQ(700, get32(bed.command.sense + 3));
    scsi_good(&bed, "2f 00 00000020 00 0002", 0, 0);
    scsi_good(&bed, "8f 02 0000000000000020 00000000", 0, 0);
    scsi_bad(&bed, 0x0e1d00, "af 02 00000020 00000002", 1024, 0);
}

static void check_compare_and_write(void)
{
    fill('1', 512);
    scsi_good(&bed, "2a 00 00000030 00 0001", 512, 0);
    fill('1', 512);
    memset(bed.data + 512, '2', 512);
    scsi_good(&bed, "89 08 0000000000000030 000000 01", 1024, 0);
    check_block(0x30, '2');
    fill('2', 512);
    bed.data[3] = '3';
    memset(bed.data + 512, '4', 512);
    scsi_bad(&bed, 0x0e1d00, "89 00 0000000000000030 000000 01", 1024, 0);
    CHECK_EQ(3, get32(bed.command.sense + 3));
    check_block(0x30, '2');
    scsi_good(&bed, "89 00 0000000000000030 000000 00", 0, 0);
    fill(0x0c, 512);
    scsi_good(&bed, "8b 00 0000000000000030 00000001", 512, 0);
    check_block(0x30, '2' | 0x0c);
}

/* ---- Thin ------------------------------------------------------------------------------ */

static void unmap(uint8_t lba, uint32_t blocks)
{
    memset(bed.data, 0, 24);
    bed.data[1] = 22;
    bed.data[3] = 16;
    bed.data[15] = lba;
    for (int i = 0; i < 4; i++)
        bed.data[16 + i] = (uint8_t)(blocks >> (24 - 8 * i));
}

/* Returns the status of the block: 0 mapped, 1 deallocated. */
static int status_of(uint8_t lba)
{
    char cdb[] = "9e 12 0000000000000000 00000018";

    cdb[20] = "0123456789abcdef"[lba >> 4];
    cdb[21] = "0123456789abcdef"[lba & 15];
    CHECK_EQ(24, scsi_good(&bed, cdb, 0, 24));
    CHECK_EQ(lba, bed.data[15]);
    return bed.data[20];
}

static void check_thin(void)
{
    fill('u', 64 * 512);
    scsi_good(&bed, "2a 00 00000000 00 0040", 64 * 512, 0);
    CHECK_EQ(0, status_of(8));
    unmap(8, 8);
    scsi_good(&bed, "42 0000000000 00 0018", 24, 0);
    CHECK_EQ(1, status_of(8));
    CHECK_EQ(0, status_of(7));
    CHECK_EQ(0, status_of(16));
    check_block(8, 0);
    check_block(16, 'u');
    unmap(1, 1); /* a part of a page */
    scsi_good(&bed, "42 0000000000 00 0018", 24, 0);
    check_block(1, 0);
    check_block(2, 'u');
    unmap(0, 0);
    scsi_good(&bed, "42 0000000000 00 0018", 24, 0);
    scsi_good(&bed, "42 0000000000 00 0000", 0, 0);
    unmap(0, SCSI_BLOCKS + 1);
    scsi_bad(&bed, 0x052100, "42 0000000000 00 0018", 24, 0);
    check_block(2, 'u');

    fill(0, 512);
    scsi_good(&bed, "93 08 0000000000000020 00000008", 512, 0);
    CHECK_EQ(1, status_of(0x20));
    fill('s', 512);
    scsi_good(&bed, "93 08 0000000000000020 00000008", 512, 0); /* the data is not zero: written */
    check_block(0x27, 's');
    scsi_good(&bed, "41 00 00000020 00 0200", 512, 0);
    check_block(0x21f, 's');
    scsi_good(&bed, "93 01 0000000000000021 00000001", 0, 0); /* NDOB */
    check_block(0x21, 0);
    scsi_good(&bed, "93 08 0000000000000021 00000007", 0, 0); /* without data: zeros */
    check_block(0x20, 's');
}

/* ---- Failures of units --------------------------------------------------------------------- */

static int failure;

static int failing_read(void *context, uint64_t offset, void *data, size_t length)
{
    (void)context;
    (void)offset;
    memset(data, 0, length);
    return failure;
}

static int failing_write(void *context, uint64_t offset, const void *data, size_t length)
{
    (void)context;
    (void)offset;
    (void)data;
    (void)length;
    return failure;
}

static int failing_flush(void *context)
{
    (void)context;
    return failure;
}

static void check_failures(void)
{
    static const struct itiser_unit_ops ops = {
        .read = failing_read, .write = failing_write, .flush = failing_flush};
    static struct itiser_unit unit = {.ops = &ops,
                                      .blocks = 1024,
                                      .block_size = 512,
                                      .flags = ITISER_UNIT_CACHE,
                                      .serial = "bad"};

    scsi_open(&bed, &unit, NULL);
    bed.config.units[0] = NULL;
    scsi_bad(&bed, 0x052000, "42 0000000000 00 0018", 24, 0); /* not thin */
    check_thick_opcodes();
    failure = EIO;
    scsi_bad(&bed, 0x031100, "28 00 00000005 00 0001", 0, 512);
    CHECK_EQ(0xf0, bed.command.sense[0]);
    CHECK_EQ(5, get32(bed.command.sense + 3));
    check_residual(512, false); /* nothing is sent */
    scsi_bad(&bed, 0x031100, "28 00 00000005 00 0002", 0, 512);
    check_residual(512, false);
    scsi_bad(&bed, 0x030c00, "2a 00 00000005 00 0001", 512, 0);
    scsi_bad(&bed, 0x030c00, "35", 0, 0);
    scsi_bad(&bed, 0x031100, "2f 00 00000005 00 0001", 0, 0);
    scsi_bad(&bed, 0x031100, "89 00 0000000000000000 000000 01", 1024, 0);
    failure = ENOSPC;
    scsi_bad(&bed, 0x072707, "2a 00 00000005 00 0001", 512, 0);
    scsi_bad(&bed, 0x072707, "41 00 00000005 00 0001", 512, 0);
    failure = 0;
    scsi_good(&bed, "2a 08 00000005 00 0001", 512, 0);
    scsi_close(&bed);
}

static void check_start_stop(void)
{
    scsi_good(&bed, "1b 01 00 00 00", 0, 0);
    scsi_bad(&bed, 0x020402, "00", 0, 0);
    scsi_bad(&bed, 0x020402, "28 00 00000000 00 0001", 0, 512);
    scsi_good(&bed, "12 00 00 0024", 0, 36);
    CHECK_EQ(18, scsi_good(&bed, "03 00 00 00 ff", 0, 255));
    CHECK_EQ(2, bed.data[2]);
    scsi_good(&bed, "1b 00 00 00 10", 0, 0); /* a power condition */
    scsi_bad(&bed, 0x020402, "00", 0, 0);
    scsi_good(&bed, "1b 00 00 00 01", 0, 0);
    scsi_good(&bed, "00", 0, 0);
    scsi_good(&bed, "1e 00 00 00 01", 0, 0);
    scsi_good(&bed, "34 02 00000000 00 0001", 0, 0);
    CHECK_EQ(12, scsi_good(&bed, "4d 00 6f 00 00 0000 00ff", 0, 255) +
                     (scsi_good(&bed, "4d 00 40 00 00 0000 00ff", 0, 255) - 6));
}

/* ---- Anything -------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % bound;
}

/*
 * Runs CDBs of known commands with random other octets, often small numbers, and with random data,
 * too much or too little. Nothing may break that the kit and sanitizers can see, and the unit must
 * keep its size.
 */
static void check_anything(void)
{
    static const uint8_t opcodes[] = {0x00, 0x03, 0x08, 0x0a, 0x12, 0x15, 0x16, 0x17, 0x1a, 0x1e,
                                      0x25, 0x28, 0x2a, 0x2e, 0x2f, 0x34, 0x35, 0x41, 0x42, 0x4d,
                                      0x55, 0x5a, 0x5e, 0x5f, 0x88, 0x89, 0x8a, 0x8b, 0x8e, 0x8f,
                                      0x90, 0x91, 0x93, 0x9e, 0xa0, 0xa3, 0xa8, 0xaa, 0xae, 0xaf};

    for (int i = 0; i < 20000; i++) {
        uint8_t cdb[ISER_CDB_SIZE] = {opcodes[random_below(sizeof(opcodes))]};

        for (size_t k = 1; k < ISER_CDB_SIZE; k++)
            cdb[k] = random_below(3) ? 0 : (uint8_t)random_below(random_below(4) ? 32 : 256);
        for (int k = 0; k < 64; k++)
            bed.data[k] = random_below(2) ? 0 : (uint8_t)random_below(64);
        bed.nexus = random_below(2) ? bed.one : bed.two;
        scsi_run_cdb(&bed, cdb, random_below(2) ? 512 * random_below(64) : random_below(5000),
                     random_below(2) ? 512 * random_below(64) : random_below(5000));
        CHECK(bed.command.status != ISER_CHECK_CONDITION || bed.command.sense_length >= 8);
    }
    iser_scsi_target_reset(bed.target);
    bed.nexus = bed.one;
    while (scsi_run(&bed, "25", 0, 8) == ISER_CHECK_CONDITION)
        CHECK_EQ(6, scsi_sense(&bed) >> 16);
    CHECK_EQ(ISER_GOOD, bed.command.status);
    CHECK_EQ(SCSI_BLOCKS - 1, get32(bed.data));
}

int main(void)
{
    scsi_open(&bed, NULL, NULL);
    check_refusals();
    check_absent();
    check_inquiry();
    check_capacity();
    check_opcodes();
    check_modes();
    check_read_write();
    check_residuals();
    check_verify();
    check_compare_and_write();
    check_thin();
    check_start_stop();
    check_anything();
    scsi_close(&bed);
    check_failures();
    check_done();
    return 0;
}
