/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that speaks the protocol and lies loses its connection. The calls on it end with
 * ECONNRESET and one event each, and other connections are not affected.
 */
#include "exs_kit.h"
#include "support/it_fixture.h"

#include "wire/exs_message.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOT 2048u
#define LAST SIZE_MAX

static const struct exs_setup good_stream = {
    .send_credits = 4, .recv_credits = 4, .ring = {.length = 4096, .stag = 0x100, .addr = 4096}};
static const struct exs_setup good_packets = {
    .packets = true, .send_credits = 4, .recv_credits = 4, .ring = {.length = 4096}};

/*
 * One message that is sent `times` times. length is its number of octets, or LAST for the right
 * one.
 */
struct lie {
    const char *name;
    int type;
    struct exs_message message;
    size_t length;
    int times;
};

#define STREAM SOCK_STREAM
#define PACKET SOCK_SEQPACKET
#define INLINE EXS_MESSAGE_INLINE
#define DIRECT EXS_MESSAGE_DIRECT
#define TAIL   EXS_MESSAGE_TAIL
#define M(t, ...)                                                                                  \
    {                                                                                              \
        .type = EXS_MESSAGE_##t, .posted = 32, __VA_ARGS__                                         \
    }

/* Further places of an ADVERT, all at 1 with this length and these flags. */
#define FURTHER(number, octets, flag_octets)                                                       \
    .chain = 1, .place = {1, 1, 1}, .more = (number),                                              \
    .payload = (const unsigned char *)"\0\0\0\0\0\0\0\1" octets "\0\0\0\1" flag_octets

#define OCTETS_0   "\0\0\0\0\0\0\0\0"
#define OCTETS_1   "\0\0\0\0\0\0\0\1"
#define OCTETS_ALL "\377\377\377\377\377\377\377\377"

