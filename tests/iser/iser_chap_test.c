/* SPDX-License-Identifier: BSD-2-Clause */
/* CHAP: in both directions with each digest, and every known way around it. */
#include "auth/iser_chap.h"
#include "auth/iser_digest.h"
#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct itiser_secret secret(const char *name, const char *text)
{
    return (struct itiser_secret){
        .name = name, .secret = (const uint8_t *)text, .length = strlen(text)};
}

static const struct itiser_secret none;

/* ---- Digests, from another implementation ------------------------------------------------ */

static void check_digests(void)
{
    static const char *const digests[] = {
        [5] = "0x6cabb9ae6c32d7627fd79ad8cfb38c54",
        [6] = "0x321f429dd7405d7636ed0cf2397f99e24d79c30e",
        [7] = "0x26e673c71e80d69209c3409e916d21c68f64383cd5336e65f1f066a55cc20062",
        [8] = "0x49d4a382573144e672a468f4cc197f13fd82fe0001f449eda8c436bc49fddc31"};
    static const char text[] = "a secret of 20 octets";
    uint8_t challenge[16], digest[ISER_DIGEST_MAX], want[ISER_DIGEST_MAX];
    size_t length;

    for (uint8_t i = 0; i < 16; i++)
        challenge[i] = i;
    for (unsigned algorithm = 5; algorithm <= 8; algorithm++) {
        CHECK(iser_binary_decode(digests[algorithm], want, sizeof(want), &length));
        CHECK_EQ(length, iser_digest_length(algorithm));
        CHECK(iser_digest(algorithm, 0x27, (const uint8_t *)text, strlen(text), challenge, 16,
                          digest));
        CHECK(memcmp(digest, want, length) == 0);
    }
    CHECK_EQ(0, iser_digest_length(4));
    CHECK_EQ(0, iser_digest_length(9));
}

