/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of RFC 7143 that an initiator sees only if it does what few do: a security stage without a
 * method, a request that is rejected, a cold reset.
 */
#include "iser_wire_kit.h"

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

int main(void)
{
    wire_prepare(&bed);
    bed.target_config.alias = "a disk of tests";
    wire_open(&bed);
    no_method();
    alias();
    wire_close(&bed);

    wire_prepare(&bed);
    bed.target_config.incoming = (struct itiser_secret){
        .name = "someone", .secret = (const uint8_t *)SECRET, .length = sizeof(SECRET) - 1};
    wire_open(&bed);
    no_method_where_one_is_needed();
    wire_close(&bed);
    long_alias();
    return 0;
}
