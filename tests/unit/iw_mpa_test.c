/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_mpa.h"

#include "vectors/iw_golden.h"
#include "vectors/iw_hex.h"

#include <criterion/criterion.h>

#define ROOM    1200
#define Q       "4d504120 49442052 65712046 72616d65 "
#define P       "4d504120 49442052 65702046 72616d65 "
#define ALL_RTR (IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ)

static const struct iw_mpa_config plain = {.revision = 2, .crc = true, .rtr = ALL_RTR};

static struct iw_mpa_config config_of(unsigned revision, bool peer_to_peer, unsigned rtr,
                                      uint16_t ird, uint16_t ord)
{
    return (struct iw_mpa_config){.revision = revision,
                                  .crc = true,
                                  .peer_to_peer = peer_to_peer,
                                  .rtr = rtr,
                                  .ird = ird,
                                  .ord = ord};
}

/*
 * Feeds only as many octets as are wanted, in pieces of at most `piece`. Returns how many were
 * taken.
 */
static size_t feed(struct iw_mpa *mpa, const uint8_t *data, size_t length, size_t piece)
{
    size_t taken = 0;

    while (taken < length && iw_mpa_wanted(mpa) > 0) {
        size_t part = iw_mpa_wanted(mpa);
        uint8_t *copy;

        if (part > piece)
            part = piece;
        if (part > length - taken)
            part = length - taken;
        copy = malloc(part);
        memcpy(copy, data + taken, part);
        cr_assert_eq(iw_mpa_feed(mpa, copy, part), mpa->verdict);
        free(copy);
        taken += part;
    }
    return taken;
}

/*
 * Feeds the frame whole, octet by octet, and cut at every place, with the same result. The last
 * result stays in mpa.
 */
static size_t feed_all_ways(struct iw_mpa *mpa, bool initiator, const struct iw_mpa_config *config,
                            const char *hex)
{
    uint8_t octets[ROOM];
    size_t length = iw_hex(hex, octets, sizeof(octets));
    struct iw_mpa whole;
    size_t taken;

    iw_mpa_init(&whole, initiator, config);
    taken = feed(&whole, octets, length, SIZE_MAX);
    for (size_t cut = 1; cut <= length; cut++) {
        size_t got;

        iw_mpa_init(mpa, initiator, config);
        got = feed(mpa, octets, cut, SIZE_MAX);
        if (got == cut)
            got += feed(mpa, octets + cut, length - cut, SIZE_MAX);
        cr_assert(got <= taken && mpa->verdict == whole.verdict, "%s cut at %zu", hex, cut);
    }
    iw_mpa_init(mpa, initiator, config);
    taken = feed(mpa, octets, length, 1);
    cr_assert_eq(mpa->verdict, whole.verdict);
    cr_assert_eq(mpa->error, whole.error);
    cr_assert_eq(memcmp(&mpa->result, &whole.result, sizeof(whole.result)), 0);
    return taken;
}

static enum iw_mpa_verdict verdict_of(bool initiator, const struct iw_mpa_config *config,
                                      const char *hex)
{
    struct iw_mpa mpa;

    feed_all_ways(&mpa, initiator, config, hex);
    return mpa.verdict;
}

static void check_request(const struct iw_mpa_config *config, const char *private_data,
                          char connection, unsigned frame)
{
    struct iw_mpa mpa;
    uint8_t want[ROOM];
    uint8_t got[IW_MPA_FRAME_MAX];
    size_t length = iw_golden_frame(connection, frame, want, sizeof(want));

    iw_mpa_init(&mpa, true, config);
    cr_assert_eq(iw_mpa_encode_request(&mpa, private_data, strlen(private_data), got), length);
    cr_assert_eq(memcmp(got, want, length), 0, "frame %u", frame);
}

