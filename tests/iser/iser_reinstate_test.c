/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins with one initiator port (name and ISID) at a target that asks for CHAP. A login ends the
 * session that is there when it is complete, and not earlier. Of several the last one stays. One
 * with the session's TSIH continues it (RFC 7143 6.3.4). A crowd without the secret does not
 * displace a login that has proved it; new rules end logins.
 */
#include "iser_wire_kit.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET    "the secret of initiators"
#define CHALLENGE 64u
#define FAILED    0x0201u /* authentication failure */
#define TOO_MANY  0x0206u /* connections */
#define UNKNOWN   0x020au /* session */
#define ROUNDS    5u

#define HALF_LOGINS 12u

static struct wire_bed bed;
static struct wire_pdu pdu;

struct login {
    struct wire wire;
    unsigned tsih, cid;
    unsigned char isid; /* the last octet */
    unsigned char id;
    unsigned char challenge[CHALLENGE];
    size_t challenge_length;
};

/* ---- a login in steps ------------------------------------------------------------------------ */

static void ask(struct login *login, unsigned flags, const void *text, size_t length)
{
    unsigned char bhs[48];

    wire_begin(&login->wire, bhs, 0x43, flags);
    memcpy(bhs + 8, "\x40\x00\x01\x37\x00", 5);
    bhs[13] = login->isid;
    wire_put(bhs + 14, login->tsih, 2);
    wire_put(bhs + 20, login->cid, 2);
    wire_send(&login->wire, bhs, text, length);
}

/* Returns the status. */
static unsigned step(struct login *login, unsigned flags, const void *text, size_t length)
{
    ask(login, flags, text, length);
    wire_expect(&login->wire, &pdu, 0x23);
    return wire_get(pdu.bhs + 36, 2);
}

static const char *value_of(const char *key)
{
    const char *at = (const char *)pdu.data, *end = at + pdu.length;

    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, key, strlen(key)) == 0)
            return at + strlen(key);
    CHECK_FAIL("the target does not say %s", key);
    return NULL;
}

static void take_challenge(struct login *login)
{
    const char *octets = value_of("CHAP_C=0x");

    login->id = (unsigned char)strtoul(value_of("CHAP_I="), NULL, 10);
    login->challenge_length = strlen(octets) / 2;
    CHECK(login->challenge_length > 0 && login->challenge_length <= CHALLENGE);
    for (size_t i = 0; i < login->challenge_length; i++) {
        const char octet[3] = {octets[2 * i], octets[2 * i + 1], '\0'};

        login->challenge[i] = (unsigned char)strtoul(octet, NULL, 16);
    }
}

/* Connects, and says the names. Returns the status. */
static unsigned say_names(struct login *login, enum wire_way way)
{
    static const char names[] = "InitiatorName=iqn.2026-11.example:initiator\0"
                                "TargetName=" WIRE_TARGET "\0SessionType=Normal\0AuthMethod=CHAP";

    wire_reach(&login->wire, &bed, way);
    return step(login, 0, names, sizeof(names));
}

/* Goes as far as the target's challenge. */
static void ask_for_challenge(struct login *login)
{
    static const char algorithms[] = "CHAP_A=7";

    CHECK_EQ(0, step(login, 0, algorithms, sizeof(algorithms)));
    take_challenge(login);
}

static void begin(struct login *login, enum wire_way way)
{
    login->tsih = login->cid = 0;
    login->isid = 0x99;
    CHECK_EQ(0, say_names(login, way));
    ask_for_challenge(login);
}

