/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of RFC 7143 that an initiator sees only if it does what few do: a security stage without a
 * method, a request that is rejected, a cold reset; and configurations that are refused.
 */
#include "iser_wire_kit.h"

#include <ctype.h>
#include <event2/event.h>
#include <string.h>

#define SECRET "the secret of initiators"

static struct wire_bed bed;
static struct wire_pdu pdu;

/* ---- logins ---------------------------------------------------------------------------------- */

#define NAMES "InitiatorName=iqn.2026-11.example:initiator\0TargetName=" WIRE_TARGET

static void begin_login(struct wire *wire, unsigned flags)
{
    static const char names[] = NAMES;
    unsigned char bhs[48];

    wire_connect(wire, &bed, WIRE_PLAIN);
    wire_begin(wire, bhs, 0x43, flags);
    wire_send(wire, bhs, names, sizeof(names));
    wire_expect(wire, &pdu, 0x23);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
}

static bool says(const char *key)
{
    const char *at = (const char *)pdu.data, *end = at + pdu.length;

    while (at < end && strcmp(at, key) != 0)
        at += strlen(at) + 1;
    return at < end;
}

/* An initiator that offers no method of authentication leaves the security stage all the same. */
static void no_method(void)
{
    static const unsigned flags[] = {0x81, 0x83};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct wire wire;

        begin_login(&wire, flags[i]);
        CHECK_EQ(flags[i], pdu.bhs[1]);
        wire_free(&wire);
    }
}

/* Where the target asks for a proof, it does not. */
static void no_method_where_one_is_needed(void)
{
    struct wire wire;

    begin_login(&wire, 0x83);
    CHECK_EQ(0, pdu.bhs[1]);
    wire_free(&wire);
}

/* The first answer has the alias, but not in a discovery session. */
static void alias(void)
{
    static const char discovery[] =
        "InitiatorName=iqn.2026-11.example:initiator\0SessionType=Discovery";
    unsigned char bhs[48];
    struct wire wire;

    begin_login(&wire, 0x87);
    CHECK(says("TargetAlias=a disk of tests"));
    wire_free(&wire);
    wire_connect(&wire, &bed, WIRE_PLAIN);
    wire_begin(&wire, bhs, 0x43, 0x87);
    wire_send(&wire, bhs, discovery, sizeof(discovery));
    wire_expect(&wire, &pdu, 0x23);
    CHECK(!says("TargetAlias=a disk of tests"));
    wire_free(&wire);
}

/* RFC 7143 6.1 limits values. */
static void long_alias(void)
{
    static char text[257];
    char error[256] = "";

    memset(text, 'a', sizeof(text) - 1);
    wire_prepare(&bed);
    bed.target_config.alias = text;
    bed.base = event_base_new();
    CHECK(bed.base && !itiser_start(bed.base, &bed.config, error));
    CHECK(strstr(error, "255"));
    event_base_free(bed.base);
    itiser_unit_close(bed.target_config.units[0]);
    itiser_unit_close(bed.target_config.units[1]);
}

/* ---- networks -------------------------------------------------------------------------------- */

static void expect_no_start(const char *network)
{
    const char *networks[2] = {network};
    char error[256] = "";

    bed.target_config.networks = networks;
    check_context(network);
    CHECK(!itiser_start(bed.base, &bed.config, error));
    CHECK(strstr(error, "ADDRESS/BITS"));
}

