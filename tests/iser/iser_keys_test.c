/* SPDX-License-Identifier: BSD-2-Clause */
/* Which answer each key of a login gets, whatever an initiator says, and what then holds. */
#include "session/iser_keys.h"
#include "support/check.h"

#include <string.h>

#define KEY_63 "k23456789012345678901234567890123456789012345678901234567890123"

static const struct iser_terms usual = {.rdma = true, .digests = true, .first_burst = 65536};

/* Negotiates a text, with its last NUL, and compares the answer. */
static void negotiate(struct iser_params *params, const struct iser_terms *terms, const char *text,
                      size_t length, const char *answer, size_t answer_length)
{
    static struct iser_text out;
    struct iser_keys_said said = {0};

    iser_params_init(params);
    memset(&out, 0, sizeof(out));
    CHECK(iser_text_is_legal(text, length));
    CHECK(iser_keys_negotiate(params, terms, text, length, &said, &out));
    CHECK(!out.overflow);
    if (out.length != answer_length || memcmp(out.octets, answer, answer_length) != 0)
        CHECK_FAIL("\"%s\" gets \"%s\" instead of \"%s\"", text, out.octets, answer);
}

/* ---- one key --------------------------------------------------------------------------------- */

/* answer: NULL: none; "" stands for Reject. */
static const struct {
    const char *key, *value, *answer;
} rows[] = {
    {"HeaderDigest", "CRC32C,None", "CRC32C"},
    {"HeaderDigest", "None,CRC32C", "None"},
    {"HeaderDigest", ",CRC32C", "CRC32C"},
    {"HeaderDigest", "X-new,CRC32C", "CRC32C"},
    {"HeaderDigest", "crc32c", ""},
    {"HeaderDigest", "CRC32CC", ""},
    {"HeaderDigest", "CRC32", ""},
    {"HeaderDigest", "None ", ""},
    {"HeaderDigest", "", ""},
    {"DataDigest", ",,,", ""},
    {"InitialR2T", "No", "No"},
    {"InitialR2T", "Yes", "Yes"},
    {"InitialR2T", "yes", ""},
    {"InitialR2T", "Yes,No", ""},
    {"InitialR2T", "", ""},
    {"ImmediateData", "Yes", "Yes"},
    {"ImmediateData", "1", ""},
    {"MaxBurstLength", "512", "512"},
    {"MaxBurstLength", "0x200", "512"},
    {"MaxBurstLength", "16777215", "1048576"},
    {"MaxBurstLength", "511", ""},
    {"MaxBurstLength", "16777216", ""},
    {"MaxBurstLength", "18446744073709551617", ""},
    {"MaxBurstLength", "-1", ""},
    {"MaxBurstLength", "+512", ""},
    {"MaxBurstLength", " 512", ""},
    {"MaxBurstLength", "512 ", ""},
    {"MaxBurstLength", "1e6", ""},
    {"MaxBurstLength", "0x", ""},
    {"MaxBurstLength", "512~1024", ""},
    {"FirstBurstLength", "262144", "65536"},
    {"MaxOutstandingR2T", "65535", "1"},
    {"MaxOutstandingR2T", "0", ""},
    {"MaxConnections", "8", "1"},
    {"MaxConnections", "65536", ""},
    {"ErrorRecoveryLevel", "2", "0"},
    {"ErrorRecoveryLevel", "3", ""},
    {"DefaultTime2Wait", "3600", "3600"},
    {"DefaultTime2Wait", "3601", ""},
    {"DefaultTime2Retain", "20", "0"},
    {"DataPDUInOrder", "No", "Yes"},
    {"DataSequenceInOrder", "No", "Yes"},
    {"IFMarker", "Yes", "No"},
    {"OFMarkInt", "2048", "Irrelevant"},
    {"MaxRecvDataSegmentLength", "512", NULL},
    {"MaxRecvDataSegmentLength", "1", ""},
    {"InitiatorRecvDataSegmentLength", "16777215", "262144"},
    {"TargetRecvDataSegmentLength", "262144", "8192"},
    {"RDMAExtensions", "Yes", "Yes"},
    {"RDMAExtensions", "No", "No"},
    {"iSERHelloRequired", "Yes", NULL},
    {"iSERHelloRequired", "Maybe", ""},
    {"TaggedBufferForSolicitedDataOnly", "Yes", NULL},
    {"MaxOutstandingUnexpectedPDUs", "4294967295", NULL},
    {"MaxOutstandingUnexpectedPDUs", "4294967296", ""},
    {"MaxAHSLength", "0", NULL},
    {"InitiatorName", "iqn.2026-11.example:i", NULL},
    {"CHAP_R", "0x00", NULL},
    {"TargetPortalGroupTag", "1", NULL},
    {"TargetAlias", "a disk", NULL},
    {"TargetAddress", "192.0.2.1,1", NULL},
    {"initialr2t", "Yes", "NotUnderstood"},
    {"X-com.example", "1", "NotUnderstood"},
    {KEY_63, "", "NotUnderstood"},
};

