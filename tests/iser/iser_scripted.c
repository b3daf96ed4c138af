/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iser_scripted IT_ISER: runs it_iser against a target that was written from the layouts of RFC
 * 7143 and RFC 7145 alone and shares no code with the library. Its unit has octets that follow a
 * rule. The cases: plain, converted, what a target must not do, each field of its PDUs that lies,
 * and silence.
 */
#include "support/check.h"
#include "support/raw_peer.h"
#include "support/time_limit.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS     256u
#define SIZE       (BLOCKS * 512u)
#define TRICKLE_MS 50

enum behaviour {
    PLAIN,
    CONVERTS,
    CLOSED_WINDOW,     /* converts, and opens the window of commands later */
    FPDU_BEHIND_LOGIN, /* in front of the MPA Request: no Reply, so no connection */
    HELLO_UNASKED,     /* a HelloReply without a Hello */
    INVALID_STAG,      /* reads memory that was not advertised */
    BEHAVIOURS
};

/* Where the target says no more, or next to nothing, but keeps the connection. */
enum silence {
    NEVER,
    AT_LOGIN,
    TRICKLED_LOGIN, /* the Login Response comes octet by octet */
    AT_CONVERSION,
    AT_COMMAND,
    BUT_PINGS,       /* at a command, as those below */
    UNASKED_PINGS,   /* they ask for no answer */
    TRICKLED_ANSWER, /* the response comes octet by octet */
    TRICKLED_DATA    /* Data-In PDUs, or RDMA Writes, without octets */
};

/* A field of the target's PDUs, a key of its login or its capacity that lies. */
struct lie {
    enum behaviour behaviour;
    const char *says; /* it_iser */
    unsigned opcode, at;
    unsigned octets; /* 0: no field lies */
    uint64_t value;
    const char *key; /* of the login: NAME=VALUE */
    uint64_t last_block;
    uint32_t block; /* 0: the capacity is true */
};