/* Answers the challenge of `of`. Returns the status. */
static unsigned prove(struct login *login, const struct login *of)
{
    unsigned char input[1 + sizeof(SECRET) + CHALLENGE], digest[EVP_MAX_MD_SIZE];
    size_t length = sizeof(SECRET) - 1;
    char text[160];
    int at;

    input[0] = of->id;
    memcpy(input + 1, SECRET, length);
    memcpy(input + 1 + length, of->challenge, of->challenge_length);
    length += 1 + of->challenge_length;
    CHECK(EVP_Digest(input, length, digest, NULL, EVP_sha256(), NULL) == 1);
    at = snprintf(text, sizeof(text), "CHAP_N=someone%cCHAP_R=0x", 0);
    for (unsigned i = 0; i < 32; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%02x", digest[i]);
    return step(login, 0x81, text, (size_t)at + 1);
}

static void ask_for_the_end(struct login *login)
{
    static const char plain[] = "InitialR2T=Yes";
    static const char rdma[] = "InitialR2T=Yes\0InitiatorRecvDataSegmentLength=262144\0"
                               "TargetRecvDataSegmentLength=8192\0RDMAExtensions=Yes";

    if (login->wire.way == WIRE_PLAIN)
        ask(login, 0x87, plain, sizeof(plain));
    else
        ask(login, 0x87, rdma, sizeof(rdma));
}

/* Returns false if the connection ends. */
static bool converts(struct wire *wire)
{
    struct raw_mpa_frame reply;
    RAW_BYTES(request);

    raw_mpa2(&request, false, RAW_MPA_S | RAW_MPA_C, 0x00800001);
    if (!raw_send(&wire->raw, &request) || raw_receive_mpa(&wire->raw, &reply) != RAW_OK)
        return false;
    wire->raw.crc = (reply.flags & RAW_MPA_C) != 0;
    wire->rdma = true;
    return true;
}

/* Takes the last Login Response. Returns false if the connection ends. */
static bool ends_well(struct login *login)
{
    if (!wire_receive(&login->wire, &pdu))
        return false;
    CHECK_EQ(0x23, pdu.bhs[0]);
    CHECK_EQ(0, wire_get(pdu.bhs + 36, 2));
    CHECK_EQ(0x87, pdu.bhs[1]);
    return login->wire.way != WIRE_CONVERT || converts(&login->wire);
}

static void finish(struct login *login)
{
    ask_for_the_end(login);
    CHECK(ends_well(login));
}

static bool is_alive(struct login *login)
{
    unsigned char bhs[48];

    wire_begin(&login->wire, bhs, 0x40, 0x80);
    wire_put(bhs + 20, 0xffffffff, 4);
    wire_send(&login->wire, bhs, NULL, 0);
    return wire_receive(&login->wire, &pdu) && pdu.bhs[0] == 0x20;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* One login after the other. */
static void in_turn(enum wire_way way)
{
    static struct login owner, first, second, liar, half;
    unsigned char bhs[48];

    begin(&owner, WIRE_PLAIN);
    CHECK_EQ(0, prove(&owner, &owner));
    finish(&owner);
    begin(&first, way);
    begin(&second, way);
    begin(&half, way);
    begin(&liar, way);
    CHECK_EQ(FAILED, prove(&liar, &first));
    CHECK(!wire_receive(&liar.wire, &pdu));
    CHECK_EQ(0, prove(&first, &first));
    CHECK_EQ(0, prove(&second, &second));
    CHECK(is_alive(&owner));
    /* It ends in the middle of a command: the target waits for the data. */
    wire_begin_write(&owner.wire, bhs, 0, 4096, 0, 0);
    finish(&first);
    while (wire_receive(&owner.wire, &pdu))
        CHECK(pdu.bhs[0] == 0x31 || pdu.bhs[0] == 0x21);
    CHECK_EQ(0, prove(&half, &half));
    wire_free(&half.wire);
    CHECK(is_alive(&first));
    finish(&second);
    CHECK(!is_alive(&first));
    CHECK(is_alive(&second));
    wire_logout(&second.wire);
    wire_free(&owner.wire);
    wire_free(&first.wire);
    wire_free(&liar.wire);
}

/* Two logins end in one moment: one session is left, whichever. */
static void at_once(enum wire_way way, enum wire_way other)
{
    static struct login logins[2];
    unsigned left = 0;

    begin(&logins[0], way);
    begin(&logins[1], other);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(0, prove(&logins[i], &logins[i]));
    for (unsigned i = 0; i < 2; i++)
        ask_for_the_end(&logins[i]);
    for (unsigned i = 0; i < 2; i++)
        if (ends_well(&logins[i]) && is_alive(&logins[i]))
            left |= 1u << i;
    for (unsigned i = 0; i < 2; i++)
        if ((left & 1u << i) && !is_alive(&logins[i]))
            left &= ~(1u << i);
    CHECK(left == 1 || left == 2);
    for (unsigned i = 0; i < 2; i++)
        wire_free(&logins[i].wire);
}

/* A login between proof and end stays beside more connections than the target keeps. */
static void spared(enum wire_way way)
{
    static struct login proven, other;
    struct raw_peer crowd[2 * HALF_LOGINS];

    begin(&other, way);
    begin(&proven, way);
    CHECK_EQ(0, prove(&proven, &proven));
    for (unsigned i = 0; i < 2 * HALF_LOGINS; i++)
        raw_connect(&crowd[i], bed.port);
    CHECK(!wire_receive(&other.wire, &pdu));
    finish(&proven);
    CHECK(is_alive(&proven));
    for (unsigned i = 0; i < 2 * HALF_LOGINS; i++)
        raw_close(&crowd[i]);
    wire_logout(&proven.wire);
    wire_free(&other.wire);
}

/* If all of them have proved the secret, the oldest one makes room. */
static void not_all_spared(void)
{
    static struct login logins[HALF_LOGINS + 1];

    for (unsigned i = 0; i < HALF_LOGINS + 1; i++) {
        begin(&logins[i], WIRE_PLAIN);
        CHECK_EQ(0, prove(&logins[i], &logins[i]));
    }
    CHECK(!wire_receive(&logins[0].wire, &pdu));
    finish(&logins[HALF_LOGINS]);
    wire_logout(&logins[HALF_LOGINS].wire);
    for (unsigned i = 0; i < HALF_LOGINS; i++)
        wire_free(&logins[i].wire);
}

/* ---- a session that goes on with another connection ------------------------------------------ */

static void log_in(struct login *login, enum wire_way way, unsigned char isid)
{
    login->tsih = login->cid = 0;
    login->isid = isid;
    CHECK_EQ(0, say_names(login, way));
    ask_for_challenge(login);
    CHECK_EQ(0, prove(login, login));
    finish(login);
}

static unsigned run(struct login *login, unsigned code)
{
    unsigned char cdb[16] = {(unsigned char)code};

    return wire_command(&login->wire, cdb, &pdu);
}

static void take_attention(struct login *login)
{
    while (run(login, 0) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
}

/* The keys of a connection only. Ends the test unless the session continues. */
static void finish_anew(struct login *fresh, const struct login *old)
{
    static const char plain[] = "MaxRecvDataSegmentLength=8192";
    static const char rdma[] = "InitiatorRecvDataSegmentLength=262144\0"
                               "TargetRecvDataSegmentLength=8192";

    ask_for_challenge(fresh);
    CHECK_EQ(0, prove(fresh, fresh));
    if (fresh->wire.way == WIRE_PLAIN)
        ask(fresh, 0x87, plain, sizeof(plain));
    else
        ask(fresh, 0x87, rdma, sizeof(rdma));
    CHECK(ends_well(fresh));
    CHECK_EQ(fresh->tsih, wire_get(pdu.bhs + 14, 2));
    CHECK_EQ(old->wire.cmd_sn, wire_get(pdu.bhs + 28, 4));
    CHECK(wire_get(pdu.bhs + 32, 4) - old->wire.cmd_sn > 7);
    fresh->wire.burst = 262144;
}

/* Logins that name the session, and may not continue it. */
static void refused(enum wire_way way, const struct login *owner)
{
    static const struct {
        int tsih, cid, isid;
        unsigned status;
    } lies[] = {{1, 0, 0, UNKNOWN}, {0, 1, 0, TOO_MANY}, {0, 0, 1, UNKNOWN}};
    static const char again[] = "InitialR2T=Yes";
    static struct login login;

    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        login.tsih = owner->tsih + (unsigned)lies[i].tsih;
        login.cid = owner->cid + (unsigned)lies[i].cid;
        login.isid = (unsigned char)(owner->isid + lies[i].isid);
        CHECK_EQ(lies[i].status, say_names(&login, way));
        CHECK(!wire_receive(&login.wire, &pdu));
        wire_free(&login.wire);
    }
    login = *owner;
    CHECK_EQ(0, say_names(&login, way));
    ask_for_challenge(&login);
    login.id ^= 1;
    CHECK_EQ(FAILED, prove(&login, &login));
    wire_free(&login.wire);
    /* What the session has agreed on stays. */
    CHECK_EQ(0, say_names(&login, way));
    ask_for_challenge(&login);
    CHECK_EQ(0, prove(&login, &login));
    CHECK_EQ(0x0200, step(&login, 0x87, again, sizeof(again)));
    wire_free(&login.wire);
}

/* Session, reservation and attentions stay; the command of the older connection ends. */
static void continued(enum wire_way way)
{
    static struct login owner, fresh, other;
    static struct raw_segment segment;
    unsigned char bhs[48];

    log_in(&owner, way, 0x99);
    owner.tsih = wire_get(pdu.bhs + 14, 2);
    log_in(&other, WIRE_PLAIN, 0x9b);
    take_attention(&owner);
    take_attention(&other);
    CHECK_EQ(0, run(&owner, 0x16)); /* RESERVE(6) */
    refused(way, &owner);
    CHECK(is_alive(&owner));
    wire_begin_write(&owner.wire, bhs, 0, 4096, 0, 0);
    if (way == WIRE_PLAIN)
        wire_expect(&owner.wire, &pdu, 0x31);
    else
        CHECK_EQ(RAW_OK, raw_receive_fpdu(&owner.wire.raw, &segment)); /* a Read, not answered */
    fresh = owner;
    CHECK_EQ(0, say_names(&fresh, way));
    fresh.wire.cmd_sn = owner.wire.cmd_sn;
    finish_anew(&fresh, &owner);
    CHECK(!wire_receive(&owner.wire, &pdu));
    CHECK_EQ(0, run(&fresh, 0));
    CHECK_EQ(0x18, run(&other, 0)); /* RESERVATION CONFLICT */
    CHECK_EQ(0, wire_write(&fresh.wire, 0, 4096, 0, 0, &pdu));
    CHECK_EQ(0, wire_read(&fresh.wire, 0, 4096, 4096, &pdu));
    wire_logout(&fresh.wire);
    CHECK_EQ(0, run(&other, 0));
    wire_logout(&other.wire);
    wire_free(&owner.wire);
    fresh.isid = 0x99;
    CHECK_EQ(UNKNOWN, say_names(&fresh, way)); /* it has logged out */
    wire_free(&fresh.wire);
}

/* A session of one kind does not go on with a connection of another kind. */
static void other_kind(void)
{
    static struct login owner, fresh;

    log_in(&owner, WIRE_PLAIN, 0x99);
    owner.tsih = wire_get(pdu.bhs + 14, 2);
    fresh = owner;
    CHECK_EQ(0x0200, say_names(&fresh, WIRE_RDMA));
    wire_free(&fresh.wire);
    CHECK(is_alive(&owner));
    wire_logout(&owner.wire);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void renew_rules(struct wire_bed *of)
{
    char error[256] = "";

    if (!itiser_reconfigure(of->target, &of->config, error))
        CHECK_FAIL("no new rules: %s", error);
}

/* A login that began without CHAP does not end without it. */
static void new_rules(enum wire_way way)
{
    static const char names[] = "InitiatorName=iqn.2026-11.example:initiator\0"
                                "TargetName=" WIRE_TARGET "\0SessionType=Normal";
    static struct login early, late;
    struct itiser_secret secret = bed.target_config.incoming;

    bed.target_config.incoming.length = 0;
    wire_run(&bed, renew_rules);
    early.isid = 0x99;
    wire_reach(&early.wire, &bed, way);
    CHECK_EQ(0, step(&early, 0x81, names, sizeof(names)));
    bed.target_config.incoming = secret;
    wire_run(&bed, renew_rules);
    ask_for_the_end(&early);
    CHECK(!wire_receive(&early.wire, &pdu));
    begin(&late, way);
    CHECK_EQ(0, prove(&late, &late));
    finish(&late);
    wire_logout(&late.wire);
    wire_free(&early.wire);
}

int main(void)
{
    static const enum wire_way ways[] = {WIRE_PLAIN, WIRE_RDMA, WIRE_CONVERT};

    wire_prepare(&bed);
    bed.target_config.incoming = (struct itiser_secret){
        .name = "someone", .secret = (const uint8_t *)SECRET, .length = sizeof(SECRET) - 1};
    bed.config.half_logins = bed.config.half_logins_share = HALF_LOGINS;
    wire_open(&bed);
    for (size_t i = 0; i < 3; i++) {
        in_turn(ways[i]);
        continued(ways[i]);
    }
    other_kind();
    for (size_t i = 0; i < 3; i++) {
        spared(ways[i]);
        new_rules(ways[i]);
    }
    not_all_spared();
    for (size_t i = 0; i < 9 * ROUNDS; i++)
        at_once(ways[i % 3], ways[i / 3 % 3]);
    wire_close(&bed);
    return 0;
}