static void each_key(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static struct iser_text text, answer;
        struct iser_params params;

        text.length = answer.length = 0;
        iser_text_put(&text, rows[i].key, rows[i].value);
        if (rows[i].answer)
            iser_text_put(&answer, rows[i].key, rows[i].answer[0] ? rows[i].answer : "Reject");
        negotiate(&params, &usual, text.octets, text.length, answer.octets, answer.length);
    }
}

/* A value that is rejected changes nothing. */
static void rejected_values(void)
{
    static const char text[] = "MaxBurstLength=1\0InitialR2T=\0MaxRecvDataSegmentLength=x";
    static const char answer[] =
        "MaxBurstLength=Reject\0InitialR2T=Reject\0MaxRecvDataSegmentLength=Reject";
    struct iser_params params, before;

    iser_params_init(&before);
    negotiate(&params, &usual, text, sizeof(text), answer, sizeof(answer));
    CHECK(memcmp(&params, &before, sizeof(params)) == 0);
}

/* ---- several keys ---------------------------------------------------------------------------- */

#define NEGOTIATE(params, terms, text, answer)                                                     \
    negotiate(params, terms, text, sizeof(text), answer, sizeof(answer))

static void what_the_target_insists_on(void)
{
    static const struct iser_terms strict = {.initial_r2t = true, .no_immediate = true};
    struct iser_params params;

    NEGOTIATE(&params, &strict,
              "InitialR2T=No\0ImmediateData=Yes\0RDMAExtensions=Yes\0DataDigest=CRC32C",
              "InitialR2T=Yes\0ImmediateData=No\0RDMAExtensions=No\0DataDigest=Reject");
    CHECK_EQ(1, params.initial_r2t);
    CHECK_EQ(0, params.immediate_data + params.rdma + params.data_digest);
}

/*
 * RDMA has no digests, and a first burst is part of a burst, in whatever order the keys come. The
 * initiator is told the same.
 */
static void what_depends(void)
{
    struct iser_params params;

    NEGOTIATE(&params, &usual, "HeaderDigest=CRC32C\0RDMAExtensions=Yes",
              "HeaderDigest=CRC32C\0RDMAExtensions=Yes");
    CHECK_EQ(0, params.header_digest);
    NEGOTIATE(&params, &usual, "FirstBurstLength=65536\0MaxBurstLength=8192",
              "FirstBurstLength=8192\0MaxBurstLength=8192");
    CHECK_EQ(8192, params.first_burst);
    NEGOTIATE(&params, &usual, "MaxBurstLength=8192\0FirstBurstLength=512",
              "MaxBurstLength=8192\0FirstBurstLength=512");
    NEGOTIATE(&params, &usual, "MaxBurstLength=1\0FirstBurstLength=65536",
              "MaxBurstLength=Reject\0FirstBurstLength=65536");
}

/* ---- what the target offers ------------------------------------------------------------------ */

struct offer {
    struct iser_terms terms;
    const char *said; /* by the initiator */
    const char *told; /* "": nothing */
    bool waits;
    const char *answer; /* of the initiator; NULL: none */
    bool good;
    uint32_t immediate_data, first_burst;
};

static const struct offer offers[] = {
    {{.no_immediate = true, .first_burst = 8192},
     "",
     "ImmediateData=No",
     false,
     NULL,
     true,
     0,
     65536},
    {{.no_immediate = true, .first_burst = 8192},
     "",
     "ImmediateData=No",
     false,
     "ImmediateData=No",
     true,
     0,
     65536},
    {{.no_immediate = true, .first_burst = 8192},
     "",
     "ImmediateData=No",
     false,
     "ImmediateData=Yes",
     false,
     0,
     65536},
    {{.no_immediate = true}, "ImmediateData=No", "", false, NULL, true, 0, 65536},
    {{.no_immediate = true, .connection = true}, "", "", false, NULL, true, 1, 65536},
    {{.initial_r2t = true, .first_burst = 8192}, "", "", false, NULL, true, 1, 65536},
    {{.first_burst = 8192, .first_burst_set = true},
     "",
     "FirstBurstLength=8192",
     true,
     "FirstBurstLength=8192",
     true,
     1,
     8192},
    {{.first_burst = 8192, .first_burst_set = true},
     "",
     "FirstBurstLength=8192",
     true,
     "FirstBurstLength=512",
     true,
     1,
     512},
    {{.first_burst = 8192, .first_burst_set = true},
     "",
     "FirstBurstLength=8192",
     true,
     "FirstBurstLength=8193",
     false,
     1,
     8192},
    {{.first_burst = 8192, .first_burst_set = true},
     "",
     "FirstBurstLength=8192",
     true,
     "FirstBurstLength=Reject",
     false,
     1,
     8192},
    {{.first_burst = 8192, .first_burst_set = true},
     "",
     "FirstBurstLength=8192",
     true,
     NULL,
     true,
     1,
     8192},
    {{.first_burst = 8192, .first_burst_set = true},
     "MaxBurstLength=4096",
     "",
     false,
     NULL,
     true,
     1,
     4096},
    {{.first_burst = 8192, .first_burst_set = true},
     "FirstBurstLength=16384",
     "",
     false,
     NULL,
     true,
     1,
     8192},
    {{.first_burst = 8192, .first_burst_set = true, .no_immediate = true},
     "",
     "ImmediateData=No",
     false,
     NULL,
     true,
     0,
     65536},
    {{.first_burst = 8192, .first_burst_set = true, .no_immediate = true},
     "InitialR2T=No",
     "ImmediateData=No FirstBurstLength=8192",
     true,
     "FirstBurstLength=4096",
     true,
     0,
     4096},
};