/* Checks that a responder with this configuration answers one golden frame with the other. */
static void check_reply(const struct iw_mpa_config *config, const char *private_data,
                        char connection, unsigned request, unsigned reply)
{
    struct iw_mpa mpa;
    uint8_t octets[ROOM];
    uint8_t got[IW_MPA_FRAME_MAX];
    size_t length = iw_golden_frame(connection, request, octets, sizeof(octets));

    iw_mpa_init(&mpa, false, config);
    feed(&mpa, octets, length, SIZE_MAX);
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
    length = iw_golden_frame(connection, reply, octets, sizeof(octets));
    cr_assert_eq(iw_mpa_encode_reply(&mpa, private_data, strlen(private_data), got), length);
    cr_assert_eq(memcmp(got, octets, length), 0, "frame %u", reply);
}

Test(iw_mpa, golden_requests)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 8, 4);

    check_request(&config, "golden-req", 'A', 4);
    config = config_of(1, true, ALL_RTR, 8, 4);
    check_request(&config, "", 'B', 44);
    config = config_of(2, true, ALL_RTR, 1, 1);
    check_request(&config, "", 'C', 62);
    config = config_of(2, false, ALL_RTR, 7, 9);
    config.suppress_depths = true;
    check_request(&config, "", 'D', 78);
    config = config_of(2, false, 0, 1, 1);
    config.crc = false;
    check_request(&config, "", 'E', 88);
}

Test(iw_mpa, golden_replies)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 4, 8);

    check_reply(&config, "golden-rep", 'A', 4, 6);
    check_reply(&config, "", 'B', 44, 46);
    config = config_of(2, false, ALL_RTR, 1, 1);
    check_reply(&config, "", 'C', 62, 64);
    config = config_of(2, false, ALL_RTR, 1, 1);
    config.crc = false;
    check_reply(&config, "", 'E', 88, 90);
    config = config_of(2, false, ALL_RTR, 2, 2);
    check_reply(&config, "", 'G', 118, 120);
}

Test(iw_mpa, golden_reject)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 5, 5);
    struct iw_mpa mpa;
    uint8_t octets[ROOM];
    uint8_t got[IW_MPA_FRAME_MAX];
    size_t length = iw_golden_frame('D', 78, octets, sizeof(octets));

    iw_mpa_init(&mpa, false, &config);
    feed(&mpa, octets, length, SIZE_MAX);
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
    length = iw_golden_frame('D', 80, octets, sizeof(octets));
    cr_assert_eq(iw_mpa_encode_reject(&mpa, "no", 2, got), length);
    cr_assert_eq(memcmp(got, octets, length), 0);
}

Test(iw_mpa, golden_decoded_by_initiator)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 8, 4);
    struct iw_mpa mpa;

    feed_all_ways(&mpa, true, &config, P "5002000e 00040008 676f6c64 656e2d72 6570");
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
    cr_assert_eq(mpa.private_length, 10);
    cr_assert_eq(memcmp(mpa.private_data, "golden-rep", 10), 0);
    cr_assert(mpa.result.enhanced && mpa.result.crc && mpa.result.revision == 2);
    cr_assert(mpa.result.ird == 8 && mpa.result.ord == 4);
    cr_assert(mpa.result.peer_ird == 4 && mpa.result.peer_ord == 8);
    cr_assert(!mpa.result.peer_to_peer && mpa.result.rtr == 0 && !mpa.result.send_markers);
}

/* ---- Negative startup vectors ---------------------------------------------- */

Test(iw_mpa, every_octet_of_the_key_counts)
{
    for (int initiator = 0; initiator <= 1; initiator++) {
        for (size_t wrong = 0; wrong < 16; wrong++) {
            struct iw_mpa mpa;
            uint8_t octets[ROOM];
            size_t length = iw_hex(initiator ? P "40010000" : Q "40010000", octets, ROOM);

            octets[wrong] ^= 1;
            iw_mpa_init(&mpa, initiator, &plain);
            /* The wrong octet is noticed as soon as it arrives. */
            cr_assert_eq(feed(&mpa, octets, length, 1), wrong + 1);
            cr_assert_eq(mpa.verdict, IW_MPA_BAD);
            cr_assert_eq(iw_mpa_wanted(&mpa), 0);
            cr_assert_eq(iw_mpa_feed(&mpa, octets, 1), IW_MPA_BAD);
        }
    }
}