static struct {
    enum behaviour behaviour;
    const struct lie *lie; /* NULL: none */
    enum silence silence;
    struct raw_peer raw;
    bool rdma;
    uint32_t stat_sn, cmd_sn, sent, reads;
    unsigned char disk[SIZE];
    bool closed; /* the window of commands */
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
    put(bhs + 32, t.closed ? t.cmd_sn - 1 : t.cmd_sn + 15, 4);
    if (t.lie && t.lie->octets > 0 && t.lie->opcode == bhs[0])
        put(bhs + t.lie->at, t.lie->value, t.lie->octets);
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

/* Takes octets until the initiator disconnects. */
static void say_no_more(void)
{
    char octet;

    while (read(t.raw.fd, &octet, 1) == 1) {
    }
}

/* Waits for a moment. Returns false once the initiator has disconnected. */
static bool is_watched(void)
{
    struct pollfd peer = {.fd = t.raw.fd, .events = POLLRDHUP};

    return poll(&peer, 1, TRICKLE_MS) == 0;
}

/* A PDU with a long data segment of zeros, octet by octet, until the initiator disconnects. */
static void trickle(unsigned char opcode)
{
    unsigned char bhs[48] = {opcode, 0x80};
    RAW_BYTES(part);

    put(bhs + 5, 8192, 3);
    for (size_t i = 0; is_watched(); i++) {
        part.len = 0;
        raw_add_byte(&part, i < sizeof(bhs) ? bhs[i] : 0);
        (void)raw_send(&t.raw, &part);
    }
}

static void trickle_data(void)
{
    while (is_watched()) {
        unsigned char bhs[48] = {0x25};
        RAW_BYTES(ulpdu);

        raw_tagged(&ulpdu, RAW_WRITE, 0, 0, NULL, 0, true);
        if (t.rdma)
            (void)raw_send_ulpdu(&t.raw, &ulpdu);
        else
            answer(bhs, NULL, 0, false);
    }
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
    if (t.silence == AT_CONVERSION) {
        say_no_more();
        return;
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

/* Adds pairs, each with its NUL; the lie replaces the one of its key. */
static void add_keys(struct raw_bytes *text, const char *pairs, size_t length)
{
    const char *lie = t.lie && t.lie->key ? t.lie->key : "=";
    size_t key = strcspn(lie, "=") + 1;

    for (const char *pair = pairs; pair < pairs + length; pair += strlen(pair) + 1) {
        const char *said = key > 1 && strncmp(pair, lie, key) == 0 ? lie : pair;

        raw_add(text, said, strlen(said) + 1);
    }
}

static void log_in(void)
{
    static const char plain[] = "TargetPortalGroupTag=1\0HeaderDigest=None\0DataDigest=None\0"
                                "InitialR2T=Yes\0ImmediateData=No\0MaxBurstLength=8192\0"
                                "FirstBurstLength=8192\0MaxRecvDataSegmentLength=8192\0"
                                "DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0"
                                "MaxOutstandingR2T=1\0ErrorRecoveryLevel=0\0MaxConnections=1";
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
    add_keys(&text, plain, sizeof(plain));
    if (t.behaviour != PLAIN)
        add_keys(&text, rdma, sizeof(rdma));
    answer(bhs, text.data, text.len, true);
    if (t.lie && (t.lie->opcode == 0x23 || t.lie->key))
        return;
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
            if (!receive_pdu()) {
                CHECK(t.lie);
                return;
            }
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
        put(data, t.lie && t.lie->block ? t.lie->last_block : BLOCKS - 1, 8);
        put(data + 8, t.lie && t.lie->block ? t.lie->block : 512, 4);
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

/* Sends a NOP-In that asks for an answer if ttt is not ffffffff. */
static void ping(uint32_t ttt)
{
    unsigned char bhs[48] = {0x20, 0x80};

    memset(t.bhs + 16, 0xff, 4);
    put(bhs + 20, ttt, 4);
    answer(bhs, NULL, 0, false);
}

/* The window is closed after the login: no command comes before the window opens. */
static void open_window(void)
{
    ping(5);
    CHECK(receive_pdu());
    CHECK_EQ(0x40, t.bhs[0]);
    CHECK_EQ(5, get(t.bhs + 20, 4));
    t.closed = false;
    ping(0xffffffff);
}

/* Instead of an answer. Returns false if the target is not silent now. */
static bool is_silent(void)
{
    if (t.silence == BUT_PINGS)
        do
            ping(5);
        while (receive_pdu());
    else if (t.silence == UNASKED_PINGS)
        while (is_watched())
            ping(0xffffffff);
    else if (t.silence == AT_COMMAND)
        say_no_more();
    else if (t.silence == TRICKLED_ANSWER)
        trickle(0x21);
    else if (t.silence == TRICKLED_DATA)
        trickle_data();
    return t.silence >= AT_COMMAND;
}

/* Serves until the initiator disconnects. */
static void serve(int listener)
{
    memset(&t.raw, 0, sizeof(t.raw));
    t.rdma = false;
    t.sent = t.reads = 0;
    t.closed = t.behaviour == CLOSED_WINDOW;
    raw_accept(&t.raw, listener);
    if (t.silence == AT_LOGIN) {
        say_no_more();
    } else if (t.silence == TRICKLED_LOGIN) {
        CHECK(receive_pdu());
        trickle(0x23);
    } else {
        log_in();
    }
    if (t.closed)
        open_window();
    while (receive_pdu() && !is_silent()) {
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

struct files {
    char octets[32], errors[32];
};

/* Returns the seconds that it_iser bears silence for: soon over if silence is the case. */
static int patience(void)
{
    return t.silence == NEVER ? 600 : time_limit_ms(2000) / 1000;
}

static pid_t start(const char *program, uint16_t port, const char *action,
                   const struct files *files)
{
    bool writes = strcmp(action, "write") == 0;
    char unit[64], timeout[32];
    pid_t pid;

    (void)snprintf(timeout, sizeof(timeout), "--timeout=%d", patience());
    (void)snprintf(unit, sizeof(unit), "127.0.0.1:%u/iqn.2026-11.example:scripted/0", ntohs(port));
    pid = fork();
    CHECK(pid >= 0);
    if (pid > 0)
        return pid;
    if (!freopen(files->octets, writes ? "r" : "w", writes ? stdin : stdout) ||
        !freopen(files->errors, "w", stderr))
        _exit(126);
    if (t.behaviour == PLAIN)
        (void)execl(program, program, timeout, unit, action, (char *)NULL);
    else
        (void)execl(program, program, timeout, "--rdma", unit, action, (char *)NULL);
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

static void check_says(const char *file, const char *text)
{
    char line[512] = "";
    FILE *opened = fopen(file, "r");

    CHECK(opened);
    (void)fgets(line, sizeof(line), opened);
    if (!strstr(line, text))
        CHECK_FAIL("it_iser says: %s", line);
    (void)fclose(opened);
}

static bool run(const char *program, int listener, uint16_t port, const char *action,
                const struct files *files)
{
    pid_t pid = start(program, port, action, files);
    int status;

    serve(listener);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

static void behave(const char *program, int listener, uint16_t port, const struct files *files)
{
    static const char *const names[BEHAVIOURS] = {"plain",
                                                  "converts",
                                                  "a closed window",
                                                  "an FPDU behind the login",
                                                  "a HelloReply unasked",
                                                  "an invalid STag"};

    for (unsigned i = 0; i < BEHAVIOURS; i++) {
        check_context(names[i]);
        t.behaviour = (enum behaviour)i;
        fill(i);
        if (i <= CLOSED_WINDOW) {
            CHECK(run(program, listener, port, "read", files));
            check_file(files->octets);
            memset(t.disk, 0, SIZE);
            CHECK(run(program, listener, port, "write", files));
            check_file(files->octets);
        } else {
            CHECK(!run(program, listener, port, "write", files));
        }
    }
}

/* ---- lies ------------------------------------------------------------------------------------ */

#define FIELD(how, text, pdu, offset, length, lie)                                                 \
    {                                                                                              \
        .behaviour = (how), .says = (text), .opcode = (pdu), .at = (offset), .octets = (length),   \
        .value = (lie)                                                                             \
    }

/* clang-format off */
static const struct lie lies[] = {
    /* Login Response */
    FIELD(PLAIN, "PDU 21 instead of a Login Response", 0x23, 0, 1, 0x21),
    FIELD(PLAIN, "does not finish the login in one round", 0x23, 1, 1, 0x04),
    FIELD(PLAIN, "a Login Response to another request", 0x23, 1, 1, 0x83),
    FIELD(PLAIN, "login text is not legal", 0x23, 1, 1, 0x47),
    FIELD(PLAIN, "a Login Response to another request", 0x23, 3, 1, 1),
    FIELD(PLAIN, "an additional header", 0x23, 4, 1, 1),
    FIELD(PLAIN, "a data segment of 16777215 octets", 0x23, 5, 3, 0xffffff),
    FIELD(CONVERTS, "a Login Response to another request", 0x23, 8, 1, 0),
    FIELD(CONVERTS, "a Login Response to another request", 0x23, 16, 4, 9),
    FIELD(PLAIN, "status 0100", 0x23, 36, 2, 0x0100),
    /* SCSI Response */
    FIELD(PLAIN, "PDU 2f out of turn", 0x21, 0, 1, 0x2f),
    FIELD(CONVERTS, "PDU 25 is none of iSER", 0x21, 0, 1, 0x25),
    FIELD(CONVERTS, "PDU 31 is none of iSER", 0x21, 0, 1, 0x31),
    FIELD(PLAIN, "the target has failed (response 01)", 0x21, 2, 1, 1),
    FIELD(CONVERTS, "is no PDU", 0x21, 4, 1, 1),
    FIELD(PLAIN, "a data segment of 262145 octets", 0x21, 5, 3, 0x40001),
    FIELD(CONVERTS, "is no PDU", 0x21, 5, 3, 5),
    FIELD(PLAIN, "the task 000000ff, which is not under way", 0x21, 16, 4, 0xff),
    FIELD(CONVERTS, "the task ffffffff, which is not under way", 0x21, 16, 4, 0xffffffff),
    FIELD(PLAIN, "StatSN 0000004d of PDU 21", 0x21, 24, 4, 77),
    FIELD(CONVERTS, "StatSN 00000000 of PDU 21", 0x21, 24, 4, 0),
    /* Data-In, R2T */
    FIELD(PLAIN, "Data-In beyond the end", 0x25, 5, 3, 0x40000),
    FIELD(PLAIN, "the task 000000fe, which is not under way", 0x25, 16, 4, 0xfe),
    FIELD(PLAIN, "Data-In out of order", 0x25, 40, 4, 4),
    FIELD(PLAIN, "Data-In out of order", 0x25, 40, 4, 0xfffffffc),
    FIELD(PLAIN, "the task 00000100, which is not under way", 0x31, 16, 4, 0x100),
    FIELD(PLAIN, "R2T out of order", 0x31, 40, 4, 4),
    FIELD(PLAIN, "R2T of octets that the command has not", 0x31, 40, 4, 0xffffffff),
    FIELD(PLAIN, "R2T of octets that the command has not", 0x31, 44, 4, 0),
    FIELD(PLAIN, "R2T of octets that the command has not", 0x31, 44, 4, 0xffffffff),
    FIELD(PLAIN, "R2T of more octets than MaxBurstLength", 0x31, 44, 4, 8193),
    /* Logout Response */
    FIELD(PLAIN, "PDU 26 has the tag of another request", 0x26, 16, 4, 0xff),
    FIELD(CONVERTS, "StatSN 00000001 of PDU 26", 0x26, 24, 4, 1),
    /* Keys */
    {.says = "HeaderDigest=CRC32C, which", .key = "HeaderDigest=CRC32C"},
    {.says = "DataDigest=, which", .key = "DataDigest="},
    {.says = "InitialR2T=Maybe, which", .key = "InitialR2T=Maybe"},
    {.says = "ImmediateData=?[2J, which", .key = "ImmediateData=\033[2J"},
    {.says = "MaxBurstLength=16777215, which", .key = "MaxBurstLength=16777215"},
    {.says = "FirstBurstLength=262145, which", .key = "FirstBurstLength=262145"},
    {.says = "FirstBurstLength=0x1ff, which", .key = "FirstBurstLength=0x1ff"},
    {.says = "MaxRecvDataSegmentLength=0, which", .key = "MaxRecvDataSegmentLength=0"},
    {.says = "DataPDUInOrder=No, which", .key = "DataPDUInOrder=No"},
    {.says = "MaxOutstandingR2T=2, which", .key = "MaxOutstandingR2T=2"},
    {.says = "ErrorRecoveryLevel=2, which", .key = "ErrorRecoveryLevel=2"},
    {.says = "MaxConnections=-1, which", .key = "MaxConnections=-1"},
    {CONVERTS, "no RDMAExtensions", .key = "RDMAExtensions=No"},
    {CONVERTS, "DataSegmentLength=8193, which", .key = "TargetRecvDataSegmentLength=8193"},
    {CONVERTS, "DataSegmentLength=1, which", .key = "InitiatorRecvDataSegmentLength=1"},
    /* READ CAPACITY */
    {.says = "blocks of 1073741824 octets", .block = 1u << 30, .last_block = 1},
    {.says = "blocks of 513 octets", .block = 513, .last_block = 255},
    {.says = "blocks of 256 octets", .block = 256, .last_block = 255},
    {.says = "more than 2^64 octets", .block = 512, .last_block = UINT64_MAX},
    {.says = "more than 2^64 octets", .block = 512, .last_block = UINT64_C(1) << 55},
};
/* clang-format on */

static void tell_lies(const char *program, int listener, uint16_t port, const struct files *files)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const char *action = lies[i].block ? "verify" : lies[i].opcode == 0x31 ? "write" : "read";

        check_context(lies[i].says);
        t.behaviour = lies[i].behaviour;
        t.lie = &lies[i];
        CHECK(truncate(files->octets, SIZE) == 0); /* what "write" reads */
        CHECK(!run(program, listener, port, action, files));
        check_says(files->errors, lies[i].says);
    }
}

/* ---- silence --------------------------------------------------------------------------------- */

static void check_was_silent(const char *file, const char *what)
{
    char says[64];

    (void)snprintf(says, sizeof(says), "%s for %d seconds", what, patience());
    check_says(file, says);
}

static void be_silent(const char *program, int listener, uint16_t port, const struct files *files)
{
    static const struct {
        enum behaviour behaviour;
        enum silence silence;
        const char *says;
    } cases[] = {
        {PLAIN, AT_LOGIN, "has been silent"},
        {PLAIN, TRICKLED_LOGIN, "has answered nothing"},
        {CONVERTS, AT_CONVERSION, "has been silent"},
        {PLAIN, AT_COMMAND, "has been silent"},
        {CONVERTS, AT_COMMAND, "has been silent"},
        {PLAIN, BUT_PINGS, "has answered nothing"},
        {CONVERTS, BUT_PINGS, "has answered nothing"},
        {CONVERTS, UNASKED_PINGS, "has answered nothing"},
        {PLAIN, TRICKLED_ANSWER, "has answered nothing"},
        {PLAIN, TRICKLED_DATA, "has answered nothing"},
        {CONVERTS, TRICKLED_DATA, "has been silent"},
    };

    check_context("a silent target");
    t.lie = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        t.behaviour = cases[i].behaviour;
        t.silence = cases[i].silence;
        CHECK(!run(program, listener, port, "read", files));
        check_was_silent(files->errors, cases[i].says);
    }
}

/* Nobody accepts, and the backlog is full: a further connect gets no answer. */
static void be_deaf(const char *program, const struct files *files)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int first = socket(AF_INET, SOCK_STREAM, 0);
    int status;

    check_context("a deaf target");
    t.behaviour = PLAIN;
    CHECK(bind(listener, (struct sockaddr *)&here, length) == 0 && listen(listener, 0) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&here, &length) == 0);
    CHECK(connect(first, (struct sockaddr *)&here, length) == 0);
    CHECK(waitpid(start(program, here.sin_port, "read", files), &status, 0) > 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    check_was_silent(files->errors, "has been silent");
    CHECK(close(first) == 0 && close(listener) == 0);
}

int main(int argc, char **argv)
{
    struct files files = {"/tmp/iser_scripted_XXXXXX", "/tmp/iser_scripted_XXXXXX"};
    uint16_t port;
    int listener = raw_listen(&port);

    CHECK_EQ(2, argc);
    CHECK(close(mkstemp(files.octets)) == 0 && close(mkstemp(files.errors)) == 0);
    behave(argv[1], listener, port, &files);
    fill(0);
    tell_lies(argv[1], listener, port, &files);
    be_silent(argv[1], listener, port, &files);
    be_deaf(argv[1], &files);
    CHECK(unlink(files.octets) == 0 && unlink(files.errors) == 0);
    return 0;
}