static const struct lie lies[] = {
    {"nothing at all", STREAM, M(CREDIT), 0, 1},
    {"a short head", STREAM, M(CREDIT), 23, 1},
    {"a long head", STREAM, M(CREDIT), 25, 1},
    {"no such type", STREAM, {.type = EXS_MESSAGE_TYPES, .posted = 32}, LAST, 1},
    {"a flag too many", STREAM, M(CREDIT, .flags = 1), LAST, 1},
    {"too many receives", STREAM, {.type = EXS_MESSAGE_CREDIT, .posted = 40}, LAST, 1},
    {"receives taken back", STREAM, {.type = EXS_MESSAGE_CREDIT, .posted = 31}, LAST, 1},
    {"a ring freed that is not used", STREAM, M(CREDIT, .freed = 1), LAST, 1},
    {"more freed than there is", STREAM, M(CREDIT, .freed = 0x80000000u), LAST, 1},
    {"data for a receive that is not advertised", STREAM,
     M(DATA, .flags = INLINE | DIRECT, .chain = 9, .count = 8), LAST, 1},
    {"data for the ring, none", STREAM, M(DATA), LAST, 1},
    {"data beyond the ring", STREAM, M(DATA, .count = (1u << 20) + 1), LAST, 1},
    {"data of 2^64 octets", STREAM, M(DATA, .count = UINT64_MAX), LAST, 1},
    {"direct data, more than advertised", STREAM,
     M(DATA, .flags = DIRECT, .chain = 1, .count = 8193), LAST, 1},
    {"direct data, none", STREAM, M(DATA, .flags = DIRECT, .chain = 1), LAST, 1},
    {"direct data of another chain", STREAM, M(DATA, .flags = DIRECT, .chain = 2, .count = 8), LAST,
     1},
    {"direct data, all of it behind the head", STREAM,
     M(DATA, .flags = DIRECT | TAIL, .chain = 1, .count = 8), 32, 1},
    {"direct data, none behind the head", STREAM,
     M(DATA, .flags = DIRECT | TAIL, .chain = 1, .count = 8), LAST, 1},
    {"direct data, the last of them beyond the receive", STREAM,
     M(DATA, .flags = DIRECT | TAIL, .chain = 1, .count = 8193), 32, 1},
    {"direct data, a last part twice", STREAM,
     M(DATA, .flags = DIRECT | TAIL | INLINE, .chain = 1, .count = 8), 32, 1},
    {"the last octets of data for the ring", STREAM, M(DATA, .flags = TAIL, .count = 9), 32, 1},
    {"inline data, other length", STREAM, M(DATA, .flags = INLINE, .count = 9), 32, 1},
    {"an ADVERT of nothing", STREAM, M(ADVERT, .chain = 1), LAST, 1},
    {"an ADVERT of a later chain", STREAM, M(ADVERT, .chain = 2, .place = {1, 1, 1}), LAST, 1},
    {"an ADVERT of the future", STREAM, M(ADVERT, .chain = 1, .count = 5, .place = {1, 1, 1}), LAST,
     1},
    {"too many ADVERTs", STREAM, M(ADVERT, .chain = 1, .place = {1, 1, 1}), LAST, 5},
    {"a second ADVERT of nothing", STREAM, M(ADVERT, FURTHER(1, OCTETS_0, "\0\0\0\0")), LAST, 1},
    {"a second ADVERT, another flag", STREAM, M(ADVERT, FURTHER(1, OCTETS_1, "\0\0\0\2")), LAST, 1},
    {"a second ADVERT, many flags", STREAM, M(ADVERT, FURTHER(1, OCTETS_1, "\1\0\0\4")), LAST, 1},
    {"the last of three with a flag", STREAM, M(ADVERT, FURTHER(2, OCTETS_1, "\0\0\0\1")), LAST, 1},
    {"too many ADVERTs in one", STREAM, M(ADVERT, FURTHER(4, OCTETS_1, "\0\0\0\4")), LAST, 1},
    {"a message full of ADVERTs", STREAM, M(ADVERT, FURTHER(83, OCTETS_1, "\0\0\0\0")), LAST, 1},
    {"a part of a second ADVERT", STREAM, M(ADVERT, FURTHER(1, OCTETS_1, "\0\0\0\0")), 60, 1},
    {"too many in two, all memory", STREAM, M(ADVERT, FURTHER(2, OCTETS_ALL, "\0\0\0\0")), LAST, 2},
    {"withdrawn, not asked for", STREAM, M(WITHDRAWN, .chain = 1), LAST, 1},
    {"withdraws a chain that is not there", STREAM, M(WITHDRAW, .chain = 7), LAST, 1},
    {"a ring that was not wanted", STREAM, M(RING, .place = {1, 4096, 1}), LAST, 1},
    {"wants a ring that is told", STREAM, M(WANT), LAST, 1},
    {"NEED on a stream", STREAM, M(NEED), LAST, 1},
    {"closed before it was asked to", STREAM, M(CLOSED), LAST, 1},
    {"two ends", STREAM, M(FIN), LAST, 2},
    {"packets: no length", PACKET, M(DATA, .flags = INLINE, .count = 3), LAST, 1},
    {"packets: none", PACKET, M(DATA, .flags = INLINE), LAST, 1},
    {"packets: a length beyond", PACKET, M(DATA, .flags = INLINE, .count = 8, .place = {.addr = 1}),
     LAST, 1},
    {"packets: written to the ring", PACKET, M(DATA, .count = 8), LAST, 1},
    {"packets: direct, not advertised", PACKET, M(DATA, .flags = INLINE | DIRECT, .count = 4), LAST,
     3},
    {"packets: the last octets behind the head", PACKET,
     M(DATA, .flags = DIRECT | TAIL, .count = 9), 32, 1},
    {"packets: a number twice", PACKET, M(ADVERT, .chain = 1, .count = 7, .place = {1, 1, 1}), LAST,
     2},
    {"packets: two ADVERTs in one", PACKET, M(ADVERT, FURTHER(1, OCTETS_1, "\0\0\0\0")), LAST, 1},
    {"packets: another chain", PACKET, M(ADVERT, .chain = 2, .place = {1, 1, 1}), LAST, 1},
    {"packets: withdraws another chain", PACKET, M(WITHDRAW, .chain = 2), LAST, 1},
    {"packets: needs what has not been reached", PACKET, M(NEED, .count = 3), LAST, 1},
    {"packets: asks", PACKET, M(ASK), LAST, 1},
};

/* The STag is nobody's. */
static const struct lie places[] = {
    {"all memory", STREAM, M(ADVERT, .chain = 1, .place = {0, UINT64_MAX, 7}), LAST, 1},
    {"memory that wraps", STREAM, M(ADVERT, .chain = 1, .place = {UINT64_MAX - 9, UINT64_MAX, 7}),
     LAST, 1},
    {"all memory, all of it to be filled", STREAM,
     M(ADVERT, .flags = EXS_MESSAGE_WAITALL, .chain = 1, .place = {0, UINT64_MAX, 7}), LAST, 1},
    {"four times the same", STREAM, M(ADVERT, FURTHER(3, "\0\0\0\0\0\0\377\0", "\0\0\0\0")), LAST,
     1},
    {"four times all memory", STREAM, M(ADVERT, FURTHER(3, OCTETS_ALL, "\0\0\0\4")), LAST, 1},
};

static struct fx_node node;
static struct fx_buf buffer;

/* ---- The liar ------------------------------------------------------------------------------- */