Test(iw_mpa, bad_requests)
{
    struct iw_mpa_config one = config_of(1, false, ALL_RTR, 1, 1);
    struct iw_mpa mpa;

    cr_assert_eq(verdict_of(false, &plain, P "40010000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &plain, Q "50030004 00010001"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &plain, Q "40000000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &plain, Q "50020003 000100"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &plain, Q "50020000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &one, Q "50020004 00010001"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(false, &one, Q "40010000"), IW_MPA_DONE);
    /* Too much private data is refused at octet 20. */
    cr_assert_eq(feed_all_ways(&mpa, false, &plain, Q "40010201 00000000"), 20);
    cr_assert_eq(mpa.verdict, IW_MPA_BAD);
    cr_assert_eq(feed_all_ways(&mpa, false, &plain, Q "4001ffff 00000000"), 20);
    cr_assert_eq(mpa.verdict, IW_MPA_BAD);
}

Test(iw_mpa, cut_request_wants_more)
{
    struct iw_mpa mpa;

    feed_all_ways(&mpa, false, &plain, Q "40010010 010203");
    cr_assert_eq(mpa.verdict, IW_MPA_MORE);
    cr_assert_eq(iw_mpa_wanted(&mpa), 13);
}

Test(iw_mpa, never_wants_past_the_frame)
{
    struct iw_mpa mpa;

    cr_assert_eq(feed_all_ways(&mpa, false, &plain, Q "40010000 ee"), 20);
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
    cr_assert_eq(feed_all_ways(&mpa, true, &plain, P "50020004 00000000 002a4143"), 24);
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
}

Test(iw_mpa, takes_the_longest_private_data)
{
    struct iw_mpa mpa;
    struct iw_mpa_config config = config_of(2, false, 0, 1, 1);
    uint8_t frame[IW_MPA_FRAME_MAX + 1];
    uint8_t data[600];

    memset(data, 0x5a, sizeof(data));
    iw_mpa_init(&mpa, true, &config);
    cr_assert_eq(iw_mpa_encode_request(&mpa, data, 508, frame), 532);
    iw_mpa_init(&mpa, false, &config);
    cr_assert_eq(feed(&mpa, frame, 532, 7), 532);
    cr_assert(mpa.verdict == IW_MPA_DONE && mpa.private_length == 508);
    config.revision = 1;
    iw_mpa_init(&mpa, true, &config);
    frame[IW_MPA_FRAME_MAX] = 0x77;
    cr_assert_eq(iw_mpa_encode_request(&mpa, data, sizeof(data), frame), 532);
    cr_assert_eq(frame[IW_MPA_FRAME_MAX], 0x77);
    iw_mpa_init(&mpa, false, &config);
    cr_assert_eq(feed(&mpa, frame, 532, 100), 532);
    cr_assert(mpa.verdict == IW_MPA_DONE && mpa.private_length == 512);
}

Test(iw_mpa, ignores_reserved_bits)
{
    struct iw_mpa mpa;
    struct iw_mpa_config one = config_of(1, false, 0, 0, 0);

    cr_assert_eq(verdict_of(false, &plain, Q "4f010000"), IW_MPA_DONE);
    cr_assert_eq(verdict_of(false, &plain, Q "60010000"), IW_MPA_DONE); /* R in a Request */
    feed_all_ways(&mpa, false, &plain, Q "50010002 0102");              /* S in revision 1 */
    cr_assert_eq(mpa.verdict, IW_MPA_DONE);
    cr_assert(!mpa.peer_enhanced && mpa.private_length == 2);
    feed_all_ways(&mpa, true, &one, P "50010002 0102");
    cr_assert(mpa.verdict == IW_MPA_DONE && !mpa.result.enhanced && mpa.private_length == 2);
}

Test(iw_mpa, bad_replies)
{
    struct iw_mpa_config one = config_of(1, false, 0, 0, 0);

    cr_assert_eq(verdict_of(true, &plain, Q "50020004 00010001"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &plain, P "40000000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &plain, P "40030000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &plain, P "50020003 000000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &plain, P "40010201"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &one, P "40020000"), IW_MPA_BAD);
    cr_assert_eq(verdict_of(true, &one, P "40010000"), IW_MPA_DONE);
}

/* A plain Reply to a revision 2 Request starts a connection without RFC 6581. */
Test(iw_mpa, plain_reply)
{
    static const char *const replies[] = {P "40010000", P "40020000"};
    struct iw_mpa_config config = config_of(2, true, ALL_RTR, 6, 7);
    struct iw_mpa mpa;

    for (unsigned i = 0; i < 2; i++) {
        feed_all_ways(&mpa, true, &config, replies[i]);
        cr_assert_eq(mpa.verdict, IW_MPA_DONE);
        cr_assert_eq(mpa.result.revision, i + 1);
        cr_assert(!mpa.result.enhanced && !mpa.result.peer_to_peer && mpa.result.rtr == 0);
        cr_assert(mpa.result.ird == 6 && mpa.result.ord == 7);
        cr_assert(mpa.result.peer_ird == 0 && mpa.result.peer_ord == 0);
    }
}

Test(iw_mpa, rejected_reply)
{
    struct iw_mpa_config config = config_of(2, true, ALL_RTR, 1, 1);
    struct iw_mpa mpa;

    feed_all_ways(&mpa, true, &config, P "70020006 3fff3fff 6e6f");
    cr_assert_eq(mpa.verdict, IW_MPA_REJECTED);
    cr_assert(mpa.private_length == 2 && memcmp(mpa.private_data, "no", 2) == 0);
    cr_assert_eq(mpa.peer_word, 0x3fff3fff);
    cr_assert(mpa.result.peer_ird == 0x3fff && mpa.result.peer_ord == 0x3fff);
    feed_all_ways(&mpa, true, &config, P "60010000");
    cr_assert(mpa.verdict == IW_MPA_REJECTED && mpa.private_length == 0);
}

static void check_terminate(const struct iw_mpa_config *config, const char *hex,
                            enum iw_error error)
{
    struct iw_mpa mpa;

    feed_all_ways(&mpa, true, config, hex);
    cr_assert_eq(mpa.verdict, IW_MPA_TERMINATE, "%s", hex);
    cr_assert_eq(mpa.error, error, "%s", hex);
}

Test(iw_mpa, replies_that_get_a_terminate)
{
    struct iw_mpa_config config = config_of(2, true, ALL_RTR, 2, 2);

    check_terminate(&config, P "50020004 00010001", IW_ERR_MPA_RTR); /* A not mirrored */
    check_terminate(&config, P "50020004 80010001", IW_ERR_MPA_RTR); /* no RTR bit */
    check_terminate(&config, P "50020004 8001c004", IW_ERR_MPA_IRD);
    config.rtr = IW_RTR_WRITE;
    check_terminate(&config, P "50020004 c0014001", IW_ERR_MPA_RTR);
    config = config_of(2, false, ALL_RTR, 2, 2);
    check_terminate(&config, P "50020004 00010004", IW_ERR_MPA_IRD);
    check_terminate(&config, P "50020004 80018001", IW_ERR_MPA_RTR); /* A without being asked for */
    config = config_of(2, true, IW_RTR_READ, 2, 0);
    check_terminate(&config, P "50020004 80014001", IW_ERR_MPA_RTR); /* Read needs ORD 1 */
    config = config_of(2, true, IW_RTR_READ, 2, 2);
    check_terminate(&config, P "50020004 80004001", IW_ERR_MPA_RTR); /* the peer's IRD is 0 */
}

/* ---- Negotiation ----------------------------------------------------------- */

static struct iw_mpa_result initiator_result(const struct iw_mpa_config *config, const char *hex)
{
    struct iw_mpa mpa;

    feed_all_ways(&mpa, true, config, hex);
    cr_assert_eq(mpa.verdict, IW_MPA_DONE, "%s", hex);
    return mpa.result;
}

Test(iw_mpa, initiator_picks_the_rtr)
{
    struct iw_mpa_config config = config_of(2, true, ALL_RTR, 2, 2);

    cr_assert_eq(initiator_result(&config, P "50020004 c001c001").rtr, IW_RTR_WRITE);
    cr_assert_eq(initiator_result(&config, P "50020004 c0014001").rtr, IW_RTR_READ);
    cr_assert_eq(initiator_result(&config, P "50020004 c0010001").rtr, IW_RTR_SEND);
    cr_assert_eq(initiator_result(&config, P "50020004 c0004001").rtr, IW_RTR_SEND);
    cr_assert_eq(initiator_result(&config, P "50020004 bfff7fff").rtr, IW_RTR_READ);
    config.rtr = IW_RTR_SEND | IW_RTR_READ;
    cr_assert_eq(initiator_result(&config, P "50020004 c001c001").rtr, IW_RTR_READ);
    config.ord = 0;
    cr_assert_eq(initiator_result(&config, P "50020004 c001c000").rtr, IW_RTR_SEND);
}

Test(iw_mpa, initiator_depths)
{
    struct iw_mpa_config config = config_of(2, false, 0, 8, 8);
    struct iw_mpa_result result = initiator_result(&config, P "50020004 00040008");

    cr_assert(result.ord == 4 && result.ird == 8);
    result = initiator_result(&config, P "50020004 00100000");
    cr_assert(result.ord == 8 && result.ird == 8);
    result = initiator_result(&config, P "50020004 3fff3fff");
    cr_assert(result.ord == 8 && result.ird == 8 && result.peer_ird == 0x3fff);
    config.suppress_depths = true;
    result = initiator_result(&config, P "50020004 00010080");
    cr_assert(result.ord == 8 && result.ird == 8);
}

Test(iw_mpa, initiator_offers_only_what_it_can_send)
{
    struct iw_mpa_config config = config_of(2, true, ALL_RTR, 3, 0);
    struct iw_mpa mpa;
    uint8_t frame[IW_MPA_FRAME_MAX];

    iw_mpa_init(&mpa, true, &config);
    cr_assert_eq(iw_mpa_encode_request(&mpa, NULL, 0, frame), 24);
    cr_assert_eq(memcmp(frame + 20, "\xc0\x03\x80\x00", 4), 0);
}

struct exchange {
    struct iw_mpa mpa;
    uint8_t reply[IW_MPA_FRAME_MAX];
    size_t length;
};

static void respond(struct exchange *exchange, const struct iw_mpa_config *config, const char *hex)
{
    feed_all_ways(&exchange->mpa, false, config, hex);
    cr_assert_eq(exchange->mpa.verdict, IW_MPA_DONE);
    exchange->length = iw_mpa_encode_reply(&exchange->mpa, NULL, 0, exchange->reply);
}

static void check_answer(const struct iw_mpa_config *config, const char *request, const char *reply)
{
    struct exchange exchange;
    uint8_t want[ROOM];
    size_t length = iw_hex(reply, want, sizeof(want));

    respond(&exchange, config, request);
    cr_assert_eq(exchange.length, length, "%s", request);
    cr_assert_eq(memcmp(exchange.reply, want, length), 0, "%s", request);
}

Test(iw_mpa, responder_mirrors)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 3, 3);

    check_answer(&config, Q "40020000", P "40020000");
    check_answer(&config, Q "00010000", P "40010000");
    check_answer(&config, Q "c0010000", P "40010000"); /* this library never sets M */
    check_answer(&config, Q "50020004 00030003", P "50020004 00030003");
    check_answer(&config, Q "50020004 40038003", P "50020004 00030003"); /* B, C without A */
    config.crc = false;
    check_answer(&config, Q "10020004 00030003", P "10020004 00030003");
    check_answer(&config, Q "50020004 00030003", P "50020004 00030003"); /* the peer wants CRC */
}

Test(iw_mpa, responder_picks_the_rtr)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 3, 3);
    struct exchange exchange;

    check_answer(&config, Q "50020004 c003c003", P "50020004 80034003");
    check_answer(&config, Q "50020004 c0038003", P "50020004 80038003");
    check_answer(&config, Q "50020004 c0030003", P "50020004 c0030003");
    config.rtr = IW_RTR_WRITE | IW_RTR_SEND; /* no common kind: the Reply says what this side has */
    check_answer(&config, Q "50020004 80034003", P "50020004 c0038003");
    respond(&exchange, &config, Q "50020004 80034003");
    cr_assert(exchange.mpa.result.peer_to_peer && exchange.mpa.result.rtr == 0);
}

