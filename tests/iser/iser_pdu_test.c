/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the octets of PDUs against RFC 7143 and RFC 7145. */
#include "pdu/iser_pdu.h"
#include "pdu/iser_text.h"
#include "support/check.h"
#include "support/raw_peer.h"

#include <string.h>

/* ---- golden octets --------------------------------------------------------------------------- */

static void golden_command(void)
{
    struct iser_header header;
    struct iser_pdu pdu;
    RAW_BYTES(octets);
    uint8_t again[ISER_HEADER];

    raw_add_hex(&octets, "14000000 00000000 00000000 00000000 00abcd01 00000000 12345000"
                         "01c10000 00000000 00000000 00000000 00000010 00001000 00000005 00000004"
                         "28000000 00000000 08000000 00000000");
    CHECK(iser_header_decode(octets.data, octets.len, &header));
    CHECK(header.kind == ISER_CONTROL && header.has_read && !header.has_write);
    CHECK_EQ(0x00abcd01, header.read_stag);
    CHECK_EQ(0x12345000, header.read_base);
    iser_header_encode(&header, again);
    CHECK(memcmp(again, octets.data, sizeof(again)) == 0);
    CHECK(iser_pdu_decode(octets.data + ISER_HEADER, octets.len - ISER_HEADER, &pdu));
    CHECK(!iser_pdu_fault(pdu.bhs));
    CHECK_EQ(ISER_SCSI_COMMAND, iser_opcode_of(pdu.bhs));
    CHECK_EQ(16, iser_get32(pdu.bhs + ISER_AT_ITT));
    CHECK_EQ(4096, iser_get32(pdu.bhs + ISER_AT_EXPECTED));
    CHECK_EQ(5, iser_get32(pdu.bhs + ISER_AT_CMD_SN));
    CHECK_EQ(4, iser_get32(pdu.bhs + ISER_AT_EXP_STAT_SN));
    CHECK_EQ(0x28, pdu.bhs[ISER_AT_CDB]);
    CHECK(pdu.length == 0 && pdu.ahs_length == 0);
}

static void golden_response(void)
{
    static const struct iser_header control = {.kind = ISER_CONTROL};
    uint8_t octets[ISER_HEADER + ISER_BHS];
    uint8_t *bhs = octets + ISER_HEADER;
    RAW_BYTES(wanted);

    raw_add_hex(&wanted, "10000000 00000000 00000000 00000000 00000000 00000000 00000000"
                         "21800000 00000000 00000000 00000000 00000010 00000000 00000004 00000006"
                         "00000045 00000000 00000000 00000000");
    iser_header_encode(&control, octets);
    iser_pdu_begin(bhs, ISER_SCSI_RESPONSE, ISER_FINAL, 16);
    iser_put32(bhs + ISER_AT_STAT_SN, 4);
    iser_put32(bhs + ISER_AT_EXP_CMD_SN, 6);
    iser_put32(bhs + ISER_AT_MAX_CMD_SN, 0x45);
    CHECK_EQ(wanted.len, sizeof(octets));
    CHECK(memcmp(octets, wanted.data, wanted.len) == 0);
}

