/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iser_scripted IT_ISER: runs it_iser against a target that was written from the layouts of RFC
 * 7143 and RFC 7145 alone and shares no code with the library. Its unit has octets that follow a
 * rule. The cases: plain, converted, and what a target must not do.
 */
#include "support/check.h"
#include "support/raw_peer.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 256u
#define SIZE   (BLOCKS * 512u)

enum behaviour {
    PLAIN,
    CONVERTS,
    FPDU_BEHIND_LOGIN, /* in front of the MPA Request: no Reply, so no connection */
    HELLO_UNASKED,     /* a HelloReply without a Hello */
    INVALID_STAG,      /* reads memory that was not advertised */
    BEHAVIOURS
};

static struct {
    enum behaviour behaviour;
    struct raw_peer raw;
    bool rdma;
    uint32_t stat_sn, cmd_sn, sent, reads;
    unsigned char disk[SIZE];
    /* The request: iSER header (with RDMA), header segment, data. */
    unsigned char iser[28], bhs[48], data[1 << 18];
    size_t length;
} t;

static uint64_t get(const unsigned char *at, unsigned octets)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < octets; i++)
        value = value << 8 | at[i];
    return value;
}

static void put(unsigned char *at, uint64_t value, unsigned octets)
{
    for (unsigned i = 0; i < octets; i++)
        at[i] = (unsigned char)(value >> 8 * (octets - 1 - i));
}

/* ---- PDUs ------------------------------------------------------------------------------------ */

static bool octets(void *to, size_t length)
{
    size_t got;

    return length == 0 || raw_receive(&t.raw, to, length, &got) == RAW_OK;
}

static bool receive_send(void)
{
    static unsigned char message[16384];
    static struct raw_segment segment;
    size_t length = 0;

    do {
        do {
            if (raw_receive_fpdu(&t.raw, &segment) != RAW_OK)
                return false;
        } while (segment.tagged && segment.len == 0); /* skips the ready-to-receive message */
        CHECK(!segment.tagged);
        if (segment.qn != 0)
            return false; /* a Terminate */
        CHECK(segment.mo == length && segment.len <= sizeof(message) - length);
        memcpy(message + length, segment.payload, segment.len);
        length += segment.len;
    } while (!segment.last);
    CHECK(length >= 76 && message[0] >> 4 == 1);
    memcpy(t.iser, message, 28);
    memcpy(t.bhs, message + 28, 48);
    t.length = get(t.bhs + 5, 3);
    CHECK(length - 76 >= t.length && length - 76 <= t.length + 4);
    memcpy(t.data, message + 76, t.length);
    return true;
}

static bool receive_pdu(void)
{
    if (t.rdma)
        return receive_send();
    if (!octets(t.bhs, 48))
        return false;
    t.length = get(t.bhs + 5, 3);
    CHECK(t.length <= sizeof(t.data) - 4);
    return octets(t.data, (t.length + 3) / 4 * 4);
}

static void send_message(const struct raw_bytes *message, enum raw_op op, uint32_t stag)
{
    RAW_BYTES(ulpdu);

    raw_untagged(&ulpdu, op, 0, ++t.sent, 0, message->data, message->len, true, stag);
    (void)raw_send_ulpdu(&t.raw, &ulpdu);
}

/* Answers the request. An answer with a status takes a StatSN. */
static void answer(unsigned char bhs[48], const void *data, size_t length, bool status)
{
    RAW_BYTES(out);

    memcpy(bhs + 16, t.bhs + 16, 4);
    put(bhs + 5, length, 3);
    put(bhs + 24, status ? t.stat_sn++ : t.stat_sn, 4);
    put(bhs + 28, t.cmd_sn, 4);
    put(bhs + 32, t.cmd_sn + 15, 4);
    if (t.rdma) {
        raw_add_byte(&out, 0x10);
        raw_add_fill(&out, 0, 27);
    }
    raw_add(&out, bhs, 48);
    raw_add(&out, data, length);
    raw_add_fill(&out, 0, (4 - length % 4) % 4);
    if (t.rdma)
        send_message(&out, RAW_SEND, 0);
    else
        (void)raw_send(&t.raw, &out);
}

/* ---- the login ------------------------------------------------------------------------------- */

static bool has(const char *pair)
{
    for (size_t at = 0; at < t.length; at += strlen((char *)t.data + at) + 1)
        if (strcmp((char *)t.data + at, pair) == 0)
            return true;
    return false;
}

static void convert(void)
{
    struct raw_mpa_frame request;
    RAW_BYTES(reply);

    if (t.behaviour == FPDU_BEHIND_LOGIN) {
        RAW_BYTES(early);

        raw_add_byte(&early, 0x10);
        raw_add_fill(&early, 0, 75);
        send_message(&early, RAW_SEND, 0);
    }
    CHECK_EQ(RAW_OK, raw_receive_mpa(&t.raw, &request));
    CHECK(!request.reply && (request.flags & RAW_MPA_S));
    /* Becomes ready to receive with an RDMA Write without octets, if the initiator offers that. */
    raw_mpa2(&reply, true, RAW_MPA_C | RAW_MPA_S,
             (request.word & (RAW_ENH_A | RAW_ENH_C)) | 16u << 16 | 16u);
    (void)raw_send(&t.raw, &reply);
    t.raw.crc = true;
    t.rdma = true;
}