/* An IRD of 0 stays 0 if a kind other than the Read is offered. */
Test(iw_mpa, responder_without_ird)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 0, 3);
    struct exchange exchange;

    check_answer(&config, Q "50020004 c003c003", P "50020004 80008003");
    check_answer(&config, Q "50020004 8003c003", P "50020004 80008003");
    check_answer(&config, Q "50020004 c0034003", P "50020004 c0000003");
    check_answer(&config, Q "50020004 c0030003", P "50020004 c0000003");
    respond(&exchange, &config, Q "50020004 c003c003");
    cr_assert(exchange.mpa.result.rtr == IW_RTR_WRITE && exchange.mpa.result.ird == 0);
    check_answer(&config, Q "50020004 80004000", P "50020004 80014000"); /* IRD raised */
    respond(&exchange, &config, Q "50020004 80004000");
    cr_assert(exchange.mpa.result.rtr == IW_RTR_READ && exchange.mpa.result.ird == 1);
    cr_assert_eq(exchange.mpa.result.ord, 0);
}

Test(iw_mpa, responder_without_any_rtr_refuses)
{
    struct iw_mpa_config config = config_of(2, false, 0, 3, 3);
    struct iw_mpa mpa;
    uint8_t frame[IW_MPA_FRAME_MAX];
    uint8_t want[ROOM];

    feed_all_ways(&mpa, false, &config, Q "50020004 c003c003");
    cr_assert_eq(mpa.verdict, IW_MPA_REFUSE);
    cr_assert_eq(iw_mpa_encode_refusal(&mpa, frame), iw_hex(P "20020000", want, sizeof(want)));
    cr_assert_eq(memcmp(frame, want, 20), 0);
}