static void golden_hello(void)
{
    struct iser_header reply = {
        .kind = ISER_HELLO_REPLY, .max_version = 10, .version = 10, .depth = 4};
    struct iser_header hello;
    uint8_t octets[ISER_HEADER];
    RAW_BYTES(wanted);
    RAW_BYTES(asked);

    raw_add_hex(&asked, "20aa0004");
    raw_add_fill(&asked, 0, 24);
    CHECK(iser_header_decode(asked.data, asked.len, &hello));
    CHECK(hello.kind == ISER_HELLO && hello.max_version == 10 && hello.version == 10);
    CHECK_EQ(4, hello.depth);
    CHECK(!iser_header_decode(asked.data, asked.len - 1, &hello));
    raw_add_byte(&asked, 0);
    CHECK(!iser_header_decode(asked.data, asked.len, &hello));
    raw_add_hex(&wanted, "30aa0004");
    raw_add_fill(&wanted, 0, 24);
    iser_header_encode(&reply, octets);
    CHECK(memcmp(octets, wanted.data, sizeof(octets)) == 0);
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void lengths(void)
{
    uint8_t octets[ISER_BHS + 16] = {ISER_SCSI_COMMAND};
    struct iser_pdu pdu;

    CHECK(!iser_pdu_decode(octets, ISER_BHS - 1, &pdu));
    for (unsigned ahs = 0; ahs <= 4; ahs++)
        for (unsigned data = 0; data <= 20; data++) {
            bool fits = ahs * 4 + data <= 16 && 16 - ahs * 4 - data <= 4;

            octets[ISER_AT_AHS] = (uint8_t)ahs;
            iser_put24(octets + ISER_AT_LENGTH, data);
            CHECK_EQ(fits, iser_pdu_decode(octets, sizeof(octets), &pdu));
            if (fits)
                CHECK(pdu.length == data && pdu.data == octets + ISER_BHS + (size_t)ahs * 4);
        }
    iser_put24(octets + ISER_AT_LENGTH, 0xffffff);
    CHECK(!iser_pdu_decode(octets, sizeof(octets), &pdu));
}

/* Segments in front of it are skipped. None that lies is read. */
static void bidi_length(void)
{
    static const struct {
        const char *octets;
        uint32_t expected;
    } rows[] = {
        {"0005 02 00 00012345", 0x12345},
        {"0005 01 00 00012345", 0},
        {"0004 02 00 00012345", 0},
        {"0009 02 00 00012345 00000000", 0},
        {"000a 01 00 00000000 00000000 00000000 0005 02 00 00000007", 7},
        {"0009 01 00 00000000 00000000 0005 02 00 00000007", 7},
        {"0001 01 00 0005 02 00 00000007", 7},
        {"ffff 01 00 0005 02 00 00000007", 0},
        {"0005 02 00", 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct iser_pdu pdu = {0};
        RAW_BYTES(ahs);

        raw_add_hex(&ahs, rows[i].octets);
        pdu.ahs = ahs.data;
        pdu.ahs_length = ahs.len;
        CHECK_EQ(rows[i].expected, iser_pdu_bidi_expected(&pdu));
    }
}

/* ---- digests, texts -------------------------------------------------------------------------- */

static void digests(void)
{
    static const uint8_t zeros[32]; /* RFC 7143, A.4 */

    CHECK_EQ(0x8a9136aa, iser_crc32c(0, zeros, sizeof(zeros)));
    CHECK_EQ(0xe3069283, iser_crc32c(0, "123456789", 9));
    CHECK_EQ(0xe3069283, iser_crc32c(iser_crc32c(0, "1234", 4), "56789", 5));
}

static void texts(void)
{
    static const struct {
        const char *text;
        size_t length;
        bool legal;
    } rows[] = {{"", 0, true},          {"A=1", 4, true},       {"A=1", 3, false},
                {"A", 2, false},        {"=1", 3, false},       {"A=1\0B=", 7, true},
                {"A=1\0A=2", 8, false}, {"A=1\0AB=2", 9, true}, {"A b=1", 6, false},
                {"\0A=1", 5, false}};
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQ(rows[i].legal, iser_text_is_legal(rows[i].text, rows[i].length));
    CHECK(strcmp(iser_text_find("A=1\0AB=2", 9, "AB"), "2") == 0);
    CHECK(!iser_text_find("A=1\0AB=2", 9, "B"));
    CHECK(iser_text_number("0x1F", 31, &number) && number == 31);
    CHECK(!iser_text_number("32", 31, &number) && !iser_text_number("-1", 31, &number) &&
          !iser_text_number("", 31, &number) && !iser_text_number("0x", 31, &number) &&
          !iser_text_number("18446744073709551616", UINT64_MAX, &number));
}

int main(void)
{
    golden_command();
    golden_response();
    golden_hello();
    lengths();
    bidi_length();
    digests();
    texts();
    return 0;
}