static void log_in(void)
{
    static const char plain[] = "TargetPortalGroupTag=1\0HeaderDigest=None\0DataDigest=None\0"
                                "InitialR2T=Yes\0ImmediateData=No\0MaxBurstLength=8192\0"
                                "ErrorRecoveryLevel=0\0MaxConnections=1";
    static const char rdma[] = "RDMAExtensions=Yes\0InitiatorRecvDataSegmentLength=8192\0"
                               "TargetRecvDataSegmentLength=8192";
    unsigned char bhs[48] = {0x23, 0x87};
    RAW_BYTES(text);

    CHECK(receive_pdu());
    CHECK_EQ(0x43, t.bhs[0]);
    CHECK_EQ(0x87, t.bhs[1]);
    CHECK_EQ(t.behaviour == PLAIN, !has("RDMAExtensions=Yes"));
    t.stat_sn = (uint32_t)get(t.bhs + 28, 4);
    t.cmd_sn = (uint32_t)get(t.bhs + 24, 4);
    memcpy(bhs + 8, t.bhs + 8, 6);
    bhs[15] = 1; /* TSIH */
    raw_add(&text, plain, sizeof(plain));
    if (t.behaviour != PLAIN)
        raw_add(&text, rdma, sizeof(rdma));
    answer(bhs, text.data, text.len, true);
    if (t.behaviour != PLAIN)
        convert();
    if (t.behaviour == HELLO_UNASKED) {
        RAW_BYTES(reply);

        CHECK(receive_pdu());
        raw_add_hex(&reply, "30aa0004");
        raw_add_fill(&reply, 0, 24);
        send_message(&reply, RAW_SEND, 0);
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static void respond(unsigned status, const void *sense, size_t length)
{
    unsigned char bhs[48] = {0x21, 0x80, 0, (unsigned char)status};

    answer(bhs, sense, length, true);
}

static void write_by_rdma(const unsigned char *data, size_t length)
{
    uint32_t stag = (uint32_t)get(t.iser + 16, 4);
    uint64_t to = get(t.iser + 20, 8);
    RAW_BYTES(ulpdu);

    CHECK(t.iser[0] & 4);
    while (length > 0) {
        size_t part = length < 16000 ? length : 16000;

        raw_tagged(&ulpdu, RAW_WRITE, stag, to, data, part, part == length);
        CHECK(raw_send_ulpdu(&t.raw, &ulpdu));
        to += part;
        data += part;
        length -= part;
    }
}

static void give(const void *data, size_t length)
{
    size_t expected = get(t.bhs + 20, 4);
    unsigned char bhs[48] = {0x25, 0x80};

    if (length > expected)
        length = expected;
    if (t.rdma) {
        write_by_rdma(data, length);
    } else {
        put(bhs + 20, 0xffffffff, 4);
        answer(bhs, data, length, false);
    }
    respond(0, NULL, 0);
}

/* Gets a write's solicited data: with an RDMA Read, or with R2Ts of 8192 octets. */
static void take_by_rdma(unsigned char *to, uint32_t length)
{
    static struct raw_segment segment;
    uint32_t stag = (uint32_t)get(t.iser + 4, 4), have = 0;
    RAW_BYTES(ulpdu);

    CHECK(t.iser[0] & 8);
    if (t.behaviour == INVALID_STAG)
        stag ^= 0x5500;
    raw_read_request(&ulpdu, ++t.reads, 0x77, 0, length, stag, get(t.iser + 8, 8));
    CHECK(raw_send_ulpdu(&t.raw, &ulpdu));
    while (have < length) {
        if (raw_receive_fpdu(&t.raw, &segment) != RAW_OK || !segment.tagged) {
            CHECK_EQ(INVALID_STAG, t.behaviour);
            return;
        }
        CHECK_EQ(RAW_READ_RESPONSE, segment.op);
        CHECK_EQ(0x77, segment.stag);
        CHECK(segment.to == have && segment.len <= length - have);
        memcpy(to + have, segment.payload, segment.len);
        have += (uint32_t)segment.len;
    }
}

static void take_by_r2t(unsigned char *to, uint32_t length)
{
    unsigned char command[48];

    memcpy(command, t.bhs, 48);
    for (uint32_t have = 0, sn = 0; have < length; sn++) {
        unsigned char bhs[48] = {0x31, 0x80};
        uint32_t end = length - have < 8192 ? length : have + 8192;

        put(bhs + 20, 100 + sn, 4);
        put(bhs + 36, sn, 4);
        put(bhs + 40, have, 4);
        put(bhs + 44, end - have, 4);
        answer(bhs, NULL, 0, false);
        for (uint32_t data_sn = 0; have < end; data_sn++) {
            CHECK(receive_pdu());
            CHECK_EQ(0x05, t.bhs[0]);
            CHECK_EQ(100 + sn, get(t.bhs + 20, 4));
            CHECK_EQ(data_sn, get(t.bhs + 36, 4));
            CHECK_EQ(have, get(t.bhs + 40, 4));
            CHECK(t.length <= end - have);
            memcpy(to + have, t.data, t.length);
            have += (uint32_t)t.length;
            CHECK_EQ(have == end, t.bhs[1] >> 7);
        }
    }
    memcpy(t.bhs, command, 48);
}

static void run_command(void)
{
    static const unsigned char no_such[] = {0, 18, 0x70, 0,  5,           0,
                                            0, 0,  0,    10, [14] = 0x20, [19] = 0};
    unsigned char data[96] = {0};
    uint64_t at = get(t.bhs + 34, 8) * 512;
    uint32_t length = (uint32_t)get(t.bhs + 42, 4) * 512;

    switch (t.bhs[32]) {
    case 0x00:
    case 0x35: /* SYNCHRONIZE CACHE */
    case 0x91:
        respond(0, NULL, 0);
        break;
    case 0x12:
        data[4] = 91;
        give(data, sizeof(data));
        break;
    case 0x9e:
        put(data, BLOCKS - 1, 8);
        put(data + 8, 512, 4);
        give(data, 32);
        break;
    case 0x88:
        CHECK(at <= SIZE && length <= SIZE - at);
        give(t.disk + at, length);
        break;
    case 0x8a:
        CHECK(at <= SIZE && length <= SIZE - at);
        CHECK_EQ(0, t.length); /* ImmediateData=No */
        if (t.rdma)
            take_by_rdma(t.disk + at, length);
        else
            take_by_r2t(t.disk + at, length);
        if (t.behaviour != INVALID_STAG)
            respond(0, NULL, 0);
        break;
    default:
        respond(2, no_such, sizeof(no_such));
        break;
    }
}

static void log_out(void)
{
    unsigned char bhs[48] = {0x26, 0x80};

    answer(bhs, NULL, 0, true);
}

/* Serves until the initiator disconnects. */
static void serve(int listener)
{
    memset(&t.raw, 0, sizeof(t.raw));
    t.rdma = false;
    t.sent = t.reads = 0;
    raw_accept(&t.raw, listener);
    log_in();
    while (receive_pdu()) {
        if (!(t.bhs[0] & 0x40)) {
            CHECK_EQ(t.cmd_sn, get(t.bhs + 24, 4));
            t.cmd_sn++;
        }
        if ((t.bhs[0] & 0x3f) == 0x01)
            run_command();
        else if ((t.bhs[0] & 0x3f) == 0x06)
            log_out();
        else
            CHECK_FAIL("a PDU %02x", t.bhs[0]);
    }
    raw_close(&t.raw);
}

/* ---- it_iser --------------------------------------------------------------------------------- */

static pid_t start(const char *program, uint16_t port, bool writes, const char *file)
{
    char unit[64];
    pid_t pid;

    (void)snprintf(unit, sizeof(unit), "127.0.0.1:%u/iqn.2026-11.example:scripted/0", ntohs(port));
    pid = fork();
    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    if (!freopen(file, writes ? "r" : "w", writes ? stdin : stdout))
        _exit(126);
    if (t.behaviour == PLAIN)
        (void)execl(program, program, unit, writes ? "write" : "read", (char *)NULL);
    else
        (void)execl(program, program, "--rdma", unit, writes ? "write" : "read", (char *)NULL);
    _exit(127);
}

static void fill(unsigned seed)
{
    for (size_t i = 0; i < SIZE; i++)
        t.disk[i] = (unsigned char)(i * 5 + (i >> 9) + seed);
}

static void check_file(const char *file)
{
    static unsigned char copy[SIZE + 1];
    FILE *opened = fopen(file, "r");

    CHECK(opened);
    CHECK_EQ(SIZE, fread(copy, 1, sizeof(copy), opened));
    CHECK(memcmp(copy, t.disk, SIZE) == 0);
    (void)fclose(opened);
}

static bool run(const char *program, int listener, uint16_t port, bool writes, const char *file)
{
    pid_t pid = start(program, port, writes, file);
    int status;

    serve(listener);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    static const char *const names[BEHAVIOURS] = {"plain", "converts", "an FPDU behind the login",
                                                  "a HelloReply unasked", "an invalid STag"};
    char file[] = "/tmp/iser_scripted_XXXXXX";
    uint16_t port;
    int listener = raw_listen(&port);

    CHECK_EQ(2, argc);
    CHECK(close(mkstemp(file)) == 0);
    for (unsigned i = 0; i < BEHAVIOURS; i++) {
        check_context(names[i]);
        t.behaviour = (enum behaviour)i;
        fill(i);
        if (i <= CONVERTS) {
            CHECK(run(argv[1], listener, port, false, file));
            check_file(file);
            memset(t.disk, 0, SIZE);
            CHECK(run(argv[1], listener, port, true, file));
            check_file(file);
        } else {
            CHECK(!run(argv[1], listener, port, true, file));
        }
    }
    CHECK(unlink(file) == 0);
    return 0;
}