Test(iw_mpa, responder_depths)
{
    struct iw_mpa_config config = config_of(2, false, ALL_RTR, 8, 8);
    struct exchange exchange;

    check_answer(&config, Q "50020004 00040002", P "50020004 00080004");
    check_answer(&config, Q "50020004 00200020", P "50020004 00080008");
    check_answer(&config, Q "50020004 3fff0002", P "50020004 00083fff");
    check_answer(&config, Q "50020004 00043fff", P "50020004 3fff0004");
    respond(&exchange, &config, Q "50020004 3fff3fff");
    cr_assert(exchange.mpa.result.ird == 8 && exchange.mpa.result.ord == 8);
    cr_assert(exchange.mpa.result.peer_ird == 0x3fff && exchange.mpa.result.enhanced);
    config.suppress_depths = true;
    check_answer(&config, Q "50020004 00040002", P "50020004 3fff3fff");
    respond(&exchange, &config, Q "50020004 00040002");
    cr_assert(exchange.mpa.result.ird == 8 && exchange.mpa.result.ord == 8);
    config = config_of(2, false, ALL_RTR, 0xffff, 0xffff);
    check_answer(&config, Q "50020004 3ffe3ffe", P "50020004 3ffe3ffe");
    /* The EP's depths may change between Request and Reply. */
    config = config_of(2, false, ALL_RTR, 1, 1);
    feed_all_ways(&exchange.mpa, false, &config, Q "50020004 00040004");
    exchange.mpa.config.ird = 6;
    exchange.mpa.config.ord = 2;
    iw_mpa_encode_reply(&exchange.mpa, NULL, 0, exchange.reply);
    cr_assert_eq(memcmp(exchange.reply + 20, "\x00\x06\x00\x02", 4), 0);
}