static size_t text_length(const char *text)
{
    return text[0] ? strlen(text) + 1 : 0;
}

/* Keys of which the initiator says nothing, and on which the target insists. */
static void what_the_target_offers(void)
{
    for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
        const struct offer *offer = &offers[i];
        static struct iser_text ignored, told;
        struct iser_keys_said said = {0};
        struct iser_params params;

        iser_params_init(&params);
        ignored.length = told.length = 0;
        CHECK(iser_keys_negotiate(&params, &offer->terms, offer->said, text_length(offer->said),
                                  &said, &ignored));
        CHECK_EQ(offer->waits, iser_keys_offer(&params, &offer->terms, &said, &told));
        for (size_t k = 0; k + 1 < told.length; k++)
            told.octets[k] = (char)(told.octets[k] ? told.octets[k] : ' ');
        CHECK_EQ(text_length(offer->told), told.length);
        CHECK(told.length == 0 || strcmp(offer->told, told.octets) == 0);
        ignored.length = told.length = 0;
        if (offer->answer)
            CHECK_EQ(offer->good, iser_keys_negotiate(&params, &offer->terms, offer->answer,
                                                      text_length(offer->answer), &said, &ignored));
        CHECK(!iser_keys_offer(&params, &offer->terms, &said, &told));
        CHECK_EQ(0, ignored.length + told.length); /* an answer is not answered */
        CHECK_EQ(offer->immediate_data, params.immediate_data);
        CHECK_EQ(offer->first_burst, params.first_burst);
    }
}

/* ---- what may not come ----------------------------------------------------------------------- */

static bool again(const struct iser_terms *terms, const char *first, const char *second)
{
    static struct iser_text out;
    struct iser_params params;
    struct iser_keys_said said = {0};

    iser_params_init(&params);
    out.length = 0;
    CHECK(iser_keys_negotiate(&params, terms, first, strlen(first) + 1, &said, &out));
    return iser_keys_negotiate(&params, terms, second, strlen(second) + 1, &said, &out);
}

static void not_twice(void)
{
    static const struct iser_terms connection = {.digests = true, .connection = true};

    CHECK(again(&usual, "InitialR2T=Yes", "ImmediateData=Yes"));
    CHECK(!again(&usual, "InitialR2T=Yes", "InitialR2T=Yes"));
    CHECK(!again(&usual, "InitialR2T=?", "InitialR2T=Yes"));
    CHECK(again(&usual, "CHAP_A=5", "CHAP_A=5"));
    CHECK(again(&connection, "HeaderDigest=None", "MaxRecvDataSegmentLength=512"));
    CHECK(!again(&connection, "HeaderDigest=None", "MaxBurstLength=512"));
    CHECK(!again(&connection, "HeaderDigest=None", "RDMAExtensions=Yes"));
}

/* Unknown keys whose answers do not fit: the text is unusable, and nothing is written behind it. */
static void too_many_answers(void)
{
    static char text[ISER_TEXT_MAX];
    static struct iser_text out;
    struct iser_params params;
    struct iser_keys_said said = {0};
    size_t length = 0;

    for (unsigned i = 0; i < sizeof(text) / sizeof(KEY_63 "="); i++) {
        memcpy(text + length, KEY_63 "=", sizeof(KEY_63 "="));
        text[length + 60] = (char)('0' + i / 10 % 10);
        text[length + 61] = (char)('a' + i % 10);
        text[length + 62] = (char)('0' + i / 100);
        length += sizeof(KEY_63 "=");
    }
    CHECK(length > ISER_TEXT_MAX / 2 && length <= sizeof(text));
    CHECK(iser_text_is_legal(text, length));
    iser_params_init(&params);
    CHECK(iser_keys_negotiate(&params, &usual, text, length, &said, &out));
    CHECK(out.overflow && out.length <= sizeof(out.octets));
}

int main(void)
{
    each_key();
    rejected_values();
    what_the_target_insists_on();
    what_depends();
    what_the_target_offers();
    not_twice();
    too_many_answers();
    return 0;
}