static it_ep_handle_t connect_as(int port, const void *octets, size_t length)
{
    it_ep_attributes_t attributes = fx_ep_attr();
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons((uint16_t)port)};
    it_path_t path = fx_path(&node);
    it_ep_handle_t ep = fx_ep(&node, &attributes);

    for (size_t i = 0; i < 32; i++)
        fx_recv(ep, &buffer, 2 * SLOT, SLOT, i);
    CHECK_OK(it_ep_connect(ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, octets, length));
    return ep;
}

static it_ep_handle_t connect_well(int port, int type)
{
    unsigned char octets[EXS_SETUP_OCTETS];
    it_ep_handle_t ep;

    exs_setup_put(octets, type == STREAM ? &good_stream : &good_packets);
    ep = connect_as(port, octets, sizeof(octets));
    (void)fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    return ep;
}

/* From this half of the buffer, which must not change before it has left. */
static void tell(it_ep_handle_t ep, const struct lie *lie, size_t half)
{
    unsigned char *data = buffer.data + half * SLOT;
    bool no_type = lie->message.type >= EXS_MESSAGE_TYPES;
    struct exs_message message = lie->message;
    size_t length;

    if (no_type)
        message.type = EXS_MESSAGE_CREDIT;
    memset(data, 0, SLOT);
    length = exs_message_put(data, &message);
    if (no_type)
        data[0] = lie->message.type;
    if (message.flags & INLINE)
        length += message.count;
    for (uint32_t i = 0; i < message.more; i++, length += EXS_PLACE_OCTETS)
        memcpy(data + length, message.payload, EXS_PLACE_OCTETS);
    if (lie->type == PACKET && message.place.addr != 0)
        data[EXS_HEAD_OCTETS + 3] = 5; /* the length of a packet */
    if (lie->length != LAST)
        length = lie->length;
    for (int i = 0; i < lie->times; i++)
        fx_send(ep, &buffer, half * SLOT, length, 0, FX_QUIET);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void run(const struct lie *lie)
{
    static char memory[8192];
    exs_qhandle_t queue = exs_qcreate(16);
    exs_acceptaddr_t element = {.exs_ahandle = memory};
    exs_event_t event;
    it_ep_handle_t ep;
    int port;
    int listener = exs_kit_listen(lie->type, &port);
    int fd;

    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    ep = connect_well(port, lie->type);
    event = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0);
    fd = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    for (int i = 0; i < 2; i++)
        CHECK_STARTS(exs_recv(fd, memory, sizeof(memory), MSG_WAITALL, queue, memory,
                              EXS_MHANDLE_UNREGISTERED));
    if (lie->type == STREAM)
        CHECK_STARTS(exs_shutdown(fd, SHUT_WR, EXS_BLOCK, NULL, NULL)); /* the ADVERTs are out */
    tell(ep, lie, 0);
    for (int i = 0; i < 2; i++) {
        event = exs_kit_event(queue);
        CHECK_EQ(EXS_EVT_RECV, event.exs_evt_type);
        /* The first of two messages may be legal. */
        CHECK(event.exs_evt_errno == ECONNRESET || lie->times > 1);
    }
    /* Reads return the end of the stream until the connection has ended. */
    while (exs_read(fd, memory, 1) == 0) {
    }
    CHECK_EQ(ECONNRESET, errno);
    CHECK_STARTS(exs_blocking_close(fd));
    CHECK_STARTS(exs_blocking_close(listener));
    exs_kit_empty(queue);
    CHECK_STARTS(exs_qdelete(queue));
    CHECK_OK(it_ep_free(ep));
    fx_drain(node.conn_evd);
    fx_drain(node.recv_evd);
    fx_drain(node.request_evd);
}

/*
 * ADVERTs that are well formed, of memory that is not there: what is sent to them ends the liar's
 * connection, with one event for each send. An octet behind them tells that they have arrived.
 */
static void false_places(const struct lie *lie)
{
    static const struct lie octet = {"an octet", STREAM, M(DATA, .flags = INLINE, .count = 1), LAST,
                                     1};
    static char memory[100000];
    exs_qhandle_t queue = exs_qcreate(16);
    it_ep_handle_t ep;
    exs_event_t event;
    int port;
    int listener = exs_kit_listen(STREAM, &port);
    exs_acceptaddr_t element = {.exs_ahandle = memory};
    int fd;

    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    ep = connect_well(port, STREAM);
    event = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0);
    fd = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    tell(ep, lie, 0);
    tell(ep, &octet, 1);
    CHECK_RESULT(1, exs_read(fd, memory, 1));
    CHECK_STARTS(exs_send(fd, memory, sizeof(memory), 0, queue, memory, EXS_MHANDLE_UNREGISTERED));
    /* The first one may already have ended the connection. */
    if (exs_send(fd, memory, sizeof(memory), 0, queue, memory, EXS_MHANDLE_UNREGISTERED) == 0)
        CHECK_EQ(EXS_EVT_SEND, exs_kit_event(queue).exs_evt_type);
    else
        CHECK_EQ(ECONNRESET, errno);
    CHECK_EQ(EXS_EVT_SEND, exs_kit_event(queue).exs_evt_type);
    CHECK_ERRNO(ECONNRESET, exs_read(fd, memory, 1));
    CHECK_STARTS(exs_blocking_close(fd));
    CHECK_STARTS(exs_blocking_close(listener));
    exs_kit_empty(queue);
    CHECK_STARTS(exs_qdelete(queue));
    CHECK_OK(it_ep_free(ep));
    fx_drain(node.conn_evd);
    fx_drain(node.recv_evd);
    fx_drain(node.request_evd);
}