Test(iw_mpa, markers_are_served_in_both_roles)
{
    struct iw_mpa_config config = config_of(1, false, 0, 0, 0);
    struct exchange exchange;
    struct iw_mpa mpa;

    respond(&exchange, &config, Q "c0010000");
    cr_assert(exchange.mpa.result.send_markers);
    feed_all_ways(&mpa, true, &config, P "c0010000");
    cr_assert(mpa.verdict == IW_MPA_DONE && mpa.result.send_markers);
    feed_all_ways(&mpa, true, &config, P "40010000");
    cr_assert_not(mpa.result.send_markers);
}

Test(iw_mpa, crc_is_used_if_either_wants_it)
{
    for (unsigned own = 0; own <= 1; own++) {
        for (unsigned peer = 0; peer <= 1; peer++) {
            struct iw_mpa_config config = config_of(1, false, 0, 0, 0);
            struct exchange exchange;

            config.crc = own;
            cr_assert_eq(initiator_result(&config, peer ? P "40010000" : P "00010000").crc,
                         own || peer);
            respond(&exchange, &config, peer ? Q "40010000" : Q "00010000");
            cr_assert_eq(exchange.mpa.result.crc, own || peer);
        }
    }
}

/* Runs both roles against each other with all settings that matter. */
Test(iw_mpa, both_roles_agree)
{
    for (unsigned i = 0; i < 8 * 8 * 16; i++) {
        struct iw_mpa_config ours = config_of(2, i & 1, 1 + i % 7, i >> 3 & 3, i >> 5 & 3);
        struct iw_mpa_config theirs = config_of(2, false, 1 + i / 7 % 7, i >> 7 & 1, i >> 8 & 3);
        struct iw_mpa initiator;
        struct iw_mpa responder;
        uint8_t frame[IW_MPA_FRAME_MAX];
        size_t length;

        iw_mpa_init(&initiator, true, &ours);
        iw_mpa_init(&responder, false, &theirs);
        length = iw_mpa_encode_request(&initiator, "a", 1, frame);
        cr_assert_eq(feed(&responder, frame, length, SIZE_MAX), length);
        cr_assert_eq(responder.verdict, IW_MPA_DONE);
        length = iw_mpa_encode_reply(&responder, "bc", 2, frame);
        cr_assert_eq(feed(&initiator, frame, length, SIZE_MAX), length);
        if (initiator.verdict == IW_MPA_TERMINATE)
            continue;
        cr_assert_eq(initiator.verdict, IW_MPA_DONE);
        cr_assert_eq(initiator.result.rtr, responder.result.rtr);
        cr_assert_eq(initiator.result.peer_to_peer, responder.result.peer_to_peer);
        cr_assert_leq(initiator.result.ord, responder.result.ird);
        cr_assert_leq(responder.result.ord, initiator.result.ird);
        if (initiator.result.rtr == IW_RTR_READ)
            cr_assert(initiator.result.ord >= 1 && responder.result.ird >= 1);
    }
}
