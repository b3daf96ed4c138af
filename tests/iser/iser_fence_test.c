/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A write that the unit still executes: the session that replaces its session, and the initiator
 * that preempts it and aborts it, get their answer after it has ended. Otherwise it could overwrite
 * what they write then.
 */
#include "iser_wire_kit.h"

#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 16u
#define KEY    UINT64_C(0x1122334455667788)

static struct wire_bed bed;
static struct wire_pdu pdu;
static sem_t begun, gate;
static unsigned char octets[BLOCKS * WIRE_BLOCK];
static _Atomic unsigned writes; /* that have ended: orders them with first_octet */

/* ---- a unit whose writes wait at a gate ------------------------------------------------------ */

static int gated_read(void *context, uint64_t offset, void *data, size_t length)
{
    (void)context;
    memcpy(data, octets + offset, length);
    return 0;
}

static int gated_write(void *context, uint64_t offset, const void *data, size_t length)
{
    (void)context;
    CHECK(sem_post(&begun) == 0);
    while (sem_wait(&gate) != 0) {
    }
    memcpy(octets + offset, data, length);
    (void)atomic_fetch_add(&writes, 1);
    return 0;
}

static int first_octet(void)
{
    return atomic_load(&writes) ? octets[0] : -1;
}

static int gated_flush(void *context)
{
    (void)context;
    return 0;
}

static struct itiser_unit *gated_unit(void)
{
    static const struct itiser_unit_ops ops = {
        .read = gated_read, .write = gated_write, .flush = gated_flush};
    struct itiser_unit *unit = calloc(1, sizeof(*unit));

    CHECK(unit);
    unit->ops = &ops;
    unit->blocks = BLOCKS;
    unit->block_size = WIRE_BLOCK;
    unit->flags = ITISER_UNIT_BLOCKS;
    memcpy(unit->serial, "gated", 5);
    return unit;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void setup(void)
{
    wire_prepare(&bed);
    itiser_unit_close(bed.target_config.units[0]);
    bed.target_config.units[0] = gated_unit();
    wire_open(&bed);
    CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&gate, 0, 0) == 0);
}

static void teardown(void)
{
    wire_close(&bed);
    CHECK(sem_destroy(&begun) == 0 && sem_destroy(&gate) == 0);
}

static void take_attention(struct wire *wire)
{
    static const unsigned char test_unit_ready[16];

    while (wire_command(wire, test_unit_ready, &pdu) != 0)
        CHECK_EQ(2, pdu.bhs[3]);
}

/* Begins a write, and returns when it waits in the unit. */
static void begin_write(struct wire *wire, unsigned char value)
{
    unsigned char bhs[48];

    memset(wire->memory, value, WIRE_BLOCK);
    wire_begin_write(wire, bhs, 0, WIRE_BLOCK, WIRE_BLOCK, 0);
    while (sem_wait(&begun) != 0) {
    }
}

/* The answers to two pings of another session: what has arrived before has been handled. */
static void settle(struct wire *wire)
{
    unsigned char bhs[48];

    for (int i = 0; i < 2; i++) {
        wire_begin(wire, bhs, 0x40, 0x80);
        wire_put(bhs + 20, 0xffffffff, 4);
        wire_send(wire, bhs, NULL, 0);
        wire_expect(wire, &pdu, 0x20);
    }
}

static bool is_answered(const struct wire *wire)
{
    struct pollfd poll_fd = {.fd = wire->raw.fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) != 0;
}