/*
 * Packets, and the claim to need a receive far behind them. Once receives have been shut down, the
 * library posts one receive of its own; it posted one more for each message, until its queue held
 * more than it has room for, and some were lost.
 */
static void far_need(void)
{
    static const struct lie packets = {"", PACKET, M(DATA, .flags = INLINE, .count = 400), LAST, 1};
    static const struct lie need = {"", PACKET, M(NEED, .count = 400), LAST, 1};
    static const struct lie nothing = {"", PACKET, M(CREDIT), LAST, 1};
    exs_qhandle_t queue = exs_qcreate(16);
    exs_acceptaddr_t element = {.exs_ahandle = NULL};
    it_ep_handle_t ep;
    exs_pollfd_t set = {.exs_events = EXS_POLLIN};
    const char octet = 1;
    int port;
    int listener = exs_kit_listen(PACKET, &port);
    int fd;

    CHECK_STARTS(exs_accept(listener, &element, 1, 0, queue));
    ep = connect_well(port, PACKET);
    fd = exs_kit_expect(queue, EXS_EVT_ACCEPT, 0).exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    tell(ep, &packets, 0);
    tell(ep, &need, 1);
    set.exs_fd = fd;
    CHECK_RESULT(1, exs_poll(&set, 1, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL));
    CHECK_STARTS(exs_shutdown(fd, SHUT_RD, EXS_BLOCK, NULL, NULL));
    for (int i = 0; i < 10; i++)
        tell(ep, &nothing, i & 1);
    CHECK_OK(it_ep_disconnect(ep, NULL, 0));
    /* Until all has come, and then the end. */
    while (exs_write(fd, &octet, 1) > 0) {
    }
    CHECK_STARTS(exs_close(fd, 0, queue, NULL));
    CHECK_OK(it_ep_free(ep));
    CHECK_EQ(EXS_EVT_CLOSE, exs_kit_event(queue).exs_evt_type);
    CHECK_STARTS(exs_blocking_close(listener));
    CHECK_STARTS(exs_qdelete(queue));
    fx_drain(node.conn_evd);
    fx_drain(node.recv_evd);
    fx_drain(node.request_evd);
}

/* A request with other private data is rejected. The listener continues. */
static void strangers(void)
{
    unsigned char octets[EXS_SETUP_OCTETS];
    it_ep_handle_t ep;
    int port;
    int listener = exs_kit_listen(STREAM, &port);
    char memory[8];

    exs_setup_put(octets, &good_packets);
    for (size_t i = 0; i < 4; i++) {
        ep = connect_as(port, octets, i == 0 ? sizeof(octets) : i);
        (void)fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
        CHECK_OK(it_ep_free(ep));
    }
    fx_drain(node.recv_evd);
    CHECK_ERRNO(ENOTCONN,
                exs_recv(listener, memory, 1, EXS_BLOCK, NULL, NULL, EXS_MHANDLE_UNREGISTERED));
    CHECK_STARTS(exs_blocking_close(listener));
}

int main(void)
{
    struct exs_pair pair;
    char octet = 1;

    CHECK_STARTS(exs_init(EXS_VERSION1));
    fx_node_open(&node);
    buffer = fx_buf_make(&node, 3 * SLOT);
    exs_pair_open(&pair, SOCK_STREAM);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        check_context(lies[i].name);
        run(&lies[i]);
        CHECK_RESULT(1, exs_write(pair.client, &octet, 1));
        CHECK_RESULT(1, exs_read(pair.server, &octet, 1));
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        check_context(places[i].name);
        false_places(&places[i]);
        CHECK_RESULT(1, exs_write(pair.client, &octet, 1));
        CHECK_RESULT(1, exs_read(pair.server, &octet, 1));
    }
    check_context("far need");
    far_need();
    check_context("strangers");
    strangers();
    exs_pair_close(&pair);
    fx_buf_free(&buffer);
    fx_node_close(&node);
    return 0;
}