static void check_binary(void)
{
    static const struct {
        const char *value;
        int length; /* -1: refused */
        const char *octets;
    } rows[] = {
        {"0x00ff10", 3, "\x00\xff\x10"},
        {"0XAbCd", 2, "\xab\xcd"},
        {"0bAP8Q", 3, "\x00\xff\x10"},
        {"0bAP8=", 2, "\x00\xff"},
        {"0BAA==", 1, "\x00"},
        {"0x", -1, NULL},
        {"0x1", -1, NULL},
        {"0xzz", -1, NULL},
        {"0b", -1, NULL},
        {"0bA", -1, NULL},
        {"0bA===", -1, NULL},
        {"0bAP8", -1, NULL},
        {"0b====", -1, NULL},
        {"0bAP8=AP8=", -1, NULL},
        {"00ff", -1, NULL},
        {"", -1, NULL},
        {"0", -1, NULL},
        {"0x0011223344", -1, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t octets[4];
        size_t length;
        bool good = iser_binary_decode(rows[i].value, octets, sizeof(octets), &length);

        check_context(rows[i].value);
        CHECK(good == (rows[i].length >= 0));
        if (good)
            CHECK(length == (size_t)rows[i].length && memcmp(octets, rows[i].octets, length) == 0);
    }
    check_context(NULL);
}

/* ---- Whole dialogues ------------------------------------------------------------------------ */

/* Lets initiator and target talk until one of them has a verdict. Returns true if both accept. */
static bool talk(const struct itiser_secret *initiator_own,
                 const struct itiser_secret *initiator_asks, const struct itiser_secret *incoming,
                 const struct itiser_secret *outgoing)
{
    struct iser_chap initiator = {.id = 0}, target = {.id = 0};
    static struct iser_text to_target, to_initiator;
    iser_chap_verdict_t a, b = ISER_CHAP_MORE;

    to_initiator.length = 0;
    for (int round = 0; round < 5; round++) {
        to_target.length = 0;
        a = iser_chap_initiate(&initiator, initiator_own, initiator_asks, to_initiator.octets,
                               to_initiator.length, &to_target);
        if (a != ISER_CHAP_MORE)
            return a == ISER_CHAP_DONE && b == ISER_CHAP_DONE;
        to_initiator.length = 0;
        b = iser_chap_step(&target, incoming, outgoing, to_target.octets, to_target.length,
                           &to_initiator);
        if (b == ISER_CHAP_FAILED)
            return false;
    }
    return false;
}

static void check_dialogues(void)
{
    struct itiser_secret in = secret("initiator", "initiator's secret");
    struct itiser_secret out = secret("target", "the target's secret");
    struct itiser_secret bad = secret("initiator", "initiator's secreT");
    struct itiser_secret other = secret("other", "initiator's secret");
    struct itiser_secret tiny = secret("initiator", "12345678901");
    struct itiser_secret equal = secret("target", "initiator's secret");

    CHECK(talk(&in, &none, &in, &none));
    CHECK(talk(&in, &none, &in, &out));
    CHECK(talk(&in, &out, &in, &out));
    CHECK(!talk(&bad, &none, &in, &none));
    CHECK(!talk(&other, &none, &in, &none));
    CHECK(!talk(&in, &bad, &in, &out));  /* the target proves something else */
    CHECK(!talk(&in, &out, &in, &none)); /* the target cannot prove anything */
    CHECK(!talk(&tiny, &none, &tiny, &none));
    CHECK(!talk(&in, &equal, &in, &equal));
    CHECK(iser_chap_complaint(&tiny, &none));
    CHECK(iser_chap_complaint(&in, &equal));
    CHECK(iser_chap_complaint(&none, &out));
    CHECK(!iser_chap_complaint(&in, &out));
    CHECK(!iser_chap_complaint(&none, &none));
}

/* ---- The target, text by text ---------------------------------------------------------------- */

static struct itiser_secret incoming, outgoing;
static struct iser_chap chap;
static struct iser_text answer;

/* Sends one text to the target: pairs that end with '|' each. */
static iser_chap_verdict_t say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static iser_chap_verdict_t say(const char *format, ...)
{
    static char text[4096];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < sizeof(text));
    for (char *at = text; (at = strchr(at, '|')) != NULL;)
        *at++ = '\0';
    answer.length = 0;
    return iser_chap_step(&chap, &incoming, &outgoing, text, (size_t)length, &answer);
}

static const char *answered(const char *key)
{
    return iser_text_find(answer.octets, answer.length, key);
}

static void begin(const char *algorithms)
{
    memset(&chap, 0, sizeof(chap));
    incoming = secret("initiator", "initiator's secret");
    outgoing = secret("target", "the target's secret");
    CHECK_EQ(ISER_CHAP_MORE, say("AuthMethod=CHAP,None|"));
    CHECK(strcmp(answered("AuthMethod"), "CHAP") == 0);
    CHECK_EQ(ISER_CHAP_MORE, say("CHAP_A=%s|", algorithms));
}

/* Returns the right answer to the target's challenge, as 0x... */
static const char *proof(const struct itiser_secret *of)
{
    static char value[80];
    uint8_t digest[ISER_DIGEST_MAX];

    CHECK(iser_digest(chap.algorithm, chap.id, of->secret, of->length, chap.challenge,
                      ISER_CHALLENGE, digest));
    (void)snprintf(value, sizeof(value), "0x");
    for (size_t i = 0; i < iser_digest_length(chap.algorithm); i++)
        (void)snprintf(value + 2 + 2 * i, 3, "%02X", digest[i]);
    return value;
}

static void check_algorithms(void)
{
    static const struct {
        const char *offered;
        unsigned chosen;
    } rows[] = {{"5", 5}, {"6", 6}, {"7,5", 7}, {"8", 8}, {"99,300,5", 5}, {"x,6", 6}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t algorithm;

        begin(rows[i].offered);
        CHECK(iser_text_number(answered("CHAP_A"), 255, &algorithm));
        CHECK_EQ(rows[i].chosen, algorithm);
        CHECK_EQ(ISER_CHAP_DONE, say("CHAP_N=initiator|CHAP_R=%s|", proof(&incoming)));
        CHECK_EQ(0, answer.length);
        CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=initiator|CHAP_R=%s|", proof(&incoming)));
    }
}

