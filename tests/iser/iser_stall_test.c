/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An initiator that answers pings and no RDMA Reads, while another resets the unit. The reset ends,
 * and not before the first one's data can change the unit no more.
 */
#include "iser_wire_kit.h"

#include <poll.h>
#include <string.h>

#define SILENCE_MS 300u
#define PINGS      40u

static struct wire_bed bed;
static struct wire_pdu pdu;

static void take_attention(struct wire *wire)
{
    static const unsigned char test_unit_ready[16];

    while (wire_command(wire, test_unit_ready, &pdu) != 0) {
    }
}

static void answer_ping(struct wire *wire, const unsigned char *ping)
{
    unsigned char bhs[48];

    CHECK_EQ(0x20, ping[0]);
    CHECK_EQ(0xffffffff, wire_get(ping + 16, 4));
    wire_begin(wire, bhs, 0x40, 0x80);
    memcpy(bhs + 16, ping + 16, 8);
    wire_send(wire, bhs, NULL, 0);
}

/* Handles one message of the target. Returns false at the end. */
static bool stall(struct wire *wire)
{
    static struct raw_segment segment;

    if (raw_receive_fpdu(&wire->raw, &segment) != RAW_OK || segment.qn == 2)
        return false;
    CHECK(!segment.tagged);
    if (segment.qn == 0)
        answer_ping(wire, segment.payload + 28);
    return true;
}

static void begin_write(struct wire *wire)
{
    unsigned char bhs[48];

    wire_begin(wire, bhs, 0x01, 0xa1);
    wire_put(bhs + 20, 4096, 4);
    bhs[32] = 0x2a;
    bhs[40] = 8;
    wire_send_tagged(wire, bhs, NULL, 0, false, true, WIRE_BASE);
}

/* Until the reset is answered. */
static void serve_both(struct wire *stalling, struct wire *other)
{
    struct pollfd both[] = {{stalling->raw.fd, POLLIN, 0}, {other->raw.fd, POLLIN, 0}};
    unsigned pings = 0;

    for (;;) {
        CHECK(poll(both, 2, -1) > 0);
        if (both[0].revents && !stall(stalling))
            both[0].fd = -1;
        if (!both[1].revents)
            continue;
        CHECK(wire_receive(other, &pdu));
        if (pdu.bhs[0] == 0x22)
            break;
        answer_ping(other, pdu.bhs);
        CHECK(++pings < PINGS);
    }
    CHECK_EQ(0, pdu.bhs[2]);
    while (both[0].fd >= 0 && stall(stalling))
        CHECK(++pings < PINGS);
}

static void stalled(enum wire_way way)
{
    struct wire stalling, other;
    unsigned char tmf[48];

    WIRE_LOGIN(&other, &bed, WIRE_PLAIN, "InitialR2T=Yes");
    WIRE_LOGIN(&stalling, &bed, way, "InitialR2T=Yes");
    take_attention(&stalling);
    begin_write(&stalling);
    CHECK(stall(&stalling)); /* the Read */
    wire_begin(&other, tmf, 0x42, 0x85);
    wire_send(&other, tmf, NULL, 0);
    serve_both(&stalling, &other);
    wire_free(&stalling);
    wire_logout(&other);
}

int main(void)
{
    wire_prepare(&bed);
    bed.config.silence_ms = SILENCE_MS;
    wire_open(&bed);
    stalled(WIRE_RDMA);
    stalled(WIRE_CONVERT);
    wire_close(&bed);
    return 0;
}