static void open_gate(void)
{
    CHECK(sem_post(&gate) == 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define KEYS "InitialR2T=Yes\0ImmediateData=Yes"

static void replaced(enum wire_way way, bool lost)
{
    struct wire old, fresh, witness;

    setup();
    WIRE_LOGIN(&old, &bed, way, KEYS);
    WIRE_LOGIN(&witness, &bed, WIRE_DIGESTS, KEYS);
    take_attention(&old);
    begin_write(&old, 1);
    if (lost)
        wire_free(&old);
    wire_login_begin(&fresh, &bed, way, KEYS, sizeof(KEYS));
    settle(&witness);
    CHECK(!is_answered(&fresh));
    if (!lost) {
        CHECK(!wire_receive(&old, &pdu));
        wire_free(&old);
    }
    open_gate();
    wire_login_end(&fresh);
    CHECK_EQ(1, first_octet());
    take_attention(&fresh);
    open_gate();
    memset(fresh.memory, 2, WIRE_BLOCK);
    CHECK_EQ(0, wire_write(&fresh, 0, WIRE_BLOCK, WIRE_BLOCK, 0, &pdu));
    CHECK_EQ(2, first_octet());
    wire_logout(&fresh);
    wire_logout(&witness);
    teardown();
}

/* Of two logins that wait the later one gets the session. */
static void replaced_twice(void)
{
    struct wire old, first, second, witness;

    setup();
    WIRE_LOGIN(&old, &bed, WIRE_PLAIN, KEYS);
    WIRE_LOGIN(&witness, &bed, WIRE_DIGESTS, KEYS);
    take_attention(&old);
    begin_write(&old, 1);
    wire_login_begin(&first, &bed, WIRE_PLAIN, KEYS, sizeof(KEYS));
    settle(&witness);
    wire_login_begin(&second, &bed, WIRE_PLAIN, KEYS, sizeof(KEYS));
    CHECK(!wire_receive(&first, &pdu));
    open_gate();
    wire_login_end(&second);
    take_attention(&second);
    wire_logout(&second);
    wire_free(&first);
    wire_free(&old);
    wire_logout(&witness);
    teardown();
}

/* A login that waits ends with its connection, or with the target. */
static void waits_in_vain(bool gone)
{
    struct wire old, fresh, witness;

    setup();
    WIRE_LOGIN(&old, &bed, WIRE_CONVERT, KEYS);
    WIRE_LOGIN(&witness, &bed, WIRE_DIGESTS, KEYS);
    take_attention(&old);
    begin_write(&old, 1);
    wire_login_begin(&fresh, &bed, WIRE_CONVERT, KEYS, sizeof(KEYS));
    settle(&witness);
    if (gone)
        wire_free(&fresh);
    else
        wire_stop(&bed, 0);
    if (gone)
        settle(&witness);
    open_gate();
    if (gone) {
        wire_logout(&witness);
    } else {
        CHECK(!wire_receive(&fresh, &pdu));
        wire_free(&fresh);
        wire_free(&witness);
    }
    wire_free(&old);
    teardown();
}

/* PERSISTENT RESERVE OUT without data-out beyond what fits the command. Sends only. */
static void reserve_out(struct wire *wire, unsigned action, uint64_t key, uint64_t service_key)
{
    unsigned char bhs[48], list[24] = {0};

    wire_put(list, key, 8);
    wire_put(list + 8, service_key, 8);
    wire_begin(wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, sizeof(list), 4);
    bhs[32] = 0x5f;
    bhs[33] = (unsigned char)action;
    bhs[34] = 1; /* WRITE EXCLUSIVE */
    bhs[40] = sizeof(list);
    wire_send(wire, bhs, list, sizeof(list));
}

static void run_reserve_out(struct wire *wire, unsigned action, uint64_t key, uint64_t service_key)
{
    reserve_out(wire, action, key, service_key);
    wire_expect(wire, &pdu, 0x21);
    CHECK_EQ(0, pdu.bhs[3]);
}

enum {
    REGISTER,
    RESERVE,
    PREEMPT_AND_ABORT = 5
};

/* Ends with the preempting command's response, or with that command's abort. */
static void preempted(bool aborted)
{
    struct wire old, fresh, witness;
    unsigned char bhs[48];

    setup();
    WIRE_LOGIN(&old, &bed, WIRE_PLAIN, KEYS);
    WIRE_LOGIN(&fresh, &bed, WIRE_RDMA, KEYS);
    WIRE_LOGIN(&witness, &bed, WIRE_DIGESTS, KEYS);
    take_attention(&old);
    take_attention(&fresh);
    run_reserve_out(&old, REGISTER, 0, KEY);
    run_reserve_out(&fresh, REGISTER, 0, KEY + 1);
    run_reserve_out(&old, RESERVE, KEY, 0);
    begin_write(&old, 1);
    reserve_out(&fresh, PREEMPT_AND_ABORT, KEY + 1, KEY);
    settle(&witness);
    CHECK(!is_answered(&fresh));
    if (aborted) {
        wire_begin(&fresh, bhs, 0x42, 0x81);
        wire_put(bhs + 20, fresh.itt - 1, 4);
        wire_put(bhs + 32, fresh.cmd_sn - 1, 4);
        wire_send(&fresh, bhs, NULL, 0);
        wire_expect(&fresh, &pdu, 0x22);
        CHECK_EQ(0, pdu.bhs[2]);
    }
    open_gate();
    if (!aborted) {
        wire_expect(&fresh, &pdu, 0x21);
        CHECK_EQ(0, pdu.bhs[3]);
        CHECK_EQ(1, first_octet());
    }
    wire_logout(&fresh);
    wire_logout(&old);
    wire_logout(&witness);
    teardown();
}

int main(void)
{
    static const enum wire_way ways[] = {WIRE_PLAIN, WIRE_RDMA, WIRE_CONVERT};

    for (size_t i = 0; i < 3; i++) {
        replaced(ways[i], false);
        replaced(ways[i], true);
    }
    replaced_twice();
    waits_in_vain(true);
    waits_in_vain(false);
    preempted(false);
    preempted(true);
    return 0;
}