static void check_ways_round(void)
{
    static const char *const refused[] = {"", "0", "4", "9", "99", "-5", "x", "5x"};
    char challenge[80] = "0x";

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        memset(&chap, 0, sizeof(chap));
        CHECK_EQ(ISER_CHAP_MORE, say("AuthMethod=CHAP|"));
        CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_A=%s|", refused[i]));
    }
    memset(&chap, 0, sizeof(chap)); /* without any proof */
    CHECK_EQ(ISER_CHAP_FAILED, say("AuthMethod=None|"));
    memset(&chap, 0, sizeof(chap));
    CHECK_EQ(ISER_CHAP_FAILED, say("AuthMethod=CHAPS,KRB5|"));
    begin("7"); /* an empty proof */
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=initiator|"));
    begin("7");
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_R=%s|", proof(&incoming)));
    begin("7");
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=Initiator|CHAP_R=%s|", proof(&incoming)));
    begin("7"); /* a part of the proof */
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=initiator|CHAP_R=%.10s|", proof(&incoming)));
    begin("7"); /* the proof of the other direction */
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=initiator|CHAP_R=%s|", proof(&outgoing)));

    begin("7"); /* the target's own challenge comes back */
    for (size_t i = 0; i < ISER_CHALLENGE; i++)
        (void)snprintf(challenge + 2 + 2 * i, 3, "%02x", chap.challenge[i]);
    CHECK_EQ(ISER_CHAP_FAILED,
             say("CHAP_N=initiator|CHAP_R=%s|CHAP_I=1|CHAP_C=%s|", proof(&incoming), challenge));
    CHECK(!answered("CHAP_R"));
    begin("7"); /* a short one */
    CHECK_EQ(ISER_CHAP_FAILED,
             say("CHAP_N=initiator|CHAP_R=%s|CHAP_I=1|CHAP_C=0x%030d|", proof(&incoming), 0));
    begin("7");
    CHECK_EQ(ISER_CHAP_FAILED,
             say("CHAP_N=initiator|CHAP_R=%s|CHAP_I=256|CHAP_C=0x%032d|", proof(&incoming), 0));
    begin("7");
    CHECK_EQ(ISER_CHAP_FAILED, say("CHAP_N=initiator|CHAP_R=%s|CHAP_I=1|", proof(&incoming)));
    begin("7");
    CHECK_EQ(ISER_CHAP_DONE,
             say("CHAP_N=initiator|CHAP_R=%s|CHAP_I=1|CHAP_C=0x%032d|", proof(&incoming), 0));
    CHECK(strcmp(answered("CHAP_N"), "target") == 0);
    begin("7"); /* the target answers only an initiator that has proved itself */
    CHECK_EQ(ISER_CHAP_FAILED,
             say("CHAP_N=initiator|CHAP_R=0x%064d|CHAP_I=1|CHAP_C=0x%032d|", 0, 0));
    CHECK_EQ(0, answer.length);
}

/* No two logins get the same challenge. */
static void check_fresh(void)
{
    uint8_t before[ISER_CHALLENGE];

    begin("7");
    memcpy(before, chap.challenge, sizeof(before));
    begin("7");
    CHECK(memcmp(before, chap.challenge, sizeof(before)) != 0);
}

static void check_no_proof(void)
{
    memset(&chap, 0, sizeof(chap));
    incoming = outgoing = none;
    CHECK_EQ(ISER_CHAP_DONE, say("AuthMethod=CHAP,None|"));
    CHECK(strcmp(answered("AuthMethod"), "None") == 0);
    memset(&chap, 0, sizeof(chap));
    CHECK_EQ(ISER_CHAP_FAILED, say("AuthMethod=CHAP|"));
}

int main(void)
{
    check_digests();
    check_binary();
    check_dialogues();
    check_algorithms();
    check_ways_round();
    check_fresh();
    check_no_proof();
    check_done();
    return 0;
}