/* A mistyped network must not let everyone in. */
static void wrong_networks(void)
{
    static const char *const wrong[] = {
        "",           "foo",     "192.0.2.0/",    "192.0.2.0/x", "192.0.2.0/33", "192.0.2.0/ 24",
        "192.0.2/24", "::1/129", "192.0.2.0/24,", "/8"};

    wire_prepare(&bed);
    bed.base = event_base_new();
    CHECK(bed.base);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_no_start(wrong[i]);
    check_context(NULL);
    event_base_free(bed.base);
    itiser_unit_close(bed.target_config.units[0]);
    itiser_unit_close(bed.target_config.units[1]);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void leave_loop(void *base)
{
    (void)event_base_loopbreak(base);
}

/* Two targets of one name: sessions would reach one of them only. New rules are checked, too. */
static void repeated_names(void)
{
    static const char *const wrong[] = {"192.0.2.0/x", NULL};
    struct itiser_target_config targets[2];
    char upper[224] = "", error[256] = "";
    struct itiser *served;

    wire_prepare(&bed);
    bed.base = event_base_new();
    targets[0] = bed.target_config;
    targets[1] = (struct itiser_target_config){.name = "iqn.2026-01.org.example:other"};
    bed.config.targets = targets;
    bed.config.target_count = 2;
    CHECK(bed.base && (served = itiser_start(bed.base, &bed.config, error)));
    targets[1].name = targets[0].name;
    CHECK(!itiser_reconfigure(served, &bed.config, error));
    CHECK(strstr(error, "two targets"));
    targets[1].name = "iqn.2026-01.org.example:other";
    targets[1].networks = wrong;
    CHECK(!itiser_reconfigure(served, &bed.config, error));
    CHECK(strstr(error, "ADDRESS/BITS"));
    targets[1].networks = NULL;
    CHECK(itiser_reconfigure(served, &bed.config, error));
    itiser_stop(served, 0, leave_loop, bed.base);
    CHECK(event_base_dispatch(bed.base) == 0);
    itiser_free(served);

    for (size_t i = 0; targets[0].name[i] && i < sizeof(upper) - 1; i++)
        upper[i] = (char)toupper((unsigned char)targets[0].name[i]);
    targets[1].name = upper;
    error[0] = '\0';
    CHECK(!itiser_start(bed.base, &bed.config, error));
    CHECK(strstr(error, "two targets"));
    event_base_free(bed.base);
    itiser_unit_close(bed.target_config.units[0]);
    itiser_unit_close(bed.target_config.units[1]);
}

/* ---- rejected requests ----------------------------------------------------------------------- */

static void expect_good(struct wire *wire)
{
    static const unsigned char test_unit_ready[16];
    unsigned status = wire_command(wire, test_unit_ready, &pdu);

    if (status == 2) /* the unit attention */
        status = wire_command(wire, test_unit_ready, &pdu);
    CHECK_EQ(0, status);
}

static const struct {
    const char *what;
    unsigned opcode, flags;
} rejected[] = {
    {"a ping without its final bit", 0x00, 0x00},
    {"task management without its final bit", 0x02, 0x01},
    {"a logout without its final bit", 0x06, 0x00},
    {"an opcode that is none", 0x1c, 0x80},
    {"a SNACK", 0x50, 0x80}, /* has no number */
};

/* The number of a request that is rejected counts as received (RFC 7143 7.4). */
static void numbers_of_rejected(void)
{
    struct wire wire;

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    expect_good(&wire);
    for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
        unsigned char bhs[48];

        check_context(rejected[i].what);
        wire_begin(&wire, bhs, rejected[i].opcode, rejected[i].flags);
        wire_send(&wire, bhs, NULL, 0);
        wire_expect(&wire, &pdu, 0x3f);
        CHECK_EQ(wire.cmd_sn, wire_get(pdu.bhs + 28, 4));
        expect_good(&wire);
    }
    check_context(NULL);
    wire_logout(&wire);
}

/* ---- resets ---------------------------------------------------------------------------------- */

static void log_in_as(struct wire *wire, const char *key, size_t length)
{
    unsigned char bhs[48];

    wire_connect(wire, &bed, WIRE_PLAIN);
    wire_begin(wire, bhs, 0x43, 0x87);
    wire_send(wire, bhs, key, length);
    wire_expect(wire, &pdu, 0x23);
    CHECK_EQ(0x87, pdu.bhs[1]);
}

/* A cold reset ends all sessions of the target (RFC 7143 11.5.1), those for discovery not. */
static void cold_reset(void)
{
    static const char other[] = "InitiatorName=iqn.2026-11.example:other\0TargetName=" WIRE_TARGET;
    static const char discovery[] =
        "InitiatorName=iqn.2026-11.example:other\0SessionType=Discovery";
    struct wire wire, second, third;
    unsigned char bhs[48];

    WIRE_LOGIN(&wire, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    log_in_as(&second, other, sizeof(other));
    log_in_as(&third, discovery, sizeof(discovery));
    wire_begin(&wire, bhs, 0x42, 0x87);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(&wire, bhs, NULL, 0);
    wire_expect(&wire, &pdu, 0x22);
    CHECK_EQ(0, pdu.bhs[2]);
    CHECK(!wire_receive(&wire, &pdu));
    CHECK(!wire_receive(&second, &pdu));
    wire_logout(&third);
    wire_free(&wire);
    wire_free(&second);
}

int main(void)
{
    wire_prepare(&bed);
    bed.target_config.alias = "a disk of tests";
    wire_open(&bed);
    no_method();
    alias();
    numbers_of_rejected();
    cold_reset();
    wire_close(&bed);

    wire_prepare(&bed);
    bed.target_config.incoming = (struct itiser_secret){
        .name = "someone", .secret = (const uint8_t *)SECRET, .length = sizeof(SECRET) - 1};
    wire_open(&bed);
    no_method_where_one_is_needed();
    wire_close(&bed);
    long_alias();
    wrong_networks();
    repeated_names();
    return 0;
}
